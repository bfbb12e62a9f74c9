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
