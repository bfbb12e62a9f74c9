"""Layers are cloned in memory, with the function objects of the original.

No object is looked up by its name, no function is marshalled, nothing has to be
registered. `test_custom_layers.py` has the functions of a `Lambda`.
"""
import functools

import keras
import numpy as np
import pytest
from keras import activations, constraints, initializers, layers, regularizers
from keras.models import Sequential, clone_model
from keras_clone.check.gallery import ops

from custom_objects import TWO, Both, Holder, Scale, Thrice, gelu, relu
from major_versions import (
    IS_KERAS2, ONES, RELEASE, chain, constant, outputs_of, tile)

REFUSED_IN_KERAS3 = pytest.mark.skipif((3,) <= RELEASE < (3, 15),
                                       reason='Keras refuses functions')


class CustomCell(layers.SimpleRNNCell):
    pass


class Ones(initializers.Initializer):
    """Has the name of a Keras initializer, but returns twos."""

    def __call__(self, shape, dtype=None):
        return twos(shape)

    def get_config(self):
        return {}


class Strong(regularizers.Regularizer):
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return self.factor * ops.sum(x)


def twos(shape, dtype=None):
    return constant(np.full(shape, 2., 'float32'))


# Lambdas

def test_clone_of_a_lambda_with_output_shape_and_arguments_is_faithful(
        assert_faithful):
    def double(input_shape):
        return input_shape[0], TWO * input_shape[1]
    assert_faithful(chain(lambda: layers.Lambda(
        lambda x, times: tile(x, times), output_shape=double,
        arguments={'times': (1, TWO)})))


def test_clone_has_a_copy_of_the_arguments_of_a_lambda():
    model = chain(lambda: layers.Lambda(
        lambda x, a: x, arguments={'a': (1, [TWO])}, output_shape=(3,)))()
    layer, cloned = model.layers[-1], clone_model(model).layers[-1]
    assert cloned.arguments == {'a': (1, [TWO])}
    assert cloned.arguments is not layer.arguments
    assert cloned.arguments['a'][1] is not layer.arguments['a'][1]
    assert cloned._output_shape == (3,)


class Doubling(layers.Dense):
    def double(self, inputs):
        return self(self(inputs))


@pytest.mark.parametrize('holding', [
    lambda layer: lambda x: layer(x),
    lambda layer: layer.double,
    lambda layer: functools.partial(layers.Layer.__call__, layer),
], ids=['closure', 'bound method', 'partial'])
def test_clone_of_a_lambda_that_holds_a_layer_has_its_own_layer(holding):
    held = Doubling(3)
    model = chain(lambda: layers.Lambda(holding(held)))()
    clone = clone_model(model)
    nodes = len(held._inbound_nodes)
    expected = model.predict(ONES)
    held.set_weights([weight + 1 for weight in held.get_weights()])
    np.testing.assert_allclose(clone.predict(ONES), expected, rtol=1e-5)
    assert len(held._inbound_nodes) == nodes


def test_function_that_holds_nothing_of_the_model_is_not_copied():
    calls = []

    def count(x):
        calls.append(1)
        return x if calls else never_bound

    if not callable(count):
        never_bound = None
    model = chain(lambda: layers.Lambda(count))()
    assert clone_model(model).layers[-1].function is count


# Functions as arguments of layers

@pytest.mark.parametrize('activation', [
    gelu, lambda x: TWO * x, relu, Thrice(), Thrice().method,
    functools.partial(lambda x, factor: factor * x, factor=TWO), ops.sigmoid,
    pytest.param(activations.relu, id='guard of Keras')],
    ids=['named', 'lambda', 'named as one of Keras', 'object', 'method', 'partial',
         'guard op', None])
def test_clone_of_a_layer_with_an_activation_is_faithful(
        activation, assert_faithful):
    assert_faithful(chain(lambda: layers.Dense(4, activation=activation),
                          lambda: layers.Activation(activation)))


@pytest.mark.parametrize('activation, recurrent_activation', [
    (lambda x: TWO * x, lambda x: .1 * x), (relu, activations.relu)],
    ids=['lambdas', 'of the same name'])
def test_clone_of_a_layer_with_two_functions_is_faithful(
        activation, recurrent_activation, assert_faithful):
    assert_faithful(chain(lambda: layers.LSTM(
        2, activation=activation, recurrent_activation=recurrent_activation),
        shape=(5, 3)))


def test_clone_of_layers_that_were_given_registered_names_is_faithful(
        assert_faithful):
    build = chain(lambda: layers.Dense(4, activation='gelu'),
                  lambda: layers.Bidirectional(
                      layers.RNN(CustomCell(3, activation='gelu'))), shape=(5, 3))

    def build_in_scope():
        names = {'gelu': gelu, 'CustomCell': CustomCell}
        with keras.utils.custom_object_scope(names):
            return build()
    assert_faithful(build_in_scope)


@pytest.mark.parametrize('argument, function', [
    ('kernel_initializer', twos),
    pytest.param('kernel_regularizer', lambda weight: TWO * ops.sum(weight),
                 marks=REFUSED_IN_KERAS3),
    pytest.param('kernel_constraint', lambda weight: weight / TWO,
                 marks=REFUSED_IN_KERAS3),
    ('activity_regularizer', lambda x: TWO * ops.sum(x)),
], ids=['initializer', 'regularizer', 'constraint', 'activity regularizer'])
def test_clone_has_the_function_that_was_given_as(argument, function):
    model = chain(lambda: layers.Dense(4, **{argument: function}))()
    clone = clone_model(clone_model(model))
    assert getattr(clone.layers[-1], argument) is function


def test_clone_has_a_custom_initializer_that_is_named_as_one_of_keras():
    model = chain(lambda: layers.Dense(4, kernel_initializer=Ones(),
                                       bias_initializer=initializers.Ones()))()
    clone = clone_model(model)
    kernel, bias = clone.get_weights()
    np.testing.assert_allclose(kernel, 2)
    np.testing.assert_allclose(bias, 1)
    assert type(clone.layers[-1].kernel_initializer) is Ones


@pytest.mark.parametrize('name, make', [
    ('kernel_regularizer', lambda: regularizers.l2(.1)),
    ('kernel_constraint', lambda: constraints.MaxNorm(2.))]
    + IS_KERAS2 * [('kernel_initializer', lambda: initializers.Constant(3.))])
def test_guard_clone_has_an_object_of_its_own_as(name, make):
    model = chain(lambda: layers.Dense(2, **{name: make()}))()
    held, other = [getattr(each.layers[-1], name)
                   for each in (model, clone_model(model))]
    assert held is not other
    assert held.get_config() == other.get_config()


def test_layers_of_a_clone_share_an_object():
    norm = constraints.MaxNorm(2.)
    clone = clone_model(chain(lambda: layers.Dense(3, kernel_constraint=norm),
                              lambda: layers.Dense(2, bias_constraint=norm))())
    assert clone.layers[1].kernel_constraint is clone.layers[2].bias_constraint


def test_clone_has_a_regularizer_without_a_config_in_a_wrapper():
    model = chain(lambda: layers.TimeDistributed(
        layers.Dense(2, kernel_regularizer=Strong(3.))), shape=(5, 3))()
    regularizer = clone_model(model).layers[-1].layer.kernel_regularizer
    np.testing.assert_allclose(regularizer.factor, 3.)


# Layers within layers

@pytest.mark.parametrize('wrap', [
    lambda layer: Sequential([layers.InputLayer((3, 3)), layer]),
    lambda layer: Sequential([layer]),
    lambda layer: chain(lambda: layer, shape=(3, 3))(),
    layers.TimeDistributed,
    lambda layer: layers.TimeDistributed(chain(lambda: layer)()),
    lambda layer: Both(layer, layers.Dense(3)),
    lambda layer: Holder([layer]),
], ids=['Sequential', 'Sequential not built yet', 'nested model', 'TimeDistributed',
        'nested model in TimeDistributed', 'custom', 'raw'])
@pytest.mark.parametrize('make', [
    lambda: layers.Lambda(lambda x: TWO * x),
    lambda: layers.Dense(3, activation=gelu),
    lambda: Scale(2., gelu),
], ids=['Lambda', 'activation', 'custom layer'])
def test_clone_is_faithful_if_functions_and_classes_are_within(
        wrap, make, assert_faithful):
    assert_faithful(chain(lambda: wrap(make()), shape=(3, 3)))


CELLS = {
    'custom cell': lambda: layers.RNN(CustomCell(2, activation=gelu)),
    'stacked cells': lambda: layers.RNN([CustomCell(2), layers.LSTMCell(3),
                                         CustomCell(2)]),
    'Bidirectional over a cell': lambda: layers.Bidirectional(
        layers.RNN(layers.SimpleRNNCell(2))),
}
if IS_KERAS2:
    CELLS['order of the states'] = lambda: layers.RNN(layers.StackedRNNCells(
        [layers.LSTMCell(3), layers.SimpleRNNCell(2)], reverse_state_order=True),
        return_state=True)
else:
    CELLS['guard backward layer'] = lambda: layers.Bidirectional(
        layers.LSTM(2), backward_layer=layers.LSTM(2, go_backwards=True))


@pytest.mark.parametrize('kind', list(CELLS))
def test_clone_of_recurrent_layers_is_faithful(kind, assert_faithful):
    assert_faithful(chain(CELLS[kind], shape=(5, 3)))


def test_clone_of_a_lambda_that_holds_itself_computes_the_same():
    held = []
    layer = layers.Lambda(lambda x: len(held) * x)
    held.append(layer)
    clone = clone_model(chain(lambda: layer)())
    np.testing.assert_allclose(outputs_of(clone, ONES), ONES)
    inner, = clone.layers[-1].function.__closure__[0].cell_contents
    assert inner is clone.layers[-1]
