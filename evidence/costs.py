"""Measures what cloning costs, beside building, rebuilding and loading a model.

    python benchmarks/cloning.py [--runs N] [--only TEXT] [--record]

Each model is built, cloned by the released function and by this one, made from its
config and saved and loaded, in turns, each time in a graph of its own. The figures
are medians. --record enters them into docs/data/performance.json and writes
docs/performance.md and its plots from that file; --page does the latter alone.
"""
import collections
import cProfile
import copy
import io
import json
import os
import platform
import pstats
import re
import statistics
import sys
import time
import tracemalloc
import warnings

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)
import keras_clone  # noqa: E402

DATA = os.path.join(ROOT, 'docs', 'data', 'performance.json')
PAGE = os.path.join(ROOT, 'docs', 'performance.md')
PLOT = os.path.join(ROOT, 'docs', 'performance-{keras}.svg')
VERSIONS = ('keras', 'backend', 'backend_release', 'python')
# The code of `clone_model`.
OWN = tuple(os.path.join(ROOT, *path) for path in (
    ['keras', ''], ['keras_clone', 'cloner.py'], ['keras_clone', 'holding.py'],
    ['keras_clone', 'nodes.py']))

# name: what the table shows. family, size: for the plot; none for the gallery.
Subject = collections.namedtuple('Subject', 'name family size build')
WAYS = ('build', 'released', 'ours', 'deepcopy', 'config', 'file')
# How much longer counts as longer, and the most of its time that is ours.
NOISE = 1.1
MOST_OWN_SHARE = .01
SIZES = (50, 100, 200, 400, 800)
DEPTHS = (1, 2, 3, 4, 5, 6)
UNITS_OF_SIZE = {'chain': 'layers', 'wide': 'layers', 'nest': 'depth'}
INK = '#010101'  # No black of Matplotlib's own: it leaves that one out.
ALT = 'Seconds over the size of the graph, for each way to make a model'


# What is measured


def chain(size):
    """A model of layers one after the other."""
    from keras import layers
    from keras.models import Model
    x = y = layers.Input((4,))
    for _ in range(size):
        y = layers.Dense(4)(y)
    return Model(x, y)


def wide(size):
    """A model of layers side by side."""
    from keras import layers
    from keras.models import Model
    x = layers.Input((4,))
    return Model(x, layers.Add()([layers.Dense(4)(x) for _ in range(size)]))


def nest(depth):
    """A model in a model in a model, each with a layer of its own."""
    from keras import layers
    from keras.models import Model
    x = layers.Input((4,))
    y = layers.Dense(4)(x)
    return Model(x, nest(depth - 1)(y) if depth else y)


def subjects(only=''):
    from keras_clone.check import gallery
    found = [Subject(build.__name__, None, None, build) for build in gallery.MODELS]
    for family, sizes in ((chain, SIZES), (wide, SIZES), (nest, DEPTHS)):
        found += [Subject('%s of %d' % (family.__name__, size), family.__name__,
                          size, lambda family=family, size=size: family(size))
                  for size in sizes]
    return [each for each in found if only in each.name]


def ways(model):
    """Returns the ways to make a model like `model`: dict {name: function}."""
    from keras.models import clone_model
    from keras_clone.check.graphs import graphs
    from keras_clone.check.saving import custom_objects
    released = keras_clone.released(_module()).clone_model
    objects = custom_objects(model)
    return {'released': lambda: released(model), 'ours': lambda: clone_model(model),
            'deepcopy': lambda: copy.deepcopy(model),
            'config': lambda: _from_config(model, objects),
            'file': lambda: graphs.reloaded(model, objects)}


def _from_config(model, objects):
    from keras.utils import custom_object_scope
    with custom_object_scope(objects):
        return type(model).from_config(model.get_config())


def _module():
    is_keras_3 = keras_clone.keras_release().startswith('3.')
    return 'keras.src.models.cloning' if is_keras_3 else 'keras.models'


# How it is measured


def measure(subject, runs):
    """Measures a subject.

    # Arguments
        subject: a `Subject`.
        runs: how often each way is timed.

    # Returns
        A dict: `name`, `family`, `size`; and by the names in `WAYS`, each None where
        it raises: `seconds`, the median time; `ops`, the number of ops added to the
        graph. And of our `clone_model`: `megabytes`, the peak of the memory that
        Python objects take; `share`, the part of its time that is spent in its own
        code and not in what it calls.
    """
    seconds, ops = {way: [] for way in WAYS}, {}
    for _ in range(runs):
        for way in WAYS:
            taken, ops[way] = _timed(subject, way)
            seconds[way].append(taken)
    return {
        'name': subject.name, 'family': subject.family, 'size': subject.size,
        'seconds': {way: None if None in times else statistics.median(times)
                    for way, times in seconds.items()},
        'ops': ops, 'share': _own_share(subject), 'megabytes': _peak(subject)}


def _in_fresh_graph(subject, way, call):
    """Returns what `call` returns for the function that does it that way."""
    from keras_clone.check.graphs import graphs
    with graphs.fresh_state():
        make = subject.build if way == 'build' else ways(subject.build())[way]
        return call(make)


def _timed(subject, way):
    from keras_clone.check.graphs import graphs

    def call(make):
        start = time.perf_counter()
        try:
            _, added = graphs.ops_while(make)
        except Exception:
            return None, None
        seconds = time.perf_counter() - start
        return seconds, sum(graphs.count_ops(added).values())
    return _in_fresh_graph(subject, way, call)


def _peak(subject):
    def call(make):
        tracemalloc.start()
        try:
            make()
            return tracemalloc.get_traced_memory()[1] / 1e6
        finally:
            tracemalloc.stop()
    return _in_fresh_graph(subject, 'ours', call)


def _own_share(subject):
    def call(make):
        profile = cProfile.Profile()
        profile.runcall(make)
        stats = pstats.Stats(profile)
        own = sum(row[2] for place, row in stats.stats.items()
                  if place[0].startswith(OWN))
        return own / stats.total_tt
    return _in_fresh_graph(subject, 'ours', call)


# The goals


def times_released(row):
    """Returns how many times as long as the released function ours takes.

    None where that one does not add as many ops: where it loses masks, or raises,
    it has less to do.
    """
    seconds, ops = row['seconds'], row['ops']
    if ops['released'] != ops['ours']:
        return None
    return seconds['ours'] / seconds['released']


def missed_goals(row):
    """Returns which goals a row of figures misses, as text; empty if none."""
    ops, times = row['ops'], times_released(row)
    missed = []
    if ops['ours'] > ops['build']:
        missed.append(f"{ops['ours'] - ops['build']} ops more")
    if times is not None and times > NOISE:
        missed.append(f'{times:.2f} x released')
    if row['share'] > MOST_OWN_SHARE:
        missed.append('own share')
    return ', '.join(missed)


def growth(rows):
    """Returns how time grows with size: rows (family, smallest, largest, ratio of
    the times of building, of ours)."""
    families = collections.OrderedDict()
    for row in rows:
        if row['family']:
            families.setdefault(row['family'], []).append(row)
    return [(family, group[0]['size'], group[-1]['size']) + tuple(
        group[-1]['seconds'][way] / group[0]['seconds'][way]
        for way in ('build', 'ours')) for family, group in families.items()]


def against_released(rows):
    """Returns as text how long ours takes beside the released function, over all."""
    times = sorted(each for each in map(times_released, rows) if each is not None)
    if not times:
        return 'There is no model here for which both add as many ops.'
    return ('Our clone takes {:.2f} times as long as that of the released function: '
            'the median of {} models, which range from {:.2f} to {:.2f}.'.format(
                statistics.median(times), len(times), times[0], times[-1]))


# What is printed and written

def headings(rows):
    """Returns the headings of rows: older ones were not measured in every way."""
    return (['model'] + [way for way in WAYS if way in rows[0]['seconds']] +
            ['ops', 'MB', 'own', 'misses'])


def cells(row):
    """Returns a row as texts, in the order of `headings`: milliseconds for each way,
    then ops, megabytes and own share of our clone."""
    times = ['-' if row['seconds'][way] is None else
             f"{1000.0 * row['seconds'][way]:.0f}"
             for way in WAYS if way in row['seconds']]
    return [row['name']] + times + [
        str(row['ops']['ours'] or '-'), f"{row['megabytes']:.1f}",
        f"{row['share']:.1%}", missed_goals(row)]


def print_rows(rows):
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for heading in headings(rows):
        table.add_column(heading, justify='left' if heading in ('model', 'misses')
                         else 'right')
    for row in rows:
        table.add_row(*cells(row))
    console = Console()
    console.print(table)
    for line in growth(rows):
        console.print('{}, {} to {}: building takes {:.1f} times as long, our clone '
                      '{:.1f} times.'.format(*line), highlight=False)
    console.print(against_released(rows), highlight=False)
    missed = sum(bool(missed_goals(row)) for row in rows)
    console.print(f'{len(rows)} models, {missed} of them miss a goal.',
                  highlight=False)


def recorded():
    """Returns the runs in the data: a list of what `_run` returns."""
    with open(DATA) as file:
        return json.load(file)


def record(run):
    """Enters a run into the data, in place of one with the same versions."""
    def key(run):
        return [run[name] for name in VERSIONS]
    runs = recorded() if os.path.exists(DATA) else []
    runs = [each for each in runs if key(each) != key(run)] + [run]
    with open(DATA, 'w') as file:
        json.dump(sorted(runs, key=key), file, indent=1, sort_keys=True)
        file.write('\n')


def page(runs):
    """Returns the page that shows the figures, as Markdown."""
    return '\n'.join([INTRODUCTION] + [line for run in runs
                                       for line in _page_of(run)]) + '\n'


def _page_of(run):
    yield '## Keras {keras}, {backend} {backend_release}, Python {python}'.format(
        **run)
    yield ''
    yield 'Medians of {runs} runs on {cores} cores, {date}.'.format(**run)
    yield ''
    yield PICTURE.format(os.path.basename(PLOT.format(**run)))
    yield ''
    yield '| graph | sizes | building | our clone |'
    yield '|---|---|---|---|'
    for line in growth(run['rows']):
        yield '| {} | {} to {} | {:.1f} times as long | {:.1f} times |'.format(*line)
    yield ''
    yield against_released(run['rows'])
    yield ''
    yield '| ' + ' | '.join(headings(run['rows'])) + ' |'
    yield '|---' * len(headings(run['rows'])) + '|'
    for row in run['rows']:
        yield '| ' + ' | '.join(cells(row)) + ' |'
    yield ''


INTRODUCTION = """\
# What cloning costs

Milliseconds: to build the model from its code, to clone it by the released function
and by ours, to copy it by `copy.deepcopy`, to make it from
`from_config(get_config())`, to save and load it. A
dash: it raises. Then the number of ops that our clone adds to the graph of
TensorFlow 1, the peak of the memory that its Python objects take, and the part of
its time that is spent in our own code and not in the layers'. The goals: no more
ops than the original has, never slower than the released function by more than
noise (10 %; held against ours where both add as many ops), an own share of 1 % at
most, time that grows no faster than the build's.

Written by `python benchmarks/cloning.py --record`.
"""


PICTURE = """\
````{{container}} picture-box
```{{raw}} html
:file: {}
```
````"""


def plot(run):
    """Draws the time over the size, and writes the picture."""
    import matplotlib
    matplotlib.use('svg')
    from matplotlib import pyplot
    matplotlib.rcParams.update({'svg.fonttype': 'none', 'svg.hashsalt': 'cloning'})
    matplotlib.rcParams.update({name: INK for name in (
        'axes.edgecolor', 'axes.labelcolor', 'text.color', 'xtick.color',
        'ytick.color')})
    families = list(collections.OrderedDict.fromkeys(
        row['family'] for row in run['rows'] if row['family']))
    figure, axes = pyplot.subplots(1, len(families), figsize=(7.6, 2.8))
    for family, axis in zip(families, axes):
        rows = [row for row in run['rows'] if row['family'] == family]
        for way in WAYS:
            axis.plot([row['size'] for row in rows],
                      [row['seconds'].get(way) or float('nan') for row in rows],
                      marker='.', label=way)
        axis.set_title(family)
        axis.set_xlabel(UNITS_OF_SIZE[family])
    axes[0].set_ylabel('seconds')
    figure.tight_layout(rect=(0, .1, 1, 1))
    figure.legend(*axes[0].get_legend_handles_labels(), loc='lower center',
                  ncol=len(WAYS), frameon=False)
    svg = io.StringIO()
    figure.savefig(svg, format='svg', transparent=True, metadata={'Date': None})
    with open(PLOT.format(**run), 'w') as file:
        file.write(_as_part_of_a_page(svg.getvalue(), run['keras']))


def _as_part_of_a_page(svg, name):
    """Returns an SVG with the page's colour of text, and ids of its own."""
    svg = svg[svg.index('<svg'):].replace(INK, 'currentColor')
    svg = re.sub(r'(id="|url\(#|href="#)', r'\g<1>keras-' + name + '-', svg)
    return svg.replace('<svg ', '<svg role="img" aria-label="' + ALT + '" ', 1)


@click.command()
@click.option('--runs', default=5, show_default=True,
              help='How often each is timed.')
@click.option('--only', default='', help='Models with this in their name.')
@click.option('--record', 'is_recorded', is_flag=True,
              help='Write the page of the docs.')
@click.option('--page', 'only_page', is_flag=True,
              help='Write the page anew from its data, and measure nothing.')
def main(runs, only, is_recorded, only_page):
    """Measure what cloning costs."""
    if not only_page:
        run = _run(runs, only)
        print_rows(run['rows'])
        if is_recorded:
            record(run)
    if is_recorded or only_page:
        with open(PAGE, 'w') as file:
            file.write(page(recorded()))
        for run in recorded():
            plot(run)


def _run(runs, only):
    """Measures, and returns what is recorded of it, as JSON has it."""
    warnings.simplefilter('ignore')
    import keras
    backend = keras.backend.backend()
    versions = zip(VERSIONS, (keras.__version__, backend,
                              __import__(backend).__version__,
                              platform.python_version()))
    progress = Progress(console=Console(stderr=True), transient=True,
                        disable=not sys.stderr.isatty())
    with progress:
        rows = [measure(subject, runs) for subject in progress.track(
            subjects(only), description='Measuring')]
    return dict(versions, runs=runs, rows=rows, cores=os.cpu_count(),
                date=time.strftime('%Y-%m-%d'))


if __name__ == '__main__':
    main()
