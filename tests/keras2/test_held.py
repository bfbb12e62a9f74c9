"""References that are replaced, held in ways that only Keras 2 allows."""
import collections
import types

import numpy as np
import pytest
from keras import backend as K
from keras.layers import (
    Bidirectional, Dense, Input, Lambda, Layer, SimpleRNN, TimeDistributed)
from keras.models import Model, clone_model

from custom_objects import Holds
from major_versions import after_dense, assert_cloned, build_inner, chain


def test_clone_keeps_the_factory_of_a_default_dict():
    held = collections.defaultdict(list, {'a': [Dense(3), Dense(3)]})
    clone = clone_model(chain(lambda: Holds(held))())
    assert clone.layers[-1].held['another'] == []


class CreatesSetInBuild(Layer):
    def build(self, input_shape):
        self.inner = {Dense(3, name=f'inner_{i}') for i in (9, 10)}
        build_inner(self, self.sorted(), input_shape)

    def sorted(self):
        return sorted(self.inner, key=lambda layer: layer.name)

    def call(self, inputs):
        one, other = self.sorted()
        return one.call(inputs) - other.call(inputs)


class CreatesWeightInFirstCall(Layer):
    kernel = None

    def call(self, inputs):
        if self.kernel is None:
            self.kernel = self.add_weight('kernel', (3,), initializer='uniform')
        return self.kernel * inputs


def weight_created_in_the_first_call():
    x = Input((3,))
    layer = CreatesWeightInFirstCall()
    return Model(x, layer(layer(x)))


def tensor_computed_from_a_weight():
    def product_with(dense):
        kernel = K.transpose(dense.kernel)
        return Lambda(lambda x: K.dot(x, kernel), output_shape=(3,))
    return after_dense(product_with, units=2)


class CreatesLayerInBuild(Layer):
    def build(self, input_shape):
        self.inner = [Dense(3, name='inner')]

    @property
    def trainable_weights(self):
        return self.inner[0].trainable_weights

    def call(self, inputs):
        return self.inner[0](inputs)


def weight_of_a_layer_created_in_build():
    x = Input((3,))
    asking = CreatesLayerInBuild()
    y = asking(x)
    kernel = asking.inner[0].kernel
    return Model(x, Lambda(lambda x: K.dot(x, kernel), output_shape=(3,))(y))


@pytest.mark.parametrize('build', [
    chain(CreatesSetInBuild), weight_created_in_the_first_call,
    pytest.param(tensor_computed_from_a_weight, marks=pytest.mark.once),
    weight_of_a_layer_created_in_build],
    ids=['guard set of layers created in build',
         'guard weight created in the first call',
         'tensor computed from a weight, in a lambda',
         'weight of a layer created in build, in a lambda'])
def test_clone_has_its_own(build, assert_faithful):
    assert_faithful(build)


def test_guard_clone_of_a_clone_has_a_function_that_holds_it():
    owner, x = types.SimpleNamespace(), Input((3,))
    y = Lambda(lambda x: x if owner else 2 * x)(Dense(3)(x))
    owner.model = model = Model(x, y)
    assert_cloned(model)


class Calls(Holds):
    """Computes what a layer computes that was built before it was passed."""

    def build(self, input_shape):
        self._trainable_weights = self.held.trainable_weights

    def call(self, inputs):
        return self.held.call(inputs)


def built(layer, *shape):
    layer.build((None, *shape))
    layer.built = True
    return layer


@pytest.mark.parametrize('make', [
    lambda: Calls(built(Dense(3), 3)),
    lambda: Calls(built(TimeDistributed(Dense(3)), 4, 3)),
    lambda: TimeDistributed(built(Dense(3), 3)),
    lambda: built(TimeDistributed(Dense(3)), 4, 3)],
    ids=['inner', 'wrapper in a layer', 'guard inner of a wrapper', 'guard wrapper'])
def test_clone_of_layers_that_were_built_before_they_were_called(make):
    assert_cloned(chain(make, shape=(4, 3))(), np.ones((2, 4, 3)))


def test_clone_has_the_names_of_weights_that_are_in_no_name_scope():
    clone = clone_model(chain(lambda: Calls(built(Dense(3), 3)))())
    assert 'kernel' in clone.layers[-1].held.kernel.name


@pytest.mark.parametrize('make', [
    lambda: TimeDistributed(Dense(3)),
    lambda: Bidirectional(SimpleRNN(3, return_sequences=True))],
    ids=['TimeDistributed', 'Bidirectional'])
def test_guard_clone_of_a_clone_whose_function_holds_a_wrapper(make):
    class Block:
        def __init__(self):
            self.factor, self.wrapper = 2., make()

        def __call__(self, x):
            return self.wrapper(Lambda(lambda x: x * self.factor)(x))
    assert_cloned(chain(Block, shape=(4, 3))(), np.ones((2, 4, 3)))


def test_clone_has_the_precision_that_its_constructor_has_read():
    former = K.floatx()
    K.set_floatx('float64')
    try:
        model = chain(lambda: Dense(2))()
    finally:
        K.set_floatx(former)
    clone = assert_cloned(model)
    assert K.floatx() == former
    assert K.dtype(clone.layers[-1].kernel) == 'float64'


def test_raises_if_a_clone_would_compute_with_weights_that_it_would_not_have():
    weights = []

    def keep(weight):
        weights.append(weight)
        return K.sum(weight)

    model = chain(lambda: Dense(2, kernel_regularizer=keep))()
    with pytest.raises(ValueError, match='dense.* would compute with weights'):
        clone_model(model)


def test_guard_clone_of_a_recurrent_model_with_a_function_of_its_gradients():
    x = Input((2, 3))
    model = Model(x, SimpleRNN(2)(x))
    loss = K.sum(model.output)
    model.gradients = K.function(model.inputs, K.gradients(loss, model.inputs))
    assert_cloned(model, np.ones((1, 2, 3)))


WEIGHTS = []


def keep_globally(layer, size):
    WEIGHTS.append(layer.add_weight(
        name='kernel', shape=(size,), initializer='uniform'))


class KeepsGlobally(Holds):
    """Computes with the weight that a function has put into a global list."""

    def build(self, input_shape):
        self.held(self, input_shape[-1])
        super().build(input_shape)

    def call(self, inputs):
        return inputs * WEIGHTS[-1]


def test_raises_if_a_clone_would_compute_with_weights_of_the_original():
    model = chain(lambda: KeepsGlobally(keep_globally))()
    with pytest.raises(ValueError, match='would compute with weights'):
        clone_model(model)
