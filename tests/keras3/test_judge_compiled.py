"""The judge finds other losses, training and settings of compiled models."""
import keras
import pytest
from keras import layers, ops
from keras.models import clone_model
from keras_clone.check import check_clone

from major_versions import chain

two_dense = chain(lambda: layers.Dense(3), lambda: layers.Dense(3))


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
