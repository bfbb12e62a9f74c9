"""Sorts the nodes of a network.

Used by the overlays of both major versions of Keras.
"""


def in_call_order(nodes, layer_of, parents_of):
    """Sorts nodes topologically, keeping each layer's calls in their original order.

    Sorting by depth alone would swap two calls of a shared layer if the second one
    is farther from the outputs.

    # Arguments
        nodes: list of the nodes of a network. The search begins with the last one.
        layer_of: function that returns the layer whose call created a node.
        parents_of: function that returns the nodes that a node depends on.

    # Returns
        A list of the same nodes, each after the nodes that it depends on, unless
        these depend on it.
    """
    members, earlier_call = set(nodes), {}
    for layer in {id(layer_of(node)): layer_of(node) for node in nodes}.values():
        calls = [node for node in layer._inbound_nodes if node in members]
        earlier_call.update(zip(calls[1:], calls))
    ordered, done, opened, pending = [], set(), set(), list(nodes)
    while pending:
        node = pending[-1]
        opened.add(node)
        needed = [other for other in parents_of(node) if other in members]
        needed += [earlier_call[node]] if node in earlier_call else []
        needed = [other for other in needed if other not in opened]
        pending.extend(reversed(needed))
        if not needed:
            pending.pop()
            if node not in done:
                done.add(node)
                ordered.append(node)
    return ordered
