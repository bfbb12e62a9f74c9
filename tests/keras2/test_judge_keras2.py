"""What the judge finds in the graphs of Keras 2 and of TensorFlow 1."""
import numpy as np
import pytest
from keras import backend as K
from keras.layers import (Activation, Add, Dense, Embedding, Input, Lambda,
                          SimpleRNN)
from keras.models import Model, clone_model
from keras_clone.check import check_clone
from keras_clone.check.faithfulness import ModelError
from keras_clone.check.graphs import graphs

from judging import (chain, check, found, Ignores, masked, not_on_cntk,
                     on_tensorflow, Power, powers, texts, tied)
from judging import fresh_state  # noqa: F401


def test_tensor_of_the_original_in_a_call_argument_is_found():
    def build(model=None):
        x = Input((3,), name='x')
        y = Dense(3, name='dense')(x)
        base = model.get_layer('dense').output if model else y
        return Model(x, Power(name='power')(y, bases={'of': [base]}), name='model')
    report = check(build, build)
    assert ('power: call argument bases of[0]: expected output 0 of dense, got '
            'another one that looks the same') in map(str, report.differences)


def test_mask_in_a_call_argument_has_to_be_the_partner():
    def build(model=None):
        x = Input((4,), name='x')
        embedding = Embedding(10, 3, mask_zero=True, name='embedding')
        y = Lambda(lambda x: 2 * x, name='double')(embedding(x))
        mask = (model.get_layer('embedding') if model else embedding).output_mask
        return Model(x, SimpleRNN(2, name='rnn')(y, mask=mask), name='model')
    assert check(build, lambda model: build()).faithful
    report = check(build, build)
    assert (report.outcome, report.layer) == ('cannot predict', 'rnn')
    assert ('rnn: call argument mask: expected mask of output 0 of embedding, got a '
            'tensor') in map(str, report.differences)


@on_tensorflow
def test_what_was_computed_from_the_original_in_a_call_argument_is_found():
    def build(model=None):
        x = Input((3,), name='x')
        y = Dense(3, name='dense')(x)
        base = K.square(model.get_layer('dense').output if model else y)
        return Model(x, Ignores(name='last')(y, options=base), name='model')
    assert check(build, lambda model: build()).faithful
    report = check(build, build)
    assert (report.outcome, report.layer) == ('not independent', 'last')


@on_tensorflow
def test_layer_that_was_called_in_another_graph_is_faithful():
    double = Lambda(lambda x: 2 * x, name='double')

    def build():
        x = Input((3,), name='x')
        return Model(x, double(Dense(3, name='dense')(x)), name='model')
    with graphs.fresh_state(1):
        build()
        assert check(build, clone_model).faithful


@on_tensorflow
def test_extra_op_is_found():
    def clone(model):
        twin = chain()
        Activation('tanh', name='middle')(twin.outputs[0])
        return twin
    report = check(chain, clone)
    assert report.reason == ("ops: expected as many as the original's, "
                             'got 1 more Tanh')


@on_tensorflow
def test_missing_op_is_found_only_on_request():
    def build():
        model = chain()
        K.tanh(model.outputs[0])
        return model
    assert check(build, lambda model: chain()).reason.endswith('got 1 fewer Tanh')
    assert check_clone(build, lambda model: chain(), depth=1, saving=False).faithful


@on_tensorflow
def test_ops_are_counted_without_those_that_set_weights():
    values = [np.ones((3, 3)), np.ones(3)]
    counts, with_weights = (
        graphs.counting_ops(
            lambda: Dense(3, weights=weights)(K.placeholder((2, 3))))[1]
        for weights in (None, values))
    assert counts and with_weights == counts


def test_arguments_of_the_original_in_the_clone_are_found():
    def clone(model):
        node = model.get_layer('power')._inbound_nodes[0]
        clone = powers()
        clone.get_layer('power')._inbound_nodes[0].arguments = node.arguments
        return clone
    report = check(powers, clone)
    assert found(report) == [('power', 'what it holds: call arguments')]
    assert report.outcome == 'not independent'


def test_list_in_the_arguments_of_the_original_is_found():
    def with_list(shared):
        x = Input((3,), name='x')
        return Model(x, Ignores(name='ignore')(x, options=({'of': shared},)),
                     name='model')
    shared = [1, 2]
    report = check(lambda: with_list(shared), lambda model: with_list(shared))
    assert found(report) == [('ignore', 'what it holds: call arguments')]
    assert check(lambda: with_list(shared), lambda model: with_list([1, 2])).faithful


def test_clone_that_needs_an_input_of_the_original_cannot_predict():
    def clone(model):
        y = Dense(3, name='first')(Input((3,), name='x'))
        wired = chain()
        wired.outputs = [Dense(2, name='last')(
            Add(name='middle')([y, model.get_layer('middle').output]))]
        return wired
    report = check(chain, clone)
    assert report.outcome == 'cannot predict'


@on_tensorflow
def test_model_that_was_built_before_is_an_error():
    model = chain()
    with pytest.raises(ModelError, match='anew'):
        check(lambda: model, lambda model: model)


def test_weights_that_overflow_are_not_drawn():
    def build():
        return chain(Lambda(lambda x: K.exp(1000 * x), name='middle'),
                     Dense(2, name='last', kernel_initializer='zeros'))
    values = [np.zeros((2, 3))]
    report = check(build, lambda model: build(), inputs=values)
    assert report.faithful


@not_on_cntk
def test_value_of_an_input_that_is_no_placeholder_is_fed_to_the_clone():
    def build(**arguments):
        x = Input(name='x', **arguments)
        return Model(x, Dense(2, name='dense')(x), name='variable')
    assert check(lambda: build(tensor=K.variable(np.ones((2, 3)))),
                 lambda model: build(batch_shape=(2, 3)), exact_ops=False).faithful


def test_extra_call_argument_is_found():
    report = check(masked, lambda model: masked(training=None))
    assert report.reason == ('rnn: call argument training: expected nothing, '
                             'got None')
    assert report.outcome == 'other graph'


def test_missing_call_argument_is_found():
    report = check(lambda: masked(training=None), lambda model: masked())
    assert 'call argument training: expected None, got nothing' in report.reason


def test_weights_that_are_no_longer_shared_are_found():
    assert ('second: weight 0: expected that of first, got float32 of shape '
            '(3, 3)') in texts(tied, False)


def test_weights_that_were_not_shared_are_found():
    assert ('second: weight 0: expected float32 of shape (3, 3), got that of '
            'first') in map(str, check(lambda: tied(False),
                                       lambda model: tied()).differences)
