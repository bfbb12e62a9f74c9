"""The operations that random models are made of: what is common to all releases.

`operations_keras2.py` and `operations_keras3.py` enter the operations; each is for
one major version of Keras.

Two kinds of tensors go from layer to layer: sequences, of shape (batch, STEPS,
UNITS), masked or not, and vectors, of shape (batch, UNITS), not masked.
"""
import collections

STEPS = 3
UNITS = 2
WORDS = 5
BATCH = 3  # As many rows as inputs are drawn with.

SEQUENCE = 's'
VECTOR = 'v'

# takes, returns: text, a letter for each tensor. options: the ways to do it; where
# it is NESTED, the option is a recipe. outermost: whether it is for the outer model
# alone. make: the function that does it.
Operation = collections.namedtuple(
    'Operation', 'takes returns options outermost make')
OPERATIONS = {}
NESTED = 'the recipe of a nested model'


def operation(takes, returns, options=('',), outermost=False):
    """Enters a function among the operations, under its own name.

    The function is called with what builds the model (`shared` and `nested_model` of
    it are for operations), the option, and the tensors it takes, all of which it
    uses. It returns a list of tensors.
    """
    def enter(make):
        OPERATIONS[make.__name__] = Operation(takes, returns, options, outermost,
                                              make)
        return make
    return enter


# What is done to the outer model. options: the ways to do it. make: the function
# that does it.
Whole = collections.namedtuple('Whole', 'options make')
MODELS = {}


def whole(options=('',)):
    """Enters a function among those that make an outer model, under its own name.

    The function is called with the option and lists of inputs and of outputs. It
    returns a model.
    """
    def enter(make):
        MODELS[make.__name__] = Whole(options, make)
        return make
    return enter
