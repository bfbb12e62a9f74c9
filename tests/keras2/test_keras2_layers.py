"""Layers that inspect configs or hold tensors, in ways that only Keras 2 allows.

`tests/common/test_layers.py` has the ways that both major versions allow.
"""
import copy

import numpy as np
import pytest
from keras import backend as K
from keras import initializers
from keras.layers import (Dense, Input, Lambda, Layer, LeakyReLU, PReLU,
                          TimeDistributed)
from keras.layers import deserialize, serialize
from keras.models import Model, clone_model

from custom_objects import TWO
from holding import FUNCTIONS
from major_versions import RELEASE, assert_same_outputs, chain


class UsesFunctionInGetConfig(Layer):
    def __init__(self, function, limit=float, **kwargs):
        super().__init__(**kwargs)
        self.function = function
        self.limit = limit

    def call(self, inputs):
        return self.function(inputs)

    def get_config(self):
        config = super().get_config()
        assert self.limit(self.function(1)) == self.function.__defaults__[0]
        config['function'] = copy.deepcopy(self.function)
        return config


class ReadsInnerLayer(Layer):
    """Its `get_config` reads an attribute of the layer that it holds."""

    def __init__(self, slope, **kwargs):
        super().__init__(**kwargs)
        self.held = LeakyReLU(slope)

    def call(self, inputs):
        return self.held(inputs)

    def get_config(self):
        return dict(super().get_config(),
                    slope=self.held.get_config()['alpha'])


class StoresTensor(Layer):
    """Stores a tensor of its call in the attribute of an argument."""
    container = list

    def __init__(self, kept=None, **kwargs):
        super().__init__(**kwargs)
        self.kept = kept

    def call(self, inputs):
        self.kept = self.container([2 * inputs])
        return self.kept[0]


class StoresTuple(StoresTensor):
    container = tuple


class OneLayerToMany(Layer):
    """Takes one layer; its config contains several, as in keras-multi-head."""

    def __init__(self, layer, **kwargs):
        super().__init__(**kwargs)
        self.layers = layer if isinstance(layer, list) else [layer]
        self.layer = self.layers[0]

    def call(self, inputs):
        return self.layer.call(inputs)

    def get_config(self):
        config = super().get_config()
        config['layers'] = [serialize(layer) for layer in self.layers]
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        layers = [deserialize(layer, custom_objects)
                  for layer in config.pop('layers')]
        return cls(layers, **config)


@pytest.mark.parametrize('make', [
    lambda: ReadsInnerLayer(.5), StoresTensor, StoresTuple,
    lambda: OneLayerToMany(Lambda(lambda x: TWO * x)),
    lambda: UsesFunctionInGetConfig(lambda x, factor=TWO: factor * x)],
    ids=['entry of the config of a layer', 'list of tensors', 'tuple of tensors',
         'keys that differ from the arguments', 'function'])
def test_clone_of_a_layer_whose_config_has_another_form_is_faithful(
        make, assert_faithful):
    assert_faithful(chain(make))


def plus(x, held):
    return x + held


@pytest.mark.parametrize('holding', FUNCTIONS,
                         ids=lambda holding: holding.__name__)
def test_clone_of_a_lambda_that_holds_a_tensor_is_faithful(holding, assert_faithful):
    def build():
        x = Input((3,))
        other = Dense(3)(x)
        return Model(x, [Lambda(holding(other, plus))(x), other])
    assert_faithful(build)


@pytest.mark.skipif(K.backend() == 'theano', reason='Theano cannot build this model')
def test_clone_has_its_own_activation_that_is_a_layer():
    activation = PReLU(alpha_initializer='ones')
    model = chain(lambda: Dense(4, activation=activation))()
    activation.set_weights([-np.ones(4)])
    clone = clone_model(model)
    assert_same_outputs(model, clone, -np.ones((2, 3)))
    assert clone.layers[-1].activation is not activation


def test_guard_clone_has_its_own_initializer():
    model = chain(lambda: Dense(2, kernel_initializer=initializers.Constant(3.)))()
    original, cloned = (each.layers[-1].kernel_initializer
                        for each in (model, clone_model(model)))
    assert cloned is not original
    assert cloned.get_config() == original.get_config()


# Functions whose closures change after the layer was called


def slices_of(wrap):
    x, size = Input((2, 6)), 2
    parts = []
    for i in range(3):
        parts.append(wrap(Lambda(lambda x: x[..., i * size:(i + 1) * size]))(x))
    return Model(x, parts)


@pytest.mark.parametrize('wrap', [lambda layer: layer, TimeDistributed],
                         ids=['lambda', 'wrapper'])
def test_clone_computes_with_what_a_closure_held_when_it_was_called(wrap):
    model = slices_of(wrap)
    value = np.random.rand(3, 2, 6)
    for clone in (clone_model(model), clone_model(clone_model(model))):
        for found, expected in zip(clone.predict(value), model.predict(value)):
            np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_guard_clone_computes_with_what_a_closure_held_at_the_call():
    factor = 2.
    layer = Lambda(lambda x: factor * x)
    factor = 3.
    model = chain(lambda: layer)()
    value = np.ones((2, 3))
    np.testing.assert_allclose(clone_model(model).predict(value), 3 * value)


@pytest.mark.skipif(RELEASE < (2, 3), reason='Keras 2.2 does not track attributes')
def test_layers_are_tracked_after_a_constructor_has_raised():
    class Holder(Model):
        def __init__(self):
            super().__init__()
            self.inner = Dense(2)

    with pytest.raises(TypeError, match='not understood'):
        TimeDistributed(Dense(2), unknown=1)
    assert [type(layer) for layer in Holder().layers] == [Dense]
