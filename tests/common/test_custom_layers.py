"""Custom layers and functions that both major versions of Keras can use."""
import functools
import types

import numpy as np
import pytest
from keras import layers, regularizers
from keras.models import Model, clone_model
from keras_clone.check.gallery import ops

from custom_objects import TWO, Bare, Once, Thrice, gelu
from major_versions import IS_KERAS2, KeepsShape, chain


def keyword_default(x, *, factor=TWO):
    return factor * x


@pytest.mark.parametrize('function', [
    lambda x: TWO * x,
    lambda x: gelu(x),
    gelu,
    functools.partial(lambda x, factor: factor * x, factor=5.),
    Thrice(),
    Thrice().method,
    (lambda factor: lambda x: factor * x)(3.),
    lambda x, mask=None: 2 * x,
    lambda x, factor=TWO: factor * x,
    lambda x, *, factor=3: factor * x,
    keyword_default,
    ops.relu,
], ids=['lambda with a global', 'lambda that calls', 'named', 'partial', 'object',
        'bound method', 'closure', 'takes a mask', 'default', 'keyword-only default',
        'named, keyword-only default', 'of Keras'])
def test_clone_of_a_lambda_is_faithful(function, assert_faithful):
    assert_faithful(chain(lambda: layers.Lambda(function)))


def test_clone_of_a_layer_that_takes_no_name_is_faithful(assert_faithful):
    def build():
        model = chain(lambda: Bare(3.))()
        model.layers[-1].trainable = False
        return model
    assert_faithful(build)


class AppendsInBuild(KeepsShape):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.factors = []

    def build(self, input_shape):
        self.factors.append(2.)

    def call(self, inputs):
        return inputs * sum(self.factors)


class AppendsToVariableInBuild(AppendsInBuild):
    def build(self, input_shape):
        factors = self.factors
        factors.append(2.)


class PassesToFunctionInBuild(AppendsInBuild):
    def build(self, input_shape):
        append_two(self.factors)


def append_two(numbers):
    numbers.append(2.)


class Numbers:
    def __init__(self):
        self.numbers = []

    def append(self, number):
        self.numbers.append(number)

    def __iter__(self):
        return iter(self.numbers)


class AppendsToObjectInBuild(AppendsInBuild):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.factors = Numbers()


class SetsItemInBuild(AppendsInBuild):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.factors = {}

    def build(self, input_shape):
        self.factors[str(len(self.factors))] = 2.

    def call(self, inputs):
        return inputs * sum(self.factors.values())


class AppendsToLogInBuild(AppendsInBuild):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.factors = type('Log', (list,), {})()


class ChangesArrayInBuild(AppendsInBuild):
    def __init__(self, size=3, **kwargs):
        super().__init__(**kwargs)
        self.factors = np.ones(size, 'float32')

    def build(self, input_shape):
        self.factors += 1

    def call(self, inputs):
        return inputs * self.factors[:3]


def array_that_the_user_changes_as_well():
    layer = ChangesArrayInBuild()
    layer.factors *= 3
    return layer


@pytest.mark.parametrize('make', [
    AppendsInBuild, AppendsToObjectInBuild, AppendsToVariableInBuild,
    PassesToFunctionInBuild, SetsItemInBuild, AppendsToLogInBuild,
    ChangesArrayInBuild, lambda: ChangesArrayInBuild(10 ** 5),
    array_that_the_user_changes_as_well], ids=[
        'guard list', 'guard object', 'guard variable', 'guard function',
        'guard dict', 'guard list of a class of the user', 'guard array',
        'guard large array', 'array that the user changes as well'])
def test_clone_has_what_build_changes_in_place_once(make, assert_faithful):
    assert_faithful(chain(make))


def test_layer_that_cannot_be_created_again_raises_an_error():
    model = chain(lambda: Once(2., name='once'))()
    with pytest.raises(ValueError, match="'once'.*`get_config\\(\\)`"):
        clone_model(model)


def test_attributes_of_the_original_are_unchanged():
    layer = layers.Lambda(lambda x, a: x, arguments={'a': [1]})
    model = chain(lambda: layer)()

    def attributes():
        return {name: (id(value), repr(value))
                for name, value in vars(layer).items()}
    before = attributes()
    clone_model(model)
    assert attributes() == before


def double_by_closure(layer):
    call = layer.call
    layer.call = lambda inputs, **kwargs: 2 * call(inputs)


def double_by_method(layer):
    layer.call = types.MethodType(
        lambda self, inputs, **kwargs: 2 * type(self).call(self, inputs), layer)


@pytest.mark.parametrize('patch', [double_by_closure, double_by_method])
def test_clone_has_a_function_set_in_place_of_a_method(patch, assert_faithful):
    def make_layer():
        layer = layers.Dense(3)
        patch(layer)
        return layer
    assert_faithful(chain(make_layer))


def test_guard_regularizer_set_on_a_layer_after_build_takes_effect_in_the_clone():
    model = chain(lambda: layers.Dense(2))()
    model.layers[-1].kernel_regularizer = regularizers.l2(.5)
    assert not model.losses
    assert len(clone_model(model).losses) == 1


class TimesEach(KeepsShape):
    def call(self, x, **factors):
        for factor in factors.values():
            x = x * factor
        return x


@pytest.mark.parametrize('name', [
    'layer', 'args', 'kwargs', pytest.param('inputs', marks=pytest.mark.skipif(
        IS_KERAS2, reason='`Layer.__call__` itself has an argument of this name'))])
def test_guard_clone_has_a_call_argument_of_any_name(name, assert_faithful):
    def build():
        x = layers.Input((3,), name='x')
        return Model(x, TimesEach(name='times')(x, **{name: 2.}))
    assert_faithful(build)
