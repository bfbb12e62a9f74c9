"""Whether cloning a model adds the ops that building it added."""
from .describing import shortened
from .difference import GRAPH, Difference
from .graphs import graphs


def op_differences(expected, got, exact, layers):
    """Compares the ops that building the original and cloning it added.

    # Arguments
        expected: list of the ops that building the original added.
        got: list of the ops that cloning it added.
        exact: whether fewer ops are a difference as well.
        layers: names of the model's layers, to find the one that an op belongs to.

    # Returns
        List of at most one `Difference`.
    """
    wanted, added = graphs.count_ops(expected), graphs.count_ops(got)
    more = [(kind, added[kind] - wanted[kind])
            for kind in sorted(set(wanted) | set(added))]
    wrong = [(kind, n) for kind, n in more if n > 0 or n and exact]
    if not wrong:
        return []
    kinds = [kind for kind, _ in wrong]
    layer = next((name for name in layers if _ops_in(name, kinds, expected) !=
                  _ops_in(name, kinds, got)), '')
    text = ', '.join(f"{abs(n)} {'more' if n > 0 else 'fewer'} {kind}"
                     for kind, n in wrong)
    return [Difference(GRAPH, layer, 'ops', "as many as the original's",
                       shortened(text))]


def _ops_in(scope, kinds, ops):
    """Counts the ops in a scope, to which a number may be appended: `lstm_1_2`."""
    def is_in_scope(name):
        top = name.split('/')[0]
        return top == scope or (top.startswith(scope + '_') and
                                top[len(scope) + 1:].isdigit())
    return graphs.count_ops(op for op in ops
                            if op.type in kinds and is_in_scope(op.name))
