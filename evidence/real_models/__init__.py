"""Models of other people's packages, cloned by Keras as released and by the overlay.

The models are built without downloads, with random weights. Each package is judged
in two processes, one with the overlay and one without it. Only names: the clone is
faithful but for the names of layers. Wrong: it computes other numbers, silently.
Error: cloning, or computing with the clone, raises an exception. The other outcomes
are those of `keras_clone/check/faithfulness.py`.
"""
import collections

import click

from evidence import console, pages, records, steps, summary
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
        limit: the seconds that a process may compute for a model.

    # Returns
        A list of records, one for each package.
    """
    versions = records.installed_versions()
    known = tables.packages_for(versions['keras'])
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
        outcome, reason = models[model]['overlay']
        if outcome != judging.FAITHFUL:
            click.echo(f'    {reason}')
    for each in judges.values():
        each.end()
    return {'release': release_of(package), 'models': models}


def release_of(package):
    """Returns the installed release of a package."""
    try:
        from importlib import metadata
    except ImportError:  # Python 3.7
        import importlib_metadata as metadata
    return metadata.version(package)


def text(outcome, reason):
    """Returns an outcome as text, an error with the class of the exception."""
    exception = judging.exception_of(reason)
    return f'{outcome} ({exception})' if outcome == judging.ERROR else outcome


def print_totals(found):
    """Prints how often there is each outcome, and what the overlay clones worse."""
    console.print_table(['Outcome', *map(str.capitalize, SIDES)],
                        outcome_rows(found))
    for package, model, each in models_of(found):
        if is_worse(each):
            click.echo(f'{WORSE.capitalize()}: {package}: {model}')


def outcome_rows(found):
    """Returns rows: an outcome, how often it is that of each side."""
    counts = [collections.Counter(text(*each[side])
                                  for _, _, each in models_of(found))
              for side in SIDES]
    outcomes = sorted(set().union(*counts), key=lambda outcome: (
        [-count[outcome] for count in counts], outcome))
    return [[outcome, *(count[outcome] for count in counts)]
            for outcome in outcomes]


def models_of(found):
    """Yields for each model its package, its name and the outcomes on both sides."""
    for record in found:
        for model, each in record['figures']['models'].items():
            yield record['what'], model, each


def is_worse(each):
    """Returns whether the released function clones a model better."""
    return judging.is_worse(each['overlay'][0], each['released'][0])


def totals(found):
    """Counts models: all, faithful on each side, worse with the overlay."""
    models = [each for _, _, each in models_of(found)]
    return [len(models)] + [
        sum(each[side][0] == judging.FAITHFUL for each in models)
        for side in SIDES] + [sum(map(is_worse, models))]


def write(found):
    pages.write(PAGE, page(found))
    summary.write()


def page(found):
    """Returns the page, as Markdown, that shows records."""
    groups = records.grouped(found)
    rows = [[*_texts(group[0]['versions']), len(group), *totals(group)]
            for group in groups]
    headings = ['Keras', 'backend', 'Python', 'packages', 'models',
                'faithful: released', 'overlay', WORSE]
    parts = [INTRODUCTION, pages.table(headings, rows)]
    return '\n\n'.join(parts + [_section(group) for group in groups]) + '\n'


def _texts(versions):
    return (versions['keras'], '{backend} {backend_release}'.format(**versions),
            versions['python'])


def _section(group):
    packages = [[record['what'], record['figures']['release'], *totals([record])[:3],
                 _outcomes(record)] for record in group]
    parts = [f"## {records.title(group[0]['versions'])}",
             f'Run: {records.dates(group)}.',
             pages.table(['outcome', *SIDES], outcome_rows(group)),
             pages.table(['package', 'release', 'models', 'faithful: released',
                          'overlay', 'what the released function does'], packages)]
    unfaithful = [_finding(*each) for each in models_of(group)
                  if each[-1]['overlay'][0] != judging.FAITHFUL]
    if unfaithful:
        parts += ['What the overlay does not clone faithfully:',
                  '\n'.join(unfaithful)]
    return '\n\n'.join(parts)


def _outcomes(record):
    """Returns what the released function does with the models of a package."""
    return ', '.join(f'{outcome} {count}'
                     for outcome, count, _ in outcome_rows([record])
                     if count and outcome != judging.FAITHFUL)


def _finding(package, model, each):
    outcome, reason = each['overlay']
    return f'- {package}, {model}: {outcome}: ``{reason}``'


INTRODUCTION = """\
# Real models

Models of other people's packages, built by the packages themselves with random
weights: nothing is downloaded. The released function and the overlay clone each
model and its clone. `make real-models` does this for all that `keras2.py` and
`keras3.py` in `evidence/real_models/` list, `python -m evidence real-models record`
writes this page.

A *faithful* clone is what `keras_clone/check/faithfulness.py` documents; here, it is
not saved, and may have fewer ops than the original. *Names of
layers only*: nothing else differs. *Wrong*: the clone computes other numbers,
silently. *Clones only once*: the clone is faithful, its clone is not. *Error*:
cloning, or computing with the clone, raises that exception.

Where clones of the overlay count as *other graph*, they compute the numbers of the
original. A layer of complexnet and keras-complex keeps, in its config, a seed that
its constructor has drawn: every clone, the released one as well, begins with the
weights of the original. In kerascv, the variable of a loop, which a function uses,
has changed since the layer was called: the clone has the value with which the
original computes, the config of the original has the value after the loop."""

command = steps.group(__doc__, DATA, measure, write, options=[
    click.Option(['--package'], multiple=True, help='Only the models of this one.'),
    click.Option(['--checkout'], default=records.ROOT, type=click.Path(
        exists=True, file_okay=False, resolve_path=True),
        help='The checkout with the overlay under test; without it, this one.'),
    click.Option(['--limit'], default=300, show_default=True,
                 help='The seconds that a process may compute for a model.')],
    like=lambda record: (record['what'], records.release_of(record)))
