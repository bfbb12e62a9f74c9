"""The table at the end of `make matrix`, and the page with its results."""
import json

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


def test_tests_that_raise_outside_of_the_test_count_as_failed(tmp_path):
    (tmp_path / 'report.xml').write_text(REPORT)
    assert matrix.counts(str(tmp_path / 'report.xml')) == {
        'passed': 4, 'failed': 3, 'skipped': 3}


def test_table_is_in_the_order_of_releases(results, capsys):
    matrix.table.callback()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ['2.2.4', '2.3.1']
    assert max(map(len, lines)) <= 80


def test_recorded_results_take_the_place_of_earlier_ones(results, monkeypatch):
    (results / 'data').mkdir()
    monkeypatch.setattr(records, 'FOLDER', str(results / 'data'))
    monkeypatch.setattr(pages, 'ROOT', str(results))
    monkeypatch.setattr(matrix, 'PAGE', 'page.md')
    record = matrix.command.commands['record'].callback
    record()
    record()
    assert len(records.read(matrix.DATA)) == 2
    row = '| 2.2.4 | tensorflow 1.15.5 | 3.7.16 | 9 | 0 | 1 | 1 of 2 | 2 of 2 |'
    assert (results / 'page.md').read_text().count(row) == 1
