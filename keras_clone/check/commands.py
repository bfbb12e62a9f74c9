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
import tempfile
import warnings

import click
from rich import box
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

import keras_clone

# A model to check: its name, its text in the table, a function that builds it,
# whether that function adds only the model's own ops, advice to print if it fails.
Subject = collections.namedtuple('Subject', 'name text build exact_ops advice')
# A line of `status`: the name of what is used, its release, its file or folder
# (empty if it is not shown).
Fact = collections.namedtuple('Fact', 'name release place')

FUNCTION = 'package.module:function'
# Environment variables: they keep the backends from writing messages, and Theano
# from optimizing what is computed only once.
ENVIRONMENT = {'TF_CPP_MIN_LOG_LEVEL': '3', 'THEANO_FLAGS': 'optimizer=fast_compile'}


class Failure(click.ClickException):
    """What the user has to fix: one line on stderr, exit status 2."""
    exit_code = 2


@click.group(context_settings={'help_option_names': ['-h', '--help']})
@click.version_option(keras_clone.__version__, prog_name='keras-clone')
def main():
    """Makes `keras.models.clone_model` clone faithfully."""


@main.command()
def status():
    """Show which Keras is used and what is overlaid."""
    with _quiet():
        try:
            facts = _facts()
        except Failure as failure:
            facts = [Fact('Keras', failure.message, ''),
                     Fact('Python', platform.python_version(), '')]
        rows = keras_clone.status()
    for fact in facts:
        text = ', '.join(filter(None, [fact.release, fact.place]))
        click.echo(f'{fact.name:8} {text}')
    click.echo()
    for row in rows:
        why = row['reason'] or (row['file'] if row['state'] == 'active' else '')
        click.echo(f"{row['module']}: {row['state']}" + (f' ({why})' if why else ''))


@main.command()
@click.argument('model', required=False)
@click.option('--only', metavar='TEXT',
              help='Check only those models of the gallery that have TEXT in their '
                   'name or description.')
@click.option('--seed', default=0, show_default=True,
              help='The seed of the weights and inputs that are drawn.')
@click.option('--json', 'as_json', is_flag=True, help='Print JSON for programs.')
@click.option('--verbose', '-v', is_flag=True, help='Print every difference found.')
@click.option('--svg', metavar='FILE',
              help='Draw MODEL and its clones side by side in this .svg file.')
@click.option('--lines', is_flag=True, hidden=True)
@click.option('--outlines', is_flag=True, hidden=True)
@click.pass_context
def check(context, model, only, seed, as_json, verbose, svg, lines, outlines):
    """Clone a model with the released function and with this one.

    Reports for each clone whether it is faithful and, if not, at which layer it
    first differs from the original.

    MODEL is an .h5 or .keras file, or package.module:function: a function that
    builds a model and returns it, or returns a pair (model, list of input arrays).
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
    2 if nothing could be checked.
    """
    out = sys.stdout
    if svg is not None:
        _refuse_svg(svg, model)
    with _quiet(), contextlib.redirect_stdout(sys.stderr):
        facts = _facts()
        inactive = _why_inactive()
        subjects = _subjects(model, only)
        if lines:
            for subject in subjects:
                result = _result(subject, seed)
                if outlines:
                    result['outlines'] = _outlines(subject, seed, result)
                click.echo(json.dumps(result), file=out)
            return
        arguments = [model, '--only', only or '', '--seed', str(seed)]
        rows = _rows(subjects, seed, not inactive,
                     arguments + ['--outlines'] * (svg is not None))
        if svg is not None:
            _draw(svg, subjects[0], seed, facts, inactive, rows[0])
    if as_json:
        click.echo(json.dumps(_data(facts, inactive, seed, rows), indent=2))
    else:
        _print_table(rows, inactive)
        click.echo()
        if verbose or model:
            _print_differences(rows, inactive)
        _print_not_compared(rows, inactive)
        click.echo(_last_line(rows, inactive))
    if not all(_is_faithful(row['active']) for row in rows):
        context.exit(1)


# The environment


@contextlib.contextmanager
def _quiet():
    """Context without the warnings of Keras, NumPy and the backends."""
    added = {name: value for name, value in ENVIRONMENT.items()
             if name not in os.environ}
    logger = logging.getLogger('tensorflow')
    level = logger.level
    os.environ.update(added)
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            yield
    finally:
        logger.setLevel(level)
        for name in added:
            os.environ.pop(name, None)


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
        raise Failure('Keras is not installed. Install it, for example with: '
                      'pip install keras==2.3.1')
    try:
        with _without_messages():
            importlib.import_module('keras.models')
            keras = sys.modules['keras']
            backend = keras.backend.backend()
            backend_release = importlib.import_module(backend).__version__
    except Exception as error:
        raise Failure(f'Keras {release} cannot be imported: {_one_line(error)}')
    return [Fact('Keras', release, os.path.dirname(keras.__file__)),
            Fact('Backend', f'{backend} {backend_release}', ''),
            Fact('Python', platform.python_version(), sys.executable)]


def _one_line(error):
    return ' '.join(f'{type(error).__name__}: {error}'.split())


def _why_inactive():
    """Returns why the released `clone_model` is active; empty if this one is."""
    inactive = [row for row in keras_clone.status() if row['state'] != 'active']
    if not inactive:
        return ''
    return ', '.join(filter(None, [inactive[0]['state'], inactive[0]['reason']]))


# What to check


def _subjects(model, only):
    """Returns the `Subject`s that the arguments of the command ask for."""
    if model is None:
        return _of_gallery(only)
    if only:
        raise Failure('--only chooses from the gallery: leave it out with a MODEL.')
    if model.endswith(('.h5', '.hdf5', '.keras')):
        return [_of_file(model)]
    if ':' in model:
        return [_of_function(model)]
    raise Failure(f'MODEL should be an .h5 or .keras file or {FUNCTION}. '
                  f'Found: {model}')


def _of_gallery(only):
    from . import gallery
    subjects = [Subject(build.__name__, build.title, build, True, '')
                for build in gallery.MODELS]
    chosen = [each for each in subjects
              if not only or only.lower() in (each.name + each.text).lower()]
    if not chosen:
        names = ', '.join(each.name for each in subjects)
        raise Failure(f'No model of the gallery has {only!r} in its name or '
                      f'description. Their names: {names}')
    return chosen


def _of_file(path):
    if not os.path.isfile(path):
        raise Failure(f'There is no file {path}.')

    def load():
        from keras.models import load_model
        return load_model(path, compile=False)
    return Subject(path, os.path.basename(path), load, False,
                   ' A file holds no custom layers and functions, and Keras 3 loads '
                   'no `Lambda` from it by default: if the model has some, write a '
                   'function that loads it with `custom_objects` or '
                   f'`safe_mode=False`, and name it: {FUNCTION}.')


def _of_function(model):
    name, _, path = model.partition(':')
    sys.path.insert(0, os.getcwd())
    try:
        found = importlib.import_module(name)
    except Exception as error:
        raise Failure(f'The module of MODEL, {name}, cannot be imported: '
                      f'{_one_line(error)}')
    for part in path.split('.'):
        found = getattr(found, part, None)
    if not callable(found):
        raise Failure(f'MODEL should be {FUNCTION}. There is no function {path} in '
                      f'{name}.')
    return Subject(model, model, found, False, '')


# Checking


def _result(subject, seed):
    """Checks the active `clone_model` with a model."""
    from keras.models import clone_model
    from . import faithfulness
    try:
        report = faithfulness.check_clone(subject.build, clone_model, seed=seed,
                                          exact_ops=subject.exact_ops)
    except faithfulness.ModelError as error:
        raise Failure(f'{subject.name}: {error}{subject.advice}')
    return {'outcome': report.outcome, 'layer': report.layer,
            'reason': report.reason,
            'differences': [str(each) for each in report.differences],
            'not_compared': report.not_compared}


def _rows(subjects, seed, compare, arguments):
    """Checks every model; with `compare`, the released function as well."""
    console = Console(stderr=True)
    progress = Progress(console=console, transient=True,
                        disable=not console.is_terminal)
    rows = []
    with progress, _released_results(compare, arguments) as released:
        for subject in progress.track(subjects, description='Cloning'):
            active = _result(subject, seed)
            rows.append({'model': subject.name, 'description': subject.text,
                         'released': next(released) if compare else active,
                         'active': active})
    return rows


@contextlib.contextmanager
def _released_results(wanted, arguments):
    """Context in which another process checks the released function.

    In that process, all overlaid modules are as released, not only `keras.models`,
    and neither function is affected by what the other one breaks.
    """
    if not wanted:
        yield None
        return
    command = [sys.executable, '-m', 'keras_clone', 'check', '--lines']
    folder = os.path.dirname(os.path.dirname(keras_clone.__file__))
    path = [os.environ['PYTHONPATH']] if os.environ.get('PYTHONPATH') else []
    environment = dict(os.environ, KERAS_CLONE='off',
                       PYTHONPATH=os.pathsep.join(path + [folder]))
    with tempfile.TemporaryFile('w+') as errors:
        process = subprocess.Popen(
            command + [each for each in arguments if each is not None],
            env=environment, stdout=subprocess.PIPE, stderr=errors,
            universal_newlines=True)
        try:
            yield _parsed(process.stdout, errors)
        finally:
            process.kill()
            process.stdout.close()
            process.wait()


def _parsed(lines, errors):
    for line in lines:
        yield json.loads(line)
    errors.seek(0)
    last = (errors.read().strip() or 'it ended early').split('\n')[-1]
    raise Failure(f'The released function could not be checked: {last}')


# What is drawn


def _refuse_svg(path, model):
    """Raises a `Failure` unless a picture can be written to a file."""
    folder = os.path.dirname(os.path.realpath(path))
    found = ''
    if model is None:
        found = 'no MODEL: it does not draw the gallery'
    elif not path.endswith('.svg'):
        found = path or 'an empty name'
    elif not os.path.isdir(folder):
        found = f'{path}, in a folder that does not exist'
    elif os.path.exists(path) and not os.path.isfile(path):
        found = f'{path}, which is not a file'
    elif not os.access(folder, os.W_OK):
        found = f'{path}, in a folder that is not writable'
    if found:
        raise Failure(f'--svg should be an .svg file for the picture of a MODEL. '
                      f'Found: {found}.')


def _outlines(subject, seed, result):
    """Returns the outlines of a model and its clone by the active `clone_model`."""
    from keras.models import clone_model
    from . import faithfulness, outline
    try:
        return outline.outlines(subject.build, clone_model, result['outcome'], seed)
    except faithfulness.ModelError as error:
        raise Failure(f'{subject.name}: {error}{subject.advice}')


def _draw(path, subject, seed, facts, inactive, row):
    """Writes the picture of a model, and takes the outlines out of its row."""
    from . import drawing
    drawn = {}
    for _, key in _columns(inactive):
        drawn[key] = (row[key].pop('outlines', None) or
                      _outlines(subject, seed, row[key]))
    headings = {'released': f'Keras {facts[0].release}, as released',
                'active': 'With the overlay'}
    clones = [drawing.Clone(headings[key], found['clone'], row[key]['outcome'],
                            row[key]['layer'], row[key]['reason'])
              for key, found in drawn.items()]
    model = list(drawn.values())[-1]['model']
    try:
        drawing.write(path, drawing.draw(subject.text, model, clones))
    except OSError as error:
        raise Failure(f'--svg should be an .svg file that can be written. '
                      f'Found: {path}, {_one_line(error)}')


# What is printed


def _is_faithful(result):
    return result['outcome'] == 'faithful'


def _columns(inactive):
    """Returns the columns of the table: pairs (heading, key of a row)."""
    released = [('Released', 'released')]
    return released if inactive else released + [('This one', 'active')]


def _print_table(rows, inactive):
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False,
                  padding=(0, 1, 0, 0))
    for heading in ['Model'] + [heading for heading, _ in _columns(inactive)]:
        table.add_column(heading)
    for row in rows:
        table.add_row(Text(row['description']),
                      *[_cell(row[key]) for _, key in _columns(inactive)])
    Console().print(table)


def _cell(result):
    if _is_faithful(result):
        return Text(result['outcome'], style='green')
    cell = Text(result['outcome'], style='red')
    if result['layer']:
        cell.append(' at ' + result['layer'], style='default')
    return cell


def _print_differences(rows, inactive):
    for row in rows:
        for heading, key in _columns(inactive):
            if row[key]['differences']:
                click.echo(f"{row['description']}, {heading.lower()}:")
                click.echo(''.join(f'  {each}\n'
                                   for each in row[key]['differences']))


def _print_not_compared(rows, inactive):
    """Prints what was not compared, for faithful clones as well."""
    for row in rows:
        for heading, key in _columns(inactive):
            if row[key].get('not_compared'):
                texts = ', '.join(row[key]['not_compared'])
                click.echo(f"Not compared, {row['description']}, "
                           f'{heading.lower()}: {texts}.\n')


def _counts(rows):
    """Returns how many models each function clones faithfully."""
    return {key: sum(_is_faithful(row[key]) for row in rows)
            for key in ('released', 'active')}


def _last_line(rows, inactive):
    counts = _counts(rows)
    models = '1 model' if len(rows) == 1 else f'{len(rows)} models'
    line = f"{models}: released clone_model faithful for {counts['released']}"
    if inactive:
        return f'{line}. It is what is active: keras-clone is not ({inactive}).'
    return f"{line}, this one for {counts['active']}."


def _data(facts, inactive, seed, rows):
    data = {fact.name.lower(): fact.release for fact in facts}
    data['active'] = 'released' if inactive else 'keras-clone'
    data['seed'] = seed
    data['faithful'] = _counts(rows)
    data['models'] = rows
    return data
