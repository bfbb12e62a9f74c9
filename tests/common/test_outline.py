"""The outlines of models, from which `keras-clone check` draws its pictures."""
import pytest
from keras import layers
from keras.models import Model, Sequential, clone_model
from keras_clone.check import gallery
from keras_clone.check.graphs import graphs
from keras_clone.check.outline import outline, outlines

from major_versions import IS_KERAS2, chain


def described(model):
    return [(each['kind'], [(x['of'], x['mask']) for x in each['inputs']])
            for each in outline(model)]


masked = chain(layers.Masking, lambda: layers.Dense(2), shape=(4, 3))


def test_an_outline_has_masks():
    calls = dict(described(masked()))
    assert [has_mask for _, has_mask in calls['Masking']] == [False]
    assert [has_mask for _, has_mask in calls['Dense']] == [True]


@pytest.mark.skipif(IS_KERAS2, reason='only Keras 3 has operations')
def test_an_outline_has_the_operations_between_layers():
    x = layers.Input((2,))
    assert described(Model(x, layers.Dense(2)(x) + x)) == [
        ('InputLayer', []), ('Dense', [(0, False)]),
        ('Add', [(1, False), (0, False)])]


def test_an_outline_has_the_tensors_in_arguments():
    x = layers.Input((4, 3))
    _, *states = layers.GRU(2, return_state=True)(x)
    model = Model(x, layers.GRU(2)(x, initial_state=states))
    assert described(model)[-1] == ('GRU', [(0, False), (1, False)])


def test_an_outline_numbers_the_calls_of_a_layer():
    x, dense = layers.Input((4,)), layers.Dense(4)
    assert [(each['kind'], each['call'], each['calls'])
            for each in outline(Model(x, dense(dense(x))))] == [
        ('InputLayer', 1, 1), ('Dense', 1, 2), ('Dense', 2, 2)]


def test_an_outline_numbers_the_calls_of_a_nested_model():
    assert [(each['call'], each['calls'])
            for each in outline(gallery.shared_nested_model())
            if each['kind'].startswith('Sequential of')] == [(1, 2), (2, 2)]


def test_an_outline_names_what_layers_share():
    calls = {each['kind']: each
             for each in outline(gallery.layer_shared_with_nested_model())}
    dense, nested = calls['Dense'], calls['Model of Dense']
    assert dense['shares_with'] == [nested['name']]
    assert nested['shares_with'] == [dense['name']]


def test_a_model_that_is_not_built_has_an_empty_outline():
    assert outline(Sequential([layers.Dense(2)])) == []


@pytest.mark.parametrize('build', [
    pytest.param(build, id=build.__name__, marks=[pytest.mark.once] * IS_KERAS2)
    for build in gallery.MODELS])
def test_a_faithful_clone_has_the_outline_of_the_model(build):
    found = outlines(build, clone_model, 'faithful')
    assert found['clone'] == found['model']


def test_a_clone_that_cannot_be_made_has_no_outline():
    def fail(model):
        raise ValueError

    found = outlines(masked, fail, 'crash')
    assert found['clone'] is None
    assert len(found['model']) == len(outline(masked()))
    with graphs.fresh_state():
        assert outlines(masked, lambda model: 3, 'other graph') == found


def test_of_a_clone_that_clones_only_once_the_second_one_is_described():
    cloned = []
    outlines(masked, lambda model: cloned.append(model) or clone_model(model),
             'clones only once')
    assert len(cloned) == 2


@pytest.mark.slow
def test_the_pictures_are_those_of_the_live_models():
    from evidence import pages, pictures
    drawn = pictures.drawn()
    if not drawn:
        pytest.skip('No picture is about this Keras and this backend.')
    for name, svg in drawn.items():
        assert svg == pages.read(name)
