"""The judge finds nothing in a model that is built again."""
import numpy as np
import pytest
from keras import backend as K
from keras.layers import Add, Dense, Dropout, Input, Lambda
from keras.models import Model

from judging import (chain, check, Choice, every_kind_of_layer, masked, nested,
                     not_on_cntk, powers, sequential, stateful, twice, Two, unbuilt)
from judging import fresh_state  # noqa: F401


def input_that_is_a_variable():
    x = Input(tensor=K.variable(np.ones((2, 3))), name='x')
    return Model(x, Dense(2, name='dense')(x), name='variable')


def two_outputs():
    x = Input((3,), name='x')
    a, b = Two(name='two')(x)
    return Model(x, [Add(name='add')([a, b]), b], name='model')


def layers_in_a_dict():
    return chain(Choice(name='middle'))


def random_outputs():
    x = Input((30,), name='x')
    return Model(x, Dropout(.5, name='dropout')(x, training=True), name='random')


def not_finite():
    return chain(Lambda(lambda x: K.log(-K.abs(x)), name='middle'))


NOT_COMPARED = {
    every_kind_of_layer: ['outputs in training (random)'],
    random_outputs: ['output 0 of dropout (random)'],
    unbuilt: ['outputs (the model is not built: it has none yet)'],
}


@pytest.mark.once
@pytest.mark.parametrize('build', [
    chain, masked, twice, nested, powers, stateful, every_kind_of_layer, sequential,
    unbuilt, two_outputs, layers_in_a_dict, random_outputs, not_finite])
def test_the_same_model_built_again_is_faithful(build):
    report = check(build, lambda model: build(), depth=3, saving=True)
    assert list(map(str, report.differences)) == []
    assert report.faithful
    assert (report.outcome, report.layer, report.reason) == ('faithful', '', '')
    assert report.not_compared == NOT_COMPARED.get(build, [])


@not_on_cntk
def test_value_of_an_input_that_is_no_placeholder_is_fed_to_the_clone():
    def clone(model):
        x = Input(batch_shape=(2, 3), name='x')
        return Model(x, Dense(2, name='dense')(x), name='variable')
    assert check(input_that_is_a_variable, clone, exact_ops=False).faithful
