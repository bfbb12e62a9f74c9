"""Masks: the clone has a mask wherever the original has one, and nowhere else.

The released `clone_model` loses outputs in 2.2.4 and masks in 2.2.5 to 2.3.1. Tests
with these releases in their names fail on them; the others fail on all of them.
"""
import numpy as np
import pytest
from keras import backend as K
from keras.layers import (LSTM, Add, Bidirectional, Dense, Embedding, Input, Lambda,
                          Layer, Masking)
from keras.models import Model, clone_model
from keras_clone.check.gallery.keras2 import TwoOutputs

from major_versions import chain


class StepsThatAreNotZero(Layer):
    """Creates a mask, but does not pass one on: `supports_masking` is False."""

    def compute_mask(self, inputs, mask=None):
        return K.any(K.not_equal(inputs, 0), axis=-1)


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


def two_outputs_without_mask_support_in_2_2_4():
    x = Input((4,))
    first, second = Halves()(x)
    return Model(x, [Dense(2)(first), Dense(2)(second)])


def two_outputs_with_the_mask_of_the_input_in_2_2_4():
    words, embedded = masked_words()
    first, second = TwoOutputs()(embedded)
    return Model(words, [LSTM(2)(first), LSTM(2)(second)])


def two_outputs_with_a_single_none_for_their_masks():
    x = Input((4,))
    first, second = HalvesWithOneMask()(x)
    return Model(x, Sum()(Dense(2)(first), other=second))


def bidirectional_over_masked_words_in_2_2_5_to_2_3_1():
    words, embedded = masked_words()
    x = Bidirectional(LSTM(2, return_sequences=True))(embedded)
    return Model(words, LSTM(2)(x))


def nested_model_whose_output_has_a_mask_in_2_2_5_to_2_3_1():
    inner = Model(*masked_words())
    words = Input((5,))
    return Model(words, LSTM(2)(inner(words)))


compute_mask_without_supports_masking_in_2_2_5_to_2_3_1 = chain(
    StepsThatAreNotZero, lambda: LSTM(2), shape=(5, 3))


def supports_masking_set_on_the_layer():
    words, embedded = masked_words()
    scale = Lambda(lambda t: 2 * t, mask=None)
    scale.supports_masking = True
    scale.mask = lambda t, mask: mask
    return Model(words, LSTM(2)(scale(embedded)))


def test_clone_of_the_clone_of_a_masked_model(assert_faithful):
    assert_faithful(chain(Masking, lambda: LSTM(2), shape=(5, 3)), depth=4)


def masked_and_unmasked_branches_merged():
    words, embedded = masked_words()
    x = Input((5, 3))
    return Model([words, x], LSTM(2)(Add()([embedded, x])))


def with_states():
    x, state = Input((5, 3)), Input((2,))
    return Model([x, state], LSTM(2)(x, initial_state=[state, state]))


def nested_model_on_masked_and_unmasked_inputs():
    inner, (words, embedded) = with_states(), masked_words()
    other, start = Input((5, 3)), Input((2,))
    return Model([words, other, start],
                 Add()([inner([embedded, start]), inner([other, start])]))


def test_calling_a_nested_model_does_not_change_its_nodes():
    inner = with_states()
    lstm = inner.layers[-1]
    before = set(lstm._inbound_nodes[0].arguments or {})
    inner([masked_words()[1], Input((2,))])
    assert set(lstm._inbound_nodes[0].arguments or {}) == before


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
    return Model(x, LSTM(2)(layer(x)))


@pytest.mark.parametrize('build', [
    two_outputs_without_mask_support_in_2_2_4,
    two_outputs_with_the_mask_of_the_input_in_2_2_4,
    two_outputs_with_a_single_none_for_their_masks,
    bidirectional_over_masked_words_in_2_2_5_to_2_3_1,
    nested_model_whose_output_has_a_mask_in_2_2_5_to_2_3_1,
    compute_mask_without_supports_masking_in_2_2_5_to_2_3_1,
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
                       match='"with_a_mask_of_its_own".*returned a mask'):
        clone_model(model)
