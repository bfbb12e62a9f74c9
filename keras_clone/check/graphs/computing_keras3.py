"""How models of Keras 3 are computed and trained, without changing them.

Everything is computed in a scope that stores new values of variables separately.
"""
import keras
import numpy as np
from keras import ops
from keras import tree
from keras.src.backend.common.masking import get_keras_mask
from keras.src.ops.function import Function
from keras.src.trainers.compile_utils import CompileLoss

from .interface import Graphs

RATE = .1


def graph_of(model):
    """Returns the `Function` that a model is, or that a `Sequential` has."""
    if isinstance(model, keras.Sequential):
        return model._functional
    return model if isinstance(model, Function) else None


def evaluator(model, values, nodes=None, on=None, state=()):
    """See `Graphs.evaluator`.

    The function returns as many masks as outputs, with an empty array in place of
    each missing mask. It changes no variable.
    """
    def compute():
        with keras.StatelessScope(state):
            return _computed(model, values, nodes, on)
    return compute


def _computed(model, values, nodes=None, on=None):
    graph = graph_of(model)
    if nodes is not None or on is not None:
        tensors = (graph.outputs if nodes is None else
                   [x for node in nodes for x in node.output_tensors])
        model = keras.Model(on or graph.inputs, tensors)
    else:
        values = packed_inputs(model, values)
    outputs = tree.flatten(model(values, training=False))
    masks = [get_keras_mask(x) for x in outputs]
    return [np.empty(0) if x is None else ops.convert_to_numpy(x)
            for x in outputs + masks]


def packed_inputs(model, values):
    """Returns arrays in the structure in which a model takes its inputs."""
    return tree.pack_sequence_as(graph_of(model)._inputs_struct, values)


# Training


def compiled_with(model):
    """Returns the arguments that a model was compiled with, if Keras keeps them."""
    return getattr(getattr(model, '_compile_config', None), 'config', None) or {}


def draw_targets(model, outputs, seed=0):
    """See `Graphs.draw_targets`.

    Arrays like the outputs are tried first, then class numbers.
    """
    if compiled_with(model).get('loss') is None:
        return None
    random = np.random.RandomState(seed)
    for draw in (lambda x: random.uniform(-3, 3, x.shape),
                 lambda x: random.uniform(0, 1, x.shape),
                 lambda x: random.randint(0, x.shape[-1], x.shape[:-1])):
        try:
            targets = [draw(x).astype('float32') for x in outputs]
            loss = _compiled_loss(model, targets, _packed_outputs(model, outputs))
        except Exception:  # It may be any custom function.
            continue
        if np.isfinite(ops.convert_to_numpy(loss)).all():
            return targets
    return None


def train_once(model, values, targets=None, state=(), noise=None):
    """See `Graphs.train_once`.

    With targets, the loss is the one that the model was compiled with; without, it
    is the mean square of the outputs. The model's own losses are added.
    """
    trained = [each for each in model.trainable_variables
               if keras.backend.is_float_dtype(each.dtype)]
    inputs = packed_inputs(model, values)

    def compute(tensors):
        mapping = list(state) + list(zip(trained, tensors))
        with keras.StatelessScope(mapping, collect_losses=True) as scope:
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
    stepped = {id(each): _stepped(each, x, gradient)
               for each, x, gradient in zip(trained, start, gradients)}
    after = [stepped.get(id(each), x) for each, x in zip(model.weights, after)]
    return {'losses': _arrays([own_loss]), 'the loss in training': _arrays([loss]),
            'outputs in training': _arrays(outputs),
            Graphs.STEPPED: _arrays(after)}, None


def _arrays(tensors):
    return [ops.convert_to_numpy(each) for each in tensors]


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
    settings = compiled_with(model)
    loss = CompileLoss(settings['loss'], settings.get('loss_weights'),
                       output_names=model.output_names)
    return loss(tree.pack_sequence_as(outputs, targets), outputs)


def _packed_outputs(model, outputs):
    outputs = [ops.convert_to_tensor(x) for x in outputs]
    struct = getattr(model, '_functional', model)._outputs_struct
    return tree.pack_sequence_as(struct, outputs)


def _stepped(variable, x, gradient):
    if gradient is None:
        return x
    x = x - ops.cast(RATE * gradient, x.dtype)
    return variable.constraint(x) if variable.constraint else x


def _gradients(compute, tensors):
    """Computes the gradients of a loss.

    # Arguments
        compute: function that takes tensors and returns a pair (loss, anything).
        tensors: list of tensors.

    # Returns
        A pair (anything that `compute` returned, list of gradients).
    """
    return {'tensorflow': _gradients_of_tensorflow, 'jax': _gradients_of_jax,
            'torch': _gradients_of_torch}.get(
                keras.backend.backend(), _no_gradients)(compute, tensors)


def _gradients_of_tensorflow(compute, tensors):
    import tensorflow as tf
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(tensors)
        loss, rest = compute(tensors)
    return rest, [None if each is None else tf.convert_to_tensor(each)
                  for each in tape.gradient(loss, tensors)]


def _gradients_of_jax(compute, tensors):
    import jax
    gradients, rest = jax.grad(compute, has_aux=True)(tensors)
    return rest, gradients


def _gradients_of_torch(compute, tensors):
    import torch
    tensors = [each.detach().clone().requires_grad_() for each in tensors]
    loss, rest = compute(tensors)
    if not tensors or not loss.requires_grad:
        return rest, [None] * len(tensors)
    return rest, torch.autograd.grad(loss, tensors, allow_unused=True)


def _no_gradients(compute, tensors):
    return compute(tensors)[1], [None] * len(tensors)
