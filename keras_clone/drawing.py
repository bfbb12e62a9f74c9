"""Draws the weights and inputs on which a model and its clone are compared.

They are drawn so that a difference must show: biases are not zero, sequences end
in steps that a mask hides, ids of embeddings include the 0 that stands for no word.
"""
import numpy as np
from keras import backend as K
from keras.engine.network import Network

from . import graphs

BATCH = 3       # where every batch size is free
STEPS = 5       # where the length of a sequence is free
PIXELS = 32     # where the height or width of an image is free


def draw_weights(model, seed=0):
    """Sets the weights of a model to its present ones plus a drawn difference.

    Vectors (biases, scales, variances) only grow: a variance stays positive.
    The change of a matrix shrinks with its size, so deep models stay finite.

    # Arguments
        model: a built `Model`.
        seed: what is drawn depends on it alone.
    """
    random = np.random.RandomState(seed)
    weights = []
    for weight in model.get_weights():
        if weight.dtype.kind == 'f':
            if weight.ndim < 2:
                change = random.uniform(.05, .5, weight.shape)
            else:
                fan = np.prod(weight.shape[:-1])
                change = random.uniform(-1, 1, weight.shape) / np.sqrt(fan)
            weight = (weight + change).astype(weight.dtype)
        weights.append(weight)
    model.set_weights(weights)


def draw_inputs(model, seed=0):
    """Draws one array for each input of a model.

    # Arguments
        model: a built `Model`.
        seed: what is drawn depends on it alone.

    # Returns
        List of arrays (SciPy matrices for sparse inputs). Inputs that reach an
        `Embedding` get ids below its `input_dim`; rows end in steps of the mask
        value, 0 if there is no `Masking` layer: the last row in none, those
        before it in one more each.
    """
    random = np.random.RandomState(seed)
    batch = next((size for size in (K.int_shape(x)[0] for x in model.inputs)
                  if size is not None), BATCH)
    return [_draw_input(tensor, batch, random) for tensor in model.inputs]


def _draw_input(tensor, batch, random):
    layer = tensor._keras_history[0]
    shape = _concrete_shape(K.int_shape(tensor), batch)
    dtype = np.dtype(K.dtype(tensor))
    consumers = _consumers(layer)
    limits = [each.input_dim for each in consumers if _is_embedding(each)]
    fill = next((each.mask_value for each in consumers
                 if hasattr(each, 'mask_value')), 0)
    if limits:
        value = random.randint(1, max(2, min(limits)), shape)
    elif dtype.kind == 'f':
        value = random.uniform(-1, 1, shape)
    else:
        value = random.randint(0, 2, shape)
    if limits or len(shape) > 2 or dtype.kind == 'b':
        _end_rows_in(value, fill)
    value = value.astype(dtype)
    if getattr(layer, 'sparse', False):
        from scipy import sparse
        value = sparse.csr_matrix(value)
    return value


def _concrete_shape(shape, batch):
    free = PIXELS if len(shape) > 3 else STEPS
    return (batch,) + tuple(free if size is None else size for size in shape[1:])


def _end_rows_in(value, fill):
    if value.ndim < 2:
        return
    rows, steps = value.shape[:2]
    for row in range(rows):
        hidden = min(rows - 1 - row, steps - 1)
        if rows == 1:
            hidden = steps // 2
        value[row, steps - hidden:] = fill


def _is_embedding(layer):
    return hasattr(layer, 'input_dim') and any(
        'Embedding' in each.__name__ for each in type(layer).__mro__)


def _consumers(layer):
    """Returns the layers that a tensor reaches before it meets a weight."""
    found, waiting = [], [layer]
    while waiting:
        layer = waiting.pop()
        if any(layer is each for each in found):
            continue
        found.append(layer)
        if isinstance(layer, Network):
            waiting.extend(getattr(layer, '_input_layers', []))
        else:
            waiting.extend(each for _, each in graphs.inner_layers(layer))
        if not layer.weights:
            waiting.extend(node.outbound_layer for node in layer._outbound_nodes)
    return found
