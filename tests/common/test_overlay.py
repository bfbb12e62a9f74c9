"""The overlay's own life: installed, started, imported, refused, removed.

What it is tried on is a package `keras` of a few lines, with overlays of a few
lines, so that every case has its own installation and takes a moment.
"""
import importlib
import importlib.machinery
import importlib.util
import inspect
import os
import pickle
import shutil
import subprocess
import sys
import sysconfig
import threading
import traceback
import types
import warnings
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest

pytestmark = pytest.mark.once

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SUPPORTED = ('2.2.4', '2.2.5', '2.3.0', '2.3.1')

KERAS = {
    '__init__.py': 'from . import models\n__version__ = {release!r}\n',
    'backend.py': '',
    'engine/__init__.py': '',
    'engine/network.py': 'class Network(object):\n    rewired = False\n',
    'models.py': '''\
from .engine.network import Network
from . import backend as K


def clone_model(model):
    return 'released'


def save_model(model):
    return 'released'
''',
}
OVERLAY = {
    'models.py': '''\
runs = globals().get('runs', 0) + 1


def clone_model(model):
    return 'overlay'


def clone_badly(model):
    raise RuntimeError('cannot clone')


def backend():
    return K
''',
    'engine/network.py': 'Network.rewired = True\n',
}
WHICH = 'import keras; print(keras.models.clone_model(None))'


def write(folder, files, **values):
    for path, text in files.items():
        path = os.path.join(str(folder), path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w') as file:
            file.write(text.format(**values) if values else text)


def write_keras(folder, release='2.2.4'):
    """Writes a package `keras` into a folder."""
    write(os.path.join(str(folder), 'keras'), KERAS, release=release)
    return str(folder)


def write_project(folder):
    """Copies the project, all but its overlays, which are those of OVERLAY."""
    for name in os.listdir(ROOT):
        if os.path.isfile(os.path.join(ROOT, name)):
            shutil.copy(os.path.join(ROOT, name), str(folder))
    for name in ('keras_clone', 'patches', 'tests/keras', '.github'):
        shutil.copytree(os.path.join(ROOT, name), str(folder / name),
                        ignore=shutil.ignore_patterns('__pycache__'))
    write(folder / 'keras', OVERLAY)
    return folder


@pytest.fixture
def project(tmp_path):
    (tmp_path / 'project').mkdir()
    return write_project(tmp_path / 'project')


@pytest.fixture(scope='session')
def wheel(tmp_path_factory):
    project = write_project(tmp_path_factory.mktemp('project'))
    call(sys.executable, 'setup.py', '-q', 'bdist_wheel', cwd=project)
    name, = os.listdir(str(project / 'dist'))
    return str(project / 'dist' / name)


@pytest.fixture(scope='session')
def pip(tmp_path_factory):
    """A folder for PYTHONPATH that has the pip and the setuptools of the tests."""
    folder = tmp_path_factory.mktemp('pip')
    packages = sysconfig.get_path('purelib')
    for name in os.listdir(packages):
        if not (name.lower().startswith('keras') or name.endswith('.pth')):
            os.symlink(os.path.join(packages, name), str(folder / name))
    return str(folder)


def call(*command, **options):
    """Runs a command in a clean environment; gives all that it printed."""
    variables = {name: value for name, value in os.environ.items()
                 if not name.startswith(('PYTHON', 'KERAS', 'COV', 'PIP'))}
    variables.update(options.pop('variables', {}))
    process = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, universal_newlines=True,
                             env=variables, cwd=str(options.pop('cwd', os.sep)))
    assert process.returncode == 0, process.stdout
    return process.stdout


class Environment:
    """A virtual environment with Keras (of KERAS), without pip."""

    def __init__(self, folder, keras=True):
        base = os.path.join(sys.base_prefix, 'bin', 'python{}.{}'.format(
            *sys.version_info))
        call(base, '-m', 'venv', '--without-pip', folder)
        self.folder = str(folder)
        self.python = os.path.join(self.folder, 'bin', 'python')
        self.packages = os.path.join(self.folder, 'lib', os.path.basename(base),
                                     'site-packages')
        if keras:
            write_keras(self.packages)

    def run(self, *arguments, **variables):
        return call(self.python, *arguments, variables=variables)

    def pip(self, path, *arguments):
        return self.run('-m', 'pip', '--no-cache-dir', *arguments, PYTHONPATH=path)

    def files(self):
        return {os.path.join(folder, name)
                for folder, _, names in os.walk(self.folder)
                for name in names if '__pycache__' not in folder}


@pytest.fixture
def environment(tmp_path):
    return Environment(tmp_path / 'environment')


@pytest.fixture
def installed(environment, wheel):
    """An environment with the wheel unpacked in it, which is all pip would do."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(environment.packages)
    return environment


# Installing and removing.

def install_wheel(environment, pip, project, wheel):
    environment.pip(pip, 'install', '--no-index', '--no-deps', wheel)


def install_project(environment, pip, project, wheel):
    environment.pip(pip, 'install', '--no-index', '--no-deps',
                    '--no-build-isolation', project)


def install_editable(environment, pip, project, wheel):
    environment.pip(pip, 'install', '--no-index', '--no-deps',
                    '--no-build-isolation', '-e', project)


def install_develop(environment, pip, project, wheel):
    call(environment.python, 'setup.py', '-q', 'develop', '--no-deps', cwd=project,
         variables={'PYTHONPATH': pip})


@pytest.mark.parametrize('install', [
    install_wheel, install_project, install_editable, install_develop])
def test_installed_in_any_way_it_works_and_uninstalled_it_leaves_nothing(
        install, environment, pip, project, wheel):
    before = environment.files()
    install(environment, pip, project, wheel)
    assert environment.run('-c', WHICH) == 'overlay\n'
    environment.pip(pip, 'uninstall', '-y', 'keras-clone')
    assert environment.files() == before
    assert environment.run('-c', WHICH) == 'released\n'


def test_the_wheel_has_the_overlays_inside_the_package_and_no_package_keras(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert 'keras_clone/keras/models.py' in names
    assert 'keras_clone/keras/engine/network.py' in names
    assert 'keras-clone.pth' in names
    assert not [name for name in names if name.startswith('keras/')]


@pytest.mark.parametrize('install', [install_editable, install_develop])
def test_an_editable_installation(install, tmp_path, pip, project):
    environment = Environment(tmp_path / 'environment', keras=False)
    install(environment, pip, project, None)
    # It is the checkout that is used.
    keras = write_keras(tmp_path)
    text = OVERLAY['models.py'].replace("'overlay'", "'edited'")
    write(project / 'keras', {'models.py': text})
    assert environment.run('-c', WHICH, PYTHONPATH=keras) == 'edited\n'
    # The checkout is not importable beyond that: there is no Keras here.
    printed = environment.run('-c', 'import keras_clone, sys\n'
                              'print(keras_clone.status()[0]["state"])\n'
                              'import importlib.util\n'
                              'print(importlib.util.find_spec("keras"))\n')
    assert printed == 'Keras not installed\nNone\n'
    # Once it is gone, a start does not mind.
    shutil.move(str(project), str(tmp_path / 'moved'))
    assert environment.run('-c', 'pass') == ''
    printed = environment.run('-c', WHICH, PYTHONPATH=keras)
    assert 'released' in printed.splitlines()
    assert printed.count('clone_model is as released') == 1


# Starting.

def test_starting_imports_nothing(installed):
    loaded = 'import sys; print(*sorted(sys.modules))'
    with_it = installed.run('-c', loaded)
    write(installed.packages, {'keras-clone.pth': 'import sys\n'})
    assert installed.run('-c', loaded) == with_it


def test_starting_registers_one_finder(installed):
    finders = 'import sys; print(len(sys.meta_path))'
    with_it = int(installed.run('-c', finders))
    remove(os.path.join(installed.packages, 'keras-clone.pth'))
    assert int(installed.run('-c', finders)) == with_it - 1


@pytest.mark.parametrize('options, expected', [
    (['-I'], 'overlay\n'), (['-E'], 'overlay\n'), (['-OO'], 'overlay\n'),
    (['-B'], 'overlay\n'), (['-W', 'error'], 'overlay\n')])
def test_options_of_the_interpreter(options, expected, installed):
    assert installed.run(*(options + ['-c', WHICH])) == expected


def test_without_site_the_overlay_is_off_until_keras_clone_is_imported(installed):
    path = {'PYTHONPATH': installed.packages}
    assert installed.run('-S', '-c', WHICH, **path) == 'released\n'
    assert installed.run('-S', '-c', 'import keras_clone; ' + WHICH,
                         **path) == 'overlay\n'


def remove(path):
    shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)


def make_folder(path):
    """Makes a file unreadable, for the superuser as well."""
    os.remove(path)
    os.mkdir(path)


def break_syntax(path):
    with open(path, 'w') as file:
        file.write('def clone_model(:\n')


@pytest.mark.parametrize('damage, path', [
    (remove, ''), (remove, 'overlay.py'), (make_folder, 'overlay.py'),
    (break_syntax, 'overlay.py'), (break_syntax, '__init__.py')])
def test_a_damaged_package_is_told_when_keras_is_imported(damage, path, installed):
    damage(os.path.join(installed.packages, 'keras_clone', path))
    assert installed.run('-c', 'pass') == ''
    printed = installed.run('-c', WHICH)
    assert 'released' in printed.splitlines()
    assert printed.count('UserWarning: clone_model is as released') == 1


@pytest.mark.parametrize('damage, path', [
    (remove, 'keras'), (remove, 'keras/models.py'), (make_folder, 'keras/models.py'),
    (break_syntax, 'keras/models.py')])
def test_a_damaged_overlay_is_told_when_keras_is_imported(damage, path, installed):
    damage(os.path.join(installed.packages, 'keras_clone', path))
    assert installed.run('-c', 'pass') == ''
    printed = installed.run('-c', WHICH)
    assert 'released' in printed.splitlines()
    assert printed.count('keras_clone: skipped') == 1 + (path == 'keras')
    assert os.path.join('keras', 'models.py') in printed


def test_a_keras_in_a_zip_file_is_left_alone(installed, tmp_path):
    remove(os.path.join(installed.packages, 'keras'))
    path = shutil.make_archive(str(tmp_path / 'zipped'), 'zip',
                               write_keras(tmp_path / 'plain'))
    printed = installed.run('-c', WHICH, PYTHONPATH=path)
    assert 'released' in printed.splitlines()
    assert printed.count('clone_model is as released') == 1


def test_spawned_processes_have_the_overlay(installed, tmp_path):
    script = tmp_path / 'script.py'
    script.write_text(
        'import keras.models\n'
        'import multiprocessing\n'
        'if __name__ == "__main__":\n'
        '    with multiprocessing.get_context("spawn").Pool(1) as pool:\n'
        '        print(pool.apply(keras.models.clone_model, [None]))\n')
    assert installed.run(script) == 'overlay\n'


# A hard life.

def test_forked_processes_have_the_overlay(installed, tmp_path):
    script = tmp_path / 'script.py'
    script.write_text(
        'import keras_clone, multiprocessing\n'
        'def work(model):\n'
        '    import keras.models\n'
        '    return keras.models.clone_model(model)\n'
        'with multiprocessing.get_context("fork").Pool(2) as pool:\n'
        '    print(*pool.map(work, [None] * 2), work(None))\n')
    assert installed.run(script) == 'overlay overlay overlay\n'


def test_a_thread_that_imports_first_gets_the_overlay(installed):
    assert installed.run('-c', 'from threading import Thread\n'
                         'def work():\n    ' + WHICH + '\n'
                         'thread = Thread(target=work)\n'
                         'thread.start()\nthread.join()\n' + WHICH) == (
                             'overlay\noverlay\n')


def test_interpreters_that_start_at_once_have_the_overlay(installed):
    with ThreadPoolExecutor(4) as pool:
        printed = pool.map(lambda _: installed.run('-c', WHICH), range(4))
    assert list(printed) == ['overlay\n'] * 4


def test_nothing_has_to_be_written_to_import(installed):
    for folder in ('', 'keras', 'keras/engine', 'keras_clone', 'keras_clone/keras'):
        cache = os.path.join(installed.packages, folder, '__pycache__')
        shutil.rmtree(cache, ignore_errors=True)
        with open(cache, 'w'):  # A file in its place keeps off the superuser too.
            pass
    assert installed.run('-c', WHICH) == 'overlay\n'


def test_keras_downgraded_and_upgraded_beside_it(installed):
    def with_release(release):
        remove(os.path.join(installed.packages, 'keras'))
        write_keras(installed.packages, release)
        return installed.run('-c', WHICH + '; import keras_clone; '
                             'print(keras_clone.status()[0]["state"])')
    downgraded = with_release('2.2.0').splitlines()
    assert 'released' in downgraded and 'unsupported release' in downgraded
    assert with_release('2.3.1') == 'overlay\nactive\n'


def test_keras_exchanged_after_the_import_stays_as_it_was_imported(installed):
    printed = installed.run('-c', WHICH + '; import keras_clone, os; '
                            'os.remove(keras.models.__file__); '
                            'print(keras_clone.status()[0]["state"])')
    assert printed == 'overlay\nactive\n'


def test_keras_clone_in_a_zip_file_leaves_keras_alone_and_says_so(
        environment, wheel):
    printed = environment.run('-c', 'import keras_clone; ' + WHICH +
                              '; print(keras_clone.status()[0]["state"])',
                              PYTHONPATH=wheel)
    assert 'released' in printed.splitlines() and 'failed' in printed.splitlines()
    assert 'keras_clone: skipped' in printed


def test_tests_that_pytest_rewrites_have_the_overlay(installed, pip, tmp_path):
    write(tmp_path, {'conftest.py': 'import keras.models\n', 'test_it.py':
                     'from keras.models import clone_model\n\n'
                     'def test_it():\n'
                     '    assert clone_model(None) == "overlay"\n'})
    assert '1 passed' in installed.run(
        '-m', 'pytest', '-q', '-p', 'no:cacheprovider', str(tmp_path),
        PYTHONPATH=pip)


# Importing: in this process, with a copy of the package that no start file imported.

class Copy:
    """A copy of keras_clone, with the only finder of its kind."""

    def __init__(self, project):
        self.keras_clone = self.load('keras_clone_copy', submodule_search_locations=[
            os.path.join(ROOT, 'keras_clone')])
        self.overlay = sys.modules['keras_clone_copy.overlay']
        self.overlay.__file__ = str(project / 'keras_clone' / 'overlay.py')
        self.finder = sys.meta_path[0]
        self.project = project

    @staticmethod
    def load(name, **options):
        path = os.path.join(ROOT, 'keras_clone', '__init__.py')
        spec = importlib.util.spec_from_file_location(name, path, **options)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
        return sys.modules[name]

    def states(self):
        return {row['module']: row['state'] for row in self.keras_clone.status()}

    def reasons(self):
        return {row['module']: row['reason'] for row in self.keras_clone.status()}


@pytest.fixture
def copy(tmp_path, monkeypatch):
    def is_concerned(name):
        return name.partition('.')[0] in ('keras', 'keras_clone_copy')

    monkeypatch.delenv('KERAS_CLONE', raising=False)
    monkeypatch.setattr(sys, 'path', list(sys.path))
    monkeypatch.setattr(sys, 'meta_path', [
        finder for finder in sys.meta_path
        if not type(finder).__module__.startswith('keras_clone')])
    before = {name: sys.modules.pop(name)
              for name in list(sys.modules) if is_concerned(name)}
    write(tmp_path / 'project' / 'keras', OVERLAY)
    yield Copy(tmp_path / 'project')
    for name in list(sys.modules):
        if is_concerned(name):
            del sys.modules[name]
    sys.modules.update(before)


@pytest.fixture
def keras_folder(tmp_path, copy):
    sys.path.insert(0, write_keras(tmp_path / 'installed'))
    return tmp_path / 'installed' / 'keras'


@pytest.fixture
def models(keras_folder):
    return importlib.import_module('keras.models')


@pytest.mark.parametrize('release', SUPPORTED)
def test_supported_releases_are_overlaid(release, copy, tmp_path):
    sys.path.insert(0, write_keras(tmp_path / 'installed', release))
    assert copy.keras_clone.keras_release() == release
    assert set(copy.states().values()) == {'not imported yet'}
    models = importlib.import_module('keras.models')
    assert models.clone_model(None) == 'overlay'
    assert models.save_model(None) == 'released'
    assert models.Network.rewired
    assert set(copy.states().values()) == {'active'}


@pytest.mark.parametrize('release', ['2.1.6', '2.2.0', '2.4.3', '3.0.0'])
def test_other_releases_are_left_alone_with_one_warning(release, copy, tmp_path):
    sys.path.insert(0, write_keras(tmp_path / 'installed', release))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('default')
        from keras import models
    assert models.clone_model(None) == 'released'
    assert not models.Network.rewired
    text, = (str(warning.message) for warning in caught)
    for part in SUPPORTED + (release, 'clone_model is as released'):
        assert part in text
    assert {row['state'] for row in copy.keras_clone.status()} == {
        'unsupported release'}
    assert release in copy.reasons()['keras.models']


def test_a_release_that_keeps_its_version_apart(copy, tmp_path):
    keras = write_keras(tmp_path / 'installed')
    write(tmp_path / 'installed' / 'keras', {
        '__init__.py': 'from keras.src.version import __version__\n',
        'src/__init__.py': '', 'src/version.py': '__version__ = "3.15.1"\n'})
    sys.path.insert(0, keras)
    assert copy.keras_clone.keras_release() == '3.15.1'


def test_a_release_that_cannot_be_told_is_left_alone(copy, keras_folder):
    write(keras_folder, {'__init__.py': '__version__ = open(__file__).name\n'})
    with pytest.warns(UserWarning, match='Keras is unknown'):
        models = importlib.import_module('keras.models')
    assert models.clone_model(None) == 'released'


def test_modules_overlaid_in_other_releases_only_pass_without_a_warning(
        copy, keras_folder, monkeypatch):
    monkeypatch.setattr(copy.overlay, 'OVERLAYS', {
        'keras.models': ('2.3.1',), 'keras.engine.network': ('2.2.4',)})
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        models = importlib.import_module('keras.models')
    assert models.clone_model(None) == 'released'
    assert copy.states() == {'keras.engine.network': 'active'}


def test_metadata_of_another_keras_does_not_matter(copy, tmp_path, models):
    metadata = 'Metadata-Version: 2.1\nName: Keras\nVersion: 2.1.6\n'
    write(tmp_path / 'installed' / 'Keras-2.1.6.dist-info', {'METADATA': metadata})
    assert copy.states()['keras.models'] == 'active'


@pytest.mark.parametrize('value', ['off', 'OFF', '0', 'no', 'false', 'False'])
def test_switched_off(value, copy, keras_folder, monkeypatch):
    monkeypatch.setenv('KERAS_CLONE', value)
    assert set(copy.states().values()) == {'off'}
    models = importlib.import_module('keras.models')
    assert models.clone_model(None) == 'released'
    monkeypatch.delenv('KERAS_CLONE')
    assert set(copy.states().values()) == {'off'}  # What happened, not what would.
    assert copy.reasons()['keras.models'] == 'KERAS_CLONE=' + value


@pytest.mark.parametrize('value', ['', 'on', '1'])
def test_not_switched_off(value, copy, keras_folder, monkeypatch):
    monkeypatch.setenv('KERAS_CLONE', value)
    assert importlib.import_module('keras.models').clone_model(None) == 'overlay'


@pytest.mark.parametrize('beside_the_overlays', [False, True])
def test_keras_is_not_installed(beside_the_overlays, copy, monkeypatch):
    # The folder of the overlays is no Keras, though Python would import it as one.
    path = [str(copy.project)] if beside_the_overlays else []
    monkeypatch.setattr(sys, 'path', path)
    assert copy.keras_clone.keras_release() is None
    assert set(copy.states().values()) == {'Keras not installed'}
    with pytest.raises(ValueError, match='Installed Keras: None'):
        copy.keras_clone.released('keras.models')


def test_a_stand_in_for_keras_is_left_alone(copy, tmp_path):
    stand_in = types.ModuleType('keras')  # It has no `__spec__`.
    stand_in.__path__ = [os.path.join(write_keras(tmp_path / 'installed'), 'keras')]
    sys.modules['keras'] = stand_in
    assert importlib.import_module('keras.models').clone_model(None) == 'released'


@pytest.mark.parametrize('text, reason', [
    ('def clone_model(:', 'SyntaxError'),
    ('def clone_model(model): return 1\nsave_model = extra = None\nmissing',
     'NameError'),
    ('import a_module_that_is_missing', 'a_module_that_is_missing')])
def test_of_a_broken_overlay_nothing_is_applied(text, reason, copy, keras_folder):
    write(copy.project / 'keras', {'models.py': text})
    with pytest.warns(UserWarning, match=reason):
        models = importlib.import_module('keras.models')
    as_released = vars(copy.keras_clone.released('keras.models'))
    assert set(vars(models)) == set(as_released)
    assert models.clone_model(None) == models.save_model(None) == 'released'
    assert list(copy.states().values()) == ['failed', 'active']
    assert reason in copy.reasons()['keras.models']
    assert copy.keras_clone.status()[0]['file'] in copy.reasons()['keras.models']


def test_a_keras_that_cannot_be_imported_fails_as_released(copy, keras_folder):
    write(keras_folder, {'engine/network.py': 'raise RuntimeError("no backend")\n'})
    with pytest.raises(RuntimeError, match='no backend'):
        importlib.import_module('keras')
    assert set(copy.states().values()) == {'not imported yet'}


def test_a_module_that_was_imported_before_is_told(copy, keras_folder):
    sys.meta_path.remove(copy.finder)
    models = importlib.import_module('keras.models')
    assert models.clone_model(None) == 'released'
    assert set(copy.states().values()) == {'failed'}


def test_the_module_keeps_its_file_spec_and_loader(models, keras_folder):
    path = str(keras_folder / 'models.py')
    assert models.__file__ == models.__spec__.origin == path
    assert models.__loader__ is models.__spec__.loader
    assert type(models.__loader__) is importlib.machinery.SourceFileLoader
    assert inspect.getsource(models) == KERAS['models.py']


def test_coverage_takes_the_overlay_for_the_file_that_runs(copy, keras_folder):
    text = 'running = __file__\n'
    write(copy.project / 'keras', {'models.py': text})
    models = importlib.import_module('keras.models')
    assert models.running == str(copy.project / 'keras' / 'models.py')
    assert models.__file__ == str(keras_folder / 'models.py')


def test_before_the_import_the_spec_gives_the_released_source(copy, keras_folder):
    importlib.import_module('keras.engine')
    sys.modules.pop('keras.models')
    spec = importlib.util.find_spec('keras.models')
    assert spec.loader.get_source('keras.models') == KERAS['models.py']


def test_functions_know_the_file_that_they_are_in(copy, models, keras_folder):
    overlay, installed = str(copy.project / 'keras'), str(keras_folder)
    assert models.clone_model.__code__.co_filename.startswith(overlay)
    assert models.save_model.__code__.co_filename.startswith(installed)
    assert "return 'overlay'" in inspect.getsource(models.clone_model)
    assert "return 'released'" in inspect.getsource(models.save_model)


def test_functions_are_of_the_module_and_can_be_pickled(models):
    assert models.clone_model.__module__ == 'keras.models'
    assert pickle.loads(pickle.dumps(models.clone_model)) is models.clone_model
    assert pickle.loads(pickle.dumps(models.save_model)) is models.save_model


def test_functions_see_what_is_set_in_the_module(models):
    assert models.backend() is sys.modules['keras.backend']
    models.K = 'another backend'
    assert models.backend() == 'another backend'


def test_tracebacks_point_at_the_overlay(copy, models):
    with pytest.raises(RuntimeError) as error:
        models.clone_badly(None)
    frame = traceback.extract_tb(error.value.__traceback__)[-1]
    assert frame.filename == str(copy.project / 'keras' / 'models.py')
    assert frame.line == "raise RuntimeError('cannot clone')"


def test_reloading_applies_the_overlay_again(copy, models):
    models.clone_model = None
    write(copy.project / 'keras', {
        'models.py': OVERLAY['models.py'].replace("'overlay'", "'edited'")})
    assert importlib.reload(models) is models
    assert models.clone_model(None) == 'edited'
    assert copy.states()['keras.models'] == 'active'


@pytest.mark.parametrize('imported', [False, True])
def test_released_gives_a_module_of_its_own(imported, copy, keras_folder):
    if imported:
        importlib.import_module('keras.models')
    released = copy.keras_clone.released('keras.models')
    models = importlib.import_module('keras.models')
    assert released is not models
    assert released.clone_model(None) == 'released'
    assert models.clone_model(None) == 'overlay'
    assert released.K is models.K
    assert not copy.keras_clone.released('keras.engine.network').Network.rewired


@pytest.mark.parametrize('name', ['keras.layers', 'os', None])
def test_released_refuses_what_is_not_overlaid(name, copy, keras_folder):
    with pytest.raises(ValueError, match='`name` should be in .*keras.models'):
        copy.keras_clone.released(name)


def test_released_refuses_a_release_without_overlay(copy, tmp_path):
    sys.path.insert(0, write_keras(tmp_path / 'installed', '2.1.6'))
    with pytest.raises(ValueError, match="Found: 'keras.models'.*Keras: 2.1.6"):
        copy.keras_clone.released('keras.models')


def test_status_names_the_overlay_of_each_module(copy, keras_folder):
    assert [(row['module'], row['file']) for row in copy.keras_clone.status()] == [
        ('keras.models', str(copy.project / 'keras' / 'models.py')),
        ('keras.engine.network',
         str(copy.project / 'keras' / 'engine' / 'network.py'))]


# Importing beside others.

class Hook:
    """A finder that marks `keras.models`, of the kinds that are about."""

    def __init__(self, search):
        self.search = search
        self.searching = False

    def find_spec(self, name, path=None, target=None):
        if name != 'keras.models' or self.searching:
            return None
        self.searching = True
        try:
            spec = self.search(self, name, path)
        finally:
            self.searching = False
        spec.loader = Marking(spec.loader)
        return spec


class Marking:

    def __init__(self, loader):
        self.loader = loader

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def exec_module(self, module):
        self.loader.exec_module(module)
        module.marks = getattr(module, 'marks', 0) + 1


def ask_all_finders(hook, name, path):
    return importlib.util.find_spec(name)


def ask_the_finders_that_follow(hook, name, path):
    finders = sys.meta_path[sys.meta_path.index(hook) + 1:]
    specs = (finder.find_spec(name, path) for finder in finders)
    return next(filter(None, specs))


@pytest.mark.parametrize('search', [ask_all_finders, ask_the_finders_that_follow])
@pytest.mark.parametrize('position', [0, 1])
def test_another_import_hook_on_the_same_module(
        position, search, copy, keras_folder):
    sys.meta_path.insert(position, Hook(search))
    models = importlib.import_module('keras.models')
    assert models.clone_model(None) == 'overlay'
    assert (models.runs, models.marks) == (1, 1)
    assert copy.states()['keras.models'] == 'active'


def test_a_finder_of_the_old_kind_is_passed_over(copy, keras_folder):
    class OldFinder:
        @staticmethod
        def find_module(name, path=None):
            return None

    sys.meta_path.insert(1, OldFinder)
    spec = copy.finder.find_spec('keras.models', [str(keras_folder)])
    assert spec.origin == str(keras_folder / 'models.py')


def test_a_loader_of_the_old_kind_is_left_alone(copy, keras_folder):
    class OldFinder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == 'keras.models':
                return importlib.machinery.ModuleSpec(name, old_loader)

    old_loader = object()  # It has no `exec_module`.
    sys.meta_path.insert(1, OldFinder)
    spec = copy.finder.find_spec('keras.models', [str(keras_folder)])
    assert spec.loader is old_loader


def test_a_module_that_nobody_finds(copy, keras_folder):
    (keras_folder / 'engine' / 'network.py').unlink()
    with pytest.raises(ImportError, match='keras.engine.network'):
        importlib.import_module('keras')


def test_other_modules_are_none_of_its_business(copy):
    assert copy.finder.find_spec('keras.layers') is None
    assert copy.finder.find_spec('json') is None


def test_threads_that_import_at_once_get_one_overlaid_module(copy, keras_folder):
    write(keras_folder, {'backend.py': 'import time\ntime.sleep(0.1)\n'})
    got, start = [], threading.Barrier(8)

    def import_models():
        start.wait()
        got.append(importlib.import_module('keras.models').clone_model(None))

    threads = [threading.Thread(target=import_models) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert got == ['overlay'] * 8
    assert sys.modules['keras.models'].runs == 1


def test_a_thread_that_only_looks_does_not_disturb_one_that_imports(
        copy, keras_folder):
    looking, imported = threading.Event(), threading.Event()

    class SlowFinder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == 'keras.models' and threading.current_thread() is thread:
                looking.set()
                imported.wait(1)  # Before Python 3.10, one thread at a time looks.

    sys.meta_path.insert(1, SlowFinder)
    thread = threading.Thread(target=copy.finder.find_spec,
                              args=('keras.models', [str(keras_folder)]))
    thread.start()
    looking.wait()
    models = importlib.import_module('keras.models')
    imported.set()
    thread.join()
    assert models.clone_model(None) == 'overlay'


def test_the_real_overlays_beside_the_package_in_a_checkout(copy):
    copy.overlay.__file__ = os.path.join(ROOT, 'keras_clone', 'overlay.py')
    for row in copy.keras_clone.status():
        assert os.path.isfile(row['file'])
        assert row['file'].startswith(os.path.join(ROOT, 'keras'))
