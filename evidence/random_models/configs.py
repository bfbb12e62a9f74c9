"""Layers with custom code to write and read configs."""
import collections
import copy
import hashlib
import itertools
import json
import pickle

import keras
from keras import activations, layers
from keras.models import clone_model, model_from_json

from evidence.random_models.custom import (
    Base, Composed, Scale, Times, gelu, relu, sequential_of)
from evidence.random_models.operations import UNITS, new_layer, operation
from evidence.random_models.versions import IS_KERAS2, call_inner, ops

# Layers in configs


def digest_of(layer):
    text = json.dumps(layer.get_config(), sort_keys=True)
    return hashlib.md5(text.encode()).hexdigest()


def written_by_name(layer):
    return json.dumps([type(layer).__name__, layer.get_config()])


def read_by_name(text):
    name, config = json.loads(text)
    return getattr(layers, name).from_config(config)


def read_pickled(data):
    cls, config = pickle.loads(data)
    return cls.from_config(config)


WAYS = {  # {way: (function that writes a layer, function that reads it)}
    'JSON': (written_by_name, read_by_name),
    'other key': (layers.serialize, layers.deserialize),
    'pickled': (lambda layer: pickle.dumps((type(layer), layer.get_config())),
                read_pickled),
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
        config = dict(super().get_config(), config=self.config, way=self.way)
        if self.way == 'twin':
            type(self)(**dict(copy.deepcopy(config), way='deepcopy'))
        return config


def with_target(config):
    model = sequential_of(layers.deserialize(config))
    target = clone_model(model)
    target.trainable = False
    return [model, target]


COPIES = {
    'built': lambda config: [layers.deserialize(config) for _ in range(2)],
    'clone_model': with_target,
    'deepcopy': lambda config: [
        copy.deepcopy(layer) for layer in [layers.deserialize(config)] * 2],
    'model_from_json': lambda config: [model_from_json(
        sequential_of(layers.deserialize(config)).to_json()) for _ in range(2)],
    'twin': lambda config: [layers.Dense.from_config(config['config'])],
}


@operation('v', 'v', COPIES)
def copies(building, option, x):
    layer = layers.Dense(UNITS, activation='tanh', name='inner')
    return [Copies(layers.serialize(layer), option)(x)]


# Functions and values that have to be the same objects, or of the same type


NAME_OF = {gelu: 'gelu', activations.relu: 'relu of Keras', relu: 'relu',
           ops.tanh: 'tanh'}
FUNCTION_OF = {name: function for function, name in NAME_OF.items()}


class Asks(Base):
    """Checks the identity of its function, and writes its name to the config."""

    def __init__(self, function, **kwargs):
        super().__init__(**kwargs)
        if function not in NAME_OF:
            raise ValueError(f'Unknown function: {function!r}')
        self.function, self.is_own = function, function is gelu

    def call(self, inputs):
        factor = 3. if self.function is relu else 1.
        return factor * self.function(inputs) + (1. if self.is_own else 0.)

    def get_config(self):
        return dict(super().get_config(), function=NAME_OF[self.function])

    @classmethod
    def from_config(cls, config):
        return cls(**dict(config, function=FUNCTION_OF[config['function']]))


new_layer('asks', 's', {name: lambda function=function: Asks(function)
                        for name, function in FUNCTION_OF.items()})


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
    Settings: (lambda: Settings(.6), lambda value: value.rate),
    Strange: (lambda: Strange(a=.4), lambda value: value.a),
}


class Valued(Times):
    """Accepts only values of the types in `VALUES`."""

    def __init__(self, value, **kwargs):
        self.made_by, number = VALUES[type(value)]
        super().__init__(float(number(value)), **kwargs)

    def get_config(self):
        return dict(super().get_config(), value=self.made_by())


new_layer('valued', 's', {cls.__name__: lambda make=make: Valued(make())
                          for cls, (make, _) in VALUES.items()})
