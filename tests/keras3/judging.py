"""Models, and clones with a fault, for the tests of the judge of a clone."""
import functools

import keras
import numpy as np
import pytest
from keras import layers, Model
from keras.models import clone_model
from keras_clone.check.faithfulness import check_clone

from major_versions import chain


def changed(layer_class, **changes):
    """Returns a clone function that changes the config of layers of one class."""
    def make(layer):
        config = layer.get_config()
        config.update(changes if isinstance(layer, layer_class) else {})
        return type(layer).from_config(config)
    return lambda model: clone_model(model, clone_function=make)


two_dense = chain(lambda: layers.Dense(3), lambda: layers.Dense(3))


def broken(change):
    """Returns a function that clones faithfully, then changes the clone.

    # Arguments
        change: function of the last layer of the clone and that of the original.
    """
    def clone(model):
        made = clone_model(model)
        change(made.layers[-1], model.layers[-1])
        return made
    return clone


def judged(build, change, **arguments):
    arguments.setdefault('depth', 1)
    arguments.setdefault('saving', False)
    return check_clone(build, broken(change), **arguments)


def what_differs(report):
    return [(each.outcome, each.layer, each.what) for each in report.differences]


class Knows(layers.Layer):
    """Has attributes of all kinds, none of which its config records."""
    held = None

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.number = .5
        self.text = 'a'
        self.table = {'a': [1, 2]}
        self.array = np.arange(3.)
        self.function = lambda x: x + TWO
        self.partial = functools.partial(max, 1)
        self.owner = Owner(2)

    def build(self, input_shape):
        self.first = self.add_weight(shape=(3,), initializer='ones')
        self.second = self.add_weight(shape=(3,), initializer='ones')
        self.inner = layers.Dense(3, dtype='mixed_float16', name='inner')
        self.inner.build(input_shape)

    def call(self, inputs):
        return inputs * self.first * self.second


class Owner:
    """A custom object."""

    def __init__(self, value):
        self.value = value

    def method(self, x):
        return x


knows = chain(lambda: Knows(name='knows'))
TWO = 2
on_tensorflow = pytest.mark.skipif(keras.backend.backend() != 'tensorflow',
                                   reason='Keras uses TensorFlow in these layers')


def adapted(make, dtype='float32'):
    layer = make(name='adapted')
    layer.adapt(np.array([[1, 2, 3], [3, 4, 7]], dtype))
    x = keras.Input((3,), dtype=dtype, name='x')
    return Model(x, layer(x))
