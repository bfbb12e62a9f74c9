"""Guards: cloning does not affect other threads, nor do they affect cloning."""
import keras
import numpy as np
import pytest
from keras import Model, layers
from keras.models import clone_model

from major_versions import assert_same_outputs
from threads import in_another_thread


class Pausing(layers.Layer):
    """Calls a function in another thread while its model is being cloned."""

    observe = None

    def __init__(self, factor=2.0, **kwargs):
        super().__init__(**kwargs)
        self.factor = factor
        self.pause()

    def build(self, input_shape):
        self.pause()

    def call(self, inputs):
        self.pause()
        return self.factor * inputs

    @classmethod
    def pause(cls):
        observe, cls.observe = cls.observe, None  # Not for the layers in there.
        if observe:
            in_another_thread(observe)
            cls.observe = staticmethod(observe)


@pytest.fixture
def model():
    x = keras.Input((3,))
    return Model(x, Pausing()(layers.Dense(2, activation='relu')(x)))


@pytest.fixture
def observe(model, monkeypatch):
    """Returns a function that clones the model, meanwhile calls a function in
    another thread, and returns the clone and the results of the calls."""
    def observe_while_cloning(function):
        seen = []
        monkeypatch.setattr(Pausing, 'observe',
                            staticmethod(lambda: seen.append(function())))
        clone = clone_model(model)
        monkeypatch.undo()
        assert len(seen) >= 3  # In the constructor, in `build` and in `call`.
        return clone, seen
    return observe_while_cloning


def test_two_threads_clone_the_same_model(model, observe):
    clone, others = observe(lambda: clone_model(model))
    for each in [clone, *others]:
        assert_same_outputs(model, each)
    paths = [[weight.path for weight in each.weights] for each in [model, *others]]
    assert all(each == paths[0] for each in paths)


def test_another_thread_loads_a_model_during_cloning(observe, tmp_path):
    path = str(tmp_path / 'model.keras')
    saved = keras.Sequential([keras.Input((3,)), layers.Dense(2, activation='relu')])
    saved.save(path)
    value = np.ones((2, 3), 'float32')
    _, loaded = observe(lambda: keras.models.load_model(path))
    for each in loaded:
        assert type(each.layers[-1]) is layers.Dense
        np.testing.assert_allclose(each(value), saved(value), rtol=1e-5)


def test_custom_objects_and_scopes_are_unchanged_for_another_thread(observe):
    before = dict(keras.saving.get_custom_objects())

    def look():
        with pytest.raises((TypeError, ValueError)):
            layers.deserialize({'class_name': 'Pausing', 'config': {}})
        return dict(keras.saving.get_custom_objects())
    _, seen = observe(look)
    assert all(each == before for each in seen)


def test_weights_made_in_another_thread_are_named_as_ever(observe):
    def paths():
        layer = layers.Dense(2, name='other')
        layer.build((None, 3))
        return [weight.path for weight in layer.weights]
    _, seen = observe(paths)
    assert all(each == ['other/kernel', 'other/bias'] for each in seen)
