"""What random models are made of on Keras 3. Nothing of it is registered there."""
import functools

import keras
import numpy as np
from keras import Model, Sequential, layers, ops

from keras3.custom_objects import RELEASE, Holder, gelu, relu
from operations import NESTED, STEPS, UNITS, operation

FACTOR = .8


# Functions and classes of the user


def scaled(x, by=3.):
    return by * x


def shifted(x, *, by=FACTOR):
    return x + by


def is_large(x, mask=None):
    return ops.any(x > -.3, axis=-1)


class Doubled:
    """A callable object, and the owner of a bound method."""

    def __call__(self, x):
        return 2 * x

    def method(self, x):
        return ops.tanh(x) + x


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
    """Named as an initializer of Keras, but gives twos."""

    def __call__(self, shape, dtype=None):
        return 2 * ops.ones(shape, dtype)

    def get_config(self):
        return {}


class Strong(keras.regularizers.Regularizer):
    """A regularizer without a config."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return self.factor * ops.sum(x)


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
    """Knows nothing of masks, and takes a function that its config leaves out."""

    def __init__(self, function, **kwargs):
        super().__init__(**kwargs)
        self.function = function

    def call(self, inputs):
        return self.function(inputs)

    def compute_output_shape(self, input_shape):
        return input_shape


class OwnMask(layers.Layer):
    """Makes a mask of its own."""

    def call(self, inputs):
        return 1. * inputs

    def compute_mask(self, inputs, previous_mask):
        return ops.any(inputs > -.2, axis=-1)


class UsesMask(layers.Layer):
    """Looks at the mask, and passes none on."""

    def call(self, inputs, mask=None):
        if mask is None:
            return 2. * inputs
        return inputs * ops.cast(ops.expand_dims(mask, -1), inputs.dtype)


class TwoOutputs(layers.Layer):
    """Has two outputs, and masks as `masks` says."""

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
    """Takes a list of two, and has the mask of the one that `mask_of` tells."""

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
    """Takes two tensors, each an argument that has a mask of its own."""

    def call(self, first, second, second_mask=None):
        if second_mask is not None:
            second = second * ops.cast(ops.expand_dims(second_mask, -1), 'float32')
        return first - .5 * second

    def compute_mask(self, inputs, previous_mask):
        return previous_mask


class OfDicts(layers.Layer):
    """Takes a dict and returns one; mixes the masks up."""

    def call(self, inputs):
        return {'sum': inputs['a'] + inputs['b'], 'first': 1. * inputs['a']}

    def compute_mask(self, inputs, previous_mask):
        return {'sum': previous_mask['b'], 'first': previous_mask['a']}


class Shift(layers.Layer):
    """Is told at each call what to add and how to scale."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def call(self, inputs, by=None, scale=1.):
        for leaf in keras.tree.flatten(by):
            inputs = inputs if leaf is None else inputs + leaf
        return scale * inputs


class OwnWrapper(layers.Wrapper):
    """A wrapper of the user."""

    def call(self, inputs):
        return -1. * self.layer(inputs)


class Cell(layers.Layer):
    """A recurrent cell of the user."""

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
    """A functional model of a class of the user."""


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


# Layers that take and give one tensor


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
if RELEASE >= (3, 15):  # Before, Keras itself refuses a function there.
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
        # It looks them up when it makes its second layer.
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
