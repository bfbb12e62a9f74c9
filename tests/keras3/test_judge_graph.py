"""The judge finds other layers, sharing, masks and call arguments."""
import keras
import pytest
from keras import layers, Model
from keras_clone.check import gallery
from keras_clone.check.faithfulness import check_clone, compare

from judging import changed
from major_versions import chain


def test_layer_that_is_no_longer_shared_is_found():
    x = keras.Input((3,), name='x')
    shared = layers.Dense(3, name='shared')
    model = Model(x, layers.Add(name='add')([shared(x), shared(x)]))
    y = keras.Input((3,), name='x')
    clone = Model(y, layers.Add(name='add')([
        layers.Dense(3, name='shared')(y), layers.Dense(3, name='other')(y)]))
    assert 'other graph' in [each.outcome for each in compare(model, clone)]


@pytest.mark.parametrize('change', [
    {'name': 'other'}, {'trainable': False}, {'dtype': 'float64'}],
    ids=['name', 'trainable', 'dtype'])
def test_other_attribute_is_found(change):
    report = check_clone(chain(lambda: layers.Dense(3)),
                         changed(layers.Dense, **change))
    assert 'other graph' in [each.outcome for each in report.differences]


def test_other_call_argument_is_found():
    def power(exponent):
        x = keras.Input((4,), name='x')
        return Model(x, gallery.Power(name='power')(x, exponent=exponent))
    found, = (each for each in compare(power(2), power(3))
              if 'call argument' in each.what)
    assert (found.expected, found.got) == ('2', '3')


def test_mask_that_is_lost_is_found():
    def masked(layer):
        x = keras.Input((4, 3), name='x')
        return Model(x, layer(layers.Masking(name='masking')(x)))
    report = compare(masked(gallery.KeepMask(name='y')), masked(layers.Lambda(
        lambda x: 2 * x, mask=lambda x, mask: None, name='y')))
    assert 'output mask' in [each.what for each in report]
