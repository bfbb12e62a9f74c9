"""Whether partners hold the same, apart from their configurations and weights.

Each function yields the `Difference`s in a `Pairing`.
"""
from .describing import stable_text
from .difference import GRAPH, Difference
from .graphs import graphs

# How a layer lists its weights.
LISTS_OF_WEIGHTS = ('trainable_weights', 'non_trainable_weights', 'weights')


def attribute_differences(pairing):
    """The attributes of layers, at every depth."""
    for place in pairing.differing_in_layers:
        yield _difference_at(pairing, place)._replace(in_attribute=True)


def attachment_differences(pairing):
    """What models have apart from their layers."""
    for place in pairing.differing_in_models:
        yield _difference_at(pairing, place)


def _difference_at(pairing, place):
    path, what, x, y = place
    if any(is_kind(x) and is_kind(y)
           for is_kind in (graphs.is_layer, graphs.is_variable)):
        return Difference(GRAPH, path, what, *pairing.sharing(x, y))
    expected, got = stable_text(x), stable_text(y)
    return Difference(GRAPH, path, what, expected, got if got != expected else
                      'another one that looks the same')


def weight_order_differences(pairing):
    """The order of the weights in the lists of a layer, and their number there."""
    for path, layer, other in pairing.of_one_class():
        if path or pairing.on is None:
            yield from list(_in_lists_of_weights(pairing, path, layer, other))[:1]


def _in_lists_of_weights(pairing, path, layer, other):
    for name in LISTS_OF_WEIGHTS:
        mine, its = (list(getattr(each, name, [])) for each in (layer, other))
        partners = map(pairing.partner_of, mine)
        what = name.replace('_', ' ')
        if len(mine) != len(its):
            yield Difference(GRAPH, path, f'number of {what}', str(len(mine)),
                             str(len(its)))
        elif any(x is not y for x, y in zip(partners, its) if x is not None):
            yield Difference(GRAPH, path, f'order of {what}', "the original's",
                             'another')
