"""Finds and replaces what objects hold: in containers, functions and attributes.

Used by the overlays of both major versions of Keras.
"""
import contextlib
import enum
import functools
import types
import weakref

from keras_clone.containers import ATOMS
from keras_clone.containers import CONTAINERS
from keras_clone.containers import MUTABLE
from keras_clone.containers import CannotCopy
from keras_clone.containers import cannot_copy
from keras_clone.containers import container_like
from keras_clone.containers import describe
from keras_clone.containers import empty_like
from keras_clone.containers import fill
from keras_clone.containers import holds_atoms
from keras_clone.containers import package_of
from keras_clone.containers import unwrapped
from keras_clone.functions import FUNCTIONS
from keras_clone.functions import Cell
from keras_clone.functions import content_of
from keras_clone.functions import function_like
from keras_clone.functions import globals_used_by
from keras_clone.functions import new_cell

# Proxies first: of one whose object is gone, nothing but its type can be asked.
WEAK = (*weakref.ProxyTypes, weakref.ref)
# Objects of these packages keep state outside of Python, or cannot be copied by
# copying their attributes.
_OPAQUE = ('builtins', 'jax', 'jaxlib', 'logging', 'numpy', 'tensorflow', 'theano',
           'threading', 'torch', 'weakref')
_OPAQUE_TYPES = (type, types.ModuleType, enum.Enum)


class NotYet(Exception):
    """A leaf has no replacement yet: what it depends on is being created."""


def parts_of(value):
    """Returns the objects that a value directly holds, as a list.

    The items of a container that has only plain data are left out.

    # Arguments
        value: any object. A function holds the contents of its closure, its
            defaults, its attributes and the global variables that it uses. Of
            an object whose class raises an error, nothing is known: an empty list.
    """
    try:
        return _parts_of(value)
    except Exception:
        return []


def _parts_of(value):
    if isinstance(value, WEAK):
        return [referent(value)]
    value = unwrapped(value)
    if isinstance(value, types.FunctionType):
        return ([*(value.__closure__ or ())] +
                [each for each in (value.__defaults__, value.__kwdefaults__)
                 if each] + list(vars(value).values()) +
                list(globals_used_by(value).values()))
    if isinstance(value, types.MethodType):
        return [value.__self__, value.__func__]
    if isinstance(value, functools.partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, Cell):
        content = content_of(value)
        return [] if content is value else [content]
    if isinstance(value, CONTAINERS):
        held = [] if holds_atoms(value) else list(value)
        if held and isinstance(value, dict):
            held += value.values()
        return held
    if isinstance(value, _OPAQUE_TYPES):
        return []
    if is_opaque(value):
        # E.g. the result of `tf.function`.
        return [each for each in [getattr(value, '__wrapped__', None)]
                if isinstance(each, FUNCTIONS)]
    return [each for _, each in attributes_of(value)]


def referent(reference):
    """Returns the object of a weak reference or weak proxy; None if it is gone."""
    if type(reference) not in weakref.ProxyTypes:
        return reference()
    try:
        return reference.__init__.__self__  # A proxy passes this on to its object.
    except ReferenceError:
        return None


def attributes_of(value):
    """Returns the instance attributes of an object, `__slots__` included, as pairs
    (name, value)."""
    found = []
    with contextlib.suppress(Exception):  # It has none, or the class is the user's.
        found += value.__dict__.items()
    for name, slot in _slots(type(value)):
        with contextlib.suppress(AttributeError):  # It is empty.
            found.append((name, slot.__get__(value)))
    return found


@functools.lru_cache(maxsize=1024)
def _slots(cls):
    found = []
    for base in cls.__mro__:
        slots = vars(base).get('__slots__', ())
        for name in [slots] if isinstance(slots, str) else slots:
            if name.startswith('__') and not name.endswith('__'):
                name = f"_{base.__name__.lstrip('_')}{name}"
            slot = vars(base).get(name)
            if isinstance(slot, types.MemberDescriptorType):
                found.append((name, slot))
    return found


def is_opaque(value):
    """Returns whether an object cannot be searched or cannot be copied."""
    return is_opaque_class(type(value))


@functools.lru_cache(maxsize=1024)
def is_opaque_class(cls):
    """Returns whether objects of a class cannot be searched or cannot be copied."""
    return issubclass(cls, _OPAQUE_TYPES) or package_of(cls) in _OPAQUE


def empty_instance(value):
    """Returns a new object of the class of `value`, without attributes.

    # Raises
        CannotCopy: if `__new__` of the class requires arguments.
    """
    try:
        return type(value).__new__(type(value))
    except TypeError as error:
        raise cannot_copy(value, error)


class Walk:
    """Replaces leaves in nested containers, functions and objects.

    Only objects that hold a leaf, at any depth, are copied, and those that have to
    be. Plain data are neither copied nor searched; of a container of plain data only
    the types are checked.

    # Arguments
        is_leaf: function that returns whether a value is a leaf.
        replacement: function that returns the replacement of a leaf, or raises
            `NotYet`.
        is_copied: function that returns whether an object is copied in any case.
        parts_of: function that returns what else is searched, as `parts_of` does.

    # Attributes
        former: dict {id of an object: dict {name: value}}, attributes with which
            objects are copied, in place of those that they have now.
        postponed: set, the ids of the leaves that had no replacement yet.
    """

    def __init__(self, is_leaf, replacement, is_copied=lambda value: False,
                 parts_of=parts_of):
        self._is_leaf = is_leaf
        self._replacement = replacement
        self._is_copied = is_copied
        self._parts_of = parts_of
        self._seen = {}  # {id: value}. Keeps values alive: ids must not be reused.
        self._reaching = set()  # The ids of values that hold a leaf.
        self._copies = {}  # {id of a value: its copy}.
        self._replaced = {}  # {id of a leaf: its replacement}, for a call of `map`.
        self.former = {}
        self.postponed = set()

    def map(self, value):
        """Returns a value in which the leaves are replaced.

        It is the same object if it holds no leaf. A leaf that has no replacement
        yet stays as it is; the next call tries again.

        # Arguments
            value: any object.

        # Returns
            A value of the same type. A tracked container, by which Keras or
            TensorFlow replaces a list, dict or set, becomes a plain one.

        # Raises
            CannotCopy: if an object that cannot be copied holds a leaf.
        """
        if not self.reaches(value):
            return value
        # All of them before anything is copied: a replacement may need this walk,
        # and must not find copies that are incomplete.
        replaced, is_complete = {}, True
        for leaf in self.leaves_in(value):
            try:
                replaced[id(leaf)] = self._replacement(leaf)
            except NotYet:
                replaced[id(leaf)], is_complete = leaf, False
                self.postponed.add(id(leaf))
        known, self._replaced = len(self._copies), replaced
        try:
            new = self._mapped(value)
        except CannotCopy:
            is_complete = False
            raise
        finally:
            if not is_complete:
                for key in list(self._copies)[known:]:
                    del self._copies[key]
        return new

    def copy_of(self, value):
        """Returns the copy of an object; None if it was not copied."""
        return self._copies.get(id(value))

    def reaches(self, value):
        """Returns whether a value is a leaf, or is or holds, at any depth, a leaf or
        an object that is copied in any case."""
        if type(value) in ATOMS:
            return False
        if id(value) not in self._seen:
            if self._is_leaf(value):
                return True
            self._search(value)
        return id(value) in self._reaching

    def is_known_without(self, value):
        """Returns whether a value was searched, and is no leaf and holds none."""
        return id(value) in self._seen and id(value) not in self._reaching

    def leaves_in(self, value):
        """Returns the leaves that a value holds, itself included, in order."""
        found, seen, waiting = [], set(), [value]
        while waiting:
            each = waiting.pop()
            if id(each) not in seen and self.reaches(each):
                seen.add(id(each))
                if self._is_leaf(each):
                    found.append(each)
                elif id(each) in self.former:
                    waiting += reversed([*self.former[id(each)].values()])
                else:
                    waiting += reversed(self._parts_of(each))
        return found

    def _search(self, value):
        seen, holders, reached, waiting = {}, {}, [], [value]
        while waiting:
            each = waiting.pop()
            if id(each) in seen or id(each) in self._seen:
                continue
            seen[id(each)] = each
            if self._is_leaf(each):
                reached.append(id(each))
                continue
            if self._is_copied(each):
                reached.append(id(each))
            for part in self._parts_of(each):
                if type(part) not in ATOMS:
                    holders.setdefault(id(part), []).append(id(each))
                    waiting.append(part)
                    if id(part) in self._reaching:
                        reached.append(id(part))
        while reached:
            key = reached.pop()
            self._reaching.add(key)
            reached += [holder for holder in holders.get(key, ())
                        if holder not in self._reaching]
        # Not before: `parts_of` may ask what is known.
        self._seen.update(seen)

    def _mapped(self, value):
        if not self.reaches(value):
            return value
        if self._is_leaf(value):
            # Some leaves are put into containers while others are replaced.
            return self._replaced.get(id(value), value)
        if id(value) not in self._copies:
            self._copies[id(value)] = self._copied(value)
        return self._copies[id(value)]

    def _copied(self, value):
        if isinstance(value, WEAK):
            is_proxy = type(value) in weakref.ProxyTypes
            make = weakref.proxy if is_proxy else type(value)
            return make(self._mapped(referent(value)))
        if isinstance(value, FUNCTIONS):
            return self._copied_function(value)
        if isinstance(value, Cell):
            self._copies[id(value)], set_content = new_cell()
            set_content(self._mapped(value.cell_contents))
            return self._copies[id(value)]
        if isinstance(value, MUTABLE):
            # Registered before it is filled: it may contain itself.
            self._copies[id(value)] = new = empty_like(value)
            fill(new, self._mapped_items(value))
            return new
        if isinstance(value, CONTAINERS):
            return container_like(value, self._mapped_items(value))
        return self._copied_object(value)

    def _mapped_items(self, container):
        container = unwrapped(container)
        if isinstance(container, dict):
            return {self._mapped(k): self._mapped(v) for k, v in container.items()}
        return [self._mapped(each) for each in container]

    def _copied_function(self, function):
        if isinstance(function, types.MethodType):
            return types.MethodType(self._mapped(function.__func__),
                                    self._mapped(function.__self__))
        if isinstance(function, functools.partial):
            return functools.partial(self._mapped(function.func),
                                     *self._mapped(function.args),
                                     **self._mapped(function.keywords))
        scope = function.__globals__
        used_globals = globals_used_by(function)
        if any(self._mapped(each) is not each for each in used_globals.values()):
            scope = dict(scope)
        new = function_like(
            function, scope, tuple(map(self._mapped, function.__closure__ or ())))
        self._copies[id(function)] = new  # It may refer to itself.
        if scope is not function.__globals__:
            scope.update((name, self._mapped(each))
                         for name, each in used_globals.items())
        new.__defaults__ = self._mapped(function.__defaults__)
        new.__kwdefaults__ = self._mapped(function.__kwdefaults__)
        new.__dict__.update(self._mapped(vars(function)))
        return new

    def _copied_object(self, value):
        if hasattr(type(value), 'cache_info'):  # Of `functools.lru_cache`.
            size = value.cache_info().maxsize
            return functools.lru_cache(size)(self._mapped(value.__wrapped__))
        if is_opaque(value) and hasattr(value, '_clone'):  # Of `tf.function`.
            function = self._mapped(value.__wrapped__)
            new = value._clone(function)
            new.__wrapped__ = function
            return new
        if is_opaque(value):
            raise CannotCopy(f'it holds {describe(value)}, which holds layers or '
                             'weights of the model and cannot be copied')
        self._copies[id(value)] = new = empty_instance(value)
        former = self.former.get(id(value))
        for name, each in attributes_of(value) if former is None else former.items():
            object.__setattr__(new, name, self._mapped(each))
        return new
