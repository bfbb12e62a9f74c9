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


FORMS = {
    'tensor': lambda x: x,
    'list': lambda x: [x],
    'tuple': lambda x: (x,),
    'InputLayer': lambda x: x._keras_history[0],
}


@pytest.mark.parametrize('build, form', [
    pytest.param(functional, 'tensor', id='guard functional tensor'),
    (functional, 'list'), (functional, 'tuple'), (functional, 'InputLayer'),
    pytest.param(sequential, 'tensor', id='guard sequential tensor'),
    pytest.param(sequential, 'list', id='guard sequential list'),
    pytest.param(sequential, 'tuple', id='guard sequential tuple'),
    (sequential, 'InputLayer')])
def test_single_input(build, form):
    model, x = build(), keras.Input((3,))
    clone = clone_model(model, input_tensors=FORMS[form](x))
    assert clone._layers[0] is x._keras_history[0]
    assert_same_function(clone, model, np.ones((2, 3), 'float32'))


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


@pytest.mark.parametrize('build', [functional, sequential])
def test_tensor_of_another_layer(build):
    model, x = build(), keras.Input((5,), name='start')
    dense = layers.Dense(3)
    y = dense(x)
    clone = clone_model(model, input_tensors=y)
    assert [layer.name for layer in clone.layers] == [
        'start', dense.name, model.layers[-1].name]
    assert y._keras_history[0] is dense
    clone.layers[-1].set_weights(model.get_weights())
    value = np.ones((2, 5), 'float32')
    np.testing.assert_allclose(ops.convert_to_numpy(clone(value)),
                               ops.convert_to_numpy(model(dense(value))), rtol=1e-5)


def test_input_keeps_its_history():
    x = keras.Input((3,), name='mine')
    layer = x._keras_history[0]
    clone_model(sequential(), input_tensors=x)
    assert x._keras_history[0] is layer


def test_tensors_of_one_input():
    x = keras.Input((3,))
    model = pair()
    clone = clone_model(model, input_tensors=[layers.ReLU()(x), layers.ReLU()(x)])
    assert len(clone.inputs) == 1
    np.testing.assert_allclose(
        ops.convert_to_numpy(clone(np.ones((2, 3), 'float32'))), 0)


def test_tensor_without_a_history():
    model = functional()
    clone = clone_model(model, input_tensors=keras.KerasTensor((None, 3)))
    assert_same_function(clone, model, np.ones((2, 3), 'float32'))


@pytest.mark.parametrize('build', [functional, sequential])
@pytest.mark.parametrize('value', [np.ones((2, 3)), 'x', [np.ones((2, 3))]],
                         ids=['array', 'string', 'list'])
def test_guard_value_that_is_not_a_tensor_is_refused(build, value):
    with pytest.raises(ValueError, match='`input_tensors`.*KerasTensor'):
        clone_model(build(), input_tensors=value)


@pytest.mark.parametrize('build, count', [(functional, 2), (sequential, 2),
                                          (pair, 1), (pair, 3)])
def test_guard_wrong_number_is_refused(build, count):
    tensors = [keras.Input((3,)) for _ in range(count)]
    with pytest.raises(ValueError, match='`input_tensors`'):
        clone_model(build(), input_tensors=tensors)


def test_guard_tuple_for_a_dict_is_refused():
    tensors = keras.Input((3,)), keras.Input((3,))
    with pytest.raises(ValueError, match='`input_tensors` must have the same'):
        clone_model(pair(dict), input_tensors=tensors)
