"""User code that inspects attributes and configs, or uses configs several times.

`get_config`, `from_config` and constructors of the user receive the same objects as
without this package. The released Keras clones most of these models correctly.
"""
import ast
import base64
import collections
import copy
import dataclasses
import functools
import hashlib
import inspect
import json
import pickle

import keras
import numpy as np
import pytest
from keras import Model, Sequential, activations, layers, ops
from keras.models import clone_model

from custom_objects import Scale, chain, gelu

Span = collections.namedtuple('Span', 'low high')


def halved(x, factor=.5):
    return factor * x


def assert_computes_the_same(model, clone, value=np.ones((2, 3), 'float32')):
    """Checks that the clone computes the same, with its own weights."""
    clone.set_weights(model.get_weights())
    expected = ops.convert_to_numpy(model(value))
    np.testing.assert_allclose(ops.convert_to_numpy(clone(value)), expected,
                               rtol=1e-5)
    model.set_weights([weight + 1 for weight in model.get_weights()])
    np.testing.assert_allclose(ops.convert_to_numpy(clone(value)), expected,
                               rtol=1e-5)


class WithLayer(layers.Layer):
    """Base class of layers that use another layer."""

    def __init__(self, inner, **kwargs):
        super().__init__(**kwargs)
        self.inner = inner

    def build(self, input_shape):
        if not self.inner.built:
            self.inner.build(input_shape)

    def call(self, inputs):
        return self.inner(inputs)

    def compute_output_shape(self, input_shape):
        return self.inner.compute_output_shape(input_shape)


# Code that inspects functions


class ComparesFunctions(layers.Layer):
    """Its config and its `call` depend on the identity of its function."""

    def __init__(self, activation, **kwargs):
        super().__init__(**kwargs)
        self.f = activations.get(activation)
        self.is_relu = self.f is activations.relu

    def call(self, inputs):
        return 3 * self.f(inputs) if self.is_relu else self.f(inputs)

    def get_config(self):
        name = ('relu' if self.f is activations.relu else
                activations.serialize(self.f))
        return {**super().get_config(), 'activation': name}


@pytest.mark.parametrize('activation', ['relu', 'tanh'])
def test_guard_config_that_compares_functions(activation, assert_faithful):
    assert_faithful(chain(lambda: ComparesFunctions(activation)))


class FunctionInConfig(layers.Layer):
    """Its config contains the function itself, one of a few allowed functions."""

    def __init__(self, function=activations.relu, **kwargs):
        super().__init__(**kwargs)
        if function is not activations.relu and function is not activations.gelu:
            raise ValueError(f'unknown function {function!r}')
        self.f = function

    def call(self, inputs):
        return self.f(inputs)

    def get_config(self):
        return {**super().get_config(), 'function': self.f}


def test_guard_function_itself_in_a_config(assert_faithful):
    assert_faithful(chain(lambda: FunctionInConfig(activations.gelu)))


NAMES = {activations.relu: 'relu', activations.tanh: 'tanh'}
KERNELS = {activations.relu: lambda x: ops.relu(x) / 2,
           activations.tanh: lambda x: ops.tanh(x) + 1}


class LooksUpFunction(layers.Layer):
    """Looks up its function in dicts whose keys are functions."""

    def __init__(self, function, **kwargs):
        super().__init__(**kwargs)
        self.f = activations.get(function)

    def call(self, inputs):
        return KERNELS[self.f](inputs)

    def get_config(self):
        return {**super().get_config(), 'function': NAMES[self.f]}


@pytest.mark.parametrize('function', ['relu', 'tanh'])
def test_guard_config_from_a_dict_keyed_by_functions(function, assert_faithful):
    assert_faithful(chain(lambda: LooksUpFunction(function)))


class InspectsFunction(layers.Layer):
    """Inspects the name and the signature of its function."""

    def __init__(self, function, **kwargs):
        super().__init__(**kwargs)
        if not inspect.isfunction(function):
            raise TypeError(f'no function: {function!r}')
        self.f = function
        self.count = len(inspect.signature(function).parameters)

    def call(self, inputs):
        return self.count * self.f(inputs) + len(self.f.__name__)

    def get_config(self):
        return {**super().get_config(), 'function': self.f}


@pytest.mark.parametrize('function', [gelu, halved])
def test_guard_constructor_that_inspects_the_signature_of_its_function(
        function, assert_faithful):
    assert_faithful(chain(lambda: InspectsFunction(function)))


class ReadsItsOwnConfig(layers.Layer):
    """Creates a layer from its config in `get_config`, as a check."""

    def __init__(self, activation, **kwargs):
        super().__init__(**kwargs)
        self.activation = activations.get(activation)

    def call(self, inputs):
        return self.activation(inputs)

    def get_config(self):
        config = {**super().get_config(),
                  'activation': activations.serialize(self.activation)}
        assert type(self)(**copy.deepcopy(config)).activation is self.activation
        return config


def test_guard_get_config_that_creates_a_layer_from_the_config(assert_faithful):
    assert_faithful(chain(lambda: ReadsItsOwnConfig('softplus')))


# Code that inspects layers


class ByClassName(WithLayer):
    """Its config contains the class name of its layer, on which `call` depends."""

    def call(self, inputs):
        outputs = self.inner(inputs)
        return 2 * outputs if type(self.inner).__name__ == 'Dense' else outputs

    def get_config(self):
        return {**super().get_config(), 'name_of_class': type(self.inner).__name__,
                'inner': self.inner.get_config()}

    @classmethod
    def from_config(cls, config):
        config = dict(config)
        inner = getattr(layers, config.pop('name_of_class'))
        return cls(inner.from_config(config.pop('inner')), **config)


@pytest.mark.parametrize('make', [
    lambda: layers.Dense(2, activation='tanh', kernel_regularizer='l2'),
    lambda: layers.LayerNormalization(epsilon=.1)], ids=['Dense', 'normalization'])
def test_guard_config_with_the_class_name_of_a_layer(make, assert_faithful):
    assert_faithful(chain(lambda: ByClassName(make())))


class ReadsAnotherKey(WithLayer):
    """Its `from_config` reads the layer under another key."""

    def get_config(self):
        return {**super().get_config(),
                'inner_config': layers.serialize(self.inner)}

    @classmethod
    def from_config(cls, config):
        inner = layers.deserialize(config.pop('inner_config'))
        assert 'inner_config' not in config
        return cls(inner=inner, **config)


@pytest.mark.parametrize('make', [
    lambda: layers.Dense(2),
    lambda: Sequential([layers.Dense(4, 'relu'), layers.BatchNormalization()]),
], ids=['layer', 'model'])
def test_guard_from_config_that_reads_a_layer_under_another_key(make,
                                                                assert_faithful):
    assert_faithful(chain(lambda: ReadsAnotherKey(make())))


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
        self.factor = self.add_weight(shape=(1,))

    def call(self, inputs):
        return self.factor * inputs


def test_guard_layer_that_registers_itself_in_a_list(monkeypatch):
    monkeypatch.setattr(Registered, 'instances', [])
    model = chain(Registered)()
    clone = clone_model(model)
    for layer in (model.layers[-1], clone.layers[-1]):
        assert Registered.instances[layer.index] is layer


# Uses of a config


class AsJson(WithLayer):
    """Its config contains its layer as a string."""

    def written(self):
        return json.dumps(keras.saving.serialize_keras_object(self.inner))

    @staticmethod
    def read(text):
        return keras.saving.deserialize_keras_object(json.loads(text))

    def get_config(self):
        return {**super().get_config(), 'inner': self.written()}

    @classmethod
    def from_config(cls, config):
        return cls(cls.read(config.pop('inner')), **config)


class AsJsonOfConfig(AsJson):
    def written(self):
        return json.dumps(self.inner.get_config())

    @staticmethod
    def read(text):
        return layers.Dense.from_config(json.loads(text))


class AsPickle(AsJson):
    def written(self):
        pickled = pickle.dumps((type(self.inner), self.inner.get_config()))
        return base64.b64encode(pickled).decode()

    @staticmethod
    def read(text):
        cls, config = pickle.loads(base64.b64decode(text))
        return cls.from_config(config)


class AsLiteral(AsJsonOfConfig):
    def written(self):
        return repr(self.inner.get_config())

    @staticmethod
    def read(text):
        return layers.Dense.from_config(ast.literal_eval(text))


@pytest.mark.parametrize('make', [AsJson, AsJsonOfConfig, AsPickle, AsLiteral])
def test_guard_config_of_a_layer_as_a_string(make, assert_faithful):
    assert_faithful(chain(lambda: make(layers.Dense(
        2, activation='relu', kernel_regularizer='l2', bias_initializer='ones'))))


def test_guard_recurrent_layer_as_json(assert_faithful):
    assert_faithful(chain(lambda: AsJson(layers.Bidirectional(
        layers.GRU(3, return_sequences=True))), shape=(4, 3)))


class WholeModel(WithLayer):
    """Its config contains a model as JSON."""

    def get_config(self):
        return {**super().get_config(), 'inner': self.inner.to_json()}

    @classmethod
    def from_config(cls, config):
        return cls(keras.models.model_from_json(config.pop('inner')), **config)


def test_guard_config_with_a_model_as_json(assert_faithful):
    assert_faithful(chain(lambda: WholeModel(chain(
        lambda: layers.Dense(3), layers.BatchNormalization)())))


class ThroughJson(layers.Wrapper):
    """A wrapper whose config is converted to JSON and back."""

    def call(self, inputs):
        return self.layer(inputs) - 1

    def compute_output_shape(self, input_shape):
        return self.layer.compute_output_shape(input_shape)

    def get_config(self):
        return json.loads(json.dumps(super().get_config()))


def test_guard_wrapper_whose_config_goes_through_json(assert_faithful):
    assert_faithful(chain(lambda: ThroughJson(layers.Dense(
        3, kernel_regularizer=keras.regularizers.L1L2(.1, .2)))))


class HashesConfig(WithLayer):
    """Computes with a hash of a config."""

    def __init__(self, inner, **kwargs):
        super().__init__(keras.saving.deserialize_keras_object(inner), **kwargs)
        self.text = json.dumps(inner, sort_keys=True)
        self.factor = float(hashlib.md5(self.text.encode()).digest()[0])

    def call(self, inputs):
        return self.factor * self.inner(inputs)

    def get_config(self):
        return {**super().get_config(), 'inner': json.loads(self.text)}


def test_guard_digest_of_a_config(assert_faithful):
    config = keras.saving.serialize_keras_object(layers.Dense(2, name='inner'))
    assert_faithful(chain(lambda: HashesConfig(config)))


@functools.lru_cache(maxsize=None)
def number_of(items):
    return float(sum(len(str(value)) for _, value in items))


class ConfigAsKey(layers.Layer):
    """Uses its config as the key of a cache."""

    def __init__(self, activation, units=3, **kwargs):
        super().__init__(**kwargs)
        self.config = {'activation': activation, 'units': units}
        self.factor = number_of(tuple(sorted(self.config.items())))
        self.f = activations.get(activation)

    def call(self, inputs):
        return self.factor * self.f(inputs)

    def get_config(self):
        return {**super().get_config(), **self.config}


def test_guard_config_as_the_key_of_a_cache(assert_faithful):
    assert_faithful(chain(lambda: ConfigAsKey('tanh', 4)))


class CountsGetConfig(layers.Layer):
    """Counts and logs the calls of `get_config`."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.calls = []

    def call(self, inputs):
        return self.units * inputs

    def get_config(self):
        config = {**super().get_config(), 'units': self.units}
        self.calls.append('{units:d} {name:s}'.format(**config))
        return config


def test_guard_config_with_side_effects():
    model = chain(lambda: CountsGetConfig(2, name='logged'))()
    clone = clone_model(model)
    assert clone.layers[-1].units == 2
    assert set(model.layers[-1].calls) == {'2 logged'}
    assert clone.layers[-1].calls is not model.layers[-1].calls


class Attributes(dict):
    """A dict whose items are also attributes."""
    __getattr__ = dict.__getitem__


@dataclasses.dataclass(frozen=True)
class Settings:
    units: int = 4
    rates: tuple = (.1, .2)


class ObjectsInConfig(layers.Layer):
    """Its config has objects of several classes, which it checks."""

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


def test_guard_classes_of_the_objects_in_a_config(assert_faithful):
    assert_faithful(chain(lambda: ObjectsInConfig(
        Span(-1, 2), collections.Counter('aab'),
        collections.OrderedDict([('z', 3.), ('a', 5.)]),
        collections.defaultdict(float), Attributes(units=3), Settings())))


class DeepCopiesInConfig(WithLayer):
    """Deep-copies the config of its layer in `get_config` and `from_config`."""

    def get_config(self):
        return copy.deepcopy({**super().get_config(),
                              'inner': layers.serialize(self.inner)})

    @classmethod
    def from_config(cls, config):
        config = copy.deepcopy(config)
        return cls(layers.deserialize(config.pop('inner')), **config)


def test_guard_config_that_is_deep_copied(assert_faithful):
    assert_faithful(chain(lambda: DeepCopiesInConfig(layers.Dense(2, 'relu'))))


class Target(Model):
    """Takes a network and copies it, as a target network."""

    def __init__(self, online, copied=copy.deepcopy, **kwargs):
        super().__init__(**kwargs)
        self.online = online
        self.target = copied(online)
        self.target.trainable = False

    def call(self, inputs):
        return self.online(inputs) - self.target(inputs)

    def get_config(self):
        return {'online': keras.saving.serialize_keras_object(self.online),
                'name': self.name}

    @classmethod
    def from_config(cls, config):
        online = keras.saving.deserialize_keras_object(config.pop('online'))
        return cls(online, **config)


@pytest.mark.parametrize('copied', [copy.deepcopy, clone_model])
def test_guard_model_that_copies_another_one(copied):
    class TargetWithCopy(Target):
        def __init__(self, online, **kwargs):
            super().__init__(online, copied, **kwargs)

    model = TargetWithCopy(Sequential([keras.Input((3,)), layers.Dense(2)]))
    value = np.ones((2, 3), 'float32')
    model(value)
    clone = clone_model(model)
    clone(value)
    assert len(clone.weights) == 4
    assert len(clone.trainable_weights) == 2
    assert_computes_the_same(model, clone)


# Configs that are read several times


class Copies(layers.Layer):
    """Creates several layers from one config."""

    def __init__(self, config, count=3, **kwargs):
        super().__init__(**kwargs)
        self.config, self.count = config, count
        self.copies = [layers.deserialize(config) for _ in range(count)]

    def build(self, input_shape):
        for each in self.copies:
            if not each.built:
                each.build(input_shape)

    def call(self, inputs):
        return ops.concatenate([each(inputs) for each in self.copies])

    def get_config(self):
        return {**super().get_config(), 'config': self.config, 'count': self.count}


def test_guard_several_layers_from_one_config(assert_faithful):
    config = layers.serialize(layers.Dense(2, activation='tanh'))
    assert_faithful(chain(lambda: Copies(config)))
    assert len(clone_model(chain(lambda: Copies(config))()).weights) == 6


class CopiesOfALayer(Copies):
    """The same; its config is that of the first layer."""

    def __init__(self, template, count=3, **kwargs):
        layers.Layer.__init__(self, **kwargs)
        self.count = count
        self.copies = [type(template).from_config(template.get_config())
                       for _ in range(count)]

    def get_config(self):
        return {**layers.Layer.get_config(self), 'count': self.count,
                'template': layers.serialize(self.copies[0])}

    @classmethod
    def from_config(cls, config):
        return cls(layers.deserialize(config.pop('template')), **config)


def test_guard_several_layers_from_the_config_of_a_layer(assert_faithful):
    assert_faithful(chain(lambda: CopiesOfALayer(layers.Dense(2))))
    model = chain(lambda: CopiesOfALayer(layers.Dense(2)))()
    assert len(clone_model(model).weights) == 6


class DeepCopies(CopiesOfALayer):
    def __init__(self, template, count=3, **kwargs):
        layers.Layer.__init__(self, **kwargs)
        self.count = count
        self.copies = [copy.deepcopy(template) for _ in range(count)]


def test_guard_deep_copies_of_a_layer():
    model = chain(lambda: DeepCopies(layers.Dense(2)))()
    clone = clone_model(model)
    assert len(clone.weights) == 6
    assert_computes_the_same(model, clone)


class SameConfigTwice(layers.Layer):
    """Its config has the same dict under two keys, for two layers."""

    def __init__(self, first, second, **kwargs):
        super().__init__(**kwargs)
        self.first, self.second = map(layers.deserialize, (first, second))

    def build(self, input_shape):
        for each in (self.first, self.second):
            if not each.built:
                each.build(input_shape)

    def call(self, inputs):
        return self.first(inputs) - self.second(inputs)

    def get_config(self):
        config = layers.serialize(self.first)
        return {**super().get_config(), 'first': config, 'second': config}


def test_guard_one_config_of_two_layers(assert_faithful):
    config = layers.serialize(layers.Dense(2, name='inner'))
    assert_faithful(chain(lambda: SameConfigTwice(config, config)))


class Ensemble(layers.Layer):
    """Creates several models from one JSON string."""

    def __init__(self, text, **kwargs):
        super().__init__(**kwargs)
        self.text = text
        self.models = [keras.models.model_from_json(text) for _ in range(2)]

    def call(self, inputs, training=None):
        first, second = (each(inputs, training=training) for each in self.models)
        return first - second

    def get_config(self):
        return {**super().get_config(), 'text': self.text}


def test_guard_several_models_from_one_string(assert_faithful):
    text = chain(lambda: layers.Dense(3), layers.BatchNormalization)().to_json()
    assert_faithful(chain(lambda: Ensemble(text)))


class CreatesLayersInBuild(layers.Layer):
    """Creates several layers from one config in `build`."""

    def __init__(self, config, **kwargs):
        super().__init__(**kwargs)
        self.config = config

    def build(self, input_shape):
        self.blocks = []
        for i in range(2):
            config = copy.deepcopy(self.config)
            config['config']['name'] = f'block_{i}'
            self.blocks.append(layers.deserialize(config))
            self.blocks[-1].build(input_shape)
        self.gate = layers.deserialize(self.config)
        self.gate.build(input_shape)

    def call(self, inputs):
        return (self.blocks[0](inputs) + self.blocks[1](inputs)) * self.gate(inputs)

    def get_config(self):
        return {**super().get_config(), 'config': self.config}


def test_guard_config_that_is_read_in_build(assert_faithful):
    config = layers.serialize(layers.Dense(3, 'tanh'))
    build = chain(lambda: CreatesLayersInBuild(config))
    assert_faithful(build)
    assert len(clone_model(build()).weights) == 6


# The same, with functions and classes that are not registered


@pytest.mark.parametrize('make', [
    lambda: layers.Dense(3, activation=gelu), lambda: Scale(2., gelu)],
    ids=['function', 'class'])
@pytest.mark.parametrize('wrap', [
    AsJson, ReadsAnotherKey, DeepCopiesInConfig, ThroughJson],
    ids=lambda wrap: wrap.__name__)
def test_custom_object_that_is_not_registered(wrap, make, assert_faithful):
    assert_faithful(chain(lambda: wrap(make())))


def test_several_layers_of_a_class_that_is_not_registered():
    model = chain(lambda: CopiesOfALayer(Scale(2., 'gelu')))()
    clone = clone_model(model)
    assert len(clone.weights) == 3
    assert len({id(each) for each in clone.layers[-1].copies}) == 3
    assert_computes_the_same(model, clone)


def test_subclassed_model_that_copies_one_with_a_lambda():
    model = Target(Sequential([keras.Input((3,)), layers.Lambda(lambda x: 2 * x),
                               layers.Dense(2)]), clone_model)
    value = np.ones((2, 3), 'float32')
    model(value)
    clone = clone_model(model)
    clone(value)
    assert clone.target is not model.target
    assert_computes_the_same(model, clone)
