"""An exception during cloning leaves nothing behind."""
import pytest
from keras import layers
from keras.models import clone_model
from keras_clone.check.independence import Belongings, changes

from major_versions import IS_KERAS2, assert_same_outputs, chain

if IS_KERAS2:
    from keras.utils import get_custom_objects
else:
    from keras.saving import get_custom_objects


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
        self.scale = self.add_weight(name='scale', shape=(3,),
                                     initializer='ones')
        self.built = True

    def call(self, inputs):
        self.may_raise('call')
        return self.factor * inputs * self.scale

    def get_config(self):
        return {**super().get_config(), 'factor': self.factor}


@pytest.fixture(params=['guard in the model', 'in a nested model'])
def model(request):
    def make():
        return Interrupted(2.)
    is_nested = request.param == 'in a nested model'
    return chain(lambda: layers.Dense(3, activation='tanh'),
                 chain(make) if is_nested else make)()


@pytest.mark.parametrize('error', [KeyboardInterrupt, ValueError])
@pytest.mark.parametrize('method', ['__init__', 'build', 'call'])
def test_interrupted_clone_leaves_nothing_behind(
        model, method, error, monkeypatch):
    before, objects = Belongings.of(model).snapshot(), dict(get_custom_objects())
    monkeypatch.setattr(Interrupted, 'method', method)
    monkeypatch.setattr(Interrupted, 'error', error)
    # Keras 3 raises another error for some of those of a constructor.
    with pytest.raises((error, TypeError)):
        clone_model(model)
    monkeypatch.undo()
    assert not changes(before, Belongings.of(model).snapshot())
    assert dict(get_custom_objects()) == objects
    assert_same_outputs(model, clone_model(model))
