"""The graphs of Keras 3.

`keras/src/ops/node.py`, `keras/src/ops/function.py`: a node is one call of an
operation, of which layers are a kind, with the arguments of the call and the tensors
that it returned. The variables that a model reads show what it computes from.
"""
import collections
import contextlib
import functools
import os
import random
import tempfile

import keras
import numpy as np
from keras import ops
from keras.src.backend.common import global_state
from keras.src.backend.common.masking import get_keras_mask
from keras.src.layers import Layer
from keras.src.models.functional import Functional
from keras.src.ops.function import Function
from keras.src.ops.node import Node
from keras.src.ops.operation import Operation
from keras.src.ops.symbolic_arguments import SymbolicArguments
from keras.src.random.seed_generator import SeedGenerator
from keras.src.utils.tracking import Tracker

from . import computing_keras3, training_keras3
from .interface import Graphs
from ..random_values import Input, consumers

# The flags in which a layer and its clone have to agree.
FLAGS = ('trainable', 'stateful', 'built', 'supports_masking', 'compute_dtype',
         'variable_dtype', 'quantization_mode', 'autocast', '_convert_input_args',
         '_allow_non_tensor_positional_args', 'supports_jit', '_call_context_args',
         '_remat_mode')
# Attributes that `fit` and the like set on a model, and `compile` does not.
SET_BY_FITTING = ('history', 'stop_evaluating', 'stop_predicting', 'training',
                  '_eval_epoch_iterator', '_obj_reference_counts_dict')


class Keras3Graphs(Graphs):

    BASES = (Functional, keras.Sequential, keras.Model, Layer, Function, Operation)
    RECORDS = (Node, SymbolicArguments)
    LEFT_OUT = RECORDS + (SeedGenerator, Tracker)
    # A model that begins at a hidden tensor has lost the masks of its graph
    # (`clone_graph_nodes` in `keras/src/models/functional.py`). They exist when it
    # is called, and are compared then.
    MASKS_MAY_APPEAR = True

    graph_of = staticmethod(computing_keras3.graph_of)
    evaluator = staticmethod(computing_keras3.evaluator)
    draw_targets = staticmethod(training_keras3.draw_targets)
    train_once = staticmethod(training_keras3.train_once)

    def is_tensor(self, value):
        return isinstance(value, (keras.KerasTensor, keras.Variable))

    def is_variable(self, value):
        return isinstance(value, keras.Variable)

    def is_layer(self, value):
        return isinstance(value, Operation)

    def as_array(self, value):
        if isinstance(value, np.ndarray):
            return value
        return ops.convert_to_numpy(value) if ops.is_tensor(value) else None

    def belongs_to_keras(self, variable):
        generator = global_state.get_global_attribute('global_seed_generator')
        return generator is not None and variable is generator.state

    def is_network(self, layer):
        return isinstance(layer, (Functional, keras.Sequential, Function))

    def inputs_of(self, model):
        return [Input(x.shape, x.dtype, x.sparse,
                      consumers(x._keras_history.operation, self._onward))
                for x in self.graph_of(model).inputs]

    def _onward(self, operation):
        """Returns the operations to which one passes its input on: those in it and,
        if it has no weights, those after it."""
        if self.is_network(operation):
            inputs, _ = self.inputs_and_outputs(operation)
            layers = [x._keras_history.operation for x in inputs]
            reached = [layer for layer in layers if layer is not None]
        else:
            reached = [each for _, each in self.inner_layers(operation)]
        if not getattr(operation, 'weights', []):
            reached += [node.operation for node in operation._outbound_nodes]
        return reached

    def layers_of(self, network):
        """Layers that are in attributes but not in the graph come last."""
        if isinstance(network, keras.Sequential):
            return list(network._layers)
        attached = [each for each in getattr(network, '_layers', [])
                    if not any(each is other for other in network.operations)]
        return list(network.operations) + attached

    def inner_layers(self, layer):
        """They are labelled by their position."""
        if self.is_network(layer):
            held = self.layers_of(layer)
        elif isinstance(layer, Layer):
            held = layer._layers
        else:
            held = [each for each in vars(layer).values() if self.is_layer(each)]
        return [(str(i), each) for i, each in enumerate(held)]

    def flags_of(self, layer):
        flags = {name: getattr(layer, name, None) for name in FLAGS}
        flags['dtype policy'] = _described(getattr(layer, 'dtype_policy', None))
        return flags

    def own_attributes(self, layer):
        """They include the vocabulary of a layer: the table that holds it cannot be
        inspected."""
        base = next(base for base in self.BASES if isinstance(layer, base))
        found = {name: value for name, value in vars(layer).items()
                 if name not in _names_of_every(base) and
                 not name.startswith('_self_')}
        if hasattr(layer, 'get_vocabulary'):
            with contextlib.suppress(Exception):  # It may have none yet.
                found['vocabulary'] = list(layer.get_vocabulary())
        return found

    def names_left_out(self, value):
        if isinstance(value, keras.metrics.Metric):
            return {'_variables', '_metrics', '_tracker'}
        if isinstance(value, keras.initializers.Initializer):
            return {'seed'}  # If none is given, one is drawn.
        return set()

    def attachments(self, model):
        if not getattr(model, 'compiled', False):
            return {'being compiled': False}
        found = {'being compiled': True, 'optimizer': type(model.optimizer)}
        with contextlib.suppress(Exception):  # A schedule may have no config.
            found['settings of the optimizer'] = model.optimizer.get_config()
        for name, value in training_keras3.compiled_with(model).items():
            if name != 'optimizer':
                found[name + ' compiled with'] = value
        return found

    def weights_of(self, layer):
        """They do not include those of the layers that it holds."""
        if not isinstance(layer, Layer):
            return []
        return layer._trainable_variables + layer._non_trainable_variables

    def variables_by_kind(self, layer):
        return {'weight': self.weights_of(layer), 'seed': self.seeds_of(layer)}

    def kind_of(self, variable):
        words = [f'{variable.dtype} of shape {variable.shape}']
        words += [] if variable.trainable else ['not trainable']
        words += [type(each).__name__ for each in (variable.regularizer,
                                                   variable.constraint) if each]
        return ', '.join(words)

    def values_of(self, variables):
        return [ops.convert_to_numpy(each.value) for each in variables]

    @contextlib.contextmanager
    def adapted_weights_kept(self, model):
        """A layer with `adapt` computes from values that only `adapt` and loading
        derive from these weights."""
        kept = [variable for layer in model._flatten_layers()
                if hasattr(layer, 'adapt') for variable in layer.weights]
        values = self.values_of(kept)
        yield
        for variable, value in zip(kept, values):
            variable.assign(value)

    def first_nodes(self, model, nodes):
        """Not every release can make a model of inputs only."""
        layers = [node.operation for node in nodes]
        inputs = [x for x in self.graph_of(model).inputs
                  if x._keras_history.operation in layers]
        outputs = [x for node in nodes if not node.is_input
                   for x in node.output_tensors]
        return keras.Model(inputs, outputs) if outputs else None

    def layer_of(self, node):
        return node.operation

    def arguments_of(self, node):
        return [node.arguments.args, node.arguments.kwargs]

    def masks_of(self, node):
        return ([get_keras_mask(x) for x in node.input_tensors],
                [get_keras_mask(x) for x in node.output_tensors])

    def shapes_of(self, node):
        return [(x.shape, x.dtype, x.sparse, getattr(x, 'ragged', False))
                for x in node.output_tensors]

    @contextlib.contextmanager
    def fresh_state(self, seed=0):
        """Keras draws its seeds from Python's random numbers."""
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

    def seeds_of(self, layer):
        return [each.state for each in getattr(layer, '_seed_generators', [])]

    def other_seeds(self, read, kept=(), draw=1):
        return [(each, ops.convert_to_numpy(each.value) + draw)
                for key, each in read.items()
                if each.name == 'seed_generator_state' and key not in kept]

    def reloaded(self, model, objects):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'model.keras')
            model.save(path)
            return keras.saving.load_model(path, custom_objects=objects,
                                           compile=False, safe_mode=False)


def _described(policy):
    """Describes a dtype policy, so that equal policies have equal descriptions.

    `get_config` of a map removes the names of its policies.
    """
    if not isinstance(policy, keras.dtype_policies.DTypePolicyMap):
        return str(policy)
    return {'default': str(policy.default_policy), **{
        key: (each.compute_dtype, each.variable_dtype, each.quantization_mode)
        for key, each in policy.items()}}


@functools.lru_cache(maxsize=None)
def _names_of_every(base):
    """Returns the names of the attributes that all instances of a class have."""
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
