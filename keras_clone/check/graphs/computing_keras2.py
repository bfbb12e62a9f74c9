"""Computes the outputs of models of Keras 2, and of parts of them."""
import numpy as np
from keras import backend as K

from .tensors_keras2 import is_eager, mask_tensors, tensors_of


def evaluator(model, values, nodes=None, on=None, read=None, state=()):
    """See `Graphs.evaluator`; `read` and `state` are left as they are."""
    tensors = (_with_masks(model) if nodes is None else
               [tensor for node in nodes for tensor in tensors_of(node)])
    compute = function_of(feeds(model, values, on), tensors,
                          model.uses_learning_phase)

    def compute_from_start():
        if model.stateful:
            model.reset_states()
        return compute()
    return compute_from_start


def inputs_to_feed(model, values):
    """See `Graphs.inputs_to_feed`: only placeholders have no value of their own."""
    return [value if _is_fed(tensor) else function_of([], [tensor])()[0]
            for tensor, value in zip(model.inputs, values)]


def feeds(model, values, on=None):
    """Returns what to feed: a list of pairs (tensor, array)."""
    if on is not None:
        return list(zip(on, values))
    return [(tensor, value) for tensor, value in zip(model.inputs, values)
            if _is_fed(tensor)]


def function_of(feeds, tensors, learning_phase=False):
    """Returns a function that computes tensors each time it is called.

    # Arguments
        feeds: list of pairs (tensor, array).
        tensors: list of tensors to compute.
        learning_phase: whether the tensors depend on the learning phase; it is fed
            with 0, the phase of `predict`.

    # Returns
        A function without arguments that returns a list of arrays.
    """
    known = {id(tensor): value for tensor, value in feeds}
    known.update((id(x), x.numpy()) for x in tensors if is_eager(x))
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


def _with_masks(model):
    """Returns a model's outputs, followed by their masks."""
    masks = [layer._inbound_nodes[node_index].output_masks[tensor_index]
             for layer, node_index, tensor_index in
             (tensor._keras_history for tensor in model.outputs)]
    return model.outputs + mask_tensors(masks)


def _is_fed(tensor):
    return tensor._keras_history[0].is_placeholder
