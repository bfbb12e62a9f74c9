"""The judge finds other losses and another step of training."""
import numpy as np
import pytest
from keras import layers
from keras_clone.check import compare
from keras_clone.check.independence import Belongings, changes

from judging import chain, check, found, not_on_cntk, on_tensorflow, Own
from judging import fresh_state  # noqa: F401
from major_versions import IS_KERAS2, value_of


def own(loss=1., decay=2., **arguments):
    return chain(Own(name='middle', loss=loss, decay=decay, **arguments))


@pytest.mark.once
@pytest.mark.parametrize('change, layer, what', [
    ({'loss': 2.}, '', 'losses'),
    ({'when_trained': 3.}, '', 'outputs in training' if IS_KERAS2 else
     'the loss in training'),
    ({'decay': 3.}, 'middle', 'weights after a step of training'),
    pytest.param({'stops': True}, 'first', 'weights after a step of training',
                 marks=on_tensorflow)],
    ids=['loss', 'training', 'update', 'gradient'])
@not_on_cntk
def test_other_training_is_found(change, layer, what):
    report = check(own, lambda model: own(**change), exact_ops=False)
    assert (layer, what) in found(report, 'wrong numbers')
    assert report.outcome == 'wrong numbers'


def test_training_is_only_compared_on_request():
    assert check(own, lambda model: own(when_trained=3.), exact_ops=False,
                 training=False).faithful


@on_tensorflow
@pytest.mark.once  # Training is not judged on TensorFlow 2.
def test_guard_random_numbers_in_training_are_the_same_for_both():
    def build():
        return chain(layers.Dropout(.5, name='middle'))
    reports = [check(build, lambda model: build(), exact_ops=False, seed=seed)
               for seed in range(3)]
    assert [report.faithful for report in reports] == [True] * 3
    assert not any(report.not_compared for report in reports)


@not_on_cntk
def test_comparing_leaves_the_model_as_it_was():
    model, clone = (chain(Own(name='middle', decay=2.)) for _ in range(2))
    model(np.ones((1, 3), 'float32')) if not IS_KERAS2 else None
    belongings = Belongings(model)
    before = belongings.snapshot()
    assert compare(model, clone) == []
    assert changes(before, belongings.snapshot()) == []
    assert value_of(model.get_layer('middle').mean).tolist() == [1, 1, 1]
