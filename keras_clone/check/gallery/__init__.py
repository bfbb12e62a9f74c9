"""Small models that show what makes cloning difficult.

Each function in `MODELS` builds one; its title is what `keras-clone check` shows.
Those here are built by both major versions of Keras.
"""
from functools import partial

import keras
from keras import layers
from keras.models import Model
from keras.models import Sequential

from . import ops


MODELS = []     # Functions that build the models of the installed Keras.


def titled(title):
    """Adds the model that a function builds to the gallery, with a title."""
    def add(build):
        build.title = title
        MODELS.append(build)
        return build
    return add


class Scale(layers.Layer):
    """A custom layer: multiplies by a weight."""

    def build(self, input_shape):
        self.scale = self.add_weight(name='scale', shape=(input_shape[-1],),
                                     initializer='ones')
        super().build(input_shape)

    def call(self, inputs):
        return inputs * self.scale

    def compute_output_shape(self, input_shape):
        return input_shape


class KeepMask(layers.Layer):
    """A layer that passes its mask on and does not set `supports_masking`."""

    def call(self, inputs):
        return 2 * inputs

    def compute_mask(self, inputs, mask=None):
        return mask


class Power(layers.Layer):
    """A layer that takes an argument in each call."""

    def call(self, inputs, exponent=1):
        return ops.power(inputs, exponent)


class MinimalCell(layers.Layer):
    """A custom recurrent cell."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = self.state_size = units

    def build(self, input_shape):
        self.kernel = self.add_weight(name='kernel', initializer='uniform',
                                      shape=(input_shape[-1], self.units))
        super().build(input_shape)

    def call(self, inputs, states):
        output = ops.tanh(ops.matmul(inputs, self.kernel) + states[0])
        return output, [output]

    def get_config(self):
        return dict(super().get_config(), units=self.units)


def sequential(make_first, *others):
    """A `Sequential` that takes four numbers, each version in its usual way."""
    if hasattr(keras, 'KerasTensor'):
        return Sequential([layers.Input((4,)), make_first(), *others])
    return Sequential([make_first(input_shape=(4,)), *others])


@titled('Mask through a Bidirectional')
def masked_bidirectional():
    x = layers.Input((4,))
    y = layers.Embedding(10, 3, mask_zero=True)(x)
    y = layers.Bidirectional(layers.LSTM(2, return_sequences=True))(y)
    return Model(x, layers.LSTM(2)(y))


@titled('Layer with its own compute_mask')
def own_compute_mask():
    x = layers.Input((4,))
    y = layers.Embedding(10, 3, mask_zero=True)(x)
    return Model(x, layers.SimpleRNN(2)(KeepMask()(y)))


@titled('Custom layer in a wrapper')
def custom_layer_in_wrapper():
    x = layers.Input((4, 3))
    return Model(x, layers.TimeDistributed(Scale())(x))


@titled('Custom recurrent cell')
def custom_cell():
    x = layers.Input((4, 3))
    return Model(x, layers.RNN(MinimalCell(2))(x))


@titled('Layer called with an argument')
def call_arguments():
    x = layers.Input((4,))
    power = Power()
    return Model(x, layers.Add()([power(x, exponent=2), power(x, exponent=3)]))


@titled('Layer shared with a nested model')
def layer_shared_with_nested_model():
    shared = layers.Dense(4, activation='tanh')
    inner = layers.Input((4,))
    nested = Model(inner, shared(inner))
    x = layers.Input((4,))
    return Model(x, layers.Concatenate()([nested(x), shared(x)]))


@titled('Lambda that uses a global name')
def lambda_with_global_name():
    x = layers.Input((4,))
    return Model(x, layers.Lambda(lambda x: ops.flip(x, 1))(x))


@titled('Lambda with mask=')
def lambda_with_mask():
    x = layers.Input((4, 3))
    y = layers.Lambda(lambda x: 2 * x,
                      mask=lambda x, mask: ops.any(ops.not_equal(x, 0), -1))(x)
    return Model(x, layers.SimpleRNN(2)(y))


@titled('Custom layer in a nested model')
def custom_layer_in_nested_model():
    x = layers.Input((4,))
    return Model(x, sequential(partial(layers.Dense, 3), Scale())(x))


@titled('Nested model used in two places')
def shared_nested_model():
    nested = sequential(partial(layers.Dense, 3), layers.Dense(2))
    a, b = layers.Input((4,)), layers.Input((4,))
    return Model([a, b], layers.Subtract()([nested(a), nested(b)]))


@titled('Dense, normalization, dropout')
def plain_network():
    return sequential(
        partial(layers.Dense, 3, activation='relu'),
        layers.BatchNormalization(),
        layers.Dropout(.5),
        layers.Dense(2, activation='softmax'))


if hasattr(keras, 'KerasTensor'):
    from .keras3 import *  # noqa: E402, F401, F403
else:
    from .keras2 import *  # noqa: E402, F401, F403

# That of keras-team/keras issue 12202 is the first.
MODELS.sort(key=lambda build: not build.title.startswith('Issue'))
