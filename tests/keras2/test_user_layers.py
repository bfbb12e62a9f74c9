"""User code that inspects attributes and configs as only Keras 2 allows."""
import copy

import numpy as np
import pytest
from keras import layers
from keras import backend as K
from keras.layers import (RNN, Dense, Input, Lambda, Layer, Reshape, SimpleRNN,
                          SimpleRNNCell)
from keras.layers.wrappers import Wrapper
from keras.models import Model, clone_model

from major_versions import ONES, WithInner, assert_same_outputs, build_inner, chain


class KeepsConfig(Layer):
    def __init__(self, kept=None, **kwargs):
        super().__init__(**kwargs)
        self.kept = kept or {'made': 'by hand'}

    def call(self, inputs):
        return inputs

    def get_config(self):
        return dict(super().get_config(), kept=self.kept)

    @classmethod
    def from_config(cls, config):
        return cls(**dict(config, kept=copy.deepcopy(config['kept'])))


def test_guard_stored_config_can_be_serialized():
    model = chain(KeepsConfig)()
    clone = clone_model(clone_model(model))
    assert clone.layers[-1].kept == {'made': 'by hand'}
    assert clone.to_json() == model.to_json()


# Models with a custom constructor

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
    ids=['units and activation', 'activation', 'handed on', 'ignored'])
def test_guard_model_whose_constructor_accepts_any_keyword(make):
    model = make()
    assert_same_outputs(model, clone_model(model))


# Models with a custom config

class Perceptron(Model):
    def __init__(self, size, units, **kwargs):
        x = inputs = Input((size,))
        for each in units:
            x = Dense(each)(x)
        super().__init__(inputs, x, **kwargs)
        self.size, self.units = size, units

    def get_config(self):
        return {'name': self.name, 'size': self.size, 'units': self.units}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


def test_guard_nested_model_with_a_custom_config():
    a, b = Input((3,)), Input((3,))
    inner = Perceptron(3, [4, 2])
    model = Model([a, b], layers.subtract([inner(a), inner(b)]))
    clone = clone_model(model)
    assert_same_outputs(model, clone, [ONES, 2 * ONES])
    inner, = (each for each in clone.layers if isinstance(each, Model))
    assert type(inner) is Perceptron
    assert inner.units == [4, 2]


class Subclassed(Model):
    def __init__(self, units, name=None):
        super().__init__(name=name)
        self.units = units
        self.dense = Dense(units, name='dense')

    def call(self, inputs):
        return self.dense(inputs)

    def compute_output_shape(self, input_shape):
        return input_shape[0], self.units

    def get_config(self):
        return {'units': self.units, 'name': self.name}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


def test_guard_subclassed_model_in_a_functional_one():
    model = chain(lambda: Subclassed(2, name='inner'))()
    clone = clone_model(model)
    assert_same_outputs(model, clone)
    assert clone.layers[-1].dense is not model.layers[-1].dense


# Configs that are read several times

class ChangesConfig(WithInner):
    """Creates its layers from a config that it changes each time."""

    def __init__(self, inner, count=2, **kwargs):
        super().__init__(inner, **kwargs)
        self.count = count
        self.members = []
        for i in range(count):
            config = inner.get_config()
            config['units'] += i
            self.members.append(type(inner)(**config))

    def build(self, input_shape):
        build_inner(self, self.members, input_shape)

    def call(self, inputs):
        return K.concatenate([each.call(inputs) for each in self.members])

    def compute_output_shape(self, input_shape):
        return input_shape[0], sum(each.units for each in self.members)

    def get_config(self):
        return dict(super().get_config(), count=self.count,
                    inner=layers.serialize(self.inner))

    @classmethod
    def from_config(cls, config):
        return cls(layers.deserialize(config.pop('inner')), **config)


def test_guard_layers_from_a_config_that_is_changed():
    model = chain(lambda: ChangesConfig(Dense(2)))()
    clone = clone_model(model)
    assert_same_outputs(model, clone)
    assert [each.units for each in clone.layers[-1].members] == [2, 3]


class BothWays(Wrapper):
    """Creates the backward layer from the config of the forward layer."""

    def __init__(self, layer, **kwargs):
        super().__init__(layer, **kwargs)
        config = dict(layer.get_config(), go_backwards=not layer.go_backwards,
                      name='back_' + layer.name)
        self.back = type(layer).from_config(config)

    def build(self, input_shape):
        for layer in (self.layer, self.back):
            layer.build(input_shape)
            layer.built = True

    def call(self, inputs):
        return self.layer.call(inputs) - self.back.call(inputs)

    def compute_output_shape(self, input_shape):
        return self.layer.compute_output_shape(input_shape)

    @property
    def trainable_weights(self):
        return self.layer.trainable_weights + self.back.trainable_weights

    def get_weights(self):
        return self.layer.get_weights() + self.back.get_weights()

    def set_weights(self, weights):
        self.layer.set_weights(weights[:3])
        self.back.set_weights(weights[3:])


def test_guard_wrapper_that_creates_a_second_layer_from_a_config(assert_faithful):
    assert_faithful(chain(lambda: BothWays(SimpleRNN(2)), shape=(4, 3)))


class StackOf(RNN):
    def __init__(self, cell_config, count, **kwargs):
        self.cell_config, self.count = cell_config, count
        super().__init__([layers.deserialize(cell_config) for _ in range(count)],
                         **kwargs)

    def get_config(self):
        config = dict(super().get_config(), cell_config=self.cell_config,
                      count=self.count)
        config.pop('cell')
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


def test_guard_cells_from_one_config():
    config = layers.serialize(SimpleRNNCell(2))
    model = chain(lambda: StackOf(config, 2), shape=(4, 3))()
    clone = clone_model(model)
    assert len(clone.weights) == 6
    assert_same_outputs(model, clone, np.ones((2, 4, 3)))


def test_nested_model_with_a_custom_config_next_to_a_lambda(assert_faithful):
    assert_faithful(chain(lambda: Perceptron(3, [3]),
                          lambda: Lambda(lambda x: K.tanh(x)),
                          lambda: Reshape((3, 1))))
