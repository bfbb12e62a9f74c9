"""Attributes of a layer that were changed after its constructor, before its call.

No config contains them.
"""
import itertools

import numpy as np
import pytest
from keras import layers
from keras.models import clone_model

from major_versions import chain


class RaisesIfAsked:
    def __getattr__(self, name):
        raise RuntimeError('This object has no attributes.')


class Scaler:
    numbers = itertools.count()
    of_class = RaisesIfAsked()

    def __init__(self, factor):
        self.factor = factor
        self.number = next(self.numbers)

    def __call__(self, x):
        return self.factor * x


def doubled(x):
    return 2 * x


def tripled(x):
    return 3 * x


class AppliesInOrder(layers.Layer):
    """Applies functions and objects that its constructor chooses."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.functions = [doubled]
        self.scaler, self.scalers = Scaler(1.), [Scaler(1.)]

    def call(self, inputs):
        for function in [*self.functions, self.scaler, *self.scalers]:
            inputs = function(inputs)
        return inputs

    def compute_output_shape(self, input_shape):
        return input_shape


def more_functions(layer):
    layer.functions = [doubled, tripled]


def more_objects(layer):
    layer.scalers.append(Scaler(3.))


def other_object(layer):
    layer.scaler = Scaler(5.)


def other_object_in_list(layer):
    layer.scalers = [Scaler(5.)]


def data_of_an_object(layer):
    layer.scaler.factor = 5.


def data_of_an_object_in_list(layer):
    layer.scalers[0].factor = 5.


CHANGES = [more_functions, more_objects, other_object, other_object_in_list,
           data_of_an_object, data_of_an_object_in_list]


def changed_by(change):
    layer = AppliesInOrder()
    change(layer)
    return layer


@pytest.mark.parametrize('change', CHANGES)
def test_clone_computes_with(change):
    model = chain(lambda: changed_by(change))()
    clone = clone_model(clone_model(model))
    value = np.ones((2, 3), 'float32')
    np.testing.assert_allclose(clone.predict(value), model.predict(value), rtol=1e-6)


def test_guard_number_that_each_object_has_is_its_own():
    layer = AppliesInOrder()
    clone = clone_model(chain(lambda: layer)())
    assert clone.layers[-1].scaler.number != layer.scaler.number


class RaisesIfCompared:
    __hash__ = None

    def __eq__(self, other):
        raise RuntimeError('These objects cannot be compared.')


@pytest.mark.parametrize('make', [
    RaisesIfCompared, RaisesIfAsked, lambda: np.array([RaisesIfCompared()], object),
    lambda: np.array([np.ones(2), np.ones(3)], object)],
    ids=['raises if compared', 'raises if asked', 'array of objects',
         'array of arrays'])
def test_guard_attribute_that_cannot_be_compared(make):
    class Holds(layers.Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.held = make()

        def call(self, inputs):
            return 2 * inputs
    model = chain(Holds)()
    clone = clone_model(clone_model(model))
    assert isinstance(clone.layers[-1].held, type(model.layers[-1].held))
