"""The inputs and weights that the judge draws."""
import numpy as np
import pytest
from keras import backend, layers
from keras.layers import Dense, Embedding, Input, Lambda, Masking, TimeDistributed
from keras.models import Model, Sequential
from keras_clone.check import random_values
from keras_clone.check.random_values import draw_inputs

from custom_objects import Times
from judging import chain, check, drawn, not_on_cntk, on_tensorflow
from judging import fresh_state  # noqa: F401
from major_versions import IS_KERAS2, value_of

has_vocabularies = pytest.mark.skipif(
    IS_KERAS2 or backend.backend() != 'tensorflow',
    reason='only Keras 3 with TensorFlow has such layers')


def test_ids_are_below_the_input_dim_and_rows_end_in_zeros():
    value = drawn(Sequential([layers.Reshape((4,)),
                              Embedding(3, 2, mask_zero=True)]), (4,))
    assert set(np.unique(value)) == {0, 1, 2}
    assert (value == 0).sum(axis=1).tolist() == [2, 1, 0]


def test_ids_reach_an_embedding_in_a_nested_model_or_wrapper():
    inner = Sequential([Embedding(2, 3)])
    x, y = Input((4,)), Input((5, 4))
    model = Model([x, y], [inner(x), TimeDistributed(Embedding(2, 3))(y)])
    for value in draw_inputs(model):
        assert set(np.unique(value)) == {0, 1}


def test_layer_with_an_input_dim_that_is_no_embedding_gets_no_ids():
    class Coder(Times):
        input_dim = 2
    assert (drawn(Coder(), (4,)) < 0).any()


def test_sequences_end_in_the_value_that_is_masked():
    value = drawn(Masking(mask_value=7.), (4, 2))
    assert (value == 7).all(axis=-1).sum(axis=1).tolist() == [2, 1, 0]


@not_on_cntk
def test_sizes_dtypes_and_batch_size_are_respected():
    inputs = [Input(batch_shape=(2, None)), Input((None, None, 3)),
              Input((4,), dtype='int32'), Input((4,), dtype='bool')]
    # Keras 3.10 refuses inputs that are outputs.
    values = draw_inputs(Model(inputs, [Lambda(lambda x: x)(x) for x in inputs]))
    assert [value.shape for value in values] == [(2, 5), (2, 32, 32, 3), (2, 4),
                                                 (2, 4)]
    assert [value.dtype.name for value in values] == ['float32', 'float32', 'int32',
                                                      'bool']


def test_one_row_ends_half_way():
    value = drawn(Lambda(lambda x: x), None, batch_shape=(1, 4, 2))
    assert (value == 0).all(axis=-1).tolist() == [[False, False, True, True]]


@not_on_cntk
def test_input_without_steps_is_drawn():
    value = drawn(Lambda(lambda x: x), None, batch_shape=(3,), dtype='bool')
    assert value.shape == (3,)


@pytest.mark.skipif(not IS_KERAS2, reason='SciPy is not installed with Keras 3')
@on_tensorflow
def test_sparse_input_is_drawn_as_a_sparse_matrix():
    assert drawn(Dense(2), (4,), sparse=True).format == 'csr'


@on_tensorflow
def test_texts_are_drawn_for_an_input_of_texts():
    value = drawn(Lambda(lambda x: x), (2,), dtype='string')
    assert value.shape == (3, 2)
    assert all(isinstance(text, str) for text in value.flat)


@on_tensorflow
def test_model_of_texts_is_compared():
    import tensorflow as tf

    def build(text='a'):
        x = Input((2,), dtype='string', name='x')
        return Model(x, Lambda(lambda x: tf.cast(tf.equal(x, text), 'float32'),
                               output_shape=(2,), name='is')(x), name='model')
    assert check(build, lambda model: build()).faithful
    assert check(build, lambda model: build('b')).outcome == 'wrong numbers'


def test_the_same_seed_draws_the_same():
    model = chain()
    first, again, other = (draw_inputs(model, seed) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_drawn_weights_leave_no_bias_at_zero_and_variances_positive():
    model = Sequential([Dense(3, input_shape=(3,)), layers.BatchNormalization()])
    random_values.draw_weights(model)
    for weight in model.get_weights()[1:]:
        assert (weight > 0).all()


@not_on_cntk
def test_integer_weights_are_left_alone():
    class Counter(Times):
        def build(self, input_shape):
            self.count = self.add_weight(
                name='count', shape=(2,), dtype='int32', trainable=False,
                initializer=lambda shape, dtype=None: np.zeros(shape, 'int32'))
    model = chain(Counter(name='middle'))
    random_values.draw_weights(model)
    assert value_of(model.get_layer('middle').count).tolist() == [0, 0]


# Layers with vocabularies

def lookup(**arguments):
    x = Input((2,), dtype='string', name='x')
    y = layers.StringLookup(name='lookup', **arguments)(x)
    return Model(x, Embedding(5, 2, name='embedding')(y))


@has_vocabularies
def test_lost_vocabulary_is_found():
    def clone(model):
        made = lookup(vocabulary=['a', 'c'])
        made.set_weights(model.get_weights())
        return made
    report = check(lambda: lookup(vocabulary=['a', 'b']), clone)
    assert report.outcome == 'wrong numbers'
    assert 'its get_vocabulary:[2]' in [each.what for each in report.differences]


@has_vocabularies
def test_words_of_the_vocabulary_and_others_are_drawn():
    model = lookup(vocabulary=['one', 'two'], num_oov_indices=1)
    drawn = [word for seed in range(9) for word in draw_inputs(model, seed)[0].flat]
    assert {'one', 'two', 'other'} < set(drawn)
    known = lookup(vocabulary=['one', 'two'], num_oov_indices=0)
    assert set(draw_inputs(known)[0].flat) == {'one', 'two'}


@has_vocabularies
def test_texts_are_drawn_of_several_words():
    value = drawn(layers.TextVectorization(vocabulary=['one', 'two']), (),
                  dtype='string')
    assert all(len(text.split()) > 1 for text in value)


@has_vocabularies
def test_inputs_of_a_layer_without_a_mask_value_are_drawn():
    assert drawn(layers.Hashing(5), (4, 3), dtype='int64').shape[1:] == (4, 3)


@has_vocabularies
def test_numbers_that_a_layer_knows_are_drawn():
    x, y = (Input((3,), dtype='int64') for _ in range(2))
    known = layers.IntegerLookup(vocabulary=[30, 40])(x)
    coded = layers.CategoryEncoding(7)(y)
    model = Model([x, y], [known, coded])
    first, second = (np.concatenate([draw_inputs(model, seed)[i]
                                     for seed in range(9)])
                     for i in range(2))
    assert {30, 40} < set(first.flat)
    assert set(second.flat) == set(range(7))
