"""Ways in which a function can hold an object.

Each value `f` of the dicts: `f(held, use)` is a function that computes
`use(x, held)`.
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


def in_a_tuple(held, use):
    kept = Pair(held, None)
    return lambda x: use(x, kept.first)


def in_a_list(held, use):
    kept = [{'first': held}]
    return lambda x: sum([use(x, each['first']) for each in kept])


def in_another_function(held, use):
    def inner(x):
        return use(x, held)
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


def in_an_object_of_an_object(held, use):
    outer = Scorer(None, use)
    outer.inner = Scorer(held, use)
    return lambda x: outer.inner.score(x)


FUNCTIONS = {
    'closure': lambda held, use: lambda x: use(x, held),
    'default': lambda held, use: lambda x, held=held: use(x, held),
    'keyword default': lambda held, use: lambda x, *, held=held: use(x, held),
    'partial': lambda held, use: functools.partial(use, held=held),
    'tuple': in_a_tuple,
    'list': in_a_list,
    'another function': in_another_function,
    'attribute': in_an_attribute,
    'global': in_a_global,
}
METHODS = {
    'object': lambda held, use: Scorer(held, use).score,
    'object that is called': Scorer,
    'object with slots': lambda held, use: Slotted(held, use).score,
    'object of an object': in_an_object_of_an_object,
}
