"""The pictures that `keras-clone check MODEL --svg FILE` draws, on Keras 3."""
import keras
import pytest
from keras import layers
from keras.models import Model, clone_model

from keras_clone.check import gallery
from keras_clone.check.outline import outline, outlines


def described(model):
    return [(each['kind'], [(x['of'], x['mask']) for x in each['inputs']])
            for each in outline(model)]


def test_an_outline_has_masks():
    x = layers.Input((4, 3))
    y = layers.Masking()(x)
    calls = dict(described(Model(x, layers.Dense(2)(y))))
    assert [has_mask for _, has_mask in calls['Masking']] == [False]
    assert [has_mask for _, has_mask in calls['Dense']] == [True]


def test_an_outline_has_the_operations_between_layers():
    x = layers.Input((2,))
    assert described(Model(x, keras.ops.add(layers.Dense(2)(x), x))) == [
        ('InputLayer', []), ('Dense', [(0, False)]),
        ('Add', [(1, False), (0, False)])]


def test_an_outline_has_the_tensors_in_arguments():
    x = layers.Input((4, 3))
    _, *states = layers.GRU(2, return_state=True)(x)
    model = Model(x, layers.GRU(2)(x, initial_state=states))
    assert described(model)[-1] == ('GRU', [(0, False), (1, False)])


def test_an_outline_names_what_layers_share():
    calls = {each['kind']: each
             for each in outline(gallery.layer_shared_with_nested_model())}
    dense, nested = calls['Dense'], calls['Model of Dense']
    assert dense['shares_with'] == [nested['name']]
    assert nested['shares_with'] == [dense['name']]


def test_an_outline_numbers_the_calls_of_a_nested_model():
    assert [(each['call'], each['calls'])
            for each in outline(gallery.shared_nested_model())
            if each['kind'].startswith('Sequential of')] == [(1, 2), (2, 2)]


def test_a_model_that_is_not_built_has_an_empty_outline():
    assert outline(keras.Sequential([layers.Dense(2)])) == []


@pytest.mark.parametrize('build', gallery.MODELS, ids=lambda build: build.__name__)
def test_a_faithful_clone_has_the_outline_of_the_model(build):
    found = outlines(build, clone_model, 'faithful')
    assert found['clone'] == found['model']


def test_the_pictures_are_those_of_the_live_models():
    from evidence import pages, pictures
    drawn = pictures.drawn()
    if not drawn:
        pytest.skip('No picture is about this Keras and this backend.')
    for name, svg in drawn.items():
        assert svg == pages.read(name)
