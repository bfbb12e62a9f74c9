"""The tests, and `keras-clone check`, in each environment of tox.ini.

`run` runs them in this environment and writes the results to .tox/results/; `table`
prints and `record` records the results there.
"""
import json
import operator
import os
import subprocess
import sys
from glob import glob
from xml.etree import ElementTree

import click

from evidence import console, gallery, pages, records, steps

DATA = 'matrix'
PAGE = 'docs/matrix.md'
RESULTS = os.path.join(records.ROOT, '.tox', 'results')
TEXTS = ('Keras', 'Backend', 'Python')
COUNTS = ('passed', 'failed', 'skipped')
HEADINGS = (*TEXTS, *map(str.capitalize, COUNTS), 'Released', 'Overlay')


def measure(environment, options):
    """Runs the tests and the check, and writes a record of both.

    # Arguments
        environment: the name of the environment.
        options: list of options of pytest.

    # Returns
        The exit status.
    """
    os.makedirs(RESULTS, exist_ok=True)
    report = os.path.join(RESULTS, environment + '.xml')
    status = subprocess.call([sys.executable, '-m', 'pytest', '--junitxml', report] +
                             list(options))
    checked, status_of_check = gallery.check()
    models = {model['description']: [model[which]['outcome']
                                     for which in ('released', 'active')]
              for model in checked['models']}
    record = records.new(environment, gallery.versions_of(checked),
                         dict(counts(report), models=models))
    with open(os.path.join(RESULTS, environment + '.json'), 'w') as file:
        json.dump(record, file)
    click.echo(summary(record))
    return status or status_of_check


def summary(record):
    """Returns the results in one line."""
    figures = zip(HEADINGS[len(TEXTS):], cells(record)[len(TEXTS):])
    return '{}: {}'.format(records.title(record['versions']), ', '.join(
        f'{heading.lower()} {figure}' for heading, figure in figures))


def counts(report):
    """Returns how many tests passed, failed and were skipped, as pytest reports."""
    suite = next(ElementTree.parse(report).iter('testsuite'))
    total, skipped = int(suite.get('tests')), int(suite.get('skipped'))
    failed = int(suite.get('failures')) + int(suite.get('errors'))
    return dict(zip(COUNTS, (total - failed - skipped, failed, skipped)))


def results():
    """Returns the records of the environments that were run, in the order of their
    versions."""
    found = []
    for path in glob(os.path.join(RESULTS, '*.json')):
        with open(path) as file:
            found.append(json.load(file))
    return records.in_order(found)


def cells(record):
    """Returns a record as texts, in the order of HEADINGS."""
    versions, figures = record['versions'], record['figures']
    outcomes = list(zip(*figures['models'].values()))
    return [versions['keras'], '{backend} {backend_release}'.format(**versions),
            versions['python'], *(figures[name] for name in COUNTS)] + [
        f"{each.count('faithful')} of {len(each)}" for each in outcomes]


def write(found):
    pages.write(PAGE, page(found))


def page(found):
    """Returns the page, as Markdown, that shows records."""
    rows = [[*cells(record), record['date']] for record in found]
    return '{}\n{}\n'.format(INTRODUCTION, pages.table([*HEADINGS, 'Run'], rows))


INTRODUCTION = """\
# Releases and backends

The environments of `tox.ini` run the tests, and `keras-clone check`, which clones
the models of the gallery by the released function and by the overlay. `make matrix`
runs most of them, `python -m evidence matrix record` writes this page. A release
with `.dev` is a build of Keras's main branch; a workflow tests the newest one every
night. Earlier runs have fewer tests, because tests have been added since.
"""


# What an environment installs may be newer than before; kerasnightly always is.
command = steps.group(__doc__, DATA, results, write,
                      like=operator.itemgetter('what'))


@command.command(context_settings={'ignore_unknown_options': True,
                                   'allow_interspersed_args': False})
@click.argument('environment')
@click.argument('options', nargs=-1, type=click.UNPROCESSED,
                metavar='[OPTIONS OF PYTEST]')
def run(environment, options):
    """Run the tests and the check in this ENVIRONMENT.

    The exit status is that of the tests or, if they passed, of the check.
    """
    sys.exit(measure(environment, options))


@command.command()
def table():
    """Print what is in .tox/results/."""
    console.print_table(HEADINGS, map(cells, results()), left=TEXTS)
    click.echo('Released, Overlay: how many models of the gallery each clones '
               'faithfully.')
