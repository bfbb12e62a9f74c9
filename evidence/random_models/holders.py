"""Layers that hold layers, weights and objects, alone or together with others."""
import functools
import weakref

import keras
from keras import layers, regularizers

from evidence.random_models.calls import SHARED
from evidence.random_models.custom import (
    CONTAINERS, Composed, Factor, Given, OneShape, Scale, Times, contents, total)
from evidence.random_models.operations import UNITS, new_layer, operation
from evidence.random_models.versions import (
    IS_KERAS2, TAKES_FUNCTIONS, call_inner, ops, variable)

# Layers and weights in containers


class Making(Composed):
    """Makes its layers itself, in one of `CONTAINERS`, perhaps in `build`."""

    def __init__(self, kind, lazy=False, **kwargs):
        super().__init__(**kwargs)
        self.kind, self.lazy = kind, lazy
        if not lazy:
            self.hold(CONTAINERS[kind](pair()))

    def build(self, input_shape):
        if self.lazy:
            self.hold(CONTAINERS[self.kind](pair()))
        super().build(input_shape)


class Configured(Making):
    """Has a config."""

    def get_config(self):
        return dict(super().get_config(), kind=self.kind, lazy=self.lazy)


class Filled(OneShape):
    """Makes its weights in `build`, or the first of them in the constructor."""

    def __init__(self, kind, early=False, **kwargs):
        super().__init__(**kwargs)
        self.kind = kind
        self.held = [self.new_weight()] if early else []

    def new_weight(self):
        return self.add_weight(name='ab'[len(self.weights)], shape=(2,),
                               initializer='glorot_normal')

    def build(self, input_shape):
        while len(self.weights) < 2:
            self.held.append(self.new_weight())
        self.held = CONTAINERS[self.kind](self.held)
        super().build(input_shape)

    def call(self, inputs):
        scale, shift = contents(self.held)
        return inputs * scale + shift


def pair():
    return [layers.Dense(UNITS, activation='tanh', name='one'), Scale(name='two')]


for name, make in (('given_layers', lambda kind: Given(CONTAINERS[kind](pair()))),
                   ('made_layers', Configured),
                   ('lazy_layers', lambda kind: Making(kind, lazy=True))):
    new_layer(name, 'v', {
        kind: functools.partial(make, kind) for kind in CONTAINERS})
WEIGHTS = {kind: functools.partial(Filled, kind) for kind in CONTAINERS}
WEIGHTS['early'] = lambda: Filled('list', early=True)
del WEIGHTS['set']  # Variables of some backends have no hashes.
new_layer('weights', 'v', WEIGHTS)


@operation('v', 'v', CONTAINERS)
def given_shared_layers(building, option, x):
    held = [building.shared('Dense', SHARED['Dense']),
            building.shared('Scale', Scale)]
    return [layers.Add()([Given(CONTAINERS[option](held))(x), held[0](x)])]


# Layers that refer to themselves


class Aliases(Composed):
    """Has layers in several attributes; uses the ids of layers as keys."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.parts = pair()
        self.first, self.last = self.parts
        self.factors = {id(self.first): .5, id(self.last): 2.}

    def call(self, inputs):
        return total(self.factors[id(layer)] * call_inner(layer, inputs)
                     for layer in (self.first, self.last))


class Squashes(Composed):
    """Has a layer whose activation is one of its own methods."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.parts = layers.Dense(UNITS, activation=self.squash)
        self.slope = .5

    def squash(self, x):
        return ops.tanh(self.slope * x)


class Delegates(Composed):
    """Takes the attributes that it lacks from the layer that it holds."""

    def __init__(self, inner, **kwargs):
        super().__init__(**kwargs)
        self.parts = inner

    def __getattr__(self, name):
        if name.startswith('_') or name in ('parts', 'tracked'):
            raise AttributeError(name)
        return getattr(self.parts, name)

    def call(self, inputs):
        return call_inner(self.parts, inputs) / self.units


class Child(layers.Layer):
    """Reads an attribute of the layer that holds it, by a weak reference."""

    parent = None

    def call(self, inputs):
        return self.parent().gain * inputs


class Parent(Composed):
    """Holds a layer that refers back to it."""

    def __init__(self, gain=.5, **kwargs):
        super().__init__(**kwargs)
        self.gain, child = gain, Child()
        child.parent = weakref.ref(self)
        self.parts = child


class InTurn(Composed):
    """Takes any number of layers as arguments."""

    def __init__(self, first, *more, **kwargs):
        self.factor = kwargs.pop('factor', 1.)
        super().__init__(**kwargs)
        self.parts = (first, *more)

    def call(self, inputs):
        for layer in self.parts:
            inputs = call_inner(layer, inputs)
        return self.factor * inputs


new_layer('of_itself', 'v', {
    'aliases': Aliases,
    'method as activation': Squashes,
    'attributes of the layer': lambda: Delegates(layers.Dense(UNITS)),
    'weak reference': Parent,
    'layers as arguments': lambda: InTurn(layers.Dense(UNITS), Scale(), factor=.3),
})


# Computing with the weights of another layer


class TiedTo(OneShape):
    """Computes with the weights of another layer, as `DenseTranspose` does."""

    def __init__(self, tied_to, **kwargs):
        super().__init__(**kwargs)
        self.tied_to = tied_to

    def build(self, input_shape):
        self.bias = self.add_weight(name='bias', shape=(UNITS,), initializer='zeros')
        super().build(input_shape)

    def call(self, inputs):
        return ops.matmul(inputs, ops.transpose(self.tied_to.weights[0])) + self.bias


class TiedInBuild(TiedTo):
    """Reads the other layer's weight in `build`; may list it as its own."""

    listed = False

    def build(self, input_shape):
        self.kernel = ops.transpose(self.tied_to.kernel)
        if self.listed:
            self._trainable_weights.append(self.tied_to.kernel)
        super().build(input_shape)

    def call(self, inputs):
        return ops.matmul(inputs, self.kernel) + self.bias


class Listing(TiedInBuild):
    listed = True


class Pull(regularizers.Regularizer):
    """Penalizes the distance between a weight and the kernel of a layer."""

    def __init__(self, layer):
        self.layer = layer

    def __call__(self, weight):
        return ops.sum(ops.square(weight - self.layer.kernel))


class Scorer:
    """A callable object that holds a layer."""

    def __init__(self, layer):
        self.layer = layer

    def __call__(self, x):
        return ops.tanh(x) * ops.mean(self.layer.kernel)

    def score(self, x):
        return .5 * call_inner(self.layer, x)


def times(x, weight, by=1.):
    return by * ops.matmul(x, weight)


def by_layer(x, layer):
    return -1. * call_inner(layer, x)


TIED = {  # {option: function that takes a built `Dense` and returns a layer}
    'activation': lambda dense: layers.Dense(UNITS, activation=Scorer(dense)),
    'arguments': lambda dense: layers.Lambda(by_layer, arguments={'layer': dense}),
    'attribute': TiedTo,
    'default': lambda dense: layers.Lambda(
        lambda x, kernel=dense.kernel: ops.matmul(x, kernel)),
    'kernel': lambda dense: (lambda kernel: layers.Lambda(
        lambda x: ops.matmul(x, ops.transpose(kernel))))(dense.kernel),
    'layer': lambda dense: layers.Lambda(lambda x: .8 * call_inner(dense, x)),
    'method': lambda dense: layers.Lambda(Scorer(dense).score),
    'object': lambda dense: layers.Lambda(Scorer(dense)),
    'partial': lambda dense: layers.Dense(
        UNITS, activation=functools.partial(times, weight=dense.kernel, by=.5)),
    'partial of a layer': lambda dense: layers.Lambda(
        functools.partial(by_layer, layer=dense)),
    'regularizer': lambda dense: layers.Dense(UNITS, kernel_regularizer=Pull(dense)),
}
if IS_KERAS2:
    TIED.update({'in build': TiedInBuild, 'in build, listed': Listing})
else:
    TIED['initializer'] = lambda dense: layers.Dense(
        UNITS, bias_initializer=lambda shape, dtype=None: 0. * dense.bias + .5)
if TAKES_FUNCTIONS:
    TIED['regularizer, a function'] = lambda dense: layers.Dense(
        UNITS, kernel_regularizer=lambda w: ops.sum(w * dense.kernel))


@operation('v', 'v', TIED)
def tied(building, option, x):
    dense = layers.Dense(UNITS)
    y = dense(x)
    return [TIED[option](dense)(y)]


@operation('vv', 'v', TIED)
def tied_to_later(building, option, x, y):
    """The clone may call the other layer later."""
    dense = layers.Dense(UNITS)
    z = dense(x)
    return [layers.add([z, TIED[option](dense)(y)])]


@operation('vv', 'v', TIED)
def tied_to_shared(building, option, x, y):
    dense = building.shared('Dense', SHARED['Dense'])
    z = dense(x)
    return [layers.add([TIED[option](dense)(y), z])]


# Variables and objects that several layers have


class Shares(Times):
    """Takes an object, a variable or a generator that other layers have as well."""

    def __init__(self, shared, factor=1., **kwargs):
        super().__init__(factor, **kwargs)
        self.shared = shared

    def call(self, inputs, training=False):
        inputs = super().call(inputs)
        if isinstance(self.shared, Factor):
            return self.shared(inputs)
        if not IS_KERAS2 and isinstance(self.shared, keras.random.SeedGenerator):
            rate = .5 if training else 0.
            return keras.random.dropout(inputs, rate, seed=self.shared)
        return self.shared * inputs


SHARED_STATE = {'object': lambda: Factor(.5), 'variable': lambda: variable(2.)}
if not IS_KERAS2:
    SHARED_STATE['generator'] = lambda: keras.random.SeedGenerator(4)


@operation('vv', 'v', SHARED_STATE)
def shared_state(building, option, x, y):
    state = SHARED_STATE[option]()
    return [layers.Add()([Shares(state)(x), Shares(state, .3)(y)])]


@operation('vv', 'v', SHARED_STATE)
def state_shared_by_all(building, option, x, y):
    state = building.shared(option, SHARED_STATE[option])
    return [layers.Add()([Shares(state)(x), y])]


# The object that builds the model


class Builder:
    """Keeps the layers that it creates; its method uses the last one."""

    def __init__(self):
        self.layers, self.factor = [], 0.

    def add(self, x):
        self.layers.append(layers.Dense(UNITS))
        self.factor += 1.
        return self.layers[-1](x)

    def scale(self, x):
        return self.factor * ops.mean(self.layers[-1].kernel) * x


BY_BUILDER = {  # {option: function that takes a builder and returns a function}
    'function': lambda builder: lambda x: builder.scale(x),
    'method': lambda builder: builder.scale,
    'partial': lambda builder: functools.partial(Builder.scale, builder),
}


@operation('v', 'v', BY_BUILDER)
def used_by_builder(building, option, x):
    builder = building.shared('builder', Builder)
    y = builder.add(x)
    return [layers.Lambda(BY_BUILDER[option](builder))(y)]
