"""What neither a config nor the weights contain, and only Keras 2 has."""
import numpy as np
import pytest
from keras import backend as K
from keras import initializers, regularizers
from keras.layers import (RNN, BatchNormalization, Bidirectional, Dense,
                          GRUCell, Input, Lambda, Layer, LSTMCell, SimpleRNN,
                          TimeDistributed)
from keras.models import Model, Sequential, clone_model

from custom_objects import Attributes, Holds
from major_versions import ONES, assert_same_outputs, build_inner, chain


class Options(Holds):
    def call(self, inputs):
        return self.held.rate * inputs


def test_clone_has_an_argument_that_raises_a_key_error_for_a_missing_attribute(
        assert_faithful):
    assert_faithful(chain(lambda: Options(Attributes(rate=.5))))


# Variables that are not weights

class Temperature(Layer):
    """Stores a number in a variable. Keras 2.3 regards this as a weight."""

    def __init__(self, start=1., **kwargs):
        super().__init__(**kwargs)
        self.temperature = K.variable([start] * 3)

    def call(self, inputs):
        return self.temperature * inputs


class TemperatureRequired(Temperature):
    def __init__(self, start, **kwargs):
        super().__init__(start, **kwargs)


class TemperatureWithConfig(Temperature):
    def get_config(self):
        return dict(super().get_config(),
                    start=float(K.get_value(self.temperature)[0]))


@pytest.mark.parametrize('make', [
    Temperature, TemperatureRequired,
    pytest.param(TemperatureWithConfig, id='guard TemperatureWithConfig')])
def test_clone_has_a_copy_of_a_variable_that_is_not_a_weight(make, assert_faithful):
    build = chain(lambda: make(3.))
    assert_faithful(build)
    model = build()
    clone = clone_model(model)
    K.set_value(model.layers[-1].temperature, [5.] * 3)
    np.testing.assert_allclose(clone.predict(ONES), 3 * ONES)


class Counting(Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.counts = (K.variable(0.), {'other': K.variable(1.)})

    def set_counts(self, count, other):
        K.set_value(self.counts[0], count)
        K.set_value(self.counts[1]['other'], other)

    def call(self, inputs):
        return inputs + self.counts[0] + self.counts[1]['other']


def test_clone_has_copies_of_variables_in_containers_that_a_callback_has_set():
    model = chain(Counting)()
    model.layers[-1].set_counts(2., 3.)
    clone = clone_model(clone_model(model))
    model.layers[-1].set_counts(2., 7.)
    np.testing.assert_allclose(clone.predict(ONES), 6)


class CountsCalls(Layer):
    """Has an update that only runs at predict if the layer is stateful."""

    def build(self, input_shape):
        self.calls = self.add_weight(name='calls', shape=(), initializer='zeros',
                                     trainable=False)

    def call(self, inputs):
        self.add_update([K.update_add(self.calls, 1.)], None)
        return 2 * inputs


def test_clone_of_a_layer_that_was_made_stateful_runs_its_updates():
    layer = CountsCalls()
    layer.stateful = True
    clone = clone_model(clone_model(chain(lambda: layer)()))
    clone.predict(ONES)
    np.testing.assert_allclose(clone.get_weights(), [1])


class WrapsCell(Holds):
    state_size = property(lambda self: self.held.state_size)

    def build(self, input_shape):
        build_inner(self, [self.held], input_shape)

    def call(self, inputs, states):
        return self.held.call(inputs, states)


@pytest.mark.parametrize('cell', [GRUCell, LSTMCell])
def test_clone_of_a_stateful_layer_has_its_own_cell_that_slices_its_weights(cell):
    x = Input(batch_shape=(2, 4, 3))
    model = Model(x, RNN(WrapsCell(cell(2)), stateful=True)(x))
    clone, value = clone_model(model), np.ones((2, 4, 3))
    clone.set_weights(model.get_weights())
    expected = model.predict(value)
    model.set_weights([weight + 1 for weight in model.get_weights()])
    np.testing.assert_allclose(clone.predict(value), expected, rtol=1e-5)


def test_clone_has_the_weights_that_were_moved_to_the_non_trainable_ones():
    model = chain(lambda: Dense(2))()
    dense = model.layers[-1]
    dense._trainable_weights = [dense.bias]
    dense._non_trainable_weights = [dense.kernel]
    clone = clone_model(model)
    cloned = clone.layers[-1]
    assert clone.trainable_weights == [cloned.bias]
    assert clone.non_trainable_weights == [cloned.kernel]
    assert_same_outputs(model, clone)


# Weights replaced after `build`

def share(kernel):
    return kernel


# Without `symbolic`, what TensorFlow 2 computes here is a constant.
transpose = getattr(K, 'symbolic', share)(K.transpose)


def tied_model(make_kernel, then=lambda x, y: y):
    """Returns a model of two layers with one kernel, and of the layer `then`."""
    x = Input((3,), name='x')
    first, second = Dense(3), Dense(3)
    for layer in (first, second):
        layer.build((None, 3))
        layer.built = True
    second.kernel = make_kernel(first.kernel)
    second._trainable_weights = [second.bias]
    return Model(x, then(x, second(first(x))))


def add_argument(x, y):
    return Lambda(lambda x, other: x + other, arguments={'other': y})(x)


@pytest.mark.parametrize('make_kernel, then', [
    (share, lambda x, y: y), (transpose, lambda x, y: y), (share, add_argument)],
    ids=['shared', 'transposed', 'shared, in a layer that computes an argument'])
def test_clone_has_a_weight_replaced_by_that_of_another_layer(
        make_kernel, then, assert_faithful):
    assert_faithful(lambda: tied_model(make_kernel, then))


# `trainable` and updates

@pytest.mark.parametrize('is_frozen_first', [
    False, pytest.param(True, id='guard True')])
def test_clone_has_the_updates_of_a_frozen_layer_in_a_nested_model(
        is_frozen_first):
    """Updates from before the layer was frozen are kept by the nested model."""
    x = Input((3,))
    inner = Sequential([Dense(2), BatchNormalization()])
    inner.layers[1].trainable = not is_frozen_first
    model = Model(x, inner(x))
    inner.layers[1].trainable = False
    clone = clone_model(model)
    assert len(clone.updates) == len(model.updates) == (0 if is_frozen_first else 2)
    assert clone.layers[-1].layers[1].trainable is False


# Seeds of initializers, which count their draws since Keras 2.3

class InitializesItself(Holds):
    """Is passed an initializer."""

    def build(self, input_shape):
        self.kernel = self.add_weight(name='kernel', shape=(input_shape[-1], 2),
                                      initializer=self.held)

    def call(self, inputs):
        return K.dot(inputs, self.kernel)

    def compute_output_shape(self, input_shape):
        return input_shape[:-1] + (2,)


@pytest.mark.parametrize('make_layer', [
    lambda initializer: Dense(2, kernel_initializer=initializer), InitializesItself],
    ids=['recorded', 'not recorded'])
def test_clone_of_a_layer_with_a_seed_is_faithful_since_2_3(
        make_layer, assert_faithful):
    assert_faithful(chain(lambda: make_layer(initializers.he_normal(seed=1))))


# Losses

def with_loss_of_a_tensor():
    x = Input((3,))
    hidden = Dense(2)(x)
    model = Model(x, Dense(3)(hidden))
    model.add_loss(.1 * K.sum(K.abs(hidden)))
    return model


def test_clone_computes_a_loss_added_to_a_model_by_its_own_weights():
    model = with_loss_of_a_tensor()
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    expected, = K.function(model.inputs, model.losses)([ONES])
    model.set_weights([weight + 1 for weight in model.get_weights()])
    found, = K.function(clone.inputs, clone.losses)([ONES])
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def with_loss_of_two_tensors():
    x = Input((3,))
    mean, spread = Dense(2)(x), Dense(2)(x)
    model = Model(x, Dense(3)(mean))
    model.add_loss(K.mean(K.square(mean) + K.exp(spread) - spread))
    return model


def with_loss_of_a_weight(make_layer):
    model = chain(make_layer)()
    model.add_loss(K.sum(K.square(model.trainable_weights[0])))
    return model


def with_loss_of_a_nested_model():
    return chain(lambda: with_loss_of_a_weight(lambda: Dense(3)))()


def with_losses_of_a_layer():
    model = chain(lambda: Dense(3, bias_regularizer='l1'))()
    dense = model.layers[-1]
    dense.add_loss([regularizers.l2(.1)(each) for each in dense.weights])
    return model


class HidesLayer(Layer):
    """Holds a layer where Keras does not find it."""

    def __init__(self, hide, **kwargs):
        super().__init__(**kwargs)
        self.hide, self.hidden = hide, hide(Dense(3))

    def inner(self):
        return self.hidden() if callable(self.hidden) else self.hidden['inner'][0]

    def build(self, input_shape):
        self.inner().build(input_shape)

    @property
    def trainable_weights(self):
        return self.inner().trainable_weights

    def call(self, inputs):
        return self.inner().call(inputs)


class HidesLayerInBuild(HidesLayer):
    def __init__(self, **kwargs):
        Layer.__init__(self, **kwargs)

    def build(self, input_shape):
        self.hidden = {'inner': [Dense(3)]}
        super().build(input_shape)


@pytest.mark.parametrize('build', [
    with_loss_of_a_tensor, with_loss_of_two_tensors, with_loss_of_a_nested_model,
    with_losses_of_a_layer,
    lambda: with_loss_of_a_weight(lambda: HidesLayer(lambda x: {'inner': [x]})),
    lambda: with_loss_of_a_weight(lambda: HidesLayer(lambda x: lambda: x)),
    lambda: with_loss_of_a_weight(HidesLayerInBuild),
], ids=['of a tensor', 'of two tensors', 'of a nested model', 'of a layer',
        'of a layer in a dict', 'of a layer in a function',
        'of a layer in a container of `build`'])
def test_clone_has_an_added_loss(build, assert_faithful):
    assert len(assert_faithful(build).losses) == len(build().losses) > 0


@pytest.mark.parametrize('when', ['before', 'after'])
def test_clone_has_a_loss_added_to_a_layer_of_a_nested_model(when, assert_faithful):
    def build():
        dense = Dense(3)
        inner, x = chain(lambda: dense)(), Input((3,), name='x')
        if when == 'after':
            y = inner(x)
        dense.add_loss(regularizers.l2(.1)(dense.kernel))
        if when == 'before':
            y = inner(x)
        return Model(x, y)
    assert_faithful(build)


class Ponder(Layer):
    """Stores a tensor, from which a loss is computed after the call."""

    def call(self, inputs):
        self.costs = {'mean': [K.mean(K.square(inputs))]}
        return 2. * inputs


@pytest.mark.parametrize('is_conditional', [False, True], ids=['', 'conditional'])
@pytest.mark.parametrize('make_layer, loss_of', [
    (Ponder, lambda layer: 3. * layer.costs['mean'][0]),
    (lambda: Dense(2, activity_regularizer='l1'),
     lambda layer: K.mean(K.square(layer.output))),
    (lambda: Dense(2), lambda layer: K.mean(K.in_train_phase(
        K.square(layer.output), layer.output)))],
    ids=['a tensor that it stores', 'its output', 'its output in training'])
def test_clone_has_a_loss_added_to_a_layer_and_computed_from(
        make_layer, loss_of, is_conditional, assert_faithful):
    def build():
        layer, x = make_layer(), Input((3,), name='x')
        y = layer(x)
        layer.add_loss(loss_of(layer), inputs=x if is_conditional else None)
        return Model(x, y)
    clone = assert_faithful(build, exact_ops=False)  # Parts of a branch are unused.
    assert len(clone.losses) == len(build().losses)


def test_clone_has_the_losses_added_for_each_call_of_a_layer(assert_faithful):
    def build():
        dense, x = Dense(3), Input((3,), name='x')
        hidden = dense(x)
        y = dense(hidden)
        dense.add_loss(K.sum(y), inputs=hidden)
        dense.add_loss(2. * K.sum(hidden), inputs=x)
        return Model(x, y)
    assert_faithful(build)


@pytest.mark.parametrize('make_layer, loss_of', [
    (Ponder, lambda layer: layer.costs['mean'][0]),
    (lambda: Dense(3), lambda layer: K.sum(layer.get_output_at(1)))],
    ids=['a tensor that the layer stores', 'its output'])
def test_guard_clone_has_no_loss_computed_in_another_model_from(make_layer, loss_of):
    layer, x = make_layer(), Input((3,))
    model = Model(x, layer(x))
    layer(Input((3,)))
    layer.add_loss(loss_of(layer))
    assert clone_model(model).losses == []


class UnconditionalLoss(Layer):
    def call(self, inputs):
        self.add_loss(K.mean(K.square(inputs)))
        return 2. * inputs


def test_guard_clone_has_the_loss_of_a_call_once_if_another_model_called_before():
    layer, x = UnconditionalLoss(), Input((3,))
    layer(Input((3,)))
    model = Model(x, layer(x))
    assert len(clone_model(model).losses) == 1


class LossOfLoop(Layer):
    def call(self, inputs):
        doubled = K.map_fn(lambda row: 2. * row, inputs)
        self.add_loss(K.mean(doubled))
        return doubled + 1.

    def compute_output_shape(self, input_shape):
        return input_shape


def test_guard_clone_of_a_layer_with_a_loss_of_a_loop_that_another_model_calls():
    """The original has the losses of both calls. A loop cannot be copied."""
    layer, x = LossOfLoop(), Input((3,))
    model = Model(x, layer(x))
    layer(x)
    assert_same_outputs(model, clone_model(model))


class Shift(Layer):
    def call(self, inputs, by):
        return inputs + by


def test_clone_has_a_loss_added_to_a_layer_that_only_a_call_argument_depends_on(
        assert_faithful):
    def build():
        dense, x = Dense(3), Input((3,), name='x')
        y = dense(x)
        dense.add_loss(regularizers.l2(.1)(dense.kernel))
        return Model(x, Shift()(x, by=2. * y))
    assert_faithful(build)


class Divergence(Layer):
    def build(self, input_shape):
        self.seen = self.add_weight('seen', (1,), initializer='zeros',
                                    trainable=False)

    def call(self, inputs):
        self.add_loss(K.mean(K.square(inputs)), inputs=inputs)
        self.add_update([K.update_add(self.seen, K.ones((1,)))], inputs)
        return 2 * inputs


def test_guard_clone_has_the_loss_and_the_update_of_a_layer(assert_faithful):
    clone = assert_faithful(chain(lambda: Dense(3), Divergence))
    assert len(clone.losses) == len(clone.updates) == 1


@pytest.mark.parametrize('make', [
    lambda: Dense(2, kernel_regularizer='l2'),
    lambda: Dense(2, activity_regularizer='l2'),
    lambda: TimeDistributed(Dense(2, kernel_regularizer='l2')),
    lambda: Bidirectional(SimpleRNN(2, kernel_regularizer='l2')),
    chain(lambda: Dense(2, kernel_regularizer='l2'), shape=(4, 3)),
], ids=['kernel', 'activity', 'wrapper', 'bidirectional', 'nested model'])
def test_guard_clone_counts_losses_of_regularizers_once(make):
    model = chain(make, shape=(4, 3))()
    clone = clone_model(clone_model(model))
    assert len(clone.losses) == len(model.losses)
