"""What changes in `keras.src.activations` of Keras 3.

Executed in the namespace of the released module, right after it.
"""
from keras.src.activations import ALL_OBJECTS_DICT
from keras.src.activations import serialize as _released_serialize
from keras.src.api_export import get_name_from_symbol
from keras.src.api_export import keras_export
from keras.src.saving import object_registration
from keras.src.saving import serialization_lib

# What these have under the name of an activation of Keras computes the same, unless
# it has a public name of its own, as `keras.ops.gelu` has.
_NOT_OF_THE_USER = ("keras", "tensorflow", "jax", "torch")


@keras_export("keras.activations.serialize")
def serialize(activation):
    """Returns the config of an activation function.

    The released function writes the bare name wherever its module has something
    of that name, and a user's own `relu` is read back as Keras's.

    Args:
        activation: A function, or any callable that Keras can serialize.

    Returns:
        The name of an activation of Keras, a dict for any other. A function of
        Keras's, such as `keras.ops.gelu`, is found again; one of the user's, if
        it is registered or among the `custom_objects`, and refused otherwise.

    Raises:
        ValueError: If Keras cannot serialize `activation`.
    """
    config = _released_serialize(activation)
    if not isinstance(config, str) or ALL_OBJECTS_DICT.get(config) is activation:
        return config
    package = str(activation.__module__).split(".")[0]
    if package in _NOT_OF_THE_USER and get_name_from_symbol(activation) is None:
        return config
    return serialization_lib.serialize_with_public_fn(
        activation, object_registration.get_registered_name(activation)
    )
