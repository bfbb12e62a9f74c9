"""`python -m contribute export` for Keras 3: one pull request per bug.

What also applies to Keras 2 is tested in `tests/keras2/test_export.py`.
"""
import ast
import os
import shutil

import pytest
from checkouts import (
    assert_passes_the_checks_of_keras, assert_refused, bytes_of, commit, exported,
    exported_and_committed, exported_and_reverted, git, remove, run, write)
from contribute.patches import blob_id, name_of, parts_for, patches_of
from contribute.export import CLONING, VERSION
from contribute.pull_request_keras3 import proposal, proposal_text

PATCHES = patches_of('3.15.1')
FILES = {part.file for patch in PATCHES for part in patch.parts}
CLONING_TESTS = 'keras/src/models/cloning_test.py'
NORMALIZATION = 'keras/src/layers/preprocessing/normalization.py'
WEIGHTS = 'use-the-weights-of-normalization'


@pytest.fixture
def checkout(installed, tmp_path):
    """A git repository with the relevant files of the release."""
    folder = tmp_path / 'checkout'
    for name in {CLONING_TESTS, VERSION, *FILES}:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(os.path.join(installed.folder, os.pardir, name),
                    str(folder / name))
    git(folder, 'init', '-q')
    commit(folder)
    return folder


def change(folder, name, old, new):
    text = (folder / name).read_text()
    assert text.count(old) == 1
    write(folder, name, text.replace(old, new))


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


def staged(folder):
    return git(folder, 'diff', '--cached', '--name-only').split()


def classes_in(text):
    return [node.name for node in ast.parse(text).body
            if isinstance(node, ast.ClassDef)]


# Successful exports

def test_first_patch_and_its_tests_are_staged(checkout):
    result = run(checkout)
    assert result.exit_code == 0, result.output
    assert sorted(staged(checkout)) == sorted(
        [CLONING_TESTS] + [part.file for part in PATCHES[0].parts])
    for part in PATCHES[0].parts:
        assert blob_id((checkout / part.file).read_bytes()) == part.after


@pytest.mark.parametrize('patch', PATCHES, ids=name_of)
def test_each_patch_is_staged_with_only_its_own_tests(patch, checkout):
    page = proposal(patch)
    before = classes_in((checkout / page.test_file).read_text())
    result = run(checkout, '--patch', name_of(patch)[:4])
    assert result.exit_code == 0, result.output
    for part in patch.parts:
        assert blob_id((checkout / part.file).read_bytes()) == part.after
    assert sorted(staged(checkout)) == sorted(
        [page.test_file] + [part.file for part in patch.parts])
    after = classes_in((checkout / page.test_file).read_text())
    assert after == before + [page.test_class]


@pytest.mark.parametrize('name', ['8', '0008', '0008-' + WEIGHTS, WEIGHTS])
def test_patch_is_chosen_by_number_or_name(name, checkout):
    exported(checkout, '--patch', name)
    assert NORMALIZATION in staged(checkout)


@pytest.mark.parametrize('patch', PATCHES, ids=name_of)
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


def test_issue_pull_request_and_advice_are_printed(checkout):
    output = run(checkout).output
    assert proposal_text(PATCHES[0]) in output
    assert 'Open the issue first' in output


def test_dry_run_shows_the_diff_and_changes_nothing(checkout):
    before = bytes_of(checkout)
    result = run(checkout, '--dry-run', '--patch', '5')
    assert result.exit_code == 0
    assert '+    new_model._trainable = model._trainable\n' in result.output
    assert bytes_of(checkout) == before


@pytest.mark.parametrize('patch', PATCHES, ids=name_of)
def test_patch_is_applied_to_the_main_branch(patch, main_branch):
    result = run(main_branch, '--patch', name_of(patch))
    assert result.exit_code == 0, result.output
    for part in patch.parts:
        text = (main_branch / part.file).read_text()
        assert text.count('# Later.\n') == 1
        assert blob_id(text.replace('# Later.\n', '').encode()) == part.after
    assert sorted(staged(main_branch)) == sorted(
        [proposal(patch).test_file] + [part.file for part in patch.parts])


@pytest.mark.parametrize('patch', PATCHES, ids=name_of)
def test_exported_tests_pass_the_checks_of_keras(patch, checkout):
    run(checkout, '--patch', name_of(patch))
    assert_passes_the_checks_of_keras(checkout / proposal(patch).test_file)


# Refusals

def overtaken(folder):
    change(folder, CLONING, 'return layer.__class__.from_config(layer.get_config())',
           'return copy_of(layer)')


def no_history(folder):
    overtaken(folder)
    shutil.rmtree(str(folder / '.git'))
    git(folder, 'init', '-q')
    commit(folder)


def another_patched(folder):
    exported_and_committed(folder, '--patch', '4')


REFUSED = {
    'overtaken': (overtaken, '0001-clone-lambda-in-memory does not fit: CHECKOUT '
                  'differs from Keras 3.15.1 in the lines of '
                  'keras/src/models/cloning.py'),
    'older release': (
        lambda folder: change(folder, VERSION, '3.15.1', '3.14.1'),
        'should contain Keras 3.15.1 or its main branch. Found: 3.14.1'),
    'no release': (
        lambda folder: change(folder, VERSION, '__version__ =', 'version ='),
        'should contain Keras 3.15.1 or its main branch. Found: None'),
    'no history': (no_history, 'should have the history of Keras'),
    'exported': (
        exported, '0001-clone-lambda-in-memory is already applied to '
        'keras/src/layers/core/lambda_layer.py, keras/src/models/cloning.py'),
    'another exported': (another_patched, '0004-keep-the-flags-of-inputs is already '
                         'applied to keras/src/models'),
    'changed file': (lambda folder: (folder / NORMALIZATION).write_text(''),
                     'has changes that are not committed'),
    'patch reverted': (lambda folder: exported_and_reverted(folder, CLONING),
                       'The tests are already in keras/src/models/cloning_test.py'),
    'no tests': (
        lambda folder: remove(folder, CLONING_TESTS),
        'CHECKOUT should contain Keras, with keras/src/models/cloning_test.py'),
    'broken tests': (lambda folder: write(folder, CLONING_TESTS, 'def'),
                     'is not valid Python'),
}


@pytest.mark.parametrize('kind', REFUSED)
def test_refusal_changes_nothing(kind, checkout):
    prepare, message = REFUSED[kind]
    prepare(checkout)
    assert_refused(checkout, message)


@pytest.mark.parametrize('options, message', [
    (['--patch', name], '--patch should be the number or the name of one of these')
    for name in ('3', '99', '')
] + [(['--follow-ups'], '--follow-ups is for Keras 2')])
def test_wrong_option_is_refused(options, message, checkout):
    assert_refused(checkout, message, *options)


def test_patch_that_the_main_branch_has_is_refused(main_branch):
    another_patched(main_branch)
    assert_refused(main_branch, '0004-keep-the-flags-of-inputs is already applied',
                   '--patch', '4')


def test_patch_that_is_not_overtaken_is_applied(checkout):
    overtaken(checkout)
    exported(checkout, '--patch', '5')


def test_patch_of_another_module_does_not_prevent_export(checkout):
    exported_and_committed(checkout, '--patch', '8')
    exported(checkout, '--patch', '1')
