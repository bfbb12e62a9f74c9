"""Weights and sublayers that are replaced after the constructor has created them.

The original lists its weights in the order in which they were created. A layer that
was replaced is still tracked, but has no weights.
"""
import keras
import pytest
from keras import layers

from major_versions import assert_cloned, chain


class Two(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.first, self.second = layers.Dense(3), layers.Dense(3)

    def build(self, input_shape):
        self.replace(input_shape)
        self.first.build(input_shape)
        self.second.build(input_shape)

    def call(self, inputs):
        return self.second(self.first(inputs))

    def replace(self, input_shape):
        self.first = layers.Dense(3, activation='tanh')


class Deletes(Two):
    def replace(self, input_shape):
        del self.first
        self.first = layers.Dense(3, activation='tanh')


class ReplacesBuilt(Two):
    def replace(self, input_shape):
        self.first.build(input_shape)
        self.first = layers.Dense(3, activation='tanh')


class ReplacesInModel(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.first, self.second = layers.Dense(3), layers.Dense(3)

    build, call, replace = Two.build, Two.call, Two.replace


class ReplacesList(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.several = [layers.Dense(3), layers.Dense(3)]
        self.last = layers.Dense(3)

    def build(self, input_shape):
        self.several = [layers.Dense(3, activation='tanh') for _ in self.several]
        for each in [*self.several, self.last]:
            each.build(input_shape)

    def call(self, inputs):
        for each in self.several:
            inputs = each(inputs)
        return self.last(inputs)


class ReplacesWeight(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.scale = self.add_weight(shape=(3,), name='scale')
        self.offset = self.add_weight(shape=(3,), name='offset')

    def build(self, input_shape):
        self.scale = self.add_weight(shape=(3,), name='new_scale')

    def call(self, inputs):
        return inputs * self.scale + self.offset


class MovesWeight(ReplacesWeight):
    def build(self, input_shape):
        self.former = self.scale
        super().build(input_shape)

    def call(self, inputs):
        return super().call(inputs) * self.former


@pytest.mark.parametrize('make', [
    Two, Deletes, ReplacesBuilt, ReplacesInModel, ReplacesList, ReplacesWeight,
    MovesWeight])
def test_guard_clone_has_the_weights_in_order_if_build_replaces_some(make):
    assert_cloned(chain(make)())


class Head(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.head, self.body = layers.Dense(3), layers.Dense(3)

    def call(self, inputs):
        return self.head(self.body(inputs))


def test_clone_has_the_weights_in_order_if_the_user_replaces_a_layer():
    model = Head()
    model.head = layers.Dense(3, activation='softmax')
    assert_cloned(chain(lambda: model)())


@pytest.mark.parametrize('is_called_first', [True, False])
def test_clone_tracks_a_layer_that_was_replaced_and_is_called_itself(
        is_called_first, assert_faithful):
    def build():
        x, former = keras.Input((2, 3)), layers.Dense(3)
        wrapper = layers.TimeDistributed(former)
        wrapper.layer = layers.Dense(3)
        calls = [former, wrapper] if is_called_first else [wrapper, former]
        return keras.Model(x, calls[1](calls[0](x)))
    assert_faithful(build)


class HeldTwice(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.last = layers.Dense(3)
        self.several = [self.last]

    call = ReplacesList.call


def test_clone_tracks_a_layer_that_the_user_removed_from_one_of_two_attributes():
    layer = HeldTwice()
    layer.several = [layers.Dense(3)]
    assert_cloned(chain(lambda: layer)())


class Slotted:
    """Has an attribute in a slot, and others."""

    __slots__ = ('second', '__dict__')

    def __init__(self, first, second):
        self.first, self.second = first, second


class UsesSlots(layers.Layer):
    """Is passed an object whose layers it tracks."""

    def __init__(self, held, **kwargs):
        super().__init__(**kwargs)
        self.held = held
        self.tracked = [held.first, held.second]

    def call(self, inputs):
        return self.held.first(self.held.second(inputs))


def test_clone_tracks_the_layers_of_an_object_with_slots():
    held = Slotted(layers.Dense(3), layers.Dense(3))
    assert_cloned(chain(lambda: UsesSlots(held))())
