"""Tests that go with the pull request.

`python -m contribute export` appends the functions below to the file of this name in
Keras. They use nothing that is not imported there.

Those about a crash fail on Keras 2.2.4, where a layer with several outputs that
returns a single mask, or none, loses outputs (keras-team/keras issue 12202). Those
that guard masks pass there and fail on 2.2.5 to 2.3.1, where a layer without
`supports_masking` loses its masks (keras-team/keras pull request 12205).
"""
import pytest
import numpy as np

import keras


def assert_clone_predicts_the_same(model, data):
    weights = [np.random.random(w.shape) for w in model.get_weights()]
    model.set_weights(weights)

    new_model = keras.models.clone_model(model)
    assert len(new_model.layers) == len(model.layers)
    assert len(new_model.weights) == len(weights)
    new_model.set_weights(weights)

    # Of a model with several outputs, the predictions are a list.
    for new, old in zip(new_model.predict(data), model.predict(data)):
        np.testing.assert_allclose(new, old, rtol=1e-5)


def test_clone_functional_model_with_lambda_of_two_outputs():
    # The model of issue 12202, with outputs that differ.
    x = keras.Input(shape=(3,))
    a, b = keras.layers.Lambda(lambda x: [x, 2 * x],
                               lambda shape: [shape, shape])(x)
    model = keras.models.Model(x, keras.layers.subtract([a, b]))

    new_model = keras.models.clone_model(model)

    data = np.random.random((2, 3))
    np.testing.assert_allclose(new_model.predict(data), -data, rtol=1e-5)


def test_clone_functional_model_with_two_inputs_and_two_outputs():
    class SumAndDifference(keras.layers.Layer):
        def call(self, inputs):
            return [inputs[0] + inputs[1], inputs[0] - inputs[1]]

        def compute_output_shape(self, input_shape):
            return input_shape

    a, b = keras.Input(shape=(3,)), keras.Input(shape=(3,))
    model = keras.models.Model([a, b], SumAndDifference()([a, b]))

    new_model = keras.models.clone_model(model)

    data = [np.random.random((2, 3)), np.random.random((2, 3))]
    total, difference = new_model.predict(data)
    np.testing.assert_allclose(total, data[0] + data[1], rtol=1e-5)
    np.testing.assert_allclose(difference, data[0] - data[1], rtol=1e-5, atol=1e-6)


def test_clone_functional_model_with_layers_of_one_and_of_two_outputs():
    x = keras.Input(shape=(3,))
    a, b = keras.layers.Lambda(lambda x: [x, 2 * x],
                               lambda shape: [shape, shape])(x)
    model = keras.models.Model(x, [keras.layers.Dense(2)(a), b])
    assert_clone_predicts_the_same(model, np.random.random((2, 3)))


def test_clone_functional_model_with_two_layers_of_one_class():
    x = keras.Input(shape=(3,))
    a, b = keras.layers.Lambda(lambda x: [x, 2 * x],
                               lambda shape: [shape, shape])(x)
    c, d = keras.layers.Lambda(lambda x: [3 * x, 4 * x],
                               lambda shape: [shape, shape])(b)
    a = keras.layers.Dense(3)(keras.layers.Dense(3)(a))
    model = keras.models.Model(x, keras.layers.concatenate([a, c, d]))
    assert_clone_predicts_the_same(model, np.random.random((2, 3)))


def test_clone_functional_model_with_branches_of_different_depth():
    a, b = keras.Input(shape=(3,)), keras.Input(shape=(3,))
    short, long = keras.layers.Lambda(lambda x: [x, 2 * x],
                                      lambda shape: [shape, shape])(a)
    long = keras.layers.Dense(3)(keras.layers.Dense(3)(long))
    long = keras.layers.add([b, long])
    model = keras.models.Model([b, a], keras.layers.subtract([short, long]))

    data = [np.random.random((2, 3)), np.random.random((2, 3))]
    assert_clone_predicts_the_same(model, data)


def test_clone_functional_model_with_and_without_mask_support():
    x = keras.Input(shape=(4,))
    y = keras.layers.Embedding(6, 3, mask_zero=True)(x)
    y = keras.layers.SimpleRNN(2)(y)
    a, b = keras.layers.Lambda(lambda x: [x, 2 * x],
                               lambda shape: [shape, shape])(y)
    model = keras.models.Model(x, [a, b])
    assert_clone_predicts_the_same(
        model, np.array([[1, 2, 0, 0], [3, 4, 5, 0]]))


def test_clone_functional_model_with_one_mask_for_two_outputs():
    class TwoScales(keras.layers.Layer):
        def __init__(self, **kwargs):
            super(TwoScales, self).__init__(**kwargs)
            self.supports_masking = True

        def call(self, inputs):
            return [inputs, 2 * inputs]

        def compute_output_shape(self, input_shape):
            return [input_shape, input_shape]

    x = keras.Input(shape=(4,))
    a, b = TwoScales()(keras.layers.Embedding(6, 3, mask_zero=True)(x))
    model = keras.models.Model(
        x, [keras.layers.SimpleRNN(2)(a), keras.layers.SimpleRNN(2)(b)])
    assert_clone_predicts_the_same(
        model, np.array([[1, 2, 0, 0], [3, 4, 5, 0]]))


def test_clone_functional_model_keeps_mask_of_nested_model():
    tokens = keras.Input(shape=(4,))
    embedding = keras.models.Model(
        tokens, keras.layers.Embedding(6, 3, mask_zero=True)(tokens))
    x = keras.Input(shape=(4,))
    model = keras.models.Model(x, keras.layers.SimpleRNN(2)(embedding(x)))
    assert_clone_predicts_the_same(
        model, np.array([[1, 2, 0, 0], [3, 4, 5, 0]]))


def test_clone_functional_model_keeps_masks_of_nested_model_with_two_inputs():
    tokens = [keras.Input(shape=(4,)), keras.Input(shape=(4,))]
    embed = keras.layers.Embedding(6, 3, mask_zero=True)
    embedding = keras.models.Model(tokens, [embed(tokens[0]), embed(tokens[1])])
    x = [keras.Input(shape=(4,)), keras.Input(shape=(4,))]
    a, b = embedding(x)
    model = keras.models.Model(
        x, [keras.layers.SimpleRNN(2)(a), keras.layers.SimpleRNN(2)(b)])
    data = [np.array([[1, 2, 0, 0], [3, 4, 5, 0]]),
            np.array([[4, 0, 0, 0], [2, 1, 3, 0]])]
    assert_clone_predicts_the_same(model, data)


def test_clone_functional_model_keeps_mask_of_bidirectional():
    x = keras.Input(shape=(4,))
    y = keras.layers.Embedding(6, 3, mask_zero=True)(x)
    y = keras.layers.Bidirectional(
        keras.layers.SimpleRNN(2, return_sequences=True))(y)
    model = keras.models.Model(x, keras.layers.SimpleRNN(2)(y))
    assert_clone_predicts_the_same(
        model, np.array([[1, 2, 0, 0], [3, 4, 5, 0]]))


def test_clone_functional_model_keeps_mask_of_compute_mask_alone():
    # Neither `supports_masking` is set nor does `call` take a mask.
    class Twice(keras.layers.Layer):
        def call(self, inputs):
            return 2 * inputs

        def compute_mask(self, inputs, mask=None):
            return mask

    x = keras.Input(shape=(4,))
    y = Twice()(keras.layers.Embedding(6, 3, mask_zero=True)(x))
    model = keras.models.Model(x, keras.layers.SimpleRNN(2)(y))
    assert_clone_predicts_the_same(
        model, np.array([[1, 2, 0, 0], [3, 4, 5, 0]]))


def test_clone_functional_model_keeps_mask_of_second_output():
    class MaskedSecond(keras.layers.Layer):
        def call(self, inputs):
            return [inputs, 2 * inputs]

        def compute_output_shape(self, input_shape):
            return [input_shape, input_shape]

        def compute_mask(self, inputs, mask=None):
            return [None, mask]

    x = keras.Input(shape=(4,))
    a, b = MaskedSecond()(keras.layers.Embedding(6, 3, mask_zero=True)(x))
    model = keras.models.Model(
        x, [keras.layers.SimpleRNN(2)(a), keras.layers.SimpleRNN(2)(b)])
    assert_clone_predicts_the_same(
        model, np.array([[1, 2, 0, 0], [3, 4, 5, 0]]))


if __name__ == '__main__':
    pytest.main([__file__])
