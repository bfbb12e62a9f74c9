"""Models of Keras 3, that of keras-team/keras issue 12202 first."""
import functools

import keras
import numpy as np
from keras import layers
from keras import ops
from keras.models import Model
from keras.models import Sequential

from .both import Scale
from .both import custom_layer_in_wrapper
from .both import layer_shared_with_nested_model
from .both import masked_bidirectional
from .both import own_compute_mask


class Power(layers.Layer):
    """A layer that is told at each call what to do."""

    def call(self, inputs, exponent=1):
        return ops.power(inputs, exponent)


class MinimalCell(layers.Layer):
    """A recurrent cell of the user."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = self.state_size = units

    def build(self, input_shape):
        self.kernel = self.add_weight(name='kernel', initializer='uniform',
                                      shape=(input_shape[-1], self.units))

    def call(self, inputs, states):
        output = ops.tanh(ops.matmul(inputs, self.kernel) + states[0])
        return output, [output]

    def get_config(self):
        return {**super().get_config(), 'units': self.units}


def quick_gelu(x):
    """The activation of keras-bert, approximated."""
    return x * ops.sigmoid(1.702 * x)


def relu(x):
    """Has the name of an activation of Keras, and computes something else."""
    return -ops.relu(-x)


def scaled(x, by):
    """Multiplies."""
    return by * x


def lambda_with_two_outputs():
    """Issue 12202: two-output Lambda"""
    x = layers.Input((1,))
    a, b = layers.Lambda(lambda x: [x, x])(x)
    return Model(x, layers.Add()([a, b]))


def lambda_with_global_name():
    """Lambda that uses a global name"""
    x = layers.Input((4,))
    return Model(x, layers.Lambda(lambda x: ops.flip(x, 1))(x))


def lambda_in_nested_model():
    """Lambda in a nested model"""
    nested = Sequential([layers.Input((4,)), layers.Lambda(lambda x: 2 * x)])
    x = layers.Input((4,))
    return Model(x, nested(x))


def lambda_in_wrapper():
    """Lambda in a wrapper"""
    x = layers.Input((4, 3))
    return Model(x, layers.TimeDistributed(layers.Lambda(lambda x: 2 * x))(x))


def lambda_of_partial():
    """Lambda of a functools.partial"""
    x = layers.Input((4,))
    return Model(x, layers.Lambda(functools.partial(scaled, by=3.))(x))


def lambda_with_mask():
    """Lambda with mask="""
    x = layers.Input((4, 3))
    y = layers.Lambda(lambda x: 2 * x,
                      mask=lambda x, mask: ops.any(ops.not_equal(x, 0), -1))(x)
    return Model(x, layers.SimpleRNN(2)(y))


def lambda_that_holds_a_layer():
    """Lambda that calls a layer"""
    x = layers.Input((4,))
    dense = layers.Dense(3)
    return Model(x, layers.Lambda(lambda x: 2 * dense(x))(x))


def custom_layer_in_nested_model():
    """Custom layer in a nested model"""
    nested = Sequential([layers.Input((4,)), layers.Dense(3), Scale()])
    x = layers.Input((4,))
    return Model(x, nested(x))


def custom_cell():
    """Custom recurrent cell"""
    x = layers.Input((4, 3))
    return Model(x, layers.RNN(MinimalCell(2))(x))


def callable_activation():
    """Function as activation"""
    return Sequential([layers.Input((4,)), layers.Dense(3, activation=quick_gelu)])


def activation_named_as_one_of_keras():
    """Own function named relu"""
    return Sequential([layers.Input((4,)), layers.Dense(3, activation=relu)])


def operation_with_an_array():
    """Operation called with an array"""
    x = layers.Input((4,))
    return Model(x, ops.clip(x, np.zeros(4, 'float32'), np.ones(4, 'float32')))


def frozen_model():
    """Model that is not trainable"""
    model = plain_network()
    x = layers.Input((4,))
    model = Model(x, model(x))
    model.trainable = False
    return model


def compiled_with_own_loss():
    """Model compiled with a function"""
    model = plain_network()
    model.compile('sgd', loss=lambda y, z: ops.mean(ops.abs(y - z)))
    return model


def call_arguments():
    """Layer called with an argument"""
    x = layers.Input((4,))
    power = Power()
    return Model(x, layers.Add()([power(x, exponent=2), power(x, exponent=3)]))


def shared_nested_model():
    """Nested model used in two places"""
    nested = Sequential([layers.Input((4,)), layers.Dense(3), layers.Dense(2)])
    a, b = layers.Input((4,)), layers.Input((4,))
    return Model([a, b], layers.Subtract()([nested(a), nested(b)]))


def plain_network():
    """Dense, normalization, dropout"""
    return keras.Sequential([
        layers.Input((4,)),
        layers.Dense(3, activation='relu'),
        layers.BatchNormalization(),
        layers.Dropout(.5),
        layers.Dense(2, activation='softmax')])


MODELS = (
    lambda_with_two_outputs,
    lambda_with_global_name,
    lambda_in_nested_model,
    lambda_in_wrapper,
    lambda_of_partial,
    lambda_with_mask,
    lambda_that_holds_a_layer,
    custom_layer_in_nested_model,
    custom_layer_in_wrapper,
    custom_cell,
    callable_activation,
    activation_named_as_one_of_keras,
    layer_shared_with_nested_model,
    operation_with_an_array,
    frozen_model,
    compiled_with_own_loss,
    own_compute_mask,
    masked_bidirectional,
    call_arguments,
    shared_nested_model,
    plain_network,
)
