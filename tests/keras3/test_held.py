"""References that are replaced, held in ways that only Keras 3 allows."""
import dataclasses
import weakref

import keras
import numpy as np
import pytest
from keras import Model, layers, ops
from keras.models import clone_model

from custom_objects import CreatesDense, Holder, Holds, PullTo, Times
from major_versions import (
    ONES, RELEASE, WithInner, after_dense, assert_cloned, assert_same_outputs, chain,
    outputs_of)


@dataclasses.dataclass(eq=False)
class Block:
    dense: layers.Layer
    factor: float = 1.


class Blocks(Holds):
    def __init__(self, blocks, **kwargs):
        super().__init__(blocks, **kwargs)
        self.parts = [block.dense for block in blocks]

    def call(self, inputs):
        return sum(block.factor * block.dense(inputs) for block in self.held)


def test_clone_has_one_layer_in_objects_and_in_a_list(assert_faithful):
    layer = assert_faithful(chain(lambda: Blocks([
        Block(layers.Dense(2), 2.), Block(layers.Dense(2), .5)]))).layers[-1]
    for block, part in zip(layer.held, layer.parts):
        assert block.dense is part


class Scales(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.scale = ops.ones(3)

    def call(self, inputs):
        return inputs * self.scale


def test_clone_has_an_array_of_the_backend_that_was_set_before_the_call():
    def make():
        layer = Scales()
        layer.scale = ops.convert_to_tensor([1., 2., 3.])
        return layer
    clone = clone_model(chain(make)())
    np.testing.assert_allclose(outputs_of(clone, ONES), [[1, 2, 3]] * 2)


def test_clone_has_an_array_of_the_backend_that_was_set_after_the_call():
    model = chain(Scales)()
    model.layers[-1].scale = ops.convert_to_tensor([1., 2., 3.])
    clone = clone_model(model)
    np.testing.assert_allclose(outputs_of(clone, ONES), [[1, 2, 3]] * 2)


class Parent(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.gain = self.add_weight(shape=(), initializer='ones')
        self.child = Child()
        self.child.parent = weakref.ref(self)

    def call(self, inputs):
        return self.child(inputs)


class Child(layers.Layer):
    def call(self, inputs):
        return self.parent().gain * inputs


def test_guard_clone_has_a_weak_reference_to_its_own_parent():
    layer = assert_cloned(chain(Parent)()).layers[-1]
    assert layer.child.parent() is layer


class HasProxy(Holds):
    def __init__(self, held, **kwargs):
        super().__init__([held], **kwargs)
        self.other = weakref.proxy(held)

    def call(self, inputs):
        return self.other(inputs)


def test_clone_has_a_weak_proxy_of_its_own_layer(assert_faithful):
    clone = assert_faithful(chain(lambda: HasProxy(layers.Dense(3))))
    assert type(clone.layers[-1].other) is weakref.CallableProxyType


def test_clone_has_a_regularizer_of_lora_weights_that_holds_its_own_layer():
    x = keras.Input((3,), name='x')
    anchor, dense = layers.Dense(3), layers.Dense(3)
    dense.kernel_regularizer = PullTo(anchor)
    model = Model(x, dense(anchor(x)))
    dense.enable_lora(1)
    clone = clone_model(model)
    held = [weight.regularizer.layer for weight in clone.layers[-1].weights
            if weight.regularizer]
    assert len(held) == 3 and all(each is clone.layers[1] for each in held)


class WeightNormalized(layers.Wrapper):
    def build(self, input_shape):
        super().build(input_shape)
        self.kept = self.layer.kernel
        self.gain = self.add_weight(shape=(), initializer='ones')

    def call(self, inputs):
        return ops.matmul(inputs, self.gain * self.kept) + self.layer.bias

    def compute_output_shape(self, input_shape):
        return self.layer.compute_output_shape(input_shape)


def test_guard_clone_holds_a_variable_of_its_own_layer(assert_faithful):
    clone = assert_faithful(chain(lambda: WeightNormalized(layers.Dense(2))))
    layer = clone.layers[-1]
    assert layer.kept is layer.layer.kernel


def in_a_data_class(kernel):
    block = Block(kernel)
    return lambda x: ops.matmul(x, ops.transpose(block.dense))


@pytest.mark.parametrize('make', [
    lambda dense: layers.Lambda(in_a_data_class(dense.kernel), output_shape=(3,)),
    lambda dense: layers.Dense(3, activation=in_a_data_class(dense.kernel)),
], ids=['lambda', 'activation'])
def test_clone_has_a_data_class_that_holds_its_own_variable(make, assert_faithful):
    assert_faithful(lambda: after_dense(make))


@pytest.mark.parametrize('attribute', [
    'kernel_initializer',
    pytest.param('kernel_constraint', marks=pytest.mark.skipif(
        RELEASE < (3, 15), reason='Keras refuses functions'))])
def test_clone_has_a_function_that_holds_its_own_variable(attribute):
    def make(dense):
        def function(x, dtype=None, held=dense.kernel):
            return ops.ones(x) if attribute == 'kernel_initializer' else x + held
        return layers.Dense(3, **{attribute: function})
    clone = clone_model(after_dense(make))
    held = getattr(clone.layers[-1], attribute)
    assert held.__defaults__[1] is clone.layers[1].kernel


def test_clone_has_a_copy_of_a_variable_that_only_a_function_holds():
    variable = keras.Variable([1., 2., 3.])
    model = chain(lambda: layers.Lambda(lambda x: x * variable))()
    clone = clone_model(model)
    variable.assign([0., 0., 0.])
    np.testing.assert_allclose(outputs_of(clone, ONES), [[1, 2, 3]] * 2)


def test_clone_has_its_own_metric_that_a_model_holds():
    model = chain(lambda: layers.Dense(2))()
    model.attached = keras.metrics.Mean(name='seen')
    clone_model(model).attached.update_state([1.])
    np.testing.assert_allclose(float(model.attached.result()), 0)


class Autoencoder(Model):
    def __init__(self, units=2):
        x = keras.Input((3,), name='x')
        encoder, decoder = layers.Dense(units), layers.Dense(3)
        super().__init__(x, decoder(encoder(x)))
        self.parts = (encoder, decoder)
        self.gain = self.add_weight(shape=(), initializer='ones', name='gain')
        self.offset = keras.Variable([1., 2., 3.], name='offset')

    def call(self, inputs):
        return self.gain * self.parts[1](self.parts[0](inputs)) + self.offset


def test_clone_of_a_class_has_its_own_graph_and_parts():
    model = Autoencoder(4)
    clone = assert_cloned(model)
    assert type(clone) is Autoencoder
    assert clone.parts == tuple(clone.layers[1:])
    assert [w.shape for w in clone.weights] == [w.shape for w in model.weights]


class WithFeatures(Model):
    def __init__(self, inputs, outputs, name_of_layer, **kwargs):
        super().__init__(inputs, outputs, **kwargs)
        features = self.get_layer(name_of_layer).output
        self.both = Model(self.inputs, [features, self.output])

    def call(self, inputs):
        features, outputs = self.both(inputs)
        return outputs + ops.mean(features)


def test_clone_has_a_second_model_over_its_own_layers():
    x = keras.Input((3,), name='x')
    y = layers.Dense(2, name='features')(x)
    model = WithFeatures(x, layers.Dense(3)(y), 'features')
    clone = assert_cloned(model)
    assert type(clone) is WithFeatures
    assert clone.both.get_layer('features') is clone.get_layer('features')
    assert len(clone.weights) == len(model.weights)


def test_clone_does_not_track_a_model_that_its_original_does_not_track():
    x, features = keras.Input((3,)), chain(lambda: layers.Dense(2))()
    model = Model(x, layers.Dense(3)(x))
    object.__setattr__(model, 'features', features)
    clone = clone_model(model)
    assert len(clone.weights) == len(model.weights)
    assert clone.features is not features
    np.testing.assert_allclose(outputs_of(clone.features, ONES),
                               outputs_of(features, ONES))


def test_clone_computes_with_a_layer_set_in_place_of_the_one_that_keras_tracks():
    model, other = chain(lambda: WithInner(layers.Dense(3)))(), layers.Dense(3)
    other.build((None, 3))
    object.__setattr__(model.layers[-1], 'inner', other)
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    assert_same_outputs(model, clone)
    assert len(clone.weights) == len(model.weights)


@keras.saving.register_keras_serializable('held')
def by_global_layer(x):
    return GLOBALS['layer'](x)


GLOBALS = {}


def test_clone_has_a_registered_function_that_uses_its_own_layer():
    GLOBALS['layer'] = layers.Dense(3)
    assert_cloned(chain(lambda: GLOBALS['layer'],
                        lambda: layers.Lambda(by_global_layer))())


def test_guard_clone_builds_a_layer_that_it_does_not_call():
    held = [layers.Dense(3), layers.Dense(5)]
    held[1].build((None, 7))
    model = chain(lambda: Holder(held))()
    assert [w.shape for w in clone_model(model).weights] == [
        w.shape for w in model.weights]


def test_clone_has_a_setting_that_was_changed_before_the_user_built_the_layer():
    layer = CreatesDense()
    layer.dense.units = 2
    layer.build((None, 3))
    assert_cloned(chain(lambda: layer)())


class HasBlock(Times):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.block = keras.Sequential([layers.Dense(3), layers.BatchNormalization()])


class BuildsBlock(HasBlock):
    def build(self, input_shape):
        self.block.build(input_shape)

    def call(self, inputs):
        return self.block(inputs)


def test_clone_has_a_sequential_that_build_builds_once(assert_faithful):
    assert_faithful(chain(BuildsBlock))


def test_guard_clone_builds_a_sequential_in_a_layer_on_another_shape():
    x = layers.Input((None, 3))
    clone = clone_model(Model(x, BuildsBlock()(x)), layers.Input((5, 3)))
    assert clone.output_shape == (None, 5, 3)


def test_clone_builds_a_sequential_in_a_layer_that_it_does_not_call():
    layer, x = HasBlock(), layers.Input((3,))
    layer.block.build((None, 7))
    clone = clone_model(Model(x, layer(x)))
    assert [w.shape for w in clone.weights] == [w.shape for w in layer.weights]


class TimesHeld(Holds):
    def call(self, inputs):
        return self.held * inputs


def test_clone_has_a_variable_that_was_frozen_after_several_layers_got_it():
    factor = keras.Variable(2.)
    model = chain(lambda: TimesHeld(factor), lambda: TimesHeld(factor))()
    factor.trainable = False
    clone = clone_model(clone_model(model))
    assert len(clone.weights) == len(model.weights) == 1
    assert not clone.trainable_weights
