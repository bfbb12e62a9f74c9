"""How much longer an interpreter takes to start with the overlay.

Starts this interpreter alternately with and without the overlay's `.pth` file. The
figures are medians. They are in a section of the page on costs.
"""
import os
import platform
import site
import statistics
import subprocess
import sys
import tempfile
import time
from glob import glob

import click

from evidence import console, pages, records, steps

WHAT = 'start of an interpreter'
HEADINGS = ('Python', 'starts of each', 'without the overlay', 'with the overlay',
            'difference', 'date')


def measure(runs):
    """Measures and prints; returns a list of one record."""
    path = start_file()
    with open(path) as file:
        start = file.read()
    # Both folders add the installed package to the path; one starts the overlay.
    known = os.path.dirname(path) + '\n'
    with tempfile.TemporaryDirectory() as without, \
            tempfile.TemporaryDirectory() as overlaid:
        for folder, text in ((without, known), (overlaid, known + start)):
            with open(os.path.join(folder, 'keras-clone.pth'), 'w') as file:
                file.write(text)
        times = [(seconds_to_start(without), seconds_to_start(overlaid))
                 for _ in range(runs)]
    before, after = map(statistics.median, zip(*times))
    added = statistics.median(second - first for first, second in times)
    record = records.new(WHAT, {'python': platform.python_version()}, {
        'runs': runs, 'cores': os.cpu_count(),
        'milliseconds': [round(1e3 * each, 3) for each in (before, after, added)]})
    console.print_table(HEADINGS, [cells(record)])
    return [record]


def start_file():
    folders = site.getsitepackages() + [site.getusersitepackages()]
    for folder in folders:
        for path in glob(os.path.join(folder, 'keras-clone.pth')):
            return path
    raise click.ClickException(f'keras-clone is not installed for {sys.executable}.')


def seconds_to_start(folder):
    """Times the start of an interpreter that treats `folder` as site-packages."""
    code = f'import site; site.addsitedir({folder!r})'
    begin = time.perf_counter()
    subprocess.check_call([sys.executable, '-I', '-S', '-c', code])
    return time.perf_counter() - begin


def without(found):
    """Returns the records that are not about start-up."""
    return [each for each in found if each['what'] != WHAT]


def section(found):
    """Returns the section of the page, as Markdown, that shows records."""
    return INTRODUCTION.format(pages.table(HEADINGS, [
        cells(each) for each in found if each['what'] == WHAT]))


def cells(record):
    figures = record['figures']
    times = [f'{each:.2f} ms' for each in figures['milliseconds']]
    return [record['versions']['python'], figures['runs'], *times, record['date']]


INTRODUCTION = """\
## The start of an interpreter

An interpreter that never imports Keras starts with the overlay and without, in
turns: medians, written by `python -m evidence startup record`.

{}"""


def write(found):
    from evidence import costs  # It imports this module.
    costs.write(found)


command = steps.group(__doc__, 'costs', measure, write, options=[
    click.Option(['--runs'], default=200, show_default=True,
                 help='How often to start each of them.')])
