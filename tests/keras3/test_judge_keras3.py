"""What the judge finds on Keras 3 alone."""
import random

import keras
import numpy as np
import pytest
from keras import Model, layers, ops
from keras.models import clone_model
from keras_clone.check import check_clone, gallery
from keras_clone.check.graphs import graphs

from custom_objects import Times, adapted
from judging import found, judged
from major_versions import IS_TORCH, RELEASE, chain


def created_again(layer):
    """Clones a layer by its config."""
    return type(layer).from_config(layer.get_config())


# Layers

def test_mask_that_the_original_does_not_return_is_found():
    class HidesMask(Times):
        hides = True

        def compute_mask(self, inputs, previous_mask):
            return None if self.hides else previous_mask

    def clone_function(layer):
        clone = created_again(layer)
        clone.hides = False
        return clone
    report = check_clone(chain(layers.Masking, HidesMask, shape=(4, 3)),
                         lambda model: clone_model(
                             model, clone_function=clone_function))
    assert (report.outcome, report.layer) == ('wrong numbers', 'hides_mask')


def test_outputs_that_cannot_be_computed_are_found():
    class Broken(layers.Layer):
        def compute_output_spec(self, inputs):
            return keras.KerasTensor(inputs.shape, inputs.dtype)

        def call(self, inputs):
            raise TypeError('no')
    report = check_clone(chain(lambda: layers.Dense(3)), lambda model: clone_model(
        model, clone_function=lambda layer: Broken(name=layer.name)))
    assert report.outcome == 'cannot predict'


@pytest.mark.skipif(IS_TORCH, reason='on PyTorch, `set_weights` updates it')
def test_clone_that_set_weights_does_not_update_is_found():
    """Loading the weights from a file would update it."""
    report = check_clone(
        chain(lambda: adapted(layers.Normalization(), [[1., 2., 3.], [3., 4., 7.]])),
        lambda model: clone_model(model, clone_function=created_again),
        depth=1, saving=False)
    assert report.outcome in ('wrong numbers', 'cannot predict')


def test_variable_of_the_original_in_a_function_is_found():
    def with_its_own(layer):
        if isinstance(layer, layers.Lambda):
            return layers.Lambda(layer.function, name=layer.name)
        return created_again(layer)
    report = check_clone(
        gallery.lambda_that_holds_a_layer,
        lambda model: clone_model(model, clone_function=with_its_own))
    assert report.outcome == 'not independent'
    assert 'layer dense' in report.reason


def test_clone_has_a_mask_that_the_engine_made_a_call_argument(assert_faithful):
    def build():
        x = keras.Input((4,))
        y = layers.Dense(3)(layers.Embedding(5, 3, mask_zero=True)(x))
        return Model(x, [y, layers.GRU(3)(y)])
    assert_faithful(build)


def test_clone_has_the_masks_of_a_model_that_begins_at_a_hidden_tensor(
        assert_faithful):
    def build():
        x = keras.Input((4, 3))
        hidden = layers.Dense(3)(x)
        masked = layers.Dense(3)(layers.Masking()(hidden))
        part = Model(hidden, layers.GRU(3)(masked))
        return Model(x, part(x))
    assert_faithful(build)


class TwoSequentials(layers.Layer):
    """Calls models that are built in that call, if they are not yet."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.both = [keras.Sequential([layers.Dropout(.1, name=name + '_dropout'),
                                       layers.Dense(3, name=name + '_dense')],
                                      name=name) for name in 'ab']

    def build(self, input_shape):
        self.built = True

    def call(self, inputs):
        return self.both[1](self.both[0](inputs))


def two_sequentials(are_built=False):
    layer = TwoSequentials(name='two')
    for each in layer.both if are_built else ():
        each.build((None, 3))
    return chain(lambda: layer)()


def arguments_in(model):
    """The arguments of the call of the last layer in a model of `TwoSequentials`."""
    layer = model.get_layer('two').both[1].layers[-1]
    return layer._inbound_nodes[0].arguments.kwargs


@pytest.mark.skipif(IS_TORCH, reason='on PyTorch, Keras builds it with other shapes')
@pytest.mark.skipif(RELEASE >= (3, 16), reason='the arguments are the same there')
def test_guard_arguments_of_calls_that_a_sequential_makes():
    def clone(model):
        with graphs.fresh_state(12345):
            made = two_sequentials(are_built=True)
        assert arguments_in(made) != arguments_in(model)
        return made
    report = check_clone(two_sequentials, clone, saving=False, depth=1)
    # Only the paths tell that the layers were built earlier.
    assert {each.what.rstrip('01') for each in report.differences} == {
        'path of weight '}


# What layers in other layers have lost

recurrent = chain(lambda: layers.Bidirectional(layers.GRU(2, name='gru'),
                                               name='both'), shape=(4, 3))


class Around(layers.Layer):
    """Calls another layer, which no config has."""

    def build(self, input_shape):
        self.inner = layers.Dense(3, dtype='mixed_float16', name='inner')
        self.inner.build(input_shape)

    def call(self, inputs):
        return self.inner(inputs)


around = chain(lambda: Around(name='around'))


@pytest.mark.parametrize('change, what', [
    (lambda layer, _: setattr(layer.inner, 'trainable', False), 'trainable'),
    (lambda layer, _: setattr(layer.inner.kernel, 'trainable', False),
     'weight 0, its flag trainable'),
    (lambda layer, _: setattr(layer.inner, 'dtype_policy',
                              keras.DTypePolicy('float32')), 'compute_dtype'),
    (lambda layer, _: setattr(layer.inner, 'supports_masking', False),
     'supports_masking'),
    (lambda layer, _: setattr(layer.inner, 'units', 7), 'configuration: units'),
    (lambda layer, _: layer.inner._trainable_variables.reverse(), 'weight 0'),
], ids=['flag', 'flag of a weight', 'policy', 'mask', 'setting',
        'order of weights'])
def test_what_an_inner_layer_has_lost_is_found(change, what):
    assert ('around/inner', what) in found(judged(around, change))


def test_flag_of_a_cell_is_found():
    report = judged(recurrent, lambda layer, _: setattr(
        layer.forward_layer.cell, 'trainable', False))
    assert ('both/forward_gru/gru_cell', 'trainable') in found(report)


def test_inner_layer_that_is_no_longer_quantized_is_found():
    def build():
        model = around()
        inner = model.layers[-1].inner
        inner.dtype_policy = keras.DTypePolicy('float32')
        inner.quantize('int8')
        return model

    def lose(layer, _):
        layer.inner._dtype_policy = keras.DTypePolicy('float32')
    assert ('around/inner', 'quantization_mode') in found(judged(build, lose))


# Random numbers

def test_fresh_state_restores_the_state_outside():
    name = layers.Dense(2).name
    states = random.getstate(), np.random.get_state()[1].tolist()
    with graphs.fresh_state(3):
        assert layers.Dense(2).name == 'dense'
        random.random(), np.random.rand()
    assert states == (random.getstate(), np.random.get_state()[1].tolist())
    assert layers.Dense(2).name not in ('dense', name)


class Noisy(layers.Layer):
    def call(self, inputs):
        return inputs + ops.convert_to_tensor(np.random.rand(3).astype('float32')), \
            1. * inputs


def test_random_outputs_are_reported_as_not_compared():
    report = check_clone(chain(lambda: Noisy(name='noisy')), clone_model)
    assert report.faithful
    assert report.not_compared[:1] == ['output 0 of noisy (random)']
    assert 'outputs in training (random)' in report.not_compared
    assert 'output 1 of noisy (random)' not in report.not_compared


def test_outputs_beside_random_ones_are_compared():
    report = judged(chain(lambda: Noisy(name='noisy')), lambda layer, _: setattr(
        layer, 'call', lambda x: (x, 2 * x)))
    assert report.outcome == 'wrong numbers'


def test_random_numbers_of_generators_are_compared():
    build = chain(lambda: layers.Lambda(lambda x: 1. * x),
                  lambda: layers.Dropout(.5, name='dropout'))

    def training():
        x = keras.Input((3,), name='x')
        return Model(x, layers.Dropout(.5, name='dropout')(x, training=True))
    assert check_clone(training, clone_model).not_compared == []
    report = judged(training, lambda layer, _: setattr(layer, 'rate', .9))
    assert report.outcome == 'wrong numbers'
    assert check_clone(build, clone_model).not_compared == []


def test_numbers_of_no_generator_are_not_variables_of_the_original(assert_faithful):
    assert_faithful(chain(lambda: layers.Lambda(
        lambda x: x + keras.random.normal((3,)), output_shape=(3,))))


# Losses, training and settings of compiled models

two_dense = chain(lambda: layers.Dense(3), lambda: layers.Dense(3))


def compiled(**arguments):
    def build():
        model = two_dense()
        model.compile(**{'optimizer': 'adam', 'loss': 'mse', **arguments})
        return model
    return build


@pytest.mark.parametrize('arguments, others', [
    ({'loss': keras.losses.Huber(delta=.5)}, {'loss': keras.losses.Huber()}),
    ({'loss': 'mse'}, {'loss': 'mae'}),
    ({'loss': ['mse'], 'loss_weights': [2.]}, {'loss': ['mse']}),
    ({'loss': lambda y, z: ops.mean(y - z)}, {'loss': lambda y, z: ops.mean(z - y)}),
    ({'optimizer': keras.optimizers.Adam(.1)},
     {'optimizer': keras.optimizers.Adam(.2)}),
    ({'optimizer': 'sgd'}, {'optimizer': 'adam'}),
    ({'metrics': ['mse']}, {'metrics': ['mae']}),
    ({'metrics': [keras.metrics.MeanIoU(3)]},
     {'metrics': [keras.metrics.MeanIoU(4)]}),
    ({'run_eagerly': True}, {}),
], ids=['Huber', 'loss', 'loss weights', 'function', 'learning rate', 'optimizer',
        'metric', 'setting of a metric', 'eager'])
def test_other_settings_of_a_compiled_model_are_found(arguments, others):
    def clone(model):
        made = clone_model(model)
        made.compile(**{'optimizer': 'adam', 'loss': 'mse', **others})
        return made
    report = check_clone(compiled(**arguments), clone, depth=1, saving=False)
    assert not report.faithful
    assert {each.layer for each in report.differences} == {''}


@pytest.mark.parametrize('arguments', [
    {'loss': keras.losses.Huber(delta=.5), 'metrics': ['mse', keras.metrics.Mean()]},
    {'optimizer': keras.optimizers.SGD(
        keras.optimizers.schedules.ExponentialDecay(.1, 3, .5), momentum=.5)},
    {'loss': 'sparse_categorical_crossentropy', 'metrics': ['accuracy']},
], ids=['objects', 'guard schedule', 'guard classes'])
def test_settings_of_a_compiled_model_agree(arguments, assert_faithful):
    assert_faithful(compiled(**arguments))


@pytest.mark.parametrize('build', [
    chain(lambda: layers.Dropout(.5)),
    chain(lambda: layers.GaussianNoise(1.), lambda: layers.Dense(2)),
    chain(layers.BatchNormalization, lambda: layers.Dense(2)),
    chain(lambda: layers.LSTM(2, dropout=.5), shape=(4, 3)),
    chain(lambda: layers.Dense(2, dtype='mixed_float16')),
    chain(lambda: layers.Embedding(3, 2), shape=(4,)),
    chain(lambda: layers.Dense(2, kernel_constraint='max_norm')),
], ids=['Dropout', 'noise', 'BatchNormalization', 'LSTM', 'float16', 'Embedding',
        'constraint'])
def test_guard_training_agrees(build):
    report = check_clone(build, clone_model)
    assert list(map(str, report.differences)) == []
    assert report.not_compared == []
