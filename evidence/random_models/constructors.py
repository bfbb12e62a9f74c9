"""Operations whose layers have constructors as people write them.

For both major versions of Keras. What the constructor gets, does or reads cannot
always be told from a config.
"""
import contextlib
import sys
import tempfile

import keras
import numpy as np
from keras import backend, layers
from keras.models import Sequential

from evidence.random_models.custom import (
    IS_KERAS2, Base, Factor, OneShape, call_inner)
from evidence.random_models.operations import UNITS, operation

floatx = backend.floatx
image_data_format = backend.image_data_format


class Scaled(OneShape):
    """Multiplies by a factor. The config lacks it."""

    def __init__(self, factor, **kwargs):
        super().__init__(**kwargs)
        self.factor = factor

    def call(self, inputs):
        return self.factor * inputs


class Configured(Scaled):
    """Has the factor in its config."""

    def get_config(self):
        return dict(super().get_config(), factor=self.factor)


# What constructors take


class Summed(Scaled):
    def __init__(self, *factors, **kwargs):
        super().__init__(sum(factors), **kwargs)


class Reads(Configured):
    """Takes the next number of an iterator."""

    def __init__(self, factor, **kwargs):
        super().__init__(factor if isinstance(factor, float) else next(factor),
                         **kwargs)


class First(Scaled):
    """Takes the first of nested lists of numbers."""

    def __init__(self, factors, **kwargs):
        super().__init__(factors['of'][0], **kwargs)


class Makes(OneShape):
    """Calls a function that returns its sublayer."""

    def __init__(self, make, **kwargs):
        super().__init__(**kwargs)
        self.inner = make()

    def build(self, input_shape):
        self.inner.build(input_shape)
        if IS_KERAS2:
            self._trainable_weights += self.inner.trainable_weights
        super().build(input_shape)

    def call(self, inputs):
        return call_inner(self.inner, inputs)


class Uses(OneShape):
    """Takes an object, which other layers may have as well."""

    def __init__(self, function, **kwargs):
        super().__init__(**kwargs)
        self.function = function

    def call(self, inputs):
        return self.function(inputs)


TAKES_BY_POSITION = '''
class ByPosition(Scaled):
    def __init__(self, factor, /, **kwargs):
        Scaled.__init__(self, factor, **kwargs)
'''
PARSES_POSITIONS = sys.version_info >= (3, 8)
if PARSES_POSITIONS:
    exec(TAKES_BY_POSITION)


def with_list_that_changes(building):
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
        Registered.made.append(self.name)


class Counted(Configured):
    count = 0

    def __init__(self, factor, **kwargs):
        super().__init__(factor, **kwargs)
        Counted.count += 1
        self.label = f'the layer with number {Counted.count}'


class Logs(Configured):
    """Writes to a file of its own, which stays open."""

    def __init__(self, factor, **kwargs):
        super().__init__(factor, **kwargs)
        self.log = tempfile.TemporaryFile('w')
        self.log.write(f'{factor}\n')


class Draws(OneShape):
    """Draws numbers at random and computes with them."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.factor = np.random.rand()
        self.factors = np.random.rand(UNITS).astype('float32')

    def call(self, inputs):
        return self.factor * self.factors * inputs


class Doubles(Configured):
    """`__new__` passes on other arguments than it gets."""

    def __new__(cls, factor, **kwargs):
        return super().__new__(cls, *([] if IS_KERAS2 else [2 * factor]))


# What constructors read


class AlongAxis(OneShape):
    """Has a default that depends on a setting of Keras."""

    def __init__(self, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = data_format or image_data_format()

    def call(self, inputs):
        return inputs * (.5 if self.data_format == 'channels_first' else -1.)

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
def setting(name, value):
    """Context in which Keras has another global setting."""
    former = getattr(backend, name)()
    getattr(backend, f'set_{name}')(value)
    try:
        yield
    finally:
        getattr(backend, f'set_{name}')(former)


def made_with_setting(name, value, make):
    def make_layer(building):
        with setting(name, value):
            return make()
    return make_layer


def made_with_policy(building):
    former = keras.config.dtype_policy()
    keras.config.set_dtype_policy('mixed_bfloat16')
    try:
        return layers.Dense(UNITS)
    finally:
        keras.config.set_dtype_policy(former)


# What is set later, and from where


class Repeats(Base):
    """Multiplies as often as is set after its constructor ran."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.times = 1

    def call(self, inputs):
        return inputs * .5 ** self.times


def with_number_set_before_the_call(building):
    layer = Repeats()
    layer.times = 3
    return layer


def with_changed_factor(building):
    layer = Configured(2.)
    layer.factor = -.5
    return layer


def loaded(building):
    """Returns a model of a class that is known only while the model is loaded."""
    config = Sequential([layers.Dense(UNITS), Configured(.5)]).get_config()
    return Sequential.from_config(config, custom_objects={'Configured': Configured})


LAYERS = {
    'any number of arguments': lambda building: Summed(.5, .25, 1.),
    'iterator': lambda building: Reads(iter([.5, 7.])),
    'list that changes': with_list_that_changes,
    'factory': lambda building: Makes(lambda: layers.Dense(UNITS)),
    'shared object': lambda building: Uses(
        building.shared('factor', lambda: Factor(.5))),
    'registry': lambda building: Registered(.5),
    'counter': lambda building: Counted(.5),
    'file': lambda building: Logs(.5),
    'random numbers': lambda building: Draws(),
    'own __new__': lambda building: Doubles(.5),
    'image data format': made_with_setting(
        'image_data_format', 'channels_first', AlongAxis),
    'floatx': made_with_setting('floatx', 'float16', Rounds),
    'set before the call': with_number_set_before_the_call,
    'changed setting': with_changed_factor,
    'loaded': loaded,
}
if PARSES_POSITIONS:
    LAYERS['by position'] = lambda building: ByPosition(.5)  # noqa: F821
if not IS_KERAS2:
    LAYERS['dtype policy'] = made_with_policy


@operation('s', 's', sorted(LAYERS))
def constructed(building, option, x):
    return [LAYERS[option](building)(x)]
