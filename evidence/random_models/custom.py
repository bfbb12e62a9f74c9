"""Custom functions and classes in the operations of both major versions of Keras."""
import collections
import copy
import enum
import functools
import hashlib
import importlib
import inspect
import io
import json
import pickle
import threading
import types

import keras
import numpy as np
from keras import activations, backend, constraints, layers, regularizers
from keras_clone.check.gallery import ops

IS_KERAS2 = keras.__version__.startswith('2.')


def call_inner(layer, inputs):
    """Calls a layer within the `call` of another one."""
    return layer.call(inputs) if IS_KERAS2 else layer(inputs)


class Base(layers.Layer):
    """Passes masks on under Keras 2, which refuses them otherwise."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = IS_KERAS2


class OneShape(Base):
    """A layer whose output has the shape of its input."""

    def compute_output_shape(self, input_shape):
        return input_shape


# Functions


def scaled(x, by=3.):
    return by * x


def swish(x):
    return x * ops.sigmoid(x)


def relu(x):
    """Has the name of an activation of Keras but computes something else."""
    return -ops.relu(-x)


class Doubled:
    """A callable object, whose bound method is used as well."""

    def __call__(self, x):
        return 2 * x

    def method(self, x):
        return ops.tanh(x) + x


class Static:
    factor = .3

    @staticmethod
    def halved(x):
        return .5 * x

    @classmethod
    def scaled(cls, x):
        return cls.factor * x


def counter():
    """Returns a function whose closure holds itself and a list."""
    calls = []

    def call(x, again=True):
        calls.append(type(x))
        return call(.5 * x, False) if again else x
    return call


def doubled(function):
    @functools.wraps(function)
    def call(x):
        return 2 * function(x)
    return call


def with_attributes(function):
    function.calls, function.names = 0, ['a']
    return function


# Custom code to write and read configs


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


def from_class(cls, config):
    return cls.from_config(config)


def renamed(config, name):
    config = copy.deepcopy(config)
    config['config']['name'] = name
    return config


NAME_OF = {swish: 'swish', activations.relu: 'relu of Keras', relu: 'relu',
           ops.tanh: 'tanh'}
FUNCTION_OF = {name: function for function, name in NAME_OF.items()}
FUNCTION_WAYS = {
    'is': (lambda f: 'own' if f is swish else activations.serialize(f),
           lambda text: swish if text == 'own' else activations.get(text)),
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
        self.is_own = function is swish

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


class Strange(dict):
    """A dict whose entries can be read as attributes."""
    __getattr__ = dict.__getitem__


class Mode(enum.Enum):
    FAST = 'fast'


Limits = collections.namedtuple('Limits', 'low high')


# Objects that hold layers or weights


class Plain:
    """A custom object that holds layers."""

    def __init__(self, *held):
        self.held = held

    def __iter__(self):
        return iter(self.held)

    def first(self, x):
        return call_inner(self.held[0], x)


class Slotted(Plain):
    __slots__ = ('other',)

    def __init__(self, *held):
        super().__init__(*held[:1])
        self.other = held[1:]

    def __iter__(self):
        return iter(self.held + self.other)


Pair = collections.namedtuple('Pair', 'first second')
CONTAINERS = {
    'deque': collections.deque,
    'dict': lambda pair: dict(zip('ba', pair)),
    'list': list,
    'method': lambda pair: Plain(*pair).first,
    'named tuple': lambda pair: Pair(*pair),
    'nested': lambda pair: [{'a': (pair[0], [])}, [[pair[1]], None, 3]],
    'object': lambda pair: Plain(*pair),
    'set': set,
    'slots': lambda pair: Slotted(*pair),
    'tuple': tuple,
}


def layers_in(value):
    if isinstance(value, layers.Layer):
        return [value]
    if inspect.ismethod(value):
        return layers_in(value.__self__)
    if isinstance(value, (set, frozenset)):
        value = sorted(value, key=lambda layer: layer.name)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple, collections.deque, Plain)):
        return [layer for each in value for layer in layers_in(each)]
    return []


class Scorer:
    """A callable object that holds a layer."""

    def __init__(self, layer):
        self.layer = layer

    def __call__(self, x):
        return ops.tanh(x) * ops.mean(self.layer.kernel)

    def score(self, x):
        return .5 * call_inner(self.layer, x)


def times(x, weight, by=1.):
    return by * ops.matmul(x, weight)


def by_layer(x, layer):
    return -1. * call_inner(layer, x)


class Strong(regularizers.Regularizer):
    """A custom regularizer without a config."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return self.factor * ops.sum(x)


class AtMost(constraints.Constraint):
    """A custom constraint with a config."""

    def __init__(self, most):
        self.most = most

    def __call__(self, w):
        return ops.minimum(w, self.most)

    def get_config(self):
        return {'most': self.most}


# Layers whose config lacks their arguments


MATRIX = np.array([[.5, -1.], [.25, 2.]], 'float32')


class KeepRate(OneShape):
    """Stores a number derived from its argument."""

    def __init__(self, rate, **kwargs):
        super().__init__(**kwargs)
        self.rate = 1 - rate

    def call(self, inputs):
        return self.rate * inputs


class Popped(layers.Dense):
    """Removes an argument from those that it passes on."""

    def __init__(self, *args, **kwargs):
        self._offset = kwargs.pop('offset')
        super().__init__(*args, **kwargs)

    def call(self, inputs):
        return super().call(inputs) + self._offset


class Scaled(layers.Dense):
    """Takes one argument more than its base class and inherits its config."""

    def __init__(self, units, factor=1., **kwargs):
        super().__init__(units, **kwargs)
        self.factor = factor

    def call(self, inputs):
        return self.factor * super().call(inputs)


class Filled(OneShape):
    """Stores the weights that `build` creates in a container, object or closure."""

    def __init__(self, kind, function, **kwargs):
        super().__init__(**kwargs)
        self.function, self.kind = function, kind
        self.held = {} if kind == 'dict' else []
        if kind == 'partly in the constructor':
            self.held.append(self.new_weight('a'))

    def new_weight(self, name):
        return self.add_weight(name=name, shape=(2,), initializer='glorot_normal')

    def build(self, input_shape):
        for index, name in enumerate('ab'):
            if self.kind == 'dict':
                self.held[name] = self.new_weight(name)
            elif len(self.held) == index:
                self.held.append(self.new_weight(name))
        if self.kind == 'object':
            self.held = [Plain(each) for each in self.held]
        if self.kind == 'closure':
            first, second = self.held
            self.held = [lambda: first, lambda: second]
        super().build(input_shape)

    def call(self, inputs):
        held = self.held.values() if self.kind == 'dict' else self.held
        scale, shift = [held_in(each) for each in held]
        return self.function(inputs * scale + shift)


class FilledWithLayers(OneShape):
    """Sets layers that `build` creates as attributes, and holds them once more."""

    def __init__(self, kind, function, **kwargs):
        super().__init__(**kwargs)
        self.kind, self.function = kind, function

    def build(self, input_shape):
        first, second = self.first, self.second = layers.Dense(2), layers.Dense(2)
        for layer in (first, second):
            layer.build(input_shape)
            weights = layer.trainable_weights
            if not any(weights[0] is each for each in self.trainable_weights):
                self._trainable_weights += weights  # As Keras 2 requires.
        self.held = {'closure': [lambda: first, lambda: second],
                     'list': [first, second],
                     'object': [Plain(first), Plain(second)]}[self.kind]
        super().build(input_shape)

    def call(self, inputs):
        first, second = [held_in(each) for each in self.held]
        return self.function(second(first(inputs)))


FILLED = {
    **{'filled, ' + kind: functools.partial(Filled, kind, scaled) for kind in (
        'closure', 'dict', 'list', 'object', 'partly in the constructor')},
    **{'filled with layers, ' + kind: functools.partial(
        FilledWithLayers, kind, scaled) for kind in ('closure', 'list', 'object')}}


def held_in(value):
    if isinstance(value, Plain):
        return value.held[0]
    return value() if inspect.isfunction(value) else value


class LayerWithSlot(OneShape):
    """Stores a number in a slot."""

    __slots__ = ('factor',)

    def __init__(self, factor, **kwargs):
        super().__init__(**kwargs)
        object.__setattr__(self, 'factor', factor)

    def call(self, inputs):
        return self.factor * inputs


# Layers with a function in place of their method `call`


def patched_by_closure(layer):
    call = layer.call
    layer.call = lambda inputs, **kwargs: 3. * call(inputs)
    return layer


def patched_by_method(layer):
    def call(self, inputs, **kwargs):
        return 3. * type(self).call(self, inputs)
    layer.call = types.MethodType(call, layer)
    return layer


PATCHES = {'closure': patched_by_closure, 'method': patched_by_method}


# Layers that hold something that is hard to copy


class Child(layers.Layer):
    """Reads an attribute of the layer that holds it, by a weak reference."""

    parent = None

    def call(self, inputs):
        return self.parent().gain * inputs


class Locks(OneShape):
    """Holds objects that can be neither copied nor serialized."""

    made = []

    def __init__(self, factor, **kwargs):
        super().__init__(**kwargs)
        self.lock, self.local = threading.Lock(), threading.local()
        self.numbers = (factor for _ in range(3))
        self.factor = -factor
        Locks.made.append(self.name)

    def call(self, inputs):
        with self.lock:
            return self.factor * inputs


class Remembers(OneShape):
    """Stores the input and the outputs of its last call."""

    def call(self, inputs):
        self.taken = inputs
        self.given = [2. * inputs, {'shape': ops.shape(inputs)}]
        return self.given[0]


class FillsInBuild(OneShape):
    """Computes with what `build` adds to containers of the constructor."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.factors, self.named = [], {}

    def build(self, input_shape):
        self.factors.append(.5)
        self.named[f'factor {len(self.named)}'] = 3.
        super().build(input_shape)

    def call(self, inputs):
        return sum(self.factors) * sum(self.named.values()) * inputs


class Factor:
    """A callable object, whose number may be changed."""

    def __init__(self, number):
        self.number = number

    def __call__(self, x):
        return self.number * x


class Incomparable:
    __hash__ = None

    def __eq__(self, other):
        raise RuntimeError('These objects cannot be compared.')


class Applies(OneShape):
    """Applies functions and objects that its constructor chooses."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.functions = [scaled]
        self.factor, self.factors = Factor(2.), [Factor(.5)]
        self.unused = [Incomparable(), np.array([np.ones(2), np.ones(3)], object)]

    def call(self, inputs):
        for function in [*self.functions, self.factor, *self.factors]:
            inputs = function(inputs)
        return inputs


def with_changed_number():
    layer = Applies()
    layer.factor.number = 3.
    return layer


def with_other_objects():
    layer = Applies()
    layer.factor, layer.factors = Factor(-1.), [Factor(.25)]
    return layer


def with_more_functions():
    layer = Applies()
    layer.functions = [scaled, swish]
    return layer


CHANGED_OBJECTS = {'changed number': with_changed_number,
                   'more functions': with_more_functions,
                   'other objects': with_other_objects}


class Extensible(OneShape):
    """Applies what is added to it after its constructor ran."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.empty, self.steps = None, []

    def call(self, inputs):
        for each in [self.empty, *self.steps, getattr(self, 'missing', None)]:
            inputs = inputs if each is None else each(inputs)
        return inputs


class TimesVariable:
    """A callable object that holds a variable."""

    def __init__(self):
        self.factor = (backend.variable if IS_KERAS2 else keras.Variable)(.3)

    def __call__(self, x):
        return self.factor * x


class Chained:
    """A callable object that holds layers."""

    def __init__(self, parts):
        self.parts = parts

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x


ADDED = {  # Functions that take the size of the last axis.
    'function': lambda units: swish,
    'layer': layers.Dense,
    'layers': lambda units: Chained([layers.Dense(units), layers.Dense(units)]),
    'object': lambda units: Factor(-.5),
    'partial': lambda units: functools.partial(scaled, by=.7),
    'variable': lambda units: TimesVariable(),
}


def extended(way, what, units):
    """Returns a layer to which something is added in one of the ways."""
    layer, added = Extensible(), ADDED[what](units)
    if way == 'steps':
        layer.steps.append(added)
    else:
        setattr(layer, way, added)
    return layer


class OmitsRegularizer(layers.Dense):
    """A layer whose config does not have all arguments."""

    def get_config(self):
        return {'name': self.name, 'units': self.units}


def keep_function_of(layer):
    """Sets an attribute that the layer does not use."""
    layer.lookup = functools.lru_cache(maxsize=None)(layer.call)


EXTENSIONS = [f'{way}, {what}' for way in ('empty', 'missing', 'steps')
              for what in ADDED]


class Careful(OneShape):
    """Has a property whose setter checks and converts the value."""

    def __init__(self, rate, **kwargs):
        super().__init__(**kwargs)
        self.rate = rate

    @property
    def rate(self):
        return self._rate / 100.

    @rate.setter
    def rate(self, value):
        if not 0. < value < 1.:
            raise ValueError(f'Not a rate: {value!r}')
        self._rate = 100. * value

    def call(self, inputs):
        return self.rate * inputs


class CarefulWithConfig(Careful):
    """Has the rate in its config."""

    def get_config(self):
        return dict(super().get_config(), rate=self.rate)
