"""The graphs of Keras 3.

`keras/src/ops/node.py`, `keras/src/ops/function.py`: a node is one call of an
operation, of which layers are a kind, with the arguments of the call and the tensors
that it returned.
"""
import collections
import contextlib
import os
import random
import re
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
from keras.src.utils.tracking import Tracker

from . import computing_keras3
from .interface import Graphs
from ..random_values import Input, consumers


class Keras3Graphs(Graphs):

    RECORDS = (Node, SymbolicArguments)
    BOOKKEEPING = (Tracker,)
    FLAGS = ('trainable', 'stateful', 'built', 'supports_masking', 'compute_dtype',
             'variable_dtype', 'quantization_mode', 'autocast', 'supports_jit')
    # A model that begins at a hidden tensor has lost the masks of its graph
    # (`clone_graph_nodes` in `keras/src/models/functional.py`). They exist when it
    # is called, and are compared then.
    MASKS_MAY_APPEAR = True

    graph_of = staticmethod(computing_keras3.graph_of)
    evaluator = staticmethod(computing_keras3.evaluator)
    draw_targets = staticmethod(computing_keras3.draw_targets)
    train_once = staticmethod(computing_keras3.train_once)

    def is_tensor(self, value):
        return isinstance(value, (keras.KerasTensor, keras.Variable))

    def is_variable(self, value):
        return isinstance(value, keras.Variable)

    def is_layer(self, value):
        return isinstance(value, Operation)

    def as_array(self, value):
        try:
            return ops.convert_to_numpy(value) if ops.is_tensor(value) else None
        except Exception:   # An object of the user's may answer in any way.
            return None

    def belongs_to_keras(self, tensor):
        generator = global_state.get_global_attribute('global_seed_generator')
        return generator is not None and tensor is generator.state

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

    def weights_of(self, layer):
        """They do not include those of the layers that it holds."""
        if not isinstance(layer, Layer):
            return []
        return layer._trainable_variables + layer._non_trainable_variables

    def facts_of_weight(self, weight):
        facts = {'': f'{weight.dtype} of shape {weight.shape}',
                 ', its name': re.sub(r'_\d+$', '', weight.name),
                 ', its flag trainable': weight.trainable}
        facts.update((f', its {what}', type(getattr(weight, what)))
                     for what in ('regularizer', 'constraint'))
        return facts

    def settings_of(self, model):
        if not getattr(model, 'compiled', False):
            return {'being compiled': False}
        found = {'being compiled': True, 'optimizer': model.optimizer}
        for name, value in computing_keras3.compiled_with(model).items():
            if name != 'optimizer':
                found[name + ' compiled with'] = value
        return found

    def values_of(self, variables):
        return [ops.convert_to_numpy(each.value) for each in variables]

    def set_values(self, variables, values):
        for variable, value in zip(variables, values):
            variable.assign(value)

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

    def reloaded(self, model, objects):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'model.keras')
            model.save(path)
            return keras.saving.load_model(path, custom_objects=objects,
                                           compile=False, safe_mode=False)
