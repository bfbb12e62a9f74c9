"""References to layers, variables and tensors are replaced wherever they are held.

Containers, closures and user objects of the clone refer to the layers, variables
and tensors of the clone, not to those of the original.
"""
import collections
import dataclasses
import functools
import weakref

import keras
import numpy as np
import pytest
from keras import Model, layers, ops
from keras.models import clone_model

from custom_objects import RELEASE, chain

Pair = collections.namedtuple('Pair', 'first second')
ONES = np.ones((2, 3), 'float32')


class Stack(list):
    """A user-defined list class."""


def assert_equal_and_independent(model, clone, value=ONES):
    """Checks that the clone computes the same, with its own weights."""
    clone.set_weights(model.get_weights())
    expected = ops.convert_to_numpy(model(value))
    np.testing.assert_allclose(ops.convert_to_numpy(clone(value)), expected,
                               rtol=1e-5)
    model.set_weights([weight + 1 for weight in model.get_weights()])
    assert not np.allclose(ops.convert_to_numpy(model(value)), expected)
    np.testing.assert_allclose(ops.convert_to_numpy(clone(value)), expected,
                               rtol=1e-5)


def flat(held):
    """Returns the items of nested containers as a list."""
    if isinstance(held, dict):
        held = list(held.values())
    if isinstance(held, (list, tuple, set, frozenset, collections.deque)):
        return [each for part in held for each in flat(part)]
    return [held]


# Containers of layers


class GivenLayers(layers.Layer):
    """Takes layers in a container, and has no config."""

    def __init__(self, held, **kwargs):
        super().__init__(**kwargs)
        self.held = held

    def build(self, input_shape):
        for layer in flat(self.held):
            layer.build(input_shape)

    def call(self, inputs):
        return sum(layer(inputs) for layer in flat(self.held))


class CreatesLayers(GivenLayers):
    """Creates its layers in a container of a given type."""

    def __init__(self, container, **kwargs):
        layers.Layer.__init__(self, **kwargs)
        self.container = container
        self.held = CONTAINERS[container](layers.Dense(3, name='a'),
                                          layers.Dense(3, name='b'))

    def get_config(self):
        return {**layers.Layer.get_config(self), 'container': self.container}


CONTAINERS = {
    'list': lambda a, b: [a, b],
    'tuple': lambda a, b: (a, b),
    'named tuple': Pair,
    'dict': lambda a, b: {'a': a, 'b': b},
    'ordered dict': lambda a, b: collections.OrderedDict([('z', a), ('a', b)]),
    'set': lambda a, b: {a},
    'list in a list': lambda a, b: [[a], b],
    'tuple in a list': lambda a, b: [(a,), (b,)],
    'dict in a dict': lambda a, b: {'a': a, 'b': {'c': b}},
}
# Keras does not track layers in these containers.
UNTRACKED = {
    'frozen set': lambda a, b: frozenset([a]),
    'deque': lambda a, b: collections.deque([a, b]),
}


@pytest.mark.parametrize('container', sorted(CONTAINERS))
def test_layers_passed_to_a_layer_in(container, assert_faithful):
    def build():
        held = CONTAINERS[container](layers.Dense(3, name='a'),
                                     layers.Dense(3, name='b'))
        return chain(lambda: GivenLayers(held))()
    assert_faithful(build)
    model = build()
    clone = clone_model(model)
    held, cloned = model.layers[-1].held, clone.layers[-1].held
    assert cloned.__class__ is held.__class__
    assert [each.name for each in flat(cloned)] == [each.name for each in flat(held)]
    assert not set(map(id, flat(held))) & set(map(id, flat(cloned)))
    assert_equal_and_independent(model, clone)


@pytest.mark.parametrize('container', sorted(CONTAINERS))
def test_guard_layers_created_by_a_layer_in(container, assert_faithful):
    assert_faithful(chain(lambda: CreatesLayers(container)))
    model = chain(lambda: CreatesLayers(container))()
    clone = clone_model(model)
    held, cloned = model.layers[-1].held, clone.layers[-1].held
    assert cloned.__class__ is held.__class__
    assert not set(map(id, flat(held))) & set(map(id, flat(cloned)))
    assert_equal_and_independent(model, clone)


@pytest.mark.parametrize('container', sorted(UNTRACKED))
def test_layers_that_keras_does_not_track_in(container):
    held = UNTRACKED[container](layers.Dense(3, name='a'), layers.Dense(3, name='b'))
    model = chain(lambda: GivenLayers(held))()
    expected = ops.convert_to_numpy(model(ONES))
    clone = clone_model(model)
    cloned = clone.layers[-1].held
    assert cloned.__class__ is held.__class__
    assert not set(map(id, flat(held))) & set(map(id, flat(cloned)))
    for layer in flat(held):
        layer.set_weights([0 * weight for weight in layer.get_weights()])
    np.testing.assert_allclose(ops.convert_to_numpy(clone(ONES)), expected,
                               rtol=1e-5)


class Aliased(layers.Layer):
    """Holds the same layer in two attributes and in a list."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.first = layers.Dense(3)
        self.every = [self.first, layers.Dense(3)]
        self.last = self.every[1]

    def call(self, inputs):
        return self.last(self.first(inputs)) + self.every[0](inputs)


def test_guard_layer_under_two_names():
    model = chain(Aliased)()
    clone = clone_model(model)
    assert clone.layers[-1].first is clone.layers[-1].every[0]
    assert clone.layers[-1].last is clone.layers[-1].every[1]
    assert_equal_and_independent(model, clone)


class KeyedById(layers.Layer):
    """Has a dict whose keys are the ids of its layers."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.first, self.second = layers.Dense(3), layers.Dense(3)
        self.factors = {id(self.first): .5, id(self.second): 2.}

    def call(self, inputs):
        return sum(self.factors[id(layer)] * layer(inputs)
                   for layer in (self.first, self.second))


def test_guard_ids_of_layers_as_keys():
    model = chain(KeyedById)()
    clone = clone_model(model)
    layer = clone.layers[-1]
    assert set(layer.factors) == {id(layer.first), id(layer.second)}
    assert_equal_and_independent(model, clone)


class CreatesLayersInBuild(layers.Layer):
    """Creates its layers in `build`, and a number in `call`."""

    inner = None
    factor = None

    def build(self, input_shape):
        if self.inner is None:
            self.inner = (layers.Dense(4), layers.Dense(input_shape[-1]))
            self.inner[0].build(input_shape)
            self.inner[1].build((*input_shape[:-1], 4))

    def call(self, inputs):
        if self.factor is None:
            self.factor = 2. * inputs.shape[-1]
        return self.factor * self.inner[1](self.inner[0](inputs))


def test_guard_layers_created_in_build(assert_faithful):
    def build():
        x = keras.Input((3,), name='x')
        layer = CreatesLayersInBuild()
        return Model(x, layer(layer(x)))
    assert_faithful(build)
    model = build()
    assert_equal_and_independent(model, clone_model(model))


@dataclasses.dataclass(eq=False)
class Block:
    dense: layers.Layer
    factor: float = 1.


class Blocks(layers.Layer):
    """Takes objects that hold layers."""

    def __init__(self, blocks, **kwargs):
        super().__init__(**kwargs)
        self.blocks = blocks
        self.parts = [block.dense for block in blocks]

    def call(self, inputs):
        return sum(block.factor * block.dense(inputs) for block in self.blocks)


def test_layers_in_objects_and_in_a_list(assert_faithful):
    def build():
        return chain(lambda: Blocks([Block(layers.Dense(2), 2.),
                                     Block(layers.Dense(2), .5)]))()
    assert_faithful(build)
    model = build()
    clone = clone_model(model)
    for block, part in zip(clone.layers[-1].blocks, clone.layers[-1].parts):
        assert block.dense is part
    assert_equal_and_independent(model, clone)


class Child(layers.Layer):
    """Has a weak reference to its parent layer."""

    def build(self, input_shape):
        self.kernel = self.add_weight(shape=(input_shape[-1],))

    def call(self, inputs):
        return self.kernel * self.parent().gain * inputs


class Parent(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.gain = self.add_weight(shape=(), initializer='ones')
        self.child = Child()
        self.child.parent = weakref.ref(self)

    def call(self, inputs):
        return self.child(inputs)


def test_guard_layer_with_a_weak_reference_to_its_parent():
    model = chain(Parent)()
    clone = clone_model(model)
    assert clone.layers[-1].child.parent() is clone.layers[-1]
    assert_equal_and_independent(model, clone)


class HasProxy(layers.Layer):
    """Uses another layer, of which it has a weak proxy."""

    def __init__(self, other, **kwargs):
        super().__init__(**kwargs)
        self.kept = [other]
        self.other = weakref.proxy(other)

    def call(self, inputs):
        return self.other(inputs)


def test_weak_proxy_of_a_layer(assert_faithful):
    build = chain(lambda: HasProxy(layers.Dense(3)))
    assert_faithful(build)
    model = build()
    clone = clone_model(model)
    assert type(clone.layers[-1].other) is weakref.CallableProxyType
    assert_equal_and_independent(model, clone)


class HasObserver(layers.Dense):
    """Has a weak proxy of an object that is not the layer's own."""

    observers = []

    def __init__(self, units=3, **kwargs):
        super().__init__(units, **kwargs)
        self.observers.append(collections.Counter())
        self.observer = weakref.proxy(self.observers[-1])


def test_guard_weak_proxy_of_an_object_that_is_gone():
    model = chain(HasObserver)()
    HasObserver.observers.clear()
    assert_equal_and_independent(model, clone_model(model))


# References to other layers of the model and their variables


class Tied(layers.Layer):
    """Computes with the kernel of another layer, and has no config."""

    def __init__(self, other, **kwargs):
        super().__init__(**kwargs)
        self.other = other
        self.bias = self.add_weight(shape=(), initializer='zeros')

    def kernel(self):
        return flat(self.other)[0].kernel

    def call(self, inputs):
        return ops.matmul(inputs, ops.transpose(self.kernel())) + self.bias


class TiedToKernel(Tied):
    """Holds the variable itself."""

    def kernel(self):
        return self.other


@pytest.mark.parametrize('tie', [
    Tied,
    lambda dense: Tied([dense]),
    lambda dense: Tied((dense,)),
    lambda dense: Tied({dense}),
    lambda dense: Tied({'dense': dense}),
    lambda dense: TiedToKernel(dense.kernel),
], ids=['layer', 'list', 'tuple', 'set', 'dict', 'kernel'])
def test_layer_tied_to_another(tie, assert_faithful):
    def build():
        x = keras.Input((3,), name='x')
        dense = layers.Dense(2)
        y = dense(x)
        return Model(x, tie(dense)(y))
    assert_faithful(build)
    model = build()
    clone = clone_model(model)
    assert len(clone.weights) == len(model.weights)
    assert_equal_and_independent(model, clone)


class OwnActivation(layers.Layer):
    """Passes one of its methods to the layer that it creates."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.slope = self.add_weight(shape=(), initializer='ones')
        self.dense = layers.Dense(3, activation=self.squash)

    def squash(self, x):
        return self.slope * x

    def call(self, inputs):
        return self.dense(inputs)


def test_guard_layer_that_holds_a_method_of_its_parent():
    model = chain(OwnActivation)()
    clone = clone_model(model)
    assert clone.layers[-1].dense.activation.__self__ is clone.layers[-1]
    assert_equal_and_independent(model, clone)


class PullTo(keras.regularizers.Regularizer):
    """Pulls a kernel to that of another layer."""

    def __init__(self, layer):
        self.layer = layer

    def __call__(self, weight):
        return ops.sum(ops.square(weight - self.layer.kernel))


def test_regularizer_that_holds_a_layer():
    x = keras.Input((3,), name='x')
    anchor = layers.Dense(3)
    y = anchor(x)
    model = Model(x, layers.Dense(3, kernel_regularizer=PullTo(anchor))(y))
    clone = clone_model(model)
    assert clone.layers[-1].kernel_regularizer.layer is clone.layers[1]
    clone.set_weights(model.get_weights())
    expected = float(model.losses[0])
    np.testing.assert_allclose(float(clone.losses[0]), expected, rtol=1e-5)
    anchor.set_weights([weight + 1 for weight in anchor.get_weights()])
    np.testing.assert_allclose(float(clone.losses[0]), expected, rtol=1e-5)


def test_regularizer_of_lora_weights_that_holds_a_layer():
    x = keras.Input((3,), name='x')
    anchor, dense = layers.Dense(3), layers.Dense(3)
    dense.kernel_regularizer = PullTo(anchor)
    model = Model(x, dense(anchor(x)))
    dense.enable_lora(1)
    clone = clone_model(model)
    held = [weight.regularizer.layer for weight in clone.layers[-1].weights
            if weight.regularizer]
    assert len(held) == 3 and all(each is clone.layers[1] for each in held)


class WeightNormalized(layers.Wrapper):
    """Holds the kernel of its layer as an attribute."""

    def build(self, input_shape):
        super().build(input_shape)
        self.kept = self.layer.kernel
        self.gain = self.add_weight(shape=(), initializer='ones')

    def call(self, inputs):
        return ops.matmul(inputs, self.gain * self.kept) + self.layer.bias

    def compute_output_shape(self, input_shape):
        return self.layer.compute_output_shape(input_shape)


def test_guard_wrapper_that_holds_a_variable_of_its_layer(assert_faithful):
    assert_faithful(chain(lambda: WeightNormalized(layers.Dense(2))))
    model = chain(lambda: WeightNormalized(layers.Dense(2)))()
    clone = clone_model(model)
    assert clone.layers[-1].kept is clone.layers[-1].layer.kernel
    assert_equal_and_independent(model, clone)


# Functions


def times(x, kernel):
    return ops.matmul(x, ops.transpose(kernel))


class Scorer:
    def __init__(self, kernel):
        self.kernel = kernel

    def score(self, x):
        return times(x, self.kernel)

    __call__ = score


class Slotted:
    __slots__ = ('_kernel', '__unset', '__kernel')

    def __init__(self, kernel):
        self._kernel, self.__kernel = None, kernel

    def score(self, x):
        return times(x, self.__kernel)


def in_a_closure(kernel):
    return lambda x: times(x, kernel)


def in_a_default(kernel):
    return lambda x, kernel=kernel: times(x, kernel)


def in_a_keyword_default(kernel):
    return lambda x, *, kernel=kernel: times(x, kernel)


def in_a_partial(kernel):
    return functools.partial(times, kernel=kernel)


def in_a_tuple(kernel):
    kept = Pair(kernel, None)
    return lambda x: times(x, kept.first)


def in_another_function(kernel):
    inner = in_a_closure(kernel)
    return lambda x: inner(x)


def in_an_attribute(kernel):
    def function(x):
        return times(x, function.kernel)
    function.kernel = kernel
    return function


def in_a_global(kernel):
    scope = {'kernel': kernel, 'times': times}
    exec('def function(x):\n    return times(x, kernel)', scope)
    return scope['function']


def in_an_object(kernel):
    return Scorer(kernel).score


def in_an_object_that_is_called(kernel):
    return Scorer(kernel)


def in_an_object_with_slots(kernel):
    return Slotted(kernel).score


def in_an_object_of_an_object(kernel):
    scorer = Scorer(None)
    scorer.inner = Scorer(kernel)
    return lambda x: scorer.inner.score(x)


def in_a_data_class(kernel):
    block = Block(kernel)
    return lambda x: times(x, block.dense)


HOLDING = pytest.mark.parametrize('holding', [
    in_a_closure, in_a_default, in_a_keyword_default, in_a_partial, in_a_tuple,
    in_another_function, in_an_attribute, in_a_global, in_an_object,
    in_an_object_that_is_called, in_an_object_with_slots,
    in_an_object_of_an_object, in_a_data_class],
    ids=lambda holding: holding.__name__)


def tied_model(holding):
    """Returns a function that builds a model with tied weights."""
    def build():
        x = keras.Input((3,), name='x')
        dense = layers.Dense(2)
        y = dense(x)
        return Model(x, layers.Lambda(holding(dense.kernel), output_shape=(3,))(y))
    return build


@HOLDING
def test_lambda_that_holds_a_variable(holding, assert_faithful):
    assert_faithful(tied_model(holding))
    model = tied_model(holding)()
    assert_equal_and_independent(model, clone_model(model))


@HOLDING
def test_activation_that_holds_a_variable(holding):
    x = keras.Input((3,), name='x')
    dense = layers.Dense(3, use_bias=False)
    y = dense(x)
    model = Model(x, layers.Dense(3, activation=holding(dense.kernel))(y))
    assert_equal_and_independent(model, clone_model(model))


@pytest.mark.parametrize('attribute', [
    'kernel_initializer',
    pytest.param('kernel_constraint', marks=pytest.mark.skipif(
        RELEASE < (3, 15), reason='Keras refuses functions'))])
def test_other_function_that_holds_a_variable(attribute):
    x = keras.Input((3,), name='x')
    dense = layers.Dense(3)
    y = dense(x)

    def function(x, dtype=None, held=dense.kernel):
        return ops.ones(x) if attribute == 'kernel_initializer' else x + held
    clone = clone_model(Model(x, layers.Dense(3, **{attribute: function})(y)))
    held = getattr(clone.layers[-1], attribute)
    assert held.__defaults__[1] is clone.layers[1].kernel


def test_arguments_of_a_lambda_that_hold_a_layer(assert_faithful):
    def build():
        x = keras.Input((3,), name='x')
        dense = layers.Dense(2)
        y = dense(x)
        return Model(x, layers.Lambda(
            lambda x, layer: times(x, layer.kernel), output_shape=(3,),
            arguments={'layer': dense})(y))
    assert_faithful(build)
    model = build()
    clone = clone_model(model)
    assert clone.layers[-1].arguments['layer'] is clone.layers[1]
    assert_equal_and_independent(model, clone)


def test_output_shape_of_a_lambda_that_holds_a_layer():
    x = keras.Input((3,), name='x')
    dense = layers.Dense(2)
    y = dense(x)
    model = Model(x, layers.Lambda(
        lambda x: 2 * x, output_shape=lambda shape: (shape[0], dense.units))(y))
    clone = clone_model(model)
    held, = clone.layers[-1]._output_shape.__closure__
    assert held.cell_contents is clone.layers[1]
    assert_equal_and_independent(model, clone)


def test_variable_that_only_a_function_holds():
    variable = keras.Variable([1., 2., 3.])
    model = chain(lambda: layers.Lambda(lambda x: x * variable))()
    clone = clone_model(model)
    variable.assign([0., 0., 0.])
    np.testing.assert_allclose(ops.convert_to_numpy(clone(ONES)), [[1, 2, 3]] * 2)


# User objects


class Keeper(layers.Layer):
    """Holds a user object, and has no config."""

    def __init__(self, helper, **kwargs):
        super().__init__(**kwargs)
        self.helper = helper

    def call(self, inputs):
        return self.helper.score(inputs)


class Doubler:
    def score(self, x):
        return 2 * x


def with_keepers(make, count=1):
    """Returns a model whose last layers hold the same object."""
    x = keras.Input((3,), name='x')
    dense = layers.Dense(3)
    y = dense(x)
    helper = make(dense.kernel)
    for _ in range(count):
        y = Keeper(helper)(y)
    return Model(x, y)


def test_object_passed_to_a_layer():
    model = with_keepers(Scorer)
    clone = clone_model(model)
    assert type(clone.layers[-1].helper) is Scorer
    assert clone.layers[-1].helper is not model.layers[-1].helper
    assert clone.layers[-1].helper.kernel is clone.layers[1].kernel
    assert_equal_and_independent(model, clone)


def test_object_that_two_layers_hold_is_one_object():
    model = with_keepers(Scorer, 2)
    clone = clone_model(model)
    assert clone.layers[-1].helper is clone.layers[-2].helper
    assert clone.layers[-1].helper is not model.layers[-1].helper


def test_object_that_holds_nothing_of_the_model_is_not_copied():
    model = with_keepers(lambda kernel: Doubler())
    clone = clone_model(model)
    assert clone.layers[-1].helper is model.layers[-1].helper
    assert_equal_and_independent(model, clone)


class Holder:
    """Holds a layer that refers back to it."""

    def score(self, x):
        return len(self.children) * x


def test_object_and_layer_that_hold_each_other():
    holder = Holder()
    layer = Keeper(holder)
    holder.children = [layer]
    clone = clone_model(chain(lambda: layer)())
    held = clone.layers[-1]
    assert held.helper is not holder
    assert held.helper.children[0] is held
    assert holder.children == [layer]


class Once:
    """Cannot be copied, because `__new__` requires an argument."""

    def __new__(cls, secret):
        return super().__new__(cls)

    def __init__(self, secret):
        self.kernel = secret

    def score(self, x):
        return times(x, self.kernel)


def test_object_that_holds_a_variable_and_cannot_be_copied_is_refused():
    with pytest.raises(ValueError, match='`Keeper`.*`Once`'):
        clone_model(with_keepers(Once))


def test_object_that_cannot_be_copied_but_holds_nothing_is_reused():
    once = Once(None)
    once.score = lambda x: 2 * x
    clone = clone_model(with_keepers(lambda kernel: once))
    assert clone.layers[-1].helper is once


# Attributes of models


class Branded(Model):
    """A functional class with attributes that the user adds."""


def with_attribute(make):
    """Returns a model with the result of `make` as an attribute, and its clone."""
    x = keras.Input((3,), name='x')
    dense = layers.Dense(2)
    y = dense(x)
    model = Branded(x, layers.Dense(3)(y))
    model.attached = make(dense)
    return model, clone_model(model)


@pytest.mark.parametrize('container', sorted({**CONTAINERS, **UNTRACKED}))
def test_layers_that_a_model_holds_in(container):
    make = {**CONTAINERS, **UNTRACKED}[container]
    model, clone = with_attribute(lambda dense: make(dense, dense))
    assert clone.attached.__class__ is model.attached.__class__
    assert {id(each) for each in flat(clone.attached)} == {id(clone.layers[1])}
    assert len(clone.weights) == len(model.weights)


def test_tensor_that_a_model_holds():
    model, clone = with_attribute(lambda dense: dense.output)
    assert clone.attached is clone.layers[1].output


def test_weight_of_a_layer_that_a_model_holds():
    model, clone = with_attribute(lambda dense: dense.kernel)
    assert clone.attached is clone.layers[1].kernel
    assert len(clone.weights) == len(model.weights)


def test_method_of_a_layer_that_a_model_holds():
    model, clone = with_attribute(lambda dense: dense.call)
    assert clone.attached.__self__ is clone.layers[1]


def test_function_that_a_model_holds():
    model, clone = with_attribute(lambda dense: lambda: dense)
    assert clone.attached() is clone.layers[1]


def test_variable_that_a_model_holds():
    model, clone = with_attribute(lambda dense: keras.Variable([1., 2.]))
    assert clone.attached is not model.attached
    clone.set_weights(model.get_weights())
    np.testing.assert_allclose(ops.convert_to_numpy(clone.attached), [1, 2])
    model.attached.assign([3., 4.])
    np.testing.assert_allclose(ops.convert_to_numpy(clone.attached), [1, 2])


def test_metric_that_a_model_holds():
    model, clone = with_attribute(lambda dense: keras.metrics.Mean(name='seen'))
    clone.attached.update_state([1.])
    np.testing.assert_allclose(float(model.attached.result()), 0)


def test_model_of_the_same_layers_that_a_model_holds():
    model, clone = with_attribute(lambda dense: Model(dense.input, dense.output))
    assert clone.attached is not model.attached
    assert clone.attached.layers[1] is clone.layers[1]
    assert len(clone.weights) == len(model.weights)


def test_layer_outside_of_the_graph():
    def make(dense):
        layer = layers.Dense(5, name='aside')
        layer.build((None, 7))
        return layer
    model, clone = with_attribute(make)
    clone.set_weights(model.get_weights())
    assert clone.attached is not model.attached
    for original, cloned in zip(model.attached.get_weights(),
                                clone.attached.get_weights()):
        np.testing.assert_allclose(cloned, original)


class Autoencoder(Model):
    """A functional class whose `call` uses the models that it holds."""

    def __init__(self, units=2):
        x = keras.Input((3,), name='x')
        encoder, decoder = layers.Dense(units), layers.Dense(3)
        super().__init__(x, decoder(encoder(x)))
        self.parts = (encoder, decoder)
        self.gain = self.add_weight(shape=(), initializer='ones', name='gain')
        self.offset = keras.Variable([1., 2., 3.], name='offset')

    def call(self, inputs):
        return self.gain * self.parts[1](self.parts[0](inputs)) + self.offset


def test_functional_class_that_creates_its_graph_and_its_parts():
    model = Autoencoder(4)
    clone = clone_model(model)
    assert type(clone) is Autoencoder
    assert clone.parts[0] is clone.layers[1]
    assert clone.parts[1] is clone.layers[2]
    assert [w.shape for w in clone.weights] == [w.shape for w in model.weights]
    assert_equal_and_independent(model, clone)


class WithFeatures(Model):
    """A functional class that creates a second model from the same layers."""

    def __init__(self, inputs, outputs, name_of_layer, **kwargs):
        super().__init__(inputs, outputs, **kwargs)
        features = self.get_layer(name_of_layer).output
        self.both = Model(self.inputs, [features, self.output])

    def call(self, inputs):
        features, outputs = self.both(inputs)
        return outputs + ops.mean(features)


def test_second_model_over_the_same_layers():
    x = keras.Input((3,), name='x')
    y = layers.Dense(2, name='features')(x)
    model = WithFeatures(x, layers.Dense(3)(y), 'features')
    clone = clone_model(model)
    assert type(clone) is WithFeatures
    assert clone.both.get_layer('features') is clone.get_layer('features')
    assert len(clone.weights) == len(model.weights)
    assert_equal_and_independent(model, clone)


class ByLayer(layers.Layer):
    """Has dicts keyed by layers and by their ids, and no config."""

    def __init__(self, function, **kwargs):
        super().__init__(**kwargs)
        self.function = function
        self.inner = [layers.Dense(3), layers.Dense(3)]
        self.by_layer = dict(zip(self.inner, (1., 2.)))
        self.by_id = {id(layer): 3. for layer in self.inner}

    def build(self, input_shape):
        for layer in self.inner:
            layer.build(input_shape)

    def call(self, inputs):
        return sum(factor * self.by_id[id(layer)] * self.function(layer.call(inputs))
                   for layer, factor in self.by_layer.items())


def test_copied_layer_with_dicts_keyed_by_layers_and_their_ids():
    model = chain(lambda: ByLayer(lambda x: x))()
    layer, clone = (each.layers[-1] for each in (model, clone_model(model)))
    assert list(clone.by_layer) == clone.inner
    assert list(clone.by_id) == [id(each) for each in clone.inner]
    assert not set(clone.inner) & set(layer.inner)


class LooksItselfUp(layers.Layer):
    """Looks itself up in a class attribute, and has no config."""
    table = {}

    def __init__(self, function, **kwargs):
        super().__init__(**kwargs)
        self.function, self.key = function, 'key'
        LooksItselfUp.table[self.key] = self

    def build(self, input_shape):
        self.factor = self.add_weight(name='factor', shape=(3,))

    def call(self, inputs):
        return self.function(LooksItselfUp.table[self.key].factor * inputs)


def test_layer_registered_in_its_class_is_not_copied(monkeypatch):
    monkeypatch.setattr(LooksItselfUp, 'table', {})
    model = chain(lambda: LooksItselfUp(lambda x: x))()
    with pytest.raises(ValueError,
                       match='`LooksItselfUp` keeps its instances in `table`'):
        clone_model(model)
