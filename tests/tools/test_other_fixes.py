"""The tests of the pull request distinguish the patch from other fixes of the bug.

`python -m evidence other-fixes check` runs all of the tests on all of the fixes.
"""
import subprocess

import pytest

from contribute import prove
from evidence import other_fixes, records

pytestmark = pytest.mark.once
WRONG = [fix for fix in other_fixes.FIXES if fix.key in 'abcdef']


@pytest.fixture(scope='module')
def figures():
    """The recorded figures: a dict by the keys of the candidates."""
    return {each['what']: each['figures'] for each in records.read(other_fixes.DATA)}


@pytest.fixture(scope='module')
def texts():
    """`keras/models.py` of the installed Keras, in each of its edits."""
    try:
        release = prove.installed_keras().release
    except subprocess.CalledProcessError:
        release = None
    if release != other_fixes.RELEASE:
        pytest.skip(f'The fixes are edits of Keras {other_fixes.RELEASE}')
    return other_fixes.candidates()


def test_data_come_from_the_tests_as_they_are(figures):
    assert {each['tests'] for each in figures.values()} == {
        other_fixes.fingerprint_of_tests()}


def test_data_come_from_the_edits_as_they_are(figures, texts):
    assert {key: other_fixes.fingerprint(text) for key, text in texts.items()} == {
        key: each['text'] for key, each in figures.items()}


def test_edits_differ(texts):
    assert len(set(texts.values())) == len(texts)


@pytest.mark.slow
@pytest.mark.parametrize('fix', WRONG, ids=lambda fix: fix.key)
def test_wrong_fix_fails_the_test_whose_name_says_why(fix, figures, texts):
    outcomes = other_fixes.judge(texts[fix.key], fix.judge)
    assert outcomes and 'passes' not in outcomes.values()
    assert outcomes.items() <= figures[fix.key]['outcomes'].items()


@pytest.mark.slow
@pytest.mark.parametrize('key', ['patch', 'g'])
def test_right_fix_passes_all(key, figures):
    outcomes = {outcome for test, outcome in figures[key]['outcomes'].items()
                if test.startswith(other_fixes.OF_PULL_REQUEST)}
    assert outcomes == {'passes'}


def test_what_the_merged_fix_loses_is_lost_silently(figures):
    outcomes = figures['f']['outcomes']
    assert {outcome for test, outcome in outcomes.items()
            if '_model_keeps_' in test} == {'wrong numbers'}
