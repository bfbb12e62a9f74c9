"""Keeps what the constructors of layers were called with.

`clone_model` calls them again, with the same arguments.
"""
import contextlib
import copy
import functools
import inspect
import itertools
import math
import weakref
import zlib
import numpy as np
from keras_clone.containers import copied
from keras_clone.global_state import global_state
RECORD = '_clone_record'  # The only attribute that is set on layers.
_LARGE = 2 ** 16  # Bytes. Larger arrays are not kept alive.
# Constructors, calls of `build` (Keras 3) and calls of layers share it.
call_numbers = itertools.count()


class Record:
    """What is kept of a layer.

    Not a container, so that nothing tracks or saves what it holds.

    # Attributes
        args, kwargs: the arguments of its constructor; None if they are not known.
        unknown: the reason why they are not known, or an empty string.
        global_state: that of Keras when the constructor ran; `()` if not known.
        state_at_build: that when `build` was called, on Keras 3.
        closures: list of tuples (function, the values in its closure): the
            functions among the arguments, on Keras 2.
        owner: the `id` of the layer whose calls are kept: `copy.copy` of a layer has
            the same `Record`.
        first_call: its `FirstCall`, or None.
        number: that of the call of the constructor; see `call_numbers`.
        number_of_build: that of the call of `build`; infinite if it is not known or,
            on Keras 2, if the first node of the layer has it.
        build_shape: on Keras 2, the input shape with which a clone was built that
            has no node, or None.
    """

    __slots__ = ('args', 'kwargs', 'unknown', 'global_state', 'state_at_build',
                 'closures', 'owner', 'first_call', 'number', 'number_of_build',
                 'build_shape')

    def __init__(self, args=None, kwargs=None, global_state=(), state_at_build=(),
                 closures=(), owner=None, number_of_build=math.inf):
        self.args, self.kwargs, self.unknown = args, kwargs, ''
        self.global_state, self.state_at_build = global_state, state_at_build
        self.closures = closures
        self.owner, self.first_call = owner, None
        self.number, self.number_of_build = next(call_numbers), number_of_build
        self.build_shape = None

    def __deepcopy__(self, memo):
        known = dict(memo)  # `memo` must not get what is copied only in part.
        try:
            args, kwargs = copy.deepcopy((self.args, self.kwargs), known)
        except Exception:
            return None
        memo.update(known)
        return Record(args, kwargs, self.global_state, self.state_at_build,
                      number_of_build=self.number_of_build)

    def __reduce__(self):
        return type(None), ()  # A pickle must not depend on this package.


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
        is_known = self.checksum is None or self.checksum == checksum_of(array)
        return array if is_known else None


def checksum_of(array):
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
        if isinstance(new, subclass):  # Then Python calls `__init__`.
            keep(new, args, kwargs)
        return new

    if released is None:
        # Not a function: `inspect.signature` of a class shall find `__init__`.
        cls.__new__ = staticmethod(__new__.__call__)
    elif not hasattr(released.__func__, '__wrapped__'):
        cls.__new__ = functools.wraps(released.__func__)(__new__)


def keep(layer, args, kwargs):
    """Keeps the arguments of a constructor on a new layer."""
    record = own_record(layer)
    try:
        record.args = copied(args, _kept)
        record.kwargs = copied(_without_weights(type(layer), kwargs), _kept)
    except Exception as error:  # E.g. of a list that contains itself.
        record.args = record.kwargs = None
        record.unknown = f': {error}' if type(error) is NotKnown else ''
    record.closures = ()
    record.global_state = record.global_state or global_state()


def own_record(layer):
    """Returns the `Record` of a layer: a new one if it has that of another."""
    known = record_of(layer) or Record()
    if known.owner != id(layer):
        known = Record(known.args, known.kwargs, known.global_state,
                       known.state_at_build, known.closures, id(layer),
                       known.number_of_build)
        # Not `setattr`, which may be the user's or may track the value.
        vars(layer)[RECORD] = known
    return known


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
    if known is None or known.args is None or not (
            uses_method_of_keras(type(layer), '__new__')):
        raise NotKnown('its arguments are not known' + getattr(known, 'unknown', ''))
    return Record(copied(known.args, _alive), copied(known.kwargs, _alive),
                  closures=known.closures)


def number_of(layer, default):
    """Returns the number of the `Record` of a layer; a default if it has none, or
    that of the layer of which it is a copy."""
    record = record_of(layer)
    return record.number if record and record.owner in (None, id(layer)) else default


def _kept(value):
    if hasattr(type(value), '__next__') and type(value) not in weakref.ProxyTypes:
        raise NotKnown('an iterator can be read only once')
    return LargeArray(value) if is_large(value) else value


def is_large(value):
    with contextlib.suppress(Exception):  # E.g. of an array in a closed file.
        return hasattr(type(value), 'nbytes') and value.nbytes > _LARGE
    return False


def _alive(value):
    if type(value) is not LargeArray:
        return value
    array = value()
    if array is None:
        raise NotKnown('a large array among its arguments does not exist any more')
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
def uses_method_of_keras(cls, name):
    """Returns whether a class does not override a method of Keras.

    Another `__new__` may have got other arguments than the constructor; another
    `__call__` may have changed a layer before that of Keras is called.
    """
    return is_of_keras(next(base for base in cls.__mro__ if name in vars(base)))


def is_of_keras(cls):
    """Returns whether Keras itself defines a class."""
    return str(cls.__module__).split('.')[0] == 'keras'
