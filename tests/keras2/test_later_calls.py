"""Layers that a user changes between calls: on Keras 2, each call has computed with
what was set at that time."""
import numpy as np
import pytest
from keras import activations
from keras import backend as K
from keras.layers import (LSTM, RNN, Activation, Dense, Input, Layer, SimpleRNNCell,
                          TimeDistributed)
from keras.models import Model, Sequential, clone_model

from custom_objects import Holds, Times
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


def set_factors_and_wrap(layer):
    set_factors(layer)
    TimeDistributed(layer)(Input((4, 3)))


def set_steps(layer):
    layer.steps = 7.


def set_inner_factors(layer):
    layer.layer.factors = [5.]


def set_activation(layer):
    layer.cell.activation = activations.relu


@pytest.mark.parametrize('make, change, shape', [
    (Scale, set_factors, (3,)),
    (Scale, append_factor, (3,)),
    (Scale, set_factors_and_wrap, (3,)),
    (lambda: TimeDistributed(Scale()), set_inner_factors, (4, 3)),
    (lambda: LSTM(3), set_activation, (4, 3)),
    (Steps, set_steps, (3,))],
    ids=['guard attribute', 'guard list', 'guard before the call of a wrapper',
         'layer in a wrapper', 'guard cell of an RNN', 'what build has set'])
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


class Chained(Layer):
    """Calls a list of layers, one after another."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.parts = [Dense(3), Dense(3)]

    def call(self, inputs):
        for part in self.parts:
            inputs = part(inputs)
        return inputs

    @property
    def trainable_weights(self):
        return [weight for part in self.parts for weight in part.trainable_weights]


def append_layer(chained):
    chained.parts.append(Dense(3))


def remove_layer(chained):
    chained.parts.pop()


def put_in_a_layer_that_is_built(chained):
    chained.parts[0] = Dense(3)
    chained.parts[0].build((None, 3))
    chained.parts[0].built = True


@pytest.mark.parametrize(
    'change', [append_layer, remove_layer, put_in_a_layer_that_is_built])
def test_each_call_in_a_clone_calls_the_layers_held_then(change):
    x, chained = Input((3,)), Chained()
    y = chained(x)
    change(chained)
    assert_cloned(Model(x, chained(y)))


def test_guard_clone_computes_with_a_layer_put_into_a_wrapper_after_its_call():
    wrapper, x = TimeDistributed(Dense(3)), Input((4, 3))
    wrapper(x)
    wrapper.layer = Dense(3)
    wrapper.layer.build((None, 3))
    wrapper.layer.built = True
    assert_cloned(Model(x, wrapper(x)), np.ones((2, 4, 3)))


def test_each_layer_in_a_clone_computes_with_what_a_common_layer_held_then():
    scale, x = Scale(), Input((4, 3))
    y = TimeDistributed(scale)(x)
    scale.factors = [5.]
    y = TimeDistributed(scale)(y)
    scale.factors = [100.]
    assert_cloned(Model(x, Dense(2)(y)), np.ones((2, 4, 3)))


def test_guard_clone_of_a_layer_that_gets_parts_of_another_model_between_calls():
    scale, dense, x = Scale(), Dense(2), Input((3,))
    y = scale(x)
    scale.other = [dense, dense(Input((3,)))]
    assert_cloned(Model(x, Dense(2)(scale(y))), ONES)


class Holder:
    """Has the attributes that are set on it."""


class TimesObject(Layer):
    def call(self, inputs):
        return inputs * self.holder.factor


def test_each_call_in_a_clone_computes_with_the_object_held_then():
    times, x = TimesObject(), Input((3,))
    y = x
    for factor in (2., 5.):
        times.holder = Holder()
        times.holder.factor = factor
        y = times(y)
    assert_cloned(Model(x, Dense(2)(y)))


class Logs(Layer):
    """Has a new log after each call, and writes to the one before."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.log = Holder()
        self.log.entries = []

    def call(self, inputs):
        self.log.entries.append('called')
        self.log = Holder()
        self.log.entries = []
        return 2. * inputs


def test_guard_clone_does_not_change_an_object_that_a_call_has_created():
    x, layer = Input((3,)), Logs()
    y, logs = x, []
    for _ in range(4):
        y = layer(y)
        logs.append(layer.log)
    clone_model(Model(x, y))
    assert [log.entries for log in logs] == [['called']] * 3 + [[]]


class Registered(Layer):
    """Registers itself when it is built, and computes with what is registered."""

    registry = []

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.index = None

    def build(self, input_shape):
        self.registry.append(self)
        self.index = len(self.registry) - 1
        super().build(input_shape)

    def call(self, inputs):
        assert self.registry[self.index] is self
        return 2. * inputs


def test_guard_clone_of_a_layer_whose_nodes_the_user_has_removed():
    x, dense = Input((3,)), Dense(2)
    model = Model(x, dense(x))
    dense._inbound_nodes = []
    assert_cloned(model, ONES)


def test_guard_layer_is_called_that_holds_a_new_one_with_a_number_of_layers():
    class Counting(Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.layers = 3

    x, scale = Input((3,)), Scale()
    y = scale(x)
    scale.factors.append(Counting())
    scale.factors.pop()
    scale.counting = Counting()
    assert_cloned(Model(x, Dense(2)(scale(y))), ONES)


class Halving(Layer):
    """Changes its factor before Keras's `__call__`."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.factor = 8.

    def __call__(self, *args, **kwargs):
        self.factor *= .5
        return super().__call__(*args, **kwargs)

    def call(self, inputs):
        return inputs * self.factor


class ActivatesAgain(Layer):
    """Creates a layer in each call, and counts them by their names."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.found = {}

    def call(self, inputs):
        new = Activation('tanh')
        self.found[new.name] = self.name
        return new(inputs) * float(len(self.found))


def change_what_another_layer_holds(scale):
    Holds(scale)(Input((3,)))


def remove_nodes(scale):
    scale(Input((3,)))
    scale._inbound_nodes = []


@pytest.mark.parametrize('use', [change_what_another_layer_holds, remove_nodes])
def test_guard_clone_computes_with_what_was_set_before_the_first_call(use):
    scale, x = Scale(), Input((3,))
    use(scale)
    scale.factors = [5.]
    assert_cloned(Model(x, Dense(2)(scale(x))), ONES)


class Flipped(Layer):
    """Needs a new number each time that it is called."""

    used = set()

    def call(self, inputs):
        number = K.get_uid('flipped')
        assert number not in self.used
        self.used.add(number)
        return -inputs


@pytest.mark.parametrize('make', [
    Steps, Registered, Halving, ActivatesAgain, Flipped],
    ids=['sets a number in build', 'registers itself in build',
         'changes before each call', 'creates another in each call',
         'needs a new number in each call'])
def test_guard_clone_is_called_twice_like_a_layer_that(make):
    x, layer = Input((3,)), make()
    assert_cloned(Model(x, Dense(2)(layer(layer(x)))), ONES)


class PassesOn(Layer):
    """Has the attributes of a model that it holds."""

    def __init__(self, model, **kwargs):
        super().__init__(**kwargs)
        self.model = model

    def __getattr__(self, name):
        if name == 'model':
            raise AttributeError(name)
        return getattr(self.model, name)

    def call(self, inputs):
        return self.model.call(inputs)

    def compute_output_shape(self, input_shape):
        return self.model.compute_output_shape(input_shape)


def test_clone_of_a_layer_that_has_the_attributes_of_a_model():
    x, model = Input((3,)), Sequential([Dense(2, input_shape=(3,))])
    model = Model(x, PassesOn(model)(x))
    clone = clone_model(model)
    clone.layers[1].model.set_weights(model.layers[1].model.get_weights())
    np.testing.assert_allclose(clone.predict(ONES), model.predict(ONES), rtol=1e-5)


@pytest.mark.parametrize(
    'factors', [np.float32([2., 5.]), np.ones((2, 3), 'float32')],
    ids=['scalars', 'arrays'])
def test_each_call_in_a_clone_computes_with_the_numpy_number_set_then(factors):
    times, x = Times(), Input((3,))
    y = x
    for number, factor in enumerate(factors):
        times.factor = factor + number
        y = times(y)
    assert_cloned(Model(x, Dense(2)(y)), ONES)


def test_clone_calls_layers_in_the_order_of_the_original_calls():
    cell, x, y = SimpleRNNCell(2), Input((4, 3)), Input((4, 3))
    first = RNN(cell)(x)
    second = RNN(cell)(y)  # It creates the weights of the cell again.
    value = np.random.rand(2, 2, 4, 3)
    assert_cloned(Model([y, x], [second, first]), [*value])
