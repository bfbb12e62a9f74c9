"""The graphs of Keras 2.2.4 to 2.3.1, and those of the backend below them.

`keras/engine/base_layer.py` and `keras/engine/network.py`: a node is one call of a
layer, with its input tensors, output tensors, masks and call arguments. On
TensorFlow and Theano, what a tensor is computed from can be looked up.
"""
import collections
import contextlib
import functools
import importlib
import inspect
import os
import shutil
import tempfile

import keras
import numpy as np
from keras import backend as K
from keras.engine.base_layer import Layer
from keras.engine.base_layer import Node
from keras.engine.network import Network
from keras.models import Model
from keras.models import Sequential

from ..random_values import Input
from ..random_values import consumers

# What reading, setting and feeding values adds: nothing that a model computes.
ASIDE = ('Placeholder', 'PlaceholderWithDefault', 'IsVariableInitialized',
         'VarIsInitializedOp', 'NoOp')
ASSIGN = ('Assign', 'AssignVariableOp')


def backend_name():
    """Returns the name of the backend: `tensorflow`, `theano` or `cntk`."""
    return K.backend()


def is_tensor(value):
    """Returns whether `value` is a symbolic tensor or variable of the backend."""
    try:
        K.is_keras_tensor(value)
    except ValueError:
        return False
    return True


def is_layer(value):
    """Returns whether `value` is a layer."""
    return isinstance(value, Layer)


def is_variable(value):
    """Returns whether `value` is a variable of the backend."""
    if not is_tensor(value):
        return False
    if backend_name() == 'cntk':
        return getattr(value, 'is_parameter', False)
    return hasattr(value, {'theano': 'get_value'}.get(backend_name(), 'assign_add'))


def is_left_by_call(value):
    """Returns whether `value` is a tensor that is no variable: the next call of a
    layer leaves another."""
    return is_tensor(value) and not is_variable(value)


def is_part(value):
    """Returns whether `value` is a layer, a variable or a tensor."""
    return is_layer(value) or is_tensor(value)


def as_array(value):
    """Returns an array as it is, None for anything else."""
    return value if isinstance(value, np.ndarray) else None


def is_network(layer):
    """Returns whether a layer is made of layers in a graph of their own."""
    return isinstance(layer, Network)


def is_built(model):
    """Returns whether a model has inputs and outputs to compare."""
    return bool(model.inputs)


def layers_of(network):
    """Returns the layers of a network, in their order."""
    return network._layers


def layer_of(node):
    """Returns the layer that a node is a call of."""
    return node.outbound_layer


def arguments_of(node):
    """Returns the structures of arguments with which a node's layer was called,
    the tensors it was called on aside."""
    return [] if node.arguments is None else [node.arguments]


def masks_of(node):
    """Returns a node's input masks and output masks, None for each that is none."""
    return node.input_masks, node.output_masks


def shapes_of(node):
    """Returns the shapes of what a node gives."""
    return node.output_shapes


def ordered_nodes(model):
    """Returns the nodes of a graph network, inputs first, in a fixed order.

    # Arguments
        model: a `Model` or a `Sequential` that was built.

    # Returns
        A list of nodes in which a node comes after those that it depends on.
    """
    by_depth = getattr(model, '_nodes_by_depth', {})
    return [node for depth in sorted(by_depth, reverse=True)
            for node in by_depth[depth]]


def inner_layers(layer):
    """Returns the layers that a layer holds, each with the way to it.

    # Arguments
        layer: a layer, wrapper, recurrent layer or model.

    # Returns
        A list of pairs (label, layer). The layers of a network are labelled by
        their position, those of any other layer by the attribute that holds them.
    """
    if isinstance(layer, Network):
        return [(str(i), each) for i, each in enumerate(layer._layers)]
    found = []
    # From 2.3 on, Keras lists them in `_layers` once more.
    for name in sorted(set(vars(layer)) - {'_layers'}):
        _collect_layers(name, vars(layer)[name], found)
    return found


def _collect_layers(label, value, found):
    if isinstance(value, Layer):
        found.append((label, value))
    elif isinstance(value, (list, tuple)):
        for i, each in enumerate(value):
            _collect_layers('%s[%d]' % (label, i), each, found)
    elif isinstance(value, dict):
        for key, each in value.items():
            _collect_layers(f'{label}[{key!r}]', each, found)


def inputs_and_outputs(network):
    """Returns the lists of inputs and outputs of a network, empty if not built."""
    return network.inputs or [], network.outputs or []


def inputs_of(model):
    """Returns the inputs of a model, as `random_values.draw_inputs` takes them."""
    layers = [x._keras_history[0] for x in model.inputs]
    return [Input(K.int_shape(x), K.dtype(x),
                  getattr(layer, 'sparse', False), consumers(layer, _onward))
            for x, layer in zip(model.inputs, layers)]


def _onward(layer):
    """Returns the layers to which a layer hands a tensor on before a weight."""
    if isinstance(layer, Network):
        reached = list(getattr(layer, '_input_layers', []))
    else:
        reached = [each for _, each in inner_layers(layer)]
    if not layer.weights:
        reached += [node.outbound_layer for node in layer._outbound_nodes]
    return reached


# What layer and clone have in common, apart from their class.
FLAGS = ('trainable', 'stateful', 'built', 'supports_masking')
# The classes from which layers and models get what Keras needs.
BASES = (Sequential, Model, Network, Layer)
# What is compared elsewhere.
LEFT_OUT = (Node,)
# What Keras sets on some layers: what calls leave behind, what the graph tells, what
# a config tells; `layer` of a `Bidirectional` computes nothing.
SET_BY_KERAS = ('dtype', 'batch_input_shape', 'is_placeholder', '_input_map',
                '_metrics', '_states', '_trainable', 'layer',
                '_obj_reference_counts')


def flags_of(layer):
    """Returns what is told of every layer: {what: value}."""
    return {name: getattr(layer, name, None) for name in FLAGS}


def own_attributes(layer):
    """Returns the attributes of a layer that not every layer has: {name: value}."""
    left_out = _names_of_every(isinstance(layer, Network))
    return {name: value for name, value in vars(layer).items()
            if name not in left_out}


@functools.lru_cache(maxsize=None)
def _names_of_every(is_network):
    """Returns the names of attributes that Keras itself sets on all layers, or on
    networks: those that their code mentions."""
    names = set(vars(Layer(name='layer'))).union(SET_BY_KERAS)
    for cls in (Network, Model, Sequential) if is_network else ():
        for function in vars(cls).values():
            code = getattr(inspect.unwrap(function), '__code__', None)
            names.update(code.co_names if code else ())
    return names


def names_left_out(value):
    """Returns the names of those attributes of an object that need not agree."""
    if isinstance(value, keras.initializers.Initializer):
        return {'seed'}  # From 2.3 on, it counts calls.
    return set()


def attachments(model):
    """Returns what a model has apart from its layers: {text: what to compare}."""
    return {'number of ' + name: len(set(map(id, getattr(model, name))))
            for name in ('losses', 'updates')}


def weights_of(layer):
    """Returns the weights of a layer, with those of the layers that it holds.

    A network has none but those of its layers.
    """
    return [] if isinstance(layer, Network) else layer.weights


def kind_of(variable):
    """Returns as text what a weight is, apart from its numbers."""
    return f'{K.dtype(variable)} of shape {K.int_shape(variable)}'


def values_of(variables):
    """Returns the values of variables, as arrays."""
    return K.batch_get_value(variables)


def own_variables(layer):
    """Returns a layer's weights and recurrent states, with text for each.

    # Returns
        List of pairs (`weight 0` or the like, variable).
    """
    states = [each for each in getattr(layer, 'states', None) or []
              if is_tensor(each)]
    return [('%s %d' % (kind, i), each)
            for kind, variables in (('weight', weights_of(layer)),
                                    ('state', states))
            for i, each in enumerate(variables)]


def tensors_of(node):
    """Returns the tensors that a node makes: its outputs and their masks."""
    return list(node.output_tensors) + mask_tensors(node.output_masks)


def mask_tensors(masks):
    """Returns the tensors among masks, each a tensor or None.

    Where `compute_mask` returns a tuple, the engine takes it for a single mask.
    """
    return [each for mask in masks
            for each in (mask if isinstance(mask, tuple) else [mask])
            if each is not None]


def current_graph():
    """Returns the TensorFlow graph in which Keras builds at this moment."""
    import tensorflow as tf
    if tf.__version__.startswith('1.'):
        return tf.get_default_graph()
    from tensorflow.python.keras import backend
    return backend.get_graph()


def is_current(model):
    """Returns whether a model was built in the graph that Keras builds in now."""
    placeholders = [x for x in model.inputs or []
                    if x._keras_history[0].is_placeholder]
    return (backend_name() != 'tensorflow' or
            all(x.graph is current_graph() for x in placeholders))


def ops_while(function):
    """Calls a function and returns the TensorFlow ops that it added.

    # Arguments
        function: a callable without arguments.

    # Returns
        A pair (what the function returned, list of the ops added to the graph);
        the list is empty on other backends.
    """
    if backend_name() != 'tensorflow':
        return function(), []
    K.learning_phase()  # made once in a graph, by whoever asks first
    graph = current_graph()
    before = len(graph.get_operations())
    result = function()
    return result, graph.get_operations()[before:]


def ops_added(function):
    """Calls a function and counts the TensorFlow ops that it added, by type.

    # Arguments
        function: a callable without arguments, for example
            `lambda: clone_model(model)`.

    # Returns
        A pair (what the function returned, `Counter` of op types, see
        `count_ops`); the counter is empty on other backends.
    """
    result, ops = ops_while(function)
    return result, count_ops(ops)


def count_ops(ops):
    """Returns a `Counter` of the types of ops.

    Placeholders are left out, and what Keras adds when it sets the value of a
    weight, reads it right after or sees to it that all weights are initialized.
    """
    return collections.Counter(
        op.type for op in ops if op.type not in ASIDE and
        not any(map(_sets_value, [op] + list(op.control_inputs))))


def _sets_value(op):
    return op.type in ASSIGN and op.inputs[1].op.type == 'Placeholder'


def sources(tensors, seen):
    """Returns what tensors are computed from, as far as not yet seen.

    # Arguments
        tensors: list of tensors.
        seen: set of keys of what was met before; it grows.

    # Returns
        The set of keys (see `source_keys`) that were met now, the tensors' own
        included. Empty on CNTK, whose graph is not searched.
    """
    walk = {'tensorflow': _tensorflow_inputs,
            'theano': _theano_inputs}.get(backend_name())
    if walk is None:
        return set()
    met = set()
    waiting = [unit for tensor in tensors for unit in _units(tensor)]
    while waiting:
        unit = waiting.pop()
        if id(unit) not in seen:
            seen.add(id(unit))
            met.add(id(unit))
            waiting.extend(walk(unit))
    return met


def source_keys(tensor):
    """Returns the keys by which `sources` knows a tensor or a variable."""
    return {id(unit) for unit in _units(tensor)}


def _units(tensor):
    if backend_name() != 'tensorflow':
        return [tensor]
    if _is_eager(tensor):  # TensorFlow 2: graphs know it by what captures it.
        handle = getattr(tensor, '_handle', tensor)
        return [inner.op for outer, inner in current_graph().captures
                if outer is handle]
    return [tensor.op]


def _is_eager(tensor):
    return hasattr(getattr(tensor, '_handle', tensor), 'numpy')


def _tensorflow_inputs(op):
    return [x.op for x in op.inputs] + list(op.control_inputs)


def _theano_inputs(variable):
    return variable.owner.inputs if variable.owner else []


@contextlib.contextmanager
def fresh_state(seed=0):
    """Context in which nothing was built yet: names count from one again.

    On TensorFlow it is a graph and a session of its own, so that whatever the
    caller has built is neither touched nor searched.

    # Arguments
        seed: for NumPy's random numbers, from which Keras 2 draws the seeds of its
            initializers. The caller's state of them is put back afterwards.
    """
    random_state = np.random.get_state()
    np.random.seed(seed)
    try:
        with (_fresh_graph(seed) if backend_name() == 'tensorflow' else
              _fresh_names()):
            yield
    finally:
        np.random.set_state(random_state)


@contextlib.contextmanager
def _fresh_names():
    """Theano and CNTK: layers are numbered anew."""
    backend = importlib.import_module(f'keras.backend.{backend_name()}_backend')
    old = backend._UID_PREFIXES
    backend._UID_PREFIXES = collections.defaultdict(int)
    try:
        yield
    finally:
        backend._UID_PREFIXES = old


@contextlib.contextmanager
def _fresh_graph(seed):
    import tensorflow as tf
    from keras.backend import tensorflow_backend
    if tf.executing_eagerly():
        with _fresh_keras_graph(), _tensorflow_seed(seed):
            yield
        return
    with tf.Graph().as_default() as graph, _session(graph):
        yield
    # Keras keeps these for good, and with them the graph: 2.2.4 itself, later
    # releases in the backend of tf.keras.
    for module in (tensorflow_backend,
                   getattr(tensorflow_backend, 'tf_keras_backend', None)):
        for name in ('_GRAPH_UID_DICTS', '_GRAPH_LEARNING_PHASES'):
            getattr(module, name, {}).pop(graph, None)


@contextlib.contextmanager
def _fresh_keras_graph():
    """TensorFlow 2: a new graph in place of the one in which Keras builds."""
    from keras.backend import tensorflow_backend
    from tensorflow.python.framework.func_graph import FuncGraph
    from tensorflow.python.keras import backend
    old = backend._GRAPH, tensorflow_backend._LEARNING_PHASE_CACHE
    backend._GRAPH = graph = FuncGraph('keras_graph')
    tensorflow_backend._LEARNING_PHASE_CACHE = {}
    try:
        yield
    finally:
        backend._GRAPH, tensorflow_backend._LEARNING_PHASE_CACHE = old
        backend._GRAPH_LEARNING_PHASES.pop(graph, None)


@contextlib.contextmanager
def _tensorflow_seed(seed):
    """TensorFlow 2: what initializers draw depends on its own seed as well."""
    import tensorflow as tf
    from tensorflow.python.eager.context import context
    old = {name: vars(context()).get(name) for name in ('_seed', '_rng')}
    tf.compat.v2.random.set_seed(seed)
    try:
        yield
    finally:
        vars(context()).update(old)


def _session(graph):
    """A session that computes what the graph says and optimizes nothing.

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


def seeds_of(layer):
    """Random numbers of Keras 2 come from the backend, with seeds in its graph."""
    return []


def other_seeds(read, kept=(), draw=1):
    """See `seeds_of`: what is computed again is computed from other numbers."""
    return []


def is_of_nobody(variable):
    """Returns whether a variable belongs to Keras, not to a model."""
    return False


@contextlib.contextmanager
def adapted_weights_kept(model):
    """No layer of Keras 2 has an `adapt`."""
    yield


def evaluator(model, values, nodes=None, on=None, read=None, state=()):
    """Returns a function that computes what a model gives, as often as it is called.

    # Arguments
        model: a `Model` that has inputs.
        values: list of arrays, one for each input.
        nodes: list of nodes of the model, if not its outputs are asked for.
        on: list of the tensors that the model was built on, if it was.
        read: left as it is: what a model computes from is told by `sources`.
        state: left as it is, see `seeds_of`.

    # Returns
        A function without arguments that returns a list of arrays: the outputs of
        the model or of the nodes, and the masks that go with them.
    """
    tensors = (_with_masks(model) if nodes is None else
               [tensor for node in nodes for tensor in tensors_of(node)])
    compute = _evaluator(_feeds(model, values, on), tensors,
                         model.uses_learning_phase)

    def compute_from_start():
        if model.stateful:
            model.reset_states()
        return compute()
    return compute_from_start


def inputs_to_feed(model, values):
    """Returns arrays for the inputs of a model; those that are no placeholders have
    values of their own."""
    return [value if _is_fed(tensor) else _evaluator([], [tensor])()[0]
            for tensor, value in zip(model.inputs, values)]


def _with_masks(model):
    """Returns a model's outputs and, after them, the masks of these."""
    masks = [layer._inbound_nodes[node_index].output_masks[tensor_index]
             for layer, node_index, tensor_index in
             (tensor._keras_history for tensor in model.outputs)]
    return model.outputs + mask_tensors(masks)


def _is_fed(tensor):
    return tensor._keras_history[0].is_placeholder


def _feeds(model, values, on=None):
    if on is not None:
        return list(zip(on, values))
    return [(tensor, value) for tensor, value in zip(model.inputs, values)
            if _is_fed(tensor)]


def _evaluator(feeds, tensors, learning_phase=False):
    """Returns a function that computes tensors each time it is called.

    # Arguments
        feeds: list of pairs (tensor, array).
        tensors: list of tensors to compute.
        learning_phase: whether the learning phase is among what they depend on;
            it is fed with 0, the phase of `predict`.

    # Returns
        A function without arguments that returns a list of arrays.
    """
    known = {id(tensor): value for tensor, value in feeds}
    known.update((id(x), x.numpy()) for x in tensors if _is_eager(x))
    wanted = [each for each in tensors if id(each) not in known]
    inputs = [tensor for tensor, _ in feeds]
    values = [value for _, value in feeds]
    if learning_phase and not isinstance(K.learning_phase(), int):
        inputs.append(K.learning_phase())
        values.append(0)
    function = K.function(inputs, wanted) if wanted else lambda values: []

    def compute():
        computed = dict(known)
        computed.update((id(x), y) for x, y in zip(wanted, function(values)))
        return [np.asarray(computed[id(each)]) for each in tensors]
    return compute


def first_nodes(model, nodes):
    """Returns a model of the first nodes of a model: what these give."""
    outputs = [tensor for node in nodes for tensor in node.output_tensors]
    layers = [layer_of(node) for node in nodes]
    return Model([x for x in model.inputs
                  if any(x._keras_history[0] is layer for layer in layers)], outputs)


def reloaded(model, objects):
    """Saves a model to a file and loads it, with custom objects."""
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, 'model.h5')
    try:
        keras.models.save_model(model, path, include_optimizer=False)
        return keras.models.load_model(path, custom_objects=objects, compile=False)
    finally:
        shutil.rmtree(folder)


# What records how a graph came to be.
RECORDS = (Node,)
# Whether a clone may have a mask where the original has none.
MASKS_MAY_APPEAR = False
