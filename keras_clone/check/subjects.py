"""What the command checks: a model file, a function, or the gallery."""
import collections
import importlib
import json
import os
import re
import sys

import click

from .messages import one_line, place_in_code
from .processes import Failure

# A model to check: its name, its text in the table, a function that builds it,
# whether that function adds only the model's own ops, whether it loads a file.
Subject = collections.namedtuple('Subject', 'name text build exact_ops is_file')

FUNCTION = 'package.module:function'
# What to do if a file cannot be loaded: pairs (regular expression for the message of
# the exception, advice).
LOAD_WEIGHTS = 'write a function that builds the model and calls `load_weights`'
ADVICE = [
    ('safe_mode',
     'If you trust the file, write a function that loads it with `safe_mode=False`. '
     'If a `Lambda` in it uses global names, which no file holds, write one that '
     'builds the model and calls `load_weights` with the file'),
    ("name '.*' is not defined",
     f'A file holds none of the names that a `Lambda` uses: {LOAD_WEIGHTS} with the '
     'file'),
    ('Unknown |Could not locate ',
     'A file holds no custom layers and functions: write a function that loads the '
     'file with `custom_objects`'),
    ('No model (config )?found|Cannot create group in read.only mode',
     f'It may hold only weights: {LOAD_WEIGHTS} with the file')]


def chosen(model, only):
    """Returns the `Subject`s that the arguments of the command ask for."""
    refuse_wrong(model, only)
    if model is None:
        return _of_gallery(only)
    return [_of_file(model) if _is_file(model) else _of_function(model)]


def refuse_wrong(model, only):
    """Raises a `Failure` for arguments that are wrong whatever Keras does."""
    if model is None:
        return
    if only:
        raise Failure('--only chooses from the gallery: leave it out with a MODEL.')
    if _is_file(model):
        if os.path.isdir(model):
            raise Failure(f'MODEL should be a file. Found: {model}, a folder.')
        if not os.path.isfile(model):
            raise Failure(f'There is no file {model}.')
        return
    path, colon, call = model.partition(':')
    module = re.sub(r'\.py$', '', os.path.normpath(path)).replace(os.sep, '.')
    function = re.sub(r'\(.*\)$', '', call) or 'function'
    if (path, call) != (module, function):
        is_clear = path and (colon or module != path)
        hint = f'. Write {module}:{function}' if is_clear else ''
        raise Failure(f'MODEL should be an .h5 or .keras file or {FUNCTION}. '
                      f'Found: {model}{hint}')


def _is_file(model):
    return model.lower().endswith(('.h5', '.hdf5', '.keras'))


def _of_gallery(only):
    from . import gallery
    subjects = [Subject(build.__name__, build.title, build, True, False)
                for build in gallery.MODELS]
    found = [each for each in subjects
             if not only or only.lower() in (each.name + each.text).lower()]
    if not found:
        names = ', '.join(each.name for each in subjects)
        raise Failure(f'No model of the gallery has {only!r} in its name or '
                      f'description. Their names: {names}')
    return found


def _of_file(path):
    def load():
        from keras.models import load_model
        return load_model(path, compile=False)
    return Subject(path, os.path.basename(path), load, False, True)


def _of_function(model):
    """It imports from the current folder, as a script there does. What the command
    and Keras consist of should be imported before: a file `random.py` in that folder
    is not meant to replace Python's."""
    name, _, path = model.partition(':')
    from keras.models import Model
    try:
        sys.path.insert(0, os.getcwd())
    except OSError:
        raise Failure('The current folder does not exist: change to another one.')
    try:
        found = importlib.import_module(name)
    except Exception as error:
        raise Failure(f'The module of MODEL, {name}, cannot be imported: '
                      f'{one_line(error)}{place_in_code(error)}')
    for part in path.split('.'):
        found = getattr(found, part, None)
    if not callable(found):
        raise Failure(f'MODEL should be {FUNCTION}. There is no function {path} in '
                      f'{name}.')
    if isinstance(found, Model):
        raise Failure(f'MODEL should be {FUNCTION}. In {name}, {path} is a model: '
                      'name a function that builds it.')
    return Subject(model, model, found, False, False)


def advice(error):
    """Returns what to do about the exception that loading a file raised, or ''."""
    if 'File not found' in str(error):
        return ' The file exists: it is damaged, or not a .keras file.'
    return next((f' {text}, and name it: {FUNCTION}.' for pattern, text in ADVICE
                 if re.search(pattern, str(error))), '')


def warn_of_code(path):
    """Says on stderr which layers of a file hold code that runs if it is loaded."""
    layers = ', '.join(_layers_with_code(path))
    if layers:
        click.echo(f'Warning: {path} holds Python byte code (layers: {layers}). '
                   'Keras 2, and Keras 3 before 3.11.3, run it when they load the '
                   'file. If you do not trust the file, check a function that '
                   f'builds the model and loads only the weights: {FUNCTION}.',
                   err=True)


def _layers_with_code(path):
    """Returns the names of the layers that a file holds byte code for."""
    names = []

    def note(config):
        kinds = [config.get('function_type'), config.get('output_shape_type')]
        kinds += [value.get('class_name') for value in config.values()
                  if isinstance(value, dict)]
        if 'lambda' in kinds or '__lambda__' in kinds:
            names.append(repr(config.get('name')))
        return config

    try:
        import h5py
        with h5py.File(path, 'r') as file:
            text = file.attrs['model_config']
        json.loads(text if isinstance(text, str) else text.decode(),
                   object_hook=note)
    except Exception:
        pass  # No such file: nothing is run, and loading it says what is wrong.
    return names
