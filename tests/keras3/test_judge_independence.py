"""The judge finds what a clone shares with its original, or changed in it."""
import collections
import functools

import pytest
from keras import layers
from keras.models import clone_model
from keras_clone.check import gallery
from keras_clone.check.faithfulness import check_clone

from judging import judged, knows, Owner, two_dense


def test_layer_of_the_original_is_found():
    report = check_clone(two_dense, lambda model: clone_model(
        model, clone_function=lambda layer: layer))
    assert 'the layer' in [each.what for each in report.differences
                           if each.outcome == 'not independent']


def test_variable_of_the_original_in_a_function_is_found():
    def with_its_own(layer):
        if isinstance(layer, layers.Lambda):
            return layers.Lambda(layer.function, name=layer.name)
        return type(layer).from_config(layer.get_config())
    report = check_clone(
        gallery.lambda_that_holds_a_layer,
        lambda model: clone_model(model, clone_function=with_its_own))
    assert report.outcome == 'not independent'
    assert 'kernel' in report.reason


def test_change_of_the_original_is_found():
    def clone_and_change(model):
        clone = clone_model(model)
        model.layers[1].supports_masking = False
        return clone
    report = check_clone(two_dense, clone_and_change)
    assert report.outcome == 'not independent'
    assert 'supports_masking' in report.reason


Pair = collections.namedtuple('Pair', 'a b')


def held_in_a_closure(value):
    return lambda: value


@pytest.mark.parametrize('holder', [
    lambda each: (each,), lambda each: {'a': [each]}, lambda each: {Owner(each)},
    lambda each: Pair(1, each), held_in_a_closure, Owner,
    lambda each: functools.partial(max, each), lambda each: Owner(each).method,
    lambda each: lambda x, by=each: x,
], ids=['tuple', 'dict', 'set', 'named tuple', 'closure', 'object', 'partial',
        'bound method', 'default'])
@pytest.mark.parametrize('part', [
    lambda layer: layer, lambda layer: layer.first, lambda layer: layer.output,
], ids=['layer', 'variable', 'tensor'])
def test_what_holds_a_part_of_the_original_is_found(holder, part):
    def share(layer, original):
        # Not by `setattr`: neither TensorFlow nor Keras should track it.
        vars(layer)['held'] = holder(part(original))
    found = [each for each in judged(knows, share).differences
             if each.outcome == 'not independent']
    assert [each.layer for each in found][:1] == ['knows']
    assert found[0].what.startswith('what it holds: ')


def test_guard_what_holds_the_clones_own_layers_is_independent():
    def own(layer, _):
        vars(layer)['held'] = (layer, layer.first, layer.output)
    assert judged(knows, own).faithful
