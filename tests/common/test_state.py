"""State that is neither in a config nor in the weights is cloned."""
import types

import numpy as np
import pytest
from keras import activations, initializers, layers, regularizers
from keras.models import Model, Sequential, clone_model
from keras_clone.check.gallery import ops

from custom_objects import Forgetful, Holds, StoresOtherValue, gelu
from major_versions import (
    IS_KERAS2, ONES, build_inner, call_inner, chain, constant, setting)

# On Keras 2, the outputs of a layer are computed when it is called, and not again.
WHEN = pytest.mark.parametrize('when', ['before its call'] if IS_KERAS2 else [
    'before its call', 'after its call'])


def model_with_changed(layer, change, when):
    """Returns a model of a layer that is changed before or after it is called."""
    if when == 'before its call':
        change(layer)
    model = chain(lambda: layer, shape=(4, 3))()
    if when == 'after its call':
        change(layer)
    return model


# Arguments that are missing in the config

class StoresOtherValueWithDefault(StoresOtherValue):
    def __init__(self, rate=.5, **kwargs):
        super().__init__(rate, **kwargs)


class SeveralWeights(layers.Layer):
    def __init__(self, count=2, **kwargs):
        super().__init__(**kwargs)
        self.count = count

    def build(self, input_shape):
        self.factors = [
            self.add_weight(name=f'factor_{i}', shape=(3,), initializer='uniform')
            for i in range(self.count)]

    def call(self, inputs):
        return sum(factor * inputs for factor in self.factors)


class PopsArguments(layers.Dense):
    def __init__(self, *args, **kwargs):
        self.offset = kwargs.pop('offset')
        self.function = kwargs.pop('function', None)
        super().__init__(*args, **kwargs)

    def call(self, inputs):
        outputs = super().call(inputs) + constant(self.offset)
        return self.function(outputs) if self.function else outputs


class ScaledDense(layers.Dense):
    """Its config is that of its base class."""

    def __init__(self, units, scale=1., **kwargs):
        super().__init__(units, **kwargs)
        self.scale = scale

    def call(self, inputs):
        return self.scale * super().call(inputs)


class AppliesInOrder(layers.Layer):
    def __init__(self, first, *others, factor=1., **kwargs):
        super().__init__(**kwargs)
        self.first, self._others, self._factor = first, others, factor

    def build(self, input_shape):
        build_inner(self, (self.first,) + self._others, input_shape)

    def call(self, inputs):
        for layer in (self.first,) + self._others:
            inputs = call_inner(layer, inputs)
        return self._factor * inputs


class Table(layers.Layer):
    """Stores its arguments under other names: functions, an initializer, arrays."""

    def __init__(self, function, initializer, tables, then=ops.tanh, **kwargs):
        super().__init__(**kwargs)
        self._function, self._initializer = function, initializer
        self._then = then
        factors, self._offset = tables
        self._factors = constant(factors)

    def build(self, input_shape):
        self.scale = self.add_weight(name='scale', shape=(3,),
                                     initializer=self._initializer)

    def call(self, inputs):
        scaled = self.scale * self._factors * inputs + constant(self._offset)
        return self._then(self._function(scaled))


class Configured(Holds):
    def __init__(self, held=None, **kwargs):
        super().__init__(held, **kwargs)

    def call(self, inputs):
        return inputs * constant(self.held.factors) if self.held else inputs


class ConfigWithoutSettings(Configured):
    def get_config(self):
        return layers.Layer.get_config(self)


class RandomMatrix(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.matrix = np.random.uniform(size=(3, 3)).astype('float32')
        self.factor = np.random.rand()

    def call(self, inputs):
        return self.factor * ops.matmul(inputs, constant(self.matrix))


def ramp():
    return np.array([1., 2., 3.], 'float32')


@pytest.mark.parametrize('make', [
    lambda: StoresOtherValue(.75),
    lambda: StoresOtherValueWithDefault(.75),
    lambda: Forgetful(3.),
    lambda: SeveralWeights(count=3),
    lambda: PopsArguments(3, activation='relu', offset=ramp(), function=ops.tanh,
                          activity_regularizer=regularizers.l2(.25)),
    lambda: ScaledDense(2, scale=3., activation='tanh'),
    lambda: AppliesInOrder(layers.Dense(3, activation='tanh'), layers.Dense(3),
                           factor=3.),
    lambda: Table(lambda x: len(ramp()) * x, initializers.Constant(3.),
                  (ramp(), ramp()), ops.sigmoid),
    lambda: Configured(types.SimpleNamespace(factors=ramp())),
    lambda: ConfigWithoutSettings(types.SimpleNamespace(factors=ramp())),
    RandomMatrix,
], ids=['stored as another value', 'with a default, stored as another value',
        'stored under a private name',
        'number of weights', 'popped from the keywords', 'config of the base class',
        'layers as positional arguments', 'stored under other names',
        'object with settings', 'object with settings, missing in the config',
        'drawn in the constructor'])
def test_clone_has_the_arguments_that_a_config_lacks(make, assert_faithful):
    assert_faithful(chain(make))


class WithUnits(layers.Layer):
    """Has an argument, and passes its keywords to `Layer`."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.size = units

    def build(self, input_shape):
        self.kernel = self.add_weight(
            name='kernel', shape=(input_shape[-1], self.size),
            initializer='uniform', regularizer=regularizers.l2(.5))

    def call(self, inputs):
        return ops.matmul(inputs, self.kernel)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.size)


def test_clone_keeps_keywords_and_losses_of_a_layer_without_a_config(
        assert_faithful):
    keywords = {} if IS_KERAS2 else {'activity_regularizer': regularizers.l2(.25)}
    layer = assert_faithful(chain(lambda: WithUnits(
        2, name='mine', trainable=False, **keywords))).layers[-1]
    assert layer.name == 'mine'
    assert layer.trainable is False


# Attributes that were set after the constructor

class Gain(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.gain = 1.

    def call(self, inputs):
        return self.gain * inputs


@WHEN
@pytest.mark.parametrize('make, change', [
    (Gain, setting(gain=4.)), (lambda: layers.Dense(3), setting(activation=gelu))],
    ids=['number', 'function'])
def test_clone_keeps_what_was_set_after_the_constructor(make, change, when,
                                                        assert_faithful):
    assert_faithful(lambda: model_with_changed(make(), change, when))


@pytest.mark.parametrize('make, change, when', [
    (lambda: layers.Dense(3), setting(activation=activations.tanh,
                                      kernel_regularizer=regularizers.l2(.25)),
     'before its call'),
    (layers.BatchNormalization, setting(epsilon=.25, momentum=.5),
     'before its call'),
    (lambda: layers.Dropout(.5), setting(rate=0.), 'before its call'),
    (layers.LeakyReLU, setting(name='renamed'), 'before its call') if IS_KERAS2 else
    (lambda: layers.Dense(3), setting(activation=activations.tanh),
     'after its call')])
def test_guard_clone_keeps_changed_settings_in_a_config(
        make, change, when, assert_faithful):
    assert_faithful(lambda: model_with_changed(make(), change, when))


@pytest.mark.parametrize('part', [
    lambda model: model, lambda model: model.layers[1],
    lambda model: model.layers[1].layer], ids=['model', 'layer', 'inner layer'])
def test_clone_has_a_copy_of_an_attribute_added_to_a(part):
    model = chain(lambda: layers.TimeDistributed(layers.Dense(2)), shape=(4, 3))()
    part(model).class_names = ['a', {'b': 'c'}]
    clone = clone_model(model)
    part(model).class_names.append('d')
    assert part(clone).class_names == ['a', {'b': 'c'}]


# `trainable` of inner layers

class Pair(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.pair = (layers.Dense(3), layers.Dense(3))

    def build(self, input_shape):
        for layer in self.pair:
            layer.build(input_shape)

    def call(self, inputs):
        return call_inner(self.pair[0], inputs) - call_inner(self.pair[1], inputs)

    if IS_KERAS2:
        @property
        def trainable_weights(self):
            return [w for each in self.pair for w in each.trainable_weights]

        @property
        def non_trainable_weights(self):
            return [w for each in self.pair for w in each.non_trainable_weights]


class SelfAttention(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.inner = layers.MultiHeadAttention(2, 2)

    def build(self, input_shape):
        self.inner.build(input_shape, input_shape)

    def call(self, inputs):
        return self.inner(inputs, inputs)


INNER = {
    'forward layer': (lambda: layers.Bidirectional(layers.SimpleRNN(2)),
                      lambda layer: layer.forward_layer),
    'backward layer': (lambda: layers.Bidirectional(layers.SimpleRNN(2)),
                       lambda layer: layer.backward_layer),
    'cell': (lambda: layers.SimpleRNN(2), lambda layer: layer.cell),
    'one of several cells': (
        lambda: layers.RNN([layers.SimpleRNNCell(2), layers.SimpleRNNCell(2)]),
        lambda layer: layer.cell.cells[0]),
    'layer in a wrapper': (lambda: layers.TimeDistributed(layers.Dense(2)),
                           lambda layer: layer.layer),
    'layer in a tuple': (Pair, lambda layer: layer.pair[1]),
    'layer in a nested model': (
        lambda: Sequential([layers.Dense(3), layers.Dense(2)]),
        lambda layer: layer.layers[0]),
}
if not IS_KERAS2:
    INNER['layer in an attention'] = (SelfAttention,
                                      lambda layer: layer.inner.key_dense)


@pytest.mark.parametrize('when', ['before its call', 'after its call'])
@pytest.mark.parametrize('kind', list(INNER))
def test_clone_has_a_frozen(kind, when, assert_faithful):
    make, part = INNER[kind]

    def build():
        layer = make()
        if kind == 'layer in an attention':  # Which creates it in `build`.
            layer.build((None, 4, 3))
        return model_with_changed(
            layer, lambda layer: setattr(part(layer), 'trainable', False), when)
    assert part(assert_faithful(build).layers[-1]).trainable is False


def test_clone_is_trained_like_the_original():
    # With several trainable layers, TensorFlow 1 may read a weight after its update.
    layer = Pair()
    for inner in layer.pair:
        inner.trainable = False
    model = chain(lambda: layer, lambda: StoresOtherValue(.5),
                  lambda: layers.Dense(1, kernel_regularizer='l2'))()
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    for each in (model, clone):
        each.compile('sgd', 'mse')
        each.train_on_batch(ONES, np.ones((2, 1)))
    for original, cloned in zip(model.get_weights(), clone.get_weights()):
        np.testing.assert_allclose(cloned, original, rtol=1e-4, atol=1e-6)


# Recurrent layers that keep their states from one batch to the next

BATCH = np.random.RandomState(0).normal(size=(2, 4, 3))


def stateful(layer_class):
    x = layers.Input(batch_shape=(2, 4, 3))
    return Model(x, layer_class(2, stateful=True)(x))


@pytest.mark.parametrize('layer_class', [layers.GRU, layers.LSTM])
def test_guard_clone_with_another_batch_size_begins_anew(layer_class):
    model = stateful(layer_class)
    expected = model.predict(BATCH, batch_size=2)[:1]
    clone = clone_model(model, input_tensors=layers.Input(batch_shape=(1, 4, 3)))
    clone.set_weights(model.get_weights())
    np.testing.assert_allclose(clone.predict(BATCH[:1], batch_size=1), expected,
                               rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize('layer_class, when', [
    (layers.SimpleRNN, 'before'), (layers.LSTM, 'after')])
def test_guard_clone_made_before_or_after_a_batch_begins_anew(layer_class, when):
    model = stateful(layer_class)
    clone = clone_model(model) if when == 'before' else None
    expected = model.predict(BATCH)
    clone = clone or clone_model(model)
    clone.set_weights(model.get_weights())
    np.testing.assert_allclose(clone.predict(BATCH), expected, rtol=1e-5, atol=1e-6)
