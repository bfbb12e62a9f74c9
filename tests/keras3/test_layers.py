"""Layers are cloned in memory, with the function objects of the original.

No object is looked up by its name, no function is marshalled, nothing has to be
registered, and shared layers stay shared.
"""
import functools

import keras
import numpy as np
import pytest
from keras import Model, Sequential, activations, initializers, layers, ops
from keras.models import clone_model

from custom_objects import (
    RELEASE, TWO, Bare, Both, Cell, Forgetful, Holder, Noise, Once, Ones, Scale,
    Strong, Thrice, WithoutConfig, gelu, relu)
from major_versions import chain

SINCE_3_15 = pytest.mark.skipif(RELEASE < (3, 15), reason='Keras refuses functions')


def keyword_default(x, *, factor=TWO):
    return factor * x


@pytest.mark.parametrize('function', [
    lambda x: TWO * x,
    lambda x: gelu(x),
    gelu,
    functools.partial(lambda x, factor: factor * x, factor=5.),
    Thrice(),
    Thrice().method,
    lambda x, mask=None: 2 * x,
    lambda x, factor=TWO: factor * x,
    lambda x, *, factor=3: factor * x,
    keyword_default,
    ops.relu,
], ids=['lambda with a global', 'lambda that calls', 'named', 'partial', 'object',
        'bound method', 'takes a mask', 'default', 'keyword-only default',
        'named, keyword-only default', 'guard of Keras'])
def test_lambda(function, assert_faithful):
    assert_faithful(chain(lambda: layers.Lambda(function)))


def test_lambda_with_a_closure(assert_faithful):
    factor = 3.
    assert_faithful(chain(lambda: layers.Lambda(lambda x: factor * x)))


def test_model_of_issue_12202(assert_faithful):
    def build():
        x = keras.Input((1,), name='x')
        return Model(x, layers.Add()(layers.Lambda(lambda x: [x, x])(x)))
    assert_faithful(build)


def test_lambda_with_two_outputs(assert_faithful):
    def build():
        x = keras.Input((4,), name='x')
        a, b = layers.Lambda(lambda x: ops.split(x, TWO, 1))(x)
        return Model(x, layers.Add()([a, b]))
    assert_faithful(build)


def test_lambda_with_output_shape_and_arguments(assert_faithful):
    def double(input_shape):
        return input_shape[0], TWO * input_shape[1]
    assert_faithful(chain(lambda: layers.Lambda(
        lambda x, times: ops.tile(x, times), output_shape=double,
        arguments={'times': (1, TWO)})))


def test_tuple_in_the_arguments_of_a_lambda():
    model = chain(lambda: layers.Lambda(
        lambda x, a: x, arguments={'a': (1, [TWO])}, output_shape=(3,)))()
    clone = clone_model(model).layers[-1]
    assert clone.arguments == {'a': (1, [TWO])}
    assert clone.arguments['a'][1] is not model.layers[-1].arguments['a'][1]
    assert clone._output_shape == (3,)


def test_mask_of_a_lambda(assert_faithful):
    def build():
        x = keras.Input((3,), name='x')
        y = layers.Reshape((3, 1))(x)
        y = layers.Lambda(lambda x: TWO * x,
                          mask=lambda x, mask: ops.any(x > 0, axis=-1))(y)
        return Model(x, layers.GRU(2)(y))
    assert_faithful(build)


@pytest.mark.parametrize('wrap', [
    lambda layer: Sequential([keras.Input((3, 3), name='x'), layer]),
    lambda layer: Sequential([layer]),
    lambda layer: chain(lambda: layer, shape=(3, 3))(),
    layers.TimeDistributed,
    lambda layer: Both(layer, layers.Dense(3)),
    lambda layer: Holder([layer]),
], ids=['Sequential', 'Sequential not built yet', 'nested model', 'TimeDistributed',
        'custom', 'raw'])
@pytest.mark.parametrize('make', [
    lambda: layers.Lambda(lambda x: TWO * x),
    lambda: layers.Dense(3, activation=gelu),
    lambda: layers.Dense(3, activation=lambda x: TWO * x),
    lambda: Scale(2., gelu),
], ids=['Lambda', 'activation', 'lambda as activation', 'custom layer'])
def test_within(wrap, make, assert_faithful):
    assert_faithful(chain(lambda: wrap(make()), shape=(3, 3)))


@pytest.mark.parametrize('activation', [
    gelu, lambda x: TWO * x, relu, Thrice(), Thrice().method,
    functools.partial(ops.leaky_relu, negative_slope=.3), ops.gelu, ops.sin,
    activations.relu, ops.relu,
], ids=['named', 'lambda', 'named as one of Keras', 'object', 'method', 'partial',
        'op named as an activation', 'op', 'guard of Keras', 'guard op'])
def test_activation(activation, assert_faithful):
    assert_faithful(chain(lambda: layers.Dense(4, activation=activation),
                          lambda: layers.Activation(activation)))


def test_guard_activation_that_is_a_layer(assert_faithful):
    def build():
        return chain(lambda: layers.Dense(4, activation=layers.ReLU(2., name='r')))()
    assert_faithful(build)
    clone = clone_model(build())
    assert isinstance(clone.layers[-1].activation, layers.ReLU)


def test_two_lambdas_in_one_layer(assert_faithful):
    assert_faithful(chain(lambda: layers.LSTM(
        2, activation=lambda x: TWO * x, recurrent_activation=lambda x: .1 * x),
        shape=(5, 3)))


def test_function_of_the_same_name_as_another_of_the_same_layer(assert_faithful):
    assert_faithful(chain(lambda: layers.LSTM(
        2, activation=relu, recurrent_activation=activations.relu), shape=(5, 3)))


@pytest.mark.parametrize('argument, function', [
    ('kernel_initializer', lambda shape, dtype=None: 2 * ops.ones(shape)),
    pytest.param('kernel_regularizer', lambda weight: TWO * ops.sum(weight),
                 marks=SINCE_3_15),
    pytest.param('kernel_constraint', lambda weight: weight / TWO, marks=SINCE_3_15),
    ('activity_regularizer', lambda x: TWO * ops.sum(x)),
], ids=['initializer', 'regularizer', 'constraint', 'activity regularizer'])
def test_function_given_to_a_layer(argument, function):
    model = chain(lambda: layers.Dense(4, **{argument: function}))()
    clone = clone_model(clone_model(model))
    assert getattr(clone.layers[-1], argument) is function


def test_custom_initializer_named_as_one_of_keras():
    model = chain(lambda: layers.Dense(4, kernel_initializer=Ones(),
                                       bias_initializer=initializers.Ones()))()
    clone = clone_model(model)
    kernel, bias = clone.get_weights()
    np.testing.assert_allclose(kernel, 2)
    np.testing.assert_allclose(bias, 1)
    assert type(clone.layers[-1].kernel_initializer) is Ones


def test_regularizer_without_a_config_in_a_wrapper():
    model = chain(lambda: layers.TimeDistributed(
        layers.Dense(2, kernel_regularizer=Strong(3.))), shape=(5, 3))()
    regularizer = clone_model(model).layers[-1].layer.kernel_regularizer
    np.testing.assert_allclose(regularizer.factor, 3.)


def test_guard_initializer_of_keras_draws_anew():
    model = chain(lambda: layers.Dense(4))()
    clone = clone_model(model)
    assert not np.allclose(model.get_weights()[0], clone.get_weights()[0])


def test_custom_cell(assert_faithful):
    assert_faithful(chain(lambda: layers.RNN(Cell(2, activation=gelu)),
                          shape=(5, 3)))


def test_stacked_cells(assert_faithful):
    assert_faithful(chain(lambda: layers.RNN([Cell(2), layers.LSTMCell(3), Cell(2)]),
                          shape=(5, 3)))


def test_bidirectional_over_a_custom_cell(assert_faithful):
    def build():
        with keras.saving.custom_object_scope({'Cell': Cell, 'gelu': gelu}):
            return chain(lambda: layers.Bidirectional(
                layers.RNN(Cell(2, activation=gelu))), shape=(5, 3))()
    assert_faithful(build)


def test_guard_bidirectional_with_a_backward_layer(assert_faithful):
    assert_faithful(chain(lambda: layers.Bidirectional(
        layers.LSTM(2), backward_layer=layers.LSTM(2, go_backwards=True)),
        shape=(5, 3)))


def test_layer_without_a_config(assert_faithful):
    def build():
        model = chain(lambda: WithoutConfig(gelu))()
        model.layers[-1].trainable = False
        return model
    assert_faithful(build)


def test_layer_whose_constructor_takes_no_name(assert_faithful):
    def build():
        model = chain(lambda: Bare(3.))()
        model.layers[-1].trainable = False
        return model
    assert_faithful(build)


def test_layer_whose_config_lacks_an_argument(assert_faithful):
    assert_faithful(chain(lambda: Forgetful(3.)))


def test_layer_that_cannot_be_created_again_is_refused():
    model = chain(lambda: Once(2., name='once'))()
    with pytest.raises(ValueError, match="'once'.*`get_config\\(\\)`"):
        clone_model(model)


def test_seed_generator_is_not_shared_with_the_original():
    model = chain(lambda: Noise(keras.random.SeedGenerator(1)))()
    clone = clone_model(model).layers[-1]
    assert clone.seed is not model.layers[-1].seed
    np.testing.assert_allclose(clone.seed.get_config()['seed'], 1)


def test_attribute_set_on_a_layer():
    model = chain(lambda: layers.Dense(2))()
    model.layers[-1].supports_masking = False
    assert clone_model(model).layers[-1].supports_masking is False


def test_attributes_of_the_original_are_unchanged():
    layer = layers.Lambda(lambda x, a: x, arguments={'a': [1]})
    model = chain(lambda: layer)()
    before = {name: (id(value), repr(value)) for name, value in vars(layer).items()}
    clone_model(model)
    assert before == {name: (id(value), repr(value))
                      for name, value in vars(layer).items()}


def test_lambda_that_holds_a_layer(assert_faithful):
    def build():
        dense = layers.Dense(2)
        return chain(lambda: layers.Lambda(lambda x: 2 * dense(x)))()
    assert_faithful(build)


def test_lambda_that_holds_a_layer_keeps_its_weights():
    dense = layers.Dense(2)
    model = chain(lambda: layers.Lambda(functools.partial(layers.Layer.__call__,
                                                          dense)))()
    held, = clone_model(model).layers[-1].function.args
    assert held is not dense
    np.testing.assert_allclose(held.get_weights()[0], dense.get_weights()[0])


def test_lambda_that_holds_a_layer_of_the_model(assert_faithful):
    def build():
        x = keras.Input((3,), name='x')
        dense = layers.Dense(3)
        return Model(x, layers.Lambda(lambda x: dense(x))(dense(x)))
    assert_faithful(build)


def test_activation_that_holds_a_layer(assert_faithful):
    def build():
        dense = layers.Dense(2)
        return chain(lambda: layers.Dense(2, activation=lambda x: dense(x)))()
    assert_faithful(build)


def test_guard_function_that_holds_nothing_of_the_model_is_not_copied():
    def double(x):
        return TWO * x
    clone = clone_model(chain(lambda: layers.Lambda(double))())
    assert clone.layers[-1].function is double


def test_lambda_that_holds_itself(assert_faithful):
    def build():
        held = []
        layer = layers.Lambda(lambda x: len(held) * x)
        held.append(layer)
        return chain(lambda: layer)()
    assert_faithful(build)


def test_guard_layer_is_created_once():
    created = []

    class Counted(layers.Dense):
        @classmethod
        def from_config(cls, config):
            created.append(config)
            return super().from_config(config)

    clone_model(chain(lambda: Counted(2, kernel_initializer='he_normal'))())
    assert len(created) == 1


def test_weights_of_a_copied_layer_are_drawn_anew():
    model = chain(lambda: layers.Dense(4, activation=lambda x: TWO * x))()
    clone = clone_model(model)
    assert not np.allclose(model.get_weights()[0], clone.get_weights()[0])
