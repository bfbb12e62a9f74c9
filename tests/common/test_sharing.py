"""Shared layers stay shared, and models of models are cloned at every depth."""
import types

import pytest
from keras.layers import (Add, BatchNormalization, Bidirectional, Dense, Input,
                          InputLayer, Lambda, Reshape, SimpleRNN, Subtract,
                          TimeDistributed)
from keras.models import Model, Sequential, clone_model
from keras_clone.call_order import in_call_order
from keras_clone.check.gallery import ops

from custom_objects import Holder, gelu
from major_versions import IS_KERAS2, ONES, KeepsShape, assert_cloned, chain


def with_a_layer_called_several_times():
    a, b = Input((3,), name='a'), Input((3,), name='b')
    shared = Dense(3)
    return Model([a, b], [shared(shared(a)), shared(b)])


def with_a_layer_of_two_nested_models():
    shared, x = Dense(3), Input((3,), name='x')
    first, second = chain(lambda: shared)(), Sequential([shared])
    return Model(x, second(first(x)))


def with_a_layer_of_a_wrapper():
    shared, x = Dense(3), Input((3,), name='x')
    y = TimeDistributed(shared)(Reshape((1, 3))(x))
    return Model(x, [y, shared(x)])


def with_a_layer_of_two_wrappers():
    shared, x = Dense(3), Input((3,), name='x')
    return Model(x, Holder([shared])(Holder([shared])(x)))


def with_wrappers_of_a_layer_called_in_another_order_than_the_outputs():
    shared, x, y = Dense(3), Input((1, 3), name='x'), Input((2, 3), name='y')
    first = TimeDistributed(shared)(x)
    return Model([y, x], [TimeDistributed(shared)(y), first])


def with_a_layer_built_for_another_shape():
    shared, x = Dense(3), Input((2, 3), name='x')
    first = TimeDistributed(shared)(x)
    second = Sequential([Dense(3), shared])(x)
    return Model(x, Subtract()([first, second]))


def with_a_nested_model_on_the_same_input():
    x = Input((3,), name='x')
    hidden = Dense(3)(x)
    encoder = Model(x, [hidden, Dense(2)(hidden)])
    decoder = chain(lambda: Dense(2))()
    return Model(x, [decoder(encoder(x)[0]), hidden])


def three_levels_deep_and_called_twice():
    inner = chain(chain(chain(lambda: Dense(3)), BatchNormalization))()
    a, b = Input((3,), name='a'), Input((3,), name='b')
    return Model([a, b], Add()([inner(a), inner(b)]))


def sequential_with_an_input_layer():
    return Sequential([InputLayer((3,)), Dense(2)])


def sequential_with_a_layer_twice():
    dense = Dense(3)
    return Sequential([InputLayer((3,)), dense, dense])


def sequential_built_explicitly():
    model = Sequential([Dense(3), Dense(2)])
    model.build((None, 3))
    return model


def with_a_sequential_not_built_yet():
    return chain(lambda: Sequential([Dense(3, activation=gelu), Dense(2)]))()


@pytest.mark.parametrize('build', [
    with_a_layer_called_several_times, with_a_layer_of_two_nested_models,
    with_a_layer_of_a_wrapper,
    with_a_layer_of_two_wrappers,
    with_wrappers_of_a_layer_called_in_another_order_than_the_outputs,
    with_a_layer_built_for_another_shape,
    with_a_nested_model_on_the_same_input, three_levels_deep_and_called_twice,
    sequential_with_an_input_layer, sequential_with_a_layer_twice,
    sequential_built_explicitly, with_a_sequential_not_built_yet])
def test_clone_is_faithful(build, assert_faithful):
    assert_faithful(build)


class TimesKernel(KeepsShape):
    """Computes with a weight of a layer that it does not build."""

    def __init__(self, dense, **kwargs):
        super().__init__(**kwargs)
        self.dense = dense

    def call(self, inputs):
        return inputs * ops.sum(self.dense.kernel)


@pytest.mark.parametrize('holder', [
    TimeDistributed, TimesKernel, lambda dense: Lambda(
        lambda x, dense: x * ops.sum(dense.kernel), arguments={'dense': dense})],
    ids=['wrapper', 'own layer', 'lambda'])
def test_clone_has_a_layer_that_a_wrapper_has_built_in_another_model(
        holder, assert_faithful):
    def build():
        shared, x = Dense(3), Input((2, 3))
        TimeDistributed(shared)(Input((1, 3)))
        return Model(x, holder(shared)(x))
    # Otherwise, Keras 2 does not tell how it was built: its weights are copies.
    are_drawn = holder is TimeDistributed or not IS_KERAS2
    assert_faithful(build, exact_ops=False, fresh_weights=are_drawn)


class TimesKernelOfConstructor(TimesKernel):
    """Its constructor needs the weights of the layer that it is passed."""

    def __init__(self, dense, **kwargs):
        super().__init__(dense, **kwargs)
        self.kernel = dense.kernel

    def call(self, inputs):
        return inputs * ops.sum(self.kernel)


def of_a_layer_called_before():
    dense, x = Dense(3), Input((3,), name='x')
    hidden = dense(x)
    return Model(x, Dense(2)(TimesKernelOfConstructor(dense)(hidden)))


def of_a_layer_called_before_on_another_input():
    dense, x, y = Dense(3), Input((3,), name='x'), Input((2,), name='y')
    hidden = dense(x)
    return Model([x, y], [Dense(2)(TimesKernelOfConstructor(dense)(y)), hidden])


def of_a_layer_of_a_model_called_later():
    dense, x = Dense(3), Input((3,), name='x')
    inner = chain(lambda: dense)()
    return Model(x, inner(TimesKernelOfConstructor(dense)(x)))


def of_a_layer_before_it_in_a_sequential():
    dense = Dense(3)
    model = Sequential([InputLayer((3,)), dense])
    model.add(TimesKernelOfConstructor(dense))
    return model


def of_a_layer_called_in_another_model():
    dense, x = Dense(3), Input((2,), name='x')
    dense(Input((3,)))
    return Model(x, Dense(2)(TimesKernelOfConstructor(dense)(x)))


@pytest.mark.parametrize('build', [
    of_a_layer_called_before, of_a_layer_called_before_on_another_input,
    of_a_layer_of_a_model_called_later, of_a_layer_before_it_in_a_sequential,
    of_a_layer_called_in_another_model])
def test_constructor_of_a_clone_is_passed_a_layer_that_is_built(
        build, assert_faithful):
    # The call in another model is not repeated.
    is_repeated = build is not of_a_layer_called_in_another_model
    assert_faithful(build, exact_ops=is_repeated)


def in_order(*steps):
    """Returns a function that builds a model of a recurrent layer.

    # Arguments
        steps: what the user does in turn. `layer`, `wrapper` or `inner` calls it;
            `create wrapper` or `create inner` creates a wrapper or a model of it.
    """
    def build():
        x, layer = Input((4, 3), name='x'), SimpleRNN(2, return_sequences=True)
        called, outputs = {'layer': layer}, []
        for step in steps:
            if step == 'create wrapper':
                called['wrapper'] = Bidirectional(layer)
            elif step == 'create inner':
                inner_x = Input((4, 3))
                called['inner'] = Model(inner_x, layer(inner_x))
            else:
                outputs.append(called[step](x))
        return Model(x, outputs)
    return build


ORDERS = {
    'wrapper first': in_order('create wrapper', 'wrapper', 'layer'),
    'built before wrapped': in_order('layer', 'create wrapper', 'wrapper'),
    'model called last': in_order(
        'create wrapper', 'create inner', 'wrapper', 'inner'),
    'model created last': in_order(
        'create wrapper', 'wrapper', 'create inner', 'inner'),
    'model created first': in_order(
        'create inner', 'create wrapper', 'wrapper', 'inner'),
}
if IS_KERAS2:  # On Keras 3, the paths of the weights differ.
    ORDERS['layer first'] = in_order('create wrapper', 'layer', 'wrapper')


@pytest.mark.parametrize('build', ORDERS.values(), ids=ORDERS)
def test_wrapper_of_a_clone_is_created_and_called_in_the_same_order(
        build, assert_faithful):
    assert_faithful(build)


def test_guard_clone_of_a_model_that_is_called_again_on_the_same_tensor():
    inner, x = chain(lambda: Dense(3))(), Input((3,))
    y = inner(inner(x))
    assert_cloned(Model(x, [y, inner(x)]))


def test_guard_clone_of_models_that_are_called_again_on_the_same_tensors():
    to_b, to_a = chain(lambda: Dense(3))(), chain(lambda: Dense(3))()
    a, b = Input((3,)), Input((3,))
    outputs = [to_a(to_b(a)), to_b(to_a(b))]
    to_b(a), to_a(b)
    assert_cloned(Model([a, b], outputs), [ONES, ONES])


def test_order_of_calls_ends_if_a_call_needs_a_later_one_of_its_layer():
    layer = types.SimpleNamespace(_inbound_nodes=['first', 'second'])
    parents = {'first': ['second'], 'second': []}
    ordered = in_call_order(['first', 'second'], lambda node: layer, parents.get)
    assert sorted(ordered) == ['first', 'second']


def test_guard_clone_has_the_input_that_is_an_output():
    x = Input((3,))
    clone = clone_model(Model(x, [x, Dense(2)(x)]))
    assert clone.outputs[0] is clone.inputs[0]


def test_guard_clone_of_a_sequential_not_built_yet_is_not_built():
    model = Sequential([Dense(3), Dense(2)])
    clone = clone_model(model)
    assert not clone.built
    assert [layer.name for layer in clone.layers] == [
        layer.name for layer in model.layers]
    assert clone.layers[0] is not model.layers[0]
