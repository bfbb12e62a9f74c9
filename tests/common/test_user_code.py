"""User code that inspects attributes and configs, or uses configs several times.

`get_config`, `from_config` and constructors of the user receive the same objects as
without this package. The released Keras clones most of these models correctly.
"""
import ast
import base64
import collections
import copy
import functools
import hashlib
import inspect
import json
import pickle
import weakref

import numpy as np
import pytest
from keras import activations, initializers, layers, regularizers
from keras.models import Sequential, clone_model, model_from_json
from keras_clone.check.gallery import ops

from custom_objects import Attributes, RaisesIfAsked, Scale, Times
from major_versions import (
    IS_KERAS2, KeepsShape, WithInner, Wrapper, assert_cloned, assert_same_outputs,
    build_inner, call_inner, chain, deserialize, serialize)


def swish(x):
    return x * ops.sigmoid(x)


def halved(x, factor=.5):
    return factor * x


# Code that inspects functions

class Applies(KeepsShape):
    """Applies a function."""

    def __init__(self, function, **kwargs):
        super().__init__(**kwargs)
        self.f = function

    def call(self, inputs):
        return self.f(inputs)


class NamesItsFunction(Applies):
    """Finds its own function by its name."""

    def __init__(self, activation, **kwargs):
        super().__init__(swish if activation == 'swish' else
                         activations.get(activation), **kwargs)

    def get_config(self):
        name = 'swish' if self.f is swish else activations.serialize(self.f)
        return dict(super().get_config(), activation=name)


class ComparesFunctions(Applies):
    """Compares its function with one of Keras."""

    def __init__(self, activation, **kwargs):
        super().__init__(activations.get(activation), **kwargs)
        self.is_relu = self.f is activations.relu

    def call(self, inputs):
        return 3 * self.f(inputs) if self.is_relu else self.f(inputs)

    def get_config(self):
        name = 'relu' if self.is_relu else activations.serialize(self.f)
        return dict(super().get_config(), activation=name)


NAMES = {swish: 'swish', activations.relu: 'relu', ops.tanh: 'tanh'}
FUNCTIONS = {name: function for function, name in NAMES.items()}
FACTORS = {swish: 3., activations.relu: .5, ops.tanh: 2.}


class LooksUpFunction(Applies):
    """Looks up its function in dicts keyed by functions and by their names."""

    def __init__(self, function, **kwargs):
        super().__init__(FUNCTIONS.get(function, function), **kwargs)

    def call(self, inputs):
        return FACTORS[self.f] * self.f(inputs)

    def get_config(self):
        return dict(super().get_config(), function=NAMES[self.f])


class InspectsFunction(Applies):
    """Reads the signature and the name of its function."""

    def __init__(self, function, **kwargs):
        super().__init__(function, **kwargs)
        if not inspect.isfunction(function):
            raise TypeError(f'no function: {function!r}')
        self.count = len(inspect.signature(function).parameters)
        self.tag = function.__name__

    def call(self, inputs):
        return self.count * self.f(inputs) + len(self.tag)

    def get_config(self):
        return dict(super().get_config(), function=self.f)


class ReadsItsOwnConfig(Applies):
    """Creates a layer from its config in `get_config`."""

    def __init__(self, activation, **kwargs):
        super().__init__(activations.get(activation), **kwargs)

    def get_config(self):
        config = dict(super().get_config(), activation=activations.serialize(self.f))
        assert type(self)(**copy.deepcopy(config)).f is self.f
        return config


@pytest.mark.parametrize('make, function', [
    (NamesItsFunction, 'swish'), (NamesItsFunction, 'tanh'),
    (ComparesFunctions, 'relu'), (ComparesFunctions, 'tanh'),
    (LooksUpFunction, 'swish'), (LooksUpFunction, 'relu'),
    (LooksUpFunction, ops.tanh), (InspectsFunction, swish),
    (InspectsFunction, halved), (InspectsFunction, activations.tanh),
    (ReadsItsOwnConfig, 'softplus')],
    ids=lambda value: getattr(value, '__name__', value))
def test_guard_clone_of_a_layer_that_inspects_its_function_is_faithful(
        make, function, assert_faithful):
    assert_faithful(chain(lambda: make(function)))


# Code that inspects layers

class ByClassName(WithInner):
    def call(self, inputs):
        factor = 2 if type(self.inner).__name__ == 'Dense' else 1
        return factor * super().call(inputs)

    def get_config(self):
        return dict(super().get_config(), name_of_class=type(self.inner).__name__,
                    inner=self.inner.get_config())

    @classmethod
    def from_config(cls, config):
        name, inner = config.pop('name_of_class'), config.pop('inner')
        assert type(name) is str and type(inner) is dict
        return cls(getattr(layers, name).from_config(inner), **config)


class ReadsAnotherKey(WithInner):
    def __init__(self, inner, gain=2., **kwargs):
        super().__init__(inner, **kwargs)
        self.gain = gain

    def call(self, inputs):
        return self.gain * super().call(inputs)

    def get_config(self):
        return dict(super().get_config(), gain=self.gain,
                    inner_config=layers.serialize(self.inner))

    @classmethod
    def from_config(cls, config):
        inner = layers.deserialize(config.pop('inner_config'))
        assert 'inner_config' not in config
        return cls(inner=inner, **config)


@pytest.mark.parametrize('make', [
    lambda: layers.Dense(2),
    pytest.param(
        lambda: Sequential([layers.Dense(4, 'relu'), layers.BatchNormalization()]),
        marks=pytest.mark.skipif(IS_KERAS2, reason='Keras 2 tracks no weights')),
], ids=['guard layer', 'model'])
def test_clone_has_a_layer_that_from_config_reads_elsewhere(
        make, assert_faithful):
    assert_faithful(chain(lambda: ReadsAnotherKey(make(), gain=3.)))


class Registered(layers.Layer):
    """Adds itself to a class attribute, which `build` reads."""
    instances = []

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        assert type(self) is Registered
        Registered.instances.append(self)
        self.index = len(Registered.instances) - 1

    def build(self, input_shape):
        assert Registered.instances[self.index] is self
        self.factor = self.add_weight(name='factor', shape=(1,),
                                      initializer='uniform')

    def call(self, inputs):
        return self.factor * inputs


def test_guard_clone_registers_itself_in_a_list(monkeypatch):
    monkeypatch.setattr(Registered, 'instances', [])
    model = chain(Registered)()
    for layer in (model.layers[-1], clone_model(model).layers[-1]):
        assert Registered.instances[layer.index] is layer


# Uses of a config

class AsJson(WithInner):
    def written(self):
        return json.dumps(serialize(self.inner))

    @staticmethod
    def read(text):
        return deserialize(json.loads(text))

    def get_config(self):
        return dict(super().get_config(), inner=self.written())

    @classmethod
    def from_config(cls, config):
        return cls(cls.read(config.pop('inner')), **config)


class AsJsonOfConfig(AsJson):
    dump, load = staticmethod(json.dumps), staticmethod(json.loads)

    def written(self):
        return self.dump(self.inner.get_config())

    @classmethod
    def read(cls, text):
        return layers.Dense.from_config(cls.load(text))


class AsPickle(AsJson):
    def written(self):
        pickled = pickle.dumps((type(self.inner), self.inner.get_config()))
        return base64.b64encode(pickled).decode()

    @staticmethod
    def read(text):
        cls, config = pickle.loads(base64.b64decode(text))
        return cls.from_config(config)


class AsLiteral(AsJsonOfConfig):
    dump, load = staticmethod(repr), staticmethod(ast.literal_eval)


@pytest.mark.parametrize('make', [ByClassName, AsJson, AsJsonOfConfig, AsPickle,
                                  AsLiteral])
def test_guard_clone_has_the_config_of_a_layer_in_another_form(
        make, assert_faithful):
    assert_faithful(chain(lambda: make(layers.Dense(
        2, activation='relu', kernel_regularizer='l2', bias_initializer='ones'))))


@pytest.mark.parametrize('make', [
    lambda: ByClassName(layers.PReLU(alpha_initializer='ones')),
    lambda: AsJson(layers.Bidirectional(layers.SimpleRNN(
        3, return_sequences=True))),
    lambda: ThroughJson(layers.Dense(
        3, activation='relu', kernel_regularizer=regularizers.L1L2(.1, .2))),
    lambda: AsJsonOfModel(chain(
        lambda: layers.Dense(3), lambda: layers.Dense(2), shape=(4, 3))()),
    lambda: DeepCopiesInConfig(layers.Dense(2, activation='relu')),
    lambda: HashesConfig(serialize(layers.Dense(2, name='inner'))),
    lambda: ConfigAsKey('tanh', 4),
    lambda: SameConfigTwice(*[config_of_dense()] * 2),
    lambda: ObjectsInConfig(
        Span(-1, 2), collections.Counter('aab'),
        collections.OrderedDict([('z', 3.), ('a', 5.)]),
        collections.defaultdict(float), Attributes(units=3), Settings()),
], ids=['class name', 'recurrent layer as JSON', 'wrapper through JSON',
        'model as JSON', 'deep copy', 'digest', 'key of a cache',
        'config of two layers', 'objects of other classes'])
def test_guard_clone_has_a_config_that_is_used_as(make, assert_faithful):
    assert_faithful(chain(make, shape=(4, 3)))


class ThroughJson(Wrapper):
    def build(self, input_shape):
        if not self.layer.built:
            self.layer.build(input_shape)
            self.layer.built = True

    call, compute_output_shape = WithInner.call, WithInner.compute_output_shape
    inner = property(lambda self: self.layer)

    def get_config(self):
        return json.loads(json.dumps(super().get_config()))


class AsJsonOfModel(WithInner):
    def get_config(self):
        return {**super().get_config(), 'inner': self.inner.to_json()}

    @classmethod
    def from_config(cls, config):
        return cls(model_from_json(config.pop('inner')), **config)


Span = collections.namedtuple('Span', 'low high')


class Settings:
    def __init__(self, units=4, rates=(.1, .2)):
        self.units, self.rates = units, rates

    def __eq__(self, other):
        return vars(self) == vars(other)

    def __hash__(self):
        return hash((self.units, self.rates))


class ObjectsInConfig(layers.Layer):
    def __init__(self, span, counts, order, table, entries, settings, **kwargs):
        super().__init__(**kwargs)
        assert type(span) is Span
        assert type(counts) is collections.Counter
        assert type(order) is collections.OrderedDict
        assert type(table) is collections.defaultdict
        assert type(settings) is Settings
        self.kept = span, counts, order, table, entries, settings
        self.numbers = [
            span.high, counts.most_common(1)[0][1], next(iter(order.values())),
            table['missing'], entries.units, hash(settings) and settings.rates[0]]

    def call(self, inputs):
        for number in self.numbers:
            inputs = 2 * inputs + number
        return inputs

    def get_config(self):
        span, counts, order, table, entries, settings = self.kept
        return {**super().get_config(), 'span': Span(*span),
                'counts': collections.Counter(dict(counts)),
                'order': collections.OrderedDict(order),
                'table': collections.defaultdict(float, table),
                'entries': Attributes(entries), 'settings': settings}


@functools.lru_cache(maxsize=None)
def number_of(items):
    return float(sum(len(str(value)) for _, value in items))


class ConfigAsKey(Applies):
    def __init__(self, activation, units=3, **kwargs):
        super().__init__(activations.get(activation), **kwargs)
        self.config = {'activation': activation, 'units': units}
        self.factor = number_of(tuple(sorted(self.config.items())))

    def call(self, inputs):
        return self.factor * self.f(inputs)

    def get_config(self):
        return {**super().get_config(), **self.config}


class HashesConfig(WithInner):
    def __init__(self, inner, **kwargs):
        super().__init__(deserialize(inner), **kwargs)
        self.text = json.dumps(inner, sort_keys=True)
        self.factor = float(hashlib.md5(self.text.encode()).digest()[0])

    def call(self, inputs):
        return self.factor * super().call(inputs)

    def get_config(self):
        return dict(super().get_config(), inner=json.loads(self.text))


class KeepsConfig(layers.Layer):
    """Stores the config of an object, of which `from_config` makes a deep copy."""

    def __init__(self, initializer, **kwargs):
        super().__init__(**kwargs)
        self.initializer = initializer

    def build(self, input_shape):
        self.scale = self.add_weight(name='scale', shape=(),
                                     initializer=initializers.get(self.initializer))

    def call(self, inputs):
        return self.scale * inputs

    def get_config(self):
        initializer = initializers.get(self.initializer)
        return {**super().get_config(),
                'initializer': initializers.serialize(initializer)}

    @classmethod
    def from_config(cls, config):
        return cls(**copy.deepcopy(config))


def test_guard_config_that_a_clone_stores_can_be_serialized():
    model = chain(lambda: KeepsConfig(initializers.Constant(3.)))()
    clone = clone_model(clone_model(model))
    np.testing.assert_allclose(clone.get_weights()[0], 3)
    assert json.dumps(clone.get_config()) == json.dumps(model.get_config())
    assert clone.to_json() == model.to_json()


class CountsGetConfig(layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.calls = []

    def call(self, inputs):
        return self.units * inputs

    def get_config(self):
        config = dict(super().get_config(), units=self.units)
        self.calls.append('{units:d} {name:s}'.format(**config))
        return config


def test_guard_clone_of_a_layer_whose_get_config_has_side_effects():
    model = chain(lambda: CountsGetConfig(2, name='logged'))()
    clone = clone_model(model)
    assert clone.layers[-1].units == 2
    assert set(model.layers[-1].calls) == {'2 logged'}
    assert clone.layers[-1].calls is not model.layers[-1].calls


class DeepCopiesInConfig(WithInner):
    def get_config(self):
        return copy.deepcopy(dict(super().get_config(),
                                  inner=layers.serialize(self.inner)))

    @classmethod
    def from_config(cls, config):
        config = copy.deepcopy(config)
        return cls(layers.deserialize(config.pop('inner')), **config)


# Configs that are read several times

class Copies(layers.Layer):
    read = staticmethod(layers.deserialize)

    def __init__(self, config, count=3, **kwargs):
        super().__init__(**kwargs)
        self.config, self.count = config, count
        self.create()

    def create(self):
        self.copies = [self.read(self.config) for _ in range(self.count)]

    def build(self, input_shape):
        build_inner(self, self.copies, input_shape)

    def call(self, inputs):
        return sum((i + 1) * call_inner(layer, inputs)
                   for i, layer in enumerate(self.copies))

    def compute_output_shape(self, input_shape):
        return self.copies[0].compute_output_shape(input_shape)

    def get_config(self):
        return dict(super().get_config(), config=self.config, count=self.count)


class CopiesOfAModel(Copies):
    """The same with a model, whose config is a string."""
    read = staticmethod(model_from_json)


class CopiesInBuild(Copies):
    """Reads the config when it is built."""

    def create(self):
        pass

    def build(self, input_shape):
        super().create()
        super().build(input_shape)


class StackOfCells(layers.RNN):
    """Creates its cells from one config."""

    def __init__(self, config, count=2, **kwargs):
        self.cell_config, self.count = config, count
        cells = [layers.deserialize(config) for _ in range(count)]
        super().__init__(cells, **kwargs)

    def get_config(self):
        config = dict(super().get_config(), config=self.cell_config,
                      count=self.count)
        del config['cell']
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


def config_of_dense():
    return layers.serialize(layers.Dense(2, activation='tanh'))


@pytest.mark.parametrize('cls, make_config', [
    (Copies, config_of_dense), (CopiesInBuild, config_of_dense),
    (CopiesOfAModel, lambda: chain(
        lambda: layers.Dense(2), shape=(4, 3))().to_json()),
    (StackOfCells, lambda: layers.serialize(layers.SimpleRNNCell(2)))],
    ids=['guard layers', 'guard layers in build', 'guard models', 'cells'])
def test_clone_creates_several_layers_from_one_config(
        cls, make_config, assert_faithful):
    config = make_config()
    clone = assert_faithful(chain(lambda: cls(config), shape=(4, 3)))
    assert len(clone.weights) == 6


class CopiesOfALayer(Copies):
    """Its config is that of the first layer."""

    def __init__(self, template, count=3, **kwargs):
        layers.Layer.__init__(self, **kwargs)
        self.count = count
        self.copies = [self.copied(template) for _ in range(count)]

    @staticmethod
    def copied(layer):
        return type(layer).from_config(layer.get_config())

    def get_config(self):
        return dict(layers.Layer.get_config(self), count=self.count,
                    template=layers.serialize(self.copies[0]))

    @classmethod
    def from_config(cls, config):
        return cls(layers.deserialize(config.pop('template')), **config)


class ChangedCopies(CopiesOfALayer):
    @staticmethod
    def copied(layer):
        config = layer.get_config()
        config['activation'] = 'tanh'
        return type(layer).from_config(config)


class DeepCopies(CopiesOfALayer):
    copied = staticmethod(copy.deepcopy)


@pytest.mark.parametrize('make', [CopiesOfALayer, ChangedCopies, DeepCopies])
def test_guard_clone_creates_copies_of_a_layer(make, assert_faithful):
    build = chain(lambda: make(layers.Dense(2)))
    if make is not DeepCopies or IS_KERAS2:
        assert_faithful(build)  # Keras 3 changes a tuple in their config to a list.
    model = build()
    clone = clone_model(model)
    assert len(clone.weights) == 6
    assert_same_outputs(model, clone)


class SameConfigTwice(Copies):
    def __init__(self, first, second, **kwargs):
        layers.Layer.__init__(self, **kwargs)
        self.copies = [self.read(first), self.read(second)]

    def get_config(self):
        config = layers.serialize(self.copies[0])
        return dict(layers.Layer.get_config(self), first=config, second=config)


# The same, with functions and classes that are not registered

@pytest.mark.parametrize('make', [
    lambda: layers.Dense(3, activation=swish), lambda: Scale(2., swish),
    lambda: NamesItsFunction('swish')], ids=['function', 'class', 'both'])
@pytest.mark.parametrize('wrap', [
    AsJson, ReadsAnotherKey, DeepCopiesInConfig, ThroughJson],
    ids=lambda wrap: wrap.__name__)
def test_clone_has_a_custom_object_that_is_not_registered(
        wrap, make, assert_faithful):
    assert_faithful(chain(lambda: wrap(make())))


@pytest.mark.parametrize('make', [
    lambda: Scale(2., 'relu'), lambda: ReadsAnotherKey(layers.Dense(2))],
    ids=['Scale', 'ReadsAnotherKey'])
def test_clone_has_several_layers_of_a_class_that_is_not_registered(
        make, assert_faithful):
    clone = assert_faithful(chain(lambda: CopiesOfALayer(make())))
    assert len({id(each) for each in clone.layers[-1].copies}) == 3


# A method `__call__` of the user

class Shifted(layers.Dense):
    """Computes something before or after Keras's `__call__`."""

    def __init__(self, units=3, where='before', **kwargs):
        super().__init__(units, **kwargs)
        self.where = where

    def __call__(self, inputs, **kwargs):
        shift = layers.Activation('tanh')
        if self.where == 'before':
            return super().__call__(shift(inputs), **kwargs)
        if self.where == 'after':
            return shift(super().__call__(inputs, **kwargs))
        return super().__call__(super().__call__(inputs, **kwargs), **kwargs)

    def get_config(self):
        return {**super().get_config(), 'where': self.where}


@pytest.mark.parametrize('where', ['before', 'after', 'twice'])
def test_what_a_call_method_computes_is_computed_once(where):
    model = chain(lambda: Shifted(where=where))()
    clone = assert_cloned(model)
    assert len(clone.layers) == len(model.layers)


class PassesOn(Times):
    def __call__(self, *args, **kwargs):
        return super().__call__(*args, **kwargs)


def test_guard_layer_with_a_call_method_that_passes_on_its_inputs_is_called_once():
    clone = clone_model(chain(PassesOn)())
    assert len(clone.layers[-1]._inbound_nodes) == 1


# Objects that cannot be inspected


class WithoutSize:
    nbytes = None


class Closed:
    @property
    def nbytes(self):
        raise RuntimeError('The file is closed.')


class OutsideOfItsContext:
    @property
    def __dict__(self):
        raise RuntimeError('There is no context.')


class EmptySlot:
    __slots__ = 'value', '__weakref__'

    def __getattr__(self, name):
        raise KeyError(name)


class RaisesIfCompared:
    __hash__ = None

    def __eq__(self, other):
        raise RuntimeError('These objects cannot be compared.')


class NumberOfLayers(layers.Layer):
    """Has another attribute under the name of one of a model."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.layers = np.array([20, 20, 1])


@pytest.mark.parametrize('make', [
    WithoutSize, Closed, OutsideOfItsContext, EmptySlot, RaisesIfAsked,
    RaisesIfCompared, lambda: np.array([RaisesIfCompared()], object),
    lambda: np.array([np.ones(2), np.ones(3)], object), NumberOfLayers],
    ids=['no size', 'closed file', 'no context', 'empty slot', 'raises if asked',
         'raises if compared', 'array of objects', 'array of arrays', 'layer'])
@pytest.mark.parametrize('container', [lambda each: each, lambda each: [each]],
                         ids=['attribute', 'list'])
def test_guard_clone_has_an_object_that_cannot_be_inspected(make, container):
    class HoldsObject(Times):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.held = container(make())

    model = chain(HoldsObject)()
    clone = clone_model(clone_model(model))
    assert_same_outputs(model, clone)
    assert isinstance(clone.layers[-1].held, type(model.layers[-1].held))


def test_guard_layer_with_a_proxy_of_what_does_not_exist_any_more_is_cloned():
    scale, parent = Scale(2.), WithoutSize()
    scale.parent = weakref.proxy(parent)
    model = chain(lambda: scale)()
    del parent
    assert_same_outputs(model, clone_model(model))


class NotChanged(dict):
    def update(self, *args):
        raise TypeError('It cannot be changed.')


class StandsForAnArray:
    __class__ = np.ndarray

    def __copy__(self):
        raise NotImplementedError('It cannot be copied.')


def nested_deeply():
    return functools.reduce(lambda inner, _: (inner, 0), range(500), ())


@pytest.mark.parametrize('when', ['in the constructor', 'later'])
@pytest.mark.parametrize('make', [
    lambda: [weakref.proxy(WithoutSize())], lambda: NotChanged(a=1),
    StandsForAnArray, nested_deeply],
    ids=['proxy in a list', 'dict', 'stands for another', 'nested deeply'])
def test_guard_layer_with_an_object_that_cannot_be_copied_is_cloned(make, when):
    class HoldsObject(Times):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            if when == 'in the constructor':
                object.__setattr__(self, 'held', make())

    model = chain(HoldsObject)()
    if when == 'later':
        object.__setattr__(model.layers[-1], 'held', make())
    assert_same_outputs(model, clone_model(clone_model(model)))


def test_guard_call_sets_no_attribute_that_another_layer_lacks():
    called, other = layers.Activation('relu'), layers.Activation('relu')
    called(layers.Input((3,)))
    other.build((None, 3))
    assert {*dir(called)} == {*dir(other)}


@pytest.mark.parametrize('wrap', [lambda layer: layer, layers.TimeDistributed],
                         ids=['guard layer', 'layer in a wrapper'])
def test_clone_of_what_the_user_has_corrected_after_a_call_failed(wrap):
    inner = Times(None)
    layer, shape = wrap(inner), (4, 3)
    with pytest.raises((TypeError, ValueError)):
        layer(layers.Input(shape) if IS_KERAS2 else np.ones((2, *shape)))
    inner.factor = 2.
    model = chain(lambda: layer, shape=shape)()
    assert_same_outputs(model, clone_model(model), np.ones((2, *shape), 'float32'))
