"""What the tests of the Keras 3 overlay share: the judge of a clone."""
import os

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')

import keras  # noqa: E402
import numpy as np  # noqa: E402
import pytest  # noqa: E402
from keras import models, tree  # noqa: E402


def values_for(model, seed=0):
    """Returns an array for each input of a model, in the structure of its input."""
    random = np.random.RandomState(seed)

    def value(x):
        shape = [size or 2 for size in x.shape]
        if 'int' in x.dtype:
            return random.randint(0, 3, shape).astype(x.dtype)
        return random.uniform(-1, 1, shape).astype(x.dtype)
    return tree.map_structure(value, model.input if hasattr(model, '_inputs_struct')
                              else model.inputs)


def outputs_of(model, values):
    if isinstance(values, list) and len(values) == 1:
        values = values[0]
    return [keras.ops.convert_to_numpy(y)
            for y in tree.flatten(model(values, training=False))]


def all_layers(model):
    return model._flatten_layers(include_self=True, recursive=True)


def calls_of(model):
    return [(id(layer), len(layer._inbound_nodes), len(layer._outbound_nodes),
             sorted(vars(layer))) for layer in all_layers(model)]


def compare(model, clone, inputs=None):
    """Fails if a clone is not faithful to its original."""
    assert [layer.name for layer in clone.layers] == [
        layer.name for layer in model.layers]
    assert [type(layer) for layer in all_layers(clone)] == [
        type(layer) for layer in all_layers(model)]
    assert [layer.trainable for layer in all_layers(clone)] == [
        layer.trainable for layer in all_layers(model)]
    assert not {id(layer) for layer in all_layers(model)} & {
        id(layer) for layer in all_layers(clone)}
    assert [w.shape for w in clone.weights] == [w.shape for w in model.weights]
    assert not {id(w) for w in model.weights} & {id(w) for w in clone.weights}
    clone.set_weights(model.get_weights())
    values = values_for(model) if inputs is None else inputs
    for expected, found in zip(outputs_of(model, values), outputs_of(clone, values)):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.fixture
def assert_faithful():
    """Builds a model, clones it and the clone, fails if one is unfaithful."""
    def check(build, inputs=None):
        model = build()
        # One that stays as it was built, so that equal numbers are no accident.
        random = np.random.RandomState(1)
        model.set_weights([w if w.dtype.kind != 'f'
                           else random.uniform(.1, 1, w.shape).astype(w.dtype)
                           for w in model.get_weights()])
        before = calls_of(model)
        clone = models.clone_model(model)
        again = models.clone_model(clone)
        assert calls_of(model) == before
        compare(model, clone, inputs)
        compare(model, again, inputs)
        return clone
    return check
