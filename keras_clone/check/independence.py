"""Whether a clone shares nothing with its original and leaves it as it was."""
import collections
import contextlib
import gc
import hashlib
import types
import weakref

import keras
import numpy as np

from .description import Description
from .difference import SHARING, Difference
from .graphs import graphs
from .values import ATOMS, Whole, items_of

# What several models may have in common, and what holds nothing.
STOPS = ATOMS + (type, types.ModuleType, types.CodeType, np.dtype, np.generic)
CONTAINERS = (list, tuple, dict, set, frozenset, collections.deque)
# The packages whose objects belong to the backend.
BACKENDS = ('tensorflow', 'theano', 'cntk', 'jax', 'jaxlib', 'torch')


class Belongings(Description):
    """The description of a model, with what belongs to this model only.

    # Attributes
        parts: dict: id -> (path of the nearest layer, what belongs to the model: a
            layer, variable or tensor, or a container among the arguments of a call).
    """

    def __init__(self, model, like=None):
        super().__init__(model, like)
        self.parts = held_by(self.located_layers())
        for (key, _), node in self.nodes.items():
            for _, each in items_of(graphs.arguments_of(node)):
                if isinstance(each, Whole) and isinstance(each.value, (dict, list)):
                    self.parts[id(each.value)] = self.paths[key], each.value

    def variables(self):
        """Returns the variables among the parts."""
        return [each for _, each in self.parts.values() if graphs.is_variable(each)]

    def snapshot(self):
        """Records all of the model that cloning it must not change: a dict for
        `changes`, place -> (what to compare, the object, which is kept alive)."""
        notes, variables = {}, self.variables()
        for path, layer in self.located_layers():
            for name, value in sorted(vars(layer).items()):
                _note(notes, (path, name), value)
        for i, (variable, value) in enumerate(zip(
                variables, graphs.values_of(variables))):
            path, _ = self.parts[id(variable)]
            _note(notes, (path, 'the value of', f'variable {i}'), value)
        _note(notes, ('', 'custom objects'), keras.utils.get_custom_objects())
        return notes

    def shared_with(self, other):
        """Returns the `Difference`s: what another model has of these."""
        return [Difference(SHARING, path, f'what it holds: {_name(part)}',
                           "the clone's own", "the original's")
                for key, (path, part) in other.parts.items() if key in self.parts]


def _name(part):
    if graphs.is_layer(part):
        return f'layer {part.name}'
    if graphs.is_variable(part):
        return 'a variable'
    if isinstance(part, (dict, list)):
        return 'call arguments'
    layer, _, i = part._keras_history
    return f'output {i} of {layer.name}' if layer is not None else 'a tensor'


@contextlib.contextmanager
def changed(variables):
    """Context in which numbers are added to variables."""
    values = graphs.values_of(variables)
    graphs.set_values(variables, [
        (x + .5).astype(x.dtype) if x.dtype.kind == 'f' else x for x in values])
    try:
        yield
    finally:
        graphs.set_values(variables, values)


def held_by(layers):
    """Returns the layers, variables and tensors that layers, given as pairs (path,
    layer), hold or lead to: a dict id -> (path of the nearest of them, the object).
    """
    seen, found = {}, {}
    waiting = collections.deque((path, [layer]) for path, layer in layers)
    while waiting:
        path, values = waiting.popleft()
        for value in values:
            if id(value) not in seen and not isinstance(value, STOPS):
                seen[id(value)] = value  # Kept alive: no id may be used twice.
                if graphs.is_part(value):
                    found[id(value)] = path, value
                waiting.append((path, _referents(value)))
    return found


def _referents(value):
    """Returns what an object refers to, but for what it shares with all others."""
    kind = type(value)
    if kind in weakref.ProxyTypes:
        try:
            return [value.__init__.__self__]  # A proxy passes this on to its object.
        except ReferenceError:
            return []
    if issubclass(kind, weakref.ref):
        return [value()]
    if issubclass(kind, types.FunctionType):
        return _held_by_function(value)
    if issubclass(kind, types.FrameType):   # Of a generator.
        return list(value.f_locals.values())
    if graphs.is_layer(value):  # What is made of its outputs is not a part of it.
        return [each for name, each in vars(value).items()
                if name != '_outbound_nodes']
    if graphs.is_tensor(value):
        return graphs.sources(value)
    if issubclass(kind, np.ndarray):
        return list(value.flat) if value.dtype == object else []
    is_of_backend = _package(kind) in BACKENDS and not isinstance(value, CONTAINERS)
    if is_of_backend or issubclass(kind, graphs.BOOKKEEPING):
        return []
    return gc.get_referents(value)


def _package(thing):
    return str(thing.__module__).partition('.')[0]


def _held_by_function(function):
    """The functions of Keras itself name what belongs to Keras."""
    found = [function.__closure__, function.__defaults__, function.__kwdefaults__,
             vars(function)]
    if _package(function) not in BACKENDS + ('keras', 'keras_clone'):
        scope = function.__globals__
        found += [scope[name] for name in names_in(function.__code__)
                  if name in scope]
    return found


def names_in(code):
    """Returns the global names and attributes that code uses."""
    return set(code.co_names).union(*(
        names_in(each) for each in code.co_consts
        if isinstance(each, types.CodeType)))


def _note(notes, place, value):
    if isinstance(value, graphs.RECORDS):
        notes[place] = id(value), value
        value = vars(value)
    if isinstance(value, (list, tuple)):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        for key, each in value.items():
            _note(notes, place + (str(key),), each)
    elif isinstance(value, (np.ndarray, np.generic)):
        notes[place] = hashlib.md5(value.tobytes()).hexdigest(), None
    elif isinstance(value, ATOMS):
        notes[place] = repr(value), None
    else:
        layer, *output = getattr(value, '_keras_history', (None, None, None))
        notes[place] = (id(value), id(layer), *output), value


def changes(before, after):
    """Compares what `Belongings.snapshot` returned before and after a model was
    cloned. Returns a list of `Difference`s."""
    missing = None, None
    return [Difference(SHARING, place[0],
                       'the original after cloning, ' + ' '.join(place[1:]),
                       'no change' if place in before else 'nothing',
                       'another value' if place in after else 'nothing')
            for place in dict.fromkeys([*before, *after])
            if before.get(place, missing)[0] != after.get(place, missing)[0]]
