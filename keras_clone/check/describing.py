"""Short texts for values and exceptions."""
import re
import types

from .failures import one_line
from .graphs import graphs


def shortened(text, length=70):
    """Returns a text, cut if it is longer than `length`."""
    return text if len(text) <= length else text[:length - 3] + '...'


def summary(error):
    """Returns the type and the message of an exception, cut if it is very long."""
    return shortened(one_line(error), 1000)


def describe(value):
    """Returns a short text for a value; a tensor is named after its layer."""
    if not graphs.is_tensor(value):
        return shortened(repr(value))
    layer, _, tensor_index = getattr(value, '_keras_history', (None, None, None))
    if layer is not None:
        return f'output {tensor_index} of {layer.name}'
    return f'tensor {shortened(str(value.name))}'


def stable_text(value):
    """Returns a short text for a value, without its address in memory."""
    if isinstance(value, types.FunctionType):
        return f'function {value.__module__}.{value.__qualname__}'
    if isinstance(value, types.MethodType):
        return 'method of ' + stable_text(value.__self__)
    return re.sub(' at 0x[0-9a-f]+', '', describe(value))
