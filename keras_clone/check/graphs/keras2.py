"""The graphs of Keras 2.2.4 to 2.3.1.

`keras/engine/base_layer.py` and `keras/engine/network.py`: a node is one call of a
layer, with its input tensors, output tensors, masks and call arguments. On
TensorFlow, all is done in a graph and a session of its own, so that whatever the
caller has built is neither changed nor searched.
"""
import collections
import contextlib
import importlib
import itertools
import re
from operator import attrgetter
from unittest import mock

import numpy as np
from keras import backend as K
from keras.engine.base_layer import Layer
from keras.engine.base_layer import Node
from keras.engine.network import Network
from keras.models import Sequential

from ..values import items_of
from . import Graphs, reached

# Types of ops that read, set and feed values, and are no part of a model.
NOT_COUNTED = ('Placeholder', 'PlaceholderWithDefault', 'IsVariableInitialized',
               'VarIsInitializedOp', 'NoOp')
ASSIGN = ('Assign', 'AssignVariableOp')
# Types of ops that draw random numbers.
RANDOM = ('RandomUniform', 'RandomStandardNormal', 'TruncatedNormal', 'Multinomial',
          'RandomUniformInt', 'RandomShuffle', 'RandomGamma')


class Keras2Graphs(Graphs):

    LAYERS, RECORDS = Layer, Node
    FILE, SAVING = 'model.h5', {'include_optimizer': False}
    NOT_TRAINED = () if K.backend() == 'tensorflow' else (
        f'a step of training ({K.backend()} would compile it for long)',)

    layers_of = attrgetter('_layers')
    layer_of = attrgetter('outbound_layer')
    masks_of = attrgetter('input_masks', 'output_masks')
    shapes_of = attrgetter('output_shapes')

    def is_variable(self, value):
        """To read an update is to execute it: on TensorFlow 1, those of Keras 2.3
        and later look like variables."""
        if not self.is_tensor(value) or hasattr(value, '_parent_op'):
            return False
        if K.backend() == 'cntk':
            return getattr(value, 'is_parameter', False)
        name = 'get_value' if K.backend() == 'theano' else 'assign_add'
        return hasattr(value, name)

    def is_tensor(self, value):
        try:
            K.is_keras_tensor(value)
        except ValueError:
            return False
        return True

    def is_part(self, value):
        """On TensorFlow, a layer may have been called in another graph, too."""
        is_part = self.is_variable(value) or (
            self.is_tensor(value) and hasattr(value, '_keras_history'))
        return self.is_layer(value) or is_part and _is_in_current_graph(value)

    def sources(self, tensor):
        """TensorFlow tells it. A layer knows what its outputs were computed from."""
        if hasattr(tensor, '_keras_history'):
            return [tensor._keras_history]
        return [] if self.is_variable(tensor) else list(
            getattr(getattr(tensor, 'op', None), 'inputs', ()))

    def is_network(self, layer):
        return isinstance(layer, Sequential) or getattr(
            layer, '_is_graph_network', False)

    def is_current(self, model):
        """On TensorFlow, a state has a graph of its own."""
        return all(map(_is_in_current_graph, filter(_is_fed, model.inputs or [])))

    def graph_of(self, network):
        return network if network.inputs else None

    def held_layers(self, layer):
        """They are labelled by the attribute that holds them, those of a subclassed
        model by their position."""
        if isinstance(layer, Network):
            return [(str(i), each) for i, each in enumerate(layer._layers)]
        # From 2.3 on, Keras lists them in `_layers` as well.
        return [(label, each) for name in sorted(set(vars(layer)) - {'_layers'})
                for label, each in items_of(vars(layer)[name], name)
                if self.is_layer(each)]

    def weights_of(self, layer):
        """They include those of the layers that it holds."""
        return [] if isinstance(layer, Network) else layer.weights

    def facts_of_weight(self, weight):
        name = getattr(weight, 'name', None) or ''
        return {'': f'{K.dtype(weight)} of shape {K.int_shape(weight)}',
                ', its name': re.sub(r'(_\d+)?(:\d+)?$', '', name.split('/')[-1])}

    def facts_of_input(self, tensor):
        return (K.int_shape(tensor), K.dtype(tensor),
                getattr(tensor._keras_history[0], 'sparse', False))

    def settings_of(self, model):
        return {'number of ' + name: len(set(map(id, getattr(model, name))))
                for name in ('losses', 'updates')}

    def values_of(self, variables):
        return K.batch_get_value(variables)

    def set_values(self, variables, values):
        K.batch_set_value(list(zip(variables, values)))

    def arguments_of(self, node):
        """They do not include the tensors that the layer was called on."""
        return () if node.arguments is None else (node.arguments,)

    def counting_ops(self, function):
        """TensorFlow can list them. Placeholders are left out, and what Keras adds
        to set the value of a weight, to read it right after or to initialize all."""
        if K.backend() != 'tensorflow':
            return super().counting_ops(function)
        K.learning_phase()  # Created at its first use in a graph.
        graph = current_graph()
        before = len(graph.get_operations())
        result = function()
        return result, collections.Counter(
            op.type for op in graph.get_operations()[before:]
            if op.type not in NOT_COUNTED and not any(
                each.type in ASSIGN and each.inputs[1].op.type == 'Placeholder'
                for each in [op, *op.control_inputs]))

    def fresh_names(self, seed):
        """On Theano and CNTK, only the numbers in names start at 1 again."""
        if K.backend() == 'tensorflow':
            return _fresh_keras_graph(seed) if _is_eager() else _fresh_graph()
        return mock.patch.object(
            importlib.import_module(f'keras.backend.{K.backend()}_backend'),
            '_UID_PREFIXES', collections.defaultdict(int))

    def evaluator(self, model, values, nodes=None):
        if nodes is None:
            histories = [x._keras_history for x in model.outputs]
            tensors = model.outputs + _tensors(
                layer._inbound_nodes[i].output_masks[k] for layer, i, k in histories)
        else:
            tensors = [x for node in nodes for x in
                       list(node.output_tensors) + _tensors(node.output_masks)]
        compute = function_of(_feeds(model, values), tensors,
                              0 if model.uses_learning_phase else None)

        def compute_from_start():
            if model.stateful:
                model.reset_states()
            return compute()
        return compute_from_start

    def inputs_to_feed(self, model, values):
        """Only placeholders have no value of their own."""
        return [value if _is_fed(tensor) else function_of([], [tensor])()[0]
                for tensor, value in zip(model.inputs, values)]

    def train_once(self, model, values, targets=None, noise=None):
        """A clone is not compiled, so there is no loss that takes targets: the loss
        is the mean square of the outputs, added to the model's own losses. Where
        gradients are expensive, weights take no step, but follow their updates."""
        # Theano compiles gradients, and TensorFlow builds each loop once more, which
        # takes longer than all else here.
        is_cheap = K.backend() == 'tensorflow' and not _has_loops()
        trained = model.trainable_weights if is_cheap else []
        if _is_eager() or not (trained or model.losses or model.updates or
                               model.uses_learning_phase):
            return {}, None  # Eagerly, each run draws in another order.
        losses = [K.sum(each) for each in model.losses]
        drawn = _drawn(model.outputs + losses)
        tensors = [losses, model.outputs, self._stepped(model, trained, losses),
                   drawn]
        fed = _feeds(model, values)
        if noise is not None and len(noise) == len(drawn):
            fed += zip(drawn, noise)
        compute = function_of(
            fed, sum(tensors, []),
            1 if model.uses_learning_phase or K.backend() == 'tensorflow' else None,
            model.updates)
        if model.stateful:
            model.reset_states()
        kept = [] if not model.updates else model.weights + [
            each for update in model.updates if isinstance(update, tuple)
            for each in update if self.is_variable(each)]
        before = self.values_of(kept)
        try:
            computed, after = iter(compute()), self.values_of(model.weights)
        finally:
            self.set_values(kept, before)
        losses, outputs, weights, noise = (
            list(itertools.islice(computed, len(each))) for each in tensors)
        stepped = {id(each): x for each, x in zip(trained, weights)}
        # Several updates of one weight run in an undefined order.
        in_order = len(model.updates) <= len(model.non_trainable_weights)
        return {'losses': [sum(losses)] if losses else [],
                'outputs in training': outputs,
                self.STEPPED: [
                    stepped.get(id(each), x) for each, x in zip(model.weights, after)
                    if in_order or id(each) in stepped]}, noise

    def _stepped(self, model, weights, losses):
        """Returns the tensors of weights after one step of gradient descent."""
        squares = [K.mean(K.square(x)) for x in model.outputs
                   if K.dtype(x).startswith('float')]
        if not weights or not squares + losses:
            return list(weights)
        found = []
        for weight, gradient in zip(weights, K.gradients(sum(squares + losses),
                                                         weights)):
            constraint = getattr(weight, 'constraint', None) or K.identity
            found.append(weight + 0. if gradient is None else
                         constraint(weight - self.RATE * K.identity(gradient)))
        return found


def _tensors(masks):
    """Returns the tensors among masks, each a tensor or None.

    Where `compute_mask` returns a tuple, the engine takes it for a single mask.
    """
    return [each for mask in masks
            for each in (mask if isinstance(mask, tuple) else [mask])
            if each is not None]


def _is_in_current_graph(value):
    return K.backend() != 'tensorflow' or getattr(
        value, 'graph', None) in (None, current_graph())


def current_graph():
    """Returns the TensorFlow graph in which Keras builds at this moment."""
    import tensorflow as tf
    if tf.__version__.startswith('1.'):
        return tf.get_default_graph()
    from tensorflow.python.keras import backend
    return backend.get_graph()


@contextlib.contextmanager
def _fresh_graph():
    import tensorflow as tf
    from keras.backend import tensorflow_backend
    with tf.Graph().as_default() as graph, session(graph):
        yield
    # Keras keeps these forever, and with them the graph: 2.2.4 itself, later
    # releases in the backend of tf.keras.
    for module in (tensorflow_backend,
                   getattr(tensorflow_backend, 'tf_keras_backend', None)):
        for name in ('_GRAPH_UID_DICTS', '_GRAPH_LEARNING_PHASES'):
            getattr(module, name, {}).pop(graph, None)


@contextlib.contextmanager
def _fresh_keras_graph(seed):
    """TensorFlow 2: a new graph in place of the one in which Keras builds. What
    initializers draw depends on TensorFlow's own seed as well."""
    import tensorflow as tf
    from keras.backend import tensorflow_backend
    from tensorflow.python.eager.context import context
    from tensorflow.python.framework.func_graph import FuncGraph
    from tensorflow.python.keras import backend
    graph = FuncGraph('keras_graph')
    old = {name: vars(context()).get(name) for name in ('_seed', '_rng')}
    tf.compat.v2.random.set_seed(seed)
    try:
        with mock.patch.object(backend, '_GRAPH', graph), mock.patch.object(
                tensorflow_backend, '_LEARNING_PHASE_CACHE', {}):
            yield
    finally:
        backend._GRAPH_LEARNING_PHASES.pop(graph, None)
        vars(context()).update(old)


def session(graph):
    """Returns a session that computes a graph without optimizing it.

    Optimizing takes far longer than computing a small model once.
    """
    import tensorflow as tf
    v1 = tf if hasattr(tf, 'Session') else tf.compat.v1
    config = v1.ConfigProto(allow_soft_placement=True)
    config.graph_options.optimizer_options.opt_level = v1.OptimizerOptions.L0
    rewriting = config.graph_options.rewrite_options
    if hasattr(rewriting, 'disable_meta_optimizer'):  # TensorFlow 1.13
        rewriting.disable_meta_optimizer = True
    return v1.Session(graph=graph, config=config)


def _feeds(model, values):
    """Returns what to feed: a list of pairs (tensor, array)."""
    return [(x, value) for x, value in zip(model.inputs, values) if _is_fed(x)]


def _is_fed(tensor):
    return tensor._keras_history[0].is_placeholder


def function_of(feeds, tensors, learning_phase=None, updates=()):
    """Returns a function without arguments that returns a list of arrays.

    # Arguments
        feeds: list of pairs (tensor, array).
        tensors: list of tensors to compute.
        learning_phase: 0 or 1, the value to feed for it; None where nothing depends
            on it.
        updates: list of updates to execute.
    """
    known = {id(tensor): value for tensor, value in feeds}
    # Variables of TensorFlow 2 have a value.
    known.update((id(x), x.numpy()) for x in tensors
                 if hasattr(getattr(x, '_handle', x), 'numpy'))
    wanted = [each for each in tensors if id(each) not in known]
    if learning_phase is not None and not isinstance(K.learning_phase(), int):
        feeds = feeds + [(K.learning_phase(), learning_phase)]
    values = [value for _, value in feeds]
    function = (K.function([tensor for tensor, _ in feeds], wanted, updates=updates)
                if wanted or updates else lambda values: [])

    def compute():
        computed = dict(known)
        computed.update((id(x), y) for x, y in zip(wanted, function(values)))
        return [np.asarray(computed[id(each)]) for each in tensors]
    return compute


def _has_loops():
    return any(op.type == 'Enter' for op in current_graph().get_operations())


def _drawn(tensors):
    """Returns the random numbers that tensors are computed from, in an order that
    the graph alone determines; none where they cannot be fed or listed."""
    if K.backend() != 'tensorflow' or _has_loops():
        return []
    ops = reached([x.op for x in tensors], lambda op: [x.op for x in op.inputs])
    return [x for op in ops if op.type in RANDOM for x in op.outputs]


def _is_eager():
    """Returns whether TensorFlow executes eagerly, as TensorFlow 2 does."""
    return (K.backend() == 'tensorflow' and
            importlib.import_module('tensorflow').executing_eagerly())
