"""One step of training a model of Keras 2; all variables are restored."""
import contextlib

from keras import backend as K

from .computing_keras2 import feeds
from .interface import Graphs
from .tensors_keras2 import current_graph

RATE = .1


def train_once(model, values, variables):
    """Computes the losses of a model and one step of gradient descent.

    The loss is the mean square of the outputs, added to the model's own losses.
    Only the weights of `_trained` take the step; the others follow their updates.

    # Arguments
        model: a built model.
        values: list of arrays, one for each input.
        variables: list of all variables of the model.

    # Returns
        See `Graphs.train_once`.
    """
    if _is_eager():
        return {}  # Random numbers are drawn in another order each time.
    trained = _trained(model)
    if not (trained or model.losses or model.updates or model.uses_learning_phase):
        return {}
    losses = [K.sum(each) for each in model.losses]
    # Tensors that are fed cannot be computed.
    outputs = [x for x in model.outputs if not any(x is y for y in model.inputs)]
    computed, after = _computed(
        model, values, losses + outputs + _stepped(model, trained, losses),
        variables)
    first, last = len(losses), len(losses + outputs)
    stepped = {id(each): x for each, x in zip(trained, computed[last:])}
    # Several updates of one weight run in an undefined order.
    in_order = len(model.updates) <= len(model.non_trainable_weights)
    return {'losses': [sum(computed[:first])] if losses else [],
            'outputs in training': computed[first:last],
            Graphs.STEPPED: [
                stepped.get(id(each), x) for each, x in zip(model.weights, after)
                if in_order or id(each) in stepped]}


def _trained(model):
    """Returns the weights to compute gradients for: none where that is expensive.

    Theano compiles them, and TensorFlow builds each loop once more, which takes
    longer than all else here.
    """
    if K.backend() != 'tensorflow':
        return []
    if any(op.type == 'Enter' for op in current_graph().get_operations()):
        return []
    return model.trainable_weights


def _is_eager():
    """Returns whether TensorFlow executes eagerly, as TensorFlow 2 does."""
    if K.backend() != 'tensorflow':
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


def _computed(model, values, tensors, variables):
    """Computes tensors in the learning phase of training, with the updates.

    # Returns
        A pair of lists of arrays: the tensors, and the weights of the model after
        the updates.
    """
    fed = feeds(model, values)
    inputs = [tensor for tensor, _ in fed]
    values = [value for _, value in fed]
    if not isinstance(K.learning_phase(), int) and (
            model.uses_learning_phase or K.backend() == 'tensorflow'):
        inputs.append(K.learning_phase())
        values.append(1)
    function = K.function(inputs, tensors, updates=model.updates)
    if model.stateful:
        model.reset_states()
    with _values_kept(variables if model.updates else []):
        return function(values), K.batch_get_value(model.weights)


@contextlib.contextmanager
def _values_kept(variables):
    """Context that restores the values of variables."""
    values = K.batch_get_value(variables)
    try:
        yield
    finally:
        K.batch_set_value(list(zip(variables, values)))
