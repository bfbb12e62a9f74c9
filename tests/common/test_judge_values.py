"""Which values count as the same, and the texts for values."""
import base64
import collections
import functools
import marshal

import keras
import numpy as np
import pytest
from keras_clone.check.messages import shortened
from keras_clone.check.values import NOTHING, leaves_of, same


def agree(x, y):
    """Whether two values hold the same at the same places."""
    mine, its = dict(leaves_of(x)), dict(leaves_of(y))
    return mine.keys() == its.keys() and all(same(mine[key], its[key])
                                             for key in mine)


def function(code):
    return eval(f'lambda x: {code}')


def of_closure(value):
    return lambda x: value


@pytest.mark.parametrize('x, y, other', [
    (1, 1, 2), (1, 1, 1.), (.5, float(np.float32(.5)), .6), ('a', 'a', 'b'),
    (float('nan'), float('nan'), 1.), (None, None, 0),
    (np.ones(2), np.ones(2), np.ones(2, 'int32')),
    (np.array(['a']), np.array(['a']), np.array(['b'])),
    ([1, (2,)], (1, [2]), [1, 2]), ([1], [1], [1, 2]), ({}, {}, []),
    ({'a': {'b': 1}}, {'a': {'b': 1}}, {'a': {'b': 2}}), ({1, 2}, {2, 1}, {1, 3}),
    (function('x'), function('x'), function('2 * x')),
    (of_closure(1), of_closure(1), of_closure(2)),
    (functools.partial(max, 1),
     functools.partial(max, 1), functools.partial(min, 1)),
    (keras.regularizers.l2(.1), keras.regularizers.l2(.1),
     keras.regularizers.l2(.2)),
    (keras.layers.Dense, keras.layers.Dense, type('Dense', (), {})),
    (NOTHING, NOTHING, None), ('x' * 8, 'x' * 8, '\xe9' * 8),
    (object(), object(), 1)], ids=lambda value: type(value).__name__)
def test_values_agree_as_far_as_they_can_be_inspected(x, y, other):
    assert agree(x, y)
    assert not agree(x, other)


def test_places_say_where_a_value_is():
    assert [place for place, _ in leaves_of({'a': [1, {'b': 2}]}, place='it')] == [
        'it', 'it a', 'it a[0]', 'it a[1]', 'it a[1] b']


def test_list_in_itself_comes_to_an_end():
    value = []
    value.append(value)
    assert agree(value, value)


def test_code_in_a_config_is_the_same_however_it_was_marshalled():
    def text(code, version):
        return base64.b64encode(marshal.dumps(code, version)).decode('ascii')
    code, other = function('x').__code__, function('2 * x').__code__
    assert text(code, 2) != text(code, 4)
    assert same(text(code, 2), text(code, 4))
    assert not same(text(code, 2), text(other, 2))


def test_values_that_cannot_be_compared_count_as_the_same():
    Held = collections.namedtuple('Held', 'odd')
    Odd = type('Odd', (), {'__eq__': lambda *pair: 1 / 0})
    x, y = Held(Odd()), Held(Odd())
    assert same(x, y)


def test_long_texts_are_cut():
    assert shortened('x' * 80) == 'x' * 67 + '...'
