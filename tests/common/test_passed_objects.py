"""Objects of a user's classes that a layer was passed, and that it puts its weights
into: the clone of the layer does the same with a copy that lacks those of the
original."""
import itertools
import random

import keras
import numpy as np
import pytest
from keras import layers
from keras.models import Model, clone_model
from keras_clone.check.gallery import ops

from major_versions import ONES, assert_cloned, assert_equal_and_independent, chain


class Part:
    """Has the attributes that it is passed."""

    def __init__(self, **attributes):
        vars(self).update(attributes)


class Projection(Part):
    """Computes with a weight that it creates in a layer."""

    def build(self, layer, size):
        self.kernel = layer.add_weight(
            name='kernel', shape=(size, self.units), initializer='uniform')

    def __call__(self, x):
        return ops.matmul(x, self.kernel)


class BuiltOnce(Projection):
    """Creates no second weight."""

    kernel = None

    def build(self, layer, size):
        if self.kernel is None:
            super().build(layer, size)


class Project(layers.Layer):
    """Calls a `Projection`."""

    def __init__(self, projection, **kwargs):
        super().__init__(**kwargs)
        self.projection = projection

    def build(self, input_shape):
        self.projection.build(self, input_shape[-1])
        super().build(input_shape)

    def call(self, inputs):
        return self.projection(inputs)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.projection.units)


class ProjectFirst(Project):
    """Calls the first of a list of `Projection`s."""

    def __init__(self, projections, **kwargs):
        super().__init__(projections[0], **kwargs)


class Logged(layers.Dense):
    """Puts its kernel into a log."""

    def __init__(self, units, log, **kwargs):
        super().__init__(units, **kwargs)
        self.log = log

    def build(self, input_shape):
        super().build(input_shape)
        self.log.kernels.append(self.kernel)


class Counted(Logged):
    """Counts in an array how often it is built."""

    def build(self, input_shape):
        super().build(input_shape)
        self.log.counts['build'] += 1

    def call(self, inputs):
        return super().call(inputs) * float(self.log.counts['build'][0])


class Swish:
    """An activation with a weight."""

    __name__ = 'swish'

    def __call__(self, x):
        return x * ops.tanh(self.beta * x)


class SwishDense(layers.Dense):
    """Creates the weight of its activation."""

    def build(self, input_shape):
        super().build(input_shape)
        self.activation.beta = self.add_weight(
            name='beta', shape=(), initializer='uniform')


class KeepsWeight(keras.regularizers.Regularizer):
    """Keeps what it was called with."""

    def __call__(self, weight):
        self.weight = weight
        return .1 * ops.sum(weight)

    def get_config(self):
        return {}


class KeepsClippedWeight(keras.constraints.Constraint):
    """Keeps what it was called with."""

    def __call__(self, weight):
        self.weight = weight
        return weight

    def get_config(self):
        return {}


@pytest.mark.parametrize('make', [
    lambda: Project(Projection(units=2)),
    lambda: Project(BuiltOnce(units=2)),
    lambda: ProjectFirst([Projection(units=2)]),
    lambda: Logged(2, Part(kernels=[])),
    lambda: SwishDense(2, activation=Swish()),
    lambda: layers.Dense(2, kernel_regularizer=KeepsWeight()),
    lambda: layers.TimeDistributed(
        layers.Dense(2, kernel_regularizer=KeepsWeight()))],
    ids=['part that computes', 'part that is built once', 'part in a list', 'log',
         'activation', 'regularizer', 'regularizer in a wrapper'])
def test_clone_of_a_layer_that_puts_a_weight_into_its(make):
    is_sequence = isinstance(make(), layers.TimeDistributed)
    shape = (4, 3) if is_sequence else (3,)
    model, value = chain(make, shape=shape)(), np.ones((2, *shape), 'float32')
    assert_equal_and_independent(model, clone_model(model), value)
    assert_cloned(model, value)


def test_clone_of_layers_that_put_their_kernels_into_the_same_log():
    log = Part(kernels=[])
    clone = assert_cloned(chain(lambda: Logged(3, log), lambda: Logged(2, log))())
    first, second = clone.layers[1:]
    assert first.log is second.log
    assert [id(kernel) for kernel in first.log.kernels] == [
        id(first.kernel), id(second.kernel)]
    assert len(log.kernels) == 2


def test_second_clone_shares_no_log_with_the_first():
    log = Part(kernels=[])
    model = chain(lambda: Logged(3, log))()
    first, second = (clone_model(model).layers[-1] for _ in range(2))
    assert [*map(id, first.log.kernels)] == [id(first.kernel)]
    assert [*map(id, second.log.kernels)] == [id(second.kernel)]


def test_second_clone_shares_no_array_with_the_first():
    log = Part(kernels=[], counts={'build': np.zeros(2)})
    model = chain(lambda: Counted(3, log))()
    clone_model(model)
    assert_equal_and_independent(model, clone_model(model))


def test_clone_of_a_trained_layer_whose_constraint_keeps_its_weight():
    model = chain(lambda: layers.Dense(
        2, kernel_constraint=KeepsClippedWeight()))()
    model.compile('sgd', 'mse')
    model.train_on_batch(ONES, np.ones((2, 2)))
    assert_cloned(model)


def test_clone_has_what_a_user_has_put_into_an_object_after_the_call():
    part, dense, x = Part(kernels=[]), layers.Dense(2), layers.Input((3,))
    logged = Logged(3, part)
    model = Model(x, dense(logged(x)))
    part.layer, part.rate = dense, 5.
    log = assert_cloned(model).layers[1].log
    assert log.layer is not dense
    assert log.rate == 5.


class Draws(layers.Layer):
    """Draws in `build` what it is not passed, and has it in its config."""

    numbers = itertools.count()

    def __init__(self, order=None, place=None, **kwargs):
        super().__init__(**kwargs)
        self._order, self._place = order, place

    def build(self, input_shape):
        if self._order is None:
            self._order = random.sample(range(100), 3)
            self._place = next(self.numbers)
        super().build(input_shape)

    def call(self, inputs):
        return inputs * np.float32(self._order) + float(self._place)

    def get_config(self):
        return dict(super().get_config(), order=self._order, place=self._place)


def test_guard_clone_has_what_build_has_drawn_if_the_config_does():
    model = chain(Draws, Draws, lambda: layers.Dense(2))()
    clone = assert_cloned(assert_cloned(model))
    assert [layer.get_config() for layer in clone.layers[1:3]] == [
        layer.get_config() for layer in model.layers[1:3]]
