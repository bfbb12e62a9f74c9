"""What differs between the major versions of Keras, for tests that hold for both."""
import keras
import numpy as np
from keras import layers
from keras.models import Model, clone_model

RELEASE = tuple(map(int, keras.__version__.split('.')[:3]))
IS_KERAS2 = RELEASE < (3,)
IS_TORCH = not IS_KERAS2 and keras.backend.backend() == 'torch'
ONES = np.ones((2, 3), 'float32')

if IS_KERAS2:
    from keras import backend
    from keras.layers.wrappers import Wrapper  # noqa: F401
    serialize, deserialize = layers.serialize, layers.deserialize
    new_variable, set_variable = backend.variable, backend.set_value
    value_of, constant, tile = backend.eval, backend.constant, backend.tile

    def outputs_of(model, value):
        return model.predict(value)

    def call_inner(layer, inputs):
        """Calls a layer within the `call` of another."""
        return layer.call(inputs)

    def build_inner(outer, inner, input_shape):
        """Builds the layers of another layer, which gets their weights."""
        for layer in inner:
            layer.build(input_shape)
            layer.built = True
            outer._trainable_weights += layer.trainable_weights

else:
    from keras import ops
    from keras.layers import Wrapper  # noqa: F401
    new_variable, value_of = keras.Variable, ops.convert_to_numpy
    constant, tile = ops.convert_to_tensor, ops.tile

    def serialize(layer):
        return keras.saving.serialize_keras_object(layer)

    def deserialize(config):
        return keras.saving.deserialize_keras_object(config)

    def outputs_of(model, value):
        return ops.convert_to_numpy(model(value))

    def set_variable(variable, value):
        variable.assign(value)

    def call_inner(layer, inputs):
        """Calls a layer within the `call` of another."""
        return layer(inputs)

    def build_inner(outer, inner, input_shape):
        """Builds the layers of another layer, which gets their weights."""
        for layer in inner:
            if not layer.built:
                layer.build(input_shape)


class KeepsShape(layers.Layer):
    """Base class of layers whose outputs have the shape of their inputs."""

    def compute_output_shape(self, input_shape):
        return input_shape


class WithInner(layers.Layer):
    """Base class of layers that use another layer."""

    def __init__(self, inner, **kwargs):
        super().__init__(**kwargs)
        self.inner = inner

    def build(self, input_shape):
        build_inner(self, [self.inner], input_shape)

    def call(self, inputs):
        return call_inner(self.inner, inputs)

    def compute_output_shape(self, input_shape):
        return self.inner.compute_output_shape(input_shape)


def chain(*makers, shape=(3,)):
    """Returns a function that builds a functional model of new layers."""
    def build():
        x = inputs = layers.Input(shape, name='x')
        for make_layer in makers:
            x = make_layer()(x)
        return Model(inputs, x)
    return build


def of_class(cls, **arguments):
    """Returns a functional model of a class."""
    x = layers.Input((3,), name='x')
    return cls(x, layers.Dense(2)(x), **arguments)


def after_dense(make_layer, units=3):
    """Returns a model of a `Dense` and a layer that is made from it once built."""
    x = layers.Input((3,), name='x')
    dense = layers.Dense(units)
    y = dense(x)
    return Model(x, make_layer(dense)(y))


def setting(**values):
    """Returns a function that sets attributes of an object."""
    def change(each):
        for name, value in values.items():
            setattr(each, name, value)
    return change


def assert_same_outputs(model, clone, value=ONES):
    """Checks that the clone computes the same, with its own weights.

    # Returns
        The outputs of the model, before its weights were changed.
    """
    clone.set_weights(model.get_weights())
    expected = outputs_of(model, value)
    np.testing.assert_allclose(outputs_of(clone, value), expected,
                               rtol=1e-5, atol=1e-6)
    model.set_weights([weight + 1 for weight in model.get_weights()])
    np.testing.assert_allclose(outputs_of(clone, value), expected,
                               rtol=1e-5, atol=1e-6)
    return expected


def assert_equal_and_independent(model, clone, value=ONES):
    """Checks that the clone computes the same, and the model by its new weights."""
    expected = assert_same_outputs(model, clone, value)
    assert not np.allclose(outputs_of(model, value), expected)


def assert_cloned(model, value=ONES):
    """Checks the clone of a clone, and returns it."""
    clone = clone_model(clone_model(model))
    assert_equal_and_independent(model, clone, value)
    return clone
