"""Every model of the gallery is cloned faithfully. Each shows one difficulty."""
import pytest
from keras_clone.check import gallery


def case_of(build):
    is_easy = build.__name__ in ('plain_network', 'shared_layer')
    return pytest.param(build, id='guard ' * is_easy + build.__name__)


@pytest.mark.parametrize('build', map(case_of, gallery.MODELS))
def test_clone_is_faithful(build, assert_faithful):
    assert_faithful(build)
