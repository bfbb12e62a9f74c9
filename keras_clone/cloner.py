"""Creates the layers of a clone and reconciles them with the original layers.

Used by the overlays of both major versions of Keras, which define what their
layers, variables and tensors are. A layer is created in three steps:

1. With `from_config(get_config())`, as in the released Keras. These methods may be
   the user's own code; they run unmodified.
2. If that raises, as a copy that has the same attributes, but no nodes or weights.
3. In either case, the attributes of the clone are compared with those of the
   original and corrected: the clone uses the original's function objects, shared
   layers stay shared, and no layer, weight or tensor of the original remains. This
   is done before the layer is called, and again at the end, when state that is not
   in the config is copied as well.
"""
import contextlib
import copy
import enum
import functools
import inspect
import types
import weakref
from collections.abc import Collection
from collections.abc import Mapping

import numpy as np

from keras_clone.holding import ATOMS
from keras_clone.holding import CONTAINERS
from keras_clone.holding import FUNCTIONS
from keras_clone.holding import MUTABLE
from keras_clone.holding import WEAK
from keras_clone.holding import CannotCopy
from keras_clone.holding import Cell
from keras_clone.holding import Walk
from keras_clone.holding import attributes_of
from keras_clone.holding import holds_atoms
from keras_clone.holding import is_empty
from keras_clone.holding import is_opaque
from keras_clone.holding import parts_of
from keras_clone.holding import container_like
from keras_clone.holding import fill
from keras_clone.holding import unwrapped
from keras_clone.methods import METHODS_KERAS_CALLS
from keras_clone.methods import may_be_set_by_call
from keras_clone.methods import names_read_by_call
from keras_clone.methods import names_set_after_init
from keras_clone.methods import names_set_by
from keras_clone.methods import sets_computed_names

MISSING = type('Missing', (), {'__repr__': lambda self: 'missing'})()


class Cloner:
    """Maps the layers and the state of a model to those of its clone.

    # Arguments
        model: the model to clone.
        layer_map: dict {id of a layer: its clone}. All nested models use the same
            dict, so that shared layers stay shared.
        attributes: dict {(id of a layer, name): value} of attributes to set on
            clones before they are built; see `lost_attributes`.
    """

    def __init__(self, model, layer_map=None, attributes=None):
        self.model = model
        self.layer_map = {} if layer_map is None else layer_map
        self.pairs = []  # (layer, clone), in the order of their creation.
        self._attributes = attributes or {}
        # {id of a layer: the attributes of a new instance}: those of the clone, and
        # those of a second instance that is only created for comparison.
        self._new_attributes, self._trial_attributes = {}, {}
        self._pending = set()  # The ids of layers that are being cloned.
        self._unpaired = set()  # The ids of layers, see `_without_pairs`.
        self._searched = set()  # The ids of built layers, see `_find_clone`.
        # {id of a variable or other state: its counterpart}, {id: the original}.
        self._state_map, self._state = {}, {}
        self._clones = set()  # The ids of all clones.
        # (layer, copy that was not built yet, the layers that the copy holds)
        self._unfinished = []
        # Layers that others hold, and the ids of layers that the clone will call.
        self._held_layers, self._called_layers = [], set()
        self._walk = Walk(self._needs_replacement, self._replacement)
        self._place = None, None  # (layer, name): the attribute that is reconciled.
        self._copies_state = self._has_stale_copies = self._copies_weights = False
        self._compared = {}

    # To be defined by an overlay.

    def is_layer(self, value):
        """Returns whether a value is a layer or another operation of a node."""
        raise NotImplementedError

    def is_state(self, value):
        """Returns whether a value is a variable or an object that owns variables."""
        raise NotImplementedError

    def is_weight(self, value):
        """Returns whether a value is a variable, which `build` may create."""
        raise NotImplementedError

    def is_tensor(self, value):
        """Returns whether a value is a symbolic tensor."""
        raise NotImplementedError

    def is_called_later(self, clone):
        """Returns whether attributes that are now set on a layer of the clone still
        have an effect, because a call will read them."""
        raise NotImplementedError

    def layers_within(self, model):
        """Returns a model and all layers in it, nested ones included."""
        raise NotImplementedError

    def new_layer(self, layer):
        """Returns a new layer for one that has no clone yet."""
        raise NotImplementedError

    def new_state(self, value):
        """Returns a new variable, or other state, with the same value."""
        raise NotImplementedError

    def tensor(self, x):
        """Returns the clone of a symbolic tensor, or `x` if it has no clone."""
        raise NotImplementedError

    def has_clone(self, x):
        """Returns whether a symbolic tensor has a clone or does not need one."""
        raise NotImplementedError

    def own_state(self, layer):
        """Returns the state of a layer, without that of its sublayers, as a list."""
        raise NotImplementedError

    def overrides_build(self, layer):
        """Returns whether the class of a layer overrides `build`."""
        raise NotImplementedError

    def can_be_clone_of(self, layer, candidate):
        """Returns whether a layer that a constructor created can be the clone."""
        raise NotImplementedError

    def instance_without_constructor(self, layer):
        """Returns a layer of the same class, without running its constructor."""
        raise NotImplementedError

    def attributes(self, layer):
        """Returns the attributes of a layer that are not set by Keras itself."""
        raise NotImplementedError

    def set_attribute(self, layer, name, old, value):
        """Sets an attribute of a new layer, whose current value is `old`."""
        raise NotImplementedError

    def set_flags(self, layer, clone):
        """Copies the settings that all layers have, e.g. `name` and `trainable`."""
        raise NotImplementedError

    def build(self, layer, clone):
        """Builds a clone that was not called, if the original is built."""
        raise NotImplementedError

    def finish_layer(self, layer, clone):
        """Copies what the comparison of attributes does not cover."""
        raise NotImplementedError

    # Layers

    def layer(self, layer):
        """Returns the clone of a layer, of an operation or of a nested model."""
        if id(layer) in self._pending and id(layer) not in self.layer_map:
            # A cycle: functions that hold the layer keep the original until
            # `finish` copies them again.
            self._has_stale_copies = True
            return layer
        if id(layer) not in self.layer_map:
            with self.naming(layer):
                self._pending.add(id(layer))
                try:
                    clone = self.new_layer(layer)
                finally:
                    self._pending.discard(id(layer))
                self.adopt(layer, clone)
        return self.layer_map[id(layer)]

    def _find_clone(self, layer):
        """Looks for the clone of a layer among the attributes of built layers,
        which may have created it in `build`."""
        if id(layer) in self.layer_map or id(layer) in self._pending:
            return
        self._compared.clear()
        for holder, clone in self.pairs[:]:
            if (id(holder) not in self._searched and getattr(clone, 'built', False)
                    and type(clone) is type(holder)):
                self._searched.add(id(holder))
                self._reconcile(holder, clone)

    def _held_layer(self, layer):
        """Returns the clone of a layer that another layer or a function holds."""
        clone = self.layer(layer)
        if id(clone) in self._clones:  # Not if a function of the user created it.
            self._held_layers.append(layer)
        return clone

    def build_held_layers(self):
        """Builds layers whose weights may be used before the layers are called.

        In the original, they were called earlier: the graph of a model does not
        tell that a function depends on the weights of a layer.
        """
        while self._held_layers:
            layer = self._held_layers.pop()
            if id(layer) in self._called_layers:
                self.build(layer, self.layer_map[id(layer)])

    @contextlib.contextmanager
    def naming(self, layer):
        """Context in which the error of an object that cannot be copied is raised as
        that of a layer."""
        try:
            yield
        except CannotCopy as error:
            raise ValueError("Cannot clone layer '{}' of class `{}`: {}.".format(
                layer.name, type(layer).__name__, error))

    def value(self, value):
        """Returns the clone's counterpart of an attribute or a call argument.

        This is the same object if it holds no layer, state or tensor of the model.
        """
        return self._walk.map(value)

    def adopt(self, layer, clone):
        """Registers and reconciles a new layer as the clone of another."""
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
            self._reconcile(layer, clone, is_new=True)

    def recreated(self, layer):
        """Returns a new layer, created from its config or, failing that, a copy."""
        try:
            clone = type(layer).from_config(layer.get_config())
            if clone is layer:
                raise ValueError('`from_config` returns the layer itself')
        except Exception as error:
            return self._copied(layer, error)
        if type(clone) is type(layer):
            self._new_attributes[id(layer)] = self.attributes(clone)
        return clone

    def trial_instance(self, layer):
        """Returns a new layer that is only used to inspect its attributes."""
        return type(layer).from_config(layer.get_config())

    def finish(self, copy_state=True):
        """Copies what is only known when all layers are built.

        # Arguments
            copy_state: whether to copy the state of layers that is not among
                their weights. It may depend on the shapes of the inputs.
        """
        if self._has_stale_copies:
            self._walk.forget()
        for layer, clone in self.pairs:
            self.build(layer, clone)
        self._compared.clear()
        for layer, clone in self.pairs:  # The list may grow in the loop.
            self.build(layer, clone)
            if type(clone) is type(layer):
                self.reconcile(layer, clone, copy_state)
        for layer, clone in self.pairs:
            if type(clone) is type(layer):
                self.finish_layer(layer, clone)

    def lost_attributes(self):
        """Returns the attributes that the clones lack or that differ in them,
        although `build` or `call` might depend on them.

        To be called before `finish`, when all layers were called: by then, the
        attributes that `build` and `call` set themselves are equal.

        # Returns
            A dict in the format of the constructor's argument `attributes`.
        """
        found = {}
        for layer, clone in self.pairs:
            with contextlib.suppress(Exception):  # `finish` tries again.
                self.build(layer, clone)
            if type(clone) is type(layer):
                current = self.attributes(clone)
                found.update(
                    ((id(layer), name), self._copy_of_lost(value))
                    for name, value in self.attributes(layer).items()
                    if self._is_lost(value, current.get(name, MISSING)) and
                    not self._is_instance_specific(layer, name) and
                    # Each call may add an object to a container.
                    (_is_plain(value) or not isinstance(value, CONTAINERS) or
                     not may_be_set_by_call(type(layer), name, value)))
        return found

    def count_weight_mismatches(self):
        """Returns how many clones do not have as many weights as their layers."""
        return sum(len(self.own_state(layer)) != len(self.own_state(clone))
                   for layer, clone in self.pairs)

    def _copied(self, layer, error):
        """Returns a copy of a layer that cannot be created from its config.

        If `build` creates all of its weights, they are initialized as usual.
        Otherwise they are copied with their values.
        """
        try:
            _check_not_registered(layer)
            if self.overrides_build(layer):
                before = list(map(copy.copy, self._records()))
                with contextlib.suppress(Exception):
                    clone = self._copy(layer, is_built_again=True)
                    if self._finish_copies():
                        return clone
                self._restore(before)
            return self.copied_with_weights(layer)
        except Exception as reason:
            raise ValueError(
                "Cannot clone layer '{}' of class `{}`: {}. Keras itself cannot "
                'create it from its config ({}). Return every argument of the '
                'constructor from `get_config()`, as plain data.'.format(
                    layer.name, type(layer).__name__, _summary(reason),
                    _summary(error))) from error

    def copied_with_weights(self, layer):
        """Returns a copy of a layer that has the values of its weights."""
        was_outer, self._copies_weights = self._copies_weights, True
        try:
            return self._copy(layer, is_built_again=False)
        finally:
            self._copies_weights = was_outer

    def _records(self):
        """Returns the containers in which clones are registered."""
        return [self.layer_map, self.pairs, self._clones, self._unfinished,
                self._held_layers, self._state, self._state_map,
                self._walk.copies]

    def _restore(self, before):
        for record, old in zip(self._records(), before):
            record.clear()
            fill(record, old)

    def _copy(self, layer, is_built_again):
        clone = self.instance_without_constructor(layer)
        # Its attributes may refer back to the layer.
        self.layer_map[id(layer)] = clone
        is_left_out, names = self._is_call_result, ()
        if is_built_again:
            is_left_out = self._is_set_by_build_or_call
            # Keras 2.3 lists sublayers in an attribute as they are set.
            names = names_set_by(type(layer), ('build', '__setattr__'))
        with self._without_pairs(layer):
            for name, value in self.attributes(layer).items():
                is_replaced = name in names and self._held(value, self.is_layer)
                if not is_replaced and not is_left_out(value):
                    self.set_attribute(clone, name, MISSING,
                                       self._value_for_copy(value, is_left_out))
        if is_built_again:
            held = self._held(self.attributes(clone), self.is_layer)
            self._unfinished.append((layer, clone, held))
            self.build_held_layers()
            self.build(layer, clone)
        elif hasattr(layer, 'built'):
            clone.built = layer.built
        return clone

    def _finish_copies(self):
        """Finishes the copies that are built by now, some of them by wrappers.

        `build` expects the attributes of a new layer, but a copy has those of a
        built one. So these are all reconciled before the copy is called.

        # Returns
            Whether `build` has created all weights and layers of these copies.
        """
        built = [each for each in self._unfinished if each[1].built]
        self._unfinished[:] = [each for each in self._unfinished
                               if not each[1].built]
        if not all(self._is_built_like(clone, layer) and
                   self._still_holds(clone, held)
                   for layer, clone, held in built):
            return False
        for layer, clone, _ in built:
            self._pair_state(layer, clone)
            self._copy_missing_attributes(layer, clone)
            self._compared.clear()
            self.reconcile(layer, clone)
        self._compared.clear()
        return True

    def _is_built_like(self, clone, layer):
        """Returns whether `build` has created all weights and layers of a layer."""
        current = self.attributes(clone)
        return len(self.own_state(clone)) == len(self.own_state(layer)) and all(
            self._count_held(value) == self._count_held(current.get(name, ()))
            for name, value in self.attributes(layer).items()
            if isinstance(value, CONTAINERS))

    def _still_holds(self, clone, layers):
        """Returns whether `build` has kept the layers that a copy was given: it
        would create them itself if they were not given by the constructor."""
        held = set(map(id, self._held(self.attributes(clone), self.is_layer)))
        return held.issuperset(map(id, layers))

    def _count_held(self, container):
        """Returns how many weights and layers a container directly holds."""
        container = unwrapped(container)
        keys = container if isinstance(container, dict) else ()
        return sum(self.is_weight(each) or self.is_layer(each)
                   for each in [*keys, *_values(container)])

    def _copy_missing_attributes(self, layer, clone):
        for name, value in self.attributes(layer).items():
            if (name not in self.attributes(clone) and
                    not self._is_call_result(value)):
                with _leaving_out(layer, name):
                    self.set_attribute(
                        clone, name, MISSING,
                        self._value_for_copy(value, self._is_call_result))

    def _unshared(self, value, is_left_out=lambda value: False):
        """Returns the clone's counterpart of a value, without shared containers.

        The `id` of a layer is replaced by that of its clone.
        """
        if type(value) is int and value in self.layer_map:
            return id(self.layer_map[value])
        if not isinstance(value, CONTAINERS):
            return self.value(value)
        old = unwrapped(value)
        if isinstance(old, dict):
            return container_like(value, {
                self._unshared(k): self._unshared(v, is_left_out)
                for k, v in old.items() if not (is_left_out(k) or is_left_out(v))})
        return container_like(value, [self._unshared(v, is_left_out) for v in old
                                      if not is_left_out(v)])

    def _value_for_copy(self, value, is_left_out):
        """Returns what a copied layer gets for an attribute: as `_unshared`, but
        without the items of containers that `build` or `call` will set again."""
        return self._unshared(value, is_left_out)

    def _is_set_by_build_or_call(self, value):
        return self._is_call_result(value) or (
            not isinstance(value, MUTABLE) and
            bool(self._held(value, self.is_weight)))

    def _held(self, value, is_sought):
        """Returns the layers or weights that a value holds, itself included.

        The search does not enter layers.

        # Arguments
            is_sought: `self.is_layer` or `self.is_weight`.
        """
        waiting, seen, found = [value], {}, []
        while waiting:
            each = waiting.pop()
            if id(each) not in seen:
                seen[id(each)] = each  # Keeps values alive, as in `Walk`.
                if is_sought(each):
                    found.append(each)
                if not self._needs_replacement(each):
                    waiting += parts_of(each)
        return found

    def _is_call_result(self, value):
        """Returns whether a value is a tensor that a call of the layer stored, as
        the next call will do again."""
        return self.is_tensor(value) and not self.has_clone(value)

    # Replacements

    def _needs_replacement(self, value):
        return type(value) not in weakref.ProxyTypes and (
            self.is_layer(value) or self.is_state(value) or self.is_tensor(value))

    def _replacement(self, value):
        if self.is_layer(value):
            self._find_clone(value)
            return self._held_layer(value)
        if self.is_tensor(value):
            return self.tensor(value)
        return self.state(value)

    def state(self, value):
        """Returns the counterpart of a variable or other state."""
        owner = None if id(value) in self._state_map else self._owner(value)
        if owner is not None and id(owner) not in self._unpaired:
            self._find_clone(owner)
            clone = self.layer(owner)
            self.build(owner, clone)
            with self._without_pairs(owner):
                self._reconcile(owner, clone)
            self._pair_state(owner, clone)
        if id(value) not in self._state_map:
            self._pair(value, self.new_state(value))
        return self._state_map[id(value)]

    def _pair(self, value, counterpart):
        self._state[id(value)] = value
        return self._state_map.setdefault(id(value), counterpart)

    def paired_state(self):
        """Returns pairs (variable or other state of the original, counterpart)."""
        return [(value, self._state_map[key]) for key, value in self._state.items()]

    def _owner(self, value):
        known = [layer for layer, _ in self.pairs] + self.layers_within(self.model)
        for layer in known:
            if any(each is value for each in self.own_state(layer)):
                return layer
        return None

    def _pair_state(self, layer, clone):
        """Pairs, by position, the variables that no attribute has paired."""
        old, new = self.own_state(layer), self.own_state(clone)
        unpaired = [pair for pair in zip(old, new)
                    if id(pair[0]) not in self._state_map]
        if unpaired and len(old) == len(new):
            paired = set(map(id, self._state_map.values()))
            for x, y in unpaired:
                if id(y) not in paired:
                    self._pair(x, y)

    @contextlib.contextmanager
    def _without_pairs(self, layer):
        """Context in which `state` does not search a layer for its variables."""
        is_outermost = id(layer) not in self._unpaired
        self._unpaired.add(id(layer))
        try:
            yield
        finally:
            if is_outermost:
                self._unpaired.discard(id(layer))

    # Reconciliation

    def reconcile(self, layer, clone, copy_state=True):
        """Reconciles a clone with the original, including its state by default."""
        was_final, self._copies_state = self._copies_state, copy_state
        self._reconcile(layer, clone)
        self._copies_state = was_final

    def _reconcile(self, layer, clone, is_new=False):
        current, outer = self.attributes(clone), self._place
        for name, value in self.attributes(layer).items():
            old = current.get(name, MISSING)
            if old is value and type(value) in ATOMS:
                continue
            self._place = layer, name
            with _leaving_out(layer, name):
                if (is_new and self._is_lost(value, old) and
                        not may_be_set_by_call(type(layer), name, value)):
                    new = self._copy_of_lost(value)
                elif is_new and self._is_set_later(layer, name, value, old):
                    new = self._unshared(value)
                else:
                    new = self._reconciled(value, old)
                if new is not old and not self._is_instance_specific(layer, name):
                    self.set_attribute(clone, name, old, new)
        self._place = outer

    def _is_set_later(self, layer, name, value, current):
        """Returns whether a new layer lacks what a user has set after the constructor
        of the original ran, or added to a container."""
        is_incomplete = current is MISSING or current is None or (
            isinstance(value, CONTAINERS) and isinstance(current, CONTAINERS) and
            len(unwrapped(current)) < len(unwrapped(value)))
        return (is_incomplete and id(value) not in self._pending and
                not self._is_call_result(value) and
                not sets_computed_names(type(layer)) and
                not may_be_set_by_call(type(layer), name, value))

    def _reconciled(self, value, current):
        """Returns the value that the clone should have.

        # Arguments
            value: the value in the original.
            current: the current value in the clone, MISSING if there is none.
        """
        if current is MISSING and not self._copies_state:
            return current
        if type(value) in ATOMS:
            is_lost = self._copies_state and self._is_lost(value, current)
            return value if is_lost else current
        if isinstance(value, WEAK):
            is_own = current is not value and current is not MISSING
            return current if is_own else self.value(value)
        if self.is_layer(value):
            return self._reconciled_layer(value, current)
        if self.is_state(value):
            return self._reconciled_state(value, current)
        if self.is_tensor(value):
            is_held = current is MISSING and self.has_clone(value)
            return self.value(value) if current is value or is_held else current
        if isinstance(value, CONTAINERS):
            return self._reconciled_container(value, current)
        if isinstance(value, FUNCTIONS):
            return self._reconciled_function(value, current)
        if is_opaque(value) and self.is_array(value):
            return self._reconciled_array(value, current)
        if isinstance(value, (type, enum.Enum)):
            return value if self._copies_state else current
        if current is value or current is MISSING:
            return self.value(value)
        return self._reconciled_object(value, current)

    def _is_lost(self, value, current):
        """Returns whether the clone's value is missing or differs.

        Only plain data, arrays and the lengths of containers are compared. Other
        objects may differ in each instance, so they can only be missing.
        """
        if value is current or value is None and current is MISSING:
            return False
        if isinstance(value, WEAK):
            return False
        if _is_plain(value):
            is_other = _is_plain(current) and differ(value, current)
            return ((current is MISSING or is_other) and
                    not self._contains_layer_id(value))
        if isinstance(value, CONTAINERS):
            return (isinstance(current, CONTAINERS) and
                    len(unwrapped(value)) != len(unwrapped(current)) and
                    not self._walk.reaches(value))
        if is_opaque(value):
            return self.is_array(value) and self._is_other_array(value, current)
        return (current is None and not isinstance(value, FUNCTIONS) and
                not self._walk.reaches(value))

    def _is_other_array(self, value, current):
        if current is MISSING or type(current) is not type(value):
            return current is MISSING
        try:
            return not np.array_equal(np.asarray(value), np.asarray(current))
        except Exception:  # E.g. an array of objects, or a ragged tensor.
            return False

    def _is_instance_specific(self, layer, name):
        """Returns whether an integer or a string differs in each new instance, as
        an index in a registry or a UUID does.

        A float that differs is not specific to an instance: it may be drawn at
        random, and the layer computes with it.
        """
        new = self._new_attributes.get(id(layer), {}).get(name)
        if type(new) not in (int, str):
            return False
        return differ(self._attributes_of_trial(layer).get(name, new), new)

    def _attributes_of_trial(self, layer):
        if id(layer) not in self._trial_attributes:
            self._trial_attributes[id(layer)] = {}
            with contextlib.suppress(Exception):
                trial = self.trial_instance(layer)
                self._trial_attributes[id(layer)] = self.attributes(trial)
        return self._trial_attributes[id(layer)]

    def _is_specific_to(self, holder, name):
        """Returns whether an attribute of an object that a layer holds is an integer
        or a string that differs in each new object.

        This is assumed for objects of Keras, whose initializers draw seeds, and for
        objects that a new instance of the layer does not hold at the same place.
        """
        current = dict(attributes_of(holder)).get(name)
        if type(current) not in (int, str):
            return False
        if type(holder).__module__.split('.')[0] == 'keras':
            return True
        layer, attribute = self._place
        held, of_trial = [
            self._held(found.get(attribute), lambda each: type(each) is type(holder))
            for found in (self._new_attributes.get(id(layer), {}),
                          self._attributes_of_trial(layer))]
        return not any(
            each is holder and not differ(dict(attributes_of(other))[name], current)
            for each, other in zip(held, of_trial))

    def _copy_of_lost(self, value):
        """Returns a copy of a value for which `_is_lost` is true."""
        if isinstance(value, CONTAINERS):
            return self._unshared(value)
        return value if type(value) in ATOMS else copy.copy(value)

    def _contains_layer_id(self, value):
        """Returns whether plain data contain the `id` of a layer."""
        if isinstance(value, CONTAINERS):
            return any(map(self._contains_layer_id, value)) or (
                isinstance(value, dict) and
                any(map(self._contains_layer_id, value.values())))
        return type(value) is int and value in self.layer_map

    def _reconciled_layer(self, layer, current):
        if id(layer) in self._pending:
            return current
        is_free = self.is_layer(current) and id(current) not in self._clones
        if (id(layer) not in self.layer_map and is_free and current is not layer and
                self.can_be_clone_of(layer, current)):
            self.adopt(layer, current)
        is_cloned = id(layer) in self.layer_map
        if self.is_layer(current) or self._copies_state or is_cloned:
            return self._held_layer(layer)
        return current

    def _reconciled_state(self, value, current):
        if current is value:
            return self.state(value)
        if type(current) is type(value):
            new = self._pair(value, current)
            return new if self._copies_state else current
        clone = self.layer_map.get(id(self._place[0]))
        if self._copies_state and self.is_called_later(clone):
            return self.state(value)
        return current

    def _reconciled_container(self, value, current):
        if current is value:
            return self._unshared(value)
        old, new = unwrapped(value), unwrapped(current)
        key = id(old), id(new)
        if key not in self._compared and self._have_same_structure(old, new):
            self._compared[key] = current  # It may contain itself.
            if isinstance(old, dict):
                items, same = self._reconciled_items(old, new)
            else:
                old, new = map(self._in_comparable_order, (old, new))
                items = list(map(self._reconciled, old, new))
                same = all(map(lambda x, y: x is y, items, new))
            return current if same else container_like(current, items)
        if current is not MISSING and any(map(self.is_tensor, _values(old))):
            return current  # A call has stored these tensors.
        if self._walk.reaches(value):
            # `build` may still add items to the clone's container.
            is_full = isinstance(new, CONTAINERS) and len(new) == len(old)
            return self.value(value) if self._copies_state or is_full else current
        is_lost = self._copies_state and (
            current is MISSING or self._is_lost(value, current))
        return self._unshared(value) if is_lost else current

    def _have_same_structure(self, container, other):
        """Returns whether the items of two containers correspond to each other."""
        if not isinstance(other, CONTAINERS) or len(container) != len(other):
            return False
        if holds_atoms(container) or holds_atoms(other):
            return False
        kind = next(kind for kind in CONTAINERS if isinstance(container, kind))
        if not isinstance(other, kind):
            return False
        return kind not in (set, frozenset) or (
            all(map(self.is_layer, [*container, *other])) and
            list(map(type, self._in_comparable_order(container))) ==
            list(map(type, self._in_comparable_order(other))))

    def _in_comparable_order(self, container):
        """Returns a container's items; those of a set as a sorted list.

        The layers in a set are sorted so that the order does not depend on the
        numbers at the end of generated names.
        """
        if not isinstance(container, (set, frozenset)):
            return container
        return sorted(container, key=lambda layer: (
            type(layer).__name__, layer.name.rstrip('0123456789'),
            len(layer.name), layer.name))

    def _reconciled_items(self, old, current):
        """Returns the items that the clone's dict should have, and whether it has
        them already.

        The keys may differ, e.g. if they are ids of layers.
        """
        if old.keys() == current.keys():
            old = {key: old[key] for key in current}
        items = {}
        for (key, value), (new_key, new) in zip(old.items(), current.items()):
            if type(key) not in ATOMS:
                new_key = self._reconciled(key, new_key)
            items[new_key] = self._reconciled(value, new)
        same = all(key in current and items[key] is current[key] for key in items)
        return items, same

    def _reconciled_function(self, function, current):
        if current is function or not isinstance(current, type(function)):
            return self.value(function)
        key = id(function), id(current)
        if key not in self._compared:
            self._compared[key] = current  # It may refer to itself.
            self._compared[key] = self._reconciled_same_type(function, current)
        return self._compared[key]

    def _reconciled_same_type(self, function, current):
        if isinstance(function, types.FunctionType):
            is_same_code = function.__code__ is current.__code__
            if is_same_code and self._agree(function, current):
                return current
        elif isinstance(function, types.MethodType):
            if function.__func__ is current.__func__:
                owner = self._reconciled(function.__self__, current.__self__)
                return (current if owner is current.__self__ else
                        types.MethodType(current.__func__, owner))
        elif type(function) is type(current):
            held = [self._reconciled(old, new) for old, new in (
                (function.func, current.func), (function.args, current.args),
                (function.keywords, current.keywords))]
            return functools.partial(held[0], *held[1], **held[2])
        return self.value(function)

    def _agree(self, function, current):
        """Returns whether a function that the clone's constructor has created can
        be kept: what it holds needs no correction."""
        old, new = parts_of(function), parts_of(current)
        return len(old) == len(new) and all(map(self._agree_in, old, new))

    def _agree_in(self, old, new):
        if isinstance(old, Cell) and isinstance(new, Cell) and old is not new:
            if is_empty(old) or is_empty(new):
                return True
            old, new = old.cell_contents, new.cell_contents
        if old is new:
            return not self._walk.reaches(old)
        return self._reconciled(old, new) is new

    def _reconciled_array(self, value, current):
        is_other = current is not value and self._is_other_array(value, current)
        if self._copies_state and is_other:
            return self._copy_of_lost(value)
        return current

    def _reconciled_object(self, value, current):
        if type(current) is not type(value):
            is_other = current is not None or self._copies_state
            is_used = is_other and not is_opaque(value)
            return self.value(value) if is_used else current
        key = id(value), id(current)
        if key not in self._compared and not is_opaque(value):
            self._compared[key] = current
            layer, held = self._place[0], dict(attributes_of(current))
            for name, each in attributes_of(value):
                old = held.get(name, MISSING)
                if old is each and type(each) in ATOMS:
                    continue
                is_early = type(each) in ATOMS and self._is_lost(each, old) and (
                    name not in names_set_by(type(layer), METHODS_KERAS_CALLS) and
                    name not in names_set_after_init(type(value)))
                new = each if is_early else self._reconciled(each, old)
                if new is not old and not self._is_specific_to(current, name):
                    object.__setattr__(current, name, new)
        return current

    def is_array(self, value):
        """Returns whether a value is an array of numbers, not a symbolic tensor."""
        return isinstance(value, (np.ndarray, np.generic))


def differ(value, other):
    """Returns whether two plain values differ."""
    if type(value) in ATOMS and type(other) in ATOMS:
        return not (value == other or value != value and other != other)
    return unwrapped(value) != unwrapped(other)


def clone_with_lost_attributes(make):
    """Clones a model; if attributes were lost, clones it again with them set.

    # Arguments
        make: function that takes `attributes` as `Cloner` does and returns a pair
            (cloner, clone of the model).

    # Returns
        The pair of the second attempt, unless it raised or fewer of its clones
        have the right number of weights; then the pair of the first one.
    """
    cloner, clone = make({})
    lost = cloner.lost_attributes()
    if lost:
        with contextlib.suppress(Exception):
            second, second_clone = make(lost)
            if second.count_weight_mismatches() <= cloner.count_weight_mismatches():
                return second, second_clone
    return cloner, clone


def _is_plain(value, holders=()):
    """Returns whether a value is plain data or a container of plain data."""
    if type(value) in ATOMS or not isinstance(value, CONTAINERS):
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
    """Checks that the class of a layer does not register its instances.

    A copy would not be registered, because its constructor does not run.
    """
    for cls in type(layer).__mro__:
        for name, value in vars(cls).items():
            if not isinstance(value, Collection) or isinstance(value, (str, bytes)):
                continue
            held = [*value, *(value.values() if isinstance(value, Mapping) else ())]
            if any(each is layer or type(each) is int and each == id(layer)
                   for each in held):
                raise CannotCopy(f'`{cls.__name__}` keeps its instances in '
                                 f'`{name}`, where a copy would be missing')


@contextlib.contextmanager
def _leaving_out(layer, name):
    """Context in which an attribute is skipped that cannot be copied, as the released
    function skips what was set after the constructor, unless a call may read it.

    # Raises
        CannotCopy: if a call of the layer may read the attribute.
    """
    try:
        yield
    except CannotCopy as error:
        is_read = name in names_read_by_call(type(layer))
        if is_read and not _wraps_method(layer, name):
            raise CannotCopy('in its attribute `{}`, {}'.format(name, error))


def _wraps_method(layer, name):
    """Returns whether a user has wrapped the method of this name of a layer."""
    wrapped = inspect.unwrap(vars(layer).get(name))
    method = getattr(type(layer), name, None)
    return (isinstance(wrapped, types.MethodType) and
            wrapped.__self__ is layer and wrapped.__func__ is method)


def _summary(error):
    if isinstance(error, CannotCopy):
        return str(error)
    line = (str(error).strip().split('\n') or [''])[0]
    return f'{type(error).__name__}: {line}' if line else type(error).__name__
