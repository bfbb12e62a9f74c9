"""One step of training a model of Keras 2; all variables are put back afterwards."""
import contextlib

from keras import backend as K

from .keras2 import _feeds
from .keras2 import backend_name
from .keras2 import current_graph
from .keras2 import own_variables
from .keras2 import values_of

RATE = .1
# What the weights are called that `train_once` returns.
STEPPED = 'weights after a step of training'


def draw_targets(model, outputs, seed=0):
    """A clone of Keras 2 is not compiled: there is no loss that takes targets."""
    return None


def train_once(model, values, targets=None, state=()):
    """Computes the losses of a model and one step of gradient descent.

    The loss is the mean square of the outputs, added to the model's own losses.
    Only the weights of `_trained` take the step; the others do what updates tell.

    # Arguments
        model: a built model.
        values: list of arrays, one for each input.
        targets: left as it is, see `draw_targets`.
        state: left as it is: seeds are in the graph of the backend.

    # Returns
        A dict {what: list of arrays}, empty where training computes nothing but
        what was computed before.
    """
    if _is_eager():
        return {}  # What is random there is drawn in another order each time.
    trained = _trained(model)
    if not (trained or model.losses or model.updates or model.uses_learning_phase):
        return {}
    losses = [K.sum(each) for each in model.losses]
    # What is fed cannot be computed.
    outputs = [x for x in model.outputs if not any(x is y for y in model.inputs)]
    computed, after = _computed(
        model, values, losses + outputs + _stepped(model, trained, losses))
    first, last = len(losses), len(losses + outputs)
    stepped = {id(each): x for each, x in zip(trained, computed[last:])}
    # Several updates of one weight come in any order.
    in_order = len(model.updates) <= len(model.non_trainable_weights)
    return {'losses': [sum(computed[:first])] if losses else [],
            'outputs in training': computed[first:last],
            STEPPED: [
                stepped.get(id(each), x) for each, x in zip(model.weights, after)
                if in_order or id(each) in stepped]}


def _trained(model):
    """Returns the weights to compute gradients for: none where that is expensive.

    Theano compiles them, and TensorFlow builds each loop once more, which takes
    longer than all else here.
    """
    if backend_name() != 'tensorflow':
        return []
    if any(op.type == 'Enter' for op in current_graph().get_operations()):
        return []
    return model.trainable_weights


def _is_eager():
    """Returns whether TensorFlow 2 computes."""
    if backend_name() != 'tensorflow':
        return False
    import tensorflow as tf
    return tf.executing_eagerly()


def _stepped(model, weights, losses):
    """Returns the tensors of weights after one step of gradient descent."""
    if not weights:
        return []
    squares = [K.mean(K.square(x)) for x in model.outputs if _is_float(x)]
    if not squares + losses:
        return weights
    import tensorflow as tf
    gradients = K.gradients(sum(squares + losses), weights)
    return [weight + 0. if gradient is None else
            _constrained(weight, weight - RATE * tf.convert_to_tensor(gradient))
            for weight, gradient in zip(weights, gradients)]


def _constrained(weight, value):
    constraint = getattr(weight, 'constraint', None)
    return constraint(value) if constraint else value


def _is_float(x):
    return K.dtype(x).startswith('float')


def _computed(model, values, tensors):
    """Computes tensors in the learning phase of training, with the updates.

    # Returns
        A pair of lists of arrays: the tensors, and the weights of the model after
        the updates.
    """
    feeds = _feeds(model, values)
    inputs = [tensor for tensor, _ in feeds]
    values = [value for _, value in feeds]
    if not isinstance(K.learning_phase(), int) and (
            model.uses_learning_phase or backend_name() == 'tensorflow'):
        inputs.append(K.learning_phase())
        values.append(1)
    function = K.function(inputs, tensors, updates=model.updates)
    if model.stateful:
        model.reset_states()
    with _values_kept(model):
        return function(values), values_of(model.weights)


@contextlib.contextmanager
def _values_kept(model):
    """Context after which the variables of a model have the values of before."""
    from . import all_layers
    found = {id(each): each for _, layer in all_layers(model)
             for _, each in own_variables(layer)} if model.updates else {}
    variables = list(found.values())
    values = values_of(variables)
    try:
        yield
    finally:
        K.batch_set_value(list(zip(variables, values)))
