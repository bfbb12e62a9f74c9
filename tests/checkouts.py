"""Helpers to test `python -m contribute export` with Git repositories."""
import subprocess

import click.testing
from contribute.export import export


def git(folder, *arguments):
    return subprocess.check_output(
        ['git', '-C', str(folder)] + list(arguments)).decode()


def commit(folder):
    git(folder, 'add', '-A')
    git(folder, '-c', 'user.name=a', '-c', 'user.email=a', 'commit', '-q', '-m', 'a')


def run(folder, *options):
    """Exports to a folder and returns the result: exit code and output."""
    return click.testing.CliRunner().invoke(export, [str(folder)] + list(options))


def bytes_of(folder):
    """Every file in a folder, including those of Git, with its content."""
    return {str(path): path.read_bytes()
            for path in folder.rglob('*') if path.is_file()}


def assert_refused(folder, message, *options):
    """Fails unless exporting to a folder ends with the message and changes nothing
    in the folder that holds it."""
    before = bytes_of(folder.parent)
    result = run(folder, *options)
    assert result.exit_code == 2
    assert message in result.output
    assert bytes_of(folder.parent) == before
