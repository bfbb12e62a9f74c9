"""Names that Keras 2 generates: a constructor that is called again gets the same.

The constructor may have stored the names of its sublayers.
"""
import contextlib
import functools
import sys
import threading


# The modules of Keras that generate names.
_NAMING = {'keras.engine.base_layer', 'keras.engine.input_layer',
           'keras.engine.network'}


class GeneratedName:
    """A number that Keras has generated for a name.

    Those after it can be reached from it; those before it are not kept alive.

    # Attributes
        prefix: the prefix of the name.
        number: the number.
        next: the `GeneratedName` after it in the same thread, or None.
    """

    __slots__ = ('prefix', 'number', 'next')

    def __init__(self, prefix=None, number=None):
        self.prefix, self.number, self.next = prefix, number, None


class _OfThread(threading.local):
    """The names of a thread: the last one, and None or those that are repeated."""

    def __init__(self):
        self.last, self.repeated = GeneratedName(), None


_names = _OfThread()


class _Repeated:
    """The names after `start` until now: those of each prefix, in order."""

    def __init__(self, start):
        self._start, self._end = start, _names.last
        self._returned = {}  # {prefix: the last name that was returned}.

    def number(self, prefix):
        """Returns the next number for a prefix; None if there is no other."""
        name = self._returned.get(prefix, self._start)
        while name is not None and name is not self._end:
            name = name.next
            if name is not None and name.prefix == prefix:
                self._returned[prefix] = name
                return name.number
        self._returned[prefix] = self._end


def repeatable(get_uid):
    """Decorates `keras.backend.get_uid`, so that `repeated` has an effect."""
    @functools.wraps(get_uid)
    def wrapped(prefix=''):
        if sys._getframe(1).f_globals.get('__name__') not in _NAMING:
            return get_uid(prefix)  # A user's number, which has to be a new one.
        number = _names.repeated and _names.repeated.number(prefix)
        new = GeneratedName(prefix, number or get_uid(prefix))
        _names.last.next = _names.last = new
        return new.number
    return wrapped


def last_name():
    """Returns the last `GeneratedName`."""
    return _names.last


@contextlib.contextmanager
def repeated(start):
    """Context in which the names are generated again that followed another.

    # Arguments
        start: a `GeneratedName`.
    """
    former, _names.repeated = _names.repeated, _Repeated(start)
    try:
        yield
    finally:
        _names.repeated = former
