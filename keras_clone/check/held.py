"""What objects hold, at every depth, as Python's garbage collector sees it."""
import collections
import gc
import types
import weakref

import numpy as np

from .graphs import graphs

# What several models may have in common, and what holds nothing.
STOPS = (type(None), bool, int, float, complex, str, bytes, type, types.ModuleType,
         types.CodeType, np.dtype, np.generic)
CONTAINERS = (list, tuple, dict, set, frozenset, collections.deque)
# The packages whose objects belong to the backend.
BACKENDS = ('tensorflow', 'theano', 'cntk', 'jax', 'jaxlib', 'torch')


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
        wait_for(path, referents(value))
    return found


def referents(value):
    """Returns what an object refers to, but for what it shares with all others."""
    kind = type(value)
    if kind in weakref.ProxyTypes:
        return _referent(value)
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
    if issubclass(kind, graphs.BOOKKEEPING):
        return []
    if issubclass(kind, np.ndarray):
        return list(value.flat) if value.dtype == object else []
    if _package(kind) in BACKENDS and not isinstance(value, CONTAINERS):
        return []
    return gc.get_referents(value)


def _package(thing):
    return str(thing.__module__).partition('.')[0]


def _referent(proxy):
    try:
        return [proxy.__init__.__self__]  # A proxy passes this on to its object.
    except ReferenceError:
        return []


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
