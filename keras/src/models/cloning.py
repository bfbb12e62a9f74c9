"""What changes in `keras.src.models.cloning` of Keras 3.

Executed in the namespace of the released module, right after it.

`clone_model` hands the model to a `_Cloner`, which runs the model's graph with new
layers. A new layer comes from `from_config(get_config())` as ever; while these two
run, `LiveConfigScope` sees to it that what goes into the config comes out of it.
"""
import copy
import inspect

from keras_clone.functions import HOLDERS
from keras_clone.functions import function_holding
from keras_clone.nodes import in_call_order

from keras.src import backend
from keras.src import tree
from keras.src.api_export import get_name_from_symbol
from keras.src.api_export import keras_export
from keras.src.layers import Input
from keras.src.layers import InputLayer
from keras.src.layers import Lambda
from keras.src.layers import Layer
from keras.src.models.functional import Functional
from keras.src.models.functional import functional_like_constructor
from keras.src.models.sequential import Sequential
from keras.src.ops.function import Function
from keras.src.ops.operation import Operation
from keras.src.ops.operation_utils import get_source_inputs
from keras.src.random.seed_generator import SeedGenerator
from keras.src.saving import serialization_lib
from keras.src.saving.keras_saveable import KerasSaveable
from keras.src.saving.serialization_lib import LiveConfigScope
from keras.src.saving.serialization_lib import LiveObject
from keras.src.saving.serialization_lib import live_object
from keras.src.utils.torch_utils import TorchModuleWrapper


@keras_export("keras.models.clone_model")
def clone_model(
    model,
    input_tensors=None,
    clone_function=None,
    call_function=None,
    recursive=False,
    **kwargs,
):
    """Clones a model: the same function, the same graph, new layers and weights.

    Weights are initialized anew; `clone.set_weights(model.get_weights())` makes
    the clone compute what the model computes. The clone of a compiled model is
    compiled.

    Without a `clone_function`, nothing is written out and read back: functions
    and classes come from the model's own layers and need neither be registered
    nor be importable, `Lambda` layers included. A layer used in several places,
    nested models among them, is still one layer in the clone.

    Args:
        model: A `Functional` or `Sequential` model, or a model of any class
            that can be made anew by `from_config(get_config())`.
        input_tensors: None, or what the clone begins with in place of new
            inputs: a `KerasTensor` or `InputLayer`, a list with one of them
            for each entry of `model.inputs`, or the structure of
            `model.input`. With a tensor that comes from another layer than
            an input, the clone begins where that tensor does.
        clone_function: None, or a function that takes a layer or operation of
            the model, inputs excepted, and returns what stands for it in the
            clone.
        call_function: None, or a function that is called in place of each new
            layer, with the layer and then the arguments of the call, and
            returns the outputs. For `Functional` models only.
        recursive: Boolean, whether `clone_function` and `call_function` are
            used within nested models, instead of `clone_function` on them.
        **kwargs: `cache`, a dict of the ids of layers and what stands for them
            in the clone; found entries are used, new ones are added.

    Returns:
        A model of the class of `model`, where `call_function` and
        `input_tensors` allow.

    Raises:
        ValueError: If `model` is no model, if an argument does not fit it, or
            if a layer cannot be made a second time.

    Example:

    ```python
    x = keras.Input((4,))
    model = keras.Model(x, keras.layers.Lambda(lambda x: 2 * x)(x))
    clone = keras.models.clone_model(model)
    ```
    """
    cache = kwargs.pop("cache", None)
    if kwargs:
        raise ValueError(f"Unexpected keyword argument(s): {tuple(kwargs)}")
    if not isinstance(model, Layer):
        raise ValueError(
            "Expected `model` argument to be a `Model` instance. Received: "
            f"model={model} (of type '{type(model).__name__}')"
        )
    if call_function is not None and not isinstance(model, Functional):
        raise ValueError(
            "`call_function` argument is not supported with Sequential models "
            "or subclassed ones: only a Functional model is made by calling "
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
    cloner = _Cloner(clone_function, call_function, recursive, cache)
    return cloner.clone(model, input_tensors, call_function)


class _Cloner:
    """What the layers of a model have become in its clone.

    Args:
        clone_function: As for `clone_model`.
        call_function: As for `clone_model`.
        recursive: As for `clone_model`.
        cache: None or a dict {id of a layer: its clone}; one for all nested
            models, so that what was shared stays shared.
    """

    def __init__(
        self, clone_function=None, call_function=None, recursive=False, cache=None
    ):
        self.clone_function = clone_function
        self.call_function = call_function
        self.recursive = recursive
        self.cache = {} if cache is None else cache
        self._cloned = []
        self._pending = set()
        self._functions = {}
        self._tensors = {}

    def clone(self, model, input_tensors=None, call_function=None):
        """Clones a model that is not nested in another."""
        self._pending.add(id(model))
        clone = self.model(model, input_tensors, call_function)
        self._build_uncalled_layers()
        self._copy_unreachable_weights(clone)
        return clone

    def model(self, model, input_tensors=None, call_function=None):
        """Returns the clone of a model, on given input tensors or new ones."""
        if isinstance(model, Sequential):
            clone = self._sequential(model, input_tensors)
        elif isinstance(model, Functional):
            clone = self._functional(model, input_tensors, call_function)
        else:
            clone = self._from_config(model)
            self._cloned.append((model, clone))
        if getattr(model, "compiled", False) and not clone.compiled:
            with LiveConfigScope(self._config):
                config = model.get_compile_config()
            with LiveConfigScope(_plain_config):
                clone.compile_from_config(config)
        return clone

    def layer(self, layer):
        """Returns the clone of a layer, of an operation or of a nested model."""
        if id(layer) in self._pending:
            return layer  # It stands for itself in functions that hold it.
        if id(layer) not in self.cache:
            self._pending.add(id(layer))
            self.cache[id(layer)] = self._new_layer(layer)
            self._pending.remove(id(layer))
            self._cloned.append((layer, self.cache[id(layer)]))
        return self.cache[id(layer)]

    def value(self, value):
        """Returns what a value that a layer holds or was made with is in the clone.

        Containers are copied; layers, objects with a state and functions that
        hold them are mapped to the clone's; anything else is returned as it is.
        """
        if live_object(value) is not None:
            return value
        if isinstance(value, HOLDERS):
            return self._function(value)
        if isinstance(value, Operation):
            return self.layer(value)
        if isinstance(value, (KerasSaveable, SeedGenerator)):
            if id(value) not in self.cache:
                self.cache[id(value)] = self._remade(value, value.get_config)
            return self.cache[id(value)]
        if isinstance(value, dict):
            return {k: self.value(v) for k, v in value.items()}
        if isinstance(value, list):
            return [self.value(v) for v in value]
        if type(value) is tuple:
            return tuple([self.value(v) for v in value])
        return value

    def _function(self, function):
        """Returns a function that holds the clone's layers.

        It is `function` itself if that holds none of the model's.
        """
        if get_name_from_symbol(function) is not None:
            return function
        if id(function) not in self._functions:
            self._functions[id(function)] = function  # It may hold itself.
            self._functions[id(function)] = function_holding(function, self._held)
        return self._functions[id(function)]

    def _held(self, value):
        if type(value) in (list, tuple):
            return type(value)([self._held(v) for v in value])
        if type(value) is dict:
            return {k: self._held(v) for k, v in value.items()}
        is_holder = isinstance(value, (Layer, SeedGenerator, *HOLDERS))
        return self.value(value) if is_holder else value

    def _build_uncalled_layers(self):
        """Builds the layers that the model holds but does not call."""
        for layer, clone in self._cloned:
            if isinstance(layer, Layer) and layer.built and not clone.built:
                config = layer.get_build_config()
                if config:
                    clone.build_from_config(config)

    def _copy_unreachable_weights(self, clone):
        """Copies the weights that `clone.set_weights` does not reach: those of
        layers that only a function holds."""
        reachable = set(map(id, clone.weights))
        for layer, new_layer in self._cloned:
            weights = getattr(new_layer, "weights", [])
            if not all(id(weight) in reachable for weight in weights):
                new_layer.set_weights(layer.get_weights())

    def _new_layer(self, layer):
        if isinstance(layer, InputLayer):
            new_layer = _input_like(layer.output)._keras_history.operation
            new_layer.trainable = layer.trainable
            return new_layer
        nested = isinstance(layer, (Functional, Sequential))
        if self.clone_function is not None and not (nested and self.recursive):
            return self.clone_function(layer)
        if nested:
            return self.model(
                layer, call_function=self.call_function if self.recursive else None
            )
        if isinstance(layer, Layer):
            return self._from_config(layer)
        return _copied_operation(layer, self)

    def _from_config(self, layer):
        try:
            clone = self._remade(
                layer, lambda: _constructor_arguments(layer, self.value))
        except (TypeError, NotImplementedError) as error:
            raise ValueError(
                f"Cannot clone layer '{layer.name}' of class "
                f"`{type(layer).__name__}`: its constructor does not take what its "
                "`get_config()` returns. Return every argument of the constructor "
                f"from `get_config()`. {error}"
            ) from error
        for name in ("name", "trainable", "supports_masking"):
            # Users set them on a layer whose constructor does not take them.
            if getattr(clone, name) != getattr(layer, name):
                setattr(clone, name, getattr(layer, name))
        return clone

    def _remade(self, obj, get_config):
        with LiveConfigScope(self._config):
            config = self.value(get_config())
        with LiveConfigScope(_plain_config):
            return _from_config(type(obj), config)

    def _config(self, obj):
        """Returns the config of an object, to be read back as its clone."""
        if isinstance(obj, HOLDERS) and get_name_from_symbol(obj) is None:
            return _live_value(self.value(obj))
        if not isinstance(obj, Operation):
            return _plain_config(obj)
        config = {"name": obj.name}
        graph = isinstance(obj, (Functional, Sequential))
        if isinstance(obj, Layer) and not graph:
            config = serialization_lib.serialize_dict(
                _constructor_arguments(obj, self.value))
        return _live(obj, config, lambda config: self.layer(obj))

    def _functional(self, model, input_tensors, call_function):
        if input_tensors is None:
            inputs = tree.map_structure(self._new_input, model.input)
        else:
            inputs = _structured_like(model, input_tensors)
        outputs = self._outputs(model, tree.flatten(inputs), call_function)
        if not all(map(_is_input, tree.flatten(inputs))):
            inputs = _sources(inputs)
        return self._same_class(model, Functional, inputs, outputs)

    def _outputs(self, function, inputs, call_function=None):
        """Runs the graph of a `Function` with new operations.

        A tensor that is in the graphs of several models is made once, where all
        of them begin with the same inputs.
        """
        mapped = dict(zip(map(id, function.inputs), inputs))
        is_common = call_function is None and all(
            self._tensors.get(key, x) is x for key, x in mapped.items()
        )
        tensors = self._tensors if is_common else {}
        tensors.update(mapped)
        for node in _nodes_in_call_order(function):
            if not all(id(x) in tensors for x in node.outputs):
                operation = self.layer(node.operation)
                args, kwargs = node.arguments.fill_in(tensors)
                if call_function is None:
                    outputs = operation(*args, **kwargs)
                else:
                    outputs = call_function(operation, *args, **kwargs)
                tensors.update(zip(map(id, node.outputs), tree.flatten(outputs)))
        return tree.pack_sequence_as(
            function._outputs_struct, [tensors[id(x)] for x in function.outputs]
        )

    def _new_input(self, x):
        operation = x._keras_history.operation
        if isinstance(operation, InputLayer):
            return self.layer(operation).output
        return _input_like(x)

    def _sequential(self, model, input_tensors):
        layers = [self.layer(layer) for layer in model.layers]
        if input_tensors is not None:
            x, *others = map(_keras_tensor, tree.flatten(input_tensors))
            if others:
                raise ValueError(
                    "`input_tensors` must contain a single tensor, because model "
                    f"'{model.name}' is Sequential. Received: "
                    f"input_tensors={input_tensors}"
                )
            if not _is_input(x):
                outputs = x
                for layer in layers:
                    outputs = layer(outputs)
                return Functional(_sources(x), outputs, name=model.name)
            layers = [x] + layers
        elif len(model._layers) > len(layers):
            layers = [self._new_input(model._layers[0].output)] + layers
        return self._same_class(model, Sequential, layers)

    def _same_class(self, model, base, *arguments):
        """Returns a new model of the class of `model`.

        A constructor that takes something else than that of `base`, `Functional`
        or `Sequential`, is left out: the attributes tell what it did.
        """
        cls, clone = type(model), None
        if cls is base:
            clone = cls(*arguments, name=model.name)
        elif base is Functional and functional_like_constructor(cls):
            try:
                clone = cls(*arguments, name=model.name)
            except TypeError:
                pass  # It takes further arguments.
        if clone is None:
            clone = cls.__new__(cls)
            base.__init__(clone, *arguments, name=model.name)
        self._copy_attributes(model, clone)
        # Not `trainable`: that would set it on all the layers as well.
        clone._trainable = model._trainable
        return clone

    def _copy_attributes(self, model, clone):
        """Copies the attributes that are not of Keras's own making."""
        present = _attributes(clone)
        for name, value in _attributes(model).items():
            if name in _TRAINER_ATTRIBUTES:
                continue
            plain = isinstance(value, serialization_lib.PLAIN_TYPES)
            if name not in present or (plain and not name.startswith("_")):
                setattr(clone, name, self.value(value))


# What `fit` and the like set on a model (`trainers/trainer.py`), and what its
# constructor makes of its arguments.
_TRAINER_ATTRIBUTES = {
    "autocast", "built", "compiled", "history", "loss", "name", "optimizer",
    "output_names", "steps_per_execution", "stop_predicting", "stop_training",
    "supports_jit", "training", "unrolled_steps_per_execution", "_compile_config",
    "_compiled_trainable_state", "_eval_epoch_iterator",
    "_obj_reference_counts_dict",
}


def _attributes(model):
    """Returns the attributes of a model, on PyTorch with the layers among them."""
    return {**vars(model), **vars(model).get("_modules", {})}


def _plain_config(obj):
    """Returns the config of an object, to be read back as a new one.

    It is None for a function that Keras finds by its name alone.
    """
    if inspect.isfunction(obj):
        public = (get_name_from_symbol(obj) or "").split(".")
        if public[1:2] and public[1] in serialization_lib.BUILTIN_MODULES:
            return None
    if inspect.isclass(obj) or not hasattr(obj, "get_config"):
        return _live_value(obj)
    if isinstance(obj, Operation) and not isinstance(obj, Layer):
        return _live(obj, {"name": obj.name}, lambda config: _copied_operation(obj))
    try:
        config = serialization_lib.serialize_dict(_constructor_arguments(obj))
    except NotImplementedError:
        # A regularizer, say, without a config: it has no state to keep apart.
        return _live(obj, {}, lambda config: obj)
    return _live(
        obj, config, lambda config: _from_config(type(obj), config["config"])
    )


def _live(obj, config, revive):
    public = serialization_lib.serialize_with_public_class(type(obj), config)
    return {**public, "live_object": LiveObject(obj, revive)}


def _live_value(value):
    """Returns a config that is read back as `value` itself."""
    return {
        "module": getattr(value, "__module__", None),
        "class_name": "function",
        # The function, not its name: `activations.serialize` hands this out.
        "config": value,
        "registered_name": getattr(value, "__name__", None),
        "live_object": LiveObject(value, lambda config: value),
    }


def _constructor_arguments(obj, value=lambda value: value):
    """Returns the config of an object, fitted to its constructor.

    Args:
        obj: A layer, or any object that has a config.
        value: Function that maps what `Lambda` was made with.
    """
    cls = type(obj)
    if isinstance(obj, TorchModuleWrapper):
        return {
            **Layer.get_config(obj),
            "module": copy.deepcopy(obj.module),
            "output_shape": obj.output_shape,
        }
    if not isinstance(obj, Layer):
        return obj.get_config()
    if cls.get_config is Lambda.get_config:
        return {**Layer.get_config(obj), **_lambda_arguments(obj, value)}
    config = _config_or_attributes(obj)
    if isinstance(obj, Lambda):
        config.update(_lambda_arguments(obj, value))
    if cls.from_config.__func__ is not Operation.from_config.__func__:
        return config
    parameters = inspect.signature(cls.__init__).parameters
    if any(p.kind == p.VAR_KEYWORD for p in parameters.values()):
        return config
    # `Layer.get_config` does not ask what the constructor takes.
    return {
        name: config[name]
        for name in config
        if name in parameters or name not in ("name", "trainable", "dtype")
    }


def _config_or_attributes(layer):
    """Returns a layer's config; without one, the attributes of the same names as
    the arguments of its constructor."""
    try:
        return dict(layer.get_config())
    except NotImplementedError:
        config = {
            "name": layer.name,
            "trainable": layer.trainable,
            "dtype": layer.dtype_policy,
        }
        parameters = inspect.signature(type(layer).__init__).parameters
        for parameter in list(parameters.values())[1:]:
            if hasattr(layer, parameter.name):
                config[parameter.name] = getattr(layer, parameter.name)
            elif parameter.kind == parameter.VAR_KEYWORD:
                continue
            elif parameter.default is parameter.empty:
                raise
        return config


def _lambda_arguments(layer, value):
    arguments = {
        "function": layer.function,
        "output_shape": layer._output_shape,
        "arguments": layer.arguments,
    }
    config = {
        name: _live_value(value(argument))
        for name, argument in arguments.items()
        if argument is not None
    }
    if layer.mask is not None:
        # `Lambda.from_config` does not read it back.
        config["mask"] = value(layer.mask)
    return config


def _from_config(cls, config):
    if issubclass(cls, TorchModuleWrapper):
        return cls(**config)
    return cls.from_config(config)


def _copied_operation(operation, cloner=None):
    """Returns an operation that is no layer once more, without its calls."""
    cloner = cloner or _Cloner()
    if isinstance(operation, Function):
        inputs = tree.map_structure(
            lambda x: cloner._new_input(x) if _has_layer(x) else _tensor_like(x),
            operation._inputs_struct,
        )
        outputs = cloner._outputs(operation, tree.flatten(inputs))
        return Function(inputs, outputs, name=operation.name)
    clone = object.__new__(type(operation))
    for name, value in vars(operation).items():
        vars(clone)[name] = cloner.value(value)
    clone._inbound_nodes, clone._outbound_nodes = [], []
    return clone


def _nodes_in_call_order(function):
    nodes = [
        node
        for depth in sorted(function._nodes_by_depth, reverse=True)
        for node in function._nodes_by_depth[depth]
    ]
    return in_call_order(
        nodes, lambda node: node.operation, lambda node: node.parent_nodes
    )


def _has_layer(x):
    """Returns whether an input of a `Function` comes from a layer: it need not."""
    return x._keras_history.operation is not None


def _tensor_like(x):
    return backend.KerasTensor(
        x.shape, dtype=x.dtype, sparse=x.sparse, ragged=x.ragged, name=x.name
    )


def _input_like(x):
    """Returns the output of a new `InputLayer` that stands for the tensor `x`."""
    layer = x._keras_history.operation
    return Input(
        tensor=_tensor_like(x),
        ragged=x.ragged,
        name=layer.name if isinstance(layer, InputLayer) else x.name,
        optional=getattr(layer, "optional", False),
    )


def _keras_tensor(x):
    """Returns an entry of `input_tensors` as a tensor with a history."""
    if isinstance(x, InputLayer):
        return x.output
    if not isinstance(x, backend.KerasTensor):
        raise ValueError(
            "All entries in `input_tensors` must be KerasTensors, such as "
            f"`keras.Input` returns. Received: {x} (of type '{type(x).__name__}')"
        )
    return x if hasattr(x, "_keras_history") else Input(tensor=x, name=x.name)


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
        return isinstance(tensors, list)  # What a tuple means would be a guess.
    return not isinstance(tensors, dict)


def _is_input(x):
    operation, node_index, _ = x._keras_history
    return operation._inbound_nodes[node_index].is_input


def _sources(tensors):
    """Returns the inputs that `tensors` come from: one tensor, or a list."""
    sources = {
        id(source): source
        for x in tree.flatten(tensors)
        for source in get_source_inputs(x)
    }
    sources = list(sources.values())
    return sources if len(sources) > 1 else sources[0]
