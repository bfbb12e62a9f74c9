"""Computes the outputs of models of Keras 3, and of parts of them."""
import keras
import numpy as np
from keras import ops
from keras import tree
from keras.src.backend.common.masking import get_keras_mask
from keras.src.ops.function import Function


def graph_of(model):
    """Returns the `Function` that a model is, or that a `Sequential` has."""
    if isinstance(model, keras.Sequential):
        return model._functional
    return model if isinstance(model, Function) else None


def evaluator(model, values, nodes=None, on=None, read=None, state=()):
    """See `Graphs.evaluator`.

    The function returns as many masks as outputs, with an empty array in place of
    each missing mask. It changes no variable.
    """
    def compute():
        with _Readings({} if read is None else read, state):
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


class _Readings(keras.StatelessScope):
    """Scope that records in a dict which variables are read in it."""

    def __init__(self, read, state):
        super().__init__(state)
        self.read = read

    def get_current_value(self, variable):
        self.read[id(variable)] = variable
        return super().get_current_value(variable)
