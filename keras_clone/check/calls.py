"""Whether layers that are partners are called alike: on which tensors, with which
arguments, in which order.

Each function yields the `Difference`s in a `Pairing`.
"""
from .describing import describe
from .difference import GRAPH, Difference, unequal
from .graphs import graphs
from .pairing import argument_pairs
from .values import same_value


def tensor_differences(pairing):
    """The inputs and outputs of networks, and those of each call."""
    for network in pairing.networks():
        for kind, mine, its in pairing.inputs_and_outputs(network):
            yield from unequal(network.path, f'number of {kind}s', len(mine),
                               len(its))
            for i, (x, y) in enumerate(zip(mine, its)):
                yield from _tensor_differences(
                    pairing, network.path, f'{kind} {i} of the model', x, y)
    for node, other in pairing.calls:
        path = _path_of(pairing, node)
        for kind in ('input', 'output'):
            mine, its = (getattr(each, f'{kind}_tensors') for each in (node, other))
            yield from unequal(path, f'number of {kind} tensors', len(mine),
                               len(its))
            for i, (x, y) in enumerate(zip(mine, its)):
                yield from _tensor_differences(pairing, path, f'{kind} {i}', x, y)


def _path_of(pairing, node):
    return pairing.path_of(graphs.layer_of(node))


def _tensor_differences(pairing, path, what, x, y):
    if pairing.partner_of_tensor(x) is not y:
        yield Difference(GRAPH, path, what, describe(x), _other_text(x, y))


def _other_text(x, y):
    """Returns a text for what the clone has in place of the partner of a value."""
    if y is x:
        return 'that of the original'
    if graphs.is_tensor(x) and describe(y) == describe(x):
        return 'another tensor of that name'
    return describe(y)


def mask_differences(pairing):
    """Where calls take and return masks."""
    for node, other in pairing.calls:
        for what, mine, its in zip(('input mask', 'output mask'),
                                   graphs.masks_of(node), graphs.masks_of(other)):
            if graphs.MASKS_MAY_APPEAR:
                its = [None if x is None else y for x, y in zip(mine, its)]
            texts = [', '.join('none' if mask is None else 'a mask'
                               for mask in masks) for masks in (mine, its)]
            yield from unequal(_path_of(pairing, node), what, *texts)


def shape_differences(pairing):
    """The shapes of outputs, and what else is known of them."""
    for node, other in pairing.calls:
        yield from unequal(_path_of(pairing, node), 'output shapes',
                           graphs.shapes_of(node), graphs.shapes_of(other))


def argument_differences(pairing):
    """The arguments that layers are called with: values, tensors and masks."""
    for node, other in pairing.calls:
        for place, x, y in argument_pairs(node, other):
            if not _is_same_argument(pairing, x, y):
                yield Difference(GRAPH, _path_of(pairing, node),
                                 'call argument' + place, describe(x),
                                 _other_text(x, y))


def _is_same_argument(pairing, x, y):
    if not (graphs.is_tensor(x) and graphs.is_tensor(y)):
        return same_value(x, y, strict=True)
    # A tensor that no layer made has no partner if only an argument leads to it.
    has_partner = hasattr(x, '_keras_history') and hasattr(y, '_keras_history')
    return pairing.partner_of_tensor(x, None if has_partner else y) is y


def order_differences(pairing):
    """The order of calls in a network: a saved model names the calls of a layer by
    their order."""
    for network in pairing.networks():
        calls = {}
        for node, other in pairing.nodes_of(network.original):
            calls.setdefault(id(graphs.layer_of(node)), []).append((node, other))
        for pairs in calls.values():
            layer, other_layer = map(graphs.layer_of, pairs[0])
            pairs.sort(key=lambda pair: layer._inbound_nodes.index(pair[0]))
            order = [other_layer._inbound_nodes.index(other) for _, other in pairs]
            yield from unequal(pairing.path_of(layer), 'order of calls',
                               sorted(order), order)
