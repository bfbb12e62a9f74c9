"""Runs the tests in an environment of the matrix, and shows the results of all.

    python tests/matrix.py run NAME [OPTIONS OF PYTEST]
    python tests/matrix.py table
    python tests/matrix.py record

`run` runs the tests and `keras-clone check`, and writes what came of both to
.tox/results/NAME.json. Its exit status is that of the tests or, if they passed, of
the check. `table` prints what it finds there. `record` enters it into
docs/data/matrix.json, in place of earlier results of the same environments, and
writes docs/matrix.md from that file.
"""
import json
import os
import platform
import subprocess
import sys
import time
from glob import glob
from xml.etree import ElementTree

from rich.console import Console
from rich.table import Table

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULTS = os.path.join(ROOT, '.tox', 'results')
DATA = os.path.join(ROOT, 'docs', 'data', 'matrix.json')
PAGE = os.path.join(ROOT, 'docs', 'matrix.md')
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
    models = [[model['description'], model['released']['outcome'],
               model['active']['outcome']] for model in checked['models']]
    with open(os.path.join(RESULTS, name + '.json'), 'w') as file:
        json.dump(dict(_counts(report), models=models, keras=checked['keras'],
                       backend=checked['backend'], date=time.strftime('%Y-%m-%d'),
                       python=platform.python_version()), file)
    return tests or check.returncode


def _counts(report):
    suite = next(ElementTree.parse(report).iter('testsuite'))
    total, skipped = int(suite.get('tests')), int(suite.get('skipped'))
    failed = int(suite.get('failures')) + int(suite.get('errors'))
    return {'passed': total - failed - skipped, 'failed': failed, 'skipped': skipped}


def results():
    """Returns the results of the environments, in the order of their versions."""
    return _sorted(_load(path) for path in glob(os.path.join(RESULTS, '*.json')))


def _load(path):
    with open(path) as file:
        return json.load(file)


def _versions(result):
    return [result[name] for name in ('keras', 'backend', 'python')]


def _sorted(found):
    return sorted(found, key=_versions)


def cells(result):
    """Returns a result as texts, in the order of HEADINGS."""
    counts = [str(result[name]) for name in ('passed', 'failed', 'skipped')]
    return _versions(result) + counts + [
        '{} of {}'.format(sum(model[which] == 'faithful'
                              for model in result['models']), len(result['models']))
        for which in (1, 2)]


def print_table():
    table = Table(box=None, pad_edge=False)
    for heading in HEADINGS:
        table.add_column(heading)
    for result in results():
        table.add_row(*cells(result))
    Console().print(table)
    print('Released, Ours: how many models of the gallery each clones faithfully.')


def record():
    """Enters the results into the data, and writes the page."""
    new = results()
    old = [result for result in recorded() if _versions(result) not in
           list(map(_versions, new))]
    with open(DATA, 'w') as file:
        json.dump(_sorted(old + new), file, indent=1, sort_keys=True)
        file.write('\n')
    with open(PAGE, 'w') as file:
        file.write(page(recorded()))


def recorded():
    """Returns the results in the data."""
    return _load(DATA) if os.path.exists(DATA) else []


def page(found):
    """Returns the page that shows the results, as Markdown."""
    lines = [INTRODUCTION.format(', '.join(sorted({
        result['date'] for result in found}))), _line(HEADINGS), _rule(HEADINGS)]
    lines += [_line(cells(result)) for result in found]
    return '\n'.join(lines) + '\n'


INTRODUCTION = """\
# Releases and backends

The environments of `tox.ini` run the tests, and `keras-clone check`, which clones
the models of the gallery by the released function and by ours. `make matrix` runs
most of them, `python tests/matrix.py record` writes this page. Run: {}.
"""


def _line(texts):
    return '| ' + ' | '.join(texts) + ' |'


def _rule(texts):
    return '|---' * len(texts) + '|'


def main():
    command, arguments = sys.argv[1], sys.argv[2:]
    if command == 'run':
        sys.exit(run(arguments[0], arguments[1:]))
    {'table': print_table, 'record': record}[command]()


if __name__ == '__main__':
    main()
