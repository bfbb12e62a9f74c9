"""Runs the command `keras-clone` in a process of its own."""
import contextlib
import io
import json
import os
import subprocess
import sys

from contribute.patches import ROOT


def run_process(*arguments, cwd=ROOT, before='', redirected='',
                **environment):
    """Runs the command as a user does; returns (exit status, stdout, stderr).

    # Arguments
        before: commands of the shell that come first.
        redirected: redirections, as the shell writes them.
        environment: variables; None removes one.
    """
    command = [sys.executable, '-m', 'keras_clone'] + list(map(str, arguments))
    if before or redirected:
        command = ['sh', '-c', f'{before or "true"} && exec "$@" {redirected}',
                   'sh'] + command
    path = os.pathsep.join(filter(None, [os.environ.get('PYTHONPATH'), ROOT]))
    variables = dict(os.environ, PYTHONPATH=path, COLUMNS='80', **environment)
    done = subprocess.run(
        command, cwd=str(cwd), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={name: value for name, value in variables.items() if value is not None},
        universal_newlines=True)
    return done.returncode, done.stdout, done.stderr


def found(model=None, only=None):
    """Returns the last that a process which checks models reports."""
    from keras_clone.check import commands
    written = io.StringIO()
    with contextlib.redirect_stdout(written):
        commands.answer(model, only, 0, False)
    return json.loads(written.getvalue().splitlines()[-1])
