"""Makes the layers of a clone, and makes them agree with those they stand for.

Used by the overlays of both major versions of Keras, which say what their layers,
variables and tensors are. A layer is made in three steps:

1. As Keras releases it: `from_config(get_config())`, which is the user's code and
   sees plain data.
2. Where that raises, as a copy: the same attributes, without nodes and weights.
3. Whichever way it was made, it is held against the original, attribute by
   attribute: functions are the live ones, what was one layer is one layer, and
   nothing belongs to the original. This is done once before the layer is called
   and once at the end, when state that no config carries is carried over, too.
"""
import contextlib
import copy
import dis
import enum
import functools
import inspect
import types
from collections.abc import Collection
from collections.abc import Mapping

import numpy as np

from keras_clone.holding import ATOMS
from keras_clone.holding import CONTAINERS
from keras_clone.holding import FUNCTIONS
from keras_clone.holding import NotCopied
from keras_clone.holding import Walk
from keras_clone.holding import attributes_of
from keras_clone.holding import holds_atoms
from keras_clone.holding import is_opaque
from keras_clone.holding import same_type
from keras_clone.holding import unwrapped

MISSING = type('Missing', (), {'__repr__': lambda self: 'missing'})()


class Cloner:
    """What the layers of a model have become in its clone.

    # Arguments
        model: the model to clone.
        layer_map: dict {id of a layer: its clone}; one for all nested models, so
            that what was shared stays shared.
        attributes: dict {(id of a layer, name): value} of attributes to set on
            clones before they are built; see `lost_attributes`.
    """

    def __init__(self, model, layer_map=None, attributes=None):
        self.model = model
        self.layer_map = {} if layer_map is None else layer_map
        self.pairs = []  # (layer, clone), as they were made.
        self._attributes = attributes or {}
        # {id of a layer: the attributes of a new instance}, of the clone and of one
        # that is only looked at.
        self._new, self._another = {}, {}
        self._pending = set()
        self._unpaired = set()
        self._searched = set()  # The ids of built layers, see `_find_clone`.
        # {id of a variable or the like: its counterpart}, and what has the id.
        self._state_map, self._state = {}, {}
        self._clones = set()  # The ids of all clones.
        self._walk = Walk(self._is_replaced, self._replaced)
        self._is_final = self._is_stale = False
        self._compared = {}

    # What an overlay says.

    # Whether a clone computes by calling its layers again: what is set on a layer
    # once it was called counts, too.
    runs_again = True

    def is_layer(self, value):
        """Returns whether a value is a layer or another node's operation."""
        raise NotImplementedError

    def is_state(self, value):
        """Returns whether a value is a variable or has some of its own."""
        raise NotImplementedError

    def is_weight(self, value):
        """Returns whether a value is a variable, which `build` may make."""
        raise NotImplementedError

    def is_tensor(self, value):
        """Returns whether a value is a symbolic tensor."""
        raise NotImplementedError

    def layers_within(self, model):
        """Returns a model and the layers in it, at every depth."""
        raise NotImplementedError

    def new_layer(self, layer):
        """Returns a new layer for one that has no clone yet."""
        raise NotImplementedError

    def new_state(self, value):
        """Returns a variable or the like with the value of another one."""
        raise NotImplementedError

    def tensor(self, x):
        """Returns the clone of a symbolic tensor, or `x` if it is none's."""
        raise NotImplementedError

    def has_clone(self, x):
        """Returns whether a symbolic tensor is known or needs no clone."""
        raise NotImplementedError

    def own_state(self, layer):
        """Returns the variables and the like of a layer itself, as a list."""
        raise NotImplementedError

    def is_built_by_code(self, layer):
        """Returns whether the class of a layer has a `build` of its own."""
        raise NotImplementedError

    def can_stand_for(self, layer, made):
        """Returns whether what a constructor or a config made may be the clone."""
        raise NotImplementedError

    def bare(self, layer):
        """Returns a layer of the same class whose constructor did not run."""
        raise NotImplementedError

    def attributes(self, layer):
        """Returns the attributes of a layer that are not of Keras's own making."""
        raise NotImplementedError

    def set_attribute(self, layer, name, old, value):
        """Sets an attribute of a new layer, `old` before that."""
        raise NotImplementedError

    def set_flags(self, layer, clone):
        """Sets what every layer has: its name, whether it is trainable, ..."""
        raise NotImplementedError

    def build(self, layer, clone):
        """Builds a clone that nothing has called, if the layer is built."""
        raise NotImplementedError

    def finish_layer(self, layer, clone):
        """Carries over what attributes do not tell."""
        raise NotImplementedError

    # Layers

    def layer(self, layer):
        """Returns the clone of a layer, of an operation or of a nested model."""
        if id(layer) in self._pending and id(layer) not in self.layer_map:
            # It stands for itself in functions that hold it, until the end.
            self._is_stale = True
            return layer
        if id(layer) not in self.layer_map:
            self._pending.add(id(layer))
            try:
                clone = self.new_layer(layer)
            finally:
                self._pending.discard(id(layer))
            self._adopt_new(layer, clone)
        return self.layer_map[id(layer)]

    def _find_clone(self, layer):
        """Looks for the clone of a layer in what built layers hold: they may have
        made it when they were built."""
        if id(layer) in self.layer_map or id(layer) in self._pending:
            return
        self._compared.clear()
        for holder, clone in self.pairs[:]:
            if (id(holder) not in self._searched and getattr(clone, 'built', False)
                    and type(clone) is type(holder)):
                self._searched.add(id(holder))
                self._agree(holder, clone)

    def _adopt_new(self, layer, clone):
        try:
            self.adopt(layer, clone)
        except NotCopied as error:
            raise ValueError("Cannot clone layer '%s' of class `%s`: %s."
                             % (layer.name, type(layer).__name__, error))

    def value(self, value):
        """Returns what a value that a layer holds or was called with is in the
        clone: the same object, if it holds nothing of the model."""
        return self._walk.map(value)

    def adopt(self, layer, clone):
        """Makes a new layer the clone of another, and makes it agree."""
        if self.layer_map.get(id(layer)) is clone and id(clone) in self._clones:
            return
        self.layer_map[id(layer)] = clone
        self._clones.add(id(clone))
        self.pairs.append((layer, clone))
        if type(clone) is type(layer):
            self.set_flags(layer, clone)
            for (key, name), value in self._attributes.items():
                if key == id(layer):
                    self.set_attribute(clone, name, MISSING, value)
            self._agree(layer, clone, is_new=True)

    def remade(self, layer):
        """Returns a new layer, made as Keras makes it or else as a copy."""
        try:
            clone = type(layer).from_config(layer.get_config())
            if clone is layer:
                raise ValueError('`from_config` returns the layer itself')
        except Exception as error:
            return self._copied(layer, error)
        if type(clone) is type(layer):
            self._new[id(layer)] = self.attributes(clone)
        return clone

    def rehearsed(self, layer):
        """Returns a new layer, made as Keras makes it, only to be looked at."""
        return type(layer).from_config(layer.get_config())

    def finish(self, carries_state=True):
        """Carries over what can be told only when all layers are built.

        # Arguments
            carries_state: whether to carry over what layers hold beside their
                weights. It may depend on the shapes of the inputs.
        """
        if self._is_stale:
            self._walk.forget()
        for layer, clone in self.pairs:
            self.build(layer, clone)
        self._compared.clear()
        for layer, clone in self.pairs:  # It may grow.
            self.build(layer, clone)
            if type(clone) is type(layer):
                self.agree(layer, clone, carries_state)
                self.finish_layer(layer, clone)

    def lost_attributes(self):
        """Returns what layers know and what neither their configs nor their own
        code have told the clones, where that code might have.

        To be asked before `finish`, when all layers were called: what a layer sets
        itself when it is built or called is the same by then.

        # Returns
            A dict, as the argument `attributes` takes it.
        """
        found = {}
        for layer, clone in self.pairs:
            with contextlib.suppress(Exception):  # `finish` tries once more.
                self.build(layer, clone)
            if type(clone) is type(layer):
                made = self.attributes(clone)
                found.update(
                    ((id(layer), name), self._own_copy(value))
                    for name, value in self.attributes(layer).items()
                    if self._is_lost(value, made.get(name, MISSING)) and
                    not self._is_of_one_instance(layer, name))
        return found

    def unlike(self):
        """Returns how many clones have other weights than their layers."""
        return sum(len(self.own_state(layer)) != len(self.own_state(clone))
                   for layer, clone in self.pairs)

    def _copied(self, layer, error):
        """Returns a copy of a layer that Keras does not make anew.

        Its weights are made by `build`, as those of any new layer, where that
        makes all of them, and have the values of the original where not.
        """
        try:
            _check_not_registered(layer)
            if self.is_built_by_code(layer):
                with contextlib.suppress(Exception):
                    clone = self._copy(layer, is_built_again=True)
                    if not clone.built or len(self.own_state(clone)) == len(
                            self.own_state(layer)):
                        return clone
            return self._copy(layer, is_built_again=False)
        except Exception as reason:
            raise ValueError(
                "Cannot clone layer '%s' of class `%s`: %s. Keras itself cannot "
                'make it anew from its config (%s). Return every argument of the '
                'constructor from `get_config()`, as plain data.'
                % (layer.name, type(layer).__name__, _summary(reason),
                   _summary(error))) from error

    def _copy(self, layer, is_built_again):
        clone = self.bare(layer)
        # What it holds may hold it.
        self.layer_map[id(layer)] = clone
        with self._without_pairs(layer):
            for name, value in self.attributes(layer).items():
                if not (is_built_again and self.is_weight(value) or
                        self._is_made_by_call(value)):
                    self.set_attribute(clone, name, MISSING, self._kept(value))
        if is_built_again:
            self.build(layer, clone)
            if clone.built:
                self._copy_missing_attributes(layer, clone)
        elif hasattr(layer, 'built'):
            clone.built = layer.built
        return clone

    def _copy_missing_attributes(self, layer, clone):
        for name, value in self.attributes(layer).items():
            if (name not in self.attributes(clone) and
                    not self._is_made_by_call(value)):
                self.set_attribute(clone, name, MISSING, self._kept(value))

    def _own(self, value, is_left_out=lambda value: False):
        """Returns a value of the clone's own: no container is shared, and what is
        the `id` of a layer is that of its clone."""
        if type(value) is int and value in self.layer_map:
            return id(self.layer_map[value])
        if not isinstance(value, CONTAINERS):
            return self.value(value)
        old = unwrapped(value)
        if isinstance(old, dict):
            return same_type(value, {self._own(k): self._own(v, is_left_out)
                                     for k, v in old.items() if not is_left_out(v)})
        return same_type(value, [self._own(v, is_left_out) for v in old
                                 if not is_left_out(v)])

    def _kept(self, value):
        """Returns a value of the clone's own, without what a call left there."""
        return self._own(value, self._is_made_by_call)

    def _is_made_by_call(self, value):
        """Returns whether a value is a tensor that a call of a layer left there,
        as the next call will."""
        return self.is_tensor(value) and not self.has_clone(value)

    # What is replaced, wherever it is held

    def _is_replaced(self, value):
        return (self.is_layer(value) or self.is_state(value) or
                self.is_tensor(value))

    def _replaced(self, value):
        if self.is_layer(value):
            self._find_clone(value)
            return self.layer(value)
        if self.is_tensor(value):
            return self.tensor(value)
        return self.state(value)

    def state(self, value):
        """Returns the counterpart of a variable or the like."""
        owner = None if id(value) in self._state_map else self._owner(value)
        if owner is not None and id(owner) not in self._unpaired:
            self._find_clone(owner)
            clone = self.layer(owner)
            self.build(owner, clone)
            with self._without_pairs(owner):
                self._agree(owner, clone)
            self._pair_state(owner, clone)
        if id(value) not in self._state_map:
            self._pair(value, self.new_state(value))
        return self._state_map[id(value)]

    def _pair(self, value, counterpart):
        self._state[id(value)] = value
        return self._state_map.setdefault(id(value), counterpart)

    def paired_state(self):
        """Returns pairs (variable or the like of the original, its counterpart)."""
        return [(value, self._state_map[key]) for key, value in self._state.items()]

    def _owner(self, value):
        known = [layer for layer, _ in self.pairs] + self.layers_within(self.model)
        for layer in known:
            if any(each is value for each in self.own_state(layer)):
                return layer
        return None

    def _pair_state(self, layer, clone):
        """Pairs what no attribute tells to be the same variable: by its place."""
        old, new = self.own_state(layer), self.own_state(clone)
        if len(old) == len(new):
            paired = set(map(id, self._state_map.values()))
            for x, y in zip(old, new):
                if id(x) not in self._state_map and id(y) not in paired:
                    self._pair(x, y)

    @contextlib.contextmanager
    def _without_pairs(self, layer):
        """Context in which a layer's variables are not to be looked for."""
        is_outermost = id(layer) not in self._unpaired
        self._unpaired.add(id(layer))
        try:
            yield
        finally:
            if is_outermost:
                self._unpaired.discard(id(layer))

    # Agreement

    def agree(self, layer, clone, carries_state=True):
        """Makes a layer, or the like, agree with the original in its state, too."""
        was_final, self._is_final = self._is_final, carries_state
        self._agree(layer, clone)
        self._is_final = was_final

    def _agree(self, layer, clone, is_new=False):
        made = self.attributes(clone)
        for name, value in self.attributes(layer).items():
            old = made.get(name, MISSING)
            if old is value and type(value) in ATOMS:
                continue
            if (is_new and self._is_lost(value, old) and
                    name not in _set_when_called(type(layer))):
                new = self._own_copy(value)
            else:
                new = self._agreed(value, old)
            if new is not old and not self._is_of_one_instance(layer, name):
                self.set_attribute(clone, name, old, new)

    def _agreed(self, value, made):
        """Returns what the clone is to have in place of a value of the original.

        # Arguments
            value: what the original has.
            made: what the clone has, MISSING if it has nothing.
        """
        if made is MISSING and not self._is_final:
            return made
        if type(value) in ATOMS:
            return value if self._is_final and self._is_lost(value, made) else made
        if self.is_layer(value):
            return self._agreed_layer(value, made)
        if self.is_state(value):
            return self._agreed_state(value, made)
        if self.is_tensor(value):
            is_held = made is MISSING and self.has_clone(value)
            return self.value(value) if made is value or is_held else made
        if isinstance(value, CONTAINERS):
            return self._agreed_container(value, made)
        if isinstance(value, FUNCTIONS):
            return self._agreed_function(value, made)
        if is_opaque(value) and self.is_array(value):
            return self._agreed_array(value, made)
        if isinstance(value, (type, enum.Enum)):
            return value if self._is_final else made
        if made is value or made is MISSING:
            return self.value(value)
        return self._agreed_object(value, made)

    def _is_lost(self, value, made):
        """Returns whether a clone lacks what its layer has, or has it otherwise.

        Looked at are plain data and arrays. An object may draw a seed when it is
        made, as initializers do: only a missing one is told.
        """
        if value is made or value is None and made is MISSING:
            return False
        if _is_plain(value):
            return ((made is MISSING or _is_plain(made) and differ(value, made)) and
                    not self._identifies(value))
        if is_opaque(value):
            return self.is_array(value) and self._is_other_array(value, made)
        return (made is None and not isinstance(value, CONTAINERS + FUNCTIONS) and
                not self._walk.reaches(value))

    def _is_other_array(self, value, made):
        return made is MISSING or type(made) is type(value) and not np.array_equal(
            np.asarray(value), np.asarray(made))

    def _is_of_one_instance(self, layer, name):
        """Returns whether a number or text is another one in each new instance.

        It is a place in a registry, say. What is drawn at random is, too, where it
        is no integer: a layer computes with it.
        """
        key = id(layer)
        new = self._new.get(key, {}).get(name)
        if type(new) not in (int, str):
            return False
        if key not in self._another:
            self._another[key] = {}
            with contextlib.suppress(Exception):
                self._another[key] = self.attributes(self.rehearsed(layer))
        return differ(self._another[key].get(name, new), new)

    def _own_copy(self, value):
        """Returns a copy of what `_is_lost` tells of."""
        if isinstance(value, CONTAINERS):
            return self._own(value)
        return value if type(value) in ATOMS else copy.copy(value)

    def _identifies(self, value):
        """Returns whether there is an `id` of a layer in plain data."""
        if isinstance(value, CONTAINERS):
            return any(map(self._identifies, value)) or (
                isinstance(value, dict) and
                any(map(self._identifies, value.values())))
        return type(value) is int and value in self.layer_map

    def _agreed_layer(self, layer, made):
        if id(layer) in self._pending:
            return made
        is_free = self.is_layer(made) and id(made) not in self._clones
        if (id(layer) not in self.layer_map and is_free and made is not layer and
                self.can_stand_for(layer, made)):
            self.adopt(layer, made)
        if self.is_layer(made) or self._is_final or id(layer) in self.layer_map:
            return self.layer(layer)
        return made

    def _agreed_state(self, value, made):
        if made is value:
            return self.state(value)
        if type(made) is type(value):
            new = self._pair(value, made)
            return new if self._is_final else made
        return self.state(value) if self._is_final and self.runs_again else made

    def _agreed_container(self, value, made):
        if made is value:
            return self._own(value)
        old, new = unwrapped(value), unwrapped(made)
        key = id(old), id(new)
        if key not in self._compared and self._are_alike(old, new):
            self._compared[key] = made  # It may hold itself.
            if isinstance(old, dict):
                items, same = self._agreed_items(old, new)
            else:
                old, new = self._in_order(old), self._in_order(new)
                items = list(map(self._agreed, old, new))
                same = all(map(lambda x, y: x is y, items, new))
            return made if same else same_type(made, items)
        if made is not MISSING and any(map(self.is_tensor, _values(old))):
            return made  # A call left them there.
        if self._walk.reaches(value):
            # A layer may add to a list when it is built.
            is_full = isinstance(new, CONTAINERS) and len(new) == len(old)
            return self.value(value) if self._is_final or is_full else made
        is_lost = self._is_final and (made is MISSING or self._is_lost(value, made))
        return self._own(value) if is_lost else made

    def _are_alike(self, container, other):
        """Returns whether two containers hold something at the same places."""
        if not isinstance(other, CONTAINERS) or len(container) != len(other):
            return False
        if holds_atoms(container) or holds_atoms(other):
            return False
        kind = next(kind for kind in CONTAINERS if isinstance(container, kind))
        if not isinstance(other, kind):
            return False
        return kind not in (set, frozenset) or (
            all(map(self.is_layer, [*container, *other])) and
            list(map(type, self._in_order(container))) ==
            list(map(type, self._in_order(other))))

    def _in_order(self, container):
        """Returns what a container holds: the layers in a set in an order that new
        layers of the same classes have, too, whose names end in other numbers."""
        if not isinstance(container, (set, frozenset)):
            return container
        return sorted(container, key=lambda layer: (
            type(layer).__name__, layer.name.rstrip('0123456789'),
            len(layer.name), layer.name))

    def _agreed_items(self, old, made):
        """Returns what a dict is to hold, and whether that is what it holds.

        Keys need not be equal: `id(layer)` may be one."""
        if old.keys() == made.keys():
            old = {key: old[key] for key in made}
        items = {}
        for (key, value), (new_key, new) in zip(old.items(), made.items()):
            if type(key) not in ATOMS:
                new_key = self._agreed(key, new_key)
            items[new_key] = self._agreed(value, new)
        same = all(key in made and items[key] is made[key] for key in items)
        return items, same

    def _agreed_function(self, function, made):
        if made is function or not isinstance(made, type(function)):
            return self.value(function)
        key = id(function), id(made)
        if key not in self._compared:
            self._compared[key] = made  # It may hold itself.
            self._compared[key] = self._agreed_same(function, made)
        return self._compared[key]

    def _agreed_same(self, function, made):
        if isinstance(function, types.FunctionType):
            if function.__code__ is made.__code__ and self._agree_cells(function,
                                                                        made):
                return made
        elif isinstance(function, types.MethodType):
            if function.__func__ is made.__func__:
                owner = self._agreed(function.__self__, made.__self__)
                return (made if owner is made.__self__ else
                        types.MethodType(made.__func__, owner))
        elif type(function) is type(made):
            held = [self._agreed(old, new) for old, new in (
                (function.func, made.func), (function.args, made.args),
                (function.keywords, made.keywords))]
            return functools.partial(held[0], *held[1], **held[2])
        return self.value(function)

    def _agree_cells(self, function, made):
        """Makes a function that a constructor made anew hold what agrees.

        Returns whether it does."""
        cells = list(zip(function.__closure__ or (), made.__closure__ or ()))
        for old, new in cells:
            try:
                agreed = self._agreed(old.cell_contents, new.cell_contents)
                if agreed is not new.cell_contents:
                    return False
            except ValueError:  # Nothing is in the cell yet, or no longer.
                continue
        return not any(old is new and self._walk.reaches(old) for old, new in cells)

    def _agreed_array(self, value, made):
        if self._is_final and made is not value and self._is_other_array(value,
                                                                         made):
            return self._own_copy(value)
        return made

    def _agreed_object(self, value, made):
        if type(made) is not type(value):
            is_other = made is not None or self._is_final
            return self.value(value) if is_other and not is_opaque(value) else made
        key = id(value), id(made)
        if key not in self._compared and not is_opaque(value):
            self._compared[key] = made
            held = dict(attributes_of(made))
            for name, each in attributes_of(value):
                old = held.get(name, MISSING)
                if isinstance(each, FUNCTIONS) or self._walk.reaches(each):
                    new = self._agreed(each, old)
                    if new is not old:
                        object.__setattr__(made, name, new)
        return made

    def is_array(self, value):
        """Returns whether a value is an array of numbers, not symbolic."""
        return isinstance(value, (np.ndarray, np.generic))


def differ(value, other):
    """Returns whether two plain values differ."""
    if type(value) in ATOMS and type(other) in ATOMS:
        return not (value == other or value != value and other != other)
    return unwrapped(value) != unwrapped(other)


def with_lost_attributes(make):
    """Clones a model, and once more with what the first attempt has lost.

    # Arguments
        make: function that takes `attributes` as `Cloner` does and returns a pair
            (cloner, clone of the model).

    # Returns
        Such a pair, of the second attempt if that has come at least as far.
    """
    cloner, clone = make({})
    lost = cloner.lost_attributes()
    if lost:
        with contextlib.suppress(Exception):
            second, second_clone = make(lost)
            if second.unlike() <= cloner.unlike():
                return second, second_clone
    return cloner, clone


# What Keras asks of a layer when it is called.
_ASKED = ('build', 'call', '__call__', 'compute_mask', 'compute_output_shape',
          'compute_output_spec')


@functools.lru_cache(maxsize=1024)
def _set_when_called(cls):
    """Returns the names of the attributes that the code of a layer may set when it is
    built or called, as far as it says `self.name = ...`."""
    names, seen, waiting = set(), set(), list(_ASKED)
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            for code in _codes(cls, name):
                waiting += code.co_names
                names.update(each.argval for each in dis.get_instructions(code)
                             if each.opname == 'STORE_ATTR')
    return names


def _codes(cls, name):
    """Returns the code of what the classes of a layer have under a name."""
    found = []
    for base in cls.__mro__:
        value = vars(base).get(name)
        for each in ([value.fget, value.fset] if isinstance(value, property)
                     else [getattr(value, '__func__', value)]):
            found.append(getattr(inspect.unwrap(each), '__code__', None))
    found = [code for code in found if code]
    for code in found:  # It grows.
        found += filter(inspect.iscode, code.co_consts)
    return found


def _is_plain(value, holders=()):
    """Returns whether a value is plain data, containers in containers included."""
    if not isinstance(value, CONTAINERS):
        return type(value) in ATOMS
    value = unwrapped(value)
    if holds_atoms(value):
        return True
    if id(value) in holders:
        return False
    holders += (id(value),)
    keys = value if isinstance(value, dict) else ()
    return all(_is_plain(each, holders) for each in [*keys, *_values(value)])


def _values(container):
    return container.values() if isinstance(container, dict) else container


def _check_not_registered(layer):
    """Checks that the class of a layer does not keep the layer: a copy, for which no
    constructor runs, would be missing there."""
    for cls in type(layer).__mro__:
        for name, value in vars(cls).items():
            if not isinstance(value, Collection) or isinstance(value, (str, bytes)):
                continue
            held = [*value, *(value.values() if isinstance(value, Mapping) else ())]
            if any(each is layer or type(each) is int and each == id(layer)
                   for each in held):
                raise NotCopied('`%s` keeps its instances in `%s`, where a copy '
                                'would be missing' % (cls.__name__, name))


def _summary(error):
    if isinstance(error, NotCopied):
        return str(error)
    line = (str(error).strip().split('\n') or [''])[0]
    return f'{type(error).__name__}: {line}' if line else type(error).__name__
