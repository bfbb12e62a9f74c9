"""The judge of a clone on Keras 3: it finds what was made wrong on purpose."""
import collections
import functools
import itertools
import json
import os
import random
import subprocess
import sys

import keras
import numpy as np
import pytest
from keras import Model, layers, ops
from keras.models import clone_model
from keras_clone.check import gallery
from keras_clone.check.faithfulness import ModelError, check_clone, compare
from keras_clone.check.graphs import graphs
from keras_clone.check.independence import changes, snapshot
from keras_clone.check.original import draw_inputs
from keras_clone.check.values import same_value

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
    assert 'other graph' in [each.outcome for each in compare(model, clone)]


@pytest.mark.parametrize('change', [
    {'name': 'other'}, {'trainable': False}, {'dtype': 'float64'}],
    ids=['name', 'trainable', 'dtype'])
def test_other_attribute_is_found(change):
    report = check_clone(chain(lambda: layers.Dense(3)),
                         changed(layers.Dense, **change))
    assert 'other graph' in [each.outcome for each in report.differences]


def test_other_call_argument_is_found():
    def power(exponent):
        x = keras.Input((4,), name='x')
        return Model(x, gallery.Power(name='power')(x, exponent=exponent))
    found, = (each for each in compare(power(2), power(3))
              if 'call argument' in each.what)
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


# What a clone loses, shares or does otherwise, one fault each


def broken(change):
    """Returns a function that clones faithfully, then changes the clone.

    # Arguments
        change: function of the last layer of the clone and that of the original.
    """
    def clone(model):
        made = clone_model(model)
        change(made.layers[-1], model.layers[-1])
        return made
    return clone


def judged(build, change, **arguments):
    arguments.setdefault('depth', 1)
    arguments.setdefault('saving', False)
    return check_clone(build, broken(change), **arguments)


def what_differs(report):
    return [(each.outcome, each.layer, each.what) for each in report.differences]


def bidirectional():
    model = chain(lambda: layers.Bidirectional(layers.GRU(2), name='both'),
                  shape=(4, 3))()
    model.layers[-1].forward_layer.cell.trainable = False
    return model


class Knows(layers.Layer):
    """Has attributes of all kinds, none of which its config tells."""
    held = None

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.number = .5
        self.text = 'a'
        self.table = {'a': [1, 2]}
        self.array = np.arange(3.)
        self.function = lambda x: x + TWO
        self.partial = functools.partial(max, 1)
        self.owner = Owner(2)

    def build(self, input_shape):
        self.first = self.add_weight(shape=(3,), initializer='ones')
        self.second = self.add_weight(shape=(3,), initializer='ones')
        self.inner = layers.Dense(3, dtype='mixed_float16', name='inner')
        self.inner.build(input_shape)

    def call(self, inputs):
        return inputs * self.first * self.second


class Owner:
    """An object of the user's."""

    def __init__(self, value):
        self.value = value

    def method(self, x):
        return x


knows = chain(lambda: Knows(name='knows'))
TWO = 2


def test_guard_attributes_of_all_kinds_agree(assert_faithful):
    assert_faithful(knows)


@pytest.mark.parametrize('change, layer, what', [
    (lambda layer, _: setattr(layer.inner, 'trainable', False),
     'knows/inner', 'trainable'),
    (lambda layer, _: setattr(layer.first, 'trainable', False),
     'knows', 'weight 0'),
    (lambda layer, _: setattr(layer.inner, 'dtype_policy',
                              keras.DTypePolicy('float32')),
     'knows/inner', 'dtype policy'),
    (lambda layer, _: setattr(layer.inner, 'supports_masking', False),
     'knows/inner', 'supports_masking'),
    (lambda layer, _: setattr(layer.inner, 'units', 7),
     'knows/inner', 'attribute units'),
    (lambda layer, _: setattr(layer, 'number', .6), 'knows', 'attribute number'),
    (lambda layer, _: setattr(layer, 'text', 'b'), 'knows', 'attribute text'),
    (lambda layer, _: delattr(layer, 'text'), 'knows', 'attribute text'),
    (lambda layer, _: setattr(layer, 'table', {'a': [1, 3]}),
     'knows', "attribute table['a'][1]"),
    (lambda layer, _: setattr(layer, 'array', np.zeros(3)),
     'knows', 'attribute array'),
    (lambda layer, _: setattr(layer, 'function', lambda x: x),
     'knows', 'attribute function'),
    (lambda layer, _: setattr(layer, 'partial', functools.partial(max, 2)),
     'knows', 'attribute partial.args[0]'),
    (lambda layer, _: setattr(layer, 'owner', Owner(3)),
     'knows', 'attribute owner.value'),
], ids=['inner flag', 'flag of a weight', 'policy', 'mask', 'attribute of an inner '
        'layer', 'number', 'text', 'missing', 'table', 'array', 'function',
        'partial',
        'object'])
def test_what_a_layer_has_lost_is_found(change, layer, what):
    report = judged(knows, change)
    assert ('other graph', layer, what) in what_differs(report)


def test_flag_of_a_cell_is_found():
    report = judged(bidirectional, lambda layer, _: setattr(
        layer.forward_layer.cell, 'trainable', True))
    found = what_differs(report)
    assert ('other graph', 'both/forward_gru/gru_cell', 'trainable') in found


def test_other_order_of_weights_is_found():
    def swap(layer, _):
        layer._trainable_variables.reverse()
    report = judged(knows, swap)
    assert ('other graph', 'knows', 'attribute first') in what_differs(report)


def test_inner_layer_that_is_no_longer_quantized_is_found():
    def build():
        model = knows()
        inner = model.layers[-1].inner
        inner.dtype_policy = keras.DTypePolicy('float32')
        inner.quantize('int8')
        return model

    def lose(layer, _):
        layer.inner._dtype_policy = keras.DTypePolicy('float32')
    assert ('other graph', 'knows/inner', 'quantization_mode') in what_differs(
        judged(build, lose))


def test_values_that_rounding_changes_are_not_found():
    assert judged(knows, lambda layer, _: setattr(
        layer, 'number', float(np.float32(.5)))).faithful


class Counts(layers.Layer):
    """Has what tells one layer or call from another, and is no state."""
    count = itertools.count()

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.number = next(self.count)
        self.address = id(self)
        self.by_address = {id(self): 1}
        self.calls = 0

    def call(self, inputs):
        self.calls += 1
        self._remember(inputs)
        return inputs

    def _remember(self, inputs):
        self.last = str(type(inputs))


def test_what_tells_layers_and_calls_apart_is_not_owed():
    def again(layer, _):
        layer.number += 7
        layer.calls += 7
        layer.last = layer.address = 0
    report = judged(chain(Counts), again)
    assert what_differs(report) == [('other graph', 'counts', 'attribute address')]
    assert judged(chain(Counts), lambda layer, _: layer(np.zeros((1, 3)))).faithful


# What leads to the original


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
        # Neither TensorFlow nor Keras is to track it.
        vars(layer)['held'] = holder(part(original))
    found = [each for each in judged(knows, share).differences
             if each.outcome == 'not independent']
    assert [each.layer for each in found][:1] == ['knows']
    assert found[0].what.startswith('what it holds: ')


def test_guard_what_holds_the_clones_own_layers_is_independent():
    def own(layer, _):
        vars(layer)['held'] = (layer, layer.first, layer.output)
    assert judged(knows, own).faithful


class Taught(layers.Layer):
    """Keeps a layer and a variable where Keras does not look for them."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        vars(self)['kept'] = Owner((layers.Dense(3, name='kept'),
                                    keras.Variable(np.ones(3))))

    def call(self, inputs):
        return inputs + 0 * self.kept.value[0](inputs)


def test_flag_of_a_layer_that_an_object_holds_is_found():
    report = judged(chain(Taught), lambda layer, _: setattr(
        layer.kept.value[0], 'trainable', False))
    assert ('other graph', 'taught/kept', 'trainable') in what_differs(report)


def test_value_of_a_variable_that_an_object_holds_is_found():
    report = judged(chain(Taught), lambda layer, _: layer.kept.value[1].assign(
        np.zeros(3)))
    assert ('wrong numbers', 'taught', 'the value of a variable that it holds') in (
        what_differs(report))


# Losses, training and what a model was compiled with


def compiled(**arguments):
    def build():
        model = two_dense()
        model.compile(**{'optimizer': 'adam', 'loss': 'mse', **arguments})
        return model
    return build


@pytest.mark.parametrize('arguments, others', [
    ({'loss': keras.losses.Huber(delta=.5)}, {'loss': keras.losses.Huber()}),
    ({'loss': 'mse'}, {'loss': 'mae'}),
    ({'loss': ['mse'], 'loss_weights': [2.]}, {'loss': ['mse']}),
    ({'loss': lambda y, z: ops.mean(y - z)}, {'loss': lambda y, z: ops.mean(z - y)}),
    ({'optimizer': keras.optimizers.Adam(.1)},
     {'optimizer': keras.optimizers.Adam(.2)}),
    ({'optimizer': 'sgd'}, {'optimizer': 'adam'}),
    ({'metrics': ['mse']}, {'metrics': ['mae']}),
    ({'metrics': [keras.metrics.MeanIoU(3)]},
     {'metrics': [keras.metrics.MeanIoU(4)]}),
    ({'run_eagerly': True}, {}),
], ids=['Huber', 'loss', 'loss weights', 'function', 'learning rate', 'optimizer',
        'metric', 'setting of a metric', 'eager'])
def test_other_settings_of_a_compiled_model_are_found(arguments, others):
    def clone(model):
        made = clone_model(model)
        made.compile(**{'optimizer': 'adam', 'loss': 'mse', **others})
        return made
    report = check_clone(compiled(**arguments), clone, depth=1, saving=False)
    assert not report.faithful
    assert {each.layer for each in report.differences} == {''}


@pytest.mark.parametrize('arguments', [
    {'loss': keras.losses.Huber(delta=.5), 'metrics': ['mse', keras.metrics.Mean()]},
    {'optimizer': keras.optimizers.SGD(
        keras.optimizers.schedules.ExponentialDecay(.1, 3, .5), momentum=.5)},
    {'loss': 'sparse_categorical_crossentropy', 'metrics': ['accuracy']},
], ids=['objects', 'schedule', 'classes'])
def test_guard_settings_of_a_compiled_model_agree(arguments, assert_faithful):
    assert_faithful(compiled(**arguments))


class Trains(layers.Layer):
    """Computes, in training alone, what `factor` tells; has a loss."""

    def __init__(self, factor=2., loss=0., stops=False, **kwargs):
        super().__init__(**kwargs)
        self.factor, self.loss, self.stops = factor, loss, stops

    def build(self, input_shape):
        self.scale = self.add_weight(shape=(3,), initializer='ones')

    def call(self, inputs, training=False):
        self.add_loss(self.loss * ops.sum(inputs ** 2))
        inputs = inputs * self.scale
        if self.stops:
            inputs = ops.stop_gradient(inputs)
        return inputs * self.factor if training else inputs

    def get_config(self):
        return {**super().get_config(), 'factor': self.factor, 'loss': self.loss,
                'stops': self.stops}


@pytest.mark.parametrize('made, change, what', [
    (Trains, {'loss': 1.}, 'losses'),
    (Trains, {'factor': 1.}, 'the loss in training'),
    (lambda: layers.Dense(3, kernel_regularizer='l2'), {'kernel_regularizer': 'l1'},
     'losses'),
], ids=['add_loss', 'training', 'regularizer'])
def test_other_losses_are_found(made, change, what):
    build = chain(made)
    report = check_clone(build, changed(layers.Layer, **change), depth=1,
                         saving=False)
    assert report.outcome == 'wrong numbers'
    assert what in [each.what for each in report.differences]


def test_weights_that_are_trained_otherwise_are_found_with_their_layer():
    """`call` sets it, so that no attribute tells."""
    class Hides(Trains):
        def call(self, inputs, training=False):
            self.stops = self.stops
            return super().call(inputs, training)

        def get_config(self):
            return {'name': self.name}
    report = judged(chain(lambda: Hides(name='hides')),
                    lambda layer, _: setattr(layer, 'stops', True))
    assert (report.outcome, report.layer) == ('wrong numbers', 'hides')
    assert 'weights after a step of training' in report.reason


def test_training_leaves_the_model_as_it_was():
    model = chain(layers.BatchNormalization, lambda: layers.Dropout(.5))()
    model(np.ones((1, 3)))  # It notes that it was called.
    before = snapshot(model)
    assert compare(model, clone_model(model)) == []
    assert changes(before, snapshot(model)) == []


@pytest.mark.parametrize('build', [
    chain(lambda: layers.Dropout(.5)),
    chain(lambda: layers.GaussianNoise(1.), lambda: layers.Dense(2)),
    chain(layers.BatchNormalization, lambda: layers.Dense(2)),
    chain(lambda: layers.LSTM(2, dropout=.5), shape=(4, 3)),
    chain(lambda: layers.Dense(2, dtype='mixed_float16')),
    chain(lambda: layers.Embedding(3, 2), shape=(4,)),
    chain(lambda: layers.Dense(2, kernel_constraint='max_norm')),
], ids=['Dropout', 'noise', 'BatchNormalization', 'LSTM', 'float16', 'Embedding',
        'constraint'])
def test_guard_training_agrees(build):
    report = check_clone(build, clone_model)
    assert list(map(str, report.differences)) == []
    assert report.not_compared == []


# Inputs, and what a model knows that no weight carries


def lookup(**arguments):
    x = keras.Input((2,), dtype='string', name='x')
    y = layers.StringLookup(name='lookup', **arguments)(x)
    return Model(x, layers.Embedding(5, 2, name='embedding')(y))


on_tensorflow = pytest.mark.skipif(keras.backend.backend() != 'tensorflow',
                                   reason='Keras uses TensorFlow in these layers')


@on_tensorflow
def test_lost_vocabulary_is_found():
    def clone(model):
        made = lookup(vocabulary=['a', 'c'])
        made.set_weights(model.get_weights())
        return made
    report = check_clone(lambda: lookup(vocabulary=['a', 'b']), clone, depth=1,
                         saving=False)
    assert report.outcome == 'wrong numbers'
    assert 'attribute vocabulary[2]' in [each.what for each in report.differences]


@on_tensorflow
def test_words_of_the_vocabulary_and_others_are_drawn():
    model = lookup(vocabulary=['one', 'two'], num_oov_indices=1)
    drawn = [word for seed in range(9) for word in draw_inputs(model, seed)[0].flat]
    assert {'one', 'two', 'other'} < set(drawn)
    known = lookup(vocabulary=['one', 'two'], num_oov_indices=0)
    assert set(draw_inputs(known)[0].flat) == {'one', 'two'}


@on_tensorflow
def test_texts_are_drawn_of_several_words():
    x = keras.Input((), dtype='string')
    layer = layers.TextVectorization(vocabulary=['one', 'two'])
    value, = draw_inputs(Model(x, layer(x)))
    assert all(len(text.split()) > 1 for text in value)


@on_tensorflow
def test_inputs_of_a_layer_without_a_mask_value_are_drawn():
    x = keras.Input((4, 3), dtype='int64')
    value, = draw_inputs(Model(x, layers.Hashing(5)(x)))
    assert value.shape[1:] == (4, 3)


@on_tensorflow
def test_numbers_that_a_layer_knows_are_drawn():
    x, y = (keras.Input((3,), dtype='int64') for _ in range(2))
    known = layers.IntegerLookup(vocabulary=[30, 40])(x)
    coded = layers.CategoryEncoding(7)(y)
    model = Model([x, y], [known, coded])
    first, second = (np.concatenate([draw_inputs(model, seed)[i]
                                     for seed in range(9)])
                     for i in range(2))
    assert {30, 40} < set(first.flat)
    assert set(second.flat) == set(range(7))


def adapted(make, dtype='float32'):
    layer = make(name='adapted')
    layer.adapt(np.array([[1, 2, 3], [3, 4, 7]], dtype))
    x = keras.Input((3,), dtype=dtype, name='x')
    return Model(x, layer(x))


@pytest.mark.parametrize('build', [
    pytest.param(lambda: adapted(layers.Normalization), id='Normalization'),
    pytest.param(lambda: adapted(
        lambda name: layers.Discretization(num_bins=3, name=name)),
        id='Discretization', marks=on_tensorflow),
    pytest.param(lambda: adapted(layers.IntegerLookup, 'int64'),
                 id='IntegerLookup', marks=on_tensorflow),
])
def test_guard_what_was_adapted_is_cloned(build, assert_faithful):
    assert_faithful(build)


def test_clone_that_set_weights_does_not_bring_up_to_date_is_found():
    """Loading it from a file would."""
    report = check_clone(
        lambda: adapted(layers.Normalization), lambda model: clone_model(
            model, clone_function=lambda layer: type(layer).from_config(
                layer.get_config())), depth=1, saving=False)
    assert report.outcome in ('wrong numbers', 'cannot predict')


def test_unbuilt_model_is_judged():
    def build(units=3):
        return keras.Sequential([layers.Dense(units, name='dense')], name='model')
    report = check_clone(build, clone_model)
    assert report.faithful
    assert report.not_compared == ['outputs (the model is not built: it has none '
                                   'yet)']
    assert check_clone(build, lambda model: build(4)).outcome == 'other graph'


# What is random


class Noisy(layers.Layer):
    """Gives other numbers each time, and its input."""

    def call(self, inputs):
        return inputs + ops.convert_to_tensor(np.random.rand(3).astype('float32')), \
            1. * inputs


def test_random_outputs_are_said_not_to_be_compared():
    report = check_clone(chain(lambda: Noisy(name='noisy')), clone_model)
    assert report.faithful
    assert report.not_compared[:1] == ['output 0 of noisy (random)']
    assert 'outputs in training (random)' in report.not_compared
    assert 'output 1 of noisy (random)' not in report.not_compared


def test_outputs_beside_random_ones_are_compared():
    report = judged(chain(lambda: Noisy(name='noisy')), lambda layer, _: setattr(
        layer, 'call', lambda x: (x, 2 * x)))
    assert report.outcome == 'wrong numbers'


def test_what_cannot_be_compared_is_the_same_as_far_as_one_can_tell():
    Held = collections.namedtuple('Held', 'variable')
    x, y = (Held(keras.Variable([1., 2.])) for _ in range(2))
    assert same_value(x, y) and not same_value(x, y, strict=True)


def test_random_numbers_of_generators_are_compared():
    build = chain(lambda: layers.Lambda(lambda x: 1. * x),
                  lambda: layers.Dropout(.5, name='dropout'))

    def training(model):
        x = keras.Input((3,), name='x')
        return Model(x, layers.Dropout(.5, name='dropout')(x, training=True))
    assert check_clone(lambda: training(None), clone_model).not_compared == []
    report = judged(lambda: training(None),
                    lambda layer, _: setattr(layer, 'rate', .9))
    assert report.outcome == 'wrong numbers'
    assert check_clone(build, clone_model).not_compared == []


def test_numbers_of_no_generator_are_not_variables_of_the_original(assert_faithful):
    assert_faithful(chain(lambda: layers.Lambda(
        lambda x: x + keras.random.normal((3,)), output_shape=(3,))))


def test_command_says_what_is_not_compared(tmp_path):
    (tmp_path / 'own.py').write_text(
        'import keras\n'
        'def build():\n'
        '    return keras.Sequential([keras.layers.Dense(2)])\n')
    command = [sys.executable, '-m', 'keras_clone', 'check', 'own:build']
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(
        os.path.dirname(os.path.abspath(__file__)))))
    text, data = (
        subprocess.run(command + more, cwd=tmp_path, env=environment, check=True,
                       stdout=subprocess.PIPE, universal_newlines=True).stdout
        for more in ([], ['--json']))
    assert 'Not compared' in text
    row, = json.loads(data)['models']
    assert row['active']['not_compared'] == [
        'outputs (the model is not built: it has none yet)']
