"""What the major versions of Keras call by other names or do otherwise.

The operations in `keras2.py` and `keras3.py` exist on one of them only.
"""
import types

import keras
from keras import backend

RELEASE = tuple(map(int, keras.__version__.split('.')[:3]))
IS_KERAS2 = RELEASE < (3,)
# Earlier releases of Keras 3 do not accept a function as regularizer or constraint.
TAKES_FUNCTIONS = IS_KERAS2 or RELEASE >= (3, 15)

if IS_KERAS2:
    from keras.layers.wrappers import Wrapper

    ops = types.SimpleNamespace(
        matmul=backend.dot, **{name: getattr(backend, name) for name in (
            'any', 'cast', 'expand_dims', 'greater', 'mean', 'minimum', 'relu',
            'reshape', 'shape', 'square', 'sum', 'tanh', 'transpose')})
    constant = backend.constant
    variable = backend.variable
    set_value = backend.set_value

    def number_in(variable):
        return float(backend.get_value(variable))

    def call_inner(layer, inputs):
        """Calls a layer within the `call` of another one."""
        return layer.call(inputs)

    def build_inner(layer, shape):
        """Builds a layer within the `build` of another one."""
        if not layer.built:
            with backend.name_scope(layer.name):
                layer.build(shape)
            layer.built = True

    def layers_inside(model):
        return model.layers
else:
    from keras import ops
    from keras.layers import Wrapper  # noqa: F401

    constant = ops.convert_to_tensor
    variable = keras.Variable

    def set_value(variable, value):
        variable.assign(value)

    def number_in(variable):
        return float(ops.convert_to_numpy(variable))

    def call_inner(layer, inputs):
        return layer(inputs)

    def build_inner(layer, shape):
        if not layer.built:
            layer.build(shape)

    def layers_inside(model):
        return list(model._flatten_layers())[1:]
