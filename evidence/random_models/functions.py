"""Functions and objects that users pass to layers of Keras."""
import functools
import operator

import numpy as np
from keras import constraints, initializers, layers, regularizers

from evidence.random_models.custom import Factor, gelu, relu, scaled
from evidence.random_models.operations import STEPS, UNITS, new_layer, operation
from evidence.random_models.versions import IS_KERAS2, TAKES_FUNCTIONS, ops

FACTOR = .8


def shifted(x, *, by=FACTOR):
    return x + by


class Doubled:
    """A callable object, whose methods are used as well."""

    factor = .3

    def __call__(self, x):
        return 2 * x

    def method(self, x):
        return ops.tanh(x) + x

    @staticmethod
    def halved(x):
        return .5 * x

    @classmethod
    def scaled(cls, x):
        return cls.factor * x


def recursive():
    """Returns a function whose closure holds itself and a list."""
    kept = []

    def call(x, again=True):
        kept[:] = [type(x)]
        return call(.5 * x, False) if again else x
    return call


def doubled(function):
    @functools.wraps(function)
    def call(x):
        return 2 * function(x)
    return call


def with_attributes(function):
    function.calls, function.names = 0, ['a']
    return function


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
    'of Keras': lambda: ops.tanh,
    'partial': lambda: functools.partial(scaled, by=-2.),
    'partial of partial': lambda: functools.partial(
        functools.partial(scaled), by=2.),
    'object': Doubled,
    'method': lambda: Doubled().method,
    'class method': lambda: Doubled.scaled,
    'static method': lambda: Doubled.halved,
    'decorated': lambda: doubled(ops.tanh),
    'decorated lambda': lambda: doubled(lambda x: FACTOR * x),
    'recursive': recursive,
    'with attributes': lambda: with_attributes(lambda x: 3 * x),
}
ACTIVATIONS = dict(FUNCTIONS, tanh=lambda: 'tanh', builtin=lambda: operator.neg)
if not IS_KERAS2:
    ACTIVATIONS['layer'] = lambda: layers.LeakyReLU(.3)
    FUNCTIONS['builtin'] = ACTIVATIONS['builtin']

new_layer('dense', 's', {
    name: lambda make=make: layers.Dense(UNITS, activation=make())
    for name, make in ACTIVATIONS.items()})
new_layer('lambda_layer', 's', {
    name: lambda make=make: layers.Lambda(make())
    for name, make in FUNCTIONS.items()})

LAMBDAS = {
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
if not IS_KERAS2:
    LAMBDAS['takes training'] = lambda: layers.Lambda(
        lambda x, training=None: 2. * x if training else FACTOR * x)

new_layer('lambda_with_more', 's', LAMBDAS)


@operation('s', 'ss', ['list'] if IS_KERAS2 else ['list', 'split', 'dict'])
def lambda_with_two_outputs(building, option, x):
    if option == 'dict':
        given = layers.Lambda(lambda x: {'a': 1. * x, 'b': gelu(x)})(x)
        return [given['a'], given['b']]
    if option == 'split':
        y, z = layers.Lambda(lambda x: ops.split(x, UNITS, axis=-1))(x)
        return [layers.Dense(UNITS)(y), layers.Dense(UNITS, activation=gelu)(z)]
    return layers.Lambda(lambda x: [1. * x, .5 * x],
                         output_shape=lambda shape: [shape, shape])(x)


@operation('sv', 's')
def lambda_with_two_inputs(building, option, x, v):
    return [layers.Lambda(lambda xv: xv[0] + ops.expand_dims(xv[1], 1),
                          output_shape=lambda shapes: shapes[0])([x, v])]


# Arguments of a layer: its own, or the same objects for two layers


class Ones(initializers.Initializer):
    """Has the name of an initializer of Keras but returns twos; has no config."""

    def __call__(self, shape, dtype=None):
        return 2 * np.ones(shape, 'float32')


class Strong(regularizers.Regularizer):
    """A custom regularizer without a config."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return self.factor * ops.sum(x)


class AtMost(constraints.Constraint):
    """A custom constraint with a config."""

    def __init__(self, most):
        self.most = most

    def __call__(self, w):
        return ops.minimum(w, self.most)

    def get_config(self):
        return {'most': self.most}


ARGUMENTS = {
    'activation': lambda: {'activation': Factor(2.)},
    'activity regularizer': lambda: {
        'activity_regularizer': lambda x: FACTOR * ops.sum(x)},
    'constraint': lambda: {'kernel_constraint': constraints.MaxNorm(.5)},
    'initializer': lambda: {
        'kernel_initializer': initializers.RandomNormal(seed=1)},
    'initializer, a function': lambda: {
        'kernel_initializer': lambda shape, dtype=None: np.ones(shape, 'float32')},
    'own constraint': lambda: {'kernel_constraint': AtMost(.3)},
    'own initializer': lambda: {'bias_initializer': Ones()},
    'own regularizer': lambda: {'kernel_regularizer': Strong(.1)},
    'regularizer': lambda: {'kernel_regularizer': regularizers.l2(.1)},
    'trainable': lambda: {'trainable': False},
}
if TAKES_FUNCTIONS:
    ARGUMENTS['constraint, a function'] = lambda: {'kernel_constraint': gelu}
    ARGUMENTS['regularizer, a function'] = lambda: {
        'kernel_regularizer': lambda weight: .1 * ops.sum(weight)}
if not IS_KERAS2:
    ARGUMENTS.update({
        'activation, a layer': lambda: {'activation': layers.LeakyReLU(.3)},
        'activation, with weights': lambda: {'activation': layers.PReLU()},
        'dtype': lambda: {'dtype': 'mixed_float16'}})


new_layer('with_argument', 'v', {
    name: lambda make=make: layers.Dense(UNITS, **make())
    for name, make in ARGUMENTS.items()})


@operation('v', 'v', ARGUMENTS)
def shared_argument(building, option, x):
    kwargs = ARGUMENTS[option]()
    return [layers.Dense(UNITS, **kwargs)(layers.Dense(UNITS, **kwargs)(x))]
