"""How a clone differs from its original, and how one says so."""
import base64
import collections
import marshal
import types

import numpy as np

from . import graphs

FAITHFUL = 'faithful'
CRASH = 'crash'
PREDICT = 'cannot predict'
NUMBERS = 'wrong numbers'
CLONING = 'clones only once'
SHARING = 'not independent'
GRAPH = 'other graph'
SAVING = 'does not save'

# From what is worst for a user to what may go unnoticed.
OUTCOMES = (CRASH, PREDICT, NUMBERS, CLONING, SHARING, GRAPH, SAVING, FAITHFUL)

# What begins the text for what is compared: in the second generation and later, and
# where it is an attribute of a layer.
GENERATION = "the clone's clone: "
ATTRIBUTE = 'attribute '

NOTHING = type('Nothing', (), {'__repr__': lambda self: 'nothing'})()


class Difference(collections.namedtuple(
        'Difference', 'clause layer what expected got')):
    """One way in which a clone is not faithful.

    # Attributes
        clause: `function`, `graph`, `independent` or `closed`.
        layer: name of the layer at which the clone parts from the original, for a
            layer inside others the names down to it joined by `/`; empty where
            it is no single layer.
        what: what is compared.
        expected: what the original has, as text.
        got: what the clone has, as text.
    """
    __slots__ = ()

    def __str__(self):
        where = self.layer + ': ' if self.layer else ''
        return f'{where}{self.what}: expected {self.expected}, got {self.got}'

    @property
    def is_in_attribute(self):
        """Whether it is one in an attribute of a layer, see `state.Comparison`."""
        return self.what.split(GENERATION)[-1].startswith(ATTRIBUTE)

    @property
    def outcome(self):
        """The word of `OUTCOMES` for this difference."""
        if self.clause == 'function':
            return {'cloning': CRASH, 'predict': PREDICT}.get(self.what, NUMBERS)
        if self.clause == 'closed':
            return SAVING if self.what == 'save and load' else CLONING
        return {'graph': GRAPH, 'independent': SHARING}[self.clause]


class Report(collections.namedtuple(
        'Report', 'outcome layer reason differences not_compared')):
    """What `check_clone` found.

    # Attributes
        outcome: one of `OUTCOMES`, the worst thing found.
        layer: name of the layer at which the clone first parts from the original
            in this respect; empty if it is none.
        reason: one readable line; empty for a faithful clone.
        differences: list of every `Difference` found, each once.
        not_compared: list of texts, what could not be compared, and why.
    """
    __slots__ = ()

    @classmethod
    def of(cls, differences, not_compared=()):
        """Returns the report on a list of `Difference`s, see `not_compared`."""
        differences = list(dict.fromkeys(differences))
        not_compared = list(dict.fromkeys(not_compared))
        for outcome in OUTCOMES:
            for each in differences:
                if each.outcome == outcome:
                    return cls(outcome, each.layer, str(each), differences,
                               not_compared)
        return cls(FAITHFUL, '', '', [], not_compared)

    @property
    def faithful(self):
        """Whether nothing was found."""
        return self.outcome == FAITHFUL


class ModelError(Exception):
    """The original itself cannot be built or evaluated: nothing to compare."""


def of_generation(generation, new, known):
    """Makes what is new with a clone's clone a matter of closure."""
    if generation == 1:
        return new
    return [each._replace(clause='closed', what=GENERATION + each.what)
            for each in new if each not in known]


def first_that_holds(holds, count):
    """Returns the least number of 1 to `count` for which something holds.

    It is taken to hold for every greater number too. 0 if it does not hold.
    """
    if count == 0 or not holds(count):
        return 0
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def summary(error):
    """Returns the type of an exception and the first line of its message."""
    line = str(error).strip().split('\n')[0]
    return shortened(f'{type(error).__name__}: {line}' if line
                     else type(error).__name__, 200)


def shortened(text, length=70):
    """Returns a text, cut if it is longer than `length`."""
    return text if len(text) <= length else text[:length - 3] + '...'


def describe(value):
    """Returns a short text for a value; a tensor is named after its layer."""
    if not graphs.is_tensor(value):
        return shortened(repr(value))
    layer, _, tensor_index = getattr(value, '_keras_history', (None, None, None))
    if layer is not None:
        return 'output %d of %s' % (tensor_index, layer.name)
    return 'tensor ' + shortened(str(value.name))


def leaf_pairs(x, y, way=''):
    """Yields what two structures of lists, tuples and dicts hold at each place.

    # Arguments
        x: a structure or a leaf.
        y: another.
        way: text for the place of both.

    # Returns
        Yields tuples (text for the place, leaf of `x`, leaf of `y`); `NOTHING`
        stands for an entry that only one of two dicts has. Structures that are
        not alike are leaves.
    """
    if isinstance(x, dict) and isinstance(y, dict):
        for key in sorted(set(x) | set(y), key=repr):
            for each in leaf_pairs(x.get(key, NOTHING), y.get(key, NOTHING),
                                   f'{way} {key}'):
                yield each
    elif isinstance(x, (list, tuple)) and type(x) is type(y) and len(x) == len(y):
        for i, (each, other) in enumerate(zip(x, y)):
            yield from leaf_pairs(each, other, '%s[%d]' % (way, i))
    else:
        yield way, x, y


def tensor_leaves(structure):
    """Returns the tensors in a structure of lists, tuples and dicts."""
    return [leaf for _, leaf, _ in leaf_pairs(structure, structure)
            if graphs.is_tensor(leaf)]


def same_value(x, y, strict=False):
    """Returns whether two leaves are the same, as far as one can tell.

    # Arguments
        x: anything.
        y: anything.
        strict: whether two objects of a class that does not define equality are
            different. Else they count as the same, since one cannot look inside.
    """
    if x is y:
        return True
    if type(x) is not type(y):
        return False
    if isinstance(x, np.ndarray):
        return x.dtype == y.dtype and arrays_close(x, y)
    if isinstance(x, types.FunctionType):
        return x.__code__ == y.__code__
    if isinstance(x, str):
        return x == y or _code_in(x) == _code_in(y) is not None
    if type(x).__eq__ is object.__eq__ or graphs.is_tensor(x):
        return not strict
    try:
        return bool(np.all(x == y)) or bool(np.all(x != x) and np.all(y != y))
    except Exception:  # It compares what it holds, which may be symbolic.
        return not strict


def _code_in(text):
    """Returns the code that `keras.utils.generic_utils.func_dump` put in a text.

    The same code, marshalled twice, may give two texts.
    """
    try:
        code = marshal.loads(base64.b64decode(text.encode('ascii')))
    except (ValueError, EOFError, TypeError):
        return None
    return code if isinstance(code, types.CodeType) else None


def all_close(expected, got):
    """Returns whether two lists of arrays agree, see `arrays_close`."""
    return len(expected) == len(got) and all(map(arrays_close, expected, got))


def distance(expected, got):
    """Returns as text how far the arrays of two lists are from each other."""
    for x, y in zip(expected, got):
        if x.shape != y.shape:
            return f'the shape {y.shape} instead of {x.shape}'
    far = [np.abs(x.astype(float) - y).max() for x, y in zip(expected, got)
           if x.size and is_numeric(x) and is_numeric(y)]
    if not far or not max(far):
        return 'other values'
    return f'numbers off by up to {max(far):.2g}'


def is_numeric(array):
    """Returns whether an array holds numbers or truth values, and no texts."""
    return array.dtype.kind in 'fiub'


def is_finite(array):
    """Returns whether there are no infinite numbers, nor NaN, in an array."""
    return not is_numeric(array) or bool(np.isfinite(array).all())


def arrays_close(x, y):
    """Returns whether two arrays agree in shape and, within rounding, in numbers."""
    if x.shape != y.shape:
        return False
    if not is_numeric(x) or not is_numeric(y):
        return bool(np.all(x == y))
    finite = np.abs(x[np.isfinite(x)]) if x.dtype.kind == 'f' else x
    scale = max(1., finite.max()) if finite.size else 1.
    return bool(np.allclose(x, y, rtol=1e-4, atol=1e-5 * scale, equal_nan=True))
