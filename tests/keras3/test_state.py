"""State that is neither in a config nor in the weights is cloned.

Constructor arguments that are missing in the config, adapted preprocessing layers,
LoRA and quantization, `trainable` of inner layers and of variables, global dtype
policies, attributes that were set later.
"""
import json

import keras
import numpy as np
import pytest
from keras import Model, Sequential, activations, layers, ops, regularizers
from keras.models import clone_model

from custom_objects import Pausing, gelu
from major_versions import RELEASE, WithInner, chain

ONES = np.ones((2, 3), 'float32')
on_tensorflow = pytest.mark.skipif(keras.backend.backend() != 'tensorflow',
                                   reason='Keras uses TensorFlow in these layers')


def numbers(model, value=ONES):
    return ops.convert_to_numpy(model(value))


def assert_computes_the_same(model, clone, value=ONES):
    clone.set_weights(model.get_weights())
    np.testing.assert_allclose(numbers(clone, value), numbers(model, value),
                               rtol=1e-5, atol=1e-6)


# Arguments that are missing in the config


class StoresOtherValue(layers.Layer):
    """Its attribute has the name of an argument, but another value."""

    def __init__(self, rate, **kwargs):
        super().__init__(**kwargs)
        self.rate = 1 - rate

    def call(self, inputs):
        return self.rate * inputs


def test_guard_argument_stored_as_another_value(assert_faithful):
    assert_faithful(chain(lambda: StoresOtherValue(.75)))
    clone = clone_model(clone_model(chain(lambda: StoresOtherValue(.75))()))
    np.testing.assert_allclose(clone.layers[-1].rate, .25)


class AppliesInOrder(layers.Layer):
    """Takes layers as positional arguments, and has no config."""

    def __init__(self, first, *others, factor=1., **kwargs):
        super().__init__(**kwargs)
        self.first, self._others, self._factor = first, others, factor

    def call(self, inputs):
        for layer in (self.first,) + self._others:
            inputs = layer(inputs)
        return self._factor * inputs


def test_layers_passed_as_positional_arguments(assert_faithful):
    assert_faithful(chain(lambda: AppliesInOrder(
        layers.Dense(4, 'tanh'), layers.Dense(2), factor=3.)))


class TakesFunctions(layers.Layer):
    """Takes functions, and has no config."""

    def __init__(self, function, pool=ops.mean, **kwargs):
        super().__init__(**kwargs)
        self._function, self._pool = function, pool

    def call(self, inputs):
        return self._pool(self._function(inputs), axis=1)


def test_functions_stored_under_other_names(assert_faithful):
    factor = 3.
    assert_faithful(chain(lambda: TakesFunctions(lambda x: factor * x, ops.max),
                          shape=(4, 3)))


class TakesArrays(layers.Layer):
    """Takes arrays, and has no config."""

    def __init__(self, edges, **kwargs):
        super().__init__(**kwargs)
        matrix, self.offset = edges
        self.matrix = ops.convert_to_tensor(matrix)

    def build(self, input_shape):
        self.factor = self.add_weight(shape=(self.matrix.shape[-1],))

    def call(self, inputs):
        return ops.matmul(inputs, self.matrix) * self.factor + self.offset


def test_arrays_stored_in_another_form(assert_faithful):
    def build():
        matrix = np.arange(6.).reshape(3, 2).astype('float32')
        return chain(lambda: TakesArrays((matrix, np.array([1., 2.], 'float32'))))()
    assert_faithful(build)


class WithUnits(layers.Layer):
    """Has an argument, and passes its keywords to `Layer`."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.size = units

    def build(self, input_shape):
        self.kernel = self.add_weight(shape=(input_shape[-1], self.size),
                                      regularizer=regularizers.L2(.5))

    def call(self, inputs):
        return ops.matmul(inputs, self.kernel)


def test_keywords_of_a_layer_without_a_config():
    model = chain(lambda: WithUnits(
        2, activity_regularizer=regularizers.L1(.25), trainable=False,
        name='mine'))()
    clone = clone_model(model)
    layer = clone.layers[-1]
    np.testing.assert_allclose(layer.activity_regularizer.l1, .25)
    assert layer.trainable is False
    assert layer.name == 'mine'
    clone.set_weights(model.get_weights())
    model(ONES), clone(ONES)
    assert len(clone.losses) == len(model.losses)
    np.testing.assert_allclose([float(each) for each in clone.losses],
                               [float(each) for each in model.losses], rtol=1e-5)


def test_dtype_of_a_layer_without_a_config():
    model = chain(lambda: AppliesInOrder(layers.Dense(2), dtype='float64'))()
    clone = clone_model(model)
    assert clone.layers[-1].dtype_policy.name == 'float64'
    assert [w.dtype for w in clone.weights] == [w.dtype for w in model.weights]
    assert_computes_the_same(model, clone)


class ScaledDense(layers.Dense):
    """Its argument is missing in its config, which is that of its base class."""

    def __init__(self, units, scale=1., **kwargs):
        super().__init__(units, **kwargs)
        self.scale = scale

    def call(self, inputs):
        return self.scale * super().call(inputs)


def test_argument_missing_in_the_config_of_the_base_class(assert_faithful):
    assert_faithful(chain(lambda: ScaledDense(2, scale=3., activation='tanh')))


class Settings:
    factor = 3.


class Configured(layers.Layer):
    """Takes an object with settings, which is missing in its config."""

    def __init__(self, settings=None, **kwargs):
        super().__init__(**kwargs)
        self.settings = settings

    def call(self, inputs):
        return inputs * self.settings.factor if self.settings else inputs

    def get_config(self):
        return super().get_config()


def test_object_with_settings():
    model = chain(lambda: Configured(Settings()))()
    clone = clone_model(model)
    np.testing.assert_allclose(clone.layers[-1].settings.factor,
                               model.layers[-1].settings.factor)
    assert_computes_the_same(model, clone)


class Block(Model):
    """A subclassed model without a config."""

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
def test_subclassed_model_without_a_config_in_another_model(make, assert_faithful):
    assert_faithful(chain(make))
    model = chain(make)()
    clone = clone_model(model)
    assert clone.layers[-1].dense[0].units == model.layers[-1].dense[0].units
    assert_computes_the_same(model, clone)


class RandomMatrix(layers.Layer):
    """Draws a random matrix in its constructor, and computes with it."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.matrix = np.random.uniform(size=(3, 3)).astype('float32')

    def call(self, inputs):
        return ops.matmul(inputs, self.matrix)


def test_matrix_drawn_in_the_constructor(assert_faithful):
    assert_faithful(chain(RandomMatrix))
    model = chain(RandomMatrix)()
    clone = clone_model(model)
    np.testing.assert_allclose(clone.layers[-1].matrix, model.layers[-1].matrix)


# Attributes that were set after the constructor


class Gain(layers.Layer):
    """Has an attribute that is not an argument of its constructor."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.gain = 1.

    def call(self, inputs):
        return self.gain * inputs


def test_number_set_after_the_constructor(assert_faithful):
    def build():
        model = chain(Gain)()
        model.layers[-1].gain = 4.
        return model
    assert_faithful(build)
    clone = clone_model(build())
    np.testing.assert_allclose(clone.layers[-1].gain, 4)


def test_guard_settings_in_a_config(assert_faithful):
    def build():
        model = chain(lambda: layers.Dense(3, 'softmax'), layers.LeakyReLU)()
        model.layers[1].activation = activations.linear
        model.layers[2].negative_slope = .9
        return model
    assert_faithful(build)


def test_custom_function_set_after_the_constructor(assert_faithful):
    def build():
        model = chain(lambda: layers.Dense(3))()
        model.layers[1].activation = gelu
        return model
    assert_faithful(build)
    assert clone_model(build()).layers[1].activation is gelu


class Mode(layers.Layer):
    """Takes an argument that the model passes to all layers in it."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._register_call_context_args('inverted')

    def call(self, inputs, inverted=False):
        return -inputs if inverted else inputs

    def compute_output_shape(self, input_shape):
        return input_shape


@pytest.mark.skipif(not hasattr(layers.Layer, '_register_call_context_args'),
                    reason='This release of Keras has no such arguments')
def test_argument_that_a_model_passes_to_its_layers():
    model = chain(lambda: WithInner(Mode()))()
    model._register_call_context_args('inverted')
    clone = clone_model(clone_model(model))
    np.testing.assert_allclose(clone(np.ones((2, 3)), inverted=True),
                               -np.ones((2, 3)))


def test_setting_of_a_layer_that_no_config_has(assert_faithful):
    def build():
        layer = layers.Dense(2)
        layer.supports_jit = False
        return chain(lambda: layer)()
    assert_faithful(build)


def rematerialized():
    with keras.RematScope(mode='full'):
        return chain(lambda: layers.Dense(2))()


def test_rematerialization(assert_faithful):
    assert_faithful(rematerialized)


def test_guard_rematerialization_of_the_clone_alone():
    model = chain(lambda: layers.Dense(2))()
    with keras.RematScope(mode='full'):
        clone = clone_model(model)
    assert clone.layers[-1]._remat_mode.mode == 'full'


class CreatesSequential(layers.Layer):
    """Creates a model that its first call builds."""

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


def assert_same_paths(model):
    clone = clone_model(clone_model(model))
    assert ([weight.path for weight in clone.weights] ==
            [weight.path for weight in model.weights])


def test_guard_paths_of_weights_in_a_model_that_a_call_builds():
    assert_same_paths(chain(lambda: CreatesSequential(name='a'),
                            lambda: CreatesSequential(name='b'))())


@pytest.mark.parametrize('layer_class', [AppliesToSequential, BuildsSequential])
def test_paths_of_weights_in_a_copied_layer(layer_class):
    assert_same_paths(chain(lambda: layer_class(gelu, name='a'),
                            lambda: layer_class(ops.tanh, name='b'))())


def test_guard_scope_around_the_clone_is_in_the_paths_of_its_weights():
    model = chain(lambda: CreatesSequential(name='a'))()
    with keras.name_scope('copy'):
        clone = clone_model(model)
    assert clone.weights[0].path == 'copy/' + model.weights[0].path


class StoresInputs(layers.Layer):
    """Stores the tensors of its last call."""

    def call(self, inputs):
        self.last = inputs
        return 2. * inputs

    def compute_output_shape(self, input_shape):
        return input_shape


def test_guard_tensor_stored_within_fit():
    model = chain(lambda: layers.Dense(3), StoresInputs)()
    model.compile('sgd', 'mse')
    model.fit(ONES, ONES, verbose=0)
    assert_computes_the_same(model, clone_model(model))


@pytest.mark.parametrize('part', [lambda model: model, lambda model: model.layers[1],
                                  lambda model: model.layers[1].layer],
                         ids=['model', 'layer', 'inner layer'])
def test_attribute_added_to(part):
    model = chain(lambda: layers.TimeDistributed(layers.Dense(2)), shape=(4, 3))()
    part(model).class_names = ['a', {'b': 'c'}]
    clone = clone_model(model)
    assert part(clone).class_names == ['a', {'b': 'c'}]
    part(clone).class_names.append('d')
    assert part(model).class_names == ['a', {'b': 'c'}]


@on_tensorflow
def test_compiled_function_of_the_user_calls_the_clone():
    import tensorflow as tf
    model = chain(lambda: layers.Dense(2))()
    model.compiled_call = tf.function(lambda x: model(x))
    clone = clone_model(clone_model(model))
    clone.set_weights([0 * weight for weight in model.get_weights()])
    np.testing.assert_allclose(clone.compiled_call(ONES), np.zeros((2, 2)))


@on_tensorflow
def test_guard_call_that_the_user_has_compiled():
    import tensorflow as tf
    model = chain(lambda: layers.Dense(2))()
    model.layers[-1].call = tf.function(model.layers[-1].call)
    assert_computes_the_same(model, clone_model(clone_model(model)))


@pytest.mark.skipif(not hasattr(keras, 'remat'), reason='Keras has no `remat`')
def test_guard_call_with_rematerialization():
    model = chain(lambda: layers.Dense(2))()
    model.layers[-1].call = keras.remat(model.layers[-1].call)
    assert_computes_the_same(model, clone_model(clone_model(model)))


# Adapted preprocessing layers


def adapted(layer, data):
    layer.adapt(data)
    return layer


RANDOM = np.random.RandomState(0).normal(3, 2, (20, 3)).astype('float32')
NORMALIZATIONS = {
    'normalization': lambda: adapted(layers.Normalization(), RANDOM),
    'of all axes': lambda: adapted(layers.Normalization(axis=None), RANDOM),
    'inverse': lambda: adapted(layers.Normalization(invert=True), RANDOM),
    'in a Sequential': lambda: Sequential([adapted(layers.Normalization(), RANDOM),
                                           layers.Dense(2)]),
    'in a wrapper': lambda: AppliesInOrder(adapted(layers.Normalization(), RANDOM)),
}


@pytest.mark.parametrize('kind', list(NORMALIZATIONS))
def test_adapted_normalization(kind, assert_faithful):
    assert_faithful(chain(NORMALIZATIONS[kind]))
    model = chain(NORMALIZATIONS[kind])()
    clone = clone_model(clone_model(model))
    assert_computes_the_same(model, clone)


def test_guard_normalization_with_mean_and_variance_as_arguments(assert_faithful):
    assert_faithful(chain(lambda: layers.Normalization(
        mean=[1., 2., 3.], variance=[4., 5., 6.])))


def test_guard_normalization_that_was_not_adapted():
    model = chain(layers.Normalization)()
    assert_computes_the_same(model, clone_model(model))


def test_guard_normalization_of_the_clone_can_be_adapted_again():
    model = chain(lambda: adapted(layers.Normalization(), RANDOM))()
    expected = numbers(model)
    clone = clone_model(model)
    clone.layers[-1].adapt(2 * RANDOM)
    assert not np.allclose(numbers(clone), expected)
    np.testing.assert_allclose(numbers(model), expected, rtol=1e-5)


@on_tensorflow
def test_guard_adapted_discretization():
    model = chain(lambda: adapted(layers.Discretization(num_bins=4), RANDOM))()
    clone = clone_model(clone_model(model))
    np.testing.assert_array_equal(numbers(clone, RANDOM), numbers(model, RANDOM))


class CreatesLayersToAdapt(layers.Layer):
    """Creates layers that are adapted later."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.normalization = layers.Normalization()
        self.bins = layers.Discretization(num_bins=3)

    def call(self, inputs):
        return self.normalization(inputs) + ops.cast(self.bins(inputs), 'float32')


@on_tensorflow
def test_adapted_layers_in_a_custom_layer():
    layer = CreatesLayersToAdapt()
    layer.normalization.adapt(RANDOM)
    layer.bins.adapt(RANDOM)
    model = chain(lambda: layer)()
    clone = clone_model(model)
    assert_computes_the_same(model, clone, RANDOM)


WORDS = np.array([['a', 'b', 'b'], ['c', 'b', 'a']], dtype=object)
SENTENCES = np.array(['the cat sat', 'the dog sat down', 'a bird'], dtype=object)
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


@on_tensorflow
@pytest.mark.parametrize('inner', [False, True], ids=['in the model', 'nested'])
@pytest.mark.parametrize('kind', list(LOOKUPS))
def test_adapted_vocabulary(kind, inner):
    model, layer, data = lookup_model(kind, inner)
    clone = clone_model(clone_model(model))
    clone.set_weights(model.get_weights())
    cloned = clone.layers[-1].layers[-1] if inner else clone.layers[-1]
    assert cloned is not layer
    assert cloned.get_vocabulary() == layer.get_vocabulary()
    if kind == 'tf-idf' or dtype_of(kind) != 'string':
        unknown = data[:1]
    else:
        unknown = np.full_like(data[:1], 'unknown')
    for value in (data, unknown):
        value = ops.convert_to_tensor(value) if value.dtype != object else (
            strings(value))
        np.testing.assert_allclose(numbers(clone, value), numbers(model, value),
                                   rtol=1e-5)


def dtype_of(kind):
    return LOOKUPS[kind][1]


def strings(value):
    import tensorflow as tf
    return tf.constant(value.tolist())


@on_tensorflow
def test_guard_vocabulary_passed_to_the_constructor():
    x = keras.Input((3,), dtype='string', name='x')
    model = Model(x, layers.StringLookup(vocabulary=['a', 'b'])(x))
    clone = clone_model(model)
    assert clone.layers[-1].get_vocabulary() == ['[UNK]', 'a', 'b']
    np.testing.assert_array_equal(numbers(clone, strings(WORDS)),
                                  numbers(model, strings(WORDS)))


@on_tensorflow
def test_guard_vocabulary_of_the_clone_can_be_adapted_again():
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
def test_variable_of_tensorflow_that_has_changed():
    model = chain(Centred)()
    model(RANDOM, training=True)
    clone = clone_model(model)
    assert_computes_the_same(model, clone, RANDOM)
    expected = numbers(model, RANDOM)
    clone(2 * RANDOM, training=True)
    np.testing.assert_allclose(numbers(model, RANDOM), expected, rtol=1e-5)
    assert not np.allclose(numbers(clone, RANDOM), expected)


@on_tensorflow
def test_lambda_that_holds_a_variable_of_tensorflow():
    import tensorflow as tf
    factor = tf.Variable(2.)
    model = chain(lambda: layers.Lambda(lambda x: factor * x, output_shape=(3,)))()
    clone = clone_model(model)
    expected = numbers(model, RANDOM)
    factor.assign(3.)
    np.testing.assert_allclose(numbers(clone, RANDOM), expected, rtol=1e-5)


# LoRA and quantization


class Inner(layers.Layer):
    """Contains a `Dense` layer."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = layers.Dense(4)

    def build(self, input_shape):
        self.dense.build(input_shape)

    def call(self, inputs):
        return self.dense(inputs)


class KnowsOutputShape(layers.Layer):
    """Defines its output shape, so that building a model does not call its layer."""

    def __init__(self, inner, **kwargs):
        super().__init__(**kwargs)
        self.inner = inner

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], 4)

    def call(self, inputs):
        return self.inner(inputs)


def after_call(layer):
    layer(RANDOM)
    return layer


@pytest.mark.parametrize('make, part', [
    pytest.param(lambda: layers.Dense(4), lambda layer: layer, id='guard layer'),
    pytest.param(Inner, lambda layer: layer.dense, id='inner layer'),
    pytest.param(lambda: after_call(KnowsOutputShape(layers.Dense(4))),
                 lambda layer: layer.inner, id='inner layer that is not called'),
    pytest.param(lambda: layers.TimeDistributed(layers.Dense(4)),
                 lambda layer: layer.layer, id='guard wrapper'),
    pytest.param(chain(lambda: layers.Dense(4)), lambda layer: layer.layers[-1],
                 id='guard nested model'),
])
def test_lora_of_a(make, part):
    shape = (5, 3) if isinstance(make(), layers.TimeDistributed) else (3,)
    model = chain(make, shape=shape)()
    part(model.layers[-1]).enable_lora(2)
    clone = clone_model(clone_model(model))
    cloned = part(clone.layers[-1])
    assert cloned.lora_enabled
    assert cloned.lora_rank == 2
    assert len(clone.trainable_weights) == len(model.trainable_weights)
    assert [w.shape for w in clone.weights] == [w.shape for w in model.weights]
    model.set_weights([w + .5 for w in model.get_weights()])
    assert_computes_the_same(model, clone, np.ones((2,) + shape, 'float32'))


def test_lora_of_attention():
    x = keras.Input((4, 6), name='x')
    attention = layers.MultiHeadAttention(2, 3)
    model = Model(x, attention(x, x))
    attention.query_dense.enable_lora(2)
    clone = clone_model(model)
    assert clone.layers[-1].query_dense.lora_enabled
    assert not clone.layers[-1].key_dense.lora_enabled
    assert [w.shape for w in clone.weights] == [w.shape for w in model.weights]
    model.set_weights([w + .5 for w in model.get_weights()])
    assert_computes_the_same(model, clone, np.ones((2, 4, 6), 'float32'))


@pytest.mark.skipif(RELEASE < (3, 10), reason='Keras 3.9 has no lora_alpha')
def test_lora_alpha():
    dense = layers.Dense(4)
    model = chain(lambda: dense)()
    dense.enable_lora(2, lora_alpha=6)
    clone = clone_model(clone_model(model))
    np.testing.assert_allclose(clone.layers[-1].lora_alpha, 6)
    model.set_weights([w + .5 for w in model.get_weights()])
    assert_computes_the_same(model, clone)


QUANTIZED = {
    'layer': lambda: layers.Dense(4),
    'inner layer': Inner,
    'einsum': lambda: layers.EinsumDense('ab,bc->ac', output_shape=4,
                                         bias_axes='c'),
    'nested model': chain(lambda: layers.Dense(4)),
}


@pytest.mark.parametrize('mode, kind', [
    pytest.param(mode, kind, id=('guard ' if mode == 'int8' and
                                 kind != 'inner layer' else '') + mode + ' ' + kind)
    for mode in ('int8', 'float8') for kind in QUANTIZED])
def test_quantized(mode, kind):
    model = chain(QUANTIZED[kind])()
    model.quantize(mode)
    clone = clone_model(model)
    assert [w.path.split('/')[-1] for w in clone.weights] == [
        w.path.split('/')[-1] for w in model.weights]
    assert [w.dtype for w in clone.weights] == [w.dtype for w in model.weights]
    assert_computes_the_same(model, clone)
    assert_computes_the_same(model, clone_model(clone))


def test_guard_quantized_with_lora():
    dense = layers.Dense(4)
    model = chain(lambda: dense)()
    dense.enable_lora(2)
    model.quantize('int8')
    clone = clone_model(model)
    assert [w.shape for w in clone.weights] == [w.shape for w in model.weights]
    assert_computes_the_same(model, clone)


# `trainable` of inner layers and of variables


class Pair(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.pair = (layers.Dense(3), layers.Dense(3))

    def call(self, inputs):
        return self.pair[0](inputs) - self.pair[1](inputs)


FROZEN = {
    'bidirectional': (lambda: layers.Bidirectional(layers.LSTM(2)),
                      lambda layer: layer.forward_layer),
    'cell': (lambda: layers.GRU(2), lambda layer: layer.cell),
    'one of several cells': (
        lambda: layers.RNN([layers.LSTMCell(2), layers.SimpleRNNCell(2)]),
        lambda layer: layer.cell.cells[0]),
    'attention': (lambda: SelfAttention(), lambda layer: layer.inner.key_dense),
    'layer of the user': (lambda: Inner(), lambda layer: layer.dense),
    'tuple': (Pair, lambda layer: layer.pair[1]),
}


class SelfAttention(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.inner = layers.MultiHeadAttention(2, 2)

    def call(self, inputs):
        return self.inner(inputs, inputs)


@pytest.mark.parametrize('when', ['before', 'after'])
@pytest.mark.parametrize('kind', [
    pytest.param(kind, id='guard ' + kind if kind in (
        'bidirectional', 'one of several cells') else kind) for kind in FROZEN])
def test_frozen_inner_layer(kind, when, assert_faithful):
    make, part = FROZEN[kind]

    def build():
        layer = make()
        if when == 'before' and kind != 'attention':  # Which creates it in `build`.
            part(layer).trainable = False
        model = chain(lambda: layer, shape=(4, 3))()
        part(layer).trainable = False
        return model
    assert_faithful(build)
    model = build()
    clone = clone_model(clone_model(model))
    assert part(clone.layers[-1]).trainable is False
    for what in ('trainable_weights', 'non_trainable_weights'):
        assert [(w.path.split('/')[-1], w.shape) for w in getattr(clone, what)] == [
            (w.path.split('/')[-1], w.shape) for w in getattr(model, what)]


def test_guard_flag_of_a_layer_in_a_wrapper():
    model = chain(lambda: layers.TimeDistributed(layers.Dense(2)), shape=(4, 3))()
    model.layers[-1].layer.trainable = False
    clone = clone_model(model)
    assert clone.layers[-1].trainable is True
    assert clone.layers[-1].layer.trainable is False
    assert not clone.trainable_weights


@pytest.mark.parametrize('kind', ['layer', 'inner layer', 'nested model'])
def test_frozen_variable(kind):
    parts = {'layer': lambda layer: layer, 'inner layer': lambda layer: layer.dense,
             'nested model': lambda layer: layer.layers[-1]}
    model = chain(QUANTIZED[kind])()
    parts[kind](model.layers[-1]).bias.trainable = False
    clone = clone_model(model)
    cloned = parts[kind](clone.layers[-1])
    assert cloned.bias.trainable is False
    assert cloned.kernel.trainable is True
    assert len(clone.trainable_variables) == 1


def test_regularizer_set_on_a_variable():
    model = chain(lambda: layers.Dense(2))()
    model.layers[-1].kernel.regularizer = regularizers.L2(.5)
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    loss, = clone.losses
    np.testing.assert_allclose(loss, model.losses[0], rtol=1e-5)


def test_constraint_set_on_a_variable():
    model = chain(lambda: layers.Dense(2))()
    model.layers[-1].kernel.constraint = keras.constraints.NonNeg()
    kernel = clone_model(model).layers[-1].kernel
    assert isinstance(kernel.constraint, keras.constraints.NonNeg)


def test_clone_is_trained_like_the_original():
    model = chain(lambda: adapted(layers.Normalization(), RANDOM), Inner,
                  lambda: StoresOtherValue(.5), lambda: layers.Dense(1))()
    model.layers[2].dense.bias.trainable = False
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    for each in (model, clone):
        each.compile('sgd', 'mse')
        each.train_on_batch(RANDOM, np.ones((20, 1), 'float32'))
    for original, cloned in zip(model.get_weights(), clone.get_weights()):
        np.testing.assert_allclose(cloned, original, rtol=1e-4, atol=1e-6)


# Dtype policies


@pytest.mark.parametrize('make', [
    lambda: layers.Dense(3), Inner, lambda: Block([3]), lambda: StoresOtherValue(.5),
    lambda: layers.TimeDistributed(layers.Dense(3))],
    ids=['Dense', 'inner layer', 'subclassed model', 'no config', 'wrapper'])
def test_policy_that_was_global_when_the_layer_was_created(make):
    before = keras.config.dtype_policy()
    shape = (4, 3)
    keras.config.set_dtype_policy('mixed_bfloat16')
    try:
        model = chain(make, shape=shape)()
    finally:
        keras.config.set_dtype_policy(before)
    clone = clone_model(model)
    policies, cloned = ([layer.dtype_policy.name for layer in each._flatten_layers()
                         if layer is not each] for each in (model, clone))
    assert cloned == policies
    assert 'mixed_bfloat16' in cloned
    assert clone.outputs[0].dtype == model.outputs[0].dtype == 'bfloat16'
    value = np.ones((2,) + shape, 'float32')
    clone.set_weights(model.get_weights())
    np.testing.assert_allclose(
        ops.convert_to_numpy(ops.cast(clone(value), 'float32')),
        ops.convert_to_numpy(ops.cast(model(value), 'float32')), rtol=1e-2)


def test_policy_of_the_clone_is_not_the_current_global_one():
    model = chain(Inner)()
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy('mixed_bfloat16')
    try:
        clone = clone_model(model)
    finally:
        keras.config.set_dtype_policy(before)
    assert clone.layers[-1].dense.dtype_policy.name == 'float32'
    assert clone.outputs[0].dtype == 'float32'


@pytest.mark.parametrize('make', [
    lambda policy: layers.Dense(3, dtype=policy),
    lambda policy: layers.MultiHeadAttention(2, 2, dtype=policy)],
    ids=['Dense', 'MultiHeadAttention'])
def test_guard_map_of_policies(make, assert_faithful):
    def build():
        policy = keras.dtype_policies.DTypePolicyMap('float32')
        policy['.*attention_output'] = 'mixed_bfloat16'
        x = keras.Input((4, 3))
        layer = make(policy)
        is_attention = isinstance(layer, layers.MultiHeadAttention)
        return Model(x, layer(x, x) if is_attention else layer(x))
    assert_faithful(build)
    clone = clone_model(build())
    policies = {each.name: each.compute_dtype for each in clone._flatten_layers()}
    assert policies.get('attention_output', 'bfloat16') == 'bfloat16'


def test_map_of_policies_of_a_layer_without_config():
    policy = keras.dtype_policies.DTypePolicyMap('float32')
    model = chain(lambda: StoresOtherValue(.5, dtype=policy))()
    clone = clone_model(model)
    clone.layers[-1].dtype_policy = 'mixed_bfloat16'
    assert clone.layers[-1].compute_dtype == 'bfloat16'
    assert model.layers[-1].compute_dtype == 'float32'


# Failed clones leave nothing behind, and other threads are not affected


class RaisesInNew(layers.Layer):
    """Raises an exception when it is created, if `error` is set."""

    error = None

    def __new__(cls, *args, **kwargs):
        if RaisesInNew.error is not None:
            raise RaisesInNew.error
        return super().__new__(cls, *args, **kwargs)

    def call(self, inputs):
        return inputs


def scopes():
    from keras.src.backend.common import global_state
    return [global_state.get_global_attribute(name) for name in (
        'custom_objects_scope_dict', 'safe_mode_saving', 'name_scope_stack')] + [
        dict(keras.saving.get_custom_objects())]


@pytest.mark.parametrize('error', [
    pytest.param(KeyboardInterrupt, id='KeyboardInterrupt'),
    pytest.param(ValueError, id='ValueError')])
@pytest.mark.parametrize('make', [
    pytest.param(lambda: layers.Dense(3), id='guard'),
    pytest.param(lambda: StoresOtherValue(.5), id='guard no config'),
    lambda: layers.Dense(3, gelu),
    lambda: layers.Lambda(lambda x: 2 * x),
    lambda: adapted(layers.Normalization(), RANDOM),
], ids=[None, None, 'function', 'Lambda', 'adapted'])
def test_interrupted_clone_leaves_nothing_behind(make, error, monkeypatch):
    from keras_clone.check.independence import Belongings, changes
    model = chain(make, RaisesInNew)()
    belongings = Belongings.of(model)
    before, open_before = belongings.snapshot(), scopes()
    monkeypatch.setattr(RaisesInNew, 'error', error())
    # Keras converts an exception in a constructor to a `TypeError`.
    with pytest.raises((error, TypeError)):
        clone_model(model)
    monkeypatch.undo()
    assert not changes(before, belongings.snapshot())
    assert scopes() == open_before
    assert_computes_the_same(model, clone_model(model))


@pytest.mark.parametrize('make', [
    lambda: layers.TimeDistributed(layers.Dense(3, relu)),
    lambda: layers.TimeDistributed(layers.Lambda(lambda x: 2 * x)),
    pytest.param(lambda: layers.Dense(3), id='guard'),
], ids=['function', 'Lambda', None])
def test_another_thread_loads_and_clones_during_cloning(make, monkeypatch):
    model, seen = chain(make, Pausing, shape=(4, 3))(), []
    other = chain(lambda: layers.Dense(2, 'relu'))()
    text = other.to_json()

    def observe():
        monkeypatch.setattr(Pausing, 'observe', None)
        read = keras.models.model_from_json(text)
        seen.extend([read.layers[-1].activation,
                     clone_model(other).layers[-1].activation])
        json.dumps(read.get_config())
    monkeypatch.setattr(Pausing, 'observe', staticmethod(observe))
    clone = clone_model(model)
    assert seen and set(seen) == {activations.relu}
    assert_computes_the_same(model, clone, np.ones((2, 4, 3), 'float32'))


def relu(x):
    """Has the name of a Keras activation, but computes something else."""
    return -ops.relu(-x)


# Code in a config


class CodeInConfig(layers.Layer):
    """Its config contains code, in a form that `make_code` determines."""

    make_code = None
    ran = []

    def __init__(self, held=None, **kwargs):
        super().__init__(**kwargs)
        self.held = held

    def call(self, inputs):
        return inputs

    def get_config(self):
        return {**super().get_config(), 'held': self.make_code()}

    @classmethod
    def from_config(cls, config):
        config['held'] = keras.saving.deserialize_keras_object(config['held'])
        if callable(config['held']):
            config['held'](0.)
        return cls(**config)


def code_of_a_function():
    function = layers.Lambda(
        lambda x: CodeInConfig.ran.append(x) or x).get_config()['function']
    return {'class_name': '__lambda__', 'config': {'value': function['config']}}


def code_of_a_layer():
    layer = layers.Lambda(lambda x: CodeInConfig.ran.append(x) or x)
    return {'module': 'keras.layers', 'class_name': 'Lambda',
            'registered_name': None, 'config': layer.get_config()}


@pytest.mark.parametrize('make_code', [
    code_of_a_function,
    pytest.param(code_of_a_layer, marks=pytest.mark.skipif(
        not ((3, 12, 3) <= RELEASE < (3, 13) or RELEASE >= (3, 15)),
        reason='`Lambda.from_config` does not refuse code'))],
    ids=['guard function', 'guard layer'])
def test_code_in_a_config_never_runs(make_code, monkeypatch):
    monkeypatch.setattr(CodeInConfig, 'make_code', staticmethod(make_code))
    monkeypatch.setattr(CodeInConfig, 'ran', [])
    model = chain(lambda: StoresOtherValue(.5), CodeInConfig)()
    try:
        clone_model(model)
    except (TypeError, ValueError):
        pass
    assert not CodeInConfig.ran


@pytest.mark.parametrize('own', [lambda x: 2 * x, gelu], ids=['lambda', 'named'])
def test_guard_code_in_a_config_never_runs_next_to_functions(own, monkeypatch):
    monkeypatch.setattr(CodeInConfig, 'make_code', staticmethod(code_of_a_function))
    monkeypatch.setattr(CodeInConfig, 'ran', [])
    layer = CodeInConfig()
    layer.held = own
    try:
        clone = clone_model(chain(lambda: layers.Lambda(own), lambda: layer)())
    except ValueError:
        pass
    else:
        assert clone.layers[-1].held is own
    assert not CodeInConfig.ran
