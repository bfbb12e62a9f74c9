"""Names that Keras generates: the clone of a layer has those of the original.

A constructor, or `build`, may have stored the names of the layers that it creates.
"""
import numpy as np
import pytest
from keras import backend, layers
from keras.models import Sequential, clone_model

from major_versions import (
    IS_KERAS2, assert_same_outputs, build_inner, call_inner, chain, outputs_of)
from threads import in_another_thread


class Weighted(layers.Layer):
    """Multiplies the outputs of its parts by the factors of their names."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.parts = [layers.Dense(2), layers.Dense(2)]
        self.factors = {self.parts[1].name: 5.}

    def build(self, input_shape):
        build_inner(self, self.parts, input_shape)

    def call(self, inputs):
        return sum(call_inner(part, inputs) * self.factors.get(part.name, 1.)
                   for part in self.parts)

    def compute_output_shape(self, input_shape):
        return tuple(input_shape[:-1]) + (2,)


class Selected(Weighted):
    """Uses the parts whose names are in a list."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.used = [self.parts[1].name]

    def call(self, inputs):
        return sum(call_inner(part, inputs) for part in self.parts
                   if part.name in self.used)


class Named(Weighted):
    """Has its parts as attributes of their names."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        for part in self.parts:
            setattr(self, part.name, part)
        self.last = self.parts[1].name

    def call(self, inputs):
        return call_inner(getattr(self, self.last), inputs)


class WeightedByBuild(Weighted):
    """Creates the parts in `build`."""

    def __init__(self, **kwargs):
        layers.Layer.__init__(self, **kwargs)

    def build(self, input_shape):
        self.parts = [layers.Dense(2), layers.Dense(2)]
        self.factors = {self.parts[1].name: 5.}
        super().build(input_shape)


class Nested(Weighted):
    """Has a layer of its own class."""

    def __init__(self, depth=1, **kwargs):
        layers.Layer.__init__(self, **kwargs)
        self.depth = depth
        self.parts = [Nested(depth - 1)] if depth else [layers.Dense(2)]
        self.factors = {self.parts[0].name: 5., self.name: 2.}

    def call(self, inputs):
        outputs = super().call(inputs)
        return outputs * self.factors[self.name]

    def get_config(self):
        return dict(super().get_config(), depth=self.depth)


class NamesItsParts(Weighted):
    """Names its parts for itself."""

    def __init__(self, **kwargs):
        layers.Layer.__init__(self, **kwargs)
        self.parts = [layers.Dense(2, name=self.name + end) for end in ('_a', '_b')]
        self.factors = {self.name + '_b': 5.}


class ExtendsItsName(NamesItsParts):
    def __init__(self, name='head', **kwargs):
        super().__init__(name=name + '_block', **kwargs)


class CountsItself(NamesItsParts):
    """Has a name by a counter of its class, if it gets no other."""

    count = 0

    def __init__(self, name=None, **kwargs):
        CountsItself.count += 1
        super().__init__(name=name or 'counted_%d' % self.count, **kwargs)


class ReadsIterator(Weighted):
    """Is created from its config, because its argument can be read only once."""

    def __init__(self, scales=(2.,), **kwargs):
        super().__init__(**kwargs)
        self.scale = sum(scales)

    def get_config(self):
        return {**super().get_config(), 'scales': [self.scale]}

    def call(self, inputs):
        return self.scale * super().call(inputs)


class PassesArgumentsOn(Weighted):
    """All that it gets is for its part."""

    def __init__(self, units, **kwargs):
        layers.Layer.__init__(self)
        self.parts = [layers.Dense(units, **kwargs)]
        self.factors = {self.parts[0].name: 5.}


class Two(layers.Layer):
    """Calls two layers, each of which creates its parts when it is called."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.first, self.second = WeightedByBuild(), WeightedByBuild()

    def build(self, input_shape):
        build_inner(self, [self.first], input_shape)
        build_inner(self, [self.second], (None, 2))

    def call(self, inputs):
        return call_inner(self.second, call_inner(self.first, inputs))

    compute_output_shape = Weighted.compute_output_shape


@pytest.mark.parametrize('make', [
    Weighted, Selected, Named, WeightedByBuild, Nested, NamesItsParts, CountsItself,
    ExtendsItsName, Two, lambda: PassesArgumentsOn(2, activation='relu'),
    lambda: ReadsIterator(iter([2.]))],
    ids=['guard Weighted', 'guard Selected', 'guard Named', 'guard WeightedByBuild',
         'guard Nested', 'guard NamesItsParts', 'guard CountsItself',
         'guard ExtendsItsName', 'guard Two', 'passes arguments on',
         'guard ReadsIterator'])
def test_clones_find_their_parts_by_the_names_that_they_have_stored(make):
    model = chain(make)()
    clone = clone_model(model)
    assert_same_outputs(clone, clone_model(clone))
    assert_same_outputs(model, clone)


def renamed():
    model = chain(lambda: layers.Dense(3), NamesItsParts)()
    model.layers[-1].name = 'renamed'
    return model


def built_before_its_call():
    layer = WeightedByBuild()
    layer.build((None, 3))
    layer.built = True
    return chain(lambda: layer)()


def in_a_sequential_model():
    model = Sequential([layers.Dense(3), WeightedByBuild()])
    model.build((None, 3))
    return model


@pytest.mark.parametrize('build', [
    renamed, built_before_its_call, in_a_sequential_model],
    ids=['guard renamed', 'guard built before its call', 'in a sequential model'])
def test_clone_of_a_layer_finds_its_parts_that_was(build):
    model = build()
    clone = clone_model(model)
    expected, got = [[each.name for each in layers_of.layers]
                     for layers_of in (model, clone)]
    assert got == expected
    assert_same_outputs(model, clone)


def test_part_that_the_user_has_renamed_after_its_call_is_renamed_in_the_clone():
    model = chain(Weighted)()
    model.layers[-1].parts[0].name = 'renamed'
    assert clone_model(model).layers[-1].parts[0].name == 'renamed'


@pytest.mark.parametrize(
    'make', [Weighted, WeightedByBuild, Nested, CountsItself],
    ids=['Weighted', 'WeightedByBuild', 'Nested', 'guard CountsItself'])
def test_parts_of_a_clone_have_the_names_of_the_original(make):
    model = chain(make)()
    layers_of = [each.layers[-1].parts for each in (model, clone_model(model))]
    expected, got = [[part.name for part in parts] for parts in layers_of]
    assert got == expected


@pytest.mark.skipif(IS_KERAS2, reason='Weights of Keras 2 have no path.')
@pytest.mark.parametrize('build', [
    *map(chain, [Weighted, WeightedByBuild, Nested, Two]), built_before_its_call,
    in_a_sequential_model])
def test_weights_of_the_parts_of_a_clone_have_the_paths_of_the_original(build):
    model = build()
    assert [weight.path for weight in clone_model(model).weights] == [
        weight.path for weight in model.weights]


def test_guard_clone_finds_its_parts_after_the_names_have_begun_anew():
    Weighted()
    (backend.reset_uids if IS_KERAS2 else backend.clear_session)()
    model = chain(Weighted)()
    assert_same_outputs(model, clone_model(model))


# On TensorFlow 2.2, Keras 2.3.1 works only in the main thread.
@pytest.mark.once
def test_guard_clone_finds_its_parts_in_another_thread():
    model = chain(Weighted)()
    assert_same_outputs(model, in_another_thread(lambda: clone_model(model)))


def test_cloning_uses_up_no_names():
    model = chain(Weighted)()
    names = [layers.Dense(1).name]
    clone_model(model)
    names.append(layers.Dense(1).name)
    first, second = [int(name.rpartition('_')[2]) for name in names]
    assert second == first + 1


def test_guard_names_are_new_after_a_constructor_was_interrupted():
    class Interrupted(Weighted):
        is_interrupted = False

        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            if self.is_interrupted:
                raise KeyboardInterrupt

    model = chain(Interrupted)()
    Interrupted.is_interrupted = True
    with pytest.raises(KeyboardInterrupt):
        clone_model(model)
    assert layers.Dense(1).name not in [part.name for part in model.layers[-1].parts]


def test_guard_model_whose_layer_changes_by_name_trains_like_its_clone():
    model = chain(Weighted)()
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    data = np.ones((2, 3), 'float32'), np.zeros((2, 2), 'float32')
    for each in (model, clone):
        each.compile('sgd', 'mse')
        each.fit(*data, verbose=0)
    np.testing.assert_allclose(
        outputs_of(clone, data[0]), outputs_of(model, data[0]), rtol=1e-4)
