"""The tests of the pull request tell the patch from other fixes of the same bug.

`python tests/alternatives.py --check` runs all of them on all of these.
"""
import json
import subprocess

import pytest

import alternatives
from contribute import prove

pytestmark = pytest.mark.once
WRONG = [one for one in alternatives.ALTERNATIVES if one.key in 'abcdef']


@pytest.fixture(scope='module')
def data():
    with open(alternatives.DATA, encoding='utf-8') as stream:
        return json.load(stream)


@pytest.fixture(scope='module')
def texts():
    """`keras/models.py` of the installed Keras, in each of its edits."""
    try:
        release = prove.installed_keras().release
    except subprocess.CalledProcessError:
        release = None
    if release != alternatives.RELEASE:
        pytest.skip('The alternatives are edits of Keras ' + alternatives.RELEASE)
    return alternatives.candidates()


def request_outcomes(data, key):
    return [outcome for test, outcome in data['candidates'][key]['outcomes'].items()
            if test.startswith('test_sequential_model::')]


def test_page_says_what_the_data_say(data):
    with open(alternatives.PAGE, encoding='utf-8') as stream:
        assert stream.read() == alternatives.render(data)


def test_data_come_from_the_tests_as_they_are(data):
    assert data['tests'] == alternatives.fingerprint_of_tests()


def test_data_come_from_the_edits_as_they_are(data, texts):
    assert {key: alternatives.fingerprint(text) for key, text in texts.items()} == {
        key: record['text'] for key, record in data['candidates'].items()}


def test_edits_differ(texts):
    assert len(set(texts.values())) == len(texts)


@pytest.mark.parametrize('one', WRONG, ids=lambda one: one.key)
def test_wrong_fix_fails_the_test_whose_name_says_why(one, data, texts):
    outcomes = alternatives.judge(texts[one.key], one.judge)
    assert outcomes and 'passes' not in outcomes.values()
    assert outcomes.items() <= data['candidates'][one.key]['outcomes'].items()


@pytest.mark.parametrize('key', ['patch', 'g'])
def test_right_fix_passes_all(key, data):
    assert set(request_outcomes(data, key)) == {'passes'}


def test_what_the_merged_fix_loses_is_lost_without_a_word(data):
    outcomes = data['candidates']['f']['outcomes']
    assert {outcome for test, outcome in outcomes.items()
            if '_model_keeps_' in test} == {'wrong numbers'}
