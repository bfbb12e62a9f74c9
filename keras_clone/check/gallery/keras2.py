"""Models of Keras 2.2.4 to 2.3.1, that of keras-team/keras issue 12202 first.

They build on every backend of these releases.
"""
from functools import partial

from keras import layers
from keras.models import Model

from . import ops, sequential, titled


class TwoOutputs(layers.Layer):
    """A layer with two outputs and the default `compute_mask`."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def call(self, inputs):
        return [inputs, 2 * inputs]

    def compute_output_shape(self, input_shape):
        return [input_shape, input_shape]


def gelu(x):
    """The activation of keras-bert, approximated."""
    return x * ops.sigmoid(1.702 * x)


@titled('Issue 12202: two-output Lambda')
def lambda_with_two_outputs():
    x = layers.Input((1,))
    a, b = layers.Lambda(lambda x: [x, x],
                         output_shape=lambda shape: [shape, shape])(x)
    return Model(x, layers.Add()([a, b]))


@titled('Nested model that returns a mask')
def nested_model_with_mask():
    words = layers.Input((4,))
    embedded = layers.Embedding(10, 3, mask_zero=True)(words)
    nested = Model(words, embedded)
    x = layers.Input((4,))
    return Model(x, layers.SimpleRNN(2)(nested(x)))


@titled('Masked recurrent layer')
def masked_sequence():
    x = layers.Input((4, 3))
    return Model(x, layers.SimpleRNN(2)(layers.Masking()(x)))


@titled('Masked layer with two outputs')
def two_masked_outputs():
    x = layers.Input((4, 3))
    a, b = TwoOutputs()(layers.Masking()(x))
    return Model(x, [layers.SimpleRNN(2)(a), b])


@titled('Encoder-decoder, initial_state=')
def encoder_decoder():
    words = layers.Input((4,))
    _, h, c = layers.LSTM(2, return_state=True)(
        layers.Embedding(10, 3, mask_zero=True)(words))
    answers = layers.Input((3, 3))
    return Model([words, answers],
                 layers.LSTM(2)(answers, initial_state=[h, c]))


@titled('Mask passed by hand, mask=')
def mask_as_argument():
    x = layers.Input((4,))
    embedding = layers.Embedding(10, 3, mask_zero=True)
    y = layers.Lambda(lambda x: 2 * x)(embedding(x))
    return Model(x, layers.SimpleRNN(2)(y, mask=embedding.output_mask))


@titled('Function as activation')
def callable_activation():
    return sequential(partial(layers.Dense, 3, activation=gelu))


@titled('Two lambdas in one layer')
def two_lambdas_in_one_layer():
    return sequential(partial(
        layers.Dense, 3, activation=lambda x: 2 * x,
        activity_regularizer=lambda x: .1 * ops.sum(ops.abs(x))))


@titled('Layer used in two places')
def shared_layer():
    x = layers.Input((4,))
    shared = layers.Dense(4, activation='tanh')
    return Model(x, layers.Add()([shared(x), shared(shared(x))]))
