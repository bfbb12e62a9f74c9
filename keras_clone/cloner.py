"""Creates the layers of a clone: what the user did is done again.

Used by the overlays of both major versions of Keras, which define what their
layers, variables and tensors are.

1. The class of a layer is called with the arguments that the user called it with,
   in which layers, variables and tensors of the model are replaced by those of the
   clone. All else stays the same object.
2. What the user has changed since then is set.
3. The layer is built and called as the original was.
4. As the same code ran, what two attributes of the same name hold corresponds by
   position: the layers and variables in them are pairs. Where they do not
   correspond, the attribute is set from the original.
5. At the end, it is checked that the clone lacks no weights, and uses nothing of the
   original.
"""
import contextlib
import copy
import functools
import inspect
import math
import textwrap
import types
import weakref

import numpy as np

from keras_clone.comparison import MISSING
from keras_clone.comparison import NUMBERS
from keras_clone.comparison import are_equal
from keras_clone.comparison import is_changed
from keras_clone.comparison import is_other_data
from keras_clone.comparison import is_other_function
from keras_clone.containers import ATOMS
from keras_clone.containers import CONTAINERS
from keras_clone.containers import CannotCopy
from keras_clone.containers import cannot_copy
from keras_clone.containers import container_like
from keras_clone.containers import copied
from keras_clone.containers import holds_atoms
from keras_clone.containers import is_plain
from keras_clone.containers import objects_in
from keras_clone.containers import unwrapped
from keras_clone.functions import FUNCTIONS
from keras_clone.functions import with_closure
from keras_clone.global_state import in_global_state_of
from keras_clone.history import first_call_of
from keras_clone.history import keep_first_call_with
from keras_clone.history import own_array
from keras_clone.recording import NotKnown
from keras_clone.recording import arguments_of
from keras_clone.recording import call_numbers
from keras_clone.recording import is_of_keras
from keras_clone.recording import keep
from keras_clone.recording import number_of
from keras_clone.recording import own_record
from keras_clone.recording import parameters_of
from keras_clone.recording import record_of
from keras_clone.settings import Settings
from keras_clone.settings import setting_of
from keras_clone.walk import NotYet
from keras_clone.walk import Walk
from keras_clone.walk import attributes_of
from keras_clone.walk import is_opaque
from keras_clone.walk import parts_of


class Cloner:
    """Maps the layers and the state of a model to those of its clone.

    An overlay defines

    - of a value: `is_layer`, `is_state` (a variable, or an object that owns some),
      `is_tensor`, `renewed_class` (each new layer gets a new one, from its config),
      `copied_classes` (of objects that no two models share, e.g. regularizers);
    - of a layer: `is_graph`, `attributes`, `own_state`, `set_flags`,
      `set_attribute`, `tracked`, `new_layer`, `build`, `builds_layers`,
      `finish_layer`;
    - of a variable: `new_state`, `signature`; of a tensor: `tensor`, `has_clone`;
    - `layers_within` (a model) and `custom_object_scope`; `computes_anew`, whether a
      model computes with what its layers hold now, not with what they held when
      they were called.

    # Arguments
        model: the model to clone.
        layer_map: dict {id of a layer: its clone}. All nested models use the same
            dict, so that shared layers stay shared.
    """

    def __init__(self, model, layer_map=None):
        self.model = model
        self.layer_map = {} if layer_map is None else layer_map
        self.pairs = []  # (layer, clone), in the order of their creation.
        # {id of a variable or other state: its counterpart}, and both as pairs.
        self.state_map, self.state_pairs = {}, []
        self._clones = set()  # The ids of all clones.
        self._counterparts = set()  # The ids of all counterparts of state.
        self._pending = set()  # The ids of layers that are being created.
        self._searched = set()  # The ids of layers that are searched for a variable.
        self._settings = Settings(self)
        self._held = {}  # {id of a layer: see `_held_by`}.
        self._empty = set()  # The ids of models that were filled by a call.
        self._unsettled = []  # Pairs whose clones still have to be built.
        self._owners = {}  # {id of a variable or other state: its layers}.
        self._kinds = {}  # {class: the `_kind` of its objects}.
        self._functions = {}  # {id of a function: (it, with its former closure)}.
        # {id of an object that was copied as it had been when a layer was first
        # called: it, and the attributes that it had when the last one was}.
        self._former = {}
        self._start = next(call_numbers)
        self._replayed_number = 0  # That of the constructor that is called again.
        self._walk = Walk(self._is_replaced, self._replacement, self._is_copied,
                          self.parts_of)

    # Layers

    def layer(self, layer):
        """Returns the clone of a layer, of an operation or of a nested model."""
        if id(layer) not in self.layer_map:
            if id(layer) in self._pending:
                # A cycle: what holds the layer is replaced in `finish`.
                raise NotYet(layer.name)
            with self.naming(layer), self._as_first_called(layer):
                self._pending.add(id(layer))
                try:
                    clone = self.new_layer(layer)
                finally:
                    self._pending.discard(id(layer))
                self.adopt(layer, clone)
        return self.layer_map[id(layer)]

    @contextlib.contextmanager
    def naming(self, layer):
        """Context in which the error of an object that cannot be copied is raised as
        that of a layer."""
        try:
            yield
        except CannotCopy as error:
            raise refusal(layer, error)

    @contextlib.contextmanager
    def naming_build_errors(self, layer):
        """Context in which an error of `build` of a clone is raised as one that
        names the layer."""
        try:
            yield
        except Exception as error:
            raise refusal(layer, 'its clone cannot be built ({})'.format(
                _summary(error))) from error

    def created(self, layer):
        """Returns a new layer, created as the original was: by its constructor.

        If its config tells that the user has changed its settings since, they are
        passed to the constructor or, if that does not suffice, to `from_config`.
        What is created in another way is used only if its config is right wherever
        that of the first is, and in more.
        """
        settings = self._settings
        config = settings.config_of(layer)
        changed = settings.changed_data(layer, config)
        clone = first = self._first_created(layer, changed)
        differing = settings.differing_from(config, clone)
        ways = [lambda: self._replayed(
                    layer, settings.current(layer, differing, config)),
                lambda: self._as_released(layer, config)]
        for create in [lambda: self._replayed(layer), *ways] if changed else ways:
            if not differing:
                break
            with contextlib.suppress(Exception):
                other = create()
                remaining = settings.differing_from(config, other)
                if remaining < differing:
                    clone, differing = other, remaining
        if clone is not first:  # Its own clone is created as it is.
            with contextlib.suppress(NotKnown):
                keep(clone, *self._arguments(layer))
        _set_name(layer, clone)
        return clone

    def _first_created(self, layer, changed):
        """As `created`, in the first way that raises no exception.

        # Arguments
            changed: see `Settings.changed_data`.
        """
        ways = [lambda: self._replayed(layer), lambda: self._as_released(layer),
                lambda: self._replayed_in_scope(layer)]
        if changed:
            ways.insert(0, lambda: self._replayed(layer, changed))
        errors = []
        for create in ways:
            try:
                clone = create()
                if clone is layer or id(clone) in self._clones:
                    raise ValueError('its class returns an existing layer')
                return clone
            except Exception as error:
                errors.append(error)
        raise ValueError(
            "Cannot clone layer '{}' of class `{}`: its constructor cannot be "
            'called again ({}), and it cannot be created from its config ({}). '
            'Return every argument of the constructor from `get_config()`.'.format(
                layer.name, type(layer).__name__, *map(_summary, errors[-3:]))
        ) from errors[0]

    def _replayed(self, layer, changed=()):
        """Returns a new layer: its class is called with the same arguments.

        # Arguments
            changed: dict {name: value}, other values for some of them.
        """
        args, kwargs = self._arguments(layer)
        if changed:
            args, kwargs = _with_changed(type(layer), args, kwargs, changed)
        clone, name = _constructed(layer, args, kwargs), _first_name(layer)
        if getattr(clone, 'name', name) != name:
            # The user has renamed it, or the constructor makes names by a counter.
            with contextlib.suppress(Exception):  # It may not take a name.
                other = _constructed(layer, args, {**kwargs, 'name': name})
                clone = other if other.name == name else clone
        return clone

    def _as_released(self, layer, config=None):
        config = layer.get_config() if config is None else {**config}
        with in_global_state_of(record_of(layer)):
            return type(layer).from_config(config)

    def _replayed_in_scope(self, layer):
        """As `_replayed`, for a constructor that deserializes what it is passed, or
        does not accept the argument `name`."""
        args, kwargs = self._arguments(layer)
        passed = {**dict(zip(parameters_of(type(layer))[0], args)), **kwargs}
        # What the strings among the arguments stood for.
        named = {passed[name]: self.value(held) for name, held in vars(layer).items()
                 if type(passed.get(name)) is str and callable(held)}
        scope = self.custom_object_scope({**self._named_objects(layer), **named})
        with scope, in_global_state_of(record_of(layer)):
            return type(layer)(*args, **kwargs)

    def _arguments(self, layer):
        """Returns what the constructor of a clone is called with."""
        arguments, number = arguments_of(layer), self._replayed_number
        self._replayed_number = number_of(layer, 0)
        try:
            for function, held in arguments.closures:
                former = with_closure(function, held)
                if former is not function:
                    self._functions[id(function)] = function, self.value(former)
            return self.value(arguments.args), self.value(arguments.kwargs)
        finally:
            self._replayed_number = number

    @contextlib.contextmanager
    def _as_first_called(self, layer):
        """Context in which objects are copied as they were when a layer was first
        called: without what it has put into them. Its clone will do the same."""
        first, former = first_call_of(layer), self._walk.former
        objects = first.existing()[1] if first else {}
        objects = {key: (each, held) for key, (each, held) in objects.items()
                   if not issubclass(type(each), CONTAINERS)}
        for key, (each, held) in objects.items():
            if key in self._former:  # Another layer that holds it was called first.
                self._complete(each, held)
            self._former[key] = each, held
        self._walk.former = {
            key: _own_attributes(each, held)
            for key, (each, held) in objects.items()}
        try:
            yield
        finally:
            self._walk.former = former

    def _complete(self, value, attributes):
        """Sets what an object has got since it was copied, in its copy, unless the
        clone of a layer has done so.

        # Arguments
            attributes: dict {name: value}, those that it had later.
        """
        new, (_, former) = self._walk.copy_of(value), self._former[id(value)]
        current = {} if new is None else dict(attributes_of(new))
        for name, held in attributes.items() if new is not None else ():
            old, made = former.get(name, MISSING), current.get(name, MISSING)
            with contextlib.suppress(CannotCopy, NotYet):
                is_right = made is not MISSING and (
                    are_equal(old, held) or
                    not are_equal(old, made) and
                    not are_equal(self.value(old), made))
                if not (is_right or self.is_call_result(held)):
                    object.__setattr__(new, name, self.unshared(held))

    def _named_objects(self, layer):
        """Returns the functions and the classes of objects that a layer holds, at
        any depth, as a dict {name: object}."""
        found, seen, waiting = {}, {}, [layer]
        while waiting:
            each = waiting.pop()
            if id(each) in seen or type(each) in ATOMS:
                continue
            seen[id(each)] = each
            named = each if inspect.isroutine(each) else type(each)
            found.setdefault(getattr(named, '__name__', ''), named)
            if self.is_layer(each):
                waiting += self.attributes(each).values()
            else:
                waiting += parts_of(each)
        return found

    def adopt(self, layer, clone):
        """Registers a new layer as the clone of another, and the layers it holds."""
        self.layer_map[id(layer)] = clone
        if id(clone) not in self._clones:
            self._clones.add(id(clone))
            self.pairs.append((layer, clone))
            if type(clone) is type(layer):
                self.set_flags(layer, clone)
                if _first_name(layer) != getattr(layer, 'name', None):
                    _set_name(layer, clone)  # Its constructor did not know it.
                if first_call_of(layer) is not None and first_call_of(clone) is None:
                    self._match_first_call(layer, clone)
                changed = self._settings.changes_of(layer, clone)
                if changed:
                    self._set_changes(
                        layer, clone, self._settings.left_by_user(layer), changed)
                self._unsettled.append((layer, clone))

    def called(self, layer, clone, inputs, args, kwargs):
        """Calls the clone of a layer as that was called; returns the new node.

        A node has the tensors that `__call__` of Keras was called with. If a class
        of the user overrides it and takes other arguments, or passes on other
        tensors than it gets, e.g. scaled ones, Keras's is called with those of the
        node, scaled already.

        # Arguments
            inputs: the tensors among the arguments, in any iterable.
            args, kwargs: the arguments, a tuple or list and a dict.
        """
        call = next(vars(base)['__call__'] for base in type(clone).__mro__
                    if '__call__' in vars(base) and is_of_keras(base))
        used = type(clone).__call__
        if used is not call and not _takes(clone, args, kwargs):
            used = call
        is_first = not clone._inbound_nodes
        with in_global_state_of(first_call_of(layer), with_names=is_first):
            used(clone, *args, **kwargs)
        reached = map(id, clone._inbound_nodes[-1].input_tensors)
        if used is not call and not {*reached} >= {*map(id, inputs)}:
            call(clone, *args, **kwargs)
        return clone._inbound_nodes[-1]

    def finish(self):
        """Completes the clones: all of them were called, if they will be."""
        for layer, clone in self.pairs if self._walk.postponed else ():
            with contextlib.suppress(NotKnown):
                keep(clone, *self._arguments(layer))
        for value, _ in list(self._former.values()):
            self._complete(value, dict(attributes_of(value)))
        for layer, clone in self.pairs:  # The list may grow in the loop.
            self.build(layer, clone, is_called=False)
            if type(clone) is type(layer):
                self._set_changes(
                    layer, clone, vars(layer), self._settings.names_of(layer))
                self._match(layer, clone, is_final=True)
        for layer, clone in self.pairs:
            if type(clone) is type(layer):
                self.finish_layer(layer, clone)
            first, new = first_call_of(layer), first_call_of(clone)
            if first is not None and self._walk.postponed:
                keep_first_call_with(
                    clone, vars(clone), self._counterparts_of(first.objects))
            # The weights of a clone that is never called are known from it alone.
            is_as_called = clone._inbound_nodes or not layer._inbound_nodes
            if first is not None and new is not None and is_as_called:
                new.correspond(first, {id(self.layer_map.get(each))
                                       for each in first.built})

    def keep_numbers(self):
        """Records that the clones were created and built in the originals' order.

        Called at the end, because `_replacement` recognizes clones by their numbers.
        """
        for layer, clone in self.pairs:
            if record_of(clone):
                own_record(clone).number = number_of(layer, 0)
                own_record(clone).number_of_build = self.number_of_build(layer)

    def number_of_build(self, layer):
        """Returns the number of the call of `build`; infinity if it is not known."""
        return getattr(record_of(layer), 'number_of_build', math.inf)

    def _counterparts_of(self, objects):
        """Returns the `objects` of a `FirstCall`, as the clone of the layer has
        them."""
        found = {}
        for each, held in objects.values():
            with contextlib.suppress(CannotCopy):
                new = self.value(each)
                found[id(new)] = new, {
                    name: self.unshared(value) for name, value in held.items()
                    if not self.is_call_result(value)}
        return found

    def check(self):
        """Raises a `ValueError` if a clone lacks weights or uses the original."""
        for layer, clone in self.pairs:
            if type(clone) is type(layer):
                self._check_weights(layer, clone)
                for name, value in self.attributes(clone).items():
                    if self._walk.reaches(value) and any(
                            map(self._is_original, self._layers_and_state(value))):
                        raise refusal(layer, 'its clone would use the original in '
                                      'its attribute `{}`'.format(name))

    def _check_weights(self, layer, clone):
        old, new = [list(map(self.signature, self.own_state(each)))
                    for each in (layer, clone)]
        if old != new and getattr(layer, 'built', True):
            raise refusal(layer, 'it has the weights {}, its clone has {}'.format(
                old, new))
        # A model without weights is still to be built by a call.
        if layer is self.model and 0 < len(layer.weights) != len(clone.weights):
            raise self._other_number_of_weights()

    def _other_number_of_weights(self):
        """Returns the error for the smallest layer whose clone has other weights."""
        counts = [(layer, *(len(getattr(each, 'weights', ()))
                            for each in (layer, clone)))
                  for layer, clone in self.pairs]
        layer, old, new = min((found for found in counts if found[1] != found[2]),
                              key=lambda found: found[1])
        return refusal(
            layer, 'it has {} weights, its clone has {}'.format(old, new))

    def _is_original(self, value):
        known = self.layer_map if self.is_layer(value) else self.state_map
        return known.get(id(value), value) is not value

    # What was changed since the constructor ran

    def _set_changes(self, layer, clone, held, names):
        """Sets the settings that the user has changed, unless they are right.

        # Arguments
            held: dict {name: value}, the attributes of the layer, now or before.
            names: set of the names of the settings.
        """
        for name in names:
            value = setting_of(layer, held, name)
            with contextlib.suppress(AttributeError):  # A property to be read.
                new = getattr(clone, name, MISSING)
                if value is not MISSING and self._settings.is_other(value, new):
                    self._set_as_in(layer, clone, name, value, new)

    # What corresponds

    def _match_first_call(self, layer, clone, is_held=False):
        """Sets the attributes in which a new layer differs from the original when
        that was first called.

        # Arguments
            is_held: whether this is called for the layer that holds it, which has
                built what it builds.
        """
        first = first_call_of(layer)
        attributes, objects = first.existing()
        self._empty |= first.empty
        if first.was_built and layer._inbound_nodes:
            self.build(layer, clone)
        if first.was_built and not clone.built and not is_held:
            return  # The layer that holds it will build it.
        current = self.attributes(clone)
        changed = self._settings.changes_of(layer, clone)
        for name, value in attributes.items():
            new = current.get(name, MISSING)
            if new is value and type(value) in ATOMS or name in changed:
                continue
            if _is_empty(value) and are_equal(new, vars(layer).get(name)):
                continue  # The constructor was passed what `build` has set.
            old = self._layers_and_state(value, objects)
            if self.corresponds(value, old, new):
                self._match_objects(value, new, objects)
            else:
                with self._as_first_called(layer), contextlib.suppress(CannotCopy):
                    self._set_as_in(layer, clone, name, value, new)
            will_build = self.builds_layers(layer) and not first.was_built
            wrapped = {*map(id, objects_in(value))} if will_build else ()
            for each in old:
                if id(each) in first.built and id(each) in self.layer_map:
                    build = self.build if id(each) in wrapped else self.build_held
                    build(each, self.layer_map[id(each)])

    def builds_layers(self, layer):
        """Returns whether `build` of a layer builds those in its attributes, unless
        they are built already."""
        return False

    def build_held(self, layer, clone):
        """Builds a layer that was built before what holds it was called.

        Its weights are copies if it is not known how the layer was built.
        """
        self.build(layer, clone)
        if not clone.built:
            first = first_call_of(layer)
            if first is not None and first.was_built:
                self._match_first_call(layer, clone, is_held=True)
            else:
                self._match(layer, clone, is_final=True)
            clone.built = True

    def _match(self, layer, clone, is_final=False):
        """Pairs what the attributes of two layers hold; sets those that are wrong.

        # Arguments
            is_final: whether all clones were called.
        """
        current = self.attributes(clone)
        former = {} if is_final else self._after_first_call(layer)
        for name, value, reaches, old in self._held_by(layer):
            new = current.get(name, MISSING)
            if not (old or is_final) or new is value and not reaches:
                continue
            if name in former and is_changed(former[name], value):
                continue  # Before a later call, or at the end.
            is_right = self.corresponds(value, old, new)
            if is_right and is_final:
                self._match_objects(value, new)
            if not (is_right or self.is_call_result(value)):
                with contextlib.suppress(CannotCopy):  # See `check`.
                    self._set_as_in(layer, clone, name, value, new)
        self._pair_state(layer, clone)

    def _after_first_call(self, layer):
        """Returns the attributes that a layer had after its first call, if its clone
        computes with them; else, or if they are not known, an empty dict."""
        first = first_call_of(layer)
        if self.computes_anew or first is None:
            return {}
        return {**first.attributes, **first.changed}

    def corresponds(self, value, old, new):
        """Pairs what an attribute of two layers holds; returns whether that of the
        clone is right.

        # Arguments
            value, new: the attribute of the layer and that of the clone.
            old: the `_layers_and_state` of `value`.
        """
        is_pair = self._are_pairs(old, self._layers_and_state(new))
        return is_pair and not (
            self._holds_postponed(new) or self._is_other_attribute(value, new))

    def corresponds_later(self, value):
        """Returns whether `_match` decides on a value: `build` or the call of a
        layer may have put it in the place of an argument."""
        return any(self._kind(each) not in (None, 'renewed')
                   for each in objects_in(value))

    def _holds_postponed(self, new):
        """Returns whether a value in a clone still holds what could not be replaced
        when the clone was created."""
        postponed = self._walk.postponed
        return bool(postponed) and any(
            id(each) in postponed for each in self._replaced_in(new))

    def _set_as_in(self, layer, clone, name, value, new):
        """Sets an attribute of a clone to the counterpart of that of the layer.

        # Arguments
            value, new: the attribute of the layer, and that of the clone until now.
        """
        counterpart = self.unshared(value)
        if self._is_hidden(layer, value):
            object.__setattr__(clone, name, counterpart)
            return
        with contextlib.suppress(ReferenceError):  # Of a proxy without its object.
            self.set_attribute(clone, name, new, counterpart)

    def _is_hidden(self, layer, value):
        """Returns whether a layer does not track what its attribute holds, because a
        user has set it in a way that Keras does not see."""
        tracked = self.tracked(layer)
        held = self._layers_and_state(value) if tracked is not None else []
        return bool(held) and tracked.isdisjoint(map(id, held))

    def _is_other_attribute(self, value, new):
        """Returns whether a new layer has another value than the user has given it.

        The layers and the state in the values are compared by `_are_pairs`.
        """
        if value is new:
            return False
        if new is MISSING or new is None:
            return value is not None or new is MISSING
        with contextlib.suppress(Exception):  # Of a class of the user.
            if is_plain(value) or self.is_array(value):
                is_known = (is_plain(new) or self.is_array(new) or
                            isinstance(new, FUNCTIONS))
                return is_known and is_other_data(value, new)
            if isinstance(value, CONTAINERS) and isinstance(new, CONTAINERS):
                return len(unwrapped(value)) != len(unwrapped(new))
            if isinstance(value, FUNCTIONS):
                return is_other_function(value, new)
            if isinstance(value, (type, types.BuiltinFunctionType)):
                return value.__qualname__ != getattr(new, '__qualname__', None)
            if self.is_tensor(value):  # What the constructor computes is its own.
                return not self.is_tensor(new)
            return type(value) is not type(new) and not self._is_replaced(value)
        return False

    def _match_objects(self, value, new, known=None, depth=0):
        """Sets the numbers, arrays and functions in which an object or a container
        that a layer holds differs from the one that its clone has created.

        # Arguments
            known: None or a dict in the format of `FirstCall.objects`: no other
                objects are compared, and theirs are the attributes in it.
        """
        if type(value) is not type(new) or value is new or depth > 8:
            return
        is_container = issubclass(type(unwrapped(value)), CONTAINERS)
        if is_container:
            held, current = _items_of(value), _items_of(new)
            if is_plain(value) or len(held) != len(current):
                return
            set_item = functools.partial(_set_item, new)
        elif (known is None or id(value) in known) and not (
                issubclass(type(value), FUNCTIONS) or is_opaque(value) or
                self._is_replaced(value)):
            current = dict(attributes_of(new))
            held = (dict(attributes_of(value)) if known is None else
                    known[id(value)][1])
            set_item = functools.partial(object.__setattr__, new)
        else:
            return
        for key, old in held.items():
            other = current.get(key, MISSING)
            if other is MISSING and is_container:
                continue  # The keys are specific to the layer, e.g. its parts.
            is_function = issubclass(type(old), FUNCTIONS)
            is_value = type(old) in NUMBERS or self.is_array(old) or is_function
            if not (is_value or other is MISSING):
                self._match_objects(old, other, known, depth + 1)
                continue
            is_other = (is_other_function(old, other) if is_function else
                        not are_equal(old, other))
            if is_other and not self.is_call_result(old):
                with contextlib.suppress(CannotCopy):
                    set_item(key, self.unshared(old))

    def _is_settled(self, layer, clone):
        """Returns whether a clone has all that it will create itself."""
        is_built = clone.built if getattr(layer, 'built', False) else True
        first, new = first_call_of(layer), first_call_of(clone)
        return is_built and (first is None or bool(new and new.changes))

    def settle(self):
        """Matches what `build` has created in the clones that are built by now."""
        waiting, self._unsettled = self._unsettled, []
        for layer, clone in waiting:
            if self._is_settled(layer, clone):
                self._match(layer, clone)
            else:
                self._unsettled.append((layer, clone))

    def _are_pairs(self, old, made):
        """Pairs layers and state by position; returns whether all are pairs."""
        if old:
            self.settle()  # They may be those of layers that are built.
        are_pairs = all([*map(self.is_pair, old, made)]) if old and made else True
        return are_pairs and len(old) == len(made)

    def is_pair(self, value, other):
        """Pairs a layer or state with a counterpart, if neither has another one;
        returns whether they are a pair."""
        is_layer = self.is_layer(value)
        known = self.layer_map if is_layer else self.state_map
        is_free = (id(value) not in known and other is not value and
                   id(value) not in self._pending and id(other) not in self._clones
                   and id(other) not in self._counterparts)
        if is_layer:  # It must not be a layer that existed before.
            is_free &= number_of(other, self._start) >= self._start
        if is_free and is_layer and self._can_be_clone_of(value, other):
            # What is set on a layer that is built already has no effect.
            if not (getattr(other, 'built', False) and
                    self._settings.changes_of(value, other)):
                self.adopt(value, other)
        elif is_free and not is_layer and type(value) is type(other):
            self._pair(value, other)
        is_pair = known.get(id(value)) is other
        if is_pair and is_layer:
            self.set_flags(value, other)  # A wrapper's constructor may change them.
        return is_pair

    def _can_be_clone_of(self, layer, candidate):
        if type(layer) is not type(candidate) or not self.is_graph(layer):
            return type(layer) is type(candidate)
        layers = [] if id(layer) in self._empty else layer.layers
        return [*map(type, layers)] == [*map(type, candidate.layers)]

    def _held_by(self, layer):
        """Returns the attributes of an original layer, as a list of tuples (name,
        value, whether it holds anything that is replaced, the layers and the state
        that it holds)."""
        if id(layer) not in self._held:
            self._held[id(layer)] = held = []
            for name, value in self.attributes(layer).items():
                reaches = self._walk.reaches(value)
                held.append((name, value, reaches,
                             self._layers_and_state(value) if reaches else []))
        return self._held[id(layer)]

    def _layers_and_state(self, value, known=()):
        """As `_replaced_in`, without tensors and objects that are renewed."""
        return [each for each in self._replaced_in(value, known)
                if self._kind(each) in ('layer', 'state')]

    def _replaced_in(self, value, known=()):
        """Returns what a value holds that is replaced by a counterpart, itself
        included, in order. The search does not enter it.

        # Arguments
            known: a dict in the format of `FirstCall.objects`.
        """
        found, seen, waiting = [], {}, [value]
        while waiting:
            each = waiting.pop()
            if type(each) in ATOMS or id(each) in seen:
                continue
            seen[id(each)] = each  # Keeps it alive: ids must not be reused.
            if self._kind(each):
                found.append(each)
            elif id(each) in known:
                waiting += reversed([*known[id(each)][1].values()])
            elif not self._walk.is_known_without(each):
                waiting += reversed(_in_order(each))
        return found

    # State

    def state(self, value):
        """Returns the counterpart of a variable or other state."""
        if id(value) not in self.state_map:
            owner = self._owner(value)
            if owner is not None:
                clone = self.layer(owner)
                if id(owner) not in self._searched:
                    self._searched.add(id(owner))
                    self.build(owner, clone)
                    self._match(owner, clone)
                    self._searched.discard(id(owner))
                self._pair_state(owner, clone)
        if id(value) not in self.state_map:
            self._pair(value, self.new_state(value))
        return self.state_map[id(value)]

    def _pair(self, value, counterpart):
        self.state_map[id(value)] = counterpart
        self.state_pairs.append((value, counterpart))
        self._counterparts.add(id(counterpart))

    def _owner(self, value):
        """Returns the layer that has created a variable or other state, or None.

        A layer that is being created has not created what it is passed.
        """
        if not self._owners:
            for layer in self.layers_within(self.model):
                for each in self.own_state(layer):
                    self._owners.setdefault(id(each), []).append(layer)
        owners = self._owners.get(id(value)) or [
            layer for layer, _ in self.pairs
            if any(each is value for each in self.own_state(layer))]
        return next(
            (layer for layer in owners if id(layer) not in self._pending), None)

    def _pair_state(self, layer, clone):
        """Pairs, by position, the variables that no attribute has paired."""
        old, new = self.own_state(layer), self.own_state(clone)
        if len(old) == len(new):
            for value, counterpart in zip(old, new):
                if (id(value) not in self.state_map and counterpart is not value and
                        id(counterpart) not in self._counterparts):
                    self._pair(value, counterpart)

    def ids_of_states(self):
        """Returns the ids of the variables of stateful clones that are no weights:
        their states, which begin anew."""
        states = set()
        for layer, _ in self.pairs:
            if getattr(layer, 'stateful', False):
                weights = set(map(id, self.own_state(layer)))
                states.update(
                    id(self.state_map.get(id(each)))
                    for value in self.attributes(layer).values()
                    for each in self._layers_and_state(value)
                    if id(each) not in weights)
        return states

    # Replacements

    def value(self, value):
        """Returns the clone's counterpart of an attribute or an argument.

        This is the same object if it holds no layer, state or tensor of the model.
        """
        return self._walk.map(value)

    def unshared(self, value):
        """Returns the counterpart of a value; a container or an array is not the
        same object."""
        if self.is_array(value):
            return copy.copy(value)
        new, held = self.value(value), unwrapped(value)
        if new is not value or not issubclass(type(held), CONTAINERS):
            return new
        try:
            if holds_atoms(held):
                items = held
            elif isinstance(held, dict):
                items = {key: self.unshared(each) for key, each in held.items()}
            else:
                items = [self.unshared(each) for each in held]
        except RecursionError as error:
            raise cannot_copy(value, error)
        return container_like(value, items)

    parts_of = staticmethod(parts_of)

    def is_array(self, value):
        """Returns whether a value is an array of numbers, not a symbolic tensor."""
        return issubclass(type(value), (np.ndarray, np.generic))

    def is_call_result(self, value):
        """Returns whether a value is, or contains, a tensor that a call of the layer
        stored, as the next call will do again."""
        return any(self._kind(each) == 'tensor' and not self.has_clone(each)
                   for each in objects_in(value))

    def _kind(self, value):
        """Returns what a value is that is replaced by a counterpart: 'layer',
        'state', 'tensor' or 'renewed'; None for all else."""
        cls = type(value)
        if cls not in self._kinds:
            kinds = {'layer': self.is_layer, 'state': self.is_state,
                     'tensor': self.is_tensor, 'renewed': self.is_renewed}
            self._kinds[cls] = None
            with contextlib.suppress(Exception):  # Of a class of the user.
                if cls not in weakref.ProxyTypes:  # Its object may be gone.
                    self._kinds[cls] = next((
                        kind for kind, is_of_kind in kinds.items()
                        if is_of_kind(value)), None)
        return self._kinds[cls]

    def is_renewed(self, value):
        return issubclass(type(value), self.renewed_class)

    def _is_replaced(self, value):
        return bool(self._kind(value)) or id(value) in self._functions

    def _is_copied(self, value):
        return (issubclass(type(value), self.copied_classes) and
                type(value).__new__ is object.__new__)

    def _replacement(self, value):
        if self.is_tensor(value):
            return self.tensor(value)
        if id(value) in self._functions:
            return self._functions[id(value)][1]
        if self.is_layer(value) and number_of(value, 0) > self._start:
            return value  # The constructor of a clone has put it there.
        if self.is_renewed(value):
            with contextlib.suppress(Exception):
                return type(value).from_config(value.get_config())
            return value
        if id(value) not in self.layer_map and id(value) not in self.state_map:
            self.settle()  # It may be a layer that another has created.
        if not self.is_layer(value):
            return self.state(value)
        clone = self.layer(value)
        if self.number_of_build(value) < self._replayed_number:
            self.build(value, clone)  # The constructor may use its weights.
        return clone


def _takes(layer, args, kwargs):
    """Returns whether a layer can be called with certain arguments."""
    try:
        inspect.signature(type(layer).__call__).bind(layer, *args, **kwargs)
    except ValueError:  # Its signature is not known.
        return True
    except TypeError:
        return False
    return True


def _constructed(layer, args, kwargs):
    """Returns a new layer, constructed in the state of Keras of the original."""
    with in_global_state_of(record_of(layer)):
        # From copies: the constructor may change containers.
        return type(layer)(*copied(args), **copied(kwargs))


def _with_changed(cls, args, kwargs, changed):
    """Returns the arguments of a constructor, with other values for some of them."""
    defaults, takes_any = parameters_of(cls)
    names = [*defaults]
    passed = [changed.get(name, value) for name, value in zip(names, args)]
    others = {name: value for name, value in changed.items()
              if name in names[len(args):] or takes_any and name not in names}
    return (*passed, *args[len(names):]), {**kwargs, **others}


def _first_name(layer):
    """Returns the name that a layer had when it was first called."""
    first = first_call_of(layer)
    return getattr(layer, 'name', None) if first is None else first.name


def _set_name(layer, clone):
    if 'name' in vars(layer):
        vars(clone)['name'] = layer.name


def refusal(layer, reason):
    return ValueError("Cannot clone layer '{}' of class `{}`: {}.".format(
        layer.name, type(layer).__name__, reason))


def _is_empty(value):
    return value is None or issubclass(type(value), CONTAINERS) and not value


def _items_of(container):
    """Returns the items of a container as a dict; none if its class, one of the
    user, raises an error."""
    with contextlib.suppress(Exception):
        if isinstance(container, dict):
            return {**container}
        return dict(enumerate(_in_order(container)))
    return {}


def _own_attributes(value, attributes):
    """Returns attributes that an object had, with copies of containers and arrays
    that are not those that it has now: a clone may change them."""
    current = dict(attributes_of(value))
    return {name: held if held is current.get(name) else copied(held, own_array)
            for name, held in attributes.items()}


def _set_item(container, key, value):
    with contextlib.suppress(Exception):  # Its class may not allow that.
        container[key] = value


def _in_order(value):
    """Returns the parts of an object; those of a set by their generated names."""
    parts = parts_of(value)
    if issubclass(type(value), (set, frozenset)):
        names = [str(getattr(each, 'name', '')) for each in parts]
        order = sorted(range(len(parts)), key=lambda i: (len(names[i]), names[i]))
        parts = [parts[i] for i in order]
    return parts


def _summary(error):
    """Returns the first paragraph of what an error says."""
    text = ' '.join(str(error).strip().partition('\n\n')[0].split())
    name = [] if isinstance(error, NotKnown) else [type(error).__name__]
    return ': '.join(name + [textwrap.shorten(text, 300)] * bool(text))
