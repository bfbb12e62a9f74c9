"""Weights that a user ties or replaces once their layers are built or called.

The graph of Keras 2 is computed when a layer is called: what was changed after that
has no effect on the outputs.
"""
import numpy as np
import pytest
from keras import backend as K
from keras.layers import RNN, Add, Concatenate, Dense, GRUCell, Input, Layer
from keras.models import Model, Sequential, clone_model

from major_versions import (
    ONES, RELEASE, assert_cloned, assert_same_outputs, chain, outputs_of)


def tied_by_a_list(first, second):
    second.kernel = first.kernel
    second._trainable_weights = [second.kernel, second.bias]


def tied_in_the_list(first, second):
    second.kernel = second._trainable_weights[0] = first.kernel


def tied_without_the_list(first, second):
    second.kernel = first.kernel


def tied_without_weights(first, second):
    second.kernel, second.bias = first.kernel, first.bias
    second._trainable_weights = []


@pytest.mark.parametrize('tie', [
    tied_by_a_list, tied_in_the_list, tied_without_the_list,
    tied_without_weights])
def test_clone_of_a_layer_that_was_tied_to_a_called_one_computes_the_same(tie):
    x = Input((3,))
    first, second = Dense(3), Dense(3)
    y = first(x)
    second.build((None, 3))
    tie(first, second)
    model = Model(x, Add()([y, second(y)]))
    clone = clone_model(model)
    assert len({*map(id, clone.weights)}) == len({*map(id, model.weights)})
    assert_same_outputs(model, clone)


def replaced(first, second):
    second.kernel = K.variable(np.eye(3))


def replaced_in_the_list(first, second):
    second.kernel = second._trainable_weights[0] = K.variable(np.eye(3))


CHANGES = [tied_in_the_list, tied_without_the_list, replaced, replaced_in_the_list]


@pytest.mark.parametrize('change', CHANGES, ids=[
    'guard tied in the list', 'tied', 'replaced', 'guard replaced in the list'])
def test_clone_computes_with_weights_changed_after_a_call_elsewhere(change):
    x, first, second = Input((3,)), Dense(3), Dense(3)
    y = first(x)
    second(x)
    change(first, second)
    assert_cloned(Model(x, second(y)))


@pytest.mark.parametrize('change', CHANGES)
def test_each_call_in_a_clone_computes_with_the_weights_held_then(change):
    x, first, second = Input((3,)), Dense(3), Dense(3)
    y = second(first(x))
    change(first, second)
    assert_cloned(Model(x, second(y)))


class Adding(Layer):
    """Creates a weight in each call."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.added = []

    def call(self, inputs):
        self.last = self.add_weight(
            name='last', shape=(3,), initializer='uniform')
        self.added.append(self.last)
        return inputs * self.last


def test_guard_clone_of_a_layer_that_creates_a_weight_in_each_call():
    x, adding = Input((3,)), Adding()
    assert_cloned(Model(x, adding(adding(adding(x)))))


@pytest.mark.parametrize('calls_again', [False, True])
def test_guard_clone_computes_with_a_weight_that_a_tensor_has_replaced(calls_again):
    x, dense = Input((3,)), Dense(2)
    model = Model(x, dense(x))
    dense.kernel = 2 * dense.kernel
    if calls_again:
        dense(x)
    assert_same_outputs(model, clone_model(model))


def test_guard_clone_of_a_cell_of_parallel_layers_computes_the_same():
    x, cell = Input((5, 3)), GRUCell(2)
    assert_cloned(Model(x, Concatenate()([RNN(cell)(x), RNN(cell)(x)])),
                  np.ones((2, 5, 3)))


class Transposed(Layer):
    def __init__(self, dense, **kwargs):
        self.dense = dense
        super().__init__(**kwargs)

    def call(self, inputs):
        return K.dot(inputs, K.transpose(self.dense.kernel))

    def compute_output_shape(self, input_shape):
        return input_shape[0], K.int_shape(self.dense.kernel)[0]


def test_clone_of_a_decoder_tied_to_a_layer_outside_computes_the_same():
    dense = Dense(3, input_shape=(5,))
    Sequential([dense])
    assert_cloned(Sequential([Dense(3, input_shape=(3,)), Transposed(dense)]))


def test_clone_lacks_a_removed_weight_and_computes_with_a_variable_of_its_class():
    class Scales(Layer):
        factor = K.variable([2., 3., 4.])

        def call(self, inputs):
            return self.factor * inputs

    class Lists(Scales):
        def build(self, input_shape):
            self._trainable_weights.append(self.factor)
            super().build(input_shape)

    class MakesMore(Scales):
        def build(self, input_shape):
            self.add_weight(name='unused', shape=(1,), initializer='ones')
            super().build(input_shape)

    x, more = Input((3,)), MakesMore()
    y = more(Lists()(x))
    more._trainable_weights.pop()
    model = Model(x, y)
    clone = clone_model(model)
    assert len(clone.weights) == len(model.weights) == 1
    np.testing.assert_allclose(outputs_of(clone, ONES), outputs_of(model, ONES))


class Alternating(Layer):
    created = 0

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.index = Alternating.created
        Alternating.created += 1

    def call(self, inputs):
        return -inputs if self.index % 2 else inputs


def test_guard_clone_computes_by_a_number_that_its_class_counts():
    Alternating.created = 0
    assert_cloned(chain(Alternating, lambda: Dense(3), Alternating)())


@pytest.mark.skipif(RELEASE < (2, 3), reason='before, all weights are of floatx')
def test_guard_weights_keep_their_dtype_if_floatx_is_another():
    model, floatx = chain(lambda: Dense(2))(), K.floatx()
    K.set_floatx('float64')
    try:
        clone = clone_model(model)
    finally:
        K.set_floatx(floatx)
    assert_same_outputs(model, clone)
