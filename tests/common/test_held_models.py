"""Layers that hold a model."""
import pytest
from keras import layers
from keras.models import Sequential

from major_versions import IS_KERAS2, assert_cloned, build_inner, call_inner, chain


class Holds(layers.Layer):
    """Computes what a model computes."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.held = Sequential()

    def call(self, inputs):
        return call_inner(self.held, inputs)

    def fill(self):
        for _ in range(2):
            self.held.add(layers.Dense(3, activation='tanh'))
        return self


class FillsInBuild(Holds):
    def build(self, input_shape):
        self.fill()
        build_inner(self, [self.held], input_shape)


class FillsSeveral(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.several = [Sequential(), Sequential()]

    def build(self, input_shape):
        for each in self.several:
            each.add(layers.Dense(3))
        build_inner(self, self.several, input_shape)

    def call(self, inputs):
        return sum(call_inner(each, inputs) for each in self.several)


class HoldsLayers(Holds):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.fill()

    def call(self, inputs):
        outputs = self.held(inputs)
        if IS_KERAS2:
            self._trainable_weights = self.held.trainable_weights
        return outputs


class Builds(Holds):
    def build(self, input_shape):
        build_inner(self, [self.held], input_shape)


@pytest.mark.parametrize('make', [
    FillsInBuild, FillsSeveral, HoldsLayers, lambda: Builds().fill()],
    ids=['guard its build has filled', 'guard its build has filled, of several',
         'guard its constructor has filled', 'the user has filled'])
def test_clone_of_a_layer_with_a_model_that(make):
    model = chain(make, lambda: layers.Dense(2))()
    assert len(assert_cloned(model).weights) == len(model.weights)
