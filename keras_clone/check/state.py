"""Whether two things hold the same: plain data, functions, objects, at any depth.

A clone owes what its original knows beside its weights: numbers, texts and arrays
in attributes, vocabularies, functions and what these hold, objects and their
attributes.
What a call leaves behind (caches, counters of calls) it does not owe.
"""
import dis
import functools
import re
import types

import numpy as np

from . import graphs
from .difference import ATTRIBUTE
from .difference import NOTHING
from .difference import arrays_close
from .difference import describe
from ..holding import ATOMS
from ..holding import CONTAINERS
from ..holding import FUNCTIONS
from ..holding import attributes_of
from ..holding import holds_atoms
from ..holding import is_opaque
from ..holding import unwrapped

# Numbers of these count as equal where rounding explains it.
NUMBERS = (float, np.floating)
IDENTITIES = (type, types.ModuleType)
# An integer from here on is taken for the `id` of something.
LEAST_ID = 2 ** 40
# The code that runs each time that a layer or another object is called.
CALLS = ('call', '__call__', 'compute_mask', 'compute_output_shape',
         'compute_output_spec', 'get_config')
# What a call may mention, and what does not run each time.
NOT_CALLS = ('__init__', 'build', 'adapt')


class Comparison:
    """Compares what two things hold at the same places, at every depth.

    # Arguments
        pair: function that is given what is at one place of both, where it is a
            layer, a variable or a tensor on the one side, with text for the place.
    """

    def __init__(self, pair):
        self._pair = pair
        self._seen = {}     # (id, id) -> the two: no id is used again meanwhile
        self._found = []

    def of_layers(self, layer, other):
        """Returns how the attributes of two layers differ.

        # Returns
            List of triples of texts: what differs, what the first has, what the
            second has.
        """
        held = graphs.own_attributes(other)
        left_out = set_by_calls(type(layer))
        for name, value in sorted(graphs.own_attributes(layer).items()):
            if name not in left_out:
                self._compare(ATTRIBUTE + name, value, held.get(name, NOTHING))
        return self._taken()

    def of(self, way, x, y):
        """Returns how two values differ; `way` says what they are."""
        self._compare(way, x, y)
        return self._taken()

    def _taken(self):
        found, self._found = self._found, []
        return found

    def _differ(self, way, x, y):
        expected, got = stable_text(x), stable_text(y)
        self._found.append((way, expected, got if got != expected else
                            'another one that looks the same'))

    def _compare(self, way, x, y):
        if x is y or (id(x), id(y)) in self._seen:
            return
        self._seen[id(x), id(y)] = x, y
        if graphs.is_part(x):
            self._pair(way, x, y)
        elif isinstance(x, graphs.LEFT_OUT):
            return
        elif type(x) in ATOMS or isinstance(x, np.generic):
            self._compare_data(way, x, y)
        elif graphs.as_array(x) is not None:
            self._compare_arrays(way, x, y)
        elif isinstance(unwrapped(x), CONTAINERS):
            self._compare_containers(way, unwrapped(x), unwrapped(y))
        elif isinstance(x, FUNCTIONS):
            self._compare_functions(way, x, y)
        else:
            self._compare_objects(way, x, y)

    def _compare_data(self, way, x, y):
        if not same_data(x, y):
            self._differ(way, x, y)

    def _compare_arrays(self, way, x, y):
        mine, its = graphs.as_array(x), graphs.as_array(y)
        if its is None or mine.dtype != its.dtype or not arrays_close(mine, its):
            self._differ(way, x, y)

    # Containers

    def _compare_containers(self, way, x, y):
        if any(graphs.is_left_by_call(each) for each in _values(x)):
            return
        if not _are_alike(x, y):
            self._differ(way, x, y)
        elif holds_atoms(x) and holds_atoms(y) and x == y:
            return
        elif isinstance(x, (set, frozenset)):
            self._compare_sets(way, x, y)
        elif isinstance(x, dict):
            self._compare_dicts(way, x, y)
        else:
            for i, (each, other) in enumerate(zip(x, y)):
                self._compare('%s[%d]' % (way, i), each, other)

    def _compare_sets(self, way, x, y):
        """Only plain data: of other elements, nothing tells which are partners."""
        mine, its = ({each for each in held if type(each) in ATOMS}
                     for held in (x, y))
        if mine != its:
            self._differ(way, mine, its)

    def _compare_dicts(self, way, x, y):
        """Keys that are objects, or an `id`, are paired by their order."""
        if not all(type(key) in ATOMS and not _is_id(key) for key in x):
            for pair in zip(x.items(), y.items()):
                self._compare(way + ' of a key', pair[0], pair[1])
            return
        for key in x:
            self._compare(f'{way}[{key!r}]', x[key], y.get(key, NOTHING))

    # Functions

    def _compare_functions(self, way, x, y):
        if type(x) is not type(y):
            self._differ(way, x, y)
        elif isinstance(x, types.MethodType):
            self._compare_functions(way, x.__func__, y.__func__)
            self._compare(way + ' of an object', x.__self__, y.__self__)
        elif isinstance(x, functools.partial):
            for name in ('func', 'args', 'keywords'):
                self._compare(f'{way}.{name}', getattr(x, name),
                              getattr(y, name))
        elif x.__code__ != y.__code__:
            self._differ(way, x, y)
        else:
            self._compare_what_functions_hold(way, x, y)

    def _compare_what_functions_hold(self, way, x, y):
        names = x.__code__.co_freevars
        for name, cell, other in zip(names, x.__closure__ or (),
                                     y.__closure__ or ()):
            self._compare(f'{way}, its {name}', _content(cell),
                          _content(other))
        for name in ('__defaults__', '__kwdefaults__'):
            self._compare(f"{way}, its {name.strip('_')}", getattr(x, name),
                          getattr(y, name))

    # Objects

    def _compare_objects(self, way, x, y):
        if isinstance(x, IDENTITIES) or type(x) is not type(y):
            self._differ(way, x, y)
        elif is_opaque(x) or not attributes_of(x):
            if not _may_be_equal(x, y):
                self._differ(way, x, y)
        else:
            self._compare_attributes(way, x, y)

    def _compare_attributes(self, way, x, y):
        left_out = set_by_calls(type(x)) | graphs.names_left_out(x)
        held = dict(attributes_of(y))
        for name, value in sorted(attributes_of(x), key=lambda item: item[0]):
            if name not in left_out and not _are_numbered_names(
                    name, value, held.get(name)):
                self._compare(f'{way}.{name}', value, held.get(name, NOTHING))


def same_data(x, y):
    """Returns whether two plain values are equal; numbers are, within rounding."""
    if isinstance(x, NUMBERS) and isinstance(y, NUMBERS + (int,)):
        return bool(np.isclose(x, y, rtol=1e-6, atol=0, equal_nan=True))
    if _is_id(x) and _is_id(y):
        return True
    try:
        return bool(x == y) or bool(x != x and y != y)
    except (TypeError, ValueError):  # An array is no single number.
        return False


def stable_text(value):
    """Returns a short text for a value, the same for each that is made alike."""
    if isinstance(value, types.FunctionType):
        return f'function {value.__module__}.{value.__qualname__}'
    if isinstance(value, types.MethodType):
        return 'method of ' + stable_text(value.__self__)
    return re.sub(' at 0x[0-9a-f]+', '', describe(value))


@functools.lru_cache(maxsize=None)
def set_by_calls(cls):
    """Returns the names of the attributes that calls of an object set.

    # Arguments
        cls: the class of a layer or of another object.

    # Returns
        A frozenset. Methods that the code of a call mentions are looked into.
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
    """Returns the function of that name of a class, None if Keras has it for all."""
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

    A list may stand for a tuple, where it holds a config. Types of the user's
    have to be the same.
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
    except ValueError:  # Nothing is in it yet.
        return NOTHING


def _may_be_equal(x, y):
    """Returns whether two objects one cannot look into may be equal."""
    if type(x).__eq__ is object.__eq__:
        return True
    try:
        return bool(np.all(x == y))
    except Exception:  # What the class makes of it.
        return True


def _are_numbered_names(name, x, y):
    """Returns whether two names differ in a number that Keras appended."""
    return (name in ('name', '_name') and isinstance(x, str) and
            isinstance(y, str) and
            re.sub(r'_\d+$', '', x) == re.sub(r'_\d+$', '', y))
