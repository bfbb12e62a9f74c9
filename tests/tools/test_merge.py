"""Tests are added at the right place in a test file of Keras."""
import pytest
from contribute import merge

THEIRS = """\
def test_theirs():
    pass


if {}:
    {}
"""
OURS = """\
def test_ours():
    assert True
"""


def test_tests_come_before_the_main_guard():
    merged = merge.with_tests('a_test.py', THEIRS.format(
        '__name__ == "__main__"', 'pytest.main([__file__])'), OURS)
    assert merged.index('test_ours') < merged.index('__main__')


@pytest.mark.parametrize('condition', ['True', 'sys.platform == "linux"'])
def test_tests_come_after_another_condition(condition):
    merged = merge.with_tests('a_test.py', THEIRS.format(condition, 'a = 1'), OURS)
    assert merged.index('test_ours') > merged.index('a = 1')


IMPORTS = """\
import numpy as np
from absl.testing import parameterized

from keras.src import layers
from keras.src import models
"""
USES = """\
{}


class Ours:
    uses = {}
"""


@pytest.mark.parametrize('statement, before, after', [
    ('import os', '', '\n\nimport numpy as np\n'),
    ('from os import path', '', '\n\nimport numpy as np\n'),
    ('import jax', '', '\nimport numpy as np\n'),
    ('import pytest', 'import numpy as np\n', '\nfrom absl.testing'),
    ('from absl import app', 'import numpy as np\n', '\nfrom absl.testing'),
    ('from keras.src import backend', 'ized\n\n', '\nfrom keras.src import layers'),
    ('from keras.src import ops', 'import models\n', '\n'),
])
def test_import_is_added_to_its_block(statement, before, after):
    name = statement.split()[-1]
    merged = merge.with_tests('a_test.py', IMPORTS, USES.format(statement, name),
                              only='Ours')
    assert before + statement + after in merged
    assert merged.startswith(statement) or before


@pytest.mark.parametrize('statement', ['import numpy', 'from keras.src import ops'])
def test_import_of_a_later_block_comes_after_the_others(statement):
    merged = merge.with_tests('a_test.py', 'import os\n', USES.format(
        statement, statement.split()[-1]), only='Ours')
    assert merged.startswith(f'import os\n\n{statement}\n')
