"""The table at the end of `make matrix`, and the page with its results."""
import configparser
import itertools
import json
import re

import pytest

from evidence import matrix, pages, records

pytestmark = pytest.mark.once
REPORT = """<?xml version="1.0"?>
<testsuites><testsuite name="pytest" errors="1" failures="2" skipped="3" tests="10"/>
</testsuites>"""


@pytest.fixture
def results(tmp_path, monkeypatch):
    """A folder with the results of two environments."""
    monkeypatch.setattr(matrix, 'RESULTS', str(tmp_path))
    for name, release in ('a', '2.3.1'), ('b', '2.2.4'):
        (tmp_path / (name + '.json')).write_text(json.dumps(records.new(
            name, {'keras': release, 'backend': 'tensorflow',
                   'backend_release': '1.15.5', 'python': '3.7.16'},
            {'passed': 9, 'failed': 0, 'skipped': 1,
             'models': {'A model': ['crash', 'faithful'],
                        'Another': ['faithful', 'faithful']}})))
    return tmp_path


@pytest.fixture
def record(results, monkeypatch):
    """The command `record`, for the data and the page in the folder."""
    (results / 'data').mkdir()
    monkeypatch.setattr(records, 'FOLDER', str(results / 'data'))
    monkeypatch.setattr(pages, 'ROOT', str(results))
    monkeypatch.setattr(matrix, 'PAGE', 'page.md')
    return matrix.command.commands['record'].callback


def test_tests_that_raise_outside_of_the_test_count_as_failed(tmp_path):
    (tmp_path / 'report.xml').write_text(REPORT)
    assert matrix.counts(str(tmp_path / 'report.xml')) == {
        'passed': 4, 'failed': 3, 'skipped': 3}


def test_table_is_in_the_order_of_releases(results, capsys):
    matrix.table.callback()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ['2.2.4', '2.3.1']
    assert max(map(len, lines)) <= 80


def test_summary_is_a_line_with_the_versions_and_the_figures(results):
    assert matrix.summary(matrix.results()[0]) == (
        'Keras 2.2.4, tensorflow 1.15.5, Python 3.7.16: passed 9, failed 0, '
        'skipped 1, released 1 of 2, overlay 2 of 2')


def test_new_build_of_keras_replaces_the_one_that_an_environment_had_before(
        results, record):
    for release in '3.16.0.dev2', '3.16.0.dev10':
        result = json.loads((results / 'a.json').read_text())
        result['versions']['keras'] = release
        (results / 'a.json').write_text(json.dumps(result))
        record()
    assert [records.release_of(each) for each in records.read(matrix.DATA)] == [
        '2.2.4', '3.16.0.dev10']


def test_recorded_results_take_the_place_of_earlier_ones(results, record):
    record()
    record()
    assert len(records.read(matrix.DATA)) == 2
    row = '| 2.2.4 | tensorflow 1.15.5 | 3.7.16 | 9 | 0 | 1 | 1 of 2 | 2 of 2 | '
    assert (results / 'page.md').read_text().count(row) == 1


def env_list():
    config = configparser.ConfigParser(interpolation=None)
    config.read(pages.path_of('tox.ini'))
    for name in config['tox']['env_list'].split():
        parts = [part.split(',') for part in re.split('[{}]', name)]
        yield from map(''.join, itertools.product(*parts))


def test_workflow_runs_every_environment_of_make_matrix():
    workflow = pages.read('.github/workflows/ci.yml')
    missing = set(env_list()) - set(re.findall(r'- (py\S+)\n', workflow))
    assert missing == {'py36-keras224-tensorflow'}  # GitHub has no Python 3.6.


def test_nightly_build_is_not_part_of_make_matrix_but_of_a_workflow():
    assert not [name for name in env_list() if 'nightly' in name]
    assert re.findall(r'environment: (.*)', pages.read(
        '.github/workflows/nightly.yml')) == [
            'py311-kerasnightly-tensorflow' + part
            for part in ('-judge', '', '-patches')]
