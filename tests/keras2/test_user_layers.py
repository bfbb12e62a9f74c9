"""User code that inspects attributes and configs, or uses configs several times.

`get_config`, `from_config` and constructors of the user receive the same objects as
without this package. The released Keras clones most of these models correctly.
"""
import base64
import collections
import copy
import hashlib
import inspect
import json
import pickle

import numpy as np
import pytest
from keras import activations, layers
from keras import backend as K
from keras.layers import (RNN, Dense, Input, Lambda, Layer, Reshape, SimpleRNN,
                          SimpleRNNCell)
from keras.layers.wrappers import Wrapper
from keras.models import Model, clone_model, model_from_json

Span = collections.namedtuple('Span', 'low high')


def swish(x):
    return x * K.sigmoid(x)


def halved(x, factor=.5):
    return factor * x


def chain(*makers, shape=(3,)):
    """Returns a function that builds a functional model of new layers."""
    def build():
        x = inputs = Input(shape)
        for make_layer in makers:
            x = make_layer()(x)
        return Model(inputs, x)
    return build


def assert_computes_the_same(model, clone, *shape):
    """Checks that the clone computes the same, with its own weights."""
    values = [np.full((2,) + shape, i + 1.) for i, _ in enumerate(model.inputs)]
    clone.set_weights(model.get_weights())
    expected = model.predict(values)
    np.testing.assert_allclose(clone.predict(values), expected, rtol=1e-5)
    model.set_weights([weight + 1 for weight in model.get_weights()])
    np.testing.assert_allclose(clone.predict(values), expected, rtol=1e-5)


class WithLayers(Layer):
    """Base class of layers that use other layers."""

    def held(self):
        return [self.inner]

    def build(self, input_shape):
        for layer in self.held():
            layer.build(input_shape)
            layer.built = True
            self._trainable_weights += layer.trainable_weights
        super().build(input_shape)

    def call(self, inputs):
        return sum(layer.call(inputs) for layer in self.held())

    def compute_output_shape(self, input_shape):
        return self.held()[0].compute_output_shape(input_shape)


# Code that inspects functions


class NamesItsFunction(Layer):
    """Its config has a custom name for its function."""

    def __init__(self, activation, **kwargs):
        super().__init__(**kwargs)
        self.f = swish if activation == 'swish' else activations.get(activation)

    def call(self, inputs):
        return self.f(inputs)

    def get_config(self):
        name = 'swish' if self.f is swish else activations.serialize(self.f)
        return dict(super().get_config(), activation=name)


@pytest.mark.parametrize('activation', ['swish', 'tanh'])
def test_guard_config_that_compares_functions(activation, assert_faithful):
    assert_faithful(chain(lambda: NamesItsFunction(activation)))


NAMES = {swish: 'swish', activations.relu: 'relu', K.tanh: 'tanh'}
FUNCTIONS = {name: function for function, name in NAMES.items()}


class LooksUpFunction(Layer):
    """Looks up its function in a dict whose keys are functions."""

    def __init__(self, function, **kwargs):
        super().__init__(**kwargs)
        self.f = FUNCTIONS.get(function, function)

    def call(self, inputs):
        return self.f(inputs)

    def get_config(self):
        return dict(super().get_config(), function=NAMES[self.f])


@pytest.mark.parametrize('function', ['swish', 'relu', K.tanh],
                         ids=['own', 'of Keras', 'of the backend'])
def test_guard_config_from_a_dict_keyed_by_functions(function, assert_faithful):
    assert_faithful(chain(lambda: LooksUpFunction(function)))


class InspectsFunction(Layer):
    """Inspects the name and the signature of its function."""

    def __init__(self, function, **kwargs):
        super().__init__(**kwargs)
        if not inspect.isfunction(function):
            raise TypeError(f'no function: {function!r}')
        self.f = function
        self.count = len(inspect.signature(function).parameters)
        self.tag = function.__name__

    def call(self, inputs):
        return self.count * self.f(inputs) + len(self.tag)

    def get_config(self):
        return dict(super().get_config(), function=self.f)


@pytest.mark.parametrize('function', [swish, halved])
def test_guard_constructor_that_inspects_the_signature_of_its_function(
        function, assert_faithful):
    assert_faithful(chain(lambda: InspectsFunction(function)))


class ReadsItsOwnConfig(Layer):
    """Creates a layer from its config in `get_config`, as a check."""

    def __init__(self, activation, **kwargs):
        super().__init__(**kwargs)
        self.activation = activations.get(activation)

    def call(self, inputs):
        return self.activation(inputs)

    def get_config(self):
        config = dict(super().get_config(),
                      activation=activations.serialize(self.activation))
        assert type(self)(**copy.deepcopy(config)).activation is self.activation
        return config


def test_guard_get_config_that_creates_a_layer_from_the_config(assert_faithful):
    assert_faithful(chain(lambda: ReadsItsOwnConfig('tanh')))


# Code that inspects layers


class ByClassName(WithLayers):
    """Its config has the class name of its layer, one of a few allowed classes."""

    def __init__(self, inner, **kwargs):
        super().__init__(**kwargs)
        assert inner.__class__ in (Dense, SimpleRNN)
        self.inner = inner

    def get_config(self):
        return dict(super().get_config(), inner=[type(self.inner).__name__,
                                                 self.inner.get_config()])

    @classmethod
    def from_config(cls, config):
        name, inner = config.pop('inner')
        assert type(name) is str and type(inner) is dict
        return cls(getattr(layers, name).from_config(inner), **config)


def test_guard_config_with_the_class_name_of_a_layer(assert_faithful):
    assert_faithful(chain(lambda: ByClassName(Dense(3, activation='tanh'))))


class ReadsAnotherKey(WithLayers):
    """Its `from_config` reads the layer under another key."""

    def __init__(self, inner, gain=2., **kwargs):
        super().__init__(**kwargs)
        self.inner = inner
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


def test_guard_from_config_that_reads_a_layer_under_another_key(assert_faithful):
    assert_faithful(chain(lambda: ReadsAnotherKey(Dense(2), gain=3.)))


class Registered(Layer):
    """Adds itself to a class attribute, which `build` reads."""
    instances = []

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        assert type(self) is Registered
        Registered.instances.append(self)
        self.index = len(Registered.instances) - 1

    def build(self, input_shape):
        assert Registered.instances[self.index] is self
        self.factor = self.add_weight('factor', (1,), initializer='uniform')
        super().build(input_shape)

    def call(self, inputs):
        return self.factor * inputs


def test_guard_layer_that_registers_itself_in_a_list(monkeypatch):
    monkeypatch.setattr(Registered, 'instances', [])
    model = chain(Registered)()
    clone = clone_model(model)
    for layer in (model.layers[-1], clone.layers[-1]):
        assert Registered.instances[layer.index] is layer


# Uses of a config


class AsJson(WithLayers):
    """Its config contains the config of its layer as JSON."""

    def __init__(self, inner, **kwargs):
        super().__init__(**kwargs)
        self.inner = inner

    def written(self):
        return json.dumps(layers.serialize(self.inner))

    @staticmethod
    def read(text):
        return layers.deserialize(json.loads(text))

    def get_config(self):
        return dict(super().get_config(), inner=self.written())

    @classmethod
    def from_config(cls, config):
        return cls(cls.read(config.pop('inner')), **config)


class AsPickle(AsJson):
    """Its config contains the pickled class and config of its layer."""

    def written(self):
        pickled = pickle.dumps((type(self.inner), self.inner.get_config()))
        return base64.b64encode(pickled).decode()

    @staticmethod
    def read(text):
        cls, config = pickle.loads(base64.b64decode(text.encode()))
        return cls.from_config(config)


class AsLiteral(AsJson):
    """Its config contains the `repr` of the config of its layer."""

    def written(self):
        return repr(self.inner.get_config())

    @staticmethod
    def read(text):
        return Dense.from_config(eval(text, {}))


@pytest.mark.parametrize('make', [AsJson, AsPickle, AsLiteral])
def test_guard_config_of_a_layer_as_a_string(make, assert_faithful):
    assert_faithful(chain(lambda: make(Dense(3, activation='relu',
                                             kernel_regularizer='l2'))))


class WholeModel(WithLayers):
    """Its config contains a model as JSON."""

    def __init__(self, inner, **kwargs):
        super().__init__(**kwargs)
        self.inner = model_from_json(inner) if isinstance(inner, str) else inner
        assert isinstance(self.inner, Model)

    def build(self, input_shape):
        self._trainable_weights = self.inner.trainable_weights
        Layer.build(self, input_shape)

    def call(self, inputs):
        return self.inner(inputs)

    def get_config(self):
        return dict(super().get_config(), inner=self.inner.to_json())


def test_guard_config_with_a_model_as_json():
    model = chain(lambda: WholeModel(chain(lambda: Dense(2))()))()
    clone = clone_model(model)
    assert_computes_the_same(model, clone, 3)
    assert clone.layers[-1].inner.layers[-1] is not model.layers[-1].inner.layers[-1]


class ThroughJson(Wrapper):
    """A wrapper whose config is converted to JSON and back."""

    def build(self, input_shape):
        self.layer.build(input_shape)
        self.layer.built = True
        super().build()

    def call(self, inputs):
        return 2 * self.layer.call(inputs)

    def compute_output_shape(self, input_shape):
        return self.layer.compute_output_shape(input_shape)

    def get_config(self):
        return json.loads(json.dumps(super().get_config()))


def test_guard_wrapper_whose_config_goes_through_json(assert_faithful):
    assert_faithful(chain(lambda: ThroughJson(Dense(3, activation='relu'))))


class HashesConfig(Layer):
    """Computes with a hash of a config."""

    def __init__(self, inner, **kwargs):
        super().__init__(**kwargs)
        self.inner = inner
        digest = hashlib.md5(json.dumps(inner, sort_keys=True).encode()).digest()
        self.factor = float(digest[0])

    def call(self, inputs):
        return self.factor * inputs

    def get_config(self):
        return dict(super().get_config(), inner=self.inner)


def test_guard_digest_of_a_config(assert_faithful):
    config = layers.serialize(Dense(2, name='inner'))
    assert_faithful(chain(lambda: HashesConfig(config)))


class KeepsConfig(Layer):
    """Stores the config from which it was created, and returns it."""

    def __init__(self, kept=None, **kwargs):
        super().__init__(**kwargs)
        self.kept = kept or {'made': 'by hand'}

    def call(self, inputs):
        return inputs

    def get_config(self):
        return dict(super().get_config(), kept=self.kept)

    @classmethod
    def from_config(cls, config):
        return cls(**dict(config, kept=copy.deepcopy(config['kept'])))


def test_guard_stored_config_can_be_serialized():
    model = chain(KeepsConfig)()
    clone = clone_model(clone_model(model))
    assert clone.layers[-1].kept == {'made': 'by hand'}
    assert clone.to_json() == model.to_json()


class ContainersInConfig(Layer):
    """Its config has containers of several classes, which it checks."""

    def __init__(self, span, counts, order, **kwargs):
        super().__init__(**kwargs)
        assert type(span) is Span
        assert type(counts) is collections.Counter
        assert type(order) is collections.OrderedDict
        self.span, self.counts, self.order = span, counts, order

    def call(self, inputs):
        first = next(iter(self.order.values()))
        return (K.clip(inputs, self.span.low, self.span.high) *
                self.counts.most_common(1)[0][1] + first)

    def get_config(self):
        return dict(super().get_config(), span=self.span, counts=self.counts,
                    order=self.order)


def test_guard_classes_of_the_containers_in_a_config(assert_faithful):
    assert_faithful(chain(lambda: ContainersInConfig(
        Span(-.1, .2), collections.Counter('aab'),
        collections.OrderedDict([('z', 3.), ('a', 5.)]))))


class CountsGetConfig(Layer):
    """Counts and logs the calls of `get_config`."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self._asked = []

    def build(self, input_shape):
        self.kernel = self.add_weight('kernel', (input_shape[-1], self.units),
                                      initializer='uniform')
        super().build(input_shape)

    def call(self, inputs):
        return K.dot(inputs, self.kernel)

    def compute_output_shape(self, input_shape):
        return input_shape[:-1] + (self.units,)

    def get_config(self):
        config = dict(super().get_config(), units=self.units)
        self._asked.append('{units:d} {name:s}'.format(**config))
        return config


def test_guard_config_with_side_effects():
    model = chain(lambda: CountsGetConfig(2, name='logged'))()
    clone = clone_model(model)
    assert clone.layers[-1].units == 2
    assert set(model.layers[-1]._asked) == {'2 logged'}
    assert clone.layers[-1]._asked is not model.layers[-1]._asked


# Models with a custom constructor


class Keywords(Model):
    """A functional model that reads its arguments from `**options`."""

    def __init__(self, **options):
        x = Input((3,))
        y = Dense(options.get('units', 4), activation=options.get('activation'))(x)
        super().__init__(x, y)


class PassesKeywords(Model):
    """Passes its other arguments to `Model`."""

    def __init__(self, units=4, **kwargs):
        x = Input((3,))
        super().__init__(inputs=x, outputs=Dense(units)(x), **kwargs)


class AcceptsAnyArguments(Model):
    """Accepts any arguments, and uses one of them."""

    def __init__(self, *args, units=4, **kwargs):
        x = Input((3,))
        super().__init__(x, Dense(units)(x))


@pytest.mark.parametrize('make', [
    lambda: Keywords(units=5, activation='tanh'),
    lambda: Keywords(activation='tanh'),
    lambda: PassesKeywords(5), lambda: AcceptsAnyArguments(units=5)],
    ids=['units and activation', 'activation', 'handed on', 'ignored'])
def test_guard_model_whose_constructor_accepts_any_keyword(make):
    model = make()
    assert_computes_the_same(model, clone_model(model), 3)


# Models with a custom config


class Perceptron(Model):
    """A functional model whose constructor takes other arguments."""

    def __init__(self, size, units, **kwargs):
        x = inputs = Input((size,))
        for each in units:
            x = Dense(each)(x)
        super().__init__(inputs, x, **kwargs)
        self.size, self.units = size, units

    def get_config(self):
        return {'name': self.name, 'size': self.size, 'units': self.units}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


def test_guard_nested_model_with_a_custom_config():
    a, b = Input((3,)), Input((3,))
    inner = Perceptron(3, [4, 2])
    model = Model([a, b], layers.subtract([inner(a), inner(b)]))
    clone = clone_model(model)
    assert_computes_the_same(model, clone, 3)
    inner, = (each for each in clone.layers if isinstance(each, Model))
    assert type(inner) is Perceptron
    assert inner.units == [4, 2]


class Subclassed(Model):
    """A subclassed model: its graph is defined by its code."""

    def __init__(self, units, name=None):
        super().__init__(name=name)
        self.units = units
        self.dense = Dense(units, name='dense')

    def call(self, inputs):
        return self.dense(inputs)

    def compute_output_shape(self, input_shape):
        return input_shape[0], self.units

    def get_config(self):
        return {'units': self.units, 'name': self.name}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


def test_guard_subclassed_model_in_a_functional_one():
    model = chain(lambda: Subclassed(2, name='inner'))()
    clone = clone_model(model)
    assert_computes_the_same(model, clone, 3)
    assert clone.layers[-1].dense is not model.layers[-1].dense


# Configs that are read several times


class Copies(WithLayers):
    """Creates several layers from one config."""

    def __init__(self, config, count=3, **kwargs):
        super().__init__(**kwargs)
        self.config, self.count = config, count
        self.copies = [layers.deserialize(config) for _ in range(count)]

    def held(self):
        return self.copies

    def get_config(self):
        return dict(super().get_config(), config=self.config, count=self.count)


def test_guard_several_layers_from_one_config(assert_faithful):
    config = layers.serialize(Dense(2, activation='tanh'))
    assert_faithful(chain(lambda: Copies(config)))
    assert len(clone_model(chain(lambda: Copies(config))()).weights) == 6


class CopiesOfATemplate(Copies):
    """The same; its config is that of the first layer."""

    def __init__(self, template, count=3, **kwargs):
        Layer.__init__(self, **kwargs)
        self.count = count
        self.copies = [copy.deepcopy(template) for _ in range(count)]

    def get_config(self):
        return dict(Layer.get_config(self), count=self.count,
                    template=layers.serialize(self.copies[0]))

    @classmethod
    def from_config(cls, config):
        return cls(layers.deserialize(config.pop('template')), **config)


def test_guard_deep_copies_of_a_layer(assert_faithful):
    assert_faithful(chain(lambda: CopiesOfATemplate(Dense(2))))
    model = chain(lambda: CopiesOfATemplate(Dense(2)))()
    assert len(clone_model(model).weights) == 6


class SameConfigTwice(WithLayers):
    """Its config has the same dict under two keys, for two layers."""

    def __init__(self, first, second, **kwargs):
        super().__init__(**kwargs)
        self.first, self.second = map(layers.deserialize, (first, second))

    def held(self):
        return [self.first, self.second]

    def get_config(self):
        config = layers.serialize(self.first)
        return dict(super().get_config(), first=config, second=config)


def test_guard_one_config_of_two_layers(assert_faithful):
    config = layers.serialize(Dense(2, name='inner'))
    assert_faithful(chain(lambda: SameConfigTwice(config, config)))


class ChangesConfig(Wrapper):
    """Creates its layers from a config that it changes each time."""

    def __init__(self, layer, count=2, **kwargs):
        super().__init__(layer, **kwargs)
        self.count = count
        self.members = []
        for i in range(count):
            config = layer.get_config()
            config['units'] += i
            self.members.append(type(layer)(**config))

    def build(self, input_shape):
        for member in self.members:
            member.build(input_shape)
            member.built = True
        super().build()

    def call(self, inputs):
        return K.concatenate([each.call(inputs) for each in self.members])

    def compute_output_shape(self, input_shape):
        return input_shape[0], sum(each.units for each in self.members)

    @property
    def trainable_weights(self):
        return [w for each in self.members for w in each.trainable_weights]

    @property
    def non_trainable_weights(self):
        return []

    def get_weights(self):
        return [K.get_value(weight) for weight in self.trainable_weights]

    def set_weights(self, weights):
        K.batch_set_value(list(zip(self.trainable_weights, weights)))

    def get_config(self):
        return dict(super().get_config(), count=self.count)


def test_guard_layers_from_a_config_that_is_changed():
    model = chain(lambda: ChangesConfig(Dense(2)))()
    clone = clone_model(model)
    assert_computes_the_same(model, clone, 3)
    assert [each.units for each in clone.layers[-1].members] == [2, 3]


class BothWays(Wrapper):
    """Creates the backward layer from the config of the forward layer."""

    def __init__(self, layer, **kwargs):
        super().__init__(layer, **kwargs)
        config = dict(layer.get_config(), go_backwards=not layer.go_backwards,
                      name='back_' + layer.name)
        self.back = type(layer).from_config(config)

    def build(self, input_shape):
        for layer in (self.layer, self.back):
            layer.build(input_shape)
            layer.built = True
        super().build()

    def call(self, inputs):
        return self.layer.call(inputs) - self.back.call(inputs)

    def compute_output_shape(self, input_shape):
        return self.layer.compute_output_shape(input_shape)

    @property
    def trainable_weights(self):
        return self.layer.trainable_weights + self.back.trainable_weights

    def get_weights(self):
        return self.layer.get_weights() + self.back.get_weights()

    def set_weights(self, weights):
        self.layer.set_weights(weights[:3])
        self.back.set_weights(weights[3:])


def test_guard_wrapper_that_creates_a_second_layer_from_a_config(assert_faithful):
    assert_faithful(chain(lambda: BothWays(SimpleRNN(2)), shape=(4, 3)))


class StackOf(RNN):
    """A recurrent layer with several cells that are created from one config."""

    def __init__(self, cell_config, count, **kwargs):
        self.cell_config, self.count = cell_config, count
        super().__init__([layers.deserialize(cell_config) for _ in range(count)],
                         **kwargs)

    def get_config(self):
        config = dict(super().get_config(), cell_config=self.cell_config,
                      count=self.count)
        config.pop('cell')
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


def test_guard_cells_from_one_config():
    config = layers.serialize(SimpleRNNCell(2))
    model = chain(lambda: StackOf(config, 2), shape=(4, 3))()
    clone = clone_model(model)
    assert len(clone.weights) == 6
    assert_computes_the_same(model, clone, 4, 3)


# The same, with functions and classes that are not registered


def test_several_layers_from_the_config_of_a_custom_layer(assert_faithful):
    assert_faithful(chain(lambda: CopiesOfATemplate(ReadsAnotherKey(Dense(2)))))


def test_json_of_a_layer_with_a_function_of_the_user(assert_faithful):
    assert_faithful(chain(lambda: AsJson(Dense(2, activation=swish))))


def test_wrapper_through_json_around_a_custom_layer(assert_faithful):
    assert_faithful(chain(lambda: ThroughJson(NamesItsFunction('swish'))))


def test_nested_model_with_a_custom_config_next_to_a_lambda(assert_faithful):
    assert_faithful(chain(lambda: Perceptron(3, [3]),
                          lambda: Lambda(lambda x: halved(x)),
                          lambda: Reshape((3, 1))))
