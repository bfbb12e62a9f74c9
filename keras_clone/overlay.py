"""Runs each file under `keras/` on top of the installed module of the same path."""
import importlib.machinery
import os
import re
import sys
import warnings
from importlib.util import find_spec, module_from_spec
from linecache import getlines
from threading import get_ident

KERAS_2 = ('2.2.4', '2.2.5', '2.3.0', '2.3.1')
KERAS_3 = ('3.12.4', '3.13.2', '3.14.1', '3.15.1')
# The modules that are overlaid, and the releases that each overlay is written for.
OVERLAYS = {'keras.models': KERAS_2, 'keras.engine.network': KERAS_2,
            'keras.src.models.cloning': KERAS_3}
_outcomes = {}  # What was done: name of the module -> (state, reason).
_searches = set()  # What is being looked for: (thread, name of the module).


def status():
    """Tells what became of each overlaid module in this process.

    # Returns
        A list of dicts: `module`, `file` (the overlay), `reason`, `state`: active,
        failed, off, not imported yet, unsupported release, Keras not installed.
    """
    rows, missed = [], ('failed', 'imported around keras_clone')
    for name, plan in _outlook().items():
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
                         .format([*_outlook()], name, keras_release()))
    path = importlib.import_module(name.rpartition('.')[0]).__path__
    module = module_from_spec(importlib.machinery.PathFinder.find_spec(name, path))
    exec(module.__loader__.get_code(name), vars(module))
    return module


def keras_release():
    """The release of the installed Keras, or `'unknown'`; None without Keras."""
    keras = sys.modules.get('keras')
    spec = getattr(keras, '__spec__', None) if keras else find_spec('keras')
    if spec is None or not spec.has_location:
        return None
    # `keras.__version__` is set last, and metadata may be that of another Keras.
    source = [line for file in ('/src/version.py', '/__init__.py')
              for line in getlines(os.path.dirname(spec.origin) + file)]
    found = re.search(r'^__version__ = ["\']([\w.+-]+)', ''.join(source), re.M)
    return found.group(1) if found else 'unknown'


def _outlook():
    """What is to become of each module to overlay, before it is imported."""
    release, switch = keras_release(), os.environ.get('KERAS_CLONE', '')
    names = [name for name in OVERLAYS if release in OVERLAYS[name]]
    if release is None:
        outlook = 'Keras not installed', ''
    elif switch.lower() in ('off', '0', 'no', 'false'):
        outlook = 'off', 'KERAS_CLONE=' + switch
    elif names:
        outlook = 'not imported yet', ''
    else:
        reason = 'clone_model is as released: Keras is {}, which is not one of {}'
        outlook = 'unsupported release', reason.format(release, KERAS_2 + KERAS_3)
    return dict.fromkeys(names or OVERLAYS, outlook)


def _file(name):
    """The overlay of a module: in this package or, in a checkout, beside it."""
    here = os.path.dirname(os.path.abspath(__file__))
    inside = here + '/keras', os.path.dirname(here) + '/keras/__init__.py'
    top = here if any(map(os.path.exists, inside)) else os.path.dirname(here)
    return os.path.join(top, *name.split('.')) + '.py'


def _note(name, state, reason=''):
    """Notes what was done; tells what should have been done but was not."""
    _outcomes[name] = state, reason
    if state in ('failed', 'unsupported release'):
        warnings.warn('keras_clone: ' + reason)


class OverlayImporter:
    """Finds and loads a module as the finders after it do, then runs the overlay."""

    def __init__(self, loader=None):
        self.loader = loader

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def find_spec(self, name, path=None, target=None):
        search = get_ident(), name  # A finder may in its turn ask every finder.
        if name not in OVERLAYS or search in _searches:
            return None
        state, reason = _outlook().get(name, (None, ''))
        if state != 'not imported yet':
            return state and _note(name, state, reason)
        _searches.add(search)
        try:
            finders = sys.meta_path[sys.meta_path.index(self) + 1:]
            specs = (finder.find_spec(name, path, target) for finder in finders
                     if hasattr(finder, 'find_spec'))
            spec = next(filter(None, specs), None)
        finally:
            _searches.remove(search)
        if hasattr(getattr(spec, 'loader', None), 'exec_module'):
            spec.loader = OverlayImporter(spec.loader)
        return spec

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        names, old, path = vars(module), dict(vars(module)), _file(module.__name__)
        try:
            names['__file__'] = path  # Coverage asks it, not the code, for the path.
            with open(path, 'rb') as file:
                exec(compile(file.read(), path, 'exec', dont_inherit=True), names)
            names['__file__'] = old['__file__']
            _note(module.__name__, 'active')
        except Exception as error:
            names.clear()
            names.update(old)
            _note(module.__name__, 'failed', f'skipped {path}: {error!r}')


sys.meta_path.insert(0, OverlayImporter())
