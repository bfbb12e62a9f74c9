"""Layers that inspect configs or hold tensors, in ways that only Keras 2 allows."""
import copy

import numpy as np
import pytest
from keras import backend as K
from keras.engine.base_layer import Node
from keras.layers import (Dense, Input, Lambda, Layer, LeakyReLU, PReLU,
                          TimeDistributed)
from keras.layers import deserialize, serialize
from keras.models import Model, clone_model

from custom_objects import TWO, Holds
from holding import FUNCTIONS
from major_versions import ONES, RELEASE, assert_same_outputs, chain


class UsesFunctionInGetConfig(Layer):
    def __init__(self, function, limit=float, **kwargs):
        super().__init__(**kwargs)
        self.function, self.limit = function, limit

    def call(self, inputs):
        return self.function(inputs)

    def get_config(self):
        assert self.limit(self.function(1)) == self.function.__defaults__[0]
        return dict(super().get_config(), function=copy.deepcopy(self.function))


class ReadsInnerLayer(Layer):
    def __init__(self, slope, **kwargs):
        super().__init__(**kwargs)
        self.held = LeakyReLU(slope)

    def call(self, inputs):
        return self.held(inputs)

    def get_config(self):
        return dict(super().get_config(), slope=self.held.get_config()['alpha'])


class StoresTensor(Holds):
    """Stores a tensor of its call in the attribute of an argument."""
    container = list

    def __init__(self, held=None, **kwargs):
        super().__init__(held, **kwargs)

    def call(self, inputs):
        self.held = self.container([2 * inputs])
        return self.held[0]


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
        return dict(super().get_config(), layers=list(map(serialize, self.layers)))

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls([deserialize(layer, custom_objects)
                    for layer in config.pop('layers')], **config)


@pytest.mark.parametrize('make', [
    lambda: ReadsInnerLayer(.5), StoresTensor, StoresTuple,
    lambda: OneLayerToMany(Lambda(lambda x: TWO * x)),
    lambda: UsesFunctionInGetConfig(lambda x, factor=TWO: factor * x)],
    ids=['guard entry of the config of a layer', 'guard list of tensors',
         'guard tuple of tensors', 'keys that differ from the arguments',
         'guard function'])
def test_clone_of_a_layer_whose_config_has_another_form_is_faithful(
        make, assert_faithful):
    assert_faithful(chain(make))


@pytest.mark.parametrize('name', FUNCTIONS)
def test_clone_of_a_lambda_that_holds_a_tensor_is_faithful(name, assert_faithful):
    def build():
        x = Input((3,))
        other = Dense(3)(x)
        return Model(x, [Lambda(FUNCTIONS[name](other, lambda x, held: x + held))(x),
                         other])
    assert_faithful(build)


@pytest.mark.skipif(K.backend() == 'theano', reason='Theano cannot build this model')
def test_clone_has_its_own_activation_that_is_a_layer():
    activation = PReLU(alpha_initializer='ones')
    model = chain(lambda: Dense(4, activation=activation))()
    activation.set_weights([-np.ones(4)])
    clone = clone_model(model)
    assert_same_outputs(model, clone, -np.ones((2, 3)))
    assert clone.layers[-1].activation is not activation


# Functions whose closures change after the layer was called

def of_a_number(wrap=lambda layer: layer):
    x, size, parts = Input((2, 6)), 2, []
    for i in range(3):
        parts.append(wrap(Lambda(lambda x: x[..., i * size:(i + 1) * size]))(x))
    return Model(x, parts)


def of_a_number_in_a_wrapper():
    return of_a_number(TimeDistributed)


def of_a_tuple():
    x, parts = Input((2, 6)), []
    for bounds in ((0, 3), (3, 6)):
        parts.append(Lambda(lambda x: x[..., bounds[0]:bounds[1]])(x))
    return Model(x, parts)


def of_a_layer():
    x = y = Input((2, 6))
    for dense in [Dense(6), Dense(6)]:
        y = Lambda(lambda y: y * K.sum(dense.kernel))(dense(y))
    return Model(x, y)


def of_a_tensor():
    x = y = Input((2, 6))
    y = Dense(6)(y)
    y = Lambda(lambda x: x + y)(y)
    return Model(x, y)


@pytest.mark.parametrize('build', [
    of_a_number, of_a_number_in_a_wrapper, of_a_tuple, of_a_layer, of_a_tensor])
def test_clone_computes_with_what_a_closure_held_when_it_was_called(build):
    model = build()
    for clone in (clone_model(model), clone_model(clone_model(model))):
        assert_same_outputs(model, clone, np.random.rand(3, 2, 6))


def test_guard_clone_computes_with_what_a_closure_held_at_the_call():
    factor = 2.
    layer = Lambda(lambda x: factor * x)
    factor = 3.
    clone = clone_model(chain(lambda: layer)())
    np.testing.assert_allclose(clone.predict(ONES), 3 * ONES)


class Product(Layer):
    def call(self, inputs):
        x, number = inputs
        return x * number

    def compute_output_shape(self, input_shape):
        return input_shape[0]


class Constant(Layer):
    """Has no inputs: its constructor creates its node, as in recurrentshop."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.number = K.variable([2., 2., 2.])
        self.number._keras_shape = (3,)
        self.number._uses_learning_phase = False
        self.number._keras_history = self, 0, 0
        Node(self, [], [], [], [], [self.number], [], [None], [], [(3,)])


class Zero(Layer):
    def call(self, inputs):
        return K.zeros((3,))

    def compute_output_shape(self, input_shape):
        return (3,)


def product_with(make):
    x = Input((3,), name='x')
    return Model(x, Product(name='product')([x, make()]))


# Keras 2 never ends loading a model with such a node.
def test_clone_has_the_node_that_a_constructor_has_created(assert_faithful):
    assert_faithful(lambda: product_with(lambda: Constant(name='constant').number),
                    saving=False)


def test_guard_clone_calls_a_layer_that_is_called_without_inputs(assert_faithful):
    assert_faithful(lambda: product_with(lambda: Zero(name='zero')([])),
                    saving=False)


class Stack(Layer):
    """Gets its layers after its creation. Its `__call__` does not call that of
    Keras, as in recurrentshop."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.parts = []

    def add(self, part):
        self.parts.append(part)

    def __call__(self, inputs):
        shape = K.int_shape(inputs)
        for part in self.parts:
            part.build(shape)
        outputs = self.call(inputs)
        self._add_inbound_node([inputs], [outputs], [None], [None], [shape], [shape])
        return outputs

    def call(self, inputs):
        for part in self.parts:
            inputs = part.call(inputs)
        return inputs

    @property
    def trainable_weights(self):
        return [each for part in self.parts for each in part.trainable_weights]

    def get_config(self):
        return dict(super().get_config(), parts=[serialize(x) for x in self.parts])

    @classmethod
    def from_config(cls, config):
        parts = config.pop('parts')
        stack = cls(**config)
        for part in parts:
            stack.add(deserialize(part))
        return stack


def test_guard_clone_has_the_layers_that_were_added_to_a_layer(assert_faithful):
    def build():
        stack = Stack()
        stack.add(Dense(3))
        return chain(lambda: stack)()
    assert_faithful(build)


@pytest.mark.skipif(RELEASE < (2, 3), reason='Keras 2.2 does not track attributes')
def test_layers_are_tracked_after_a_constructor_has_raised():
    class Holder(Model):
        def __init__(self):
            super().__init__()
            self.inner = Dense(2)

    with pytest.raises(TypeError, match='not understood'):
        TimeDistributed(Dense(2), unknown=1)
    assert [type(layer) for layer in Holder().layers] == [Dense]
