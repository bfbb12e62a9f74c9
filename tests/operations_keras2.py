"""What random models are made of on Keras 2."""
import collections
import functools

from keras import backend as K
from keras import layers
from keras.models import Model
from keras.models import Sequential
from keras.utils import custom_object_scope
from keras_clone import gallery
from keras_clone.gallery import MinimalCell
from keras_clone.gallery import gelu
from operations import NESTED
from operations import STEPS
from operations import UNITS
from operations import operation


# Layers of the user


class TwoOutputs(layers.Layer):
    """Has two outputs, and masks as `masks` says."""

    def __init__(self, masks, **kwargs):
        super(TwoOutputs, self).__init__(**kwargs)
        self.masks = masks
        self.supports_masking = masks == 'default'

    def call(self, inputs):
        return [inputs, 2 * inputs]

    def compute_output_shape(self, input_shape):
        return [input_shape, input_shape]

    def compute_mask(self, inputs, mask=None):
        if self.masks == 'default':
            return super(TwoOutputs, self).compute_mask(inputs, mask)
        return {'none': None, 'list': [mask, None], 'tuple': (None, mask),
                'both': [mask, mask]}[self.masks]

    def get_config(self):
        return dict(super(TwoOutputs, self).get_config(), masks=self.masks)


class TwoInputs(layers.Layer):
    """Has two inputs, and the mask of the one that `mask_of` tells."""

    def __init__(self, mask_of, **kwargs):
        super(TwoInputs, self).__init__(**kwargs)
        self.mask_of = mask_of

    def call(self, inputs):
        return inputs[0] - .5 * inputs[1]

    def compute_output_shape(self, input_shape):
        return input_shape[0]

    def compute_mask(self, inputs, mask=None):
        return mask[self.mask_of]

    def get_config(self):
        return dict(super(TwoInputs, self).get_config(), mask_of=self.mask_of)


class OwnMask(layers.Layer):
    """Makes a mask of its own, and leaves `supports_masking` alone."""

    def call(self, inputs):
        return inputs

    def compute_mask(self, inputs, mask=None):
        return K.any(K.greater(inputs, -.2), axis=-1)


class Scale(gallery.Scale):
    """Has a weight, passes masks on, and has no `get_config`."""

    def __init__(self, **kwargs):
        super(Scale, self).__init__(**kwargs)
        self.supports_masking = True


class Shift(layers.Layer):
    """Is told at each call what to add and how to scale."""

    def __init__(self, **kwargs):
        super(Shift, self).__init__(**kwargs)
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
        super(CellWithConstants, self).build(input_shape[0])

    def call(self, inputs, states, constants):
        return super(CellWithConstants, self).call(inputs + constants[0], states)


class Doubled(object):
    """A callable object, and the owner of a bound method."""

    def __call__(self, x):
        return 2 * x

    def method(self, x):
        return K.tanh(x) + x


def scaled(x, by=3.):
    return by * x


def is_large(x, mask=None):
    return K.any(K.greater(x, -.3), axis=-1)


CALLABLES = collections.OrderedDict([
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
    # It looks the class of the cell up when it makes its second layer.
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


# Call arguments. What is `outermost` holds tensors where Keras calls a nested model
# with those of its first call.


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


if K.backend() != 'cntk':  # It does not tell what a tensor is made of.
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
