"""Arguments of calls, and layers that are used in several places."""
import numpy as np
from keras import layers
from keras.models import Model, Sequential

from evidence.random_models.custom import (
    Given, OneShape, OwnWrapper, Scale, Stack, gelu, relu)
from evidence.random_models.operations import STEPS, UNITS, operation
from evidence.random_models.versions import IS_KERAS2


class Shift(OneShape):
    """Takes what to add and how to scale as arguments of each call."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def call(self, inputs, by=None, scale=1.):
        for leaf in _leaves(by):
            inputs = inputs + leaf
        return scale * inputs


def _leaves(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [leaf for each in value for leaf in _leaves(each)]
    return [] if value is None else [value]


@operation('s', 's', ['none', 'scale', 'training', 'array', 'empty'])
def plain_argument(building, option, x):
    if option == 'training':
        return [layers.Dropout(.5)(x, training=False)]
    return [Shift()(x, **{
        'none': {}, 'scale': {'scale': .5}, 'empty': {'by': [None, []]},
        'array': {'by': np.array([.1, -.2], 'float32')}}[option])]


# `outermost` on Keras 2: when it calls a nested model again, it passes the tensors
# of the first call.
@operation('ss', 's', ['tensor', 'list', 'dict', 'nested'] +
           ([] if IS_KERAS2 else ['positional']), outermost=IS_KERAS2)
def tensor_argument(building, option, x, y):
    if option == 'positional':
        return [Shift()(x, [y, None])]
    by = {'tensor': y, 'list': [y, x], 'dict': {'b': y, 'a': x},
          'nested': {'of': (y, [y, None])}}
    return [Shift()(x, by=by[option])]


# Layers used in several places


SHARED = {
    'Dense': lambda: layers.Dense(UNITS, activation=gelu),
    'LSTM': lambda: layers.LSTM(UNITS, return_sequences=True),
    'Lambda': lambda: layers.Lambda(lambda x: x + .8),
    'Model': lambda: Stack(UNITS, relu),
    'Sequential': lambda: Sequential([layers.Dense(UNITS), Scale()]),
}


@operation('s', 's', SHARED)
def shared(building, option, x):
    return [building.shared(option, SHARED[option])(x)]


@operation('v', 'v', ['', 'held', 'wrapped'])
def shared_with_sequences(building, option, x):
    layer = building.shared('Scale', Scale)
    if option == 'held':
        layer = Given([layer])
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
