"""Operations that exist on Keras 2 only."""
import numpy as np
from keras import backend, layers, regularizers
from keras.models import Model
from keras_clone.check.gallery import MinimalCell

from evidence.random_models.calls import Shift
from evidence.random_models.custom import OneShape, Times
from evidence.random_models.operations import UNITS, new_layer, operation, whole

# Call arguments


class CellWithConstants(MinimalCell):
    """A recurrent cell that takes constants."""

    def build(self, input_shape):
        super().build(input_shape[0])

    def call(self, inputs, states, constants):
        return super().call(inputs + constants[0], states)


@operation('svv', 's', ['alone', 'with a state'])
def constants(building, option, x, v, h):
    layer = layers.RNN(CellWithConstants(UNITS), return_sequences=True)
    if option == 'alone':
        return [layer(x, constants=layers.Add()([v, h]))]
    return [layer(x, constants=v, initial_state=h)]


if backend.backend() != 'cntk':  # Its graph cannot be searched.
    @operation('vv', 'v', outermost=True)
    def tensor_of_backend(building, option, x, y):
        return [Shift()(x, by=2 * y)]


@operation('vv', 'v', outermost=True)
def tensor_in_closure(building, option, x, y):
    return [layers.Lambda(lambda x: x + y)(x)]


# Weights, losses and updates


class OwnVariable(Times):
    """Adds a variable of the backend to its weights by itself."""

    def build(self, input_shape):
        self.factor = backend.variable(3. * np.ones((input_shape[-1],)))
        self._trainable_weights = [self.factor]
        super().build(input_shape)


class Updates(OneShape):
    """Counts in one of its weights how often its update is run."""

    def build(self, input_shape):
        self.count = self.add_weight(name='count', shape=(1,), trainable=False,
                                     initializer='zeros')
        super().build(input_shape)

    def call(self, inputs):
        count = 1. * self.count  # In each step of training, read before the update.
        self.add_update([backend.update(self.count, count + 1.)], inputs)
        return inputs * (1. + count)


OF_THE_BACKEND = {'variable': OwnVariable, 'updates': Updates}
new_layer('of_the_backend', 'v', OF_THE_BACKEND)
new_layer('of_the_backend_in_steps', 's', {
    name: lambda make=make: layers.TimeDistributed(make())
    for name, make in OF_THE_BACKEND.items()})


@operation('v', 'v', ['loss', 'regularizer set', 'weight moved'])
def changed_weights(building, option, x):
    layer = layers.Dense(UNITS)
    if option == 'regularizer set':
        layer.kernel_regularizer = regularizers.l2(.3)
    y = layer(x)
    if option == 'weight moved':
        layer._non_trainable_weights.append(layer._trainable_weights.pop(0))
    elif option == 'loss':
        layer.add_loss(regularizers.l2(.1)(layer.kernel))
    return [y]


@operation('v', 'v', ['shared', 'transposed'])
def weight_of_another(building, option, x):
    first, second = layers.Dense(UNITS), layers.Dense(UNITS)
    for layer in (first, second):
        layer.build((None, UNITS))
        layer.built = True
    # Without `symbolic`, what TensorFlow 2 computes here is a constant.
    symbolic = getattr(backend, 'symbolic', lambda function: function)
    is_shared = option == 'shared'
    second.kernel = (first.kernel if is_shared else
                     symbolic(backend.transpose)(first.kernel))
    second._trainable_weights = [second.bias]
    return [second(first(x))]


@operation('v', 'v', ['replaced', 'tied'])
def weight_changed_between_calls(building, option, x):
    layer, other = layers.Dense(UNITS), layers.Dense(UNITS)
    y = other(layer(x))
    layer.kernel = (other.kernel if option == 'tied' else
                    backend.variable(backend.eval(other.kernel)))
    return [layer(y)]


@whole(['of a tensor', 'of a weight', 'of two'])
def with_losses(option, inputs, outputs):
    model = Model(inputs, outputs)
    if option != 'of a weight':
        model.add_loss(.5 * backend.mean(outputs[0]))
    if option != 'of a tensor':
        weights = model.trainable_weights
        model.add_loss(.1 * backend.sum(backend.square(
            weights[-1] if weights else outputs[-1])))
    return model
