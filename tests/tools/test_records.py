"""The records in docs/data/, and the command that measures them."""
import os

import pytest
from click.testing import CliRunner

from evidence import records
from evidence.__main__ import ABOUT, main

pytestmark = pytest.mark.once
FILES = sorted(name.partition('.')[0] for name in os.listdir(records.FOLDER))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(records, 'FOLDER', str(tmp_path))
    return tmp_path


def record(what, release, **figures):
    versions = {'keras': release, 'backend': 'jax', 'python': '3.11.7'}
    return records.new(what, versions, figures)


def test_a_record_is_a_line_in_the_order_of_releases(folder):
    found = [record('b', '2.2.10'), record('a', '2.2.10'), record('c', '2.2.9')]
    records.write('some', found)
    lines = (folder / 'some.json').read_text().splitlines()
    assert [line[:13] for line in lines[1:-1]] == [
        '{"what": "c",', '{"what": "b",', '{"what": "a",']
    assert records.read('some') == [found[2], found[0], found[1]]


def test_a_new_record_replaces_those_of_the_same_versions(folder):
    records.enter('some', [record('a', '2.2.4', n=1), record('b', '2.2.4', n=1),
                           record('a', '2.3.1', n=1)])
    records.enter('some', [record('a', '2.2.4', n=2)])
    assert [each['figures']['n'] for each in records.read('some')] == [2, 1]


def test_a_new_record_replaces_those_for_which_like_is_the_same(folder):
    old, new = record('a', '2.2.4'), record('a', '2.2.4')
    new['versions']['python'] = '3.11.8'
    records.enter('some', [old])
    records.enter('some', [new], like=records.release_of)
    assert records.read('some') == [new]


@pytest.mark.parametrize('name', FILES)
def test_the_data_are_as_they_would_be_written(name, folder):
    path = os.path.join(records.ROOT, 'docs', 'data', name + '.json')
    with open(path, encoding='utf-8') as file:
        text = file.read()
    (folder / (name + '.json')).write_text(text, encoding='utf-8')
    found = records.read(name)
    assert found and all(
        list(each) == ['what', 'versions', 'date', 'figures'] for each in found)
    records.write(name, found)
    assert (folder / (name + '.json')).read_text(encoding='utf-8') == text


@pytest.mark.parametrize('name', sorted(set(ABOUT) - {'pictures'}))
def test_the_command_has_the_name(name):
    result = CliRunner().invoke(main, [name, '--help'])
    assert result.exit_code == 0, result.output
    assert '\n  run ' in result.output


def test_the_command_lists_the_names():
    result = CliRunner().invoke(main, ['--help'])
    assert all(name in result.output for name in ABOUT)


def test_the_command_refuses_another_name():
    result = CliRunner().invoke(main, ['nonsense'])
    assert result.exit_code == 2
    assert "No such command 'nonsense'" in result.output
