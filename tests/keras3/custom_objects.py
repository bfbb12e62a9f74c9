"""User-defined classes and functions, none of them registered with Keras."""
import threading

import keras
from keras import Model, activations, initializers, layers, ops, regularizers

TWO = 2
RELEASE = tuple(map(int, keras.__version__.split('.')[:3]))


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


class Scale(layers.Layer):
    """A custom layer with a weight, an argument and a function."""

    def __init__(self, factor, activation=None, **kwargs):
        super().__init__(**kwargs)
        self.factor = factor
        self.activation = activations.get(activation)

    def build(self, input_shape):
        self.scale = self.add_weight(shape=(input_shape[-1],), initializer='ones')

    def call(self, inputs):
        return self.activation(self.factor * self.scale * inputs)

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), 'factor': self.factor,
                'activation': activations.serialize(self.activation)}


class Both(layers.Layer):
    """Holds two layers, which it serializes under custom keys."""

    def __init__(self, first, second, **kwargs):
        super().__init__(**kwargs)
        self._pair = [first, second]

    def call(self, inputs):
        return self._pair[0](inputs) + self._pair[1](inputs)

    def get_config(self):
        return {**super().get_config(),
                'first': keras.saving.serialize_keras_object(self._pair[0]),
                'second': layers.serialize(self._pair[1])}

    @classmethod
    def from_config(cls, config):
        first = keras.saving.deserialize_keras_object(config.pop('first'))
        second = layers.deserialize(config.pop('second'))
        return cls(first, second, **config)


class Holder(layers.Layer):
    """Its config contains the layer itself, in a container."""

    def __init__(self, held, **kwargs):
        super().__init__(**kwargs)
        self.held = list(held)

    def call(self, inputs):
        return self.held[0](inputs)

    def get_config(self):
        return {**super().get_config(), 'held': list(self.held)}


class WithoutConfig(layers.Layer):
    """Takes a function as an argument, and has no config."""

    def __init__(self, function, **kwargs):
        super().__init__(**kwargs)
        self.function = function

    def call(self, inputs):
        return self.function(inputs)


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


class Once(Forgetful):
    """No second instance can be created: its `__new__` requires an argument."""

    def __new__(cls, factor, **kwargs):
        return super().__new__(cls, factor, **kwargs)


class Cell(layers.SimpleRNNCell):
    pass


class Ones(initializers.Initializer):
    """Has the name of a Keras initializer, but returns twos."""

    def __call__(self, shape, dtype=None):
        return 2 * ops.ones(shape, dtype)

    def get_config(self):
        return {}


class Strong(regularizers.Regularizer):
    """A regularizer without a config."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return self.factor * ops.sum(x)


class Noise(layers.Layer):
    """Its config contains a seed generator, which has a state."""

    def __init__(self, seed, **kwargs):
        super().__init__(**kwargs)
        self.seed = seed

    def call(self, inputs):
        return inputs + keras.random.normal(ops.shape(inputs), seed=self.seed)

    def get_config(self):
        return {**super().get_config(), 'seed': self.seed}


def chain(*makers, shape=(3,)):
    """Returns a function that builds a functional model of new layers."""
    def build():
        x = inputs = keras.Input(shape, name='x')
        for make_layer in makers:
            x = make_layer()(x)
        return Model(inputs, x)
    return build


class Pausing(layers.Layer):
    """Calls a function in another thread while its model is being cloned."""

    observe = None

    def call(self, inputs):
        return inputs

    def get_config(self):
        self.pause()
        return super().get_config()

    @classmethod
    def from_config(cls, config):
        cls.pause()
        return super().from_config(config)

    @classmethod
    def pause(cls):
        if cls.observe:
            thread = threading.Thread(target=cls.observe)
            thread.start()
            thread.join()
