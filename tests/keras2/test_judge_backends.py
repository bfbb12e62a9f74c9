"""What the judge does on each backend."""
import sys
from types import SimpleNamespace as Named

import numpy as np
import pytest
from keras import backend as K
from keras_clone.check.graphs import graphs, keras2

from judging import chain, check
from judging import fresh_state  # noqa: F401


def test_fresh_state_numbers_layers_from_1_and_keeps_the_names_outside():
    first = K.get_uid('thing')
    with graphs.fresh_state():
        assert K.get_uid('thing') == 1
    assert K.get_uid('thing') == first + 1


def test_fresh_state_keeps_the_random_numbers_outside():
    np.random.seed(1)
    expected = np.random.RandomState(1).rand(2)
    first = np.random.rand()
    with graphs.fresh_state():
        np.random.rand()
    assert [first, np.random.rand()] == expected.tolist()


@pytest.fixture
def tensorflow():
    return pytest.importorskip('tensorflow')


def test_graph_of_tensorflow_2_is_that_of_its_keras_backend(monkeypatch, tensorflow):
    from tensorflow.python.keras import backend
    graph = object()
    monkeypatch.setattr(tensorflow, '__version__', '2.0.0')
    monkeypatch.setattr(backend, 'get_graph', lambda: graph, raising=False)
    assert keras2.current_graph() is graph


def test_fresh_state_on_tensorflow_2_is_a_new_graph(monkeypatch, tensorflow):
    pytest.importorskip('tensorflow.python.framework.func_graph')  # From 1.13 on.
    from keras.backend import tensorflow_backend
    from tensorflow.python.keras import backend
    monkeypatch.setattr(K, 'backend', lambda: 'tensorflow')
    monkeypatch.setattr(tensorflow, 'executing_eagerly', lambda: True)
    monkeypatch.setattr(backend, '_GRAPH', 'old', raising=False)
    monkeypatch.setattr(backend, '_GRAPH_LEARNING_PHASES', {})
    monkeypatch.setattr(tensorflow_backend, '_LEARNING_PHASE_CACHE', {1: 2},
                        raising=False)
    seeds = []
    monkeypatch.setattr(tensorflow.compat.v2.random, 'set_seed', seeds.append)
    with graphs.fresh_state(3):
        assert seeds == [3]
        assert backend._GRAPH.name == 'keras_graph'
        assert tensorflow_backend._LEARNING_PHASE_CACHE == {}
        backend._GRAPH_LEARNING_PHASES[backend._GRAPH] = 'a tensor of the graph'
    assert backend._GRAPH == 'old'
    assert tensorflow_backend._LEARNING_PHASE_CACHE == {1: 2}
    assert backend._GRAPH_LEARNING_PHASES == {}


class Eager:
    """Stands for a variable of TensorFlow 2."""

    def numpy(self):
        return np.ones(2)


def test_eager_variable_has_its_value():
    variable = Eager()
    assert keras2.function_of([], [variable])()[0].tolist() == [1, 1]


def test_session_of_tensorflow_before_1_13_leaves_out_what_it_lacks(monkeypatch,
                                                                    tensorflow):
    v1 = tensorflow if hasattr(tensorflow, 'Session') else tensorflow.compat.v1
    options = Named(optimizer_options=Named(), rewrite_options=object())
    config = Named(graph_options=options)
    monkeypatch.setattr(v1, 'ConfigProto', lambda **kwargs: config)
    monkeypatch.setattr(v1, 'Session', lambda **kwargs: kwargs)
    assert keras2.session('graph') == {'graph': 'graph', 'config': config}


def test_fresh_state_on_theano_and_cntk_numbers_layers_from_1(monkeypatch):
    backend = Named(_UID_PREFIXES={'lambda': 3})
    monkeypatch.setattr(K, 'backend', lambda: 'other')
    monkeypatch.setitem(sys.modules, 'keras.backend.other_backend', backend)
    with graphs.fresh_state():
        assert backend._UID_PREFIXES['lambda'] == 0
    assert backend._UID_PREFIXES == {'lambda': 3}
    assert graphs.counting_ops(lambda: 3) == (3, {})


def test_report_says_that_a_backend_takes_no_step_of_training(monkeypatch):
    monkeypatch.setattr(graphs, 'NOT_TRAINED', ('a step of training (slow)',))
    report = check(chain, lambda model: chain())
    assert report.faithful
    assert report.not_compared == ['a step of training (slow)']
