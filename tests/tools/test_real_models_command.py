"""How clones of models of other packages are judged and reported."""
import os

import pytest
from click.testing import CliRunner
from keras_clone.check.difference import Difference, Report

from evidence import real_models, records
from evidence.__main__ import main
from evidence.real_models import judging, keras2, keras3

pytestmark = pytest.mark.once


def report(*differences):
    return Report.of([Difference(outcome, 'layer', what, 'a', got)
                      for outcome, what, got in differences])


@pytest.mark.parametrize('difference, outcome', [
    (('wrong numbers', 'outputs', 'others'), judging.WRONG),
    (('crash', 'cloning', 'TypeError: no'), judging.ERROR),
    (('cannot predict', 'predict', 'InvalidArgumentError: no'), judging.ERROR),
    (('clones only once', 'cloning', 'TypeError: no'), judging.ONCE),
    (('other graph', 'name', 'b'), judging.NAMES),
    (('other graph', 'layer at place 2', 'b'), judging.NAMES),
    (('other graph', 'configuration layer config name', 'b'), judging.NAMES),
    (('other graph', 'trainable', 'False'), 'other graph'),
    (('not independent', 'kernel', 'shared'), 'not independent')])
def test_outcomes_are_told_apart(difference, outcome):
    assert judging.classified(report(difference))[0] == outcome


def test_a_clone_without_a_difference_is_faithful():
    assert judging.classified(report()) == [judging.FAITHFUL, '']


def test_more_than_names_is_not_only_names():
    found = report(('other graph', 'name', 'b'), ('other graph', 'mask', 'none'))
    assert judging.classified(found) == [
        'other graph', 'layer: mask: expected a, got none']


def test_names_of_a_clone_of_a_clone_do_not_hide_what_is_milder():
    found = report(('clones only once', 'name', 'b'),
                   ('other graph', 'mask', 'none'))
    assert judging.classified(found)[0] == 'other graph'


def test_an_error_is_shown_with_the_class_of_the_exception():
    found = judging.classified(report(('crash', 'cloning', 'KeyError: 1')))
    assert real_models.text(*found) == 'error (KeyError)'


@pytest.mark.parametrize('better, worse', [
    ('faithful', 'names of layers only'), ('names of layers only', 'other graph'),
    ('other graph', 'clones only once'), ('clones only once', 'wrong'),
    ('wrong', 'error')])
def test_outcomes_have_an_order(better, worse):
    assert judging.is_worse(worse, better)
    assert not judging.is_worse(better, worse)


def judge(monkeypatch, code):
    """Returns a `Judge` of one model, in a process that runs other code for it."""
    monkeypatch.setattr(judging, 'START', (
        'import sys; sys.path[0] = sys.argv[2]\n'
        'from evidence.real_models import judging\n'
        "print('[\"model\"]', flush=True)\n"
        'sys.stdin.readline()\n') + code)
    return judging.Judge('package', 'on', records.ROOT, seconds=1)


def test_a_model_that_takes_too_long_is_reported_and_the_next_one_is_judged(
        monkeypatch):
    slow = judge(monkeypatch, 'judging.limit(1)\nwhile True: pass')
    assert slow.outcome_of('model')[0] == judging.TOO_SLOW
    assert slow.models == ['model']
    assert slow.outcome_of('model')[0] == judging.TOO_SLOW
    slow.end()


def test_a_model_with_which_the_process_ends_is_reported_as_such(monkeypatch):
    ended = judge(monkeypatch, 'sys.exit(3)')
    assert ended.outcome_of('model') == [
        judging.NOT_JUDGED, 'the process has ended with exit status 3']
    ended.end()


def test_a_package_that_cannot_be_imported_is_named_with_the_reason(monkeypatch):
    monkeypatch.setattr(judging, 'START', 'import not_installed')
    with pytest.raises(RuntimeError, match="package has .*'not_installed'"):
        judging.Judge('package', 'on', records.ROOT, seconds=1)


def record(**models):
    versions = {'keras': '2.2.4', 'backend': 'jax', 'backend_release': '1',
                'python': '3.7'}
    return records.new('some-package', versions, {
        'release': '1.2', 'models': {
            name: dict(zip(real_models.SIDES, outcomes))
            for name, outcomes in models.items()}})


FAITHFUL, WRONG = [judging.FAITHFUL, ''], [judging.WRONG, 'off by 3']


def test_the_page_counts_the_models_of_a_package():
    page = real_models.page([record(a=(WRONG, FAITHFUL), b=(FAITHFUL, FAITHFUL))])
    assert '| some-package | 1.2 | 2 | 1 | 2 | wrong 1 |' in page
    assert '| 2.2.4 | jax 1 | 3.7 | 1 | 2 | 1 | 2 | 0 |' in page
    assert 'does not clone faithfully' not in page


def test_the_page_tells_what_the_overlay_does_not_clone_faithfully():
    page = real_models.page([record(a=(FAITHFUL, WRONG))])
    assert '- some-package, a: wrong: ``off by 3``' in page
    assert '| 1 | 1 | 0 | 1 |' in page


@pytest.mark.parametrize('listed', [keras2, keras3])
def test_the_packages_are_those_of_the_requirements(listed):
    name = 'real-models-{}.txt'.format(listed.__name__.rpartition('.')[2])
    with open(os.path.join(records.ROOT, 'requirements', name)) as file:
        wanted = file.read().partition('# What they import.')[0]
    pinned = [line.partition('==')[0] for line in wanted.splitlines()
              if not line.startswith('#')]
    assert sorted(pinned) == sorted(
        name for name in listed.PACKAGES if name.lower() != 'keras')


def test_the_command_refuses_an_unknown_package():
    result = CliRunner().invoke(main, ['real-models', 'run', '--package', 'none'])
    assert result.exit_code == 2
    assert 'Found: none' in result.output
