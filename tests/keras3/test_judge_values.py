"""Which values count as the same."""
import collections

import keras
from keras_clone.check.values import same_value


def test_values_that_cannot_be_compared_count_as_the_same():
    Held = collections.namedtuple('Held', 'variable')
    x, y = (Held(keras.Variable([1., 2.])) for _ in range(2))
    assert same_value(x, y) and not same_value(x, y, strict=True)
