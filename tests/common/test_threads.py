"""Cloning does not affect other threads, nor do they affect cloning."""
import numpy as np
import pytest
from keras import activations, layers
from keras.models import clone_model, load_model, model_from_json
from keras.utils import custom_object_scope, get_custom_objects
from keras_clone.check.independence import Belongings, changes

from custom_objects import relu
from major_versions import (
    IS_KERAS2, ONES, assert_same_outputs, chain, deserialize, outputs_of, serialize)
from threads import Pausing, in_another_thread

# On TensorFlow 2.2, Keras 2.3.1 works only in the main thread.
pytestmark = [pytest.mark.once] * IS_KERAS2


class Dense(layers.Dense):
    """Has the name of a Keras layer, but computes something else."""

    def call(self, inputs):
        return 2 * super().call(inputs)


dense_of_keras = chain(lambda: layers.Dense(2, activation='relu'))


MODELS = {
    'guard': chain(lambda: layers.Dense(2), Pausing),
    'nested': chain(chain(lambda: Dense(2, activation=relu), Pausing)),
    'wrapped': chain(lambda: layers.TimeDistributed(Dense(2, activation=relu)),
                     Pausing, shape=(4, 3)),
    'Lambda': chain(lambda: layers.TimeDistributed(layers.Lambda(lambda x: 2 * x)),
                    Pausing, shape=(4, 3))}


@pytest.fixture(params=list(MODELS))
def model(request):
    return MODELS[request.param]()


def assert_clone(model, clone):
    assert_same_outputs(model, clone, np.ones((2, *model.input_shape[1:])))
    assert clone.layers[-1] is not model.layers[-1]


@pytest.fixture
def observe(model, monkeypatch):
    """Returns a function that clones the model, meanwhile calls a function in
    another thread, and returns the results of the calls."""
    def observe_while_cloning(function):
        seen = []
        monkeypatch.setattr(Pausing, 'observe',
                            staticmethod(lambda: seen.append(function())))
        clone = clone_model(model)
        monkeypatch.undo()
        assert_clone(model, clone)
        assert len(seen) >= 2
        return seen
    return observe_while_cloning


def test_custom_objects_are_unchanged_for_another_thread(observe):
    before = dict(get_custom_objects())
    seen = observe(lambda: dict(get_custom_objects()))
    assert all(objects == before for objects in seen)


def test_names_are_resolved_as_before_in_another_thread(observe):
    config = serialize(layers.Dense(2))

    def resolve():
        with pytest.raises((TypeError, ValueError)):
            layers.deserialize({'class_name': 'Pausing', 'config': {}})
        return type(deserialize(config)), activations.get('relu')
    assert set(observe(resolve)) == {(layers.Dense, activations.relu)}


def test_another_thread_reads_a_model_during_cloning(observe):
    text = dense_of_keras().to_json()
    seen = observe(lambda: model_from_json(text).layers[-1])
    assert {(type(each), each.activation) for each in seen} == {
        (layers.Dense, activations.relu)}


@pytest.mark.skipif(IS_KERAS2, reason='It needs the graph of the main thread')
def test_another_thread_loads_a_file_during_cloning(observe, tmp_path):
    saved, path = dense_of_keras(), str(tmp_path / 'model.keras')
    saved.save(path)
    for loaded in observe(lambda: load_model(path)):
        assert type(loaded.layers[-1]) is layers.Dense
        np.testing.assert_allclose(outputs_of(loaded, ONES),
                                   outputs_of(saved, ONES), rtol=1e-5, atol=1e-6)


def test_another_thread_clones_during_cloning(observe):
    other = dense_of_keras()
    seen = observe(lambda: clone_model(other).layers[-1])
    assert {(type(each), each.activation) for each in seen} == {
        (layers.Dense, activations.relu)}


def test_two_threads_clone_the_same_model(model, observe):
    for clone in observe(lambda: clone_model(model)):
        assert_clone(model, clone)
        assert IS_KERAS2 or [weight.path for weight in clone.weights] == [
            weight.path for weight in model.weights]


@pytest.mark.skipif(not IS_KERAS2, reason='On Keras 3, threads have own scopes')
def test_scope_opened_by_another_thread_during_cloning_is_kept(observe):
    opened = []

    def open_scope():
        if not opened:
            opened.append(custom_object_scope({'mine': relu}))
            opened[0].__enter__()
    try:
        observe(open_scope)
        assert get_custom_objects()['mine'] is relu
    finally:
        opened[0].__exit__()
    assert 'mine' not in get_custom_objects()


def test_clone_in_another_thread(model):
    assert_clone(model, in_another_thread(lambda: clone_model(model)))


def test_another_thread_sees_an_unchanged_model(model, observe):
    belongings = Belongings(model)
    before = belongings.snapshot()
    for after in observe(belongings.snapshot):
        assert not changes(before, after)


@pytest.mark.skipif(IS_KERAS2, reason='Weights of Keras 2 have no paths')
def test_weights_made_in_another_thread_are_named_as_ever(observe):
    def paths():
        layer = layers.Dense(2, name='other')
        layer.build((None, 3))
        return [weight.path for weight in layer.weights]
    assert all(each == ['other/kernel', 'other/bias'] for each in observe(paths))
