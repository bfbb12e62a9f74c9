"""An exception during cloning leaves nothing behind."""
import pytest
from keras import activations, layers
from keras.models import clone_model
from keras_clone.check.independence import Belongings, changes

from custom_objects import StoresOtherValue, adapted, gelu, relu
from major_versions import IS_KERAS2, assert_same_outputs, chain

if IS_KERAS2:
    from keras.utils import get_custom_objects

    def scopes():
        return dict(get_custom_objects())

else:
    from keras.saving import get_custom_objects

    def scopes():
        from keras.src.backend.common import global_state
        names = ['safe_mode_saving', 'name_scope_stack', 'live_config']
        return [global_state.get_global_attribute(name) for name in names] + [
            # The first scope of a process leaves an empty dict.
            global_state.get_global_attribute('custom_objects_scope_dict') or {},
            dict(get_custom_objects())]


class Interrupted(layers.Layer):
    """Raises an exception in one of its methods, if that is set."""

    method = error = None

    def __init__(self, factor, **kwargs):
        super().__init__(**kwargs)
        self.factor = factor
        self.may_raise('__init__')

    def may_raise(self, method):
        if method == Interrupted.method:
            raise Interrupted.error('in ' + method)

    def build(self, input_shape):
        self.may_raise('build')
        self.scale = self.add_weight(name='scale', shape=(3,), initializer='ones')

    def call(self, inputs):
        self.may_raise('call')
        return self.factor * inputs * self.scale

    def get_config(self):
        return {**super().get_config(), 'factor': self.factor}


class InterruptedInNew(Interrupted):
    """Cannot be copied, either, because `__new__` raises."""

    def __new__(cls, *args, **kwargs):
        if Interrupted.method == '__new__':
            raise Interrupted.error('in __new__')
        if IS_KERAS2:
            return super().__new__(cls)
        return super().__new__(cls, *args, **kwargs)


# Layers for which Keras or this package opens a scope, which the clone must close.
FIRST = {
    'guard': lambda: layers.Dense(3, activation='tanh'),
    'function': lambda: layers.Dense(3, activation=gelu),
    'function named as one of Keras': lambda: layers.Dense(3, activation=relu),
    'Lambda': lambda: layers.Lambda(lambda x: 2 * x),
    'no config': lambda: StoresOtherValue(.5),
}
if not IS_KERAS2:
    FIRST['adapted'] = lambda: adapted(
        layers.Normalization(), [[1., 2., 3.], [2., 4., 6.]])


def assert_leaves_nothing_behind(model, method, error, monkeypatch):
    """Checks that an exception in cloning changes neither the model nor Keras."""
    before, open_before = Belongings(model).snapshot(), scopes()
    monkeypatch.setattr(Interrupted, 'method', method)
    monkeypatch.setattr(Interrupted, 'error', error)
    # Keras 3 raises another error for some of those of a constructor.
    with pytest.raises((error, TypeError)):
        clone_model(model)
    monkeypatch.undo()
    assert not changes(before, Belongings(model).snapshot())
    assert scopes() == open_before
    assert activations.get('relu') is activations.relu
    assert_same_outputs(model, clone_model(model))
    assert scopes() == open_before


@pytest.mark.parametrize('error', [KeyboardInterrupt, ValueError])
@pytest.mark.parametrize('method', ['__init__', 'build', 'call'])
@pytest.mark.parametrize('wrap', [lambda make: make, chain],
                         ids=['guard in the model', 'in a nested model'])
def test_interrupted_clone_leaves_nothing_behind(wrap, method, error, monkeypatch):
    model = chain(FIRST['guard'], wrap(lambda: Interrupted(2.)))()
    assert_leaves_nothing_behind(model, method, error, monkeypatch)


@pytest.mark.parametrize('error', [KeyboardInterrupt, SystemExit, ValueError])
@pytest.mark.parametrize('first', list(FIRST))
def test_clone_interrupted_after_another_layer_leaves_nothing_behind(
        first, error, monkeypatch):
    model = chain(FIRST[first], lambda: layers.Dense(3),
                  lambda: InterruptedInNew(2.))()
    assert_leaves_nothing_behind(model, '__new__', error, monkeypatch)
