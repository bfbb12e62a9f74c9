"""What changes in `keras.models` of Keras 2.2.4, 2.2.5, 2.3.0 and 2.3.1.

Executed in the namespace of the released module, right after it.

`clone_model` hands the model to a `_Cloner`, which calls a new layer for each node
of the model, in the order of the model's own calls; `Layer.__call__` does the rest,
masks included. A new layer comes from `from_config(get_config())` as ever, with
`_LiveConfig` seeing to it that every name in the config leads back to the object
that it was taken from.
"""
import inspect
from itertools import zip_longest

from keras_clone.functions import HOLDERS
from keras_clone.functions import function_holding
from keras_clone.nodes import in_call_order

from . import backend as K
from .engine.base_layer import Layer
from .engine.base_layer import Node
from .engine.input_layer import Input
from .engine.input_layer import InputLayer
from .engine.network import Network
from .engine.sequential import Sequential
from .engine.training import Model
from .utils.generic_utils import custom_object_scope
from .utils.generic_utils import to_list
from .utils.generic_utils import unpack_singleton
from .utils.layer_utils import get_source_inputs

# Most of what a layer's attributes are: no config has anything from within them.
_LEAVES = (type(None), bool, int, float, str, Node)

_NOT_RECOMPUTED = (
    'Cannot clone a model with a layer that was given the tensor %s: functions of '
    'the backend made it from tensors of the model. Make it in a `Lambda` layer.')


def clone_model(model, input_tensors=None):
    """Clones a model: the same function, the same graph, new layers and weights.

    Weights are initialized anew; `clone.set_weights(model.get_weights())` makes
    the clone compute what the model computes. The clone is not compiled. Nothing
    is written out and read back: functions and classes come from the model's own
    layers, so that they need neither be registered nor be importable.

    # Arguments
        model: Instance of `Model`: a graph network or a `Sequential` model.
        input_tensors: None, a tensor, or a list or tuple with one tensor per input
            of the model, in the order of `model.inputs`. With None, new
            placeholders are made. With a tensor that comes from a Keras layer
            other than `Input`, the clone begins where that tensor does, at
            `keras.utils.get_source_inputs(tensor)`.

    # Returns
        An instance of `Model`, of the class of `model` where its constructor
        takes what `Model`'s does. A `Sequential` model gives a `Sequential`
        model, unless it is built on a tensor that comes from another layer.

    # Raises
        ValueError: if `model` is no model or a subclassed one, if `input_tensors`
            has the wrong length or an entry that is no symbolic tensor, or if a
            layer of the model cannot be made a second time.
    """
    if isinstance(model, Sequential):
        return _clone_sequential_model(model, input_tensors=input_tensors)
    return _clone_functional_model(model, input_tensors=input_tensors)


def _clone_functional_model(model, input_tensors=None):
    """Clones a graph network; see `clone_model`.

    # Arguments
        model: Instance of `Model` that is no `Sequential`.
        input_tensors: as for `clone_model`.

    # Returns
        An instance of `Model`.

    # Raises
        ValueError: as `clone_model`, and if `model` is a `Sequential` model.
    """
    if not isinstance(model, Model):
        raise ValueError('Expected `model` argument to be a `Model` instance, '
                         'got an instance of `%s`: %r'
                         % (type(model).__name__, model))
    if isinstance(model, Sequential):
        raise ValueError('Expected `model` argument to be a functional `Model` '
                         'instance, got the `Sequential` model "%s". '
                         'Use `clone_model` instead.' % model.name)
    return _Cloner().clone(model, input_tensors)


def _clone_sequential_model(model, input_tensors=None):
    """Clones a `Sequential` model, built or not; see `clone_model`.

    # Arguments
        model: Instance of `Sequential`.
        input_tensors: as for `clone_model`.

    # Returns
        An instance of `Sequential`, or of `Model` if the entry of
        `input_tensors` comes from a layer other than `Input`.

    # Raises
        ValueError: as `clone_model`, and if `model` is not `Sequential`.
    """
    if not isinstance(model, Sequential):
        raise ValueError('Expected `model` argument to be a `Sequential` model, '
                         'got an instance of `%s`: %r'
                         % (type(model).__name__, model))
    return _Cloner().clone(model, input_tensors)


class _Cloner(object):
    """What the layers, nodes and tensors of a model have become in its clone.

    # Attributes
        layer_map: dict {layer: its clone}; one for all nested models, so that what
            was shared stays shared.
        tensor_map: dict {id of a tensor or of a mask: its clone}.
    """

    def __init__(self, layer_map=None):
        self.layer_map = {} if layer_map is None else layer_map
        self.tensor_map = {}
        self._function_map = {}

    def clone(self, model, input_tensors=None):
        """Clones a model that is not nested in another; see `clone_model`."""
        _check_not_subclassed(model)
        if input_tensors is None:
            clone = self.layer(model)
        elif model.inputs:
            names = [layer.name for layer in model._input_layers]
            clone = self._graph_network(model, _keras_tensors(input_tensors, names))
        else:
            names = [model.name + '_input']
            clone = _chain(self.layer(model), *_keras_tensors(input_tensors, names))
        self._copy_unreachable_weights(clone)
        return clone

    def layer(self, layer):
        """Returns the clone of a layer, or of a nested model."""
        if layer not in self.layer_map:
            # While it is cloned, it stands for itself in functions that hold it.
            self.layer_map[layer] = layer
            self.layer_map[layer] = self._new_layer(layer)
        return self.layer_map[layer]

    def value(self, value):
        """Returns what a value that a layer was called or made with is in the clone.

        Containers are copied; tensors, layers and functions that hold them are
        mapped to the clone's; anything else is returned as it is.
        """
        if type(value) in (list, tuple):
            return type(value)([self.value(v) for v in value])
        if type(value) is dict:
            return {k: self.value(v) for k, v in value.items()}
        if K.is_tensor(value):
            return self.tensor(value)
        if isinstance(value, Layer):
            return self.layer(value)
        if isinstance(value, HOLDERS):
            return self._function(value)
        return value

    def tensor(self, x):
        """Returns the clone of a tensor, or `x` itself if it is none of the model's.

        A tensor that a layer got as a call argument may come from layers that are
        not among the model's: only its history leads to them.
        """
        if id(x) not in self.tensor_map:
            if hasattr(x, '_keras_history'):
                layer, node_index, _ = x._keras_history
                self._clone_node(layer._inbound_nodes[node_index])
            else:
                self.tensor_map[id(x)] = self._backend_tensor(x)
        return self.tensor_map.get(id(x), x)

    def _backend_tensor(self, x):
        """Returns a tensor that no layer made, computed anew where it has to be."""
        replace, made, pending = [], {id(x): x}, [x]
        while pending:
            for operand in _operands(pending.pop()):
                if (id(operand) in self.tensor_map or
                        hasattr(operand, '_keras_history')):
                    replace.append((operand, self.tensor(operand)))
                elif id(operand) not in made:
                    made[id(operand)] = operand
                    pending.append(operand)
        return _recompute(x, made.values(), replace) if replace else x

    def _function(self, function):
        """Returns a function that holds the clone's tensors and layers.

        It is `function` itself if that holds none of the model's.
        """
        if id(function) not in self._function_map:
            self._function_map[id(function)] = function  # It may hold itself.
            self._function_map[id(function)] = function_holding(function, self.value)
        return self._function_map[id(function)]

    def _new_layer(self, layer):
        if isinstance(layer, InputLayer):
            return Input(batch_shape=layer.batch_input_shape, dtype=layer.dtype,
                         sparse=layer.sparse, name=layer.name)._keras_history[0]
        if isinstance(layer, Network):
            return self._network(layer)
        return _LiveConfig(self).clone_layer(layer)

    def _network(self, network):
        _check_not_subclassed(network)
        if not network.inputs:
            return _same_class(
                network, layers=[self.layer(layer) for layer in network.layers])
        mapped = [self.tensor_map.get(id(x)) for x in network.inputs]
        if not all(x is None or _is_input(x) for x in mapped):
            # The outer model has the same input and is cloned onto the output of
            # some layer, at which no network of its own can begin.
            return _Cloner(self.layer_map)._network(network)
        return self._graph_network(
            network, [x if x is not None else self.layer(layer).output
                      for x, layer in zip(mapped, network._input_layers)])

    def _graph_network(self, network, input_tensors):
        for x, y in zip(network.inputs, input_tensors):
            self.tensor_map[id(x)] = y
        for node in _nodes_in_call_order(network):
            self._clone_node(node)
        inputs = _source_inputs(input_tensors)
        outputs = [self.tensor(x) for x in network.outputs]
        if not isinstance(network, Sequential) or not _is_input(*input_tensors):
            return _same_class(network, inputs=inputs, outputs=outputs)
        clone = _same_class(network)
        clone.inputs, clone.outputs = inputs, outputs
        clone.build()
        clone._build_input_shape = network._build_input_shape
        return clone

    def _clone_node(self, node):
        if all(id(x) in self.tensor_map for x in node.output_tensors):
            return
        layer = self.layer(node.outbound_layer)
        if isinstance(layer, InputLayer):
            raise ValueError('Cannot clone a model that depends on the input "%s", '
                             'which is not among its inputs. Add it to the '
                             'inputs of the model.' % layer.name)
        arguments = self.value(node.arguments or {})
        inputs = [self.tensor(x) for x in _called_on(node)]
        layer(unpack_singleton(inputs), **arguments)
        self._map_outputs(node, layer._inbound_nodes[-1])

    def _map_outputs(self, node, new_node):
        for x, y in zip(node.output_tensors, new_node.output_tensors):
            self.tensor_map[id(x)] = y
        # One None or one tuple may be the mask of all tensors.
        for mask, new_mask in zip_longest(node.output_masks, new_node.output_masks):
            if mask is not None and new_mask is None:
                raise ValueError(
                    'Cannot clone layer "%s" of class `%s`: it gave a mask, its '
                    'clone gives none. What decides on the mask has to be in the '
                    'class or in the config of the layer.'
                    % (node.outbound_layer.name,
                       type(node.outbound_layer).__name__))
            if mask is not None:
                # A mask that layers pass on unchanged belongs to the first of them.
                self.tensor_map.setdefault(id(mask), new_mask)

    def _copy_unreachable_weights(self, clone):
        """Copies the weights that `clone.set_weights` does not reach.

        They belong to layers that feed the model through a call argument alone,
        or that a layer uses without counting their weights among its own.
        """
        reachable = set(id(weight) for weight in clone.weights)
        for layer, new_layer in self.layer_map.items():
            if any(id(weight) not in reachable for weight in new_layer.weights):
                new_layer.set_weights(layer.get_weights())


class _LiveConfig(object):
    """The config of a layer, with a way from each name in it to the live object.

    `get_config` gives names for the classes, functions and layers that a layer is
    made of, `from_config` looks the names up. Here, `get_config` is asked of a
    stand-in for the layer, which has stand-ins in place of those objects. Each has
    a name of its own, which leads `from_config` to the live object or, for a layer,
    to its clone.

    # Attributes
        custom_objects: dict {name: class, function, or function that returns the
            clone of a layer}, to be in scope while `from_config` runs.
    """

    def __init__(self, cloner):
        self.custom_objects = {}
        self._cloner = cloner
        self._stand_ins = {}  # {id of a live object: its stand-in}
        self._live = {}  # {id of a stand-in: the live object or a layer's clone}

    def clone_layer(self, layer):
        """Returns a new layer, not called yet, made as `layer` was made."""
        cls = layer.__class__
        stand_in = self._layer_copy(layer, cls)
        config = self._resolve(_constructor_arguments(stand_in))
        with custom_object_scope(self.custom_objects):
            try:
                clone = cls.from_config(config)
            except TypeError as error:
                raise ValueError(
                    'Cannot clone layer "%s" of class `%s`: its constructor does '
                    'not take what its `get_config()` returns (%s). Return every '
                    'argument of the constructor from `get_config()`.'
                    % (layer.name, cls.__name__, error))
        for attribute in ('name', 'trainable', 'supports_masking',
                          'reverse_state_order'):  # Of `StackedRNNCells`.
            # No config has the last two, and not every constructor takes the others.
            value = getattr(layer, attribute, None)
            if getattr(clone, attribute, None) != value:
                setattr(clone, attribute, value)
        return clone

    def _stand_in(self, value):
        if type(value) in _LEAVES:
            return value
        if id(value) not in self._stand_ins:
            self._stand_ins[id(value)] = self._new_stand_in(value)
        return self._stand_ins[id(value)]

    def _new_stand_in(self, value):
        if type(value) in (list, tuple):
            return type(value)([self._stand_in(v) for v in value])
        if type(value) is dict:
            return {k: self._stand_in(v) for k, v in value.items()}
        if K.is_tensor(value):
            return value
        if isinstance(value, Layer):
            return self._layer_stand_in(value)
        if hasattr(value, 'get_config') and not isinstance(value, type):
            return self._object_stand_in(value)
        if callable(value):
            return self._function_stand_in(value)
        return value

    def _layer_stand_in(self, layer):
        cls = layer.__class__
        name = self._class_name(cls.__name__, layer)
        # `Bidirectional` serializes the clone of its layer once more, by itself.
        self.custom_objects.setdefault(cls.__name__, cls)
        # A layer may serve as the activation of another: then `__name__` is asked.
        body = {'__name__': property(lambda stand_in: self._name(
            self._cloner.layer(layer), layer.name))}
        if isinstance(layer, Network):
            body['get_config'] = lambda stand_in: {'name': layer.name}
        return self._layer_copy(layer, type(cls)(name, (cls,), body))

    def _layer_copy(self, layer, cls):
        stand_in = object.__new__(cls)
        self._stand_ins[id(layer)] = stand_in
        self._live[id(stand_in)] = layer
        for attribute, value in vars(layer).items():
            if not isinstance(layer, Network):
                value = self._stand_in(value)
            # Not `setattr`: layers keep a record of what is set on them.
            stand_in.__dict__[attribute] = value
        return stand_in

    def _object_stand_in(self, value):
        cls = value.__class__
        name = self._name(cls, cls.__name__)
        if name == cls.__name__:
            return value
        stand_in = object.__new__(type(cls)(name, (cls,), {}))
        stand_in.__dict__.update(vars(value))
        self._live[id(stand_in)] = value
        return stand_in

    def _function_stand_in(self, function):
        name = getattr(function, '__name__', type(function).__name__)
        name = self._name(self._cloner.value(function), name)
        if isinstance(function, type):
            return function
        cls = type(self._class_name(name, function), (_NamedFunction,), {})
        stand_in = cls(function, name)
        self._live[id(stand_in)] = function
        return stand_in

    def _class_name(self, name, live):
        """Returns the name of a class whose instances are read back as the clone
        of `live`, whatever their config."""
        name = '%s@%d' % (name, id(live))
        self.custom_objects[name] = lambda **config: self._cloner.value(live)
        return name

    def _name(self, live, name):
        unique = name
        while self.custom_objects.setdefault(unique, live) is not live:
            unique += '_'
        return unique

    def _resolve(self, value):
        if type(value) in _LEAVES:
            return value
        if id(value) in self._live:
            live = self._live[id(value)]
            return self._cloner.value(live)
        if type(value) in (list, tuple):
            return type(value)([self._resolve(v) for v in value])
        if type(value) is dict:
            return {k: self._resolve(v) for k, v in value.items()}
        return self._cloner.value(value)


class _NamedFunction(object):
    """A function, or any other callable, under a name of our choice.

    Activations are serialized by name; initializers, regularizers and constraints
    by the name of their class, if they have a config. This has both.
    """

    def __init__(self, function, name):
        self.__wrapped__ = function
        self.__name__ = name

    def __call__(self, *args, **kwargs):
        return self.__wrapped__(*args, **kwargs)

    def __getattr__(self, attribute):
        return getattr(self.__wrapped__, attribute)

    def __deepcopy__(self, memo):
        return self

    def get_config(self):
        return {}


def _constructor_arguments(layer):
    """Returns a layer's config, fitted to its constructor.

    Where `get_config` leaves an argument out (`Lambda` its `mask`, say), it is the
    layer's attribute of that name; what is required is up to `from_config`, if the
    class has its own. What `Layer.get_config` adds for a constructor that does not
    take it is left out.
    """
    cls = type(layer)
    config = dict(layer.get_config())
    parameters = inspect.signature(cls.__init__).parameters
    is_plain = cls.from_config.__func__ is Layer.from_config.__func__
    for name in set(parameters) & set(vars(layer)) - set(config):
        value = vars(layer)[name]
        is_required = parameters[name].default is inspect.Parameter.empty
        is_tensor = any(map(K.is_tensor, to_list(value, allow_tuple=True)))
        if not is_tensor and (is_plain or not is_required):
            config[name] = value
    takes_any = any(parameter.kind == parameter.VAR_KEYWORD
                    for parameter in parameters.values())
    if is_plain and not takes_any:
        return {name: config[name] for name in set(config) & set(parameters)}
    return config


def _operands(x):
    """Returns what a tensor of the backend is computed from.

    # Arguments
        x: a tensor, or an op of TensorFlow that has no outputs.

    # Returns
        A list of tensors and such ops.

    # Raises
        ValueError: if the backend does not tell, and `x` depends on an input.
    """
    if K.backend() == 'tensorflow':
        # What TensorFlow 2 computed at once has no op.
        op = getattr(x, 'op', x)
        return list(getattr(op, 'inputs', [])) + _control_inputs(op)
    if K.backend() == 'theano':
        return getattr(getattr(x, 'owner', None), 'inputs', [])
    if any(variable.is_input for variable in getattr(x, 'inputs', [])):
        raise ValueError(_NOT_RECOMPUTED % x)
    return []


def _control_inputs(op):
    """Returns the first outputs of the ops that have to run before an op, and those
    ops themselves that have none."""
    return [(each.outputs or [each])[0]
            for each in getattr(op, 'control_inputs', [])]


def _recompute(x, made, replace):
    """Computes a tensor of the backend once more, from other tensors.

    # Arguments
        x: the tensor, of any shape.
        made: what to compute anew: `x`, and the tensors and ops between `replace`
            and it.
        replace: list of pairs (tensor, tensor of the same shape to take in its
            place).

    # Returns
        A tensor of the shape of `x`.

    # Raises
        ValueError: if a loop of TensorFlow 1 made it, which is a cycle of ops.
    """
    if K.backend() == 'theano':
        from theano.gof.graph import clone_get_equiv
        # Not `theano.clone`, which copies what makes the other tensors as well.
        return clone_get_equiv([y for y, _ in replace], [x], copy_inputs=False,
                               copy_orphans=False, memo=dict(replace))[x]
    ops = set(getattr(y, 'op', y) for y in made)
    if any(op.type == 'Exit' for op in ops):
        raise ValueError(_NOT_RECOMPUTED % x)
    return _copy_ops([op for op in ops if op.inputs or op.type in ('Const', 'NoOp')],
                     x, {id(tensor): other for tensor, other in replace})


def _copy_ops(ops, x, replace):
    """Copies TensorFlow ops into their graph.

    # Arguments
        ops: list of ops.
        x: a tensor that one of them gives.
        replace: dict {id of a tensor: tensor to take in its place}.

    # Returns
        What `x` is in the copies.
    """
    import tensorflow as tf
    from tensorflow.core.framework.graph_pb2 import GraphDef
    names = set(op.name for op in ops)
    nodes, inputs = GraphDef(versions=x.graph.graph_def_versions), {}

    def is_given(y):
        return getattr(y, 'op', y).name not in names

    for op in ops:
        node = nodes.node.add()
        node.CopyFrom(op.node_def)
        node.attr.pop('_class', None)  # The name of an op to run close to.
        inputs.update((y.name, replace.get(id(y), y))
                      for y in op.inputs if is_given(y))
        inputs.update(('^' + y.op.name, replace.get(id(y), y))
                      for y in _control_inputs(op) if is_given(y))
    with x.graph.as_default():
        return tf.graph_util.import_graph_def(nodes, inputs, [x.name])[0]


def _nodes_in_call_order(network):
    nodes = [node for _, nodes in sorted(network._nodes_by_depth.items(),
                                         reverse=True) for node in nodes]
    return in_call_order(nodes, lambda node: node.outbound_layer, _parents)


def _parents(node):
    return [layer._inbound_nodes[index]
            for layer, index in zip(node.inbound_layers, node.node_indices)]


def _called_on(node):
    """Returns the tensors that a node's layer was called on.

    In Keras 2.2.4 those of `initial_state` and `constants` are among the inputs and
    among the arguments of the node (`RNN.__call__` in `layers/recurrent.py`): only
    the arguments tell which is which.
    """
    states = []
    for name in ('initial_state', 'constants'):
        states += to_list((node.arguments or {}).get(name, []), allow_tuple=True)
    rest = node.input_tensors[1:]
    if len(rest) == len(states) and all(x is y for x, y in zip(rest, states)):
        return node.input_tensors[:1]
    return node.input_tensors


def _check_not_subclassed(model):
    if not isinstance(model, Sequential) and not model._is_graph_network:
        raise ValueError('Expected `model` argument to be a graph network, made of '
                         'inputs and outputs. Got a subclassed model, "%s" of class '
                         '`%s`: only its code knows its graph. Make a second '
                         'instance of the class instead.'
                         % (model.name, type(model).__name__))


def _keras_tensors(input_tensors, names):
    """Returns the `input_tensors` of `clone_model` as a list of Keras tensors.

    # Arguments
        input_tensors: a tensor, or a list or tuple of them.
        names: list of strings, the names of the input layers to stand in for.

    # Returns
        A list of tensors; those without a Keras history get an `InputLayer`.

    # Raises
        ValueError: if there are not as many tensors as names, or one is no tensor.
    """
    tensors = to_list(input_tensors, allow_tuple=True)
    if len(tensors) != len(names):
        raise ValueError('Expected `input_tensors` argument to have one tensor for '
                         'each input of the model (%s), got %d.'
                         % (', '.join(names), len(tensors)))
    for name, x in zip(names, tensors):
        if not K.is_tensor(x):
            raise ValueError('Expected every entry of `input_tensors` argument to '
                             'be a symbolic tensor, such as `keras.Input` returns. '
                             'Got an instance of `%s` for the input "%s".'
                             % (type(x).__name__, name))
    return [x if K.is_keras_tensor(x) else
            Input(tensor=x, name='input_wrapper_for_' + name)
            for x, name in zip(tensors, names)]


def _is_input(*tensors):
    return all(isinstance(x._keras_history[0], InputLayer) for x in tensors)


def _source_inputs(tensors):
    """Returns the input tensors that `tensors` come from, each of them once."""
    sources = []
    for x in tensors:
        for source in get_source_inputs(x):
            if not any(source is other for other in sources):
                sources.append(source)
    return sources


def _chain(model, x):
    """Builds a `Sequential` model that is not built yet on a Keras tensor."""
    layers = model.layers
    if _is_input(x):
        return _same_class(model, layers=[x._keras_history[0]] + layers)
    outputs = x
    for layer in layers:
        outputs = layer(outputs)
    return _same_class(model, inputs=_source_inputs([x]), outputs=outputs)


def _same_class(model, **arguments):
    """Returns a new model of the class of `model`, or of the next class it derives
    from whose constructor takes `arguments` and a name."""
    arguments['name'] = model.name
    classes = [cls for cls in type(model).__mro__ if _takes(cls, arguments)]
    new_model = classes[0](**arguments)
    new_model.trainable = model.trainable
    return new_model


def _takes(cls, arguments):
    try:
        inspect.signature(cls.__init__).bind(None, **arguments)
    except TypeError:
        return False
    return True
