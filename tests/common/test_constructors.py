"""Layers are created again by their constructors, with the same arguments."""
import builtins
import copy
import gc
import inspect
import pickle
import sys
import types
import weakref

import numpy as np
import pytest
from keras import layers
from keras.models import Model, clone_model

from major_versions import (
    IS_KERAS2, ONES, assert_equal_and_independent, build_inner, call_inner, chain)

# Keras 3 finds the sublayers of a layer, Keras 2 asks the layer for their weights.
LISTS_WEIGHTS = {
    'trainable_weights': property(lambda self: self.inner.trainable_weights),
    'non_trainable_weights': property(lambda self: [])} if IS_KERAS2 else {}


class CallsInner(layers.Layer):
    """Base class of layers that call a layer that their `build` creates."""
    locals().update(LISTS_WEIGHTS)

    def call(self, inputs):
        return call_inner(self.inner, inputs)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], 3)


def fill(layer, shape):
    layer.inner = layers.Dense(3)
    layer.inner.build(shape)
    layer.inner.built = True


def undocumented(build):
    """A decorator without `functools.wraps`."""
    def decorated(self, input_shape):
        return build(self, input_shape)
    return decorated


class Decorated(CallsInner):
    @undocumented
    def build(self, input_shape):
        fill(self, input_shape)
        self.built = True


class ListedBySetattr(CallsInner):
    def build(self, input_shape):
        fill(self, input_shape)
        self.built = True

    def __setattr__(self, name, value):
        if isinstance(value, layers.Layer):
            if not hasattr(self, 'parts'):
                self.parts = []
            if not any(each is value for each in self.parts):
                self.parts.append(value)
        super().__setattr__(name, value)


class LookedUp(CallsInner):
    def build(self, input_shape):
        getattr(sys.modules[__name__], 'fi' + 'll')(self, input_shape)
        self.built = True


class Executed(CallsInner):
    def build(self, input_shape):
        exec('fill(self, input_shape)', {**globals(), **locals()})
        self.built = True


class FromTable(CallsInner):
    table = {'build': fill}

    def build(self, input_shape):
        self.table['build'](self, input_shape)
        self.built = True


class Passed(CallsInner):
    def __init__(self, function=fill, **kwargs):
        super().__init__(**kwargs)
        self.function = function

    def build(self, input_shape):
        self.function(self, input_shape)
        self.built = True


@pytest.mark.parametrize('layer_class', [
    Decorated, ListedBySetattr, LookedUp, Executed, FromTable, Passed])
def test_guard_clone_has_its_own_layer_that_the_code_of_build_does_not_show(
        layer_class):
    model = chain(layer_class)()
    clone = clone_model(model)
    assert_equal_and_independent(model, clone)
    assert_equal_and_independent(clone, clone_model(clone))


class Scaled(layers.Layer):
    """Multiplies by a factor that no config contains."""

    def __init__(self, factor, **kwargs):
        super().__init__(**kwargs)
        self.factor = factor

    def call(self, inputs):
        return self.factor * inputs


def clone_of(make):
    return clone_model(chain(make)()).layers[-1]


def test_argument_that_the_config_lacks_is_passed_again():
    assert clone_of(lambda: Scaled(3.)).factor == 3.


def test_constructor_runs_once():
    created = []

    class Counted(Scaled):
        def __init__(self, *args, **kwargs):
            created.append(self)
            super().__init__(*args, **kwargs)

    clone_of(lambda: Counted(3.))
    assert len(created) == 2


def test_guard_constructor_of_a_layer_with_a_config_runs_once():
    created = []

    class Counted(layers.Dense):
        def __init__(self, *args, **kwargs):
            created.append(self)
            super().__init__(*args, **kwargs)

    clone_of(lambda: Counted(2, kernel_initializer='he_normal'))
    assert len(created) == 2


def test_variable_number_of_arguments():
    class Summed(Scaled):
        def __init__(self, *factors, **kwargs):
            super().__init__(sum(factors), **kwargs)
    assert clone_of(lambda: Summed(1., 2., 3.)).factor == 6.


@pytest.mark.skipif(sys.version_info < (3, 8), reason='Python cannot parse it')
def test_argument_that_can_only_be_passed_by_position():
    names = {'Scaled': Scaled}
    exec('class Positional(Scaled):\n'
         '    def __init__(self, factor, /, **kwargs):\n'
         '        Scaled.__init__(self, factor, **kwargs)', names)
    assert clone_of(lambda: names['Positional'](3.)).factor == 3.


def test_constructor_that_takes_no_name():
    class Unnamed(Scaled):
        def __init__(self, factor):
            super().__init__(factor)
    model = chain(lambda: Unnamed(3.))()
    clone = clone_model(model)
    assert clone.layers[-1].factor == 3.
    assert clone.layers[-1].name == model.layers[-1].name


def test_argument_that_the_constructor_empties():
    class Emptying(Scaled):
        def __init__(self, factors, **kwargs):
            super().__init__(factors.pop(), **kwargs)
    model = chain(lambda: Emptying([2., 3.]))()
    assert clone_model(clone_model(model)).layers[-1].factor == 3.


def test_argument_that_the_user_changes_later():
    factors = {'of': [3.]}

    class Reading(Scaled):
        def __init__(self, factors, **kwargs):
            super().__init__(factors['of'][0], **kwargs)
    model = chain(lambda: Reading(factors))()
    factors['of'][0] = 5.
    assert clone_model(model).layers[-1].factor == 3.


def test_factory_makes_the_sublayer_of_the_clone():
    class Makes(CallsInner):
        def __init__(self, make, **kwargs):
            super().__init__(**kwargs)
            self.inner = make()

        def build(self, input_shape):
            self.inner.build(input_shape)
            self.built = True
    model = chain(lambda: Makes(lambda: layers.Dense(3)))()
    assert_equal_and_independent(model, clone_model(model))


def test_random_numbers_of_a_constructor_are_those_of_the_original():
    class Random(layers.Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.factor, self.shift = np.random.rand(), np.random.rand(3)

        def call(self, inputs):
            return self.factor * inputs + self.shift.astype('float32')
    model = chain(Random)()
    np.testing.assert_allclose(clone_model(model).predict(ONES), model.predict(ONES),
                               rtol=1e-6)


def test_guard_number_in_a_registry_is_that_of_the_clone():
    registry = []

    class Registered(Scaled):
        def __init__(self, factor=2., **kwargs):
            super().__init__(factor, **kwargs)
            self.number = len(registry)
            registry.append(self)

        def get_config(self):
            return {**super().get_config(), 'factor': self.factor}
    clone = clone_of(Registered)
    assert registry[clone.number] is clone


def test_number_set_between_constructor_and_call():
    class Repeats(Scaled):
        def __init__(self, **kwargs):
            super().__init__(2., **kwargs)
            self.times = 1

        def call(self, inputs):
            return inputs * self.factor ** self.times

    def make():
        layer = Repeats()
        layer.times = 3
        return layer
    model = chain(make)()
    np.testing.assert_allclose(clone_model(model).predict(ONES), 8 * ONES)


# Arguments that are not known: a layer is created as in the released Keras.


class Configured(Scaled):
    def get_config(self):
        return {**super().get_config(), 'factor': self.factor}


def test_guard_iterator_is_not_read_again():
    class Reads(Configured):
        def __init__(self, factor, **kwargs):
            super().__init__(factor if isinstance(factor, float) else next(factor),
                             **kwargs)
    assert clone_of(lambda: Reads(iter([3., 5.]))).factor == 3.


def test_guard_new_that_changes_the_arguments():
    class Defaults(Configured):
        def __new__(cls, *args, **kwargs):
            return super().__new__(cls, 7.)
    assert clone_of(lambda: Defaults(3.)).factor == 3.


def test_guard_metaclass():
    class Meta(type(layers.Layer)):
        def __call__(cls, *args, **kwargs):
            made = super().__call__(*args, **kwargs)
            made.was_made_by_meta = True
            return made
    Made = Meta('Made', (Configured,), {})
    clone = clone_of(lambda: Made(3.))
    assert clone.factor == 3. and clone.was_made_by_meta


@pytest.mark.skipif(not IS_KERAS2, reason='Keras 3 copies layers by saving them')
def test_guard_layer_that_was_copied_before_it_was_called():
    layer = copy.copy(Configured(3.))
    layer.factor = 5.
    assert clone_of(lambda: layer).factor == 5.


def test_layer_whose_arguments_are_not_known_and_that_has_no_config_is_refused():
    class Reads(layers.Layer):
        def __init__(self, factors, name=None):
            super().__init__(name=name)
            self.factor = next(factors)

        def call(self, inputs):
            return self.factor * inputs

        def get_config(self):
            raise NotImplementedError
    model = chain(lambda: Reads(iter([3.]), name='reads'))()
    with pytest.raises(ValueError, match="'reads' of class `Reads`: .*get_config"):
        clone_model(model)


# What recording leaves as it was


def test_guard_signature_of_a_class_is_that_of_its_constructor():
    assert 'factor' in inspect.signature(Scaled.__init__).parameters
    if IS_KERAS2:  # In Keras 3, `Operation.__new__` hides it.
        assert list(inspect.signature(Scaled).parameters) == ['factor', 'kwargs']


def test_guard_large_array_is_not_kept_alive():
    class Copies(layers.Layer):
        def __init__(self, table, **kwargs):
            super().__init__(**kwargs)
            self.total = float(table.sum())
    table = np.ones((300, 300))
    layer, kept = Copies(table), weakref.ref(table)
    del table
    gc.collect()
    assert kept() is None and layer.total == 90000.


def test_guard_initial_weights_are_not_kept_alive():
    table = np.ones((4, 2), 'float32')
    layer = layers.Embedding(4, 2, weights=[table])
    chain(lambda: layer, shape=())
    assert not any(each is table for each in _reachable(
        vars(layer)['_constructor_arguments']))


def _reachable(value):
    found, waiting = {}, [value]
    while waiting:
        each = waiting.pop()
        if id(each) not in found and not isinstance(each, (type, types.ModuleType)):
            found[id(each)] = each
            waiting += gc.get_referents(each)
    return found.values()


@pytest.mark.skipif(not IS_KERAS2, reason='Keras 3 pickles its own files')
def test_guard_pickle_of_a_layer_does_not_need_this_package():
    pickled = pickle.dumps(layers.Activation('tanh'))
    assert b'keras_clone' not in pickled
    assert pickle.loads(pickled).get_config()['activation'] == 'tanh'


@pytest.mark.skipif(not IS_KERAS2, reason='Keras 3 copies layers by saving them')
def test_guard_layer_whose_argument_cannot_be_copied_deeply():
    class Takes(Scaled):
        def __init__(self, module, **kwargs):
            super().__init__(len(vars(module)), **kwargs)
    layer = Takes(builtins)
    assert copy.deepcopy(layer).factor == layer.factor


# Attributes of models


class Named(Model):
    pass


@pytest.mark.parametrize('name', ['index', 'targets', 'function', 'shape'] +
                         ['path'] * IS_KERAS2)  # A property of Keras 3.
def test_clone_keeps_an_attribute_of_a_model(name):
    x = layers.Input((3,))
    model = Named(x, layers.Dense(2)(x))
    setattr(model, name, ['a', 1])
    clone = clone_model(clone_model(model))
    assert getattr(clone, name) == ['a', 1]
    assert getattr(clone, name) is not getattr(model, name)


def test_sublayers_of_a_build_with_arguments_are_built_once(assert_faithful):
    class Pair(layers.Layer):
        def __init__(self, first, second, **kwargs):
            super().__init__(**kwargs)
            self.pair = first, second

        def build(self, input_shape):
            build_inner(self, self.pair, input_shape)
            self.built = True

        def call(self, inputs):
            return sum(call_inner(each, inputs) for each in self.pair)

        def compute_output_shape(self, input_shape):
            return (*input_shape[:-1], 3)

        def get_config(self):
            raise NotImplementedError
    dense = layers.Dense(3, name='shared')
    model = chain(lambda: Pair(dense, dense), lambda: Pair(dense, layers.Dense(3)))()
    clone = clone_model(model)
    assert clone.layers[1].pair[0] is clone.layers[1].pair[1]
    assert clone.layers[1].pair[0] is clone.layers[2].pair[0]
    assert clone.layers[1].pair[0] is not dense


# What has changed since, and the config tells


class Reporting(layers.Layer):
    """Has a complete config. `call` multiplies by what `rate` returns."""

    def __init__(self, rate=2., **kwargs):
        super().__init__(**kwargs)
        self.set(rate)

    def get_config(self):
        return {**super().get_config(), 'rate': self.get()}

    def call(self, inputs):
        return self.get() * inputs


class InObject(Reporting):
    def set(self, rate):
        self.held = types.SimpleNamespace(rate=int(rate))

    def get(self):
        return self.held.rate


class InClosure(Reporting):
    def set(self, rate):
        held = [rate]
        self.change, self.read = lambda rate: held.append(rate), lambda: held[-1]

    def get(self):
        return self.read()


class InGlobalTable(Reporting):
    table = {}

    def set(self, rate):
        self.table[self.name] = rate

    def get(self):
        return self.table[self.name]


def changed_object():
    layer = InObject()
    layer.held.rate = 5
    return layer


def changed_closure():
    layer = InClosure()
    layer.change(5.)
    return layer


def changed_table():
    layer = InGlobalTable()
    layer.set(5.)
    return layer


@pytest.mark.parametrize('make', [changed_object, changed_closure, changed_table])
def test_guard_change_that_only_the_config_tells(make):
    model = chain(make)()
    clone = clone_model(clone_model(model))
    for each in (clone, model):
        np.testing.assert_allclose(each.predict(ONES), 5 * ONES)


def test_guard_method_that_a_setting_selects():
    class Selects(layers.Layer):
        def __init__(self, name_of='double', **kwargs):
            super().__init__(**kwargs)
            self.select(name_of)

        def select(self, name_of):
            self.name_of, self.selected = name_of, getattr(self, name_of)

        def double(self, inputs):
            return 2 * inputs

        def triple(self, inputs):
            return 3 * inputs

        def call(self, inputs):
            return self.selected(inputs)

        def get_config(self):
            return {**super().get_config(), 'name_of': self.name_of}

    def make():
        layer = Selects()
        layer.select('triple')
        return layer
    model = chain(make)()
    np.testing.assert_allclose(clone_model(model).predict(ONES), 3 * ONES)


def test_guard_attribute_that_is_transformed_when_it_is_set():
    class Doubles(layers.Layer):
        def __init__(self, gain=2., **kwargs):
            super().__init__(**kwargs)
            self.gain = gain

        def __setattr__(self, name, value):
            super().__setattr__(name, 2 * value if name == 'gain' else value)

        def get_config(self):
            return {**super().get_config(), 'gain': self.gain / 2}

        def call(self, inputs):
            return self.gain * inputs

    def make():
        layer = Doubles()
        layer.gain = 5.
        return layer
    model = chain(make)()
    np.testing.assert_allclose(clone_model(model).predict(ONES), 10 * ONES)


def test_guard_default_that_was_another_when_the_layer_was_made():
    defaults = {'units': 3}

    class Sized(layers.Layer):
        def __init__(self, units=None, **kwargs):
            super().__init__(**kwargs)
            self.units = units or defaults['units']

        def build(self, input_shape):
            self.scale = self.add_weight(name='scale', shape=(self.units,),
                                         initializer='uniform')
            self.built = True

        def get_config(self):
            return {**super().get_config(), 'units': self.units}

        def call(self, inputs):
            return inputs * self.scale
    model = chain(Sized)()
    defaults['units'] = 1
    assert_equal_and_independent(model, clone_model(clone_model(model)))


@pytest.mark.skipif(IS_KERAS2, reason='what `build` draws is drawn anew')
def test_random_array_in_a_dict_with_weights_is_that_of_the_original():
    class Masked(layers.Layer):
        def build(self, input_shape):
            self.parts = {
                'scale': self.add_weight(name='scale', shape=(3,),
                                         initializer='uniform'),
                'mask': np.random.rand(3).astype('float32')}
            self.built = True

        def call(self, inputs):
            return inputs * self.parts['scale'] * self.parts['mask']
    model = chain(Masked)()
    assert_equal_and_independent(model, clone_model(model))
