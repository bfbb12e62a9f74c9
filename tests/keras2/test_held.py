"""References to layers, weights and tensors are replaced wherever they are held.

Containers, closures and user objects of the clone refer to the layers, weights and
tensors of the clone, not to those of the original.
"""
import collections
import functools

import numpy as np
import pytest
from keras import backend as K
from keras.layers import Dense, Embedding, Input, Lambda, Layer
from keras.models import Model, clone_model

Pair = collections.namedtuple('Pair', 'first second')


class Stack(list):
    """A user-defined list class."""


def chain(*makers):
    """Returns a function that builds a functional model of new layers."""
    def build():
        x = inputs = Input((3,))
        for make_layer in makers:
            x = make_layer()(x)
        return Model(inputs, x)
    return build


def assert_equal_and_independent(model, clone, value=np.ones((2, 3))):
    """Checks that the clone computes the same, with its own weights."""
    clone.set_weights(model.get_weights())
    expected = model.predict(value)
    np.testing.assert_allclose(clone.predict(value), expected, rtol=1e-5)
    model.set_weights([weight + 1 for weight in model.get_weights()])
    assert not np.allclose(model.predict(value), expected)
    np.testing.assert_allclose(clone.predict(value), expected, rtol=1e-5)


def flat(held):
    """Returns the items of nested containers as a list."""
    if isinstance(held, dict):
        held = list(held.values())
    if isinstance(held, (list, tuple, set, frozenset, collections.deque)):
        return [each for part in held for each in flat(part)]
    return [held]


# Containers of layers


class GivenLayers(Layer):
    """Takes layers in a container, and has no config."""

    def __init__(self, held, **kwargs):
        super().__init__(**kwargs)
        self.held = held

    def build(self, input_shape):
        for layer in flat(self.held):
            layer.build(input_shape)
            self._trainable_weights += layer.trainable_weights
        super().build(input_shape)

    def call(self, inputs):
        return sum(layer.call(inputs) for layer in flat(self.held))


class CreatesLayers(GivenLayers):
    """Creates its layers in a container of a given type."""

    def __init__(self, container, **kwargs):
        Layer.__init__(self, **kwargs)
        self.container = container
        self.held = CONTAINERS[container](Dense(3, name='a'), Dense(3, name='b'))

    def get_config(self):
        return dict(super().get_config(), container=self.container)


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
    'tuple in a list': lambda a, b: [(a,), (b,)],
    'dict in a tuple': lambda a, b: ({'a': a}, Pair(b, None)[:1]),
}


@pytest.mark.parametrize('container', sorted(CONTAINERS))
def test_layers_passed_to_a_layer_in(container, assert_faithful):
    def build():
        held = CONTAINERS[container](Dense(3, name='a'), Dense(3, name='b'))
        return chain(lambda: GivenLayers(held))()
    assert_faithful(build)
    model = build()
    clone = clone_model(model)
    held, cloned = model.layers[-1].held, clone.layers[-1].held
    assert cloned.__class__ is held.__class__
    assert [each.name for each in flat(cloned)] == [each.name for each in flat(held)]
    assert not set(flat(held)) & set(flat(cloned))
    assert_equal_and_independent(model, clone)


@pytest.mark.parametrize('container', sorted(CONTAINERS))
def test_guard_layers_created_by_a_layer_in(container, assert_faithful):
    assert_faithful(chain(lambda: CreatesLayers(container)))
    model = chain(lambda: CreatesLayers(container))()
    clone = clone_model(model)
    assert clone.layers[-1].held.__class__ is model.layers[-1].held.__class__
    assert not set(flat(model.layers[-1].held)) & set(flat(clone.layers[-1].held))
    assert_equal_and_independent(model, clone)


def test_factory_of_a_default_dict_is_kept():
    held = CONTAINERS['default dict'](Dense(3), Dense(3))
    clone = clone_model(chain(lambda: GivenLayers(held))())
    assert clone.layers[-1].held['another'] == []


class Aliased(Layer):
    """Holds the same layer in two attributes and in a list."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.first = Dense(3)
        self.every = [self.first, Dense(3)]
        self.last = self.every[1]

    def build(self, input_shape):
        for layer in self.every:
            layer.build(input_shape)
        self._trainable_weights = [w for each in self.every for w in each.weights]
        super().build(input_shape)

    def call(self, inputs):
        return self.last.call(self.first.call(inputs)) + self.every[0].call(inputs)


def test_guard_layer_under_two_names():
    model = chain(Aliased)()
    clone = clone_model(model)
    assert clone.layers[-1].first is clone.layers[-1].every[0]
    assert clone.layers[-1].last is clone.layers[-1].every[1]
    assert_equal_and_independent(model, clone)


class KeyedById(Layer):
    """Has a dict whose keys are the ids of its layers."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.pair = [Dense(3), Dense(3)]
        self.factors = {id(self.pair[0]): .5, id(self.pair[1]): 2.}

    def build(self, input_shape):
        for layer in self.pair:
            layer.build(input_shape)
        self._trainable_weights = [w for each in self.pair for w in each.weights]
        super().build(input_shape)

    def call(self, inputs):
        return sum(self.factors[id(layer)] * layer.call(inputs)
                   for layer in self.pair)


def test_guard_ids_of_layers_as_keys():
    model = chain(KeyedById)()
    clone = clone_model(model)
    assert set(clone.layers[-1].factors) == set(map(id, clone.layers[-1].pair))
    assert_equal_and_independent(model, clone)


class CreatesLayersInBuild(Layer):
    """Creates its layers in `build`."""

    inner = None

    def build(self, input_shape):
        if self.inner is None:
            self.inner = (Dense(4, name='up'), Dense(3, name='down'))
        shapes = [input_shape, (input_shape[0], 4)]
        for layer, shape in zip(self.inner, shapes):
            layer.build(shape)
            self._trainable_weights += layer.trainable_weights
        super().build(input_shape)

    def call(self, inputs):
        return self.inner[1].call(self.inner[0].call(inputs))


def test_guard_layers_created_in_build(assert_faithful):
    def build():
        x = Input((3,))
        layer = CreatesLayersInBuild()
        return Model(x, layer(layer(x)))
    assert_faithful(build)
    model = build()
    assert_equal_and_independent(model, clone_model(model))


class CreatesSetInBuild(Layer):
    """Creates a set of layers in `build`."""

    def build(self, input_shape):
        self.inner = {Dense(3, name=f'inner_{i}') for i in (9, 10)}
        for layer in self.inner:
            layer.build(input_shape)
        super().build(input_shape)

    @property
    def trainable_weights(self):
        return [weight for layer in sorted(self.inner, key=lambda each: each.name)
                for weight in layer.trainable_weights]

    def call(self, inputs):
        one, other = sorted(self.inner, key=lambda layer: layer.name)
        return one.call(inputs) - other.call(inputs)


def test_guard_set_of_layers_created_in_build(assert_faithful):
    assert_faithful(chain(CreatesSetInBuild))


class CreatesWeightInFirstCall(Layer):
    """Creates its weight when it is called for the first time."""

    kernel = None

    def call(self, inputs):
        if self.kernel is None:
            self.kernel = self.add_weight('kernel', (3,), initializer='uniform')
        return self.kernel * inputs


def test_guard_weight_created_in_the_first_call(assert_faithful):
    def build():
        x = Input((3,))
        layer = CreatesWeightInFirstCall()
        return Model(x, layer(layer(x)))
    assert_faithful(build)
    model = build()
    assert_equal_and_independent(model, clone_model(model))


# References to other layers of the model and their weights


class Tied(Layer):
    """Computes with the kernel of another layer."""

    def __init__(self, other, **kwargs):
        super().__init__(**kwargs)
        self.other = other

    def kernel(self):
        return flat(self.other)[0].kernel

    def call(self, inputs):
        return K.dot(inputs, K.transpose(self.kernel()))

    def compute_output_shape(self, input_shape):
        return input_shape[:-1] + K.int_shape(self.kernel())[:1]


class TiedToKernel(Tied):
    """Holds the kernel itself."""

    def kernel(self):
        return self.other


@pytest.mark.parametrize('tie', [
    Tied,
    lambda dense: Tied([dense]),
    lambda dense: Tied((dense,)),
    lambda dense: Tied({dense}),
    lambda dense: TiedToKernel(dense.kernel),
], ids=['layer', 'list', 'tuple', 'set', 'kernel'])
def test_layer_tied_to_another(tie, assert_faithful):
    def build():
        x = Input((3,))
        dense = Dense(2)
        y = dense(x)
        return Model(x, tie(dense)(y))
    assert_faithful(build)
    model = build()
    assert_equal_and_independent(model, clone_model(model))


class TiedDense(Dense):
    """Its config, that of `Dense`, does not contain the layer that it is tied to."""

    def __init__(self, units, tied_to=None, **kwargs):
        super().__init__(units, **kwargs)
        self.tied_to = tied_to

    def build(self, input_shape):
        self.kernel = K.transpose(self.tied_to.kernel)
        self.bias = self.add_weight('bias', (self.units,), initializer='zeros')
        self.built = True


def test_tied_layer_whose_config_lacks_the_other_layer(assert_faithful):
    def build():
        x = Input((3,))
        dense = Dense(2)
        y = dense(x)
        return Model(x, TiedDense(3, tied_to=dense)(y))
    assert_faithful(build)
    model = build()
    clone = clone_model(model)
    assert clone.layers[-1].tied_to is clone.layers[1]
    assert_equal_and_independent(model, clone)


class OwnActivation(Layer):
    """Passes one of its methods to the layer that it creates."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = Dense(3, activation=self.squash)

    def build(self, input_shape):
        self.slope = self.add_weight('slope', (3,), initializer='ones')
        self.dense.build(input_shape)
        self._trainable_weights += self.dense.trainable_weights
        super().build(input_shape)

    def squash(self, x):
        return self.slope * x

    def call(self, inputs):
        return self.dense.call(inputs)


def test_guard_layer_that_holds_a_method_of_its_parent():
    model = chain(OwnActivation)()
    clone = clone_model(model)
    assert clone.layers[-1].dense.activation.__self__ is clone.layers[-1]
    assert_equal_and_independent(model, clone)


class PullTo:
    """A regularizer that pulls a kernel to that of another layer."""

    def __init__(self, layer):
        self.layer = layer

    def __call__(self, weight):
        return K.sum(K.square(weight - self.layer.kernel))


def test_regularizer_that_holds_a_layer():
    x = Input((3,))
    anchor = Dense(3)
    y = anchor(x)
    model = Model(x, Dense(3, kernel_regularizer=PullTo(anchor))(y))
    clone = clone_model(model)
    assert clone.layers[-1].kernel_regularizer.layer is clone.layers[1]
    clone.set_weights(model.get_weights())
    expected = K.eval(model.losses[0])
    np.testing.assert_allclose(K.eval(clone.losses[0]), expected, rtol=1e-5)
    anchor.set_weights([weight + 1 for weight in anchor.get_weights()])
    np.testing.assert_allclose(K.eval(clone.losses[0]), expected, rtol=1e-5)


# Functions


def times(x, kernel):
    return K.dot(x, K.transpose(kernel))


def in_a_closure(kernel):
    return lambda x: times(x, kernel)


def in_a_default(kernel):
    return lambda x, kernel=kernel: times(x, kernel)


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


HOLDING = pytest.mark.parametrize('holding', [
    in_a_closure, in_a_default, in_a_partial, in_a_tuple, in_another_function,
    in_an_attribute, in_a_global, in_an_object, in_an_object_that_is_called,
    in_an_object_with_slots, in_an_object_of_an_object],
    ids=lambda holding: holding.__name__)


def tied_model(holding):
    """Returns a function that builds a model with tied weights."""
    def build():
        x = Input((3,))
        dense = Dense(2)
        y = dense(x)
        return Model(x, Lambda(holding(dense.kernel), output_shape=(3,))(y))
    return build


@HOLDING
def test_lambda_that_holds_a_weight(holding, assert_faithful):
    assert_faithful(tied_model(holding))
    model = tied_model(holding)()
    assert_equal_and_independent(model, clone_model(model))


@HOLDING
def test_activation_that_holds_a_weight(holding):
    x = Input((3,))
    dense = Dense(2, use_bias=False)
    y = dense(x)
    model = Model(x, Dense(2, activation=lambda x, f=holding(dense.kernel): f(x))(y))
    assert_equal_and_independent(model, clone_model(model))


@pytest.mark.once
def test_lambda_that_holds_a_tensor_computed_from_a_weight(assert_faithful):
    def build():
        x = Input((3,))
        dense = Dense(2)
        y = dense(x)
        kernel = K.transpose(dense.kernel)
        return Model(x, Lambda(lambda x: K.dot(x, kernel), output_shape=(3,))(y))
    assert_faithful(build)
    model = build()
    assert_equal_and_independent(model, clone_model(model))


class CreatesLayerInBuild(Layer):
    """Creates its layer in `build`; its weights are those of that layer."""

    def build(self, input_shape):
        self.inner = [Dense(3, name='inner')]
        super().build(input_shape)

    @property
    def trainable_weights(self):
        return self.inner[0].trainable_weights

    def call(self, inputs):
        return self.inner[0](inputs)


def test_lambda_tied_to_a_layer_created_in_build_of_another(assert_faithful):
    def build():
        x = Input((3,))
        asking = CreatesLayerInBuild()
        y = asking(x)
        kernel = asking.inner[0].kernel
        return Model(x, Lambda(lambda x: K.dot(x, kernel), output_shape=(3,))(y))
    assert_faithful(build)


def test_lambda_that_reads_a_weight_of_a_layer_it_holds(assert_faithful):
    def build():
        x = Input((4,), dtype='int32')
        embedding = Embedding(5, 3)
        y = embedding(x)
        return Model(x, Lambda(
            lambda x: K.softmax(K.dot(x, K.transpose(embedding.embeddings))),
            output_shape=(4, 5))(y))
    assert_faithful(build)
    model = build()
    value = np.array([[1, 2, 3, 4], [0, 1, 0, 2]])
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    expected = model.predict(value)
    model.set_weights([0 * weight for weight in model.get_weights()])
    np.testing.assert_allclose(clone.predict(value), expected, rtol=1e-5)


def times_kernel_of(x, layer):
    return times(x, layer.kernel)


def test_arguments_of_a_lambda_that_hold_a_layer(assert_faithful):
    def build():
        x = Input((3,))
        dense = Dense(2)
        y = dense(x)
        return Model(x, Lambda(times_kernel_of, output_shape=(3,),
                               arguments={'layer': dense})(y))
    assert_faithful(build)
    model = build()
    clone = clone_model(model)
    assert clone.layers[-1].arguments['layer'] is clone.layers[1]
    assert_equal_and_independent(model, clone)


def test_output_shape_of_a_lambda_that_holds_a_layer():
    dense = Dense(2)
    x = Input((3,))
    y = dense(x)
    model = Model(x, Lambda(lambda x: 2 * x, output_shape=lambda shape: (
        shape[0], dense.units))(y))
    clone = clone_model(model)
    held, = clone.layers[-1]._output_shape.__closure__
    assert held.cell_contents is clone.layers[1]
    assert_equal_and_independent(model, clone)


# User objects


class Keeper(Layer):
    """Holds a user object, and has no config."""

    def __init__(self, helper, **kwargs):
        super().__init__(**kwargs)
        self.helper = helper

    def call(self, inputs):
        return self.helper.score(inputs)

    def compute_output_shape(self, input_shape):
        return input_shape[0], 3


class Doubler:
    def score(self, x):
        return 2 * x


def test_object_passed_to_a_layer():
    x = Input((3,))
    dense = Dense(2)
    y = dense(x)
    model = Model(x, Keeper(Scorer(dense.kernel))(y))
    clone = clone_model(model)
    assert type(clone.layers[-1].helper) is Scorer
    assert clone.layers[-1].helper is not model.layers[-1].helper
    assert_equal_and_independent(model, clone)


def test_object_that_holds_nothing_of_the_model_is_not_copied():
    model = chain(lambda: Dense(3), lambda: Keeper(Doubler()))()
    clone = clone_model(model)
    assert clone.layers[-1].helper is model.layers[-1].helper
    assert_equal_and_independent(model, clone)


def test_object_that_two_layers_hold_is_one_object():
    x = Input((3,))
    dense = Dense(3)
    scorer = Scorer(None)
    y = dense(x)
    scorer.kernel = dense.kernel
    clone = clone_model(Model(x, Keeper(scorer)(Keeper(scorer)(y))))
    first, second = clone.layers[-2:]
    assert first.helper is second.helper
    assert first.helper is not scorer


class Parent:
    """Holds a layer that refers back to it."""

    def score(self, x):
        return len(self.children) * x


def test_object_and_layer_that_hold_each_other():
    parent = Parent()
    layer = Keeper(parent)
    parent.children = [layer]
    model = chain(lambda: Dense(3), lambda: layer)()
    clone = clone_model(model)
    held = clone.layers[-1]
    assert held.helper is not parent
    assert held.helper.children[0] is held
    assert parent.children == [layer]
    assert_equal_and_independent(model, clone)


class Once:
    """Cannot be copied, because `__new__` requires an argument."""

    def __new__(cls, secret):
        return super().__new__(cls)

    def __init__(self, secret):
        self.kernel = secret

    def score(self, x):
        return times(x, self.kernel)


def test_object_that_holds_a_weight_and_cannot_be_copied_is_refused():
    x = Input((3,))
    dense = Dense(2)
    y = dense(x)
    model = Model(x, Keeper(Once(dense.kernel), name='keeper')(y))
    with pytest.raises(ValueError, match='keeper.*`Once`'):
        clone_model(model)


def test_object_that_cannot_be_copied_but_holds_nothing_is_reused():
    once = Once(None)
    once.score = lambda x: 2 * x
    clone = clone_model(chain(lambda: Keeper(once))())
    assert clone.layers[-1].helper is once


# Attributes of models


class Branded(Model):
    """A model class with attributes that the user adds."""


def with_attribute(make):
    """Returns a model with the result of `make` as an attribute, and its clone."""
    x = Input((3,))
    dense = Dense(2)
    y = dense(x)
    model = Branded(x, Dense(3)(y))
    model.attached = make(dense)
    return model, clone_model(model)


@pytest.mark.parametrize('container', sorted(CONTAINERS))
def test_layers_that_a_model_holds_in(container):
    model, clone = with_attribute(
        lambda dense: CONTAINERS[container](dense, dense))
    assert clone.attached.__class__ is model.attached.__class__
    assert set(flat(clone.attached)) == {clone.layers[1]}


def test_tensor_that_a_model_holds():
    model, clone = with_attribute(lambda dense: dense.output)
    assert clone.attached is clone.layers[1].output


def test_weight_that_a_model_holds():
    model, clone = with_attribute(lambda dense: dense.kernel)
    assert clone.attached is clone.layers[1].kernel


def test_method_of_a_layer_that_a_model_holds():
    model, clone = with_attribute(lambda dense: dense.call)
    assert clone.attached.__self__ is clone.layers[1]


def test_function_that_a_model_holds():
    model, clone = with_attribute(lambda dense: lambda: dense)
    assert clone.attached() is clone.layers[1]


def test_variable_that_a_model_holds():
    model, clone = with_attribute(lambda dense: K.variable(3.))
    assert clone.attached is not model.attached
    np.testing.assert_allclose(K.get_value(clone.attached), 3)
    K.set_value(model.attached, 5.)
    np.testing.assert_allclose(K.get_value(clone.attached), 3)


def test_model_of_the_same_layers_that_a_model_holds():
    model, clone = with_attribute(lambda dense: Model(dense.input, dense.output))
    assert clone.attached is not model.attached
    assert clone.attached.layers[1] is clone.layers[1]
    assert clone.attached.outputs[0] is clone.layers[1].output


def test_layer_outside_of_the_graph():
    def make(dense):
        layer = Dense(5, name='aside')
        layer.build((None, 7))
        return layer
    model, clone = with_attribute(make)
    assert clone.attached is not model.attached
    for original, cloned in zip(model.attached.get_weights(),
                                clone.attached.get_weights()):
        np.testing.assert_allclose(cloned, original)


class ByLayer(Layer):
    """Has dicts keyed by layers and by their ids, and no config."""

    def __init__(self, function, **kwargs):
        super().__init__(**kwargs)
        self.function = function
        self.inner = [Dense(3), Dense(3)]
        self.by_layer = dict(zip(self.inner, (1., 2.)))
        self.by_id = {id(layer): 3. for layer in self.inner}

    def build(self, input_shape):
        for layer in self.inner:
            layer.build(input_shape)
        super().build(input_shape)

    def call(self, inputs):
        return sum(factor * self.by_id[id(layer)] * self.function(layer.call(inputs))
                   for layer, factor in self.by_layer.items())


def test_copied_layer_with_dicts_keyed_by_layers_and_their_ids():
    model = chain(lambda: ByLayer(lambda x: x))()
    layer, clone = (each.layers[-1] for each in (model, clone_model(model)))
    assert list(clone.by_layer) == clone.inner
    assert list(clone.by_id) == [id(each) for each in clone.inner]
    assert not set(clone.inner) & set(layer.inner)


class LooksItselfUp(Layer):
    """Looks itself up in a class attribute, and has no config."""
    table = {}

    def __init__(self, function, **kwargs):
        super().__init__(**kwargs)
        self.function, self.key = function, 'key'
        LooksItselfUp.table[self.key] = self

    def build(self, input_shape):
        self.factor = self.add_weight('factor', (3,), initializer='uniform')
        super().build(input_shape)

    def call(self, inputs):
        return self.function(LooksItselfUp.table[self.key].factor * inputs)


def test_layer_registered_in_its_class_is_not_copied(monkeypatch):
    monkeypatch.setattr(LooksItselfUp, 'table', {})
    model = chain(lambda: LooksItselfUp(lambda x: x))()
    with pytest.raises(ValueError,
                       match='`LooksItselfUp` keeps its instances in `table`'):
        clone_model(model)
