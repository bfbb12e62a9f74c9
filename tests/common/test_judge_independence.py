"""The judge finds what a clone shares with its original, or changed in it."""
import functools
from types import SimpleNamespace as Named

import pytest
from keras import layers, utils
from keras.layers import Input
from keras_clone.check.independence import Belongings, changes

from judging import chain, check, every_kind_of_layer, found, not_on_cntk, Own
from judging import Owner, Power, powers
from judging import fresh_state  # noqa: F401
from major_versions import IS_KERAS2

NAME = 'name' if IS_KERAS2 else '_name'


def test_layer_of_the_original_in_the_clone_is_found():
    report = check(chain, lambda model: chain(model.get_layer('middle')))
    assert report.outcome == 'not independent'
    assert ('middle', 'what it holds: layer middle') in found(
        report, 'not independent')


@pytest.mark.parametrize('pollute, expected', [
    (lambda model: model.get_layer('power')(Input((3,))),
     ('power', 'the original after cloning, _inbound_nodes 2')),
    (lambda model: setattr(model.get_layer('minus'), NAME, 'plus'),
     ('minus', 'the original after cloning, ' + NAME)),
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


def test_snapshots_of_an_untouched_model_are_the_same():
    model = every_kind_of_layer()
    belongings = Belongings(model)
    before = belongings.snapshot()
    model.get_config()
    assert changes(before, belongings.snapshot()) == []


class Scaled(layers.Layer):
    def build(self, input_shape):
        self.scale = self.add_weight(name='scale', shape=(), initializer='ones')

    def call(self, inputs):
        return self.scale * inputs


@not_on_cntk
def test_snapshots_of_a_model_with_a_scalar_weight_are_the_same():
    belongings = Belongings(chain(Scaled()))
    assert changes(belongings.snapshot(), belongings.snapshot()) == []


def variable_of(layer):
    return layer.scale


@pytest.mark.once
@pytest.mark.parametrize('holder', [
    lambda each: (each,), lambda each: {'a': [each]}, lambda each: {each},
    lambda each: Named(a=each), lambda each: lambda: each, Owner,
    lambda each: functools.partial(max, each), lambda each: Owner(each).method,
    lambda each: lambda x, by=each: x],
    ids=['tuple', 'dict', 'set', 'namespace', 'closure', 'object', 'partial',
         'bound method', 'default'])
@pytest.mark.parametrize('part', [
    lambda layer: layer, variable_of, lambda layer: layer.output],
    ids=['layer', 'variable', 'tensor'])
def test_what_holds_a_part_of_the_original_is_found(holder, part):
    if not IS_KERAS2 and isinstance(holder(1), set) and part is variable_of:
        pytest.skip('a variable of Keras 3 has no hash')

    def build(of=None):
        model = chain(end=Own(name='last'))
        layer = model.get_layer('last')
        # Not by `setattr`: neither TensorFlow nor Keras should track it.
        vars(layer)['kept'] = holder(part((of or model).get_layer('last')))
        return model
    assert check(build, lambda model: build(), exact_ops=False).faithful
    differing = check(build, build).differences
    assert differing[0].outcome == 'not independent'
    assert differing[0].layer in ('last', 'last/last')
    assert differing[0].what.startswith('what it holds: ')
