"""Keeps the attributes that layers had when they were called.

What was changed before the first call of a layer is not what `build` has created. On
Keras 2, the graph of each call is computed with what was set at that time.
"""
import contextlib
import functools
import threading
import types
from collections import namedtuple

import numpy as np

from keras_clone.comparison import MISSING
from keras_clone.comparison import is_changed
from keras_clone.containers import ATOMS
from keras_clone.containers import CONTAINERS
from keras_clone.containers import MUTABLE
from keras_clone.containers import copied
from keras_clone.containers import holds_atoms
from keras_clone.containers import objects_in
from keras_clone.containers import unwrapped
from keras_clone.functions import FUNCTIONS
from keras_clone.functions import Cell
from keras_clone.functions import content_of
from keras_clone.global_state import global_state
from keras_clone.recording import LargeArray
from keras_clone.recording import NotKnown
from keras_clone.recording import call_numbers
from keras_clone.recording import checksum_of
from keras_clone.recording import is_large
from keras_clone.recording import is_of_keras
from keras_clone.recording import is_recorded
from keras_clone.recording import own_record
from keras_clone.recording import record_of
from keras_clone.walk import attributes_of
from keras_clone.walk import is_opaque_class
from keras_clone.walk import parts_of

NUMBER = '_clone_number'  # The only attribute that is set on nodes.
_LONG = 1000  # Nested containers with more items are not searched at a call.
_MANY = 200  # More objects that only functions hold are not searched, either.

Change = namedtuple('Change', 'call is_by_user attributes')
Change.__doc__ = """Attributes of a layer that have changed.

# Attributes
    call: number of the call that has changed them or, if the user has, of the next.
    is_by_user: whether they were changed between two calls, not by a call.
    attributes: dict {name: value}; containers are copies.
"""


class _Calls(threading.local):
    """The calls of layers that contain what a thread does now.

    # Attributes
        depth: their number.
        number: that of the outermost, in the order of all calls.
    """

    depth, number = 0, -1

    def __enter__(self):
        self.depth += 1

    def __exit__(self, *error):
        self.depth -= 1


calls = _Calls()


class FirstCall:
    """The attributes of a layer when it was first called, and what changed later.

    # Attributes
        name: the name of the layer.
        global_state: that of Keras when it was called.
        was_built: whether the layer was built.
        built: set, the ids of the layers that were built, of those that it held: in
            attributes and arguments, or in the objects and functions in them.
        empty: set, the ids of the models among these layers that had no layers.
        attributes: dict {name: value}; containers are copies.
        objects: dict {id: (object, its attributes, in the same format)}, of the
            objects of the user's classes that it held.
        changes: list of `Change`s, in their order; empty until the call has ended.
            On Keras 3, those of the first call alone.
    """

    __slots__ = ('name', 'global_state', 'was_built', 'built', 'empty', 'attributes',
                 'objects', 'changes')

    def __init__(self, layer):
        self.name, self.global_state = vars(layer).get('name'), global_state()
        self.was_built = getattr(layer, 'built', False)
        self.built, self.empty = set(), set()
        self.attributes, self.objects, self.changes = {}, {}, []

    @property
    def changed(self):
        """The attributes that the call has changed, as they were after it."""
        return next((each.attributes for each in self.changes
                     if not each.is_by_user), {})

    def is_outdated(self, attributes):
        """Returns whether a user has changed attributes between calls, or what calls
        have created is not what they hold now.

        # Arguments
            attributes: dict {name: value}, the attributes now.
        """
        return any(change.is_by_user for change in self.changes) or any(
            objects_in(value) and is_changed(value, attributes.get(name))
            for change in self.changes
            for name, value in change.attributes.items())

    def latest(self):
        """Returns the attributes as last known."""
        known = dict(self.attributes)
        for change in self.changes:
            known.update(change.attributes)
        return known

    def set_by_user(self, call):
        """Returns what the user has changed between the first call and another, and
        no call has changed again: a dict {name: value}."""
        found = {}
        for change in self.changes:
            if change.call < call or change.is_by_user and change.call == call:
                for name in change.attributes:
                    found.pop(name, None)
                if change.is_by_user:
                    found.update(change.attributes)
        return found

    def set_by_calls(self, call):
        """Returns what calls, the last of them a certain one, have changed: a dict
        {name: value}."""
        found = {}
        for change in self.changes:
            if change.call <= call and not change.is_by_user:
                found.update(change.attributes)
        return found

    def existing(self):
        """Returns `attributes` and `objects`, without the large arrays that were
        changed in place or do not exist any more."""
        return _existing(self.attributes), {
            key: (each, _existing(held))
            for key, (each, held) in self.objects.items()}

    def correspond(self, first, built):
        """Makes this what it would be if a clone had not been built early, and had
        been called when the original was.

        # Arguments
            first: the `FirstCall` of the original.
            built: set, the ids of the counterparts of the layers in `first.built`.
        """
        self.was_built, self.built = first.was_built, built
        self.attributes = {
            name: None if first.attributes[name] is None else value
            for name, value in self.attributes.items() if name in first.attributes}
        self.changes = [new._replace(call=old.call)
                        for old, new in zip(first.changes, self.changes)]


class History:
    """Keeps the attributes of layers when they are called.

    # Arguments
        attributes: function that returns the attributes of a layer that Keras itself
            does not set, as a dict; None for a layer that computes nothing itself.
        is_called: function that returns whether a layer was called.
        layers_of: function that returns the layers of a model; of any other layer,
            an empty list.
        has_each_call: whether what is changed after the first call is kept.
        is_kept: function that returns whether a value that a call has set is kept.
    """

    def __init__(self, attributes, is_called, layers_of=lambda layer: (),
                 has_each_call=False, is_kept=lambda value: True):
        self._attributes, self._is_called = attributes, is_called
        self._layers_of, self._is_kept = layers_of, is_kept
        self._has_each_call = has_each_call

    def call(self, layer):
        """Returns a context in which a layer is called."""
        first = None if self._has_each_call else first_call_of(layer)
        if first and first.changes and self._is_called(layer):
            return calls  # Nothing is kept any more.
        return _Call(self, layer)

    def before_call(self, layer):
        """Keeps the attributes of a layer that is about to be called, and of those
        that it holds: all if it is the first time, else what the user has changed.

        # Returns
            A list of the `Record`s of those that are called for the first time.
        """
        kept, seen, waiting = [], {}, [layer]
        for each in waiting:  # The list may grow in the loop.
            if id(each) in seen:
                continue
            seen[id(each)] = each
            with contextlib.suppress(Exception):  # Of a class of the user.
                if first_call_of(each) and (
                        calls.depth or self._is_called(each) or
                        each is not layer and each.built):
                    # Otherwise, what is known is older than what the user did.
                    waiting += self._keep_changes(each, is_by_user=True)
                    continue
                current = self._attributes(each)
                if current is None:
                    waiting += () if calls.depth else self._layers_of(each)
                    continue
                record = own_record(each)
                kept.append(record)
                record.first_call = FirstCall(each)
                waiting += self._keep_first_call(record, current)
        return kept

    def _keep_first_call(self, record, current):
        """Keeps the attributes of a layer; returns the layers that it holds as a
        list."""
        held = _keep_attributes(current, record.first_call.attributes)
        held += [each for each in objects_in([record.args, record.kwargs])
                 if not is_recorded(each)]
        if self._has_each_call:
            _keep_closures(record)
        return self._keep_held(record.first_call, held)

    def _keep_held(self, first, held):
        """Keeps what a layer holds in objects and functions; returns the layers
        among all that it holds as a list.

        # Arguments
            held: list of what it holds in attributes and arguments.
        """
        layers, seen, used = [], {}, []
        for waiting in (held, used):  # `used`: what functions hold.
            for each in waiting:  # The list may grow in the loop.
                if id(each) in seen:
                    continue
                seen[id(each)] = each
                with contextlib.suppress(Exception):  # Of a class of the user.
                    if is_recorded(each):
                        layers.append(each)
                        if getattr(each, 'built', False):
                            first.built.add(id(each))
                        if self._attributes(each) is None and not each.layers:
                            first.empty.add(id(each))
                    elif isinstance(each, (*FUNCTIONS, Cell)):
                        for part in parts_of(each):
                            used += [] if _is_long(part, True) else objects_in(part)
                    elif _is_of_user(type(each)) and (
                            waiting is held or len(first.objects) < _MANY):
                        first.objects[id(each)] = each, {}
                        waiting += _keep_attributes(
                            dict(attributes_of(each)), first.objects[id(each)][1],
                            is_used=waiting is used)
        return layers

    def after_call(self, layer):
        """Keeps what a call has changed in a layer and in those that it holds."""
        seen, waiting = {}, [layer]
        for each in waiting:  # The list may grow in the loop.
            if id(each) not in seen:
                seen[id(each)] = each
                with contextlib.suppress(Exception):  # Of a class of the user.
                    waiting += self._keep_changes(each, is_by_user=False)

    def _keep_changes(self, layer, is_by_user):
        """Keeps what has changed in a layer; returns the layers that it holds."""
        first = first_call_of(layer)
        has_each_call = self._has_each_call and not calls.depth
        if not has_each_call and ((first and first.changes) or is_by_user):
            return []
        current = {name: value for name, value in
                   (self._attributes(layer) or {}).items() if not _is_long(value)}
        held = [each for value in current.values() if type(value) not in ATOMS
                for each in objects_in(value) if is_recorded(each)]
        if first is not None:
            known = first.latest()
            changed = {name: copied(value, own_array)
                       for name, value in current.items()
                       if is_changed(known.get(name, MISSING), value) and
                       self._is_kept(value)}
            if changed or not (is_by_user or first.changes):
                first.changes.append(Change(calls.number, is_by_user, changed))
        return [*self._layers_of(layer), *held]


class _Call:
    """Context in which a layer is called; see `History`."""

    __slots__ = ('_history', '_layer', '_kept')

    def __init__(self, history, layer):
        self._history, self._layer = history, layer

    def __enter__(self):
        if not calls.depth:
            calls.number = next(call_numbers)
        self._kept = self._history.before_call(self._layer)
        calls.depth += 1

    def __exit__(self, error, *_):
        calls.depth -= 1
        if error is None:
            self._history.after_call(self._layer)
            return
        for record in self._kept:
            record.first_call = None


def keep_number(node, number):
    """Keeps, in a node, the number of the call that has created it."""
    vars(node)[NUMBER] = number


def number_of_call(node):
    """Returns the number of the call that has created a node, or None."""
    return vars(node).get(NUMBER)


def keep_first_call_with(layer, attributes, objects):
    """Replaces what was kept at the first call of a layer.

    # Arguments
        attributes: dict {name: value}.
        objects: dict in the format of `FirstCall.objects`.
    """
    first = first_call_of(layer)
    if first is not None:
        first.objects = objects
        for name, value in first.attributes.items():
            if name in attributes and type(value) not in ATOMS:
                first.attributes[name] = copied(attributes[name])


def first_call_of(layer):
    """Returns the `FirstCall` of a layer, or None if it is not known."""
    record = record_of(layer)
    return record.first_call if record and record.owner == id(layer) else None


def _keep_attributes(current, kept, is_used=False):
    """Copies attributes into the dict `kept`; returns the objects in them as a list.

    # Arguments
        is_used: whether they are those of an object that only a function holds. What
            is large is not kept as it is now: the object may hold the user's data,
            and many functions may use it.
    """
    found = []
    for name, value in list(current.items()):
        with contextlib.suppress(Exception):  # Of a class of the user.
            if type(value) in ATOMS or _is_long(value, is_used):
                kept[name] = value
                continue
            is_data = is_used and is_large(value)
            kept[name] = LargeArray(value) if is_data else _kept_attribute(value)
            found += objects_in(value)
    return found


def _kept_attribute(value):
    new = value
    with contextlib.suppress(RecursionError):  # It contains itself.
        new = copied(value, own_array)  # It may be changed in place.
    if new is value and isinstance(value, MUTABLE) and holds_atoms(value):
        raise NotKnown('a container of a class of the user may be changed in place')
    return LargeArray(new, checksum=checksum_of(new)) if is_large(new) else new


@functools.lru_cache(maxsize=1024)
def _is_of_user(cls):
    """Returns whether the objects of a class are searched for what they hold."""
    return '__dict__' in dir(cls) and not (
        is_of_keras(cls) or is_opaque_class(cls) or issubclass(cls, FUNCTIONS))


def _is_long(value, is_used=False):
    """Returns whether a container is neither copied nor searched. One of plain data
    is, unless only a function holds it."""
    return issubclass(type(value), CONTAINERS) and len(value) > _LONG and (
        is_used or not holds_atoms(unwrapped(value)))


def _existing(attributes):
    found = {name: value.unchanged() if type(value) is LargeArray else value
             for name, value in attributes.items()}
    return {name: value for name, value in found.items()
            if value is not None or attributes[name] is None}


def _keep_closures(record):
    """Keeps what the closures of the functions among the arguments hold."""
    record.closures = [
        (each, [content_of(cell) for cell in each.__closure__])
        for each in objects_in([record.args, record.kwargs])
        if isinstance(each, types.FunctionType) and each.__closure__]


def own_array(value):
    """Returns a copy of a small array; anything else itself."""
    is_array = isinstance(value, np.ndarray) and not is_large(value)
    return value.copy() if is_array else value
