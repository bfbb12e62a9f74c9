"""Layers that a user changes between calls: on Keras 2, each call has computed with
what was set at that time."""
import numpy as np
import pytest
from keras import activations
from keras.layers import LSTM, Dense, Input, Layer, TimeDistributed
from keras.models import Model, Sequential

from major_versions import ONES, assert_cloned


class Scale(Layer):
    def __init__(self, factors=(2., 1.), **kwargs):
        super().__init__(**kwargs)
        self.factors = [*factors]

    def call(self, inputs):
        return sum(factor * inputs for factor in self.factors)

    def get_config(self):
        return dict(super().get_config(), factors=self.factors)


class Steps(Layer):
    """Has a number that `build` sets."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.steps = None

    def build(self, input_shape):
        self.steps = float(input_shape[-1])
        super().build(input_shape)

    def call(self, inputs):
        return inputs / self.steps


def called_again(layer, change, shape=(3,)):
    """Returns a model of the second call of a layer, which is changed before."""
    layer(Input(shape))
    change(layer)
    x = Input(shape)
    return Model(x, Dense(2)(layer(x)))


def set_factors(layer):
    layer.factors = [5.]


def append_factor(layer):
    layer.factors.append(5.)


def set_steps(layer):
    layer.steps = 7.


def set_inner_factors(layer):
    layer.layer.factors = [5.]


def set_activation(layer):
    layer.cell.activation = activations.relu


@pytest.mark.parametrize('make, change, shape', [
    (Scale, set_factors, (3,)),
    (Scale, append_factor, (3,)),
    (lambda: TimeDistributed(Scale()), set_inner_factors, (4, 3)),
    (lambda: LSTM(3), set_activation, (4, 3)),
    (Steps, set_steps, (3,))],
    ids=['guard attribute', 'guard list', 'layer in a wrapper',
         'guard cell of an RNN', 'what build has set'])
def test_clone_computes_with_what_was_changed_after_a_call_elsewhere(
        make, change, shape):
    value = np.random.RandomState(0).rand(2, *shape)
    assert_cloned(called_again(make(), change, shape), value)


def test_each_call_in_a_clone_computes_with_what_was_set_then():
    scale, x = Scale(), Input((3,))
    y = scale(x)
    scale.factors = [5.]
    y = scale(y)
    scale.factors = [2., 1.]
    model = Model(x, Dense(2)(scale(y)))
    scale.factors = [100.]
    clone = assert_cloned(model, ONES)
    assert clone.layers[1].factors == [100.]


def test_clone_computes_with_what_was_set_when_a_nested_model_was_called():
    inner = Sequential([Dense(3, input_shape=(3,)), Scale()])
    inner.layers[-1].factors = [5.]
    model = Sequential([inner, Dense(2)])
    inner.layers[-1].factors = [100.]
    assert_cloned(model, ONES)
