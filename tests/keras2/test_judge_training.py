"""The judge finds other losses and another step of training."""
import pytest
from keras import backend as K, layers
from keras.layers import Dense
from keras_clone.check.faithfulness import compare
from keras_clone.check.independence import changes, snapshot

from judging import chain, check, found, not_on_cntk, on_tensorflow
from judging import fresh_state  # noqa: F401


class Trains(layers.Layer):
    """Multiplies by `factor` only in training; has a loss and an update."""

    def __init__(self, factor=2., loss=1., update=1., stops=False, **kwargs):
        super().__init__(**kwargs)
        self.factor, self.loss, self.update = factor, loss, update
        self.stops = stops

    def build(self, input_shape):
        self.scale = self.add_weight('scale', (3,), initializer='ones')
        self.mean = self.add_weight('mean', (3,), initializer='ones',
                                    trainable=False)
        super().build(input_shape)

    def call(self, inputs):
        # Attributes that `call` sets are not compared.
        self.factor, self.loss, self.update, self.stops = (
            self.factor, self.loss, self.update, self.stops)
        self.add_loss(self.loss * K.sum(K.square(inputs)), inputs)
        self.add_update(K.update(self.mean, self.mean * self.update), inputs)
        scaled = inputs * self.scale
        if self.stops:
            scaled = K.stop_gradient(scaled)
        return K.in_train_phase(self.factor * scaled, scaled)


@pytest.mark.once
@pytest.mark.parametrize('change, layer, what', [
    ({'loss': 2.}, '', 'losses'),
    ({'factor': 3.}, '', 'outputs in training'),
    ({'update': 3.}, 'middle', 'weights after a step of training'),
    pytest.param({'stops': True}, 'first', 'weights after a step of training',
                 marks=on_tensorflow)],
    ids=['loss', 'training', 'update', 'gradient'])
@not_on_cntk
def test_other_training_is_found(change, layer, what):
    report = check(lambda: chain(Trains(name='middle')),
                   lambda model: chain(Trains(name='middle', **change)),
                   exact_ops=False)
    assert (layer, what) in found(report, 'wrong numbers')
    assert report.outcome == 'wrong numbers'


def test_training_is_only_compared_on_request():
    assert check(lambda: chain(Trains(name='middle')),
                 lambda model: chain(Trains(3., name='middle')), exact_ops=False,
                 training=False).faithful


@on_tensorflow
@pytest.mark.once  # Training is not judged on TensorFlow 2.
def test_dropout_that_rarely_drops_is_not_compared():
    def build():
        return chain(layers.Dropout(.05, name='middle'))
    reports = [check(build, lambda model: build(), exact_ops=False, seed=seed)
               for seed in range(8)]
    assert [report.faithful for report in reports] == [True] * 8
    assert any(report.not_compared for report in reports)


@not_on_cntk
def test_training_leaves_the_model_as_it_was():
    model, clone = (chain(Trains(update=3., name='middle')) for _ in range(2))
    before = snapshot(model)
    assert compare(model, clone) == []
    assert changes(before, snapshot(model)) == []
    assert K.get_value(model.get_layer('middle').mean).tolist() == [1, 1, 1]


@not_on_cntk
def test_constraint_that_is_lost_is_found():
    def build(constraint='non_neg'):
        return chain(end=Dense(2, name='last', kernel_constraint=constraint))
    assert ('last', 'configuration kernel_constraint') in found(
        check(build, lambda model: build(None)))
