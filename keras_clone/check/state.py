"""Whether two things hold the same: plain data, functions, objects, at any depth.

A clone has to have what its original has apart from its weights: numbers, texts and
arrays in attributes, vocabularies, functions and what these hold, objects and their
attributes. What a call leaves behind (caches, counters of calls) is left out.
"""
import dis
import functools
import re
import types

import numpy as np

from .arrays import arrays_close
from .graphs import graphs
from .values import NOTHING
from ..recording import RECORDS
from ..walk import (ATOMS, CONTAINERS, FUNCTIONS, attributes_of, holds_atoms,
                    is_opaque, unwrapped)

# Types of numbers that are equal if they agree within rounding.
NUMBERS = (float, np.floating)
IDENTITIES = (type, types.ModuleType)
# Integers that are at least this great are taken for ids of objects.
LEAST_ID = 2 ** 40
# The code that runs each time that a layer or another object is called.
CALLS = ('call', '__call__', 'compute_mask', 'compute_output_shape',
         'compute_output_spec', 'get_config')
# Methods that the code of a call may mention and does not run each time.
NOT_CALLS = ('__init__', 'build', 'adapt')


def differing_attributes(layer, other):
    """Yields the differences in what the attributes of two layers hold.

    # Returns
        Yields triples, see `differing_values`.
    """
    walk = _Walk()
    held = graphs.own_attributes(other)
    left_out = set_by_calls(type(layer)) | RECORDS
    for name, value in sorted(graphs.own_attributes(layer).items()):
        if name not in left_out:
            yield from walk.compare(f'attribute {name}', value,
                                    held.get(name, NOTHING))


def differing_values(place, x, y):
    """Yields the differences in what two values hold at the same places.

    # Arguments
        place: text that says what the values are.
        x: anything.
        y: anything.

    # Returns
        Yields triples (text for the place, what `x` holds there, what `y` holds).
        Layers and variables that are not identical are always yielded: the caller
        knows whether they are partners.
    """
    return _Walk().compare(place, x, y)


class _Walk:
    """Walks through what two things hold at the same places, at every depth.

    Each method yields triples as `differing_values` does.
    """

    def __init__(self):
        self._seen = {}     # (id, id) -> both: kept alive, so no id is reused

    def compare(self, place, x, y):
        if x is y or (id(x), id(y)) in self._seen:
            return
        self._seen[id(x), id(y)] = x, y
        if graphs.is_part(x):
            if not graphs.is_left_by_call(x):
                yield place, x, y
        elif not isinstance(x, graphs.LEFT_OUT):
            yield from self._comparison_of(x)(place, x, y)

    def _comparison_of(self, x):
        if type(x) in ATOMS or isinstance(x, np.generic):
            return self._compare_data
        if graphs.as_array(x) is not None:
            return self._compare_arrays
        if isinstance(unwrapped(x), CONTAINERS):
            return self._compare_containers
        if isinstance(x, FUNCTIONS):
            return self._compare_functions
        return self._compare_objects

    def _compare_data(self, place, x, y):
        if not same_data(x, y):
            yield place, x, y

    def _compare_arrays(self, place, x, y):
        mine, its = graphs.as_array(x), graphs.as_array(y)
        if its is None or mine.dtype != its.dtype or mine.shape != its.shape:
            yield place, x, y
        elif mine.dtype == object:
            yield from self._compare_containers(place, list(mine.flat),
                                                list(its.flat))
        elif not arrays_close(mine, its):
            yield place, x, y

    # Containers

    def _compare_containers(self, place, x, y):
        x, y = unwrapped(x), unwrapped(y)
        if any(graphs.is_left_by_call(each) for each in _values(x)):
            return
        if not _are_alike(x, y):
            yield place, x, y
        elif holds_atoms(x) and holds_atoms(y) and x == y:
            return
        elif isinstance(x, (set, frozenset)):
            yield from self._compare_sets(place, x, y)
        elif isinstance(x, dict):
            yield from self._compare_dicts(place, x, y)
        else:
            for i, (each, other) in enumerate(zip(x, y)):
                yield from self.compare(f'{place}[{i}]', each, other)

    def _compare_sets(self, place, x, y):
        """Compares plain data only: other elements cannot be paired."""
        mine, its = ({each for each in held if type(each) in ATOMS}
                     for held in (x, y))
        if mine != its:
            yield place, mine, its

    def _compare_dicts(self, place, x, y):
        """Keys that are objects, or an `id`, are paired by their order."""
        if not all(type(key) in ATOMS and not _is_id(key) for key in x):
            for pair in zip(x.items(), y.items()):
                yield from self.compare(place + ' of a key', pair[0], pair[1])
            return
        for key in x:
            yield from self.compare(f'{place}[{key!r}]', x[key], y.get(key, NOTHING))

    # Functions

    def _compare_functions(self, place, x, y):
        if type(x) is not type(y):
            yield place, x, y
        elif isinstance(x, types.MethodType):
            yield from self._compare_functions(place, x.__func__, y.__func__)
            yield from self.compare(place + ' of an object', x.__self__, y.__self__)
        elif isinstance(x, functools.partial):
            for name in ('func', 'args', 'keywords'):
                yield from self.compare(f'{place}.{name}', getattr(x, name),
                                        getattr(y, name))
        elif x.__code__ != y.__code__:
            yield place, x, y
        else:
            yield from self._compare_what_functions_hold(place, x, y)

    def _compare_what_functions_hold(self, place, x, y):
        for name, cell, other in zip(x.__code__.co_freevars, x.__closure__ or (),
                                     y.__closure__ or ()):
            yield from self.compare(f'{place}, its {name}', _content(cell),
                                    _content(other))
        for name in ('__defaults__', '__kwdefaults__'):
            yield from self.compare(f"{place}, its {name.strip('_')}",
                                    getattr(x, name), getattr(y, name))

    # Objects

    def _compare_objects(self, place, x, y):
        if isinstance(x, IDENTITIES) or type(x) is not type(y):
            yield place, x, y
        elif is_opaque(x) or not attributes_of(x):
            if not _may_be_equal(x, y):
                yield place, x, y
        else:
            yield from self._compare_attributes(place, x, y)

    def _compare_attributes(self, place, x, y):
        left_out = set_by_calls(type(x)) | graphs.names_left_out(x)
        held = dict(attributes_of(y))
        for name, value in sorted(attributes_of(x), key=lambda item: item[0]):
            if name not in left_out and not _are_numbered_names(
                    name, value, held.get(name)):
                yield from self.compare(f'{place}.{name}', value,
                                        held.get(name, NOTHING))


def same_data(x, y):
    """Returns whether two plain values are equal, numbers within rounding."""
    if isinstance(x, NUMBERS) and isinstance(y, NUMBERS + (int,)):
        return bool(np.isclose(x, y, rtol=1e-6, atol=0, equal_nan=True))
    if _is_id(x) and _is_id(y):
        return True
    try:
        return bool(x == y) or bool(x != x and y != y)
    except (TypeError, ValueError):  # An array has no truth value.
        return False


@functools.lru_cache(maxsize=None)
def set_by_calls(cls):
    """Returns the names of the attributes that calls of an object set.

    # Arguments
        cls: the class of a layer or of another object.

    # Returns
        A frozenset. The methods that the code of a call mentions are searched too.
    """
    names, seen, waiting = set(), set(), list(CALLS)
    while waiting:
        code = getattr(_function_of(cls, waiting.pop()), '__code__', None)
        if code is not None and code not in seen:
            seen.add(code)
            names.update(each.argval for each in dis.get_instructions(code)
                         if each.opname == 'STORE_ATTR')
            waiting.extend(set(code.co_names).difference(NOT_CALLS))
    return frozenset(names)


def _function_of(cls, name):
    """Returns the function of that name of a class, None if it is one of Keras."""
    for base in cls.__mro__:
        if base in graphs.BASES:
            return None
        if name in vars(base):
            value = vars(base)[name]
            return getattr(value, '__wrapped__', getattr(value, '__func__', value))
    return None


def _is_id(value):
    return type(value) is int and value >= LEAST_ID


def _values(container):
    return container.values() if isinstance(container, dict) else container


def _are_alike(x, y):
    """Returns whether two containers are of one kind and one length.

    A list and a tuple are alike: a configuration may turn one into the other. Custom
    types have to be the same.
    """
    kinds = (dict,), (set, frozenset), CONTAINERS
    kind = next(kind for kind in kinds if isinstance(x, kind))
    if not isinstance(y, kind) or _is_of_user(x) and type(x) is not type(y):
        return False
    return len(x) == len(y)


def _is_of_user(container):
    package = type(container).__module__.split('.')[0]
    return package not in ('builtins', 'collections', 'keras', 'tensorflow')


def _content(cell):
    try:
        return cell.cell_contents
    except ValueError:  # The cell is still empty.
        return NOTHING


def _may_be_equal(x, y):
    """Returns whether two objects that cannot be inspected may be equal."""
    if type(x).__eq__ is object.__eq__:
        return True
    try:
        return bool(np.all(x == y))
    except Exception:  # A class may define any `==`.
        return True


def _are_numbered_names(name, x, y):
    """Returns whether two names differ in a number that Keras appended."""
    return (name in ('name', '_name') and isinstance(x, str) and
            isinstance(y, str) and
            re.sub(r'_\d+$', '', x) == re.sub(r'_\d+$', '', y))
