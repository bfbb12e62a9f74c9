"""The graphs of Keras 3.

`keras/src/ops/node.py`, `keras/src/ops/function.py`: a node is one call of an
operation, of which layers are a kind, with the arguments of the call and the tensors
that it returned.
"""
import collections
import contextlib
import re
from operator import attrgetter

import keras
import numpy as np
from keras import ops
from keras import tree
from keras.src.backend.common import global_state
from keras.src.backend.common.masking import get_keras_mask
from keras.src.layers import Layer
from keras.src.models.functional import Functional
from keras.src.ops.function import Function
from keras.src.ops.node import Node
from keras.src.ops.operation import Operation
from keras.src.ops.symbolic_arguments import SymbolicArguments
from keras.src.trainers.compile_utils import CompileLoss
from keras.src.utils.tracking import Tracker

from . import Graphs


class Keras3Graphs(Graphs):

    LAYERS, RECORDS = Operation, (Node, SymbolicArguments)
    BOOKKEEPING = (Tracker,)
    FLAGS = Graphs.FLAGS + ('compute_dtype', 'variable_dtype', 'quantization_mode',
                            'autocast', 'supports_jit')
    # A model that begins at a hidden tensor has lost the masks of its graph
    # (`clone_graph_nodes` in `keras/src/models/functional.py`). They exist when it
    # is called, and are compared then.
    MASKS_MAY_APPEAR = True
    FILE, LOADING = 'model.keras', {'safe_mode': False}

    layer_of = attrgetter('operation')
    arguments_of = attrgetter('arguments.args', 'arguments.kwargs')
    facts_of_input = attrgetter('shape', 'dtype', 'sparse')

    def graph_of(self, network):
        """It is the `Function` that a model is, or that a `Sequential` has."""
        if isinstance(network, keras.Sequential):
            return network._functional
        return network if isinstance(network, Function) else None

    def is_tensor(self, value):
        return isinstance(value, (keras.KerasTensor, keras.Variable))

    def is_variable(self, value):
        return isinstance(value, keras.Variable)

    def as_array(self, value):
        try:
            return ops.convert_to_numpy(value) if ops.is_tensor(value) else None
        except Exception:   # An object of the user's may answer in any way.
            return None

    def is_part(self, value):
        """The seed of `keras.random` belongs to no model."""
        generator = global_state.get_global_attribute('global_seed_generator')
        return (self.is_layer(value) or self.is_tensor(value)) and (
            generator is None or value is not generator.state)

    def sources(self, tensor):
        return [getattr(tensor, '_keras_history', None)]

    def is_network(self, layer):
        return isinstance(layer, (Functional, keras.Sequential, Function))

    def layers_of(self, network):
        """Layers that are in attributes but not in the graph come last."""
        if isinstance(network, keras.Sequential):
            return list(network._layers)
        attached = [each for each in getattr(network, '_layers', [])
                    if not any(each is other for other in network.operations)]
        return list(network.operations) + attached

    def held_layers(self, layer):
        """They are labelled by their position."""
        held = layer._layers if isinstance(layer, Layer) else [
            each for each in vars(layer).values() if self.is_layer(each)]
        return [(str(i), each) for i, each in enumerate(held)]

    def weights_of(self, layer):
        """They do not include those of the layers that it holds."""
        if not isinstance(layer, Layer):
            return []
        return layer._trainable_variables + layer._non_trainable_variables

    def facts_of_weight(self, weight):
        return {'': f'{weight.dtype} of shape {weight.shape}',
                ', its name': re.sub(r'_\d+$', '', weight.name),
                ', its flag trainable': weight.trainable,
                ', its regularizer': type(weight.regularizer),
                ', its constraint': type(weight.constraint)}

    def path_of(self, weight):
        return weight.path

    def settings_of(self, model):
        found = {'being compiled': bool(getattr(model, 'compiled', False))}
        if found['being compiled']:
            found.update((name + ' compiled with', value)
                         for name, value in _compiled_with(model).items())
            found['optimizer compiled with'] = model.optimizer
        return found

    def values_of(self, variables):
        return [np.array(ops.convert_to_numpy(each.value)) for each in variables]

    def set_values(self, variables, values):
        for variable, value in zip(variables, values):
            variable.assign(value)

    def masks_of(self, node):
        return ([get_keras_mask(x) for x in node.input_tensors],
                [get_keras_mask(x) for x in node.output_tensors])

    def shapes_of(self, node):
        return [(x.shape, x.dtype, x.sparse, getattr(x, 'ragged', False))
                for x in node.output_tensors]

    @contextlib.contextmanager
    def fresh_names(self, seed):
        names = global_state.get_global_attribute('object_name_uids')
        global_state.set_global_attribute('object_name_uids',
                                          collections.defaultdict(int))
        try:
            yield
        finally:
            global_state.set_global_attribute('object_name_uids', names)

    def evaluator(self, model, values, nodes=None):
        """It returns as many masks as outputs, with an empty array in place of each
        missing mask."""
        if nodes is None:
            values = self._packed(model, '_inputs_struct', values)
        else:
            model = keras.Model(self.graph_of(model).inputs, [
                x for node in nodes for x in node.output_tensors])

        def compute():
            with keras.StatelessScope():
                outputs = tree.flatten(model(values, training=False))
                masks = [get_keras_mask(x) for x in outputs]
                return [np.empty(0) if x is None else ops.convert_to_numpy(x)
                        for x in outputs + masks]
        return compute

    def draw_targets(self, model, outputs, seed=0):
        """Arrays like the outputs are tried first, then class numbers."""
        if _compiled_with(model).get('loss') is None:
            return None
        random = np.random.RandomState(seed)
        for draw in (lambda x: random.uniform(-3, 3, x.shape),
                     lambda x: random.uniform(0, 1, x.shape),
                     lambda x: random.randint(0, x.shape[-1], x.shape[:-1])):
            try:
                targets = [draw(x).astype('float32') for x in outputs]
                loss = _compiled_loss(model, targets, self._packed(
                    model, '_outputs_struct', map(ops.convert_to_tensor, outputs)))
            except Exception:  # It may be any custom function.
                continue
            if np.isfinite(ops.convert_to_numpy(loss)).all():
                return targets
        return None

    def train_once(self, model, values, targets=None, noise=None):
        """With targets, the loss is the one that the model was compiled with; if
        there are none, it is the mean square of the outputs. The model's own losses
        are added."""
        if keras.backend.backend() == 'torch':
            import torch
            torch.manual_seed(0)  # `Dropout` without a seed uses this generator.
        trained = [each for each in model.trainable_variables
                   if keras.backend.is_float_dtype(each.dtype)]
        inputs = self._packed(model, '_inputs_struct', values)

        def compute(tensors):
            with keras.StatelessScope(list(zip(trained, tensors)),
                                      collect_losses=True) as scope:
                outputs = model(inputs, training=True)
                own_loss = _total(model.losses)
                loss = own_loss + _objective(model, outputs, targets)
                after = [scope.get_current_value(each) for each in model.weights]
            # `x is None`: not changed in the scope.
            after = [each.value if x is None else x
                     for each, x in zip(model.weights, after)]
            return loss, (own_loss, loss, tree.flatten(outputs), after)

        start = [ops.convert_to_tensor(each.value) for each in trained]
        (own_loss, loss, outputs, after), gradients = _gradients(compute, start)
        stepped = {id(each): self._stepped(each, x, gradient)
                   for each, x, gradient in zip(trained, start, gradients)}
        after = [stepped.get(id(each), x) for each, x in zip(model.weights, after)]
        found = {'losses': [own_loss], 'the loss in training': [loss],
                 'outputs in training': outputs, self.STEPPED: after}
        return {what: list(map(ops.convert_to_numpy, tensors))
                for what, tensors in found.items()}, None

    def _stepped(self, variable, x, gradient):
        if gradient is None:
            return x
        x = x - ops.cast(self.RATE * gradient, x.dtype)
        return variable.constraint(x) if variable.constraint else x

    def _packed(self, model, structure, values):
        """Returns a list in the structure of the inputs or outputs of a model."""
        return tree.pack_sequence_as(getattr(self.graph_of(model), structure),
                                     list(values))


def _compiled_with(model):
    """Returns the arguments that a model was compiled with, if Keras keeps them."""
    return getattr(getattr(model, '_compile_config', None), 'config', None) or {}


def _total(losses):
    return sum((ops.sum(ops.cast(each, 'float32')) for each in losses),
               ops.zeros(()))


def _objective(model, outputs, targets):
    if targets is not None:
        return ops.sum(_compiled_loss(model, targets, outputs))
    floats = [x for x in tree.flatten(outputs)
              if keras.backend.is_float_dtype(x.dtype)]
    return _total([ops.mean(ops.square(ops.cast(x, 'float32'))) for x in floats])


def _compiled_loss(model, targets, outputs):
    """Computes the loss that a model was compiled with, with another loss object:
    that of the model would store the structure of its arguments."""
    settings = _compiled_with(model)
    loss = CompileLoss(settings['loss'], settings.get('loss_weights'),
                       output_names=model.output_names)
    return loss(tree.pack_sequence_as(outputs, targets), outputs)


def _gradients(compute, tensors):
    """Computes the gradients of a loss: `compute` takes a list of tensors and
    returns a pair (loss, anything). Returns a pair (anything, list of gradients)."""
    if keras.backend.backend() == 'tensorflow':
        import tensorflow as tf
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(tensors)
            loss, rest = compute(tensors)
        return rest, [None if each is None else tf.convert_to_tensor(each)
                      for each in tape.gradient(loss, tensors)]
    if keras.backend.backend() == 'jax':
        import jax
        gradients, rest = jax.grad(compute, has_aux=True)(tensors)
        return rest, gradients
    if keras.backend.backend() == 'torch':
        import torch
        tensors = [each.detach().clone().requires_grad_() for each in tensors]
        loss, rest = compute(tensors)
        is_trained = tensors and loss.requires_grad
        return rest, (torch.autograd.grad(loss, tensors, allow_unused=True)
                      if is_trained else [None] * len(tensors))
    return compute(tensors)[1], [None] * len(tensors)
