"""Layers that hold layers, weights and objects, alone or together with others."""
import functools
import inspect
import weakref

import keras
from keras import layers, regularizers

from evidence.random_models.custom import (
    CONTAINERS, INNER, Composed, Factor, OneShape, Plain, Scale, layers_in, scaled,
    total)
from evidence.random_models.calls import SHARED, Held
from evidence.random_models.operations import UNITS, new_layer, operation
from evidence.random_models.versions import (
    IS_KERAS2, TAKES_FUNCTIONS, build_inner, call_inner, ops, variable)

# Layers in containers


class Given(Composed):
    """Takes layers in a container as an argument; has no config."""

    def __init__(self, held, **kwargs):
        super().__init__(**kwargs)
        self.hold(held)


class Making(Composed):
    """Makes its layers itself, in one of `CONTAINERS`."""

    def __init__(self, kind, **kwargs):
        super().__init__(**kwargs)
        self.kind = kind
        self.hold(CONTAINERS[kind](pair()))

    def get_config(self):
        return dict(super().get_config(), kind=self.kind)


class Lazy(Composed):
    """Makes its layers in `build`; has no config."""

    def __init__(self, kind, **kwargs):
        super().__init__(**kwargs)
        self.kind = kind

    def build(self, input_shape):
        self.hold(CONTAINERS[self.kind](pair()))
        super().build(input_shape)


def pair():
    return [layers.Dense(UNITS, activation='tanh', name='one'), Scale(name='two')]


for name, make in (('given_layers', lambda kind: Given(CONTAINERS[kind](pair()))),
                   ('made_layers', Making), ('lazy_layers', Lazy)):
    new_layer(name, 'v', {
        kind: functools.partial(make, kind) for kind in CONTAINERS})
new_layer('layer_in_config', 'v', {
    name: lambda make=make: Held([make()]) for name, make in INNER.items()})


class Borrows(layers.Layer):
    """Computes with layers that the model calls elsewhere as well."""

    def __init__(self, held, **kwargs):
        super().__init__(**kwargs)
        self.held = Plain(held)

    def call(self, inputs):
        return total(call_inner(layer, inputs) for layer in layers_in(self.held))


@operation('v', 'v', CONTAINERS)
def borrowed_layers(building, option, x):
    first, second = held = pair()
    return [Borrows(CONTAINERS[option](held))(second(first(x)))]


@operation('v', 'v', CONTAINERS)
def given_shared_layers(building, option, x):
    held = [building.shared('Dense', SHARED['Dense']),
            building.shared('Scale', Scale)]
    return [layers.Add()([Given(CONTAINERS[option](held))(x), held[0](x)])]


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
    'weak reference, argument': lambda: Parent(3.),
    'layers as arguments': lambda: InTurn(layers.Dense(UNITS), Scale(), factor=.3),
})


# Weights in containers


class Filled(OneShape):
    """Stores the weights that `build` creates in a container, object or closure."""

    def __init__(self, kind, function=scaled, **kwargs):
        super().__init__(**kwargs)
        self.function, self.kind = function, kind
        self.held = {} if kind == 'dict' else []
        if kind == 'partly in the constructor':
            self.held.append(self.new_weight('a'))

    def new_weight(self, name):
        return self.add_weight(name=name, shape=(2,), initializer='glorot_normal')

    def build(self, input_shape):
        for index, name in enumerate('ab'):
            if self.kind == 'dict':
                self.held[name] = self.new_weight(name)
            elif len(self.held) == index:
                self.held.append(self.new_weight(name))
        if self.kind == 'object':
            self.held = [Plain(each) for each in self.held]
        if self.kind == 'closure':
            first, second = self.held
            self.held = [lambda: first, lambda: second]
        super().build(input_shape)

    def call(self, inputs):
        held = self.held.values() if self.kind == 'dict' else self.held
        scale, shift = [_held_in(each) for each in held]
        return self.function(inputs * scale + shift)


class FilledWithLayers(OneShape):
    """Sets layers that `build` creates as attributes, and holds them once more."""

    def __init__(self, kind, **kwargs):
        super().__init__(**kwargs)
        self.kind = kind

    def build(self, input_shape):
        first, second = self.first, self.second = layers.Dense(2), layers.Dense(2)
        for layer in (first, second):
            build_inner(layer, input_shape)
            if IS_KERAS2:
                self._trainable_weights += layer.trainable_weights
        self.held = {'closure': [lambda: first, lambda: second],
                     'list': [first, second],
                     'object': [Plain(first), Plain(second)]}[self.kind]
        super().build(input_shape)

    def call(self, inputs):
        first, second = [_held_in(each) for each in self.held]
        return call_inner(second, call_inner(first, inputs))


def _held_in(value):
    if isinstance(value, Plain):
        return value.held[0]
    return value() if inspect.isfunction(value) else value


FILLED = dict({kind: functools.partial(Filled, kind) for kind in (
    'closure', 'dict', 'list', 'object', 'partly in the constructor')}, **{
        'layers, ' + kind: functools.partial(FilledWithLayers, kind)
        for kind in ('closure', 'list', 'object')})
new_layer('filled_in_build', 'v', FILLED)


# Computing with the weights of another layer


class TiedTo(layers.Layer):
    """Computes with the weights of another layer, as `DenseTranspose` does."""

    def __init__(self, tied_to, listed=False, **kwargs):
        super().__init__(**kwargs)
        self.tied_to, self.listed = tied_to, listed

    def build(self, input_shape):
        self.bias = self.add_weight(name='bias', shape=(UNITS,), initializer='zeros')
        if IS_KERAS2:
            self.kernel = ops.transpose(self.tied_to.kernel)
            if self.listed:
                self._trainable_weights.append(self.tied_to.kernel)
        super().build(input_shape)

    def call(self, inputs):
        kernel = self.kernel if IS_KERAS2 else ops.transpose(self.tied_to.kernel)
        return ops.matmul(inputs, kernel) + self.bias


class TiedByCall(OneShape):
    """Reads the other layer's weight in each call."""

    def __init__(self, tied_to, **kwargs):
        super().__init__(**kwargs)
        self.tied_to = tied_to

    def call(self, inputs):
        return ops.matmul(inputs, ops.transpose(self.tied_to.weights[0]))


class TiedByConfig(TiedTo):
    """Has the other layer in its config."""

    def get_config(self):
        return dict(super().get_config(), tied_to=layers.serialize(self.tied_to))

    @classmethod
    def from_config(cls, config):
        return cls(layers.deserialize(config.pop('tied_to')), **config)


class Pull(regularizers.Regularizer):
    """Penalizes the distance between a weight and the kernel of a layer."""

    def __init__(self, layer):
        self.layer = layer

    def __call__(self, weight):
        return ops.sum(ops.square(weight - self.layer.kernel))

    def get_config(self):
        return {'layer': self.layer}


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
    'attribute, at each call': TiedByCall,
    'config': TiedByConfig,
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
    TIED['attribute, listed'] = lambda dense: TiedTo(dense, listed=True)
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


class Shares(OneShape):
    """Takes a variable, object or generator that other layers have as well."""

    def __init__(self, shared, factor=1., **kwargs):
        super().__init__(**kwargs)
        self.shared, self.factor = shared, factor

    def call(self, inputs, training=False):
        if isinstance(self.shared, Factor):
            return self.shared(self.factor * inputs)
        if not IS_KERAS2 and isinstance(self.shared, keras.random.SeedGenerator):
            rate = .5 if training else 0.
            return keras.random.dropout(inputs, rate, seed=self.shared)
        return self.factor * self.shared * inputs


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
