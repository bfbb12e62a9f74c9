"""The judge finds that layers hold something else, at every depth."""
import functools
import itertools

import keras
import numpy as np
import pytest
from keras import layers

from judging import judged, knows, Owner, what_differs
from major_versions import chain


def bidirectional():
    model = chain(lambda: layers.Bidirectional(layers.GRU(2), name='both'),
                  shape=(4, 3))()
    model.layers[-1].forward_layer.cell.trainable = False
    return model


def test_guard_attributes_of_all_kinds_agree(assert_faithful):
    assert_faithful(knows)


@pytest.mark.parametrize('change, layer, what', [
    (lambda layer, _: setattr(layer.inner, 'trainable', False),
     'knows/inner', 'trainable'),
    (lambda layer, _: setattr(layer.first, 'trainable', False),
     'knows', 'weight 0'),
    (lambda layer, _: setattr(layer.inner, 'dtype_policy',
                              keras.DTypePolicy('float32')),
     'knows/inner', 'dtype policy'),
    (lambda layer, _: setattr(layer.inner, 'supports_masking', False),
     'knows/inner', 'supports_masking'),
    (lambda layer, _: setattr(layer.inner, 'units', 7),
     'knows/inner', 'attribute units'),
    (lambda layer, _: setattr(layer, 'number', .6), 'knows', 'attribute number'),
    (lambda layer, _: setattr(layer, 'text', 'b'), 'knows', 'attribute text'),
    (lambda layer, _: delattr(layer, 'text'), 'knows', 'attribute text'),
    (lambda layer, _: setattr(layer, 'table', {'a': [1, 3]}),
     'knows', "attribute table['a'][1]"),
    (lambda layer, _: setattr(layer, 'array', np.zeros(3)),
     'knows', 'attribute array'),
    (lambda layer, _: setattr(layer, 'function', lambda x: x),
     'knows', 'attribute function'),
    (lambda layer, _: setattr(layer, 'partial', functools.partial(max, 2)),
     'knows', 'attribute partial.args[0]'),
    (lambda layer, _: setattr(layer, 'owner', Owner(3)),
     'knows', 'attribute owner.value'),
], ids=['inner flag', 'flag of a weight', 'policy', 'mask', 'attribute of an inner '
        'layer', 'number', 'text', 'missing', 'table', 'array', 'function',
        'partial',
        'object'])
def test_what_a_layer_has_lost_is_found(change, layer, what):
    report = judged(knows, change)
    assert ('other graph', layer, what) in what_differs(report)


def test_flag_of_a_cell_is_found():
    report = judged(bidirectional, lambda layer, _: setattr(
        layer.forward_layer.cell, 'trainable', True))
    found = what_differs(report)
    assert ('other graph', 'both/forward_gru/gru_cell', 'trainable') in found


def test_other_order_of_weights_is_found():
    def swap(layer, _):
        layer._trainable_variables.reverse()
    report = judged(knows, swap)
    assert ('other graph', 'knows', 'attribute first') in what_differs(report)


def test_inner_layer_that_is_no_longer_quantized_is_found():
    def build():
        model = knows()
        inner = model.layers[-1].inner
        inner.dtype_policy = keras.DTypePolicy('float32')
        inner.quantize('int8')
        return model

    def lose(layer, _):
        layer.inner._dtype_policy = keras.DTypePolicy('float32')
    assert ('other graph', 'knows/inner', 'quantization_mode') in what_differs(
        judged(build, lose))


def test_values_that_rounding_changes_are_not_found():
    assert judged(knows, lambda layer, _: setattr(
        layer, 'number', float(np.float32(.5)))).faithful


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
        return inputs

    def _remember(self, inputs):
        self.last = str(type(inputs))


def test_attributes_that_identify_layers_and_calls_are_not_compared():
    def again(layer, _):
        layer.number += 7
        layer.calls += 7
        layer.last = layer.address = 0
    report = judged(chain(Counts), again)
    assert what_differs(report) == [('other graph', 'counts', 'attribute address')]
    assert judged(chain(Counts), lambda layer, _: layer(np.zeros((1, 3)))).faithful


class Taught(layers.Layer):
    """Keeps a layer and a variable where Keras does not look for them."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        vars(self)['kept'] = Owner((layers.Dense(3, name='kept'),
                                    keras.Variable(np.ones(3))))

    def call(self, inputs):
        return inputs + 0 * self.kept.value[0](inputs)


def test_flag_of_a_layer_that_an_object_holds_is_found():
    report = judged(chain(Taught), lambda layer, _: setattr(
        layer.kept.value[0], 'trainable', False))
    assert ('other graph', 'taught/kept', 'trainable') in what_differs(report)


def test_value_of_a_variable_that_an_object_holds_is_found():
    report = judged(chain(Taught), lambda layer, _: layer.kept.value[1].assign(
        np.zeros(3)))
    assert ('wrong numbers', 'taught', 'the value of a variable that it holds') in (
        what_differs(report))
