"""Checks models in processes of their own, one for each `clone_model`.

Building a model runs code of the user, which may print, exit or crash: the command
itself is not affected. In the process of the released function, all overlaid modules
are as released, and neither function is affected by what the other one breaks.
"""
import contextlib
import json
import os
import signal
import subprocess
import sys

import click

import keras_clone

from .messages import with_place

# The code of such a process. The command ends it on Ctrl-C. It imports from the same
# folders as the command: `python -m` would put the current one before them. What is
# written to file descriptor 1, by any means, goes to stderr. A module that parses
# arguments finds none.
CODE = '''
import json, os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.path[:] = {path}
sys.stdout = os.fdopen(os.dup(1), 'w')
os.dup2(2, 1)
arguments, sys.argv = json.loads(sys.argv[1]), ['keras-clone']
from keras_clone.check.commands import answer
answer(*arguments)
'''


class Failure(click.ClickException):
    """What the user has to fix: one line on stderr, exit status 2."""
    exit_code = 2


@contextlib.contextmanager
def started(arguments, failing='', **options):
    """Context in which another process checks models.

    It gets the `arguments` of `commands.answer` and the `options` of `Popen`. The
    value is a generator of what that process writes with `write_lines`; where the
    process fails or ends, it raises a `Failure` with a message that begins with
    `failing`.
    """
    folder = os.path.dirname(os.path.dirname(keras_clone.__file__))
    code = CODE.format(path=ascii([str(each) for each in sys.path] + [folder]))
    process = subprocess.Popen(
        [sys.executable, '-c', code, json.dumps(arguments)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, universal_newlines=True,
        **options)
    try:
        yield _lines_of(process, failing)
    finally:
        process.kill()
        process.stdout.close()
        process.wait()


def _lines_of(process, failing):
    for line in process.stdout:
        data = json.loads(line)
        if 'error' in data:
            raise Failure(failing + data['error'])
        yield data
    status = process.wait()
    end = (f'with exit status {status}' if status >= 0
           else f'by {signal.Signals(-status).name}')
    if status == -signal.SIGKILL:
        end += ': perhaps the memory was full'
    raise Failure(f'{failing}The process that builds and clones the model ended '
                  f'early, {end}.')


def write_lines(values):
    """Writes values to stdout as lines of JSON; the last one may be an error.

    This is the only place that has to expect whatever code of the user may raise.
    """
    out = sys.stdout

    def write(value):
        sys.stderr.flush()  # After the last line, the command ends this process.
        try:
            click.echo(json.dumps(value), file=out)
        except BrokenPipeError:
            os._exit(2)  # The command was killed: nobody waits for results.

    with contextlib.redirect_stdout(sys.stderr):
        try:
            for value in values:
                write(value)
        except click.ClickException as failure:
            write({'error': failure.message})
        except BaseException as error:
            write({'error': f'The check was ended by {with_place(error)}.'})
