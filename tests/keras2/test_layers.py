"""Layers are cloned in memory, with the function objects of the original.

No object is looked up by its name, no function is marshalled, and shared layers
stay shared.
"""
import copy
import functools

import numpy as np
import pytest
from keras import backend as K
from keras import activations, initializers, regularizers
from keras.layers import (GRU, LSTM, RNN, Add, BatchNormalization, Bidirectional,
                          Dense, Input, InputLayer, Lambda, Layer, LeakyReLU,
                          LSTMCell, PReLU, Reshape, SimpleRNNCell, StackedRNNCells,
                          TimeDistributed)
from keras.layers import deserialize, serialize
from keras.models import Model, Sequential, clone_model
from keras.utils import custom_object_scope, get_custom_objects

from custom_objects import TWO, Once, Scale, Thrice, gelu, relu
from major_versions import chain


class Both(Layer):
    """Stores two layers in attributes that are not named as in the config."""

    def __init__(self, first, second, **kwargs):
        super().__init__(**kwargs)
        self._pair = [first, second]

    def build(self, input_shape):
        for layer in self._pair:
            layer.build(input_shape)
            self._trainable_weights += layer.trainable_weights
        super().build(input_shape)

    def call(self, inputs):
        return self._pair[0].call(inputs) + self._pair[1].call(inputs)

    def get_config(self):
        config = super().get_config()
        config.update(first=self._pair[0], second=self._pair[1])
        return config


class UsesFunctionInGetConfig(Layer):
    """Uses its function and a class in `get_config`."""

    def __init__(self, function, limit=float, **kwargs):
        super().__init__(**kwargs)
        self.function = function
        self.limit = limit

    def call(self, inputs):
        return self.function(inputs)

    def get_config(self):
        config = super().get_config()
        assert self.limit(self.function(1)) == self.function.__defaults__[0]
        config['function'] = copy.deepcopy(self.function)
        return config


class ReadsInnerLayer(Layer):
    """Its `get_config` reads an attribute of the layer that it holds."""

    def __init__(self, slope, **kwargs):
        super().__init__(**kwargs)
        self.held = LeakyReLU(slope)

    def call(self, inputs):
        return self.held(inputs)

    def get_config(self):
        return dict(super().get_config(),
                    slope=self.held.get_config()['alpha'])


class StoresTensor(Layer):
    """Stores a tensor of its call in the attribute of an argument."""
    container = list

    def __init__(self, kept=None, **kwargs):
        super().__init__(**kwargs)
        self.kept = kept

    def call(self, inputs):
        self.kept = self.container([2 * inputs])
        return self.kept[0]


class StoresTuple(StoresTensor):
    container = tuple


class OneLayerToMany(Layer):
    """Takes one layer; its config contains several, as in keras-multi-head."""

    def __init__(self, layer, **kwargs):
        super().__init__(**kwargs)
        self.layers = layer if isinstance(layer, list) else [layer]
        self.layer = self.layers[0]

    def call(self, inputs):
        return self.layer.call(inputs)

    def get_config(self):
        config = super().get_config()
        config['layers'] = [serialize(layer) for layer in self.layers]
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        layers = [deserialize(layer, custom_objects)
                  for layer in config.pop('layers')]
        return cls(layers, **config)


class Ones(initializers.Initializer):
    """Has the name of a Keras initializer, but returns twos."""

    def __call__(self, shape, dtype=None):
        return K.constant(2, shape=shape, dtype=dtype)


class CustomCell(SimpleRNNCell):
    pass


class Branded(Model):
    """A model class with a method of its own."""

    def brand(self):
        return self.name


class Stack(Model):
    """A model class whose constructor takes other arguments than `Model`."""

    def __init__(self, units):
        x = Input((3,))
        super().__init__(x, Dense(units)(x))


def test_lambda_with_output_shape_and_arguments(assert_faithful):
    def double(input_shape):
        return (input_shape[0], TWO * input_shape[1])
    assert_faithful(chain(lambda: Lambda(
        lambda x, times: K.tile(x, [1, times]), output_shape=double,
        arguments={'times': TWO})))


def test_arguments_of_a_lambda_are_copied():
    model = chain(lambda: Lambda(lambda x, a: x, arguments={'a': [1]}))()
    clone = clone_model(model)
    assert clone.layers[-1].arguments == model.layers[-1].arguments
    assert clone.layers[-1].arguments is not model.layers[-1].arguments
    assert clone.layers[-1].arguments['a'] is not model.layers[-1].arguments['a']


def plus(x, other):
    return x + other


def holding_in_a_closure(tensor):
    return lambda x: x + tensor


def holding_in_a_default(tensor):
    return lambda x, other=tensor: x + other


def holding_in_a_keyword_default(tensor):
    def function(x, *, other=tensor):
        return x + other
    return function


def holding_in_a_partial(tensor):
    return functools.partial(plus, other=tensor)


def holding_in_a_list(tensor):
    tensors = [{'first': tensor}]
    return lambda x: sum([x + each['first'] for each in tensors])


def holding_in_another_function(tensor):
    inner = holding_in_a_closure(tensor)
    return lambda x: inner(x)


def holding_in_a_global(tensor):
    scope = {'tensor': tensor}
    exec('def inner(x):\n    return x + sum([tensor for _ in range(1)])\n'
         'def function(x):\n    return inner(x)', scope)
    return scope['function']


@pytest.mark.parametrize('holding', [
    holding_in_a_closure, holding_in_a_default, holding_in_a_keyword_default,
    holding_in_a_partial, holding_in_a_list, holding_in_another_function,
    holding_in_a_global], ids=lambda holding: holding.__name__)
def test_lambda_that_holds_a_tensor(holding, assert_faithful):
    def build():
        x = Input((3,))
        other = Dense(3)(x)
        return Model(x, [Lambda(holding(other))(x), other])
    assert_faithful(build)


class Doubling(Dense):
    """A layer with a method that can be the function of a `Lambda`."""

    def double(self, inputs):
        return self(self(inputs))


@pytest.mark.parametrize('holding', [
    lambda layer: lambda x: layer(x),
    lambda layer: layer.double,
], ids=['closure', 'bound method'])
def test_lambda_that_holds_a_layer(holding):
    x = Input((3,))
    held = Doubling(3)
    model = Model(x, Lambda(holding(held))(x))
    clone = clone_model(model)
    nodes = len(held._inbound_nodes)
    value = np.ones((2, 3))
    expected = model.predict(value)
    np.testing.assert_allclose(clone.predict(value), expected, rtol=1e-5)
    held.set_weights([weight + 1 for weight in held.get_weights()])
    np.testing.assert_allclose(clone.predict(value), expected, rtol=1e-5)
    assert len(held._inbound_nodes) == nodes


def test_guard_function_that_holds_nothing_of_the_model_is_not_copied():
    calls = []

    def count(x):
        calls.append(1)
        return x if calls else never_bound

    if not callable(count):
        never_bound = None
    model = chain(lambda: Lambda(count))()
    assert clone_model(model).layers[-1].function is count


@pytest.mark.parametrize('activation', [gelu, lambda x: TWO * x, relu, Thrice()],
                         ids=['named', 'lambda', 'named as one of Keras', 'object'])
def test_activation(activation, assert_faithful):
    assert_faithful(chain(lambda: Dense(4, activation=activation)))


@pytest.mark.skipif(K.backend() == 'theano', reason='Theano cannot build this model')
def test_activation_that_is_a_layer():
    activation = PReLU(alpha_initializer='ones')
    model = chain(lambda: Dense(4, activation=activation))()
    activation.set_weights([-np.ones(4)])
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    np.testing.assert_allclose(clone.predict(-np.ones((2, 3))),
                               model.predict(-np.ones((2, 3))), rtol=1e-5)
    assert clone.layers[-1].activation is not activation


def test_activation_given_by_a_registered_name(assert_faithful):
    def build():
        with custom_object_scope({'gelu': gelu}):
            return chain(lambda: Dense(4, activation='gelu'),
                         lambda: Reshape((2, 2)),
                         lambda: Bidirectional(GRU(3, activation='gelu')))()
    assert_faithful(build)


def test_two_lambdas_in_one_layer(assert_faithful):
    def build():
        x = Input((5, 3))
        return Model(x, LSTM(2, activation=lambda x: TWO * x,
                             recurrent_activation=lambda x: .1 * x)(x))
    assert_faithful(build)


def test_function_of_the_same_name_as_another_of_the_same_layer(assert_faithful):
    def build():
        x = Input((5, 3))
        return Model(x, LSTM(2, activation=relu,
                             recurrent_activation=activations.relu)(x))
    assert_faithful(build)


@pytest.mark.parametrize('argument, function', [
    ('kernel_initializer', lambda shape, dtype=None: K.constant(TWO, shape=shape)),
    ('kernel_regularizer', lambda weight: TWO * K.sum(weight)),
    ('kernel_constraint', lambda weight: weight / TWO),
    ('activity_regularizer', lambda x: TWO * K.sum(x)),
], ids=['initializer', 'regularizer', 'constraint', 'activity regularizer'])
def test_function_given_to_a_layer(argument, function):
    model = chain(lambda: Dense(4, **{argument: function}))()
    clone = clone_model(clone_model(model))
    assert getattr(clone.layers[-1], argument) is function


def test_custom_initializer_named_as_one_of_keras():
    model = chain(lambda: Dense(4, kernel_initializer=Ones(),
                                bias_initializer=initializers.Ones()))()
    kernel, bias = clone_model(model).get_weights()
    np.testing.assert_allclose(kernel, 2)
    np.testing.assert_allclose(bias, 1)


def test_custom_regularizer_in_a_wrapper():
    class Strong(regularizers.L1L2):
        pass

    model = Sequential([TimeDistributed(Dense(2, kernel_regularizer=Strong(3.)),
                                        input_shape=(5, 3))])
    clone = clone_model(model)
    assert isinstance(clone.layers[0].layer.kernel_regularizer, Strong)
    np.testing.assert_allclose(clone.layers[0].layer.kernel_regularizer.l1, 3.)


def test_custom_layer_in_a_nested_model(assert_faithful):
    assert_faithful(chain(chain(lambda: Scale(2., gelu))))


def test_custom_layer_in_a_nested_sequential(assert_faithful):
    assert_faithful(chain(lambda: Sequential([Scale(2., gelu, input_shape=(3,))])))


def test_custom_layer_in_a_wrapper(assert_faithful):
    assert_faithful(chain(lambda: Reshape((3, 1)),
                          lambda: TimeDistributed(Scale(2., gelu))))


def test_custom_cell(assert_faithful):
    assert_faithful(chain(lambda: Reshape((3, 1)),
                          lambda: RNN(CustomCell(2, activation=gelu))))


def test_stacked_cells(assert_faithful):
    assert_faithful(chain(lambda: Reshape((3, 1)), lambda: RNN(
        StackedRNNCells([CustomCell(2), LSTMCell(3), CustomCell(2)]))))


def test_order_of_the_states_of_stacked_cells(assert_faithful):
    assert_faithful(chain(lambda: Reshape((3, 1)), lambda: RNN(
        StackedRNNCells([LSTMCell(3), SimpleRNNCell(2)], reverse_state_order=True),
        return_state=True)))


def test_bidirectional_over_a_cell_has_two_cells(assert_faithful):
    assert_faithful(chain(lambda: Reshape((3, 1)),
                          lambda: Bidirectional(RNN(LSTMCell(2)))))


def test_lambda_in_a_wrapper(assert_faithful):
    assert_faithful(chain(lambda: Reshape((3, 1)),
                          lambda: TimeDistributed(Lambda(lambda x: TWO * x))))


def test_nested_model_in_a_wrapper(assert_faithful):
    assert_faithful(chain(lambda: Reshape((1, 3)), lambda: TimeDistributed(
        chain(lambda: Dense(2), lambda: Lambda(lambda x: TWO * x))())))


def test_layers_in_attributes_not_named_as_in_the_config(assert_faithful):
    assert_faithful(chain(lambda: Both(Scale(2.), Scale(3., gelu))))


def test_config_with_an_entry_of_the_config_of_a_layer(assert_faithful):
    assert_faithful(chain(lambda: ReadsInnerLayer(.5)))


@pytest.mark.parametrize('make', [StoresTensor, StoresTuple])
def test_tensors_stored_as_the_attribute_of_an_argument(make, assert_faithful):
    assert_faithful(chain(make))


def test_config_whose_keys_differ_from_the_arguments(assert_faithful):
    assert_faithful(chain(lambda: OneLayerToMany(Lambda(lambda x: TWO * x))))


def test_function_that_get_config_uses(assert_faithful):
    assert_faithful(chain(
        lambda: UsesFunctionInGetConfig(lambda x, factor=TWO: factor * x)))


def test_guard_shared_layer(assert_faithful):
    def build():
        a, b = Input((3,)), Input((3,))
        shared = Dense(3)
        return Model([a, b], [shared(shared(a)), shared(b)])
    assert_faithful(build)


def test_layer_shared_between_a_nested_model_and_the_outer_one(assert_faithful):
    def build():
        shared = Dense(3)
        inner = chain(lambda: shared)()
        x = Input((3,))
        return Model(x, [inner(x), shared(x)])
    assert_faithful(build)


def test_layer_shared_between_two_nested_models(assert_faithful):
    def build():
        shared = Dense(3)
        first, second = chain(lambda: shared)(), chain(lambda: shared)()
        x = Input((3,))
        return Model(x, second(first(x)))
    assert_faithful(build)


def test_layer_shared_between_a_wrapper_and_the_outer_model(assert_faithful):
    def build():
        shared = Dense(3)
        x = Input((3,))
        y = TimeDistributed(shared)(Reshape((1, 3))(x))
        return Model(x, [y, shared(x)])
    assert_faithful(build)


def test_nested_models_that_share_their_input_with_the_outer_one(assert_faithful):
    def build():
        x = Input((3,))
        hidden = Dense(3)(x)
        encoder = Model(x, [hidden, Dense(2)(hidden)])
        decoder = chain(lambda: Dense(2))()
        return Model(x, [decoder(encoder(x)[0]), hidden])
    assert_faithful(build)


def test_model_nested_three_levels_deep_and_called_twice(assert_faithful):
    def build():
        inner = chain(chain(chain(lambda: Dense(3)), BatchNormalization))()
        a, b = Input((3,)), Input((3,))
        return Model([a, b], Add()([inner(a), inner(b)]))
    assert_faithful(build)


def test_output_that_is_an_input():
    x = Input((3,))
    clone = clone_model(Model(x, [x, Dense(2)(x)]))
    assert clone.outputs[0] is clone.inputs[0]


def test_sequential_that_begins_with_an_input_layer(assert_faithful):
    assert_faithful(lambda: Sequential([InputLayer((3,)), Dense(2)]))


def test_sequential_with_a_layer_twice(assert_faithful):
    def build():
        dense = Dense(3)
        return Sequential([InputLayer((3,)), dense, dense])
    assert_faithful(build)


def test_sequential_built_explicitly(assert_faithful):
    def build():
        model = Sequential([Dense(3), Dense(2)])
        model.build((None, 3))
        return model
    assert_faithful(build)


def test_guard_sequential_not_built_yet():
    model = Sequential([Dense(3), Dense(2)])
    clone = clone_model(model)
    assert not clone.built
    assert [layer.name for layer in clone.layers] == [
        layer.name for layer in model.layers]
    assert clone.layers[0] is not model.layers[0]


def test_sequential_not_built_yet_in_a_nested_model(assert_faithful):
    def build():
        return chain(lambda: Sequential([Dense(3, activation=gelu), Dense(2)]))()
    assert_faithful(build)


@pytest.mark.parametrize('trainable', [True, False])
def test_trainable_of_models_and_layers(trainable):
    model = chain(chain(lambda: Dense(2)), lambda: Dense(2))()
    model.trainable = trainable
    model.layers[1].trainable = not trainable
    clone = clone_model(model)
    assert clone.trainable is trainable
    assert clone.layers[1].trainable is not trainable
    assert clone.layers[2].trainable is True


def test_class_of_a_functional_model():
    x = Input((3,))
    model = Branded(x, Dense(2)(x), name='mine')
    assert clone_model(model).brand() == 'mine'


def test_class_whose_constructor_creates_the_graph():
    clone = clone_model(Stack(2))
    assert type(clone) is Stack
    assert clone.output_shape == (None, 2)


def test_custom_objects_are_unchanged_even_if_cloning_raises():
    before = dict(get_custom_objects())
    clone_model(chain(lambda: Dense(2, activation=gelu))())
    with pytest.raises(ValueError):
        clone_model(chain(lambda: Dense(2, activation=gelu),
                          lambda: Once(2.))())
    assert get_custom_objects() == before


def test_guard_initializer_is_not_shared():
    model = chain(lambda: Dense(2, kernel_initializer=initializers.Constant(3.)))()
    original, cloned = (each.layers[-1].kernel_initializer
                        for each in (model, clone_model(model)))
    assert cloned is not original
    assert cloned.get_config() == original.get_config()


# Functions whose closures change after the layer was called


def slices_of(wrap):
    x, size = Input((2, 6)), 2
    parts = []
    for i in range(3):
        parts.append(wrap(Lambda(lambda x: x[..., i * size:(i + 1) * size]))(x))
    return Model(x, parts)


@pytest.mark.parametrize('wrap', [lambda layer: layer, TimeDistributed],
                         ids=['lambda', 'wrapper'])
def test_function_computes_with_what_its_closure_held_when_it_was_called(wrap):
    model = slices_of(wrap)
    value = np.random.rand(3, 2, 6)
    for clone in (clone_model(model), clone_model(clone_model(model))):
        for found, expected in zip(clone.predict(value), model.predict(value)):
            np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_guard_closure_that_changes_between_constructor_and_call():
    factor = 2.
    layer = Lambda(lambda x: factor * x)
    factor = 3.
    model = chain(lambda: layer)()
    value = np.ones((2, 3))
    np.testing.assert_allclose(clone_model(model).predict(value), 3 * value)
