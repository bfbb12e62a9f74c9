"""Whether a clone computes the outputs of its original."""
from .arrays import arrays_close, distance
from .bisection import first_that_holds
from .describing import summary
from .difference import NUMBERS, PREDICT, SHARING, Difference
from .graphs import graphs


def output_differences(original, pairing, locate=True):
    """Compares outputs, and the masks that go with them, on the same inputs.

    # Arguments
        original: the `Original`.
        pairing: the `Pairing` of the model and its clone; the clone gets the weights
            of the model.
        locate: whether to look for the layer at which the outputs differ first.

    # Returns
        List of `Difference`s: at most one in the outputs, otherwise those in the
        variables that these are computed from.
    """
    if not original.is_built:
        return []
    clone, on, read, seeds = pairing.clone, pairing.on, {}, pairing.seeds()
    try:
        copy_weights(pairing)
        outputs = graphs.evaluator(clone, original.values, on=on, read=read,
                                   state=seeds)()
    except Exception as error:
        outcome, texts = PREDICT, ('predict', 'outputs', summary(error))
    else:
        original.note_random(outputs, seeds)
        if original.computes(outputs, seeds):
            return _foreign_variables(original.read, read) if on is None else []
        outcome, texts = NUMBERS, ('outputs', "the original's",
                                   distance(original.outputs, outputs))
    layer = _first_layer_to_differ(original, pairing) if locate else ''
    return [Difference(outcome, layer, *texts)]


def copy_weights(pairing):
    """Copies the weights of the original to the clone.

    With a clone built on tensors, the layers from which these come have weights of
    their own, which stay as they are.
    """
    if pairing.on is None:
        pairing.clone.set_weights(pairing.model.get_weights())
    else:
        for _, layer, other in pairing.of_one_class():
            if not graphs.is_network(layer):
                other.set_weights(layer.get_weights())


def _foreign_variables(owned, read):
    """Finds the variables of the original that a clone computes from."""
    return [Difference(SHARING, '', 'what it computes from',
                       'variables of its own', f"the original's {variable.path}")
            for key, variable in read.items()
            if key in owned and not graphs.belongs_to_keras(variable)]


def _first_layer_to_differ(original, pairing):
    """Returns the first layer whose outputs or masks are not the original's."""
    pairs, seeds = pairing.nodes_of(pairing.model), pairing.seeds()

    def differ(count):
        nodes, others = zip(*pairs[:count])
        if any(_has_masks(x) != _has_masks(y) for x, y in pairs[:count]):
            return True
        expected, again = (
            graphs.evaluator(original.model, original.values, nodes, state=state)()
            for state in ((), original.other_seeds(seeds)))
        try:
            got = graphs.evaluator(pairing.clone, original.values, others,
                                   pairing.on, state=seeds)()
        except Exception:
            return True
        return len(expected) != len(got) or not all(
            arrays_close(x, y) for x, y, z in zip(expected, got, again)
            if arrays_close(x, z))

    count = first_that_holds(differ, len(pairs))
    return graphs.layer_of(pairs[count - 1][0]).name if count else ''


def _has_masks(node):
    return [mask is not None for mask in graphs.masks_of(node)[1]]


def hidden_differences(pairing):
    """Compares the values of variables that `set_weights` does not set: those that
    a function, an object or a container holds."""
    copied = set(map(id, pairing.model.weights))
    hidden = [place for place in pairing.variables
              if id(place.original) not in copied]
    mine = graphs.values_of([place.original for place in hidden])
    its = graphs.values_of([place.partner for place in hidden])
    return [Difference(NUMBERS, place.path, 'the value of a variable that it holds',
                       "the original's", distance([x], [y]))
            for place, x, y in zip(hidden, mine, its) if not arrays_close(x, y)]
