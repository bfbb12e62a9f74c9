"""What changes in `keras.src.saving.serialization_lib` of Keras 3.

Executed in the namespace of the released module, right after it.

While a model is cloned, an object is not written out and read back: its config
carries the object itself, in the entry `live_object`. Nothing that was saved can
hold such an entry, so what is refused when it is loaded is refused as before.
"""
import functools

from keras.src.backend.common import global_state
from keras.src.saving.serialization_lib import deserialize_keras_object
from keras.src.saving.serialization_lib import serialize_keras_object

_released_serialize = serialize_keras_object
_released_deserialize = deserialize_keras_object


class LiveObject:
    """Leads from a config to the object that the config was taken from.

    Args:
        obj: The object.
        revive: Function that takes a config, as it comes out of
            `serialize_keras_object(obj)` or modified since, and returns what
            it stands for.
    """

    def __init__(self, obj, revive):
        self.obj = obj
        self.revive = revive

    def __deepcopy__(self, memo):
        return self


class LiveConfigScope:
    """Scope in which, for this thread, objects go into configs themselves.

    Args:
        live_config: Function that takes an object and returns its config with
            a `LiveObject` under `"live_object"`, or None to have the object
            serialized as usual.
    """

    def __init__(self, live_config):
        self.live_config = live_config

    def __enter__(self):
        self.outer = global_state.get_global_attribute("live_config")
        global_state.set_global_attribute("live_config", self.live_config)

    def __exit__(self, *args):
        global_state.set_global_attribute("live_config", self.outer)


def live_object(config):
    """Returns the `LiveObject` that a config carries, None if it has none."""
    live = config.get("live_object") if isinstance(config, dict) else None
    return live if isinstance(live, LiveObject) else None


@functools.wraps(_released_serialize)
def serialize_keras_object(obj):
    scope = global_state.get_global_attribute("live_config")
    live = live_object(obj)
    if live is not None:
        # A layer may keep the config that it was made with, and be saved.
        return obj if scope else serialize_keras_object(live.obj)
    if scope and (callable(obj) or hasattr(obj, "get_config")):
        config = scope(obj)
        if config is not None:
            return config
    return _released_serialize(obj)


@functools.wraps(_released_deserialize)
def deserialize_keras_object(
    config, custom_objects=None, safe_mode=True, **kwargs
):
    live = live_object(config)
    if live is not None:
        return live.revive(config)
    if callable(config) and global_state.get_global_attribute("live_config"):
        return config
    return _released_deserialize(
        config, custom_objects=custom_objects, safe_mode=safe_mode, **kwargs
    )
