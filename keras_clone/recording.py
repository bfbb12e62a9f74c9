"""Keeps what a layer was made with: what its constructor was called with, and the
attributes that it had when it was first called.

`clone_model` calls the constructor again, with the same arguments.
"""
import contextlib
import copy
import functools
import inspect
import itertools
import threading
import types
import weakref
import zlib
from collections import Counter, OrderedDict, defaultdict, deque

import numpy as np

from keras_clone.walk import ATOMS
from keras_clone.walk import CONTAINERS
from keras_clone.walk import FUNCTIONS
from keras_clone.walk import attributes_of
from keras_clone.walk import content_of
from keras_clone.walk import holds_atoms
from keras_clone.walk import is_opaque_class
from keras_clone.walk import is_plain
from keras_clone.walk import unwrapped

RECORD = '_clone_record'  # The only attribute that is set on layers.
_DICTS = {dict, OrderedDict, defaultdict, Counter}
_COLLECTIONS = {list, tuple, set, deque}
_LARGE = 2 ** 16  # Bytes. Larger arrays are not kept alive.
_LONG = 1000  # Nested containers with more items are not searched at a call.
# For each part of the global state of Keras that constructors and `build` depend on,
# the function that returns it, and one that returns a context with another value.
# Each overlay adds its own; the first is which names were generated.
STATE = []
record_numbers = itertools.count()
_ABSENT = object()


class _Calls(threading.local):
    """Context of a call of a layer.

    # Attributes
        depth: how many calls contain what a thread does now.
    """

    depth = 0

    def __enter__(self):
        self.depth += 1

    def __exit__(self, *error):
        self.depth -= 1


calls = _Calls()


class Record:
    """What is kept of a layer.

    Not a container, so that nothing tracks or saves what it holds.

    # Attributes
        args, kwargs: the arguments of its constructor; None if they are not known.
        state: the `state` of Keras in which that was called; `()` if not known.
        state_at_build: that in which `build` was called, on Keras 3.
        to_build_in: of a clone, that in which `build` is to be called.
        closures: list of tuples (function, the values in its closure): the
            functions among the arguments, on Keras 2.
        owner: the `id` of the layer whose calls are kept: `copy.copy` of a layer has
            the same `Record`.
        first_call: its `FirstCall`, or None.
        number: the records are numbered in the order in which they were made.
        later_calls: dict {number of a call: changes}, what the user had changed
            before that, but after the first call, in the layer and in those that it
            holds: dict {id of a layer: (layer, dict {name of an attribute: value})}.
        created: dict {number of a call: changes}, in the same format: the attributes
            after it, if the call has changed what they hold; -1 is what a clone had
            before its first call.
    """

    __slots__ = ('args', 'kwargs', 'state', 'state_at_build', 'to_build_in',
                 'closures', 'owner', 'first_call', 'number', 'later_calls',
                 'created')

    def __init__(self, args=None, kwargs=None, state=(), state_at_build=(),
                 closures=(), owner=None):
        self.args, self.kwargs = args, kwargs
        self.state, self.state_at_build, self.to_build_in = state, state_at_build, ()
        self.closures = closures
        self.owner, self.first_call = owner, None
        self.later_calls, self.created = {}, {}
        self.number = next(record_numbers)

    def __deepcopy__(self, memo):
        known = dict(memo)  # `memo` must not get what is copied only in part.
        try:
            args, kwargs = copy.deepcopy((self.args, self.kwargs), known)
        except Exception:
            return None
        memo.update(known)
        return Record(args, kwargs, self.state, self.state_at_build)

    def __reduce__(self):
        return type(None), ()  # A pickle must not depend on this package.


class FirstCall:
    """The attributes of a layer when it was first called.

    # Attributes
        name: the name of the layer.
        state: the `state` of Keras in which it was called.
        was_built: whether the layer was built.
        built: set, the ids of the layers that it held and that were built.
        empty: set, the ids of the models that it held and that had no layers.
        attributes: dict {name: value}; containers are copies.
        changed: dict {name: value}, those that were others after the call; None
            until it has ended.
        objects: dict {id: (object, its attributes, in the same format)}, of the
            objects of the user's classes that the layer held.
    """

    __slots__ = ('name', 'state', 'was_built', 'built', 'empty', 'attributes',
                 'changed', 'objects')

    def __init__(self, layer):
        self.name, self.state = vars(layer).get('name'), state()
        self.was_built = getattr(layer, 'built', False)
        self.built, self.empty = set(), set()
        self.attributes, self.changed, self.objects = {}, None, {}

    def existing(self):
        """Returns `attributes` and `objects`, without the large arrays that were
        changed in place or do not exist any more."""
        return _existing(self.attributes), {
            key: (each, _existing(held))
            for key, (each, held) in self.objects.items()}

    def correspond(self, first, built):
        """Makes this what it would be if a clone had not been built early.

        # Arguments
            first: the `FirstCall` of the original.
            built: set, the ids of the counterparts of the layers in `first.built`.
        """
        self.was_built, self.built = first.was_built, built
        self.attributes = {
            name: None if first.attributes[name] is None else value
            for name, value in self.attributes.items() if name in first.attributes}


class LargeArray(weakref.ref):
    """Stands for an array that is not kept alive.

    # Attributes
        checksum: None, or that of the array, by which a change in place is found.
    """

    __slots__ = ('checksum',)

    def __init__(self, array, *, checksum=None):
        super().__init__(array)
        self.checksum = checksum

    def unchanged(self):
        """Returns the array; None if it was changed or does not exist any more."""
        array = self()
        return array if self.checksum == _checksum(array) else None


def _checksum(array):
    """Returns the checksum of a NumPy array in memory that can be changed; None of
    any other value."""
    if type(array) is np.ndarray and array.flags.writeable and (
            array.flags.forc and not array.dtype.hasobject):
        return zlib.crc32(array.T if array.flags.f_contiguous else array)


class NotKnown(ValueError):
    """What the constructor of a layer was called with is not known."""


def record(cls):
    """Makes a class of Keras keep the arguments that its objects are made with."""
    released = vars(cls).get('__new__')

    # Of its arguments none has a name, because the user's may have any.
    def __new__(*args, **kwargs):
        subclass, *args = args
        if released is not None:
            new = released.__func__(subclass, *args, **kwargs)
        else:
            inherited = super(cls, subclass).__new__
            is_object = inherited is object.__new__  # It takes no arguments.
            new = inherited(subclass, *(() if is_object else args),
                            **({} if is_object else kwargs))
        if type(new) is subclass:
            keep(new, args, kwargs)
        return new

    if released is None:
        # Not a function: `inspect.signature` of a class shall find `__init__`.
        cls.__new__ = staticmethod(__new__.__call__)
    elif not hasattr(released.__func__, '__wrapped__'):
        cls.__new__ = functools.wraps(released.__func__)(__new__)


def keep(layer, args, kwargs):
    """Keeps the arguments of a constructor on a new layer."""
    record = _own_record(layer)
    try:
        record.args = copied(args, _kept)
        record.kwargs = copied(_without_weights(type(layer), kwargs), _kept)
    except Exception:  # E.g. of a list that contains itself.
        record.args = record.kwargs = None
    record.closures = ()
    record.state = record.state or state()


def _own_record(layer):
    """Returns the `Record` of a layer: a new one if it has that of another."""
    known = record_of(layer) or Record()
    if known.owner != id(layer):
        known = Record(known.args, known.kwargs, known.state, known.state_at_build,
                       known.closures, id(layer))
        # Not `setattr`, which may be the user's or may track the value.
        vars(layer)[RECORD] = known
    return known


def state():
    """Returns the global state of Keras, a tuple of a value for each of `STATE`."""
    return tuple([get() for get, _ in STATE])


@contextlib.contextmanager
def state_of(record, name='state', with_names=True):
    """Context with the global state of Keras in which something was called.

    # Arguments
        record: None, or a `Record` or a `FirstCall`.
        name: the name of its attribute that has the state.
        with_names: whether the names are generated again that were generated then.
    """
    with contextlib.ExitStack() as contexts:
        for (get, context_with), value in zip(STATE, getattr(record, name, ())):
            if get() != value and (with_names or (get, context_with) != STATE[0]):
                contexts.enter_context(context_with(value))
        yield


def setting(get, set_value):
    """Returns an entry of `STATE` for a setting that a function of Keras sets."""
    @contextlib.contextmanager
    def context_with(value):
        former = get()
        set_value(value)
        try:
            yield
        finally:
            set_value(former)
    return get, context_with


@contextlib.contextmanager
def building(layer):
    """Context in which a layer is built: keeps the `state` of Keras."""
    record = _own_record(layer)
    with state_of(record, 'to_build_in'):
        record.state_at_build = state()
        yield


def build_in_same_state(layer, clone):
    """Makes `build` of a clone run in the `state` in which that of the layer did."""
    known = record_of(layer)
    if known and known.state_at_build:
        _own_record(clone).to_build_in = known.state_at_build


def keep_first_call(layer, attributes, is_called, with_closures=False, seen=()):
    """Keeps the attributes of a layer that is about to be called for the first time,
    and those of the layers that it holds.

    # Arguments
        layer: a layer.
        attributes: function that returns the attributes of a layer that Keras itself
            does not set, as a dict; None for a layer that computes nothing itself.
        is_called: function that returns whether a layer was called.
        with_closures: whether to keep what the closures of the functions among the
            arguments hold.
        seen: dict {id: layer}, those that this was called for, which hold this one.

    # Returns
        A list of the `Record`s in which something was kept.
    """
    records, seen = [], seen or {}
    if id(layer) in seen or first_call_of(layer) and (
            calls.depth or is_called(layer) or seen and layer.built):
        return records  # Otherwise, what is known is older than what the user did.
    seen[id(layer)], current = layer, attributes(layer)
    if current is not None:
        record = _own_record(layer)
        records.append(record)
        record.first_call = FirstCall(layer)
        record.later_calls, record.created = {}, {}
        first = record.first_call
        held = _keep_attributes(current, first.attributes)
        for each in held:  # The list may grow in the loop.
            with contextlib.suppress(Exception):  # Of a class of the user.
                if is_recorded(each):
                    if getattr(each, 'built', False):
                        first.built.add(id(each))
                    if attributes(each) is None and not each.layers:
                        first.empty.add(id(each))
                    records += keep_first_call(
                        each, attributes, is_called, with_closures, seen)
                elif _is_of_user(type(each)) and id(each) not in first.objects:
                    first.objects[id(each)] = each, {}
                    held += _keep_attributes(
                        dict(attributes_of(each)), first.objects[id(each)][1])
        if with_closures:
            _keep_closures(record)
    return records


def forget_first_call(records):
    """Forgets what was kept at a first call that has raised an exception."""
    for record in records:
        record.first_call = None


def keep_changes_by_first_call(layer, attributes, is_kept):
    """Keeps what the first call of a layer has changed in it and in those it holds.

    # Arguments
        attributes: as for `keep_first_call`.
        is_kept: function that returns whether a value is kept.
    """
    for each, held in _changes(layer, attributes, is_kept=is_kept).values():
        if first_call_of(each).changed is None:  # Else it was called before.
            first_call_of(each).changed = held


def keep_changes_by_call(layer, number, attributes, layers_of):
    """Keeps what a call of a layer has changed in it and in those that it holds, and
    what it has created.

    # Arguments
        number, attributes, layers_of: as for `keep_later_call`.
    """
    record, created = _own_record(layer), {}
    before = record.later_calls.get(number, {})
    for key, (each, held) in _changes(layer, attributes, layers_of).items():
        first, (_, former) = first_call_of(each), before.get(key, (each, {}))
        if first.changed is None:  # Else it was called before.
            first.changed = held
        new = {name: value for name, value in held.items() if leaves(value) and
               is_changed(former.get(name, _ABSENT), value)}
        if new:
            created[key] = each, new
    if created:
        record.created[number] = created


def keep_later_call(layer, number, attributes, layers_of):
    """Keeps what the user has changed in a layer, and in those that it holds, since
    they were first called, if there is anything.

    # Arguments
        layer: a layer or a model that is about to be called.
        number: the number of its calls until now.
        attributes: as for `keep_first_call`.
        layers_of: function that returns the layers of a model; of any other layer,
            an empty list.
    """
    changes = {key: (each, held) for key, (each, held) in
               _changes(layer, attributes, layers_of).items() if held}
    if changes or _later_calls_of(layer):
        keep_changes(layer, number, changes)


def _changes(layer, attributes, layers_of=lambda layer: (),
             is_kept=lambda value: True):
    """Returns what differs now from when layers were first called, in the format of
    the values of `Record.later_calls`."""
    found, seen, waiting = {}, {}, [layer]
    for each in waiting:  # The list may grow in the loop.
        if id(each) in seen:
            continue
        seen[id(each)], first = each, first_call_of(each)
        waiting += layers_of(each)
        with contextlib.suppress(Exception):  # Of a class of the user.
            former = {**first.attributes, **(first.changed or {})} if first else {}
            current = attributes(each) or {}
            current = {name: value for name, value in current.items()
                       if not _is_long(value)}
            for value in current.values():
                if type(value) not in ATOMS:
                    waiting += filter(is_recorded, leaves(value))
            changed = {name: copied(value, _own_array)
                       for name, value in current.items()
                       if is_changed(former.get(name, _ABSENT), value) and
                       is_kept(value)}
            if first:
                found[id(each)] = each, changed
    return found


def keep_changes(layer, number, changes, created=()):
    """Keeps what had been changed in a layer when it was called.

    # Arguments
        number: the number of the call.
        changes: dict in the format of the values of `Record.later_calls`.
        created: that of the values of `Record.created`, if it was the first call:
            what the layer had before the changes.
    """
    record = _own_record(layer)
    record.later_calls[number] = changes
    if created and not number:
        record.created[-1] = created


def is_changed(former, value):
    """Returns whether an attribute differs from what was kept of it."""
    if type(former) is LargeArray:
        former = former()  # Its numbers are not compared at each call.
    with contextlib.suppress(Exception):  # Of a class of the user, or the backend.
        if value is former or _is_large(value):
            return False
        if isinstance(value, np.ndarray):
            return not np.array_equal(former, value)
        if is_plain(value) or isinstance(value, (np.generic, *FUNCTIONS)):
            return bool(former != value)
        return not isinstance(value, CONTAINERS) or (
            [*map(id, leaves(former))] != [*map(id, leaves(value))])
    return isinstance(value, np.ndarray)


def changes_at_call(layer, number):
    """Returns the attributes that the user has changed between the calls of a layer,
    in it and in the layers that it holds, as they were in one of the calls.

    # Arguments
        number: the number of that call.

    # Returns
        A dict in the format of the values of `Record.later_calls`; an empty one if
        nothing had been changed by then.
    """
    known, found = _later_calls_of(layer), {}
    for changes in known.values() if number in known else ():
        for key, (each, held) in changes.items():
            first = first_call_of(each)  # None if a later call of it has failed.
            former = first and {**first.existing()[0], **(first.changed or {})} or {}
            found.setdefault(key, (each, {}))[1].update(
                {name: former[name] for name in held if name in former})
    for key, (_, held) in known.get(number, {}).items():
        found[key][1].update(held)
    return found


def created_by_calls(layer, number):
    """Returns what calls of a layer have created, or put in the place of others.

    # Arguments
        number: the number of the last of them.

    # Returns
        A dict in the format of the values of `Record.created`.
    """
    record, found = record_of(layer), {}
    known = record.created if record and record.owner == id(layer) else {}
    for created in [known[each] for each in sorted(known) if each <= number]:
        for key, (each, held) in created.items():
            found.setdefault(key, (each, {}))[1].update(held)
    return found


def keep_first_call_with(layer, attributes):
    """Replaces attributes that were kept at the first call of a layer."""
    first = first_call_of(layer)
    if first is not None:
        first.objects.clear()
        for name, value in first.attributes.items():
            if name in attributes and type(value) not in ATOMS:
                first.attributes[name] = copied(attributes[name])


def _keep_attributes(current, kept):
    """Copies attributes into the dict `kept`; returns the objects in them as a
    list."""
    found = []
    for name, value in list(current.items()):
        with contextlib.suppress(Exception):  # Of a class of the user.
            if type(value) in ATOMS:
                kept[name] = value
                continue
            kept[name] = _kept_attribute(value)
            found += [] if _is_long(value) else leaves(value)
    return found


def _kept_attribute(value):
    if _is_long(value):
        return value
    new = value
    with contextlib.suppress(RecursionError):  # It contains itself.
        new = copied(value, _own_array)  # It may be changed in place.
    if new is value and isinstance(value, CONTAINERS) and holds_atoms(value):
        raise NotKnown('a container of a class of the user may be changed in place')
    return LargeArray(new, checksum=_checksum(new)) if _is_large(new) else new


@functools.lru_cache(maxsize=1024)
def _is_of_user(cls):
    """Returns whether the objects of a class are searched for what they hold."""
    return '__dict__' in dir(cls) and not (
        is_of_keras(cls) or is_opaque_class(cls) or issubclass(cls, FUNCTIONS))


def _keep_closures(record):
    """Keeps what the closures of the functions among the arguments hold."""
    record.closures = [
        (each, [content_of(cell) for cell in each.__closure__])
        for each in leaves([record.args, record.kwargs])
        if isinstance(each, types.FunctionType) and each.__closure__]


def is_recorded(value):
    """Returns whether the arguments of an object's constructor are kept."""
    with contextlib.suppress(Exception):  # Of a class of the user.
        return RECORD in value.__dict__
    return False


def record_of(layer):
    """Returns the `Record` of a layer, or None if nothing is kept of it."""
    return vars(layer).get(RECORD)


def arguments_of(layer):
    """Returns a `Record` with the arguments that a layer was made with.

    # Raises
        NotKnown: if they are not known, e.g. because the layer was made by
            `pickle`, or an argument can be read only once.
    """
    known = record_of(layer)
    if known is None or known.args is None or not _is_new_of_keras(type(layer)):
        raise NotKnown('the arguments of its constructor are not known')
    return Record(copied(known.args, _alive), copied(known.kwargs, _alive),
                  known.state, known.state_at_build, known.closures)


def number_of(layer, default):
    """Returns the number of the `Record` of a layer; a default if it has none, or
    that of the layer of which it is a copy."""
    record = record_of(layer)
    return record.number if record and record.owner in (None, id(layer)) else default


def first_call_of(layer):
    """Returns the `FirstCall` of a layer, or None if it is not known."""
    record = record_of(layer)
    return record.first_call if record and record.owner == id(layer) else None


def _later_calls_of(layer):
    record = record_of(layer)
    return record.later_calls if record and record.owner == id(layer) else {}


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


def leaves(value):
    """Returns what nested containers hold, as a list, without plain data."""
    found = []
    with contextlib.suppress(Exception):  # It contains itself.
        copied(value, lambda each: found.append(each) or each)
    return [each for each in found if type(each) not in ATOMS]


def _kept(value):
    if hasattr(type(value), '__next__') and type(value) not in weakref.ProxyTypes:
        raise NotKnown('an iterator can be read only once')
    return LargeArray(value) if _is_large(value) else value


def _own_array(value):
    is_array = isinstance(value, np.ndarray) and not _is_large(value)
    return value.copy() if is_array else value


def _is_large(value):
    with contextlib.suppress(Exception):  # E.g. of an array in a closed file.
        return hasattr(type(value), 'nbytes') and value.nbytes > _LARGE
    return False


def _is_long(value):
    return issubclass(type(value), CONTAINERS) and len(value) > _LONG and (
        not holds_atoms(unwrapped(value)))


def _existing(attributes):
    found = {name: value.unchanged() if type(value) is LargeArray else value
             for name, value in attributes.items()}
    return {name: value for name, value in found.items()
            if value is not None or attributes[name] is None}


def _alive(value):
    if type(value) is not LargeArray:
        return value
    array = value()
    if array is None:
        raise NotKnown('a large array among the arguments of its constructor does '
                       'not exist any more')
    return array


def _without_weights(cls, kwargs):
    """Returns keyword arguments without initial values for weights.

    Layers of Keras take them, and pass them on; for layers of others, a parameter of
    this name may be anything.
    """
    is_other = 'weights' in parameters_of(cls)[0] and not is_of_keras(cls)
    if 'weights' not in kwargs or is_other:
        return kwargs
    return {name: value for name, value in kwargs.items() if name != 'weights'}


@functools.lru_cache(maxsize=1024)
def parameters_of(cls):
    """Returns the arguments of a class's constructor, as an ordered dict {name:
    default}, and whether it takes any others by name."""
    try:
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
    except (TypeError, ValueError):
        return {}, False
    kinds = [each.kind for each in parameters]
    return {each.name: each.default for each in parameters
            if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
            }, inspect.Parameter.VAR_KEYWORD in kinds


@functools.lru_cache(maxsize=1024)
def _is_new_of_keras(cls):
    """Returns whether `__new__` of a class is Keras's: another one may have got
    other arguments than the constructor."""
    return is_of_keras(next(base for base in cls.__mro__ if '__new__' in vars(base)))


@functools.lru_cache(maxsize=1024)
def is_called_by_keras(cls):
    """Returns whether `__call__` of a class is Keras's: another one may have changed
    a layer before Keras's is called."""
    return is_of_keras(
        next(base for base in cls.__mro__ if '__call__' in vars(base)))


def is_of_keras(cls):
    """Returns whether Keras itself defines a class."""
    return str(cls.__module__).split('.')[0] == 'keras'
