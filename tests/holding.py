"""Ways in which a function can hold an object.

`in_...(held, use)` returns a function that computes `use(x, held)`.
"""
import collections
import functools

Pair = collections.namedtuple('Pair', 'first second')


class Scorer:
    """An object that computes with what it holds."""

    def __init__(self, held, use):
        self.held, self.use = held, use

    def score(self, x):
        return self.use(x, self.held)

    __call__ = score


class Slotted:
    __slots__ = ('_held', 'use', '__unset', '__held')

    def __init__(self, held, use):
        self._held, self.__held, self.use = None, held, use

    def score(self, x):
        return self.use(x, self.__held)


def in_a_closure(held, use):
    return lambda x: use(x, held)


def in_a_default(held, use):
    return lambda x, held=held: use(x, held)


def in_a_keyword_default(held, use):
    return lambda x, *, held=held: use(x, held)


def in_a_partial(held, use):
    return functools.partial(use, held=held)


def in_a_tuple(held, use):
    kept = Pair(held, None)
    return lambda x: use(x, kept.first)


def in_a_list(held, use):
    kept = [{'first': held}]
    return lambda x: sum([use(x, each['first']) for each in kept])


def in_another_function(held, use):
    inner = in_a_closure(held, use)
    return lambda x: inner(x)


def in_an_attribute(held, use):
    def function(x):
        return use(x, function.held)
    function.held = held
    return function


def in_a_global(held, use):
    scope = {'held': held, 'use': use}
    exec('def inner(x):\n    return sum([use(x, held) for _ in range(1)])\n'
         'def function(x):\n    return inner(x)', scope)
    return scope['function']


def in_an_object(held, use):
    return Scorer(held, use).score


def in_an_object_that_is_called(held, use):
    return Scorer(held, use)


def in_an_object_with_slots(held, use):
    return Slotted(held, use).score


def in_an_object_of_an_object(held, use):
    outer = Scorer(None, use)
    outer.inner = Scorer(held, use)
    return lambda x: outer.inner.score(x)


FUNCTIONS = [in_a_closure, in_a_default, in_a_keyword_default, in_a_partial,
             in_a_tuple, in_a_list, in_another_function, in_an_attribute,
             in_a_global]
METHODS = [in_an_object, in_an_object_that_is_called, in_an_object_with_slots,
           in_an_object_of_an_object]
