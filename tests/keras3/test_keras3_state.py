"""What neither a config nor the weights contain, and only Keras 3 has."""
import contextlib
import functools
import json

import keras
import numpy as np
import pytest
from keras import Model, Sequential, layers, ops, regularizers
from keras.models import clone_model

from custom_objects import StoresOtherValue, gelu
from judging import on_tensorflow
from major_versions import (
    IS_TORCH, ONES, KeepsShape, WithInner, assert_cloned, assert_same_outputs, chain)


def dense_in_a_layer():
    return WithInner(layers.Dense(4))


def test_clone_keeps_the_dtype_of_a_layer_without_a_config():
    model = chain(lambda: WithInner(layers.Dense(2), dtype='float64'))()
    clone = assert_cloned(model)
    assert clone.layers[-1].dtype_policy.name == 'float64'
    assert [w.dtype for w in clone.weights] == [w.dtype for w in model.weights]


class Block(Model):
    def __init__(self, units, activation='relu', normalized=False):
        super().__init__()
        self.dense = [layers.Dense(each, activation) for each in units]
        self.last = layers.BatchNormalization() if normalized else None

    def call(self, inputs):
        for layer in self.dense:
            inputs = layer(inputs)
        return self.last(inputs) if self.last else inputs


@pytest.mark.parametrize('make', [
    lambda: Block([4, 2], 'tanh'),
    lambda: Block(units=(4, 2), activation=gelu, normalized=True),
    lambda: Block([2]),
], ids=['positional', 'keywords', 'defaults'])
def test_clone_has_a_subclassed_model_without_a_config(make, assert_faithful):
    assert_faithful(chain(make))


# Attributes that were set after the constructor

class Mode(KeepsShape):
    """Takes an argument that the model passes to all layers in it."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._register_call_context_args('inverted')

    def call(self, inputs, inverted=False):
        return -inputs if inverted else inputs


@pytest.mark.skipif(not hasattr(layers.Layer, '_register_call_context_args'),
                    reason='This release of Keras has no such arguments')
def test_clone_passes_an_argument_of_its_call_to_its_layers():
    model = chain(lambda: WithInner(Mode()))()
    model._register_call_context_args('inverted')
    clone = clone_model(clone_model(model))
    np.testing.assert_allclose(clone(np.ones((2, 3)), inverted=True),
                               -np.ones((2, 3)))


def layer_with_a_setting():
    layer = layers.Dense(2)
    layer.supports_jit = False
    return layer


dense = chain(lambda: layers.Dense(2))


def test_clone_keeps_a_setting_that_no_config_has(assert_faithful):
    assert_faithful(chain(layer_with_a_setting))


def test_clone_is_rematerialized_as_the_original():
    with keras.RematScope(mode='full'):
        model = dense()
    assert clone_model(model).layers[-1]._remat_mode.mode == 'full'


def test_guard_clone_is_rematerialized_in_a_scope_around_it():
    model = dense()
    with keras.RematScope(mode='full'):
        clone = clone_model(model)
    assert clone.layers[-1]._remat_mode.mode == 'full'


def compiled(call):
    import tensorflow as tf
    return tf.function(call)


@pytest.mark.parametrize('wrap', [
    pytest.param(getattr(keras, 'remat', None), marks=pytest.mark.skipif(
        not hasattr(keras, 'remat'), reason='Keras has no `remat`')),
    pytest.param(compiled, marks=on_tensorflow)], ids=['rematerialized', 'compiled'])
def test_guard_clone_computes_the_same_as_a_layer_whose_call_is(wrap):
    model = dense()
    model.layers[-1].call = wrap(model.layers[-1].call)
    assert_same_outputs(model, clone_model(clone_model(model)))


class CreatesSequential(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.inner = Sequential([layers.Dense(3, name='dense')], name='inner')

    def call(self, inputs):
        return self.inner(inputs)


class AppliesToSequential(CreatesSequential):
    """Has no config."""

    def __init__(self, function, **kwargs):
        super().__init__(**kwargs)
        self.function = function

    def call(self, inputs):
        return self.function(self.inner(inputs))


class BuildsSequential(AppliesToSequential):
    def build(self, input_shape):
        self.inner.build(input_shape)
        self.factor = self.add_weight(shape=(), name='factor')

    def call(self, inputs):
        return self.factor * super().call(inputs)


def twice(make):
    return chain(lambda: make(name='a'), lambda: make(name='b'))


def loaded():
    x = layers.Input((4, 3))
    model = Model(x, layers.Bidirectional(layers.LSTM(2))(x))
    return keras.models.model_from_json(model.to_json())


def adapted():
    """Its class refers to a model that was adapted before."""
    prepare = Sequential([layers.Normalization()])
    prepare.layers[0].adapt(ONES)

    class Prepares(Model):
        def __init__(self):
            super().__init__()
            self.prepare = prepare

        def call(self, inputs):
            return self.prepare(inputs)

    model = Prepares()
    model(ONES)
    return model


class CreatesBlock(Model):
    """Has a part that creates a layer when it is built."""

    def __init__(self):
        super().__init__()
        self.block = CreatesDense()
        self.last = layers.Dense(2)

    def call(self, inputs):
        return self.last(self.block(inputs))


class CreatesDense(KeepsShape):
    def build(self, input_shape):
        self.inner = layers.Dense(3)
        self.inner.build(input_shape)

    def call(self, inputs):
        return self.inner(inputs)


def subclassed():
    model = CreatesBlock()
    model(ONES)
    return model


class WritesPart(KeepsShape):
    """Its config has the state of its part, as text."""

    def __init__(self, inner, **kwargs):
        super().__init__(**kwargs)
        self.inner = inner

    def build(self, input_shape):
        self.inner.build(input_shape)

    def call(self, inputs):
        return self.inner(inputs)

    def get_config(self):
        inner = keras.saving.serialize_keras_object(self.inner)
        return {**super().get_config(), 'text': json.dumps(inner)}

    @classmethod
    def from_config(cls, config):
        inner = json.loads(config.pop('text'))
        return cls(keras.saving.deserialize_keras_object(inner), **config)


@pytest.mark.parametrize('build', [
    twice(CreatesSequential), twice(functools.partial(AppliesToSequential, gelu)),
    twice(functools.partial(BuildsSequential, gelu)), loaded, adapted, subclassed,
    chain(lambda: WritesPart(layers.Dense(3)))
], ids=['guard a model with a Sequential', 'a layer without a config',
        'a layer that builds a Sequential', 'guard a loaded model',
        'an adapted part of a subclassed model', 'a subclassed model',
        'a layer whose config has a part that is built'])
def test_clone_has_the_paths_of_weights_of(build):
    model = build()
    clone = clone_model(clone_model(model))
    assert ([weight.path for weight in clone.weights] ==
            [weight.path for weight in model.weights])


def test_guard_scope_around_the_clone_is_in_the_paths_of_its_weights():
    model = chain(lambda: CreatesSequential(name='a'))()
    with keras.name_scope('copy'):
        clone = clone_model(model)
    assert clone.weights[0].path == 'copy/' + model.weights[0].path


class StoresInputs(KeepsShape):
    def call(self, inputs):
        self.last = inputs
        return 2. * inputs


def test_guard_clone_of_a_layer_that_stores_a_tensor_of_fit_computes_the_same():
    model = chain(lambda: layers.Dense(3), StoresInputs)()
    model.compile('sgd', 'mse')
    model.fit(ONES, ONES, verbose=0)
    assert_same_outputs(model, clone_model(model))


@on_tensorflow
def test_clone_has_a_compiled_function_that_calls_it():
    model = dense()
    model.compiled_call = compiled(lambda x: model(x))
    clone = clone_model(clone_model(model))
    clone.set_weights([0 * weight for weight in model.get_weights()])
    np.testing.assert_allclose(clone.compiled_call(ONES), np.zeros((2, 2)))


# Settings of variables

def test_clone_keeps_a_regularizer_set_on_a_variable():
    model = dense()
    model.layers[-1].kernel.regularizer = regularizers.L2(.5)
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    loss, = clone.losses
    np.testing.assert_allclose(*map(ops.convert_to_numpy, (loss, model.losses[0])),
                               rtol=1e-5)


def test_clone_keeps_a_constraint_set_on_a_variable():
    model = dense()
    model.layers[-1].kernel.constraint = keras.constraints.NonNeg()
    kernel = clone_model(model).layers[-1].kernel
    assert isinstance(kernel.constraint, keras.constraints.NonNeg)


# Dtype policies

@contextlib.contextmanager
def global_policy(name):
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(name)
    try:
        yield
    finally:
        keras.config.set_dtype_policy(before)


@pytest.mark.parametrize('make', [
    lambda: layers.Dense(3), dense_in_a_layer, lambda: Block([3]),
    lambda: StoresOtherValue(.5), lambda: layers.TimeDistributed(layers.Dense(3))],
    ids=['Dense', 'inner layer', 'subclassed model', 'no config', 'wrapper'])
def test_clone_keeps_the_policy_that_was_global_when_the_layer_was_created(make):
    with global_policy('mixed_bfloat16'):
        model = chain(make, shape=(4, 3))()
    clone = clone_model(model)
    policies, cloned = ([layer.dtype_policy.name for layer in each._flatten_layers()
                         if layer is not each] for each in (model, clone))
    assert cloned == policies
    assert 'mixed_bfloat16' in cloned
    assert clone.outputs[0].dtype == model.outputs[0].dtype
    # On PyTorch, Keras computes that of a subclassed model in another way.
    assert model.outputs[0].dtype == 'bfloat16' or IS_TORCH
    clone.set_weights(model.get_weights())
    found, expected = (ops.convert_to_numpy(ops.cast(each(np.ones((2, 4, 3))),
                                                     'float32'))
                       for each in (clone, model))
    np.testing.assert_allclose(found, expected, rtol=1e-2)


def test_clone_does_not_have_the_current_global_policy():
    model = chain(dense_in_a_layer)()
    with global_policy('mixed_bfloat16'):
        clone = clone_model(model)
    assert clone.layers[-1].inner.dtype_policy.name == 'float32'
    assert clone.outputs[0].dtype == 'float32'


@pytest.mark.parametrize('make', [
    lambda policy: layers.Dense(3, dtype=policy),
    lambda policy: layers.MultiHeadAttention(2, 2, dtype=policy)],
    ids=['Dense', 'MultiHeadAttention'])
def test_clone_keeps_a_map_of_policies(make, assert_faithful):
    def build():
        policy = keras.dtype_policies.DTypePolicyMap('float32')
        policy['.*attention_output'] = 'mixed_bfloat16'
        x = keras.Input((4, 3))
        layer = make(policy)
        is_attention = isinstance(layer, layers.MultiHeadAttention)
        return Model(x, layer(x, x) if is_attention else layer(x))
    clone = assert_faithful(build)
    policies = {each.name: each.compute_dtype for each in clone._flatten_layers()}
    assert policies.get('attention_output', 'bfloat16') == 'bfloat16'


def test_clone_has_its_own_map_of_policies_of_a_layer_without_config():
    policy = keras.dtype_policies.DTypePolicyMap('float32')
    model = chain(lambda: StoresOtherValue(.5, dtype=policy))()
    clone = clone_model(model)
    clone.layers[-1].dtype_policy = 'mixed_bfloat16'
    assert clone.layers[-1].compute_dtype == 'bfloat16'
    assert model.layers[-1].compute_dtype == 'float32'
