"""References to layers, weights and tensors are replaced wherever they are held."""
import collections
import gc
import types
import weakref

import numpy as np
import pytest
from keras import layers
from keras.models import Model, Sequential, clone_model
from keras_clone.check.gallery import ops

from custom_objects import CreatesDense, Holds, PullTo
from holding import FUNCTIONS, METHODS, Pair, Scorer
from judging import Tied as TiedDense
from major_versions import (
    IS_KERAS2, ONES, KeepsShape, after_dense, assert_cloned,
    assert_equal_and_independent, build_inner, call_inner, chain, new_variable,
    outputs_of, set_variable, value_of)


class Stack(list):
    pass


def flat(held):
    """Returns the items of nested containers as a list."""
    if isinstance(held, dict):
        held = list(held.values())
    if isinstance(held, (list, tuple, set, frozenset, collections.deque)):
        return [each for part in held for each in flat(part)]
    return [held]


# Containers of layers

class GivenLayers(Holds):
    def build(self, input_shape):
        build_inner(self, flat(self.held), input_shape)

    def call(self, inputs):
        return sum(call_inner(layer, inputs) for layer in flat(self.held))


class CreatesLayers(GivenLayers):
    def __init__(self, container, **kwargs):
        layers.Layer.__init__(self, **kwargs)
        self.container = container
        self.held = pair_in(container)

    def get_config(self):
        return dict(layers.Layer.get_config(self), container=self.container)


CONTAINERS = {
    'list': lambda a, b: [a, b],
    'tuple': lambda a, b: (a, b),
    'named tuple': Pair,
    'dict': lambda a, b: {'a': a, 'b': b},
    'ordered dict': lambda a, b: collections.OrderedDict([('z', a), ('a', b)]),
    'default dict': lambda a, b: collections.defaultdict(list, {'a': [a, b]}),
    'set': lambda a, b: {a},
    'frozen set': lambda a, b: frozenset([a]),
    'deque': lambda a, b: collections.deque([a, b]),
    'user-defined list': lambda a, b: Stack([a, b]),
    'list in a list': lambda a, b: [[a], b],
    'tuple in a list': lambda a, b: [(a,), (b,)],
    'dict in a dict': lambda a, b: {'a': a, 'b': {'c': b}},
    'dict in a tuple': lambda a, b: ({'a': a}, Pair(b, None)[:1]),
}
# Keras 3 does not track layers in these containers.
UNTRACKED = ['deque', 'frozen set']
TRACKED = sorted(set(CONTAINERS) - set([] if IS_KERAS2 else UNTRACKED))


def pair_in(container):
    """Returns two new layers in a container."""
    return CONTAINERS[container](layers.Dense(3, name='a'),
                                 layers.Dense(3, name='b'))


def cloned_with_other_layers(model):
    """Checks that the last layer holds other layers in a container like it."""
    clone = clone_model(model)
    held, cloned = model.layers[-1].held, clone.layers[-1].held
    assert cloned.__class__ is held.__class__
    assert [each.name for each in flat(cloned)] == [each.name for each in flat(held)]
    assert not set(map(id, flat(held))) & set(map(id, flat(cloned)))
    return clone


@pytest.mark.parametrize('container', TRACKED)
@pytest.mark.parametrize('make', [
    lambda container: GivenLayers(pair_in(container)),
    pytest.param(CreatesLayers, id='guard created')], ids=['passed in', None])
def test_clone_has_its_own_layers_in(container, make, assert_faithful):
    build = chain(lambda: make(container))
    assert_faithful(build)
    model = build()
    assert_equal_and_independent(model, cloned_with_other_layers(model))


@pytest.mark.parametrize('container', UNTRACKED)
def test_clone_has_its_own_layers_that_keras_may_not_track_in(container):
    model = chain(lambda: GivenLayers(pair_in(container)))()
    clone = cloned_with_other_layers(model)
    held, cloned = (flat(each.layers[-1].held) for each in (model, clone))
    for layer, other in zip(held, cloned):
        other.set_weights(layer.get_weights())
    expected = outputs_of(model, ONES)
    for layer in held:
        layer.set_weights([0 * weight for weight in layer.get_weights()])
    np.testing.assert_allclose(outputs_of(clone, ONES), expected, rtol=1e-5)


def test_layers_of_a_clone_share_the_layers_that_were_passed_in():
    dense = layers.Dense(3)
    clone = clone_model(chain(
        lambda: GivenLayers([dense, dense]),
        lambda: GivenLayers([dense, layers.Dense(3)]))())
    first, second = (layer.held for layer in clone.layers[1:])
    assert first[0] is first[1] is second[0] is not dense


class Aliased(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.first = layers.Dense(3)
        self.every = [self.first, layers.Dense(3)]
        self.last = self.every[1]

    def build(self, input_shape):
        build_inner(self, self.every, input_shape)

    def call(self, inputs):
        return (call_inner(self.last, call_inner(self.first, inputs)) +
                call_inner(self.every[0], inputs))


def test_guard_clone_has_one_layer_under_two_names():
    layer = assert_cloned(chain(Aliased)()).layers[-1]
    assert layer.first is layer.every[0]
    assert layer.last is layer.every[1]


class CreatesLayersInBuild(layers.Layer):
    inner = None
    factor = None

    def build(self, input_shape):
        if self.inner is None:
            self.inner = (layers.Dense(4, name='up'), layers.Dense(3, name='down'))
            build_inner(self, self.inner[:1], input_shape)
            build_inner(self, self.inner[1:], (input_shape[0], 4))

    def call(self, inputs):
        if self.factor is None:
            self.factor = 6.
        up, down = self.inner
        return self.factor * call_inner(down, call_inner(up, inputs))


def test_guard_clone_creates_its_layers_in_build(assert_faithful):
    def build():
        x = layers.Input((3,), name='x')
        layer = CreatesLayersInBuild()
        return Model(x, layer(layer(x)))
    assert_faithful(build)


class CreatesDenseTwice(layers.Layer):
    """Is built again when it is called, on Keras 2: `build` does not set `built`."""

    def build(self, input_shape):
        self.inner = layers.Dense(3)

    def call(self, inputs):
        return self.inner(inputs)

    @property
    def trainable_weights(self):
        return self.inner.trainable_weights


class BuildsAnother(CreatesDenseTwice):
    def build(self, input_shape):
        self.inner = CreatesDenseTwice()
        self.inner.build(input_shape)
        super(CreatesDenseTwice, self).build(input_shape)


def test_guard_clone_creates_a_layer_that_is_built_twice(assert_faithful):
    assert_faithful(chain(BuildsAnother))


# References to other layers of the model and their weights

class Tied(Holds):
    """Computes with the kernel of another layer."""

    def build(self, input_shape):
        self.bias = self.add_weight(name='bias', shape=(3,), initializer='zeros')

    def kernel(self):
        return flat(self.held)[0].kernel

    def call(self, inputs):
        return ops.matmul(inputs, ops.transpose(self.kernel())) + self.bias


class TiedToKernel(Tied):
    def kernel(self):
        return self.held


@pytest.mark.parametrize('tie', [
    Tied,
    lambda dense: Tied([dense]),
    lambda dense: Tied((dense,)),
    lambda dense: Tied({dense}),
    lambda dense: Tied({'dense': dense}),
    lambda dense: TiedToKernel(dense.kernel),
    lambda dense: TiedDense(3, tied_to=dense),
], ids=['layer', 'list', 'tuple', 'set', 'dict', 'kernel',
        'argument not in a config'])
def test_clone_of_a_layer_tied_to_another_is_faithful(tie, assert_faithful):
    assert_faithful(lambda: after_dense(tie))


@pytest.mark.parametrize('tie', [
    Tied,
    lambda dense: Tied([dense]),
    lambda dense: layers.Lambda(lambda x: ops.matmul(x, dense.kernel)),
    lambda dense: layers.Lambda(lambda x: dense(x)),
    lambda dense: layers.Dense(3, activation=lambda x: ops.matmul(x, dense.kernel)),
], ids=['layer', 'list', 'lambda', 'lambda that calls it', 'activation'])
def test_clone_of_a_layer_tied_to_one_called_later_is_faithful(tie, assert_faithful):
    def build():
        x = layers.Input((3,), name='x')
        dense = layers.Dense(3)
        y = dense(x)
        return Model(x, layers.add([y, tie(dense)(x)]))
    assert_faithful(build)


def test_clone_of_a_clone_is_tied_to_a_layer_that_is_called_only_in_another_model():
    tied = after_dense(Tied).layers[-1]
    x = layers.Input((3,), name='x')
    clone = assert_cloned(Model(x, tied(x)))
    assert clone.layers[-1].held is not tied.held


class OwnActivation(CreatesDense):
    def __init__(self, **kwargs):
        layers.Layer.__init__(self, **kwargs)
        self.dense = layers.Dense(3, activation=self.squash)

    def build(self, input_shape):
        self.slope = self.add_weight(name='slope', shape=(3,), initializer='ones')
        super().build(input_shape)

    def squash(self, x):
        return self.slope * x


def test_guard_clone_holds_a_method_of_its_own_parent():
    layer = assert_cloned(chain(OwnActivation)()).layers[-1]
    assert layer.dense.activation.__self__ is layer


def test_clone_has_a_regularizer_that_holds_its_own_layer():
    model = after_dense(
        lambda dense: layers.Dense(3, kernel_regularizer=PullTo(dense)))
    clone = clone_model(model)
    assert clone.layers[-1].kernel_regularizer.layer is clone.layers[1]
    clone.set_weights(model.get_weights())
    expected = value_of(model.losses[0])
    model.set_weights([weight + 1 for weight in model.get_weights()])
    np.testing.assert_allclose(value_of(clone.losses[0]), expected, rtol=1e-5)


# Functions

def times(x, held):
    return ops.matmul(x, ops.transpose(held))


HOLDING = pytest.mark.parametrize(
    'holding', [*FUNCTIONS.values(), *METHODS.values()], ids=[*FUNCTIONS, *METHODS])


@HOLDING
def test_clone_of_a_lambda_that_holds_a_weight_is_faithful(holding, assert_faithful):
    assert_faithful(lambda: after_dense(lambda dense: layers.Lambda(
        holding(dense.kernel, times), output_shape=(3,)), units=2))


@HOLDING
@pytest.mark.parametrize('wrap', [
    lambda function: function, lambda function: lambda x, f=function: f(x)],
    ids=['itself', 'in a function'])
def test_clone_has_an_activation_that_holds_its_own_weight(wrap, holding):
    assert_cloned(after_dense(lambda dense: layers.Dense(
        3, activation=wrap(holding(dense.kernel, times)))))


def test_clone_has_its_own_layer_in_the_arguments_of_a_lambda(assert_faithful):
    clone = assert_faithful(lambda: after_dense(lambda dense: layers.Lambda(
        lambda x, layer: times(x, layer.kernel), output_shape=(3,),
        arguments={'layer': dense}), units=2))
    assert clone.layers[-1].arguments['layer'] is clone.layers[1]


def test_clone_has_its_own_layer_in_the_output_shape_of_a_lambda():
    clone = assert_cloned(after_dense(lambda dense: layers.Lambda(
        lambda x: 2 * x, output_shape=lambda shape: (shape[0], dense.units))))
    held, = clone.layers[-1]._output_shape.__closure__
    assert held.cell_contents is clone.layers[1]


def built_by_hand():
    layer = layers.Dense(3)
    layer.build((None, 3))
    return layer


def called_in_another_model():
    layer = layers.Dense(3)
    layer(layers.Input((3,)))
    return layer


class ScalesByKernel(KeepsShape):
    """Multiplies by the sum of the kernel of a layer that only a function holds."""

    def __init__(self, layer, **kwargs):
        super().__init__(**kwargs)
        self.get_layer = lambda: layer

    def call(self, inputs):
        return inputs * ops.sum(self.get_layer().kernel)


@pytest.mark.parametrize('make_layer', [built_by_hand, called_in_another_model])
@pytest.mark.parametrize('use', [
    lambda layer: layers.Lambda(lambda x: x * ops.sum(layer.kernel)),
    lambda layer: layers.Lambda(lambda x, held=[layer]: x * ops.sum(held[0].kernel)),
    ScalesByKernel], ids=['closure', 'list in a default', 'attribute'])
def test_clone_of_a_function_that_uses_the_weight_of_a_layer(use, make_layer):
    layer = make_layer()
    assert_cloned(chain(lambda: layers.Dense(3), lambda: use(layer))())


class Builder:
    """Builds a model, and keeps in attributes what it creates."""

    def scale_by_first(self, x):
        return x * ops.sum(self.first.kernel)

    def scale_by_last(self, x):
        return x * ops.sum(self.last.kernel)

    def build(self, function_of):
        x = layers.Input((3,))
        self.first = self.last = layers.Dense(3)
        y = layers.Lambda(function_of(self.scale_by_first))(self.first(x))
        y = layers.Lambda(function_of(self.scale_by_last))(y)
        self.first_half = Model(x, y)
        self.last = layers.Dense(3)
        y = layers.Lambda(function_of(self.scale_by_last))(self.last(y))
        self.model = Model(x, y)
        return self.model


class SequentialBuilder(Builder):
    """Adds layers to a `Sequential` model that it holds from the beginning."""

    def build(self, function_of):
        self.last, self.model = layers.Dense(3), Sequential()
        self.model.add(self.last)
        self.model.build((None, 3))
        self.model.add(layers.Lambda(function_of(self.scale_by_last)))
        following = layers.Dense(3)
        self.model.add(following)
        self.last = following  # Keras 3 has called the first `Lambda` again by now.
        self.model.add(layers.Lambda(function_of(self.scale_by_last)))
        return self.model


class DataHolder(Builder):
    """Holds more than is kept at a call."""

    def __init__(self):
        self.array = np.ones((200, 200), 'float32')
        self.numbers = list(range(2000))
        self.objects = [Pair(Doubler(), k) for k in range(300)]


def test_clone_of_lambdas_whose_builder_holds_a_large_array_and_many_objects():
    assert_cloned(DataHolder().build(lambda method: method))


class Sample:
    """Counts how often it is asked for its attributes."""

    def __init__(self):
        self.text, self.times_asked = '', 0

    def __getattribute__(self, name):
        if name == '__dict__':
            self.times_asked += 1
        return super().__getattribute__(name)


def test_cloning_searches_the_data_of_a_builder_once_not_for_each_lambda():
    holder, function_of = DataHolder(), lambda method: method
    holder.samples = [Sample() for _ in range(1001)]
    holder.build(function_of)
    before = holder.samples[-1].times_asked
    clone_model(holder.model)
    assert holder.samples[-1].times_asked - before == 1


def test_clone_shares_the_long_lists_of_data_that_a_builder_holds():
    holder = DataHolder()
    clone = clone_model(holder.build(lambda method: method))
    assert clone.layers[2].function.__self__ is not holder
    assert clone.layers[2].function.__self__.numbers is holder.numbers


def test_guard_large_array_of_a_builder_is_not_kept_alive():
    holder = DataHolder()
    model, array = holder.build(lambda method: method), weakref.ref(holder.array)
    del holder.array
    gc.collect()
    assert model.layers and array() is None


@pytest.mark.parametrize('function_of', [
    lambda method: method, lambda method: lambda x: method(x)],
    ids=['method', 'function'])
@pytest.mark.parametrize('builder', [Builder, SequentialBuilder])
def test_clone_of_lambdas_that_use_what_their_builder_held_at_each_call(
        builder, function_of):
    assert_cloned(builder().build(function_of))


# User objects

class Keeper(Holds):
    """Computes by an object of the user."""

    def call(self, inputs):
        return self.held.score(inputs)


class Doubler:
    def score(self, x):
        return 2 * x


def test_clone_has_a_copy_of_an_object_that_holds_a_weight():
    model = after_dense(lambda dense: Keeper(Scorer(dense.kernel, times)))
    clone = assert_cloned(model)
    assert type(clone.layers[-1].held) is Scorer
    assert clone.layers[-1].held is not model.layers[-1].held
    assert clone.layers[-1].held.held is clone.layers[1].kernel


def test_object_that_holds_nothing_of_the_model_is_not_copied():
    model = after_dense(lambda dense: Keeper(Doubler()))
    assert assert_cloned(model).layers[-1].held is model.layers[-1].held


def test_clone_has_one_copy_of_an_object_that_two_layers_hold():
    def make(dense):
        scorer = Scorer(dense.kernel, times)
        first, second = Keeper(scorer), Keeper(scorer)
        return lambda x: second(first(x))
    model = after_dense(make)
    first, second = clone_model(model).layers[-2:]
    assert first.held is second.held is not model.layers[-1].held


class Parent:
    """Holds a layer that refers back to it."""

    def score(self, x):
        return len(self.children) * x


def test_clone_has_an_object_and_a_layer_that_hold_each_other():
    parent = Parent()
    layer = Keeper(parent)
    parent.children = [layer]
    held = assert_cloned(after_dense(lambda dense: layer)).layers[-1]
    assert held.held is not parent
    assert held.held.children[0] is held
    assert parent.children == [layer]


def hold_output(net, x, y):
    net.held = layers.Dense(2)(y)
    return Model(x, net.held)


def hold_output_of_nested_model(net, x, y):
    other = layers.Input((3,), name='other')
    net.held = layers.Dense(2)(Model(x, y)(other))
    return Model(other, net.held)


def hold_model_of_the_first_layers(net, x, y):
    net.held = Model(x, y)
    return Model(x, layers.Dense(2)(y))


@pytest.mark.parametrize('hold', [
    hold_output, hold_output_of_nested_model, hold_model_of_the_first_layers])
def test_clone_of_a_lambda_that_holds_what_follows_it_is_faithful(
        hold, assert_faithful):
    def build():
        net, x = types.SimpleNamespace(factor=2.), layers.Input((3,), name='x')
        return hold(net, x, layers.Lambda(lambda y: y * net.factor)(x))
    assert_faithful(build)


class Once:
    """Cannot be copied, because `__new__` requires an argument."""

    def __new__(cls, secret):
        return super().__new__(cls)

    def __init__(self, secret):
        self.kernel = secret

    def score(self, x):
        return times(x, self.kernel)


def test_object_that_holds_a_weight_and_cannot_be_copied_raises_an_error():
    model = after_dense(lambda dense: Keeper(Once(dense.kernel), name='keeper'))
    with pytest.raises(ValueError, match='keeper.*`Keeper`.*`Once`'):
        clone_model(model)


def test_object_that_cannot_be_copied_but_holds_nothing_is_reused():
    once = Once(None)
    once.score = lambda x: 2 * x
    clone = clone_model(after_dense(lambda dense: Keeper(once)))
    assert clone.layers[-1].held is once


# Attributes of models

def with_attribute(make):
    """Returns a model with the result of `make` as an attribute, and its clone."""
    x = layers.Input((3,), name='x')
    dense = layers.Dense(2)
    y = dense(x)
    model = type('Branded', (Model,), {})(x, layers.Dense(3)(y))
    model.attached = make(dense)
    clone = clone_model(model)
    assert len(clone.weights) == len(model.weights)
    return model, clone


@pytest.mark.parametrize('container', sorted(CONTAINERS))
def test_clone_has_its_own_layers_that_a_model_holds_in(container):
    model, clone = with_attribute(lambda dense: CONTAINERS[container](dense, dense))
    assert clone.attached.__class__ is model.attached.__class__
    assert {id(each) for each in flat(clone.attached)} == {id(clone.layers[1])}


@pytest.mark.parametrize('make, found, own', [
    (lambda dense: dense.output, lambda held: held, lambda dense: dense.output),
    (lambda dense: dense.kernel, lambda held: held, lambda dense: dense.kernel),
    (lambda dense: dense.call, lambda held: held.__self__, lambda dense: dense),
    (lambda dense: lambda: dense, lambda held: held(), lambda dense: dense),
], ids=['tensor', 'weight', 'method of a layer', 'function'])
def test_clone_refers_to_its_own_where_the_model_holds_a(make, found, own):
    _, clone = with_attribute(make)
    assert found(clone.attached) is own(clone.layers[1])


def test_clone_has_a_copy_of_a_variable_that_a_model_holds():
    model, clone = with_attribute(lambda dense: new_variable([1., 2.]))
    assert clone.attached is not model.attached
    clone.set_weights(model.get_weights())
    np.testing.assert_allclose(value_of(clone.attached), [1, 2])
    set_variable(model.attached, [3., 4.])
    np.testing.assert_allclose(value_of(clone.attached), [1, 2])


def test_clone_has_its_own_model_of_the_same_layers():
    model, clone = with_attribute(lambda dense: Model(dense.input, dense.output))
    assert clone.attached is not model.attached
    assert clone.attached.layers[1] is clone.layers[1]
    assert clone.attached.outputs[0] is clone.layers[1].output


def test_clone_has_its_own_layer_outside_of_the_graph():
    def make(dense):
        layer = layers.Dense(5, name='aside')
        layer.build((None, 7))
        return layer
    model, clone = with_attribute(make)
    assert clone.attached is not model.attached
    clone.set_weights(model.get_weights())
    assert len(clone.attached.weights) == len(model.attached.weights)
    for original, cloned in zip(model.attached.get_weights(),
                                clone.attached.get_weights()):
        np.testing.assert_allclose(cloned, original)


class ByLayer(Holds):
    """Has dicts keyed by layers and by their ids."""

    def __init__(self, held, **kwargs):
        super().__init__(held, **kwargs)
        self.inner = [layers.Dense(3), layers.Dense(3)]
        self.by_layer = dict(zip(self.inner, (1., 2.)))
        self.by_id = {id(layer): 3. for layer in self.inner}

    def build(self, input_shape):
        build_inner(self, self.inner, input_shape)

    def call(self, inputs):
        return sum(factor * self.by_id[id(layer)] *
                   self.held(call_inner(layer, inputs))
                   for layer, factor in self.by_layer.items())


def test_clone_has_dicts_keyed_by_its_own_layers_and_their_ids():
    model = chain(lambda: ByLayer(lambda x: x))()
    layer, clone = model.layers[-1], assert_cloned(model).layers[-1]
    assert list(clone.by_layer) == clone.inner
    assert list(clone.by_id) == [id(each) for each in clone.inner]
    assert not set(clone.inner) & set(layer.inner)
