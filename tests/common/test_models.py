"""The class of a model and its state are those of the original."""
import numpy as np
import pytest
from keras.layers import Dense, Input, Lambda, Reshape, Subtract
from keras.models import Model, Sequential, clone_model

from custom_objects import Subclassed
from major_versions import (
    IS_KERAS2, ONES, assert_cloned, assert_same_outputs, chain, of_class)

if IS_KERAS2:
    from keras.models import _clone_functional_model, _clone_sequential_model
    CLONE_FUNCTIONS = [clone_model, _clone_functional_model, _clone_sequential_model]
else:
    CLONE_FUNCTIONS = [clone_model]


class Branded(Model):
    def brand(self):
        return self.name


class Stack(Model):
    def __init__(self, units):
        x = Input((3,), name='x')
        super().__init__(x, Dense(units)(x))
        self.units = units


class Refined(Sequential):
    pass


class SequentialWithUnits(Sequential):
    def __init__(self, units):
        super().__init__([Dense(units, input_shape=(3,))])
        self.units = units


def test_clone_of_a_functional_model_has_its_class():
    assert clone_model(of_class(Branded, name='mine')).brand() == 'mine'


def test_clone_of_a_sequential_model_has_its_class():
    assert type(clone_model(Refined([Dense(2, input_shape=(3,))]))) is Refined


@pytest.mark.parametrize('model_class', [Stack, SequentialWithUnits])
@pytest.mark.filterwarnings('ignore:Do not pass an `input_shape`')
def test_clone_of_a_class_whose_constructor_creates_the_graph_is_faithful(
        model_class, assert_faithful):
    clone = assert_faithful(lambda: model_class(2))
    assert type(clone) is model_class
    assert clone.units == 2
    assert clone.output_shape == (None, 2)


class Keywords(Model):
    def __init__(self, **options):
        x = Input((3,))
        y = Dense(options.get('units', 4), activation=options.get('activation'))(x)
        super().__init__(x, y)


class PassesKeywords(Model):
    def __init__(self, units=4, **kwargs):
        x = Input((3,))
        super().__init__(inputs=x, outputs=Dense(units)(x), **kwargs)


class AcceptsAnyArguments(Model):
    def __init__(self, *args, units=4, **kwargs):
        x = Input((3,))
        super().__init__(x, Dense(units)(x))


@pytest.mark.parametrize('make', [
    lambda: Keywords(units=5, activation='tanh'),
    lambda: Keywords(activation='tanh'),
    lambda: PassesKeywords(5), lambda: AcceptsAnyArguments(units=5)],
    ids=['guard units and activation', 'guard activation', 'guard handed on',
         'ignored'])
def test_clone_of_a_class_whose_constructor_accepts_any_keyword(make):
    assert_cloned(make())


class Perceptron(Model):
    """Has a config of its own."""

    def __init__(self, size, units, **kwargs):
        x = inputs = Input((size,))
        for each in units:
            x = Dense(each)(x)
        super().__init__(inputs, x, **kwargs)
        self.size, self.units = size, units

    def get_config(self):
        return {'name': self.name, 'size': self.size, 'units': list(self.units)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


def test_guard_clone_has_a_nested_model_with_a_custom_config():
    a, b = Input((3,)), Input((3,))
    inner = Perceptron(3, [4, 2])
    model = Model([a, b], Subtract()([inner(a), inner(b)]))
    clone = clone_model(model)
    assert_same_outputs(model, clone, [ONES, 2 * ONES])
    inner, = (each for each in clone.layers if isinstance(each, Model))
    assert type(inner) is Perceptron
    assert inner.units == [4, 2]


def test_clone_has_a_nested_model_with_a_custom_config_next_to_a_lambda(
        assert_faithful):
    assert_faithful(chain(lambda: Perceptron(3, [3]),
                          lambda: Lambda(lambda x: 2 * x),
                          lambda: Reshape((3, 1))))


def test_guard_clone_has_a_subclassed_model():
    model = chain(lambda: Subclassed(2, name='inner'))()
    clone = clone_model(model)
    assert_same_outputs(model, clone)
    assert clone.layers[-1].dense is not model.layers[-1].dense


@pytest.mark.parametrize('trainable', [True, False])
def test_clone_has_the_flags_of_models_and_layers(trainable):
    model = chain(chain(lambda: Dense(2)), lambda: Dense(2))()
    model.trainable = trainable
    model.layers[1].trainable = not trainable
    clone = clone_model(model)
    assert [each.trainable for each in (clone, *clone.layers[1:])] == [
        each.trainable for each in (model, *model.layers[1:])]
    assert len(clone.trainable_weights) == len(model.trainable_weights)


@pytest.mark.parametrize('clone', CLONE_FUNCTIONS)
@pytest.mark.parametrize('value', [None, 3, 'model', Dense, np.ones(2)],
                         ids=['None', 'number', 'string', 'class', 'array'])
def test_value_that_is_not_a_model_raises_an_error(clone, value):
    with pytest.raises(ValueError, match='`model`.*' + type(value).__name__):
        clone(value)
