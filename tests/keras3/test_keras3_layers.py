"""Functions and layers that are held in ways that only Keras 3 allows."""
import types

import keras
import numpy as np
import pytest
from keras import Model, layers, ops
from keras.models import clone_model

from custom_objects import TWO, Times
from major_versions import ONES, chain


class Noise(layers.Layer):
    """Its config contains a seed generator, which has a state."""

    def __init__(self, seed, **kwargs):
        super().__init__(**kwargs)
        self.seed = seed

    def call(self, inputs):
        return inputs + keras.random.normal(ops.shape(inputs), seed=self.seed)

    def get_config(self):
        return {**super().get_config(), 'seed': self.seed}


def test_clone_of_a_lambda_with_a_list_of_outputs_is_faithful(assert_faithful):
    assert_faithful(chain(lambda: layers.Lambda(lambda x: ops.split(x, TWO, 1)),
                          layers.Add, shape=(4,)))


@pytest.mark.parametrize('make', [
    lambda: ops.gelu, lambda: ops.sin, lambda: ops.relu,
    lambda: layers.ReLU(2., name='r')],
    ids=['named as an activation', 'sin', 'guard relu', 'guard layer'])
def test_clone_of_a_layer_with_an_activation_is_faithful(make, assert_faithful):
    assert_faithful(chain(lambda: layers.Dense(4, activation=make())))


def test_clone_has_its_own_seed_generator():
    model = chain(lambda: Noise(keras.random.SeedGenerator(1)))()
    clone = clone_model(model).layers[-1]
    assert clone.seed is not model.layers[-1].seed
    np.testing.assert_allclose(clone.seed.get_config()['seed'], 1)


def test_clone_keeps_support_of_masks_set_on_a_layer():
    model = chain(lambda: layers.Dense(2))()
    model.layers[-1].supports_masking = False
    assert clone_model(model).layers[-1].supports_masking is False


class Attends(layers.Layer):
    """Its attribute has the prefix of those that TensorFlow sets."""

    def build(self, input_shape):
        self._self_attention = layers.Dense(3)
        self._self_attention.build(input_shape)

    def call(self, inputs):
        return self._self_attention(inputs)


def test_clone_has_a_frozen_sublayer_in_an_attribute_of_any_name():
    model = chain(Attends)()
    model.layers[1]._self_attention.trainable = False
    assert not clone_model(model).trainable_weights


class Selects(layers.Layer):
    def __init__(self, factor_of='two', size=None, **kwargs):
        super().__init__(**kwargs)
        self.size = size
        self.select(factor_of)

    def select(self, factor_of):
        self.factor_of = factor_of
        self.held = types.SimpleNamespace(name=factor_of)

    def build(self, input_shape):
        self.size = int(input_shape[-1])

    def call(self, inputs):
        return {'two': 2., 'five': 5.}[self.held.name] * inputs

    def get_config(self):
        return {**super().get_config(), 'factor_of': self.factor_of,
                'size': self.size}


def test_guard_clone_computes_with_what_a_setter_has_set_after_the_call():
    model = chain(Selects)()
    model.layers[1].select('five')
    clone = clone_model(clone_model(model))
    np.testing.assert_allclose(clone(ONES), 5 * ONES)


class Growing(Times):
    """Each instance has one sublayer more than the one before."""

    instances = 0

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        Growing.instances += 1
        for i in range(Growing.instances):
            setattr(self, f'inner{i}', layers.Dense(3))

    def build(self, input_shape):
        for inner in self._layers:
            inner.build(input_shape)


def test_clone_with_the_weights_of_more_sublayers_is_refused(monkeypatch):
    monkeypatch.setattr(Growing, 'instances', 0)
    with pytest.raises(ValueError, match='has 2 weights, its clone has 4'):
        clone_model(chain(Growing)())


@pytest.mark.parametrize('call', [
    lambda dense, x: layers.Lambda(lambda x: dense(x))(dense(x)),
    lambda dense, x: layers.Dense(3, activation=lambda x: dense(x))(x)],
    ids=['lambda and a layer of the model', 'activation'])
def test_clone_of_a_function_that_holds_a_layer_is_faithful(call, assert_faithful):
    def build():
        x = keras.Input((3,), name='x')
        return Model(x, call(layers.Dense(3), x))
    assert_faithful(build)
