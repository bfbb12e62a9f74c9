"""What cloning costs, compared with building, rebuilding and loading a model.

Each model is built, cloned by the released function and by this one, copied, rebuilt
from its config, and saved and loaded: one after the other, in several rounds, each
time in a new graph. The figures are medians.
"""
import collections
import contextlib
import cProfile
import copy
import io
import os
import pstats
import re
import statistics
import time
import tracemalloc
import warnings

import click
import keras_clone

from evidence import console, pages, records, startup, steps

DATA = 'costs'
PAGE = 'docs/performance.md'
PLOT = 'docs/performance-{}.svg'
# The code of `clone_model`.
OWN = tuple(os.path.join(records.ROOT, *path) for path in (
    ['keras', ''], *(['keras_clone', name] for name in (
        'call_order.py', 'cloner.py', 'comparison.py', 'containers.py',
        'functions.py', 'generated_names.py', 'global_state.py', 'history.py',
        'recording.py', 'settings.py', 'walk.py'))))

# name: shown in the table. family, size: for the plot; None for gallery models.
Subject = collections.namedtuple('Subject', 'name family size build')
GROWTH = ('graph', 'sizes', 'building', 'our clone')
WAYS = ('build', 'released', 'ours', 'deepcopy', 'config', 'file')
# A clone that takes more than this many times as long counts as slower.
NOISE = 1.1
SIZES = (50, 100, 200, 400)
DEPTHS = (1, 2, 3, 4, 5, 6)
UNITS_OF_SIZE = {'chain': 'layers', 'wide': 'layers', 'nest': 'depth'}
INK = '#010101'  # Not pure black: Matplotlib does not write that to the SVG.
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
    """Models nested in each other, each with a layer of its own."""
    from keras import layers
    from keras.models import Model
    x = layers.Input((4,))
    y = layers.Dense(4)(x)
    return Model(x, nest(depth - 1)(y) if depth else y)


def subjects(only=''):
    from keras_clone.check import gallery
    found = [Subject(build.__name__, None, None, build) for build in gallery.MODELS]
    for family, sizes in ((chain, SIZES), (wide, SIZES), (nest, DEPTHS)):
        found += [Subject(f'{family.__name__} of {size}', family.__name__,
                          size, lambda family=family, size=size: family(size))
                  for size in sizes]
    return [each for each in found if only in each.name]


def ways(model):
    """Returns the ways to make a model like `model`: dict {name: function}."""
    from keras.models import clone_model
    from keras_clone.check.graphs import graphs
    from keras_clone.check.original import custom_objects
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


def measure(runs, only=''):
    """Measures the subjects with `only` in their names, and prints the figures.

    # Returns
        A list of records, one for each subject.
    """
    warnings.simplefilter('ignore')
    versions = records.installed_versions()
    with console.progress() as progress:
        found = [records.new(subject.name, versions, figures_of(subject, runs))
                 for subject in progress.track(subjects(only),
                                               description='Measuring')]
    print_records(found)
    return found


def figures_of(subject, runs):
    """Measures a subject.

    # Arguments
        subject: a `Subject`.
        runs: how often each way is timed.

    # Returns
        A dict: `family`, `size`, `runs`, `cores`; `seconds`, the median times, and
        `ops`, the numbers of ops added to the graph: dicts with the names in `WAYS`
        as keys, and None for a way that raises. For our `clone_model`: `megabytes`,
        the peak memory use of Python objects; `share`, the part of its time that is
        spent in its own code, not in the functions that it calls.
    """
    seconds, ops = {way: [] for way in WAYS}, {}
    for _ in range(runs):
        for way in WAYS:
            taken, ops[way] = _timed(subject, way)
            seconds[way].append(taken)
    return {
        'family': subject.family, 'size': subject.size, 'runs': runs,
        'cores': os.cpu_count(),
        'seconds': {way: _median(times) for way, times in seconds.items()},
        'ops': ops, 'share': round(_own_share(subject), 6),
        'megabytes': _peak(subject)}


def _median(times):
    return None if None in times else round(statistics.median(times), 6)


@contextlib.contextmanager
def _maker(subject, way):
    """Enters a fresh graph; yields the function that makes the model that way."""
    from keras_clone.check.graphs import graphs
    with graphs.fresh_state():
        yield subject.build if way == 'build' else ways(subject.build())[way]


def _timed(subject, way):
    from keras_clone.check.graphs import graphs
    with _maker(subject, way) as make:
        def seconds_of():
            start = time.perf_counter()
            make()
            return time.perf_counter() - start
        try:
            seconds, added = graphs.counting_ops(seconds_of)
        except Exception:
            return None, None
        return seconds, sum(added.values())


def _peak(subject):
    with _maker(subject, 'ours') as make:
        tracemalloc.start()
        try:
            make()
            return tracemalloc.get_traced_memory()[1] / 1e6
        finally:
            tracemalloc.stop()


def _own_share(subject):
    with _maker(subject, 'ours') as make:
        profile = cProfile.Profile()
        profile.runcall(make)
    stats = pstats.Stats(profile)
    own = sum(row[2] for place, row in stats.stats.items()
              if place[0].startswith(OWN))
    return own / stats.total_tt


# The goals


def times_released(figures):
    """Returns the time of our function divided by that of the released one.

    It is None if they do not add equally many ops: a function that loses masks or
    raises has less to do.
    """
    seconds, ops = figures['seconds'], figures['ops']
    if ops['released'] != ops['ours']:
        return None
    return seconds['ours'] / seconds['released']


def missed_goals(figures):
    """Returns which goals the figures miss, as text; empty if none."""
    ops, times = figures['ops'], times_released(figures)
    missed = []
    if ops['ours'] > ops['build']:
        missed.append(f"{ops['ours'] - ops['build']} ops more")
    if times is not None and times > NOISE:
        missed.append(f'{times:.2f} x released')
    return ', '.join(missed)


def families(found):
    """Returns a dict from the names of families to the figures of their models, the
    smallest first."""
    groups = {}
    for each in found:
        if each['figures']['family']:
            groups.setdefault(each['figures']['family'], []).append(each['figures'])
    return groups


def growth(found):
    """Returns how time grows with size, as texts in the order of GROWTH."""
    rows = []
    for family, group in families(found).items():
        building, ours = (group[-1]['seconds'][way] / group[0]['seconds'][way]
                          for way in ('build', 'ours'))
        rows.append([family, f"{group[0]['size']} to {group[-1]['size']}",
                     f'{building:.1f} times as long', f'{ours:.1f} times'])
    return rows


def against_released(found):
    """Returns as text how our times compare with those of the released function."""
    times = [times_released(each['figures']) for each in found]
    times = sorted(each for each in times if each is not None)
    if not times:
        return 'There is no model here for which both add as many ops.'
    return ('Our clone takes {:.2f} times as long as that of the released function: '
            'the median of {} models, which range from {:.2f} to {:.2f}.'.format(
                statistics.median(times), len(times), times[0], times[-1]))


# What is printed and written


def ways_of(found):
    """Returns the ways that records have: older ones do not have all of `WAYS`."""
    return [way for way in WAYS if way in found[0]['figures']['seconds']]


def headings(found):
    return ['model'] + ways_of(found) + ['ops', 'MB', 'own']


def cells(record):
    """Returns a record as texts, in the order of `headings`: milliseconds for each
    way, then ops, megabytes and own share of our clone."""
    figures = record['figures']
    times = [figures['seconds'][way] for way in ways_of([record])]
    return [record['what']] + [
        '-' if seconds is None else f'{1000.0 * seconds:.0f}' for seconds in times
    ] + [figures['ops']['ours'] or '-', f"{figures['megabytes']:.1f}",
         f"{figures['share']:.1%}"]


def print_records(found):
    console.print_table(headings(found) + ['misses'], [
        cells(each) + [missed_goals(each['figures'])] for each in found],
        left=['misses'])
    console.print_table(GROWTH, growth(found))
    click.echo(against_released(found))
    missed = sum(bool(missed_goals(each['figures'])) for each in found)
    click.echo(f'{len(found)} models, {missed} of them miss a goal.')


def write(found):
    """Writes the page, with its section on start-up, and its plots."""
    pages.write(PAGE, page(found))
    for group in records.grouped(startup.without(found)):
        pages.write(plot_of(group), plot(group))


def page(found):
    """Returns the page, as Markdown, that shows records."""
    sections = [_section(group) for group in records.grouped(startup.without(found))]
    return '\n\n'.join([SUMMARY.format(comparison(found)), DETAILS] + sections +
                       [startup.section(found)]) + '\n'


def comparison(found):
    """Returns a table of how our times compare with those of other ways to get a
    second model: medians over the models that both can make."""
    rows = []
    for group in records.grouped(startup.without(found), records.release_of):
        figures = [each['figures'] for each in group]
        released = [times_released(each) for each in figures]
        others = [[each['seconds']['ours'] / each['seconds'][way] for each in figures
                   if each['seconds'].get(way)]
                  for way in ('build', 'deepcopy', 'file')]
        rows.append([records.release_of(group[0])] + [
            '{:.2f}'.format(statistics.median(filter(None, times)))
            for times in [released] + others])
    return pages.table(['Keras', 'the released `clone_model`', 'building the model',
                        '`copy.deepcopy`', 'saving and loading'], rows)


def plot_of(group):
    """Returns the name of the file with the plot of records."""
    return PLOT.format(records.release_of(group[0]))


def _section(group):
    return '\n\n'.join([
        '## ' + records.title(group[0]['versions']),
        'Medians of {runs} runs on {cores} cores, {dates}.'.format(
            dates=records.dates(group), **group[0]['figures']),
        PICTURE.format(os.path.basename(plot_of(group))),
        pages.table(GROWTH, growth(group)),
        against_released(group),
        pages.table(headings(group), map(cells, group))])


SUMMARY = """\
# What cloning costs

With the overlay, a clone takes about as long as with the released function, and as
long as building the model again. `copy.deepcopy` and saving and loading, which
people use where `clone_model` fails, take longer.

{}

The time of a clone with the overlay, divided by that of other ways to get a second
model: medians of the models below that both can make."""


DETAILS = """\
## How it was measured

The tables show milliseconds: to build the model from its code, to clone it by the
released function and by ours, to copy it by `copy.deepcopy`, to make it from
`from_config(get_config())`, to save and load it. A dash means that this fails. Then
follow the number of ops that our clone adds to the graph of TensorFlow 1, the peak
of the memory that its Python objects take, and the part of its time that is spent
in our own code and not in the layers'. With the released function, only those
models are compared for which both add as many ops: one that loses masks has less to
do.

Written by `python -m evidence costs record`."""


PICTURE = """\
````{{container}} picture-box
```{{raw}} html
:file: {}
```
````"""


def plot(group):
    """Plots the time over the size; returns SVG."""
    import matplotlib
    matplotlib.use('svg')
    from matplotlib import pyplot
    matplotlib.rcParams.update({'svg.fonttype': 'none', 'svg.hashsalt': 'cloning'})
    matplotlib.rcParams.update({name: INK for name in (
        'axes.edgecolor', 'axes.labelcolor', 'text.color', 'xtick.color',
        'ytick.color')})
    ways = ways_of(group)
    figure, axes = pyplot.subplots(1, len(families(group)), figsize=(7.6, 2.8))
    for (family, found), axis in zip(families(group).items(), axes):
        for way in ways:
            axis.plot([each['size'] for each in found],
                      [each['seconds'][way] or float('nan') for each in found],
                      marker='.', label=way)
        axis.set_title(family)
        axis.set_xlabel(UNITS_OF_SIZE[family])
    axes[0].set_ylabel('seconds')
    figure.tight_layout(rect=(0, .1, 1, 1))
    figure.legend(*axes[0].get_legend_handles_labels(), loc='lower center',
                  ncol=len(ways), frameon=False)
    svg = io.StringIO()
    figure.savefig(svg, format='svg', transparent=True, metadata={'Date': None})
    return _as_part_of_a_page(svg.getvalue(), records.release_of(group[0]))


def _as_part_of_a_page(svg, name):
    """Returns an SVG in the text colour of the page, with ids that are unique."""
    svg = svg[svg.index('<svg'):].replace(INK, 'currentColor')
    svg = re.sub(r'(id="|url\(#|href="#)', r'\g<1>keras-' + name + '-', svg)
    return svg.replace('<svg ', f'<svg role="img" aria-label="{ALT}" ', 1)


command = steps.group(__doc__, DATA, measure, write, options=[
    click.Option(['--runs'], default=5, show_default=True,
                 help='How often to time each of them.')], of_run=[
    click.Option(['--only'], default='',
                 help='Only models with this in their name.')])
