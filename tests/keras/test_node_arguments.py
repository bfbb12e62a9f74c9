"""Tests that go with the follow-up patches.

A node keeps the arguments that its layer was called with. Masks are no part of
them: they follow from the inputs of each call. Keras writes them there all the
same, in `_clone_functional_model` and in `Network.run_internal_graph`.
"""
import pytest
import numpy as np

from keras import backend as K
import keras


class Scale(keras.layers.Layer):
    """Multiplies by `by` where the mask is set, by zero elsewhere."""

    def __init__(self, **kwargs):
        super(Scale, self).__init__(**kwargs)
        self.supports_masking = True

    def call(self, inputs, mask=None, by=1):
        return by * inputs * K.cast(K.expand_dims(mask), K.floatx())


def scaled_model():
    x = keras.Input(shape=(4,))
    y = keras.layers.Embedding(6, 3, mask_zero=True)(x)
    return keras.models.Model(x, Scale()(y, by=2))


def assert_predicts_the_same(new_model, model):
    data = np.array([[1, 2, 0, 0], [3, 4, 5, 0]])
    np.testing.assert_allclose(
        new_model.predict(data), model.predict(data), rtol=1e-5)


def test_clone_functional_model_of_a_clone_has_masks_of_its_own():
    x = keras.Input(shape=(4,))
    y = keras.layers.Embedding(6, 3, mask_zero=True)(x)
    model = keras.models.Model(x, keras.layers.SimpleRNN(2)(y))
    weights = [np.random.random(w.shape) for w in model.get_weights()]
    model.set_weights(weights)

    new_model = keras.models.clone_model(keras.models.clone_model(model))
    new_model.set_weights(weights)
    assert_predicts_the_same(new_model, model)


def test_clone_functional_model_leaves_the_original_as_it_was():
    model = scaled_model()

    keras.models.clone_model(model)
    again = keras.Input(shape=(4,))
    again = keras.models.Model(again, model(again))
    assert_predicts_the_same(again, model)


def test_clone_functional_model_returns_a_clone_that_can_be_saved():
    model = scaled_model()

    config = keras.models.clone_model(model).get_config()
    loaded = keras.models.Model.from_config(config, {'Scale': Scale})
    loaded.set_weights(model.get_weights())
    assert_predicts_the_same(loaded, model)


def test_model_called_twice_takes_the_mask_of_each_input():
    model = scaled_model()

    a, b = keras.Input(shape=(4,)), keras.Input(shape=(4,))
    twice = keras.models.Model([a, b], [model(a), model(b)])

    data = [np.array([[1, 2, 0, 0], [3, 4, 5, 0]]),
            np.array([[4, 1, 2, 3], [2, 0, 0, 0]])]
    for output, x in zip(twice.predict(data), data):
        np.testing.assert_allclose(output, model.predict(x), rtol=1e-5)


def test_model_called_again_can_be_saved():
    model = scaled_model()

    model(keras.Input(shape=(4,)))
    loaded = keras.models.Model.from_config(model.get_config(), {'Scale': Scale})
    loaded.set_weights(model.get_weights())
    assert_predicts_the_same(loaded, model)


@pytest.mark.skipif(K.backend() != 'tensorflow',
                    reason='multi_gpu_model is for TensorFlow only.')
def test_multi_gpu_model_of_a_masked_seq2seq_model(monkeypatch):
    # The model of issue 12835. GPUs are stood in for by the processor.
    import tensorflow as tf
    from keras.utils import multi_gpu_utils
    monkeypatch.setattr(multi_gpu_utils, '_get_available_devices',
                        lambda: ['/cpu:0', '/gpu:0', '/gpu:1'])
    K.clear_session()
    if hasattr(tf, 'Session'):  # TensorFlow 2 places softly by itself.
        K.set_session(tf.Session(config=tf.ConfigProto(allow_soft_placement=True)))

    target, h, c = [keras.Input(shape=(size,)) for size in (3, 2, 2)]
    y = keras.layers.Embedding(6, 3, mask_zero=True)(target)
    decoder = keras.models.Model(
        [target, h, c], keras.layers.LSTM(2)(y, initial_state=[h, c]))
    source, target = keras.Input(shape=(4,)), keras.Input(shape=(3,))
    y = keras.layers.Embedding(6, 3, mask_zero=True)(source)
    _, h, c = keras.layers.LSTM(2, return_state=True)(y)
    model = keras.models.Model([source, target], decoder([target, h, c]))
    model.set_weights([np.random.random(w.shape) for w in model.get_weights()])

    parallel = multi_gpu_utils.multi_gpu_model(model, gpus=2)

    data = [np.array([[1, 2, 0, 0], [3, 4, 5, 0], [1, 0, 0, 0], [2, 3, 4, 5]]),
            np.array([[1, 2, 3], [4, 0, 0], [5, 4, 0], [2, 2, 2]])]
    np.testing.assert_allclose(
        parallel.predict(data), model.predict(data), rtol=1e-5)
    K.clear_session()


if __name__ == '__main__':
    pytest.main([__file__])
