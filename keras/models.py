"""Changes to `keras.models` of Keras 2.2.4, 2.2.5, 2.3.0 and 2.3.1.

Executed in the namespace of the released module, right after it.

`clone_model` passes the model to a `_Cloner`, which calls a new layer for each node
of the model, in the order of the original calls. `Layer.__call__` does the rest,
including the masks. `keras_clone.cloner` describes how a new layer is created.
"""
import contextlib
import functools
import itertools

from keras_clone.call_order import in_call_order
from keras_clone.cloner import Cloner
from keras_clone.cloner import refusal
from keras_clone.comparison import is_changed
from keras_clone.containers import CannotCopy
from keras_clone.containers import copied
from keras_clone.containers import objects_in
from keras_clone.global_state import in_global_state_of
from keras_clone.history import first_call_of
from keras_clone.history import keep_number
from keras_clone.history import number_of_call
from keras_clone.recording import RECORD
from keras_clone.recording import is_of_keras
from keras_clone.recording import own_record
from keras_clone.recording import record_of
from keras_clone.walk import attributes_of

from . import backend as K
from .callbacks import Callback
from .constraints import Constraint
from .engine.base_layer import Layer
from .engine.input_layer import Input
from .engine.input_layer import InputLayer
from .engine.network import Network
from .engine.sequential import Sequential
from .engine.training import Model
from .initializers import Initializer
from .regularizers import Regularizer
from .utils.generic_utils import custom_object_scope
from .utils.generic_utils import to_list
from .utils.generic_utils import unpack_singleton
from .utils.layer_utils import get_source_inputs

_CANNOT_RECOMPUTE = (
    'Cannot clone a model with the tensor {} as a call argument or a loss: it was '
    'computed by backend functions from tensors of the model. Compute it in a '
    '`Lambda` layer.')


def clone_model(model, input_tensors=None):
    """Clones a model: the same function and graph, with new layers and weights.

    The weights are newly initialized; after
    `clone.set_weights(model.get_weights())`, the clone computes the same outputs as
    the model. The clone is not compiled. Functions and classes are taken from the
    layers of the model, not deserialized, so they need not be registered or
    importable.

    # Arguments
        model: Instance of `Model`: a graph network or a `Sequential` model.
        input_tensors: None, a tensor, or a list or tuple with one tensor per input
            of the model, in the order of `model.inputs`. If None, new placeholders
            are created. If a tensor is the output of a Keras layer other than
            `InputLayer`, the inputs of the clone are those that the tensor depends
            on: `keras.utils.get_source_inputs(tensor)`.

    # Returns
        An instance of the class of `model`, or of `Model` if a `Sequential` model
        is cloned onto the output of a layer other than `InputLayer`.

    # Raises
        ValueError: if `model` is not a model or is a subclassed one, if
            `input_tensors` has the wrong length or an entry that is not a symbolic
            tensor, or if a layer of the model cannot be cloned.
    """
    if isinstance(model, Sequential):
        return _clone_sequential_model(model, input_tensors=input_tensors)
    return _clone_functional_model(model, input_tensors=input_tensors)


def _clone_functional_model(model, input_tensors=None):
    """Clones a graph network; see `clone_model`.

    # Arguments
        model: Instance of `Model`, but not of `Sequential`.
        input_tensors: as for `clone_model`.

    # Returns
        An instance of `Model`.

    # Raises
        ValueError: as `clone_model`, and if `model` is a `Sequential` model.
    """
    if not isinstance(model, Model):
        raise ValueError('Expected `model` argument to be a `Model` instance, '
                         'got an instance of `{}`: {!r}'.format(
                             type(model).__name__, model))
    if isinstance(model, Sequential):
        raise ValueError('Expected `model` argument to be a functional `Model` '
                         'instance, got the `Sequential` model "{}". '
                         'Use `clone_model` instead.'.format(model.name))
    return _cloned(model, input_tensors)


def _clone_sequential_model(model, input_tensors=None):
    """Clones a `Sequential` model, built or not; see `clone_model`.

    # Arguments
        model: Instance of `Sequential`.
        input_tensors: as for `clone_model`.

    # Returns
        An instance of `Sequential`, or of `Model` if the entry of
        `input_tensors` is the output of a layer other than `InputLayer`.

    # Raises
        ValueError: as `clone_model`, and if `model` is not `Sequential`.
    """
    if not isinstance(model, Sequential):
        raise ValueError('Expected `model` argument to be a `Sequential` model, '
                         'got an instance of `{}`: {!r}'.format(
                             type(model).__name__, model))
    return _cloned(model, input_tensors)


def _cloned(model, input_tensors):
    _check_not_subclassed(model)
    cloner = _Cloner(model)
    clone = cloner.clone(input_tensors)
    cloner.finish()
    if input_tensors is None:  # Other tensors may need other shapes.
        cloner.check()
    cloner.copy_unreachable_values(clone)
    cloner.keep_numbers()
    return clone


class _Cloner(Cloner):
    """Maps the layers, tensors and state of a model to those of its clone.

    # Attributes
        tensor_map: dict {id of a tensor or of a mask: its clone}.
    """

    def __init__(self, model):
        super().__init__(model)
        self.tensor_map = {}
        self._variables, self._searched_pairs = {}, 0  # See `_variable_of`.
        self._changed_layers = []  # See `_changed_within`.

    def clone(self, input_tensors=None):
        """Clones the model; see `clone_model`."""
        model = self.model
        if input_tensors is None:
            return self.layer(model)
        if not model.inputs:
            names = [model.name + '_input']
            tensors = _keras_tensors(input_tensors, names)
            return _build_on(self.layer(model), *tensors)
        names = [layer.name for layer in model._input_layers]
        self._pending.add(id(model))
        with self.naming(model):
            clone = self._graph_network(model, _keras_tensors(input_tensors, names))
            self._pending.clear()
            super().adopt(model, clone)  # The input layers are the user's.
        return clone

    def is_layer(self, value):
        return issubclass(type(value), Layer)

    def is_state(self, value):
        return _is_variable(value)

    def is_tensor(self, value):
        return K.is_tensor(value) and not _is_variable(value)

    def has_clone(self, x):
        return id(x) in self.tensor_map or not (
            hasattr(x, '_keras_history') or self._replaced_operands(x)[0])

    renewed_class = Initializer  # It may have a seed of its own.
    copied_classes = Regularizer, Constraint
    computes_anew = False

    def is_graph(self, layer):
        return isinstance(layer, Sequential) or vars(layer).get(
            '_is_graph_network', False)

    custom_object_scope = staticmethod(custom_object_scope)

    def layers_within(self, model):
        found, waiting = {}, [model]
        while waiting:
            layer = waiting.pop()
            if id(layer) not in found:
                found[id(layer)] = layer
                waiting.extend(self._layers_held_by(layer))
        return list(found.values())

    def _layers_held_by(self, layer):
        """Returns the layers that a layer holds, in attributes of any kind."""
        return [*getattr(layer, '_layers', []),
                *(each for _, _, _, found in self._held_by(layer)
                  for each in found if self.is_layer(each))]

    def own_state(self, layer):
        if isinstance(layer, Network):
            return []
        return layer._trainable_weights + layer._non_trainable_weights

    def new_state(self, value):
        scope, _, name = (value.name or '').split(':')[0].rpartition('/')
        arguments = K.get_value(value), K.dtype(value), name or None
        if not scope:
            return K.variable(*arguments)
        with K.name_scope(scope):
            return K.variable(*arguments)

    def signature(self, variable):
        return K.int_shape(variable), K.dtype(variable)

    def attributes(self, layer):
        """Returns the attributes of a layer that are not set by Keras itself."""
        is_network = isinstance(layer, Network)
        own = _set_by_keras(is_network, is_network and layer.optimizer is not None)
        return {name: value for name, value in attributes_of(layer)
                if name not in own and
                not (name == 'history' and isinstance(value, Callback))}

    def set_attribute(self, layer, name, old, value):
        # Keras 2.3 and later add a layer that is set as an attribute to this list.
        tracked = getattr(layer, '_layers', [])
        if self.is_layer(old) and not isinstance(layer, Network):
            tracked[:] = [each for each in tracked if each is not old]
        setattr(layer, name, value)

    def tracked(self, layer):
        return None  # Keras 2 does not use what it tracks to find weights.

    def set_flags(self, layer, clone):
        for name in ('trainable', '_trainable', 'supports_masking', 'stateful'):
            # Not `setattr`, by which a wrapper would also set it on its layers.
            if name in vars(layer):
                vars(clone)[name] = vars(layer)[name]

    def adopt(self, layer, clone):
        if isinstance(layer, Network) and type(clone) is type(layer):
            # Not the input layer, which a `Sequential` has only when it is built.
            for old, new in zip(layer.layers, clone.layers):
                if id(old) not in self.layer_map:
                    self.adopt(old, new)
        first, is_new = first_call_of(layer), id(clone) not in self._clones
        if first and is_new and first.is_outdated(vars(layer)):
            self._changed_layers.append((layer, clone))
        super().adopt(layer, clone)

    def build(self, layer, clone, is_called=True):
        shape = _build_shape_of(layer)
        if layer.built and not clone.built and shape is not None:
            # On TensorFlow 2, Keras builds layers in a graph of its own.
            build = getattr(K, 'symbolic', lambda function: function)(clone.build)
            with self.naming_build_errors(layer), K.name_scope(clone.name):
                with in_global_state_of(first_call_of(layer)):
                    build(shape)
            clone.built, own_record(clone).build_shape = True, shape

    def number_of_build(self, layer):
        number = next(map(number_of_call, layer._inbound_nodes), None)
        return super().number_of_build(layer) if number is None else number

    def builds_layers(self, layer):
        # Such as `TimeDistributed` and `RNN`.
        return is_of_keras(type(layer)) and type(layer).build is not Layer.build

    def finish(self):
        super().finish()
        for layer, clone in self._changed_layers:
            first, new = first_call_of(layer), first_call_of(clone)
            if new is not None:  # It has the history of the original.
                new.changes = [self._counterpart(each) for each in first.changes]

    def _counterpart(self, change):
        attributes = {}
        for name, value in change.attributes.items():
            if not self.is_call_result(value):
                with contextlib.suppress(CannotCopy):
                    attributes[name] = self.value(value)
        return change._replace(attributes=attributes)

    def finish_layer(self, layer, clone):
        for name, value in self.attributes(layer).items():
            if self.is_renewed(value) and hasattr(value, 'seed'):
                # Since Keras 2.3, it counts the draws.
                vars(clone)[name].seed = value.seed
        for name in ('_trainable_weights', '_non_trainable_weights'):
            weights = [self.state_map.get(id(weight))
                       for weight in vars(layer).get(name, [])]
            # `input_tensors` may have built the clone of a layer that is not built.
            if layer.built and all(weight is not None for weight in weights):
                known = set(map(id, weights))
                self._check_unused(layer, clone, [
                    made for made in vars(clone).get(name, [])
                    if id(made) not in known | self._counterparts])
                vars(clone)[name] = weights
        self._add_losses_added_later(layer, clone)

    def _check_unused(self, layer, clone, weights):
        """Raises a `ValueError` if the outputs of a clone depend on weights that it
        has created but would not have, or on those of the original instead."""
        self._set_operands(weights)
        nodes = clone._inbound_nodes if weights else []
        known = {id(x) for node in nodes for x in node.input_tensors}
        pending = [x for node in nodes for x in node.output_tensors]
        while pending:
            x = pending.pop()
            if id(x) not in known:
                known.add(id(x))
                pending += _operands(x)
                weight = self._variable_of(x)
                if any(weight is each for each in weights) or (
                        weight is not None and self._is_original(weight)):
                    raise refusal(layer, 'its clone would compute with weights that '
                                  'it would not have')

    def _add_losses_as_called(self, network):
        """Adds the losses that its layers had when a nested model was called: it has
        them as well."""
        known = set(map(id, network._losses)) if isinstance(network, Network) else ()
        for layer in self.layers_within(network)[1:] if known else []:
            if id(layer) in self.layer_map and not isinstance(layer, Network):
                self._add_more_losses(layer, self.layer_map[id(layer)], known=known)

    def _add_losses_added_later(self, layer, clone):
        """Adds the losses that were added to a layer after it was called."""
        if isinstance(layer, Network) or len(layer._losses) <= len(clone._losses):
            return
        self._pair_call_results(layer, clone)
        self._add_more_losses(layer, clone)
        for node in filter(self._is_cloned, layer._inbound_nodes):
            self._add_more_losses(layer, clone, node.input_tensors)

    def _add_more_losses(self, layer, clone, inputs=None, known=None):
        """Adds the losses of a layer that its clone lacks.

        # Arguments
            inputs: the tensors on which the losses are conditional, or None.
            known: None or a set, the ids of the losses to add.
        """
        new_inputs = inputs and [*map(self.tensor, inputs)]
        losses = layer.get_losses_for(inputs)
        count = len(clone.get_losses_for(new_inputs))
        if len(losses) > count:  # Some may be of calls in other models.
            more = [*filter(self._is_within, losses)][count:]
            clone.add_loss([self.value(loss) for loss in more
                            if (known is None or id(loss) in known) and
                            self._can_compute(loss)], new_inputs)

    def _pair_call_results(self, layer, clone):
        """Registers the tensors that the calls of a layer have stored in it."""
        for name, value in self.attributes(layer).items():
            tensors, made = [[x for x in objects_in(each) if self.is_tensor(x)]
                             for each in (value, vars(clone).get(name))]
            if [*map(K.int_shape, tensors)] == [*map(K.int_shape, made)]:
                for x, y in zip(tensors, made):
                    if self._is_within(x):
                        self.tensor_map.setdefault(id(x), y)

    def _is_within(self, x):
        """Returns whether a tensor is computed only from what the model has."""
        if id(x) in self.tensor_map:
            return True
        replace, recomputed = self._replaced_operands(x)
        return not any(map(K.is_placeholder, recomputed)) and all(
            id(operand) in self.tensor_map or self._variable_of(operand) is not None
            for operand in replace)

    def _can_compute(self, x):
        """Returns whether the counterpart of such a tensor can be had."""
        return id(x) in self.tensor_map or not _have_loop(
            self._replaced_operands(x)[1])

    def new_layer(self, layer):
        if isinstance(layer, InputLayer):
            return Input(batch_shape=layer.batch_input_shape, dtype=layer.dtype,
                         sparse=layer.sparse, name=layer.name)._keras_history[0]
        return self._network(layer) if self.is_graph(layer) else self.created(layer)

    def _input_layer(self, layer):
        """Returns the clone of an input layer that is not among the inputs."""
        if not layer.is_placeholder:
            raise ValueError('Cannot clone a model that depends on the input "{}", '
                             'which was created from a tensor and is not among its '
                             'inputs. Add it to the inputs of the model.'.format(
                                 layer.name))
        return self.layer(layer)

    def tensor(self, x):
        """Returns the clone of a tensor, or `x` itself if it does not belong to the
        model.

        A tensor that was passed as a call argument may be the output of a layer
        that is not in `model.layers`. Such layers are found by its Keras history.
        """
        if id(x) not in self.tensor_map:
            if hasattr(x, '_keras_history'):
                layer, node_index, _ = x._keras_history
                self._clone_nodes([layer._inbound_nodes[node_index]])
            else:
                self.tensor_map[id(x)] = self._backend_tensor(x)
        return self.tensor_map.get(id(x), x)

    def _backend_tensor(self, x):
        """Returns the clone of a tensor that is not the output of a layer."""
        replace, recomputed = self._replaced_operands(x)
        if not replace:
            return x
        return _recompute(x, recomputed, [(y, self._operand(y)) for y in replace])

    def _replaced_operands(self, x):
        """Returns the tensors of the model that a tensor is computed from, and the
        tensors and ops in between, which have to be recomputed."""
        replace, recomputed, pending = [], {id(x): x}, [x]
        learning_phase = K.learning_phase()  # All models have the same.
        while pending:
            for operand in _operands(pending.pop()):
                if operand is learning_phase:
                    continue
                if (id(operand) in self.tensor_map or
                        hasattr(operand, '_keras_history') or
                        self._variable_of(operand) is not None):
                    replace.append(operand)
                elif id(operand) not in recomputed:
                    recomputed[id(operand)] = operand
                    pending.append(operand)
        return replace, list(recomputed.values())

    def _operand(self, x):
        variable = self._variable_of(x)
        if variable is None:
            return self.tensor(x)
        new = self.value(variable)
        if x is getattr(variable, '_snapshot', None):
            return new._snapshot
        new = _handle(new)
        if not hasattr(new, 'numpy'):
            return new
        # On TensorFlow 2, a graph captures outside tensors as placeholders.
        with x.graph.as_default():
            return x.graph.capture(new)

    def _variable_of(self, operand):
        """Returns the weight of the model that an operand stands for, or None."""
        # A layer connected only by a call argument is not within the model.
        layers = [layer for layer, _ in self.pairs[self._searched_pairs:]]
        if not self._searched_pairs:
            layers += self.layers_within(self.model)
        self._searched_pairs = len(self.pairs)
        for layer in layers:
            self._set_operands(self.own_state(layer))
        captures = getattr(getattr(operand, 'graph', None), 'captures', [])
        handle = next((outer for outer, inner in captures if inner is operand),
                      operand)
        return self._variables.get(id(handle))

    def _set_operands(self, weights):
        """Registers the operands that stand for weights, for `_variable_of`."""
        for weight in weights:
            # On TensorFlow 1, a variable also has a tensor for reading it.
            for each in (_handle(weight), getattr(weight, '_snapshot', None)):
                self._variables[id(each)] = weight

    def _network(self, network):
        _check_not_subclassed(network)
        if not network.inputs:
            return _new_model_like(
                network, layers=[self.layer(layer) for layer in network.layers])
        mapped = [self.tensor_map.get(id(x)) for x in network.inputs]
        if not all(x is None or _is_input(x) for x in mapped):
            # The outer model has the same input and is cloned onto the output of a
            # layer. A nested network needs inputs of its own.
            with self._other_tensors():
                return self._network(network)
        return self._graph_network(
            network, [x if x is not None else self.layer(layer).output
                      for x, layer in zip(mapped, network._input_layers)])

    @contextlib.contextmanager
    def _other_tensors(self):
        """Context in which no tensor has a clone yet."""
        known, self.tensor_map = self.tensor_map, {}
        try:
            yield
        finally:
            self.tensor_map = known

    def _graph_network(self, network, input_tensors):
        for x, y in zip(network.inputs, input_tensors):
            self.tensor_map[id(x)] = y
        by_depth = sorted(network._nodes_by_depth.items(), reverse=True)
        self._clone_nodes([node for _, nodes in by_depth for node in nodes])
        inputs = _source_inputs(input_tensors)
        outputs = [self.tensor(x) for x in network.outputs]
        is_chain = isinstance(network, Sequential) and _is_input(*input_tensors)
        clone = (_new_model_like(network) if is_chain else
                 _new_model_like(network, inputs=inputs, outputs=outputs))
        self.layer_map[id(network)] = clone  # Its attributes may refer back to it.
        if is_chain:
            clone.inputs, clone.outputs = inputs, outputs
            clone.build()
            clone._build_input_shape = network._build_input_shape
        # An output that is an input would be named for the input tensor.
        clone.output_names = list(network.output_names)
        self._add_losses(network, clone)
        return clone

    def _add_losses(self, network, clone):
        """Adds the losses that were added to the model itself, not to a layer."""
        losses = network.get_losses_for(None)
        if not losses:
            return
        # A model that was called also has the losses of its layers.
        of_layers = set(id(loss) for layer in self.layers_within(network)[1:]
                        for loss in layer._losses)
        clone.add_loss([self.value(loss) for loss in losses
                        if id(loss) not in of_layers])

    def _is_cloned(self, node):
        return all(id(x) in self.tensor_map for x in node.output_tensors)

    def _clone_nodes(self, nodes):
        """Calls the clones of layers as in `nodes`, in the order of these calls.

        # Arguments
            nodes: list; the nodes that they depend on, also by call arguments, are
                added to it.
        """
        found = set(nodes)
        for node in nodes:  # The list may grow in the loop.
            more = [each for each in self._parents(node) if each not in found]
            found.update(more)
            nodes += more
        # As they were called: `in_call_order` begins with the last in the list.
        nodes.sort(key=lambda node: number_of_call(node) or 0, reverse=True)
        networks = self._networks_of(nodes)
        for node in in_call_order(
                nodes, lambda node: node.outbound_layer, self._parents):
            # A nested model is cloned where it was created: it calls layers, too.
            while networks and networks[-1][0] < (number_of_call(node) or 0):
                self.layer(networks.pop()[1])
            self._clone_node(node)

    def _networks_of(self, nodes):
        """Returns the nested models that `nodes` are calls of, as a list of tuples
        (number of their last call, model): that which was created first is last."""
        layers = {id(node.outbound_layer): node.outbound_layer for node in nodes}
        networks = [(_number_of_last_call(layer), layer) for layer in layers.values()
                    if self.is_graph(layer)]
        return sorted(networks, key=lambda pair: pair[0], reverse=True)

    def _parents(self, node):
        """Returns the nodes whose outputs a node was called with."""
        # The input of an `InputLayer` is its output.
        tensors = list(node.input_tensors) if node.inbound_layers else []
        if node.arguments:
            tensors += filter(self.is_tensor, self._walk.leaves_in(node.arguments))
        histories = [x._keras_history for x in tensors if id(x) not in
                     self.tensor_map and hasattr(x, '_keras_history')]
        return [layer._inbound_nodes[index] for layer, index, _ in histories]

    def _clone_node(self, node):
        if self._is_cloned(node):
            return
        if not node.inbound_layers and self._map_created(node):
            return
        # Copied: the two nodes must not share containers.
        arguments = copied(self.value(node.arguments or {}))
        inputs = [self.tensor(x) for x in _call_inputs(node)]
        layer = self.layer(node.outbound_layer)
        if self._is_cloned(node):  # The layer holds what is computed from it.
            return
        self._add_losses_as_called(node.outbound_layer)
        number = number_of_call(node)
        self._set_as_called(node.outbound_layer, layer, number)
        with self._trainable_as_called(node.outbound_layer):
            new_node = self.called(node.outbound_layer, layer, inputs,
                                   [unpack_singleton(inputs)], arguments)
        self._pair_created(node.outbound_layer, number)
        keep_number(new_node, number)
        self._map_outputs(node, new_node)

    def _map_created(self, node):
        """Registers the outputs of a node that the constructor of a layer has
        created, as that of an `InputLayer` does; returns whether it is such a node.
        """
        layer = node.outbound_layer
        is_input = isinstance(layer, InputLayer)
        clone = self._input_layer(layer) if is_input else self.layer(layer)
        index = layer._inbound_nodes.index(node)
        is_created = index < len(clone._inbound_nodes)
        if is_created:
            self._map_outputs(node, clone._inbound_nodes[index])
        return is_created

    def _set_as_called(self, layer, clone, number):
        """Sets what the user had changed before a call, but after the first one.

        # Arguments
            number: the number of the call, or None if it is not known.
        """
        changes = [(each, new, first_call_of(each).set_by_user(number))
                   for each, new in self._changed_within(layer, number)]
        if any(held for _, _, held in changes):
            self.build(layer, clone)  # In the original, it was built before that.
            self._pair_created(layer, number)
        for each, new, held in changes:
            for name, value in held.items():
                self._set_in_call(each, new, name, value)

    def _set_in_call(self, layer, clone, name, value):
        """Sets an attribute as the user has changed it between two calls."""
        parts, new = self._layers_and_state(value), getattr(clone, name, None)
        is_right = parts and self.corresponds(value, parts, new)
        if not (is_right or self.is_call_result(value)):
            with contextlib.suppress(CannotCopy):  # See `check`.
                self._set_as_in(layer, clone, name, value, new)
        for each in filter(self.is_layer, parts):
            if each.built and id(each) in self.layer_map:
                self.build_held(each, self.layer_map[id(each)])

    def _pair_created(self, layer, number):
        """Pairs what calls have created, and the user, or another call, has replaced
        since."""
        for each, new in self._changed_within(layer, number):
            for name, value in first_call_of(each).set_by_calls(number).items():
                if is_changed(value, vars(each).get(name)):
                    made = self._layers_and_state(vars(new).get(name))
                    [*map(self.is_pair, self._layers_and_state(value), made)]

    def _changed_within(self, layer, number):
        """Returns a layer and those that it holds, if anything that was set when
        they were first called is not what is set now, with their clones."""
        if number is None or not self._changed_layers:
            return []
        within = {*map(id, self.layers_within(layer))}
        return [pair for pair in self._changed_layers if id(pair[0]) in within]

    @contextlib.contextmanager
    def _trainable_as_called(self, network):
        """Context in which layers are trainable that were frozen only after a nested
        model was called: the model still has their updates."""
        kept = set(map(id, getattr(network, '_updates', [])))
        frozen = [self.layer_map[id(each)]
                  for each in (self.layers_within(network)[1:] if kept else [])
                  if not each.trainable and id(each) in self.layer_map and
                  not kept.isdisjoint(map(id, each._updates))]
        for each in frozen:
            vars(each)[_trainable_attribute(each)] = True
        yield
        for each in frozen:
            vars(each)[_trainable_attribute(each)] = False

    def _map_outputs(self, node, new_node):
        for x, y in zip(node.output_tensors, new_node.output_tensors):
            self.tensor_map[id(x)] = y
        # A single None or a tuple may stand for the masks of all outputs.
        masks = itertools.zip_longest(node.output_masks, new_node.output_masks)
        for mask, new_mask in masks:
            if mask is not None and new_mask is None:
                raise refusal(node.outbound_layer, 'it returned a mask, its clone '
                              'returns none. Whether there is a mask must depend '
                              'only on the class or the config of the layer')
            if mask is not None:
                # If layers pass on the same mask, it is the output of the first.
                self.tensor_map.setdefault(id(mask), new_mask)

    def copy_unreachable_values(self, clone):
        """Copies the values that `clone.set_weights` does not set.

        These are weights of layers that are connected to the model only by a call
        argument or that another layer holds without listing their weights, and
        variables that are not weights. The states of a stateful layer begin anew.
        """
        left_out = set(map(id, clone.weights)) | self.ids_of_states()
        values = {id(new): (new, old) for old, new in self.state_pairs}
        values = [(new, old) for key, (new, old) in values.items()
                  if key not in left_out and _can_get_value_of(new, old)]
        found = _values_of([old for _, old in values])
        K.batch_set_value([(new, value) for (new, _), value in zip(values, found)
                           if value is not None])


@functools.lru_cache(maxsize=None)
def _set_by_keras(is_network, is_compiled=False):
    """Returns the names of the attributes that Keras itself sets on every layer, or
    on every network, compiled or not."""
    # The inputs of a clone are always placeholders.
    names = {*vars(Layer(name='layer')), RECORD, 'is_placeholder'}
    if is_network:
        names |= {'predict_function', 'stop_training'}  # Set by `predict` and `fit`.
        with _scratch():
            x = Input((1,), name='x')
            models = [Model(x, x, name='model'), Model(name='model'),
                      Sequential([x._keras_history[0]], name='model')]
            if is_compiled:
                models[0].compile('sgd', 'mse')
        names.update(name for model in models for name in vars(model))
    return frozenset(names)


@contextlib.contextmanager
def _scratch():
    """Context in which layers and tensors are created that are not used."""
    if K.backend() != 'tensorflow':
        yield
        return
    import tensorflow as tf
    with tf.Graph().as_default():
        yield


def _trainable_attribute(layer):
    """Returns the name under which a layer stores `trainable`.

    Setting `trainable` itself would set it on the layers in a wrapper as well.
    """
    return '_trainable' if '_trainable' in vars(layer) else 'trainable'


def _is_variable(value):
    if not K.is_tensor(value):
        return False
    if K.backend() == 'cntk':
        return getattr(value, 'is_parameter', False)
    return hasattr(value, {'theano': 'get_value'}.get(K.backend(), 'assign_add'))


def _values_of(variables):
    """Returns the values of variables, None for those that are not initialized."""
    try:
        return K.batch_get_value(variables)
    except Exception:
        if len(variables) == 1:
            return [None]
        return [value for each in variables for value in _values_of([each])]


def _can_get_value_of(variable, other):
    """Returns whether two variables have the same shape and, on TensorFlow 1, are in
    the same graph: that of the original may have been cleared."""
    return (K.int_shape(variable) == K.int_shape(other) and
            getattr(variable, 'graph', None) is getattr(other, 'graph', None))


def _handle(variable):
    """Returns the tensor that ops of the backend have as an operand if they read a
    variable."""
    if K.backend() != 'tensorflow':
        return variable
    handle = getattr(variable, 'handle', None)
    return handle if hasattr(handle, 'numpy') else variable.op.outputs[0]


def _operands(x):
    """Returns the operands from which a backend tensor is computed.

    # Arguments
        x: a tensor, or a TensorFlow op without outputs.

    # Returns
        A list of tensors and of ops without outputs.

    # Raises
        CannotCopy: if `x` depends on an input and the backend does not expose its
            operands.
    """
    if K.backend() == 'tensorflow':
        # Eager tensors of TensorFlow 2 have no op.
        op = getattr(x, 'op', x)
        return list(getattr(op, 'inputs', [])) + _control_inputs(op)
    if K.backend() == 'theano':
        return getattr(getattr(x, 'owner', None), 'inputs', [])
    if any(variable.is_input for variable in getattr(x, 'inputs', [])):
        raise CannotCopy(_CANNOT_RECOMPUTE.format(x))
    return []


def _control_inputs(op):
    """Returns the control inputs of an op: the first output of each, or the op
    itself if it has no outputs."""
    return [(each.outputs or [each])[0]
            for each in getattr(op, 'control_inputs', [])]


def _recompute(x, recomputed, replace):
    """Computes a backend tensor again, from other tensors.

    # Arguments
        x: the tensor, of any shape.
        recomputed: list of what to compute again: `x`, and the tensors and ops
            between the replaced tensors and `x`.
        replace: list of pairs (tensor, its replacement of the same shape).

    # Returns
        A tensor of the shape of `x`.

    # Raises
        CannotCopy: if `x` depends on a loop of TensorFlow 1, which is a cycle of
            ops.
    """
    if K.backend() == 'theano':
        from theano.gof.graph import clone_get_equiv
        # Not `theano.clone`, which also copies what the replacements depend on.
        return clone_get_equiv([y for y, _ in replace], [x], copy_inputs=False,
                               copy_orphans=False, memo=dict(replace))[x]
    if _have_loop(recomputed):
        raise CannotCopy(_CANNOT_RECOMPUTE.format(x))
    ops = set(getattr(y, 'op', y) for y in recomputed)
    return _copy_ops([op for op in ops if op.inputs or op.type in ('Const', 'NoOp')],
                     x, {id(tensor): other for tensor, other in replace})


def _have_loop(tensors):
    """Returns whether there is an end of a loop of TensorFlow 1 among tensors."""
    return K.backend() == 'tensorflow' and any(
        getattr(getattr(x, 'op', x), 'type', '') == 'Exit' for x in tensors)


def _copy_ops(ops, x, replace):
    """Copies TensorFlow ops into their graph.

    # Arguments
        ops: list of ops.
        x: an output of one of them.
        replace: dict {id of a tensor: its replacement}.

    # Returns
        The counterpart of `x` among the outputs of the copies.
    """
    import tensorflow as tf
    from tensorflow.core.framework.graph_pb2 import GraphDef
    names = set(op.name for op in ops)
    nodes, inputs = GraphDef(versions=x.graph.graph_def_versions), {}

    def is_outside(y):
        return getattr(y, 'op', y).name not in names

    for op in ops:
        node = nodes.node.add()
        node.CopyFrom(op.node_def)
        node.attr.pop('_class', None)  # A colocation constraint.
        inputs.update((y.name, replace.get(id(y), y))
                      for y in op.inputs if is_outside(y))
        inputs.update(('^' + y.op.name, replace.get(id(y), y))
                      for y in _control_inputs(op) if is_outside(y))
    with x.graph.as_default():
        return tf.graph_util.import_graph_def(nodes, inputs, [x.name])[0]


def _number_of_last_call(network):
    """Returns the number of the last call inside a graph network: the network was
    created after it."""
    depths = network._nodes_by_depth.values()
    return max(number_of_call(node) or 0 for nodes in depths for node in nodes)


def _build_shape_of(layer):
    """Returns the input shape that a layer was built with; None if not known."""
    if layer._inbound_nodes:
        return layer.get_input_shape_at(0)
    return getattr(record_of(layer), 'build_shape', None)


def _call_inputs(node):
    """Returns the tensors on which the layer of a node was called.

    In Keras 2.2.4, `initial_state` and `constants` are both among the inputs of a
    node and among its arguments (`RNN.__call__` in `layers/recurrent.py`). They are
    left out of the inputs here.
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
        raise ValueError('Expected `model` argument to be a graph network, created '
                         'from inputs and outputs. Got a subclassed model, "{}" of '
                         'class `{}`: its graph is defined only by its code. Create '
                         'a second instance of the class instead.'.format(
                             model.name, type(model).__name__))


def _keras_tensors(input_tensors, names):
    """Returns the `input_tensors` of `clone_model` as a list of Keras tensors.

    # Arguments
        input_tensors: a tensor, or a list or tuple of them.
        names: list of strings, the names of the input layers to replace.

    # Returns
        A list of tensors; those without a Keras history get an `InputLayer`.

    # Raises
        ValueError: if the number of tensors differs from that of the names, or if
            an entry is not a tensor.
    """
    tensors = to_list(input_tensors, allow_tuple=True)
    if len(tensors) != len(names):
        raise ValueError('Expected `input_tensors` argument to have one tensor for '
                         'each input of the model ({}), got {}.'.format(
                             ', '.join(names), len(tensors)))
    for name, x in zip(names, tensors):
        if not K.is_tensor(x):
            raise ValueError('Expected every entry of `input_tensors` argument to '
                             'be a symbolic tensor, such as `keras.Input` returns. '
                             'Got an instance of `{}` for the input "{}".'.format(
                                 type(x).__name__, name))
    return [x if K.is_keras_tensor(x) else
            Input(tensor=x, name='input_wrapper_for_' + name)
            for x, name in zip(tensors, names)]


def _is_input(*tensors):
    return all(isinstance(x._keras_history[0], InputLayer) for x in tensors)


def _source_inputs(tensors):
    """Returns the input tensors that `tensors` depend on, without duplicates."""
    sources = []
    for x in tensors:
        for source in get_source_inputs(x):
            if not any(source is other for other in sources):
                sources.append(source)
    return sources


def _build_on(model, x):
    """Builds a `Sequential` model, which has no input yet, on a Keras tensor."""
    layers = model.layers
    if _is_input(x):
        return _new_model_like(model, layers=[x._keras_history[0]] + layers)
    outputs = x
    for layer in layers:
        outputs = layer(outputs)
    return _new_model_like(model, inputs=_source_inputs([x]), outputs=outputs)


def _new_model_like(model, **arguments):
    """Returns a new model of the class of `model`.

    The constructor of a user's class is not run, because its arguments are unknown.
    The attributes that it set are copied later.
    """
    base = Model if 'inputs' in arguments else Sequential
    is_chained = base is Model and isinstance(model, Sequential)
    cls = Model if is_chained else type(model)
    new_model = cls.__new__(cls)
    base.__init__(new_model, name=model.name, **arguments)
    new_model.trainable = model.trainable
    return new_model
