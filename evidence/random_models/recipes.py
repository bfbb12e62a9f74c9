"""Random models, with everything that a clone has to reproduce.

`recipes` is a hypothesis strategy. A recipe consists of dicts, lists, numbers and
strings, like JSON. `build` builds its model, the same one each time, without unused
ops. The operations depend on the installed Keras: see `operations.py`.
"""
import hypothesis.strategies as st
from keras import layers
from keras.models import Model

from evidence.random_models import (  # noqa: F401
    calls, changes, configs, constructors, functions, holders, masks, models,
    recurrent, stock)
from evidence.random_models.operations import (
    MODELS, NESTED, OPERATIONS, SEQUENCE, STEPS, UNITS, VECTOR, WORDS)
from evidence.random_models.versions import IS_KERAS2

if IS_KERAS2:
    from evidence.random_models import keras2  # noqa: F401
else:
    from evidence.random_models import keras3  # noqa: F401

# The released clone function of Keras 3 changes the names of unnamed inputs. It
# would clone no model faithfully, and this would hide its other faults.
NAMED = not IS_KERAS2
# The keys of dicts that nested models return. Sorting changes their order.
NAMES_OF_OUTPUTS = ('sequence given', 'a vector')
INPUTS = {'words': SEQUENCE, 'sequence': SEQUENCE, 'vector': VECTOR}


def build(recipe):
    """Builds the model of a recipe."""
    return _Building(recipe, {}, named=NAMED).model()


class _Building:
    """Builds the model of a recipe.

    # Arguments
        recipe: see `recipes`.
        layers: dict {name: layer}, the layers that are shared; nested models share
            them with the outer one.
        named: whether inputs are named.
        dicts: whether inputs and outputs of the model are dicts, not lists.
    """

    def __init__(self, recipe, layers, named=False, dicts=False):
        self._recipe = recipe
        self._layers = layers
        self._named = named
        self._dicts = dicts
        self._inputs = [self._input(name) for name in recipe['inputs']]
        self._made = {}  # {number of a step: the tensors it returns}

    def model(self, **kwargs):
        inputs = self._inputs
        outputs = [self._tensor(*each) for each in self._recipe['outputs']]
        if self._dicts:
            inputs = dict(zip(self._recipe['inputs'], inputs))
            outputs = dict(zip(NAMES_OF_OUTPUTS, outputs))
        if self._recipe.get('model'):
            name, option = self._recipe['model']
            return MODELS[name].make(option, inputs, outputs)
        return Model(inputs, outputs, **kwargs)

    def shared(self, name, make):
        """Returns the shared layer of a name; `make` makes it at its first use."""
        if name not in self._layers:
            self._layers[name] = make()
        return self._layers[name]

    def nested_model(self, recipe, dicts=False, **kwargs):
        """Returns a function that calls a new nested model.

        # Arguments
            recipe: the recipe of the nested model.
            dicts: whether it takes and returns dicts, not lists.
            **kwargs: further arguments of `Model`.

        # Returns
            A function that takes a sequence and a vector, and returns a list of
            both.
        """
        model = _Building(recipe, self._layers, dicts, dicts).model(**kwargs)

        def call(sequence, vector):
            tensors = {'sequence': sequence, 'vector': vector}
            if dicts:
                outputs = model(tensors)
                return [outputs[name] for name in NAMES_OF_OUTPUTS]
            return model([tensors[name] for name in recipe['inputs']])
        return call

    def _input(self, name):
        shape = {'words': (STEPS,), 'sequence': (STEPS, UNITS), 'vector': (UNITS,)}
        return layers.Input(shape[name], name=name if self._named else None)

    def _tensor(self, number, index):
        # What no output needs is not built: a clone would not have it.
        if number not in self._made:
            self._made[number] = self._do(number)
        return self._made[number][index]

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
    """Returns the names of the operations in the model of a recipe, including those
    in nested models and the way to make the outer model, as often as they occur."""
    first = len(recipe['inputs'])
    waiting, done = [number for number, _ in recipe['outputs']], set()
    names = [recipe['model'][0]] if recipe.get('model') else []
    while waiting:
        number = waiting.pop()
        if number < first or number in done:
            continue
        done.add(number)
        name, option, takes = recipe['steps'][number - first]
        names += [name] + (uses(option) if isinstance(option, dict) else [])
        waiting += [number for number, _ in takes]
    return names


@st.composite
def recipes(draw, most=6, depth=3):
    """Draws the recipe of a model.

    # Arguments
        most: the largest number of operations, not counting those in nested models.
        depth: how deep models are nested at most, including this one.

    # Returns
        A dict: `inputs`, a list of names; `steps`, a list of lists (name of the
        operation, option, references to the tensors it takes); `outputs`, a list
        of references; and, for the outer model, `model`: None or a list (name of
        what makes it, option). A reference is a list: the number of an input or of
        a step (numbered together, inputs first), and the index of one of the tensors
        that it returns.
    """
    # The released clone function of Keras 2 clones few models with masks faithfully.
    words = ['words'] if depth == 3 and draw(st.booleans()) else []
    inputs = draw(st.permutations(words + ['sequence', 'vector']))
    known = {kind: [[number, 0] for number, name in enumerate(inputs)
                    if INPUTS[name] == kind] for kind in (SEQUENCE, VECTOR)}
    names = [name for name in OPERATIONS
             if (depth > 1 or OPERATIONS[name].options != NESTED) and
             (depth == 3 or not OPERATIONS[name].outermost)]
    steps = []
    for number in range(len(inputs), len(inputs) + draw(st.integers(2, most))):
        name = draw(st.sampled_from(names))
        chosen = OPERATIONS[name]
        option = (recipes(most - 2, depth - 1)
                  if chosen.options == NESTED else st.sampled_from(chosen.options))
        # One of the latest tensors: otherwise, few steps would lead to an output.
        steps.append([name, draw(option), [draw(st.sampled_from(known[kind][:3]))
                                           for kind in chosen.takes]])
        for index, kind in enumerate(chosen.returns):
            known[kind].insert(0, [number, index])
    outputs = known[SEQUENCE][:1] + known[VECTOR][:1]
    recipe = {'inputs': inputs, 'steps': steps, 'outputs': outputs}
    if depth == 3:
        outputs += draw(st.lists(st.sampled_from(known[SEQUENCE] + known[VECTOR]),
                                 max_size=2))
        recipe['outputs'] = draw(st.permutations(outputs))
        recipe['model'] = draw(st.none() | wholes())
    return recipe


@st.composite
def wholes(draw):
    """Draws how an outer model is made: a list, see `recipes`."""
    name = draw(st.sampled_from(list(MODELS)))
    return [name, draw(st.sampled_from(MODELS[name].options))]


def alone():
    """Returns recipes of models with a single operation, one for each operation and
    option, and of a model for each way to make an outer model."""
    found = []
    for name, chosen in OPERATIONS.items():
        for option in ([NOTHING] if chosen.options == NESTED else chosen.options):
            for inputs in (['sequence', 'vector'], ['words', 'vector']):
                if SEQUENCE in chosen.takes or inputs[0] == 'sequence':
                    found.append(_alone(chosen, [name, option], inputs))
    for name, (options, _) in MODELS.items():
        found += [dict(DENSE, model=[name, option]) for option in options]
    return found


NOTHING = {'inputs': ['sequence', 'vector'], 'steps': [],
           'outputs': [[0, 0], [1, 0]]}
DENSE = {'inputs': ['sequence', 'vector'], 'steps': [['dense', 'tanh', [[0, 0]]]],
         'outputs': [[2, 0], [1, 0]]}


def _alone(chosen, step, inputs):
    given = [inputs.index(name) for kind in chosen.takes for name in inputs
             if INPUTS[name] == kind]
    return {'inputs': inputs, 'steps': [step + [[[number, 0] for number in given]]],
            'outputs': [[2, i] for i in range(len(chosen.returns))]}
