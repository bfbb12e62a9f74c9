"""`multi_gpu_model`, which clones, and the model that it builds."""
import numpy as np
import pytest
from keras import backend as K
from keras.layers import Bidirectional, Dense, Embedding, Input, LSTM
from keras.models import Model
from keras.utils import multi_gpu_utils

pytestmark = [pytest.mark.slow, pytest.mark.once, pytest.mark.skipif(
    K.backend() != 'tensorflow', reason='needs TensorFlow devices')]


def build():
    words, decoded = Input((7,)), Input((5,))
    state = LSTM(4, return_state=True)(Embedding(9, 6, mask_zero=True)(words))[1:]
    x = Embedding(9, 6, mask_zero=True)(decoded)
    x = Bidirectional(LSTM(4, return_sequences=True))(
        LSTM(4, return_sequences=True)(x, initial_state=state))
    return Model([words, decoded], Dense(2)(LSTM(4)(x)))


def parallel(model):
    return multi_gpu_utils.multi_gpu_model(model, gpus=2, cpu_relocation=True)


@pytest.fixture(autouse=True)
def devices(monkeypatch):
    monkeypatch.setattr(multi_gpu_utils, '_get_available_devices',
                        lambda: ['/cpu:0', '/gpu:0', '/gpu:1'])


def test_multi_gpu_model_that_relocates_a_masked_model_predicts_the_same():
    K.set_session(K.tf.Session(config=K.tf.ConfigProto(allow_soft_placement=True)))
    model = build()
    clone = parallel(model)
    clone.set_weights(model.get_weights())
    words = [np.array([[3, 1, 4, 1, 5, 0, 0], [2, 7, 1, 8, 2, 8, 0]]),
             np.array([[1, 2, 0, 0, 0], [3, 1, 2, 4, 0]])]
    np.testing.assert_allclose(clone.predict(words), model.predict(words),
                               rtol=1e-4, atol=1e-6)


def test_multi_gpu_model_that_relocates_a_masked_model_is_cloned_faithfully(
        assert_faithful):
    assert_faithful(lambda: parallel(build()), exact_ops=False)
