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
    TWO, Both, Holder, Scale, Thrice, gelu, relu)
from major_versions import RELEASE, chain

SINCE_3_15 = pytest.mark.skipif(RELEASE < (3, 15), reason='Keras refuses functions')


class WithoutConfig(layers.Layer):
    """Takes a function as an argument, and has no config."""

    def __init__(self, function, **kwargs):
        super().__init__(**kwargs)
        self.function = function

    def call(self, inputs):
        return self.function(inputs)


class Cell(layers.SimpleRNNCell):
    pass


class Ones(initializers.Initializer):
    """Has the name of a Keras initializer, but returns twos."""

    def __call__(self, shape, dtype=None):
        return 2 * ops.ones(shape, dtype)

    def get_config(self):
        return {}


class Strong(keras.regularizers.Regularizer):
    """A regularizer without a config."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return self.factor * ops.sum(x)


class Noise(layers.Layer):
    """Its config contains a seed generator, which has a state."""

    def __init__(self, seed, **kwargs):
        super().__init__(**kwargs)
        self.seed = seed

    def call(self, inputs):
        return inputs + keras.random.normal(ops.shape(inputs), seed=self.seed)

    def get_config(self):
        return {**super().get_config(), 'seed': self.seed}


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


def test_seed_generator_is_not_shared_with_the_original():
    model = chain(lambda: Noise(keras.random.SeedGenerator(1)))()
    clone = clone_model(model).layers[-1]
    assert clone.seed is not model.layers[-1].seed
    np.testing.assert_allclose(clone.seed.get_config()['seed'], 1)


def test_attribute_set_on_a_layer():
    model = chain(lambda: layers.Dense(2))()
    model.layers[-1].supports_masking = False
    assert clone_model(model).layers[-1].supports_masking is False


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


def test_weights_of_a_copied_layer_are_drawn_anew():
    model = chain(lambda: layers.Dense(4, activation=lambda x: TWO * x))()
    clone = clone_model(model)
    assert not np.allclose(model.get_weights()[0], clone.get_weights()[0])
