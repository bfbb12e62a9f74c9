"""What the tests share: the judge of a clone."""
import os

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')

import keras_clone  # noqa: E402
import pytest  # noqa: E402

if (keras_clone.keras_release() or '2.').startswith('2.'):
    collect_ignore = ['keras3']


@pytest.fixture
def assert_faithful():
    """Builds a model, clones it twice and fails if a clone is unfaithful.

    What it checks is told in `keras_clone/faithfulness.py`.
    """
    from keras.models import clone_model
    from keras_clone.faithfulness import check_clone

    def check(build, **kwargs):
        report = check_clone(build, clone_model, **kwargs)
        assert report.faithful, '\n'.join(map(str, report.differences))
    return check
