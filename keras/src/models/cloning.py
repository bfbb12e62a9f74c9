"""Changes to `keras.src.models.cloning` of Keras 3.

Executed in the namespace of the released module, right after it.

`clone_model` passes the model to a `_Cloner`, which runs the model's graph with new
layers. `keras_clone.cloner` describes how a new layer is created.
"""
import collections
import contextlib
import copy
import functools
import itertools
import os
import tempfile
import types
import weakref

import numpy as np

from keras_clone.call_order import in_call_order
from keras_clone.cloner import Cloner
from keras_clone.containers import CannotCopy
from keras_clone.containers import objects_in
from keras_clone.global_state import GLOBAL_STATE
from keras_clone.global_state import global_state
from keras_clone.global_state import in_global_state_of
from keras_clone.global_state import setting
from keras_clone.history import History
from keras_clone.history import calls
from keras_clone.recording import RECORD
from keras_clone.recording import call_numbers
from keras_clone.recording import own_record
from keras_clone.recording import record
from keras_clone.recording import record_of
from keras_clone.recording import uses_method_of_keras
from keras_clone.walk import attributes_of
from keras_clone.walk import is_opaque
from keras_clone.walk import parts_of

from keras.src import backend
from keras.src import ops
from keras.src import tree
from keras.src.api_export import keras_export
from keras.src.backend import Variable
from keras.src.backend.common.global_state import get_global_attribute
from keras.src.backend.common.global_state import set_global_attribute
from keras.src.backend.common.name_scope import current_path
from keras.src.callbacks import Callback
from keras.src.constraints import Constraint
from keras.src.dtype_policies import DTypePolicyMap
from keras.src.initializers import Initializer
from keras.src.layers import Identity
from keras.src.layers import Input
from keras.src.layers import InputLayer
from keras.src.layers import Layer
from keras.src.losses import Loss
from keras.src.metrics import Metric
from keras.src.models.functional import Functional
from keras.src.models.functional import functional_like_constructor
from keras.src.models.model import Model
from keras.src.models.sequential import Sequential
from keras.src.ops.function import Function
from keras.src.ops.operation import Operation
from keras.src.optimizers.base_optimizer import BaseOptimizer
from keras.src.optimizers.optimizer import BackendOptimizer
from keras.src.optimizers.schedules.learning_rate_schedule import (
    LearningRateSchedule,
)
from keras.src.random.seed_generator import SeedGenerator
from keras.src.regularizers import Regularizer
from keras.src.saving import custom_object_scope
from keras.src.saving.object_registration import GLOBAL_CUSTOM_NAMES
from keras.src.utils.module_utils import tensorflow as tf


@keras_export("keras.models.clone_model")
def clone_model(
    model,
    input_tensors=None,
    clone_function=None,
    call_function=None,
    recursive=False,
    **kwargs,
):
    """Clones a model: the same function and graph, with new layers and weights.

    The weights are newly initialized; after
    `clone.set_weights(model.get_weights())`, the clone computes the same outputs
    as the model. The clone of a compiled model is compiled.

    Without a `clone_function`, functions and classes are taken from the layers
    of the model, not deserialized, so they need not be registered or
    importable. This includes `Lambda` layers. A layer that is used in several
    places, also in nested models, is a single layer in the clone.

    Args:
        model: A `Functional` or `Sequential` model, or a model of any class
            that can be created with `from_config(get_config())`.
        input_tensors: None, or the tensors that replace the inputs of the
            model: a `KerasTensor` or `InputLayer`, a list with one of them for
            each entry of `model.inputs`, or the structure of `model.input`. A
            tensor that is the output of a layer other than `InputLayer` is
            replaced by an input of its shape.
        clone_function: None, or a function that takes a layer or operation of
            the model and returns its replacement in the clone. It is not
            called with `InputLayer` objects.
        call_function: None, or a function that is called instead of each new
            layer, with the layer and the arguments of the call, and returns
            the outputs. For `Functional` models only.
        recursive: Boolean, whether `clone_function` and `call_function` are
            applied to the layers of nested models. If False, `clone_function`
            is applied to the nested models themselves.
        **kwargs: `cache`, a dict that maps ids of layers to their clones.
            Its entries are used, and new ones are added.

    Returns:
        A model of the class of `model`; with a `clone_function` or a
        `call_function`, a plain `Functional` or `Sequential` model if the
        constructor of the class creates the layers itself.

    Raises:
        ValueError: If `model` is not a model, if an argument does not match it,
            or if a layer cannot be cloned.

    Example:

    ```python
    x = keras.Input((4,))
    model = keras.Model(x, keras.layers.Lambda(lambda x: 2 * x)(x))
    clone = keras.models.clone_model(model)
    ```
    """
    cache = kwargs.pop("cache", None)
    cache = {} if cache is None else cache
    if kwargs:
        raise ValueError(f"Unexpected keyword argument(s): {tuple(kwargs)}")
    if not isinstance(model, Layer):
        raise ValueError(
            "Expected `model` argument to be a `Model` instance. Received: "
            f"model={model} (of type '{type(model).__name__}')"
        )
    _check_function("clone_function", clone_function)
    _check_function("call_function", call_function)
    if call_function is not None and not isinstance(model, Functional):
        raise ValueError(
            "`call_function` argument is not supported with Sequential models "
            "or subclassed ones: only Functional models are built by calling "
            f"layers. Received: model '{model.name}' of type "
            f"'{type(model).__name__}', call_function={call_function}"
        )
    graph = isinstance(model, (Functional, Sequential))
    if not graph and (clone_function or input_tensors is not None):
        raise ValueError(
            "Arguments `clone_function` and `input_tensors` are only supported "
            "for Sequential and Functional models. Received: model "
            f"'{model.name}' of type '{type(model).__name__}', "
            f"clone_function={clone_function}, input_tensors={input_tensors}"
        )

    cloner = _Cloner(model, clone_function, call_function, recursive, dict(cache))
    with calls:  # Clones that are built early are called later.
        clone = cloner.clone(input_tensors)
        cloner.finish()
    if cloner.has_same_shapes:
        cloner.check()
    cloner.copy_unreachable_values(clone)
    cloner.compile_all()
    cloner.keep_numbers()
    cache.update(cloner.layer_map)
    return clone


def _takes_layers(cls, base):
    """Returns whether a subclass of `base` is created from layers or tensors."""
    if base is Functional:
        return functional_like_constructor(cls)
    return cls.__init__ is base.__init__


def _check_function(name, value):
    if not (value is None or callable(value)):
        raise ValueError(
            f"Expected `{name}` argument to be None or a function. Received: "
            f"{name}={value!r} (of type '{type(value).__name__}')"
        )


class _Cloner(Cloner):
    """Maps the layers and the state of a model to those of its clone.

    Args:
        model: The model to clone.
        clone_function: As for `clone_model`.
        call_function: As for `clone_model`.
        recursive: As for `clone_model`.
        layer_map: None or a dict {id of a layer: its clone}.

    Attributes:
        has_same_shapes: Whether layers are called with tensors of the shapes of
            the original.
    """

    def __init__(
        self,
        model,
        clone_function=None,
        call_function=None,
        recursive=False,
        layer_map=None,
    ):
        super().__init__(model, layer_map)
        self.clone_function = clone_function
        self.call_function = call_function
        self.recursive = recursive
        self._tensors = {}
        self._path_of_caller = current_path()
        self._owned = None
        self.has_same_shapes = clone_function is None and call_function is None

    def clone(self, input_tensors=None):
        """Returns the clone of the model, on the given input tensors or new ones."""
        self.has_same_shapes &= input_tensors is None
        self._pending.add(id(self.model))
        with self.naming(self.model):
            clone = self._model(self.model, input_tensors, self.call_function)
            self._pending.clear()
            super().adopt(self.model, clone)
        return clone

    def is_layer(self, value):
        return issubclass(type(value), Operation)

    def is_state(self, value):
        return isinstance(value, _STATE) or _is_backend_variable(value)

    def is_tensor(self, value):
        return isinstance(value, backend.KerasTensor) or _is_symbolic(type(value))

    def has_clone(self, x):
        return id(x) in self._tensors

    def is_array(self, value):
        return super().is_array(value) or (
            is_opaque(value)  # Others may run code of the user.
            and type(value) not in weakref.ProxyTypes
            and hasattr(type(value), "dtype")  # `is_tensor` takes longer.
            and ops.is_tensor(value)
            and not self.is_state(value)
            and not self.is_tensor(value)
        )

    def layers_within(self, model):
        return model._flatten_layers()

    def parts_of(self, value):
        """Returns what a value holds. A registered function is part of the program,
        not of the model, unless it uses layers or variables of the model."""
        is_registered = (
            issubclass(type(value), types.FunctionType)
            and value in GLOBAL_CUSTOM_NAMES
        )
        if is_registered and not self._is_owned(self._layers_and_state(value)):
            return []
        return parts_of(value)

    def _is_owned(self, held):
        """Returns whether layers or variables of the model are among `held`."""
        if self._owned is None:
            layers = self.layers_within(self.model)
            state = [each for layer in layers for each in self.own_state(layer)]
            self._owned = {*map(id, layers), *map(id, state)}
        return any(id(each) in self._owned for each in held)

    def own_state(self, layer):
        if not isinstance(layer, Layer):
            return []
        return (
            layer._trainable_variables
            + layer._non_trainable_variables
            + layer._seed_generators
        )

    def tensor(self, x):
        """Returns the clone of a tensor; `x` itself if no layer has computed it."""
        history = getattr(x, "_keras_history", None)
        if id(x) not in self._tensors and history and history.operation:
            node = history.operation._inbound_nodes[history.node_index]
            for each in () if node.is_input else node.arguments.keras_tensors:
                self.tensor(each)
            self._run(node, self._tensors)
        return self._tensors.get(id(x), x)

    def new_state(self, value):
        if isinstance(value, SeedGenerator):
            return type(value).from_config(value.get_config())
        if isinstance(value, (Metric, BaseOptimizer)):
            return self.created(value)
        if not isinstance(value, Variable):
            return copy.deepcopy(value)
        variable = backend.Variable(
            _array(value),
            dtype=value.dtype,
            trainable=value.trainable,
            autocast=value._autocast,
            aggregation=value.aggregation,
            name=value.name,
        )
        variable._path = value.path
        variable.regularizer = self.value(value.regularizer)
        variable.constraint = self.value(value.constraint)
        return variable

    def signature(self, value):
        if not isinstance(value, Variable):
            return type(value).__name__
        return tuple(value.shape), value.dtype, value.trainable

    renewed_class = Initializer  # It may have a seed of its own.
    copied_classes = Regularizer, Constraint, Loss, LearningRateSchedule
    computes_anew = True

    def is_graph(self, layer):
        return isinstance(layer, (Functional, Sequential))

    custom_object_scope = staticmethod(custom_object_scope)

    def attributes(self, layer):
        return _attributes(layer)

    def set_attribute(self, layer, name, old, value):
        if not isinstance(layer, Layer):
            setattr(layer, name, value)
            return
        tracker = layer._tracker
        is_locked, tracker.locked = tracker.locked, False
        try:
            setattr(layer, name, value)
        finally:
            tracker.locked = is_locked
        lost = self._layers_and_state(old)
        held = {id(each) for value in self.attributes(layer).values() if lost
                for each in self._layers_and_state(value)}
        for each in lost:
            if id(each) not in held:
                tracker.untrack(each)

    def tracked(self, layer):
        """Returns the ids of all that a layer tracks; None if it tracks nothing."""
        if not isinstance(layer, Layer):
            return None
        return set().union(*layer._tracker.stored_ids.values())

    def set_flags(self, layer, clone):
        mode = getattr(layer, "_remat_mode", None)  # Not all operations have it.
        if mode and not clone._remat_mode:  # A scope that is active now may set it.
            clone._remat_mode = mode
        if isinstance(layer, Layer):  # `trainable` is set when it is built.
            self._set_dtype_policy(layer, clone)
            self._set_parent_path(layer, clone)
            for name in _SETTINGS & vars(layer).keys():
                if getattr(clone, name, None) != getattr(layer, name):
                    setattr(clone, name, copy.copy(getattr(layer, name)))

    def _set_parent_path(self, layer, clone):
        """Sets the path that the paths of a clone's weights begin with."""
        path, outer = layer._parent_path, self._path_of_caller
        if path is not None:
            if not f"{path}/".startswith(f"{outer}/"):
                path = "/".join(filter(None, [outer, path]))
            clone._parent_path = path

    def _set_dtype_policy(self, layer, clone):
        policy, current = layer.dtype_policy, clone.dtype_policy
        if isinstance(policy, DTypePolicyMap) or isinstance(current, DTypePolicyMap):
            # The property would add an entry to the map.
            clone._dtype_policy = self.value(policy)
        elif current != policy:
            clone.dtype_policy = policy

    def adopt(self, layer, clone):
        if self._uses_clone_function(layer):
            self.layer_map[id(layer)] = clone
            return
        super().adopt(layer, clone)
        if hasattr(layer, "adapt") and layer.built and type(clone) is type(layer):
            self.build(layer, clone)
            try:
                _copy_adapted_state(layer, clone)
            except Exception as error:
                raise CannotCopy(
                    "it was adapted, and this release of Keras cannot load the "
                    f"state that it saves ({type(error).__name__}: {error})"
                ) from error
        self._adopt_layers(layer, clone, "layers")

    def _adopt_layers(self, layer, clone, name):
        if self.is_graph(layer) and type(clone) is type(layer):
            for old, new in zip(getattr(layer, name), getattr(clone, name)):
                if id(old) not in self.layer_map:
                    self.adopt(old, new)

    def build(self, layer, clone, is_called=True):
        if not isinstance(layer, Layer) or self._uses_clone_function(layer):
            return
        if self.is_graph(layer) and clone.built:
            return
        is_own = _overrides_build(layer) or not is_called
        config = layer.get_build_config() if is_own and layer.built else None
        if config and not clone.built:
            self._pair_built_earlier(layer, clone)
            same_state = in_global_state_of(record_of(layer), "state_at_build")
            with same_state, clone._open_name_scope():
                _history.before_call(clone)
                with self.naming_build_errors(layer):
                    clone.build_from_config(config)
            clone.built = True
        for each in layer._layers:  # Those that `build` has not built.
            if id(each) in self.layer_map:
                self.build(each, self.layer_map[id(each)], is_called)

    def _pair_built_earlier(self, layer, clone):
        """Pairs the sublayers that were built before the layer, as those of a
        loaded layer are: the paths of their weights do not contain its own."""
        scope = f"{layer.path}/"
        earlier = {
            id(each)
            for each in layer._layers
            if not (each.path or scope).startswith(scope)
        }
        current = self.attributes(clone) if earlier else {}
        for name, _, _, old in self._held_by(layer) if earlier else ():
            if not earlier.isdisjoint(map(id, old)):
                self._are_pairs(old, self._layers_and_state(current.get(name)))

    def new_layer(self, layer):
        if isinstance(layer, InputLayer):
            return _input_like(layer.output)._keras_history.operation
        if self._uses_clone_function(layer):
            clone = self.clone_function(layer)
            if not callable(clone):
                raise ValueError(
                    "Expected `clone_function` argument to return a layer for "
                    f"layer '{layer.name}'. Received: {clone!r} (of type "
                    f"'{type(clone).__name__}')"
                )
            return clone
        if self.is_graph(layer):
            return self._model(
                layer, call_function=self.call_function if self.recursive else None
            )
        if isinstance(layer, Function):
            return self._function(layer)
        return self.created(layer)

    def _uses_clone_function(self, layer):
        """Returns whether `clone_function` is called with a layer."""
        return (
            self.clone_function is not None
            and not isinstance(layer, InputLayer)
            and not (self.recursive and self.is_graph(layer))
        )

    def finish(self):
        for model, _ in self.pairs:  # The list may grow in the loop.
            if getattr(model, "compiled", False):
                self._compile_arguments(model)  # Losses may hold layers.
        super().finish()

    def finish_layer(self, layer, clone):
        if not isinstance(layer, Layer):
            return
        for variable in layer._trainable_variables + layer._non_trainable_variables:
            new = self.state_map.get(id(variable))
            if new is not None:
                self._match_settings(variable, new)
        # Only what differs is set: Keras tracks attributes, which takes time.
        if clone._trainable != layer._trainable:
            clone._trainable = layer._trainable
        if layer.built and not clone.built:
            clone.built = True
        shapes = layer._build_shapes_dict
        if self.has_same_shapes and shapes and clone._build_shapes_dict != shapes:
            # A shared layer may have been built by another of its calls.
            clone._build_shapes_dict = dict(shapes)
        self._match_order(layer, clone)
        if hasattr(clone, "_torch_params"):
            clone._track_variables()  # Some may have been replaced.
        if layer is not self.model:  # Whose input layers may be the user's.
            # A `Sequential` has its input layer when it is built.
            self._adopt_layers(layer, clone, "_layers")

    def _match_settings(self, variable, new):
        """Copies what users may set on the variables of a layer that is built."""
        new.trainable = variable.trainable
        for name in ("regularizer", "constraint"):
            if getattr(new, name) is None:
                setattr(new, name, self.value(getattr(variable, name)))

    def _match_order(self, layer, clone):
        """Sorts the variables and sublayers of a clone as in the original."""
        old, new = [
            {name: tracked for name, (_, tracked) in each._tracker.config.items()}
            for each in (layer, clone)
        ]
        for name, tracked in old.items():
            mapped = [
                self.layer_map.get(id(each), self.state_map.get(id(each)))
                for each in tracked
            ]
            # What was replaced is still tracked by the original, and has a
            # counterpart if another layer uses it.
            old[name] = [each for each in mapped if each is not None]
        ids = [
            {*map(id, itertools.chain(*each.values()))} for each in (old, new)
        ]
        # A `call_function` may leave layers of a model out.
        if ids[0] == ids[1] or ids[0] > ids[1] and not self.call_function:
            for name, tracked in new.items():
                tracked[:] = old[name]
                clone._tracker.stored_ids[name] = {*map(id, tracked)}

    def copy_unreachable_values(self, clone):
        """Copies the values that `clone.set_weights` does not set: of layers that
        only a function refers to, and of variables that are not weights.

        The states of a stateful layer begin anew.
        """
        left_out = set(map(id, clone.weights)) | self.ids_of_states()
        for old, new in self.state_pairs:
            is_variable = isinstance(old, Variable) or _is_backend_variable(old)
            if is_variable and id(new) not in left_out and new.shape == old.shape:
                new.assign(old)

    def _model(self, model, input_tensors=None, call_function=None):
        if not isinstance(model, Model):
            return self.created(model)
        if isinstance(model, Sequential):
            return self._sequential(model, input_tensors)
        if isinstance(model, Functional):
            return self._functional(model, input_tensors, call_function)
        return self.created(model)

    def compile_all(self):
        """Compiles clones with the arguments that the models were compiled with."""
        for layer, clone in self.pairs:
            self._compile(layer, clone)

    def _compile(self, model, clone):
        if not getattr(model, "compiled", False) or clone.compiled:
            return
        arguments = self._compile_arguments(model)
        if arguments is None:
            clone.compile_from_config(model.get_compile_config())
            return
        optimizer = self.value(model.optimizer)
        # These are the arguments of Keras's `compile`: that of a class of the user
        # may take others. What else it sets has been copied as attributes.
        Model.compile(clone, optimizer, **arguments)
        if clone.optimizer is not None and clone.built:
            clone.optimizer.build(clone.trainable_variables)

    def _compile_arguments(self, model):
        """Returns what the clone of a model is compiled with, but for the optimizer;
        None if its class has a config for that."""
        if not hasattr(model, "_compile_config") or any(
            getattr(type(model), name) is not getattr(Model, name)
            for name in ("get_compile_config", "compile_from_config")
        ):
            return None
        arguments = dict(model._compile_config.config)
        del arguments["optimizer"]
        return self.value(arguments)

    def _functional(self, model, input_tensors, call_function):
        if input_tensors is None:
            inputs = tree.map_structure(self._new_input, model.input)
        else:
            inputs = _structured_like(model, input_tensors)
        outputs = self._outputs(model, tree.flatten(inputs), call_function)
        return self._new_model_like(
            model, Functional, inputs, outputs, call_function=call_function
        )

    def _outputs(self, function, inputs, call_function=None):
        """Runs the graph of a `Function` with new operations.

        A tensor that is in the graphs of several models is computed only once, if
        all of them have the same inputs.
        """
        mapped = dict(zip(map(id, function.inputs), inputs))
        is_common = call_function is None and all(
            self._tensors.get(key, x) is x for key, x in mapped.items()
        )
        tensors = self._tensors if is_common else {}
        tensors.update(mapped)
        for node in _nodes_in_call_order(function):
            self._run(node, tensors, call_function)
        return tree.pack_sequence_as(
            function._outputs_struct, [tensors[id(x)] for x in function.outputs]
        )

    def _run(self, node, tensors, call_function=None):
        """Adds the clones of the outputs of a node to `tensors`."""
        if _are_in(node.outputs, tensors):
            return
        if node.is_input:
            outputs = self._new_input(node.outputs[0])
        else:
            operation = self.layer(node.operation)
            if _are_in(node.outputs, tensors):
                return  # The layer holds what is computed from it.
            args, kwargs = self._call_arguments(node, tensors)
            if self.has_same_shapes:
                # As when a model is loaded: what `build` creates is known then.
                self.build(node.operation, operation)
            if call_function is not None:
                outputs = call_function(operation, *args, **kwargs)
            elif self._uses_clone_function(node.operation):
                outputs = operation(*args, **kwargs)
            else:
                inputs = filter(self.is_tensor, tree.flatten((args, kwargs)))
                outputs = self.called(
                    node.operation, operation, inputs, args, kwargs
                ).outputs
        tensors.update(zip(map(id, node.outputs), tree.flatten(outputs)))

    def _call_arguments(self, node, tensors):
        """Returns the arguments of a call: `tensors` instead of those of the model,
        and the counterparts of variables and of what functions hold."""
        return tree.map_structure(
            lambda value: value if self.is_tensor(value) else self.value(value),
            node.arguments.fill_in(tensors),
        )

    def _new_input(self, x):
        operation = x._keras_history.operation
        if isinstance(operation, InputLayer):
            return self.layer(operation).output
        return _input_like(x)

    def _sequential(self, model, input_tensors):
        layers = [self.layer(layer) for layer in model.layers]
        if self.has_same_shapes:
            for layer, clone in zip(model.layers, layers):
                self.build(layer, clone)
        if input_tensors is not None:
            tensors = [*map(_keras_tensor, tree.flatten(input_tensors))]
            if len(tensors) != 1:
                raise ValueError(
                    "`input_tensors` must contain a single tensor, because model "
                    f"'{model.name}' is Sequential. Received: "
                    f"input_tensors={input_tensors}"
                )
            layers = tensors + layers
        elif len(model._layers) > len(layers):
            layers = [self._new_input(model._layers[0].output)] + layers
        return self._new_model_like(model, Sequential, layers)

    def _new_model_like(self, model, base, *arguments, call_function=None):
        """Returns a new model of the class of `model`.

        The constructor of a subclass is not run; the attributes that it set are
        copied. If a function has changed the layers, the model is of the class
        `base`, unless that of `model` takes them: when the clone is loaded,
        another constructor would create the layers of the original.
        """
        is_changed = self.clone_function is not None or call_function is not None
        is_kept = not is_changed or _takes_layers(type(model), base)
        cls = type(model) if is_kept else base
        clone = cls.__new__(cls)
        base.__init__(clone, *arguments, name=model.name)
        self.layer_map[id(model)] = clone
        return clone

    def _function(self, operation):
        """Returns a new `Function`, on new inputs."""
        inputs = tree.map_structure(
            lambda x: self._new_input(x) if _has_layer(x) else _tensor_like(x),
            operation._inputs_struct,
        )
        outputs = self._outputs(operation, tree.flatten(inputs))
        return Function(inputs, outputs, name=operation.name)


# Attributes that `compile`, `fit` etc. add to a model (`trainers/trainer.py`).
_ADDED_BY_TRAINER = {
    "optimizer", "stop_evaluating", "stop_predicting", "stop_training",
    "_compile_config", "_compiled_trainable_state", "_eval_epoch_iterator",
    "_jax_state", "_obj_reference_counts_dict",
}


# Attributes that Keras sets on each layer, which no config contains, and users may
# set as well.
_SETTINGS = {
    "autocast", "supports_jit",
    "_allow_non_tensor_positional_args", "_call_context_args",
    "_call_has_context_arg", "_convert_input_args", "_supports_masking",
}

# The classes of variables and of what owns some. On the PyTorch backend, this
# includes `torch.nn.Module`, from which `Layer` is derived.
_STATE = (
    Variable, SeedGenerator, Metric, BaseOptimizer, DTypePolicyMap,
    *(base for base in Layer.__mro__ if base.__module__.startswith("torch.")),
)

_KERAS_BASES = (Functional, Sequential, Model, Layer, Function, Operation)


def _counts_of_names():
    """Returns how many names Keras has generated for each prefix: the dict of the
    prefixes, to which others may be added, and a tuple of the counts."""
    counts = get_global_attribute(_COUNTS, {})
    return counts, tuple(counts.values())


@contextlib.contextmanager
def _repeated_names(counts):
    """Context in which the names are generated again that followed `counts`.

    A constructor may have stored the names of its sublayers.
    """
    former = get_global_attribute(_COUNTS)
    set_global_attribute(_COUNTS, collections.defaultdict(int, zip(*counts)))
    try:
        yield
    finally:
        set_global_attribute(_COUNTS, former)


_COUNTS = "object_name_uids"  # Set in `utils/naming.py`.
GLOBAL_STATE[:] = [
    (_counts_of_names, _repeated_names),
    setting(backend.floatx, backend.set_floatx),
    setting(backend.image_data_format, backend.set_image_data_format),
    setting(
        functools.partial(get_global_attribute, "dtype_policy"),
        functools.partial(set_global_attribute, "dtype_policy"),
    ),
]
for _cls in (Operation, Model, Metric, BaseOptimizer):
    record(_cls)
if "__new__" in vars(BackendOptimizer):  # On PyTorch, it drops the arguments.
    record(BackendOptimizer)


def _overrides_build(layer):
    builds = type(layer).build if isinstance(layer, Layer) else Layer.build
    return builds not in (Layer.build, Model.build)


def _is_backend_variable(value):
    """Returns whether a value is a backend variable, not a Keras one."""
    # Not `hasattr(value, ...)`, which may run code of the user.
    return (
        hasattr(type(value), "assign")
        and not isinstance(value, Variable)
        and ops.is_tensor(value)
    )


@functools.lru_cache(maxsize=1024)
def _is_symbolic(cls):
    """Returns whether the tensors of a class of the backend have no value: a call
    within `fit` may have stored such a tensor."""
    names = [
        (str(base.__module__).split(".")[0], base.__name__) for base in cls.__mro__
    ]
    return ("jax", "Tracer") in names or ("tensorflow", "SymbolicTensor") in names


def _attributes(layer):
    """Returns the attributes of a layer that are not set by Keras itself."""
    # On the PyTorch backend, sublayers are stored here.
    found = [*(vars(layer).get("_modules") or {}).items(), *attributes_of(layer)]
    own = _set_by_keras(_keras_base(type(layer)))
    if getattr(layer, "compiled", False):
        own |= _ADDED_BY_TRAINER
    return {
        name: value
        for name, value in found
        if name not in own
        and not (name == "history" and isinstance(value, Callback))
    }


def _attributes_to_keep(layer):
    """Returns what is kept at the first call of a layer; None for a graph network,
    which computes nothing itself, and for layers with a `__call__` of a user."""
    cls = type(layer)  # Of a weak proxy, not that of what it stands for.
    if issubclass(cls, (Functional, Sequential)) or not (
            issubclass(cls, Layer) and uses_method_of_keras(cls, "__call__")):
        return None
    return _attributes(layer)


def _is_called(layer):
    return getattr(layer, "_called", False)


def _has_no_weights(value):
    """Returns whether a value may be kept. A weight that is replaced, e.g. because
    it is quantized, must not be kept alive."""
    return not any(
        isinstance(each, (Variable, Operation)) for each in objects_in(value)
    )


_released_call = Layer.__call__


_history = History(_attributes_to_keep, _is_called, is_kept=_has_no_weights)


@functools.wraps(_released_call)
def _call(self, *args, **kwargs):
    with _history.call(self):
        return _released_call(self, *args, **kwargs)


_released_open_name_scope = Layer._open_name_scope


@functools.wraps(_released_open_name_scope)
def _open_name_scope(self):
    scopes = get_global_attribute("name_scope_stack")
    is_nested = bool(scopes) and scopes[-1].caller is self
    if not (self.built or is_nested):
        own = own_record(self)
        own.state_at_build, own.number_of_build = global_state(), next(call_numbers)
    return _released_open_name_scope(self)


Layer.__call__ = _call
Layer._open_name_scope = _open_name_scope  # `build` is called in this scope.


@functools.lru_cache(maxsize=1024)
def _keras_base(cls):
    return next(base for base in _KERAS_BASES if issubclass(cls, base))


@functools.lru_cache(maxsize=None)
def _set_by_keras(base):
    """Returns the names of the attributes that Keras itself sets on a layer."""
    arguments = ()
    if issubclass(base, Function):
        x = Input(tensor=backend.KerasTensor((), name="x"), name="x")
        # Keras 3.10 refuses an input that is an output.
        arguments = x, Identity(name="y")(x)
    layer = base(*arguments, name="x")
    if hasattr(layer, "_maybe_initialize_trackable"):
        layer._maybe_initialize_trackable()  # TensorFlow sets attributes as well.
    if hasattr(layer, "_track_variables"):
        layer._track_variables()  # So does PyTorch.
    return frozenset([*vars(layer), *vars(layer).get("_modules", ()), RECORD])


def _copy_adapted_state(layer, clone):
    """Copies what a preprocessing layer learned in `adapt`: its vocabulary, or the
    state that Keras saves to and loads from files."""
    if hasattr(layer, "set_vocabulary"):
        with tf.init_scope():
            _copy_vocabulary(layer, clone)
        return
    store = {}
    layer.save_own_variables(store)
    clone.load_own_variables(
        {name: _array(value) for name, value in store.items()}
    )
    if hasattr(layer, "save_assets"):
        with tempfile.TemporaryDirectory() as folder:
            layer.save_assets(folder)
            if os.listdir(folder):
                clone.load_assets(folder)


def _array(value):
    """Returns the value of a variable or of an array as a new NumPy array."""
    # With `numpy()` and `convert_to_numpy` of Keras, NumPy may issue a warning.
    return np.array(np.asarray(value))


def _copy_vocabulary(layer, clone):
    vocabulary = layer.get_vocabulary()
    if clone.get_vocabulary() != vocabulary:
        # The weights of `TextVectorization` are in its inner lookup layer.
        lookup, idf_weights = getattr(layer, "_lookup_layer", layer), None
        if lookup.output_mode == "tf_idf":
            idf_weights = lookup.idf_weights[: len(vocabulary)]
        clone.set_vocabulary(vocabulary, idf_weights)


def _nodes_in_call_order(function):
    nodes = [
        node
        for depth in sorted(function._nodes_by_depth, reverse=True)
        for node in function._nodes_by_depth[depth]
    ]
    return in_call_order(
        nodes, lambda node: node.operation, lambda node: node.parent_nodes
    )


def _are_in(outputs, tensors):
    return all(id(x) in tensors for x in outputs)


def _has_layer(x):
    """Returns whether an input of a `Function` is the output of a layer."""
    return x._keras_history.operation is not None


def _tensor_like(x):
    return backend.KerasTensor(
        x.shape, dtype=x.dtype, sparse=x.sparse, ragged=x.ragged, name=x.name
    )


def _input_like(x):
    """Returns the output of a new `InputLayer` that replaces the tensor `x`."""
    layer = x._keras_history.operation
    return Input(
        tensor=_tensor_like(x),
        ragged=x.ragged,
        name=layer.name if isinstance(layer, InputLayer) else x.name,
        optional=getattr(layer, "optional", False),
    )


def _keras_tensor(x):
    """Converts an entry of `input_tensors` to a tensor with a Keras history."""
    if isinstance(x, InputLayer):
        return x.output
    if not isinstance(x, backend.KerasTensor):
        raise ValueError(
            "All entries in `input_tensors` must be KerasTensors, such as "
            f"`keras.Input` returns. Received: {x} (of type '{type(x).__name__}')"
        )
    is_input = hasattr(x, "_keras_history") and _is_input(x)
    return x if is_input else Input(tensor=_tensor_like(x), name=x.name)


def _structured_like(model, input_tensors):
    """Returns `input_tensors` in the structure of `model.input`."""
    tensors = tree.map_structure(_keras_tensor, input_tensors)
    try:
        tree.assert_same_structure(tensors, model.input)
        return tensors
    except ValueError as error:
        flat = tree.flatten(tensors)
        if not _is_ordered(tensors, model) or len(flat) != len(model.inputs):
            raise ValueError(
                "`input_tensors` must have the same structure as model.input, or be "
                "a list with one tensor for each entry of model.inputs.\n"
                f"Reference structure: {model.input}\n"
                f"Received structure: {input_tensors}"
            ) from error
        return tree.pack_sequence_as(model.input, flat)


def _is_ordered(tensors, model):
    if isinstance(model.input, dict):
        return isinstance(tensors, list)  # The meaning of a tuple is ambiguous.
    return not isinstance(tensors, dict)


def _is_input(x):
    operation, node_index, _ = x._keras_history
    return operation._inbound_nodes[node_index].is_input
