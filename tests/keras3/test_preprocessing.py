"""Preprocessing layers that were adapted, and other variables of TensorFlow."""
import keras
import numpy as np
import pytest
from keras import Model, Sequential, layers, ops
from keras.models import clone_model

from custom_objects import adapted
from judging import on_tensorflow
from major_versions import (
    IS_TORCH, WithInner, assert_same_outputs, chain, outputs_of)

RANDOM = np.random.RandomState(0).normal(3, 2, (20, 3)).astype('float32')


def adapted_normalization(**arguments):
    return adapted(layers.Normalization(**arguments), RANDOM)


NORMALIZATIONS = {
    'normalization': adapted_normalization,
    'of all axes': lambda: adapted_normalization(axis=None),
    'inverse': lambda: adapted_normalization(invert=True),
    'in a Sequential': lambda: Sequential([adapted_normalization(),
                                           layers.Dense(2)]),
    'in a wrapper': lambda: WithInner(adapted_normalization()),
    'guard mean and variance of the constructor': lambda: layers.Normalization(
        mean=[1., 2., 3.], variance=[4., 5., 6.]),
}


@pytest.mark.parametrize('kind', list(NORMALIZATIONS))
def test_clone_of_a_normalization_is_faithful(kind, assert_faithful):
    assert_faithful(chain(NORMALIZATIONS[kind]))


@pytest.mark.skipif(IS_TORCH, reason='Keras itself warns on PyTorch')
@pytest.mark.filterwarnings('error')
def test_guard_normalization_is_cloned_without_a_warning():
    clone_model(chain(adapted_normalization)())


def test_guard_clone_of_a_normalization_that_was_not_adapted_computes_the_same():
    model = chain(layers.Normalization)()
    assert_same_outputs(model, clone_model(model))


def test_guard_clone_of_a_normalization_can_be_adapted_again():
    model = chain(adapted_normalization)()
    expected = outputs_of(model, RANDOM)
    clone = clone_model(model)
    clone.layers[-1].adapt(2 * RANDOM)
    assert not np.allclose(outputs_of(clone, RANDOM), expected)
    np.testing.assert_allclose(outputs_of(model, RANDOM), expected, rtol=1e-5)


@on_tensorflow
def test_guard_clone_of_an_adapted_discretization_is_faithful(assert_faithful):
    assert_faithful(chain(
        lambda: adapted(layers.Discretization(num_bins=4), RANDOM)))


class CreatesLayersToAdapt(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.normalization = layers.Normalization()
        self.bins = layers.Discretization(num_bins=3)

    def adapt(self, data):
        self.normalization.adapt(data)
        self.bins.adapt(data)

    def call(self, inputs):
        return self.normalization(inputs) + ops.cast(self.bins(inputs), 'float32')


@on_tensorflow
def test_clone_computes_with_adapted_layers_in_a_custom_layer():
    model = chain(lambda: adapted(CreatesLayersToAdapt(), RANDOM))()
    assert_same_outputs(model, clone_model(model), RANDOM)


WORDS = np.array([['a', 'b', 'b'], ['c', 'b', 'a']], dtype=object)
SENTENCES = np.array(['the cat sat', 'the dog sat down', 'a bird'], object)
INTEGERS = np.array([[10, 20, 20], [30, 500, 20]])
LOOKUPS = {
    'strings': (lambda: layers.StringLookup(), 'string', WORDS),
    'multi-hot': (lambda: layers.StringLookup(output_mode='multi_hot'), 'string',
                  WORDS),
    'integers': (lambda: layers.IntegerLookup(), 'int64', INTEGERS),
    'several unknown': (lambda: layers.IntegerLookup(num_oov_indices=2), 'int64',
                        INTEGERS),
    'texts': (lambda: layers.TextVectorization(output_sequence_length=4), 'string',
              SENTENCES),
    'tf-idf': (lambda: layers.TextVectorization(output_mode='tf_idf'), 'string',
               SENTENCES),
}


def lookup_model(kind, inner=False):
    """Returns a model with an adapted layer, and the data of `adapt`."""
    make, dtype, data = LOOKUPS[kind]
    layer = adapted(make(), data)
    x = keras.Input(data.shape[1:], dtype=dtype, name='x')
    if inner:
        y = keras.Input(data.shape[1:], dtype=dtype, name='y')
        return Model(y, Model(x, layer(x))(y)), layer, data
    return Model(x, layer(x)), layer, data


def strings(value):
    import tensorflow as tf
    return tf.constant(value.tolist())


@on_tensorflow
@pytest.mark.parametrize('inner', [False, True], ids=['in the model', 'nested'])
@pytest.mark.parametrize('kind', list(LOOKUPS))
def test_clone_keeps_an_adapted_vocabulary(kind, inner):
    model, layer, data = lookup_model(kind, inner)
    clone = clone_model(clone_model(model))
    cloned = clone.layers[-1].layers[-1] if inner else clone.layers[-1]
    assert cloned is not layer
    assert cloned.get_vocabulary() == layer.get_vocabulary()
    unknown = data[:1]
    if kind != 'tf-idf' and LOOKUPS[kind][1] == 'string':
        unknown = np.full_like(unknown, 'unknown')
    for value in (data, unknown):
        assert_same_outputs(model, clone, strings(value) if value.dtype == object
                            else ops.convert_to_tensor(value))


@on_tensorflow
def test_guard_clone_keeps_a_vocabulary_of_the_constructor():
    x = keras.Input((3,), dtype='string', name='x')
    model = Model(x, layers.StringLookup(vocabulary=['a', 'b'])(x))
    clone = clone_model(model)
    assert clone.layers[-1].get_vocabulary() == ['[UNK]', 'a', 'b']
    assert_same_outputs(model, clone, strings(WORDS))


@on_tensorflow
def test_guard_clone_of_a_vocabulary_can_be_adapted_again():
    model, layer, data = lookup_model('strings')
    vocabulary = layer.get_vocabulary()
    clone = clone_model(model)
    clone.layers[-1].adapt(np.array([['x', 'y', 'z']], dtype=object))
    assert layer.get_vocabulary() == vocabulary
    assert sorted(clone.layers[-1].get_vocabulary()) == ['[UNK]', 'x', 'y', 'z']


class Centred(layers.Layer):
    """Stores a running mean in a TensorFlow variable, which is not a weight."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        import tensorflow as tf
        self.means = [tf.Variable(tf.zeros(3), trainable=False)]

    def call(self, inputs, training=False):
        if training:
            self.means[0].assign_add(ops.mean(inputs, axis=0))
        return inputs - self.means[0]


@on_tensorflow
def test_clone_has_a_copy_of_a_variable_of_tensorflow_that_has_changed():
    model = chain(Centred)()
    model(RANDOM, training=True)
    clone = clone_model(model)
    assert_same_outputs(model, clone, RANDOM)
    expected = outputs_of(model, RANDOM)
    clone(2 * RANDOM, training=True)
    np.testing.assert_allclose(outputs_of(model, RANDOM), expected, rtol=1e-5)
    assert not np.allclose(outputs_of(clone, RANDOM), expected)


@on_tensorflow
def test_clone_has_a_copy_of_a_variable_of_tensorflow_that_a_lambda_holds():
    import tensorflow as tf
    factor = tf.Variable(2.)
    model = chain(lambda: layers.Lambda(lambda x: factor * x, output_shape=(3,)))()
    clone = clone_model(model)
    expected = outputs_of(model, RANDOM)
    factor.assign(3.)
    np.testing.assert_allclose(outputs_of(clone, RANDOM), expected, rtol=1e-5)
