"""The argument `input_tensors`: what is accepted, and what is refused."""
import keras
import numpy as np
import pytest
from keras.layers import Dense, Input, ReLU, Subtract
from keras.models import Model, Sequential, clone_model

from judging import unbuilt
from major_versions import IS_KERAS2, ONES, assert_same_outputs, chain, outputs_of

functional = chain(lambda: Dense(2))


def sequential():
    if IS_KERAS2:
        return Sequential([Dense(2, input_shape=(3,))])
    return Sequential([Input((3,)), Dense(2)])


def pair(structure=list):
    a, b = Input((3,), name='a'), Input((3,), name='b')
    inputs = {'a': a, 'b': b} if structure is dict else structure([a, b])
    return Model(inputs, Subtract()([a, b]))


FORMS = {'tensor': lambda x: x, 'list': lambda x: [x], 'tuple': lambda x: (x,)}


@pytest.mark.parametrize('build, form', [
    (functional, 'tensor'), (functional, 'list'), (functional, 'tuple'),
    (sequential, 'tensor'), (sequential, 'list'), (sequential, 'tuple')])
def test_clone_has_the_given_input(build, form):
    model, x = build(), Input((3,), name='given')
    layer = x._keras_history[0]
    clone = clone_model(model, input_tensors=FORMS[form](x))
    assert isinstance(clone, Sequential) == (build is sequential)
    assert clone.inputs[0] is x
    assert clone._layers[0] is x._keras_history[0] is layer
    assert [layer.name for layer in clone._layers[1:]] == [
        layer.name for layer in model._layers[1:]]
    assert_same_outputs(model, clone)


@pytest.mark.parametrize('form', [list] + IS_KERAS2 * [tuple])
def test_clone_has_the_given_inputs(form):
    model = pair()
    given = [Input((3,), name='x'), Input((3,), name='y')]
    clone = clone_model(model, input_tensors=form(given))
    assert len(clone.layers) == len(model.layers)
    assert [x is y for x, y in zip(clone.inputs, given)] == [True, True]
    assert not IS_KERAS2 or clone.input_names == ['x', 'y']
    np.testing.assert_allclose(outputs_of(clone, [3 * ONES, ONES]), 2 * ONES)


on_keras3 = pytest.mark.skipif(IS_KERAS2, reason='only Keras 3 has such inputs')


@on_keras3
@pytest.mark.parametrize('build', [
    functional, sequential, pair, lambda: pair(tuple), lambda: pair(dict)],
    ids=['functional', 'guard sequential', 'guard list', 'tuple', 'dict'])
def test_clone_has_the_inputs_of_the_model_itself(build):
    model = build()
    clone = clone_model(model, input_tensors=model.inputs)
    assert all(x is y for x, y in zip(clone.inputs, model.inputs))


@on_keras3
@pytest.mark.parametrize('structure', [list, tuple, dict])
def test_guard_clone_has_inputs_of_the_same_structure(structure):
    model = pair(structure)
    clone = clone_model(model, input_tensors=model.input)
    assert all(x is y for x, y in zip(clone.inputs, model.inputs))


@on_keras3
def test_clone_has_a_tensor_without_a_history_as_input():
    model = functional()
    clone = clone_model(model, input_tensors=keras.KerasTensor((None, 3)))
    assert_same_outputs(model, clone)


@on_keras3
def test_guard_tuple_for_a_dict_is_refused():
    with pytest.raises(ValueError, match='`input_tensors` must have the same'):
        clone_model(pair(dict), input_tensors=(Input((3,)), Input((3,))))


on_keras2 = pytest.mark.skipif(
    not IS_KERAS2, reason='on Keras 3, such a tensor is replaced by an input')


@on_keras2
@pytest.mark.parametrize('build', [functional, sequential])
def test_clone_begins_at_the_input_of_the_layer_whose_output_is_given(build):
    model, x = build(), Input((5,), name='start')
    stem = Dense(3)
    clone = clone_model(model, input_tensors=stem(x))
    assert [layer.name for layer in clone.layers] == [
        'start', stem.name, model.layers[-1].name]
    assert clone.inputs[0] is x and clone.input_names == ['start']
    assert clone.layers[1] is stem
    clone.layers[-1].set_weights(model.layers[-1].get_weights())
    value = np.ones((2, 5), 'float32')
    expected = outputs_of(model, outputs_of(Model(x, stem(x)), value))
    np.testing.assert_allclose(outputs_of(clone, value), expected,
                               rtol=1e-5, atol=1e-6)


@on_keras2
def test_clone_on_two_tensors_of_one_input_has_one_input():
    x = Input((3,))
    clone = clone_model(pair(), input_tensors=[ReLU()(x), ReLU()(x)])
    assert len(clone.inputs) == 1 and clone.inputs[0] is x
    np.testing.assert_allclose(outputs_of(clone, ONES), 0 * ONES)


@pytest.mark.skipif(IS_KERAS2, reason='on Keras 2, the clone begins before it')
@pytest.mark.parametrize('build', [functional, sequential])
def test_guard_output_of_a_layer_is_replaced_by_an_input_of_its_shape(build):
    model = build()
    clone = clone_model(model, input_tensors=Dense(3)(Input((5,))))
    assert type(clone) is type(model)
    assert_same_outputs(model, clone)


BUILD = pytest.mark.parametrize('build', [functional, sequential])


@BUILD
@pytest.mark.parametrize('value', [np.ones((2, 3)), 'x', 3., [np.ones((2, 3))]],
                         ids=['array', 'guard string', 'guard number', 'list'])
def test_value_that_is_not_a_tensor_raises_an_error(build, value):
    with pytest.raises(ValueError, match='`input_tensors`.*'
                       + ('ndarray|str|float' if IS_KERAS2 else 'KerasTensor')):
        clone_model(build(), input_tensors=value)


@pytest.mark.parametrize('build, count', [
    (functional, 2), (sequential, 0), (sequential, 2), (pair, 1), (pair, 3)]
    + IS_KERAS2 * [(unbuilt, 0), (unbuilt, 2), (functional, 0)])
def test_wrong_number_of_inputs_raises_an_error(build, count):
    tensors = [Input((3,)) for _ in range(count)]
    error = f'`input_tensors`.*got {count}' if IS_KERAS2 else '`input_tensors`'
    with pytest.raises(ValueError, match=error):
        clone_model(build(), input_tensors=tensors)
