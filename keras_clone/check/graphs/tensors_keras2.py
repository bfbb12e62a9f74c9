"""The tensors of the backends of Keras 2, and what they are computed from.

On TensorFlow and Theano, what a tensor is computed from can be looked up.
"""
import collections

from keras import backend as K

# Types of ops that read, set and feed values, and are no part of a model.
NOT_COUNTED = ('Placeholder', 'PlaceholderWithDefault', 'IsVariableInitialized',
               'VarIsInitializedOp', 'NoOp')
ASSIGN = ('Assign', 'AssignVariableOp')


def is_tensor(value):
    """Returns whether a value is a symbolic tensor or variable of the backend."""
    try:
        K.is_keras_tensor(value)
    except ValueError:
        return False
    return True


def is_variable(value):
    """Returns whether a value is a variable of the backend."""
    if not is_tensor(value):
        return False
    if K.backend() == 'cntk':
        return getattr(value, 'is_parameter', False)
    return hasattr(value, {'theano': 'get_value'}.get(K.backend(), 'assign_add'))


def is_eager(tensor):
    """Returns whether a tensor or variable of TensorFlow 2 has a value."""
    return hasattr(getattr(tensor, '_handle', tensor), 'numpy')


def tensors_of(node):
    """Returns the outputs of a node and their masks."""
    return list(node.output_tensors) + mask_tensors(node.output_masks)


def mask_tensors(masks):
    """Returns the tensors among masks, each a tensor or None.

    Where `compute_mask` returns a tuple, the engine takes it for a single mask.
    """
    return [each for mask in masks
            for each in (mask if isinstance(mask, tuple) else [mask])
            if each is not None]


def current_graph():
    """Returns the TensorFlow graph in which Keras builds at this moment."""
    import tensorflow as tf
    if tf.__version__.startswith('1.'):
        return tf.get_default_graph()
    from tensorflow.python.keras import backend
    return backend.get_graph()


def ops_while(function):
    """See `Graphs.ops_while`: TensorFlow can list them."""
    if K.backend() != 'tensorflow':
        return function(), []
    K.learning_phase()  # Created at its first use in a graph.
    graph = current_graph()
    before = len(graph.get_operations())
    result = function()
    return result, graph.get_operations()[before:]


def count_ops(ops):
    """Returns a `Counter` of the types of ops.

    Placeholders are left out, and what Keras adds to set the value of a weight, to
    read it right after or to initialize all weights.
    """
    return collections.Counter(
        op.type for op in ops if op.type not in NOT_COUNTED and
        not any(map(_sets_value, [op] + list(op.control_inputs))))


def _sets_value(op):
    return op.type in ASSIGN and op.inputs[1].op.type == 'Placeholder'


def sources(tensors, seen):
    """See `Graphs.sources`. The graph of CNTK is not searched."""
    walk = {'tensorflow': _tensorflow_inputs,
            'theano': _theano_inputs}.get(K.backend())
    if walk is None:
        return set()
    met = set()
    waiting = [unit for tensor in tensors for unit in _units(tensor)]
    while waiting:
        unit = waiting.pop()
        if id(unit) not in seen:
            seen.add(id(unit))
            met.add(id(unit))
            waiting.extend(walk(unit))
    return met


def source_keys(tensor):
    """See `Graphs.source_keys`."""
    return {id(unit) for unit in _units(tensor)}


def _units(tensor):
    if K.backend() != 'tensorflow':
        return [tensor]
    if is_eager(tensor):  # TensorFlow 2: graphs capture it.
        handle = getattr(tensor, '_handle', tensor)
        return [inner.op for outer, inner in current_graph().captures
                if outer is handle]
    return [tensor.op]


def _tensorflow_inputs(op):
    return [x.op for x in op.inputs] + list(op.control_inputs)


def _theano_inputs(variable):
    return variable.owner.inputs if variable.owner else []
