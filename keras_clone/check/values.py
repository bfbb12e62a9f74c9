"""Values as flat lists of what they hold at each place, and whether these agree."""
import base64
import functools
import marshal
import re
import types

import numpy as np

from .messages import shortened

NOTHING = type('Nothing', (), {'__repr__': lambda self: 'nothing'})()
ATOMS = (type(None), bool, int, float, complex, str, bytes)
DEPTH = 12


def arrays_close(x, y):
    """Returns whether two arrays agree in shape and, within rounding, in numbers."""
    if x.shape != y.shape:
        return False
    if not (is_numeric(x) and is_numeric(y)):
        return bool(np.all(x == y))
    scale = np.abs(x[np.isfinite(x)]).max(initial=1)
    return bool(np.allclose(x, y, rtol=1e-4, atol=1e-5 * scale, equal_nan=True))


def all_close(expected, got):
    """Returns whether two lists of arrays agree, see `arrays_close`."""
    return len(expected) == len(got) and all(map(arrays_close, expected, got))


def distance(expected, got):
    """Returns as text how far the arrays of two lists are from each other."""
    far = 0.
    for x, y in zip(expected, got):
        if x.shape != y.shape:
            return f'the shape {y.shape} instead of {x.shape}'
        if x.size and is_numeric(x) and is_numeric(y):
            far = max(far, np.abs(x.astype(float) - y).max())
    return f'numbers off by up to {far:.2g}' if far else 'other values'


def is_numeric(array):
    """Returns whether an array holds numbers or booleans, not strings."""
    return array.dtype.kind in 'fiub'


def leaves_of(value, as_leaf=lambda value: None, place='', depth=DEPTH):
    """Yields what a value holds that can be compared, with its place.

    # Arguments
        value: anything. Of a function, its code and what it holds count; of another
            object that has a `get_config`, its class and configuration.
        as_leaf: function of a value that returns what stands for it, or None.
        place: text for the place of the value.
        depth: how deep to look.

    # Returns
        Yields pairs (text for the place, leaf).
    """
    leaf = as_leaf(value)
    if leaf is not None or depth == 0:
        yield place, leaf
    elif isinstance(value, ATOMS + (np.ndarray, np.generic, type)):
        yield place, value
    else:
        if isinstance(value, (set, frozenset)):
            value = sorted(map(repr, value))
        parts = _parts_of(value)
        is_whole = parts or isinstance(value, (dict, list, tuple))
        yield place, Whole(value) if is_whole else value
        for where, each in parts:
            yield from leaves_of(each, as_leaf, place + where, depth - 1)


def items_of(value, place=''):
    """Yields like `leaves_of`, but looks only into lists, tuples and dicts."""
    return leaves_of(value, lambda each: None if isinstance(
        each, (list, tuple, dict)) else each, place)


class Whole:
    """Stands for a value whose parts are compared."""

    def __init__(self, value):
        self.value, self.kind = value, type(value)
        for kinds in (dict, (list, tuple), types.FunctionType):
            if isinstance(value, kinds):
                self.kind = kinds

    def __eq__(self, other):
        return self.kind == other.kind

    def __repr__(self):
        return repr(self.value)


def _parts_of(value):
    """Returns pairs (text for the place in a value, what is there)."""
    if isinstance(value, dict):
        return [(f' {key if type(key) in ATOMS else type(key).__name__}', value[key])
                for key in sorted(value, key=repr)]
    if isinstance(value, (list, tuple)):
        return [(f'[{i}]', each) for i, each in enumerate(value)]
    if isinstance(value, types.MethodType):
        return [(' of', value.__func__)]
    if isinstance(value, functools.partial):
        return [(' ' + name, getattr(value, name))
                for name in ('func', 'args', 'keywords')]
    if isinstance(value, types.FunctionType):
        cells = zip(value.__code__.co_freevars, value.__closure__ or ())
        return [(' code', value.__code__),
                (' defaults', [value.__defaults__, value.__kwdefaults__]),
                *((f', its {name}', _content(cell)) for name, cell in cells)]
    if hasattr(type(value), 'get_config'):
        return [('', _config_of(value))]
    return []


def _content(cell):
    try:
        return cell.cell_contents
    except ValueError:  # The cell is still empty.
        return NOTHING


def _config_of(value):
    """A seed that nobody chose is drawn, and is no setting."""
    try:
        config = dict(value.get_config())
    except Exception:  # It may be any object of the user's.
        return None
    return {key: each for key, each in config.items() if key != 'seed'}


def same(x, y):
    """Returns whether two leaves are the same, as far as they can be compared."""
    if x is y:
        return True
    if isinstance(x, (float, np.floating)) and isinstance(y, (float, np.floating)):
        return bool(np.isclose(x, y, rtol=1e-6, atol=0, equal_nan=True))
    if type(x) is not type(y):
        return False
    if isinstance(x, np.ndarray):
        return x.dtype == y.dtype and arrays_close(x, y)
    if isinstance(x, str):
        return x == y or _code_in(x) == _code_in(y) is not None
    if type(x).__eq__ is object.__eq__:
        return not isinstance(x, type)
    try:
        return bool(np.all(x == y)) or bool(np.all(x != x) and np.all(y != y))
    except Exception:  # A class may define any `==`.
        return True


def _code_in(text):
    """Returns the code that `keras.utils.generic_utils.func_dump` put in a text.

    The same code, marshalled twice, may result in two texts.
    """
    try:
        code = marshal.loads(base64.b64decode(text.encode('ascii')))
    except (ValueError, EOFError, TypeError):
        return None
    return code if isinstance(code, types.CodeType) else None


def text_of(leaf):
    """Returns a short text for a leaf, without its address in memory."""
    if isinstance(leaf, types.CodeType):
        return f'function {leaf.co_name}'
    if isinstance(leaf, type):
        return leaf.__name__
    return shortened(re.sub(' at 0x[0-9a-f]+', '', repr(leaf)))
