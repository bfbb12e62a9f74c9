"""Random models, cloned by Keras as released and by the overlay.

Each model is judged in two processes, one with the overlay and one without it. The
command stops at the first model that the overlay does not clone faithfully, prints
the smallest such model that hypothesis finds, and has exit status 1. If the overlay
clones a model worse than the released function does, it is such a model that is
printed.
"""
import collections
import json
import sys

import click

from evidence import console, pages, records, steps
from evidence.random_models import search
from evidence.random_models.judging import judge

DATA = 'random_models'
PAGE = 'docs/random-models.md'
WORSE = 'worse than released'


def measure(models, minutes, seed):
    """Clones random models and prints the results.

    # Returns
        A list of one record.
    """
    versions = dict(records.installed_versions(), seed=seed)
    click.echo(f'{records.title(versions)}, seed {seed}')
    with console.progress() as progress:
        task = progress.add_task('Cloning', total=models)
        try:
            counts = search.search(models, minutes, seed,
                                   lambda: progress.advance(task))
        except search.Unfaithful as error:
            if isinstance(error, search.Worse):
                click.echo(f'{WORSE.capitalize()}.')
            click.echo(f'Not cloned faithfully: {error}\n{json.dumps(error.recipe)}')
            sys.exit(1)
    figures = figures_of(counts)
    print_figures(figures)
    return [records.new('random models', versions, figures)]


def figures_of(counts):
    """Returns counts as a dict that can be written as JSON."""
    return {'models': counts.models, 'not_built': counts.not_built,
            'worse': counts.worse, 'released': dict(counts.released),
            'active': dict(counts.active),
            'sizes': {str(size): n for size, n in sorted(counts.sizes.items())},
            'operations': dict(sorted(counts.operations.items()))}


def print_figures(figures):
    console.print_table(['Outcome', 'Released', 'Overlay'], _outcome_rows(figures))
    click.echo(f'\n{_sizes(figures)}\n{_operations(figures)}')
    click.echo('{} models: released clone_model faithful for {}, overlay for {}; '
               '{} {}.'.format(*_totals(figures), WORSE))


def _outcome_rows(figures):
    released, active = figures['released'], figures['active']
    found = sorted(set(released) | set(active),
                   key=lambda outcome: (-released.get(outcome, 0), outcome))
    return [(outcome, released.get(outcome, 0), active.get(outcome, 0))
            for outcome in found] + [(WORSE, '', figures['worse'])]


def _sizes(figures):
    return 'Models by the number of their operations: {}.'.format(', '.join(
        f"{figures['sizes'][size]} of {size}"
        for size in sorted(figures['sizes'], key=int)))


def _operations(figures):
    return 'Models that have an operation: {}.'.format(', '.join(
        f"`{name}` {figures['operations'][name]}"
        for name in sorted(figures['operations'])))


def _totals(figures):
    return (figures['models'], figures['released'].get('faithful', 0),
            figures['active'].get('faithful', 0), figures['worse'])


def write(found):
    pages.write(PAGE, page(found))


def page(found):
    """Returns the page, as Markdown, that shows records."""
    groups = records.grouped(found, _versions_without_seed)
    rows = []
    for group in groups:
        versions = group[0]['versions']
        backend = '{backend} {backend_release}'.format(**versions)
        rows.append([versions['keras'], backend, versions['python'],
                     *_totals(total(group))])
    totals = pages.table(['Keras', 'backend', 'Python', 'models',
                          'faithful: released', 'overlay', WORSE], rows)
    parts = [INTRODUCTION.format(totals)] + [_section(group) for group in groups]
    return '\n\n'.join(parts) + '\n'


def total(group):
    """Returns the sums of the figures of records that differ only in their seed."""
    found = [each['figures'] for each in group]
    figures = {name: sum(each[name] for each in found)
               for name in ('models', 'not_built')}
    # The oldest records do not have this count.
    is_counted = all('worse' in each for each in found)
    figures['worse'] = (sum(each['worse'] for each in found) if is_counted else
                        'not counted')
    for name in ('released', 'active', 'sizes', 'operations'):
        figures[name] = dict(sum((collections.Counter(each[name]) for each in found),
                                 collections.Counter()))
    return figures


def _versions_without_seed(record):
    return {name: text for name, text in record['versions'].items()
            if name != 'seed'}


def _section(group):
    figures = total(group)
    seeds = ', '.join(each['versions']['seed'] for each in group)
    outcomes = pages.table(['outcome', 'released', 'overlay'],
                           _outcome_rows(figures))
    return '\n\n'.join([
        f"## {records.title(group[0]['versions'])}",
        f"{records.dates(group)}, seed {seeds}: {figures['models']} models. Keras "
        f"itself could not build or evaluate {figures['not_built']} more.",
        outcomes, _sizes(figures), _operations(figures)])


INTRODUCTION = """\
# Random models

`make fuzz` and `make fuzz-keras3` create random models. The released function and
the overlay clone each model and its clone. `python -m evidence random-models record`
writes this page. A run stops at the first model that the overlay does not clone
faithfully, and is not recorded: these are runs in which there was none.
`keras_clone/check/faithfulness.py` documents what is compared; here, clones are not
saved. The models consist of operations; `evidence/random_models/operations.py` says
where these are.

<!-- totals -->

{}

<!-- end of totals -->"""

command = steps.group(__doc__, DATA, measure, write, options=[
    click.Option(['--models'], default=200, show_default=True,
                 help='How many models.'),
    click.Option(['--minutes'], type=float, help='Stop after this time.'),
    click.Option(['--seed'], default='1', show_default=True,
                 help='The seed that the models are drawn from.')])
command.add_command(click.Command('judge', callback=judge, hidden=True))
