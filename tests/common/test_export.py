"""`python -m contribute export` prepares the pull request or changes nothing.

For Keras 2, there is one, and follow-ups; for Keras 3, one per bug.
"""
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile

import pytest
from checkouts import (
    assert_passes_the_checks_of_keras, assert_patched, assert_refused, bytes_of,
    commit, exported, exported_and_committed, exported_and_reverted, git, remove,
    run, text_of, write)
from contribute import prove
from contribute.export import CLONING, TESTS, VERSION
from contribute.patches import ROOT, blob_id, name_of, parts_for, patches_of
from contribute.pull_request_keras2 import pull_request_text
from contribute.pull_request_keras3 import proposal, proposal_text

from major_versions import IS_KERAS2

on_keras2 = pytest.mark.skipif(not IS_KERAS2, reason='Keras 3 has other patches')
on_keras3 = pytest.mark.skipif(IS_KERAS2, reason='Keras 2 has other patches')
PATCHES = patches_of('3.15.1')
FILES = {part.file for patch in PATCHES for part in patch.parts}
NORMALIZATION = 'keras/src/layers/preprocessing/normalization.py'
WEIGHTS = 'use-the-weights-of-normalization'
# A file that the first patch changes, one that it does not, and that of its tests,
# also as it is named in errors.
if IS_KERAS2:
    CHANGED, UNCHANGED = 'keras/models.py', 'keras/losses.py'
    TEST_FILE, TEST_PLACE = TESTS, 'tests/keras/'
else:
    CHANGED, UNCHANGED = CLONING, NORMALIZATION
    TEST_FILE = TEST_PLACE = 'keras/src/models/cloning_test.py'
# Replaces Keras 2's own file of that name, which is not in the installed package.
THEIR_TESTS = '''from __future__ import print_function
import pytest
import numpy as np

from keras import backend as K
import keras


def test_clone_functional_model():
    assert keras and np and K


if __name__ == '__main__':
    pytest.main([__file__])
'''


@pytest.fixture
def checkout(installed, tmp_path):
    """A git repository with the files of the installed release, and with tests."""
    folder = tmp_path / 'checkout'
    folder.mkdir()
    if IS_KERAS2:
        prove.copy_keras(installed, str(folder))
        (folder / 'tests' / 'keras').mkdir(parents=True)
        (folder / TESTS).write_text(THEIR_TESTS)
    for name in [] if IS_KERAS2 else {TEST_FILE, VERSION, *FILES}:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(os.path.join(installed.folder, os.pardir, name),
                    str(folder / name))
    git(folder, 'init', '-q')
    commit(folder)
    return folder


def staged(folder):
    return git(folder, 'diff', '--cached', '--name-only').split()


def definitions_in(text):
    return [node.name for node in ast.parse(text).body if hasattr(node, 'name')]


def changed_lines(diff):
    return [line for line in diff.split('\n') if line[:1] in ('+', '-')]


def change(folder, name, old, new):
    text = (folder / name).read_text()
    assert text.count(old) == 1
    write(folder, name, text.replace(old, new))


# Successful exports

def test_first_patch_and_its_tests_are_staged(checkout, installed):
    patch = patches_of(installed.release)[0]
    exported(checkout)
    assert sorted(staged(checkout)) == sorted(
        [TEST_FILE] + [part.file for part in patch.parts])
    assert_patched(checkout, patch)


def test_text_of_the_pull_request_is_printed(checkout, installed):
    text = pull_request_text(installed.release) if IS_KERAS2 else (
        proposal_text(PATCHES[0]))
    assert text in run(checkout).output


def test_dry_run_shows_the_diff_with_context_and_changes_nothing(checkout):
    before = bytes_of(checkout)
    diff = exported(checkout, '--dry-run')
    assert bytes_of(checkout) == before
    kinds = {line[:1] for line in diff.split('\n@@', 1)[1].split('\n')}
    assert {'+', ' '} <= kinds
    run(checkout)
    assert changed_lines(git(checkout, 'diff', '--cached')) == changed_lines(diff)


def test_untracked_files_are_ignored(checkout):
    (checkout / 'notes.txt').write_text('Mine.')
    exported(checkout)
    assert git(checkout, 'status', '--porcelain').endswith('?? notes.txt\n')


# Refusals

def staged_file(folder):
    (folder / 'new.py').write_text('')
    git(folder, 'add', 'new.py')


def outdated(folder):
    change(folder, CLONING, 'return layer.__class__.from_config(layer.get_config())',
           'return copy_of(layer)')


def no_history(folder):
    outdated(folder)
    shutil.rmtree(str(folder / '.git'))
    git(folder, 'init', '-q')
    commit(folder)


def another_patched(folder):
    exported_and_committed(folder, '--patch', '4')


APPLIED = ('is already applied to keras/models.py' if IS_KERAS2 else
           '0001-clone-lambda-in-memory is already applied to '
           'keras/src/layers/core/lambda_layer.py, keras/src/models/cloning.py')
REFUSED = {
    'exported': (exported, APPLIED),
    'exported and committed': (exported_and_committed, APPLIED),
    'changed file': (lambda folder: (folder / UNCHANGED).write_text(''),
                     'has changes that are not committed'),
    'staged file': (staged_file, 'has changes that are not committed'),
    'patch reverted': (lambda folder: exported_and_reverted(folder, CHANGED),
                       'The tests are already in ' + TEST_PLACE),
    'no tests': (lambda folder: remove(folder, TEST_FILE),
                 'CHECKOUT should contain Keras, with ' + TEST_PLACE),
    'broken tests': (lambda folder: write(folder, TEST_FILE, 'def'),
                     'is not valid Python'),
    'locked index': (lambda folder: (folder / '.git/index.lock').write_text(''),
                     'index.lock'),
    'no repository': (lambda folder: shutil.rmtree(str(folder / '.git')),
                      'not a git repository'),
}
if IS_KERAS2:
    REFUSED.update({
        'unknown models': (lambda folder: write(folder, CHANGED, '\n'),
                           'Its keras/models.py does not match any of them'),
        'no Keras': (lambda folder: remove(folder, 'keras'),
                     'CHECKOUT should contain Keras, with keras/models.py'),
        'NumPy not imported': (
            lambda folder: write(folder, TESTS, THEIR_TESTS.replace(
                'import numpy as np\n', '')), 'should import np'),
        'option for Keras 3': (lambda folder: None, '--patch is for Keras 3',
                               '--patch', '1'),
    })
else:
    REFUSED.update({
        'outdated': (outdated, '0001-clone-lambda-in-memory does not fit: '
                     'CHECKOUT differs from Keras 3.15.1 in the lines of '
                     'keras/src/models/cloning.py'),
        'older release': (
            lambda folder: change(folder, VERSION, '3.15.1', '3.14.1'),
            'should contain Keras 3.15.1 or its main branch. Found: 3.14.1'),
        'no release': (
            lambda folder: change(folder, VERSION, '__version__ =', 'version ='),
            'should contain Keras 3.15.1 or its main branch. Found: None'),
        'no history': (no_history, 'should have the history of Keras'),
        'another exported': (another_patched, '0004-keep-the-flags-of-inputs is '
                             'already applied to keras/src/models'),
        'option for Keras 2': (lambda folder: None, '--follow-ups is for Keras 2',
                               '--follow-ups'),
        **{f'unknown patch {name}': (
            lambda folder: None,
            '--patch should be the number or the name of one of these',
            '--patch', name) for name in ('3', '99', '')},
    })


@pytest.mark.parametrize('kind', REFUSED)
def test_refusal_changes_nothing(kind, checkout):
    prepare, message, *options = REFUSED[kind]
    prepare(checkout)
    assert_refused(checkout, message, *options)


@on_keras2
def test_folder_inside_a_repository_is_refused(checkout):
    assert_refused(checkout / 'keras',
                   'should be the top folder of a git repository')


def test_missing_git_is_reported(checkout, monkeypatch):
    monkeypatch.setenv('PATH', '')
    assert_refused(checkout, 'git is not installed')


def test_missing_folder_is_refused(tmp_path):
    assert run(tmp_path / 'nowhere').exit_code == 2


# The tests and follow-ups for Keras 2

@on_keras2
def test_tests_are_added_before_the_end_of_the_file(checkout):
    run(checkout)
    text = (checkout / TESTS).read_text()
    ours = definitions_in(text_of(prove.PULL_REQUEST_TESTS))
    assert definitions_in(text) == ['test_clone_functional_model'] + ours
    start, end = THEIR_TESTS.split('\n\n\nif')
    assert text.startswith(start + '\n\n\ndef ')
    assert text.endswith('\n\n\nif' + end)


@pytest.mark.slow
@on_keras2
def test_exported_tests_pass_in_the_checkout(checkout):
    run(checkout)
    outcomes = prove.outcomes([str(checkout / TESTS)], str(checkout))
    assert len(outcomes) > 1 and set(outcomes.values()) == {'passes'}


@on_keras2
def test_file_without_a_main_block_gets_the_tests_at_its_end(checkout):
    write(checkout, TESTS, THEIR_TESTS.split('\n\n\nif')[0])  # No newline.
    exported(checkout)
    text = (checkout / TESTS).read_text()
    ours = text_of(prove.PULL_REQUEST_TESTS).partition('\n\n\nif __name__')[0]
    last = ours[ours.rindex('def test_'):]
    assert text.endswith(last + '\n') and '__main__' not in text


@on_keras2
def test_text_has_the_sections_of_a_pull_request(installed):
    text = pull_request_text(installed.release)
    assert '<!--' not in text and '#12202' in text
    for heading in ('What', 'Why', 'Issue', 'How it was tested',
                    'Limitations', 'Release note'):
        assert f'### {heading}\n' in text


@on_keras2
def test_follow_ups_are_staged_on_request(checkout, installed):
    printed = exported(checkout, '--follow-ups')
    assert staged(checkout) == ['keras/engine/network.py', 'keras/models.py', TESTS]
    for patch in patches_of(installed.release)[1:]:
        assert_patched(checkout, patch)
    assert 'test_multi_gpu' in (checkout / TESTS).read_text()
    assert pull_request_text(installed.release, follow_ups=True) in printed


@on_keras2
def test_follow_ups_need_a_known_network_file(checkout):
    write(checkout, 'keras/engine/network.py', '\n')
    assert_refused(checkout, 'keras/engine/network.py differs from that of Keras',
                   '--follow-ups')
    exported(checkout)


@on_keras2
@pytest.mark.parametrize('release', ['2.2.4', '2.2.5', '2.3.0', '2.3.1'])
@pytest.mark.parametrize('follow_ups', [False, True])
def test_text_names_every_exported_test_once(release, follow_ups):
    text = pull_request_text(release, follow_ups)
    paths = [prove.PULL_REQUEST_TESTS] + [prove.FOLLOW_UP_TESTS] * follow_ups
    names = [name for path in paths for name in definitions_in(text_of(path))
             if name.startswith('test_')]
    assert sorted(re.findall('^- `(.*)`$', text, re.M)) == sorted(names)


@pytest.mark.slow
@on_keras2
@pytest.mark.parametrize('follow_ups', [False, True])
def test_text_names_the_tests_that_fail_without_the_change(
        follow_ups, checkout, installed):
    run(checkout, *['--follow-ups'] * follow_ups)
    with tempfile.TemporaryDirectory() as released:
        prove.copy_keras(installed, released)
        outcomes = prove.outcomes([str(checkout / TESTS)], released)
    text = pull_request_text(installed.release, follow_ups)
    failing = text.partition('fail without')[2].partition('These pass')[0]
    found = {name.partition('::')[2]: outcome for name, outcome in outcomes.items()}
    # On Theano, some are skipped.
    assert {name for name in re.findall('^- `(.*)`$', failing, re.M)
            if found[name] != 'skipped'} == {
                name for name in found if found[name] not in ('passes', 'skipped')}


@on_keras2
@pytest.mark.parametrize('arguments, shown', [
    ([], ['export', 'prove']), (['export', '--help'], ['--follow-ups', 'CHECKOUT']),
    (['prove', '--help'], ['--without-own-tests', 'python -m contribute prove'])],
    ids=['no command', 'export', 'prove'])
def test_help_lists_commands_and_options(arguments, shown):
    done = subprocess.run([sys.executable, '-m', 'contribute'] + arguments, cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert all(each in done.stdout.decode() for each in shown)


# The patches for Keras 3, and its main branch

@pytest.fixture
def main_branch(checkout):
    """The same repository, with later changes."""
    change(checkout, VERSION, '3.15.1', '3.16.0')
    for name in FILES:
        lines = (checkout / name).read_text().splitlines(True)
        hunks = [hunk for part in parts_for(name, PATCHES) for hunk in part.hunks]
        # Somewhere between the changes, but not next to one.
        place = next(i for i in range(len(lines))
                     if all(abs(start - i) > 20 for start, _, _ in hunks))
        lines.insert(place, '# Later.\n')
        write(checkout, name, ''.join(lines))
    return checkout


for_each_patch = pytest.mark.parametrize('patch', PATCHES, ids=name_of)


@on_keras3
@for_each_patch
def test_each_patch_is_staged_with_only_its_own_tests(patch, checkout):
    page = proposal(patch)
    before = definitions_in((checkout / page.test_file).read_text())
    exported(checkout, '--patch', name_of(patch)[:4])
    assert_patched(checkout, patch)
    assert sorted(staged(checkout)) == sorted(
        [page.test_file] + [part.file for part in patch.parts])
    after = definitions_in((checkout / page.test_file).read_text())
    assert after == before + [page.test_class]


@on_keras3
@pytest.mark.parametrize('name', ['8', '0008', '0008-' + WEIGHTS, WEIGHTS])
def test_patch_is_chosen_by_number_or_name(name, checkout):
    exported(checkout, '--patch', name)
    assert NORMALIZATION in staged(checkout)


@on_keras3
@for_each_patch
def test_names_that_the_tests_use_are_imported_in_order(patch, checkout):
    run(checkout, '--patch', name_of(patch))
    text = (checkout / proposal(patch).test_file).read_text()
    compile(text, 'tests', 'exec')
    imports = [line.split()[1::2] for line in text.split('\n')
               if line.startswith('from keras')]
    assert imports == sorted(imports)
    tree = ast.parse(text)
    known = {name.asname or name.name for node in tree.body
             if isinstance(node, (ast.Import, ast.ImportFrom))
             for name in node.names}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert {'backend', 'load_model', 'object_registration', 'os',
            'parameterized'} & used <= known


@on_keras3
def test_advice_is_printed(checkout):
    assert 'Open the issue first' in run(checkout).output


@on_keras3
@for_each_patch
def test_patch_is_applied_to_the_main_branch(patch, main_branch):
    exported(main_branch, '--patch', name_of(patch))
    for part in patch.parts:
        text = (main_branch / part.file).read_text()
        assert text.count('# Later.\n') == 1
        assert blob_id(text.replace('# Later.\n', '').encode()) == part.after
    assert sorted(staged(main_branch)) == sorted(
        [proposal(patch).test_file] + [part.file for part in patch.parts])


@on_keras3
@for_each_patch
def test_exported_tests_pass_the_checks_of_keras(patch, checkout):
    run(checkout, '--patch', name_of(patch))
    assert_passes_the_checks_of_keras(checkout / proposal(patch).test_file)


@on_keras3
def test_patch_that_the_main_branch_has_is_refused(main_branch):
    another_patched(main_branch)
    assert_refused(main_branch, '0004-keep-the-flags-of-inputs is already applied',
                   '--patch', '4')


@on_keras3
def test_patch_whose_lines_did_not_change_is_applied(checkout):
    outdated(checkout)
    exported(checkout, '--patch', '5')


@on_keras3
def test_patch_of_another_module_does_not_prevent_export(checkout):
    exported_and_committed(checkout, '--patch', '8')
    exported(checkout, '--patch', '1')
