"""The class of a model and its state are those of the original."""
import numpy as np
import pytest
from keras.layers import Dense, Input
from keras.models import Model, Sequential, clone_model

from major_versions import IS_KERAS2, chain

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
    x = Input((3,))
    model = Branded(x, Dense(2)(x), name='mine')
    assert clone_model(model).brand() == 'mine'


def test_clone_of_a_sequential_model_has_its_class():
    assert type(clone_model(Refined([Dense(2, input_shape=(3,))]))) is Refined


@pytest.mark.parametrize('model_class', [Stack, SequentialWithUnits])
@pytest.mark.filterwarnings('ignore:Do not pass an `input_shape`')
def test_clone_of_a_class_whose_constructor_creates_the_graph_is_faithful(
        model_class, assert_faithful):
    assert_faithful(lambda: model_class(2))
    clone = clone_model(model_class(2))
    assert type(clone) is model_class
    assert clone.units == 2
    assert clone.output_shape == (None, 2)


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
