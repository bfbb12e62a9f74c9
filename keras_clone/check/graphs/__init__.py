"""What the judge of a clone asks of a model's graph and of Keras.

Both lines of Keras keep a model's graph in nodes, of which each is one call of a
layer. `keras2` and `keras3` have the same functions, each for its line; those of
the installed line are here. Nothing changes a model.
"""
import keras

if hasattr(keras, 'KerasTensor'):
    from .keras3 import *  # noqa: F401,F403
    from .keras3 import inner_layers
    from .training_keras3 import STEPPED, draw_targets, train_once  # noqa: F401
else:
    from .keras2 import *  # noqa: F401,F403
    from .keras2 import inner_layers
    from .training_keras2 import STEPPED, draw_targets, train_once  # noqa: F401


def all_layers(model):
    """Returns a model and every layer in it, at any depth, each once.

    # Arguments
        model: a `Model` instance.

    # Returns
        A list of pairs (path, layer): the path is what a user reads, the names of
        the layers down to this one, joined by `/`; it is empty for the model.
    """
    found, seen, waiting = [], set(), [('', model)]
    while waiting:
        path, layer = waiting.pop(0)
        if id(layer) in seen:
            continue
        seen.add(id(layer))
        found.append((path, layer))
        inner = [(f'{path}/{each.name}' if path else each.name, each)
                 for _, each in inner_layers(layer)]
        waiting = inner + waiting
    return found


def layers_up_to(tensors):
    """Returns the layers that Keras tensors come from, however far: id -> layer."""
    found, waiting = {}, list(tensors)
    while waiting:
        layer = getattr(waiting.pop(), '_keras_history', [None])[0]
        if layer is not None and id(layer) not in found:
            found[id(layer)] = layer
            for node in layer._inbound_nodes:
                waiting.extend(node.input_tensors)
    return found
