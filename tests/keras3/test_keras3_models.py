"""Properties of models that only Keras 3 has: inputs, arguments, state."""
import copy

import keras
import numpy as np
import pytest
from keras import Model, Sequential, layers, ops
from keras.models import clone_model

from custom_objects import gelu
from major_versions import ONES, assert_same_outputs, chain, of_class, outputs_of

SPARSE = keras.backend.backend() in ('tensorflow', 'jax')
RAGGED = keras.backend.backend() == 'tensorflow'


class WithArguments(Model):
    def __init__(self, *args, factor, layer=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.factor = factor
        self.layer = layer

    def call(self, inputs, training=None, mask=None):
        return self.factor * super().call(inputs, training, mask)


class WithOptionalArgument(Model):
    def __init__(self, *args, **kwargs):
        self.factor = kwargs.pop('factor', 1)
        super().__init__(*args, **kwargs)


class Stack(Model):
    def __init__(self, units, **kwargs):
        x = keras.Input((3,), name='x')
        super().__init__(x, layers.Dense(units)(x), **kwargs)
        self.units = units
        self.seen = keras.metrics.Mean(name='seen')

    def get_config(self):
        return {'units': self.units, 'name': self.name}


class Subclassed(Model):
    def __init__(self, activation, **kwargs):
        super().__init__(**kwargs)
        self.dense = layers.Dense(3, activation=activation)

    def call(self, inputs):
        return self.dense(inputs)

    def get_config(self):
        return {**super().get_config(), 'activation': self.dense.activation}


@pytest.mark.parametrize('flags', [
    {},
    pytest.param({'name': 'mine'}, id='guard name'),
    {'optional': True},
    {'dtype': 'int32'},
    {'batch_size': 4},
    pytest.param({'sparse': True}, marks=pytest.mark.skipif(
        not SPARSE, reason='the backend has no sparse tensors')),
    pytest.param({'ragged': True}, marks=pytest.mark.skipif(
        not RAGGED, reason='the backend has no ragged tensors')),
], ids=lambda flags: ' '.join(flags) or 'unnamed')
@pytest.mark.parametrize('model_class', ['functional', 'sequential'])
def test_clone_has_an_input_with_the_same(flags, model_class):
    x = keras.Input((3,), **flags)
    layer = layers.Identity()
    model = Sequential([x, layer]) if model_class == 'sequential' else Model(
        x, layer(x))
    clone = clone_model(model)
    kept, found = model._layers[0].get_config(), clone._layers[0].get_config()
    assert found == kept
    assert clone.inputs[0].name == model.inputs[0].name
    assert clone.inputs[0] is not model.inputs[0]


def test_clone_accepts_that_an_optional_input_is_omitted():
    a, b = keras.Input((3,), name='a'), keras.Input((3,), name='b', optional=True)

    class First(layers.Layer):
        def call(self, a, b=None):
            return a if b is None else a + b

        def compute_output_shape(self, *args, **kwargs):
            return (None, 3)

    clone = clone_model(Model([a, b], First()(a, b)))
    np.testing.assert_allclose(outputs_of(clone, [ONES, None]), ONES)


def test_clone_has_a_required_argument_of_a_functional_class(assert_faithful):
    clone = assert_faithful(lambda: of_class(WithArguments, factor=3.))
    assert type(clone) is WithArguments


def test_clone_has_its_own_layer_passed_to_a_functional_class():
    x = keras.Input((3,), name='x')
    dense = layers.Dense(2)
    model = WithArguments(x, dense(x), factor=3., layer=dense)
    clone = clone_model(model)
    assert clone.layer is clone.layers[-1]


def test_clone_has_an_optional_argument_of_a_functional_class():
    assert clone_model(of_class(WithOptionalArgument, factor=3.)).factor == 3.


def test_clone_has_its_own_metric_of_a_functional_class():
    model = Stack(2)
    clone = clone_model(model)
    assert clone.seen is not model.seen
    assert clone.seen.name == 'seen'


def test_clone_of_a_subclassed_model_computes_the_same():
    model = Subclassed(gelu)
    model(ONES)
    clone = clone_model(model)
    clone(ONES)
    assert clone.dense is not model.dense
    assert_same_outputs(model, clone)


class Projection(Model):
    def __init__(self, units=2, **kwargs):
        super().__init__(**kwargs)
        self.kernel = self.add_weight(shape=(3, units), name='kernel')

    def call(self, inputs):
        return ops.matmul(inputs, self.kernel)


def test_clone_of_a_subclassed_model_without_a_config_has_its_arguments():
    model = Projection(5)
    model(ONES)
    clone = clone_model(model)
    clone(ONES)
    assert_same_outputs(model, clone)


def test_guard_clone_of_a_model_in_a_functional_one_is_faithful(assert_faithful):
    assert_faithful(chain(lambda: Subclassed(gelu)))


def test_guard_unknown_argument_raises_an_error():
    with pytest.raises(ValueError, match='Unexpected keyword.*inputs'):
        clone_model(chain(lambda: layers.Dense(2))(), inputs=None)


@keras.saving.register_keras_serializable('test_models')
class BuildsInCall(Subclassed):
    def __init__(self, activation=None, **kwargs):
        super().__init__(activation, **kwargs)


def test_guard_clone_of_a_model_that_was_built_and_not_called_computes_the_same():
    model = BuildsInCall()
    model.build((None, 3))
    clone = clone_model(model)
    model(ONES), clone(ONES)
    assert len(clone.weights) == len(model.weights) == 2
    assert_same_outputs(model, clone)


def test_guard_clone_of_a_layer_that_is_no_model_is_a_new_layer():
    layer = layers.Dense(3, name='dense')
    clone = clone_model(layer)
    assert clone is not layer and clone.get_config() == layer.get_config()


def test_guard_clone_has_the_scope_in_the_paths_of_its_weights():
    with keras.name_scope('outer'):
        model = keras.Sequential([layers.Input((3,)), layers.Dense(2, name='dense')])
        clone = clone_model(model)
    assert clone.weights[0].path == f'outer/{clone.name}/dense/kernel'


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
def test_guard_clone_of_a_model_copies_another_one(copied):
    class TargetWithCopy(Target):
        def __init__(self, online, **kwargs):
            super().__init__(online, copied, **kwargs)
    assert_copies(TargetWithCopy(Sequential([keras.Input((3,)), layers.Dense(2)])))


def test_clone_of_a_subclassed_model_copies_one_with_a_lambda():
    assert_copies(Target(Sequential([
        keras.Input((3,)), layers.Lambda(lambda x: 2 * x), layers.Dense(2)]),
        clone_model))


def test_names_in_a_model_that_build_creates_are_those_of_the_original_again():
    class Generates(keras.layers.Layer):
        def build(self, input_shape):
            self.inner = keras.Sequential([keras.layers.Dense(3)])

        def call(self, inputs):
            return self.inner(inputs)

    def names(model):
        return [layer.name for layer in model._flatten_layers()]

    model = chain(Generates, Generates)()
    assert names(clone_model(clone_model(model))) == names(model)
