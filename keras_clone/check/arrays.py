"""Whether arrays agree, and how far they are from each other."""
import numpy as np


def arrays_close(x, y):
    """Returns whether two arrays agree in shape and, within rounding, in numbers."""
    if x.shape != y.shape:
        return False
    if not is_numeric(x) or not is_numeric(y):
        return bool(np.all(x == y))
    finite = np.abs(x[np.isfinite(x)]) if x.dtype.kind == 'f' else x
    scale = max(1., finite.max()) if finite.size else 1.
    return bool(np.allclose(x, y, rtol=1e-4, atol=1e-5 * scale, equal_nan=True))


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
    """Returns whether an array holds numbers or booleans, not strings."""
    return array.dtype.kind in 'fiub'


def is_finite(array):
    """Returns whether an array has neither infinite numbers nor NaN."""
    return not is_numeric(array) or bool(np.isfinite(array).all())
