"""Runs `keras-clone check` on the models of the gallery."""
import json
import os
import subprocess
import sys

import click

from evidence.records import ROOT


def check(**environment):
    """Runs the command in a changed environment.

    # Returns
        A pair: what it prints with `--json`, as a dict, and its exit status.
    """
    path = os.pathsep.join(filter(None, [environment.pop('PYTHONPATH', ''), ROOT]))
    process = subprocess.Popen(
        [sys.executable, '-m', 'keras_clone', 'check', '--json'],
        env=dict(os.environ, PYTHONPATH=path, **environment), stdout=subprocess.PIPE)
    printed = process.communicate()[0].decode()
    if not printed:
        raise click.ClickException('Nothing was checked: see the message above.')
    return json.loads(printed), process.returncode


def versions_of(checked):
    """Returns the versions that the command printed."""
    backend, release = checked['backend'].split(' ')
    return {'keras': checked['keras'], 'backend': backend,
            'backend_release': release, 'python': checked['python']}
