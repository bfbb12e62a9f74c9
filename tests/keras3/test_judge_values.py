"""Which values the judge takes for the same."""
import collections

import keras
from keras_clone.check.values import same_value


def test_what_cannot_be_compared_is_the_same_as_far_as_one_can_tell():
    Held = collections.namedtuple('Held', 'variable')
    x, y = (Held(keras.Variable([1., 2.])) for _ in range(2))
    assert same_value(x, y) and not same_value(x, y, strict=True)
