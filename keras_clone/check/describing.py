"""Short texts for values and exceptions."""
import re
import types

from .graphs import graphs


def shortened(text, length=70):
    """Returns a text, cut if it is longer than `length`."""
    return text if len(text) <= length else text[:length - 3] + '...'


def summary(error):
    """Returns the type of an exception and the first line of its message."""
    line = str(error).strip().split('\n')[0]
    return shortened(f'{type(error).__name__}: {line}' if line
                     else type(error).__name__, 200)


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
