"""Call arguments: the arguments of a layer call other than its inputs."""
import importlib
import types

import keras
import numpy as np
import pytest
from keras import backend as K
from keras.layers import (GRU, LSTM, RNN, Bidirectional, Dense, Dropout, Embedding,
                          Input, Lambda, Layer, SimpleRNNCell)
from keras.models import Model, clone_model

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


class TwiceWithTupleOfMasks(Layer):
    """Has two outputs, and returns their masks as a tuple instead of a list."""

    def call(self, inputs):
        return [inputs, 2 * inputs]

    def compute_output_shape(self, input_shape):
        return [input_shape, input_shape]

    def compute_mask(self, inputs, mask=None):
        return mask, None


class CellWithConstant(SimpleRNNCell):
    """Adds a constant, of the same size as its state, at each step."""

    def build(self, input_shape):
        super().build(input_shape[0])

    def call(self, inputs, states, constants=None):
        output, _ = super().call(inputs, states)
        return output + constants[0], [output + constants[0]]


def not_zero(x):
    return K.any(K.not_equal(x, 0), axis=-1)


def mask_layer():
    return Lambda(not_zero, output_shape=lambda shape: shape[:-1])


def test_initial_state(assert_faithful):
    def build():
        words, decoded = Input((5,)), Input((4,))
        encoder = LSTM(3, return_state=True)
        state = encoder(Embedding(4, 3, mask_zero=True)(words))[1:]
        x = Embedding(4, 3, mask_zero=True)(decoded)
        return Model([words, decoded], Dense(2)(LSTM(3)(x, initial_state=state)))
    assert_faithful(build)


def test_initial_state_of_a_single_tensor(assert_faithful):
    def build():
        x, state = Input((5, 3)), Input((2,))
        return Model([x, state], GRU(2)(x, initial_state=state))
    assert_faithful(build)


def test_initial_state_of_bidirectional(assert_faithful):
    def build():
        x, y = Input((5, 3)), Input((5, 3))
        state = Bidirectional(GRU(2, return_state=True))(x)[1:]
        return Model([x, y], Bidirectional(GRU(2))(y, initial_state=state))
    assert_faithful(build)


def test_constants(assert_faithful):
    def build():
        x, constant, state = Input((5, 3)), Input((2,)), Input((2,))
        layer = RNN(CellWithConstant(2))
        return Model([x, constant, state],
                     layer(x, initial_state=state, constants=constant))
    assert_faithful(build)


def test_tensors_at_any_depth(assert_faithful):
    def build():
        x = Input((3,))
        a, b, c = Dense(3)(x), Dense(3)(x), Dense(3)(x)
        y = Mix()(Dense(3)(x), extra=[a, {'b': (b, None)}, {'c': [c]}], scale=.5)
        # `model.layers` contains the three layers only if they are outputs, too.
        return Model(x, [y, a, b, c])
    assert_faithful(build)


def test_tensors_in_the_arguments_of_a_lambda(assert_faithful):
    def build():
        x = Input((3,))
        a = Dense(3)(x)
        y = Lambda(lambda t, other: t + other['a'], arguments={'other': {'a': a}})(x)
        return Model(x, [y, a])
    assert_faithful(build)


def test_mask_argument_from_a_layer(assert_faithful):
    def build():
        x = Input((5, 3))
        return Model(x, LSTM(2)(x, mask=mask_layer()(x)))
    assert_faithful(build)


def test_mask_argument_that_is_the_mask_of_a_layer(assert_faithful):
    def build():
        words = Input((5,))
        embedding = Embedding(4, 3, mask_zero=True)
        x = Lambda(lambda t: 2 * t, mask=lambda t, mask: None)(embedding(words))
        return Model(words, LSTM(2)(x, mask=embedding.output_mask))
    assert_faithful(build)


def test_mask_argument_computed_by_the_backend(assert_faithful):
    def build():
        words = Input((5,))
        x = Embedding(4, 3)(words)
        return Model(words, LSTM(2)(x, mask=K.not_equal(words, 0)))
    assert_faithful(build)


def test_argument_computed_by_the_backend_from_a_hidden_layer(assert_faithful):
    def build():
        x = Input((3,))
        hidden = Dense(3)(x)
        positive = K.abs(hidden)
        return Model(x, Mix()(hidden, extra=positive + positive))
    assert_faithful(build)


def test_argument_computed_by_the_backend_from_a_mask(assert_faithful):
    def build():
        words, x = Input((5,)), Input((5,))
        embedding = Embedding(4, 3, mask_zero=True)
        y = embedding(words)
        is_word = K.cast(embedding.output_mask, 'float32')
        return Model([words, x], [LSTM(2)(y), Mix()(x, extra=is_word)])
    assert_faithful(build)


def test_argument_computed_by_the_backend_from_a_variable():
    x = Input((3,))
    factor = K.variable([1., 2., 3.])
    model = Model(x, Mix()(x, extra=factor * x))
    value = np.ones((2, 3))
    clone = clone_model(model)
    np.testing.assert_allclose(clone.predict(value), model.predict(value), rtol=1e-5)


@pytest.mark.skipif(K.backend() != 'tensorflow', reason='It needs TensorFlow ops')
@pytest.mark.parametrize('sign', [1, -1])
def test_argument_computed_by_the_backend_in_a_branch(assert_faithful, sign):
    import tensorflow as tf

    def build():
        x = Input((3,))
        branch = K.switch(sign * K.sum(K.square(x)) > 0,
                          lambda: tf.constant([1., 2., 3.]),
                          lambda: K.sum(x, axis=0))
        return Model(x, Mix()(x, extra=branch))
    assert_faithful(build)


@pytest.mark.skipif(K.backend() != 'tensorflow', reason='It needs TensorFlow ops')
def test_argument_computed_by_the_backend_after_another_op(assert_faithful):
    import tensorflow as tf

    def build():
        x = Input((3,))
        with x.graph.as_default():
            checked = tf.debugging.Assert(K.sum(x) < 1000, [x])
            with tf.control_dependencies([tf.group(checked, 2 * x), x]):
                extra = tf.identity(x) + 1
        return Model(x, Mix()(x, extra=extra))
    assert_faithful(build)


def model_with_an_argument_computed_by_a_loop():
    x = Input((3,))
    with x.graph.as_default():
        extra = K.map_fn(lambda row: 2 * row, x)
    return Model(x, Mix()(x, extra=extra))


@pytest.mark.skipif(TENSORFLOW != '1', reason='It needs TensorFlow 1')
def test_argument_computed_by_a_loop_that_is_a_cycle_of_ops_is_refused():
    with pytest.raises(ValueError, match='Compute it in a `Lambda` layer'):
        clone_model(model_with_an_argument_computed_by_a_loop())


@pytest.mark.skipif(TENSORFLOW != '2', reason='It needs TensorFlow 2')
def test_argument_computed_by_a_loop_that_is_a_single_op():
    clone = clone_model(clone_model(model_with_an_argument_computed_by_a_loop()))
    np.testing.assert_allclose(clone.predict(np.ones((2, 3))), 3 * np.ones((2, 3)))


def test_argument_from_the_second_output_of_a_layer_with_a_tuple_of_masks(
        assert_faithful):
    def build():
        words, other = Input((5,)), Input((5, 3))
        x, twice = TwiceWithTupleOfMasks()(
            Embedding(4, 3, mask_zero=True)(words))
        return Model([words, other], [x, Mix()(other, extra=twice)])
    assert_faithful(build)


def test_guard_argument_that_does_not_depend_on_the_model():
    x = Input((3,))
    constant = K.constant([1., 2., 3.]) * 2
    clone = clone_model(Model(x, Mix()(x, extra=constant)))
    assert clone.layers[-1]._inbound_nodes[0].arguments['extra'] is constant
    np.testing.assert_allclose(clone.predict(np.zeros((1, 3))), [[2, 4, 6]])


def test_mask_argument_none_disables_the_mask(assert_faithful):
    def build():
        words = Input((5,))
        x = Embedding(4, 3, mask_zero=True)(words)
        return Model(words, LSTM(2)(x, mask=None))
    assert_faithful(build)


def test_guard_plain_arguments(assert_faithful):
    def build():
        x = Input((3,))
        return Model(x, Dropout(.5)(Mix()(x, scale=2), training=False))
    assert_faithful(build)


def test_arguments_of_the_original_are_not_changed():
    words = Input((5,))
    layer = LSTM(2)
    model = Model(words, layer(Embedding(4, 3, mask_zero=True)(words),
                               training=False))
    clone = clone_model(model)
    assert layer._inbound_nodes[0].arguments == {'training': False}
    assert clone.layers[-1]._inbound_nodes[0].arguments == {'training': False}


def test_lists_in_arguments_are_copied():
    x = Input((3,))
    layer = Mix()
    model = Model(x, layer(x, extra=[x]))
    clone = clone_model(model)
    original = layer._inbound_nodes[0].arguments['extra']
    copy = clone.layers[-1]._inbound_nodes[0].arguments['extra']
    assert copy is not original and copy[0] is clone.inputs[0]


def test_layer_connected_only_by_an_argument_keeps_its_weights():
    x = Input((3,))
    hidden = Dense(3)
    model = Model(x, Mix()(x, extra=hidden(x)))
    assert hidden not in model.layers
    value = np.ones((2, 3))
    np.testing.assert_allclose(clone_model(model).predict(value),
                               model.predict(value), rtol=1e-5)


def test_layer_connected_only_by_an_argument_is_cloned():
    x = Input((3,))
    hidden = Dense(3)
    model = Model(x, Mix()(x, extra=hidden(x)))
    value = np.ones((2, 3))
    clone = clone_model(model)
    expected = clone.predict(value)
    hidden.set_weights([2 * weight + 1 for weight in hidden.get_weights()])
    np.testing.assert_allclose(clone.predict(value), expected)
    assert len(hidden._inbound_nodes) == 1


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


def test_argument_that_cntk_computed_from_an_input_is_refused(monkeypatch):
    monkeypatch.setattr(K, 'backend', lambda: 'cntk')
    variable = types.SimpleNamespace(is_input=True)
    with pytest.raises(ValueError, match='`Lambda` layer'):
        keras.models._operands(types.SimpleNamespace(inputs=[variable]))


def test_argument_that_cntk_computed_from_constants_has_no_operands(monkeypatch):
    monkeypatch.setattr(K, 'backend', lambda: 'cntk')
    variable = types.SimpleNamespace(is_input=False)
    assert keras.models._operands(types.SimpleNamespace(inputs=[variable])) == []
