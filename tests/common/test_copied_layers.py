"""Layers that cannot be created from their config, because it lacks an argument.

They are copied, and `build` runs again, so that it creates new weights.
"""
import numpy as np
import pytest
from keras.layers import Dense, TimeDistributed
from keras.models import clone_model

from major_versions import KeepsShape, assert_equal_and_independent, chain


class WithoutConfig(KeepsShape):
    """Requires a function, which its config does not have."""

    container = list

    def __init__(self, function, **kwargs):
        super().__init__(**kwargs)
        self.function, self.held = function, self.container()

    def new_weight(self, name):
        return self.add_weight(name=name, shape=(3,), initializer='ones')

    def build(self, input_shape):
        for name in 'ab':
            self.held.append(self.new_weight(name))

    def call(self, inputs):
        first, second = self.held
        return self.function(inputs * first + second)


class InDict(WithoutConfig):
    container = dict

    def build(self, input_shape):
        for name in 'ab':
            self.held[name] = self.new_weight(name)

    def call(self, inputs):
        return self.function(inputs * self.held['a'] + self.held['b'])


class AtIndex(WithoutConfig):
    container = staticmethod(lambda: [None, None])

    def build(self, input_shape):
        for index, name in enumerate('ab'):
            self.held[index] = self.new_weight(name)


class PartlyInConstructor(WithoutConfig):
    def __init__(self, function, **kwargs):
        super().__init__(function, **kwargs)
        self.held = [self.new_weight('a')]

    def build(self, input_shape):
        self.held.append(self.new_weight('b'))


class Scaled:
    """An object that holds a weight and is called by a layer."""

    def __init__(self, weight):
        self.weight = weight

    def __call__(self, inputs):
        return inputs * self.weight


class InObject(WithoutConfig):
    def build(self, input_shape):
        self.scale = Scaled(self.new_weight('a'))
        self.shift = self.new_weight('b')

    def call(self, inputs):
        return self.function(self.scale(inputs) + self.shift)


class InClosure(WithoutConfig):
    def build(self, input_shape):
        scale, shift = self.new_weight('a'), self.new_weight('b')
        self.compute = lambda inputs: inputs * scale + shift

    def call(self, inputs):
        return self.function(self.compute(inputs))


class LayersOfBuild(WithoutConfig):
    """Adds layers to a list in `build`. Keras 2 does not count their weights."""

    def build(self, input_shape):
        for _ in range(2):
            self.held.append(Dense(3))
            self.held[-1].build((None, 3))
            weights = self.held[-1].trainable_weights
            if not any(weights[0] is each for each in self.trainable_weights):
                self._trainable_weights += weights

    def call(self, inputs):
        first, second = self.held
        return self.function(second(first(inputs)))


class LayerOfBuild(LayersOfBuild):
    """Replaces the layers in an attribute in `build`."""

    def build(self, input_shape):
        self.held = []
        super().build(input_shape)


class LayerSetByName(LayerOfBuild):
    def build(self, input_shape):
        super().build(input_shape)
        for index, layer in enumerate(self.held):
            setattr(self, f'layer_{index}', layer)


class LayersInObjects(LayerOfBuild):
    def build(self, input_shape):
        super().build(input_shape)
        self.first, self.second = self.held
        self.objects = [Scaled(self.first), Scaled(self.second)]

    def call(self, inputs):
        first, second = self.objects
        return self.function(second.weight(first.weight(inputs)))


class LayersInClosure(LayerOfBuild):
    def build(self, input_shape):
        super().build(input_shape)
        first, second = self.first, self.second = self.held
        self.compute = lambda inputs: second(first(inputs))

    call = InClosure.call


class LayersInDict(LayersOfBuild):
    def __init__(self, function, **kwargs):
        super().__init__(function, **kwargs)
        self.named = {}

    def build(self, input_shape):
        self.held = []
        super().build(input_shape)
        for name, layer in zip('ab', self.held):
            self.named[name] = layer

    def call(self, inputs):
        return self.function(self.named['b'](self.named['a'](inputs)))


class ObjectsOfConstructor(WithoutConfig):
    container = staticmethod(lambda: [Scaled(None), Scaled(None)])

    def build(self, input_shape):
        for name, each in zip('ab', self.held):
            each.weight = self.new_weight(name)

    def call(self, inputs):
        for each in self.held:
            inputs = self.function(each(inputs))
        return inputs


class Counting(WithoutConfig):
    def __init__(self, function, **kwargs):
        super().__init__(function, **kwargs)
        self.count = 0

    def build(self, input_shape):
        self.count += 1
        super().build(input_shape)

    def call(self, inputs):
        return self.count * super().call(inputs)


LAYERS = [WithoutConfig, InDict, AtIndex, PartlyInConstructor, InObject, InClosure,
          LayersOfBuild, LayerOfBuild, LayerSetByName, LayersInObjects,
          LayersInClosure, LayersInDict, ObjectsOfConstructor, Counting]


def model_with(layer_class, shape=(3,), wrap=lambda layer: layer):
    return chain(lambda: wrap(layer_class(lambda x: 2 * x)), shape=shape)()


@pytest.mark.parametrize('is_wrapped', [False, True])
@pytest.mark.parametrize('layer_class', LAYERS)
def test_clone_computes_with_its_own_weights(layer_class, is_wrapped):
    model = (model_with(layer_class, (2, 3), TimeDistributed) if is_wrapped else
             model_with(layer_class))
    clone = clone_model(model)
    assert len(clone.weights) == len(model.weights)
    assert_equal_and_independent(
        model, clone, np.ones((4, *model.input_shape[1:]), 'float32'))


@pytest.mark.parametrize('layer_class', [WithoutConfig, InDict, InObject, InClosure])
def test_clone_has_new_weights_that_build_creates(layer_class):
    model = model_with(layer_class)
    model.set_weights([5 * weight for weight in model.get_weights()])
    for weight in clone_model(model).get_weights():
        np.testing.assert_allclose(weight, np.ones(3))


class WithSlots(WithoutConfig):
    __slots__ = ('slot',)

    def __init__(self, function, **kwargs):
        super().__init__(function, **kwargs)
        # Not by `__setattr__` of Keras 3, which would store it elsewhere, too.
        object.__setattr__(self, 'slot', 3.)

    def call(self, inputs):
        return self.slot * super().call(inputs)


@pytest.mark.parametrize(
    'layer_class', [LayersInObjects, LayersInClosure, WithSlots],
    ids=['layers in objects', 'layers in a closure', 'slots'])
def test_clone_is_faithful_to_a_layer_with(layer_class, assert_faithful):
    assert_faithful(lambda: model_with(layer_class))
