"""Compares what a layer holds with what it held, or with what its clone holds.

- `is_changed`: was an attribute changed since it was kept? Objects are the same or
  not; only plain data and small arrays are compared by what they contain.
- `are_equal`: are two values the same plain data, or arrays of the same numbers?
- `is_other_data`: is the plain data of a clone not what the user has set? Integers
  and strings are not compared.
- `is_other_function`: has a function other code, or does it hold other numbers?
"""
import contextlib
import types

import numpy as np

from keras_clone.containers import ATOMS
from keras_clone.containers import CONTAINERS
from keras_clone.containers import is_plain
from keras_clone.containers import objects_in
from keras_clone.functions import FUNCTIONS
from keras_clone.functions import content_of
from keras_clone.recording import LargeArray
from keras_clone.recording import is_large

MISSING = type('Missing', (), {'__repr__': lambda self: 'missing'})()
NUMBERS = {float, bool, complex, type(None)}
_IDENTITIES = {int, str, bytes}


def is_changed(former, value):
    """Returns whether an attribute differs from what was kept of it."""
    if type(former) is LargeArray:
        former = former()  # Its numbers are not compared at each call.
    if value is former:
        return False
    with contextlib.suppress(Exception):  # Of a class of the user, or the backend.
        if is_large(value):
            return False
        if isinstance(value, np.ndarray):
            return not np.array_equal(former, value)
        if is_plain(value) or isinstance(value, (np.generic, *FUNCTIONS)):
            return bool(former != value)
        return not isinstance(value, CONTAINERS) or (
            [*map(id, objects_in(former))] != [*map(id, objects_in(value))])
    return isinstance(value, np.ndarray)


def are_equal(value, other):
    """Returns whether two plain values, or two arrays, are equal."""
    if value is other:
        return True
    try:
        if hasattr(type(value), 'dtype') or hasattr(type(other), 'dtype'):
            value, other = np.asarray(value), np.asarray(other)
            return value.shape == other.shape and bool(np.all(value == other))
        return bool(value == other or value != value and other != other)
    except Exception:  # E.g. of arrays in containers.
        return False


def is_other_data(value, new):
    """Returns whether two plain values, or two arrays, differ by more than integers
    and strings: these may be an instance's own, e.g. an id or a unique name.

    Another new layer would tell which it is, but making one may change what its
    class counts, and what the next layers compute with.
    """
    if type(value) in _IDENTITIES and type(value) is type(new):
        return False
    if not (isinstance(value, CONTAINERS) and isinstance(new, CONTAINERS) and
            len(value) == len(new)):
        return not are_equal(value, new)
    if isinstance(value, dict) and isinstance(new, dict):
        value, new = value.items(), new.items()
    return any(map(is_other_data, value, new))


def is_other_function(function, other):
    """Returns whether two functions have other code, or hold other numbers."""
    if type(function) is not type(other):
        return True
    if isinstance(function, types.MethodType):
        return function.__func__ is not other.__func__
    if isinstance(function, types.FunctionType):
        held = [[*map(content_of, each.__closure__ or ()),
                 *(each.__defaults__ or ()), *(each.__kwdefaults__ or {}).values()]
                for each in (function, other)]
        is_other = function.__code__ is not other.__code__
    else:
        held = [[*each.args, *each.keywords.values()] for each in (function, other)]
        is_other = isinstance(function.func, FUNCTIONS) and is_other_function(
            function.func, other.func)
    return is_other or any(
        type(value) in NUMBERS and type(new) in ATOMS and not are_equal(value, new)
        for value, new in zip(*held))
