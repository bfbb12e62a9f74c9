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

KERAS_2, KERAS_3 = '>=2.2.4,<2.4', '>=3.9,<3.17'
# The modules that are overlaid, and the releases that each overlay supports.
OVERLAYS = {'keras.models': KERAS_2, 'keras.engine.base_layer': KERAS_2,
            'keras.engine.network': KERAS_2, 'keras.src.models.cloning': KERAS_3}
# What the environment variable KERAS_CLONE may be, in small letters.
ON = ('on', '', '1', 'y', 'yes', 't', 'true', 'enable', 'enabled')
OFF = ('off', '0', 'n', 'no', 'f', 'false', 'none', 'disable', 'disabled')
NO_HOOK = ('start-up hook not installed',
           'Python has read no keras-clone.pth: install keras-clone into a '
           'site-packages folder, or call keras_clone.install() before Keras is '
           'imported')
# What the user should do in the states that a warning is issued for.
HIDE = 'or set KERAS_CLONE=off to hide this warning'
ADVICE = {'failed': 'Install keras-clone again, ' + HIDE,
          'unsupported release': 'Install one of these or a newer keras-clone, set '
                                 'KERAS_CLONE=force to try it, ' + HIDE}
_outcomes = {}  # Name of a module -> (state, reason).
_warned = set()  # The states, and the variable, that a warning was issued for.


def status():
    """Returns the state of each overlaid module in this process.

    # Returns
        A list of dicts: `module`, `file` (the overlay), `reason`, `state`: active,
        failed, off, not imported yet, unsupported release, Keras not installed,
        start-up hook not installed.
    """
    rows, missed = [], ('failed', 'imported without the hook of keras_clone')
    if not _has_hook():
        missed = NO_HOOK
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
    if name not in _names():
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
    if name not in OVERLAYS:
        return False
    _check_switch()
    state, reason = _plans().get(name, ('not overlaid', ''))
    if state not in ('not overlaid', 'not imported yet'):
        record(name, state, reason)
    return state == 'not imported yet'


def forget(name):
    """Forgets what is recorded of a module, which is about to be executed."""
    _outcomes.pop(name, None)


def apply(module):
    """Executes the overlay of a module in the module, which it restores on error.

    Does nothing if this was done since `forget` was called: the hook of another
    package may have asked for the module while it was looked for.
    """
    if module.__name__ in _outcomes:
        return
    names, old, path = vars(module), dict(vars(module)), _file(module.__name__)
    try:
        names['__file__'] = path  # Coverage takes the path from here.
        with open(path, 'rb') as file:
            exec(compile(file.read(), path, 'exec', dont_inherit=True), names)
        names['__file__'] = old['__file__']
        record(module.__name__, 'active')
    except Exception as error:
        names.clear()
        names.update(old)
        record(module.__name__, 'failed', f'skipped {path}: {error!r}')


def _plans():
    """Returns the expected state of each module: dict {name: (state, reason)}."""
    release, names = keras_release(), _names()
    if release is None:
        plan = 'Keras not installed', ''
    elif _switch() in OFF:
        plan = 'off', 'KERAS_CLONE=' + os.environ['KERAS_CLONE']
    elif not names:
        reason = 'clone_model is as released: Keras is {}, supported are {} and {}'
        plan = 'unsupported release', reason.format(release, KERAS_2, KERAS_3)
    else:
        plan = ('not imported yet', '') if _has_hook() else NO_HOOK
    return dict.fromkeys(names or OVERLAYS, plan)


def _names():
    """Returns the names of the modules to overlay in the installed Keras."""
    names, version = [], _numbers(keras_release() or '')
    for name, releases in OVERLAYS.items():
        first, end = map(_numbers, releases.split(','))
        has_same_major = first[:1] == version[:1]
        if has_same_major if _switch() == 'force' else first <= version < end:
            names.append(name)
    return names


def _numbers(release):
    """Returns the numbers at the start of a release: (3, 16, 0) of '3.16.0.dev1'."""
    return tuple(map(int, re.findall(r'\d+', re.match(r'[\d.<=>]*', release)[0])))


def _switch():
    """Returns the value of KERAS_CLONE, in small letters and without blanks."""
    return os.environ.get('KERAS_CLONE', '').strip().lower()


def _check_switch():
    """Warns if the value of KERAS_CLONE is unknown."""
    if _switch() not in ON + OFF + ('force', 'strict'):
        value = os.environ['KERAS_CLONE']
        _warn('KERAS_CLONE',
              f'KERAS_CLONE={value} is ignored. Use on, off, force or strict')


def _has_hook():
    """Returns whether a finder of this package is registered."""
    return any(type(finder).__module__.startswith('keras_clone')
               for finder in sys.meta_path)


def _file(name):
    """Returns the overlay's path: in this package or, in a checkout, beside it."""
    here = os.path.dirname(os.path.abspath(__file__))
    inside = here + '/keras', os.path.dirname(here) + '/keras/__init__.py'
    top = here if any(map(os.path.exists, inside)) else os.path.dirname(here)
    return os.path.join(top, *name.split('.')) + '.py'


def record(name, state, reason=''):
    """Records the state of a module; if it has no overlay but should, warns.

    With KERAS_CLONE=strict, it raises an `ImportError` instead.
    """
    _outcomes[name] = state, reason
    if state in ADVICE:
        text = f'{reason}. {ADVICE[state]}'
        if _switch() == 'strict':
            raise ImportError(f'keras-clone: {text}.')
        _warn(state, text)


def _warn(about, text):
    """Warns once; with `-W error`, writes the warning instead of raising it."""
    if about not in _warned:
        _warned.add(about)
        try:
            warnings.warn(f'keras-clone: {text}.')
        except Warning as warning:
            print(warning, file=sys.stderr)
