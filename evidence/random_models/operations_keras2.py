"""The operations of random models on Keras 2."""
import ast
import collections
import copy
import functools
import itertools
import json
import operator
import pickle
import weakref

import numpy as np
from keras import constraints, initializers, layers, regularizers
from keras import backend as K
from keras.layers.wrappers import Wrapper
from keras.models import Model, Sequential, model_from_json
from keras.utils import custom_object_scope
from keras_clone.check import gallery
from keras_clone.check.gallery import MinimalCell, gelu

from evidence.random_models.custom import (
    CHANGED_OBJECTS, CONTAINERS, EXTENSIONS, FILLED, FUNCTION_OF, FUNCTION_WAYS,
    MATRIX, PATCHES, Applies, Asks, AtMost, Base, Careful, CarefulWithConfig, Child,
    Doubled, Extensible, FillsInBuild, KeepRate, LayerWithSlot, Limits, Locks, Mode,
    OmitsRegularizer, Plain, Popped, Remembers, Scaled, Scorer, Static, Strange,
    Strong, by_layer, counter, digest_of, doubled, extended, from_class,
    keep_function_of, layers_in, named, pickled, renamed, scaled, times,
    with_attributes)
from evidence.random_models.operations import (
    BATCH, NESTED, STEPS, UNITS, operation, whole)


# Custom layers


class TwoOutputs(layers.Layer):
    """Has two outputs; `masks` determines which of them have a mask."""

    def __init__(self, masks, **kwargs):
        super().__init__(**kwargs)
        self.masks = masks
        self.supports_masking = masks == 'default'

    def call(self, inputs):
        return [inputs, 2 * inputs]

    def compute_output_shape(self, input_shape):
        return [input_shape, input_shape]

    def compute_mask(self, inputs, mask=None):
        if self.masks == 'default':
            return super().compute_mask(inputs, mask)
        return {'none': None, 'list': [mask, None], 'tuple': (None, mask),
                'both': [mask, mask]}[self.masks]

    def get_config(self):
        return dict(super().get_config(), masks=self.masks)


class TwoInputs(layers.Layer):
    """Has two inputs; the mask of its output is that of the input `mask_of`."""

    def __init__(self, mask_of, **kwargs):
        super().__init__(**kwargs)
        self.mask_of = mask_of

    def call(self, inputs):
        return inputs[0] - .5 * inputs[1]

    def compute_output_shape(self, input_shape):
        return input_shape[0]

    def compute_mask(self, inputs, mask=None):
        return mask[self.mask_of]

    def get_config(self):
        return dict(super().get_config(), mask_of=self.mask_of)


class OwnMask(layers.Layer):
    """Computes a mask of its own and does not set `supports_masking`."""

    def call(self, inputs):
        return inputs

    def compute_mask(self, inputs, mask=None):
        return K.any(K.greater(inputs, -.2), axis=-1)


class Scale(gallery.Scale):
    """Has a weight, passes masks on, and has no `get_config`."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True


class Shift(layers.Layer):
    """Takes what to add and how to scale as arguments of each call."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def call(self, inputs, by=None, scale=1.):
        return scale * inputs + sum(_leaves(by))


def _leaves(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [leaf for each in value for leaf in _leaves(each)]
    return [] if value is None else [value]


class CellWithConstants(MinimalCell):
    """A recurrent cell that takes constants."""

    def build(self, input_shape):
        super().build(input_shape[0])

    def call(self, inputs, states, constants):
        return super().call(inputs + constants[0], states)


def is_large(x, mask=None):
    return K.any(K.greater(x, -.3), axis=-1)


CALLABLES = dict([
    ('lambda', lambda: lambda x: .5 * x),
    ('closure', lambda: (lambda factor: lambda x: factor * x)(1.5)),
    ('default', lambda: lambda x, factor=.7: factor * x),
    ('global', lambda: lambda x: K.tanh(x) - x),
    ('named', lambda: gelu),
    ('partial', lambda: functools.partial(scaled, by=-2.)),
    ('object', Doubled),
    ('method', lambda: Doubled().method),
])


# Operations that keep the kind of the tensor


@operation('s', 's', ['tanh'] + list(CALLABLES))
def dense(building, option, x):
    activation = CALLABLES[option]() if option in CALLABLES else option
    return [layers.Dense(UNITS, activation=activation)(x)]


@operation('v', 'v', ['tanh', 'named', 'regularized'])
def dense_vector(building, option, x):
    if option == 'regularized':
        return [layers.Dense(UNITS, kernel_regularizer=lambda w: .1 * K.sum(w),
                             kernel_constraint=lambda w: K.abs(w))(x)]
    activation = gelu if option == 'named' else option
    return [layers.Dense(UNITS, activation=activation)(x)]


@operation('s', 's', ['BatchNormalization', 'Dropout', 'Activation', 'Masking',
                      'Scale'])
def plain(building, option, x):
    make = {'BatchNormalization': layers.BatchNormalization, 'Scale': Scale,
            'Dropout': lambda: layers.Dropout(.5), 'Masking': layers.Masking,
            'Activation': lambda: layers.Activation('sigmoid')}
    return [make[option]()(x)]


@operation('s', 's', ['Conv1D', 'Reshape'])
def no_masks_allowed(building, option, x):
    make = {'Conv1D': lambda: layers.Conv1D(UNITS, 2, padding='same'),
            'Reshape': lambda: layers.Reshape((STEPS, UNITS))}
    return [make[option]()(layers.Lambda(lambda x: 1. * x)(x))]


@operation('s', 's', list(CALLABLES))
def lambda_layer(building, option, x):
    return [layers.Lambda(CALLABLES[option]())(x)]


@operation('s', 's', ['function', 'named', 'takes mask', 'arguments'])
def lambda_with_more(building, option, x):
    if option == 'function':
        layer = layers.Lambda(
            lambda x: x + .1, mask=lambda x, mask: K.greater(x[:, :, 0], -.3))
    elif option == 'named':
        layer = layers.Lambda(lambda x: 3 * x, mask=is_large)
    elif option == 'takes mask':
        layer = layers.Lambda(lambda x, mask=None: x if mask is None else
                              x * K.expand_dims(K.cast(mask, 'float32')))
    else:
        layer = layers.Lambda(scaled, arguments={'by': .25})
    return [layer(x)]


@operation('s', 'ss')
def lambda_with_two_outputs(building, option, x):
    return layers.Lambda(lambda x: [x, .5 * x],
                         output_shape=lambda shape: [shape, shape])(x)


@operation('s', 'ss', ['none', 'default', 'list', 'tuple', 'both'])
def two_outputs(building, option, x):
    return TwoOutputs(option)(x)


@operation('ss', 's', ['0', '1'])
def two_inputs(building, option, x, y):
    return [TwoInputs(int(option))([x, y])]


@operation('s', 's')
def own_mask(building, option, x):
    return [OwnMask()(x)]


@operation('ss', 's', ['Add', 'Subtract', 'Multiply', 'Average', 'Maximum'])
def merge(building, option, x, y):
    return [getattr(layers, option)()([x, y])]


@operation('ss', 's')
def concatenate(building, option, x, y):
    return [layers.Dense(UNITS)(layers.Concatenate()([x, y]))]


@operation('vv', 'v', ['Add', 'Dot'])
def merge_vectors(building, option, x, y):
    if option == 'Dot':
        return [layers.Dense(UNITS)(layers.Dot(1)([x, y]))]
    return [layers.Add()([x, y])]


# Recurrent layers and wrappers


@operation('s', 's', ['SimpleRNN', 'GRU', 'LSTM', 'backwards', 'cells'])
def recurrent(building, option, x):
    if option == 'cells':
        layer = layers.RNN([layers.GRUCell(UNITS), MinimalCell(UNITS)],
                           return_sequences=True)
    elif option == 'backwards':
        layer = layers.GRU(UNITS, return_sequences=True, go_backwards=True)
    else:
        layer = getattr(layers, option)(UNITS, return_sequences=True)
    return [layer(x)]


@operation('s', 'v', ['SimpleRNN', 'LSTM', 'cell'])
def last(building, option, x):
    layer = (layers.RNN(MinimalCell(UNITS)) if option == 'cell' else
             getattr(layers, option)(UNITS))
    return [layer(x)]


@operation('s', 'svv')
def returned_states(building, option, x):
    return layers.LSTM(UNITS, return_sequences=True, return_state=True)(x)


@operation('sv', 's')
def initial_state(building, option, x, h):
    return [layers.GRU(UNITS, return_sequences=True)(x, initial_state=h)]


@operation('svv', 's', ['LSTM', 'Bidirectional'])
def initial_states(building, option, x, h, c):
    layer = layers.LSTM(UNITS, return_sequences=True)
    if option == 'Bidirectional':
        layer = layers.Bidirectional(layers.GRU(UNITS, return_sequences=True),
                                     merge_mode='sum')
    return [layer(x, initial_state=[h, c])]


@operation('sv', 's')
def constants(building, option, x, v):
    layer = layers.RNN(CellWithConstants(UNITS), return_sequences=True)
    return [layer(x, constants=v)]


@operation('svv', 's')
def constants_and_state(building, option, x, v, h):
    layer = layers.RNN(CellWithConstants(UNITS), return_sequences=True)
    return [layer(x, constants=v, initial_state=h)]


@operation('s', 's', ['sum', 'ave', 'custom'])
def bidirectional(building, option, x):
    layer = layers.SimpleRNN(UNITS, return_sequences=True)
    if option == 'custom':
        layer, option = layers.RNN(MinimalCell(UNITS), return_sequences=True), 'mul'
    # `Bidirectional` looks up the class of the cell to make its second layer.
    with custom_object_scope({'MinimalCell': MinimalCell}):
        return [layers.Bidirectional(layer, merge_mode=option)(x)]


@operation('s', 's', ['Dense', 'Scale', 'Lambda', 'Sequential', 'Model'])
def time_distributed(building, option, x):
    def model():
        inputs = layers.Input((UNITS,))
        return Model(inputs, Scale()(inputs))
    make = {'Dense': lambda: layers.Dense(UNITS, activation=gelu), 'Scale': Scale,
            'Lambda': lambda: layers.Lambda(lambda x: .3 * x), 'Model': model,
            'Sequential': lambda: Sequential([layers.Dense(
                UNITS, input_shape=(UNITS,))])}
    return [layers.TimeDistributed(make[option]())(x)]


@operation('v', 's')
def repeat(building, option, x):
    return [layers.RepeatVector(STEPS)(x)]


# Layers used in several places


@operation('s', 's', ['Dense', 'LSTM', 'Lambda'])
def shared(building, option, x):
    make = {'Dense': lambda: layers.Dense(UNITS, activation='tanh'),
            'LSTM': lambda: layers.LSTM(UNITS, return_sequences=True),
            'Lambda': lambda: layers.Lambda(lambda x: x + 1.)}
    return [building.shared(option, make[option])(x)]


@operation('v', 'v')
def shared_with_sequences(building, option, x):
    return [building.shared('Scale', Scale)(x)]


@operation('ss', 's')
def called_twice(building, option, x, y):
    layer = layers.Bidirectional(layers.SimpleRNN(UNITS, return_sequences=True),
                                 merge_mode='sum')
    return [layers.Add()([layer(x), layer(y)])]


# Call arguments. Those that hold tensors are `outermost`: when Keras calls a nested
# model again, it passes the tensors of the first call.


@operation('s', 's', ['none', 'scale', 'training'])
def plain_argument(building, option, x):
    if option == 'training':
        return [layers.Dropout(.5)(x, training=False)]
    return [Shift()(x, **({'scale': .5} if option == 'scale' else {}))]


@operation('ss', 's', ['tensor', 'list', 'nested'], outermost=True)
def tensor_argument(building, option, x, y):
    by = {'tensor': y, 'list': [y, x], 'nested': {'of': (y, [y])}}
    return [Shift()(x, by=by[option])]


@operation('ss', 's', outermost=True)
def mask_argument(building, option, x, y):
    mask = layers.Lambda(lambda x: K.greater(x[:, :, 0], -.4))(y)
    layer = layers.SimpleRNN(UNITS, return_sequences=True)
    return [layer(x, mask=mask)]


if K.backend() != 'cntk':  # Its graph cannot be searched.
    @operation('vv', 'v', outermost=True)
    def tensor_of_backend(building, option, x, y):
        return [Shift()(x, by=2 * y)]


@operation('vv', 'v', outermost=True)
def tensor_in_closure(building, option, x, y):
    return [layers.Lambda(lambda x: x + y)(x)]


# Nested models


@operation('s', 's', ['built', 'not built', 'masked'])
def sequential(building, option, x):
    stack = [layers.Dense(UNITS), OwnMask(), Scale()]
    if option == 'built':
        stack[0] = layers.Dense(UNITS, input_shape=(STEPS, UNITS))
    elif option == 'masked':
        stack[0] = layers.Masking(input_shape=(STEPS, UNITS))
    return [Sequential(stack)(x)]


@operation('sv', 'sv', NESTED)
def nested(building, recipe, x, v):
    return building.nested_model(recipe)(x, v)


@operation('svs', 'sv', NESTED)
def nested_called_twice(building, recipe, x, v, y):
    model = building.nested_model(recipe)
    _, v = model(x, v)
    return model(y, v)


# Layers that hold layers, with custom code to write and read configs


class Composed(Base):
    """A layer that has the weights of the layers in its attribute `parts`."""

    parts = ()

    def build(self, input_shape):
        for layer in layers_in(self.parts):
            if not layer.built:
                with K.name_scope(layer.name):
                    layer.build(input_shape)
                layer.built = True
        super().build(input_shape)

    def call(self, inputs):
        return _sum((i + 1.) * layer.call(inputs)
                    for i, layer in enumerate(layers_in(self.parts)))

    @property
    def trainable_weights(self):
        return self._trainable_weights + [
            weight for layer in layers_in(self.parts)
            for weight in layer.trainable_weights]

    @property
    def non_trainable_weights(self):
        return self._non_trainable_weights + [
            weight for layer in layers_in(self.parts)
            for weight in layer.non_trainable_weights]


def _sum(tensors):
    return functools.reduce(lambda x, y: x + y, tensors)


WAYS = dict([  # (way, (writes a layer, reads it))
    ('class and config', (
        lambda layer: (type(layer).__name__, layer.get_config()), named)),
    ('copied', (lambda layer: copy.deepcopy(layers.serialize(layer)),
                lambda config: layers.deserialize(copy.deepcopy(config)))),
    ('JSON', (lambda layer: json.dumps([type(layer).__name__, layer.get_config()]),
              lambda text: named(json.loads(text)))),
    ('other key', (layers.serialize, layers.deserialize)),
    ('pickled', (lambda layer: pickled((type(layer), layer.get_config())),
                 lambda data: from_class(*pickle.loads(data)))),
    ('repr', (lambda layer: repr((type(layer).__name__, layer.get_config())),
              lambda text: named(ast.literal_eval(text)))),
])


class Written(Composed):
    """Holds a layer and writes it to its config in one of `WAYS`."""

    def __init__(self, inner, way, digest=None, **kwargs):
        super().__init__(**kwargs)
        self.parts, self.way = [inner], way
        self.digest = digest or digest_of(inner)
        if self.digest != digest_of(inner):
            raise ValueError('The config is not what it was.')

    def call(self, inputs):
        inner, = self.parts
        factor = 2. if type(inner).__name__ == 'Dense' else -1.
        return factor * inner.call(inputs)

    def get_config(self):
        write, _ = WAYS[self.way]
        inner, = self.parts
        return dict(super().get_config(), way=self.way,
                    digest=digest_of(inner), written=write(inner))

    @classmethod
    def from_config(cls, config):
        _, read = WAYS[config['way']]
        return cls(read(config.pop('written')), **config)


TO_WRITE = dict([
    ('Dense', lambda: layers.Dense(UNITS, activation='tanh',
                                   kernel_regularizer='l2')),
    ('function', lambda: layers.Dense(UNITS, activation=gelu)),
    ('Sequential', lambda: Sequential([
        layers.Dense(UNITS, input_shape=(UNITS,))])),
    ('Scale', Scale),
])


@operation('v', 'v', ['{}, {}'.format(*pair)
                      for pair in itertools.product(WAYS, TO_WRITE)])
def written(building, option, x):
    way, inner = option.split(', ')
    return [Written(TO_WRITE[inner](), way)(x)]


@operation('s', 's', list(WAYS))
def written_in_steps(building, option, x):
    return [layers.TimeDistributed(Written(TO_WRITE['Dense'](), option))(x)]


class Jsoned(Wrapper):
    """A wrapper whose config is converted to JSON and back."""

    def build(self, input_shape):
        if not self.layer.built:
            self.layer.build(input_shape)
            self.layer.built = True
        super().build(input_shape)

    def call(self, inputs):
        return -1. * self.layer.call(inputs)

    def get_config(self):
        return json.loads(json.dumps(super().get_config()))


@operation('v', 'v', list(TO_WRITE))
def wrapped_as_json(building, option, x):
    return [Jsoned(TO_WRITE[option]())(x)]


class OfModel(Composed):
    """Holds a model and writes it to its config by `to_json`."""

    def __init__(self, net, **kwargs):
        super().__init__(**kwargs)
        self.parts = (model_from_json(net) if isinstance(net, str) else net)

    def call(self, inputs):
        return .5 * self.parts(inputs)

    def get_config(self):
        return dict(super().get_config(), net=self.parts.to_json())


@operation('v', 'v', ['Dense', 'Scale'])
def model_as_json(building, option, x):
    inputs = layers.Input((UNITS,))
    layer = Scale() if option == 'Scale' else layers.Dense(UNITS)
    return [OfModel(Model(inputs, layer(inputs)))(x)]


@operation('s', 's', ['{}, {}'.format(*pair) for pair in
                      itertools.product(FUNCTION_WAYS, sorted(FUNCTION_OF))])
def asks(building, option, x):
    way, name = option.split(', ')
    return [Asks(FUNCTION_OF[name], way)(x)]


class Settings:
    """A custom object that is equal to those with equal attributes."""

    def __init__(self, rate):
        self.rate = rate

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None


VALUES = dict([  # (type, (makes a value, converts it to a number))
    (collections.Counter, (lambda: collections.Counter('aab'),
                           lambda value: value.most_common(1)[0][1])),
    (collections.OrderedDict, (
        lambda: collections.OrderedDict([('z', .3), ('a', 5)]),
        lambda value: next(iter(value.values())))),
    (collections.defaultdict, (lambda: collections.defaultdict(float, a=.5),
                               lambda value: value['a'] - value['missing'])),
    (frozenset, (lambda: frozenset([.5, .25]), max)),
    (Limits, (lambda: Limits(-.1, .7), lambda value: value.high)),
    (Mode, (lambda: Mode.FAST, lambda value: 2 if value is Mode.FAST else 1)),
    (np.float32, (lambda: np.float32(.5), float)),
    (Settings, (lambda: Settings(.6), lambda value: value.rate)),
    (slice, (lambda: slice(1, 3), lambda value: value.stop)),
    (Strange, (lambda: Strange(a=.4), lambda value: value.a)),
])
TYPES_OF_VALUES = dict((cls.__name__, cls) for cls in VALUES)


class Valued(Base):
    """Accepts only values of the types in `VALUES`."""

    def __init__(self, value, **kwargs):
        super().__init__(**kwargs)
        make, number = VALUES[type(value)]
        self.value, self.made_by, self.factor = value, make, float(number(value))

    def call(self, inputs):
        return self.factor * inputs

    def get_config(self):
        return dict(super().get_config(), value=self.made_by())


@operation('s', 's', list(TYPES_OF_VALUES))
def valued(building, option, x):
    make, _ = VALUES[TYPES_OF_VALUES[option]]
    return [Valued(make())(x)]


class Counts(Composed):
    """Counts how often its config is read; may make another layer from it."""

    read = 0

    def __init__(self, units, way, **kwargs):
        super().__init__(**kwargs)
        self.parts, self.way = [layers.Dense(units)], way

    def get_config(self):
        Counts.read += 1
        config = dict(super().get_config(), way=self.way,
                      units=self.parts[0].units)
        if self.way == 'twin':
            type(self)(**dict(copy.deepcopy(config), way=None))
        return config


@operation('v', 'v', ['counts', 'twin'])
def counted(building, option, x):
    return [Counts(UNITS, option)(x)]


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
        return dict(super().get_config(), config=self.config,
                    way=self.way)


def _model_of(config):
    return Sequential([layers.InputLayer((UNITS,)), layers.deserialize(config)])


COPIES = dict([
    ('built', lambda config: [layers.deserialize(config) for _ in range(2)]),
    ('deepcopy', lambda config: [
        copy.deepcopy(layer) for layer in [layers.deserialize(config)] * 2]),
    ('deserialize', lambda config: [layers.deserialize(config) for _ in range(3)]),
    ('from_config', lambda config: [
        layers.Dense.from_config(config['config']) for _ in range(2)]),
    ('model_from_json', lambda config: [
        model_from_json(_model_of(config).to_json()) for _ in range(2)]),
    ('renamed', lambda config: [layers.deserialize(renamed(config, name))
                                for name in ('first', 'second')]),
])


@operation('v', 'v', list(COPIES))
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


@operation('v', 'v', ['Dense', 'Scale'])
def twice(building, option, x):
    make = {'Dense': lambda: layers.Dense(UNITS, name='tower'),
            'Scale': lambda: Scale(name='tower')}[option]
    return [Twice(make(), make())(x)]


# Layers that hold other layers, weights or objects


class Given(Composed):
    """Takes layers in a container as an argument; has no config."""

    def __init__(self, held, **kwargs):
        super().__init__(**kwargs)
        self.parts = held


class Making(Composed):
    """Makes its layers itself, in one of `CONTAINERS`."""

    def __init__(self, kind, **kwargs):
        super().__init__(**kwargs)
        self.parts, self.kind = CONTAINERS[kind](_pair()), kind

    def get_config(self):
        return dict(super().get_config(), kind=self.kind)


class Lazy(Composed):
    """Makes its layers in `build`; has no config."""

    def __init__(self, kind='list', **kwargs):
        super().__init__(**kwargs)
        self.kind = kind

    def build(self, input_shape):
        self.parts = CONTAINERS[self.kind](_pair())
        super().build(input_shape)


def _pair():
    return [layers.Dense(UNITS, activation='tanh', name='one'), Scale(name='two')]


@operation('v', 'v', list(CONTAINERS))
def given_layers(building, option, x):
    return [Given(CONTAINERS[option](_pair()))(x)]


@operation('v', 'v', list(CONTAINERS))
def made_layers(building, option, x):
    return [Making(option)(x)]


@operation('v', 'v', list(CONTAINERS))
def lazy_layers(building, option, x):
    return [Lazy(option)(x)]


class Borrows(layers.Layer):
    """Computes with layers that the model calls elsewhere as well."""

    def __init__(self, held, **kwargs):
        super().__init__(**kwargs)
        self.held = Plain(held)

    def call(self, inputs):
        return _sum(layer.call(inputs) for layer in layers_in(self.held))


@operation('v', 'v', list(CONTAINERS))
def borrowed_layers(building, option, x):
    pair = _pair()
    y = pair[1](pair[0](x))
    return [Borrows(CONTAINERS[option](pair))(y)]


class Aliases(Composed):
    """Has layers in several attributes; uses the ids of layers as keys."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.parts = _pair()
        self.first, self.last = self.parts
        self.factors = {id(self.first): .5, id(self.last): 2.}

    def call(self, inputs):
        return _sum(self.factors[id(layer)] * layer.call(inputs)
                    for layer in (self.first, self.last))


class Squashes(Composed):
    """Has a layer whose activation is one of its own methods."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.parts = [layers.Dense(UNITS, activation=self.squash)]
        self.slope = .5

    def squash(self, x):
        return K.tanh(self.slope * x)


class FirstCall(layers.Layer):
    """Makes its weight in its first call and records that it did."""

    initialized = False

    def call(self, inputs):
        if not self.initialized:
            self.kernel = self.add_weight(
                name='kernel', shape=(UNITS, UNITS), initializer='uniform')
            self.initialized = True
        return K.dot(inputs, self.kernel)


@operation('v', 'v', ['Aliases', 'FirstCall', 'Squashes'])
def of_itself(building, option, x):
    return [globals()[option]()(x)]


class TiedTo(layers.Layer):
    """Computes with the weights of another layer, as `DenseTranspose` does."""

    def __init__(self, tied_to, listed=False, **kwargs):
        super().__init__(**kwargs)
        self.tied_to, self.listed = tied_to, listed

    def build(self, input_shape):
        self.bias = self.add_weight(name='bias', shape=(UNITS,), initializer='zeros')
        self.kernel = K.transpose(self.tied_to.kernel)
        if self.listed:
            self._trainable_weights.append(self.tied_to.kernel)
        super().build(input_shape)

    def call(self, inputs):
        return K.dot(inputs, self.kernel) + self.bias


class TiedByCall(TiedTo):
    """Reads the other layer's weight in each call."""

    def build(self, input_shape):
        self.bias = self.add_weight(name='bias', shape=(UNITS,), initializer='zeros')
        layers.Layer.build(self, input_shape)

    def call(self, inputs):
        return K.dot(inputs, K.transpose(self.tied_to.weights[0])) + self.bias


TIED = dict([  # (option, function that takes a built `Dense` and returns a layer)
    ('activation', lambda dense: layers.Dense(UNITS, activation=Scorer(dense))),
    ('arguments', lambda dense: layers.Lambda(
        by_layer, arguments={'layer': dense})),
    ('attribute', TiedTo),
    ('attribute, at each call', TiedByCall),
    ('attribute, listed', lambda dense: TiedTo(dense, listed=True)),
    ('default', lambda dense: layers.Lambda(
        lambda x, kernel=dense.kernel: K.dot(x, kernel))),
    ('kernel', lambda dense: (lambda kernel: layers.Lambda(
        lambda x: K.dot(x, K.transpose(kernel))))(dense.kernel)),
    ('layer', lambda dense: layers.Lambda(lambda x: .8 * dense.call(x))),
    ('method', lambda dense: layers.Lambda(Scorer(dense).score)),
    ('object', lambda dense: layers.Lambda(Scorer(dense))),
    ('partial', lambda dense: layers.Dense(
        UNITS, activation=functools.partial(times, weight=dense.kernel, by=.5))),
    ('partial of a layer', lambda dense: layers.Lambda(
        functools.partial(by_layer, layer=dense))),
    ('regularizer', lambda dense: layers.Dense(
        UNITS, kernel_regularizer=lambda w: K.sum(w * dense.kernel))),
])


@operation('v', 'v', list(TIED))
def tied(building, option, x):
    dense = layers.Dense(UNITS)
    y = dense(x)
    return [TIED[option](dense)(y)]


@operation('vv', 'v', list(TIED))
def tied_to_later(building, option, x, y):
    """The clone may call the other layer later."""
    dense = layers.Dense(UNITS)
    z = dense(x)
    return [layers.add([z, TIED[option](dense)(y)])]


class Halves(initializers.Initializer):
    """A custom initializer without a config."""

    def __call__(self, shape, dtype=None):
        return K.constant(.5, shape=shape)


SHARED_ARGUMENTS = dict([
    ('activation, an object', lambda: {'activation': Doubled()}),
    ('constraint', lambda: {'kernel_constraint': constraints.MaxNorm(.5)}),
    ('initializer', lambda: {
        'kernel_initializer': initializers.RandomNormal(seed=1)}),
    ('own constraint', lambda: {'kernel_constraint': AtMost(.3)}),
    ('own initializer', lambda: {'bias_initializer': Halves()}),
    ('own regularizer', lambda: {'kernel_regularizer': Strong(.1)}),
    ('regularizer', lambda: {'kernel_regularizer': regularizers.l2(.1)}),
])


@operation('v', 'v', list(SHARED_ARGUMENTS))
def shared_argument(building, option, x):
    kwargs = SHARED_ARGUMENTS[option]()
    return [layers.Dense(UNITS, **kwargs)(layers.Dense(UNITS, **kwargs)(x))]


# Layers without configs


class Affine(Base):
    """Takes arrays and a function as arguments."""

    def __init__(self, matrix, *more, **kwargs):
        self._function = kwargs.pop('function', K.tanh)
        super().__init__(**kwargs)
        self.matrix, self.more = matrix, more

    def call(self, inputs):
        y = self._function(K.dot(inputs, K.constant(self.matrix)))
        return _sum([y] + [K.constant(each) for each in self.more])


class Kernel(Base):
    """Passes all other arguments on to its base class."""

    def __init__(self, units, activity_regularizer=None, **kwargs):
        super().__init__(**kwargs)
        self.u = units
        self.activity_regularizer = regularizers.get(activity_regularizer)

    def build(self, input_shape):
        self.kernel = self.add_weight(
            name='kernel', shape=(input_shape[-1], self.u), initializer='uniform',
            regularizer=regularizers.l2(.3))
        super().build(input_shape)

    def call(self, inputs):
        return K.dot(inputs, self.kernel)


class OwnVariable(Base):
    """Adds a variable of the backend to its weights by itself."""

    def __init__(self, scale, **kwargs):
        super().__init__(**kwargs)
        self.scale = scale

    def build(self, input_shape):
        self.gamma = K.variable(self.scale * np.ones((input_shape[-1],)))
        self._trainable_weights = [self.gamma]
        super().build(input_shape)

    def call(self, inputs):
        return self.gamma * inputs


WITHOUT_CONFIG = dict([
    ('activity regularizer', lambda: Kernel(
        UNITS, activity_regularizer=regularizers.l2(.2))),
    ('activity regularizer, text', lambda: Kernel(
        UNITS, activity_regularizer='l1')),
    ('array', lambda: Affine(MATRIX)),
    ('arrays', lambda: Affine(MATRIX, MATRIX[0], 2 * MATRIX[1])),
    ('derived', lambda: KeepRate(.2)),
    ('derived, keyword', lambda: KeepRate(rate=.9)),
    ('frozen', lambda: Kernel(units=UNITS, trainable=False)),
    ('function', lambda: Affine(MATRIX, function=lambda x: .8 * x)),
    ('popped', lambda: Popped(UNITS, activation='tanh', offset=.5)),
    ('popped, array', lambda: Popped(UNITS, offset=MATRIX[0])),
    ('slot', lambda: LayerWithSlot(3.)),
    ('subclass', lambda: Scaled(UNITS, 3., activation='tanh')),
    ('variable', lambda: OwnVariable(20.)),
], **FILLED)


@operation('v', 'v', list(WITHOUT_CONFIG))
def without_config(building, option, x):
    return [WITHOUT_CONFIG[option]()(x)]


@operation('s', 's', list(WITHOUT_CONFIG))
def without_config_in_steps(building, option, x):
    return [layers.TimeDistributed(WITHOUT_CONFIG[option]())(x)]


class Temperature(Base):
    """Has a number in a variable that is not one of its weights."""

    def __init__(self, value=1., **kwargs):
        super().__init__(**kwargs)
        self.temperature = K.variable(value)

    def call(self, inputs):
        return inputs / self.temperature


class Annealed(Temperature):
    """Writes the number to its config."""

    def get_config(self):
        return dict(super().get_config(),
                    value=float(K.get_value(self.temperature)))


@operation('s', 's', ['Annealed', 'Annealed, set', 'Temperature', 'set'])
def variable(building, option, x):
    layer = (Annealed if 'Annealed' in option else Temperature)(2.)
    y = layer(x)
    if 'set' in option:
        K.set_value(layer.temperature, .5)
    return [y]


class Perceptron(Model):
    """A functional model with a config and arguments of its own."""

    def __init__(self, size, units, activation='relu', **kwargs):
        x = inputs = layers.Input((size,))
        for each in units:
            x = layers.Dense(each, activation=activation)(x)
        super().__init__(inputs, x, **kwargs)
        self.arguments = {'size': size, 'units': units, 'activation': activation}

    def get_config(self):
        return dict(self.arguments, name=self.name)

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


class Graphless(Model):
    """A model that has no graph, and a config of its own."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.dense = layers.Dense(units, activation='tanh')

    def call(self, inputs):
        return self.dense(inputs)

    def compute_output_shape(self, input_shape):
        return input_shape[0], self.units

    def get_config(self):
        return {'units': self.units, 'name': self.name}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


@operation('v', 'v', ['functional', 'functional, text', 'no graph'])
def model_with_config(building, option, x):
    if option == 'no graph':
        return [Graphless(UNITS)(x)]
    activation = 'tanh' if option == 'functional, text' else gelu
    return [Perceptron(UNITS, (3, UNITS), activation)(x)]


# Layers that are changed after they were made


def _frozen(layer):
    layer.trainable = False


def _moved(layer):
    layer._non_trainable_weights.append(layer._trainable_weights.pop(0))


def _dense():
    return layers.Dense(UNITS)


CHANGED = dict([  # (option, (function that makes a layer, function that changes it))
    ('activity', (Extensible, lambda layer: setattr(
        layer, 'activity_regularizer', regularizers.l2(.2)))),
    ('activity, no config', (lambda: OmitsRegularizer(
        UNITS, activity_regularizer=regularizers.l2(.2)), lambda layer: None)),
    ('activation', (_dense, lambda layer: setattr(layer, 'activation', gelu))),
    ('attribute', (Scale, lambda layer: setattr(layer, 'names', [{'b': (1,)}]))),
    ('frozen', (_dense, _frozen)),
    ('function', (_dense, keep_function_of)),
    ('number', (lambda: KeepRate(.5), lambda layer: setattr(layer, 'rate', 4.))),
    ('part frozen', (lambda: Given(_pair()),
                     lambda layer: _frozen(layer.parts[0]))),
    ('rate', (lambda: layers.Dropout(.5), lambda layer: setattr(layer, 'rate', .1))),
    ('regularizer', (_dense, lambda layer: setattr(
        layer, 'kernel_regularizer', regularizers.l2(.3)))),
    ('slope', (layers.LeakyReLU, lambda layer: setattr(
        layer, 'alpha', K.cast_to_floatx(.9)))),
    ('weight moved', (_dense, None)),
])


@operation('v', 'v', EXTENSIONS)
def something_added(building, option, x):
    return [extended(*option.split(', '), UNITS)(x)]


@operation('v', 'v', list(CHANGED))
def changed(building, option, x):
    make, change = CHANGED[option]
    layer = make()
    if change:
        change(layer)
    y = layer(x)
    if not change:
        _moved(layer)
    return [y]


@operation('v', 'v')
def loss_added_to_a_layer(building, option, x):
    layer = layers.Dense(UNITS)
    y = layer(x)
    layer.add_loss(regularizers.l2(.1)(layer.kernel))
    return [y]


@operation('v', 'v', ['shared', 'transposed'])
def weight_of_another(building, option, x):
    first, second = layers.Dense(UNITS), layers.Dense(UNITS)
    for layer in (first, second):
        layer.build((None, UNITS))
        layer.built = True
    # Without `symbolic`, what TensorFlow 2 computes here is a constant.
    transpose = getattr(K, 'symbolic', lambda function: function)(K.transpose)
    is_shared = option == 'shared'
    second.kernel = first.kernel if is_shared else transpose(first.kernel)
    second._trainable_weights = [second.bias]
    return [second(first(x))]


@operation('v', 'v', list(PATCHES))
def patched(building, option, x):
    return [PATCHES[option](layers.Dense(UNITS))(x)]


def _recurrent():
    return layers.SimpleRNN(UNITS, return_sequences=True)


CHANGED_SEQUENCES = dict([
    ('backward frozen', (
        lambda: layers.Bidirectional(_recurrent(), merge_mode='sum'),
        lambda layer: _frozen(layer.backward_layer))),
    ('cell frozen', (_recurrent, lambda layer: _frozen(layer.cell))),
    ('forward frozen', (
        lambda: layers.Bidirectional(_recurrent(), merge_mode='ave'),
        lambda layer: _frozen(layer.forward_layer))),
    ('inner frozen', (lambda: layers.TimeDistributed(layers.Dense(UNITS)),
                      lambda layer: _frozen(layer.layer))),
    ('model frozen inside', (
        lambda: Sequential([layers.Dense(UNITS), layers.BatchNormalization()]),
        lambda model: _frozen(model.layers[1]))),
    ('one cell frozen', (
        lambda: layers.RNN([layers.GRUCell(UNITS), MinimalCell(UNITS)],
                           return_sequences=True),
        lambda layer: _frozen(layer.cell.cells[1]))),
])


@operation('s', 's', list(CHANGED_SEQUENCES))
def changed_sequences(building, option, x):
    make, change = CHANGED_SEQUENCES[option]
    if option == 'model frozen inside':  # It does not accept masks.
        x = layers.Lambda(lambda x: 1. * x, mask=lambda x, mask: None)(x)
    layer = make()
    y = layer(x)
    change(layer)
    return [y]


class OwnCell(Composed):
    """A recurrent cell that has a layer and a function, and no config."""

    def __init__(self, units, function, **kwargs):
        super().__init__(**kwargs)
        self.state_size, self.function = units, function
        self.parts = [layers.Dense(units, name='inner')]

    def call(self, inputs, states):
        output = self.function(self.parts[0].call(inputs) + states[0])
        return output, [output]


CELLS = dict([
    ('function', lambda: OwnCell(UNITS, gelu)),
    ('in a list', lambda: [OwnCell(UNITS, K.tanh), layers.GRUCell(UNITS)]),
    ('lambda', lambda: OwnCell(UNITS, lambda x: .5 * x)),
])


@operation('s', 's', list(CELLS))
def own_cell(building, option, x):
    return [layers.RNN(CELLS[option](), return_sequences=True)(x)]


@operation('s', 's', ['SimpleRNN', 'LSTM'])
def stateful(building, option, x):
    batch = layers.Lambda(
        lambda x: K.reshape(x, (BATCH, STEPS, UNITS)),
        output_shape=lambda shape: (BATCH, STEPS, UNITS))(x)
    return [getattr(layers, option)(UNITS, stateful=True,
                                    return_sequences=True)(batch)]


# Losses and updates


class AddsLoss(Base):
    """Adds a loss computed from its inputs and one from its weight."""

    def __init__(self, factor=1., **kwargs):
        super().__init__(**kwargs)
        self.factor = factor

    def build(self, input_shape):
        self.scale = self.add_weight(name='scale', shape=(1,), initializer='ones',
                                     regularizer=regularizers.l1(.1))
        super().build(input_shape)

    def call(self, inputs):
        self.add_loss(self.factor * K.sum(inputs), inputs=inputs)
        return self.scale * inputs


class Updates(Base):
    """Counts in one of its weights how often its update is run."""

    def build(self, input_shape):
        self.count = self.add_weight(name='count', shape=(1,), trainable=False,
                                     initializer='zeros')
        super().build(input_shape)

    def call(self, inputs):
        self.add_update([K.update_add(self.count, K.ones((1,)))], inputs)
        return inputs * (1. + self.count)


@operation('s', 's', ['default', 'given', 'updates'])
def adds_loss(building, option, x):
    make = {'default': AddsLoss, 'given': lambda: AddsLoss(.3), 'updates': Updates}
    return [make[option]()(x)]


# Layers that hold something that is hard to copy


class Delegates(Composed):
    """Takes the attributes that it lacks from the layer that it holds."""

    def __init__(self, inner, **kwargs):
        super().__init__(**kwargs)
        self.parts = [inner]

    def __getattr__(self, name):
        if name.startswith('_') or name == 'parts':
            raise AttributeError(name)
        return getattr(self.parts[0], name)

    def call(self, inputs):
        return self.parts[0].call(inputs) / self.units


class Parent(Composed):
    """Holds a layer that refers back to it."""

    def __init__(self, gain=.5, **kwargs):
        super().__init__(**kwargs)
        self.gain, child = gain, Child()
        child.parent = weakref.ref(self)
        self.parts = [child]


ODD = dict([
    ('applies', Applies),
    ('careful', lambda: Careful(.4)),
    ('careful, config', lambda: CarefulWithConfig(.4)),
    ('delegates', lambda: Delegates(layers.Dense(UNITS))),
    ('fills in build', FillsInBuild),
    ('local class', lambda: type('Local', (KeepRate,), {'extra': 2})(rate=.1)),
    ('locks', lambda: Locks(.5)),
    ('parent', Parent),
    ('parent, given', lambda: Parent(3.)),
    ('remembers', Remembers),
], **CHANGED_OBJECTS)


@operation('v', 'v', list(ODD))
def odd(building, option, x):
    return [ODD[option]()(x)]


@operation('s', 's', list(ODD))
def odd_in_steps(building, option, x):
    return [Sequential([ODD[option](), layers.Activation('tanh')])(x)]


ODD_FUNCTIONS = dict([
    ('builtin', lambda: operator.neg),
    ('class method', lambda: Static.scaled),
    ('decorated', lambda: doubled(K.tanh)),
    ('decorated lambda', lambda: doubled(lambda x: .8 * x)),
    ('partial of partial', lambda: functools.partial(
        functools.partial(scaled), by=2.)),
    ('recursive', counter),
    ('static method', lambda: Static.halved),
    ('with attributes', lambda: with_attributes(lambda x: 3 * x)),
])


@operation('s', 's', list(ODD_FUNCTIONS))
def odd_function(building, option, x):
    return [layers.Dense(UNITS, activation=ODD_FUNCTIONS[option]())(x)]


@operation('v', 'v', [name for name in ODD_FUNCTIONS if name != 'builtin'])
def odd_lambda(building, option, x):
    return [layers.Lambda(ODD_FUNCTIONS[option]())(x)]


class Shares(Base):
    """Takes a variable that other layers have as well."""

    def __init__(self, shared, factor=1., **kwargs):
        super().__init__(**kwargs)
        self.shared, self.factor = shared, factor

    def call(self, inputs):
        return self.factor * self.shared * inputs


@operation('vv', 'v')
def shared_state(building, option, x, y):
    state = K.variable(2.)
    return [layers.Add()([Shares(state)(x), Shares(state, .3)(y)])]


# How the outer model is made


@whole(['of a tensor', 'of a weight', 'of two'])
def with_losses(option, inputs, outputs):
    model = Model(inputs, outputs)
    if option != 'of a weight':
        model.add_loss(.5 * K.mean(outputs[0]))
    if option != 'of a tensor':
        weights = model.trainable_weights
        model.add_loss(.1 * K.sum(K.square(weights[-1]) if weights else
                                  K.square(outputs[-1])))
    return model


class Attributed(Model):
    """A functional model with some of its layers and an object in attributes."""

    def __init__(self, inputs, outputs, **kwargs):
        super().__init__(inputs, outputs, **kwargs)
        self.pair = tuple(self.layers[-2:])
        self.by_name = {layer.name: layer for layer in self.layers}
        self.keeper = Plain(self.layers[-1])


@whole()
def attributed(option, inputs, outputs):
    return Attributed(inputs, outputs)


@whole()
def frozen_inside(option, inputs, outputs):
    model = Model(inputs, outputs)
    for layer in model.layers[::3]:
        layer.trainable = False
    return model


class WithArgument(Model):
    """A functional model with an argument of its own."""

    def __init__(self, model, factor=1., **kwargs):
        super().__init__(model.inputs, model.outputs, **kwargs)
        self.factor = factor


class AnyKeyword(Model):
    """Accepts any keyword arguments and makes its graph from one of them."""

    def __init__(self, **options):
        model = options.get('model')
        if model is None:
            x = layers.Input((1,))
            model = Model(x, layers.Dense(1)(x))
        super().__init__(model.inputs, model.outputs)


@whole(['a model', 'any keyword'])
def of_model(option, inputs, outputs):
    model = Model(inputs, outputs)
    if option == 'any keyword':
        return AnyKeyword(model=model)
    return WithArgument(model, factor=.5)
