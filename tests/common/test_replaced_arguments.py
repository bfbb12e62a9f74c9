"""Layers whose `build` puts something else in the place of an argument.

The attribute of the argument's name does not say what the constructor was called
with. The released functions clone these layers correctly, if they are created with
the defaults.
"""
import numpy as np
import pytest
from keras import activations, layers, regularizers
from keras.models import clone_model

from major_versions import (
    ONES, KeepsShape, assert_cloned, build_inner, call_inner, chain, constant,
    outputs_of)


class Replaces(KeepsShape):
    def __init__(self, argument=2., **kwargs):
        super().__init__(**kwargs)
        self.argument = argument

    def build(self, input_shape):
        self.replace(input_shape)
        self.weight = self.add_weight(name='weight', shape=(3,),
                                      initializer='uniform')

    def call(self, inputs):
        return self.apply(inputs * self.weight)

    def apply(self, x):
        return x * self.argument


class ByWeight(Replaces):
    def replace(self, input_shape):
        self.argument = self.add_weight(name='argument', shape=(3,),
                                        initializer='uniform')


class ByLayer(Replaces):
    def replace(self, input_shape):
        self.argument = layers.Dense(3, bias_initializer='ones')
        build_inner(self, [self.argument], input_shape)

    def apply(self, x):
        return call_inner(self.argument, x)


class ByLayers(Replaces):
    def replace(self, input_shape):
        self.argument = [layers.Dense(3), layers.Dense(3, activation='tanh')]
        build_inner(self, self.argument, input_shape)

    def apply(self, x):
        return call_inner(self.argument[1], call_inner(self.argument[0], x))


class ByNumber(Replaces):
    def replace(self, input_shape):
        self.argument = 3 * self.argument


class ByArray(Replaces):
    def replace(self, input_shape):
        self.argument = np.full(3, self.argument, 'float32') + 1

    def apply(self, x):
        return x * constant(self.argument)


class ByObject(Replaces):
    def replace(self, input_shape):
        self.argument = regularizers.l2(self.argument)

    def apply(self, x):
        return x * float(self.argument.l2)


class ByFunction(Replaces):
    def replace(self, input_shape):
        factor = self.argument
        self.argument = lambda x: activations.tanh(x) * factor

    def apply(self, x):
        return self.argument(x)


FROM_THE_ARGUMENT = [ByNumber, ByArray, ByObject, ByFunction]
CLASSES = [ByWeight, ByLayer, ByLayers, *FROM_THE_ARGUMENT]


@pytest.mark.parametrize('make', CLASSES, ids=lambda make: make.__name__)
def test_guard_clone_replaces_the_default_of_an_argument(make):
    assert_cloned(chain(make)())


@pytest.mark.parametrize('make', FROM_THE_ARGUMENT, ids=lambda make: make.__name__)
def test_clone_replaces_an_argument_that_the_config_lacks(make):
    model = chain(lambda: make(.5))()
    clone = assert_cloned(model)
    assert isinstance(clone.layers[1].argument, type(model.layers[1].argument))


@pytest.mark.parametrize('make', FROM_THE_ARGUMENT, ids=lambda make: make.__name__)
def test_clone_replaces_an_argument_that_was_assigned(make):
    layer = make()
    layer.argument = .5
    assert_cloned(chain(lambda: layer)())


def test_guard_clone_draws_a_weight_anew_that_replaces_an_argument():
    model = chain(ByWeight)()
    assert not np.allclose(outputs_of(clone_model(model), ONES),
                           outputs_of(model, ONES))
