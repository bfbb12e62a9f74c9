"""Layers with constructors as people write them.

What the constructor gets, does or reads cannot always be told from a config.
"""
import contextlib
import functools
import sys
import tempfile
import threading

import keras
import numpy as np
from keras import backend, layers
from keras.initializers import Constant
from keras.models import Sequential

from evidence.random_models.custom import (
    Composed, Factor, KeepRate, OneShape, Times, gelu, scaled, total)
from evidence.random_models.operations import UNITS, new_layer
from evidence.random_models.versions import IS_KERAS2, constant, ops

floatx = backend.floatx
image_data_format = backend.image_data_format


# What constructors take


class Configured(Times):
    """Has the factor in its config."""

    def get_config(self):
        return dict(super().get_config(), factor=self.factor)


class Summed(Times):
    def __init__(self, *factors, **kwargs):
        super().__init__(sum(factors), **kwargs)


class Reads(Configured):
    """Takes the next number of an iterator."""

    def __init__(self, factor, **kwargs):
        super().__init__(factor if isinstance(factor, float) else next(factor),
                         **kwargs)


class First(Times):
    """Takes the first of nested lists of numbers."""

    def __init__(self, factors, **kwargs):
        super().__init__(factors['of'][0], **kwargs)


class Makes(Composed):
    """Calls a function that returns its sublayer."""

    def __init__(self, make, **kwargs):
        super().__init__(**kwargs)
        self.parts = make()


class Affine(OneShape):
    """Takes arrays and a function."""

    def __init__(self, matrix, *more, **kwargs):
        self._function = kwargs.pop('function', ops.tanh)
        super().__init__(**kwargs)
        self.matrix, self.more = matrix, more

    def call(self, inputs):
        y = self._function(ops.matmul(inputs, constant(self.matrix)))
        return total([y] + [constant(each) for each in self.more])


class Popped(layers.Dense):
    """Removes an argument from those that it passes on."""

    def __init__(self, *args, **kwargs):
        self._offset = kwargs.pop('offset')
        super().__init__(*args, **kwargs)

    def call(self, inputs):
        return super().call(inputs) + self._offset


class Inherits(layers.Dense):
    """Takes one argument more than its base class and inherits its config."""

    def __init__(self, units, factor=1., **kwargs):
        super().__init__(units, **kwargs)
        self.factor = factor

    def call(self, inputs):
        return self.factor * super().call(inputs)


TAKES_BY_POSITION = '''
class ByPosition(Times):
    def __init__(self, factor, /, **kwargs):
        Times.__init__(self, factor, **kwargs)
'''
PARSES_POSITIONS = sys.version_info >= (3, 8)
if PARSES_POSITIONS:
    exec(TAKES_BY_POSITION)


def with_list_that_changes():
    factors = {'of': [.5]}
    layer = First(factors)
    factors['of'][0] = 7.
    return layer


# What constructors do


class Registered(Configured):
    """Has a number of its own: its index in a list, which also keeps its name."""

    made = []

    def __init__(self, factor, **kwargs):
        super().__init__(factor, **kwargs)
        self.number = len(Registered.made)
        self.label = f'the layer with number {self.number}'
        Registered.made.append(self.name)


class Logs(Configured):
    """Writes to a file of its own, which stays open."""

    def __init__(self, factor, **kwargs):
        super().__init__(factor, **kwargs)
        self.log = tempfile.TemporaryFile('w')
        self.log.write(f'{factor}\n')


class Draws(Times):
    """Draws numbers at random and computes with them."""

    def __init__(self, **kwargs):
        super().__init__(np.random.rand(UNITS).astype('float32'), **kwargs)
        self.number = np.random.rand()


class Locks(Times):
    """Makes objects that can be neither copied nor serialized."""

    def __init__(self, factor, **kwargs):
        super().__init__(-factor, **kwargs)
        self.lock, self.local = threading.Lock(), threading.local()
        self.numbers = (factor for _ in range(3))


class Incomparable:
    __hash__ = None

    def __eq__(self, other):
        raise RuntimeError('These objects cannot be compared.')


class Chooses(OneShape):
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


class WithSlot(Times):
    """Stores a number in a slot."""

    __slots__ = ('factor',)


class Careful(Times):
    """Has a property whose setter checks and converts the value."""

    @property
    def factor(self):
        return self._percent / 100.

    @factor.setter
    def factor(self, value):
        if not 0. < value < 1.:
            raise ValueError(f'Not between 0 and 1: {value!r}')
        self._percent = 100. * value


def numbered(cls):
    """A custom decorator: instances store the number of their arguments."""
    @functools.wraps(cls, updated=())
    class Numbered(cls):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.number = len(args) + len(kwargs)
    return Numbered


Decorated = numbered(KeepRate)


class Doubles(Configured):
    """`__new__` passes on other arguments than it gets."""

    def __new__(cls, factor, **kwargs):
        return super().__new__(cls, *([] if IS_KERAS2 else [2 * factor]))


# What constructors read


class AlongAxis(Times):
    """Has a default that depends on a setting of Keras."""

    def __init__(self, data_format=None, **kwargs):
        self.data_format = data_format or image_data_format()
        factor = .5 if self.data_format == 'channels_first' else -1.
        super().__init__(factor, **kwargs)

    def get_config(self):
        return dict(super().get_config(), data_format=self.data_format)


class Rounds(OneShape):
    """Computes with the precision that was the default when it was made."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.precision = floatx()

    def call(self, inputs):
        if IS_KERAS2:
            rounded = backend.cast(inputs, self.precision)
            return backend.cast(rounded, backend.floatx())
        return keras.ops.cast(keras.ops.cast(inputs, self.precision), inputs.dtype)


@contextlib.contextmanager
def setting(name, value, place=backend):
    """Context in which Keras has another global setting."""
    former = getattr(place, name)()
    getattr(place, f'set_{name}')(value)
    try:
        yield
    finally:
        getattr(place, f'set_{name}')(former)


def made_with(make, *args):
    def make_layer():
        with setting(*args):
            return make()
    return make_layer


# What is set later, and from where


class Halves(Times):
    """Replaces its argument by another number when it is built."""

    def build(self, input_shape):
        self.factor = .5 * self.factor
        super().build(input_shape)


class Weighs(Times):
    """Replaces its argument by a weight when it is built."""

    def build(self, input_shape):
        self.factor = self.add_weight(name='factor', shape=(input_shape[-1],),
                                      initializer=Constant(self.factor))
        super().build(input_shape)


class Repeats(Times):
    """Multiplies as often as is set after its constructor ran."""

    times = 1

    def call(self, inputs):
        return inputs * self.factor ** self.times


def changed(layer, name, value):
    setattr(layer, name, value)
    return layer


def loaded():
    """Returns a model of a class that is known only while the model is loaded."""
    config = Sequential([layers.Dense(UNITS), Configured(.5)]).get_config()
    return Sequential.from_config(config, custom_objects={'Configured': Configured})


MATRIX = np.array([[.5, -1.], [.25, 2.]], 'float32')
LAYERS = {
    'any number of arguments': lambda: Summed(.5, .25, 1.),
    'arrays': lambda: Affine(MATRIX, MATRIX[0], 2 * MATRIX[1]),
    'checked': lambda: Careful(.4),
    'chosen objects': Chooses,
    'decorated class': lambda: Decorated(.3),
    'derived': lambda: KeepRate(.2),
    'factory': lambda: Makes(lambda: layers.Dense(UNITS)),
    'file': lambda: Logs(.5),
    'floatx': made_with(Rounds, 'floatx', 'float16'),
    'frozen': lambda: Inherits(units=UNITS, trainable=False),
    'function': lambda: Affine(MATRIX, function=lambda x: .8 * x),
    'image data format': made_with(
        AlongAxis, 'image_data_format', 'channels_first'),
    'iterator': lambda: Reads(iter([.5, 7.])),
    'list that changes': with_list_that_changes,
    'loaded': loaded,
    'local class': lambda: type('Local', (KeepRate,), {'extra': 2})(rate=.1),
    'locks': lambda: Locks(.5),
    'own __new__': lambda: Doubles(.5),
    'popped': lambda: Popped(UNITS, activation='tanh', offset=.5),
    'random numbers': Draws,
    'registry': lambda: Registered(.5),
    'replaced by a number': lambda: Halves(3.),
    'replaced by a weight': lambda: Weighs(3.),
    'set before the call': lambda: changed(Repeats(), 'times', 3),
    'set in spite of the config': lambda: changed(Configured(2.), 'factor', -.5),
    'slot': lambda: WithSlot(3.),
    'subclass': lambda: Inherits(UNITS, 3., activation=gelu),
}
if PARSES_POSITIONS:
    LAYERS['by position'] = lambda: ByPosition(.5)  # noqa: F821
if not IS_KERAS2:
    LAYERS.update({
        'dtype': lambda: Inherits(UNITS, dtype='mixed_float16'),
        'dtype policy': made_with(lambda: layers.Dense(UNITS), 'dtype_policy',
                                  'mixed_bfloat16', keras.config)})

new_layer('constructed', 's', LAYERS)
new_layer('constructed_in_steps', 's', {
    name: lambda make=make: layers.TimeDistributed(make())
    for name, make in LAYERS.items()})
