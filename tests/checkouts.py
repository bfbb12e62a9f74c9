"""Helpers to test `python -m contribute export` with Git repositories."""
import subprocess
import sys

import click.testing
import pytest
from contribute.export import export
from contribute.patches import blob_id


# The checks of Keras 3's pre-commit hooks, with the settings of its pyproject.toml.
RUFF = [sys.executable, '-m', 'ruff']
SETTINGS = ['--isolated', '--no-cache', '--line-length', '80']
RULES = ['--select', 'E,F,I', '--ignore', 'E501,E722,E731,E741,F401',
         '--config', 'lint.isort.force-single-line=true',
         '--config', 'lint.isort.known-first-party=["keras"]']


def git(folder, *arguments):
    return subprocess.check_output(
        ['git', '-C', str(folder)] + list(arguments)).decode()


def commit(folder):
    git(folder, 'add', '-A')
    git(folder, '-c', 'user.name=a', '-c', 'user.email=a', 'commit', '-q', '-m', 'a')


def text_of(path):
    with open(path, encoding='utf-8') as stream:
        return stream.read()


def write(folder, name, text):
    (folder / name).write_text(text)
    commit(folder)


def remove(folder, name):
    git(folder, 'rm', '-q', '-r', name)
    commit(folder)


def exported(folder, *options):
    """Exports to a folder and returns what was printed."""
    result = run(folder, *options)
    assert result.exit_code == 0, result.output
    return result.output


def exported_and_committed(folder, *options):
    exported(folder, *options)
    commit(folder)


def exported_and_reverted(folder, name):
    exported(folder)
    git(folder, 'checkout', 'HEAD', '--', name)
    commit(folder)


def run(folder, *options):
    """Exports to a folder and returns the result: exit code and output."""
    return click.testing.CliRunner().invoke(export, [str(folder)] + list(options))


def bytes_of(folder):
    """Every file in a folder, including those of Git, with its content."""
    return {str(path): path.read_bytes()
            for path in folder.rglob('*') if path.is_file()}


def assert_patched(folder, patch):
    """Fails unless the files of a patch are as it should leave them."""
    for part in patch.parts:
        assert blob_id((folder / part.file).read_bytes()) == part.after


def assert_refused(folder, message, *options):
    """Fails unless exporting to a folder ends with the message and changes nothing
    in the folder that holds it."""
    before = bytes_of(folder.parent)
    result = run(folder, *options)
    assert result.exit_code == 2
    assert message in result.output
    assert bytes_of(folder.parent) == before


def assert_passes_the_checks_of_keras(*paths):
    """Fails if a pre-commit hook of Keras 3 would refuse a file."""
    pytest.importorskip('ruff')
    files = [str(path) for path in paths]
    for check in (['format', '--check'], ['check'] + RULES):
        subprocess.check_call(RUFF + check + SETTINGS + files)
