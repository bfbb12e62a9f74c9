"""What a user has changed of the settings of layers since they were created.

A setting is what the constructor of a layer takes, or what its config contains.
"""
import contextlib

from keras_clone.comparison import MISSING
from keras_clone.comparison import are_equal
from keras_clone.containers import ATOMS
from keras_clone.containers import is_plain
from keras_clone.functions import FUNCTIONS
from keras_clone.history import first_call_of
from keras_clone.recording import NotKnown
from keras_clone.recording import arguments_of
from keras_clone.recording import is_of_keras
from keras_clone.recording import parameters_of

# Keys of configs that are no arguments, and arguments that are copied as flags.
_NO_SETTINGS = frozenset(['name', 'trainable', 'build_config', 'shared_object_id'])


class Settings:
    """The settings of the layers of a model, and of their clones.

    # Arguments
        cloner: the `Cloner` of the model.
    """

    def __init__(self, cloner):
        self._cloner = cloner
        self._changes = {}  # {id of a clone: (clone, names of changed settings)}.
        self._configs = {}  # {id of a layer: see `config_of`}.

    def changes_of(self, layer, clone):
        """Returns the names of the settings in which a new layer differed from what
        the user has left."""
        if id(clone) not in self._changes:
            left, new, changed = self.left_by_user(layer), vars(clone), set()
            for name in self.names_of(layer):
                value = setting_of(layer, left, name)
                other = setting_of(clone, new, name)
                if value is not MISSING and self.is_other(value, other):
                    changed.add(name)
            self._changes[id(clone)] = clone, changed
        return self._changes[id(clone)][1]

    def names_of(self, layer):
        """Returns the names of what a constructor takes, or its config contains."""
        if self._cloner.is_graph(layer):
            return set()
        arguments = {*parameters_of(type(layer))[0]}
        return (arguments | {*(self.config_of(layer) or ())}) - _NO_SETTINGS

    def config_of(self, layer):
        """Returns the config that a layer had when `left_by_user`, as far as is
        known; None if it is not needed.

        A key that has the value of the attribute of its name had it then as well.
        """
        if id(layer) not in self._configs:
            self._configs[id(layer)] = None
            with contextlib.suppress(Exception):
                if not (self._cloner.is_graph(layer) or
                        self._keeps_arguments(layer)):
                    config, held = layer.get_config(), vars(layer)
                    left = self.left_by_user(layer)
                    self._configs[id(layer)] = {
                        name: left[name] if name in held and
                        left[name] is not held[name] and
                        are_equal(value, held[name]) else value
                        for name, value in config.items()}
        return self._configs[id(layer)]

    def _keeps_arguments(self, layer):
        """Returns whether a layer has an attribute for each argument, so that its
        config tells no more than its attributes."""
        return is_of_keras(type(layer)) and all(
            name in vars(layer) or name in _NO_SETTINGS
            for name in parameters_of(type(layer))[0])

    def current(self, layer, names, config):
        """Returns the values of settings that a constructor can be called with.

        # Returns
            A dict {name: value}. Functions and objects are not those in the config:
            this has only their names. What holds layers is left out: their clones
            would stay the clones, even if the new layer is not used.
        """
        current = {}
        for name in names:
            value = self.left_by_user(layer).get(name, MISSING)
            if is_plain(value) or value is MISSING:
                value = config.get(name, value)
            if value is not MISSING and not self._cloner.corresponds_later(value):
                current[name] = self._cloner.unshared(value)
        return current

    def changed_data(self, layer, config):
        """Returns the arguments that are other plain data in the config, of the same
        type, as a dict {name: value}."""
        # The `get_config` that Keras 3 marks returns what Keras itself has kept: the
        # arguments or, of a model, their defaults.
        if config is None or getattr(type(layer).get_config, '_is_default', False):
            return {}
        with contextlib.suppress(NotKnown):
            arguments, (passed, _) = arguments_of(layer), parameters_of(type(layer))
            passed = {**passed, **dict(zip(passed, arguments.args)),
                      **arguments.kwargs}
            left = self.left_by_user(layer)
            return {name: config[name] for name, value in passed.items()
                    if type(value) in ATOMS and name not in _NO_SETTINGS and
                    type(config.get(name, MISSING)) is type(value) and
                    not are_equal(config[name], value) and
                    not are_equal(left.get(name, MISSING), value)}
        return {}

    def left_by_user(self, layer):
        """Returns the attributes of a layer as the user has left them, as far as is
        known, as a dict: without what its first call has changed or, if its clone
        computes with what it holds when it is called, as they were before that call.
        """
        first = first_call_of(layer)
        if first is None or self._cloner.computes_anew or is_of_keras(type(layer)):
            return {**vars(layer), **self._changed_by_call(layer)}
        return {**vars(layer), **first.existing()[0]}

    def _changed_by_call(self, layer):
        """Returns the attributes that the first call of a layer, or of one that
        holds it, has changed, and the user has not, as they were before it."""
        first, held = first_call_of(layer), vars(layer)
        changed = first.changed if first else {}
        former = first.existing()[0] if changed else {}
        return {name: former[name] for name, value in changed.items()
                if name in former and name in held and
                are_equal(held[name], value)}

    def differing_from(self, config, clone):
        """Returns the keys of a config in which that of a new layer differs: all if
        it has none, no keys if it is not known."""
        if config is None:
            return set()
        try:
            new = clone.get_config()
            differing = self._differing_keys(config, new)
            if differing:  # Some differ whenever they are asked for.
                differing -= self._differing_keys(new, clone.get_config())
            return differing
        except Exception:
            return {*config} - _NO_SETTINGS

    def _differing_keys(self, config, other):
        return {key for key in {*config, *other} - _NO_SETTINGS
                if self.is_other(config.get(key, MISSING), other.get(key, MISSING))}

    def is_other(self, value, other):
        """Returns whether two settings differ, as far as is known."""
        if value is other:
            return False
        if type(value) in ATOMS or self._cloner.is_array(value):
            return not are_equal(value, other)
        if is_plain(value) and type(value) is type(other) and value == other:
            return False
        if self._cloner.corresponds_later(value):
            return False
        if isinstance(value, dict) and isinstance(other, dict):
            config = value.get('config')
            if isinstance(config, dict) and 'name' in config:  # Of a layer.
                return value.get('class_name') != other.get('class_name')
            return bool(self._differing_keys(value, other))
        if isinstance(value, (list, tuple)) and isinstance(other, (list, tuple)):
            return len(value) != len(other) or any(
                map(self.is_other, value, other))
        if isinstance(value, FUNCTIONS) or isinstance(other, FUNCTIONS):
            return value != other and self._cloner.value(value) != other
        if type(value) is not type(other):
            return not are_equal(value, other)
        with contextlib.suppress(Exception):  # It may have none.
            return self.is_other(value.get_config(), other.get_config())
        return not are_equal(value, other) and is_plain(value)


def setting_of(layer, held, name):
    """Returns a setting that is kept as an attribute, or is a property.

    # Arguments
        held: dict {name: value}, the attributes of the layer, now or before.
    """
    if name in held or not isinstance(getattr(type(layer), name, None), property):
        return held.get(name, MISSING)
    with contextlib.suppress(Exception):  # It may exist only once it is built.
        return getattr(layer, name)
    return MISSING
