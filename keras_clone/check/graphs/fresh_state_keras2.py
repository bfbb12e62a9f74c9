"""A state of Keras 2 in which nothing was built yet.

On TensorFlow it is a new graph with a session of its own, so that whatever the
caller has built is neither changed nor searched.
"""
import collections
import contextlib
import importlib

import numpy as np
from keras import backend as K


@contextlib.contextmanager
def fresh_state(seed=0):
    """See `Graphs.fresh_state`: Keras 2 draws its seeds from NumPy."""
    random_state = np.random.get_state()
    np.random.seed(seed)
    try:
        with (_fresh_graph(seed) if K.backend() == 'tensorflow' else
              _fresh_names()):
            yield
    finally:
        np.random.set_state(random_state)


@contextlib.contextmanager
def _fresh_names():
    """Theano and CNTK: the numbers in names start at 1 again."""
    backend = importlib.import_module(f'keras.backend.{K.backend()}_backend')
    old = backend._UID_PREFIXES
    backend._UID_PREFIXES = collections.defaultdict(int)
    try:
        yield
    finally:
        backend._UID_PREFIXES = old


@contextlib.contextmanager
def _fresh_graph(seed):
    import tensorflow as tf
    from keras.backend import tensorflow_backend
    if tf.executing_eagerly():
        with _fresh_keras_graph(), _tensorflow_seed(seed):
            yield
        return
    with tf.Graph().as_default() as graph, session(graph):
        yield
    # Keras keeps these forever, and with them the graph: 2.2.4 itself, later
    # releases in the backend of tf.keras.
    for module in (tensorflow_backend,
                   getattr(tensorflow_backend, 'tf_keras_backend', None)):
        for name in ('_GRAPH_UID_DICTS', '_GRAPH_LEARNING_PHASES'):
            getattr(module, name, {}).pop(graph, None)


@contextlib.contextmanager
def _fresh_keras_graph():
    """TensorFlow 2: a new graph in place of the one in which Keras builds."""
    from keras.backend import tensorflow_backend
    from tensorflow.python.framework.func_graph import FuncGraph
    from tensorflow.python.keras import backend
    old = backend._GRAPH, tensorflow_backend._LEARNING_PHASE_CACHE
    backend._GRAPH = graph = FuncGraph('keras_graph')
    tensorflow_backend._LEARNING_PHASE_CACHE = {}
    try:
        yield
    finally:
        backend._GRAPH, tensorflow_backend._LEARNING_PHASE_CACHE = old
        backend._GRAPH_LEARNING_PHASES.pop(graph, None)


@contextlib.contextmanager
def _tensorflow_seed(seed):
    """TensorFlow 2: what initializers draw depends on its own seed as well."""
    import tensorflow as tf
    from tensorflow.python.eager.context import context
    old = {name: vars(context()).get(name) for name in ('_seed', '_rng')}
    tf.compat.v2.random.set_seed(seed)
    try:
        yield
    finally:
        vars(context()).update(old)


def session(graph):
    """Returns a session that computes a graph without optimizing it.

    Optimizing takes far longer than computing a small model once.
    """
    import tensorflow as tf
    v1 = tf if hasattr(tf, 'Session') else tf.compat.v1
    config = v1.ConfigProto(allow_soft_placement=True)
    config.graph_options.optimizer_options.opt_level = v1.OptimizerOptions.L0
    rewriting = config.graph_options.rewrite_options
    if hasattr(rewriting, 'disable_meta_optimizer'):  # TensorFlow 1.13
        rewriting.disable_meta_optimizer = True
    return v1.Session(graph=graph, config=config)
