"""The judge finds nothing in a model that is built again."""
import pytest
from keras.layers import (Activation, Add, Dropout, Embedding, Input, Lambda,
                          SimpleRNN)
from keras.models import Model, Sequential, clone_model
from keras_clone.check import check_clone, compare
from keras_clone.check.gallery import ops
from keras_clone.check.graphs import graphs

from judging import (chain, check, Choice, every_kind_of_layer, masked, nested,
                     powers, sequential, stateful, twice, Two, unbuilt)
from judging import fresh_state  # noqa: F401
from major_versions import IS_KERAS2


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
    return chain(Lambda(lambda x: ops.power(-1 - ops.abs(x), .5), name='middle',
                        output_shape=(3,)))


NOT_COMPARED = {unbuilt: ['outputs (the model is not built: it has none yet)']}
if IS_KERAS2:   # Its random numbers cannot be chosen here.
    NOT_COMPARED.update({every_kind_of_layer: ['outputs in training (random)'],
                         random_outputs: ['output 0 of dropout (random)']})


@pytest.mark.once
@pytest.mark.parametrize('build', [
    chain, masked, twice, nested, powers, stateful, every_kind_of_layer, sequential,
    unbuilt, two_outputs, layers_in_a_dict, random_outputs, not_finite])
def test_the_same_model_built_again_is_faithful(build):
    report = check(build, lambda model: build(), depth=3, saving=True)
    assert list(map(str, report.differences)) == []
    assert report.faithful
    assert (report.outcome, report.layer, report.reason) == ('faithful', '', '')
    of_backend = [] if build is unbuilt else list(graphs.NOT_TRAINED)
    assert report.not_compared == of_backend + NOT_COMPARED.get(build, [])


def test_a_clone_of_a_sequential_model_with_masks_is_faithful():
    """Keras 3 numbers the operations that compute masks."""
    def build():
        return Sequential([Embedding(10, 3, mask_zero=True, input_shape=(4,)),
                           SimpleRNN(2, return_sequences=True), SimpleRNN(2)])
    report = check_clone(build, clone_model)
    assert list(map(str, report.differences)) == []


def test_programs_import_the_judge_from_the_package():
    assert check_clone(chain, lambda model: chain(), depth=1, saving=False).faithful
    assert compare(chain(), chain()) == []


def test_programs_can_compare_a_clone_on_another_input():
    found = compare(chain(), chain(Activation('relu', name='middle'),
                                   x=Input((3,), name='another')))
    assert (found[0].outcome, found[0].layer) == ('wrong numbers', 'middle')
    assert [each.what for each in compare(
        chain(), chain(x=Input((3,), name='another')))] == [
            'layer at place 0', 'configuration: name']
