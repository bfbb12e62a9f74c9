"""`Walk` replaces objects wherever they are held, and copies nothing else."""
import collections
import enum
import functools
import threading
import types
import weakref

import pytest
from keras_clone.containers import CannotCopy
from keras_clone.walk import Walk, parts_of

from holding import Pair


class Leaf:
    """Stands for a layer of the original, or for one of the clone."""

    def method(self):
        return self


class Holder:
    def __init__(self, held):
        self.held = held

    def method(self):
        return self.held


class Slotted:
    __slots__ = ('held', '__hidden')

    def __init__(self, held):
        self.held = self.__hidden = held

    def hidden(self):
        return self.__hidden


class Listed(list):
    pass


OLD, NEW = Leaf(), Leaf()


@pytest.fixture
def walk():
    return Walk(lambda value: value is OLD, lambda value: NEW)


@pytest.mark.parametrize('container, held', [
    ([OLD], lambda new: new[0]),
    ((1, OLD), lambda new: new[1]),
    (Pair(OLD, 2), lambda new: new.first),
    ({'a': OLD}, lambda new: new['a']),
    ({OLD: 1}, lambda new: list(new)[0]),
    ({OLD}, lambda new: list(new)[0]),
    (frozenset([OLD]), lambda new: list(new)[0]),
    (collections.OrderedDict(a=OLD), lambda new: new['a']),
    (collections.defaultdict(list, a=[OLD]), lambda new: new['a'][0]),
    (collections.deque([OLD], maxlen=3), lambda new: new[0]),
    (Listed([OLD]), lambda new: new[0]),
    ([{'a': ([OLD],)}], lambda new: new[0]['a'][0][0]),
    (Holder(OLD), lambda new: new.held),
    (Slotted(OLD), lambda new: new.held),
    (Slotted(OLD), lambda new: new.hidden()),
    (OLD.method, lambda new: new()),
    (Holder(OLD).method, lambda new: new()),
    (functools.partial(lambda x, y: y, 1, OLD), lambda new: new()),
    (functools.partial(lambda x: x, x=OLD), lambda new: new()),
    (lambda x=OLD: x, lambda new: new()),
    (lambda *, x=OLD: x, lambda new: new()),
    ((lambda held: lambda: held)(OLD), lambda new: new()),
    ((lambda held: lambda: lambda: held)([OLD]), lambda new: new()()[0]),
    (lambda: OLD, lambda new: new()),
    (weakref.ref(OLD), lambda new: new()),
    (weakref.proxy(OLD), lambda new: new.method.__self__),
])
def test_leaf_is_replaced(container, held, walk):
    new = walk.map(container)
    assert held(new) is NEW
    assert held(container) is OLD
    assert type(new) is type(container)


@pytest.mark.parametrize('value', [
    1, 'text', None, [1, 2], {'a': [Holder(1)]}, {1, 2}, Holder([1]), lambda: len,
    Leaf(), Leaf().method, threading.Lock(), enum.Enum('Color', 'RED').RED, Holder,
    types, (), weakref.ref(NEW), Listed([Holder(3)]),
])
def test_what_holds_no_leaf_is_the_same_object(value, walk):
    assert walk.map(value) is value


def test_what_is_held_twice_is_copied_once(walk):
    holder = Holder(OLD)
    first, second = walk.map([holder, holder])
    assert first is second
    assert walk.map(holder) is first


def test_what_holds_itself_is_copied(walk):
    held = [OLD]
    held.append(held)
    new = walk.map(held)
    assert new[1] is new


def test_object_that_leads_back_to_its_holder_is_copied(walk):
    parent = Holder(None)
    parent.held = [Holder(parent), OLD]
    new = walk.map(parent)
    assert new.held[0].held is new


def test_function_that_calls_itself_is_copied(walk):
    def function(n):
        return function(n - 1) if n else OLD_IN_CLOSURE

    OLD_IN_CLOSURE = OLD
    assert walk.map(function)(2) is NEW
    assert function(2) is OLD


def test_copied_function_keeps_what_describes_it(walk):
    def function(x: int, held=OLD) -> str:
        """Says something."""
    function.note = 'noted'
    new = walk.map(function)
    for name in ('__name__', '__qualname__', '__doc__', '__module__',
                 '__annotations__', '__dict__'):
        assert getattr(new, name) == getattr(function, name)


def test_empty_cell_stays_empty(walk):
    def make():
        def function():
            return held, later
        held = OLD
        return function
        later = None  # Never reached: the cell stays empty.
    new = walk.map(make())
    with pytest.raises(NameError):
        new()


def test_cell_that_two_functions_share_is_shared_by_their_copies(walk):
    def counter():
        count, held = 0, OLD

        def more():
            nonlocal count
            count += 1
            return held
        return more, lambda: count
    more, count = walk.map(counter())
    assert more() is NEW
    assert count() == 1


def test_object_that_cannot_be_copied_is_refused(walk):
    class Demanding(Holder):
        def __new__(cls, held):
            return super().__new__(cls)
    with pytest.raises(CannotCopy, match='`Demanding`'):
        walk.map([Demanding(OLD)])


def test_elements_of_plain_data_are_not_checked_one_by_one():
    asked = set()
    walk = Walk(lambda value: asked.add(id(value)), None)
    value = {'words': ['word'] * 100000, 'numbers': list(range(100000))}
    assert walk.map(value) is value
    assert len(asked) == 3


def test_parts_of_a_function_are_what_it_mentions_and_no_module():
    assert parts_of(lambda: (OLD, pytest, len)) == [OLD]
