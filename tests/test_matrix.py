"""The table at the end of `make matrix`."""
import json

import matrix
import pytest

pytestmark = pytest.mark.once
REPORT = """<?xml version="1.0"?>
<testsuites><testsuite name="pytest" errors="1" failures="2" skipped="3" tests="10"/>
</testsuites>"""


def test_tests_that_raise_outside_of_the_test_count_as_failed(tmp_path):
    (tmp_path / 'report.xml').write_text(REPORT)
    assert matrix._counts(str(tmp_path / 'report.xml')) == ['4', '3', '3']


def test_table_is_in_the_order_of_releases(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(matrix, 'RESULTS', str(tmp_path))
    for name, release in ('a', '2.3.1'), ('b', '2.2.4'):
        (tmp_path / (name + '.json')).write_text(json.dumps(
            [release, 'theano 1.0.5', '3.7.16', '9', '0', '1', '2 of 20',
             '20 of 20']))
    matrix.print_table()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ['2.2.4', '2.3.1']
    assert max(map(len, lines)) <= 80
