"""The files in `patches/3.15.1/`: each patch fixes one bug of the unchanged release.

`python -m contribute prove` runs the tests that go with them before and after each.
"""
import contextlib
import os
import re
import shutil
import sys
import types

import pytest
from checkouts import assert_passes_the_checks_of_keras, assert_patched, text_of
from contribute import patches, prove
from contribute.pull_request_keras3 import advice, proposal, proposal_text

PATCHES = patches.patches_of('3.15.1')
BY_NAME = pytest.mark.parametrize('patch', PATCHES, ids=patches.name_of)
FILES = {part.file for patch in PATCHES for part in patch.parts}
# Those that can be applied together: a proposal takes the place of others.
TOGETHER = [patch for patch in PATCHES if not proposal(patch).replaced]
CLONING = 'keras/src/models/cloning.py'
PAGE = os.path.join(patches.ROOT, 'docs', 'patches.md')


def numbers_of(some):
    return [patches.name_of(patch)[:4] for patch in some]


def named(number):
    patch, = (each for each in PATCHES if numbers_of([each]) == [number])
    return patch


@pytest.fixture
def copy(installed, tmp_path):
    """A folder with a copy of the modules that the patches change."""
    for name in FILES:
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(os.path.join(installed.folder, os.pardir, name), str(target))
    return tmp_path


def test_a_number_is_used_once_and_the_page_explains_each_one_that_is_missing():
    used, page = numbers_of(PATCHES), text_of(PAGE).partition('## Keras 3')[2]
    assert used == sorted(set(used)) and used[0] == '0001'
    assert 'lambda' in patches.name_of(PATCHES[0])
    missing = {f'{number:04}' for number in range(1, int(used[-1]))} - set(used)
    assert missing == set(re.findall(r'There is no (\d+):', page))


def test_the_page_lists_the_patches_and_their_sizes():
    page = text_of(PAGE)
    rows = re.findall(r'^\| `(\S+)` \|.*\| (\d+), (\d+) \|$', page, re.M)
    assert rows == [(patches.name_of(patch), str(patch.added), str(patch.removed))
                    for patch in PATCHES]


@BY_NAME
def test_every_patch_is_for_the_installed_release(patch, copy):
    patches.apply_patch(patch, str(copy))
    assert_patched(copy, patch)


@BY_NAME
def test_patch_is_small(patch):
    assert patch.added < (100 if proposal(patch).replaced else 30)
    assert patch.removed <= 1


def test_patches_apply_together(copy):
    prove.apply_together(TOGETHER, str(copy))
    for name in FILES:
        text = (copy / name).read_text()
        compile(text, name, 'exec')
        added = [line for part in patches.parts_for(name, TOGETHER)
                 for _, _, lines in part.hunks for line in lines]
        assert all(line in text for line in added)


def test_apply_together_with_one_patch_equals_apply_patch(copy):
    prove.apply_together(PATCHES[:1], str(copy))
    assert_patched(copy, PATCHES[0])


def test_proposal_applies_with_the_patches_that_it_does_not_replace(copy):
    patch, = prove.alone(PATCHES)
    chosen = prove.with_replacement(patch, PATCHES)
    assert numbers_of(chosen) == [
        number for number in numbers_of(PATCHES) if number not in ('0001', '0002')]
    prove.apply_together(chosen, str(copy))
    for name in FILES:
        compile((copy / name).read_text(), name, 'exec')


def test_change_that_two_patches_make_is_made_once(copy):
    prove.apply_together([PATCHES[0], named('0009')], str(copy))
    assert (copy / CLONING).read_text().count('return layer._clone_in_memory()') == 1


# Patches of a release on a newer Keras

@pytest.fixture
def newer(copy):
    """The copy with later changes, one of them in the lines that 0005 changes."""
    path = copy / CLONING
    text = path.read_text()
    assert text.count(' = Functional(input_tensors') == 1
    path.write_text(text.replace(' = Functional(input_tensors',
                                 ' = Functional(inputs') + '# New.\n')
    return copy


def test_patches_for_a_development_build_are_those_of_the_newest_release():
    assert prove.patches_for('3.16.0.dev2026102704') == PATCHES
    assert prove.patches_for('3.15.1') == PATCHES
    assert prove.patches_for('3.16.0') == prove.patches_for(None) == []


def test_numbers_of_releases_are_compared_as_numbers(monkeypatch):
    monkeypatch.setattr(patches, 'releases', lambda: ['3.15.1', '3.9.2', '2.3.1'])
    assert patches.newest_release() == '3.15.1'


def test_patch_is_applied_to_a_newer_keras(newer, installed):
    before = (newer / CLONING).read_text()
    prove.apply_together(PATCHES[:2], str(newer), os.path.dirname(installed.folder))
    after = (newer / CLONING).read_text().splitlines(True)
    for part in patches.parts_for(CLONING, PATCHES[:2]):
        for _, _, lines in part.hunks:
            after = [line for line in after if line not in lines]
    assert set(after) < set(before.splitlines(True)) and after[-1] == '# New.\n'


def test_patch_whose_lines_a_newer_keras_has_changed_changes_nothing(
        newer, installed):
    before = (newer / CLONING).read_bytes()
    with pytest.raises(ValueError, match='The changed lines differ'):
        prove.apply_together(TOGETHER, str(newer), os.path.dirname(installed.folder))
    assert (newer / CLONING).read_bytes() == before


def test_patch_that_a_newer_keras_has_is_refused(newer, installed):
    arguments = PATCHES[:1], str(newer), os.path.dirname(installed.folder)
    prove.apply_together(*arguments)
    with pytest.raises(ValueError, match='already in keras/src/'):
        prove.apply_together(*arguments)


def test_proof_fails_if_a_patch_does_not_apply(newer, installed, monkeypatch):
    proven = []
    monkeypatch.setattr(prove, '_prove_stages_of_keras_3',
                        lambda keras, fitting, *others: proven.extend(fitting) or [])
    monkeypatch.setattr(prove, 'released_keras', lambda *arguments: (
        contextlib.nullcontext(os.path.dirname(installed.folder))))
    keras = prove.Installed(str(newer / 'keras'), '3.16.0.dev1', '3.11')
    options = types.SimpleNamespace(python=sys.executable)
    fault, = prove._prove_keras_3(keras, options)
    assert '0005-keep-trainable-of-functional-models does not apply' in fault
    assert proven == PATCHES[:3] + PATCHES[4:]


def test_patches_for_the_installed_release_need_no_download(installed):
    with prove.released_keras(installed, PATCHES) as folder:
        assert folder == os.path.dirname(installed.folder)


@BY_NAME
def test_added_lines_have_at_most_80_columns(patch):
    lines = [line for part in patch.parts for _, _, added in part.hunks
             for line in added]
    assert max(map(len, lines)) <= 81
    assert "'" not in re.sub('#.*', '', ''.join(lines)).replace('"', '')


@BY_NAME
def test_patches_do_not_touch_safe_mode(patch):
    for word in ('SafeModeScope', 'safe_mode', 'unsafe', 'func_load', 'marshal'):
        assert word not in text_of(patch.path)


@BY_NAME
def test_page_of_a_patch_names_its_tests(patch):
    page = proposal(patch)
    ours = text_of(os.path.join(patches.ROOT, 'tests', *page.test_file.split('/')))
    assert f'class {page.test_class}(' in ours
    # Tests that clone a model are in the tests of the models.
    assert os.path.dirname(page.test_file) in (
        os.path.dirname(patch.parts[0].file), 'keras/src/models')


def test_every_class_of_tests_belongs_to_one_patch():
    names = [proposal(patch).test_class for patch in PATCHES]
    assert len(set(names)) == len(names)
    written = [name for path in prove.tests_of_keras_3()
               for name in re.findall(r'^class (\w+)', text_of(path), re.M)]
    assert sorted(written) == sorted(names)


@BY_NAME
def test_text_has_the_issue_and_the_pull_request(patch):
    text = proposal_text(patch)
    assert text.startswith('# Issue: ')
    for part in ('Standalone code to reproduce', 'Expected',
                 'Actual, on Keras 3.15.1', '# Pull request: ', 'Fixes #ISSUE.',
                 'that fail without this change:', 'AI tools: '):
        assert part in text


def test_advice_states_the_requirements_of_keras():
    text = advice(PATCHES[0])
    for part in ('issue first', 'assigned to you', 'One pull request per bug',
                 'pre-commit run --files keras/src/layers/core/lambda_layer.py '
                 'keras/src/models/cloning.py',
                 'pytest keras/src/models/cloning_test.py', 'license agreement',
                 'AI tools', 'You are responsible'):
        assert part in text


# The bugs, on the installed release. The proof runs the code of all issues.

@pytest.mark.slow
def test_code_of_the_first_issue_has_the_stated_output(installed, tmp_path):
    patch, page = PATCHES[0], proposal(PATCHES[0])
    released = prove.reproduce(patch, os.path.dirname(installed.folder))
    assert '\n' + page.actual in released
    prove.copy_keras(installed, str(tmp_path))
    patches.apply_patch(patch, str(tmp_path))
    assert prove.reproduce(patch, str(tmp_path)).strip() == page.expected


@pytest.mark.slow
def test_names_of_keras_own_tests_include_their_modules(installed, monkeypatch):
    monkeypatch.setattr(prove, 'OWN_TESTS_OF_KERAS_3',
                        ('layers/core/lambda_layer_test.py',))
    found = prove.own_outcomes_of_keras_3(os.path.dirname(installed.folder))
    assert found['lambda_layer_test.LambdaTest::test_correctness'] == 'passes'
    passes = f'{len(found)} passes'
    assert prove.summary(found, 'lambda_layer_test') == passes


# The proof fails if something is wrong

def stages(before, after, together):
    """Results of a proof of the first patch alone."""
    name, page = patches.name_of(PATCHES[0]), proposal(PATCHES[0])
    prefix = f'cloning_test.{page.test_class}::'
    return [('released', {prefix + test: before[test] for test in before},
             {name: page.actual}),
            (name, {prefix + test: after[test] for test in after},
             {name: page.expected}),
            ('all', {prefix + test: together[test] for test in together}, {})]


def faults(*results):
    return ' '.join(prove.faults_of_keras_3(stages(*results), PATCHES[:1]))


def test_proof_reports_no_faults_of_a_correct_patch():
    before = {'test_a': 'ValueError', 'test_guard_b': 'passes', 'test_c': 'skipped'}
    after = {'test_a': 'passes', 'test_guard_b': 'passes', 'test_c': 'skipped'}
    assert faults(before, after, after) == ''


@pytest.mark.parametrize('before, after, together, message', [
    ('ValueError', 'TypeError', 'passes', 'test_a fails with 0001'),
    ('passes', 'passes', 'passes', 'fixes no test'),
    ('passes', 'passes', 'passes', 'test_a passes without 0001'),
    ('passes', 'TypeError', 'passes', '0001-clone-lambda-in-memory breaks'),
    ('ValueError', 'passes', 'TypeError', 'test_a fails with all'),
])
def test_proof_reports_faults_in_outcomes(before, after, together, message):
    assert message in faults(
        {'test_a': before}, {'test_a': after}, {'test_a': together})


def test_proof_reports_an_issue_with_wrong_output():
    results = stages({'test_a': 'TypeError'}, {'test_a': 'passes'},
                     {'test_a': 'passes'})
    swapped = [results[0][:2] + results[1][2:], results[1][:2] + results[0][2:],
               results[2]]
    found = ' '.join(prove.faults_of_keras_3(swapped, PATCHES[:1]))
    assert 'does not print the expected output' in found
    assert 'does not do what the issue says' in found


@BY_NAME
def test_patched_file_and_tests_pass_the_checks_of_keras(patch, copy):
    patches.apply_patch(patch, str(copy))
    assert_passes_the_checks_of_keras(
        *(copy / part.file for part in patch.parts),
        os.path.join(patches.ROOT, 'tests', *proposal(patch).test_file.split('/')))
