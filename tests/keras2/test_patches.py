"""The files in `patches/` are small diffs that fix one bug each and break nothing.

The tests that go with the patches run on a copy of the installed Keras, in
separate processes. `python -m contribute prove` prints their outcomes.
"""
import os
import re
import subprocess
import sys

import pytest
from checkouts import text_of
from contribute import patches, prove
from contribute.patches import apply_patch, blob_id, patches_of, releases

# For the other releases and backends, `python -m contribute prove` does what these
# tests do.
pytestmark = pytest.mark.once
# Patches that apply one after the other. Those for Keras 3 are tested in
# keras3/test_patches.py.
RELEASES = ('2.2.4', '2.2.5', '2.3.0', '2.3.1')
ALL_PATCHES = [patch for release in releases() for patch in patches_of(release)]
CRASHES = 'test_sequential_model::test_clone_functional_model_with_'
MASKS = 'test_sequential_model::test_clone_functional_model_keeps_'


def blob_of(path):
    with open(path, 'rb') as stream:
        return blob_id(stream.read())


@pytest.fixture
def copy(installed, tmp_path):
    """A folder with a copy of the installed Keras."""
    prove.copy_keras(installed, str(tmp_path))
    return str(tmp_path)


@pytest.fixture(scope='module')
def results(installed):
    """The tests' outcomes on the released Keras and after each patch."""
    return prove.stages(installed)


# The diffs of all releases

def test_there_are_patches_for_every_release():
    assert tuple(releases()) == RELEASES + ('3.15.1',)


@pytest.mark.parametrize('release, size, line, count', [
    ('2.2.4', (4, 0),
     '+                    output_masks = [None] * len(output_tensors)\n', 1)] + [
    (release, (2, 12), '-                    if layer.supports_', 2)
    for release in RELEASES[1:]])
def test_pull_request_adds_few_lines_and_removes_what_it_replaces(
        release, size, line, count):
    patch = prove.patches_of(release)[0]
    assert (patch.added, patch.removed) == size
    assert text_of(patch.path).count(line) == count


@pytest.mark.parametrize('release', RELEASES)
def test_follow_ups_remove_more_lines_than_they_add(release):
    _, models, network = prove.patches_of(release)
    assert (models.added, models.removed) == (9, 37 if release == '2.2.4' else 29)
    assert (network.added, network.removed) == (1, 0)


@pytest.mark.parametrize('patch', ALL_PATCHES, ids=lambda patch: patch.path[-60:])
def test_patch_has_no_context(patch):
    sections = patches.sections_of(text_of(patch.path))
    assert len(sections) == len(patch.parts)
    for section in sections:
        header, hunks = section.split('@@', 1)
        assert len(header.split('\n')) == 5
        for line in ('@@' + hunks).split('\n')[:-1]:
            assert re.match(r'[+-]|@@ -[\d,]+ \+[\d,]+ @@$', line)


@pytest.mark.parametrize('release', RELEASES)
def test_each_patch_applies_to_the_result_of_the_previous_one(release):
    state = {}
    for patch in prove.patches_of(release):
        assert state.get(patch.file, patch.before) == patch.before
        state[patch.file] = patch.after


def test_patch_that_git_refuses_changes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(patches, 'FOLDER', str(tmp_path))
    (tmp_path / 'a.py').write_bytes(b'a = 1\n')
    (tmp_path / '1').mkdir()
    (tmp_path / '1' / '0001-a.patch').write_bytes(b"""diff --git a/a.py b/a.py
index %s..%s 100644
--- a/a.py
+++ b/a.py
@@ -1 +1 @@
-b = 1
+c = 1
""" % (blob_id(b'a = 1\n').encode(), b'0' * 40))
    patch, = patches_of('1')
    with pytest.raises(ValueError, match='patch does not apply'):
        apply_patch(patch, str(tmp_path))
    assert (tmp_path / 'a.py').read_bytes() == b'a = 1\n'


@pytest.mark.parametrize('current, expected', [
    (b'0\na\nb\n', b'0\na\nnew\nb\n'), (b'a\nnew\nb\n', b'a\nnew\nb\n')])
def test_merge_finds_the_place_of_a_change(current, expected):
    assert patches.merge(current, b'a\nb\n', b'a\nnew\nb\n') == expected


@pytest.mark.parametrize('current, error, message', [
    (b'a\nother\nb\n', ValueError, 'The changed lines differ'),
    (b'', ValueError, 'The changed lines differ'),
    (b'a\0b\n', RuntimeError, 'binary')])
def test_merge_reports_a_conflict_or_an_error_of_git(current, error, message):
    with pytest.raises(error, match=message):
        patches.merge(current, b'a\nb\n', b'a\nnew\nb\n')


# The installed release

def test_patches_are_for_the_installed_files(installed):
    first, _, network = prove.patches_of(installed.release)
    for patch in (first, network):
        path = os.path.join(installed.folder, os.pardir, patch.file)
        assert blob_of(path) == patch.before


def test_patches_apply_and_produce_the_stated_files(installed, copy):
    for patch in prove.patches_of(installed.release):
        apply_patch(patch, copy)
        assert blob_of(os.path.join(copy, patch.file)) == patch.after


def test_first_follow_up_leaves_nothing_that_handles_masks(installed, copy):
    for patch in prove.patches_of(installed.release)[:2]:
        apply_patch(patch, copy)
    text = text_of(os.path.join(copy, 'keras', 'models.py'))
    start = text.index('def _clone_functional_model')
    assert 'mask' not in text[start:text.index('\ndef ', start)]
    assert 'has_arg' not in text


def test_patch_does_not_apply_to_another_file(installed, copy):
    # git itself would append the lines to this file.
    path = os.path.join(copy, 'keras', 'models.py')
    with open(path, 'w') as stream:
        stream.write('# Not Keras.\n')
    with pytest.raises(ValueError, match='is not the file that 0001'):
        apply_patch(prove.patches_of(installed.release)[0], copy)
    assert text_of(path) == '# Not Keras.\n'


def test_patch_does_not_apply_twice(installed, copy):
    patch = prove.patches_of(installed.release)[0]
    apply_patch(patch, copy)
    with pytest.raises(ValueError, match='is not the file that 0001'):
        apply_patch(patch, copy)
    assert blob_of(os.path.join(copy, patch.file)) == patch.after


def test_patches_add_no_flake8_messages(installed, copy):
    for patch in prove.patches_of(installed.release):
        before = flake8(os.path.join(installed.folder, os.pardir, patch.file))
        apply_patch(patch, copy)
        assert flake8(os.path.join(copy, patch.file)) == before


def flake8(path):
    """The messages of flake8 for a file, without their positions."""
    pytest.importorskip('flake8')
    done = subprocess.run(
        [sys.executable, '-m', 'flake8', '--isolated', '--max-line-length=85',
         '--format=%(code)s %(text)s', path], stdout=subprocess.PIPE)
    return done.stdout.decode().split('\n')


# The tests that go with the patches, on the installed release

@pytest.mark.slow
def test_each_patch_fixes_a_test_and_breaks_none(results):
    assert prove.faults_of(results) == []


@pytest.mark.slow
def test_tests_of_the_crash_fail_on_the_release(installed, results):
    before = results[0][1]
    crashing = {name for name in before if before[name] == 'AssertionError'}
    if installed.release == '2.2.4':
        assert crashing == {name for name in before if name.startswith(CRASHES)}
    else:  # The merged fix does not cover this case.
        assert crashing == {CRASHES + 'one_mask_for_two_outputs'}


@pytest.mark.slow
def test_tests_of_masks_fail_only_with_the_merged_fix(installed, results):
    before = results[0][1]
    expected = 'passes' if installed.release == '2.2.4' else 'wrong numbers'
    assert {before[name] for name in before if name.startswith(MASKS)} == {expected}


@pytest.mark.slow
def test_issue_12835_is_fixed_by_the_third_patch(installed, results):
    name = 'test_node_arguments::test_multi_gpu_model_of_a_masked_seq2seq_model'
    seen = [found[name] for _, found in results]
    if results[0][1][name] == 'skipped':
        pytest.skip('multi_gpu_model is for TensorFlow only.')
    elif installed.release == '2.2.4':
        assert seen == 3 * ['InvalidArgumentError'] + ['passes']
    else:  # A recurrent layer's states are no longer call arguments.
        assert seen == 4 * ['passes']


# The proof fails if something is wrong

NAME = 'test_sequential_model::test_it'


@pytest.mark.parametrize('outcomes, faults', [
    ([{'a': 'passes', 'b': 'ValueError'}, {'a': 'wrong numbers', 'b': 'passes'}],
     ['0001 breaks a.', 'a fails with all patches.']),
    ([{'a': 'passes'}, {'a': 'passes'}], ['0001 fixes no test.']),
    ([{NAME: 'ValueError', 'a': 'ValueError'}, {NAME: 'ValueError', 'a': 'passes'},
      {NAME: 'passes', 'a': 'passes'}],
     [NAME + ' needs more than the first patch.'])],
    ids=['breaks a test', 'fixes nothing', 'needs a follow-up'])
def test_proof_fails_if_a_patch(outcomes, faults):
    stages = ['released', '0001', '0002']
    assert prove.faults_of(list(zip(stages, outcomes))) == faults


def test_proof_reports_changed_outcomes_of_keras_own_tests():
    before = {'a': 'passes', 'b': 'passes', 'c': 'ValueError'}
    after = {'a': 'passes', 'b': 'wrong numbers', 'd': 'passes'}
    assert prove.changed_outcomes(before, after) == [
        ('b', 'passes', 'wrong numbers'), ('c', 'ValueError', 'missing'),
        ('d', 'missing', 'passes')]


@pytest.mark.slow
def test_proof_distinguishes_outcomes(installed, tmp_path):
    tests = tmp_path / 'test_some.py'
    tests.write_text('''
import numpy as np
import pytest

def test_good():
    pass

def test_numbers():
    np.testing.assert_allclose(1, 2)

def test_raise():
    raise KeyError('a')

@pytest.mark.skip(reason='to be reported as skipped, not as passed')
def test_skip():
    pass
''')
    assert prove.outcomes([str(tests)], str(tmp_path)) == {
        'test_some::test_good': 'passes', 'test_some::test_numbers': 'wrong numbers',
        'test_some::test_raise': 'KeyError', 'test_some::test_skip': 'skipped'}


@pytest.mark.slow
def test_proof_fails_if_there_are_no_tests(installed, tmp_path):
    tests = tmp_path / 'test_none.py'
    tests.write_text('')
    with pytest.raises(RuntimeError):
        prove.outcomes([str(tests)], str(tmp_path))


@pytest.mark.slow
def test_proof_reports_a_file_that_cannot_be_imported(installed, tmp_path):
    (tmp_path / 'test_good.py').write_text('def test_good(): pass')
    (tmp_path / 'test_broken.py').write_text('raise KeyError')
    outcomes = prove.outcomes([str(path) for path in tmp_path.glob('test_*.py')],
                              str(tmp_path))
    assert outcomes['test_good::test_good'] == 'passes'
    assert len(outcomes) == 2 and set(outcomes.values()) != {'passes'}


def test_proof_reports_that_an_interpreter_has_no_keras(tmp_path):
    python = tmp_path / 'python'
    python.write_text('#!/bin/sh\nexit 1\n')
    python.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, '-m', 'contribute.prove', '--python', str(python)],
        cwd=patches.ROOT, stderr=subprocess.PIPE)
    message = process.communicate()[1].decode()
    assert process.returncode == 1
    assert message.startswith(f'NOT PROVEN: {python} has no Keras.')
