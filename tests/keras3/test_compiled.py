"""A clone is compiled with the same arguments as the model.

The configs of Keras omit some arguments, and those of user-defined objects.
"""
import keras
import numpy as np
import pytest
from keras import Model, Sequential, layers, losses, metrics, ops, optimizers
from keras.models import clone_model

from custom_objects import Times
from major_versions import IS_TORCH, chain, of_class

X = np.random.RandomState(0).normal(size=(8, 3)).astype('float32')
Y = np.random.RandomState(1).uniform(.1, .9, size=(8, 2)).astype('float32')


def compiled(loss='mse', optimizer='sgd', **arguments):
    model = chain(lambda: layers.Dense(2, 'sigmoid'))()
    model.compile(optimizer, loss, **{'run_eagerly': True, **arguments})
    return model


def assert_trains_alike(model, clone, x=X, y=Y):
    """Evaluates and trains both models, and compares losses, metrics and weights."""
    assert clone.compiled
    assert isinstance(clone.optimizer, type(model.optimizer))
    assert clone.optimizer is not model.optimizer
    clone.set_weights(model.get_weights())
    evaluated = [each.evaluate(x, y, verbose=0, return_dict=True)
                 for each in (model, clone)]
    histories = [each.fit(x, y, epochs=2, batch_size=4, shuffle=False,
                          verbose=0).history for each in (model, clone)]
    for expected, found in (evaluated, histories):
        assert found.keys() == expected.keys()
        for name in expected:
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-4,
                                       atol=1e-6)
    for original, cloned in zip(model.get_weights(), clone.get_weights()):
        np.testing.assert_allclose(cloned, original, rtol=1e-4, atol=1e-6)


def trained_clone(model, y=Y):
    """Checks that the clone of a clone trains alike, and returns it."""
    clone = clone_model(clone_model(model))
    assert_trains_alike(model, clone, y=y)
    return clone


def test_clone_has_the_losses_of_several_outputs():
    x = keras.Input((3,), name='x')
    model = Model(x, {'a': layers.Dense(2, name='a')(x),
                      'b': layers.Dense(1, name='b')(x)})
    model.compile('rmsprop', {'a': losses.Huber(.1), 'b': 'mse'},
                  loss_weights={'a': .25, 'b': 3.},
                  metrics={'a': ['mae'],
                           'b': [metrics.MeanSquaredError(name='squared')]})
    assert_trains_alike(model, clone_model(model), y={'a': Y, 'b': Y[:, :1]})


# Metrics

@pytest.mark.parametrize('make', [
    lambda: metrics.CosineSimilarity(axis=0, name='cosine'),
    pytest.param(lambda: metrics.BinaryAccuracy(threshold=.25),
                 id='guard BinaryAccuracy'),
    pytest.param(lambda: metrics.TopKCategoricalAccuracy(k=1),
                 id='guard TopKCategoricalAccuracy'),
    pytest.param(lambda: metrics.Precision(thresholds=.3, class_id=1),
                 id='guard Precision'),
    pytest.param(lambda: metrics.AUC(num_thresholds=5, name='area'), id='guard AUC'),
], ids=['CosineSimilarity'] + 4 * [None])
def test_clone_has_a_metric_with_arguments(make):
    metric = make()
    clone = trained_clone(compiled(metrics=[metric]), np.round(Y))
    assert metric not in clone._compile_metrics.metrics


def test_clone_has_weighted_metrics():
    model = compiled(metrics=['mae'],
                     weighted_metrics=[quantile(.9), metrics.MeanSquaredError()])
    clone = clone_model(model)
    clone.set_weights(model.get_weights())
    weights = np.linspace(.1, 2., 8)
    expected, found = (each.evaluate(X, Y, sample_weight=weights, verbose=0)
                       for each in (model, clone))
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_guard_clone_has_metrics_with_values_of_their_own():
    metric = metrics.CosineSimilarity(axis=0)
    model = compiled(metrics=[metric])
    clone = clone_model(model)
    clone.evaluate(X, Y, verbose=0)
    np.testing.assert_allclose(float(metric.result()), 0)


# User-defined losses and metrics

class Focal(losses.Loss):
    """A loss without a config."""

    def __init__(self, gamma=2., **kwargs):
        super().__init__(**kwargs)
        self._power = gamma

    def call(self, y, y_pred):
        return ops.mean(ops.abs(y - y_pred) ** self._power, -1)


class FocalWithConfig(Focal):
    def get_config(self):
        return {**super().get_config(), 'gamma': self._power}


class StoresOther(losses.Loss):
    """Its attribute has the name of an argument, but another value."""

    def __init__(self, bound=1., **kwargs):
        super().__init__(**kwargs)
        self.bound = 1 - bound

    def call(self, y, y_pred):
        return ops.mean(ops.maximum(ops.abs(y - y_pred), self.bound), -1)


class Largest(metrics.Metric):
    """A metric whose config is that of its base class."""

    def __init__(self, name='largest', **kwargs):
        super().__init__(name=name, **kwargs)
        self.largest = self.add_variable((), 'zeros')

    def update_state(self, y, y_pred, sample_weight=None):
        self.largest.assign(ops.maximum(self.largest, ops.max(y_pred)))

    def result(self):
        return ops.convert_to_tensor(self.largest)


class Share(metrics.Metric):
    """A metric without a config."""

    def __init__(self, bound, name='share'):
        super().__init__(name=name)
        self._limit = bound
        self.count = self.add_variable((), 'zeros', name='count')

    def update_state(self, y, y_pred, sample_weight=None):
        is_below = ops.cast(ops.abs(y - y_pred) < self._limit, 'float32')
        self.count.assign(self.count + ops.sum(is_below))

    def result(self):
        return ops.convert_to_tensor(self.count)


def quantile(factor):
    def loss(y, y_pred):
        error = y - y_pred
        return ops.mean(ops.maximum(factor * error, (factor - 1) * error), -1)
    return loss


def test_clone_has_metrics_of_the_user():
    metric = Share(.4)
    clone = trained_clone(compiled(metrics=[
        metric, Largest(), lambda y, y_pred: ops.max(ops.abs(y - y_pred), -1),
        quantile(.9)]))
    assert not any(each is metric for each in clone._compile_metrics.metrics)


def test_clone_has_a_loss_that_holds_its_own_layer():
    model = chain(lambda: layers.Dense(2))()
    dense = model.layers[-1]
    model.compile('sgd', lambda y, y_pred: ops.mean(ops.square(y - y_pred), -1) +
                  ops.sum(ops.square(dense.kernel)))
    clone = trained_clone(model)
    expected = clone.evaluate(X, Y, verbose=0)
    dense.set_weights([weight + 1 for weight in dense.get_weights()])
    np.testing.assert_allclose(clone.evaluate(X, Y, verbose=0), expected, rtol=1e-5)


FEATURES = Sequential([keras.Input((2,)), layers.Dense(2)])


def of_features(y, y_pred, features=FEATURES):
    return ops.square(features(y) - features(y_pred))


class OfFeatures(losses.Loss):
    def __init__(self):
        super().__init__()
        self.features = FEATURES

    def call(self, y, y_pred):
        return of_features(y, y_pred, self.features)


@keras.saving.register_keras_serializable('test_compiled')
def registered(y, y_pred):
    return of_features(y, y_pred)


def test_guard_clone_has_the_registered_loss():
    assert trained_clone(compiled(registered)).loss is registered


# Optimizers and schedules

class Halving(optimizers.schedules.LearningRateSchedule):
    """A schedule without a config."""

    def __init__(self, start):
        self._start = start

    def __call__(self, step):
        return self._start * .5 ** ops.cast(step, 'float32')


class HalvingWithConfig(Halving):
    def get_config(self):
        return {'start': self._start}


COMPILED = {
    'Huber': lambda: losses.Huber(delta=.25),
    'CosineSimilarity': lambda: losses.CosineSimilarity(axis=0, reduction='sum'),
    'guard BinaryCrossentropy': lambda: losses.BinaryCrossentropy(
        label_smoothing=.3),
    'guard CategoricalCrossentropy': lambda: losses.CategoricalCrossentropy(
        from_logits=True, axis=0),
    'guard BinaryFocalCrossentropy': lambda: losses.BinaryFocalCrossentropy(
        gamma=4., alpha=.5),
    'guard Tversky': lambda: losses.Tversky(alpha=.9, beta=.2),
    'guard reduction': lambda: losses.MeanAbsoluteError(reduction='sum'),
    'loss without a config': lambda: Focal(gamma=3.),
    'loss with a config': lambda: FocalWithConfig(gamma=3.),
    'loss that stores another value': lambda: StoresOther(.9),
    'closure': lambda: quantile(.9),
    'function': lambda: lambda y, y_pred: ops.mean(ops.square(y - y_pred), -1),
    'function that holds a trained model': lambda: of_features,
    'loss that holds a trained model': OfFeatures,
    'guard SGD': lambda: optimizers.SGD(.1, momentum=.9, nesterov=True, clipnorm=.5),
    'guard Adam': lambda: optimizers.Adam(.01, beta_1=.5, amsgrad=True),
    'guard AdamW': lambda: optimizers.AdamW(.01, weight_decay=.1),
    'guard exponential': lambda: optimizers.SGD(
        optimizers.schedules.ExponentialDecay(.5, 1, .1)),
    'guard cosine': lambda: optimizers.Adam(
        optimizers.schedules.CosineDecay(.1, 4, alpha=.2)),
    'guard piecewise': lambda: optimizers.SGD(
        optimizers.schedules.PiecewiseConstantDecay([1, 2], [.5, .2, .1])),
    'schedule without a config': lambda: optimizers.SGD(Halving(.5)),
    'schedule with a config': lambda: optimizers.SGD(HalvingWithConfig(.5)),
    'learning rate by a function': lambda: optimizers.SGD(learning_rate=lambda: .25),
    'optimizer of the user': lambda: type('Descent', (optimizers.SGD,), {})(.1),
}


@pytest.mark.parametrize('name', COMPILED)
def test_clone_trains_with_the_same(name):
    FEATURES.set_weights([weight + .5 for weight in FEATURES.get_weights()])
    made = COMPILED[name]()
    is_optimizer = isinstance(made, optimizers.Optimizer)
    model = compiled(**{'optimizer' if is_optimizer else 'loss': made})
    assert trained_clone(model).loss.__class__ is model.loss.__class__


def test_guard_optimizer_of_a_clone_starts_at_step_zero():
    model = compiled(optimizer='adam')
    model.fit(X, Y, verbose=0)
    clone = clone_model(model)
    assert int(clone.optimizer.iterations) == 0
    assert int(model.optimizer.iterations) == 1


@pytest.mark.parametrize('arguments', [
    {'run_eagerly': False}, {'jit_compile': False}, {'auto_scale_loss': False},
    # PyTorch executes one at a time.
    {'steps_per_execution': 1 if IS_TORCH else 2}],
    ids=lambda arguments: list(arguments)[0])
def test_guard_clone_is_compiled_with(arguments):
    model = compiled(**{'run_eagerly': False, **arguments})
    clone = trained_clone(model)
    assert clone.get_compile_config() == model.get_compile_config()


# Models

class Subclassed(Model):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.dense = layers.Dense(units, kernel_regularizer='l2')

    def call(self, inputs):
        return self.dense(inputs)

    def get_config(self):
        return {**super().get_config(), 'units': self.dense.units}


def test_clone_of_a_subclassed_model_is_built_and_compiled():
    model = Subclassed(2)
    model(X)
    model.compile(optimizers.SGD(.1, momentum=.5), losses.Huber(.25),
                  metrics=['mae'])
    clone = trained_clone(model)
    assert clone.built
    assert [w.shape for w in clone.weights] == [w.shape for w in model.weights]


class AppliesFunction(Model):
    def __init__(self, function, **kwargs):
        super().__init__(**kwargs)
        self.function, self.dense = function, layers.Dense(2)

    def call(self, inputs):
        return self.function(self.dense(inputs))


def test_clone_of_a_subclassed_model_without_a_config_is_compiled():
    model = AppliesFunction(ops.sigmoid)
    model.compile('sgd', 'mse', run_eagerly=True)
    model.fit(X, Y, verbose=0)
    assert_trains_alike(model, clone_model(model))


def test_guard_clone_of_a_model_that_is_not_built_is_compiled():
    model = Subclassed(2)
    model.compile('sgd', 'mse')
    clone = clone_model(model)
    assert clone.compiled
    clone.fit(X, Y, verbose=0)
    assert not model.built


def test_guard_clone_of_a_model_that_is_not_compiled_is_not():
    assert not clone_model(chain(lambda: layers.Dense(2))()).compiled


class Halved(Model):
    def compute_loss(self, *args, **kwargs):
        return super().compute_loss(*args, **kwargs) / 2


def test_clone_computes_its_loss_by_a_method_of_the_user():
    x = keras.Input((3,), name='x')
    hidden = layers.Dense(4)
    model = Halved(x, layers.Dense(2)(hidden(x)))
    hidden.trainable = False
    model.compile('sgd', losses.Huber(.25))
    assert type(trained_clone(model)) is Halved


class Contrasting(Model):
    def compile(self, factor, **kwargs):
        super().compile(**kwargs)
        self.factor = factor

    def compute_loss(self, *args, **kwargs):
        return self.factor * super().compute_loss(*args, **kwargs)

    def get_compile_config(self):
        return {'factor': self.factor, 'optimizer': 'sgd', 'loss': 'mse'}

    def compile_from_config(self, config):
        self.compile(**config)


def test_guard_clone_is_compiled_by_a_method_of_the_user():
    model = of_class(Contrasting)
    model.compile(3., optimizer='sgd', loss='mse')
    np.testing.assert_allclose(trained_clone(model).factor, 3)


class Scaling(Model):
    """Overrides `compile` alone: `compile_from_config` of Keras does nothing."""

    def compile(self, optimizer='auto', factor=2.):
        self.factor = factor
        super().compile('sgd' if optimizer == 'auto' else optimizer, 'mse')

    def compute_loss(self, *args, **kwargs):
        return self.factor * super().compute_loss(*args, **kwargs)


def test_clone_is_compiled_if_the_class_overrides_only_compile():
    model = of_class(Scaling)
    model.compile(factor=3.)
    assert trained_clone(model).factor == 3


def test_clone_has_a_compiled_nested_model():
    inner = compiled(losses.Huber(.25))
    model = Sequential([keras.Input((3,)), inner, layers.Dense(1)])
    clone = clone_model(model)
    assert clone.layers[0].compiled
    assert_trains_alike(inner, clone.layers[0])


def test_guard_clone_has_a_frozen_part_and_is_compiled():
    inner = compiled()
    inner.trainable = False
    model = Sequential([keras.Input((3,)), layers.Dense(3), inner])
    model.compile(optimizers.Adam(.1), 'mse')
    clone = clone_model(model)
    assert len(clone.trainable_weights) == 2
    assert_trains_alike(model, clone)


# Optimizers

def test_guard_clone_has_a_learning_rate_that_was_changed_later():
    model = compiled(optimizer=optimizers.SGD(.1))
    model.optimizer.learning_rate = .25
    trained_clone(model)


def test_guard_clone_has_its_own_optimizer_within_an_optimizer():
    model = compiled(optimizer=optimizers.LossScaleOptimizer(optimizers.SGD(.25)))
    inner = trained_clone(model).optimizer.inner_optimizer
    assert inner is not model.optimizer.inner_optimizer


@keras.saving.register_keras_serializable('test_compiled')
class Rate(HalvingWithConfig):
    def __init__(self, start=.1):
        super().__init__(start)


def test_guard_clone_has_a_loss_and_a_schedule_of_its_own():
    model = compiled(losses.Huber(), optimizers.SGD(Rate()))
    clone = trained_clone(model)
    assert clone.loss is not model.loss
    assert clone.optimizer._learning_rate is not model.optimizer._learning_rate


class Trains(Times):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.optimizer = optimizers.Adam(.5)


def test_guard_clone_has_the_optimizer_of_a_layer():
    model = chain(Trains)()
    optimizer = clone_model(model).layers[-1].optimizer
    assert isinstance(optimizer, optimizers.Adam)
    assert optimizer is not model.layers[-1].optimizer
