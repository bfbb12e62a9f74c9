"""Whether layers that are partners are alike: classes, names, flags, configurations,
weights.

Each function yields the `Difference`s in a `Pairing`.
"""
from .describing import describe, summary
from .difference import GRAPH, Difference, unequal
from .graphs import graphs
from .values import leaf_pairs, same_value


def class_differences(pairing):
    """The classes of layers."""
    for pair in pairing.layers:
        if not pair.are_of_one_class:
            mine, its = (type(each).__name__ for each in pair[1:])
            yield Difference(GRAPH, pair.path, 'class', mine, its if its != mine else
                             'another class of that name')


def name_differences(pairing):
    """The names of networks, and the order of the layers in them."""
    for pair in pairing.networks():
        yield from unequal(pair.path, 'name', pair.original.name, pair.partner.name)
        yield from _first_difference_in_order(pair.path, *pairing.layers_of(pair))


def _first_difference_in_order(path, layers, others):
    prefix = path + '/' if path else ''
    mine = [each.name for each in layers] + [None]
    its = [each.name for each in others] + [None]
    for i, (x, y) in enumerate(zip(mine, its)):
        if x != y:
            yield Difference(GRAPH, prefix + (x or y), f'layer at place {i}',
                             x or 'none', y or 'none')
            return


def inner_layer_differences(pairing):
    """Which attributes hold layers, or how many layers there are."""
    for path, layer, other in pairing.of_one_class():
        if not graphs.is_network(layer):
            yield from unequal(path, 'inner layers', *(
                ', '.join(sorted(label for label, _ in graphs.inner_layers(each)))
                for each in (layer, other)))


def flag_differences(pairing):
    """The flags that every layer has, such as `trainable`."""
    for path, layer, other in pairing.of_one_class():
        its = graphs.flags_of(other)
        for what, flag in sorted(graphs.flags_of(layer).items()):
            if flag != its[what]:
                yield Difference(GRAPH, path, what, repr(flag), repr(its[what]))


def weight_differences(pairing):
    """How many weights layers have, and of which kind they are."""
    for path, layer, other in pairing.of_one_class():
        yield from unequal(path, 'number of weights', len(graphs.weights_of(layer)),
                           len(graphs.weights_of(other)))
    for path, what, variable, other in pairing.variables:
        yield from unequal(path, what, graphs.kind_of(variable),
                           graphs.kind_of(other))


def configuration_differences(pairing):
    """What `get_config` returns for the layers that networks list."""
    for network in pairing.networks():
        for pair in pairing.layers_by_name(network):
            if pair.are_of_one_class and not graphs.is_network(pair.original):
                for place, x, y in _configuration_pairs(*pair[1:]):
                    if not same_value(x, y):
                        yield Difference(GRAPH, pair.path, f'configuration{place}',
                                         describe(x), describe(y))


def _configuration_pairs(layer, other):
    try:
        mine = layer.get_config()
    except Exception:  # It cannot be saved either, at least not as it is.
        return []
    try:
        its = other.get_config()
    except Exception as error:
        its = summary(error)
    return leaf_pairs(mine, its)
