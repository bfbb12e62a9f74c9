"""Whether a clone shares nothing with its original and leaves it as it was."""
import collections
import gc
import hashlib
import types
import weakref

import keras
import numpy as np

from .description import Description, tensors_in
from .difference import SHARING, Difference
from .graphs import graphs
from .values import NOTHING

# What several models may have in common, and what holds nothing.
STOPS = (type(None), bool, int, float, complex, str, bytes, type, types.ModuleType,
         types.CodeType, np.dtype, np.generic)
CONTAINERS = (list, tuple, dict, set, frozenset, collections.deque)
# The packages whose objects belong to the backend.
BACKENDS = ('tensorflow', 'theano', 'cntk', 'jax', 'jaxlib', 'torch')


class Belongings:
    """What belongs to one model only.

    # Arguments
        description: the `Description` of the model. It was built on the tensors
            `description.on`, if any: what leads to these does not belong to it.

    # Attributes
        description: see above.
        parts: dict: id -> (path of the nearest layer, layer, variable or tensor).
    """

    def __init__(self, description):
        outside = held_by([('', x) for x in description.on or []])
        self.description = description
        self.parts = held_by(description.located_layers(), outside)
        self._containers = {
            id(each): (description.paths[key],
                       f'the arguments of call {call.number}', each)
            for (key, call), node in description.nodes.items()
            for arguments in graphs.arguments_of(node)
            for each in _containers(arguments)}

    @classmethod
    def of(cls, model):
        """Returns those of a `Model` that was not built on tensors."""
        return cls(Description(model))

    def variables(self):
        """Returns the variables among the parts."""
        return [each for _, each in self.parts.values() if graphs.is_variable(each)]

    def snapshot(self):
        """Records all of the model that cloning it must not change.

        # Returns
            What `changes` compares. It keeps the recorded objects alive.
        """
        notes, kept = {}, []
        for path, layer in self.description.located_layers():
            for name, value in sorted(vars(layer).items()):
                _note(notes, kept, (path, name), value)
        held = [(path, each) for path, each in self.parts.values()
                if graphs.is_variable(each)]
        values = graphs.values_of([each for _, each in held])
        for i, ((path, _), value) in enumerate(zip(held, values)):
            _note(notes, kept, (path, 'the value of', f'variable {i}'), value)
        _note(notes, kept, ('', 'custom objects'), keras.utils.get_custom_objects())
        return notes, kept

    def shared_with(self, other):
        """Returns the `Difference`s: what another model has of these."""
        found = [(path, f'what it holds: {_name(part)}')
                 for key, (path, part) in other.parts.items() if key in self.parts]
        found += [place[:2] for key, place in other._containers.items()
                  if key in self._containers]
        # Tensors that no layer returned, such as masks, among call arguments.
        found += [(other.description.paths[key], 'what it computes from')
                  for (key, _), node in other.description.nodes.items()
                  for x in tensors_in(graphs.arguments_of(node))
                  if not (graphs.is_part(x) or graphs.is_variable(x)) and
                  any(id(each) in self.parts for each in graphs.sources(x))]
        return [Difference(SHARING, path, what, "the clone's own", "the original's")
                for path, what in found]


def _name(part):
    if graphs.is_layer(part):
        return f'layer {part.name}'
    if graphs.is_variable(part):
        return 'a variable'
    layer, _, i = part._keras_history
    return f'output {i} of {layer.name}' if layer is not None else 'a tensor'


def _containers(value):
    """Yields the mutable containers of a structure."""
    if isinstance(value, (dict, list)):
        yield value
    if isinstance(value, (dict, list, tuple)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _containers(each)


def changed_by(mine, its):
    """Returns whether changing the variables of one model, for a moment, changes
    those of another; both are `Belongings`."""
    values = graphs.values_of(mine.variables())
    with Changed(its.variables()):
        now = graphs.values_of(mine.variables())
    return any(x.tobytes() != y.tobytes() for x, y in zip(values, now))


class Changed:
    """Context in which numbers are added to variables."""

    def __init__(self, variables):
        self._variables, self._values = variables, graphs.values_of(variables)

    def __enter__(self):
        graphs.set_values(self._variables, [
            (x + .5).astype(x.dtype) if x.dtype.kind == 'f' else x
            for x in self._values])

    def __exit__(self, *error):
        graphs.set_values(self._variables, self._values)


# What objects hold, at every depth, as Python's garbage collector sees it


def held_by(layers, stops=()):
    """Returns the layers, variables and tensors that layers hold or lead to.

    # Arguments
        layers: list of pairs (path, layer).
        stops: ids of objects that are not searched.

    # Returns
        A dict: id -> (path of the nearest of the layers, the object).
    """
    seen, found, waiting = dict.fromkeys(stops), {}, collections.deque()

    def wait_for(path, values):
        for value in values:
            if id(value) not in seen and not isinstance(value, STOPS):
                seen[id(value)] = value  # Kept alive: no id may be used twice.
                waiting.append((path, value))

    for path, layer in layers:
        wait_for(path, [layer])
    while waiting:
        path, value = waiting.popleft()
        if graphs.is_part(value):
            found[id(value)] = path, value
        wait_for(path, _referents(value))
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
        return [getattr(value, '_keras_history', None)]
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
        found += [scope[name] for name in _names_in(function.__code__)
                  if name in scope]
    return found


def _names_in(code):
    names = set(code.co_names)
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            names |= _names_in(each)
    return names


# Before and after cloning


def _note(notes, kept, place, value):
    kept.append(value)
    if isinstance(value, graphs.RECORDS):
        notes[place] = id(value)
        value = dict(sorted(vars(value).items()))
    if isinstance(value, (list, tuple)):
        value = dict(enumerate(value))
    if isinstance(value, dict):
        for key, each in value.items():
            _note(notes, kept, place + (str(key),), each)
    elif isinstance(value, (np.ndarray, np.generic)):
        notes[place] = hashlib.md5(value.tobytes()).hexdigest()
    elif value is None or isinstance(value, (bool, int, float, str, bytes)):
        notes[place] = repr(value)
    else:
        history = getattr(value, '_keras_history', (None, None, None))
        notes[place] = (id(value), id(history[0])) + tuple(history[1:])


def changes(before, after):
    """Compares what `Belongings.snapshot` returned before and after a model was
    cloned. Returns a list of `Difference`s."""
    old, new = before[0], after[0]
    places = list(old) + [place for place in new if place not in old]
    return [Difference(SHARING, place[0],
                       'the original after cloning, ' + ' '.join(place[1:]),
                       'no change' if place in old else 'nothing',
                       'another value' if place in new else 'nothing')
            for place in places
            if old.get(place, NOTHING) != new.get(place, NOTHING)]
