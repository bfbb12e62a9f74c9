"""Draws the weights and inputs on which a model and its clone are compared.

They are drawn so that faults of a clone have an effect: biases are not zero,
sequences end in masked steps, ids of embeddings include the 0 that stands for no
word.
"""
import collections

import numpy as np

from .graphs import graphs, reached

# What an input of a model takes. shape: tuple, None for each free size. dtype: text.
# sparse: whether it is sparse. consumers: see `_consumers`.
Input = collections.namedtuple('Input', 'shape dtype sparse consumers')

BATCH = 3       # where every batch size is free
STEPS = 5       # where the length of a sequence is free
WORDS = 4       # in a text, where it is split into words
PIXELS = 32     # where the height or width of an image is free


def draw_weights(model, seed=0):
    """Adds random numbers to the weights of a model.

    Vectors (biases, scales, variances) only grow: a variance stays positive. The
    larger a matrix, the smaller its change, so that deep models compute finite
    numbers. A layer with `adapt` keeps its weights: it computes from values that
    only `adapt` and loading derive from these.
    """
    random = np.random.RandomState(seed)
    kept = {id(weight) for layer in graphs.all_layers(model)
            if hasattr(layer, 'adapt') for weight in layer.weights}
    values = model.get_weights()
    for i, (weight, value) in enumerate(zip(model.weights, values)):
        if value.dtype.kind == 'f' and id(weight) not in kept:
            if value.ndim < 2:
                change = random.uniform(.05, .5, value.shape)
            else:
                fan = np.prod(value.shape[:-1])
                change = random.uniform(-1, 1, value.shape) / np.sqrt(fan)
            values[i] = (value + change).astype(value.dtype)
    model.set_weights(values)


def draw_inputs(model, seed=0):
    """Draws one array for each input of a model.

    # Arguments
        model: a built `Model`.
        seed: determines everything that is drawn.

    # Returns
        List of arrays (SciPy matrices for sparse inputs). Inputs that reach a layer
        with a vocabulary get values in it, and one that is not; inputs that reach
        an `Embedding` get ids below its `input_dim`, those of a `CategoryEncoding`
        numbers below its `num_tokens`. Rows end in steps of the mask value, 0 if
        there is no `Masking` layer: the last row has none, each row before it has
        one more.
    """
    random = np.random.RandomState(seed)
    inputs = [Input(*graphs.facts_of_input(x), _consumers(x._keras_history[0]))
              for x in graphs.graph_of(model).inputs]
    batch = next((each.shape[0] for each in inputs
                  if each.shape and each.shape[0] is not None), BATCH)
    return [_draw_input(each, batch, random) for each in inputs]


def _consumers(layer):
    """Returns the layers that what goes into a layer reaches before one that has
    weights of its own; the layer itself included."""
    def leads_to(layer):
        if layer is None:   # Where a function of operations begins.
            return []
        if graphs.is_network(layer):
            inputs = getattr(graphs.graph_of(layer), 'inputs', [])
            found = [x._keras_history[0] for x in inputs]
        else:
            found = [each for _, each in graphs.inner_layers(layer)]
        if not getattr(layer, 'weights', []):
            found += map(graphs.layer_of, layer._outbound_nodes)
        return found
    return reached([layer], leads_to)


def _draw_input(wanted, batch, random):
    free = PIXELS if len(wanted.shape) > 3 else STEPS
    shape = (batch,) + tuple(free if size is None else size
                             for size in wanted.shape[1:])
    known = _known_to_a_lookup(wanted)
    if wanted.dtype == 'string':
        return _draw_texts(wanted, known or ['a', 'b', 'c'], shape, random)
    dtype = np.dtype(wanted.dtype)
    if known:
        return _each_of(known, shape, random).astype(dtype)
    limits = [limit for each in wanted.consumers for limit in _limits_of(each)]
    if limits:
        value = random.randint(1, max(2, min(limits)), shape)
    elif dtype.kind == 'f':
        value = random.uniform(-1, 1, shape)
    else:
        value = random.randint(0, 2, shape)
    if len(shape) > 1 and (limits or len(shape) > 2 or dtype.kind == 'b'):
        fill = [each.mask_value for each in wanted.consumers
                if getattr(each, 'mask_value', None) is not None] or [0]
        for row in range(batch):
            hidden = batch - 1 - row if batch > 1 else shape[1] // 2
            value[row, max(1, shape[1] - hidden):] = fill[0]
    value = value.astype(dtype)
    if wanted.sparse:
        from scipy import sparse
        value = sparse.csr_matrix(value)
    return value


def _known_to_a_lookup(wanted):
    """Returns the numbers or texts in the vocabulary of a layer and, if the layer
    accepts it, one that is not; an empty list if no layer has a vocabulary."""
    is_text = wanted.dtype == 'string'
    for layer in wanted.consumers:
        if hasattr(layer, 'get_vocabulary'):
            known = [each for each in layer.get_vocabulary()
                     if isinstance(each, str if is_text else (int, np.integer))]
            if known and getattr(layer, 'num_oov_indices', 1):
                known.append('other' if is_text else max(known) + 1)
            return known
    return []


def _draw_texts(wanted, known, shape, random):
    is_split = any(getattr(each, '_split', None) for each in wanted.consumers)
    words = _each_of([word for word in known if word],
                     shape + (WORDS if is_split else 1,), random)
    texts = [' '.join(each) for each in words.reshape(-1, words.shape[-1])]
    return np.array(texts, dtype=object).reshape(shape)


def _each_of(known, shape, random):
    """Draws from a list, each element once before any is drawn again."""
    size = int(np.prod(shape))
    drawn = [random.permutation(known) for _ in range(size // len(known) + 1)]
    return np.concatenate(drawn)[:size].reshape(shape)


def _limits_of(layer):
    """Returns the upper bounds (exclusive) of the integers that a layer takes."""
    names = [each.__name__ for each in type(layer).__mro__]
    if hasattr(layer, 'input_dim') and any('Embedding' in name for name in names):
        return [layer.input_dim]
    return [layer.num_tokens] if 'CategoryEncoding' in names else []
