"""The inputs that the judge draws, also for layers with vocabularies."""
import keras
import numpy as np
from keras import layers, Model
from keras_clone.check import check_clone
from keras_clone.check.random_values import draw_inputs

from judging import drawn, on_tensorflow


def lookup(**arguments):
    x = keras.Input((2,), dtype='string', name='x')
    y = layers.StringLookup(name='lookup', **arguments)(x)
    return Model(x, layers.Embedding(5, 2, name='embedding')(y))


@on_tensorflow
def test_lost_vocabulary_is_found():
    def clone(model):
        made = lookup(vocabulary=['a', 'c'])
        made.set_weights(model.get_weights())
        return made
    report = check_clone(lambda: lookup(vocabulary=['a', 'b']), clone, depth=1,
                         saving=False)
    assert report.outcome == 'wrong numbers'
    assert 'its get_vocabulary:[2]' in [each.what for each in report.differences]


@on_tensorflow
def test_words_of_the_vocabulary_and_others_are_drawn():
    model = lookup(vocabulary=['one', 'two'], num_oov_indices=1)
    drawn = [word for seed in range(9) for word in draw_inputs(model, seed)[0].flat]
    assert {'one', 'two', 'other'} < set(drawn)
    known = lookup(vocabulary=['one', 'two'], num_oov_indices=0)
    assert set(draw_inputs(known)[0].flat) == {'one', 'two'}


@on_tensorflow
def test_texts_are_drawn_of_several_words():
    value = drawn(layers.TextVectorization(vocabulary=['one', 'two']), (),
                  dtype='string')
    assert all(len(text.split()) > 1 for text in value)


@on_tensorflow
def test_inputs_of_a_layer_without_a_mask_value_are_drawn():
    assert drawn(layers.Hashing(5), (4, 3), dtype='int64').shape[1:] == (4, 3)


@on_tensorflow
def test_numbers_that_a_layer_knows_are_drawn():
    x, y = (keras.Input((3,), dtype='int64') for _ in range(2))
    known = layers.IntegerLookup(vocabulary=[30, 40])(x)
    coded = layers.CategoryEncoding(7)(y)
    model = Model([x, y], [known, coded])
    first, second = (np.concatenate([draw_inputs(model, seed)[i]
                                     for seed in range(9)])
                     for i in range(2))
    assert {30, 40} < set(first.flat)
    assert set(second.flat) == set(range(7))
