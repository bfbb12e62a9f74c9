"""Searches and copies containers."""
import contextlib
import copy
import functools
from collections import Counter, OrderedDict, defaultdict, deque

# Plain data: values of these types hold nothing that could be replaced.
ATOMS = frozenset([type(None), bool, int, float, complex, str, bytes,
                   type(Ellipsis), type(NotImplemented)])
MUTABLE = (list, deque, dict, set)
CONTAINERS = MUTABLE + (tuple, frozenset)
_DICTS = {dict, OrderedDict, defaultdict, Counter}
_COLLECTIONS = {list, tuple, set, deque}
_CONTAINERS = _DICTS | _COLLECTIONS


class CannotCopy(ValueError):
    """An object holds a layer, weight or tensor and cannot be copied."""


def copied(value, leaf=lambda value: value):
    """Returns a copy of nested containers, without those of the user's classes.

    # Arguments
        leaf: function that is applied to all else that they hold, but not to the
            items of a container that holds nothing but plain data.
    """
    if type(value) in ATOMS:
        return value
    value = unwrapped(value)
    cls = _builtin(type(value))
    if cls in _DICTS:
        new = copy.copy(value) if cls is type(value) else cls(value)
        for key, each in () if holds_atoms(value) else value.items():
            new[key] = copied(each, leaf)
        return new
    if cls in _COLLECTIONS:
        return cls(value if holds_atoms(value) else
                   [copied(each, leaf) for each in value])
    return leaf(value)


@functools.lru_cache(maxsize=1024)
def _builtin(cls):
    """Returns the builtin class in the place of which Keras tracks a container; any
    other class itself."""
    is_tracked = cls.__module__ == 'keras.src.utils.tracking'
    return cls.__base__ if is_tracked else cls


def objects_in(value):
    """Returns what nested containers hold, as a list, without plain data."""
    if _builtin(type(unwrapped(value))) not in _CONTAINERS:
        return [] if type(value) in ATOMS else [value]
    found = []
    with contextlib.suppress(Exception):  # It contains itself.
        copied(value, lambda each: found.append(each) or each)
    return [each for each in found if type(each) not in ATOMS]


def unwrapped(value):
    """Returns the container inside a wrapper by which TensorFlow tracks it."""
    if _is_of_tensorflow(type(value)):
        wrapped = getattr(value, '__wrapped__', value)
        if isinstance(wrapped, (list, tuple, dict)):
            return wrapped
    return value


@functools.lru_cache(maxsize=1024)
def package_of(cls):
    """Returns the name of the package that defines a class."""
    return str(cls.__module__).split('.')[0]


@functools.lru_cache(maxsize=1024)
def _is_of_tensorflow(cls):
    return package_of(cls).startswith('tensorflow')


def holds_atoms(container):
    """Returns whether a container, including a dict's keys, has only plain data."""
    types_in = set(map(type, container))
    if isinstance(container, dict):
        types_in.update(map(type, container.values()))
    return types_in <= ATOMS


def is_plain(value):
    """Returns whether a value is plain data or a container of plain data."""
    try:
        return _is_plain(value)
    except Exception:  # Of a class of the user, or containers nested too deeply.
        return False


def _is_plain(value, holders=()):
    if type(value) in ATOMS or not isinstance(value, CONTAINERS):
        return type(value) in ATOMS
    value = unwrapped(value)
    if holds_atoms(value):
        return True
    values = value.values() if isinstance(value, dict) else value
    keys = value if isinstance(value, dict) else ()
    return id(value) not in holders and all(
        _is_plain(each, (*holders, id(value))) for each in [*keys, *values])


def is_tracked(container):
    """Returns whether Keras or TensorFlow has replaced a container to track it."""
    return package_of(type(container)) in ('keras', 'tensorflow')


def empty_like(container):
    """Returns an empty mutable container of the type of `container`."""
    if is_tracked(container):
        return next(cls for cls in (OrderedDict, dict, list, set)
                    if isinstance(container, cls))()
    try:
        new = copy.copy(container)
        new.clear()
        return new
    except Exception:  # E.g. a subclass whose `__getattr__` raises a `KeyError`.
        return type(container).__new__(type(container))


def fill(container, items):
    """Adds items to an empty mutable container.

    # Raises
        CannotCopy: if its class does not allow that.
    """
    try:
        if isinstance(container, (list, deque)):
            container.extend(items)
        else:
            container.update(items)
    except Exception as error:
        raise cannot_copy(container, error)


def container_like(container, items):
    """Returns a container of the type of `container` with other items.

    # Arguments
        container: an instance of a builtin container type or of a subclass.
        items: list of the items of the new container; for a dict, a dict.

    # Raises
        CannotCopy: if its class does not allow to add items.
    """
    if isinstance(container, MUTABLE):
        new = empty_like(container)
        fill(new, items)
        return new
    container = unwrapped(container)
    if hasattr(container, '_make'):
        return type(container)._make(items)
    base = tuple if isinstance(container, tuple) else frozenset
    return base.__new__(type(container), items)


def cannot_copy(value, error):
    """Returns a `CannotCopy` with the error that was raised by copying a value."""
    return CannotCopy(
        f'it holds {describe(value)}, which cannot be copied ({error})')


def describe(value):
    """Returns a description of an object for an error message."""
    return f'an object of class `{type(value).__name__}`'
