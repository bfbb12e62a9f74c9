"""What an operation of random models is, and all of them by their names.

Where the operations are, by what a clone has to reproduce:

- `stock.py`: layers of Keras, `functions.py`: functions in layers, `masks.py`,
  `recurrent.py`, `calls.py`: call arguments and shared layers;
- `models.py`: nested models, and ways to make the outer model;
- `constructors.py`: what constructors take, do and read, `configs.py`: custom code
  to write and read configs, `holders.py`: layers that hold layers, weights and
  objects, `changes.py`: what is changed after the constructor ran;
- `keras2.py` and `keras3.py`: what exists on one major version only.

`custom.py` has what several of them use, `versions.py` what the major versions of
Keras do otherwise.

Two kinds of tensors go from layer to layer: sequences, of shape (batch, STEPS,
UNITS), masked or not, and vectors, of shape (batch, UNITS), not masked.
"""
import collections

STEPS = 3
UNITS = 2
WORDS = 5
BATCH = 3  # The number of rows in the inputs that are drawn.

SEQUENCE = 's'
VECTOR = 'v'

# takes, returns: text, a letter for each tensor. options: the variants; if this is
# NESTED, the option is a recipe. outermost: whether it is for the outer model only.
# make: the function that applies the operation.
Operation = collections.namedtuple(
    'Operation', 'takes returns options outermost make')
OPERATIONS = {}
NESTED = 'the recipe of a nested model'


def operation(takes, returns, options=('',), outermost=False):
    """Registers a function as an operation, under its own name.

    The function is called with the object that builds the model (whose `shared` and
    `nested_model` it may call), the option, and the tensors it takes, all of which
    it has to use. It returns a list of tensors.
    """
    def enter(make):
        OPERATIONS[make.__name__] = Operation(
            takes, returns, options if options == NESTED else list(options),
            outermost, make)
        return make
    return enter


def new_layer(name, kind, table):
    """Registers an operation that calls a new layer on a tensor.

    # Arguments
        name: of the operation.
        kind: SEQUENCE or VECTOR; the layer returns the same.
        table: dict {option: function that makes the layer}.
    """
    def make(building, option, x):
        return [table[option]()(x)]
    OPERATIONS[name] = Operation(kind, kind, list(table), False, make)


# A way to make the outer model. options: the variants. make: the function that makes
# the model.
Whole = collections.namedtuple('Whole', 'options make')
MODELS = {}


def whole(options=('',)):
    """Registers a function that makes an outer model, under its own name.

    The function is called with the option and lists of inputs and of outputs. It
    returns a model.
    """
    def enter(make):
        MODELS[make.__name__] = Whole(list(options), make)
        return make
    return enter
