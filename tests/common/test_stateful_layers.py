"""Recurrent layers that keep their states from one batch to the next."""
import numpy as np
import pytest
from keras.layers import GRU, LSTM, Input, SimpleRNN
from keras.models import Model, clone_model

VALUE = np.random.RandomState(0).normal(size=(2, 4, 3))


def stateful(layer_class):
    x = Input(batch_shape=(2, 4, 3))
    return Model(x, layer_class(2, stateful=True)(x))


@pytest.mark.parametrize('layer_class', [GRU, LSTM])
def test_guard_clone_with_another_batch_size_begins_anew(layer_class):
    model = stateful(layer_class)
    expected = model.predict(VALUE, batch_size=2)[:1]
    clone = clone_model(model, input_tensors=Input(batch_shape=(1, 4, 3)))
    clone.set_weights(model.get_weights())
    np.testing.assert_allclose(clone.predict(VALUE[:1], batch_size=1), expected,
                               rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize('layer_class, when', [
    (SimpleRNN, 'before'), (LSTM, 'after')])
def test_guard_clone_made_before_or_after_a_batch_begins_anew(layer_class, when):
    model = stateful(layer_class)
    clone = clone_model(model) if when == 'before' else None
    expected = model.predict(VALUE)
    clone = clone or clone_model(model)
    clone.set_weights(model.get_weights())
    np.testing.assert_allclose(clone.predict(VALUE), expected, rtol=1e-5, atol=1e-6)
