"""The judge of a clone on Keras 3: it finds what was made wrong on purpose."""
import json
import os
import random
import subprocess
import sys

import keras
import numpy as np
import pytest
from keras import Model, layers
from keras.models import clone_model
from keras_clone import gallery, graphs
from keras_clone.faithfulness import ModelError, check_clone, compare

from custom_objects import chain


def changed(layer_class, **changes):
    """Returns a function that clones, with another config for layers of a class."""
    def make(layer):
        config = layer.get_config()
        config.update(changes if isinstance(layer, layer_class) else {})
        return type(layer).from_config(config)
    return lambda model: clone_model(model, clone_function=make)


two_dense = chain(lambda: layers.Dense(3), lambda: layers.Dense(3))


@pytest.mark.parametrize('build', gallery.MODELS, ids=lambda build: build.__name__)
def test_models_of_the_gallery_are_cloned_faithfully(build, assert_faithful):
    assert_faithful(build)


def test_guard_mask_that_the_engine_made_a_call_argument(assert_faithful):
    def build():
        x = keras.Input((4,))
        y = layers.Dense(3)(layers.Embedding(5, 3, mask_zero=True)(x))
        return Model(x, [y, layers.GRU(3)(y)])
    assert_faithful(build)


def test_guard_masks_of_a_model_that_begins_at_a_hidden_tensor(assert_faithful):
    def build():
        x = keras.Input((4, 3))
        hidden = layers.Dense(3)(x)
        masked = layers.Dense(3)(layers.Masking()(hidden))
        part = Model(hidden, layers.GRU(3)(masked))
        return Model(x, part(x))
    assert_faithful(build)


def test_other_numbers_are_found_with_their_layer():
    report = check_clone(chain(lambda: layers.Dense(3), layers.ReLU),
                         changed(layers.ReLU, negative_slope=.5))
    assert (report.outcome, report.layer) == ('wrong numbers', 're_lu')


def test_mask_that_the_original_does_not_give_is_found():
    class HidesMask(layers.Layer):
        hides = True

        def call(self, inputs):
            return 2. * inputs

        def compute_mask(self, inputs, previous_mask):
            return None if self.hides else previous_mask

    def clone_function(layer):
        clone = type(layer).from_config(layer.get_config())
        clone.hides = False
        return clone
    report = check_clone(chain(layers.Masking, HidesMask, shape=(4, 3)),
                         lambda model: clone_model(
                             model, clone_function=clone_function))
    assert (report.outcome, report.layer) == ('wrong numbers', 'hides_mask')


def test_crash_is_found_with_its_layer():
    def refuse(layer):
        if layer.name == 'dense_1':
            raise TypeError('no')
        return type(layer).from_config(layer.get_config())
    report = check_clone(
        two_dense, lambda model: clone_model(model, clone_function=refuse))
    assert (report.outcome, report.layer) == ('crash', 'dense_1')


def test_outputs_that_cannot_be_computed_are_found():
    class Broken(layers.Layer):
        def compute_output_spec(self, inputs):
            return keras.KerasTensor(inputs.shape, inputs.dtype)

        def call(self, inputs):
            raise TypeError('no')
    report = check_clone(two_dense, lambda model: clone_model(
        model, clone_function=lambda layer: Broken(name=layer.name)))
    assert report.outcome == 'cannot predict'


def test_layer_of_the_original_is_found():
    report = check_clone(two_dense, lambda model: clone_model(
        model, clone_function=lambda layer: layer))
    assert 'the layer' in [each.what for each in report.differences
                           if each.clause == 'independent']


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


def test_clone_that_cannot_be_cloned_is_found():
    clones = []

    def clone_once(model):
        if model in clones:
            raise TypeError('no')
        clones.append(clone_model(model))
        return clones[-1]
    assert check_clone(two_dense, clone_once, locate=False).outcome == (
        'clones only once')


def test_layer_that_is_no_longer_shared_is_found():
    x = keras.Input((3,), name='x')
    shared = layers.Dense(3, name='shared')
    model = Model(x, layers.Add(name='add')([shared(x), shared(x)]))
    y = keras.Input((3,), name='x')
    clone = Model(y, layers.Add(name='add')([
        layers.Dense(3, name='shared')(y), layers.Dense(3, name='other')(y)]))
    assert 'graph' in [each.clause for each in compare(model, clone)]


@pytest.mark.parametrize('change', [
    {'name': 'other'}, {'trainable': False}, {'dtype': 'float64'}],
    ids=['name', 'trainable', 'dtype'])
def test_other_attribute_is_found(change):
    report = check_clone(chain(lambda: layers.Dense(3)),
                         changed(layers.Dense, **change))
    assert 'graph' in [each.clause for each in report.differences]


def test_other_call_argument_is_found():
    def power(exponent):
        x = keras.Input((4,), name='x')
        return Model(x, gallery.Power(name='power')(x, exponent=exponent))
    found, = [each for each in compare(power(2), power(3))
              if 'call argument' in each.what]
    assert (found.expected, found.got) == ('2', '3')


def test_mask_that_is_lost_is_found():
    def masked(layer):
        x = keras.Input((4, 3), name='x')
        return Model(x, layer(layers.Masking(name='masking')(x)))
    report = compare(masked(gallery.KeepMask(name='y')), masked(layers.Lambda(
        lambda x: 2 * x, mask=lambda x, mask: None, name='y')))
    assert 'output mask' in [each.what for each in report]


def test_subclassed_model_is_refused():
    class Subclassed(Model):
        def call(self, inputs):
            return inputs
    with pytest.raises(ModelError, match='`Subclassed`'):
        check_clone(Subclassed, clone_model)


def test_fresh_state_is_seen_by_nobody_afterwards():
    name = layers.Dense(2).name
    states = random.getstate(), np.random.get_state()[1].tolist()
    with graphs.fresh_state(3):
        assert layers.Dense(2).name == 'dense'
        random.random(), np.random.rand()
    assert states == (random.getstate(), np.random.get_state()[1].tolist())
    assert layers.Dense(2).name not in ('dense', name)


def test_check_of_a_file_with_a_lambda_tells_how_to_load_it(tmp_path):
    x = keras.Input((2,))
    model = keras.Model(x, layers.Lambda(lambda x: 2 * x)(x))
    model.save(tmp_path / 'own.keras')
    command = [sys.executable, '-m', 'keras_clone', 'check',
               str(tmp_path / 'own.keras')]
    root = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    done = subprocess.run(command, cwd=root, stderr=subprocess.PIPE,
                          universal_newlines=True)
    assert done.returncode == 2
    assert 'with `custom_objects` or `safe_mode=False`' in done.stderr


def test_check_judges_the_released_function_beside_this_one():
    command = [sys.executable, '-m', 'keras_clone', 'check', '--json', '--only',
               'named_as_one_of_keras']
    root = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    data = json.loads(subprocess.run(
        command, cwd=root, stdout=subprocess.PIPE, check=True,
        env=dict(os.environ, KERAS_CLONE='')).stdout)
    assert data['keras'] == keras.__version__
    row, = data['models']
    assert row['released']['outcome'] == 'wrong numbers'
    assert row['active']['outcome'] == 'faithful'
