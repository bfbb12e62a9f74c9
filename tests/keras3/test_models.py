"""Properties of models: inputs, classes, state, compilation."""
import keras
import numpy as np
import pytest
from keras import Model, Sequential, layers, ops
from keras.models import clone_model

from custom_objects import Scale, gelu
from major_versions import chain

SPARSE = keras.backend.backend() in ('tensorflow', 'jax')
RAGGED = keras.backend.backend() == 'tensorflow'


class Branded(Model):
    """A model class with a method of its own."""

    def brand(self):
        return self.name


class WithArguments(Model):
    """Takes additional arguments, one of them required."""

    def __init__(self, *args, factor, layer=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.factor = factor
        self.layer = layer

    def call(self, inputs, training=None, mask=None):
        return self.factor * super().call(inputs, training, mask)


class WithOptionalArgument(Model):
    """Takes an additional, optional argument."""

    def __init__(self, *args, **kwargs):
        self.factor = kwargs.pop('factor', 1)
        super().__init__(*args, **kwargs)


class Stack(Model):
    """Creates the graph in its constructor."""

    def __init__(self, units, **kwargs):
        x = keras.Input((3,), name='x')
        super().__init__(x, layers.Dense(units)(x), **kwargs)
        self.units = units
        self.seen = keras.metrics.Mean(name='seen')

    def get_config(self):
        return {'units': self.units, 'name': self.name}


class SequentialWithUnits(Sequential):
    """A `Sequential` model whose constructor takes other arguments."""

    def __init__(self, units):
        super().__init__([keras.Input((3,), name='x'), layers.Dense(units)])
        self.units = units


class Subclassed(Model):
    """A subclassed model: its graph is defined by its code."""

    def __init__(self, activation, **kwargs):
        super().__init__(**kwargs)
        self.dense = layers.Dense(3, activation=activation)

    def call(self, inputs):
        return self.dense(inputs)

    def get_config(self):
        return {**super().get_config(), 'activation': self.dense.activation}


@pytest.mark.parametrize('flags', [
    {},
    pytest.param({'name': 'mine'}, id='guard name'),
    {'optional': True},
    {'dtype': 'int32'},
    {'batch_size': 4},
    pytest.param({'sparse': True}, marks=pytest.mark.skipif(
        not SPARSE, reason='the backend has no sparse tensors')),
    pytest.param({'ragged': True}, marks=pytest.mark.skipif(
        not RAGGED, reason='the backend has no ragged tensors')),
], ids=lambda flags: ' '.join(flags) or 'unnamed')
@pytest.mark.parametrize('model_class', ['functional', 'sequential'])
def test_input(flags, model_class):
    x = keras.Input((3,), **flags)
    layer = layers.Identity()
    model = Sequential([x, layer]) if model_class == 'sequential' else Model(
        x, layer(x))
    clone = clone_model(model)
    kept, found = model._layers[0].get_config(), clone._layers[0].get_config()
    assert found == kept
    assert clone.inputs[0].name == model.inputs[0].name
    assert clone.inputs[0] is not model.inputs[0]


def test_optional_input_that_is_omitted():
    a, b = keras.Input((3,), name='a'), keras.Input((3,), name='b', optional=True)

    class First(layers.Layer):
        def call(self, a, b=None):
            return a if b is None else a + b

        def compute_output_shape(self, *args, **kwargs):
            return (None, 3)

    clone = clone_model(Model([a, b], First()(a, b)))
    value = np.ones((2, 3), 'float32')
    np.testing.assert_allclose(
        ops.convert_to_numpy(clone([value, None])), value)


@pytest.mark.parametrize('trainable', [True, False], ids=['guard True', 'False'])
def test_trainable_of_models_and_layers(trainable):
    model = chain(chain(lambda: layers.Dense(2)), lambda: layers.Dense(2))()
    model.trainable = trainable
    model.layers[1].trainable = not trainable
    clone = clone_model(model)
    assert clone.trainable is trainable
    assert clone.layers[1].trainable is not trainable
    assert clone.layers[2].trainable is trainable
    assert len(clone.trainable_weights) == len(model.trainable_weights)


def test_guard_class_of_a_functional_model():
    x = keras.Input((3,), name='x')
    clone = clone_model(Branded(x, layers.Dense(2)(x), name='mine'))
    assert clone.brand() == 'mine'


def test_required_argument_of_a_functional_class(assert_faithful):
    def build():
        x = keras.Input((3,), name='x')
        return WithArguments(x, layers.Dense(2)(x), factor=3.)
    assert_faithful(build)
    assert type(clone_model(build())) is WithArguments


def test_layer_passed_to_a_functional_class():
    x = keras.Input((3,), name='x')
    dense = layers.Dense(2)
    model = WithArguments(x, dense(x), factor=3., layer=dense)
    clone = clone_model(model)
    assert clone.layer is clone.layers[-1]


def test_argument_with_a_default_of_a_functional_class():
    x = keras.Input((3,), name='x')
    model = WithOptionalArgument(x, layers.Dense(2)(x), factor=3.)
    assert clone_model(model).factor == 3.


@pytest.mark.parametrize('make', [Stack, SequentialWithUnits])
def test_class_whose_constructor_creates_the_graph(make, assert_faithful):
    assert_faithful(lambda: make(2))
    clone = clone_model(make(2))
    assert type(clone) is make
    assert clone.units == 2


def test_metric_of_a_functional_class_is_not_shared():
    model = Stack(2)
    clone = clone_model(model)
    assert clone.seen is not model.seen
    assert clone.seen.name == 'seen'


def test_subclassed_model():
    model = Subclassed(gelu)
    value = np.ones((2, 3), 'float32')
    expected = ops.convert_to_numpy(model(value))
    clone = clone_model(model)
    assert clone.dense is not model.dense
    clone(value)
    clone.set_weights(model.get_weights())
    np.testing.assert_allclose(ops.convert_to_numpy(clone(value)), expected)


def test_guard_subclassed_model_in_a_functional_one(assert_faithful):
    assert_faithful(chain(lambda: Subclassed(gelu)))


@pytest.mark.parametrize('value', [None, 3, 'model', layers.Dense, object()])
def test_value_that_is_not_a_model_is_refused(value):
    with pytest.raises(ValueError, match='`model`.*Received'):
        clone_model(value)


def test_guard_unknown_argument_is_refused():
    with pytest.raises(ValueError, match='Unexpected keyword.*inputs'):
        clone_model(chain(lambda: layers.Dense(2))(), inputs=None)


def double_loss(y, y_pred):
    return 2 * ops.mean(ops.square(y - y_pred))


class Error(keras.losses.Loss):
    def __init__(self, factor=2., **kwargs):
        super().__init__(**kwargs)
        self.factor = factor

    def call(self, y, y_pred):
        return self.factor * ops.mean(ops.abs(y - y_pred))

    def get_config(self):
        return {**super().get_config(), 'factor': self.factor}


class Largest(keras.metrics.Metric):
    def __init__(self, name='largest', **kwargs):
        super().__init__(name=name, **kwargs)
        self.largest = self.add_variable((), 'zeros')

    def update_state(self, y, y_pred, sample_weight=None):
        self.largest.assign(ops.maximum(self.largest, ops.max(y_pred)))

    def result(self):
        return ops.convert_to_tensor(self.largest)


class Descent(keras.optimizers.SGD):
    pass


class Warm(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, rate):
        self.rate = rate

    def __call__(self, step):
        return self.rate * ops.cast(step + 1, 'float32')

    def get_config(self):
        return {'rate': self.rate}


@pytest.mark.parametrize('arguments', [
    lambda: {'loss': 'mse', 'optimizer': 'adam', 'metrics': ['mae']},
    lambda: {'loss': double_loss},
    lambda: {'loss': lambda y, y_pred: ops.mean(y_pred)},
    lambda: {'loss': Error(3.)},
    lambda: {'loss': 'mse', 'metrics': [Largest(), double_loss]},
    lambda: {'loss': 'mse', 'optimizer': Descent(.1)},
    lambda: {'loss': 'mse', 'optimizer': keras.optimizers.SGD(Warm(.1))},
], ids=['guard', 'function', 'lambda', 'loss', 'metrics', 'optimizer', 'schedule'])
@pytest.mark.parametrize('build', [
    chain(lambda: Scale(2.), lambda: layers.Dense(2)),
    lambda: Sequential([keras.Input((3,)), layers.Dense(2)]),
], ids=['functional', 'sequential'])
def test_compiled(arguments, build):
    model = build()
    model.compile(**{'optimizer': 'sgd', **arguments()})
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    assert clone.compiled
    assert isinstance(clone.optimizer, type(model.optimizer))
    assert clone.optimizer is not model.optimizer
    x, y = np.ones((4, 3), 'float32'), np.zeros((4, 2), 'float32')
    expected = model.fit(x, y, epochs=2, verbose=0).history
    found = clone.fit(x, y, epochs=2, verbose=0).history
    assert found.keys() == expected.keys()
    for name in expected:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-4)


def test_state_of_a_metric_is_not_shared():
    model = chain(lambda: layers.Dense(2))()
    metric = Largest()
    model.compile('sgd', 'mse', metrics=[metric])
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    x, y = np.ones((4, 3), 'float32'), np.ones((4, 2), 'float32')
    clone.evaluate(x, y, verbose=0)
    np.testing.assert_allclose(ops.convert_to_numpy(metric.result()), 0)


@keras.saving.register_keras_serializable('test_models')
class BuildsInCall(Model):
    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(2)

    def call(self, inputs):
        return self.dense(inputs)

    def get_config(self):
        return {}


def test_guard_subclassed_model_that_was_built_and_not_called():
    model = BuildsInCall()
    model.build((None, 3))
    clone, value = clone_model(model), np.ones((2, 3))
    outputs = [each(value) for each in (model, clone)]
    assert len(clone.weights) == len(model.weights) == 2
    clone.set_weights(model.get_weights())
    np.testing.assert_allclose(clone(value), outputs[0], rtol=1e-6)


def test_guard_layer_that_is_no_model_is_created_again():
    layer = layers.Dense(3, name='dense')
    clone = clone_model(layer)
    assert clone is not layer and clone.get_config() == layer.get_config()


def test_guard_paths_of_weights_within_a_scope():
    with keras.name_scope('outer'):
        model = keras.Sequential([layers.Input((3,)), layers.Dense(2, name='dense')])
        clone = clone_model(model)
    assert clone.weights[0].path == f'outer/{clone.name}/dense/kernel'
