"""Clones random models by Keras as released and by the overlay, and counts.

    python tests/fuzz.py [--models N] [--minutes N] [--seed N] [--record]

Each model is judged in two processes, of which one has the overlay switched off.
The command ends at the first model that the overlay does not clone faithfully, with
the smallest such model that hypothesis finds, and exit status 1. Where it clones a
model worse than Keras as released does, it says so first, whatever else it finds.

--record enters the counts into docs/data/random_models.json and writes
docs/evidence.md from that file; --page does the latter alone.
"""
import collections
import itertools
import json
import os
import platform
import subprocess
import sys
import time
import traceback

import click
from hypothesis import HealthCheck
from hypothesis import Phase
from hypothesis import assume
from hypothesis import given
from hypothesis import seed as seeded
from hypothesis import settings
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, ROOT)
import keras_clone  # noqa: E402,F401

DATA = os.path.join(ROOT, 'docs', 'data', 'random_models.json')
PAGE = os.path.join(ROOT, 'docs', 'evidence.md')
VERSIONS = ('keras', 'backend', 'backend_release', 'python')
# Hypothesis slows down with the number of examples it has seen.
BATCH = 100
NOT_BUILT = 'not built'
NOT_JUDGED = 'not judged'
WORSE = 'worse than released'


# The process that judges


def judge():
    """Reads recipes from standard input and writes the outcome for each."""
    lines = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)  # What Keras and the backend print is no outcome.
    from keras.models import clone_model
    for line in sys.stdin:
        lines.write(json.dumps(outcome_of(json.loads(line), clone_model)) + '\n')
        lines.flush()


def outcome_of(recipe, clone_model):
    """Tells how a function clones the model of a recipe.

    # Arguments
        recipe: see `recipes` in `random_models.py`.
        clone_model: the function.

    # Returns
        A list: one of the outcomes of `keras_clone.check.faithfulness`, NOT_BUILT
        where Keras itself cannot build or evaluate the model, or NOT_JUDGED where
        there is an error in judging; and the reason.
    """
    import random_models
    from keras_clone.check.faithfulness import ModelError
    from keras_clone.check.faithfulness import check_clone
    try:
        report = check_clone(lambda: random_models.build(recipe), clone_model,
                             saving=False, locate=False)
    except ModelError as error:
        return [NOT_BUILT, str(error)]
    except Exception:  # Looked into like an unfaithful clone, not the end of it all.
        return [NOT_JUDGED, traceback.format_exc()]
    return [report.outcome, report.reason]


class Judge:
    """A process that judges clones, with the overlay `on` or `off`."""

    def __init__(self, switch):
        self._process = subprocess.Popen(
            [sys.executable, '-W', 'ignore', __file__, '--judge'],
            env=dict(os.environ, KERAS_CLONE=switch, PYTHONPATH=os.pathsep.join(
                [ROOT] + os.environ.get('PYTHONPATH', '').split(os.pathsep)),
                TF_CPP_MIN_LOG_LEVEL='3'),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, universal_newlines=True)

    def ask(self, recipe):
        self._process.stdin.write(json.dumps(recipe) + '\n')
        self._process.stdin.flush()

    def answer(self):
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError('The process that judges clones has ended.')
        return json.loads(line)

    def end(self):
        self._process.stdin.close()
        self._process.wait()


# The models


class Unfaithful(Exception):
    """The overlay does not clone the model of `recipe` faithfully."""

    def __init__(self, recipe, reason):
        super().__init__(reason)
        self.recipe = recipe


class Worse(Unfaithful):
    """The released function clones the model better."""


def is_worse(released, active):
    """Returns whether the overlay clones a model worse than Keras as released.

    # Arguments
        released, active: an outcome each, see `outcome_of`.
    """
    from keras_clone.check.faithfulness import OUTCOMES
    if NOT_JUDGED in (released, active):
        return released == 'faithful'
    return OUTCOMES.index(active) < OUTCOMES.index(released)


class Counts:
    """What came of the models.

    # Attributes
        released, active: `Counter`s of the outcomes.
        worse: how many models the overlay cloned worse than Keras as released.
        sizes: `Counter` of the numbers of operations in a model.
        operations: `Counter` {name: number of models that have it}.
        not_built: how many models Keras itself could not build or evaluate.
    """

    def __init__(self):
        self.released, self.active = collections.Counter(), collections.Counter()
        self.sizes, self.operations = collections.Counter(), collections.Counter()
        self.not_built = self.worse = 0

    @property
    def models(self):
        return sum(self.active.values())

    def enter(self, operations, released, active):
        self.released[released] += 1
        self.active[active] += 1
        self.worse += is_worse(released, active)
        self.sizes[len(operations)] += 1
        self.operations.update(set(operations))


def fuzz(models, minutes, seed, advance):
    """Judges random models until there are enough or time is up.

    # Arguments
        models: how many.
        minutes: for how long at most; None for as long as it takes.
        seed: the models depend on it alone.
        advance: called after each model.

    # Returns
        The `Counts`.

    # Raises
        Unfaithful: at the first model that the overlay does not clone; `Worse` if
            it clones this one or a smaller one worse than Keras as released.
    """
    import random_models
    counts, until = Counts(), time.time() + 60 * (minutes or 1e6)
    is_built = {}  # {recipe: whether Keras itself can build it}
    found, worse = [], []
    released, active = Judge('off'), Judge('on')

    def judge_model(recipe):
        key = json.dumps(recipe)
        operations = random_models.uses(recipe)
        # Hypothesis wants the same result each time: what it draws again is no
        # reason to `assume` that it does not.
        assume(is_built.get(key, True))
        if key in is_built or counts.models >= models and not found:
            return
        released.ask(recipe)
        active.ask(recipe)
        (theirs, _), (ours, reason) = released.answer(), active.answer()
        is_built[key] = ours != NOT_BUILT
        counts.not_built += not is_built[key]
        assume(is_built[key])
        counts.enter(operations, theirs, ours)
        advance()
        if ours != 'faithful':
            is_built.clear()  # To be judged again, when a smaller one is looked for.
            found.append(recipe)
            if is_worse(theirs, ours):
                worse.append(Worse(recipe, reason))
                raise worse[-1]
            if not worse:  # Else, it may not be shown in place of the worse one.
                raise Unfaithful(recipe, reason)

    try:
        for batch in itertools.count():
            if counts.models >= models or time.time() > until:
                break
            seeded('%s, batch %d' % (seed, batch))(settings(
                max_examples=BATCH, database=None, deadline=None,
                phases=[Phase.generate, Phase.shrink], report_multiple_bugs=False,
                suppress_health_check=list(HealthCheck))(
                    given(random_models.recipes())(judge_model)))()
    except Exception:
        if worse:  # Hypothesis may have found another one first.
            raise min(worse, key=lambda error: len(json.dumps(error.recipe)))
        raise
    finally:
        released.end()
        active.end()
    return counts


# What is printed and written


def versions():
    """Returns what the counts depend on, apart from the seed."""
    import keras
    from keras import backend as K
    return dict(zip(VERSIONS, (
        keras.__version__, K.backend(), __import__(K.backend()).__version__,
        platform.python_version())))


def data_of(counts, seed):
    """Returns what is recorded of a run, as JSON has it."""
    return dict(
        versions(), seed=seed, models=counts.models, not_built=counts.not_built,
        worse=counts.worse, date=time.strftime('%Y-%m-%d'),
        released=dict(counts.released), active=dict(counts.active),
        sizes={str(size): n for size, n in counts.sizes.items()},
        operations=dict(counts.operations))


def print_counts(data, console):
    outcomes = Table(box=None, pad_edge=False)
    outcomes.add_column('Outcome')
    outcomes.add_column('Released', justify='right')
    outcomes.add_column('Overlay', justify='right')
    for outcome in sorted_outcomes(data):
        outcomes.add_row(outcome, str(data['released'].get(outcome, 0)),
                         str(data['active'].get(outcome, 0)))
    outcomes.add_row(WORSE, '', str(data['worse']))
    console.print(outcomes)
    console.print('\nOperations in a model: ' + ', '.join(
        '%s: %d' % (size, data['sizes'][size])
        for size in sorted(data['sizes'], key=int)), highlight=False)
    console.print('Models with each operation: ' + ', '.join(
        '%s %d' % (name, data['operations'][name])
        for name in sorted(data['operations'])), highlight=False)


def sorted_outcomes(data):
    found = set(data['released']) | set(data['active'])
    return sorted(found, key=lambda outcome: (-data['released'].get(outcome, 0),
                                              outcome))


def record(data):
    """Enters a run into the data, in place of one like it."""
    def key(run):
        return [run[name] for name in VERSIONS] + [len(run['seed']), run['seed']]
    runs = [run for run in recorded() if key(run) != key(data)]
    with open(DATA, 'w') as file:
        json.dump(sorted(runs + [data], key=key), file, indent=1, sort_keys=True)
        file.write('\n')


def recorded():
    """Returns the runs in the data: a list of what `data_of` returns."""
    with open(DATA) as file:
        return json.load(file)


def sums(runs):
    """Returns the runs with the counts of those added up that differ in their seed
    alone; `seed` and `date` become lists."""
    groups = {}
    for run in runs:
        groups.setdefault(tuple(run[name] for name in VERSIONS), []).append(run)
    return [_sum(group) for group in groups.values()]


def _sum(group):
    total = dict(group[0], seed=[run['seed'] for run in group],
                 date=sorted({run['date'] for run in group}))
    for name in ('models', 'not_built'):
        total[name] = sum(run[name] for run in group)
    # It was not counted from the beginning.
    total['worse'] = (sum(run['worse'] for run in group)
                      if all('worse' in run for run in group) else None)
    for name in ('released', 'active', 'sizes', 'operations'):
        total[name] = dict(sum((collections.Counter(run[name]) for run in group),
                               collections.Counter()))
    return total


def page(runs):
    """Returns the page that shows the runs, as Markdown."""
    totals = sums(runs)
    lines = [INTRODUCTION, '<!-- totals -->', '',
             '| Keras | backend | Python | models | faithful: released | overlay '
             '| worse than released |',
             '|---|---|---|---|---|---|---|']
    for run in totals:
        lines.append('| {keras} | {backend} {backend_release} | {python} | {models} '
                     '| {theirs} | {ours} | {worse_text} |'.format(
                         theirs=run['released'].get('faithful', 0),
                         ours=run['active'].get('faithful', 0),
                         worse_text=_text_of_worse(run), **run))
    lines += ['', '<!-- end of totals -->']
    for run in totals:
        lines += _page_of(run)
    return '\n'.join(lines) + '\n'


INTRODUCTION = """\
# Random models

`make fuzz` and `make fuzz-keras3` draw models and clone each, and its clone, by the
released function and by the overlay. `python tests/fuzz.py --record` writes this
page. What a clone is held against is told in `keras_clone/check/faithfulness.py`,
what the models are made of in `tests/operations_keras2.py` and
`tests/operations_keras3.py`.
"""


def _text_of_worse(run):
    return 'not counted' if run['worse'] is None else str(run['worse'])


def _page_of(run):
    lines = ['', '## Keras {keras}, {backend} {backend_release}, Python {python}'
             .format(**run), '',
             '{}, seed {}: {} models. Keras itself could not build or evaluate {} '
             'more.'.format(' and '.join(run['date']), ', '.join(run['seed']),
                            run['models'], run['not_built']), '',
             '| outcome | released | overlay |', '|---|---|---|']
    for outcome in sorted_outcomes(run):
        lines.append('| {} | {} | {} |'.format(
            outcome, run['released'].get(outcome, 0), run['active'].get(outcome, 0)))
    lines.append(f'| {WORSE} | | {_text_of_worse(run)} |')
    sizes = [f"{run['sizes'][size]} of {size}"
             for size in sorted(run['sizes'], key=int)]
    operations = [f"`{name}` {run['operations'][name]}"
                  for name in sorted(run['operations'])]
    return lines + [
        '', f"Models by the number of their operations: {', '.join(sizes)}.",
        '', f"Models that have an operation: {', '.join(operations)}."]


@click.command()
@click.option('--models', default=200, show_default=True, help='How many.')
@click.option('--minutes', type=float, help='For how long at most.')
@click.option('--seed', default='1', show_default=True,
              help='What the models depend on.')
@click.option('--record', 'is_recorded', is_flag=True,
              help='Enter the counts into the docs.')
@click.option('--page', 'only_page', is_flag=True,
              help='Write the page of the docs anew, and no more.')
@click.option('--judge', 'judges', is_flag=True, hidden=True)
def main(models, minutes, seed, is_recorded, only_page, judges):
    """Clone random models by Keras as released and by this package."""
    if judges:
        return judge()
    if not only_page:
        data = _counted(models, minutes, seed)
        if is_recorded:
            record(data)
    if is_recorded or only_page:
        with open(PAGE, 'w') as file:
            file.write(page(recorded()))


def _counted(models, minutes, seed):
    console = Console()
    click.echo('Keras {keras}, {backend} {backend_release}, Python {python}, seed '
               '{seed}'.format(seed=seed, **versions()))
    progress = Progress(console=Console(stderr=True), transient=True,
                        disable=not sys.stderr.isatty())
    with progress:
        task = progress.add_task('Cloning', total=models)
        try:
            counts = fuzz(models, minutes, seed, lambda: progress.advance(task))
        except Unfaithful as error:
            if isinstance(error, Worse):
                click.echo(WORSE[0].upper() + WORSE[1:] + '.')
            click.echo(f'Not cloned faithfully: {error}\n{json.dumps(error.recipe)}')
            sys.exit(1)
    data = data_of(counts, seed)
    print_counts(data, console)
    console.print('%d models: released clone_model faithful for %d, overlay for %d; '
                  '%d %s.' % (counts.models, counts.released['faithful'],
                              counts.active['faithful'], counts.worse, WORSE),
                  highlight=False)
    return data


if __name__ == '__main__':
    main()
