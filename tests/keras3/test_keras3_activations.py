"""A user's activation that is named as one of Keras is never taken for it."""
import keras
import numpy as np
import pytest
from keras import activations, layers, ops
from keras.models import model_from_json

from custom_objects import chain, relu


def saved():
    return chain(lambda: layers.Dense(2, activation=relu))().to_json()


def test_it_is_refused_when_it_is_read_back():
    with pytest.raises((TypeError, ValueError), match="[Cc]ould not.*'relu'"):
        model_from_json(saved())


def test_it_is_found_among_the_custom_objects():
    model = model_from_json(saved(), custom_objects={'relu': relu})
    assert model.layers[-1].activation is relu


def test_guard_activations_of_keras_are_written_by_name():
    for name in ('relu', 'gelu', 'silu', 'linear'):
        assert activations.serialize(getattr(activations, name)) == name


def test_guard_functions_of_ops_and_of_the_backend_are_read_back_as_released():
    functions = [ops.relu, ops.silu]
    if keras.backend.backend() == 'tensorflow':
        import tensorflow
        functions.append(tensorflow.nn.relu)
    for function in functions:
        model = chain(lambda: layers.Dense(2, activation=function))()
        x = np.array([[-1.] * model.input_shape[-1]])
        read_back = model_from_json(model.to_json())
        for again in (read_back, keras.models.clone_model(model)):
            again.set_weights(model.get_weights())
            np.testing.assert_allclose(again.predict(x, verbose=0),
                                       model.predict(x, verbose=0), rtol=1e-6)


@pytest.mark.parametrize('function', [ops.gelu, ops.relu, ops.tanh],
                         ids=['gelu', 'guard relu', 'guard tanh'])
def test_op_of_keras_is_found_again(function):
    model = chain(lambda: layers.Dense(2, activation=function))()
    found = model_from_json(model.to_json()).layers[-1].activation
    value = np.array([-1., 2.])
    np.testing.assert_allclose(ops.convert_to_numpy(found(value)),
                               ops.convert_to_numpy(function(value)), rtol=1e-5)


def test_guard_registered_activation():
    @keras.saving.register_keras_serializable('test_activations')
    def relu(x):
        return -ops.relu(-x)

    config = activations.serialize(relu)
    np.testing.assert_allclose(
        ops.convert_to_numpy(activations.deserialize(config)(-np.ones(2))), -1)
