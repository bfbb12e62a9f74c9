"""State that is neither in a config nor in the weights is cloned.

Constructor arguments that are missing in the config, variables that are not weights,
`trainable` of inner layers, attributes that were set later, losses of a model.
"""
import numpy as np
import pytest
from keras import activations, initializers, regularizers
from keras import backend as K
from keras.layers import (GRU, LSTM, RNN, BatchNormalization, Bidirectional, Dense,
                          Dropout, GRUCell, Input, Lambda, Layer, LeakyReLU,
                          LSTMCell, Reshape, SimpleRNN, SimpleRNNCell,
                          TimeDistributed)
from keras.models import Model, Sequential, clone_model
from keras.utils import get_custom_objects

from custom_objects import relu
from major_versions import chain


def assert_computes_the_same(model, clone, value=np.ones((2, 3))):
    clone.set_weights(model.get_weights())
    np.testing.assert_allclose(clone.predict(value), model.predict(value), rtol=1e-5)


# Arguments that are missing in the config


class StoresOtherValue(Layer):
    """Its attribute has the name of an argument, but another value."""

    def __init__(self, rate, **kwargs):
        super().__init__(**kwargs)
        self.rate = 1 - rate

    def call(self, inputs):
        return self.rate * inputs


def test_argument_stored_as_another_value(assert_faithful):
    assert_faithful(chain(lambda: StoresOtherValue(.75)))
    model = chain(lambda: StoresOtherValue(.75))()
    clone = clone_model(clone_model(model))
    np.testing.assert_allclose(clone.layers[-1].rate, .25)
    assert_computes_the_same(model, clone)


class StoresOtherValueWithDefault(StoresOtherValue):
    """The same, but the argument has a default."""

    def __init__(self, rate=.5, **kwargs):
        super().__init__(rate, **kwargs)


def test_argument_with_a_default_stored_as_another_value():
    model = chain(lambda: StoresOtherValueWithDefault(.75))()
    assert_computes_the_same(model, clone_model(clone_model(model)))


class SeveralWeights(Layer):
    """Its argument sets the number of its weights."""

    def __init__(self, count=2, **kwargs):
        super().__init__(**kwargs)
        self.count = count

    def build(self, input_shape):
        self.factors = [self.add_weight('factor', (3,), initializer='uniform')
                        for _ in range(self.count)]
        super().build(input_shape)

    def call(self, inputs):
        return sum(factor * inputs for factor in self.factors)


def test_argument_that_sets_the_number_of_weights():
    model = chain(lambda: SeveralWeights(count=3))()
    clone = clone_model(clone_model(model))
    assert len(clone.weights) == 3
    assert_computes_the_same(model, clone)


class PopsArguments(Dense):
    """Pops its own arguments from `**kwargs`."""

    def __init__(self, *args, **kwargs):
        self.offset = kwargs.pop('offset')
        self.function = kwargs.pop('function', None)
        super().__init__(*args, **kwargs)

    def call(self, inputs):
        outputs = super().call(inputs) + self.offset
        return self.function(outputs) if self.function else outputs


def test_arguments_popped_from_the_keywords(assert_faithful):
    def build():
        return chain(lambda: PopsArguments(
            3, activation='relu', offset=np.array([1., 2., 3.]), function=K.tanh,
            activity_regularizer=regularizers.l1(.25)))()
    assert_faithful(build)
    layer = clone_model(build()).layers[-1]
    np.testing.assert_allclose(layer.activity_regularizer.l1, .25)
    np.testing.assert_allclose(layer.offset, [1, 2, 3])


class WithUnits(Layer):
    """Has an argument, and passes its keywords to `Layer`."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.size = units

    def build(self, input_shape):
        self.kernel = self.add_weight('kernel', (input_shape[-1], self.size),
                                      initializer='uniform',
                                      regularizer=regularizers.l2(.5))
        super().build(input_shape)

    def call(self, inputs):
        return K.dot(inputs, self.kernel)

    def compute_output_shape(self, input_shape):
        return input_shape[0], self.size


def test_regularizers_of_a_layer_without_a_config():
    model = chain(lambda: WithUnits(2, name='mine', trainable=False))()
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    assert clone.layers[-1].name == 'mine'
    assert clone.layers[-1].trainable is False
    assert len(clone.losses) == len(model.losses) == 1
    np.testing.assert_allclose(K.eval(clone.losses[0]), K.eval(model.losses[0]),
                               rtol=1e-5)


def test_regularizer_set_after_the_constructor():
    layer = WithUnits(2)
    layer.activity_regularizer = regularizers.l1(.25)
    clone = clone_model(chain(lambda: layer)())
    np.testing.assert_allclose(clone.layers[-1].activity_regularizer.l1, .25)


class AppliesInOrder(Layer):
    """Takes layers as positional arguments, and applies them in order."""

    def __init__(self, first, *others, **kwargs):
        super().__init__(**kwargs)
        self._others = others
        self.first = first

    def build(self, input_shape):
        for layer in (self.first,) + self._others:
            layer.build(input_shape)
            self._trainable_weights += layer.trainable_weights
        super().build(input_shape)

    def call(self, inputs):
        for layer in (self.first,) + self._others:
            inputs = layer.call(inputs)
        return inputs


def test_layers_passed_as_positional_arguments(assert_faithful):
    assert_faithful(chain(
        lambda: AppliesInOrder(Dense(3), Dense(3, activation='tanh'))))


class Table(Layer):
    """Computes with its arguments: a function, an initializer and a table."""

    def __init__(self, function, initializer, table, **kwargs):
        super().__init__(**kwargs)
        self._function, self._initializer = function, initializer
        self._table = K.constant(table)

    def build(self, input_shape):
        self.factor = self.add_weight('factor', (3,),
                                      initializer=self._initializer)
        super().build(input_shape)

    def call(self, inputs):
        return self._function(self.factor * inputs + self._table)


def test_arguments_stored_under_other_names():
    def double(x):
        return 2 * x
    model = chain(lambda: Table(double, initializers.Constant(3.), [1., 2., 3.]))()
    clone = clone_model(clone_model(model))
    np.testing.assert_allclose(clone.get_weights()[0], 3)
    assert clone.layers[-1]._function is double
    assert_computes_the_same(model, clone)


class Settings:
    def __init__(self):
        self.factors = np.array([1., 2., 3.])


class Configured(Layer):
    """Takes an object with settings."""

    def __init__(self, settings=None, **kwargs):
        super().__init__(**kwargs)
        self.settings = settings

    def call(self, inputs):
        if self.settings is None:
            return inputs
        return inputs * K.constant(self.settings.factors)


def test_object_with_settings():
    model = chain(lambda: Configured(Settings()))()
    clone = clone_model(model)
    np.testing.assert_allclose(clone.layers[-1].settings.factors, [1., 2., 3.])
    assert_computes_the_same(model, clone)


class RandomMatrix(Layer):
    """Draws a random matrix in its constructor, and computes with it."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.matrix = np.random.uniform(size=(3, 3))

    def call(self, inputs):
        return K.dot(inputs, K.constant(self.matrix))


def test_matrix_drawn_in_the_constructor():
    model = chain(RandomMatrix)()
    clone = clone_model(model)
    np.testing.assert_allclose(clone.layers[-1].matrix, model.layers[-1].matrix)
    assert_computes_the_same(model, clone)


class AttributeDict(dict):
    """A dict whose items are also attributes."""
    __getattr__ = dict.__getitem__


class Options(Layer):
    """Stores its argument, and has no config."""

    def __init__(self, options, **kwargs):
        super().__init__(**kwargs)
        self.options = options

    def call(self, inputs):
        return self.options.rate * inputs


def test_argument_that_raises_a_key_error_for_a_missing_attribute(
        assert_faithful):
    assert_faithful(chain(lambda: Options(AttributeDict(rate=.5))))


# Attributes that were set after the constructor


class Gain(Layer):
    """Has an attribute that is not an argument of its constructor."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.gain = 1.

    def call(self, inputs):
        return self.gain * inputs


def with_gain():
    layer = Gain()
    layer.gain = 4.
    return layer


def test_number_set_after_the_constructor():
    model = chain(with_gain)()
    clone = clone_model(model)
    np.testing.assert_allclose(clone.layers[-1].gain, 4)
    assert_computes_the_same(model, clone)


def test_attribute_added_to_a_layer():
    model = chain(lambda: Dense(2))()
    model.layers[-1].note = {'by': ['me']}
    clone = clone_model(model)
    assert clone.layers[-1].note == {'by': ['me']}
    clone.layers[-1].note['by'].append('you')
    assert model.layers[-1].note == {'by': ['me']}


def dense_with_changed_settings():
    layer = Dense(3)
    layer.activation = activations.tanh
    layer.kernel_regularizer = regularizers.l2(.25)
    return layer


def normalization_with_changed_settings():
    layer = BatchNormalization()
    layer.epsilon, layer.momentum = .25, .5
    return layer


def dropout_with_changed_rate():
    layer = Dropout(.5)
    layer.rate = 0.
    return layer


def layer_with_changed_name():
    layer = LeakyReLU(.1)
    layer.name = 'renamed'
    return layer


@pytest.mark.parametrize('make', [
    dense_with_changed_settings, normalization_with_changed_settings,
    dropout_with_changed_rate, layer_with_changed_name])
def test_guard_settings_in_a_config(make, assert_faithful):
    assert_faithful(chain(make))


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
def test_value_of_a_variable_that_is_not_a_weight(make, assert_faithful):
    assert_faithful(chain(lambda: make(3.)))
    model = chain(lambda: make(3.))()
    clone = clone_model(model)
    assert clone.layers[-1].temperature is not model.layers[-1].temperature
    assert_computes_the_same(model, clone)
    K.set_value(model.layers[-1].temperature, [5.] * 3)
    np.testing.assert_allclose(K.get_value(clone.layers[-1].temperature), 3)


def test_value_set_by_a_callback_on_a_variable_that_is_not_a_weight():
    model = chain(Temperature)()
    K.set_value(model.layers[-1].temperature, [3.] * 3)
    clone = clone_model(clone_model(model))
    assert_computes_the_same(model, clone)
    np.testing.assert_allclose(K.get_value(clone.layers[-1].temperature), 3)


class Counting(Layer):
    """Counts batches in a list of variables."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.counts = (K.variable(0.), {'other': K.variable(1.)})

    def call(self, inputs):
        return inputs + self.counts[0] + self.counts[1]['other']


def test_variables_in_containers():
    model = chain(Counting)()
    K.set_value(model.layers[-1].counts[0], 2.)
    K.set_value(model.layers[-1].counts[1]['other'], 3.)
    clone = clone_model(model)
    assert_computes_the_same(model, clone)
    K.set_value(model.layers[-1].counts[1]['other'], 7.)
    np.testing.assert_allclose(clone.predict(np.ones((2, 3))), 6)


def test_guard_states_of_a_stateful_layer_begin_anew():
    model = Sequential([SimpleRNN(2, stateful=True, batch_input_shape=(2, 1, 3))])
    value = np.ones((2, 1, 3))
    expected = model.predict(value)
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    np.testing.assert_allclose(clone.predict(value), expected, rtol=1e-5)


class CountsCalls(Layer):
    """Has an update that only runs at predict if the layer is stateful."""

    def build(self, input_shape):
        self.calls = self.add_weight(name='calls', shape=(), initializer='zeros',
                                     trainable=False)
        super().build(input_shape)

    def call(self, inputs):
        self.add_update([K.update_add(self.calls, 1.)], None)
        return 2 * inputs


def test_layer_that_was_made_stateful():
    layer = CountsCalls()
    layer.stateful = True
    clone = clone_model(clone_model(chain(lambda: layer)()))
    clone.predict(np.ones((2, 3)))
    np.testing.assert_allclose(clone.get_weights(), [1])


def test_guard_states_are_not_shared():
    model = Sequential([SimpleRNN(2, stateful=True, batch_input_shape=(2, 1, 3))])
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    value = np.ones((2, 1, 3))
    expected = model.predict(value)
    np.testing.assert_allclose(clone.predict(value), expected, rtol=1e-5)


class WrapsCell(Layer):
    """A cell that uses another one, and has no config."""

    def __init__(self, cell, **kwargs):
        super().__init__(**kwargs)
        self.cell, self.state_size = cell, cell.state_size

    def build(self, input_shape):
        self.cell.build(input_shape)
        self.cell.built = True
        self._trainable_weights = self.cell.trainable_weights
        super().build(input_shape)

    def call(self, inputs, states):
        return self.cell.call(inputs, states)


@pytest.mark.parametrize('cell', [GRUCell, LSTMCell])
def test_stateful_layer_with_a_cell_that_slices_its_weights(cell):
    x = Input(batch_shape=(2, 4, 3))
    model = Model(x, RNN(WrapsCell(cell(2)), stateful=True)(x))
    clone, value = clone_model(model), np.ones((2, 4, 3))
    assert_computes_the_same(model, clone, value)
    clone.reset_states()
    expected = clone.predict(value)
    model.set_weights([weight + 1 for weight in model.get_weights()])
    clone.reset_states()
    np.testing.assert_allclose(clone.predict(value), expected, rtol=1e-5)


def test_weights_moved_to_the_non_trainable_ones():
    model = chain(lambda: Dense(2))()
    dense = model.layers[-1]
    dense._trainable_weights = [dense.bias]
    dense._non_trainable_weights = [dense.kernel]
    clone = clone_model(model)
    cloned = clone.layers[-1]
    assert clone.trainable_weights == [cloned.bias]
    assert clone.non_trainable_weights == [cloned.kernel]
    assert_computes_the_same(model, clone)


# Weights replaced after `build`


def share(kernel):
    return kernel


# Without `symbolic`, what TensorFlow 2 computes here is a constant.
transpose = getattr(K, 'symbolic', share)(K.transpose)


@pytest.mark.parametrize('make', [share, transpose], ids=['shared', 'transposed'])
def test_weight_replaced_by_that_of_another_layer(make, assert_faithful):
    def build():
        x = Input((3,), name='x')
        first, second = Dense(3), Dense(3)
        for layer in (first, second):
            layer.build((None, 3))
            layer.built = True
        second.kernel = make(first.kernel)
        second._trainable_weights = [second.bias]
        return Model(x, second(first(x)))
    assert_faithful(build)
    assert len(clone_model(build()).weights) == 3
    model = build()
    assert_computes_the_same(model, clone_model(model))


def test_weight_replaced_in_a_layer_that_computes_a_call_argument(assert_faithful):
    def build():
        x = Input((3,), name='x')
        first, second = Dense(3), Dense(3)
        for layer in (first, second):
            layer.build((None, 3))
            layer.built = True
        second.kernel = first.kernel
        second._trainable_weights = [second.bias]
        other = second(first(x))
        add = Lambda(lambda x, other: x + other, arguments={'other': other})
        return Model(x, add(x))
    assert_faithful(build)


# `trainable` of inner layers


def frozen_forward_layer():
    layer = Bidirectional(LSTM(2))
    layer.forward_layer.trainable = False
    return layer


def frozen_cell():
    layer = GRU(2)
    layer.cell.trainable = False
    return layer


def frozen_cell_of_several():
    layer = RNN([LSTMCell(2), SimpleRNNCell(2)])
    layer.cell.cells[0].trainable = False
    return layer


def frozen_layer_in_a_wrapper():
    layer = TimeDistributed(Dense(2))
    layer.layer.trainable = False
    return layer


class Pair(Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.pair = (Dense(3), Dense(3))

    def build(self, input_shape):
        for layer in self.pair:
            layer.build(input_shape)
        super().build(input_shape)

    @property
    def trainable_weights(self):
        return [w for each in self.pair for w in each.trainable_weights]

    @property
    def non_trainable_weights(self):
        return [w for each in self.pair for w in each.non_trainable_weights]

    def call(self, inputs):
        return self.pair[0].call(inputs) - self.pair[1].call(inputs)


def frozen_layer_in_a_tuple():
    layer = Pair()
    layer.pair[1].trainable = False
    return layer


FROZEN = {
    frozen_forward_layer: lambda layer: [layer.forward_layer, layer.backward_layer],
    frozen_cell: lambda layer: [layer.cell],
    frozen_cell_of_several: lambda layer: layer.cell.cells,
    frozen_layer_in_a_wrapper: lambda layer: [layer.layer],
    frozen_layer_in_a_tuple: lambda layer: layer.pair,
}


@pytest.mark.parametrize('make', list(FROZEN), ids=lambda make: make.__name__)
def test_frozen_inner_layer(make, assert_faithful):
    assert_faithful(chain(make, shape=(4, 3)))
    model = chain(make, shape=(4, 3))()
    clone = clone_model(model)
    flags, cloned = ([layer.trainable for layer in FROZEN[make](each.layers[-1])]
                     for each in (model, clone))
    assert cloned == flags
    assert False in cloned
    for kind in ('trainable_weights', 'non_trainable_weights'):
        shapes, cloned = (list(map(K.int_shape, getattr(each, kind)))
                          for each in (model, clone))
        assert cloned == shapes


def test_inner_layer_frozen_after_the_model_was_created():
    model = chain(lambda: Bidirectional(GRU(2)), shape=(4, 3))()
    model.layers[-1].backward_layer.trainable = False
    clone = clone_model(model)
    assert clone.layers[-1].forward_layer.trainable is True
    assert clone.layers[-1].backward_layer.trainable is False
    assert len(clone.trainable_weights) == 3


def test_guard_flag_of_a_layer_in_a_nested_model():
    inner = chain(lambda: Dense(3), lambda: Dense(2))()
    inner.layers[1].trainable = False
    model = chain(lambda: inner)()
    clone = clone_model(model)
    assert [each.trainable for each in clone.layers[-1].layers[1:]] == [False, True]
    assert len(clone.trainable_weights) == len(model.trainable_weights) == 2


@pytest.mark.parametrize('is_frozen_first', [
    False, pytest.param(True, id='guard True')])
def test_updates_of_a_frozen_layer_in_a_nested_model(is_frozen_first):
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


class InitializesItself(Layer):
    """Its config lacks its initializer."""

    def __init__(self, initializer, **kwargs):
        super().__init__(**kwargs)
        self.initializer = initializer

    def build(self, input_shape):
        self.kernel = self.add_weight(name='kernel', shape=(input_shape[-1], 2),
                                      initializer=self.initializer)
        super().build(input_shape)

    def call(self, inputs):
        return K.dot(inputs, self.kernel)

    def compute_output_shape(self, input_shape):
        return input_shape[:-1] + (2,)


@pytest.mark.parametrize('make_layer', [
    lambda initializer: Dense(2, kernel_initializer=initializer), InitializesItself],
    ids=['recorded', 'guard not recorded'])
def test_seed_since_2_3(make_layer, assert_faithful):
    assert_faithful(chain(lambda: make_layer(initializers.he_normal(seed=1))))


# Losses and updates


def test_loss_added_to_a_model(assert_faithful):
    def build():
        x = Input((3,))
        hidden = Dense(2)(x)
        model = Model(x, Dense(3)(hidden))
        model.add_loss(.1 * K.sum(K.abs(hidden)))
        return model
    assert_faithful(build)
    model = build()
    clone = clone_model(model)
    assert len(clone.losses) == 1
    clone.set_weights(model.get_weights())
    value = np.ones((2, 3))
    expected, = K.function(model.inputs, model.losses)([value])
    model.set_weights([weight + 1 for weight in model.get_weights()])
    found, = K.function(clone.inputs, clone.losses)([value])
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_loss_added_to_a_nested_model(assert_faithful):
    def build():
        inner = chain(lambda: Dense(3))()
        inner.add_loss(K.sum(K.square(inner.layers[-1].kernel)))
        return chain(lambda: inner)()
    assert_faithful(build)


class HidesLayer(Layer):
    """Holds a layer where Keras does not find it."""

    def __init__(self, hide, **kwargs):
        super().__init__(**kwargs)
        self.hide, self.hidden = hide, hide(Dense(3))

    def inner(self):
        return self.hidden() if callable(self.hidden) else self.hidden['inner'][0]

    def build(self, input_shape):
        self.inner().build(input_shape)
        super().build(input_shape)

    @property
    def trainable_weights(self):
        return self.inner().trainable_weights

    def call(self, inputs):
        return self.inner().call(inputs)


@pytest.mark.parametrize('hide', [
    lambda layer: {'inner': [layer]}, lambda layer: lambda: layer],
    ids=['dict', 'function'])
def test_loss_of_a_weight_of_a_hidden_layer(hide, assert_faithful):
    def build():
        model = chain(lambda: HidesLayer(hide))()
        model.add_loss(K.sum(K.square(model.trainable_weights[0])))
        return model
    assert_faithful(build)


def test_loss_of_a_weight_that_build_hides_in_a_container(assert_faithful):
    class HidesInBuild(HidesLayer):
        def __init__(self, **kwargs):
            Layer.__init__(self, **kwargs)

        def build(self, input_shape):
            self.hidden = {'inner': [Dense(3)]}
            super().build(input_shape)

    def build():
        model = chain(HidesInBuild)()
        model.add_loss(K.sum(K.square(model.trainable_weights[0])))
        return model
    assert_faithful(build)


def test_loss_of_two_tensors_added_to_a_model(assert_faithful):
    def build():
        x = Input((3,))
        mean, spread = Dense(2)(x), Dense(2)(x)
        model = Model(x, Dense(3)(mean))
        model.add_loss(K.mean(K.square(mean) + K.exp(spread) - spread))
        return model
    assert_faithful(build)


def test_losses_added_to_a_layer_after_its_call(assert_faithful):
    def build():
        model = chain(lambda: Dense(3, bias_regularizer='l1'))()
        dense = model.layers[-1]
        dense.add_loss([regularizers.l2(.1)(each) for each in dense.weights])
        return model
    assert_faithful(build)
    assert len(clone_model(build()).losses) == 3


@pytest.mark.parametrize('when', ['before', 'after'])
def test_loss_added_to_a_layer_of_a_nested_model(when, assert_faithful):
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


class Divergence(Layer):
    """Adds a loss and an update whenever it is called."""

    def build(self, input_shape):
        self.seen = self.add_weight('seen', (1,), initializer='zeros',
                                    trainable=False)
        super().build(input_shape)

    def call(self, inputs):
        self.add_loss(K.mean(K.square(inputs)), inputs=inputs)
        self.add_update([K.update_add(self.seen, K.ones((1,)))], inputs)
        return 2 * inputs


def test_guard_loss_and_update_of_a_layer(assert_faithful):
    assert_faithful(chain(lambda: Dense(3), Divergence))
    clone = clone_model(chain(lambda: Dense(3), Divergence)())
    assert len(clone.losses) == len(clone.updates) == 1


@pytest.mark.parametrize('make', [
    lambda: Dense(2, kernel_regularizer='l2'),
    lambda: Dense(2, activity_regularizer='l2'),
    lambda: TimeDistributed(Dense(2, kernel_regularizer='l2')),
    lambda: Bidirectional(GRU(2, kernel_regularizer='l2')),
    chain(lambda: Dense(2, kernel_regularizer='l2'), shape=(4, 3)),
], ids=['kernel', 'activity', 'wrapper', 'bidirectional', 'nested model'])
def test_guard_losses_of_regularizers_are_counted_once(make):
    model = chain(make, shape=(4, 3))()
    clone = clone_model(clone_model(model))
    assert len(clone.losses) == len(model.losses)


def test_clone_is_trained_like_the_original():
    def build():
        x = Input((4, 3))
        layer = Bidirectional(SimpleRNN(2))
        layer.forward_layer.trainable = False
        y = StoresOtherValue(.5)(layer(x))
        model = Model(x, Dense(1)(y))
        model.add_loss(K.sum(K.square(y)))
        return model
    model = build()
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    value, target = np.ones((2, 4, 3)), np.ones((2, 1))
    for each in (model, clone):
        each.compile('sgd', 'mse')
    np.testing.assert_allclose(clone.train_on_batch(value, target),
                               model.train_on_batch(value, target), rtol=1e-4)
    assert len(clone.trainable_weights) == len(model.trainable_weights)


# Failed clones leave nothing behind


class RaisesInConstructor(Layer):
    """Raises an exception in its constructor, if `error` is set."""

    error = None

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        if RaisesInConstructor.error is not None:
            raise RaisesInConstructor.error

    def call(self, inputs):
        return inputs


class RaisesInNew(RaisesInConstructor):
    """Cannot be copied, either, because `__new__` raises as well."""

    def __new__(cls, *args, **kwargs):
        if RaisesInConstructor.error is not None:
            raise RaisesInConstructor.error
        return super().__new__(cls)


def assert_leaves_nothing_behind(model, error, monkeypatch):
    """Checks that an exception in cloning changes neither the model nor Keras."""
    from keras_clone.check.independence import Belongings, changes
    belongings = Belongings.of(model)
    before, objects = belongings.snapshot(), dict(get_custom_objects())
    monkeypatch.setattr(RaisesInConstructor, 'error', error())
    with pytest.raises(error):
        clone_model(model)
    monkeypatch.undo()
    assert not changes(before, belongings.snapshot())
    assert get_custom_objects() == objects
    assert_computes_the_same(model, clone_model(model))


@pytest.mark.parametrize('wrap', [
    lambda make: make,
    lambda make: chain(make),
], ids=['guard in the model', 'in a nested model'])
@pytest.mark.parametrize('error', [KeyboardInterrupt, SystemExit],
                         ids=lambda error: error.__name__)
def test_interrupted_clone_leaves_nothing_behind(error, wrap, monkeypatch):
    model = chain(lambda: Dense(3), lambda: Dense(3, activation='relu'),
                  wrap(RaisesInConstructor))()
    assert_leaves_nothing_behind(model, error, monkeypatch)


@pytest.mark.parametrize('error', [KeyboardInterrupt, SystemExit, ValueError],
                         ids=lambda error: error.__name__)
def test_failed_clone_with_functions_of_the_user_leaves_nothing_behind(
        error, monkeypatch):
    model = chain(lambda: Dense(3, activation=relu), lambda: Reshape((1, 3)),
                  lambda: TimeDistributed(StoresOtherValue(.5)), RaisesInNew)()
    assert_leaves_nothing_behind(model, error, monkeypatch)
    assert Dense.from_config({'units': 2, 'activation': 'relu'}).activation is (
        activations.relu)
