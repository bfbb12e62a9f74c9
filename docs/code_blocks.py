"""A pytest plugin: runs the code blocks of README.md, CONTRIBUTING.md and docs/.

    PYTHONPATH=docs python -m pytest -p code_blocks README.md CONTRIBUTING.md docs

A `python` block is run. If it is an interactive session, its output is compared with
what the block shows. The commands of a `console` block begin with `$`; their output
is compared as well, and `...` stands for any text. The page on Keras 3
(`docs/keras3.md`) is run if Keras 3 is installed, every other page if Keras 2 is.
"""
import doctest
import os
import shutil
import subprocess
import sys
import tempfile

from sybil import Sybil
from sybil.parsers.markdown import CodeBlockParser
from sybil.parsers.markdown import PythonCodeBlockParser
from sybil.parsers.markdown import SkipParser

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)
import keras_clone  # noqa: E402
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
KERAS_3 = 'docs/keras3.md'
# Runs a command; the next one begins in the folder in which this one ended.
SHELL = 'cd "$(cat {0}/cwd)" || exit; {1}\nstatus=$?; pwd > {0}/cwd; exit $status'


def run_commands(example):
    """Runs the commands of a block and compares what they print."""
    commands = []
    for line in example.parsed.splitlines():
        if line.startswith('$ '):
            commands.append([line[2:], ''])
        elif commands and commands[-1][0].endswith('\\'):
            commands[-1][0] += '\n' + line
        else:
            commands[-1][1] += line + '\n'
    if example.namespace.get('has_failed'):
        raise AssertionError('Not run: a command before it on this page failed.')
    for command, expected in commands:
        status, got = _run(command, example.namespace['scratch'])
        if status or not doctest.OutputChecker().check_output(expected, got, FLAGS):
            example.namespace['has_failed'] = True
            raise AssertionError('$ {}\nexit status {}, printed:\n{}\nexpected:\n{}'
                                 .format(command, status, got, expected))


def _run(command, scratch):
    paths = os.path.dirname(sys.executable), os.environ['PATH']
    environment = dict(os.environ, PATH=os.pathsep.join(paths), COLUMNS='80')
    environment.pop('PYTHONPATH', None)  # It is for this plugin only.
    process = subprocess.Popen(
        ['bash', '-c', SHELL.format(scratch, command)], env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    printed = process.communicate()[0].decode()
    return process.returncode, printed


def start(namespace):
    """Creates the folder in which the commands of a page begin."""
    scratch = namespace['scratch'] = tempfile.mkdtemp()
    namespace['root'] = ROOT
    namespace['folder'] = os.path.join(scratch, 'work')
    os.mkdir(namespace['folder'])
    with open(os.path.join(scratch, 'cwd'), 'w') as stream:
        stream.write(namespace['folder'] + '\n')


def end(namespace):
    shutil.rmtree(namespace['scratch'])


on_keras_3 = (keras_clone.keras_release() or '').startswith('3.')
pytest_collect_file = Sybil(
    path=ROOT,
    patterns=[KERAS_3] if on_keras_3 else ['*.md'],
    excludes=['docs/_build/*'] + [KERAS_3] * (not on_keras_3),
    parsers=[PythonCodeBlockParser(doctest_optionflags=FLAGS),
             CodeBlockParser('console', run_commands), SkipParser()],
    setup=start, teardown=end).pytest()
