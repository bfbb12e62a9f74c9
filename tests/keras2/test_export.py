"""`python -m contribute export` prepares the pull request or changes nothing."""
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile

import pytest
from checkouts import (
    assert_refused, bytes_of, commit, exported, exported_and_committed,
    exported_and_reverted, git, remove, run, write)
from contribute import prove
from contribute.export import TESTS
from contribute.patches import ROOT, blob_id, patches_of
from contribute.pull_request_keras2 import pull_request_text

MODELS = os.path.join('keras', 'models.py')
# Replaces Keras's own file of that name, which is not in the installed package.
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
    """A git repository with the installed release and a test file."""
    folder = tmp_path / 'checkout'
    folder.mkdir()
    prove.copy_keras(installed, str(folder))
    (folder / 'tests' / 'keras').mkdir(parents=True)
    (folder / TESTS).write_text(THEIR_TESTS)
    git(folder, 'init', '-q')
    commit(folder)
    return folder


def staged(folder):
    return git(folder, 'status', '--porcelain').split('\n')[:-1]


def definitions_in(text):
    return [node.name for node in ast.parse(text).body if hasattr(node, 'name')]


def text_of(path):
    with open(path) as stream:
        return stream.read()


# Successful exports

def test_patch_and_tests_are_staged(checkout, installed):
    result = run(checkout)
    assert result.exit_code == 0, result.output
    assert staged(checkout) == ['M  keras/models.py', 'M  ' + TESTS]
    assert (blob_id((checkout / MODELS).read_bytes())
            == patches_of(installed.release)[0].after)


def test_tests_are_added_before_the_end_of_the_file(checkout):
    run(checkout)
    text = (checkout / TESTS).read_text()
    ours = definitions_in(text_of(prove.PULL_REQUEST_TESTS))
    assert definitions_in(text) == ['test_clone_functional_model'] + ours
    start, end = THEIR_TESTS.split('\n\n\nif')
    assert text.startswith(start + '\n\n\ndef ')
    assert text.endswith('\n\n\nif' + end)


def test_exported_tests_pass_in_the_checkout(checkout):
    run(checkout)
    outcomes = prove.outcomes([str(checkout / TESTS)], str(checkout))
    assert len(outcomes) > 1 and set(outcomes.values()) == {'passes'}


def test_file_without_a_main_block_gets_the_tests_at_its_end(checkout):
    write(checkout, TESTS, THEIR_TESTS.split('\n\n\nif')[0])  # No newline.
    exported(checkout)
    text = (checkout / TESTS).read_text()
    ours = text_of(prove.PULL_REQUEST_TESTS).partition('\n\n\nif __name__')[0]
    last = ours[ours.rindex('def test_'):]
    assert text.endswith(last + '\n') and '__main__' not in text


def test_text_of_the_pull_request_is_printed(checkout, installed):
    output = run(checkout).output
    text = pull_request_text(installed.release)
    assert text in output
    assert '<!--' not in text and '#12202' in text
    for heading in ('What', 'Why', 'Issue', 'How it was tested',
                    'Limitations', 'Release note'):
        assert f'### {heading}\n' in text


def test_dry_run_shows_the_diff_with_context_and_changes_nothing(checkout):
    before = bytes_of(checkout)
    result = run(checkout, '--dry-run')
    assert result.exit_code == 0
    assert bytes_of(checkout) == before
    kinds = {line[:1] for line in result.output.split('\n@@', 1)[1].split('\n')}
    assert {'+', ' '} <= kinds
    run(checkout)
    assert changed_lines(git(checkout, 'diff', '--cached')) == changed_lines(
        result.output)


def changed_lines(diff):
    return [line for line in diff.split('\n') if line[:1] in ('+', '-')]


def test_follow_ups_are_staged_on_request(checkout, installed):
    result = run(checkout, '--follow-ups')
    assert result.exit_code == 0, result.output
    assert staged(checkout) == ['M  keras/engine/network.py', 'M  keras/models.py',
                                'M  ' + TESTS]
    for patch in patches_of(installed.release)[1:]:
        assert blob_id((checkout / patch.file).read_bytes()) == patch.after
    assert 'test_multi_gpu' in (checkout / TESTS).read_text()
    assert pull_request_text(installed.release, follow_ups=True) in result.output


def test_untracked_files_are_ignored(checkout):
    (checkout / 'notes.txt').write_text('Mine.')
    exported(checkout)
    assert staged(checkout)[-1] == '?? notes.txt'


# Refusals

def staged_file(folder):
    (folder / 'new.py').write_text('')
    git(folder, 'add', 'new.py')


REFUSED = {
    'unknown models': (lambda folder: write(folder, MODELS, '\n'),
                       'Its keras/models.py does not match any of them'),
    'no Keras': (lambda folder: remove(folder, 'keras'),
                 'CHECKOUT should contain Keras, with keras/models.py'),
    'exported': (exported, 'is already applied to keras/models.py'),
    'exported and committed': (exported_and_committed,
                               'is already applied to keras/models.py'),
    'changed file': (lambda folder: (folder / 'keras/losses.py').write_text(''),
                     'has changes that are not committed'),
    'staged file': (staged_file, 'has changes that are not committed'),
    'patch reverted': (lambda folder: exported_and_reverted(folder, MODELS),
                       'The tests are already in tests/keras/'),
    'no tests': (lambda folder: remove(folder, TESTS),
                 'CHECKOUT should contain Keras, with tests/keras/'),
    'NumPy not imported': (
        lambda folder: write(folder, TESTS, THEIR_TESTS.replace(
            'import numpy as np\n', '')), 'should import np'),
    'broken tests': (lambda folder: write(folder, TESTS, 'def'),
                     'is not valid Python'),
    'locked index': (lambda folder: (folder / '.git/index.lock').write_text(''),
                     'index.lock'),
    'no repository': (lambda folder: shutil.rmtree(str(folder / '.git')),
                      'not a git repository'),
    'option for Keras 3': (lambda folder: None, '--patch is for Keras 3',
                           '--patch', '1'),
}


@pytest.mark.parametrize('kind', REFUSED)
def test_refusal_changes_nothing(kind, checkout):
    prepare, message, *options = REFUSED[kind]
    prepare(checkout)
    assert_refused(checkout, message, *options)


def test_folder_inside_a_repository_is_refused(checkout):
    assert_refused(checkout / 'keras',
                   'should be the top folder of a git repository')


def test_missing_git_is_reported(checkout, monkeypatch):
    monkeypatch.setenv('PATH', '')
    assert_refused(checkout, 'git is not installed')


def test_follow_ups_need_a_known_network_file(checkout):
    write(checkout, 'keras/engine/network.py', '\n')
    assert_refused(checkout, 'keras/engine/network.py differs from that of Keras',
                   '--follow-ups')
    exported(checkout)


def test_missing_folder_is_refused(tmp_path):
    assert run(tmp_path / 'nowhere').exit_code == 2


@pytest.mark.parametrize('release', ['2.2.4', '2.2.5', '2.3.0', '2.3.1'])
@pytest.mark.parametrize('follow_ups', [False, True])
def test_text_names_every_exported_test_once(release, follow_ups):
    text = pull_request_text(release, follow_ups)
    paths = [prove.PULL_REQUEST_TESTS] + [prove.FOLLOW_UP_TESTS] * follow_ups
    names = [name for path in paths for name in definitions_in(text_of(path))
             if name.startswith('test_')]
    assert sorted(re.findall('^- `(.*)`$', text, re.M)) == sorted(names)


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


# Help of `python -m contribute`

@pytest.mark.parametrize('arguments, shown', [
    ([], ['export', 'prove']), (['export', '--help'], ['--follow-ups', 'CHECKOUT']),
    (['prove', '--help'], ['--without-own-tests', 'python -m contribute prove'])],
    ids=['no command', 'export', 'prove'])
def test_help_lists_commands_and_options(arguments, shown):
    done = subprocess.run([sys.executable, '-m', 'contribute'] + arguments, cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert all(each in done.stdout.decode() for each in shown)
