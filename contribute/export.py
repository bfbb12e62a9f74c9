"""Prepares a pull request in a checkout of Keras: `python -m contribute export`."""
import collections
import difflib
import os
import re
import subprocess
import tempfile

import click

from contribute.merge import CannotMerge, with_tests
from contribute.patches import (
    ROOT, apply_patch, blob_id, merge, name_of, newest_release, numbers_of,
    patches_of, release_of, releases, with_parts)
from contribute.pull_request_keras2 import pull_request_text
from contribute.pull_request_keras3 import advice, proposal, proposal_text

MODELS = 'keras/models.py'
CLONING = 'keras/src/models/cloning.py'
VERSION = 'keras/src/version.py'
TESTS = 'tests/keras/test_sequential_model.py'
FOLLOW_UP_TESTS = 'tests/keras/test_node_arguments.py'


# What to do in a checkout: the changes (a dict from names of files to their texts
# before and after), the tests to add (triples: Keras's test file, ours, the class to
# add or None for all), the texts to print.
Plan = collections.namedtuple('Plan', 'changes tests text advice')


class Refusal(click.ClickException):
    """An error that the user can fix: a message on stderr, exit status 2."""
    exit_code = 2


@click.command()
@click.argument('checkout', type=click.Path(exists=True, file_okay=False))
@click.option('--dry-run', is_flag=True,
              help='Show the diff, with context, and change nothing.')
@click.option('--follow-ups', is_flag=True,
              help='Keras 2: apply the follow-up patches as well, and add their '
                   'tests.')
@click.option('--patch', 'name', metavar='NUMBER',
              help='Keras 3, one pull request per bug: the number or the name of '
                   'the patch to apply. Default: the first one.')
def export(checkout, dry_run, follow_ups, name):
    """Prepare the pull request to Keras in CHECKOUT.

    CHECKOUT is the top folder of a git repository with Keras 2.2.4, 2.2.5,
    2.3.0, 2.3.1, 3.15.1 or Keras's main branch. The patch is applied, its tests are
    added to Keras's own, both are staged, and the text of the pull request is
    printed. For Keras 3, the text of the issue to open first is printed as well.

    For Keras 2, the file to change has to be that of the release. For Keras 3, the
    lines around each change have to be those of 3.15.1, which is read from the
    history of CHECKOUT.

    Exit status: 0 on success, 2 if CHECKOUT is refused. It is left unchanged then.
    """
    _require_repository(checkout)
    if os.path.exists(os.path.join(checkout, *CLONING.split('/'))):
        plan = _plan_for_keras_3(checkout, follow_ups, name)
    else:
        plan = _plan_for_keras_2(checkout, follow_ups, name)
    changes = _changes(checkout, plan)
    _require_no_uncommitted_changes(checkout)
    diff = ''.join(_diff(name, *texts) for name, texts in changes.items())
    if dry_run:
        click.echo(diff, nl=False)
        return
    _git(checkout, 'apply', '--index', '-', stdin=diff)
    click.echo('Staged: {}. Commit with `git commit`.{}'.format(
        ', '.join(changes), plan.advice), err=True)
    click.echo(plan.text, nl=False)


def _plan_for_keras_2(checkout, follow_ups, name):
    if name is not None:
        raise Refusal('--patch is for Keras 3. Keras 2 has --follow-ups.')
    release = _release_of(checkout, follow_ups)
    patches = patches_of(release)[:None if follow_ups else 1]
    return Plan(_changes_of_keras_2(checkout, patches),
                [(TESTS, ours, None)
                 for ours in [TESTS] + [FOLLOW_UP_TESTS] * follow_ups],
                pull_request_text(release, follow_ups), '')


def _plan_for_keras_3(checkout, follow_ups, name):
    if follow_ups:
        raise Refusal('--follow-ups is for Keras 2. Keras 3 asks for one pull '
                      'request per bug: choose it with --patch.')
    release = newest_release()
    patch = _patch_named(name, patches_of(release))
    _require_release(checkout, release)
    changes = _changes_of_keras_3(checkout, patch, patches_of(release))
    page = proposal(patch)
    ours = '/'.join(['tests', page.test_file])
    return Plan(changes, [(page.test_file, ours, page.test_class)],
                proposal_text(patch), '\n' + advice(patch).rstrip())


def _require_release(checkout, release):
    """Refuses a checkout of a Keras 3 that is older than the release."""
    found = re.search(r'^__version__ = "(\d+\.\d+\.\d+)', _read(checkout, VERSION),
                      re.MULTILINE)
    if not found or numbers_of(found.group(1)) < numbers_of(release):
        raise Refusal('CHECKOUT should contain Keras {} or its main branch. Found: '
                      '{}.'.format(release, found and found.group(1)))


def _changes_of_keras_3(checkout, patch, patches):
    for other in patches:
        if _files(other) & _files(patch) and _is_applied(checkout, other):
            raise Refusal('{} is already applied to {}. Keras asks for one pull '
                          'request per bug: start another branch.'.format(
                              name_of(other), ', '.join(sorted(_files(other)))))
    changes = {}
    for part in patch.parts:
        after = _merged(checkout, part, release_of(patch))
        if after is None:
            raise Refusal(
                '{} does not fit: CHECKOUT differs from Keras {} in the lines of {} '
                'that the patch changes. A later Keras may have fixed the bug, or '
                'changed these lines.'.format(
                    name_of(patch), release_of(patch), part.file))
        changes[part.file] = [_read(checkout, part.file), after]
    return changes


def _files(patch):
    return {part.file for part in patch.parts}


def _is_applied(checkout, patch):
    release = release_of(patch)
    return all(_merged(checkout, part, release) == _read(checkout, part.file)
               for part in patch.parts)


def _merged(checkout, part, release):
    """The text of a changed file in a checkout; None if the change does not fit."""
    try:
        released = _git(checkout, 'cat-file', 'blob', part.before).encode('utf-8')
    except Refusal:
        raise Refusal(
            'CHECKOUT should have the history of Keras, with the {0} of Keras {1}. '
            'Run `git fetch --depth 1 https://github.com/keras-team/keras tag v{1}` '
            'in it first.'.format(part.file, release))
    current = _read(checkout, part.file).encode('utf-8')
    try:
        return merge(current, released, with_parts([part], released)).decode()
    except ValueError:
        return None


def _patch_named(name, patches):
    if name is None:
        return patches[0]
    for patch in patches:
        number, _, words = name_of(patch).partition('-')
        if name in (name_of(patch), words) or name.zfill(len(number)) == number:
            return patch
    raise Refusal('--patch should be the number or the name of one of these: {}. '
                  'Found: {}.'.format(', '.join(map(name_of, patches)), name))


def _git(checkout, *arguments, **options):
    """Runs git in a checkout, without refreshing the index."""
    command = ['git', '--no-optional-locks', '-C', checkout] + list(arguments)
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError:
        raise Refusal('git is not installed. Install it first.')
    out, errors = process.communicate(options.get('stdin', '').encode('utf-8'))
    if process.returncode:
        raise Refusal('`git {}` failed in {}: {}'.format(
            ' '.join(arguments), checkout, errors.decode('utf-8').strip()))
    return out.decode('utf-8')


def _require_repository(checkout):
    top = _git(checkout, 'rev-parse', '--show-toplevel').strip()
    if os.path.realpath(top) != os.path.realpath(checkout):
        raise Refusal('CHECKOUT should be the top folder of a git repository. '
                      'Found: {}, which is inside {}.'.format(checkout, top))


def _require_no_uncommitted_changes(checkout):
    changed = _git(checkout, 'status', '--porcelain', '--untracked-files=no')
    if changed:
        raise Refusal('CHECKOUT has changes that are not committed:\n{}\nCommit '
                      'or stash them first.'.format(changed.rstrip()))


def _release_of(checkout, follow_ups):
    """The release in a checkout, identified by the content of its files."""
    found = blob_id(_read(checkout, MODELS).encode('utf-8'))
    known = [release for release in releases() if release.startswith('2.')]
    for release in known:
        if found in [patch.after for patch in patches_of(release)]:
            raise Refusal(f'The patch for Keras {release} is already applied to '
                          f'{MODELS}.')
    matching = [release for release in known
                if patches_of(release)[0].before == found]
    if not matching:
        raise Refusal('CHECKOUT should contain Keras {}. Its {} does not match any '
                      'of them. Check out one of these releases.'.format(
                          ', '.join(known), MODELS))
    if not follow_ups:
        return matching[0]
    for release in matching:
        network = patches_of(release)[-1]
        if blob_id(_read(checkout, network.file).encode('utf-8')) == network.before:
            return release
    raise Refusal('{} differs from that of Keras {}. Leave out --follow-ups, or '
                  'check out a release.'.format(network.file,
                                                ' or '.join(matching)))


def _read(checkout, name):
    path = os.path.join(checkout, *name.split('/'))
    try:
        with open(path, encoding='utf-8', newline='') as stream:
            return stream.read()
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal(f'CHECKOUT should contain Keras, with {name}. {error}')


def _changes_of_keras_2(checkout, patches):
    changes = {}
    with tempfile.TemporaryDirectory() as copy:
        for patch in patches:
            changes[patch.file] = [_read(checkout, patch.file)]
            _write(copy, patch.file, changes[patch.file][0])
        for patch in patches:
            apply_patch(patch, copy)
        for name in changes:
            changes[name].append(_read(copy, name))
    return changes


def _changes(checkout, plan):
    """The changes of a plan, with those of the tests."""
    changes = dict(plan.changes)
    for name, ours, only in plan.tests:
        before, after = changes.get(name) or 2 * [_read(checkout, name)]
        try:
            after = with_tests(name, after, _our_text(*ours.split('/')), only)
        except CannotMerge as error:
            raise Refusal(str(error))
        changes[name] = [before, after]
    return changes


def _write(folder, name, text):
    path = os.path.join(folder, *name.split('/'))
    if not os.path.isdir(os.path.dirname(path)):
        os.makedirs(os.path.dirname(path))
    with open(path, 'w', encoding='utf-8', newline='') as stream:
        stream.write(text)


def _our_text(*parts):
    with open(os.path.join(ROOT, *parts), encoding='utf-8') as stream:
        return stream.read()


def _diff(name, before, after):
    """A diff of a file as git writes it."""
    header = 'diff --git a/{0} b/{0}\n'.format(name)
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True),
                                 'a/' + name, 'b/' + name)
    return header + ''.join(
        line if line.endswith('\n') else line + '\n\\ No newline at end of file\n'
        for line in lines)
