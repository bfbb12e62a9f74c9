"""Runs the tests in an environment of the matrix, and shows the results of all.

    python tests/matrix.py run NAME [OPTIONS OF PYTEST]
    python tests/matrix.py table

`run` runs the tests and `keras-clone check`, and writes what came of both to
.tox/results/NAME.json. Its exit status is that of the tests or, if they passed, of
the check. `table` prints what it finds there.
"""
import json
import os
import platform
import subprocess
import sys
from glob import glob
from xml.etree import ElementTree

from rich.console import Console
from rich.table import Table

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(os.path.dirname(HERE), '.tox', 'results')
HEADINGS = ('Keras', 'Backend', 'Python', 'Passed', 'Failed', 'Skipped',
            'Released', 'Ours')


def run(name, options):
    """Runs the tests and the check, and writes their results.

    # Arguments
        name: what the environment is called.
        options: list of options of pytest.

    # Returns
        The exit status.
    """
    os.makedirs(RESULTS, exist_ok=True)
    report = os.path.join(RESULTS, name + '.xml')
    tests = subprocess.call([sys.executable, '-m', 'pytest', '--junitxml', report] +
                            options)
    check = subprocess.Popen(
        [sys.executable, '-m', 'keras_clone', 'check', '--json'],
        stdout=subprocess.PIPE)
    checked = json.loads(check.communicate()[0].decode())
    row = [checked['keras'], checked['backend'], platform.python_version()]
    row += _counts(report) + [
        '{} of {}'.format(checked['faithful'][who], len(checked['models']))
        for who in ('released', 'active')]
    with open(os.path.join(RESULTS, name + '.json'), 'w') as file:
        json.dump(row, file)
    return tests or check.returncode


def _counts(report):
    """Returns how many tests passed, failed and were skipped, as texts."""
    suite = next(ElementTree.parse(report).iter('testsuite'))
    total, skipped = int(suite.get('tests')), int(suite.get('skipped'))
    failed = int(suite.get('failures')) + int(suite.get('errors'))
    return [str(total - failed - skipped), str(failed), str(skipped)]


def print_table():
    table = Table(box=None, pad_edge=False)
    for heading in HEADINGS:
        table.add_column(heading)
    for row in sorted(map(_row, glob(os.path.join(RESULTS, '*.json')))):
        table.add_row(*row)
    Console().print(table)
    print('Released, Ours: how many models of the gallery each clones faithfully.')


def _row(path):
    with open(path) as file:
        return json.load(file)


def main():
    command, arguments = sys.argv[1], sys.argv[2:]
    if command == 'table':
        print_table()
    else:
        sys.exit(run(arguments[0], arguments[1:]))


if __name__ == '__main__':
    main()
