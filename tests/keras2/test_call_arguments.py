"""Call arguments: the arguments of a layer call other than its inputs."""
import importlib
import types

import keras
import numpy as np
import pytest
from keras import backend as K
from keras.layers import (LSTM, RNN, Bidirectional, Dense, Dropout, Embedding,
                          Input, Lambda, Layer, SimpleRNN, SimpleRNNCell)
from keras.models import Model, clone_model

from judging import Two
from major_versions import ONES, assert_same_outputs

# The major version of TensorFlow, if it is the backend.
TENSORFLOW = (K.backend() == 'tensorflow' and
              importlib.import_module('tensorflow').__version__[0])


class Mix(Layer):
    """Adds the tensors in its argument, at any depth."""

    def call(self, inputs, extra=None, scale=1):
        return scale * sum(self._tensors(extra), inputs)

    def _tensors(self, value):
        if isinstance(value, dict):
            value = [value[key] for key in sorted(value)]
        if isinstance(value, (list, tuple)):
            return [x for each in value for x in self._tensors(each)]
        return [] if value is None else [value]


class TwiceWithTupleOfMasks(Two):
    def compute_mask(self, inputs, mask=None):
        return mask, None


class CellWithConstant(SimpleRNNCell):
    def build(self, input_shape):
        super().build(input_shape[0])

    def call(self, inputs, states, constants=None):
        output, _ = super().call(inputs, states)
        return output + constants[0], [output + constants[0]]


def not_zero(x):
    return K.any(K.not_equal(x, 0), axis=-1)


def mask_layer():
    return Lambda(not_zero, output_shape=lambda shape: shape[:-1])


def initial_state():
    words, decoded = Input((5,)), Input((4,))
    encoder = LSTM(3, return_state=True)
    state = encoder(Embedding(4, 3, mask_zero=True)(words))[1:]
    x = Embedding(4, 3, mask_zero=True)(decoded)
    return Model([words, decoded], Dense(2)(LSTM(3)(x, initial_state=state)))


def initial_state_of_a_single_tensor():
    x, state = Input((5, 3)), Input((2,))
    return Model([x, state], SimpleRNN(2)(x, initial_state=state))


def initial_state_of_bidirectional():
    x, y = Input((5, 3)), Input((5, 3))
    state = Bidirectional(SimpleRNN(2, return_state=True))(x)[1:]
    return Model([x, y], Bidirectional(SimpleRNN(2))(y, initial_state=state))


def constants():
    x, constant, state = Input((5, 3)), Input((2,)), Input((2,))
    layer = RNN(CellWithConstant(2))
    return Model([x, constant, state],
                 layer(x, initial_state=state, constants=constant))


def tensors_at_any_depth():
    x = Input((3,))
    a, b, c = Dense(3)(x), Dense(3)(x), Dense(3)(x)
    y = Mix()(Dense(3)(x), extra=[a, {'b': (b, None)}, {'c': [c]}], scale=.5)
    # `model.layers` contains the three layers only if they are outputs, too.
    return Model(x, [y, a, b, c])


def tensors_in_the_arguments_of_a_lambda():
    x = Input((3,))
    a = Dense(3)(x)
    y = Lambda(lambda t, other: t + other['a'], arguments={'other': {'a': a}})(x)
    return Model(x, [y, a])


def mask_argument_from_a_layer():
    x = Input((5, 3))
    return Model(x, SimpleRNN(2)(x, mask=mask_layer()(x)))


def mask_argument_computed_by_the_backend():
    words = Input((5,))
    x = Embedding(4, 3)(words)
    return Model(words, SimpleRNN(2)(x, mask=K.not_equal(words, 0)))


def argument_computed_by_the_backend_from_a_hidden_layer():
    x = Input((3,))
    hidden = Dense(3)(x)
    positive = K.abs(hidden)
    return Model(x, Mix()(hidden, extra=positive + positive))


def argument_computed_by_the_backend_from_a_mask():
    words, x = Input((5,)), Input((5,))
    embedding = Embedding(4, 3, mask_zero=True)
    y = embedding(words)
    is_word = K.cast(embedding.output_mask, 'float32')
    return Model([words, x], [SimpleRNN(2)(y), Mix()(x, extra=is_word)])


def with_argument(compute):
    """Returns a model of a layer with an argument computed from its input."""
    x = Input((3,))
    return Model(x, Mix()(x, extra=compute(x)))


def test_clone_has_an_argument_computed_by_the_backend_from_a_variable():
    factor = K.variable([1., 2., 3.])
    model = with_argument(lambda x: factor * x)
    assert_same_outputs(model, clone_model(model))


needs_tensorflow = pytest.mark.skipif(not TENSORFLOW, reason='TensorFlow ops')


@needs_tensorflow
@pytest.mark.parametrize('sign', [1, -1])
def test_clone_has_an_argument_computed_by_the_backend_in_a_branch(
        assert_faithful, sign):
    import tensorflow as tf
    assert_faithful(lambda: with_argument(lambda x: K.switch(
        sign * K.sum(K.square(x)) > 0, lambda: tf.constant([1., 2., 3.]),
        lambda: K.sum(x, axis=0))))


@needs_tensorflow
def test_clone_has_an_argument_computed_by_the_backend_after_another_op(
        assert_faithful):
    import tensorflow as tf

    def after_check(x):
        with x.graph.as_default():
            checked = tf.debugging.Assert(K.sum(x) < 1000, [x])
            with tf.control_dependencies([tf.group(checked, 2 * x), x]):
                return tf.identity(x) + 1
    assert_faithful(lambda: with_argument(after_check))


def computed_by_a_loop(x):
    with x.graph.as_default():
        return K.map_fn(lambda row: 2 * row, x)


@pytest.mark.skipif(TENSORFLOW != '1', reason='It needs TensorFlow 1')
def test_argument_computed_by_a_loop_that_is_a_cycle_of_ops_is_refused():
    with pytest.raises(ValueError, match='Compute it in a `Lambda` layer'):
        clone_model(with_argument(computed_by_a_loop))


@pytest.mark.skipif(TENSORFLOW != '2', reason='It needs TensorFlow 2')
def test_clone_has_an_argument_computed_by_a_loop_that_is_a_single_op():
    clone = clone_model(clone_model(with_argument(computed_by_a_loop)))
    np.testing.assert_allclose(clone.predict(ONES), 3 * ONES)


def argument_from_the_second_output_of_a_layer_with_a_tuple_of_masks():
    words, other = Input((5,)), Input((5, 3))
    x, twice = TwiceWithTupleOfMasks()(Embedding(4, 3, mask_zero=True)(words))
    return Model([words, other], [x, Mix()(other, extra=twice)])


def test_guard_clone_has_an_argument_that_does_not_depend_on_the_model():
    constant = K.constant([1., 2., 3.]) * 2
    clone = clone_model(with_argument(lambda x: constant))
    assert clone.layers[-1]._inbound_nodes[0].arguments['extra'] is constant
    np.testing.assert_allclose(clone.predict(np.zeros((1, 3))), [[2, 4, 6]])


def mask_argument_none_disables_the_mask():
    words = Input((5,))
    x = Embedding(4, 3, mask_zero=True)(words)
    return Model(words, SimpleRNN(2)(x, mask=None))


def guard_plain_arguments():
    x = Input((3,))
    return Model(x, Dropout(.5)(Mix()(x, scale=2), training=False))


@pytest.mark.parametrize('build', [
    initial_state, initial_state_of_a_single_tensor, initial_state_of_bidirectional,
    constants, tensors_at_any_depth, tensors_in_the_arguments_of_a_lambda,
    mask_argument_from_a_layer, mask_argument_computed_by_the_backend,
    argument_computed_by_the_backend_from_a_hidden_layer,
    argument_computed_by_the_backend_from_a_mask,
    argument_from_the_second_output_of_a_layer_with_a_tuple_of_masks,
    mask_argument_none_disables_the_mask, guard_plain_arguments])
def test_clone_is_faithful_with(build, assert_faithful):
    assert_faithful(build)


def test_arguments_of_the_original_are_not_changed():
    words = Input((5,))
    layer = SimpleRNN(2)
    model = Model(words, layer(Embedding(4, 3, mask_zero=True)(words),
                               training=False))
    clone = clone_model(model)
    assert layer._inbound_nodes[0].arguments == {'training': False}
    assert clone.layers[-1]._inbound_nodes[0].arguments == {'training': False}


def test_lists_in_arguments_are_copied():
    model = with_argument(lambda x: [x])
    clone = clone_model(model)
    original, copy = (each.layers[-1]._inbound_nodes[0].arguments['extra']
                      for each in (model, clone))
    assert copy is not original and copy[0] is clone.inputs[0]


def test_layer_connected_only_by_an_argument_keeps_its_weights_and_is_cloned():
    hidden = Dense(3)
    model = with_argument(hidden)
    assert hidden not in model.layers
    clone = clone_model(model)
    expected = clone.predict(ONES)
    np.testing.assert_allclose(model.predict(ONES), expected, rtol=1e-5)
    hidden.set_weights([2 * weight + 1 for weight in hidden.get_weights()])
    np.testing.assert_allclose(clone.predict(ONES), expected)
    assert len(hidden._inbound_nodes) == 1


class TiedTo(Layer):
    """Multiplies its input by the kernel of a layer that has been called."""

    def __init__(self, dense, **kwargs):
        super().__init__(**kwargs)
        self.dense, self.kernel = dense, dense.kernel

    def call(self, inputs):
        return K.dot(inputs, self.kernel)


def test_layers_connected_only_by_an_argument_are_called_in_their_order():
    x = Input((3,))
    dense = Dense(3)
    hidden = dense(x)
    tied = TiedTo(dense)(Dense(3)(x))
    model = Model(x, Mix()(x, extra=[tied, hidden]))
    assert_same_outputs(model, clone_model(model))


def test_error_names_an_input_with_a_tensor_connected_only_by_an_argument():
    x, tensor = Input((3,)), 2 * K.variable(np.ones((2, 3)))
    extra = Input(batch_shape=(2, 3), tensor=tensor, name='left_out')
    model = Model(x, Mix()(x, extra=extra))
    with pytest.raises(ValueError, match='"left_out".*not among its inputs'):
        clone_model(model)


def test_calls_of_a_shared_layer_keep_their_order():
    x = Input((3,))
    shared = Dense(3)
    first = shared(x)
    second = shared(Dense(3)(x))
    model = Model(x, [Dense(3)(Dense(3)(second)), first])
    clone = clone_model(model)
    copy = clone.get_layer(shared.name)
    assert copy.get_input_at(0) is clone.inputs[0]
    assert copy.get_output_at(0) is clone.outputs[1]


def operands_on_cntk(is_input, monkeypatch):
    monkeypatch.setattr(K, 'backend', lambda: 'cntk')
    variable = types.SimpleNamespace(is_input=is_input)
    return keras.models._operands(types.SimpleNamespace(inputs=[variable]))


def test_argument_that_cntk_computed_from_an_input_is_refused(monkeypatch):
    with pytest.raises(ValueError, match='`Lambda` layer'):
        operands_on_cntk(True, monkeypatch)


def test_argument_that_cntk_computed_from_constants_has_no_operands(monkeypatch):
    assert operands_on_cntk(False, monkeypatch) == []


class TakesTwo(Layer):
    """Its `__call__` takes two tensors, Keras's a list of them."""

    def __call__(self, inputs, others):
        return super().__call__([inputs, others])

    def call(self, inputs):
        return inputs[0] - 2 * inputs[1]

    def compute_output_shape(self, input_shape):
        return input_shape[0]


def test_clone_of_a_layer_whose_call_method_takes_two_tensors(assert_faithful):
    def make():
        x, y = Input((3,)), Input((3,))
        return Model([x, y], TakesTwo()(x, y))
    assert_faithful(make)
