"""The overlays: their modules and releases, and whether they were applied.

An overlay is a file under `keras/`, executed in the module of the same path.
"""
import importlib.machinery
import os
import re
import sys
import warnings
from importlib.util import find_spec, module_from_spec
from linecache import getlines

KERAS_2 = ('2.2.4', '2.2.5', '2.3.0', '2.3.1')
KERAS_3 = ('3.12.4', '3.13.2', '3.14.1', '3.15.1')
# The modules that are overlaid, and the releases that each overlay is written for.
OVERLAYS = {'keras.models': KERAS_2, 'keras.engine.network': KERAS_2,
            'keras.src.models.cloning': KERAS_3}
_outcomes = {}  # Name of a module -> (state, reason).


def status():
    """Returns the state of each overlaid module in this process.

    # Returns
        A list of dicts: `module`, `file` (the overlay), `reason`, `state`: active,
        failed, off, not imported yet, unsupported release, Keras not installed.
    """
    rows, missed = [], ('failed', 'imported without the hook of keras_clone')
    for name, plan in _plans().items():
        state, reason = _outcomes.get(name, missed) if name in sys.modules else plan
        rows.append(dict(module=name, file=_file(name), state=state, reason=reason))
    return rows


def released(name):
    """Runs an overlaid module as Keras released it, for comparison.

    # Arguments
        name: The name of the module, e.g. `'keras.models'`.

    # Returns
        A new module, which is not in `sys.modules`.

    # Raises
        ValueError: If `name` is not overlaid in the installed release of Keras.
    """
    if keras_release() not in OVERLAYS.get(name, ()):
        raise ValueError('`name` should be in {}. Found: {!r}. Installed Keras: {}.'
                         .format([*_plans()], name, keras_release()))
    path = importlib.import_module(name.rpartition('.')[0]).__path__
    module = module_from_spec(importlib.machinery.PathFinder.find_spec(name, path))
    # Running a module of Keras 3 registers its exports by name (`keras_export`).
    exports = getattr(sys.modules.get('keras.src.api_export'),
                      'REGISTERED_NAMES_TO_OBJS', {})
    before = dict(exports)
    exec(module.__loader__.get_code(name), vars(module))
    exports.update(before)
    return module


def keras_release():
    """Returns the installed release of Keras, or `'unknown'`; None without Keras."""
    keras = sys.modules.get('keras')
    spec = getattr(keras, '__spec__', None) if keras else find_spec('keras')
    if spec is None or not spec.has_location:
        return None
    # `keras.__version__` is set last, and metadata may be that of another Keras.
    source = [line for file in ('/src/version.py', '/__init__.py')
              for line in getlines(os.path.dirname(spec.origin) + file)]
    found = re.search(r'^__version__ = ["\']([\w.+-]+)', ''.join(source), re.M)
    return found.group(1) if found else 'unknown'


def is_wanted(name):
    """Returns whether a module that is about to be imported should get an overlay.

    If its overlay is not used, this records why, and warns if that is an error.
    """
    state, reason = _plans().get(name, ('', '')) if name in OVERLAYS else ('', '')
    if state not in ('', 'not imported yet'):
        _record(name, state, reason)
    return state == 'not imported yet'


def apply(module):
    """Executes the overlay of a module in the module, which it restores on error."""
    names, old, path = vars(module), dict(vars(module)), _file(module.__name__)
    try:
        names['__file__'] = path  # Coverage takes the path from here.
        with open(path, 'rb') as file:
            exec(compile(file.read(), path, 'exec', dont_inherit=True), names)
        names['__file__'] = old['__file__']
        _record(module.__name__, 'active')
    except Exception as error:
        names.clear()
        names.update(old)
        _record(module.__name__, 'failed', f'skipped {path}: {error!r}')


def _plans():
    """Returns the expected state of each module: dict {name: (state, reason)}."""
    release, switch = keras_release(), os.environ.get('KERAS_CLONE', '')
    names = [name for name in OVERLAYS if release in OVERLAYS[name]]
    if release is None:
        plan = 'Keras not installed', ''
    elif switch.lower() in ('off', '0', 'no', 'false'):
        plan = 'off', 'KERAS_CLONE=' + switch
    elif names:
        plan = 'not imported yet', ''
    else:
        reason = 'clone_model is as released: Keras is {}, which is not one of {}'
        plan = 'unsupported release', reason.format(release, KERAS_2 + KERAS_3)
    return dict.fromkeys(names or OVERLAYS, plan)


def _file(name):
    """Returns the overlay's path: in this package or, in a checkout, beside it."""
    here = os.path.dirname(os.path.abspath(__file__))
    inside = here + '/keras', os.path.dirname(here) + '/keras/__init__.py'
    top = here if any(map(os.path.exists, inside)) else os.path.dirname(here)
    return os.path.join(top, *name.split('.')) + '.py'


def _record(name, state, reason=''):
    """Records the state of a module; warns if it has no overlay but should."""
    _outcomes[name] = state, reason
    if state in ('failed', 'unsupported release'):
        warnings.warn('keras_clone: ' + reason)
