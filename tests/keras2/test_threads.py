"""Cloning does not affect other threads, nor do they affect cloning."""
import contextlib

import numpy as np
import pytest
from keras import activations, layers
from keras import backend as K
from keras.layers import Input, TimeDistributed
from keras.models import Model, clone_model, model_from_json
from keras.utils import custom_object_scope, get_custom_objects

import custom_objects
import threads
from custom_objects import relu

# On TensorFlow 2.2, Keras 2.3.1 works only in the main thread.
pytestmark = pytest.mark.once


class Dense(layers.Dense):
    """Has the name of a Keras layer, but computes something else."""

    def call(self, inputs):
        return 2 * super().call(inputs)


class Pausing(custom_objects.Pausing):
    """Calls a function in a thread that uses the graph of the main thread."""

    @classmethod
    def pause(cls):
        observe, Pausing.observe = cls.observe, None
        if observe:
            in_another_thread(observe)
            Pausing.observe = staticmethod(observe)


@contextlib.contextmanager
def graph_of(session):
    """Context in which Keras uses the graph of the main thread."""
    if session is None:
        yield
    else:
        with session.graph.as_default(), session.as_default():
            yield


def in_another_thread(function):
    """Calls a function in another thread, with the graph of this one."""
    session = K.get_session() if K.backend() == 'tensorflow' else None

    def run():
        with graph_of(session):
            return function()
    return threads.in_another_thread(run)


def plain():
    """A model with a custom layer that the released Keras can clone."""
    x = Input((3,))
    return Model(x, Pausing()(Dense(2)(x)))


def nested():
    """A model with a custom layer in a nested model, and a custom function."""
    x = Input((3,))
    inner = Model(x, Pausing()(Dense(2, activation=relu)(x)))
    y = Input((3,))
    return Model(y, inner(y))


def wrapped():
    x = Input((4, 3))
    return Model(x, Pausing()(TimeDistributed(Dense(2, activation=relu))(x)))


MODELS = pytest.mark.parametrize('build', [
    pytest.param(plain, id='guard plain'), nested,
    pytest.param(wrapped, id='guard wrapped')])


@pytest.fixture
def observe(monkeypatch):
    """Returns a function that clones a model, meanwhile calls a function in another
    thread, and returns the results of the calls."""
    def observe_while_cloning(model, function):
        seen = []
        monkeypatch.setattr(Pausing, 'observe',
                            staticmethod(lambda: seen.append(function())))
        clone_model(model)
        monkeypatch.undo()
        assert seen
        return seen
    return observe_while_cloning


@MODELS
def test_custom_objects_are_unchanged_for_another_thread(build, observe):
    model, before = build(), dict(get_custom_objects())
    seen = observe(model, lambda: dict(get_custom_objects()))
    assert all(objects == before for objects in seen)


@MODELS
def test_names_are_resolved_as_before_in_another_thread(build, observe):
    seen = observe(build(), lambda: (
        layers.deserialize({'class_name': 'Dense', 'config': {'units': 2}}),
        activations.get('relu')))
    assert {type(layer) for layer, _ in seen} == {layers.Dense}
    assert {function for _, function in seen} == {activations.relu}


@MODELS
def test_another_thread_loads_a_model_during_cloning(build, observe):
    x = Input((3,))
    text = Model(x, layers.Dense(2, activation='relu')(x)).to_json()
    seen = observe(build(), lambda: model_from_json(text).layers[-1])
    assert {type(layer) for layer in seen} == {layers.Dense}
    assert {layer.activation for layer in seen} == {activations.relu}


@MODELS
def test_another_thread_clones_during_cloning(build, observe):
    model = build()
    x = Input((3,))
    other = Model(x, layers.Dense(2, activation='relu')(x))
    for clone in observe(model, lambda: clone_model(other)):
        assert type(clone.layers[-1]) is layers.Dense
        assert clone.layers[-1].activation is activations.relu


def test_two_threads_clone_the_same_model(observe):
    model = nested()
    value = np.ones((2, 3))
    for clone in observe(model, lambda: clone_model(model)):
        clone.set_weights(model.get_weights())
        np.testing.assert_allclose(clone.predict(value), model.predict(value),
                                   rtol=1e-5)
        assert clone.layers[-1] is not model.layers[-1]


@MODELS
def test_scope_opened_by_another_thread_during_cloning_is_kept(build, observe):
    model, opened = build(), []

    def open_scope():
        if not opened:
            opened.append(custom_object_scope({'mine': relu}))
            opened[0].__enter__()
    try:
        observe(model, open_scope)
        assert get_custom_objects()['mine'] is relu
    finally:
        opened[0].__exit__()
    assert 'mine' not in get_custom_objects()


def test_clone_in_another_thread():
    model = nested()
    value = np.ones((2, 3))
    clone = in_another_thread(lambda: clone_model(model))
    clone.set_weights(model.get_weights())
    np.testing.assert_allclose(clone.predict(value), model.predict(value), rtol=1e-5)


@MODELS
def test_another_thread_sees_an_unchanged_model(build, observe):
    from keras_clone.check.independence import Belongings, changes
    model = build()
    belongings = Belongings(model)
    before = belongings.snapshot()
    for after in observe(model, lambda: belongings.snapshot()):
        assert not changes(before, after)
