"""The judge finds what a clone shares with its original, or changed in it."""
import functools
from types import SimpleNamespace as Named

import pytest
from keras import backend as K, layers, utils
from keras.layers import Input, Lambda
from keras.models import Model
from keras_clone.check.independence import changes, snapshot

from judging import (chain, check, every_kind_of_layer, found, knows, not_on_cntk,
                     Owner, Power, powers, set_by_name, stateful, Tied)
from judging import fresh_state  # noqa: F401


def test_layer_of_the_original_in_the_clone_is_found():
    def clone(model):
        return chain(model.get_layer('middle'))
    report = check(chain, clone)
    assert report.outcome == 'not independent'
    assert ('middle', 'the layer') in found(report, 'not independent')


def test_weight_of_the_original_in_the_clone_is_found():
    def clone(model):
        return chain(end=Tied(2, tied_to=model.get_layer('last'), name='last'))
    report = check(lambda: chain(end=Tied(2, name='last')), clone)
    assert ('last', 'weight 0') in found(report, 'not independent')


def test_state_of_the_original_in_the_clone_is_found():
    def clone(model):
        clone = stateful()
        clone.get_layer('lstm').states = model.get_layer('lstm').states
        return clone
    assert ('lstm', 'state 1') in found(check(stateful, clone), 'not independent')


def test_arguments_of_the_original_in_the_clone_are_found():
    def clone(model):
        node = model.get_layer('power')._inbound_nodes[0]
        clone = powers()
        clone.get_layer('power')._inbound_nodes[0].arguments = node.arguments
        return clone
    report = check(powers, clone)
    assert found(report) == [('power', 'the arguments of call 0')]
    assert report.outcome == 'not independent'


def test_list_in_the_arguments_of_the_original_is_found():
    bases = {'of': [None]}

    def build():
        return powers(bases=bases)

    class Ignore(Power):
        def call(self, inputs, exponent=1, bases=None):
            return K.pow(inputs, exponent)

    def with_list(shared):
        x = Input((3,), name='x')
        return Model(x, Ignore(name='ignore')(x, bases=({'of': shared},)),
                     name='model')
    shared = [1, 2]
    report = check(lambda: with_list(shared), lambda model: with_list(shared))
    assert found(report) == [('ignore', 'the arguments of call 0')]
    report = check(lambda: with_list(shared), lambda model: with_list([1, 2]))
    assert report.faithful


@not_on_cntk
def test_clone_that_computes_from_a_weight_of_the_original_is_found():
    def build(kernel=None):
        def times(x):
            return x if kernel is None else x + 0 * K.sum(kernel)
        return chain(Lambda(times, name='middle'))
    report = check(build, lambda model: build(model.get_layer('first').kernel))
    assert ('middle', 'what it computes from') in found(report, 'not independent')


@pytest.mark.parametrize('pollute, expected', [
    (lambda model: model.get_layer('power')._inbound_nodes[0].arguments.update(
        mask=None), ('power', 'the original after cloning, _inbound_nodes 0 '
                              'arguments mask')),
    (lambda model: model.get_layer('power')(Input((3,))),
     ('power', 'the original after cloning, _inbound_nodes 2')),
    (lambda model: setattr(model.get_layer('minus'), 'name', 'plus'),
     ('minus', 'the original after cloning, name')),
    (lambda model: utils.get_custom_objects().update(Power=Power),
     ('', 'the original after cloning, custom objects Power'))])
def test_change_of_the_original_is_found(pollute, expected):
    def clone(model):
        pollute(model)
        return powers()
    try:
        assert expected in found(check(powers, clone), 'not independent')
    finally:
        utils.get_custom_objects().clear()


def test_change_of_a_weight_of_the_original_is_found():
    def clone(model):
        model.set_weights([2 * each for each in model.get_weights()])
        return chain()
    report = check(chain, clone)
    assert ('last', 'the original after cloning, the value of weight 1') in found(
        report, 'not independent')


def test_snapshots_of_an_untouched_model_are_the_same():
    model = every_kind_of_layer()
    before = snapshot(model)
    model.get_config()
    assert changes(before, snapshot(model)) == []


class Scaled(layers.Layer):
    """Has a scalar weight."""

    def build(self, input_shape):
        self.scale = self.add_weight(name='scale', shape=(), initializer='ones')
        super().build(input_shape)

    def call(self, inputs):
        return self.scale * inputs


@not_on_cntk
def test_snapshots_of_a_model_with_a_scalar_weight_are_the_same():
    model = chain(Scaled())
    assert changes(snapshot(model), snapshot(model)) == []


@pytest.mark.once
@pytest.mark.parametrize('holder', [
    lambda each: (each,), lambda each: {'a': [each]}, lambda each: {each},
    lambda each: Named(a=each), lambda each: lambda: each, Owner,
    lambda each: functools.partial(max, each), lambda each: Owner(each).method,
    lambda each: lambda x, by=each: x],
    ids=['tuple', 'dict', 'set', 'namespace', 'closure', 'object', 'partial',
         'bound method', 'default'])
@pytest.mark.parametrize('part', [
    lambda layer: layer, lambda layer: layer.first, lambda layer: layer.output],
    ids=['layer', 'variable', 'tensor'])
def test_what_holds_a_part_of_the_original_is_found(holder, part):
    def clone(model):
        original = model.get_layer('middle')
        return knows(set_by_name('held', holder(part(original))))
    layer, _ = found(check(knows, clone), 'not independent')[0]
    assert layer in ('middle', 'middle/middle')
