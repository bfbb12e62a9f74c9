"""Fixtures: the judge of a clone, and the installed Keras."""
import os
import subprocess
import sys

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import pytest  # noqa: E402
from contribute import prove  # noqa: E402


@pytest.fixture
def assert_faithful():
    """Builds a model, clones it twice and fails if a clone is unfaithful.

    `keras_clone/check/faithfulness.py` documents what it checks. Returns a clone,
    whose graph of TensorFlow 1 was cleared.
    """
    from keras.models import clone_model
    from keras_clone.check.faithfulness import check_clone

    def check(build, exact_ops=True, **kwargs):
        clones = []

        def clone(model):
            clones.append(clone_model(model))
            return clones[-1]
        report = check_clone(build, clone, exact_ops=exact_ops, **kwargs)
        assert report.faithful, '\n'.join(map(str, report.differences))
        return clones[0]
    return check


@pytest.fixture(autouse=True)
def own_graph():
    """Clears the graph of TensorFlow 1 after each test.

    All models share it, and the more it holds, the longer `predict` takes.
    """
    yield
    keras = sys.modules.get('keras')
    if (getattr(keras, '__version__', '').startswith('2.') and
            keras.backend.backend() == 'tensorflow'):
        keras.backend.clear_session()


@pytest.fixture(scope='session')
def installed():
    """The installed Keras, if there are patches for it."""
    try:
        found = prove.installed_keras()
    except subprocess.CalledProcessError:
        pytest.skip('Keras is not installed.')
    if not prove.patches_of(found.release):
        pytest.skip(f'There are no patches for Keras {found.release}.')
    return found
