"""Operations that are not layers, and `Function` objects that contain layers."""
import keras
import numpy as np
import pytest
from keras import Model, layers, ops
from keras.models import clone_model

from custom_objects import TWO, Thrice
from major_versions import (
    ONES, RELEASE, after_dense, assert_equal_and_independent, assert_same_outputs,
    outputs_of)


NOT_ON_TORCH = pytest.mark.skipif(
    keras.backend.backend() == 'torch', reason='arrays are refused')
SINCE_3_11 = pytest.mark.skipif(
    RELEASE < (3, 11), reason='no symbolic tensors in vectorized_map before 3.11')
SINCE_3_15 = pytest.mark.skipif(RELEASE < (3, 15), reason='arrays are refused')


def model_of(function, shape=(4, 3)):
    def build():
        x = keras.Input(shape, name='x')
        return Model(x, function(layers.Dense(3)(x)))
    return build


@pytest.mark.parametrize('function', [
    pytest.param(lambda x: ops.pad(x, np.array([[0, 0], [1, 1], [0, 0]])),
                 marks=NOT_ON_TORCH),
    lambda x: ops.clip(x, np.float32(0), np.float32(.5)),
    pytest.param(lambda x: ops.tile(x, np.array([1, 2, 1])), marks=NOT_ON_TORCH),
    pytest.param(lambda x: ops.reshape(x, np.array([-1, 12])), marks=SINCE_3_15),
    lambda x: ops.take(x, np.array([0, 2]), axis=1),
    lambda x: x * np.ones((4, 3), 'float32') * TWO,
    lambda x: ops.transpose(x, (0, 2, 1)),
    lambda x: ops.concatenate([x, ops.relu(x)], axis=-1),
    lambda x: x[:, 1:, ::2],
    pytest.param(lambda x: ops.vectorized_map(lambda row: row * TWO, x),
                 marks=SINCE_3_11),
    pytest.param(lambda x: ops.vectorized_map(Thrice(), x), marks=SINCE_3_11),
    lambda x: ops.einsum('bij,bkj->bik', x, x),
], ids=['pad', 'clip', 'tile', 'reshape', 'guard take', 'guard multiply',
        'guard transpose', 'guard concatenate', 'guard slice', 'vectorized_map',
        'vectorized_map of an object', 'guard einsum'])
def test_clone_of_an_operation_is_faithful(function, assert_faithful):
    assert_faithful(model_of(function))


def test_clone_has_its_own_operation():
    model = model_of(lambda x: ops.pad(x, np.array([[0, 0], [1, 1], [0, 0]])))()
    operation = model.operations[-1]
    clone = clone_model(model)
    assert clone.operations[-1] is not operation
    assert clone.operations[-1].name == operation.name
    assert len(operation._inbound_nodes) == 1


class ScaleOperation(keras.Operation):
    """Scales its input, and calls a layer that the user may set."""

    layer = None

    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def call(self, inputs):
        outputs = self.factor * inputs
        return outputs if self.layer is None else self.layer(outputs)

    def compute_output_spec(self, inputs):
        return keras.KerasTensor(inputs.shape, inputs.dtype)


def test_clone_has_what_was_set_on_an_operation_after_its_call():
    scale, dense = ScaleOperation(2.), layers.Dense(3)
    dense.build((None, 3))
    model = model_of(scale)()
    scale.factor, scale.layer = 3., dense
    for _ in range(2):
        clone = clone_model(model)
        clone.set_weights(model.get_weights())
        assert clone.operations[-1].layer is not dense
        clone.operations[-1].layer.set_weights(dense.get_weights())
        assert_same_outputs(model, clone, np.ones((2, 4, 3)))
        model = clone


def test_clone_of_a_function_has_its_own_layers():
    x, y = keras.Input((3,), name='x'), keras.Input((3,), name='y')
    dense = layers.Dense(3)
    function = keras.Function(y, dense(y) * TWO)
    model = Model(x, ops.concatenate([function(x), dense(x)]))
    assert_equal_and_independent(model, clone_model(model))


@pytest.mark.parametrize('make_input', [
    keras.Input, lambda shape: keras.KerasTensor((None, *shape))],
    ids=['a layer', 'a tensor'])
def test_clone_of_a_function_is_faithful_whose_input_is(make_input, assert_faithful):
    def build():
        y = make_input((3,))
        x = keras.Input((3,), name='x')
        return Model(x, keras.Function(y, y * TWO)(x))
    assert_faithful(build)


def call_arguments():
    x = keras.Input((5,), dtype='int32', name='x')
    y = layers.Embedding(4, 3, mask_zero=True)(x)
    y, h, c = layers.LSTM(3, return_sequences=True, return_state=True)(y)
    y = layers.LSTM(3, return_sequences=True)(y, initial_state=[h, c])
    y = layers.Dropout(.5)(y, training=False)
    return Model(x, layers.Attention()([y, y], mask=[None, None]))


def structured_outputs():
    a, b = keras.Input((3,), name='a'), keras.Input((3,), name='b')
    z = a + b
    return Model({'a': a, 'b': b}, {'z': z, 'y': [layers.Dense(5)(z), a]})


@pytest.mark.parametrize('build', [call_arguments, structured_outputs])
def test_guard_clone_has(build, assert_faithful):
    assert_faithful(build)


# Weights and other variables as arguments

class TimesWeight(layers.Layer):
    def call(self, inputs, weight):
        return inputs @ weight


@pytest.mark.parametrize('use', [
    lambda x, dense: x @ dense.kernel,
    lambda x, dense: ops.add(x1=x, x2=dense.bias),
    lambda x, dense: ops.concatenate([x, x * dense.bias]),
    lambda x, dense: TimesWeight()(x, dense.kernel)],
    ids=['position', 'keyword', 'in a list', 'of a layer'])
def test_clone_has_its_own_weight_as_an_argument(use, assert_faithful):
    assert_faithful(lambda: after_dense(lambda dense: lambda x: use(x, dense)))


def test_clone_has_its_own_weight_of_a_layer_that_is_called_later(assert_faithful):
    def build():
        x = keras.Input((3,), name='x')
        dense = layers.Dense(3)
        dense.build((None, 3))
        return Model(x, dense(x @ dense.kernel))
    assert_faithful(build)


def test_clone_has_a_copy_of_a_variable_that_is_an_argument():
    variable = keras.Variable(np.ones((3, 2), 'float32'))
    x = keras.Input((3,))
    model = Model(x, layers.Dense(2)(x @ variable))
    clone = clone_model(model)
    assert_same_outputs(model, clone)
    expected = outputs_of(clone, ONES)
    variable.assign(variable + 1)
    np.testing.assert_allclose(outputs_of(clone, ONES), expected, rtol=1e-5)


def test_guard_clone_has_the_inputs_in_another_order():
    a, b = keras.Input((3,)), keras.Input((3,))
    model = Model([a, b], a - 2 * b)
    clone = clone_model(model, input_tensors=[b, a])
    np.testing.assert_allclose(
        ops.convert_to_numpy(clone([ONES, 2 * ONES])), -3 * ONES)
