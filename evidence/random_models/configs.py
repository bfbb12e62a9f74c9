"""Layers with custom code to write and read configs."""
import ast
import collections
import copy
import enum
import hashlib
import importlib
import io
import itertools
import json
import pickle
import sys

import keras
import numpy as np
from keras import activations, layers
from keras.models import clone_model, model_from_json

from evidence.random_models.custom import (
    Base, Composed, OwnWrapper, Scale, gelu, model_of, relu, sequential_of)
from evidence.random_models.operations import UNITS, new_layer, operation
from evidence.random_models.versions import IS_KERAS2, call_inner, ops


def named(pair):
    return getattr(layers, pair[0]).from_config(pair[1])


def digest_of(layer):
    text = json.dumps(layer.get_config(), sort_keys=True)
    return hashlib.md5(text.encode()).hexdigest()


def pickled(value):
    file = io.BytesIO()
    pickler = pickle.Pickler(file)
    pickler.fast = True  # Otherwise, the bytes depend on the identity of strings.
    pickler.dump(value)
    return file.getvalue()


def unpickled(data):
    cls, config = pickle.loads(data)
    return cls.from_config(config)


WAYS = {  # {way: (function that writes a layer, function that reads it)}
    'class and config': (
        lambda layer: (type(layer).__name__, layer.get_config()), named),
    'copied': (lambda layer: copy.deepcopy(layers.serialize(layer)),
               lambda config: layers.deserialize(copy.deepcopy(config))),
    'JSON': (lambda layer: json.dumps([type(layer).__name__, layer.get_config()]),
             lambda text: named(json.loads(text))),
    'other key': (layers.serialize, layers.deserialize),
    'pickled': (lambda layer: pickled((type(layer), layer.get_config())), unpickled),
    'repr': (lambda layer: repr((type(layer).__name__, layer.get_config())),
             lambda text: named(ast.literal_eval(text))),
}
if not IS_KERAS2:
    WAYS['JSON of Keras'] = (
        lambda layer: json.dumps(keras.saving.serialize_keras_object(layer)),
        lambda text: keras.saving.deserialize_keras_object(json.loads(text)))


class Written(Composed):
    """Holds a layer and writes it to its config in one of `WAYS`."""

    def __init__(self, inner, way, digest=None, **kwargs):
        super().__init__(**kwargs)
        self.parts, self.way = inner, way
        self.digest = digest or digest_of(inner)
        if self.digest != digest_of(inner):
            raise ValueError('The config is not what it was.')

    def call(self, inputs):
        factor = 2. if type(self.parts).__name__ == 'Dense' else -1.
        return factor * call_inner(self.parts, inputs)

    def get_config(self):
        write, _ = WAYS[self.way]
        return dict(super().get_config(), way=self.way,
                    digest=digest_of(self.parts), written=write(self.parts))

    @classmethod
    def from_config(cls, config):
        _, read = WAYS[config['way']]
        return cls(read(config.pop('written')), **config)


TO_WRITE = {
    'Dense': lambda: layers.Dense(UNITS, activation='tanh', kernel_regularizer='l2'),
    'function': lambda: layers.Dense(UNITS, activation=gelu),
    'Scale': Scale,
    'Sequential': lambda: sequential_of(layers.Dense(UNITS)),
}


@operation('v', 'v', ['{}, {}'.format(*pair)
                      for pair in itertools.product(WAYS, TO_WRITE)])
def written(building, option, x):
    way, inner = option.split(', ')
    return [Written(TO_WRITE[inner](), way)(x)]


new_layer('written_in_steps', 's', {
    way: lambda way=way: layers.TimeDistributed(Written(TO_WRITE['Dense'](), way))
    for way in WAYS})


class Jsoned(OwnWrapper):
    """A wrapper whose config is converted to JSON and back."""

    def get_config(self):
        return json.loads(json.dumps(super().get_config()))


new_layer('wrapped_as_json', 'v', {
    name: lambda make=make: Jsoned(make()) for name, make in TO_WRITE.items()})


class OfModel(Composed):
    """Holds a model and writes it to its config by `to_json`."""

    def __init__(self, net, **kwargs):
        super().__init__(**kwargs)
        self.parts = model_from_json(net) if isinstance(net, str) else net

    def get_config(self):
        return dict(super().get_config(), net=self.parts.to_json())


new_layer('model_as_json', 'v', {
    'Dense': lambda: OfModel(model_of(layers.Dense(UNITS))),
    'Scale': lambda: OfModel(model_of(Scale()))})


# Functions and values that have to be the same objects, or of the same type


NAME_OF = {gelu: 'gelu', activations.relu: 'relu of Keras', relu: 'relu',
           ops.tanh: 'tanh'}
FUNCTION_OF = {name: function for function, name in NAME_OF.items()}
FUNCTION_WAYS = {
    'is': (lambda f: 'own' if f is gelu else activations.serialize(f),
           lambda text: gelu if text == 'own' else activations.get(text)),
    'itself': (lambda f: f, lambda f: f),
    'keyed': (lambda f: NAME_OF[f], lambda name: FUNCTION_OF[name]),
    'module': (lambda f: (f.__module__, f.__name__),
               lambda pair: getattr(importlib.import_module(pair[0]), pair[1])),
}


class Asks(Base):
    """Checks the identity of its function; writes it in one of `FUNCTION_WAYS`."""

    def __init__(self, function, way, **kwargs):
        super().__init__(**kwargs)
        if function not in NAME_OF:
            raise ValueError(f'Unknown function: {function!r}')
        self.function, self.way = function, way
        self.is_own = function is gelu

    def call(self, inputs):
        factor = 3. if self.function is relu else 1.
        return factor * self.function(inputs) + (1. if self.is_own else 0.)

    def get_config(self):
        write, _ = FUNCTION_WAYS[self.way]
        return dict(super().get_config(), way=self.way,
                    function=write(self.function))

    @classmethod
    def from_config(cls, config):
        _, read = FUNCTION_WAYS[config['way']]
        return cls(**dict(config, function=read(config['function'])))


new_layer('asks', 's', {
    f'{way}, {name}': lambda way=way, name=name: Asks(FUNCTION_OF[name], way)
    for way, name in itertools.product(FUNCTION_WAYS, FUNCTION_OF)})


class Settings:
    """A custom object that is equal to those with equal attributes."""

    def __init__(self, rate):
        self.rate = rate

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None


class Strange(dict):
    """A dict whose entries can be read as attributes."""
    __getattr__ = dict.__getitem__


class Mode(enum.Enum):
    FAST = 'fast'


Limits = collections.namedtuple('Limits', 'low high')
VALUES = {  # {type: (makes a value, converts it to a number)}
    collections.Counter: (lambda: collections.Counter('aab'),
                          lambda value: value.most_common(1)[0][1]),
    collections.OrderedDict: (lambda: collections.OrderedDict([('z', .3), ('a', 5)]),
                              lambda value: next(iter(value.values()))),
    collections.defaultdict: (lambda: collections.defaultdict(float, a=.5),
                              lambda value: value['a'] - value['missing']),
    frozenset: (lambda: frozenset([.5, .25]), max),
    Limits: (lambda: Limits(-.1, .7), lambda value: value.high),
    Mode: (lambda: Mode.FAST, lambda value: 2 if value is Mode.FAST else 1),
    np.float32: (lambda: np.float32(.5), float),
    Settings: (lambda: Settings(.6), lambda value: value.rate),
    slice: (lambda: slice(1, 3), lambda value: value.stop),
    Strange: (lambda: Strange(a=.4), lambda value: value.a),
}
if sys.version_info >= (3, 7):
    import dataclasses
    Options = dataclasses.make_dataclass('Options', [('rate', float)], frozen=True)
    VALUES[Options] = (lambda: Options(.3), lambda value: value.rate)


class Valued(Base):
    """Accepts only values of the types in `VALUES`."""

    def __init__(self, value, **kwargs):
        super().__init__(**kwargs)
        make, number = VALUES[type(value)]
        self.made_by, self.factor = make, float(number(value))

    def call(self, inputs):
        return self.factor * inputs

    def get_config(self):
        return dict(super().get_config(), value=self.made_by())


new_layer('valued', 's', {cls.__name__: lambda make=make: Valued(make())
                          for cls, (make, _) in VALUES.items()})


# Several layers by one config


class Counts(Composed):
    """Counts how often its config is read; may make another layer from it."""

    read = 0

    def __init__(self, units, way, **kwargs):
        super().__init__(**kwargs)
        self.parts, self.way = layers.Dense(units), way

    def get_config(self):
        Counts.read += 1
        config = dict(super().get_config(), way=self.way, units=self.parts.units)
        if self.way == 'twin':
            type(self)(**dict(copy.deepcopy(config), way=None))
        return config


new_layer('counted', 'v', {way: lambda way=way: Counts(UNITS, way)
                           for way in ('counts', 'twin')})


class Copies(Composed):
    """Makes several layers from one config, in one of the ways of `COPIES`."""

    def __init__(self, config, way, **kwargs):
        super().__init__(**kwargs)
        self.config, self.way = config, way
        self.parts = [] if way == 'built' else COPIES[way](config)

    def build(self, input_shape):
        if self.way == 'built':
            self.parts = COPIES[self.way](self.config)
        super().build(input_shape)

    def get_config(self):
        return dict(super().get_config(), config=self.config, way=self.way)


def _model_of(config):
    return sequential_of(layers.deserialize(config))


def _with_target(config):
    model = _model_of(config)
    target = clone_model(model)
    target.trainable = False
    return [model, target]


def _renamed(config, name):
    return layers.deserialize(dict(config, config=dict(config['config'], name=name)))


COPIES = {
    'built': lambda config: [layers.deserialize(config) for _ in range(2)],
    'clone_model': _with_target,
    'deepcopy': lambda config: [
        copy.deepcopy(layer) for layer in [layers.deserialize(config)] * 2],
    'deserialize': lambda config: [layers.deserialize(config) for _ in range(3)],
    'from_config': lambda config: [
        layers.Dense.from_config(config['config']) for _ in range(2)],
    'model_from_json': lambda config: [
        model_from_json(_model_of(config).to_json()) for _ in range(2)],
    'renamed': lambda config: [_renamed(config, name)
                               for name in ('first', 'second')],
}


@operation('v', 'v', COPIES)
def copies(building, option, x):
    layer = layers.Dense(UNITS, activation='tanh', name='inner')
    return [Copies(layers.serialize(layer), option)(x)]


class Twice(Composed):
    """Has the config of a layer twice in its own and makes a layer from each."""

    def __init__(self, first, second, **kwargs):
        super().__init__(**kwargs)
        self.parts = [first, second]

    def get_config(self):
        config = layers.serialize(self.parts[0])
        return dict(super().get_config(), first=config, second=config)

    @classmethod
    def from_config(cls, config):
        first, second = config.pop('first'), config.pop('second')
        return cls(layers.deserialize(first), layers.deserialize(second), **config)


new_layer('twice', 'v', {
    'Dense': lambda: Twice(*[layers.Dense(UNITS, name='tower') for _ in range(2)]),
    'Scale': lambda: Twice(*[Scale(name='tower') for _ in range(2)])})
