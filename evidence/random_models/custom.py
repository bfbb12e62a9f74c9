"""Custom functions and classes that several operations use."""
import collections
import inspect

from keras import layers
from keras.models import Model, Sequential
from keras_clone.check import gallery

from evidence.random_models.operations import UNITS
from evidence.random_models.versions import (
    IS_KERAS2, Wrapper, build_inner, call_inner, ops)

# Functions and callable objects


def gelu(x):
    return .5 * x * (1 + ops.tanh(x))


def relu(x):
    """Has the name of an activation of Keras but computes something else."""
    return -ops.relu(-x)


def scaled(x, by=3.):
    return by * x


def total(tensors):
    first, *others = tensors
    for each in others:
        first = first + each
    return first


class Factor:
    """A callable object, whose number may be changed."""

    def __init__(self, number):
        self.number = number

    def __call__(self, x):
        return self.number * x


# Layers


class Base(layers.Layer):
    """Passes masks on under Keras 2, which refuses them otherwise."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = IS_KERAS2


class OneShape(Base):
    """A layer whose output has the shape of its input."""

    def compute_output_shape(self, input_shape):
        return input_shape


class Times(OneShape):
    """Multiplies by a factor. The config lacks it."""

    def __init__(self, factor=2., **kwargs):
        super().__init__(**kwargs)
        self.factor = factor

    def call(self, inputs):
        return self.factor * inputs


class KeepRate(Times):
    """Stores a number derived from its argument."""

    def __init__(self, rate, **kwargs):
        super().__init__(1 - rate, **kwargs)


class Scale(gallery.Scale):
    """Has a weight, passes masks on, and has no `get_config`."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True


class Applies(OneShape):
    """Takes a function or object; has no code for masks."""

    def __init__(self, function, **kwargs):
        super().__init__(**kwargs)
        self.function = function

    def call(self, inputs):
        return self.function(inputs)


class Composed(OneShape):
    """Holds layers in its attribute `parts`, in any of `CONTAINERS`."""

    parts = ()

    def hold(self, parts):
        self.parts = parts
        if not isinstance(parts, (list, tuple, dict, set, layers.Layer)):
            self.tracked = contents(parts)  # Keras 3 does not search `parts`.

    def build(self, input_shape):
        for layer in contents(self.parts):
            build_inner(layer, input_shape)
        super().build(input_shape)

    def call(self, inputs):
        return total((i + 1.) * call_inner(layer, inputs)
                     for i, layer in enumerate(contents(self.parts)))

    if IS_KERAS2:  # It does not search attributes.
        @property
        def trainable_weights(self):
            return total([self._trainable_weights] + [
                layer.trainable_weights for layer in contents(self.parts)])

        @property
        def non_trainable_weights(self):
            return total([self._non_trainable_weights] + [
                layer.non_trainable_weights for layer in contents(self.parts)])


class Given(Composed):
    """Takes layers in a container as an argument; has no config."""

    def __init__(self, held, **kwargs):
        super().__init__(**kwargs)
        self.hold(held)


class OwnWrapper(Wrapper):
    """A custom wrapper."""

    def build(self, input_shape):
        build_inner(self.layer, input_shape)
        if IS_KERAS2:  # In Keras 3, this builds the layer as well.
            super().build(input_shape)

    def call(self, inputs):
        return -1. * call_inner(self.layer, inputs)


# Models


def model_of(*stack):
    """Returns a functional model on vectors."""
    x = inputs = layers.Input((UNITS,))
    for layer in stack:
        x = layer(x)
    return Model(inputs, x)


def sequential_of(*stack):
    """Returns a built `Sequential` on vectors."""
    return Sequential([layers.InputLayer((UNITS,)), *stack])


class Stack(Model):
    """A functional model that makes its graph from its arguments."""

    def __init__(self, units, activation=None, **kwargs):
        inputs = layers.Input((None, units))
        outputs = layers.Dense(units, activation=activation)(inputs)
        super().__init__(inputs, outputs, **kwargs)
        self.units, self.activation = units, activation

    def get_config(self):
        return {'name': self.name, 'units': self.units,
                'activation': self.activation}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


# What is used again in several tables


INNER = {  # {name: function that makes a layer on vectors}
    'Dense': lambda: layers.Dense(UNITS, activation=gelu),
    'Lambda': lambda: layers.Lambda(lambda x: .3 * x),
    'Model': lambda: model_of(Scale(), layers.Dense(UNITS, activation=relu)),
    'Applies': lambda: Applies(lambda x: .8 * x),
    'Scale': Scale,
    'Sequential': lambda: sequential_of(layers.Dense(UNITS)),
    'Sequential, not built': lambda: Sequential([layers.Dense(UNITS), Scale()]),
}


class Plain:
    """A custom object that holds layers or weights."""

    def __init__(self, *held):
        self.held = held

    def __iter__(self):
        return iter(self.held)

    def first(self, x):
        return call_inner(self.held[0], x)


class Slotted(Plain):
    __slots__ = ('other',)

    def __init__(self, *held):
        super().__init__(*held[:1])
        self.other = held[1:]

    def __iter__(self):
        return iter(self.held + self.other)


Pair = collections.namedtuple('Pair', 'first second')
CONTAINERS = {
    'closure': lambda pair: (lambda first, second: lambda: (first, second))(*pair),
    'deque': collections.deque,
    'dict': lambda pair: dict(zip('ba', pair)),
    'list': list,
    'method': lambda pair: Plain(*pair).first,
    'named tuple': lambda pair: Pair(*pair),
    'nested': lambda pair: [{'a': (pair[0], [])}, [[pair[1]], None, 3]],
    'object': lambda pair: Plain(*pair),
    'set': set,
    'slots': lambda pair: Slotted(*pair),
    'tuple': tuple,
}


def contents(value):
    """Returns the layers or weights in one of `CONTAINERS`."""
    if inspect.isfunction(value):
        return contents(value())
    if inspect.ismethod(value):
        return contents(value.__self__)
    if isinstance(value, (set, frozenset)):
        value = sorted(value, key=lambda each: each.name)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple, collections.deque, Plain)):
        return [found for each in value for found in contents(each)]
    return [] if value is None or isinstance(value, int) else [value]
