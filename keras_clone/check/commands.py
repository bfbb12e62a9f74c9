"""The commands `keras-clone status` and `keras-clone check`."""
import collections
import contextlib
import importlib
import json
import logging
import os
import platform
import subprocess
import sys
import warnings

import click
from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

import keras_clone

from . import processes, subjects
from .messages import one_line
from .processes import Failure

# A line of `status`: what is used, its release, its file or folder; may be empty.
Fact = collections.namedtuple('Fact', 'name release place')


@click.group(context_settings={'help_option_names': ['-h', '--help']})
@click.version_option(keras_clone.__version__, prog_name='keras-clone')
def main():
    """Makes `keras.models.clone_model` clone faithfully."""


@main.command()
def status():
    """Show which Keras is used and what is overlaid."""
    be_quiet()
    try:
        facts = _facts()
    except Failure as failure:
        facts = [Fact('Keras', failure.message, ''),
                 Fact('Python', platform.python_version(), '')]
    for fact in facts:
        text = ', '.join(filter(None, [fact.release, fact.place]))
        click.echo(f'{fact.name:8} {text}')
    click.echo()
    for row in keras_clone.status():
        why = row['reason'] or (row['file'] if row['state'] == 'active' else '')
        click.echo(f"{row['module']}: {row['state']}" + (f' ({why})' if why else ''))


@main.command()
@click.argument('model', required=False)
@click.option('--only', metavar='TEXT',
              help='Check only those models of the gallery that have TEXT in their '
                   'name or description.')
@click.option('--seed', default=0, show_default=True,
              type=click.IntRange(0, 2 ** 32 - 1),
              help='The seed of the weights and inputs that are drawn.')
@click.option('--json', 'as_json', is_flag=True, help='Print JSON for programs.')
@click.option('--verbose', '-v', is_flag=True, help='Print every difference found.')
@click.option('--svg', metavar='FILE',
              help='Draw MODEL and its clones side by side in this .svg file.')
@click.pass_context
def check(context, model, only, seed, as_json, verbose, svg):
    """Clone a model with the released function and with that of the overlay.

    Reports for each clone whether it is faithful and, if not, at which layer it
    first differs from the original.

    MODEL is an .h5, .hdf5 or .keras file, or package.module:function: a function
    that builds a model and returns it, or returns a pair (model, list of input
    arrays). The module is looked for in the current folder first. A file whose name
    begins with a dash is given as ./-name.h5.

    Without MODEL, a gallery of models is checked, the one of Keras issue 12202
    first.

    \b
    The outcomes for a clone that is not faithful, the worst first:
      crash             cloning raises an exception
      cannot predict    computing the clone's outputs raises an exception
      wrong numbers     with the same weights, the outputs are not the original's
      clones only once  the clone of the clone is not faithful
      not independent   it shares something with the original, or changed it
      other graph       other layers, sharing, masks, call arguments or ops
      does not save     it cannot be saved and loaded, but the original can

    Exit status: 0 if the active clone_model is faithful everywhere, 1 if it is not,
    2 if nothing could be checked, 130 after Ctrl-C, 143 after SIGTERM.
    """
    subjects.refuse_wrong(model, only)
    if svg is not None:
        _refuse_svg(svg, model)
    facts, inactive, rows = _checked(model, only, seed, svg is not None)
    columns = {'Released': 'released'}
    if not inactive:
        columns['keras-clone'] = 'active'
    outlines = {key: rows[0][key].pop('outlines', None) for key in columns.values()}
    faithful = {key: sum(row[key]['outcome'] == 'faithful' for row in rows)
                for key in ('released', 'active')}
    if as_json:
        data = {fact.name.lower(): fact.release for fact in facts}
        data.update(active='released' if inactive else 'keras-clone', seed=seed,
                    faithful=faithful, models=rows)
        click.echo(json.dumps(data, indent=2))
    else:
        _print_table(rows, columns)
        _print_notes(rows, columns, with_differences=verbose or model)
        models = '1 model' if len(rows) == 1 else f'{len(rows)} models'
        other = (f'. keras-clone is not active ({inactive}).' if inactive
                 else f", keras-clone for {faithful['active']}.")
        click.echo(f'{models}: released clone_model faithful for '
                   f"{faithful['released']}{other}")
    if svg is not None:
        _draw(svg, facts, rows[0], outlines)
    if faithful['active'] < len(rows):
        context.exit(1)


def _print_table(rows, columns):
    """Prints what was found; `columns` has the key in a row for each heading."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False,
                  padding=(0, 1, 0, 0))
    for heading in ['Model', *columns]:
        table.add_column(heading, overflow='fold')
    for row in rows:
        cells = [Text(row['description'])]
        for result in (row[key] for key in columns.values()):
            style = 'green' if result['outcome'] == 'faithful' else 'red'
            cells.append(Text(result['outcome'], style))
            if result['layer']:
                cells[-1].append(' at ' + result['layer'], style='default')
        table.add_row(*cells)
    Console().print(table)
    click.echo()


def _print_notes(rows, columns, with_differences):
    """Prints the differences, and what was not compared, also of faithful clones."""
    results = [(f"{row['description']}, {heading.lower()}", row[key])
               for row in rows for heading, key in columns.items()]
    for where, result in results:
        if with_differences and result['differences']:
            click.echo('\n  '.join([where + ':'] + result['differences']) + '\n')
    for where, result in results:
        if result.get('not_compared'):
            texts = ', '.join(result['not_compared'])
            click.echo(f'Not compared, {where}: {texts}.\n')


def be_quiet():
    """Hides the warnings of Keras, NumPy and the backends in this process, and keeps
    Theano from optimizing what is computed only once."""
    os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')
    os.environ.setdefault('THEANO_FLAGS', 'optimizer=fast_compile')
    logging.getLogger('tensorflow').setLevel(logging.ERROR)
    warnings.simplefilter('ignore')


@contextlib.contextmanager
def _without_messages():
    """Context without what TensorFlow 2 writes to stderr, whatever its log level."""
    sys.stderr.flush()
    saved = os.dup(2)
    with open(os.devnull, 'w') as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        sys.stderr.flush()  # Python 3.7 buffers what goes to a file or a pipe.
        os.dup2(saved, 2)
        os.close(saved)


def _facts():
    """Imports Keras and returns `Fact`s, in the order in which they are shown."""
    release = keras_clone.keras_release()
    if release is None:
        wanted = 'keras' if sys.version_info >= (3, 9) else 'keras==2.3.1'
        raise Failure('Keras is not installed. Install it, for example with: '
                      f'pip install {wanted}')
    try:
        with _without_messages():
            importlib.import_module('keras.models')
            keras = sys.modules['keras']
            backend = keras.backend.backend()
            backend_release = importlib.import_module(backend).__version__
    except Exception as error:
        raise Failure(f'Keras {release} cannot be imported: {one_line(error)}')
    return [Fact('Keras', release, os.path.dirname(keras.__file__)),
            Fact('Backend', f'{backend} {backend_release}', ''),
            Fact('Python', platform.python_version(), sys.executable)]


def _why_inactive():
    """Returns why the released `clone_model` is active; empty if this one is."""
    for row in keras_clone.status():
        if row['state'] != 'active':
            return ', '.join(filter(None, [row['state'], row['reason']]))
    return ''


def _checked(model, only, seed, outlines=False):
    """Checks the models with both functions. Returns the `Fact`s, why this function
    is not active, and the rows of the table; with `outlines`, they contain what
    `_draw` draws."""
    console = Console(stderr=True)
    if model is not None:
        subjects.warn_of_code(model)
        if console.is_terminal:
            click.echo(f'Cloning {model} ...', err=True)
    arguments = [model, only, seed, outlines]
    with processes.started(arguments) as active, processes.started(
            arguments, 'The released function could not be checked: ',
            stderr=subprocess.DEVNULL,
            env=dict(os.environ, KERAS_CLONE='off')) as released:
        start = next(active)
        both = not start['inactive'] and next(released)
        models, rows = start['models'], []
        # One model has no progress bar: its builder may print. A disabled `track` of
        # rich would print an empty line.
        if len(models) > 1 and console.is_terminal:
            models = track(models, 'Cloning', console=console, transient=True)
        for name, text in models:
            result = next(active)
            rows.append({'model': name, 'description': text,
                         'released': next(released) if both else result,
                         'active': result})
    return [Fact(*each) for each in start['facts']], start['inactive'], rows


def answer(*arguments):
    """Writes what one of the processes finds out, for `_checked`: first what is
    checked and with what, then for each model whether it is faithful."""
    be_quiet()
    processes.write_lines(_found(*arguments))


def _found(model, only, seed, with_outlines):
    facts, inactive = _facts(), _why_inactive()
    from keras.models import clone_model
    from .faithfulness import ModelError, check_clone
    from .outline import outlines
    chosen = subjects.chosen(model, only)
    yield {'facts': facts, 'inactive': inactive,
           'models': [(each.name, each.text) for each in chosen]}
    for subject in chosen:
        try:
            report = check_clone(subject.build, clone_model, seed=seed,
                                 exact_ops=subject.exact_ops)
            result = dict(report._asdict(), differences=[
                str(each) for each in report.differences])
            if with_outlines:
                result['outlines'] = outlines(subject.build, clone_model,
                                              report.outcome, seed)
        except ModelError as error:
            advice = subjects.advice(error.__context__) if subject.is_file else ''
            raise Failure(f'{subject.name}: {error}{advice}')
        yield result


def _refuse_svg(path, model):
    """Raises a `Failure` unless a picture can be written to a file."""
    found = ''
    if model is None:
        found = 'no MODEL: it does not draw the gallery'
    elif not path.endswith('.svg'):
        found = path or 'an empty name'
    elif not os.path.isdir(os.path.dirname(os.path.realpath(path))):
        found = f'{path}, in a folder that does not exist'
    if found:
        raise Failure('--svg should be an .svg file for the picture of a MODEL. '
                      f'Found: {found}.')


def _draw(path, facts, row, outlines):
    """Writes the picture of a model and of its clone by each function."""
    from .drawing import Clone, draw
    headings = {'released': f'Keras {facts[0].release}, as released',
                'active': 'With the overlay'}
    clones = [Clone(headings[key], found['clone'], row[key]['outcome'],
                    row[key]['layer'], row[key]['reason'])
              for key, found in outlines.items()]
    model = list(outlines.values())[-1]['model']
    text = draw(row['description'], model, clones)
    try:
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
    except OSError as error:
        raise Failure('--svg should be an .svg file that can be written. '
                      f'Found: {path}, {error.strerror}.')
