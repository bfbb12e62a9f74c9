"""The graphs of Keras 2.2.4 to 2.3.1.

`keras/engine/base_layer.py` and `keras/engine/network.py`: a node is one call of a
layer, with its input tensors, output tensors, masks and call arguments.
"""
import functools
import inspect
import os
import tempfile

import keras
import numpy as np
from keras import backend as K
from keras.engine.base_layer import Layer
from keras.engine.base_layer import Node
from keras.engine.network import Network
from keras.models import Model
from keras.models import Sequential

from . import computing_keras2, tensors_keras2, training_keras2
from .fresh_state_keras2 import fresh_state
from .interface import Graphs
from ..random_values import Input, consumers

# The flags in which a layer and its clone have to agree.
FLAGS = ('trainable', 'stateful', 'built', 'supports_masking')
# Attributes that Keras sets on some layers and that are not compared: calls leave
# them behind, or the graph or the configuration determines them; the `layer` of a
# `Bidirectional` computes nothing.
SET_BY_KERAS = ('dtype', 'batch_input_shape', 'is_placeholder', '_input_map',
                '_metrics', '_states', '_trainable', 'layer',
                '_obj_reference_counts')


class Keras2Graphs(Graphs):

    BASES = (Sequential, Model, Network, Layer)
    RECORDS = LEFT_OUT = (Node,)

    is_tensor = staticmethod(tensors_keras2.is_tensor)
    is_variable = staticmethod(tensors_keras2.is_variable)
    tensors_of = staticmethod(tensors_keras2.tensors_of)
    ops_while = staticmethod(tensors_keras2.ops_while)
    count_ops = staticmethod(tensors_keras2.count_ops)
    sources = staticmethod(tensors_keras2.sources)
    source_keys = staticmethod(tensors_keras2.source_keys)
    fresh_state = staticmethod(fresh_state)
    evaluator = staticmethod(computing_keras2.evaluator)
    inputs_to_feed = staticmethod(computing_keras2.inputs_to_feed)

    def is_layer(self, value):
        return isinstance(value, Layer)

    def as_array(self, value):
        return value if isinstance(value, np.ndarray) else None

    def is_network(self, layer):
        return isinstance(layer, Sequential) or getattr(
            layer, '_is_graph_network', False)

    def graph_of(self, network):
        return network if network.inputs else None

    def is_current(self, model):
        """On TensorFlow, a state has a graph of its own."""
        placeholders = [x for x in model.inputs or []
                        if x._keras_history[0].is_placeholder]
        return (K.backend() != 'tensorflow' or
                all(x.graph is tensors_keras2.current_graph() for x in placeholders))

    def inputs_of(self, model):
        layers = [x._keras_history[0] for x in model.inputs]
        return [Input(K.int_shape(x), K.dtype(x), getattr(layer, 'sparse', False),
                      consumers(layer, self._onward))
                for x, layer in zip(model.inputs, layers)]

    def _onward(self, layer):
        """Returns the layers to which a layer passes its input on: those in it and,
        if it has no weights, those after it."""
        if isinstance(layer, Network):
            reached = list(getattr(layer, '_input_layers', []))
        else:
            reached = [each for _, each in self.inner_layers(layer)]
        if not layer.weights:
            reached += [node.outbound_layer for node in layer._outbound_nodes]
        return reached

    def layers_of(self, network):
        return network._layers

    def inner_layers(self, layer):
        """They are labelled by the attribute that holds them."""
        if isinstance(layer, Network):
            return [(str(i), each) for i, each in enumerate(layer._layers)]
        found = []
        # From 2.3 on, Keras lists them in `_layers` as well.
        for name in sorted(set(vars(layer)) - {'_layers'}):
            _collect_layers(name, vars(layer)[name], found)
        return found

    def flags_of(self, layer):
        return {name: getattr(layer, name, None) for name in FLAGS}

    def own_attributes(self, layer):
        left_out = _names_of_every(isinstance(layer, Network))
        return {name: value for name, value in vars(layer).items()
                if name not in left_out}

    def names_left_out(self, value):
        if isinstance(value, keras.initializers.Initializer):
            return {'seed'}  # From 2.3 on, it counts calls.
        return set()

    def attachments(self, model):
        return {'number of ' + name: len(set(map(id, getattr(model, name))))
                for name in ('losses', 'updates')}

    def weights_of(self, layer):
        """They include those of the layers that it holds."""
        return [] if isinstance(layer, Network) else layer.weights

    def variables_by_kind(self, layer):
        states = getattr(layer, 'states', None) or []
        return {'weight': self.weights_of(layer),
                'state': [each for each in states if self.is_tensor(each)]}

    def kind_of(self, variable):
        return f'{K.dtype(variable)} of shape {K.int_shape(variable)}'

    def values_of(self, variables):
        return K.batch_get_value(variables)

    def first_nodes(self, model, nodes):
        outputs = [tensor for node in nodes for tensor in node.output_tensors]
        layers = [node.outbound_layer for node in nodes]
        inputs = [x for x in model.inputs
                  if any(x._keras_history[0] is layer for layer in layers)]
        return Model(inputs, outputs)

    def layer_of(self, node):
        return node.outbound_layer

    def arguments_of(self, node):
        """They do not include the tensors that the layer was called on."""
        return [] if node.arguments is None else [node.arguments]

    def masks_of(self, node):
        return node.input_masks, node.output_masks

    def shapes_of(self, node):
        return node.output_shapes

    def train_once(self, model, values, targets=None, state=()):
        """A clone is not compiled, so there is no loss that takes targets."""
        variables = {id(each): each for _, layer in self.all_layers(model)
                     for _, each in self.own_variables(layer)}
        return training_keras2.train_once(model, values, list(variables.values()))

    def reloaded(self, model, objects):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'model.h5')
            keras.models.save_model(model, path, include_optimizer=False)
            return keras.models.load_model(path, custom_objects=objects,
                                           compile=False)


def _collect_layers(label, value, found):
    if isinstance(value, Layer):
        found.append((label, value))
    elif isinstance(value, (list, tuple)):
        for i, each in enumerate(value):
            _collect_layers(f'{label}[{i}]', each, found)
    elif isinstance(value, dict):
        for key, each in value.items():
            _collect_layers(f'{label}[{key!r}]', each, found)


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
