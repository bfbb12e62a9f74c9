"""Models of other people's packages, cloned by Keras as released and by the overlay.

The models are built without downloads, with random weights. Each package is judged in
two processes, one with the overlay and one without it. What a model is cloned like:

- faithful: see `keras_clone/check/faithfulness.py`.
- names of layers only: faithful, but for the names of layers.
- clones only once: the clone is faithful, its clone is not.
- wrong: other numbers, silently.
- error: cloning, or computing with the clone, raises an exception.

Other outcomes have the name that the judge gives them.
"""
import collections
import os
import sys

import click

from evidence import console, pages, records, steps
from evidence.real_models import judging, tables
from evidence.real_models.judging import Judge

DATA = 'real_models'
PAGE = 'docs/real-models.md'
SIDES = {'released': 'off', 'overlay': 'on'}
WORSE = 'worse than released'


def measure(package, checkout, limit):
    """Clones the models of packages and prints the results.

    # Arguments
        package: list of names; if it is empty, all.
        checkout: the folder with the overlay.
        limit: seconds that a model may take.

    # Returns
        A list of records, one for each package.
    """
    versions = records.installed_versions()
    known = tables.of_series(versions['keras'])
    unknown = set(package) - set(known)
    if unknown:
        raise click.BadParameter('PACKAGE should be one of {}. Found: {}.'.format(
            ', '.join(known), ', '.join(unknown)))
    click.echo(records.title(versions))
    found = [records.new(name, versions, figures_of(name, checkout, limit))
             for name in package or known]
    print_totals(found)
    return found


def figures_of(package, checkout, limit):
    """Clones the models of a package and prints the results.

    # Returns
        A dict: the `release` of the package, and its `models`: a dict {model: dict
        {side: list of the outcome and the reason}}.
    """
    judges = {side: Judge(package, switch, checkout, limit)
              for side, switch in SIDES.items()}
    models = {}
    for model in judges['overlay'].models:
        models[model] = {side: each.outcome_of(model)
                         for side, each in judges.items()}
        click.echo(f'{package}: {model}: ' + ', '.join(
            f'{side} {text(*found)}' for side, found in models[model].items()))
        sys.stdout.flush()
    for each in judges.values():
        each.end()
    return {'release': release_of(package), 'models': models}


def release_of(package):
    """Returns the installed release of a package."""
    import pkg_resources
    return pkg_resources.get_distribution(package).version


def text(outcome, reason):
    """Returns an outcome as text, an error with the class of the exception."""
    exception = judging.exception_of(reason)
    return f'{outcome} ({exception})' if outcome == judging.ERROR else outcome


def print_totals(found):
    """Prints how often there is each outcome, and what the overlay does not clone
    faithfully."""
    counts = {side: collections.Counter(
        text(*each[side]) for _, _, each in models_of(found)) for side in SIDES}
    outcomes = sorted(set().union(*counts.values()),
                      key=lambda outcome: (-counts['released'][outcome], outcome))
    console.print_table(['Outcome', *map(str.capitalize, SIDES)], [
        [outcome, *(counts[side][outcome] for side in SIDES)]
        for outcome in outcomes])
    for record, model, each in models_of(found):
        outcome, reason = each['overlay']
        if outcome != judging.FAITHFUL:
            click.echo(f"\n{record['what']}: {model}: {outcome}: {reason}")
        if judging.is_worse(outcome, each['released'][0]):
            click.echo(f'{WORSE.capitalize()}.')


def models_of(found):
    """Yields for each model its record, its name and the outcomes on both sides."""
    for record in found:
        for model, each in record['figures']['models'].items():
            yield record, model, each


def write(found):
    pages.write(PAGE, page(found))


def page(found):
    return ''


command = steps.group(__doc__, DATA, measure, write, options=[
    click.Option(['--package'], multiple=True, help='Only the models of this one.'),
    click.Option(['--checkout'], default=records.ROOT, type=click.Path(
        exists=True, file_okay=False, resolve_path=True),
        help='The checkout with the overlay under test; without it, this one.'),
    click.Option(['--limit'], default=300, show_default=True,
                 help='The seconds that a model may take.')],
    like=lambda record: (record['what'], records.release_of(record)))
