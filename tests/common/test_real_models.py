"""Some models of other packages; `make real-models` clones all of them.

They run in the environments that `make real-models` installs.
"""
import keras
import pytest

from evidence import records
from evidence.real_models import judging

pytestmark = pytest.mark.real_models
PACKAGES = (('keras-bert', 'keras-self-attention', 'keras-transformer',
             'keras-resnet', 'MatchZoo') if keras.__version__.startswith('2.') else
            ('keras-climate', 'keras-lmu', 'keras-tcn', 'ncps', 'tfvit'))


@pytest.mark.parametrize('package', PACKAGES)
def test_models_of_other_packages_are_cloned_faithfully(package):
    judge = judging.Judge(package, 'on', records.ROOT, seconds=300)
    try:
        found = {model: judge.outcome_of(model) for model in judge.models}
    finally:
        judge.end()
    assert found == {model: ['faithful', ''] for model in judge.models}
    assert found
