"""What the judge does about random numbers."""
import random

import keras
import numpy as np
from keras import layers, Model, ops
from keras.models import clone_model
from keras_clone.check import check_clone
from keras_clone.check.graphs import graphs

from judging import judged
from major_versions import chain


def test_fresh_state_restores_the_state_outside():
    name = layers.Dense(2).name
    states = random.getstate(), np.random.get_state()[1].tolist()
    with graphs.fresh_state(3):
        assert layers.Dense(2).name == 'dense'
        random.random(), np.random.rand()
    assert states == (random.getstate(), np.random.get_state()[1].tolist())
    assert layers.Dense(2).name not in ('dense', name)


class Noisy(layers.Layer):
    """Returns other numbers in each call, and its input."""

    def call(self, inputs):
        return inputs + ops.convert_to_tensor(np.random.rand(3).astype('float32')), \
            1. * inputs


def test_random_outputs_are_reported_as_not_compared():
    report = check_clone(chain(lambda: Noisy(name='noisy')), clone_model)
    assert report.faithful
    assert report.not_compared[:1] == ['output 0 of noisy (random)']
    assert 'outputs in training (random)' in report.not_compared
    assert 'output 1 of noisy (random)' not in report.not_compared


def test_outputs_beside_random_ones_are_compared():
    report = judged(chain(lambda: Noisy(name='noisy')), lambda layer, _: setattr(
        layer, 'call', lambda x: (x, 2 * x)))
    assert report.outcome == 'wrong numbers'


def test_random_numbers_of_generators_are_compared():
    build = chain(lambda: layers.Lambda(lambda x: 1. * x),
                  lambda: layers.Dropout(.5, name='dropout'))

    def training(model):
        x = keras.Input((3,), name='x')
        return Model(x, layers.Dropout(.5, name='dropout')(x, training=True))
    assert check_clone(lambda: training(None), clone_model).not_compared == []
    report = judged(lambda: training(None),
                    lambda layer, _: setattr(layer, 'rate', .9))
    assert report.outcome == 'wrong numbers'
    assert check_clone(build, clone_model).not_compared == []


def test_numbers_of_no_generator_are_not_variables_of_the_original(assert_faithful):
    assert_faithful(chain(lambda: layers.Lambda(
        lambda x: x + keras.random.normal((3,)), output_shape=(3,))))
