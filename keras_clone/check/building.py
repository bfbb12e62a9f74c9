"""Builds the model whose clones are judged, and counts the ops that this adds."""
import keras

from .difference import GRAPH, Difference, ModelError
from .graphs import graphs
from .messages import one_line, place_in_code, shortened


def built(build):
    """Returns what `build` returns as a pair (model, list of arrays or None).

    # Raises
        ModelError: if it raises, or returns no model that can be judged.
    """
    try:
        result = build()
    except Exception as error:
        raise ModelError(f'The model cannot be built: {one_line(error)}'
                         f'{place_in_code(error)}.')
    is_pair = isinstance(result, tuple) and len(result) == 2
    model, inputs = result if is_pair else (result, None)
    if not isinstance(model, keras.models.Model):
        is_other = type(model).__module__.startswith(('tensorflow', 'tf_keras'))
        found = (f'a {type(model).__name__} of tf.keras, not of `import keras`'
                 if is_other else shortened(repr(model)))
        raise ModelError('Expected a function that returns a Keras `Model`, '
                         f'it returned {found}.')
    if not graphs.is_network(model):
        raise ModelError('Expected a functional or `Sequential` model, it returned '
                         f'a subclassed one, of class `{type(model).__name__}`: '
                         'it has no graph to compare.')
    if not graphs.is_current(model):
        raise ModelError('Expected a function that builds its model anew each time '
                         'it is called, it returned one that was built before.')
    return model, inputs


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
