"""The judge finds that a clone cannot be made, or computes something else."""
import sys

import numpy as np
import pytest
from keras.layers import Activation, Add, Dense, Input, Lambda, Masking
from keras.models import Model
from keras_clone.check import compare
from keras_clone.check.faithfulness import ModelError
from keras_clone.check.gallery import ops

from custom_objects import Subclassed
from judging import chain, check, not_on_cntk, unbuilt
from judging import fresh_state  # noqa: F401


def two_inputs():
    inputs = Input((3,)), Input((3,))
    return Model(list(inputs), Add()(list(inputs)))


def test_the_same_seed_finds_the_same():
    def differences(seed):
        return check(chain, lambda model: chain(Activation('relu', name='middle')),
                     seed=seed).differences
    assert differences(1) == differences(1) != differences(3)


@pytest.mark.parametrize('locate, layer', [(True, 'middle'), (False, '')])
def test_first_layer_that_differs_is_located_on_request(locate, layer):
    report = check(chain, lambda model: chain(
        Activation('relu', name='middle'), Dense(2, activation='relu', name='last')),
        locate=locate)
    assert (report.outcome, report.layer) == ('wrong numbers', layer)


@not_on_cntk
def test_other_number_of_rows_is_a_wrong_shape():
    def build(rows=None):
        return chain(end=Lambda(lambda x: x[:rows], name='last'))
    report = check(build, lambda model: build(1))
    assert (report.outcome, report.layer) == ('wrong numbers', 'last')
    assert report.reason.endswith('got the shape (1, 3) instead of (3, 3)')


def test_wrong_values_of_a_mask_are_wrong_numbers():
    def build(value=0.):
        x = Input((4, 3), name='x')
        return Model(x, Masking(name='masking', mask_value=value)(x), name='model')
    report = check(build, lambda model: build(1.))
    assert (report.outcome, report.layer) == ('wrong numbers', 'masking')


def test_exception_in_cloning_is_a_crash_at_the_layer_that_cannot_be_cloned():
    def clone(model):
        if any(layer.name == 'middle' for layer in model.layers):
            raise ValueError('no way\nto clone it')
        return chain()
    report = check(chain, clone)
    assert (report.outcome, report.layer) == ('crash', 'middle')
    assert report.reason.endswith('middle: cloning: expected a clone, '
                                  'got ValueError: no way to clone it')


def test_layer_that_cannot_be_cloned_is_only_located_on_request():
    calls = []

    def clone(model):
        calls.append(model)
        raise ValueError
    report = check(chain, clone, locate=False)
    assert (report.outcome, report.layer) == ('crash', '')
    assert len(calls) == 1


def test_crash_that_no_layer_causes_has_no_layer():
    def clone(model):
        if model.name == 'chain':
            raise AssertionError
        return model
    assert check(chain, clone).reason == (
        'cloning: expected a clone, got AssertionError')


def test_crash_with_an_unbuilt_model_has_no_layer():
    report = check(unbuilt, lambda model: model.get_layer('c'))
    assert (report.outcome, report.layer) == ('crash', '')


def test_given_inputs_are_used():
    def build(offset=0):
        return chain(Lambda(lambda x: ops.relu(x - offset), name='middle',
                            output_shape=(3,)))
    assert check(build, lambda model: build(-1)).outcome == 'wrong numbers'
    nothing = [np.full((1, 3), np.nan)]
    assert check(build, lambda model: build(-1), inputs=nothing).outcome != \
        'wrong numbers'


def test_inputs_may_come_with_the_model():
    def build():
        return chain(), [np.zeros((7, 3))]
    assert check(build, lambda model: chain()).faithful


LINE = sys._getframe().f_lineno + 4  # Where the first of these functions raises.


@pytest.mark.parametrize('build, message', [
    (lambda: 1 / 0, 'The model cannot be built: ZeroDivisionError: division by '
                    f'zero ({__file__}, line {LINE}).'),
    (lambda: 3, 'Expected a function that returns a Keras `Model`, it returned 3.'),
    (lambda: (chain(), []),
     'The inputs that come with a model should be a list of one array, for the one '
     'input of the model. Found: 0 of them.'),
    (lambda: (chain(), 5), 'The inputs that come with a model should be a list of '
                           'one array, for the one input of the model. Found: int.'),
    (lambda: (chain(), np.ones((1, 3))), 'The inputs that come with a model '),
    (lambda: (two_inputs(), [np.ones((2, 3))]),
     'The inputs that come with a model should be a list of 2 arrays, one for each '
     'input of the model. Found: 1 of them.'),
    (lambda: (chain(), [np.ones((2, 7))]), 'The model cannot be evaluated on the '
                                           'inputs: ')])
def test_model_that_cannot_be_built_or_evaluated_is_an_error(build, message):
    with pytest.raises(ModelError) as error:
        check(build, lambda model: model)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize('is_trained', [False, True])
def test_subclassed_model_is_an_error(is_trained):
    def build():
        model = Subclassed()
        if is_trained:
            model.compile('sgd', 'mse')
            model.fit(np.zeros((4, 3)), np.zeros((4, 2)), verbose=0)
        return model
    with pytest.raises(ModelError, match='a subclassed one, of class `Subclassed`'):
        check(build, lambda model: model)


def test_compare_refuses_a_subclassed_model():
    with pytest.raises(ModelError, match='a subclassed one, of class `Subclassed`'):
        compare(Subclassed(), Subclassed())
