"""Attributes of a layer that were set after its constructor, before its call."""
import functools
import itertools

import numpy as np
import pytest
from keras import layers, regularizers
from keras.models import clone_model
from keras_clone.check.gallery import ops

from custom_objects import RaisesIfAsked
from major_versions import (
    IS_KERAS2, ONES, WithInner, assert_cloned, assert_same_outputs, chain,
    new_variable, tile)


class Scaler:
    numbers = itertools.count()
    of_class = RaisesIfAsked()

    def __init__(self, factor):
        self.factor, self.function = factor, doubled
        self.number = next(self.numbers)

    def __call__(self, x):
        scaled = self.factor * x
        return self.function(scaled) if self.function else scaled


def doubled(x):
    return 2 * x


def tripled(x):
    return 3 * x


def times(factor):
    return lambda x, *, factor=factor: factor * x


class Doubled:
    def __call__(self, x):
        return 2 * x


class Tripled:
    def __call__(self, x):
        return 3 * x


class AppliesInOrder(layers.Layer):
    """Applies functions and objects that its constructor chooses."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.function, self.functions = times(4.), [doubled]
        self.scaler, self.scalers = Scaler(1.), [Scaler(1.)]
        self.function_class, self.reduce = Doubled, min

    def call(self, inputs):
        for function in [
                self.function, *self.functions, self.scaler, *self.scalers,
                self.function_class(), times(self.reduce(1., 5.))]:
            inputs = function(inputs) if function else inputs
        return inputs

    def compute_output_shape(self, input_shape):
        return input_shape


CHANGES = {
    'another function': lambda layer: setattr(layer, 'function', tripled),
    'another default of a function':
        lambda layer: setattr(layer, 'function', times(3.)),
    'another function in a list':
        lambda layer: layer.functions.__setitem__(0, tripled),
    'no function': lambda layer: setattr(layer, 'function', None),
    'no function of an object':
        lambda layer: setattr(layer.scaler, 'function', None),
    'another function of an object':
        lambda layer: setattr(layer.scaler, 'function', tripled),
    'more functions': lambda layer: setattr(layer, 'functions', [doubled, tripled]),
    'another builtin function': lambda layer: setattr(layer, 'reduce', max),
    'another class': lambda layer: setattr(layer, 'function_class', Tripled),
    'more objects': lambda layer: layer.scalers.append(Scaler(3.)),
    'another object': lambda layer: setattr(layer, 'scaler', Scaler(5.)),
    'another object in a list':
        lambda layer: setattr(layer, 'scalers', [Scaler(5.)]),
    'data of an object': lambda layer: setattr(layer.scaler, 'factor', 5.),
    'data of an object in a list':
        lambda layer: setattr(layer.scalers[0], 'factor', 5.),
}


@pytest.mark.parametrize('name', CHANGES)
def test_clone_computes_with(name):
    layer = AppliesInOrder()
    CHANGES[name](layer)
    model = chain(lambda: layer)()
    assert_same_outputs(model, clone_model(clone_model(model)))


def test_guard_clone_has_an_object_with_a_number_of_its_own():
    layer = AppliesInOrder()
    clone = clone_model(chain(lambda: layer)())
    assert clone.layers[-1].scaler.number != layer.scaler.number


class AppliesAdded(layers.Layer):
    """Applies what is added to it, its constructor adds nothing."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.empty, self.added = None, []

    def call(self, inputs):
        for each in [self.empty, *self.added, getattr(self, 'missing', None)]:
            inputs = inputs if each is None else each(inputs)
        return inputs

    def compute_output_shape(self, input_shape):
        return input_shape


def assign(name):
    return lambda layer, value: setattr(layer, name, value)


WAYS = {'attribute': assign('missing'), 'attribute that was None': assign('empty'),
        'item of a list': lambda layer, value: layer.added.append(value)}
VALUES = {'function': lambda: doubled, 'layer': lambda: layers.Dense(3),
          'object': lambda: Scaler(3.),
          'partial': lambda: functools.partial(Scaler.__call__, Scaler(4.))}


@pytest.mark.parametrize('value', VALUES)
@pytest.mark.parametrize('way', WAYS)
def test_clone_is_faithful_if_the_user_has_added(way, value, assert_faithful):
    def make():
        layer = AppliesAdded()
        WAYS[way](layer, VALUES[value]())
        return layer
    assert_faithful(chain(make))


def test_clone_is_called_with_a_tuple_that_the_user_has_set(assert_faithful):
    class Repeats(layers.Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.repeats = None

        def call(self, inputs):
            return tile(inputs, self.repeats)

        def compute_output_shape(self, input_shape):
            return (input_shape[0], self.repeats[1] * input_shape[1])

    def make():
        layer = Repeats()
        layer.repeats = (1, 2)
        return layer
    assert_faithful(chain(make, lambda: layers.Dense(2)))


class TimesAdded(layers.Layer):
    def call(self, inputs):
        return inputs * self.factor


def test_clone_has_a_copy_of_a_variable_added_by_the_user():
    layer = TimesAdded()
    layer.factor = new_variable(3.)
    clone = clone_model(clone_model(chain(lambda: layer)()))
    np.testing.assert_allclose(clone.predict(ONES), 3 * ONES, rtol=1e-6)
    assert clone.layers[-1].factor is not layer.factor


def test_clone_has_its_own_weight_if_the_constructor_uses_a_global_variable():
    shared = new_variable(3.)

    class TimesShared(TimesAdded):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.factor = shared
            if IS_KERAS2:
                self.trainable_weights = [shared]
    clone = clone_model(chain(TimesShared)())
    np.testing.assert_allclose(clone.predict(ONES), 3 * ONES, rtol=1e-6)
    assert clone.weights[0] is clone.layers[-1].factor is not shared


def test_clone_has_its_own_weight_added_by_the_user():
    layer = TimesAdded()
    layer.factor = layer.add_weight(name='factor', shape=(3,), initializer='uniform')
    model = chain(lambda: layer)()
    assert_same_outputs(model, clone_model(clone_model(model)))


def test_clone_has_the_cache_of_a_function_that_calls_it():
    model = chain(lambda: layers.Dense(2))()
    model.lookup = functools.lru_cache(maxsize=8)(lambda key: (key, model))
    model.lookup('a')
    clone = clone_model(clone_model(model))
    assert clone.lookup('a')[1] is clone
    assert clone.lookup.cache_info().maxsize == 8


class NeedsFunction:
    """Cannot be copied: its `__new__` requires an argument."""

    def __new__(cls, function):
        new = super().__new__(cls)
        new.function = function
        return new


def on_the_model(model):
    model.needs_function = NeedsFunction(lambda key: model)


def in_a_dict_on_a_layer(model):
    layer = model.layers[-1]
    layer.needs_function = {'calls': [NeedsFunction(layer.call)]}


@pytest.mark.parametrize('add', [on_the_model, in_a_dict_on_a_layer])
def test_guard_clone_of_a_model_with_an_object_that_cannot_be_copied(add):
    model = chain(lambda: layers.Dense(2))()
    add(model)
    assert_cloned(model)


class OmitsRegularizer(layers.Dense):
    def get_config(self):
        return {'name': self.name, 'units': self.units}


def test_clone_has_an_activity_regularizer_that_the_config_lacks(assert_faithful):
    assert_faithful(chain(lambda: OmitsRegularizer(
        2, activity_regularizer=regularizers.l2(.5))))


def test_clone_has_an_activity_regularizer_added_by_the_user(assert_faithful):
    def make():
        layer = AppliesAdded()
        layer.activity_regularizer = regularizers.l2(.5)
        return layer
    assert_faithful(chain(make))


class ChangesUnits(WithInner):
    """Its `build` computes a setting of a sublayer from what that was."""

    def __init__(self, **kwargs):
        super().__init__(layers.Dense(1), **kwargs)

    def build(self, input_shape):
        self.inner.units += 2
        super().build(input_shape)


def test_guard_clone_has_the_setting_of_a_sublayer_that_build_has_changed():
    assert_cloned(chain(ChangesUnits)())


class Widens(layers.Layer):
    """Its `build` computes an argument, which is in the config, from what it was."""

    def __init__(self, units=1, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.units += 2
        self.kernel = self.add_weight(
            name='kernel', shape=(input_shape[-1], self.units),
            initializer='ones')
        super().build(input_shape)

    def call(self, inputs):
        return ops.matmul(inputs, self.kernel)

    def compute_output_shape(self, input_shape):
        return input_shape[0], self.units

    def get_config(self):
        return dict(super().get_config(), units=self.units)


def test_clone_has_the_argument_that_build_has_changed():
    assert_cloned(chain(Widens)())


class HasKernel(layers.Layer):
    """Its `build` sets an attribute that has the name of an argument."""

    def __init__(self, kernel=None, **kwargs):
        super().__init__(**kwargs)
        self.kernel = kernel

    def build(self, input_shape):
        self.kernel = self.add_weight(
            name='kernel', shape=input_shape[-1:], initializer='ones')
        super().build(input_shape)

    def call(self, inputs):
        return inputs * self.kernel

    def compute_output_shape(self, input_shape):
        return input_shape


def test_guard_clone_of_a_layer_that_was_built_before_has_its_own_weight():
    layer = HasKernel()
    layer.build((None, 3))
    model = chain(lambda: layer)()
    assert_same_outputs(model, clone_model(clone_model(model)))


class TimesSetting(layers.Layer):
    """Has a setting in its config that is no parameter of its constructor."""

    def __init__(self, **kwargs):
        self.times = kwargs.pop('times', 2)
        super().__init__(**kwargs)

    def call(self, inputs):
        return self.times * inputs

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), 'times': self.times}


class TimesProperty(TimesSetting):
    times = property(lambda self: self.kept,
                     lambda self, value: setattr(self, 'kept', value))


@pytest.mark.parametrize('layer_class', [TimesSetting, TimesProperty])
def test_clone_has_a_setting_of_a_sublayer_that_only_its_config_names(layer_class):
    class CreatesSublayer(WithInner):
        def __init__(self, **kwargs):
            super().__init__(layer_class(), **kwargs)

    layer = CreatesSublayer()
    layer.inner.times = 5
    model = chain(lambda: layer)()
    assert_same_outputs(model, clone_model(clone_model(model)))


class OtherInConfig(TimesSetting):
    """Its config has another number than it computes with."""

    def __init__(self, times=2, **kwargs):
        super().__init__(times=times, **kwargs)
        self.twice = 2 * times

    def call(self, inputs):
        return self.twice * inputs

    def get_config(self):
        return {**super().get_config(), 'times': 1}


def test_clone_has_the_number_that_its_config_does_not_tell():
    model = chain(lambda: OtherInConfig(3))()
    assert_same_outputs(model, clone_model(clone_model(model)))
