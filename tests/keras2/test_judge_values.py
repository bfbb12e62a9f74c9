"""Which values count as the same, and the texts for values."""
import numpy as np
from keras import utils
from keras.layers import Lambda
from keras_clone.check.describing import shortened
from keras_clone.check.values import same_value

from judging import fresh_state  # noqa: F401


def test_values_are_compared_as_far_as_they_can_be_inspected():
    same = same_value
    assert same(1, 1) and not same(1, 2) and not same(1, 1.)
    assert same(float('nan'), float('nan'))
    assert same(np.ones(2), np.ones(2)) and not same(np.ones(2), np.ones(2, 'int32'))
    assert same(np.array(['a']), np.array(['a']))
    assert not same(np.array(['a']), np.array(['b']))
    assert not same(lambda: 1, lambda: 2)
    assert same(object(), object()) and not same(object(), object(), strict=True)
    assert not same('tanh', 'relu')
    assert not same('x' * 8, 'é' * 8)


def test_code_in_a_config_is_the_same_however_it_was_marshalled():
    function = Lambda(lambda x: [x, x])
    text = utils.generic_utils.func_dump(function.function)[0]
    same_function = utils.generic_utils.func_load(text)
    other = utils.generic_utils.func_dump(lambda x: [x, 2 * x])[0]
    again = utils.generic_utils.func_dump(same_function)[0]
    assert same_value(text, again)
    assert not same_value(text, other)


def test_long_texts_are_cut():
    assert shortened('x' * 80) == 'x' * 67 + '...'
