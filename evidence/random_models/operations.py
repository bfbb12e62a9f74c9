"""The operations that random models consist of: what all releases have in common.

`operations_keras2.py` and `operations_keras3.py` register the operations, each for
one major version of Keras. `custom.py` has the custom classes that both use.

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
        OPERATIONS[make.__name__] = Operation(takes, returns, options, outermost,
                                              make)
        return make
    return enter


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
        MODELS[make.__name__] = Whole(options, make)
        return make
    return enter
