"""Changes to `keras.engine.base_layer` of Keras 2.2.4, 2.2.5, 2.3.0 and 2.3.1.

Executed in the namespace of the released module, right after it.

Layers keep what they were made with, for `clone_model`: the arguments of their
constructors and, as their graphs are computed when they are called, the attributes
that they had then.
"""
import functools

from keras_clone.generated_names import last_name
from keras_clone.generated_names import repeatable
from keras_clone.generated_names import repeated
from keras_clone.global_state import GLOBAL_STATE
from keras_clone.global_state import setting
from keras_clone.history import History
from keras_clone.history import calls
from keras_clone.history import keep_number
from keras_clone.recording import RECORD
from keras_clone.recording import record
from keras_clone.recording import uses_method_of_keras

from . import base_layer
from .. import backend as K
from .base_layer import Layer

_released_call = Layer.__call__


@functools.lru_cache(maxsize=None)
def _set_by_keras():
    """Returns the names of the attributes that Keras itself sets on every layer."""
    return frozenset([*vars(Layer(name='layer')), RECORD])


def _attributes(layer):
    """Returns the attributes of a layer that Keras itself does not set, as a dict;
    None for a model, which computes nothing itself, and for a layer that the
    user's `__call__` calls."""
    if '_is_graph_network' in vars(layer) or not (
            uses_method_of_keras(type(layer), '__call__')):
        return None
    own = _set_by_keras()
    return {name: value for name, value in vars(layer).items() if name not in own}


def _is_called(layer):
    return bool(layer._inbound_nodes)


def _layers_of(layer):
    """Returns the layers of a model; of any other layer, an empty list."""
    return layer._layers if '_is_graph_network' in vars(layer) else []


_history = History(_attributes, _is_called, _layers_of, has_each_call=True)


@functools.wraps(_released_call)
def _call(self, *args, **kwargs):
    with _history.call(self):
        outputs = _released_call(self, *args, **kwargs)
        for node in self._inbound_nodes[-1:]:
            keep_number(node, calls.number)
    return outputs


def _disable_tracking(function):
    """Decorates a constructor that must not track what it sets as attributes.

    The released decorator of Keras 2.3 leaves tracking disabled, in all layers, once
    a constructor has raised an exception. `clone_model` may catch that exception.
    """
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        former = getattr(base_layer._DISABLE_TRACKING, 'value', False)
        base_layer._DISABLE_TRACKING.value = True
        try:
            return function(*args, **kwargs)
        finally:
            base_layer._DISABLE_TRACKING.value = former
    return wrapped


Layer.__call__ = _call
GLOBAL_STATE[:] = [(last_name, repeated), setting(K.floatx, K.set_floatx),
                   setting(K.image_data_format, K.set_image_data_format)]
K.get_uid = repeatable(K.get_uid)
record(Layer)
if hasattr(base_layer, 'disable_tracking'):
    # The modules of other layers are imported later, and use this one.
    base_layer.disable_tracking = _disable_tracking
