"""The operations of random models on Keras 3. No class or function is registered."""
import ast
import collections
import copy
import dataclasses
import functools
import itertools
import json
import operator
import pickle
import weakref

import keras
import numpy as np
from keras import Model, Sequential, layers, ops

from evidence.random_models.custom import (
    CHANGED_OBJECTS, CONTAINERS, EXTENSIONS, FILLED, FUNCTION_OF, FUNCTION_WAYS,
    MATRIX, PATCHES, Applies, Asks, AtMost, Careful, CarefulWithConfig, Child,
    Doubled, FillsInBuild, KeepRate, LayerWithSlot, Limits, Locks, Mode,
    OmitsRegularizer, OneShape, Popped, Remembers, Scaled, Scorer, Static, Strange,
    Strong, by_layer, counter, digest_of, doubled, extended, from_class,
    keep_function_of, layers_in, named, pickled, relu, renamed, scaled, times,
    with_attributes)
from evidence.random_models.operations import NESTED, STEPS, UNITS, operation, whole

RELEASE = tuple(map(int, keras.__version__.split('.')[:3]))
FACTOR = .8


# Custom functions and classes


def gelu(x):
    return .5 * x * (1 + ops.tanh(x))


def shifted(x, *, by=FACTOR):
    return x + by


def is_large(x, mask=None):
    return ops.any(x > -.3, axis=-1)


class Holder(layers.Layer):
    """Has its layer itself, in a list, in its config."""

    def __init__(self, held, **kwargs):
        super().__init__(**kwargs)
        self.held = list(held)

    def call(self, inputs):
        return self.held[0](inputs)

    def get_config(self):
        return {**super().get_config(), 'held': list(self.held)}


FUNCTIONS = {
    'lambda': lambda: lambda x: .5 * x,
    'closure': lambda: (lambda factor: lambda x: factor * x)(1.5),
    'default': lambda: lambda x, factor=.7: factor * x,
    'keyword-only default': lambda: lambda x, *, factor=.7: factor * x,
    'named, keyword-only default': lambda: shifted,
    'global': lambda: lambda x: ops.tanh(x) - FACTOR * x,
    'calls': lambda: lambda x: gelu(x),
    'named': lambda: gelu,
    'named as one of Keras': lambda: relu,
    'partial': lambda: functools.partial(scaled, by=-2.),
    'object': Doubled,
    'method': lambda: Doubled().method,
    'of Keras': lambda: ops.tanh,
}


class Ones(keras.initializers.Initializer):
    """Has the name of an initializer of Keras but returns twos."""

    def __call__(self, shape, dtype=None):
        return 2 * ops.ones(shape, dtype)

    def get_config(self):
        return {}


class Scale(layers.Layer):
    """Has a weight, passes masks on, and has no `get_config`."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def build(self, input_shape):
        self.scale = self.add_weight(shape=(input_shape[-1],), initializer='ones')

    def call(self, inputs):
        return self.scale * inputs

    def compute_output_shape(self, input_shape):
        return input_shape


class NoMask(layers.Layer):
    """Has no code for masks; takes a function that is not in its config."""

    def __init__(self, function, **kwargs):
        super().__init__(**kwargs)
        self.function = function

    def call(self, inputs):
        return self.function(inputs)

    def compute_output_shape(self, input_shape):
        return input_shape


class OwnMask(layers.Layer):
    """Computes a mask of its own."""

    def call(self, inputs):
        return 1. * inputs

    def compute_mask(self, inputs, previous_mask):
        return ops.any(inputs > -.2, axis=-1)


class UsesMask(layers.Layer):
    """Uses the mask and does not pass it on."""

    def call(self, inputs, mask=None):
        if mask is None:
            return 2. * inputs
        return inputs * ops.cast(ops.expand_dims(mask, -1), inputs.dtype)


class TwoOutputs(layers.Layer):
    """Has two outputs; `masks` determines which of them have a mask."""

    def __init__(self, masks, **kwargs):
        super().__init__(**kwargs)
        self.masks = masks

    def call(self, inputs):
        return [1. * inputs, 2. * inputs]

    def compute_mask(self, inputs, previous_mask):
        mask = previous_mask
        return {'none': None, 'one': mask, 'list': [mask, None],
                'tuple': (None, mask), 'both': [mask, mask],
                'new': [None, is_large(inputs)]}[self.masks]

    def get_config(self):
        return {**super().get_config(), 'masks': self.masks}


class TwoInputs(layers.Layer):
    """Takes a list of two; the mask of its output is that of the input `mask_of`."""

    def __init__(self, mask_of, **kwargs):
        super().__init__(**kwargs)
        self.mask_of = mask_of

    def call(self, inputs):
        return inputs[0] - .5 * inputs[1]

    def compute_mask(self, inputs, previous_mask):
        return previous_mask[self.mask_of]

    def get_config(self):
        return {**super().get_config(), 'mask_of': self.mask_of}


class TwoArguments(layers.Layer):
    """Takes two tensors as separate arguments, each with its own mask."""

    def call(self, first, second, second_mask=None):
        if second_mask is not None:
            second = second * ops.cast(ops.expand_dims(second_mask, -1), 'float32')
        return first - .5 * second

    def compute_mask(self, inputs, previous_mask):
        return previous_mask


class OfDicts(layers.Layer):
    """Takes and returns a dict; exchanges the masks."""

    def call(self, inputs):
        return {'sum': inputs['a'] + inputs['b'], 'first': 1. * inputs['a']}

    def compute_mask(self, inputs, previous_mask):
        return {'sum': previous_mask['b'], 'first': previous_mask['a']}


class Shift(layers.Layer):
    """Takes what to add and how to scale as arguments of each call."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def call(self, inputs, by=None, scale=1.):
        for leaf in keras.tree.flatten(by):
            inputs = inputs if leaf is None else inputs + leaf
        return scale * inputs


class OwnWrapper(layers.Wrapper):
    """A custom wrapper."""

    def call(self, inputs):
        return -1. * self.layer(inputs)


class Cell(layers.Layer):
    """A custom recurrent cell."""

    def __init__(self, units, activation='tanh', **kwargs):
        super().__init__(**kwargs)
        self.units = self.state_size = units
        self.activation = keras.activations.get(activation)

    def build(self, input_shape):
        self.kernel = self.add_weight(shape=(input_shape[-1], self.units))

    def call(self, inputs, states, training=False):
        output = self.activation(ops.matmul(inputs, self.kernel) + states[0])
        return output, [output]

    def get_config(self):
        return {**super().get_config(), 'units': self.units,
                'activation': keras.activations.serialize(self.activation)}


class Branded(Model):
    """A functional model of a custom class."""


class Stack(Model):
    """A functional model that makes its graph from its arguments."""

    def __init__(self, units, activation=None, **kwargs):
        inputs = layers.Input((None, units))
        super().__init__(inputs, layers.Dense(units, activation)(inputs), **kwargs)
        self.units = units
        self.activation = activation

    def get_config(self):
        return {'name': self.name, 'units': self.units,
                'activation': self.activation}


class Subclassed(Model):
    """A model that has no graph."""

    def __init__(self, activation, **kwargs):
        super().__init__(**kwargs)
        self.dense = layers.Dense(UNITS, activation)

    def call(self, inputs):
        return self.dense(inputs)

    def get_config(self):
        return {'name': self.name, 'activation': self.dense.activation}


# Layers that take and return one tensor


@operation('s', 's', ['tanh', *FUNCTIONS])
def dense(building, option, x):
    activation = FUNCTIONS[option]() if option in FUNCTIONS else option
    return [layers.Dense(UNITS, activation=activation)(x)]


GIVEN = {
    'initializer': lambda: {
        'kernel_initializer': lambda shape, dtype=None: ops.ones(shape, dtype)},
    'initializer named as one of Keras': lambda: {'bias_initializer': Ones()},
    'regularizer': lambda: {'kernel_regularizer': Strong(.1)},
    'activity regularizer': lambda: {
        'activity_regularizer': lambda x: FACTOR * ops.sum(x)},
    'trainable': lambda: {'trainable': False},
    'dtype': lambda: {'dtype': 'mixed_float16'},
    'activation': lambda: {'activation': layers.LeakyReLU(.3)},
}
if RELEASE >= (3, 15):  # Earlier releases do not accept a function there.
    GIVEN['regularizer, a function'] = lambda: {
        'kernel_regularizer': lambda weight: .1 * ops.sum(weight)}
    GIVEN['constraint, a function'] = lambda: {'kernel_constraint': gelu}


@operation('v', 'v', list(GIVEN))
def dense_vector(building, option, x):
    return [layers.Dense(UNITS, **GIVEN[option]())(x)]


ONE_TO_ONE = {
    'Activation': lambda: layers.Activation(relu),
    'ActivityRegularization': lambda: layers.ActivityRegularization(.1),
    'BatchNormalization': layers.BatchNormalization,
    'Conv1D': lambda: layers.Conv1D(UNITS, 2, padding='same', activation=gelu),
    'Dropout': lambda: layers.Dropout(.5),
    'EinsumDense': lambda: layers.EinsumDense('abc,cd->abd', (None, UNITS)),
    'GaussianNoise': lambda: layers.GaussianNoise(.5, seed=1),
    'Identity': layers.Identity,
    'LayerNormalization': layers.LayerNormalization,
    'Masking': layers.Masking,
    'MaxPooling1D': lambda: layers.MaxPooling1D(2, strides=1, padding='same'),
    'Normalization': lambda: layers.Normalization(mean=.5, variance=4.),
    'NoMask': lambda: NoMask(gelu),
    'PReLU': layers.PReLU,
    'Rescaling': lambda: layers.Rescaling(.5, offset=.1),
    'Reshape': lambda: layers.Reshape((STEPS, UNITS)),
    'Scale': Scale,
    'SpatialDropout1D': lambda: layers.SpatialDropout1D(.5),
    'UsesMask': UsesMask,
}


@operation('s', 's', list(ONE_TO_ONE))
def plain(building, option, x):
    return [ONE_TO_ONE[option]()(x)]


@operation('s', 's', list(ONE_TO_ONE))
def frozen(building, option, x):
    layer = ONE_TO_ONE[option]()
    layer.trainable = False
    return [layer(x)]


@operation('s', 's')
def own_mask(building, option, x):
    return [OwnMask()(x)]


@operation('s', 's', ['cropped', 'dilated', 'permuted', 'softmax'])
def reshaped(building, option, x):
    if option == 'cropped':
        return [layers.Cropping1D(1)(layers.ZeroPadding1D(1)(x))]
    if option == 'dilated':
        return [layers.AveragePooling1D(2)(layers.UpSampling1D(2)(x))]
    if option == 'softmax':
        return [layers.Softmax()(layers.Reshape((STEPS, UNITS))(x))]
    return [layers.Permute((2, 1))(layers.Permute((2, 1))(x))]


@operation('s', 'v', ['GlobalAveragePooling1D', 'GlobalMaxPooling1D', 'Flatten'])
def pooled(building, option, x):
    y = getattr(layers, option)()(x)
    return [layers.Dense(UNITS)(y) if option == 'Flatten' else y]


@operation('v', 's')
def repeat(building, option, x):
    return [layers.RepeatVector(STEPS)(x)]


# Lambdas


@operation('s', 's', list(FUNCTIONS))
def lambda_layer(building, option, x):
    return [layers.Lambda(FUNCTIONS[option]())(x)]


LAMBDAS = {
    'mask': lambda: layers.Lambda(
        lambda x: x + .1, mask=lambda x, mask: x[:, :, 0] > -.3),
    'mask, named': lambda: layers.Lambda(lambda x: 3 * x, mask=is_large),
    'mask, passed on': lambda: layers.Lambda(gelu, mask=lambda x, mask: mask),
    'takes mask': lambda: layers.Lambda(
        lambda x, mask=None: 1. * x if mask is None else
        x * ops.cast(ops.expand_dims(mask, -1), 'float32')),
    'takes training': lambda: layers.Lambda(
        lambda x, training=None: 2. * x if training else FACTOR * x),
    'arguments': lambda: layers.Lambda(scaled, arguments={'by': .25}),
    'tuple in arguments': lambda: layers.Lambda(
        lambda x, shape: ops.reshape(x, (-1,) + shape),
        arguments={'shape': (STEPS, UNITS)}),
    'array in arguments': lambda: layers.Lambda(
        lambda x, by: x * by, arguments={'by': np.array([.5, 2.], 'float32')}),
    'output shape': lambda: layers.Lambda(
        lambda x: FACTOR * x, output_shape=(STEPS, UNITS)),
    'output shape, function': lambda: layers.Lambda(
        lambda x: FACTOR * x, output_shape=lambda shape: tuple(shape)),
}


@operation('s', 's', list(LAMBDAS))
def lambda_with_more(building, option, x):
    return [LAMBDAS[option]()(x)]


@operation('s', 'ss', ['list', 'split', 'dict'])
def lambda_with_two_outputs(building, option, x):
    if option == 'dict':
        given = layers.Lambda(lambda x: {'a': 1. * x, 'b': gelu(x)})(x)
        return [given['a'], given['b']]
    if option == 'split':
        y, z = layers.Lambda(lambda x: ops.split(x, UNITS, axis=-1))(x)
        return [layers.Dense(UNITS)(y), layers.Dense(UNITS, activation=gelu)(z)]
    return layers.Lambda(lambda x: [1. * x, .5 * x])(x)


@operation('sv', 's')
def lambda_with_two_inputs(building, option, x, v):
    return [layers.Lambda(lambda xv: xv[0] + ops.expand_dims(xv[1], 1))([x, v])]


# Several inputs and outputs


@operation('s', 'ss', ['none', 'one', 'list', 'tuple', 'both', 'new'])
def two_outputs(building, option, x):
    return TwoOutputs(option)(x)


@operation('ss', 's', ['0', '1', 'arguments', 'keyword'])
def two_inputs(building, option, x, y):
    if option == 'arguments':
        return [TwoArguments()(x, y)]
    if option == 'keyword':
        return [TwoArguments()(x, second=y)]
    return [TwoInputs(int(option))([x, y])]


@operation('ss', 'ss')
def of_dicts(building, option, x, y):
    given = OfDicts()({'b': y, 'a': x})
    return [given['sum'], given['first']]


@operation('ss', 's', ['Add', 'Subtract', 'Multiply', 'Average', 'Maximum',
                       'Minimum'])
def merge(building, option, x, y):
    return [getattr(layers, option)()([x, y])]


@operation('ss', 's', ['units', 'steps'])
def concatenate(building, option, x, y):
    if option == 'steps':
        return [layers.Cropping1D((STEPS, 0))(layers.Concatenate(axis=1)([x, y]))]
    return [layers.Dense(UNITS)(layers.Concatenate()([x, y]))]


@operation('vv', 'v', ['Add', 'Dot'])
def merge_vectors(building, option, x, y):
    if option == 'Dot':
        return [layers.Dense(UNITS)(layers.Dot(1)([x, y]))]
    return [layers.Add()([x, y])]


@operation('ss', 's', ['Attention', 'AdditiveAttention', 'MultiHeadAttention',
                       'causal', 'mask', 'scores'])
def attention(building, option, x, y):
    if option == 'mask':
        mask = layers.Masking().compute_mask(y)
        return [layers.Attention()([x, y], mask=[None, mask])]
    if option == 'causal':
        return [layers.Attention(use_scale=True)([x, y], use_causal_mask=True)]
    if option == 'scores':
        layer = layers.MultiHeadAttention(1, UNITS)
        given, scores = layer(x, y, return_attention_scores=True)
        return [given + ops.mean(scores)]
    if option == 'MultiHeadAttention':
        return [layers.MultiHeadAttention(2, UNITS)(x, y, y)]
    return [getattr(layers, option)()([x, y])]


# Recurrent layers and wrappers


@operation('s', 's', ['SimpleRNN', 'GRU', 'LSTM', 'backwards', 'unrolled', 'cell',
                      'cells', 'activations', 'relu'])
def recurrent(building, option, x):
    make = {
        'backwards': lambda: layers.GRU(UNITS, go_backwards=True,
                                        return_sequences=True),
        'unrolled': lambda: layers.LSTM(UNITS, unroll=True, return_sequences=True),
        'cell': lambda: layers.RNN(Cell(UNITS, gelu), return_sequences=True),
        'cells': lambda: layers.RNN([layers.GRUCell(UNITS), Cell(UNITS)],
                                    return_sequences=True),
        'activations': lambda: layers.LSTM(
            UNITS, return_sequences=True, activation=lambda x: .5 * x,
            recurrent_activation=lambda x: .1 * x),
        'relu': lambda: layers.LSTM(UNITS, activation=relu, return_sequences=True,
                                    recurrent_activation=keras.activations.relu),
    }
    if option in make:
        return [make[option]()(x)]
    return [getattr(layers, option)(UNITS, return_sequences=True)(x)]


@operation('s', 'v', ['SimpleRNN', 'LSTM', 'cell', 'Bidirectional'])
def last(building, option, x):
    if option == 'Bidirectional':
        y, z = layers.Bidirectional(layers.GRU(UNITS), merge_mode=None)(x)
        return [y + z]
    layer = (layers.RNN(Cell(UNITS)) if option == 'cell' else
             getattr(layers, option)(UNITS))
    return [layer(x)]


@operation('s', 'svv', ['LSTM', 'Bidirectional', 'cells'])
def returned_states(building, option, x):
    if option == 'cells':
        return layers.RNN([Cell(UNITS), layers.GRUCell(UNITS)],
                          return_sequences=True, return_state=True)(x)
    if option == 'Bidirectional':
        return layers.Bidirectional(layers.GRU(
            UNITS, return_sequences=True, return_state=True), merge_mode='ave')(x)
    return layers.LSTM(UNITS, return_sequences=True, return_state=True)(x)


@operation('sv', 's', ['GRU', 'cell'])
def initial_state(building, option, x, h):
    if option == 'cell':
        return [layers.RNN(Cell(UNITS), return_sequences=True)(x, initial_state=[h])]
    return [layers.GRU(UNITS, return_sequences=True)(x, initial_state=h)]


@operation('svv', 's', ['LSTM', 'Bidirectional'])
def initial_states(building, option, x, h, c):
    layer = layers.LSTM(UNITS, return_sequences=True)
    if option == 'Bidirectional':
        layer = layers.Bidirectional(layers.GRU(UNITS, return_sequences=True),
                                     merge_mode='sum')
    return [layer(x, initial_state=[h, c])]


@operation('s', 's', ['sum', 'ave', 'mul', 'concat', 'LSTM', 'backward layer',
                      'cell', 'activation'])
def bidirectional(building, option, x):
    def gru(**kwargs):
        return layers.GRU(UNITS, return_sequences=True, **kwargs)
    if option == 'backward layer':
        layer = layers.Bidirectional(
            gru(), merge_mode='sum',
            backward_layer=layers.SimpleRNN(UNITS, return_sequences=True,
                                            go_backwards=True))
    elif option in ('cell', 'activation'):
        inner = (gru(activation=gelu) if option == 'activation' else
                 layers.RNN(Cell(UNITS), return_sequences=True))
        # `Bidirectional` looks them up to make its second layer.
        with keras.saving.custom_object_scope({'Cell': Cell, 'gelu': gelu}):
            layer = layers.Bidirectional(inner, merge_mode='sum')
    elif option == 'LSTM':
        layer = layers.Bidirectional(layers.LSTM(UNITS, return_sequences=True),
                                     merge_mode='sum')
    else:
        layer = layers.Bidirectional(gru(), merge_mode=option)
    y = layer(x)
    return [layers.Dense(UNITS)(y) if option == 'concat' else y]


def _model(*stack):
    x = inputs = layers.Input((UNITS,))
    for layer in stack:
        x = layer(x)
    return Model(inputs, x)


WRAPPED = {
    'Dense': lambda: layers.Dense(UNITS, activation=gelu),
    'Lambda': lambda: layers.Lambda(lambda x: .3 * x),
    'Model': lambda: _model(Scale(), layers.Dense(UNITS, activation=relu)),
    'NoMask': lambda: NoMask(lambda x: FACTOR * x),
    'Scale': Scale,
    'Sequential': lambda: Sequential([layers.Input((UNITS,)), layers.Dense(UNITS)]),
    'Sequential, not built': lambda: Sequential([layers.Dense(UNITS), Scale()]),
}


@operation('s', 's', list(WRAPPED))
def time_distributed(building, option, x):
    return [layers.TimeDistributed(WRAPPED[option]())(x)]


@operation('v', 'v', list(WRAPPED))
def holder(building, option, x):
    return [Holder([WRAPPED[option]()])(x)]


@operation('v', 'v', list(WRAPPED))
def own_wrapper(building, option, x):
    return [OwnWrapper(WRAPPED[option]())(x)]


# Layers used in several places


SHARED = {
    'Dense': lambda: layers.Dense(UNITS, activation=gelu),
    'LSTM': lambda: layers.LSTM(UNITS, return_sequences=True),
    'Lambda': lambda: layers.Lambda(lambda x: x + FACTOR),
    'Model': lambda: Stack(UNITS, relu),
    'Sequential': lambda: Sequential([layers.Dense(UNITS), Scale()]),
}


@operation('s', 's', list(SHARED))
def shared(building, option, x):
    return [building.shared(option, SHARED[option])(x)]


@operation('v', 'v', ['', 'held', 'wrapped'])
def shared_with_sequences(building, option, x):
    layer = building.shared('Scale', Scale)
    if option == 'held':
        layer = Holder([layer])
    elif option == 'wrapped':
        layer = OwnWrapper(layer)
    return [layer(x)]


@operation('s', 's', ['TimeDistributed', 'Sequential', 'Model'])
def shared_inside(building, option, x):
    layer = building.shared('Scale', Scale)
    if option == 'TimeDistributed':
        return [layers.TimeDistributed(layer)(x)]
    if option == 'Sequential':
        return [Sequential([layers.Dense(UNITS), layer])(x)]
    inputs = layers.Input((STEPS, UNITS))
    return [Model(inputs, layer(inputs))(x)]


@operation('ss', 's', ['Bidirectional', 'Model'])
def called_twice(building, option, x, y):
    layer = layers.Bidirectional(layers.SimpleRNN(UNITS, return_sequences=True),
                                 merge_mode='sum')
    if option == 'Model':
        layer = Stack(UNITS, gelu)
    return [layers.Add()([layer(x), layer(y)])]


# Call arguments


@operation('s', 's', ['none', 'scale', 'training', 'array', 'empty'])
def plain_argument(building, option, x):
    if option == 'training':
        return [layers.Dropout(.5)(x, training=False)]
    if option == 'array':
        return [Shift()(x, by=np.array([.1, -.2], 'float32'))]
    return [Shift()(x, **{'none': {}, 'scale': {'scale': .5},
                          'empty': {'by': [None, []]}}[option])]


@operation('ss', 's', ['tensor', 'list', 'nested', 'dict', 'positional'])
def tensor_argument(building, option, x, y):
    if option == 'positional':
        return [Shift()(x, [y, None])]
    by = {'tensor': y, 'list': [y, x], 'dict': {'b': y, 'a': x},
          'nested': {'of': (y, [y, None])}}
    return [Shift()(x, by=by[option])]


class WithWeight(layers.Layer):
    def call(self, inputs, weight):
        return inputs @ weight


@operation('v', 'v', ['keyword', 'layer', 'list', 'not called yet', 'position',
                      'variable'])
def weight_argument(building, option, x):
    dense = layers.Dense(UNITS)
    if option == 'not called yet':
        dense.build((None, UNITS))
        return [dense(x @ dense.kernel)]
    y = dense(x)
    if option == 'keyword':
        return [ops.add(x1=y, x2=dense.bias)]
    if option == 'layer':
        return [WithWeight()(y, dense.kernel)]
    if option == 'list':
        return [ops.einsum('bi,ij->bj', y, dense.kernel)]
    return [y @ (keras.Variable(MATRIX) if option == 'variable' else dense.kernel)]


@operation('v', 'v', list(PATCHES))
def patched(building, option, x):
    return [PATCHES[option](layers.Dense(UNITS))(x)]


@operation('ss', 's', ['layer', 'op', 'compute_mask', 'model', 'constant'])
def mask_argument(building, option, x, y):
    layer = layers.SimpleRNN(UNITS, return_sequences=True)
    if option == 'layer':
        mask = layers.Lambda(lambda x: x[:, :, 0] > -.4)(y)
    elif option == 'compute_mask':
        mask = layers.Masking().compute_mask(y)
    else:
        mask = y[:, :, 0] > -.4
    if option == 'constant':
        mask = ops.logical_and(mask, np.array([[True, True, False]]))
    if option == 'model':
        layer = Sequential([layers.Dense(UNITS), layer])
    return [layer(x, mask=mask)]


# Ops of Keras in place of layers


OPS = {
    'add': lambda x: x + 1.,
    'array': lambda x: x * np.array([.5, 2.], 'float32'),
    'array before': lambda x: ops.multiply(np.array([.5, 2.], 'float32'), x),
    'clip': lambda x: ops.clip(x, np.array([-.1, -.2], 'float32'),
                               np.array([.3, .2], 'float32')),
    'concatenate': lambda x: ops.concatenate([x[:, :1], x[:, 1:]], axis=1),
    'einsum': lambda x: ops.einsum('bij,bkj->bik', x, x)[:, :, :UNITS],
    'getitem': lambda x: x[:, ::-1],
    'map': lambda x: ops.map(lambda row: FACTOR * row, x),
    'matmul': lambda x: ops.matmul(x, np.eye(UNITS, dtype='float32')),
    'negative': lambda x: -x,
    'pad': lambda x: ops.pad(x, np.array([[0, 0], [1, 0], [0, 0]]))[:, :STEPS],
    'power': lambda x: x ** 2,
    'relu': ops.relu,
    'reshape': lambda x: ops.reshape(x, np.array([-1, STEPS, UNITS])),
    'roll': lambda x: ops.roll(x, 1, axis=1),
    'softmax': lambda x: ops.softmax(x, axis=-1),
    'subtracted': lambda x: 1. - x,
    'sum': lambda x: x / (1. + ops.sum(ops.abs(x), axis=-1, keepdims=True)),
    'swapaxes': lambda x: ops.transpose(ops.swapaxes(x, 1, 2), (0, 2, 1)),
    'take': lambda x: ops.take(x, np.array([2, 0, 1]), axis=1),
    'tile': lambda x: ops.tile(x, np.array([1, 2, 1]))[:, 1:STEPS + 1],
    'vectorized_map': lambda x: ops.vectorized_map(lambda row: row * FACTOR, x),
    'vectorized_map of an object': lambda x: ops.vectorized_map(Doubled(), x),
    'where': lambda x: ops.where(x > 0, x, np.array([.1, -.1], 'float32')),
}


@operation('s', 's', list(OPS))
def op(building, option, x):
    return [OPS[option](x)]


@operation('ss', 's', ['add', 'multiply', 'maximum', 'where', 'concatenate', 'stack',
                       'matmul'])
def op_of_two(building, option, x, y):
    if option == 'where':
        return [ops.where(x > y, x, .5 * y)]
    if option == 'concatenate':
        return [ops.concatenate([x, y], axis=1)[:, 2:STEPS + 2]]
    if option == 'stack':
        return [ops.mean(ops.stack((x, y), axis=-1), axis=-1)]
    if option == 'matmul':
        return [ops.matmul(ops.matmul(x, ops.transpose(y, (0, 2, 1))), y)]
    return [x + y if option == 'add' else getattr(ops, option)(x, y)]


@operation('s', 'v', ['getitem', 'mean', 'max', 'norm'])
def op_to_vector(building, option, x):
    return [{'getitem': lambda: x[:, 1], 'mean': lambda: ops.mean(x, axis=1),
             'max': lambda: ops.max(x, axis=1),
             'norm': lambda: ops.norm(x, axis=1)}[option]()]


@operation('v', 's', ['stack', 'broadcast', 'expand'])
def op_to_sequence(building, option, x):
    if option == 'stack':
        return [ops.stack([x, -x, x * x], axis=1)]
    if option == 'expand':
        return [ops.expand_dims(x, 1) * np.ones((STEPS, 1), 'float32')]
    return [ops.repeat(x[:, None], STEPS, axis=1)]


@operation('s', 'ss', ['split', 'top_k'])
def op_with_two_outputs(building, option, x):
    if option == 'top_k':
        values, indices = ops.top_k(x, UNITS)
        return [values, ops.cast(indices, 'float32')]
    y, z = ops.split(x, UNITS, axis=-1)
    return [y * x, z - x]


@operation('s', 's')
def function(building, option, x):
    """A `Function` that has an op and a layer; the latter is in the model as well,
    because a `Function` has no weights."""
    inputs = layers.Input((STEPS, UNITS))
    layer = building.shared('Dense', SHARED['Dense'])
    return [keras.Function(inputs, layer(inputs) * FACTOR)(x) + layer(x)]


# Nested models


@operation('s', 's', ['built', 'not built', 'masked', 'built by hand', 'nested',
                      'twice'])
def sequential(building, option, x):
    stack = [layers.Dense(UNITS, activation=gelu), OwnMask(), Scale()]
    if option == 'built':
        stack.insert(0, layers.Input((STEPS, UNITS)))
    elif option == 'masked':
        stack[0] = layers.Masking()
    elif option == 'nested':
        stack[0] = Sequential([layers.Dense(UNITS), Scale()])
    elif option == 'twice':
        stack.append(stack[0])
    model = Sequential(stack)
    if option == 'built by hand':
        model.build((None, STEPS, UNITS))
    return [model(x)]


@operation('s', 's', ['Branded', 'Stack', 'Subclassed'])
def model_of_a_class(building, option, x):
    if option == 'Branded':
        inputs = layers.Input((STEPS, UNITS))
        return [Branded(inputs, Scale()(inputs))(x)]
    return [Stack(UNITS, gelu)(x) if option == 'Stack' else Subclassed(gelu)(x)]


@operation('s', 'ss')
def parts_of_a_model(building, option, x):
    """Two models on the same layers, one of which begins at a hidden tensor."""
    inputs = layers.Input((STEPS, UNITS))
    hidden = layers.Dense(UNITS, activation=gelu)(inputs)
    outputs = Scale()(OwnMask()(hidden))
    return [Model(inputs, outputs)(x), Model(hidden, outputs)(x)]


@operation('sv', 'sv', NESTED)
def nested(building, recipe, x, v):
    return building.nested_model(recipe)(x, v)


@operation('svs', 'sv', NESTED)
def nested_called_twice(building, recipe, x, v, y):
    model = building.nested_model(recipe)
    _, v = model(x, v)
    return model(y, v)


@operation('sv', 'sv', NESTED)
def nested_with_dicts(building, recipe, x, v):
    return building.nested_model(recipe, dicts=True)(x, v)


@operation('sv', 'sv', NESTED)
def nested_frozen(building, recipe, x, v):
    return building.nested_model(recipe, trainable=False)(x, v)


# Custom code to write and read configs


WAYS = {  # {way: (function that writes a layer, function that reads it)}
    'class and config': (
        lambda layer: (type(layer).__name__, layer.get_config()), named),
    'copied': (lambda layer: copy.deepcopy(layers.serialize(layer)),
               lambda config: layers.deserialize(copy.deepcopy(config))),
    'digested': (
        lambda layer: {'layer': layers.serialize(layer), 'digest': digest_of(layer)},
        lambda config: layers.deserialize(config['layer'])),
    'JSON': (lambda layer: json.dumps([type(layer).__name__, layer.get_config()]),
             lambda text: named(json.loads(text))),
    'JSON of Keras': (
        lambda layer: json.dumps(keras.saving.serialize_keras_object(layer)),
        lambda text: keras.saving.deserialize_keras_object(json.loads(text))),
    'other key': (layers.serialize, layers.deserialize),
    'pickled': (lambda layer: pickled((type(layer), layer.get_config())),
                lambda data: from_class(*pickle.loads(data))),
    'repr': (lambda layer: repr((type(layer).__name__, layer.get_config())),
             lambda text: named(ast.literal_eval(text))),
}


class Written(OneShape):
    """Holds a layer and writes it to its config in one of `WAYS`."""

    def __init__(self, inner, way, digest=None, **kwargs):
        super().__init__(**kwargs)
        self.inner, self.way = inner, way
        self.digest = digest or digest_of(inner)
        if self.digest != digest_of(inner):
            raise ValueError('The config is not what it was.')

    def build(self, input_shape):
        if not self.inner.built:
            self.inner.build(input_shape)

    def call(self, inputs):
        factor = 2. if type(self.inner).__name__ == 'Dense' else -1.
        return factor * self.inner(inputs)

    def get_config(self):
        write, _ = WAYS[self.way]
        return {**super().get_config(), 'way': self.way,
                'digest': digest_of(self.inner), 'written': write(self.inner)}

    @classmethod
    def from_config(cls, config):
        _, read = WAYS[config['way']]
        return cls(read(config.pop('written')), **config)


TO_WRITE = {
    'Dense': lambda: layers.Dense(UNITS, 'tanh', kernel_regularizer='l2'),
    'function': lambda: layers.Dense(UNITS, activation=gelu),
    'LayerNormalization': lambda: layers.LayerNormalization(epsilon=.1),
    'Scale': Scale,
    'Sequential': lambda: Sequential([layers.Input((UNITS,)), layers.Dense(UNITS)]),
}


@operation('v', 'v', ['{}, {}'.format(*pair)
                      for pair in itertools.product(WAYS, TO_WRITE)])
def written(building, option, x):
    way, inner = option.split(', ')
    return [Written(TO_WRITE[inner](), way)(x)]


@operation('v', 'v', list(WAYS))
def written_inside(building, option, x):
    return [OwnWrapper(Written(TO_WRITE['Dense'](), option))(x)]


@operation('s', 's', list(WAYS))
def written_in_steps(building, option, x):
    return [layers.TimeDistributed(Written(TO_WRITE['Dense'](), option))(x)]


@operation('s', 's', ['{}, {}'.format(*pair)
                      for pair in itertools.product(FUNCTION_WAYS, FUNCTION_OF)])
def asks(building, option, x):
    way, name = option.split(', ')
    return [Asks(FUNCTION_OF[name], way)(x)]


Options = dataclasses.make_dataclass('Options', [('rate', float)], frozen=True)
VALUES = {  # {type: (makes a value, converts it to a number)}
    collections.Counter: (lambda: collections.Counter('aab'),
                          lambda value: value.most_common(1)[0][1]),
    collections.OrderedDict: (lambda: collections.OrderedDict([('z', .3), ('a', 5)]),
                              lambda value: next(iter(value.values()))),
    collections.defaultdict: (lambda: collections.defaultdict(float, a=.5),
                              lambda value: value['a'] - value['missing']),
    frozenset: (lambda: frozenset([.5, .25]), max),
    Limits: (lambda: Limits(-.1, .7), lambda value: value.high),
    Mode: (lambda: Mode.FAST, lambda value: 2 if value is Mode.FAST else 1),
    np.float32: (lambda: np.float32(.5), float),
    Options: (lambda: Options(.3), lambda value: value.rate),
    slice: (lambda: slice(1, 3), lambda value: value.stop),
    Strange: (lambda: Strange(a=.4), lambda value: value.a),
}
NAMES_OF_VALUES = {cls.__name__: cls for cls in VALUES}


class Valued(layers.Layer):
    """Accepts only values of the types in `VALUES`."""

    def __init__(self, value, **kwargs):
        super().__init__(**kwargs)
        make, number = VALUES[type(value)]
        self.made_by, self.factor = make, float(number(value))

    def call(self, inputs):
        return self.factor * inputs

    def get_config(self):
        return {**super().get_config(), 'value': self.made_by()}


@operation('s', 's', list(NAMES_OF_VALUES))
def valued(building, option, x):
    make, _ = VALUES[NAMES_OF_VALUES[option]]
    return [Valued(make())(x)]


class Counts(layers.Layer):
    """Counts how often its config is read; may make another layer from it."""

    read = 0

    def __init__(self, units, way, **kwargs):
        super().__init__(**kwargs)
        self.dense, self.way = layers.Dense(units), way

    def build(self, input_shape):
        self.dense.build(input_shape)

    def call(self, inputs):
        return self.dense(inputs)

    def get_config(self):
        Counts.read += 1
        config = {**super().get_config(), 'units': self.dense.units, 'way': self.way}
        if self.way == 'twin':
            type(self)(**{**copy.deepcopy(config), 'way': None})
        return config


@operation('v', 'v', ['counts', 'twin'])
def counted(building, option, x):
    return [Counts(UNITS, option)(x)]


class Copies(layers.Layer):
    """Makes several layers from one config, in one of the ways of `COPIES`."""

    def __init__(self, config, way, **kwargs):
        super().__init__(**kwargs)
        self.config, self.way = config, way
        self.copies = [] if way == 'built' else COPIES[way](config)

    def build(self, input_shape):
        if self.way == 'built':
            self.copies = COPIES[self.way](self.config)
        for layer in self.copies:
            if not layer.built:
                layer.build(input_shape)

    def call(self, inputs):
        return sum((i + 1) * layer(inputs) for i, layer in enumerate(self.copies))

    def get_config(self):
        return {**super().get_config(), 'config': self.config, 'way': self.way}


def _model_of(config):
    return Sequential([layers.Input((UNITS,)), layers.deserialize(config)])


def _with_target(config):
    model = _model_of(config)
    target = keras.models.clone_model(model)
    target.trainable = False
    return [model, target]


COPIES = {
    'built': lambda config: [layers.deserialize(config) for _ in range(2)],
    'clone_model': _with_target,
    'deepcopy': lambda config: [
        copy.deepcopy(layer) for layer in [layers.deserialize(config)] * 2],
    'deserialize': lambda config: [layers.deserialize(config) for _ in range(3)],
    'from_config': lambda config: [
        layers.Dense.from_config(config['config']) for _ in range(2)],
    'model_from_json': lambda config: [
        keras.models.model_from_json(_model_of(config).to_json()) for _ in range(2)],
    'renamed': lambda config: [layers.deserialize(renamed(config, name))
                               for name in ('first', 'second')],
}


@operation('v', 'v', list(COPIES))
def copies(building, option, x):
    config = layers.serialize(layers.Dense(UNITS, 'tanh', name='inner'))
    return [Copies(config, option)(x)]


class Twice(layers.Layer):
    """Has the config of a layer twice in its own and makes a layer from each."""

    def __init__(self, first, second, **kwargs):
        super().__init__(**kwargs)
        self.first, self.second = first, second

    def build(self, input_shape):
        for layer in (self.first, self.second):
            if not layer.built:
                layer.build(input_shape)

    def call(self, inputs):
        return self.first(inputs) - 2. * self.second(inputs)

    def get_config(self):
        config = layers.serialize(self.first)
        return {**super().get_config(), 'first': config, 'second': config}

    @classmethod
    def from_config(cls, config):
        first, second = config.pop('first'), config.pop('second')
        return cls(layers.deserialize(first), layers.deserialize(second), **config)


@operation('v', 'v', ['Dense', 'Scale'])
def twice(building, option, x):
    make = {'Dense': lambda: layers.Dense(UNITS, name='tower'),
            'Scale': lambda: Scale(name='tower')}[option]
    return [Twice(make(), make())(x)]


# Layers that hold other layers, weights or objects

# Keras does not track what they hold.
UNTRACKED = ('deque', 'method', 'object', 'slots')


class Given(layers.Layer):
    """Takes layers in a container as an argument; has no config."""

    def __init__(self, held, **kwargs):
        super().__init__(**kwargs)
        self.held = held
        if not isinstance(held, (list, tuple, dict, set)):
            self.tracked = layers_in(held)

    def build(self, input_shape):
        for layer in layers_in(self.held):
            if not layer.built:
                layer.build(input_shape)

    def call(self, inputs):
        return sum((i + 1) * layer(inputs)
                   for i, layer in enumerate(layers_in(self.held)))


class Making(Given):
    """Makes its layers itself, in one of `CONTAINERS`."""

    def __init__(self, kind, **kwargs):
        super().__init__(CONTAINERS[kind](_pair()), **kwargs)
        self.kind = kind

    def get_config(self):
        return {**layers.Layer.get_config(self), 'kind': self.kind}


class Lazy(Given):
    """Makes its layers in `build`."""

    def __init__(self, kind, **kwargs):
        super().__init__([], **kwargs)
        self.kind = kind

    def build(self, input_shape):
        if not layers_in(self.held):
            self.held = CONTAINERS[self.kind](_pair())
            if self.kind in UNTRACKED:
                self.tracked = layers_in(self.held)
        super().build(input_shape)

    def get_config(self):
        return {**layers.Layer.get_config(self), 'kind': self.kind}


def _pair():
    return [layers.Dense(UNITS, 'tanh', name='one'), Scale(name='two')]


@operation('v', 'v', list(CONTAINERS))
def given_layers(building, option, x):
    return [Given(CONTAINERS[option](_pair()))(x)]


@operation('v', 'v', list(CONTAINERS))
def made_layers(building, option, x):
    return [Making(option)(x)]


@operation('v', 'v', list(CONTAINERS))
def lazy_layers(building, option, x):
    return [Lazy(option)(x)]


@operation('v', 'v', list(CONTAINERS))
def given_shared_layers(building, option, x):
    pair = [building.shared('Dense', SHARED['Dense']),
            building.shared('Scale', Scale)]
    return [Given(CONTAINERS[option](pair))(x) + pair[0](x)]


class Aliases(layers.Layer):
    """Has layers in several attributes; uses the ids of layers as keys."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.first, self.second = layers.Dense(UNITS), Scale()
        self.all = [self.first, self.second]
        self.last = self.all[-1]
        self.factors = {id(self.first): .5, id(self.second): 2.}

    def build(self, input_shape):
        for layer in self.all:
            layer.build(input_shape)

    def call(self, inputs):
        return (self.factors[id(self.first)] * self.first(inputs) +
                self.factors[id(self.last)] * self.last(inputs))


class Squashes(layers.Layer):
    """Has a layer whose activation is one of its own methods."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.slope = self.add_weight(shape=(), initializer='ones')
        self.dense = layers.Dense(UNITS, activation=self.squash)

    def squash(self, x):
        return ops.tanh(self.slope * x)

    def build(self, input_shape):
        self.dense.build(input_shape)

    def call(self, inputs):
        return self.dense(inputs)


class FirstCall(layers.Layer):
    """Sets an attribute in its first call and records that it did."""

    initialized = False

    def build(self, input_shape):
        self.dense = layers.Dense(input_shape[-1])
        self.dense.build(input_shape)
        self.size = input_shape[-1]

    def call(self, inputs):
        if not self.initialized:
            self.factor = 1. / self.size
            self.initialized = True
        return self.factor * self.dense(inputs)


@operation('v', 'v', ['Aliases', 'FirstCall', 'Squashes'])
def of_itself(building, option, x):
    return [globals()[option]()(x)]


class TiedTo(layers.Layer):
    """Computes with the weights of another layer."""

    def __init__(self, tied_to, **kwargs):
        super().__init__(**kwargs)
        self.tied_to = tied_to

    def build(self, input_shape):
        self.bias = self.add_weight(shape=(UNITS,), initializer='zeros')

    def call(self, inputs):
        return ops.matmul(inputs, ops.transpose(self.tied_to.kernel)) + self.bias


class TiedByConfig(TiedTo):
    """Has the other layer in its config."""

    def get_config(self):
        return {**layers.Layer.get_config(self),
                'tied_to': layers.serialize(self.tied_to)}

    @classmethod
    def from_config(cls, config):
        return cls(layers.deserialize(config.pop('tied_to')), **config)


class Pull(keras.regularizers.Regularizer):
    """Penalizes the distance between a weight and the kernel of a layer."""

    def __init__(self, layer):
        self.layer = layer

    def __call__(self, weight):
        return ops.sum(ops.square(weight - self.layer.kernel))

    def get_config(self):
        return {'layer': self.layer}


TIED = {  # {option: function that takes a built `Dense` and returns a layer}
    'activation': lambda dense: layers.Dense(UNITS, activation=Scorer(dense)),
    'arguments': lambda dense: layers.Lambda(by_layer, arguments={'layer': dense}),
    'attribute': TiedTo,
    'config': TiedByConfig,
    'default': lambda dense: layers.Lambda(
        lambda x, kernel=dense.kernel: ops.matmul(x, kernel)),
    'initializer': lambda dense: layers.Dense(
        UNITS, bias_initializer=lambda shape, dtype=None: 0. * dense.bias + .5),
    'kernel': lambda dense: (lambda kernel: layers.Lambda(
        lambda x: ops.matmul(x, ops.transpose(kernel))))(dense.kernel),
    'layer': lambda dense: layers.Lambda(lambda x: FACTOR * dense(x)),
    'method': lambda dense: layers.Lambda(Scorer(dense).score),
    'object': lambda dense: layers.Lambda(Scorer(dense)),
    'partial': lambda dense: layers.Dense(
        UNITS, activation=functools.partial(times, weight=dense.kernel, by=.5)),
    'partial of a layer': lambda dense: layers.Lambda(
        functools.partial(by_layer, layer=dense)),
    'regularizer': lambda dense: layers.Dense(UNITS, kernel_regularizer=Pull(dense)),
    'regularizer, a function': lambda dense: layers.Dense(
        UNITS, kernel_regularizer=lambda w: ops.sum(w * dense.kernel)),
}
if RELEASE < (3, 15):  # Earlier releases do not accept a function there.
    del TIED['regularizer, a function']


@operation('v', 'v', list(TIED))
def tied(building, option, x):
    dense = layers.Dense(UNITS)
    y = dense(x)
    return [TIED[option](dense)(y)]


@operation('vv', 'v', list(TIED))
def tied_to_later(building, option, x, y):
    """The clone may call the other layer later."""
    dense = layers.Dense(UNITS)
    z = dense(x)
    return [layers.add([z, TIED[option](dense)(y)])]


@operation('vv', 'v', list(TIED))
def tied_to_shared(building, option, x, y):
    dense = building.shared('Dense', SHARED['Dense'])
    z = dense(x)
    return [TIED[option](dense)(y) + z]


class Halves(keras.initializers.Initializer):
    """A custom initializer."""

    def __call__(self, shape, dtype=None):
        return .5 * ops.ones(shape, dtype)


SHARED_ARGUMENTS = {
    'activation, a layer': lambda: {'activation': layers.LeakyReLU(.3)},
    'activation, an object': lambda: {'activation': Doubled()},
    'activation, with weights': lambda: {'activation': layers.PReLU()},
    'constraint': lambda: {'kernel_constraint': keras.constraints.MaxNorm(.5)},
    'initializer': lambda: {
        'kernel_initializer': keras.initializers.RandomNormal(seed=1)},
    'own constraint': lambda: {'kernel_constraint': AtMost(.3)},
    'own initializer': lambda: {'bias_initializer': Halves()},
    'own regularizer': lambda: {'kernel_regularizer': Strong(.1)},
    'regularizer': lambda: {'kernel_regularizer': keras.regularizers.L2(.1)},
}


@operation('v', 'v', list(SHARED_ARGUMENTS))
def shared_argument(building, option, x):
    kwargs = SHARED_ARGUMENTS[option]()
    return [layers.Dense(UNITS, **kwargs)(layers.Dense(UNITS, **kwargs)(x))]


# Layers without configs


class Affine(OneShape):
    """Takes arrays and a function as arguments."""

    def __init__(self, matrix, *more, function=ops.tanh, **kwargs):
        super().__init__(**kwargs)
        self.matrix, self.more = ops.convert_to_tensor(matrix), more
        self._function = function

    def call(self, inputs):
        return self._function(ops.matmul(inputs, self.matrix)) + sum(self.more)


class Kernel(OneShape):
    """Passes all other arguments on to its base class."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.u = units

    def build(self, input_shape):
        self.kernel = self.add_weight(
            shape=(input_shape[-1], self.u), regularizer=keras.regularizers.L2(.3))

    def call(self, inputs):
        return ops.matmul(inputs, self.kernel)


class RandomFeatures(OneShape):
    """Draws random numbers when it is made."""

    def __init__(self, sigma=1., **kwargs):
        super().__init__(**kwargs)
        self.matrix = np.random.normal(0, sigma, (UNITS, UNITS)).astype('float32')

    def call(self, inputs):
        return ops.sin(ops.matmul(inputs, self.matrix))


class InTurn(OneShape):
    """Takes any number of layers as arguments."""

    def __init__(self, first, *more, factor=1., **kwargs):
        super().__init__(**kwargs)
        self.first, self.more, self.factor = first, more, factor

    def call(self, inputs):
        for layer in (self.first, *self.more):
            inputs = layer(inputs)
        return self.factor * inputs


WITHOUT_CONFIG = {
    'activity regularizer': lambda: Kernel(
        UNITS, activity_regularizer=keras.regularizers.L2(.2)),
    'activity regularizer, text': lambda: Kernel(UNITS, activity_regularizer='l1'),
    'array': lambda: Affine(MATRIX),
    'arrays': lambda: Affine(MATRIX, MATRIX[0], 2 * MATRIX[1]),
    'derived': lambda: KeepRate(.2),
    'derived, keyword': lambda: KeepRate(rate=.9, name='rated'),
    'dtype': lambda: Kernel(UNITS, dtype='mixed_float16'),
    'frozen': lambda: Kernel(units=UNITS, trainable=False),
    'function': lambda: Affine(MATRIX, function=lambda x: FACTOR * x),
    'layer': lambda: InTurn(layers.Dense(UNITS), factor=.3),
    'layers': lambda: InTurn(layers.Dense(UNITS), Scale(), layers.Dense(UNITS)),
    'popped': lambda: Popped(UNITS, 'tanh', offset=.5),
    'popped, array': lambda: Popped(UNITS, offset=MATRIX[0]),
    'random': lambda: RandomFeatures(2.),
    'subclass': lambda: Scaled(UNITS, 3., activation='tanh'),
    'slot': lambda: LayerWithSlot(3.),
    **FILLED,
}


@operation('v', 'v', list(WITHOUT_CONFIG))
def without_config(building, option, x):
    return [WITHOUT_CONFIG[option]()(x)]


@operation('s', 's', list(WITHOUT_CONFIG))
def without_config_in_steps(building, option, x):
    return [layers.TimeDistributed(WITHOUT_CONFIG[option]())(x)]


class Block(Model):
    """A model that has no graph and no config."""

    def __init__(self, hidden, act='relu', normalized=False, inner=None):
        super().__init__()
        self.hidden = [layers.Dense(units, act) for units in hidden]
        self.norm = layers.BatchNormalization() if normalized else None
        self.inner = inner
        self.last = layers.Dense(UNITS)

    def call(self, inputs, training=None):
        for layer in self.hidden:
            inputs = layer(inputs)
        if self.norm is not None:
            inputs = self.norm(inputs, training=training)
        return self.last(inputs if self.inner is None else self.inner(inputs))


BLOCKS = {
    'defaults': lambda: Block([3]),
    'function': lambda: Block([3], act=gelu),
    'keyword': lambda: Block(hidden=(2, 3), act='tanh', normalized=True),
    'layer': lambda: Block([3], inner=layers.Dense(3)),
    'nested': lambda: Block([3], inner=Block([2], 'tanh', True)),
    'positional': lambda: Block([2, 3], 'tanh', True),
}


@operation('v', 'v', list(BLOCKS))
def subclassed(building, option, x):
    return [BLOCKS[option]()(x)]


# State that is neither in weights nor in configs


def _adapted(layer, data):
    layer.adapt(data)
    return layer


NUMBERS = np.array([[.5, -2.], [.1, 3.], [-.4, .2], [.2, -.6]], 'float32')


class Prepares(layers.Layer):
    """Holds a layer that `adapt` changes."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.norm, self.dense = layers.Normalization(), layers.Dense(UNITS)

    def adapt(self, data):
        self.norm.adapt(data)

    def build(self, input_shape):
        self.dense.build(input_shape)

    def call(self, inputs):
        return self.dense(self.norm(inputs))


ADAPTED = {
    'Normalization': lambda x: _adapted(layers.Normalization(), NUMBERS)(x),
    'Normalization of all': lambda x: _adapted(
        layers.Normalization(axis=None), NUMBERS)(x),
    'Normalization, inverted': lambda x: _adapted(
        layers.Normalization(invert=True), NUMBERS)(x),
    'Normalization in a model': lambda x: Sequential(
        [_adapted(layers.Normalization(), NUMBERS), layers.Dense(UNITS)])(x),
    'Normalization in a layer': lambda x: _adapted(Prepares(), NUMBERS)(x),
    'Normalization in a wrapper': lambda x: OwnWrapper(
        _adapted(layers.Normalization(), NUMBERS))(x),
}


def _bins(**kwargs):
    return _adapted(layers.Discretization(num_bins=3, **kwargs), NUMBERS)


def _embedded(numbers):
    return layers.GlobalAveragePooling1D()(layers.Embedding(9, UNITS)(numbers))


if keras.backend.backend() == 'tensorflow':  # These layers need it.
    LETTERS = ['a', 'b', 'c']
    ADAPTED.update({
        'CategoryEncoding': lambda x: layers.Dense(UNITS)(
            layers.CategoryEncoding(4, output_mode='count')(_bins()(x))),
        'Discretization': lambda x: _embedded(_bins()(x)),
        'Discretization, counted': lambda x: layers.Dense(UNITS)(
            _bins(output_mode='count')(x)),
        'Hashing': lambda x: _embedded(layers.Hashing(4, salt=3)(_bins()(x))),
        'IntegerLookup': lambda x: _embedded(_adapted(
            layers.IntegerLookup(), np.array([2, 2, 1]))(_bins()(x))),
        'IntegerLookup, given': lambda x: _embedded(
            layers.IntegerLookup(vocabulary=[2, 0, 1])(_bins()(x))),
        'StringLookup': lambda x: _embedded(_adapted(
            layers.StringLookup(), np.array(['b', 'c', 'b']))(_letters(x))),
        'TextVectorization': lambda x: _embedded(_adapted(
            layers.TextVectorization(output_sequence_length=2),
            np.array(['b c', 'b a']))(_letters(x)[:, :1])),
    })

    def _letters(x):
        return layers.StringLookup(vocabulary=LETTERS, invert=True)(_bins()(x))


@operation('v', 'v', list(ADAPTED))
def adapted(building, option, x):
    return [ADAPTED[option](x)]


class TwoDense(layers.Layer):
    """Holds layers that `CHANGED` changes."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.first, self.second = layers.Dense(UNITS), layers.Dense(UNITS, 'tanh')

    def build(self, input_shape):
        self.first.build(input_shape)
        self.second.build(input_shape)

    def call(self, inputs):
        return self.second(self.first(inputs))


def _lora(layer):
    layer.enable_lora(1)


def _frozen(layer):
    layer.trainable = False


def _of_int8(layer):
    layer.quantize('int8')


def _dense():
    return layers.Dense(UNITS)


def _compile_call(layer):
    if keras.backend.backend() == 'tensorflow':
        import tensorflow as tf
        layer.call = tf.function(layer.call)
    else:
        layer.call = keras.remat(layer.call)


# {option: (function that makes a layer, function that changes it when it is built)}
CHANGED = {
    'activation': (_dense, lambda layer: setattr(layer, 'activation', gelu)),
    'attribute': (Scale, lambda layer: setattr(layer, 'names', ['a', {'b': (1,)}])),
    'constraint of a variable': (_dense, lambda layer: setattr(
        layer.kernel, 'constraint', keras.constraints.UnitNorm())),
    'float8': (_dense, lambda layer: layer.quantize('float8')),
    'compiled call': (_dense, _compile_call),
    'frozen': (_dense, _frozen),
    'frozen inside': (TwoDense, lambda layer: _frozen(layer.first)),
    'frozen variable': (_dense, lambda layer: _frozen(layer.bias)),
    'frozen variable inside': (TwoDense, lambda layer: _frozen(layer.second.kernel)),
    'function': (_dense, keep_function_of),
    'int8': (_dense, _of_int8),
    'int8 and LoRA': (_dense, lambda layer: (_lora(layer), _of_int8(layer))),
    'int8 inside': (TwoDense, lambda layer: _of_int8(layer.second)),
    'LoRA': (_dense, _lora),
    'LoRA, alpha': (_dense, lambda layer: layer.enable_lora(1, lora_alpha=4)),
    'LoRA and int8': (_dense, lambda layer: (_of_int8(layer), _lora(layer))),
    'LoRA inside': (TwoDense, lambda layer: _lora(layer.first)),
    'LoRA of EinsumDense': (lambda: layers.EinsumDense('ab,bc->ac', UNITS), _lora),
    'number': (lambda: KeepRate(.5), lambda layer: setattr(layer, 'rate', 4.)),
    'regularizer': (_dense, lambda layer: setattr(
        layer, 'activity_regularizer', keras.regularizers.L2(.3))),
    'regularizer, no config': (lambda: OmitsRegularizer(
        UNITS, activity_regularizer=keras.regularizers.L2(.3)), lambda layer: None),
    'regularizer of a variable': (_dense, lambda layer: setattr(
        layer.kernel, 'regularizer', keras.regularizers.L2(.3))),
    'slope': (layers.LeakyReLU, lambda layer: setattr(layer, 'negative_slope', .9)),
    'wrapped, frozen': (lambda: OwnWrapper(layers.Dense(UNITS)),
                        lambda layer: _frozen(layer.layer)),
    'wrapped, int8': (lambda: OwnWrapper(layers.Dense(UNITS)),
                      lambda layer: _of_int8(layer.layer)),
    'wrapped, LoRA': (lambda: OwnWrapper(layers.Dense(UNITS)),
                      lambda layer: _lora(layer.layer)),
}


@operation('v', 'v', EXTENSIONS)
def something_added(building, option, x):
    return [extended(*option.split(', '), UNITS)(x)]


@operation('v', 'v', list(CHANGED))
def changed(building, option, x):
    make, change = CHANGED[option]
    layer = make()
    y = layer(x)
    change(layer)
    return [y]


def _attention():
    return layers.MultiHeadAttention(1, UNITS)


def _recurrent(layer=layers.GRU):
    return layer(UNITS, return_sequences=True)


CHANGED_SEQUENCES = {
    'backward frozen': (lambda: layers.Bidirectional(_recurrent(), merge_mode='sum'),
                        lambda layer: _frozen(layer.backward_layer)),
    'cell frozen': (_recurrent, lambda layer: _frozen(layer.cell)),
    'forward frozen': (lambda: layers.Bidirectional(_recurrent(), merge_mode='ave'),
                       lambda layer: _frozen(layer.forward_layer)),
    'inner frozen': (lambda: layers.TimeDistributed(layers.Dense(UNITS)),
                     lambda layer: _frozen(layer.layer)),
    'inner LoRA': (lambda: layers.TimeDistributed(layers.Dense(UNITS)),
                   lambda layer: _lora(layer.layer)),
    'model frozen inside': (
        lambda: Sequential([layers.Dense(UNITS), layers.BatchNormalization()]),
        lambda model: _frozen(model.layers[1])),
    'one cell frozen': (
        lambda: layers.RNN([layers.GRUCell(UNITS), Cell(UNITS)],
                           return_sequences=True),
        lambda layer: _frozen(layer.cell.cells[1])),
    'rate': (lambda: layers.Dropout(.5), lambda layer: setattr(layer, 'rate', .1)),
}


@operation('s', 's', list(CHANGED_SEQUENCES))
def changed_sequences(building, option, x):
    make, change = CHANGED_SEQUENCES[option]
    layer = make()
    y = layer(x)
    change(layer)
    return [y]


@operation('ss', 's', ['LoRA', 'frozen', 'int8'])
def changed_attention(building, option, x, y):
    layer = _attention()
    z = layer(x, y)
    {'LoRA': _lora, 'frozen': _frozen, 'int8': _of_int8}[option](layer.query_dense)
    return [z]


POLICIES = {
    'Block': lambda: Block([3], normalized=True),
    'Dense': lambda: layers.Dense(UNITS),
    'TwoDense': TwoDense,
    'given': lambda: Given([layers.Dense(UNITS), Scale()]),
    'Sequential': lambda: Sequential([layers.Dense(UNITS), Scale()]),
    'wrapped': lambda: OwnWrapper(layers.Dense(UNITS)),
}


@operation('v', 'v', list(POLICIES))
def global_policy(building, option, x):
    """The policy is global only while the layer is made."""
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy('mixed_float16')
    try:
        y = POLICIES[option]()(x)
    finally:
        keras.config.set_dtype_policy(before)
    return [layers.Activation('linear')(y)]


MAPPED = {
    'Dense': lambda policy: layers.Dense(UNITS, dtype=policy),
    'without config': lambda policy: KeepRate(.25, dtype=policy),
    'attention': lambda policy: layers.MultiHeadAttention(1, 2, dtype=policy),
}


@operation('s', 's', list(MAPPED))
def map_of_policies(building, option, x):
    """Each layer looks its policy up by its path."""
    policy = keras.dtype_policies.DTypePolicyMap('float32')
    policy['.*(query|dense.*)'] = 'mixed_float16'
    layer = MAPPED[option](policy)
    y = layer(x, x) if option == 'attention' else layer(x)
    return [layers.Activation('linear')(y)]


class Noise(layers.Layer):
    """Draws random numbers in training, from its own generator."""

    def __init__(self, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.generator = keras.random.SeedGenerator(seed)
        self.seed = seed

    def call(self, inputs, training=False):
        if not training:
            return 1. * inputs
        return inputs + keras.random.normal(ops.shape(inputs), seed=self.generator)

    def get_config(self):
        return {**super().get_config(), 'seed': self.seed}


SEEDED = {
    'Dropout': lambda: layers.Dropout(.5, seed=3),
    'GaussianDropout': lambda: layers.GaussianDropout(.3, seed=7),
    'own': lambda: Noise(5),
    'own, no seed': Noise,
    'recurrent': lambda: layers.GRU(UNITS, return_sequences=True, dropout=.3,
                                    seed=2),
}


@operation('s', 's', list(SEEDED))
def seeded(building, option, x):
    return [SEEDED[option]()(x)]


class AddsLoss(layers.Layer):
    """Adds losses computed from its inputs and from its weight."""

    def __init__(self, factor=1., **kwargs):
        super().__init__(**kwargs)
        self.factor = factor

    def build(self, input_shape):
        self.scale = self.add_weight(shape=(), initializer='ones', regularizer='l1')

    def call(self, inputs):
        self.add_loss(self.factor * ops.sum(inputs))
        return self.scale * inputs


@operation('s', 's', ['default', 'given'])
def adds_loss(building, option, x):
    return [AddsLoss(*([.3] if option == 'given' else []))(x)]


# Layers that hold something that is hard to copy


class Delegates(OneShape):
    """Takes the attributes that it lacks from the layer that it holds."""

    def __init__(self, inner, **kwargs):
        super().__init__(**kwargs)
        self.inner = inner

    def __getattr__(self, name):
        if name.startswith('_') or name == 'inner':
            raise AttributeError(name)
        return getattr(self.inner, name)

    def call(self, inputs):
        return self.inner(inputs) / self.units


class Parent(OneShape):
    """Holds a layer that refers back to it."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.gain = self.add_weight(shape=(), initializer='ones')
        self.child = Child()
        self.child.parent = weakref.ref(self)

    def call(self, inputs):
        return self.child(inputs)


class Tracks(OneShape):
    """Holds a metric and variables in containers; counts its calls in training."""

    def __init__(self, start=0., **kwargs):
        super().__init__(**kwargs)
        self.mean = keras.metrics.Mean(name='mean')
        self.gains = {'a': [keras.Variable(start)], 'b': (keras.Variable(3.),)}
        self.count = self.add_weight(shape=(), initializer='zeros', trainable=False)

    def call(self, inputs, training=False):
        if training:
            self.count.assign_add(1.)
        return (self.gains['a'][0] + self.gains['b'][0] + self.count) * inputs


class Averages(OneShape):
    """Stores a sum of means, on TensorFlow in a variable that is not a weight."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        make = keras.Variable
        if keras.backend.backend() == 'tensorflow':
            make = __import__('tensorflow').Variable
        self.mean = make(np.zeros((), 'float32'), trainable=False)

    def call(self, inputs, training=False):
        if training:
            self.mean.assign_add(ops.mean(inputs))
        return inputs - self.mean


def _averaging():
    layer = Averages()
    layer.mean.assign(.7)
    return layer


def _registered(cls):
    """A custom decorator: instances store the number of their arguments."""
    @functools.wraps(cls, updated=())
    class Numbered(cls):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.number = len(args) + len(kwargs)
    return Numbered


Decorated = _registered(KeepRate)
ODD = {
    **CHANGED_OBJECTS,
    'applies': Applies,
    'careful': lambda: Careful(.4),
    'careful, config': lambda: CarefulWithConfig(.4),
    'decorated': lambda: Decorated(.3),
    'delegates': lambda: Delegates(layers.Dense(UNITS)),
    'fills in build': FillsInBuild,
    'local class': lambda: type('Local', (KeepRate,), {'extra': 2})(rate=.1),
    'locks': lambda: Locks(.5),
    'parent': Parent,
    'remembers': Remembers,
    'SpectralNormalization': lambda: layers.SpectralNormalization(
        layers.Dense(UNITS, activation=gelu)),
    'averages': _averaging,
    'tracks': Tracks,
    'tracks, given': lambda: Tracks(2.),
}


@operation('v', 'v', list(ODD))
def odd(building, option, x):
    return [ODD[option]()(x)]


@operation('s', 's', list(ODD))
def odd_in_steps(building, option, x):
    return [Sequential([ODD[option](), layers.LayerNormalization()])(x)]


ODD_FUNCTIONS = {
    'builtin': lambda: operator.neg,
    'cached': lambda: functools.lru_cache(None)(scaled).__wrapped__,
    'class method': lambda: Static.scaled,
    'decorated': lambda: doubled(ops.tanh),
    'decorated lambda': lambda: doubled(lambda x: FACTOR * x),
    'layer': lambda: layers.LeakyReLU(.3),
    'partial of partial': lambda: functools.partial(
        functools.partial(scaled), by=2.),
    'recursive': counter,
    'static method': lambda: Static.halved,
    'text': lambda: 'leaky_relu',
    'with attributes': lambda: with_attributes(lambda x: 3 * x),
}


@operation('s', 's', list(ODD_FUNCTIONS))
def odd_function(building, option, x):
    return [layers.Dense(UNITS, activation=ODD_FUNCTIONS[option]())(x)]


@operation('v', 'v', [name for name in ODD_FUNCTIONS if name != 'text'])
def odd_lambda(building, option, x):
    return [layers.Lambda(ODD_FUNCTIONS[option]())(x)]


class Shares(OneShape):
    """Takes a variable or a generator that other layers have as well."""

    def __init__(self, shared, factor=1., **kwargs):
        super().__init__(**kwargs)
        self.shared, self.factor = shared, factor

    def call(self, inputs, training=False):
        if isinstance(self.shared, keras.random.SeedGenerator):
            rate = .5 if training else 0.
            return keras.random.dropout(inputs, rate, seed=self.shared)
        return self.factor * self.shared * inputs


SHARED_STATE = {
    'generator': lambda: keras.random.SeedGenerator(4),
    'variable': lambda: keras.Variable(2., name='temperature'),
}


@operation('vv', 'v', list(SHARED_STATE))
def shared_state(building, option, x, y):
    state = SHARED_STATE[option]()
    return [layers.Add()([Shares(state)(x), Shares(state, .3)(y)])]


@operation('vv', 'v', list(SHARED_STATE))
def state_shared_by_all(building, option, x, y):
    state = building.shared(option, SHARED_STATE[option])
    return [layers.Add()([Shares(state)(x), y])]


# How the outer model is made


class Attributed(Model):
    """A functional model with layers in attributes and weights of its own."""

    def __init__(self, inputs, outputs, kind=tuple, **kwargs):
        super().__init__(inputs, outputs, **kwargs)
        own = [layer for layer in self.layers if layer.weights]
        self.some = kind(own[-2:])
        self.by_name = {layer.name: layer for layer in own}
        self.gain = self.add_weight(shape=(), initializer='ones')
        self.extra = keras.Variable(np.array([1., 2.], 'float32'))
        self.method = own[0].count_params if own else None

    def call(self, inputs, training=None, mask=None):
        outputs = super().call(inputs, training=training, mask=mask)
        return [self.gain * outputs[0] + self.extra[1]] + list(outputs[1:])


class Focal(keras.losses.Loss):
    """A custom loss without a config."""

    def __init__(self, gamma=2., **kwargs):
        super().__init__(**kwargs)
        self.gamma = gamma

    def call(self, y_true, y_pred):
        return ops.mean(ops.abs(y_true - y_pred) ** self.gamma, axis=-1)


def _pinball(quantile):
    def loss(y_true, y_pred):
        error = y_true - y_pred
        return ops.mean(ops.maximum(quantile * error, (quantile - 1) * error), -1)
    return loss


LOSSES = {
    'closure': lambda: _pinball(.9),
    'CosineSimilarity': lambda: keras.losses.CosineSimilarity(axis=1),
    'Focal': lambda: Focal(3.),
    'Huber': lambda: keras.losses.Huber(delta=.5),
    'text': lambda: 'mse',
}
OPTIMIZERS = {
    'Adam': lambda: keras.optimizers.Adam(.01, beta_1=.5, amsgrad=True),
    'schedule': lambda: keras.optimizers.SGD(
        keras.optimizers.schedules.ExponentialDecay(.1, 10, .5), momentum=.9,
        clipnorm=.5),
    'text': lambda: 'rmsprop',
}


@whole(['{}, {}'.format(*pair)
        for pair in itertools.product(LOSSES, OPTIMIZERS)])
def compiled(option, inputs, outputs):
    loss, optimizer = option.split(', ')
    model = Model(inputs, outputs)
    model.compile(OPTIMIZERS[optimizer](), [LOSSES[loss]() for _ in outputs],
                  loss_weights=[1. / (i + 1) for i in range(len(outputs))])
    return model


@whole(['list', 'set', 'tuple'])
def attributed(option, inputs, outputs):
    return Attributed(inputs, outputs, {'list': list, 'set': set}.get(option, tuple))


@whole()
def frozen_inside(option, inputs, outputs):
    model = Model(inputs, outputs)
    for layer in list(model._flatten_layers())[1::3]:
        layer.trainable = False
    return model


@whole()
def frozen_variables(option, inputs, outputs):
    model = Model(inputs, outputs)
    for variable in model.trainable_variables[::2]:
        variable.trainable = False
    return model


@whole()
def with_lora(option, inputs, outputs):
    model = Model(inputs, outputs)
    for layer in model._flatten_layers():
        if (type(layer) in (layers.Dense, layers.EinsumDense) and layer.built and
                layer.quantization_mode is None and not layer.lora_enabled):
            layer.enable_lora(1)
    return model


@whole()
def quantized(option, inputs, outputs):
    model = Model(inputs, outputs)
    if all(layer.quantization_mode is None and layer.compute_dtype == 'float32'
           for layer in model._flatten_layers()):
        model.quantize('int8')
    return model


class OfModel(Model):
    """A functional model with an argument of its own and a custom training loss."""

    def __init__(self, model, factor=1., **kwargs):
        super().__init__(model.inputs, model.outputs, **kwargs)
        self.inner, self.factor = model, factor
        self.tracker = keras.metrics.Mean(name='loss')

    def compute_loss(self, *args, **kwargs):
        return self.factor * super().compute_loss(*args, **kwargs)


@whole(['compiled', 'not compiled'])
def of_model(option, inputs, outputs):
    model = OfModel(Model(inputs, outputs), factor=.5)
    if option == 'compiled':
        model.compile('sgd', 'mse')
    return model


class Explains(Model):
    """A functional model that holds another one with the same layers."""

    def __init__(self, inputs, outputs, **kwargs):
        super().__init__(inputs, outputs, **kwargs)
        self.hidden = Model(inputs, [layer.output for layer in self.layers[:3]])


@whole()
def explains(option, inputs, outputs):
    return Explains(inputs, outputs)
