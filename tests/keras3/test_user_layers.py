"""User code that inspects attributes and configs as only Keras 3 allows."""
import copy

import keras
import pytest
from keras import Model, Sequential, activations, layers
from keras.models import clone_model

from custom_objects import Holds
from major_versions import ONES, assert_same_outputs, chain


class FunctionInConfig(Holds):
    """Its config contains the function itself, one of a few allowed functions."""

    def __init__(self, held=activations.relu, **kwargs):
        super().__init__(held, **kwargs)
        if held is not activations.relu and held is not activations.gelu:
            raise ValueError(f'unknown function {held!r}')

    def call(self, inputs):
        return self.held(inputs)

    def get_config(self):
        return {**layers.Layer.get_config(self), 'held': self.held}


def test_guard_function_itself_in_a_config(assert_faithful):
    assert_faithful(chain(lambda: FunctionInConfig(activations.gelu)))


class Target(Model):
    """Takes a network and copies it, as a target network."""

    def __init__(self, online, copied=copy.deepcopy, **kwargs):
        super().__init__(**kwargs)
        self.online = online
        self.target = copied(online)
        self.target.trainable = False

    def call(self, inputs):
        return self.online(inputs) - self.target(inputs)

    def get_config(self):
        return {'online': keras.saving.serialize_keras_object(self.online),
                'name': self.name}

    @classmethod
    def from_config(cls, config):
        online = keras.saving.deserialize_keras_object(config.pop('online'))
        return cls(online, **config)


def assert_copies(model):
    model(ONES)
    clone = clone_model(model)
    clone(ONES)
    assert len(clone.weights) == 4
    assert len(clone.trainable_weights) == 2
    assert clone.target is not model.target
    assert_same_outputs(model, clone)


@pytest.mark.parametrize('copied', [copy.deepcopy, clone_model])
def test_guard_model_that_copies_another_one(copied):
    class TargetWithCopy(Target):
        def __init__(self, online, **kwargs):
            super().__init__(online, copied, **kwargs)
    assert_copies(TargetWithCopy(Sequential([keras.Input((3,)), layers.Dense(2)])))


def test_subclassed_model_that_copies_one_with_a_lambda():
    assert_copies(Target(Sequential([
        keras.Input((3,)), layers.Lambda(lambda x: 2 * x), layers.Dense(2)]),
        clone_model))


# Configs that are read several times

class Ensemble(layers.Layer):
    def __init__(self, text, **kwargs):
        super().__init__(**kwargs)
        self.text = text
        self.models = [keras.models.model_from_json(text) for _ in range(2)]

    def call(self, inputs, training=None):
        first, second = (each(inputs, training=training) for each in self.models)
        return first - second

    def get_config(self):
        return {**super().get_config(), 'text': self.text}


def test_guard_several_models_from_one_string(assert_faithful):
    text = chain(lambda: layers.Dense(3), layers.BatchNormalization)().to_json()
    assert_faithful(chain(lambda: Ensemble(text)))


class CreatesLayersInBuild(layers.Layer):
    def __init__(self, config, **kwargs):
        super().__init__(**kwargs)
        self.config = config

    def build(self, input_shape):
        self.blocks = []
        for i in range(2):
            config = copy.deepcopy(self.config)
            config['config']['name'] = f'block_{i}'
            self.blocks.append(layers.deserialize(config))
            self.blocks[-1].build(input_shape)
        self.gate = layers.deserialize(self.config)
        self.gate.build(input_shape)

    def call(self, inputs):
        return (self.blocks[0](inputs) + self.blocks[1](inputs)) * self.gate(inputs)

    def get_config(self):
        return {**super().get_config(), 'config': self.config}


def test_guard_config_that_is_read_in_build(assert_faithful):
    config = layers.serialize(layers.Dense(3, 'tanh'))
    build = chain(lambda: CreatesLayersInBuild(config))
    assert_faithful(build)
    assert len(clone_model(build()).weights) == 6
