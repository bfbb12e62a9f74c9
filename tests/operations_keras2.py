"""Random models, made of all that a clone has to reproduce.

`recipes` is a hypothesis strategy. A recipe is made of lists, numbers and texts, as
JSON is. `build` makes its model, the same each time, with no op to spare.

Two kinds of tensors go from layer to layer: sequences, of shape (batch, STEPS,
UNITS), masked or not, and vectors, of shape (batch, UNITS).
"""
import collections
import functools

import hypothesis.strategies as st
from keras import backend as K
from keras import layers
from keras.models import Model
from keras.models import Sequential
from keras.utils import custom_object_scope
from keras_clone import gallery
from keras_clone.gallery import MinimalCell
from keras_clone.gallery import gelu

STEPS = 3
UNITS = 2
WORDS = 5

SEQUENCE = 's'
VECTOR = 'v'
INPUTS = {'words': SEQUENCE, 'sequence': SEQUENCE, 'vector': VECTOR}

# takes, gives: text, a letter for each tensor. options: the ways to do it; where it
# is NESTED, the option is a recipe.
Operation = collections.namedtuple('Operation', 'takes gives options make')
OPERATIONS = collections.OrderedDict()
NESTED = 'the recipe of a nested model'


def operation(takes, gives, options=('',)):
    """Enters a function among the operations, under its own name.

    The function is called with a `_Building`, the option, and the tensors it takes,
    all of which it uses. It returns a list of the tensors that it gives.
    """
    def enter(make):
        OPERATIONS[make.__name__] = Operation(takes, gives, options, make)
        return make
    return enter


def build(recipe):
    """Builds the model of a recipe."""
    return _Building(recipe, {}).model()


class _Building(object):
    """What is built of a recipe.

    # Arguments
        recipe: see `recipes`.
        layers: dict {name: layer}, the layers that are shared; nested models share
            them with the outer one.
    """

    def __init__(self, recipe, layers):
        self._recipe = recipe
        self._layers = layers
        self._inputs = [self._input(name) for name in recipe['inputs']]
        self._given = {}  # {number of a step: the tensors it gives}

    def model(self):
        outputs = [self._tensor(*each) for each in self._recipe['outputs']]
        return Model(self._inputs, outputs)

    def shared(self, name, make):
        """Returns the shared layer of a name; `make` makes it if it is the first."""
        if name not in self._layers:
            self._layers[name] = make()
        return self._layers[name]

    def nested_model(self, recipe):
        """Returns a function that calls a new nested model on a sequence and a
        vector, in the order of the inputs of the recipe."""
        model = _Building(recipe, self._layers).model()
        return lambda sequence, vector: model(
            [{'sequence': sequence, 'vector': vector}[name]
             for name in recipe['inputs']])

    @staticmethod
    def _input(name):
        shape = {'words': (STEPS,), 'sequence': (STEPS, UNITS), 'vector': (UNITS,)}
        return layers.Input(shape[name])

    def _tensor(self, number, index):
        # What no output needs is not built: nothing of it would be in a clone.
        if number not in self._given:
            self._given[number] = self._do(number)
        return self._given[number][index]

    def _do(self, number):
        if number < len(self._inputs):
            x = self._inputs[number]
            if self._recipe['inputs'][number] == 'words':
                x = layers.Embedding(WORDS, UNITS, mask_zero=True)(x)
            return [x]
        step = self._recipe['steps'][number - len(self._inputs)]
        name, option, takes = step
        tensors = [self._tensor(*each) for each in takes]
        return OPERATIONS[name].make(self, option, *tensors)


def uses(recipe):
    """Returns the names of the operations that the model of a recipe has, with
    those of nested models, as often as they occur."""
    first = len(recipe['inputs'])
    waiting, done, names = [number for number, _ in recipe['outputs']], set(), []
    while waiting:
        number = waiting.pop()
        if number < first or number in done:
            continue
        done.add(number)
        name, option, takes = recipe['steps'][number - first]
        names += [name] + (uses(option) if isinstance(option, dict) else [])
        waiting += [number for number, _ in takes]
    return names


# Keras calls a nested model with the tensors of its first call in these places.
HOLD_TENSORS = ('tensor_argument', 'mask_argument', 'tensor_in_closure',
                'tensor_of_backend')


def _tensors_can_be_made_again():
    """Whether the backend has a means to; if not, `clone_model` refuses."""
    if K.backend() == 'tensorflow':
        import tensorflow
        return tensorflow.__version__.startswith('1.')
    return K.backend() == 'theano'


@st.composite
def recipes(draw, inputs=('words', 'sequence', 'vector'), most=10, depth=3):
    """Draws the recipe of a model.

    # Arguments
        inputs: names of its inputs, from `INPUTS`.
        most: how many operations it has at most, those of nested models aside.
        depth: how deep models are nested at most, this one counted.

    # Returns
        A dict: `inputs`, a list of names; `steps`, a list of lists (name of the
        operation, option, references to the tensors it takes); and `outputs`, a
        list of references. A reference is a list: the number of an input or,
        counted on, of a step; and which of the tensors that it gives.
    """
    inputs = draw(st.permutations(inputs))
    known = {kind: [[number, 0] for number, name in enumerate(inputs)
                    if INPUTS[name] == kind] for kind in (SEQUENCE, VECTOR)}
    names = [name for name in OPERATIONS
             if (depth > 1 or OPERATIONS[name].options != NESTED) and
             (depth == 3 or name not in HOLD_TENSORS) and
             (name != 'tensor_of_backend' or _tensors_can_be_made_again())]
    steps = []
    for number in range(len(inputs), len(inputs) + draw(st.integers(2, most))):
        name = draw(st.sampled_from(names))
        chosen = OPERATIONS[name]
        option = (recipes(('sequence', 'vector'), most // 2, depth - 1)
                  if chosen.options == NESTED else st.sampled_from(chosen.options))
        # The tensors made last: else, few of the steps would lead to an output.
        steps.append([name, draw(option), [draw(st.sampled_from(known[kind][:3]))
                                           for kind in chosen.takes]])
        for index, kind in enumerate(chosen.gives):
            known[kind].insert(0, [number, index])
    outputs = known[SEQUENCE][:1] + known[VECTOR][:1]
    if 'words' in inputs:
        outputs += draw(st.lists(st.sampled_from(known[SEQUENCE] + known[VECTOR]),
                                 max_size=2))
        outputs = draw(st.permutations(outputs))
    return {'inputs': inputs, 'steps': steps, 'outputs': outputs}


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


# Call arguments


@operation('s', 's', ['none', 'scale', 'training'])
def plain_argument(building, option, x):
    if option == 'training':
        return [layers.Dropout(.5)(x, training=False)]
    return [Shift()(x, **({'scale': .5} if option == 'scale' else {}))]


@operation('ss', 's', ['tensor', 'list', 'nested'])
def tensor_argument(building, option, x, y):
    by = {'tensor': y, 'list': [y, x], 'nested': {'of': (y, [y])}}
    return [Shift()(x, by=by[option])]


@operation('ss', 's')
def mask_argument(building, option, x, y):
    mask = layers.Lambda(lambda x: K.greater(x[:, :, 0], -.4))(y)
    layer = layers.SimpleRNN(UNITS, return_sequences=True)
    return [layer(x, mask=mask)]


@operation('vv', 'v')
def tensor_of_backend(building, option, x, y):
    return [Shift()(x, by=2 * y)]


@operation('vv', 'v')
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
