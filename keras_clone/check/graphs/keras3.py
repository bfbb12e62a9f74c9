"""The graphs of Keras 3.

`keras/src/ops/node.py`, `keras/src/ops/function.py`: a node is one call of an
operation, of which layers are a kind, with the arguments of the call and the tensors
that came of it. What a model computes from is told by the variables it reads.
"""
import collections
import contextlib
import functools
import os
import random
import shutil
import tempfile

import keras
import numpy as np
from keras import ops
from keras import tree
from keras.src import backend
from keras.src.backend.common import global_state
from keras.src.layers import Layer
from keras.src.models.functional import Functional
from keras.src.ops.function import Function
from keras.src.ops.node import Node
from keras.src.ops.operation import Operation
from keras.src.ops.symbolic_arguments import SymbolicArguments
from keras.src.random.seed_generator import SeedGenerator
from keras.src.utils.tracking import Tracker

from ..random_values import Input
from ..random_values import consumers

# What records how a graph came to be.
RECORDS = (Node, SymbolicArguments)
# A model that begins at a hidden tensor has lost the masks of its graph
# (`clone_graph_nodes` in `keras/src/models/functional.py`). They are there when it
# is called, and are compared then.
MASKS_MAY_APPEAR = True
# What layer and clone have in common, apart from their class.
FLAGS = ('trainable', 'stateful', 'built', 'supports_masking', 'compute_dtype',
         'variable_dtype', 'quantization_mode', 'autocast', '_convert_input_args',
         '_allow_non_tensor_positional_args')
# The classes from which layers and models get what Keras needs.
BASES = (Functional, keras.Sequential, keras.Model, Layer, Function, Operation)
# What is compared elsewhere, or is not to be the same.
LEFT_OUT = (Node, SymbolicArguments, SeedGenerator, Tracker)
# What `fit` and the like set on a model, and compiling alone does not.
SET_BY_FITTING = ('history', 'stop_evaluating', 'stop_predicting', 'training',
                  '_eval_epoch_iterator', '_obj_reference_counts_dict',
                  '_remat_mode')


def backend_name():
    """Returns the name of the backend: `tensorflow`, `jax` or `torch`."""
    return keras.backend.backend()


def is_tensor(value):
    """Returns whether `value` is a symbolic tensor or a variable."""
    return isinstance(value, (keras.KerasTensor, keras.Variable))


def is_layer(value):
    """Returns whether `value` is a layer or another operation."""
    return isinstance(value, Operation)


def is_variable(value):
    """Returns whether `value` is a variable."""
    return isinstance(value, keras.Variable)


def is_left_by_call(value):
    """Returns whether `value` is a symbolic tensor: the next call leaves another."""
    return isinstance(value, keras.KerasTensor)


def is_part(value):
    """Returns whether `value` is a layer, a variable or a symbolic tensor."""
    return is_layer(value) or is_tensor(value)


def as_array(value):
    """Returns an array or a tensor that is not symbolic as an array, else None."""
    if isinstance(value, np.ndarray):
        return value
    return ops.convert_to_numpy(value) if backend.is_tensor(value) else None


def is_network(layer):
    """Returns whether a layer is made of layers in a graph of their own."""
    return isinstance(layer, (Functional, keras.Sequential, Function))


def is_built(model):
    """Returns whether a model has inputs and outputs to compare."""
    return _graph(model) is not None


def _graph(model):
    """Returns the `Function` that a model is, or that a `Sequential` has."""
    if isinstance(model, keras.Sequential):
        return model._functional
    return model if isinstance(model, Function) else None


def layers_of(network):
    """Returns the layers and other operations of a network, in their order, then
    those that are attached to it."""
    if isinstance(network, keras.Sequential):
        return list(network._layers)
    attached = [each for each in getattr(network, '_layers', [])
                if not any(each is other for other in network.operations)]
    return list(network.operations) + attached


def layer_of(node):
    """Returns the operation that a node is a call of."""
    return node.operation


def arguments_of(node):
    """Returns the structures of arguments with which an operation was called."""
    return [node.arguments.args, node.arguments.kwargs]


def masks_of(node):
    """Returns a node's input masks and output masks, None for each that is none."""
    return ([backend.get_keras_mask(x) for x in node.input_tensors],
            [backend.get_keras_mask(x) for x in node.output_tensors])


def shapes_of(node):
    """Returns the shapes of what a node gives, and what else is known of it."""
    return [(x.shape, x.dtype, x.sparse, getattr(x, 'ragged', False))
            for x in node.output_tensors]


def ordered_nodes(model):
    """Returns the nodes of a model, inputs first, in a fixed order.

    # Arguments
        model: a model of any class.

    # Returns
        A list of nodes in which a node comes after those that it depends on; it is
        empty for a model without a graph.
    """
    by_depth = getattr(_graph(model), '_nodes_by_depth', {})
    return [node for depth in sorted(by_depth, reverse=True)
            for node in by_depth[depth]]


def inner_layers(layer):
    """Returns the operations that a layer or operation holds, with the way to each.

    # Arguments
        layer: a layer, wrapper, recurrent layer, model or other operation.

    # Returns
        A list of pairs (label, operation), labelled by their position.
    """
    if is_network(layer):
        held = layers_of(layer)
    elif isinstance(layer, Layer):
        held = layer._layers
    else:
        held = [each for each in vars(layer).values() if isinstance(each, Operation)]
    return [(str(i), each) for i, each in enumerate(held)]


def inputs_and_outputs(network):
    """Returns the lists of inputs and outputs of a network, empty if not built."""
    graph = _graph(network)
    return ([], []) if graph is None else (graph.inputs, graph.outputs)


def flags_of(layer):
    """Returns what is told of every layer: {what: value}."""
    flags = {name: getattr(layer, name, None) for name in FLAGS}
    flags['dtype policy'] = str(getattr(layer, 'dtype_policy', None))
    return flags


def own_attributes(layer):
    """Returns the attributes of a layer that not every layer has: {name: value}.

    With them is the vocabulary of a layer that has one: its table is no attribute
    one can look into.
    """
    base = next(base for base in BASES if isinstance(layer, base))
    found = {name: value for name, value in vars(layer).items()
             if name not in _names_of_every(base) and
             not name.startswith('_self_')}
    if hasattr(layer, 'get_vocabulary'):
        with contextlib.suppress(Exception):  # It may have none yet.
            found['vocabulary'] = list(layer.get_vocabulary())
    return found


@functools.lru_cache(maxsize=None)
def _names_of_every(base):
    """Returns the names of the attributes that all have that are of a class."""
    if base is keras.Model:
        return _names_of_every(Functional)
    x = keras.Input((1,), name='x')
    made = {Function: lambda: Function(x, x + 1, name='x'),
            Functional: lambda: keras.Model(x, keras.layers.Identity(name='y')(x),
                                            name='x'),
            keras.Sequential: lambda: keras.Sequential([x], name='x')}.get(
                base, lambda: base(name='x'))()
    if isinstance(made, keras.Model):
        made.compile('sgd', 'mse')
    return set(vars(made)).union(SET_BY_FITTING) - {'activity_regularizer'}


def names_left_out(value):
    """Returns the names of those attributes of an object that need not agree."""
    if isinstance(value, keras.metrics.Metric):
        return {'_variables', '_metrics', '_tracker'}
    if isinstance(value, keras.initializers.Initializer):
        return {'seed'}  # Where none is given, one is drawn.
    return set()


def inputs_of(model):
    """Returns the inputs of a model, as `random_values.draw_inputs` takes them."""
    return [Input(x.shape, x.dtype, x.sparse,
                  consumers(x._keras_history.operation, _onward))
            for x in _graph(model).inputs]


def _onward(operation):
    """Returns the operations to which one hands a tensor on before a weight."""
    if is_network(operation):
        inputs = getattr(_graph(operation), 'inputs', [])
        layers = [x._keras_history.operation for x in inputs]
        reached = [layer for layer in layers if layer is not None]
    else:
        reached = [each for _, each in inner_layers(operation)]
    if not getattr(operation, 'weights', []):
        reached += [node.operation for node in operation._outbound_nodes]
    return reached


def attachments(model):
    """Returns what a model has apart from its layers: {text: what to compare}."""
    if not getattr(model, 'compiled', False):
        return {'being compiled': False}
    found = {'being compiled': True, 'optimizer': type(model.optimizer)}
    with contextlib.suppress(Exception):  # A schedule may have no config.
        found['settings of the optimizer'] = model.optimizer.get_config()
    for name, value in _compiled_with(model).items():
        if name != 'optimizer':
            found[name + ' compiled with'] = value
    return found


def _compiled_with(model):
    """Returns the arguments that a model was compiled with, if Keras keeps them."""
    return getattr(getattr(model, '_compile_config', None), 'config', None) or {}


def weights_of(layer):
    """Returns the weights of a layer, those of the layers that it holds aside."""
    if not isinstance(layer, Layer):
        return []
    return layer._trainable_variables + layer._non_trainable_variables


def own_variables(layer):
    """Returns a layer's weights and the states of its generators of random numbers.

    # Returns
        List of pairs (`weight 0` or the like, variable).
    """
    generators = getattr(layer, '_seed_generators', [])
    return [('%s %d' % (kind, i), each)
            for kind, variables in (('weight', weights_of(layer)),
                                    ('seed', [each.state for each in generators]))
            for i, each in enumerate(variables)]


def kind_of(variable):
    """Returns as text what a weight is, apart from its numbers."""
    words = [f'{variable.dtype} of shape {variable.shape}']
    words += [] if variable.trainable else ['not trainable']
    words += [type(each).__name__ for each in (variable.regularizer,
                                               variable.constraint) if each]
    return ', '.join(words)


def values_of(variables):
    """Returns the values of variables, as arrays."""
    return [ops.convert_to_numpy(each.value) for each in variables]


def tensors_of(node):
    """Returns the tensors that a node makes."""
    return list(node.output_tensors)


def is_current(model):
    """Returns whether a model was built in the state that is current now."""
    return True


def ops_while(function):
    """Calls a function. Building a model of Keras 3 computes nothing.

    # Returns
        A pair (what the function returned, an empty list).
    """
    return function(), []


def ops_added(function):
    """Calls a function; see `ops_while`.

    # Returns
        A pair (what the function returned, an empty `Counter`).
    """
    return function(), count_ops([])


def count_ops(ops):
    """Returns a `Counter` of the types of ops, of which there are none."""
    return collections.Counter()


def sources(tensors, seen):
    """What a model computes from is told by the variables that it reads."""
    return set()


def source_keys(tensor):
    """See `sources`."""
    return set()


@contextlib.contextmanager
def fresh_state(seed=0):
    """Context in which nothing was built yet: names count from one again.

    # Arguments
        seed: for the random numbers of Python and NumPy, from the first of which
            Keras draws the seeds of initializers. The caller's state of both is put
            back afterwards.
    """
    states = random.getstate(), np.random.get_state()
    names = global_state.get_global_attribute('object_name_uids')
    global_state.set_global_attribute('object_name_uids',
                                      collections.defaultdict(int))
    random.seed(seed)
    np.random.seed(seed)
    try:
        yield
    finally:
        global_state.set_global_attribute('object_name_uids', names)
        random.setstate(states[0])
        np.random.set_state(states[1])


def seeds_of(layer):
    """Returns the states of the generators of random numbers that a layer has."""
    return [each.state for each in getattr(layer, '_seed_generators', [])]


def other_seeds(read, kept=(), draw=1):
    """Returns other values for the states of generators of random numbers.

    # Arguments
        read: dict of the variables that a model reads: id -> variable.
        kept: ids of those that are to stay as they are.
        draw: an integer; other values for each.

    # Returns
        List of pairs (variable, value).
    """
    return [(each, ops.convert_to_numpy(each.value) + draw)
            for key, each in read.items()
            if each.name == 'seed_generator_state' and key not in kept]


def is_of_nobody(variable):
    """Returns whether a variable belongs to Keras, not to a model."""
    generator = global_state.get_global_attribute('global_seed_generator')
    return generator is not None and variable is generator.state


@contextlib.contextmanager
def adapted_weights_kept(model):
    """Context after which the weights that `adapt` set are as before it.

    What such a layer computes from is made of them only by `adapt` and by loading.
    """
    kept = [variable for layer in model._flatten_layers() if hasattr(layer, 'adapt')
            for variable in layer.weights]
    values = values_of(kept)
    yield
    for variable, value in zip(kept, values):
        variable.assign(value)


def evaluator(model, values, nodes=None, on=None, read=None, state=()):
    """Returns a function that computes what a model gives, as often as it is called.

    # Arguments
        model: a model that has a graph.
        values: list of arrays, one for each input.
        nodes: list of nodes of the model, if not its outputs are asked for.
        on: list of the tensors that the model was built on, if it was.
        read: dict to which the variables that are read are added: id -> variable.
        state: list of pairs (variable, value that it is taken to have).

    # Returns
        A function without arguments that returns a list of arrays: the outputs of
        the model or of the nodes, and after them as many masks, an empty array for
        each that is none. Calling it changes no variable.
    """
    def compute():
        with _Readings({} if read is None else read, state):
            return _computed(model, values, nodes, on)
    return compute


def _computed(model, values, nodes=None, on=None):
    graph = _graph(model)
    if nodes is not None or on is not None:
        tensors = (graph.outputs if nodes is None else
                   [x for node in nodes for x in node.output_tensors])
        model = keras.Model(on or graph.inputs, tensors)
    else:
        values = packed_inputs(model, values)
    outputs = tree.flatten(model(values, training=False))
    masks = [backend.get_keras_mask(x) for x in outputs]
    return [np.empty(0) if x is None else ops.convert_to_numpy(x)
            for x in outputs + masks]


def packed_inputs(model, values):
    """Returns arrays in the structure in which a model takes its inputs."""
    return tree.pack_sequence_as(_graph(model)._inputs_struct, values)


class _Readings(keras.StatelessScope):
    """Scope that adds to a dict which variables are read in it."""

    def __init__(self, read, state):
        super().__init__(state)
        self.read = read

    def get_current_value(self, variable):
        self.read[id(variable)] = variable
        return super().get_current_value(variable)


def inputs_to_feed(model, values):
    """Returns arrays for the inputs of a model."""
    return values


def first_nodes(model, nodes):
    """Returns a model of the first nodes of a model: what these give.

    It is None if they are all inputs: not every release makes a model of these.
    """
    layers = [node.operation for node in nodes]
    inputs = [x for x in _graph(model).inputs
              if x._keras_history.operation in layers]
    outputs = [x for node in nodes if not node.is_input for x in node.output_tensors]
    return keras.Model(inputs, outputs) if outputs else None


def reloaded(model, objects):
    """Saves a model to a file and loads it, with custom objects."""
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, 'model.keras')
    try:
        model.save(path)
        return keras.saving.load_model(path, custom_objects=objects, compile=False,
                                       safe_mode=False)
    finally:
        shutil.rmtree(folder)
