"""Recurrent layers that keep their states from one batch to the next."""
import numpy as np
import pytest
from keras.layers import GRU, LSTM, Input
from keras.models import Model, clone_model


@pytest.mark.parametrize('layer_class', [GRU, LSTM])
def test_guard_clone_with_another_batch_size(layer_class):
    x = Input(batch_shape=(2, 4, 3))
    model = Model(x, layer_class(2, stateful=True)(x))
    value = np.random.rand(2, 4, 3)
    expected = model.predict(value, batch_size=2)[:1]
    clone = clone_model(model, input_tensors=Input(batch_shape=(1, 4, 3)))
    clone.set_weights(model.get_weights())
    np.testing.assert_allclose(clone.predict(value[:1], batch_size=1), expected,
                               rtol=1e-5)
