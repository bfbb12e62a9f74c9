"""What things hold: one walk through containers, functions, methods and objects.

Used by the overlays of both major versions of Keras.
"""
import copy
import enum
import functools
import inspect
import types
import weakref
from collections import OrderedDict, deque

Cell = type((lambda value: lambda: value)(None).__closure__[0])
# They hold nothing that could be replaced.
ATOMS = frozenset([type(None), bool, int, float, complex, str, bytes,
                   type(Ellipsis), type(NotImplemented)])
FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)
# Objects of these packages keep a state outside Python or refer to themselves in
# ways of their own.
_OPAQUE = ('builtins', 'jax', 'jaxlib', 'logging', 'numpy', 'tensorflow', 'theano',
           'threading', 'torch', 'weakref')
_OPAQUE_TYPES = (type, types.ModuleType, enum.Enum)


class NotCopied(ValueError):
    """An object holds something of the model and cannot be copied."""


_MUTABLE = (list, deque, dict, set)
CONTAINERS = _MUTABLE + (tuple, frozenset)


class Walk:
    """Maps what things hold, at every depth.

    Nothing is copied that does not hold something to be replaced: plain data are
    neither copied nor, beyond the types in a container, looked at.

    # Arguments
        is_leaf: function that tells whether a value is to be replaced as a whole.
        replaced: function that returns what takes the place of such a value.
    """

    def __init__(self, is_leaf, replaced):
        self._is_leaf = is_leaf
        self._replaced = replaced
        self._seen = {}  # {id: value}, so that no id is used again meanwhile
        self._reaching = set()  # The ids of values that hold a leaf.
        self._copies = {}

    def map(self, value):
        """Returns a value that holds the replacements.

        It is the same object where nothing in it is replaced.

        # Arguments
            value: anything.

        # Returns
            A value of the same type; a list, dict or set for a container in which
            Keras or TensorFlow tracks what an attribute holds.

        # Raises
            NotCopied: if an object that cannot be copied holds a leaf.
        """
        if type(value) in ATOMS or not self.reaches(value):
            return value
        if self._is_leaf(value):
            return self._replaced(value)
        if id(value) not in self._copies:
            self._copies[id(value)] = self._copied(value)
        return self._copies[id(value)]

    def reaches(self, value):
        """Returns whether a value is a leaf or holds one, however deep."""
        if id(value) not in self._seen:
            self._search(value)
        return id(value) in self._reaching

    def forget(self):
        """Forgets what was copied: what leaves stand for has changed."""
        self._copies.clear()

    def _search(self, value):
        holders, reached, waiting = {}, [], [value]
        while waiting:
            each = waiting.pop()
            if id(each) in self._seen:
                continue
            self._seen[id(each)] = each
            if self._is_leaf(each):
                reached.append(id(each))
                continue
            for part in parts_of(each):
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

    def _copied(self, value):
        if isinstance(value, FUNCTIONS):
            return self._copied_function(value)
        if isinstance(value, Cell):
            self._copies[id(value)], set_content = _new_cell()
            set_content(self.map(value.cell_contents))
            return self._copies[id(value)]
        if isinstance(value, weakref.ref):
            return type(value)(self.map(value()))
        if isinstance(value, _MUTABLE):
            # It may hold itself.
            self._copies[id(value)] = new = emptied(value)
            refill(new, self._mapped_items(value))
            return new
        if isinstance(value, CONTAINERS):
            return same_type(value, self._mapped_items(value))
        return self._copied_object(value)

    def _mapped_items(self, container):
        container = unwrapped(container)
        if isinstance(container, dict):
            return {self.map(k): self.map(v) for k, v in container.items()}
        return [self.map(each) for each in container]

    def _copied_function(self, function):
        if isinstance(function, types.MethodType):
            return types.MethodType(self.map(function.__func__),
                                    self.map(function.__self__))
        if isinstance(function, functools.partial):
            return functools.partial(self.map(function.func),
                                     *self.map(function.args),
                                     **self.map(function.keywords))
        scope = function.__globals__
        mentioned = mentioned_by(function)
        if any(self.map(each) is not each for each in mentioned.values()):
            scope = dict(scope)
        new = types.FunctionType(
            function.__code__, scope, function.__name__, None,
            tuple(map(self.map, function.__closure__ or ())) or None)
        self._copies[id(function)] = new  # It may hold itself.
        if scope is not function.__globals__:
            scope.update((name, self.map(each)) for name, each in mentioned.items())
        for name in ('__defaults__', '__kwdefaults__', '__annotations__'):
            setattr(new, name, self.map(getattr(function, name)))
        new.__dict__.update(self.map(vars(function)))
        new.__qualname__, new.__doc__ = function.__qualname__, function.__doc__
        new.__module__ = function.__module__
        return new

    def _copied_object(self, value):
        if is_opaque(value):
            raise NotCopied('it holds %s, which holds layers or weights of the '
                            'model and cannot be copied' % described(value))
        self._copies[id(value)] = new = bare_copy(value)
        for name, each in attributes_of(value):
            object.__setattr__(new, name, self.map(each))
        return new


def parts_of(value):
    """Returns what a value holds directly, as a list without the plain data.

    # Arguments
        value: anything. A function holds what is in its closure, its defaults, its
            attributes and the global names that it mentions.
    """
    value = unwrapped(value)
    if isinstance(value, types.FunctionType):
        return ([*(value.__closure__ or ())] +
                [each for each in (value.__defaults__, value.__kwdefaults__)
                 if each] + list(vars(value).values()) +
                list(mentioned_by(value).values()))
    if isinstance(value, types.MethodType):
        return [value.__self__, value.__func__]
    if isinstance(value, functools.partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, Cell):
        return [] if _is_empty(value) else [value.cell_contents]
    if isinstance(value, weakref.ref):
        return [value()]
    if isinstance(value, CONTAINERS):
        held = [] if holds_atoms(value) else list(value)
        if held and isinstance(value, dict):
            held += value.values()
        return held
    if isinstance(value, _OPAQUE_TYPES):
        return []
    if is_opaque(value):
        # What `tf.function` returns, say.
        return [each for each in [getattr(value, '__wrapped__', None)]
                if isinstance(each, FUNCTIONS)]
    return [each for _, each in attributes_of(value)]


def mentioned_by(function):
    """Returns the global names that a function mentions, as a dict.

    Functions and classes of other modules are left out: what a script makes is
    global in the script.
    """
    scope = function.__globals__
    names = [name for name in _names(function.__code__) if name in scope]
    return {name: scope[name] for name in names
            if type(scope[name]) not in ATOMS and
            not isinstance(scope[name], (type, types.ModuleType)) and
            not (isinstance(scope[name], types.FunctionType) and
                 scope[name].__module__ != function.__module__)}


def _names(code):
    names = list(code.co_names)
    for constant in code.co_consts:
        if inspect.iscode(constant):
            names += _names(constant)
    return names


def unwrapped(value):
    """Returns a container as it is below a proxy in which TensorFlow keeps it."""
    if str(type(value).__module__).startswith('tensorflow'):
        wrapped = getattr(value, '__wrapped__', value)
        if isinstance(wrapped, (list, tuple, dict)):
            return wrapped
    return value


def holds_atoms(container):
    """Returns whether a container, a dict's keys included, holds plain data only."""
    types_in = set(map(type, container))
    if isinstance(container, dict):
        types_in.update(map(type, container.values()))
    return types_in <= ATOMS


def is_tracking(container):
    """Returns whether Keras or TensorFlow put a container in place of a user's."""
    return type(container).__module__.split('.')[0] in ('keras', 'tensorflow')


def emptied(container):
    """Returns an empty mutable container of the type of `container`."""
    if is_tracking(container):
        return next(cls for cls in (OrderedDict, dict, list, set)
                    if isinstance(container, cls))()
    try:
        new = copy.copy(container)
    except Exception:  # A class may have all kinds of `__getattr__`.
        return type(container).__new__(type(container))
    new.clear()
    return new


def refill(container, items):
    """Puts items into an empty mutable container."""
    if isinstance(container, (list, deque)):
        container.extend(items)
    else:
        container.update(items)


def same_type(container, items):
    """Returns a container of the type of `container` that holds other items.

    # Arguments
        container: an instance of a builtin container or of a subclass of one.
        items: list of what the new one holds, for a dict a dict.
    """
    if isinstance(container, _MUTABLE):
        new = emptied(container)
        refill(new, items)
        return new
    container = unwrapped(container)
    if hasattr(container, '_make'):
        return type(container)._make(items)
    base = tuple if isinstance(container, tuple) else frozenset
    return base.__new__(type(container), items)


def attributes_of(value):
    """Returns the attributes of an object itself, `__slots__` included, as pairs."""
    found = list(getattr(value, '__dict__', {}).items())
    return found + [(name, getattr(value, name)) for name in _slots(type(value))
                    if hasattr(value, name)]


@functools.lru_cache(maxsize=1024)
def _slots(cls):
    names = []
    for base in cls.__mro__:
        slots = vars(base).get('__slots__', ())
        for name in [slots] if isinstance(slots, str) else slots:
            if name.startswith('__') and not name.endswith('__'):
                name = f"_{base.__name__.lstrip('_')}{name}"
            names.append(name)
    return [name for name in names if name not in ('__dict__', '__weakref__')]


def is_opaque(value):
    """Returns whether one cannot look inside an object, or not copy it."""
    return (isinstance(value, _OPAQUE_TYPES) or
            str(type(value).__module__).split('.')[0] in _OPAQUE)


def bare_copy(value):
    """Returns a new object of a class, without attributes.

    # Raises
        NotCopied: if the class makes no object without being told more.
    """
    try:
        return type(value).__new__(type(value))
    except TypeError as error:
        raise NotCopied('it holds %s, which cannot be copied (%s)'
                        % (described(value), error))


def described(value):
    """Returns a short text for an object that a message is about."""
    return f'an object of class `{type(value).__name__}`'


def _is_empty(cell):
    try:
        cell.cell_contents
    except ValueError:
        return True
    return False


def _new_cell():
    """Returns a new cell of a closure and a function that sets what it holds."""
    value = None

    def get():
        return value

    def set_content(new):
        nonlocal value
        value = new
    return get.__closure__[0], set_content
