"""What changes in `keras.models` of Keras 2.2.4, 2.2.5, 2.3.0 and 2.3.1.

Executed in the namespace of the released module, right after it.

`clone_model` hands the model to a `_Cloner`, which calls a new layer for each node
of the model, in the order of the model's own calls; `Layer.__call__` does the rest,
masks included. `keras_clone.cloner` says how a new layer is made.
"""
import contextlib
import copy
import functools
import inspect
from itertools import zip_longest

from keras_clone.cloner import Cloner
from keras_clone.cloner import with_lost_attributes
from keras_clone.holding import ATOMS
from keras_clone.holding import parts_of
from keras_clone.nodes import in_call_order

from . import backend as K
from .engine.base_layer import Layer
from .engine.input_layer import Input
from .engine.input_layer import InputLayer
from .engine.network import Network
from .engine.sequential import Sequential
from .engine.training import Model
from .utils.generic_utils import to_list
from .utils.generic_utils import unpack_singleton
from .utils.layer_utils import get_source_inputs

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
        An instance of the class of `model`; of `Model`, if a `Sequential` model is
        built on a tensor that comes from another layer.

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
    return _cloned(model, input_tensors)


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
    return _cloned(model, input_tensors)


def _cloned(model, input_tensors):
    _check_not_subclassed(model)

    def make(attributes):
        cloner = _Cloner(model, attributes=attributes)
        return cloner, cloner.clone(input_tensors)

    cloner, clone = (with_lost_attributes(make) if input_tensors is None
                     else make({}))
    cloner.finish(carries_state=input_tensors is None)
    cloner.copy_unreachable_values(clone)
    return clone


class _Cloner(Cloner):
    """What the layers, nodes and tensors of a model have become in its clone.

    # Attributes
        tensor_map: dict {id of a tensor or of a mask: its clone}.
    """

    runs_again = False

    def __init__(self, model, layer_map=None, attributes=None):
        super().__init__(model, layer_map, attributes)
        self.tensor_map = {}
        self._variables = None

    def clone(self, input_tensors=None):
        """Clones the model; see `clone_model`."""
        model = self.model
        if input_tensors is None:
            return self.layer(model)
        if not model.inputs:
            names = [model.name + '_input']
            return _chain(self.layer(model), *_keras_tensors(input_tensors, names))
        names = [layer.name for layer in model._input_layers]
        self._pending.add(id(model))
        clone = self._graph_network(model, _keras_tensors(input_tensors, names))
        self._pending.clear()
        self.adopt(model, clone)
        return clone

    def is_layer(self, value):
        return isinstance(value, Layer)

    def is_state(self, value):
        return _is_variable(value)

    def is_weight(self, value):
        return _is_variable(value)

    def is_tensor(self, value):
        return K.is_tensor(value) and not _is_variable(value)

    def has_clone(self, x):
        if hasattr(x, '_keras_history'):
            return all(id(y) in self.tensor_map for y in get_source_inputs(x))
        return id(x) in self.tensor_map or not self._replaced_operands(x)[0]

    def layers_within(self, model):
        found, waiting = {}, [model]
        while waiting:
            layer = waiting.pop()
            if id(layer) not in found:
                found[id(layer)] = layer
                waiting.extend(self._held_layers(layer))
        return list(found.values())

    def _held_layers(self, layer):
        """Returns the layers that a layer holds, whatever holds them in it."""
        held, seen = list(getattr(layer, '_layers', [])), set()
        waiting = list(self.attributes(layer).values())
        while waiting:
            value = waiting.pop()
            if isinstance(value, Layer):
                held.append(value)
            elif id(value) not in seen and type(value) not in ATOMS:
                seen.add(id(value))
                waiting += parts_of(value)
        return held

    def own_state(self, layer):
        if isinstance(layer, Network):
            return []
        return layer._trainable_weights + layer._non_trainable_weights

    def new_state(self, value):
        return K.variable(K.get_value(value), dtype=K.dtype(value))

    def attributes(self, layer):
        own = _keras_attributes(isinstance(layer, Network))
        return {name: value for name, value in vars(layer).items()
                if name not in own}

    def set_attribute(self, layer, name, old, value):
        # From 2.3 on, Keras lists what was set.
        tracked = getattr(layer, '_layers', [])
        if isinstance(old, Layer) and not isinstance(layer, Network):
            tracked[:] = [each for each in tracked if each is not old]
        setattr(layer, name, value)

    def set_flags(self, layer, clone):
        # No config of `StackedRNNCells` has the last.
        for name in ('name', 'trainable', '_trainable', 'supports_masking',
                     'reverse_state_order'):
            # Not `setattr`: a wrapper sets it on its layers, too.
            if name in vars(layer) and vars(clone).get(name) != vars(layer)[name]:
                vars(clone)[name] = vars(layer)[name]

    def is_built_by_code(self, layer):
        return type(layer).build is not Layer.build

    def can_stand_for(self, layer, made):
        if type(layer) is not type(made):
            return False
        if not isinstance(layer, Network):
            return True
        return (len(layer._layers) == len(made._layers) and
                bool(layer.inputs) == bool(made.inputs) and
                all(id(old) not in self.layer_map and self.can_stand_for(old, new)
                    for old, new in zip(layer._layers, made._layers)))

    def adopt(self, layer, clone):
        super().adopt(layer, clone)
        if isinstance(layer, Network) and type(clone) is type(layer):
            for old, new in zip(layer._layers, clone._layers):
                if id(old) not in self.layer_map:
                    self.adopt(old, new)

    def bare(self, layer):
        clone = type(layer).__new__(type(layer))
        # Not `Layer.__init__`, which would set what a wrapper sets on its layers.
        vars(clone).update(vars(Layer(name=layer.name)))
        for name in ('batch_input_shape', 'dtype', 'input_spec', 'stateful'):
            if name in vars(layer):
                vars(clone)[name] = copy.copy(vars(layer)[name])
        return clone

    def build(self, layer, clone):
        if layer.built and not clone.built and layer._inbound_nodes:
            # TensorFlow 2: in the graph in which Keras builds.
            build = getattr(K, 'symbolic', lambda function: function)(clone.build)
            with K.name_scope(clone.name):
                build(layer.get_input_shape_at(0))
            clone.built = True

    def finish_layer(self, layer, clone):
        self._pair_state(layer, clone)
        for name in ('_trainable_weights', '_non_trainable_weights'):
            weights = [self._state_map.get(id(weight))
                       for weight in vars(layer).get(name, [])]
            if all(weight is not None for weight in weights):
                vars(clone)[name] = weights

    def new_layer(self, layer):
        if isinstance(layer, InputLayer):
            return Input(batch_shape=layer.batch_input_shape, dtype=layer.dtype,
                         sparse=layer.sparse, name=layer.name)._keras_history[0]
        if isinstance(layer, Network) and not self._is_made_by_config(layer):
            return self._network(layer)
        return self.remade(layer)

    def remade(self, layer):
        inner = self.layers_within(layer)[1:]
        if K.backend() == 'tensorflow' and any(isinstance(each, Network)
                                               for each in inner):
            # What an attempt that fails leaves of a nested model stays in a graph
            # of its own.
            try:
                self.rehearsed(layer)
            except Exception as error:
                return self._copied(layer, error)
        return super().remade(layer)

    def rehearsed(self, layer):
        if K.backend() != 'tensorflow':
            return super().rehearsed(layer)
        import tensorflow as tf
        with tf.Graph().as_default():
            return super().rehearsed(layer)

    def _is_made_by_config(self, model):
        """Returns whether a nested model has a config of its own."""
        return (model is not self.model and
                type(model).get_config not in (Network.get_config,
                                               Sequential.get_config) and
                not any(id(layer) in self.layer_map for layer in model.layers))

    def call_argument(self, value):
        """Returns what a layer is to be called with: no container is shared."""
        if type(value) in (list, tuple):
            return type(value)([self.call_argument(v) for v in value])
        if type(value) is dict:
            return {k: self.call_argument(v) for k, v in value.items()}
        return self.value(value)

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
        replace, made = self._replaced_operands(x)
        if not replace:
            return x
        return _recompute(x, made, [(y, self._operand(y)) for y in replace])

    def _replaced_operands(self, x):
        """Returns the tensors of the model that a tensor is computed from, and what
        is to be made anew between these and it."""
        replace, made, pending = [], {id(x): x}, [x]
        while pending:
            for operand in _operands(pending.pop()):
                if (id(operand) in self.tensor_map or
                        hasattr(operand, '_keras_history') or
                        self._variable_of(operand) is not None):
                    replace.append(operand)
                elif id(operand) not in made:
                    made[id(operand)] = operand
                    pending.append(operand)
        return replace, list(made.values())

    def _operand(self, x):
        variable = self._variable_of(x)
        if variable is None:
            return self.tensor(x)
        new = self.state(variable)
        if x is getattr(variable, '_snapshot', None):
            return new._snapshot
        new = _handle(new)
        # TensorFlow 2: a graph has a placeholder for what is made outside of it.
        return x.graph.capture(new) if hasattr(new, 'numpy') else new

    def _variable_of(self, operand):
        """Returns the weight of the model that an operand stands for, or None."""
        if self._variables is None:
            weights = [weight for layer in self.layers_within(self.model)
                       for weight in self.own_state(layer)]
            # TensorFlow 1 has a tensor for reading a variable, too.
            self._variables = {
                id(tensor): weight for weight in weights for tensor in
                (_handle(weight), getattr(weight, '_snapshot', None))}
        captures = getattr(getattr(operand, 'graph', None), 'captures', [])
        handle = next((outer for outer, inner in captures if inner is operand),
                      operand)
        return self._variables.get(id(handle))

    def _network(self, network):
        _check_not_subclassed(network)
        if not network.inputs:
            return _same_class(
                network, layers=[self.layer(layer) for layer in network.layers])
        mapped = [self.tensor_map.get(id(x)) for x in network.inputs]
        if not all(x is None or _is_input(x) for x in mapped):
            # The outer model has the same input and is cloned onto the output of
            # some layer, at which no network of its own can begin.
            return _Cloner(self.model, self.layer_map)._network(network)
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
            clone = _same_class(network, inputs=inputs, outputs=outputs)
            self._copy_missing_attributes(network, clone)
            self._add_losses(network, clone)
            return clone
        clone = _same_class(network)
        self._copy_missing_attributes(network, clone)
        clone.inputs, clone.outputs = inputs, outputs
        clone.build()
        clone._build_input_shape = network._build_input_shape
        self._add_losses(network, clone)
        return clone

    def _add_losses(self, network, clone):
        """Adds what `add_loss` of the model, not of a layer, was given."""
        # It has those of its layers as well, once it was called.
        of_layers = set(id(loss) for layer in self.layers_within(network)[1:]
                        for loss in layer._losses)
        clone.add_loss([self.value(loss) for loss in network.get_losses_for(None)
                        if id(loss) not in of_layers])

    def _clone_node(self, node):
        if all(id(x) in self.tensor_map for x in node.output_tensors):
            return
        layer = self.layer(node.outbound_layer)
        if isinstance(layer, InputLayer):
            raise ValueError('Cannot clone a model that depends on the input "%s", '
                             'which is not among its inputs. Add it to the '
                             'inputs of the model.' % layer.name)
        arguments = self.call_argument(node.arguments or {})
        inputs = [self.tensor(x) for x in _called_on(node)]
        with self._trainable_as_called(node.outbound_layer):
            layer(unpack_singleton(inputs), **arguments)
        self._map_outputs(node, layer._inbound_nodes[-1])

    @contextlib.contextmanager
    def _trainable_as_called(self, network):
        """Context in which layers are trainable that were so when a nested model was
        called, and frozen later: it has kept their updates then."""
        kept = set(map(id, getattr(network, '_updates', [])))
        frozen = [self.layer_map[id(each)]
                  for each in (self.layers_within(network)[1:] if kept else [])
                  if not each.trainable and id(each) in self.layer_map and
                  not kept.isdisjoint(map(id, each._updates))]
        for each in frozen:
            vars(each)[_flag(each)] = True
        yield
        for each in frozen:
            vars(each)[_flag(each)] = False

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

    def copy_unreachable_values(self, clone):
        """Copies the values that `clone.set_weights` does not reach.

        They belong to layers that feed the model through a call argument alone,
        or that a layer uses without counting their weights among its own, or to
        variables that are no weights.
        """
        reachable = set(id(weight) for weight in clone.weights)
        values = {id(new): (new, old) for old, new in self.paired_state()}
        for layer, new_layer in self.pairs:
            values.update((id(new), (new, old)) for old, new in
                          zip(layer.weights, new_layer.weights))
        values = [pair for key, pair in values.items() if key not in reachable]
        if values:
            new, old = zip(*values)
            K.batch_set_value(list(zip(new, K.batch_get_value(old))))


@functools.lru_cache(maxsize=None)
def _keras_attributes(is_network):
    """Returns the names of the attributes that every layer, or every network, has
    by Keras's own making."""
    names = set(vars(Layer(name='layer')))
    if is_network:
        for cls in (Network, Model, Sequential):
            for function in vars(cls).values():
                code = getattr(inspect.unwrap(function), '__code__', None)
                names.update(code.co_names if code else ())
    return names


def _flag(layer):
    """Returns under which name a layer has `trainable`: not to set it on others, as
    a wrapper does."""
    return '_trainable' if '_trainable' in vars(layer) else 'trainable'


def _is_variable(value):
    if not K.is_tensor(value):
        return False
    if K.backend() == 'cntk':
        return getattr(value, 'is_parameter', False)
    return hasattr(value, {'theano': 'get_value'}.get(K.backend(), 'assign_add'))


def _handle(variable):
    """Returns what stands for a variable among the operands of the backend."""
    if K.backend() != 'tensorflow':
        return variable
    handle = getattr(variable, 'handle', None)
    return handle if hasattr(handle, 'numpy') else variable.op.outputs[0]


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
    """Returns a new model of the class of `model`.

    A constructor of the user's is not run: what it takes nobody knows, and what it
    did the attributes tell.
    """
    base = Model if 'inputs' in arguments else Sequential
    is_chained = base is Model and isinstance(model, Sequential)
    cls = Model if is_chained else type(model)
    new_model = cls.__new__(cls)
    base.__init__(new_model, name=model.name, **arguments)
    new_model.trainable = model.trainable
    return new_model
