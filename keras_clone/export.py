"""The command `keras-clone export`: a pull request in a checkout of Keras."""
import ast
import collections
import difflib
import io
import os
import subprocess
import tempfile

import click

from keras_clone.diffs import apply_patch, blob_id, patches_of, releases, resource
from keras_clone.pull_request import pull_request_text

MODELS = 'keras/models.py'
TESTS = 'tests/keras/test_sequential_model.py'
FOLLOW_UP_TESTS = 'tests/keras/test_node_arguments.py'


class Refusal(click.ClickException):
    """What the user has to put right: a message on stderr, exit status 2."""
    exit_code = 2


@click.command()
@click.argument('checkout', type=click.Path(exists=True, file_okay=False))
@click.option('--dry-run', is_flag=True,
              help='Show the diff, with context, and change nothing.')
@click.option('--follow-ups', is_flag=True,
              help='Apply the follow-up patches as well, and add their tests.')
def export(checkout, dry_run, follow_ups):
    """Prepare the pull request to Keras in CHECKOUT.

    CHECKOUT is the top folder of a git repository that holds Keras 2.2.4, 2.2.5,
    2.3.0 or 2.3.1. The patch of that release is applied, its tests are added to
    Keras's own, both are staged, and the text of the pull request is printed.

    Exit status: 0 if that was done, 2 if CHECKOUT is refused. Nothing in it is
    changed then.
    """
    _require_repository(checkout)
    release = _release_of(checkout, follow_ups)
    patches = patches_of(release)[:None if follow_ups else 1]
    changes = _changes(checkout, patches, follow_ups)
    _require_no_changes_of_others(checkout)
    diff = ''.join(_diff(name, *texts) for name, texts in changes.items())
    if dry_run:
        click.echo(diff, nl=False)
        return
    _git(checkout, 'apply', '--index', '-', stdin=diff)
    click.echo('Staged: {}. Commit with `git commit`.'.format(', '.join(changes)),
               err=True)
    click.echo(pull_request_text(release, follow_ups), nl=False)


def _git(checkout, *arguments, **options):
    """Runs git in a checkout, without touching the index to refresh it."""
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
                      'Found: {}, which is within {}.'.format(checkout, top))


def _require_no_changes_of_others(checkout):
    changed = _git(checkout, 'status', '--porcelain', '--untracked-files=no')
    if changed:
        raise Refusal('CHECKOUT has changes that are not committed:\n{}\nCommit '
                      'them or put them away first.'.format(changed.rstrip()))


def _release_of(checkout, follow_ups):
    """The release that a checkout holds, told by the content of its files."""
    found = blob_id(_read(checkout, MODELS).encode('utf-8'))
    for release in releases():
        if found in [patch.after for patch in patches_of(release)]:
            raise Refusal('The patch for Keras {} is in {} already.'.format(
                release, MODELS))
    matching = [release for release in releases()
                if patches_of(release)[0].before == found]
    if not matching:
        raise Refusal('CHECKOUT should hold Keras {}. Its {} is that of none of '
                      'them. Check out one of these releases.'.format(
                          ', '.join(releases()), MODELS))
    if not follow_ups:
        return matching[0]
    for release in matching:
        network = patches_of(release)[-1]
        if blob_id(_read(checkout, network.file).encode('utf-8')) == network.before:
            return release
    raise Refusal('{} is not that of Keras {}. Leave out --follow-ups, or check out '
                  'a release.'.format(network.file, ' or '.join(matching)))


def _read(checkout, name):
    path = os.path.join(checkout, *name.split('/'))
    try:
        with io.open(path, encoding='utf-8', newline='') as stream:
            return stream.read()
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal('CHECKOUT should hold Keras, with {}. {}'.format(name, error))


def _changes(checkout, patches, follow_ups):
    """What changes: an ordered dict from names of files to their texts before and
    after."""
    changes = collections.OrderedDict()
    with tempfile.TemporaryDirectory() as copy:
        for patch in patches:
            changes[patch.file] = [_read(checkout, patch.file)]
            _write(copy, patch.file, changes[patch.file][0])
        for patch in patches:
            apply_patch(patch, copy)
        for name in changes:
            changes[name].append(_read(copy, name))
    before = after = _read(checkout, TESTS)
    for name in [TESTS] + [FOLLOW_UP_TESTS] * follow_ups:
        after = _with_tests(after, _our_text(*name.split('/')))
    changes[TESTS] = [before, after]
    return changes


def _write(folder, name, text):
    path = os.path.join(folder, *name.split('/'))
    if not os.path.isdir(os.path.dirname(path)):
        os.makedirs(os.path.dirname(path))
    with io.open(path, 'w', encoding='utf-8', newline='') as stream:
        stream.write(text)


def _our_text(*parts):
    with io.open(resource(*parts), encoding='utf-8') as stream:
        return stream.read()


def _with_tests(theirs, ours):
    """Keras's test file with the functions and classes of ours at its end."""
    try:
        tree = ast.parse(theirs)
    except SyntaxError as error:
        raise Refusal('{} is not valid Python: {}'.format(TESTS, error))
    known = _defined(tree)
    twice = sorted(known.intersection(_defined(ast.parse(ours))))
    if twice:
        raise Refusal('The tests are in {} already: {}.'.format(TESTS, twice[0]))
    missing = sorted(_needed(ast.parse(ours)) - _imported(tree))
    if missing:
        raise Refusal('{} should import {}, which the tests use.'.format(
            TESTS, ', '.join(missing)))
    lines = theirs.rstrip('\n').split('\n')
    end = _start_of_main(tree, len(lines))
    parts = ['\n'.join(lines[:end]), _body(ours), '\n'.join(lines[end:])]
    return '\n\n\n'.join(part.strip('\n') for part in parts if part) + '\n'


def _defined(tree):
    return {node.name for node in tree.body
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def _imported(tree):
    return {(name.asname or name.name).split('.')[0] for node in tree.body
            if isinstance(node, (ast.Import, ast.ImportFrom)) for name in node.names}


def _needed(tree):
    """The names that the functions and classes use of those that are imported."""
    used = {node.id for part in tree.body
            if isinstance(part, (ast.FunctionDef, ast.ClassDef))
            for node in ast.walk(part) if isinstance(node, ast.Name)}
    return used & _imported(tree)


def _start_of_main(tree, otherwise):
    last = tree.body[-1] if tree.body else None
    return last.lineno - 1 if isinstance(last, ast.If) else otherwise


def _body(text):
    """The functions and classes of a test file, without what is around them."""
    tree = ast.parse(text)
    lines = text.rstrip('\n').split('\n')
    first = min(part.lineno for node in tree.body
                if isinstance(node, (ast.FunctionDef, ast.ClassDef))
                for part in [node] + node.decorator_list)
    return '\n'.join(lines[first - 1:_start_of_main(tree, len(lines))]).rstrip('\n')


def _diff(name, before, after):
    """A diff of a file as git writes it."""
    header = 'diff --git a/{0} b/{0}\n'.format(name)
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True),
                                 'a/' + name, 'b/' + name)
    return header + ''.join(
        line if line.endswith('\n') else line + '\n\\ No newline at end of file\n'
        for line in lines)
