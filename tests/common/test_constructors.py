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
from keras import backend, layers
from keras.models import Model, clone_model
from keras.utils import CustomObjectScope

from custom_objects import Times
from major_versions import (
    IS_KERAS2, IS_TORCH, ONES, assert_cloned, assert_same_outputs, call_inner,
    chain, constant, of_class)

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


class ListedBySetattr(CallsInner):
    def build(self, input_shape):
        fill(self, input_shape)

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


class Executed(CallsInner):
    def build(self, input_shape):
        exec('fill(self, input_shape)', {**globals(), **locals()})


class FromTable(CallsInner):
    table = {'build': fill}

    def build(self, input_shape):
        self.table['build'](self, input_shape)


class Passed(CallsInner):
    def __init__(self, function=fill, **kwargs):
        super().__init__(**kwargs)
        self.function = function

    def build(self, input_shape):
        self.function(self, input_shape)


@pytest.mark.parametrize('layer_class', [
    Decorated, ListedBySetattr, LookedUp, Executed, FromTable, Passed],
    ids=lambda cls: 'guard ' * (cls is not Passed) + cls.__name__)
def test_clone_has_its_own_layer_that_the_code_of_build_does_not_show(
        layer_class):
    assert_cloned(chain(layer_class)())


class Scaled(layers.Layer):
    """Multiplies by a factor that no config contains."""

    def __init__(self, factor, **kwargs):
        super().__init__(**kwargs)
        self.factor = factor

    def call(self, inputs):
        return self.factor * inputs


def clone_of(make):
    """Returns the last layer of the clone of a clone."""
    return clone_model(clone_model(chain(make)())).layers[-1]


@pytest.mark.parametrize('base, arguments, changed', [
    (Scaled, {'factor': 3.}, {}),
    (layers.Dense, {'units': 2, 'kernel_initializer': 'he_normal'}, {}),
    (Times, {'factor': 2.}, {'factor': 3.})],
    ids=['no config', 'guard config', 'guard changed number'])
def test_constructor_of_each_clone_runs_once(base, arguments, changed):
    created = []

    class Counted(base):
        def __init__(self, *args, **kwargs):
            created.append(self)
            super().__init__(*args, **kwargs)

    layer = Counted(**arguments)
    for name, value in changed.items():
        setattr(layer, name, value)
    clone = clone_of(lambda: layer)
    assert len(created) == 3
    for name, value in changed.items():
        assert getattr(clone, name) == value


def test_clone_has_a_variable_number_of_arguments():
    class Summed(Scaled):
        def __init__(self, *factors, **kwargs):
            super().__init__(sum(factors), **kwargs)
    assert clone_of(lambda: Summed(1., 2., 3.)).factor == 6.


@pytest.mark.skipif(sys.version_info < (3, 8), reason='Python cannot parse it')
def test_clone_has_an_argument_that_can_only_be_passed_by_position():
    names = {'Scaled': Scaled}
    exec('class Positional(Scaled):\n'
         '    def __init__(self, factor, /, **kwargs):\n'
         '        Scaled.__init__(self, factor, **kwargs)', names)
    assert clone_of(lambda: names['Positional'](3.)).factor == 3.


def test_clone_has_an_argument_that_the_constructor_empties():
    class Emptying(Scaled):
        def __init__(self, factors, **kwargs):
            super().__init__(factors.pop(), **kwargs)
    assert clone_of(lambda: Emptying([2., 3.])).factor == 3.


def test_clone_has_an_argument_as_it_was_before_the_user_changed_it():
    factors = {'of': [3.]}

    class Reading(Scaled):
        def __init__(self, factors, **kwargs):
            super().__init__(factors['of'][0], **kwargs)
    model = chain(lambda: Reading(factors))()
    factors['of'][0] = 5.
    assert clone_model(model).layers[-1].factor == 3.


def test_clone_has_its_own_sublayer_that_a_factory_makes():
    class Makes(CallsInner):
        def __init__(self, make, **kwargs):
            super().__init__(**kwargs)
            self.inner = make()

        def build(self, input_shape):
            self.inner.build(input_shape)
    assert_cloned(chain(lambda: Makes(lambda: layers.Dense(3)))())


class HoldsRegistry(Times):
    """Adds itself to a list that all layers of its class hold."""

    registry = []

    def __init__(self, factor, **kwargs):
        super().__init__(factor, **kwargs)
        self.members = self.registry
        self.registry.append(self)


def test_guard_clone_of_layers_that_hold_a_registry_of_all():
    for _ in range(2):  # The second time, there are clones in the registry.
        first, second, x = HoldsRegistry(2.), HoldsRegistry(5.), layers.Input((3,))
        y = first(x)
        second.factor = 3.
        model = Model(x, second(y))
        assert_same_outputs(model, clone_model(model))


# Arguments that are not known: a layer is created as in the released Keras.

def test_guard_clone_does_not_read_an_iterator_again():
    class Reads(Times):
        def __init__(self, factor, **kwargs):
            super().__init__(factor if isinstance(factor, float) else next(factor),
                             **kwargs)
    assert clone_of(lambda: Reads(iter([3., 5.]))).factor == 3.


@pytest.mark.skipif(not IS_KERAS2, reason='the config of Keras 3 has the type')
def test_clone_made_from_a_config_has_the_float_type_of_the_original():
    class Reads(Scaled):
        def __init__(self, sizes, **kwargs):
            super().__init__(None, **kwargs)
            self.size = sum(sizes)
            self.factor = self.add_weight(
                name='factor', shape=(self.size,), initializer='ones')

        def get_config(self):
            return {**layers.Layer.get_config(self), 'sizes': [self.size]}
    former = backend.floatx()
    backend.set_floatx('float64')
    try:
        model = chain(lambda: Reads(iter([3])))()
    finally:
        backend.set_floatx(former)
    assert [each.dtype for each in clone_model(model).weights] == [
        each.dtype for each in model.weights]


def test_clone_has_the_arguments_that_new_did_not_change():
    class Defaults(Times):
        def __new__(cls, *args, **kwargs):
            return super().__new__(cls, 7.)
    assert clone_of(lambda: Defaults(3.)).factor == 3.


def test_guard_clone_is_made_by_a_metaclass():
    class Meta(type(layers.Layer)):
        def __call__(cls, *args, **kwargs):
            made = super().__call__(*args, **kwargs)
            made.was_made_by_meta = True
            return made
    Made = Meta('Made', (Times,), {})
    clone = clone_of(lambda: Made(3.))
    assert clone.factor == 3. and clone.was_made_by_meta


@pytest.mark.skipif(not IS_KERAS2, reason='Keras 3 copies layers by saving them')
def test_guard_clone_of_a_copied_layer_has_its_changed_attribute():
    layer = copy.copy(Times(3.))
    layer.factor = 5.
    assert clone_of(lambda: layer).factor == 5.


def test_layer_without_known_arguments_and_config_raises_an_error():
    class Reads(layers.Layer):
        def __init__(self, factors, name=None):
            super().__init__(name=name)
            self.factor = next(factors)

        def call(self, inputs):
            return self.factor * inputs

        def get_config(self):
            raise NotImplementedError
    model = chain(lambda: Reads(iter([3.]), name='reads'))()
    with pytest.raises(ValueError, match='read only once.*get_config'):
        clone_model(model)


# What recording leaves as it was

@pytest.mark.parametrize('name', ['subclass', 'layer', 'args', 'released'])
def test_guard_constructor_has_an_argument_of_any_name(name):
    class Named(layers.Layer):
        def __init__(self, **factor):
            super().__init__(name='times')
            self.factor = factor[name]

        def call(self, inputs):
            return self.factor * inputs

        def get_config(self):
            return {name: self.factor}

    assert clone_of(lambda: Named(**{name: 2.})).factor == 2.


def test_guard_signature_of_a_class_is_that_of_its_constructor():
    assert 'factor' in inspect.signature(Scaled.__init__).parameters
    if IS_KERAS2:  # In Keras 3, `Operation.__new__` hides it.
        assert list(inspect.signature(Scaled).parameters) == ['factor', 'kwargs']


def test_guard_constructor_with_a_number_that_is_no_number_runs_once():
    calls = []

    class Fills(layers.Layer):
        def __init__(self, value=0., **kwargs):
            super().__init__(**kwargs)
            calls.append(value)
            self.value = float(str(value))  # Another object each time.

        def call(self, inputs):
            return inputs

        def get_config(self):
            return {**super().get_config(), 'value': self.value}

    clone_of(lambda: Fills(float('nan')))
    assert len(calls) == 3  # For a layer, its clone and the clone of that.


class SumOf(layers.Layer):
    """Multiplies by the sum of an array, which it does not hold."""

    def __init__(self, table, **kwargs):
        super().__init__(**kwargs)
        self.total = float(table.sum())

    def call(self, inputs):
        return self.total * inputs

    def compute_output_shape(self, input_shape):
        return input_shape


def test_guard_large_array_is_not_kept_alive():
    table = np.ones((300, 300))
    layer, kept = SumOf(table), weakref.ref(table)
    del table
    gc.collect()
    assert kept() is None and layer.total == 90000.


def test_clone_is_created_with_a_large_array_that_exists():
    table = np.ones((300, 300))
    assert clone_of(lambda: SumOf(table)).total == 90000.


def test_layer_made_with_a_large_array_that_does_not_exist_any_more_is_refused():
    model = chain(lambda: SumOf(np.ones((300, 300)), name='sum'))()
    with pytest.raises(ValueError, match="'sum' of class `SumOf`: .*large array"):
        clone_model(model)


def test_guard_large_array_that_build_discards_is_not_kept_alive():
    class Discards(layers.Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.table = np.ones((300, 300))

        def build(self, input_shape):
            self.total, self.table = float(self.table.sum()), None

        def call(self, inputs):
            return self.total * inputs
    layer = Discards()
    kept = weakref.ref(layer.table)
    model = chain(lambda: layer)()
    gc.collect()
    assert kept() is None
    assert_same_outputs(model, clone_model(model))


@pytest.mark.parametrize('size', [3, 300])
def test_clone_has_an_array_set_between_constructor_and_call(size):
    class Holds(layers.Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.table = np.zeros((size, size), 'float32')

        def call(self, inputs):
            return inputs * self.table[0, 0]

    layer = Holds()
    layer.table = np.full((size, size), 2, 'float32')
    model = chain(lambda: layer)()
    np.testing.assert_allclose(clone_model(model).predict(ONES), 2 * ONES)


def test_guard_initial_weights_are_not_kept_alive():
    table = np.ones((4, 2), 'float32')
    layer = layers.Embedding(4, 2, weights=[table])
    chain(lambda: layer, shape=())
    assert not any(each is table for each in _reachable(
        vars(layer).get('_clone_record')))


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

@pytest.mark.parametrize('name', ['index', 'targets', 'function', 'shape'] +
                         ['path'] * IS_KERAS2)  # A property of Keras 3.
def test_clone_keeps_an_attribute_of_a_model(name):
    model = of_class(type('Named', (Model,), {}))
    setattr(model, name, ['a', 1])
    clone = clone_model(clone_model(model))
    assert getattr(clone, name) == ['a', 1]
    assert getattr(clone, name) is not getattr(model, name)


# A model is a module of PyTorch there, which has an attribute `training` itself.
@pytest.mark.parametrize('name', ['history'] + ['training'] * (not IS_TORCH))
def test_clone_keeps_an_attribute_of_a_compiled_model(name):
    model = of_class(type('Named', (Model,), {}))
    model.compile('sgd', 'mse')
    setattr(model, name, ['a', 1])
    assert getattr(clone_model(model), name) == ['a', 1]


def test_guard_clone_has_no_attribute_that_fit_has_set():
    model = of_class(Model)
    model.compile('sgd', 'mse')
    before = vars(clone_model(model)).keys()
    model.fit(np.ones((2, 3)), np.ones((2, 2)), verbose=0)
    assert vars(clone_model(model)).keys() == before


# What has changed since, and the config tells

class Reporting(layers.Layer):
    """Has a complete config. `call` multiplies by what `rate` returns."""

    def __init__(self, rate=2., **kwargs):
        super().__init__(**kwargs)
        self.set(rate)

    def set(self, rate):
        self.rate = rate

    def get(self):
        return self.rate

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


class SelectsMethod(layers.Layer):
    def __init__(self, name_of='double', **kwargs):
        super().__init__(**kwargs)
        self.select(name_of)

    def select(self, name_of):
        self.name_of, self.selected = name_of, getattr(self, name_of)

    def double(self, inputs):
        return 2 * inputs

    def quintuple(self, inputs):
        return 5 * inputs

    def call(self, inputs):
        return self.selected(inputs)

    def get_config(self):
        return {**super().get_config(), 'name_of': self.name_of}


class DoublesWhatIsSet(Reporting):
    def __setattr__(self, name, value):
        super().__setattr__(name, 2 * value if name == 'rate' else value)

    def get_config(self):
        return {**layers.Layer.get_config(self), 'rate': self.rate / 2}


class DoublesInSetter(Reporting):
    def set(self, rate):
        self._rate = rate

    def get(self):
        return self._rate

    rate = property(get, lambda self, value: self.set(2 * value))


class InBoth(InObject):
    """Has an attribute for the argument, which the config does not have."""

    def set(self, rate):
        super().set(rate)
        self.rate = rate


class ResolvesInConfig(InBoth):
    """The config has another value for an argument once the layer is built."""

    def __init__(self, size=0, **kwargs):
        super().__init__(**kwargs)
        self.size = size

    def build(self, input_shape):
        self.width = input_shape[-1]
        super().build(input_shape)

    def get_config(self):
        return {**super().get_config(), 'size': getattr(self, 'width', None)}


class ConfigInOtherUnits(InObject):
    """The constructor takes the number that the config has, divided by 100."""

    def set(self, rate):
        super().set(rate)
        self.rate = rate

    def get_config(self):
        return {**super().get_config(), 'rate': 100 * self.rate}

    @classmethod
    def from_config(cls, config):
        return cls(**{**config, 'rate': config['rate'] / 100})


class DrawsSeed(Reporting):
    def set(self, rate):
        self.rate = np.random.randint(3, 100) if rate == 2. else rate
        self.held = types.SimpleNamespace(rate=self.rate + 1)

    def call(self, inputs):
        return self.held.rate * inputs


class Resolves(layers.Layer):
    """Mixin with two other settings, of which `build` sets the first."""

    def __init__(self, size=None, **kwargs):
        self.size, self.note = size, kwargs.pop('note', '')
        super().__init__(**kwargs)

    def build(self, input_shape):
        self.size = int(input_shape[-1])
        super().build(input_shape)

    def get_config(self):
        return {**super().get_config(), 'size': self.size, 'note': self.note}


@pytest.mark.parametrize('other', ['', 'build sets another', 'another set later'])
@pytest.mark.parametrize('layer_class, change', [
    (InObject, lambda layer: setattr(layer.held, 'rate', 5)),
    (InBoth, lambda layer: setattr(layer.held, 'rate', 5)),
    (ResolvesInConfig, lambda layer: layer.set(5)),
    (ConfigInOtherUnits, lambda layer: layer.set(5)),
    (ConfigInOtherUnits, lambda layer: None),
    (InClosure, lambda layer: layer.change(5.)),
    (InGlobalTable, lambda layer: layer.set(5.)),
    (SelectsMethod, lambda layer: layer.select('quintuple')),
    (DoublesWhatIsSet, lambda layer: setattr(layer, 'rate', 2.5)),
    (DoublesInSetter, lambda layer: setattr(layer, 'rate', 2.5)),
    (DrawsSeed, lambda layer: None)],
    ids=lambda each: getattr(each, '__name__', ''))
def test_guard_clone_computes_with_a_change_that_only_the_config_tells(
        layer_class, change, other):
    name = layer_class.__name__
    layer = (type(name, (Resolves, layer_class), {}) if other else layer_class)()
    change(layer)
    model = chain(lambda: layer)()
    if other == 'another set later':
        layer.note = 'set later'
    clone = clone_model(clone_model(model))
    np.testing.assert_allclose(clone.predict(ONES), model.predict(ONES))
    assert clone.layers[1].get_config() == layer.get_config()


def test_clone_has_a_changed_argument_that_was_passed_by_position():
    class Takes(InObject):
        def __init__(self, rate, function, **kwargs):
            super().__init__(rate, **kwargs)
            self.apply = lambda inputs: function(self.get() * inputs)

        def call(self, inputs):
            return self.apply(inputs)
    layer = Takes(2., lambda inputs: inputs + 1)
    layer.held.rate = 5
    model = chain(lambda: layer)()
    assert_same_outputs(model, clone_model(model))


def test_clone_has_a_function_if_its_constructor_refuses_the_number_in_the_config():
    class Part(layers.Layer):
        def __init__(self, rate, function=abs, **kwargs):
            if rate > 1:
                raise ValueError('rate is greater than 1')
            super().__init__(**kwargs)
            self._rate, self.apply = rate, lambda inputs: function(rate * inputs)

        def get_config(self):
            return {**super().get_config(), 'rate': 100 * self._rate}

        @classmethod
        def from_config(cls, config):
            return cls(**{**config, 'rate': config['rate'] / 100})

        def call(self, inputs):
            return self.apply(inputs)
    model = chain(lambda: Part(.5, lambda inputs: inputs + 1))()
    assert_same_outputs(model, clone_model(model))


@pytest.mark.parametrize('make', [
    lambda: lambda inputs: 6 * inputs, lambda: layers.ReLU(.5)],
    ids=['function', 'layer'])
def test_clone_has_what_a_name_stood_for_when_the_layer_was_made(make):
    with CustomObjectScope({'relu6': make()}):  # As `load_model` does.
        model = chain(lambda: layers.Activation('relu6'))()
    assert_same_outputs(model, clone_model(clone_model(model)))


class Remembers(layers.Layer):
    def __init__(self, scores=None, **kwargs):
        super().__init__(**kwargs)
        self.scores = scores

    def call(self, inputs):
        self.scores = 2 * inputs
        return self.scores

    def get_config(self):
        return {**super().get_config(), 'scores': None}


def test_guard_clone_has_the_tensor_that_its_own_call_has_set_for_an_argument():
    model = chain(Remembers)()
    layer, clone = model.layers[-1], clone_model(model).layers[-1]
    assert clone.scores is not None and clone.scores is not layer.scores


class Vocabulary(layers.Layer):
    def __init__(self, words, **kwargs):
        super().__init__(**kwargs)
        self.words = words

    def build(self, input_shape):
        self.scale = self.add_weight(name='scale', shape=(len(self.words),),
                                     initializer='uniform')

    def get_config(self):
        return {**super().get_config(), 'words': self.words}

    def call(self, inputs):
        return inputs * self.scale


@pytest.mark.skipif(not IS_KERAS2, reason='Keras 3 copies a list that is set')
def test_guard_clone_has_a_list_that_grew_before_the_layer_was_built():
    words = ['a', 'b']

    def make():
        layer = Vocabulary(words)
        words.append('c')
        return layer
    assert_cloned(chain(make)())


def test_guard_clone_has_the_default_that_was_when_the_layer_was_made():
    default = ['a', 'b', 'c']

    class HasDefault(Vocabulary):
        def __init__(self, words=None, **kwargs):
            super().__init__(words or list(default), **kwargs)
    model = chain(HasDefault)()
    default.clear()
    assert_cloned(model)


@pytest.mark.skipif(IS_KERAS2, reason='what `build` draws is drawn anew')
def test_clone_has_the_random_array_in_a_dict_with_weights():
    class Masked(layers.Layer):
        def build(self, input_shape):
            self.parts = {
                'scale': self.add_weight(name='scale', shape=(3,),
                                         initializer='uniform'),
                'mask': np.random.rand(3).astype('float32')}

        def call(self, inputs):
            return inputs * self.parts['scale'] * constant(self.parts['mask'])
    assert_cloned(chain(Masked)())


def test_clone_has_the_setting_of_keras_that_its_constructor_has_read():
    class Doubles(Scaled):
        def __init__(self, **kwargs):
            first = backend.image_data_format() == 'channels_first'
            super().__init__(2 if first else 1, **kwargs)
    former = backend.image_data_format()
    backend.set_image_data_format('channels_first')
    try:
        model = chain(Doubles, lambda: layers.Dense(2))()
    finally:
        backend.set_image_data_format(former)
    assert_cloned(model)
    assert backend.image_data_format() == former
