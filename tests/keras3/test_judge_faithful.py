"""The judge finds nothing in a faithful clone."""
import keras
import pytest
from keras import layers, Model
from keras_clone.check import gallery

from judging import adapted, on_tensorflow


@pytest.mark.parametrize('build', gallery.MODELS, ids=lambda build: build.__name__)
def test_models_of_the_gallery_are_cloned_faithfully(build, assert_faithful):
    assert_faithful(build)


def test_guard_mask_that_the_engine_made_a_call_argument(assert_faithful):
    def build():
        x = keras.Input((4,))
        y = layers.Dense(3)(layers.Embedding(5, 3, mask_zero=True)(x))
        return Model(x, [y, layers.GRU(3)(y)])
    assert_faithful(build)


def test_guard_masks_of_a_model_that_begins_at_a_hidden_tensor(assert_faithful):
    def build():
        x = keras.Input((4, 3))
        hidden = layers.Dense(3)(x)
        masked = layers.Dense(3)(layers.Masking()(hidden))
        part = Model(hidden, layers.GRU(3)(masked))
        return Model(x, part(x))
    assert_faithful(build)


@pytest.mark.parametrize('build', [
    pytest.param(lambda: adapted(layers.Normalization), id='Normalization'),
    pytest.param(lambda: adapted(
        lambda name: layers.Discretization(num_bins=3, name=name)),
        id='Discretization', marks=on_tensorflow),
    pytest.param(lambda: adapted(layers.IntegerLookup, 'int64'),
                 id='IntegerLookup', marks=on_tensorflow),
])
def test_guard_what_was_adapted_is_cloned(build, assert_faithful):
    assert_faithful(build)
