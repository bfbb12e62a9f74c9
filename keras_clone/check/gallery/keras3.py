"""Models of Keras 3, that of keras-team/keras issue 12202 first."""
from functools import partial

import numpy as np
from keras import layers
from keras.models import Model

from . import ops, plain_network, sequential, titled


def quick_gelu(x):
    """The activation of keras-bert, approximated."""
    return x * ops.sigmoid(1.702 * x)


def relu(x):
    """Has the name of an activation of Keras but computes something else."""
    return -ops.relu(-x)


def scaled(x, by):
    """Multiplies."""
    return by * x


@titled('Issue 12202: two-output Lambda')
def lambda_with_two_outputs():
    x = layers.Input((1,))
    a, b = layers.Lambda(lambda x: [x, x])(x)
    return Model(x, layers.Add()([a, b]))


@titled('Lambda in a nested model')
def lambda_in_nested_model():
    x = layers.Input((4,))
    return Model(x, sequential(partial(layers.Lambda, lambda x: 2 * x))(x))


@titled('Lambda in a wrapper')
def lambda_in_wrapper():
    x = layers.Input((4, 3))
    return Model(x, layers.TimeDistributed(layers.Lambda(lambda x: 2 * x))(x))


@titled('Lambda of a functools.partial')
def lambda_of_partial():
    x = layers.Input((4,))
    return Model(x, layers.Lambda(partial(scaled, by=3.))(x))


@titled('Lambda that calls a layer')
def lambda_that_holds_a_layer():
    x = layers.Input((4,))
    dense = layers.Dense(3)
    return Model(x, layers.Lambda(lambda x: 2 * dense(x))(x))


@titled('Function as activation')
def callable_activation():
    return sequential(partial(layers.Dense, 3, activation=quick_gelu))


@titled('Own function named relu')
def activation_named_as_one_of_keras():
    return sequential(partial(layers.Dense, 3, activation=relu))


@titled('Operation called with an array')
def operation_with_an_array():
    x = layers.Input((4,))
    return Model(x, ops.clip(x, np.zeros(4, 'float32'), np.ones(4, 'float32')))


@titled('Model that is not trainable')
def frozen_model():
    model = plain_network()
    x = layers.Input((4,))
    model = Model(x, model(x))
    model.trainable = False
    return model


@titled('Model compiled with a function')
def compiled_with_own_loss():
    model = plain_network()
    model.compile('sgd', loss=lambda y, z: ops.mean(ops.abs(y - z)))
    return model
