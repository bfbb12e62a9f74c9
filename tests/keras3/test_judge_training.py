"""The judge finds other losses, training and settings of compiled models."""
import keras
import numpy as np
import pytest
from keras import layers, ops
from keras.models import clone_model
from keras_clone.check.faithfulness import check_clone, compare
from keras_clone.check.independence import changes, snapshot

from judging import changed, judged, two_dense
from major_versions import chain


def compiled(**arguments):
    def build():
        model = two_dense()
        model.compile(**{'optimizer': 'adam', 'loss': 'mse', **arguments})
        return model
    return build


@pytest.mark.parametrize('arguments, others', [
    ({'loss': keras.losses.Huber(delta=.5)}, {'loss': keras.losses.Huber()}),
    ({'loss': 'mse'}, {'loss': 'mae'}),
    ({'loss': ['mse'], 'loss_weights': [2.]}, {'loss': ['mse']}),
    ({'loss': lambda y, z: ops.mean(y - z)}, {'loss': lambda y, z: ops.mean(z - y)}),
    ({'optimizer': keras.optimizers.Adam(.1)},
     {'optimizer': keras.optimizers.Adam(.2)}),
    ({'optimizer': 'sgd'}, {'optimizer': 'adam'}),
    ({'metrics': ['mse']}, {'metrics': ['mae']}),
    ({'metrics': [keras.metrics.MeanIoU(3)]},
     {'metrics': [keras.metrics.MeanIoU(4)]}),
    ({'run_eagerly': True}, {}),
], ids=['Huber', 'loss', 'loss weights', 'function', 'learning rate', 'optimizer',
        'metric', 'setting of a metric', 'eager'])
def test_other_settings_of_a_compiled_model_are_found(arguments, others):
    def clone(model):
        made = clone_model(model)
        made.compile(**{'optimizer': 'adam', 'loss': 'mse', **others})
        return made
    report = check_clone(compiled(**arguments), clone, depth=1, saving=False)
    assert not report.faithful
    assert {each.layer for each in report.differences} == {''}


@pytest.mark.parametrize('arguments', [
    {'loss': keras.losses.Huber(delta=.5), 'metrics': ['mse', keras.metrics.Mean()]},
    {'optimizer': keras.optimizers.SGD(
        keras.optimizers.schedules.ExponentialDecay(.1, 3, .5), momentum=.5)},
    {'loss': 'sparse_categorical_crossentropy', 'metrics': ['accuracy']},
], ids=['objects', 'schedule', 'classes'])
def test_guard_settings_of_a_compiled_model_agree(arguments, assert_faithful):
    assert_faithful(compiled(**arguments))


class Trains(layers.Layer):
    """Multiplies by `factor` only in training; has a loss."""

    def __init__(self, factor=2., loss=0., stops=False, **kwargs):
        super().__init__(**kwargs)
        self.factor, self.loss, self.stops = factor, loss, stops

    def build(self, input_shape):
        self.scale = self.add_weight(shape=(3,), initializer='ones')

    def call(self, inputs, training=False):
        self.add_loss(self.loss * ops.sum(inputs ** 2))
        inputs = inputs * self.scale
        if self.stops:
            inputs = ops.stop_gradient(inputs)
        return inputs * self.factor if training else inputs

    def get_config(self):
        return {**super().get_config(), 'factor': self.factor, 'loss': self.loss,
                'stops': self.stops}


@pytest.mark.parametrize('made, change, what', [
    (Trains, {'loss': 1.}, 'losses'),
    (Trains, {'factor': 1.}, 'the loss in training'),
    (lambda: layers.Dense(3, kernel_regularizer='l2'), {'kernel_regularizer': 'l1'},
     'losses'),
], ids=['add_loss', 'training', 'regularizer'])
def test_other_losses_are_found(made, change, what):
    build = chain(made)
    report = check_clone(build, changed(layers.Layer, **change), depth=1,
                         saving=False)
    assert report.outcome == 'wrong numbers'
    assert what in [each.what for each in report.differences]


def test_weights_that_are_trained_otherwise_are_found_with_their_layer():
    """`call` sets the attribute `stops`, so it is not compared."""
    class Hides(Trains):
        def call(self, inputs, training=False):
            self.stops = self.stops
            return super().call(inputs, training)

        def get_config(self):
            return {'name': self.name}
    report = judged(chain(lambda: Hides(name='hides')),
                    lambda layer, _: setattr(layer, 'stops', True))
    assert (report.outcome, report.layer) == ('wrong numbers', 'hides')
    assert 'weights after a step of training' in report.reason


def test_training_leaves_the_model_as_it_was():
    model = chain(layers.BatchNormalization, lambda: layers.Dropout(.5))()
    model(np.ones((1, 3)))  # The model records that it was called.
    before = snapshot(model)
    assert compare(model, clone_model(model)) == []
    assert changes(before, snapshot(model)) == []


@pytest.mark.parametrize('build', [
    chain(lambda: layers.Dropout(.5)),
    chain(lambda: layers.GaussianNoise(1.), lambda: layers.Dense(2)),
    chain(layers.BatchNormalization, lambda: layers.Dense(2)),
    chain(lambda: layers.LSTM(2, dropout=.5), shape=(4, 3)),
    chain(lambda: layers.Dense(2, dtype='mixed_float16')),
    chain(lambda: layers.Embedding(3, 2), shape=(4,)),
    chain(lambda: layers.Dense(2, kernel_constraint='max_norm')),
], ids=['Dropout', 'noise', 'BatchNormalization', 'LSTM', 'float16', 'Embedding',
        'constraint'])
def test_guard_training_agrees(build):
    report = check_clone(build, clone_model)
    assert list(map(str, report.differences)) == []
    assert report.not_compared == []
