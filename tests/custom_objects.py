"""User-defined classes and functions, none of them registered with Keras."""
import numpy as np
from keras import activations, layers, regularizers
from keras.models import Model
from keras_clone.check.gallery import ops

from major_versions import (
    IS_KERAS2, KeepsShape, build_inner, call_inner, deserialize, serialize)

TWO = 2


def gelu(x):
    return .5 * x * (1 + ops.tanh(x))


def relu(x):
    """Has the name of a Keras activation, but computes something else."""
    return -ops.relu(-x)


class Thrice:
    """A callable object with a method that can be passed to layers."""

    def __call__(self, x):
        return 3 * x

    def method(self, x):
        return 4 * x


class Scale(KeepsShape):
    """A custom layer with a weight, an argument and a function."""

    def __init__(self, factor, activation=None, **kwargs):
        super().__init__(**kwargs)
        self.factor = factor
        self.activation = activations.get(activation)

    def build(self, input_shape):
        self.scale = self.add_weight(name='scale', shape=(input_shape[-1],),
                                     initializer='ones')

    def call(self, inputs):
        return self.activation(self.factor * self.scale * inputs)

    def get_config(self):
        return dict(super().get_config(), factor=self.factor,
                    activation=activations.serialize(self.activation))


class Both(layers.Layer):
    """Holds two layers, which it serializes under custom keys."""

    def __init__(self, first, second, **kwargs):
        super().__init__(**kwargs)
        self._pair = [first, second]

    def build(self, input_shape):
        build_inner(self, self._pair, input_shape)

    def call(self, inputs):
        first, second = self._pair
        return call_inner(first, inputs) + call_inner(second, inputs)

    def get_config(self):
        first, second = self._pair
        return {**super().get_config(), 'first': serialize(first),
                'second': layers.serialize(second)}

    @classmethod
    def from_config(cls, config):
        first = deserialize(config.pop('first'))
        second = layers.deserialize(config.pop('second'))
        return cls(first, second, **config)


class Holds(layers.Layer):
    """Takes anything, and has no config."""

    def __init__(self, held, **kwargs):
        super().__init__(**kwargs)
        self.held = held

    def call(self, inputs):
        return 2 * inputs


class Holder(Holds):
    """Its config contains the layer itself, in a container."""

    def __init__(self, held, **kwargs):
        super().__init__(list(held), **kwargs)

    def build(self, input_shape):
        build_inner(self, self.held[:1], input_shape)

    def call(self, inputs):
        return call_inner(self.held[0], inputs)

    def get_config(self):
        return {**layers.Layer.get_config(self), 'held': list(self.held)}


class CreatesDense(layers.Layer):
    """Its constructor creates a layer, which its `build` builds."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = layers.Dense(4)

    def build(self, input_shape):
        build_inner(self, [self.dense], input_shape)

    def call(self, inputs):
        return call_inner(self.dense, inputs)


class PullTo(regularizers.Regularizer):
    def __init__(self, layer):
        self.layer = layer

    def __call__(self, weight):
        return ops.sum(ops.square(weight - self.layer.kernel))


class Times(KeepsShape):
    """Multiplies by a number, which its config has."""

    def __init__(self, factor=2., **kwargs):
        super().__init__(**kwargs)
        self.factor = factor

    def call(self, inputs):
        return self.factor * inputs

    def get_config(self):
        return {**super().get_config(), 'factor': self.factor}


class Subclassed(Model):
    def __init__(self, units=2, name=None):
        super().__init__(name=name)
        self.units = units
        self.dense = layers.Dense(units, name='dense')

    def call(self, inputs):
        return self.dense(inputs)

    def compute_output_shape(self, input_shape):
        return input_shape[0], self.units

    def get_config(self):
        return {'units': self.units, 'name': self.name}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


class Bare(layers.Layer):
    """Its constructor takes no `**kwargs`."""

    def __init__(self, factor=1.):
        super().__init__()
        self.factor = factor

    def call(self, inputs):
        return self.factor * inputs


class Forgetful(layers.Layer):
    """Its config lacks a required argument."""

    def __init__(self, factor, **kwargs):
        super().__init__(**kwargs)
        self._kept = 1 - factor

    def call(self, inputs):
        return self._kept * inputs

    def get_config(self):
        return super().get_config()


class StoresOtherValue(layers.Layer):
    """Its attribute has the name of an argument, but another value."""

    def __init__(self, rate, **kwargs):
        super().__init__(**kwargs)
        self.rate = 1 - rate

    def call(self, inputs):
        return self.rate * inputs


class Once(Forgetful):
    """No second instance can be created: its `__new__` requires an argument."""

    def __new__(cls, factor, **kwargs):
        if IS_KERAS2:
            return super().__new__(cls)
        return super().__new__(cls, factor, **kwargs)


class Attributes(dict):
    """A dict whose items are also attributes. Others raise `KeyError`."""
    __getattr__ = dict.__getitem__


class RaisesIfAsked:
    def __getattr__(self, name):
        raise RuntimeError('This object has no attributes.')


def adapted(layer, data):
    """Returns a preprocessing layer, adapted to data."""
    layer.adapt(np.asarray(data))
    return layer
