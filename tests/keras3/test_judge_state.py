"""The judge finds what the layers in other layers have lost."""
import keras
import pytest
from keras import layers

from judging import found, judged
from major_versions import chain

recurrent = chain(lambda: layers.Bidirectional(layers.GRU(2, name='gru'),
                                               name='both'), shape=(4, 3))


class Around(layers.Layer):
    """Calls another layer, which no config has."""

    def build(self, input_shape):
        self.inner = layers.Dense(3, dtype='mixed_float16', name='inner')
        self.inner.build(input_shape)

    def call(self, inputs):
        return self.inner(inputs)


around = chain(lambda: Around(name='around'))


@pytest.mark.parametrize('change, what', [
    (lambda layer, _: setattr(layer.inner, 'trainable', False), 'trainable'),
    (lambda layer, _: setattr(layer.inner.kernel, 'trainable', False),
     'weight 0, its flag trainable'),
    (lambda layer, _: setattr(layer.inner, 'dtype_policy',
                              keras.DTypePolicy('float32')), 'compute_dtype'),
    (lambda layer, _: setattr(layer.inner, 'supports_masking', False),
     'supports_masking'),
    (lambda layer, _: setattr(layer.inner, 'units', 7), 'configuration: units'),
], ids=['flag', 'flag of a weight', 'policy', 'mask', 'setting'])
def test_what_an_inner_layer_has_lost_is_found(change, what):
    assert ('around/inner', what) in found(judged(around, change))


def test_flag_of_a_cell_is_found():
    report = judged(recurrent, lambda layer, _: setattr(
        layer.forward_layer.cell, 'trainable', False))
    assert ('both/forward_gru/gru_cell', 'trainable') in found(report)


def test_other_order_of_weights_is_found():
    def swap(layer, _):
        layer.inner._trainable_variables.reverse()
    assert ('around/inner', 'weight 0') in found(judged(around, swap))


def test_inner_layer_that_is_no_longer_quantized_is_found():
    def build():
        model = around()
        inner = model.layers[-1].inner
        inner.dtype_policy = keras.DTypePolicy('float32')
        inner.quantize('int8')
        return model

    def lose(layer, _):
        layer.inner._dtype_policy = keras.DTypePolicy('float32')
    assert ('around/inner', 'quantization_mode') in found(judged(build, lose))
