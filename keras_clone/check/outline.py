"""The graph of a model as plain data, which another process can send and draw."""
import collections
import itertools
import warnings

import keras

from .faithfulness import built
from .description import tensors_in
from .difference import CLONING
from .graphs import graphs


def outlines(build, clone_model, outcome, seed=0):
    """Builds a model, clones it and describes the graphs of both.

    # Arguments
        build, clone_model, seed: see `check_clone`.
        outcome: what `check_clone` found; if it is the clone's clone that differs,
            that one is described.

    # Returns
        A dict that can be written as JSON: `model` and `clone` are outlines, see
        `outline`. `clone` is None if cloning raises.
    """
    with graphs.fresh_state(seed), warnings.catch_warnings():
        warnings.simplefilter('ignore')
        model, _ = built(build)
        found = {'model': outline(model), 'clone': None}
        try:
            clone = clone_model(model)
            if outcome == CLONING:
                clone = clone_model(clone)
        except Exception:
            return found
        if isinstance(clone, keras.models.Model):
            found['clone'] = outline(clone)
        return found


def outline(model):
    """Describes the graph of a model.

    # Arguments
        model: a `Model`.

    # Returns
        A list of dicts, one for each call of a layer, inputs first; it is empty for
        a model that is not built:

        - `name` and `kind` of the layer, as text.
        - `call`: 1 for the first call of a layer of that name, 2 for the next...
        - `calls`: how often this layer is called.
        - `shares_with`: the names of other layers of the model with which it has a
          layer or a weight in common.
        - `inputs`: dicts with the number of the call `of` which the tensor is an
          `output`, the number of that output, and whether it has a `mask`.
    """
    nodes = graphs.ordered_nodes(model)
    layers = [graphs.layer_of(node) for node in nodes]
    places = {id(x): (i, k) for i, node in enumerate(nodes)
              for k, x in enumerate(node.output_tensors)}
    calls_of_name = collections.Counter()
    calls = collections.Counter(map(id, layers))
    # The ids of each layer, of the layers in it, and of their variables.
    parts = {id(layer): {id(part) for each in graphs.all_layers(layer)
                         for part in [each, *graphs.weights_of(each)]}
             for layer in layers}
    found = []
    for i, (node, layer) in enumerate(zip(nodes, layers)):
        calls_of_name[layer.name] += 1
        found.append({
            'name': layer.name, 'kind': _kind(layer),
            'call': calls_of_name[layer.name], 'calls': calls[id(layer)],
            'shares_with': sorted({
                each.name for each in layers if each is not layer and
                not parts[id(each)].isdisjoint(parts[id(layer)])}),
            'inputs': [{'of': places[id(x)][0], 'output': places[id(x)][1],
                        'mask': has_mask}
                       for x, has_mask in _inputs(node)
                       # The input of an input layer is its own output.
                       if places.get(id(x), (i,))[0] != i]})
    return found


def _inputs(node):
    """Returns pairs: a tensor that a call depends on, whether it has a mask."""
    tensors = list(node.input_tensors)
    masks = graphs.masks_of(node)[0]
    for arguments in graphs.arguments_of(node):
        # This argument replaces the masks of the inputs, even if it is None.
        if isinstance(arguments, dict) and 'mask' in arguments:
            mask = arguments['mask']
            masks = mask if isinstance(mask, (list, tuple)) else [mask]
    known = set(map(id, tensors))
    pairs = list(itertools.zip_longest(tensors, masks[:len(tensors)]))
    pairs += [(x, None) for x in tensors_in(graphs.arguments_of(node))
              if id(x) not in known]
    return [(x, mask is not None) for x, mask in pairs]


def _kind(layer):
    """Returns the class of a layer, and of what it wraps or consists of."""
    name = type(layer).__name__
    if graphs.is_network(layer):
        inner = [type(each).__name__ for each in graphs.layers_of(layer)]
        inner = [each for each in inner if each != 'InputLayer']
        name = name if name == 'Sequential' else 'Model'
        return f'{name} of ' + ', '.join(inner)
    wrapped = getattr(layer, 'forward_layer', None) or getattr(layer, 'layer', None)
    return f'{name}({type(wrapped).__name__})' if graphs.is_layer(wrapped) else name
