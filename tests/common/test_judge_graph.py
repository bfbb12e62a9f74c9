"""The judge finds other layers, sharing, masks, call arguments and ops."""
import pytest
from keras import layers
from keras.layers import Activation, Add, Dense, Input, Lambda, Masking, SimpleRNN
from keras.models import Model
from keras_clone.check.graphs import graphs

from judging import (chain, check, Choice, found, nested, Power, powers, sequential,
                     texts, twice, Two, Unsavable)
from judging import fresh_state  # noqa: F401


@pytest.mark.parametrize('clone, expected', [
    (lambda model: chain(name='other'), ('', 'name')),
    (lambda model: chain(Activation('tanh', name='other')),
     ('middle', 'layer at place 2')),
    (lambda model: sequential(), ('', 'class')),
    (lambda model: chain(Power(name='middle')), ('middle', 'class')),
    (lambda model: chain(end=Dense(2, name='last', use_bias=False)),
     ('last', 'number of weights')),
    (lambda model: chain(end=Dense(2, name='last', kernel_regularizer='l2')),
     ('last', 'configuration: kernel_regularizer')),
    (lambda model: chain(end=Dense(2, name='last', trainable=False)),
     ('last', 'trainable'))])
def test_other_layers_are_found(clone, expected):
    assert expected in found(check(chain, clone), 'other graph')


def two_layers():
    x = Input((3,), name='x')
    return Model(x, Dense(2, name='last')(Dense(3, name='first')(x)), name='chain')


def test_missing_layer_is_found():
    report = check(chain, lambda model: two_layers())
    assert 'middle: layer at place 2: expected middle, got last' in map(
        str, report.differences)


def test_extra_layer_is_found():
    end = Dense(2, name='last')

    def clone(model):
        return chain(end=lambda y: Lambda(lambda x: x, name='more')(end(y)))
    assert ('more', 'layer at place 4') in found(check(chain, clone), 'other graph')


def test_weight_of_another_shape_is_found():
    def build(units=3):
        return chain(Dense(units, name='middle'))
    assert ('middle: weight 0: expected float32 of shape (3, 3), '
            'got float32 of shape (3, 4)') in texts(build, 4)


def test_lost_sharing_is_found():
    assert 'add: layer at place 3: expected add, got again' in texts(
        twice, Dense(3, name='dense'), Dense(3, name='again'))


def test_lost_sharing_with_a_nested_model_is_found():
    assert ('shared: sharing: expected the layer that is also inner/shared, got a '
            'layer of its own') in texts(nested, Dense(3, name='shared'))


def test_extra_sharing_is_found():
    report = check(lambda: nested(Dense(3, name='shared')), lambda model: nested())
    assert ('shared: sharing: expected a layer of its own, got the layer that is '
            'also inner/shared') in map(str, report.differences)


def test_other_cell_in_a_recurrent_layer_is_found():
    def build(cell=layers.SimpleRNNCell):
        x = Input((4, 3), name='x')
        return Model(x, layers.RNN(cell(2, name='cell'), name='rnn')(x), name='rnn')
    report = check(build, lambda model: build(layers.GRUCell))
    assert ('rnn/cell', 'class') in found(report)


class Pass(layers.Layer):
    """Passes its mask on, or not; no config has this."""

    def __init__(self, passes=True, **kwargs):
        super().__init__(**kwargs)
        self.passes = passes

    def call(self, inputs):
        return 1 * inputs

    def compute_mask(self, inputs, mask=None):
        return mask if self.passes else None

    def get_config(self):
        return {'name': self.name}


def passed(passes=True, end=None):
    x = Input((4, 3), name='x')
    y = Pass(passes, name='pass')(Masking(name='masking')(x))
    return Model(x, (end or Activation('tanh', name='end'))(y), name='model')


def test_missing_and_extra_masks_are_found():
    dropped = texts(passed, False)
    assert 'pass: output mask: expected a mask, got none' in dropped
    assert 'end: input mask: expected a mask, got none' in dropped
    added = check(lambda: passed(False), lambda model: passed())
    assert not added.faithful
    assert graphs.MASKS_MAY_APPEAR or (
        'pass: output mask: expected none, got a mask' in map(
            str, added.differences))


def test_wrong_numbers_are_located_where_a_mask_is_lost():
    def build(passes=True):
        return passed(passes, SimpleRNN(2, name='rnn'))
    report = check(build, lambda model: build(False))
    assert (report.outcome, report.layer) == ('wrong numbers', 'pass')


def test_other_value_of_a_call_argument_is_found():
    assert 'power: call argument exponent (call 1): expected 3, got 4' in texts(
        powers, 2, 4)


def test_tensor_deep_in_a_call_argument_has_to_be_the_partner():
    def build(right=True):
        x = Input((3,), name='x')
        y = Dense(3, name='dense')(x)
        z = Activation('linear', name='same')(y)
        power = Power(name='power')(y, bases={'of': [z if right else y]})
        return Model(x, Add(name='add')([power, z]), name='model')
    assert check(build, lambda model: build()).faithful
    assert ('power: call argument bases of[0]: expected output 0 of same, got '
            'output 0 of dense') in texts(build, False)


def test_other_class_of_the_same_name_is_found():
    report = check(lambda: chain(Choice(name='middle')), lambda model: chain(
        type('Choice', (Power,), {})(name='middle')))
    assert ('middle: class: expected Choice, got another one that looks the '
            'same') in map(str, report.differences)


def test_layer_that_only_a_call_argument_leads_to_is_compared():
    def build(activation='tanh'):
        x = Input((3,), name='x')
        base = Activation(activation, name='hidden')(x)
        return Model(x, Power(name='power')(x, bases={'of': [base]}), name='model')
    assert check(build, lambda model: build()).faithful
    report = check(build, lambda model: build('relu'))
    assert report.outcome == 'wrong numbers'
    assert report.layer in ('power', 'hidden')


def test_swapped_inputs_of_a_layer_are_found():
    def build(swap=False):
        x = Input((3,), name='x')
        a, b = Two(name='two')(x)
        return Model(x, layers.Subtract(name='minus')([b, a] if swap else [a, b]),
                     name='model')
    assert 'minus: input 0: expected output 0 of two, got output 1 of two' in texts(
        build, True)


def test_another_call_of_the_same_layer_is_found():
    def build(second=True):
        x = Input((3,), name='x')
        dense = Dense(3, name='dense')
        a, b = dense(x), dense(Activation('tanh', name='tanh')(x))
        return Model(x, Add(name='add')([a, b, b if second else a]), name='model')
    assert ('add: input 2: expected output 0 of dense (call 1), got output 0 of '
            'dense') in texts(build, False)


def test_other_number_of_inputs_of_a_layer_is_found():
    def build(count=2):
        x = Input((3,), name='x')
        return Model(x, Add(name='add')([x] * count), name='model')
    assert 'add: number of input tensors: expected 2, got 3' in texts(build, 3)


def test_other_order_of_calls_is_found():
    report = check(powers, lambda model: powers(swap=True))
    assert report.reason == ('minus: input 0: expected output 0 of power, got '
                             'output 0 of power (call 1)')


def test_other_output_shape_is_found():
    def build(shape=(None, 3)):
        return chain(end=Lambda(lambda x: x, output_shape=lambda _: shape,
                                name='last'))
    report = check(build, lambda model: build((3, 3)))
    assert ('last', 'output shapes') in found(report)


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
    report = check(build, lambda model: build(None))
    assert found(report)[0] in [('', 'losses'), ('', 'number of losses')]


def test_result_that_is_no_model_is_found_and_not_cloned_again():
    report = check(chain, lambda model: None, depth=2)
    assert report.reason == 'what cloning returns: expected a `Model`, got None'
    assert found(report) == [('', 'what cloning returns')]


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
    assert report.reason.endswith("expected an answer, got KeyError: 'units'")


def test_layer_with_another_name_is_compared_with_the_one_in_its_place():
    def build(name='middle', **arguments):
        return chain(Dense(3, name=name, **arguments))

    def in_graph(**arguments):
        report = check(build, lambda model: build('other', **arguments))
        return found(report, 'other graph')
    only_names = [('middle', 'layer at place 2'), ('middle', 'configuration: name')]
    assert in_graph() == only_names
    assert ('middle', 'trainable') in in_graph(trainable=False)
