"""Layers that users change after the constructor ran, or that change themselves."""
import functools
import types

from keras import layers, regularizers
from keras.models import Sequential
from keras_clone.check.gallery import MinimalCell

from evidence.random_models.constructors import Chooses
from evidence.random_models.custom import (
    Factor, Given, KeepRate, OneShape, Scale, Times, gelu, scaled)
from evidence.random_models.operations import UNITS, new_layer, operation
from evidence.random_models.versions import (
    IS_KERAS2, number_in, ops, set_value, variable)

# What users change


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
        self.factor = variable(.3)

    def __call__(self, x):
        return self.factor * x


class Chained:
    """A callable object that holds layers."""

    def __init__(self, *parts):
        self.parts = parts

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x


ADDED = {
    'function': lambda: gelu,
    'layer': lambda: layers.Dense(UNITS),
    'layers': lambda: Chained(layers.Dense(UNITS), layers.Dense(UNITS)),
    'object': lambda: Factor(-.5),
    'partial': lambda: functools.partial(scaled, by=.7),
    'variable': TimesVariable,
}


@operation('v', 'v', [f'{way}, {what}' for way in ('empty', 'missing', 'steps')
                      for what in ADDED])
def something_added(building, option, x):
    way, what = option.split(', ')
    layer, added = Extensible(), ADDED[what]()
    if way == 'steps':
        layer.steps.append(added)
    else:
        setattr(layer, way, added)
    return [layer(x)]


class OmitsRegularizer(layers.Dense):
    """A layer whose config does not have all arguments."""

    def get_config(self):
        return {'name': self.name, 'units': self.units}


def freeze(layer):
    layer.trainable = False


def set_to(name, value):
    return lambda layer: setattr(layer, name, value)


def dense():
    return layers.Dense(UNITS)


def patched_by_closure(layer):
    call = layer.call
    layer.call = lambda inputs, **kwargs: 3. * call(inputs)


def patched_by_method(layer):
    def call(self, inputs, **kwargs):
        return 3. * type(self).call(self, inputs)
    layer.call = types.MethodType(call, layer)


CHANGED = {  # {option: (function that makes a layer, function that changes it)}
    'activation': (dense, set_to('activation', gelu)),
    'activity regularizer': (Extensible, set_to(
        'activity_regularizer', regularizers.l2(.2))),
    'activity regularizer, no config': (lambda: OmitsRegularizer(
        UNITS, activity_regularizer=regularizers.l2(.2)), lambda layer: None),
    'attribute': (Scale, set_to('names', ['a', {'b': (1,)}])),
    'frozen': (dense, freeze),
    'frozen inside': (lambda: Given([dense(), Scale()]),
                      lambda layer: freeze(layer.parts[0])),
    'functions': (Chooses, set_to('functions', [scaled, gelu])),
    'number': (lambda: KeepRate(.5), set_to('factor', 4.)),
    'number of an object': (Chooses, lambda layer: setattr(
        layer.factor, 'number', 3.)),
    'object': (Chooses, set_to('factor', Factor(-1.))),
    'objects': (Chooses, set_to('factors', [Factor(.25)])),
    'rate': (lambda: layers.Dropout(.5), set_to('rate', .1)),
    'slope': (layers.LeakyReLU, set_to(
        'alpha' if IS_KERAS2 else 'negative_slope', .9)),
    'unused function': (dense, lambda layer: setattr(
        layer, 'lookup', functools.lru_cache(maxsize=None)(layer.call))),
}


@operation('v', 'v', CHANGED)
def changed(building, option, x):
    make, change = CHANGED[option]
    layer = make()
    change(layer)
    return [layer(x)]


CHANGED_BETWEEN_CALLS = dict(CHANGED, **{'layer removed': (
    lambda: Given([dense(), Scale()]), lambda layer: layer.parts.pop())})
if IS_KERAS2:  # Each call computes with what was set then; of these, clones do not.
    for _option in ('activation', 'number of an object', 'rate', 'slope'):
        del CHANGED_BETWEEN_CALLS[_option]


@operation('v', 'v', CHANGED_BETWEEN_CALLS)
def changed_between_calls(building, option, x):
    make, change = CHANGED_BETWEEN_CALLS[option]
    layer = make()
    y = layer(x)
    change(layer)
    return [layer(y)]


def recurrent():
    return layers.SimpleRNN(UNITS, return_sequences=True)


CHANGED_INSIDE = {
    'backward': (lambda: layers.Bidirectional(recurrent(), merge_mode='sum'),
                 lambda layer: freeze(layer.backward_layer)),
    'cell': (recurrent, lambda layer: freeze(layer.cell)),
    'forward': (lambda: layers.Bidirectional(recurrent(), merge_mode='ave'),
                lambda layer: freeze(layer.forward_layer)),
    'layer of a model': (lambda: Sequential([dense(), Scale()]),
                         lambda model: freeze(model.layers[1])),
    'one of the cells': (
        lambda: layers.RNN([layers.GRUCell(UNITS), MinimalCell(UNITS)],
                           return_sequences=True),
        lambda layer: freeze(layer.cell.cells[1])),
    'wrapped': (lambda: layers.TimeDistributed(dense()),
                lambda layer: freeze(layer.layer)),
}


def change_after_the_call(name, kind, table):
    """Registers an operation that changes a layer after it was called.

    # Arguments
        name: of the operation.
        kind: of the tensor that it takes and of that which it returns.
        table: dict {option: (function that makes a layer, that which changes it)}.
    """
    def make(building, option, x):
        make, change = table[option]
        layer = make()
        y = layer(x)
        change(layer)
        return [y]
    make.__name__ = name
    operation(kind, kind, table)(make)


change_after_the_call('frozen_inside_after_the_call', 's', CHANGED_INSIDE)
if not IS_KERAS2:  # It computes with the values at the time of the call.
    change_after_the_call('changed_after_the_call', 'v', CHANGED)


class Selects(OneShape):
    """Derives an object from a setting; `build` sets another setting."""

    def __init__(self, kind='tanh', size=None, rate=.5, **kwargs):
        super().__init__(**kwargs)
        self.size, self.rate = size, rate
        self.select(kind)

    def select(self, kind):
        self.kind, self.held = kind, Factor({'tanh': .3, 'relu': 3.}[kind])
        self.held.name = kind

    def build(self, input_shape):
        self.size = int(input_shape[-1])
        super().build(input_shape)

    def call(self, inputs):
        return self.rate * getattr(ops, self.held.name)(self.held(inputs))

    def get_config(self):
        return dict(super().get_config(), kind=self.kind, size=self.size,
                    rate=self.rate)


class SelectsPrivately(Selects):
    """Its attribute `size` has another name."""

    size = property(lambda self: self._size,
                    lambda self, size: setattr(self, '_size', size))


class CountsCalls(Selects):
    """The config has the number of its calls in the place of the size."""

    def call(self, inputs):
        self.size += 1
        return super().call(inputs)


SELECT = {'relu': lambda layer: layer.select('relu'), 'rate': set_to('rate', 2.),
          'nothing': lambda layer: None}
SELECTING = [Selects, SelectsPrivately] + [CountsCalls] * IS_KERAS2
# Keras 2 computes with what was set at the time of the call.
LATER = ['nothing', 'rate'] if IS_KERAS2 else [*SELECT]


@operation('v', 'v', [f'{cls.__name__}, {before} before, {after} after'
                      for cls in SELECTING for before in SELECT for after in LATER])
def settings(building, option, x):
    name, before, after = option.split(', ')
    layer = {cls.__name__: cls for cls in SELECTING}[name]()
    SELECT[before.split()[0]](layer)
    y = layer(x)
    SELECT[after.split()[0]](layer)
    return [y]


@operation('v', 'v', ['closure', 'method'])
def patched(building, option, x):
    """Has a function in place of its method `call`."""
    layer = dense()
    {'closure': patched_by_closure, 'method': patched_by_method}[option](layer)
    return [layer(x)]


class Temperature(Times):
    """Has a number in a variable; on Keras 2, that is not one of its weights."""

    def __init__(self, factor=1., **kwargs):
        super().__init__(variable(factor), **kwargs)


class Annealed(Temperature):
    """Writes the number to its config."""

    def get_config(self):
        return dict(super().get_config(), factor=number_in(self.factor))


@operation('s', 's', ['kept', 'kept, config', 'set', 'set, config'])
def variable_of_its_own(building, option, x):
    layer = (Annealed if 'config' in option else Temperature)(2.)
    y = layer(x)
    if 'set' in option:
        set_value(layer.factor, .5)
    return [y]


# What layers change themselves


class Remembers(OneShape):
    """Stores the input and the outputs of its last call."""

    def call(self, inputs):
        self.taken = inputs
        self.given = [2. * inputs, {'shape': ops.shape(inputs)}]
        return self.given[0]


class FillsInBuild(Times):
    """Computes with what `build` adds to containers of the constructor."""

    def __init__(self, **kwargs):
        super().__init__([], **kwargs)
        self.named = {}

    def build(self, input_shape):
        self.factor.append(.5)
        self.named[f'factor {len(self.named)}'] = 3.
        super().build(input_shape)

    def call(self, inputs):
        return sum(self.factor) * sum(self.named.values()) * inputs


class FirstCall(OneShape):
    """Sets an attribute in its first call, on Keras 2 a weight, and records it."""

    initialized = False

    def call(self, inputs):
        if not self.initialized:
            self.factor = .7 if not IS_KERAS2 else self.add_weight(
                name='factor', shape=(UNITS,), initializer='uniform')
            self.initialized = True
        return self.factor * inputs


class AddsLoss(Scale):
    """Adds a loss computed from its inputs."""

    def __init__(self, by=1., **kwargs):
        super().__init__(**kwargs)
        self.by = by

    def call(self, inputs):
        loss = self.by * ops.sum(inputs)
        self.add_loss(loss, **({'inputs': inputs} if IS_KERAS2 else {}))
        return super().call(inputs)


BY_THEMSELVES = {
    'loss': AddsLoss, 'loss, argument': lambda: AddsLoss(.3),
    'fills in build': FillsInBuild, 'first call': FirstCall, 'remembers': Remembers}
new_layer('changes_itself', 'v', BY_THEMSELVES)
new_layer('changes_itself_in_a_model', 's', {
    name: lambda make=make: Sequential([make(), layers.Activation('tanh')])
    for name, make in BY_THEMSELVES.items()})
