"""Whether a clone has the losses of its original and is trained like it."""
from .arrays import all_close, arrays_close, distance
from .describing import summary
from .difference import NUMBERS, Difference
from .graphs import graphs


def training_differences(original, pairing, same_graph):
    """Compares losses, and weights after one step of training.

    # Arguments
        original: the `Original`.
        pairing: the `Pairing` of the model and its clone, with the same weights.
        same_graph: whether the graphs have no difference. If they have one, it may
            be why weights are trained differently, so these are not compared.

    # Returns
        List of at most one `Difference`.
    """
    if not original.is_built:
        return []
    try:
        expected = original.trained()
    except Exception as error:
        original.not_compared.append(f'training ({summary(error)})')
        return []
    try:
        got = graphs.train_once(pairing.clone, original.values, original.targets,
                                pairing.seeds())
    except Exception as error:
        return [Difference(NUMBERS, '', 'training', "as the original's",
                           summary(error))]
    if not same_graph:
        expected = {what: expected[what] for what in expected
                    if what != graphs.STEPPED}
    return _first_difference(original, expected, got, pairing)


def _first_difference(original, expected, got, pairing):
    """Returns the first difference in what `Graphs.train_once` computed."""
    again = None
    for what, mine in expected.items():
        its = got.get(what, [])
        if all_close(mine, its):
            continue
        again = again or list(original.trained_again(pairing.seeds()))
        if all(all_close(mine, drawn[what]) for drawn in again):
            layer = (_layer_of_weights(pairing, mine, its)
                     if what == graphs.STEPPED else '')
            return [Difference(NUMBERS, layer, what, "the original's",
                               distance(mine, its))]
        original.not_compared.append(what + ' (random)')
    return []


def _layer_of_weights(pairing, expected, got):
    """Returns the path of the layer of the first weight that has other values."""
    return next(pairing.path_of(weight) for weight, x, y in
                zip(pairing.model.weights, expected, got) if not arrays_close(x, y))
