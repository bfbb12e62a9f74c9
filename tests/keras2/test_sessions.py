"""Models whose graph was cleared, and variables that are not initialized."""
import importlib

import numpy as np
import pytest
from keras import backend as K
from keras.layers import LSTM, Layer
from keras.models import Sequential, clone_model

pytestmark = pytest.mark.skipif(
    K.backend() != 'tensorflow' or
    importlib.import_module('tensorflow').__version__ >= '2',
    reason='only TensorFlow 1 has sessions')
VALUE = np.ones((2, 4, 3))


class HasVariable(Layer):
    """Computes with a variable that is not a weight."""

    def build(self, input_shape):
        self.factor = K.variable(2.)

    def call(self, inputs):
        return self.factor * inputs


MAKERS = {
    'states': lambda: LSTM(2, stateful=True, batch_input_shape=VALUE.shape),
    'variable': lambda: HasVariable(batch_input_shape=VALUE.shape)}


@pytest.fixture
def manual_initialization():
    K.manual_variable_initialization(True)
    yield
    K.manual_variable_initialization(False)


@pytest.mark.parametrize('make_layer', MAKERS.values(), ids=list(MAKERS))
def test_guard_clone_of_a_model_of_a_cleared_graph_computes_the_same(make_layer):
    model = Sequential([make_layer()])
    expected, weights = model.predict(VALUE), model.get_weights()
    K.clear_session()
    clone = clone_model(model)
    clone.set_weights(weights)
    np.testing.assert_allclose(clone.predict(VALUE), expected, rtol=1e-5)


@pytest.mark.parametrize('make_layer', MAKERS.values(), ids=list(MAKERS))
def test_guard_clone_leaves_variables_to_be_initialized_by_hand(
        make_layer, manual_initialization):
    K.clear_session()
    clone = clone_model(Sequential([make_layer()]))
    K.get_session().run(importlib.import_module('tensorflow')
                        .global_variables_initializer())
    assert np.isfinite(clone.predict(VALUE)).all()


def test_guard_clone_creates_a_variable_that_is_not_a_weight_once():
    model = Sequential([MAKERS['variable']()])
    before = len(K.get_session().graph.get_operations())
    clone_model(model)
    created = [op for op in K.get_session().graph.get_operations()[before:]
               if op.type in ('VariableV2', 'VarHandleOp')]
    assert len(created) == 1
