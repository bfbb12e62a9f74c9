"""The graphs of Keras 2.2.4 to 2.3.1.

`keras/engine/base_layer.py` and `keras/engine/network.py`: a node is one call of a
layer, with its input tensors, output tensors, masks and call arguments.
"""
import os
import re
import tempfile

import keras
from keras import backend as K
from keras.engine.base_layer import Layer
from keras.engine.base_layer import Node
from keras.engine.network import Network
from keras.models import Model
from keras.models import Sequential

from . import computing_keras2
from .interface import Graphs
from ..random_values import Input, consumers


class Keras2Graphs(Graphs):

    RECORDS = (Node,)
    FLAGS = ('trainable', 'stateful', 'built', 'supports_masking')

    is_tensor = staticmethod(computing_keras2.is_tensor)
    is_variable = staticmethod(computing_keras2.is_variable)
    ops_while = staticmethod(computing_keras2.ops_while)
    count_ops = staticmethod(computing_keras2.count_ops)
    fresh_state = staticmethod(computing_keras2.fresh_state)
    evaluator = staticmethod(computing_keras2.evaluator)
    inputs_to_feed = staticmethod(computing_keras2.inputs_to_feed)

    def is_layer(self, value):
        return isinstance(value, Layer)

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
                all(x.graph is computing_keras2.current_graph()
                    for x in placeholders))

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

    def weights_of(self, layer):
        """They include those of the layers that it holds."""
        return [] if isinstance(layer, Network) else layer.weights

    def facts_of_weight(self, weight):
        name = getattr(weight, 'name', None) or ''
        return {'': f'{K.dtype(weight)} of shape {K.int_shape(weight)}',
                ', its name': re.sub(r'(_\d+)?(:\d+)?$', '', name.split('/')[-1])}

    def settings_of(self, model):
        return {'number of ' + name: len(set(map(id, getattr(model, name))))
                for name in ('losses', 'updates')}

    def values_of(self, variables):
        return K.batch_get_value(variables)

    def set_values(self, variables, values):
        K.batch_set_value(list(zip(variables, values)))

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

    def train_once(self, model, values, targets=None, state=(), noise=None):
        """A clone is not compiled, so there is no loss that takes targets."""
        return computing_keras2.train_once(model, values, _variables_of(model),
                                           noise)

    def reloaded(self, model, objects):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'model.h5')
            keras.models.save_model(model, path, include_optimizer=False)
            return keras.models.load_model(path, custom_objects=objects,
                                           compile=False)


def _variables_of(model):
    """Returns the variables that a step of training may change."""
    found = {id(each): each for each in model.weights}
    for update in model.updates:
        for each in update if isinstance(update, tuple) else ():
            if computing_keras2.is_variable(each):
                found[id(each)] = each
    return list(found.values())


def _collect_layers(label, value, found):
    if isinstance(value, Layer):
        found.append((label, value))
    elif isinstance(value, (list, tuple)):
        for i, each in enumerate(value):
            _collect_layers(f'{label}[{i}]', each, found)
    elif isinstance(value, dict):
        for key, each in value.items():
            _collect_layers(f'{label}[{key!r}]', each, found)
