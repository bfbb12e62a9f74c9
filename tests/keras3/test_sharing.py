"""Shared layers stay shared, and layers that are not called are built."""
import keras
from keras import Model, Sequential, layers
from keras.models import clone_model

from custom_objects import Holder
from major_versions import chain


def test_shared_layer_keeps_the_order_of_its_calls(assert_faithful):
    def build():
        a, b = keras.Input((3,), name='a'), keras.Input((3,), name='b')
        shared = layers.Dense(3)
        return Model([a, b], [shared(shared(a)), shared(b)])
    assert_faithful(build)


def test_layer_shared_between_a_nested_model_and_the_outer_one(assert_faithful):
    def build():
        shared = layers.Dense(3)
        inner = chain(lambda: shared)()
        x = keras.Input((3,), name='x')
        return Model(x, [inner(x), shared(x)])
    assert_faithful(build)


def test_shared_layer_keeps_the_shape_for_which_it_was_built(assert_faithful):
    def build():
        shared = layers.Dense(3)
        x = keras.Input((2, 3), name='x')
        first = layers.TimeDistributed(shared)(x)
        second = Sequential([layers.Dense(3), shared])(x)
        return Model(x, layers.Subtract()([first, second]))
    assert_faithful(build)


def test_layer_shared_between_two_nested_models(assert_faithful):
    def build():
        shared = layers.Dense(3)
        first, second = chain(lambda: shared)(), Sequential([shared])
        x = keras.Input((3,), name='x')
        return Model(x, second(first(x)))
    assert_faithful(build)


def test_layer_shared_between_a_wrapper_and_the_outer_model(assert_faithful):
    def build():
        shared = layers.Dense(3)
        x = keras.Input((3,), name='x')
        y = layers.TimeDistributed(shared)(layers.Reshape((1, 3))(x))
        return Model(x, [y, shared(x)])
    assert_faithful(build)


def test_layer_shared_between_two_wrappers(assert_faithful):
    def build():
        shared = layers.Dense(3)
        x = keras.Input((3,), name='x')
        return Model(x, Holder([shared])(Holder([shared])(x)))
    assert_faithful(build)


def test_nested_models_that_share_their_input_with_the_outer_one(
        assert_faithful):
    def build():
        x = keras.Input((3,), name='x')
        hidden = layers.Dense(3)(x)
        encoder = Model(x, [hidden, layers.Dense(2)(hidden)])
        decoder = chain(lambda: layers.Dense(2))()
        return Model(x, [decoder(encoder(x)[0]), hidden])
    assert_faithful(build)


def test_guard_model_nested_three_levels_deep_and_called_twice(assert_faithful):
    def build():
        inner = chain(chain(chain(lambda: layers.Dense(3)),
                            layers.BatchNormalization))()
        a, b = keras.Input((3,), name='a'), keras.Input((3,), name='b')
        return Model([a, b], layers.Add()([inner(a), inner(b)]))
    assert_faithful(build)


def test_guard_sequential_with_a_layer_twice(assert_faithful):
    def build():
        dense = layers.Dense(3)
        return Sequential([keras.Input((3,), name='x'), dense, dense])
    assert_faithful(build)


def test_guard_sequential_built_explicitly(assert_faithful):
    def build():
        model = Sequential([layers.Dense(3), layers.Dense(2)])
        model.build((None, 3))
        return model
    assert_faithful(build)


def test_guard_sequential_not_built_yet():
    model = Sequential([layers.Dense(3), layers.Dense(2)])
    clone = clone_model(model)
    assert not clone.built
    assert [layer.name for layer in clone.layers] == [
        layer.name for layer in model.layers]
    assert clone.layers[0] is not model.layers[0]


def test_guard_layer_that_the_model_holds_but_does_not_call():
    def build():
        held = [layers.Dense(3), layers.Dense(5)]
        held[1].build((None, 7))
        return chain(lambda: Holder(held))()
    model = build()
    clone = clone_model(model)
    assert [w.shape for w in clone.weights] == [w.shape for w in model.weights]


def test_layer_set_as_an_attribute_of_a_model():
    model = chain(lambda: layers.Dense(2))()
    model.attached = layers.Dense(5)
    model.attached.build((None, 7))
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    assert clone.attached is not model.attached
    assert [w.shape for w in clone.weights] == [w.shape for w in model.weights]


def test_variable_that_was_frozen_after_several_layers_got_it():
    class Scales(layers.Layer):
        def __init__(self, factor, **kwargs):
            super().__init__(**kwargs)
            self.factor = factor

        def call(self, inputs):
            return self.factor * inputs
    factor, x = keras.Variable(2.), layers.Input((3,))
    model = Model(x, Scales(factor)(Scales(factor)(x)))
    factor.trainable = False
    clone = clone_model(clone_model(model))
    assert len(clone.weights) == len(model.weights) == 1
    assert not clone.trainable_weights
