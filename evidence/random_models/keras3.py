"""Operations that exist on Keras 3 only."""
import itertools

import keras
import numpy as np
from keras import Model, Sequential, layers, ops

from evidence.random_models.calls import SHARED
from evidence.random_models.changes import change_after_the_call, dense, freeze
from evidence.random_models.constructors import MATRIX, setting
from evidence.random_models.custom import (
    Factor, Given, KeepRate, OneShape, OwnWrapper, Scale, gelu)
from evidence.random_models.masks import OwnMask, masked
from evidence.random_models.models import Attributed, WithArgument
from evidence.random_models.operations import (
    NESTED, STEPS, UNITS, new_layer, operation, whole)

ON_TENSORFLOW = keras.backend.backend() == 'tensorflow'

# Ops of Keras in place of layers

PAIR = np.array([.5, 2.], 'float32')
OPS = {
    'add': lambda x: x + 1.,
    'array': lambda x: x * PAIR,
    'array before': lambda x: ops.multiply(PAIR, x),
    'arrays': lambda x: ops.clip(x, -PAIR, PAIR),
    'concatenate': lambda x: ops.concatenate([x[:, :1], x[:, 1:]], axis=1),
    'einsum': lambda x: ops.einsum('bij,bkj->bik', x, x)[:, :, :UNITS],
    'getitem': lambda x: x[:, ::-1],
    'map': lambda x: ops.map(lambda row: .8 * row, x),
    'pad': lambda x: ops.pad(x, np.array([[0, 0], [1, 0], [0, 0]]))[:, :STEPS],
    'subtracted': lambda x: 1. - x,
    'sum': lambda x: x / (1. + ops.sum(ops.abs(x), axis=-1, keepdims=True)),
    'vectorized_map': lambda x: ops.vectorized_map(lambda row: row * .8, x),
    'vectorized_map of an object': lambda x: ops.vectorized_map(Factor(2.), x),
    'where': lambda x: ops.where(x > 0, x, PAIR),
}
new_layer('op', 's', {name: lambda function=function: function
                      for name, function in OPS.items()})


@operation('ss', 's', ['add', 'matmul', 'stack', 'where'])
def op_of_two(building, option, x, y):
    return [{'add': lambda: x + y,
             'matmul': lambda: (x @ ops.transpose(y, (0, 2, 1))) @ y,
             'stack': lambda: ops.mean(ops.stack((x, y), axis=-1), axis=-1),
             'where': lambda: ops.where(x > y, x, .5 * y)}[option]()]


@operation('v', 's', ['expand', 'stack'])
def op_to_sequence(building, option, x):
    if option == 'stack':
        return [ops.stack([x, -x, x * x], axis=1)]
    return [ops.expand_dims(x, 1) * np.ones((STEPS, 1), 'float32')]


@operation('s', 'ss', ['split', 'top_k'])
def op_with_two_outputs(building, option, x):
    if option == 'top_k':
        values, indices = ops.top_k(x, UNITS)
        return [values, ops.cast(indices, 'float32')]
    y, z = ops.split(x, UNITS, axis=-1)
    return [y * x, z - x]


class WithWeight(layers.Layer):
    def call(self, inputs, weight):
        return inputs @ weight


@operation('v', 'v', ['keyword', 'layer', 'list', 'not called yet', 'position',
                      'variable'])
def weight_argument(building, option, x):
    """Calls an op or a layer on a weight."""
    layer = layers.Dense(UNITS)
    if option == 'not called yet':
        layer.build((None, UNITS))
        return [layer(x @ layer.kernel)]
    y = layer(x)
    if option == 'keyword':
        return [ops.add(x1=y, x2=layer.bias)]
    if option == 'layer':
        return [WithWeight()(y, layer.kernel)]
    if option == 'list':
        return [ops.einsum('bi,ij->bj', y, layer.kernel)]
    return [y @ (keras.Variable(MATRIX) if option == 'variable' else layer.kernel)]


@operation('s', 's')
def function(building, option, x):
    """A `Function` that has an op and a layer; the latter is in the model as well,
    because a `Function` has no weights."""
    inputs = layers.Input((STEPS, UNITS))
    layer = building.shared('Dense', SHARED['Dense'])
    return [keras.Function(inputs, layer(inputs) * .8)(x) + layer(x)]


# Call arguments and masks


@operation('ss', 's', ['op', 'compute_mask', 'model', 'constant'])
def computed_mask(building, option, x, y):
    layer = layers.SimpleRNN(UNITS, return_sequences=True)
    if option == 'compute_mask':
        return [layer(x, mask=layers.Masking().compute_mask(y))]
    mask = y[:, :, 0] > -.4
    if option == 'constant':
        mask = ops.logical_and(mask, np.array([[True, True, False]]))
    if option == 'model':
        layer = Sequential([layers.Dense(UNITS), layer])
    return [layer(x, mask=mask)]


class TwoArguments(layers.Layer):
    """Takes two tensors as separate arguments, each with its own mask."""

    def call(self, first, second, second_mask=None):
        return first - masked(second, second_mask)

    def compute_mask(self, inputs, previous_mask):
        return previous_mask


@operation('ss', 's', ['position', 'keyword'])
def two_arguments(building, option, x, y):
    layer = TwoArguments()
    return [layer(x, y) if option == 'position' else layer(x, second=y)]


class OfDicts(layers.Layer):
    """Takes and returns a dict; exchanges the masks."""

    def call(self, inputs):
        return {'sum': inputs['a'] + inputs['b'], 'first': 1. * inputs['a']}

    def compute_mask(self, inputs, previous_mask):
        return {'sum': previous_mask['b'], 'first': previous_mask['a']}


@operation('ss', 'ss')
def of_dicts(building, option, x, y):
    given = OfDicts()({'b': y, 'a': x})
    return [given['sum'], given['first']]


def _with_scores(given, scores):
    return given + ops.mean(scores)


ATTENTION = {
    'causal': lambda x, y: layers.Attention(use_scale=True)(
        [x, y], use_causal_mask=True),
    'mask': lambda x, y: layers.Attention()(
        [x, y], mask=[None, layers.Masking().compute_mask(y)]),
    'masks of the inputs': lambda x, y: layers.Attention()([x, y]),
    'scores': lambda x, y: _with_scores(*layers.MultiHeadAttention(1, UNITS)(
        x, y, return_attention_scores=True)),
    'three arguments': lambda x, y: layers.MultiHeadAttention(2, UNITS)(x, y, y),
}


@operation('ss', 's', ATTENTION)
def attention(building, option, x, y):
    return [ATTENTION[option](x, y)]


# Nested models


@operation('sv', 'sv', NESTED)
def nested_with_dicts(building, recipe, x, v):
    return building.nested_model(recipe, dicts=True)(x, v)


@operation('sv', 'sv', NESTED)
def nested_frozen(building, recipe, x, v):
    return building.nested_model(recipe, trainable=False)(x, v)


@operation('s', 'ss')
def parts_of_a_model(building, option, x):
    """Two models on the same layers, one of which begins at a hidden tensor."""
    inputs = layers.Input((STEPS, UNITS))
    hidden = layers.Dense(UNITS, activation=gelu)(inputs)
    outputs = Scale()(OwnMask()(hidden))
    return [Model(inputs, outputs)(x), Model(hidden, outputs)(x)]


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


new_layer('model_without_config', 'v', {
    'defaults': lambda: Block([3]),
    'function': lambda: Block([3], act=gelu),
    'keyword': lambda: Block(hidden=(2, 3), act='tanh', normalized=True),
    'layer': lambda: Block([3], inner=layers.Dense(3)),
    'nested': lambda: Block([3], inner=Block([2], 'tanh', True)),
})


# State that is neither in weights nor in configs


NUMBERS = np.array([[.5, -2.], [.1, 3.], [-.4, .2], [.2, -.6]], 'float32')


def adapt(layer, data=NUMBERS):
    layer.adapt(data)
    return layer


ADAPTED = {
    'Normalization': lambda x: adapt(layers.Normalization())(x),
    'Normalization, given': lambda x: layers.Normalization(
        mean=.5, variance=4., invert=True)(x),
    'Normalization in a model': lambda x: Sequential(
        [adapt(layers.Normalization()), layers.Dense(UNITS)])(x),
    'Normalization in a layer': lambda x: Given(
        [adapt(layers.Normalization()), layers.Dense(UNITS)])(x),
    'Normalization in a wrapper': lambda x: OwnWrapper(
        adapt(layers.Normalization()))(x),
}


def _bins(x):
    return adapt(layers.Discretization(num_bins=3))(x)


def _letters(x):
    return layers.StringLookup(vocabulary=['a', 'b', 'c'], invert=True)(_bins(x))


def _embedded(numbers):
    return layers.GlobalAveragePooling1D()(layers.Embedding(9, UNITS)(numbers))


if ON_TENSORFLOW:  # These layers need it.
    ADAPTED.update({
        'Discretization': lambda x: _embedded(_bins(x)),
        'Hashing': lambda x: _embedded(layers.Hashing(4, salt=3)(_bins(x))),
        'IntegerLookup': lambda x: _embedded(adapt(
            layers.IntegerLookup(), np.array([2, 2, 1]))(_bins(x))),
        'IntegerLookup, given': lambda x: _embedded(
            layers.IntegerLookup(vocabulary=[2, 0, 1])(_bins(x))),
        'StringLookup': lambda x: _embedded(adapt(
            layers.StringLookup(), np.array(['b', 'c', 'b']))(_letters(x))),
        'TextVectorization': lambda x: _embedded(adapt(
            layers.TextVectorization(output_sequence_length=2),
            np.array(['b c', 'b a']))(_letters(x)[:, :1])),
    })


@operation('v', 'v', ADAPTED)
def adapted(building, option, x):
    return [ADAPTED[option](x)]


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


new_layer('seeded', 's', {
    'Dropout': lambda: layers.Dropout(.5, seed=3),
    'own': lambda: Noise(5),
    'own, no seed': Noise,
    'recurrent': lambda: layers.GRU(UNITS, return_sequences=True, dropout=.3,
                                    seed=2),
})


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
        make = __import__('tensorflow').Variable if ON_TENSORFLOW else keras.Variable
        self.mean = make(np.zeros((), 'float32'), trainable=False)

    def call(self, inputs, training=False):
        if training:
            self.mean.assign_add(ops.mean(inputs))
        return inputs - self.mean


def _averaging():
    layer = Averages()
    layer.mean.assign(.7)
    return layer


TRACKING = {
    'backend': _averaging,
    'containers': Tracks,
    'containers, argument': lambda: Tracks(2.),
    'SpectralNormalization': lambda: layers.SpectralNormalization(
        layers.Dense(UNITS, activation=gelu)),
}
new_layer('variables_of_its_own', 'v', TRACKING)
new_layer('variables_of_its_own_in_a_model', 's', {
    name: lambda make=make: Sequential([make(), layers.LayerNormalization()])
    for name, make in TRACKING.items()})


# Layers that are changed after they were called


def lora(layer):
    layer.enable_lora(1)


def int8(layer):
    layer.quantize('int8')


def two_dense():
    return Given([layers.Dense(UNITS), layers.Dense(UNITS, 'tanh')])


def wrapped():
    return OwnWrapper(layers.Dense(UNITS))


def in_steps():
    return layers.TimeDistributed(layers.Dense(UNITS))


def compile_call(layer):
    if ON_TENSORFLOW:
        import tensorflow as tf
        layer.call = tf.function(layer.call)
    else:
        layer.call = keras.remat(layer.call)


change_after_the_call('changed_weights', 'v', {
    'compiled call': (dense, compile_call),
    'constraint of a variable': (dense, lambda layer: setattr(
        layer.kernel, 'constraint', keras.constraints.UnitNorm())),
    'regularizer of a variable': (dense, lambda layer: setattr(
        layer.kernel, 'regularizer', keras.regularizers.L2(.3))),
    'frozen variable': (dense, lambda layer: freeze(layer.bias)),
    'frozen variable inside': (two_dense, lambda layer: freeze(
        layer.parts[1].kernel)),
    'float8': (dense, lambda layer: layer.quantize('float8')),
    'int8': (dense, int8),
    'int8 inside': (two_dense, lambda layer: int8(layer.parts[1])),
    'int8, wrapped': (wrapped, lambda layer: int8(layer.layer)),
    'int8 and LoRA': (dense, lambda layer: (lora(layer), int8(layer))),
    'LoRA': (dense, lora),
    'LoRA, alpha': (dense, lambda layer: layer.enable_lora(1, lora_alpha=4)),
    'LoRA and int8': (dense, lambda layer: (int8(layer), lora(layer))),
    'LoRA inside': (two_dense, lambda layer: lora(layer.parts[0])),
    'LoRA of EinsumDense': (lambda: layers.EinsumDense('ab,bc->ac', UNITS), lora),
    'LoRA, wrapped': (wrapped, lambda layer: lora(layer.layer)),
})


change_after_the_call('changed_in_steps', 's', {
    'int8': (in_steps, lambda layer: int8(layer.layer)),
    'LoRA': (in_steps, lambda layer: lora(layer.layer)),
})


@operation('ss', 's', ['LoRA', 'frozen', 'int8'])
def changed_attention(building, option, x, y):
    layer = layers.MultiHeadAttention(1, UNITS)
    z = layer(x, y)
    {'LoRA': lora, 'frozen': freeze, 'int8': int8}[option](layer.query_dense)
    return [z]


# Policies of data types


POLICIES = {
    'Block': lambda: Block([3], normalized=True),
    'given': lambda: Given([layers.Dense(UNITS), Scale()]),
    'Sequential': lambda: Sequential([layers.Dense(UNITS), Scale()]),
    'wrapped': wrapped,
}


@operation('v', 'v', POLICIES)
def global_policy(building, option, x):
    """The policy is global only while the layer is made and called."""
    with setting('dtype_policy', 'mixed_float16', keras.config):
        y = POLICIES[option]()(x)
    return [layers.Activation('linear')(y)]


MAPPED = {
    'attention': lambda policy: layers.MultiHeadAttention(1, 2, dtype=policy),
    'Dense': lambda policy: layers.Dense(UNITS, dtype=policy),
    'without config': lambda policy: KeepRate(.25, dtype=policy),
}


@operation('s', 's', MAPPED)
def map_of_policies(building, option, x):
    """Each layer looks its policy up by its path."""
    policy = keras.dtype_policies.DTypePolicyMap('float32')
    policy['.*(query|dense.*)'] = 'mixed_float16'
    layer = MAPPED[option](policy)
    y = layer(x, x) if option == 'attention' else layer(x)
    return [layers.Activation('linear')(y)]


# How the outer model is made


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
    'own': lambda: Focal(3.),
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


class WithCompute(WithArgument):
    """Has a custom training loss, and a metric of its own."""

    def __init__(self, model, **kwargs):
        super().__init__(model, **kwargs)
        self.inner = model
        self.tracker = keras.metrics.Mean(name='loss')

    def compute_loss(self, *args, **kwargs):
        return self.factor * super().compute_loss(*args, **kwargs)


@whole(['compiled', 'not compiled'])
def with_own_loss(option, inputs, outputs):
    model = WithCompute(Model(inputs, outputs), factor=.5)
    if option == 'compiled':
        model.compile('sgd', 'mse')
    return model


class Computes(Attributed):
    """Has variables of its own, with which it computes."""

    def __init__(self, inputs, outputs, **kwargs):
        super().__init__(inputs, outputs, **kwargs)
        self.gain = self.add_weight(shape=(), initializer='ones')
        self.extra = keras.Variable(np.array([1., 2.], 'float32'))

    def call(self, inputs, training=None, mask=None):
        outputs = super().call(inputs, training=training, mask=mask)
        return [self.gain * outputs[0] + self.extra[1]] + list(outputs[1:])


@whole()
def with_own_variables(option, inputs, outputs):
    return Computes(inputs, outputs)


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
    # Keras cannot load a quantized layer in a `SpectralNormalization`.
    if all(layer.quantization_mode is None and layer.compute_dtype == 'float32' and
           not isinstance(layer, layers.SpectralNormalization)
           for layer in model._flatten_layers()):
        model.quantize('int8')
    return model
