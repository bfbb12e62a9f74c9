"""PyTorch modules in a `TorchModuleWrapper`, and layers as PyTorch modules."""
import keras
import numpy as np
import pytest
from keras import Model, layers, ops
from keras.layers import TorchModuleWrapper
from keras.models import clone_model

from major_versions import ONES, chain

pytestmark = pytest.mark.skipif(keras.backend.backend() != 'torch',
                                reason='the backend is not PyTorch')


@pytest.mark.parametrize('wrap', [lambda make: make, chain],
                         ids=['the model', 'a nested model'])
def test_clone_is_faithful_with_a_module_in(wrap, assert_faithful):
    import torch
    assert_faithful(chain(wrap(lambda: TorchModuleWrapper(
        torch.nn.Linear(3, 2), output_shape=(None, 2)))), fresh_weights=False)


def test_clone_has_its_own_module_that_cannot_be_pickled():
    import torch

    class Local(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(3, 2)

        def forward(self, x):
            return self.linear(x)

    model = chain(lambda: TorchModuleWrapper(Local(), output_shape=(None, 2)))()
    clone = clone_model(model)
    value = np.ones((2, 3), 'float32')
    np.testing.assert_allclose(ops.convert_to_numpy(clone(value)),
                               ops.convert_to_numpy(model(value)), rtol=1e-5)
    module = clone.layers[-1].module
    assert module is not model.layers[-1].module
    assert module.linear.weight is not model.layers[-1].module.linear.weight


def test_clone_of_layers_that_share_a_module_has_one_module():
    import torch
    linear = torch.nn.Linear(3, 3)
    model = chain(lambda: TorchModuleWrapper(linear, output_shape=(None, 3)),
                  lambda: TorchModuleWrapper(linear, output_shape=(None, 3)))()
    first, second = clone_model(model).layers[1:]
    assert first.module is second.module is not linear


def test_clone_has_its_own_module_in_a_closure():
    import torch
    linear = torch.nn.Linear(3, 2)
    model = chain(lambda: layers.Lambda(lambda x: linear(x), output_shape=(2,)))()
    clone = clone_model(model)
    expected = ops.convert_to_numpy(clone(ONES))
    torch.nn.init.zeros_(linear.weight)
    np.testing.assert_allclose(ops.convert_to_numpy(clone(ONES)), expected,
                               rtol=1e-5)


def assert_has_its_parameters(clone):
    parameters = set(map(id, clone.parameters()))
    assert parameters == {id(weight.value) for weight in clone.weights}


def test_guard_clone_of_a_subclassed_model_has_its_parameters():
    class TwoLayers(Model):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.first, self.second = layers.Dense(3), layers.Dense(2)

        def call(self, x):
            return self.second(self.first(x))
    model = TwoLayers()
    model(ONES)
    assert_has_its_parameters(clone_model(model))


def test_clone_has_the_parameters_of_lora():
    x = keras.Input((4, 3))
    attention = layers.MultiHeadAttention(2, 3)
    model = Model(x, attention(x, x))
    attention.query_dense.enable_lora(2)
    clone = clone_model(model)
    assert len(clone.weights) == len(model.weights)
    assert_has_its_parameters(clone)
