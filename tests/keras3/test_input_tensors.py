"""Values of `input_tensors` that are accepted, and values that are refused."""
import keras
import numpy as np
import pytest
from keras import Model, Sequential, layers, ops
from keras.models import clone_model

from major_versions import chain


def sequential():
    return Sequential([keras.Input((3,), name='x'), layers.Dense(2)])


functional = chain(lambda: layers.Dense(2))


def pair(structure=list):
    a, b = keras.Input((3,), name='a'), keras.Input((3,), name='b')
    y = layers.Subtract()([a, b])
    return Model({'a': a, 'b': b} if structure is dict else structure([a, b]), y)


def assert_same_function(clone, model, values, expected=None):
    clone.set_weights(model.get_weights())
    expected = model(values) if expected is None else expected
    np.testing.assert_allclose(ops.convert_to_numpy(clone(values)),
                               ops.convert_to_numpy(expected), rtol=1e-5)


@pytest.mark.parametrize('build', [functional, sequential, pair,
                                   lambda: pair(tuple), lambda: pair(dict)],
                         ids=['functional', 'guard sequential', 'guard list',
                              'tuple', 'dict'])
def test_inputs_of_the_model_itself(build):
    model = build()
    clone = clone_model(model, input_tensors=model.inputs)
    assert all(x is y for x, y in zip(clone.inputs, model.inputs))


@pytest.mark.parametrize('structure', [list, tuple, dict])
def test_guard_same_structure(structure):
    model = pair(structure)
    clone = clone_model(model, input_tensors=model.input)
    assert all(x is y for x, y in zip(clone.inputs, model.inputs))


def test_tensor_without_a_history():
    model = functional()
    clone = clone_model(model, input_tensors=keras.KerasTensor((None, 3)))
    assert_same_function(clone, model, np.ones((2, 3), 'float32'))


def test_guard_tuple_for_a_dict_is_refused():
    tensors = keras.Input((3,)), keras.Input((3,))
    with pytest.raises(ValueError, match='`input_tensors` must have the same'):
        clone_model(pair(dict), input_tensors=tensors)
