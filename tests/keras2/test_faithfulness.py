"""The judge of a clone: it finds what is wrong, and finds nothing where nothing is.

Most of the clones here are built by the function that built the original, with
layers of the same names and one fault put in.
"""
import functools
import itertools
import sys
from types import SimpleNamespace as Named

import numpy as np
import pytest
from keras import backend as K
from keras import layers
from keras import utils
from keras.layers import (Activation, Add, Bidirectional, Dense, Dropout, Embedding,
                          Input, Lambda, LSTM, Masking, SimpleRNN, TimeDistributed)
from keras.models import Model, Sequential

from keras_clone.check import random_values
from keras_clone.check.describing import shortened
from keras_clone.check.faithfulness import ModelError, check_clone, compare
from keras_clone.check.graphs import (computing_keras2, fresh_state_keras2, graphs,
                                      tensors_keras2)
from keras_clone.check.independence import changes, snapshot
from keras_clone.check.original import draw_inputs
from keras_clone.check.values import same_value

on_tensorflow = pytest.mark.skipif(
    K.backend() != 'tensorflow', reason='only TensorFlow has it')
not_on_cntk = pytest.mark.skipif(
    K.backend() == 'cntk', reason='all of CNTK is float32 and has a batch axis, it '
    'feeds only inputs, and its graph is not searched')


@pytest.fixture(autouse=True)
def fresh_state():
    with graphs.fresh_state():
        yield


def chain(middle=None, end=None, name='chain', x=None):
    """A model of two dense layers with another between them."""
    x = Input((3,), name='x') if x is None else x
    y = Dense(3, name='first')(x)
    y = (middle or Activation('tanh', name='middle'))(y)
    return Model(x, (end or Dense(2, name='last'))(y), name=name)


def masked(**arguments):
    x = Input((4,), name='x')
    y = Embedding(10, 3, mask_zero=True, name='embedding')(x)
    return Model(x, SimpleRNN(2, name='rnn')(y, **arguments), name='masked')


def twice(first=None, second=None):
    """A model that calls one layer twice, or two layers of that name."""
    x = Input((3,), name='x')
    first = first or Dense(3, name='dense')
    y = Activation('tanh', name='tanh')(first(x))
    return Model(x, Add(name='add')([(second or first)(y), x]), name='twice')


def nested(inner=None, outer=None):
    words = Input((3,), name='words')
    shared = Dense(3, name='shared')
    inner_model = Model(words, (inner or shared)(words), name='inner')
    x = Input((3,), name='x')
    y = Add(name='add')([inner_model(x), (outer or shared)(x)])
    return Model(x, y, name='nested')


class Power(layers.Layer):

    def call(self, inputs, exponent=1, bases=None):
        base = inputs if bases is None else bases['of'][0]
        return K.pow(base, exponent) + 0 * inputs


class Two(layers.Layer):

    def call(self, inputs):
        return [inputs, 2 * inputs]

    def compute_output_shape(self, input_shape):
        return [input_shape, input_shape]


class Unsavable(Dense):

    def get_config(self):
        raise NotImplementedError('not to be saved')


def powers(first=2, second=3, swap=False, **arguments):
    x = Input((3,), name='x')
    power = Power(name='power')
    if swap:
        b, a = power(x, exponent=second), power(x, exponent=first, **arguments)
    else:
        a, b = power(x, exponent=first, **arguments), power(x, exponent=second)
    return Model(x, layers.Subtract(name='minus')([a, b]), name='powers')


def check(build, clone_model, **kwargs):
    kwargs.setdefault('depth', 1)
    kwargs.setdefault('saving', False)
    return check_clone(build, clone_model, **kwargs)


def found(report, outcome=None):
    """The differences, but for those in ops, as pairs (layer, what)."""
    return [(each.layer, each.what) for each in report.differences
            if each.what != 'ops' and outcome in (None, each.outcome)]


# Nothing is found


def stateful():
    x = Input(batch_shape=(2, 3, 4), name='x')
    return Model(x, LSTM(2, stateful=True, name='lstm')(x), name='stateful')


def every_kind_of_layer():
    x, image = Input((4,), name='x'), Input((6, 6, 1), name='image')
    y = Embedding(10, 3, mask_zero=True, name='embedding')(x)
    y = Bidirectional(SimpleRNN(2, return_sequences=True, name='one'),
                      name='both')(y)
    y = TimeDistributed(Dense(2, name='dense'), name='each')(y)
    y = SimpleRNN(2, name='rnn')(y)
    z = layers.Conv2D(2, 3, name='conv')(image)
    z = layers.BatchNormalization(name='norm')(z)
    z = Dropout(.5, name='dropout')(layers.GlobalMaxPooling2D(name='pool')(z))
    sum_ = Add(name='add')([y, z])
    return Model([x, image], [sum_, z, image], name='every')


def input_that_is_a_variable():
    x = Input(tensor=K.variable(np.ones((2, 3))), name='x')
    return Model(x, Dense(2, name='dense')(x), name='variable')


def sequential():
    return Sequential([Dense(3, input_shape=(3,), name='a'), Dense(2, name='b')],
                      name='sequential')


def unbuilt():
    return Sequential([Dense(3, name='a'), Dense(2, name='b')], name='unbuilt')


def two_outputs():
    x = Input((3,), name='x')
    a, b = Two(name='two')(x)
    return Model(x, [Add(name='add')([a, b]), b], name='model')


class Choice(layers.Layer):

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.choices = {'tanh': Activation('tanh', name='tanh'),
                        'relu': [Activation('relu', name='relu')]}

    def call(self, inputs):
        return self.choices['tanh'].call(inputs)


def layers_in_a_dict():
    return chain(Choice(name='middle'))


def random_outputs():
    x = Input((30,), name='x')
    return Model(x, Dropout(.5, name='dropout')(x, training=True), name='random')


def not_finite():
    return chain(Lambda(lambda x: K.log(-K.abs(x)), name='middle'))


NOT_COMPARED = {
    every_kind_of_layer: ['outputs in training (random)'],
    random_outputs: ['output 0 of dropout (random)'],
    unbuilt: ['outputs (the model is not built: it has none yet)'],
}


@pytest.mark.once
@pytest.mark.parametrize('build', [
    chain, masked, twice, nested, powers, stateful, every_kind_of_layer, sequential,
    unbuilt, two_outputs, layers_in_a_dict, random_outputs, not_finite])
def test_the_same_model_built_again_is_faithful(build):
    report = check(build, lambda model: build(), depth=3, saving=True)
    assert list(map(str, report.differences)) == []
    assert report.faithful
    assert (report.outcome, report.layer, report.reason) == ('faithful', '', '')
    assert report.not_compared == NOT_COMPARED.get(build, [])


@not_on_cntk
def test_value_of_an_input_that_is_no_placeholder_is_fed_to_the_clone():
    def clone(model):
        x = Input(batch_shape=(2, 3), name='x')
        return Model(x, Dense(2, name='dense')(x), name='variable')
    assert check(input_that_is_a_variable, clone, exact_ops=False).faithful


# The same function


def test_dropped_mask_shows_in_the_numbers():
    report = check(masked, lambda model: masked(mask=None))
    assert (report.outcome, report.layer) == ('wrong numbers', 'rnn')
    assert 'expected the original\'s, got numbers off by up to' in report.reason


def test_the_same_seed_finds_the_same():
    def differences(seed):
        return check(masked, lambda model: masked(mask=None), seed=seed).differences
    assert differences(1) == differences(1) != differences(2)


def test_numbers_part_at_the_first_layer_that_computes_otherwise():
    report = check(chain, lambda model: chain(
        Activation('relu', name='middle'), Dense(2, activation='relu', name='last')))
    assert (report.outcome, report.layer) == ('wrong numbers', 'middle')


@not_on_cntk
def test_other_number_of_rows_is_a_wrong_shape():
    def build(rows=None):
        return chain(end=Lambda(lambda x: x[:rows], name='last'))
    report = check(build, lambda model: build(1))
    assert (report.outcome, report.layer) == ('wrong numbers', 'last')
    assert report.reason.endswith('got the shape (1, 3) instead of (3, 3)')


def test_wrong_values_of_a_mask_are_wrong_numbers():
    def build(value=0.):
        x = Input((4, 3), name='x')
        return Model(x, Masking(name='masking', mask_value=value)(x), name='model')
    report = check(build, lambda model: build(1.))
    assert (report.outcome, report.layer) == ('wrong numbers', 'masking')


def test_exception_in_cloning_is_a_crash_at_the_layer_that_cannot_be_cloned():
    def clone(model):
        if any(layer.name == 'middle' for layer in model.layers):
            raise ValueError('no way\nto clone it')
        return chain()
    report = check(chain, clone)
    assert (report.outcome, report.layer) == ('crash', 'middle')
    assert report.reason.endswith('middle: cloning: expected a clone, '
                                  'got ValueError: no way')


def test_layer_that_cannot_be_cloned_is_not_looked_for_unasked():
    calls = []

    def clone(model):
        calls.append(model)
        raise ValueError
    report = check(chain, clone, locate=False)
    assert (report.outcome, report.layer) == ('crash', '')
    assert len(calls) == 1


def test_layer_that_computes_otherwise_is_not_looked_for_unasked():
    report = check(chain, lambda model: chain(
        Activation('relu', name='middle'), Dense(2, activation='relu', name='last')),
        locate=False)
    assert (report.outcome, report.layer) == ('wrong numbers', '')


def test_crash_that_no_layer_is_to_blame_for_has_no_layer():
    def clone(model):
        if model.name == 'chain':
            raise AssertionError
        return model
    report = check(chain, clone)
    assert report.reason == 'cloning: expected a clone, got AssertionError'


def test_crash_with_an_unbuilt_model_has_no_layer():
    report = check(unbuilt, lambda model: model.get_layer('c'))
    assert (report.outcome, report.layer) == ('crash', '')


def test_clone_that_needs_an_input_of_the_original_cannot_predict():
    def clone(model):
        y = Dense(3, name='first')(Input((3,), name='x'))
        wired = chain()
        wired.outputs = [Dense(2, name='last')(
            Add(name='middle')([y, model.get_layer('middle').output]))]
        return wired
    report = check(chain, clone)
    assert report.outcome == 'cannot predict'


def test_given_inputs_are_used():
    def build(offset=0):
        return chain(Lambda(lambda x: K.relu(x - offset), name='middle'))
    assert check(build, lambda model: build(-1)).outcome == 'wrong numbers'
    nothing = [np.full((1, 3), np.nan)]
    assert check(build, lambda model: build(-1), inputs=nothing).outcome != \
        'wrong numbers'


def test_inputs_may_come_with_the_model():
    def build():
        return chain(), [np.zeros((7, 3))]
    assert check(build, lambda model: chain()).faithful


def test_weights_that_overflow_are_not_drawn():
    def build():
        return chain(Lambda(lambda x: K.exp(1000 * x), name='middle'),
                     Dense(2, name='last', kernel_initializer='zeros'))
    values = [np.zeros((2, 3))]
    report = check(build, lambda model: build(), inputs=values)
    assert report.faithful


@pytest.mark.parametrize('build, message', [
    (lambda: 1 / 0, 'The model cannot be built: ZeroDivisionError: division by '
                    'zero.'),
    (lambda: 3, 'Expected a function that returns a Keras `Model`, it returned 3.'),
    (lambda: (chain(), []), 'Expected one array for each of the 1 inputs of the '
                            'model, got 0.'),
    (lambda: (chain(), [np.ones((2, 7))]), 'The model cannot be evaluated on the '
                                           'inputs: ')])
def test_model_that_cannot_be_built_or_evaluated_is_an_error(build, message):
    with pytest.raises(ModelError) as error:
        check(build, lambda model: model)
    assert str(error.value).startswith(message)


@on_tensorflow
def test_model_that_was_built_before_is_an_error():
    model = chain()
    with pytest.raises(ModelError, match='anew'):
        check(lambda: model, lambda model: model)


# The same graph


@pytest.mark.parametrize('clone, expected', [
    (lambda model: chain(name='other'), ('', 'name')),
    (lambda model: chain(Activation('tanh', name='other')),
     ('middle', 'layer at place 2')),
    (lambda model: sequential(), ('', 'class')),
    (lambda model: chain(Lambda(K.tanh, name='middle')), ('middle', 'class')),
    (lambda model: chain(end=Dense(2, name='last', use_bias=False)),
     ('last', 'number of weights')),
    (lambda model: chain(end=Dense(2, name='last', kernel_regularizer='l2')),
     ('last', 'configuration kernel_regularizer')),
    (lambda model: chain(end=Dense(2, name='last', trainable=False)),
     ('last', 'trainable'))])
def test_other_layers_are_found(clone, expected):
    assert expected in found(check(chain, clone), 'other graph')


def test_missing_layer_is_found():
    def clone(model):
        x = Input((3,), name='x')
        return Model(x, Dense(2, name='last')(Dense(3, name='first')(x)),
                     name='chain')
    report = check(chain, clone)
    assert 'middle: layer at place 2: expected middle, got last' in map(
        str, report.differences)


def test_layer_too_many_is_found():
    end = Dense(2, name='last')

    def clone(model):
        return chain(end=lambda y: Lambda(lambda x: x, name='more')(end(y)))
    assert ('more', 'layer at place 4') in found(check(chain, clone), 'other graph')


def test_weight_of_another_shape_is_found():
    report = check(lambda: chain(Dense(3, name='middle')),
                   lambda model: chain(Dense(4, name='middle')))
    texts = list(map(str, report.differences))
    assert ('middle: weight 0: expected float32 of shape (3, 3), '
            'got float32 of shape (3, 4)') in texts


def test_lost_sharing_is_found():
    report = check(twice, lambda model: twice(Dense(3, name='dense'),
                                              Dense(3, name='again')))
    assert 'add: layer at place 3: expected add, got again' in map(
        str, report.differences)


def test_lost_sharing_with_a_nested_model_is_found():
    report = check(nested, lambda model: nested(Dense(3, name='shared')))
    assert (report.outcome, report.layer) == ('other graph', 'shared')
    assert report.reason == ('shared: sharing: expected the layer that is also '
                             'inner/shared, got another layer')


def test_sharing_that_was_not_there_is_found():
    report = check(lambda: nested(Dense(3, name='shared')),
                   lambda model: nested())
    assert ('shared: sharing: expected a layer of its own, got the layer that is '
            'also inner/shared') in map(str, report.differences)


class Tied(Dense):
    """A dense layer on the kernel of another one."""

    def __init__(self, units, tied_to=None, **kwargs):
        super().__init__(units, use_bias=False, **kwargs)
        self.tied_to = tied_to

    def build(self, input_shape):
        if self.tied_to is None:
            super().build(input_shape)
        else:
            self.kernel = self.tied_to.kernel
            self._trainable_weights.append(self.kernel)
            self.built = True


def tied(tie=True):
    first = Tied(3, name='first')
    x = Input((3,), name='x')
    y = Tied(3, tied_to=first if tie else None, name='second')(first(x))
    return Model(x, y, name='tied')


def test_weights_that_are_no_longer_shared_are_found():
    assert ('second: weight 0: expected that of first, got another') in map(
        str, check(tied, lambda model: tied(False)).differences)


def test_weights_that_were_not_shared_are_found():
    assert ('second: weight 0: expected one of its own, got that of first') in map(
        str, check(lambda: tied(False), lambda model: tied()).differences)


def test_tied_weights_are_faithful():
    report = check(tied, lambda model: tied())
    assert found(report) == []


def test_inner_layers_that_are_missing_are_found():
    report = check(tied, lambda model: tied(False))
    assert ('second', 'inner layers') in found(report)


def test_other_cell_in_a_recurrent_layer_is_found():
    def build(cell=layers.SimpleRNNCell):
        x = Input((4, 3), name='x')
        return Model(x, layers.RNN(cell(2, name='cell'), name='rnn')(x), name='rnn')
    report = check(build, lambda model: build(layers.GRUCell))
    assert ('rnn/cell', 'class') in found(report)


class Pass(layers.Layer):
    passes = True

    def compute_mask(self, inputs, mask=None):
        return mask if self.passes else None


class Stop(Pass):
    passes = False


def passed(cls=Pass, end=None):
    x = Input((4, 3), name='x')
    y = cls(name='pass')(Masking(name='masking')(x))
    return Model(x, (end or Activation('tanh', name='end'))(y), name='model')


def test_missing_and_extra_masks_are_found():
    dropped = check(passed, lambda model: passed(Stop)).differences
    assert 'pass: output mask: expected a mask, got none' in map(str, dropped)
    assert 'end: input mask: expected a mask, got none' in map(str, dropped)
    added = check(lambda: passed(Stop), lambda model: passed()).differences
    assert 'pass: output mask: expected none, got a mask' in map(str, added)


def test_numbers_part_where_a_mask_is_lost():
    def build(cls=Pass):
        return passed(cls, SimpleRNN(2, name='rnn'))
    report = check(build, lambda model: build(Stop))
    assert (report.outcome, report.layer) == ('wrong numbers', 'pass')


def test_other_value_of_a_call_argument_is_found():
    report = check(powers, lambda model: powers(2, 4))
    assert 'power: call argument exponent: expected 3, got 4' in map(
        str, report.differences)


def test_call_argument_too_many_is_found():
    report = check(masked, lambda model: masked(training=None))
    assert report.reason == ('rnn: call argument training: expected nothing, '
                             'got None')
    assert report.outcome == 'other graph'


def test_missing_call_argument_is_found():
    report = check(lambda: masked(training=None), lambda model: masked())
    assert 'call argument training: expected None, got nothing' in report.reason


def test_tensor_deep_in_a_call_argument_has_to_be_the_partner():
    def build(right=True):
        x = Input((3,), name='x')
        y = Dense(3, name='dense')(x)
        z = Activation('linear', name='same')(y)
        power = Power(name='power')(y, bases={'of': [z if right else y]})
        return Model(x, Add(name='add')([power, z]), name='model')
    assert check(build, lambda model: build()).faithful
    report = check(build, lambda model: build(False))
    assert ('power: call argument bases of[0]: expected output 0 of same, got '
            'output 0 of dense') in map(str, report.differences)


def test_tensor_of_the_original_in_a_call_argument_is_found():
    def build(model=None):
        x = Input((3,), name='x')
        y = Dense(3, name='dense')(x)
        base = model.get_layer('dense').output if model else y
        return Model(x, Power(name='power')(y, bases={'of': [base]}), name='model')
    report = check(build, build)
    assert ('power: call argument bases of[0]: expected output 0 of dense, got '
            'that of the original') in map(str, report.differences)


def test_other_class_of_the_same_name_is_found():
    report = check(lambda: chain(Choice(name='middle')), lambda model: chain(
        type('Choice', (layers.Layer,), {})(name='middle')))
    assert ('middle: class: expected Choice, got another class of that name') in map(
        str, report.differences)


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
    assert any(str(each).startswith('rnn: call argument mask: expected tensor') and
               each.got == 'that of the original' for each in report.differences)


def test_layer_that_only_a_call_argument_leads_to_is_compared():
    def build(activation='tanh'):
        x = Input((3,), name='x')
        base = Activation(activation, name='hidden')(x)
        return Model(x, Power(name='power')(x, bases={'of': [base]}), name='model')
    assert check(build, lambda model: build()).faithful
    report = check(build, lambda model: build('relu'))
    assert (report.outcome, report.layer) == ('wrong numbers', 'power')


def test_swapped_inputs_of_a_layer_are_found():
    def build(swap=False):
        x = Input((3,), name='x')
        a, b = Two(name='two')(x)
        return Model(x, layers.Subtract(name='minus')([b, a] if swap else [a, b]),
                     name='model')
    report = check(build, lambda model: build(True))
    assert ('minus: input 0: expected output 0 of two, got output 1 of two') in map(
        str, report.differences)


def test_another_call_of_the_same_layer_is_found():
    def build(second=True):
        x = Input((3,), name='x')
        dense = Dense(3, name='dense')
        a, b = dense(x), dense(Activation('tanh', name='tanh')(x))
        return Model(x, Add(name='add')([a, b, b if second else a]), name='model')
    report = check(build, lambda model: build(False))
    assert ('add: input 2: expected output 0 of dense, got another tensor of that '
            'name') in map(str, report.differences)


def test_other_number_of_inputs_of_a_layer_is_found():
    def build(count=2):
        x = Input((3,), name='x')
        return Model(x, Add(name='add')([x] * count), name='model')
    report = check(build, lambda model: build(3))
    assert 'add: number of input tensors: expected 2, got 3' in map(
        str, report.differences)


def test_other_order_of_calls_is_found():
    report = check(powers, lambda model: powers(swap=True))
    assert report.reason == 'power: order of calls: expected [0, 1], got [1, 0]'


def test_other_output_shape_is_found():
    def build(shape=(None, 3)):
        return chain(end=Lambda(lambda x: x, output_shape=lambda _: shape,
                                name='last'))
    report = check(build, lambda model: build((3, 3)))
    assert 'last: output shapes: expected [(None, 3)], got [(3, 3)]' in map(
        str, report.differences)


def test_swapped_outputs_of_the_model_are_found():
    def build(swap=False):
        x = Input((3,), name='x')
        a, b = Dense(2, name='a')(x), Dense(2, name='b')(x)
        return Model(x, [b, a] if swap else [a, b], name='model')
    report = check(build, lambda model: build(True))
    assert ('', 'output 0 of the model') in found(report, 'other graph')


def test_other_number_of_outputs_of_the_model_is_found():
    def build(count=2):
        x = Input((3,), name='x')
        return Model(x, [Dense(2, name='a')(x)] * count, name='model')
    report = check(build, lambda model: build(1))
    assert ('', 'number of outputs') in found(report, 'other graph')


def test_missing_loss_is_found():
    def build(regularizer='l2'):
        return chain(end=Dense(2, name='last', kernel_regularizer=regularizer))
    assert ('', 'number of losses') in found(check(build, lambda model: build(None)))


def test_what_is_no_model_is_found():
    report = check(chain, lambda model: None)
    assert report.reason == 'what cloning returns: expected a `Model`, got None'


def test_config_that_cannot_be_compared_is_left_out():
    report = check(lambda: chain(end=Unsavable(2, name='last')),
                   lambda model: chain(end=Unsavable(2, name='last')), saving=True)
    assert report.faithful


def test_config_that_only_the_original_has_is_found():
    class Once(Dense):
        configured = True

        def get_config(self):
            if not self.configured:
                raise KeyError('units')
            return super().get_config()

    def clone(model):
        clone = chain(end=Once(2, name='last'))
        clone.get_layer('last').configured = False
        return clone
    report = check(lambda: chain(end=Once(2, name='last')), clone)
    assert report.reason.endswith("""got "KeyError: 'units'\"""")


@on_tensorflow
def test_op_too_many_is_found():
    def clone(model):
        twin = chain()
        Activation('tanh', name='middle')(twin.outputs[0])
        return twin
    report = check(chain, clone)
    assert report.reason == ("middle: ops: expected as many as the original's, "
                             'got 1 more Tanh')


@on_tensorflow
def test_op_too_few_is_found_unless_the_original_may_have_made_more():
    def build():
        model = chain()
        K.tanh(model.outputs[0])
        return model
    assert check(build, lambda model: chain()).reason.endswith('got 1 fewer Tanh')
    assert check(build, lambda model: chain(), exact_ops=False).faithful


@on_tensorflow
def test_ops_are_counted_without_those_that_set_weights():
    values = [np.ones((3, 3)), np.ones(3)]
    counts, with_weights = (
        graphs.count_ops(graphs.ops_while(
            lambda: Dense(3, weights=weights)(K.placeholder((2, 3))))[1])
        for weights in (None, values))
    assert counts and with_weights == counts


# Independent


def test_layer_of_the_original_in_the_clone_is_found():
    def clone(model):
        return chain(model.get_layer('middle'))
    report = check(chain, clone)
    assert report.outcome == 'not independent'
    assert ('middle', 'the layer') in found(report, 'not independent')


def test_weight_of_the_original_in_the_clone_is_found():
    def clone(model):
        return chain(end=Tied(2, tied_to=model.get_layer('last'), name='last'))
    report = check(lambda: chain(end=Tied(2, name='last')), clone)
    assert ('last', 'weight 0') in found(report, 'not independent')


def test_state_of_the_original_in_the_clone_is_found():
    def clone(model):
        clone = stateful()
        clone.get_layer('lstm').states = model.get_layer('lstm').states
        return clone
    assert ('lstm', 'state 1') in found(check(stateful, clone), 'not independent')


def test_arguments_of_the_original_in_the_clone_are_found():
    def clone(model):
        node = model.get_layer('power')._inbound_nodes[0]
        clone = powers()
        clone.get_layer('power')._inbound_nodes[0].arguments = node.arguments
        return clone
    report = check(powers, clone)
    assert found(report) == [('power', 'the arguments of call 0')]
    assert report.outcome == 'not independent'


def test_list_in_the_arguments_of_the_original_is_found():
    bases = {'of': [None]}

    def build():
        return powers(bases=bases)

    class Ignore(Power):
        def call(self, inputs, exponent=1, bases=None):
            return K.pow(inputs, exponent)

    def with_list(shared):
        x = Input((3,), name='x')
        return Model(x, Ignore(name='ignore')(x, bases=({'of': shared},)),
                     name='model')
    shared = [1, 2]
    report = check(lambda: with_list(shared), lambda model: with_list(shared))
    assert found(report) == [('ignore', 'the arguments of call 0')]
    report = check(lambda: with_list(shared), lambda model: with_list([1, 2]))
    assert report.faithful


@not_on_cntk
def test_clone_that_computes_from_a_weight_of_the_original_is_found():
    def build(kernel=None):
        def times(x):
            return x if kernel is None else x + 0 * K.sum(kernel)
        return chain(Lambda(times, name='middle'))
    report = check(build, lambda model: build(model.get_layer('first').kernel))
    assert ('middle', 'what it computes from') in found(report, 'not independent')


@pytest.mark.parametrize('pollute, expected', [
    (lambda model: model.get_layer('power')._inbound_nodes[0].arguments.update(
        mask=None), ('power', 'the original after cloning, _inbound_nodes 0 '
                              'arguments mask')),
    (lambda model: model.get_layer('power')(Input((3,))),
     ('power', 'the original after cloning, _inbound_nodes 2')),
    (lambda model: setattr(model.get_layer('minus'), 'name', 'plus'),
     ('minus', 'the original after cloning, name')),
    (lambda model: utils.get_custom_objects().update(Power=Power),
     ('', 'the original after cloning, custom objects Power'))])
def test_change_of_the_original_is_found(pollute, expected):
    def clone(model):
        pollute(model)
        return powers()
    try:
        assert expected in found(check(powers, clone), 'not independent')
    finally:
        utils.get_custom_objects().clear()


def test_change_of_a_weight_of_the_original_is_found():
    def clone(model):
        model.set_weights([2 * each for each in model.get_weights()])
        return chain()
    report = check(chain, clone)
    assert ('last', 'the original after cloning, the value of weight 1') in found(
        report, 'not independent')


def test_snapshots_of_an_untouched_model_are_the_same():
    model = every_kind_of_layer()
    before = snapshot(model)
    model.get_config()
    assert changes(before, snapshot(model)) == []


class Scaled(layers.Layer):
    """Has a weight without axes."""

    def build(self, input_shape):
        self.scale = self.add_weight(name='scale', shape=(), initializer='ones')
        super().build(input_shape)

    def call(self, inputs):
        return self.scale * inputs


@not_on_cntk
def test_snapshots_of_a_model_with_a_scalar_weight_are_the_same():
    model = chain(Scaled())
    assert changes(snapshot(model), snapshot(model)) == []


# What layers know, at every depth


class Owner:
    """An object of the user's."""

    def __init__(self, value):
        self.value = value

    def method(self, x):
        return x


class Knows(layers.Layer):
    """Has attributes of all kinds, none of which its config tells."""
    times = 2

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.number = .5
        self.table = {'a': [1, 2]}
        self.array = np.arange(3.)
        self.function = lambda x, by=self.times: by * x
        self.partial = functools.partial(max, 1)
        self.owner = Owner(2)
        self.kinds = {1, 2}
        self.inner = Bidirectional(SimpleRNN(2, name='rnn'), name='inner')

    def build(self, input_shape):
        self.first, self.second = (self.add_weight(
            shape=(3,), initializer='ones', name=name) for name in 'ab')
        super().build(input_shape)

    def call(self, inputs):
        return inputs * self.first * self.second


def knows(change=lambda layer: None):
    model = chain(Knows(name='middle'))
    change(model.get_layer('middle'))
    return model


def set_by_name(name, value):
    return lambda layer: setattr(layer, name, value)


def freeze_cell(layer):
    layer.inner.forward_layer.cell.trainable = False


@pytest.mark.parametrize('change, layer, what', [
    (freeze_cell, 'middle/inner/forward_rnn/simple_rnn_cell_1', 'trainable'),
    (lambda layer: setattr(layer.inner.forward_layer, 'unroll', True),
     'middle/inner/forward_rnn', 'attribute unroll'),
    (set_by_name('number', .6), 'middle', 'attribute number'),
    (lambda layer: delattr(layer, 'number'), 'middle', 'attribute number'),
    (set_by_name('table', {'a': [1, 3]}), 'middle', "attribute table['a'][1]"),
    (set_by_name('array', np.zeros(3)), 'middle', 'attribute array'),
    (set_by_name('function', lambda x: x), 'middle', 'attribute function'),
    (set_by_name('times', 3), 'middle', None),
    (set_by_name('partial', functools.partial(max, 2)), 'middle',
     'attribute partial.args[0]'),
    (set_by_name('owner', Owner(3)), 'middle', 'attribute owner.value'),
    (set_by_name('kinds', {1, 3}), 'middle', 'attribute kinds'),
    (lambda layer: layer._trainable_weights.reverse(), 'middle', 'attribute first')],
    ids=['flag of a cell', 'inner layer', 'number', 'missing', 'table', 'array',
         'function', 'more', 'partial', 'object', 'set', 'order of weights'])
def test_what_a_layer_has_lost_is_found(change, layer, what):
    report = check(knows, lambda model: knows(change))
    assert ((layer, what) in found(report)) == (what is not None)


class Counts(layers.Layer):
    """Has what tells one layer or call from another, and is no state."""
    count = itertools.count()

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.number = next(self.count)
        self.address = id(self)
        self.by_address = {id(self): 1}
        self.calls = 0

    def call(self, inputs):
        self.calls += 1
        self._remember(inputs)
        return 2 * inputs

    def _remember(self, inputs):
        self.last = inputs
        self.how = str(inputs)


def test_what_tells_layers_and_calls_apart_is_not_owed():
    def build(calls=0):
        model = chain(Counts(name='middle'))
        model.get_layer('middle').calls += calls
        return model
    assert found(check(build, lambda model: build(7))) == []


@pytest.mark.once
@pytest.mark.parametrize('holder', [
    lambda each: (each,), lambda each: {'a': [each]}, lambda each: {each},
    lambda each: Named(a=each), lambda each: lambda: each, Owner,
    lambda each: functools.partial(max, each), lambda each: Owner(each).method,
    lambda each: lambda x, by=each: x],
    ids=['tuple', 'dict', 'set', 'namespace', 'closure', 'object', 'partial',
         'bound method', 'default'])
@pytest.mark.parametrize('part', [
    lambda layer: layer, lambda layer: layer.first, lambda layer: layer.output],
    ids=['layer', 'variable', 'tensor'])
def test_what_holds_a_part_of_the_original_is_found(holder, part):
    def clone(model):
        original = model.get_layer('middle')
        return knows(set_by_name('held', holder(part(original))))
    layer, _ = found(check(knows, clone), 'not independent')[0]
    assert layer in ('middle', 'middle/middle')


class Keeps(layers.Layer):
    """Keeps a layer and a variable where Keras does not look for them."""

    def __init__(self, value=1., trainable_inside=True, **kwargs):
        super().__init__(**kwargs)
        self.kept = Owner((Dense(3, name='kept', trainable=trainable_inside),
                           K.variable([value])))

    def call(self, inputs):
        return 2 * inputs


def test_flag_of_a_layer_that_an_object_holds_is_found():
    report = check(lambda: chain(Keeps(name='middle')), lambda model: chain(
        Keeps(trainable_inside=False, name='middle')))
    assert found(report) == [('middle/kept', 'trainable')]


def test_value_of_a_variable_that_an_object_holds_is_found():
    report = check(lambda: chain(Keeps(name='middle')),
                   lambda model: chain(Keeps(2., name='middle')))
    assert found(report) == [('middle', 'the value of a variable that it holds')]


# Losses and training


class Trains(layers.Layer):
    """Computes, in training alone, what `factor` tells; has a loss and an update."""

    def __init__(self, factor=2., loss=1., update=1., stops=False, **kwargs):
        super().__init__(**kwargs)
        self.factor, self.loss, self.update = factor, loss, update
        self.stops = stops

    def build(self, input_shape):
        self.scale = self.add_weight('scale', (3,), initializer='ones')
        self.mean = self.add_weight('mean', (3,), initializer='ones',
                                    trainable=False)
        super().build(input_shape)

    def call(self, inputs):
        # Set here: no attribute is to tell what was done.
        self.factor, self.loss, self.update, self.stops = (
            self.factor, self.loss, self.update, self.stops)
        self.add_loss(self.loss * K.sum(K.square(inputs)), inputs)
        self.add_update(K.update(self.mean, self.mean * self.update), inputs)
        scaled = inputs * self.scale
        if self.stops:
            scaled = K.stop_gradient(scaled)
        return K.in_train_phase(self.factor * scaled, scaled)


@pytest.mark.once
@pytest.mark.parametrize('change, layer, what', [
    ({'loss': 2.}, '', 'losses'),
    ({'factor': 3.}, '', 'outputs in training'),
    ({'update': 3.}, 'middle', 'weights after a step of training'),
    pytest.param({'stops': True}, 'first', 'weights after a step of training',
                 marks=on_tensorflow)],
    ids=['loss', 'training', 'update', 'gradient'])
@not_on_cntk
def test_other_training_is_found(change, layer, what):
    report = check(lambda: chain(Trains(name='middle')),
                   lambda model: chain(Trains(name='middle', **change)),
                   exact_ops=False)
    assert (layer, what) in found(report, 'wrong numbers')
    assert report.outcome == 'wrong numbers'


def test_training_that_is_not_asked_for_is_not_compared():
    assert check(lambda: chain(Trains(name='middle')),
                 lambda model: chain(Trains(3., name='middle')), exact_ops=False,
                 training=False).faithful


@on_tensorflow
@pytest.mark.once  # Training is not judged on TensorFlow 2.
def test_dropout_that_rarely_drops_is_not_compared():
    def build():
        return chain(layers.Dropout(.05, name='middle'))
    reports = [check(build, lambda model: build(), exact_ops=False, seed=seed)
               for seed in range(8)]
    assert [report.faithful for report in reports] == [True] * 8
    assert any(report.not_compared for report in reports)


@not_on_cntk
def test_training_leaves_the_model_as_it_was():
    model, clone = (chain(Trains(update=3., name='middle')) for _ in range(2))
    before = snapshot(model)
    assert compare(model, clone) == []
    assert changes(before, snapshot(model)) == []
    assert K.get_value(model.get_layer('middle').mean).tolist() == [1, 1, 1]


@not_on_cntk
def test_constraint_that_is_lost_is_found():
    def build(constraint='non_neg'):
        return chain(end=Dense(2, name='last', kernel_constraint=constraint))
    assert ('last', 'configuration kernel_constraint') in found(
        check(build, lambda model: build(None)))


# Closed


def test_clone_whose_clone_crashes_clones_only_once():
    def clone(model):
        if hasattr(model, 'is_clone'):
            raise RuntimeError('once is enough')
        clone = chain()
        clone.is_clone = True
        return clone
    report = check(chain, clone, depth=2)
    assert report.outcome == 'clones only once'
    assert report.reason.endswith("the clone's clone: cloning: expected a clone, "
                                  'got RuntimeError: once is enough')


def test_clone_whose_clone_shares_its_layers_clones_only_once():
    clones = []

    def clone(model):
        clones.append(clones[0] if clones else chain())
        return clones[-1]
    report = check(chain, clone, depth=2)
    assert report.outcome == 'clones only once'
    assert ('first', 'the layer') in found(report, 'clones only once')
    assert any(str(each).startswith("first: the clone's clone: the layer: ")
               for each in report.differences)


def test_fault_of_every_generation_is_reported_once():
    report = check(masked, lambda model: masked(mask=None), depth=3)
    assert len(report.differences) == len(set(report.differences))
    assert not any(each.in_clones_clone for each in report.differences)


def test_same_fault_of_two_calls_of_a_layer_is_reported_once():
    report = check(twice, lambda model: Model(model.inputs, model.outputs), depth=2)
    assert report.differences
    assert len(report.differences) == len(set(report.differences))


def test_clone_that_cannot_be_saved_is_found():
    def clone(model):
        return chain(end=Unsavable(2, name='last'))
    report = check(chain, clone, saving=True)
    assert report.differences[-1].outcome == 'does not save'
    assert str(report.differences[-1]) == (
        "save and load: expected the original's outputs, "
        'got NotImplementedError: not to be saved')


def test_clone_that_is_another_model_when_loaded_is_found():
    class Scaled(layers.Layer):
        def __init__(self, factor, saved=None, **kwargs):
            super().__init__(**kwargs)
            self.factor = factor
            self.saved = saved or factor

        def call(self, inputs):
            return self.factor * inputs

        def get_config(self):
            config = super().get_config()
            config['factor'] = self.saved
            return config

    report = check(lambda: chain(Scaled(2., name='middle')),
                   lambda model: chain(Scaled(2., 3., name='middle')), saving=True)
    assert found(report, 'does not save') == [('', 'save and load')]


def test_original_that_is_another_model_when_loaded_asks_nothing_of_the_clone():
    class Forgetful(layers.Layer):
        def __init__(self, factor=1., **kwargs):
            super().__init__(**kwargs)
            self.factor = factor

        def call(self, inputs):
            return self.factor * inputs

    def build():
        return chain(Forgetful(3., name='middle'))
    assert check(build, lambda model: build(), saving=True).faithful


# A clone built on other tensors


def test_clone_on_an_input_is_faithful():
    model = chain()
    x = Input((3,), name='another')
    assert compare(model, chain(x=x), on=[x]) == []


@not_on_cntk
def test_clone_on_the_output_of_a_layer_is_faithful():
    model = chain()
    source = Input((5,), name='source')
    y = Dense(3, name='before')(source)
    clone = Model(source, Dense(2, name='last')(Activation('tanh', name='middle')(
        Dense(3, name='first')(y))), name='chain')
    assert compare(model, clone, on=[y]) == []


def test_clone_on_an_input_of_the_original_is_faithful():
    model = chain()
    assert compare(model, chain(x=model.inputs[0]), on=model.inputs) == []


def test_fault_of_a_clone_on_an_input_is_found():
    x = Input((3,), name='another')
    found = compare(chain(), chain(Activation('relu', name='middle'), x=x), on=[x])
    assert (found[0].outcome, found[0].layer) == ('wrong numbers', 'middle')


# What is drawn


def test_ids_are_below_the_input_dim_and_rows_end_in_zeros():
    x = Input((4,))
    y = Embedding(3, 2, mask_zero=True)(layers.Reshape((4,))(x))
    value, = draw_inputs(Model(x, y))
    assert set(np.unique(value)) == {0, 1, 2}
    assert (value == 0).sum(axis=1).tolist() == [2, 1, 0]


def test_ids_reach_an_embedding_in_a_nested_model_or_wrapper():
    inner = Sequential([Embedding(2, 3, input_length=4)])
    x, y = Input((4,)), Input((5, 4))
    model = Model([x, y], [inner(x), TimeDistributed(Embedding(2, 3))(y)])
    for value in draw_inputs(model):
        assert set(np.unique(value)) == {0, 1}


def test_layer_with_an_input_dim_that_is_no_embedding_gets_no_ids():
    class Coder(layers.Layer):
        input_dim = 2
    x = Input((4,))
    value, = draw_inputs(Model(x, Coder()(x)))
    assert (value < 0).any()


def test_sequences_end_in_the_value_that_is_masked():
    x = Input((4, 2))
    value, = draw_inputs(Model(x, Masking(mask_value=7.)(x)))
    assert (value == 7).all(axis=-1).sum(axis=1).tolist() == [2, 1, 0]


@not_on_cntk
def test_sizes_dtypes_and_batch_size_are_respected():
    inputs = [Input(batch_shape=(2, None)), Input((None, None, 3)),
              Input((4,), dtype='int32'), Input((4,), dtype='bool')]
    values = draw_inputs(Model(inputs, inputs))
    assert [value.shape for value in values] == [(2, 5), (2, 32, 32, 3), (2, 4),
                                                 (2, 4)]
    assert [value.dtype.name for value in values] == ['float32', 'float32', 'int32',
                                                      'bool']


def test_one_row_ends_half_way():
    x = Input(batch_shape=(1, 4, 2))
    value, = draw_inputs(Model(x, x))
    assert (value == 0).all(axis=-1).tolist() == [[False, False, True, True]]


@not_on_cntk
def test_input_without_steps_is_drawn():
    x = Input(batch_shape=(3,), dtype='bool')
    value, = draw_inputs(Model(x, Lambda(lambda x: x)(x)))
    assert value.shape == (3,)


@on_tensorflow
def test_sparse_input_is_drawn_as_a_sparse_matrix():
    x = Input((4,), sparse=True)
    value, = draw_inputs(Model(x, Dense(2)(x)))
    assert value.format == 'csr'


@on_tensorflow
def test_texts_are_drawn_for_an_input_of_texts():
    x = Input((2,), dtype='string')
    value, = draw_inputs(Model(x, Lambda(lambda x: x)(x)))
    assert value.shape == (3, 2)
    assert all(isinstance(text, str) for text in value.flat)


@on_tensorflow
def test_model_of_texts_is_compared():
    import tensorflow as tf

    def build(text='a'):
        x = Input((2,), dtype='string', name='x')
        return Model(x, Lambda(lambda x: K.cast(tf.equal(x, text), 'float32'),
                               output_shape=(2,), name='is')(x), name='model')
    assert check(build, lambda model: build()).faithful
    assert check(build, lambda model: build('b')).outcome == 'wrong numbers'


def test_the_same_seed_draws_the_same():
    model = chain()
    first, again, other = (draw_inputs(model, seed) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_drawn_weights_leave_no_bias_at_zero_and_variances_positive():
    model = Sequential([Dense(3, input_shape=(3,)), layers.BatchNormalization()])
    random_values.draw_weights(model)
    for weight in model.get_weights()[1:]:
        assert (weight > 0).all()


@not_on_cntk
def test_integer_weights_are_left_alone():
    class Counter(layers.Layer):
        def build(self, input_shape):
            self.count = K.variable([0, 0], dtype='int32')
            self._non_trainable_weights.append(self.count)
            self.built = True
    model = chain(Counter(name='middle'))
    random_values.draw_weights(model)
    assert K.get_value(model.get_layer('middle').count).tolist() == [0, 0]


# Backends


def test_fresh_state_numbers_layers_anew_and_leaves_the_names_outside():
    first = K.get_uid('thing')
    with graphs.fresh_state():
        assert K.get_uid('thing') == 1
    assert K.get_uid('thing') == first + 1


def test_fresh_state_leaves_the_random_numbers_outside():
    np.random.seed(1)
    expected = np.random.RandomState(1).rand(2)
    first = np.random.rand()
    with graphs.fresh_state():
        np.random.rand()
    assert [first, np.random.rand()] == expected.tolist()


@pytest.fixture
def tensorflow():
    return pytest.importorskip('tensorflow')


def test_graph_of_tensorflow_2_is_that_of_its_keras_backend(monkeypatch, tensorflow):
    from tensorflow.python.keras import backend
    graph = object()
    monkeypatch.setattr(tensorflow, '__version__', '2.0.0')
    monkeypatch.setattr(backend, 'get_graph', lambda: graph, raising=False)
    assert tensors_keras2.current_graph() is graph


def test_fresh_state_on_tensorflow_2_is_a_new_graph(monkeypatch, tensorflow):
    pytest.importorskip('tensorflow.python.framework.func_graph')  # From 1.13 on.
    from keras.backend import tensorflow_backend
    from tensorflow.python.keras import backend
    monkeypatch.setattr(K, 'backend', lambda: 'tensorflow')
    monkeypatch.setattr(tensorflow, 'executing_eagerly', lambda: True)
    monkeypatch.setattr(backend, '_GRAPH', 'old', raising=False)
    monkeypatch.setattr(backend, '_GRAPH_LEARNING_PHASES', {})
    monkeypatch.setattr(tensorflow_backend, '_LEARNING_PHASE_CACHE', {1: 2},
                        raising=False)
    seeds = []
    monkeypatch.setattr(tensorflow.compat.v2.random, 'set_seed', seeds.append)
    with graphs.fresh_state(3):
        assert seeds == [3]
        assert backend._GRAPH.name == 'keras_graph'
        assert tensorflow_backend._LEARNING_PHASE_CACHE == {}
        backend._GRAPH_LEARNING_PHASES[backend._GRAPH] = 'a tensor of the graph'
    assert backend._GRAPH == 'old'
    assert tensorflow_backend._LEARNING_PHASE_CACHE == {1: 2}
    assert backend._GRAPH_LEARNING_PHASES == {}


class Eager:
    """A variable of TensorFlow 2."""

    def numpy(self):
        return np.ones(2)


def test_source_of_an_eager_variable_is_what_captures_it(monkeypatch):
    variable, other = Eager(), Eager()
    monkeypatch.setattr(K, 'backend', lambda: 'tensorflow')
    monkeypatch.setattr(tensors_keras2, 'current_graph', lambda: Named(
        captures=[(other, Named(op=1)), (variable, Named(op=2))]))
    assert graphs.source_keys(variable) == {id(2)}


def test_eager_variable_has_its_value():
    variable = Eager()
    assert computing_keras2.function_of([], [variable])()[0].tolist() == [1, 1]


def test_session_of_tensorflow_before_1_13_leaves_out_what_it_lacks(monkeypatch,
                                                                    tensorflow):
    v1 = tensorflow if hasattr(tensorflow, 'Session') else tensorflow.compat.v1
    options = Named(optimizer_options=Named(), rewrite_options=object())
    config = Named(graph_options=options)
    monkeypatch.setattr(v1, 'ConfigProto', lambda **kwargs: config)
    monkeypatch.setattr(v1, 'Session', lambda **kwargs: kwargs)
    assert fresh_state_keras2.session('graph') == {
        'graph': 'graph', 'config': config}


def test_fresh_state_on_theano_and_cntk_numbers_layers_anew(monkeypatch):
    backend = Named(_UID_PREFIXES={'lambda': 3})
    monkeypatch.setattr(K, 'backend', lambda: 'other')
    monkeypatch.setitem(sys.modules, 'keras.backend.other_backend', backend)
    with graphs.fresh_state():
        assert backend._UID_PREFIXES['lambda'] == 0
    assert backend._UID_PREFIXES == {'lambda': 3}
    assert graphs.ops_while(lambda: 3) == (3, [])


class Variable:
    """What the graph of Theano is made of."""

    def __init__(self, *inputs):
        self.owner = inputs and self
        self.inputs = inputs


def test_sources_on_theano_are_the_variables(monkeypatch):
    monkeypatch.setattr(K, 'backend', lambda: 'theano')
    x, y = Variable(), Variable()
    z = Variable(Variable(x, y), x)
    seen = set()
    assert id(x) in graphs.sources([z], seen) and id(y) in seen
    assert graphs.sources([z], seen) == set()
    assert graphs.source_keys(x) == {id(x)}


def test_sources_on_cntk_are_not_searched(monkeypatch):
    monkeypatch.setattr(K, 'backend', lambda: 'cntk')
    assert graphs.sources([Variable()], set()) == set()


# What is said


def test_values_are_the_same_by_what_can_be_seen_of_them():
    same = same_value
    assert same(1, 1) and not same(1, 2) and not same(1, 1.)
    assert same(float('nan'), float('nan'))
    assert same(np.ones(2), np.ones(2)) and not same(np.ones(2), np.ones(2, 'int32'))
    assert same(np.array(['a']), np.array(['a']))
    assert not same(np.array(['a']), np.array(['b']))
    assert not same(lambda: 1, lambda: 2)
    assert same(object(), object()) and not same(object(), object(), strict=True)
    assert not same('tanh', 'relu')
    assert not same('x' * 8, 'é' * 8)


def test_code_in_a_config_is_the_same_however_it_was_marshalled():
    function = Lambda(lambda x: [x, x])
    text = utils.generic_utils.func_dump(function.function)[0]
    same_function = utils.generic_utils.func_load(text)
    other = utils.generic_utils.func_dump(lambda x: [x, 2 * x])[0]
    again = utils.generic_utils.func_dump(same_function)[0]
    assert same_value(text, again)
    assert not same_value(text, other)


def test_long_texts_are_cut():
    assert shortened('x' * 80) == 'x' * 67 + '...'
