"""Masks: the clone has a mask wherever the original has one, and nowhere else.

The models that lose outputs in 2.2.4, or masks in 2.2.5 to 2.3.1, are in the gallery
and in `tests/keras/test_sequential_model.py`.
"""
import numpy as np
import pytest
from keras import backend as K
from keras.layers import (Add, Dense, Embedding, Input, Lambda, Layer,
                          SimpleRNN)
from keras.models import Model, clone_model


class Halves(Layer):
    def call(self, inputs):
        return [inputs[:, :2], inputs[:, 2:]]

    def compute_output_shape(self, input_shape):
        return [(input_shape[0], 2), (input_shape[0], input_shape[1] - 2)]


class HalvesWithOneMask(Halves):
    """Two outputs, but only a single None in the list of their masks."""

    def compute_mask(self, inputs, mask=None):
        return [None]


class Sum(Layer):
    def call(self, inputs, other=None):
        return inputs + other


def masked_words(name=None):
    words = Input((5,), name=name)
    return words, Embedding(4, 3, mask_zero=True)(words)


def two_outputs_with_a_single_none_for_their_masks():
    x = Input((4,))
    first, second = HalvesWithOneMask()(x)
    return Model(x, Sum()(Dense(2)(first), other=second))


def supports_masking_set_on_the_layer():
    words, embedded = masked_words()
    scale = Lambda(lambda t: 2 * t, mask=None)
    scale.supports_masking = True
    scale.mask = lambda t, mask: mask
    return Model(words, SimpleRNN(2)(scale(embedded)))


def masked_and_unmasked_branches_merged():
    words, embedded = masked_words()
    x = Input((5, 3))
    return Model([words, x], SimpleRNN(2)(Add()([embedded, x])))


def with_states():
    x, state = Input((5, 3)), Input((2,))
    return Model([x, state], SimpleRNN(2)(x, initial_state=state))


def nested_model_on_masked_and_unmasked_inputs():
    inner, (words, embedded) = with_states(), masked_words()
    other, start = Input((5, 3)), Input((2,))
    return Model([words, other, start],
                 Add()([inner([embedded, start]), inner([other, start])]))


def test_calling_a_nested_model_does_not_change_its_nodes():
    inner = with_states()
    rnn = inner.layers[-1]
    before = set(rnn._inbound_nodes[0].arguments or {})
    inner([masked_words()[1], Input((2,))])
    assert set(rnn._inbound_nodes[0].arguments or {}) == before


def test_nested_model_uses_the_mask_of_each_call():
    inner, (words, embedded) = with_states(), masked_words('words')
    other = Input((5, 3), name='other')
    start = Input((2,), name='start')
    # The masked call comes first: the second call must not use its mask.
    first, second = inner([embedded, start]), inner([other, start])
    model = Model([words, other, start], [first, second])
    values = [np.array([[1, 2, 0, 0, 0]]), np.ones((1, 5, 3)), np.ones((1, 2))]
    expected = inner.predict(values[1:])
    np.testing.assert_allclose(model.predict(values)[1], expected, rtol=1e-5)


def function_in_place_of_compute_mask():
    x = Input((5, 3), name='x')
    layer = Dense(3)
    layer.compute_mask = lambda inputs, mask=None: (
        K.any(K.not_equal(inputs, 0), -1))
    return Model(x, SimpleRNN(2)(layer(x)))


@pytest.mark.parametrize('build', [
    two_outputs_with_a_single_none_for_their_masks,
    supports_masking_set_on_the_layer, masked_and_unmasked_branches_merged,
    nested_model_on_masked_and_unmasked_inputs, function_in_place_of_compute_mask])
def test_clone_has_the_masks_of(build, assert_faithful):
    assert_faithful(build)


class MasksIfAsked(Halves):
    masks = []

    def compute_mask(self, inputs, mask=None):
        return [K.not_equal(inputs, 0) if each else None for each in self.masks]


@pytest.mark.parametrize('masks', [[True, True], [False, True]],
                         ids=['both', 'second'])
def test_clone_that_would_lose_a_mask_is_refused(masks, monkeypatch):
    monkeypatch.setattr(MasksIfAsked, 'masks', masks)
    x = Input((4,))
    model = Model(x, MasksIfAsked(name='with_a_mask_of_its_own')(x)[0])
    monkeypatch.setattr(MasksIfAsked, 'masks', [False, False])
    with pytest.raises(ValueError,
                       match="'with_a_mask_of_its_own'.*returned a mask"):
        clone_model(model)
