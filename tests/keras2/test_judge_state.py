"""The judge finds that layers hold something else, at every depth."""
import functools
import itertools

import numpy as np
import pytest
from keras import backend as K, layers
from keras.layers import Dense

from judging import chain, check, found, knows, Owner, set_by_name
from judging import fresh_state  # noqa: F401


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
    """Has attributes that identify a layer or a call; they are not state."""
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


def test_attributes_that_identify_layers_and_calls_are_not_compared():
    def build(calls=0):
        model = chain(Counts(name='middle'))
        model.get_layer('middle').calls += calls
        return model
    assert found(check(build, lambda model: build(7))) == []


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
