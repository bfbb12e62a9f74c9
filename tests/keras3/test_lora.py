"""LoRA and quantization, in layers, inner layers and nested models."""
import gc
import weakref

import keras
import numpy as np
import pytest
from keras import Model, layers
from keras.models import clone_model

from custom_objects import CreatesDense
from major_versions import ONES, RELEASE, WithInner, assert_same_outputs, chain


class KnowsOutputShape(WithInner):
    """Defines its output shape, so that building a model does not call its layer."""

    def build(self, input_shape):
        pass

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], 4)


def after_call(layer):
    layer(ONES)
    return layer


def assert_same_after_training(model, clone, value=ONES):
    model.set_weights([w + .5 for w in model.get_weights()])  # LoRA begins at 0.
    assert_same_outputs(model, clone, value)


@pytest.mark.parametrize('make, part', [
    pytest.param(lambda: layers.Dense(4), lambda layer: layer, id='guard layer'),
    pytest.param(CreatesDense, lambda layer: layer.dense, id='inner layer'),
    pytest.param(lambda: after_call(KnowsOutputShape(layers.Dense(4))),
                 lambda layer: layer.inner, id='inner layer that is not called'),
    pytest.param(lambda: layers.TimeDistributed(layers.Dense(4)),
                 lambda layer: layer.layer, id='guard wrapper'),
    pytest.param(lambda: layers.SpectralNormalization(layers.Dense(4)),
                 lambda layer: layer.layer, id='normalizing wrapper'),
    pytest.param(chain(lambda: layers.Dense(4)), lambda layer: layer.layers[-1],
                 id='guard nested model'),
])
def test_clone_has_the_lora_weights_of_a(make, part):
    shape = (5, 3) if isinstance(make(), layers.TimeDistributed) else (3,)
    model = chain(make, shape=shape)()
    part(model.layers[-1]).enable_lora(2)
    clone = clone_model(clone_model(model))
    cloned = part(clone.layers[-1])
    assert cloned.lora_enabled
    assert cloned.lora_rank == 2
    assert len(clone.trainable_weights) == len(model.trainable_weights)
    assert_same_after_training(model, clone, np.ones((2,) + shape, 'float32'))


@pytest.mark.parametrize('when', ['before its call', 'after its call'])
def test_clone_has_the_lora_weights_of_an_attention(when):
    x = keras.Input((4, 6), name='x')
    attention = layers.MultiHeadAttention(2, 3)
    if when == 'after its call':
        attention(x, x)
    else:
        attention.build((None, 4, 6), (None, 4, 6))
    attention.query_dense.enable_lora(2)
    model = Model(x, attention(x, x))
    clone = clone_model(model)
    assert clone.layers[-1].query_dense.lora_enabled
    assert not clone.layers[-1].key_dense.lora_enabled
    assert_same_after_training(model, clone, np.ones((2, 4, 6), 'float32'))


@pytest.mark.skipif(RELEASE < (3, 10), reason='Keras 3.9 has no lora_alpha')
@pytest.mark.parametrize('make', [
    lambda: layers.Dense(4), lambda: layers.Embedding(3, 4)],
    ids=['dense', 'embedding'])
def test_clone_keeps_lora_alpha(make):
    model = chain(make)()
    model.layers[-1].enable_lora(2, lora_alpha=6)
    clone = clone_model(clone_model(model))
    np.testing.assert_allclose(clone.layers[-1].lora_alpha, 6)
    assert_same_after_training(model, clone)


QUANTIZED = {
    'layer': lambda: layers.Dense(4),
    'inner layer': CreatesDense,
    'einsum': lambda: layers.EinsumDense('ab,bc->ac', output_shape=4,
                                         bias_axes='c'),
    'nested model': chain(lambda: layers.Dense(4)),
}


@pytest.mark.parametrize('mode, kind', [
    pytest.param(mode, kind, id=('guard ' if mode == 'int8' and
                                 kind != 'inner layer' else '') + mode + ' ' + kind)
    for mode in ('int8', 'float8') for kind in QUANTIZED])
def test_clone_has_the_quantized_weights_of_a(mode, kind):
    model = chain(QUANTIZED[kind])()
    model.quantize(mode)
    clone = clone_model(clone_model(model))
    assert [w.path.split('/')[-1] for w in clone.weights] == [
        w.path.split('/')[-1] for w in model.weights]
    assert [w.dtype for w in clone.weights] == [w.dtype for w in model.weights]
    assert_same_outputs(model, clone)


def test_layer_whose_clone_cannot_be_built_is_refused():
    model = chain(lambda: layers.SpectralNormalization(layers.Dense(4)))()
    model.quantize('int8')  # Keras cannot load it either.
    with pytest.raises(ValueError, match="'spectral.* cannot be built"):
        clone_model(model)


def test_guard_clone_has_quantized_weights_and_lora():
    model = chain(lambda: layers.Dense(4))()
    model.layers[-1].enable_lora(2)
    model.quantize('int8')
    assert_same_outputs(model, clone_model(model))


def test_clone_has_the_quantized_weights_and_the_former_kernel_as_argument():
    x = layers.Input((2,), name='x')
    dense = layers.Dense(2)
    dense.build((None, 2))
    model = keras.Model(x, dense(x @ dense.kernel))
    model.quantize('int8')
    assert_same_outputs(model, clone_model(model), np.ones((1, 2), 'float32'))


def test_guard_kernel_that_was_quantized_is_not_kept_alive():
    model = chain(lambda: layers.Dense(4))()
    kernel = weakref.ref(model.layers[-1].kernel)
    model.quantize('int8')
    gc.collect()
    assert kernel() is None


@pytest.mark.parametrize('kind', ['layer', 'inner layer', 'nested model'])
def test_clone_has_the_frozen_variable_of_a(kind):
    parts = {'layer': lambda layer: layer, 'inner layer': lambda layer: layer.dense,
             'nested model': lambda layer: layer.layers[-1]}
    model = chain(QUANTIZED[kind])()
    parts[kind](model.layers[-1]).bias.trainable = False
    clone = clone_model(model)
    cloned = parts[kind](clone.layers[-1])
    assert cloned.bias.trainable is False
    assert cloned.kernel.trainable is True
    assert len(clone.trainable_variables) == 1
