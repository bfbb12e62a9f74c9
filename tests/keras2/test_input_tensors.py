"""The argument `input_tensors`, and arguments that `clone_model` refuses."""
import numpy as np
import pytest
from keras import backend as K
from keras.layers import LSTM, Add, Dense, Embedding, Input, InputLayer
from keras.models import Model, Sequential, _clone_functional_model, clone_model

from custom_objects import Subclassed
from judging import unbuilt
from major_versions import ONES


def functional():
    a, b = Input((3,)), Input((3,))
    return Model([a, b], Dense(2)(Add()([Dense(3)(a), b])))


def names(model):
    return [layer.name for layer in model._layers
            if not isinstance(layer, InputLayer)]


def test_guard_input_from_a_tensor_is_a_placeholder_in_the_clone():
    x = Input(tensor=K.variable(ONES))
    model = Model(x, Dense(2)(x))
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    np.testing.assert_allclose(clone.predict(ONES), model.predict(None, steps=1),
                               rtol=1e-5, atol=1e-6)


def test_placeholders_leave_no_unused_input_layer():
    model = functional()
    clone = clone_model(model, input_tensors=[K.placeholder((None, 3)),
                                              K.placeholder((None, 3))])
    assert len(clone.layers) == len(model.layers)
    assert names(clone) == names(model)


def test_guard_clone_keeps_the_name_of_an_output_that_is_an_input():
    x, y = Input((3,), name='x'), Input((3,), name='y')
    model = Model([x, y], [Dense(2, name='dense')(Add()([x, y])), x])
    clone = clone_model(model, [Input((3,)), Input((3,))])
    assert clone.output_names == ['dense', 'x']


def test_guard_clone_has_a_variable_as_input():
    model = Sequential([Dense(3, input_shape=(3,)), Dense(2)])
    clone = clone_model(model, input_tensors=K.variable(ONES))
    clone.set_weights(model.get_weights())
    np.testing.assert_allclose(clone.predict(None, steps=1), model.predict(ONES),
                               rtol=1e-5, atol=1e-6)


def test_clone_on_a_tensor_with_a_mask_has_the_mask():
    x = Input((5, 3))
    model = Model(x, LSTM(2)(x))
    words = Input((5,))
    embedding = Embedding(4, 3, mask_zero=True)
    clone = clone_model(model, input_tensors=embedding(words))
    lstm = clone.layers[-1]
    assert lstm.input_mask is embedding.output_mask
    # The two masked steps come last and have no effect.
    padded = np.array([[1, 2, 3, 0, 0]])
    embedded = K.eval(embedding(K.variable(padded)))
    steps = Input((3, 3))
    np.testing.assert_allclose(
        clone.predict(padded),
        Model(steps, lstm(steps)).predict(embedded[:, :3]), rtol=1e-5, atol=1e-6)


def test_clone_on_a_layer_has_a_nested_model_that_shares_the_input():
    x = Input((3,))
    inner = Model(x, Dense(3)(x))
    model = Model(x, inner(inner(x)))
    y = Input((4,))
    clone = clone_model(model, input_tensors=Dense(3)(y))
    assert clone.inputs == [y]
    assert clone.predict(np.ones((2, 4))).shape == (2, 3)


def test_guard_clone_of_an_unbuilt_sequential_is_built_on_a_keras_input():
    x = Input((3,))
    clone = clone_model(unbuilt(), input_tensors=x)
    assert isinstance(clone, Sequential) and clone.built
    assert clone.inputs[0] is x
    assert len(clone.weights) == 4


def test_clone_of_an_unbuilt_sequential_is_a_model_on_the_output_of_a_layer():
    x = Input((4,))
    clone = clone_model(unbuilt(), input_tensors=Dense(3)(x))
    assert not isinstance(clone, Sequential)
    assert clone.inputs == [x]
    assert clone.predict(np.ones((2, 4))).shape == (2, 2)


def test_guard_clone_of_an_unbuilt_sequential_has_weights_once_it_is_built():
    clone = clone_model(unbuilt())
    clone.build((None, 3))
    assert len(clone.weights) == 4


@pytest.mark.parametrize('tensors', [[], [(3,)]], ids=['alone', 'with an input'])
def test_subclassed_model_is_refused(tensors):
    with pytest.raises(ValueError, match='`model`.*"subclassed"'):
        clone_model(Subclassed(name='subclassed'), *map(Input, tensors))


def test_sequential_is_refused_as_a_functional_model():
    with pytest.raises(ValueError, match='Sequential.*clone_model'):
        _clone_functional_model(unbuilt())


@pytest.mark.parametrize('value', [np.ones((2, 3)), None, 'x', 3.],
                         ids=['array', 'None', 'string', 'number'])
def test_input_that_is_not_a_tensor_is_refused(value):
    model = functional()
    placeholder = K.placeholder((None, 3))
    with pytest.raises(ValueError, match='`input_tensors`.*`%s`'
                       % type(value).__name__):
        clone_model(model, input_tensors=[placeholder, value])
    assert not hasattr(placeholder, '_keras_history')
