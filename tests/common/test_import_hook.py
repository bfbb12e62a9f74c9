"""The import hook, tested in this process.

A copy of the package is tested, without the finders of the installed package.
"""
import configparser
import importlib
import importlib.machinery
import importlib.util
import inspect
import os
import pickle
import re
import sys
import threading
import traceback
import types
import warnings

import pytest
import wrapt.importer
from tiny_keras import KERAS, OVERLAY, write, write_keras

pytestmark = pytest.mark.once

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SUPPORTED = ('2.2.4', '2.2.5', '2.3.0', '2.3.1')
RANGES = '>=2.2.4,<2.4 and >=3.9,<3.17'
CLONING = 'keras.src.models.cloning'


class Copy:
    """A copy of keras_clone, installed."""

    def __init__(self, project):
        path = os.path.join(ROOT, 'keras_clone', '__init__.py')
        spec = importlib.util.spec_from_file_location('keras_clone_copy', path)
        self.keras_clone = importlib.util.module_from_spec(spec)
        sys.modules['keras_clone_copy'] = self.keras_clone
        spec.loader.exec_module(self.keras_clone)
        self.overlay = sys.modules['keras_clone_copy.overlay']
        self.overlay.__file__ = str(project / 'keras_clone' / 'overlay.py')
        self.keras_clone.install()
        self.finder = sys.meta_path[0]
        self.project = project

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


def imported_quietly(name='keras.models'):
    """Imports a module while warnings are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        return importlib.import_module(name)


def test_importing_the_package_registers_nothing(copy):
    sys.meta_path.remove(copy.finder)
    before = list(sys.meta_path)
    for name in ('overlay', 'hook'):
        importlib.reload(sys.modules['keras_clone_copy.' + name])
    assert sys.meta_path == before


def test_installed_twice_it_has_one_finder(copy):
    before = list(sys.meta_path)
    copy.keras_clone.install()
    assert sys.meta_path == before


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


@pytest.mark.parametrize('release', [
    '3.9.0', '3.12.4', '3.15.1', '3.16.0.dev2026102704', '3.16.0rc1', '3.16.2+b'])
def test_every_release_of_the_range_is_supported(release, copy, tmp_path):
    sys.path.insert(0, write_keras(tmp_path / 'installed', release))
    assert copy.states() == {CLONING: 'not imported yet'}


@pytest.mark.parametrize('release', [
    '2.1.6', '2.2.0', '2.4', '2.4.3', '3.0.0', '3.8.0', '3.17.0.dev1', '4.0.0'])
def test_other_releases_are_left_alone_with_one_warning(release, copy, tmp_path):
    write_keras_3_as_well(tmp_path / 'installed', release)
    with pytest.warns(UserWarning) as caught:
        from keras import models
        importlib.import_module(CLONING)
    assert models.clone_model(None) == 'released'
    assert not models.Network.rewired
    text, = (str(warning.message) for warning in caught)
    for part in ('keras-clone: clone_model is as released', f'Keras is {release}',
                 RANGES, 'Install', 'KERAS_CLONE=force', 'KERAS_CLONE=off'):
        assert part in text
    assert {row['state'] for row in copy.keras_clone.status()} == {
        'unsupported release'}
    assert release in copy.reasons()['keras.models']


def write_keras_3_as_well(folder, release):
    """Writes a Keras that has the overlaid modules of both major versions."""
    sys.path.insert(0, write_keras(folder, release))
    write(folder / 'keras', {
        'src/__init__.py': '', 'src/models/__init__.py': '',
        'src/models/cloning.py': 'def clone_model(model):\n    return "released"\n'})


@pytest.mark.parametrize('release, module', [
    ('2.2.0', 'keras.models'), ('2.4.3', 'keras.models'), ('3.8.0', CLONING),
    ('3.17.0', CLONING)])
def test_another_release_can_be_tried(release, module, copy, tmp_path, monkeypatch):
    monkeypatch.setenv('KERAS_CLONE', 'force')
    write_keras_3_as_well(tmp_path / 'installed', release)
    write(copy.project / 'keras', {
        'src/models/cloning.py': 'def clone_model(model):\n    return "overlay"\n'})
    assert imported_quietly(module).clone_model(None) == 'overlay'
    assert copy.keras_clone.released(module).clone_model(None) == 'released'
    assert copy.states()[module] == 'active'
    assert (CLONING in copy.states()) == (module == CLONING)


def test_another_major_version_cannot_be_tried(copy, tmp_path, monkeypatch):
    monkeypatch.setenv('KERAS_CLONE', 'force')
    write_keras_3_as_well(tmp_path / 'installed', '4.0.0')
    with pytest.warns(UserWarning, match='Keras is 4.0.0'):
        assert importlib.import_module(CLONING).clone_model(None) == 'released'


def test_warnings_that_are_errors_do_not_break_the_import(copy, tmp_path, capsys):
    sys.path.insert(0, write_keras(tmp_path / 'installed', '2.2.0'))
    assert imported_quietly().clone_model(None) == 'released'
    assert capsys.readouterr().err.count('Keras is 2.2.0') == 1


@pytest.mark.parametrize('value', ['strict', ' Strict '])
def test_strict_raises_for_another_release(value, copy, tmp_path, monkeypatch):
    monkeypatch.setenv('KERAS_CLONE', value)
    sys.path.insert(0, write_keras(tmp_path / 'installed', '2.2.0'))
    for _ in range(2):
        with pytest.raises(ImportError, match='keras-clone: .* Keras is 2.2.0'):
            importlib.import_module('keras')


@pytest.mark.parametrize('text', ['def clone_model(:', 'raise Warning'])
def test_strict_raises_for_a_broken_overlay(text, copy, keras_folder, monkeypatch):
    monkeypatch.setenv('KERAS_CLONE', 'strict')
    write(copy.project / 'keras', {'models.py': text})
    with pytest.raises(ImportError, match='keras-clone: skipped .*models.py'):
        importlib.import_module('keras')


def test_every_minor_version_of_the_range_has_an_environment(copy):
    tox = configparser.ConfigParser(interpolation=None)
    tox.read(os.path.join(ROOT, 'tox.ini'))
    deps = tox['testenv']['deps'].lower()
    run = re.findall(r'\d{3,4}', tox['tox']['env_list'])
    tested = {(int(major), int(minor)) for code, major, minor in
              re.findall(r'keras(\d+): *keras==(\d+)\.(\d+)', deps) if code in run}
    if 'keras-nightly' in tox['testenv']['commands_pre']:  # The next release.
        tested.add((3, numbers(copy.overlay.KERAS_3)[-1] - 1))
    for releases in (copy.overlay.KERAS_2, copy.overlay.KERAS_3):
        first, end = map(numbers, releases.split(','))
        assert {(first[0], minor) for minor in range(first[1], end[1])} <= tested


def numbers(text):
    return list(map(int, re.findall(r'\d+', text)))


def test_a_release_is_known_by_a_version_in_a_module_of_its_own(copy, tmp_path):
    keras = write_keras(tmp_path / 'installed')
    write(tmp_path / 'installed' / 'keras', {
        '__init__.py': 'from keras.src.version import __version__\n',
        'src/__init__.py': '', 'src/version.py': '__version__ = "3.15.1"\n'})
    sys.path.insert(0, keras)
    assert copy.keras_clone.keras_release() == '3.15.1'


def test_a_release_that_is_unknown_is_left_alone(copy, keras_folder):
    write(keras_folder, {'__init__.py': '__version__ = open(__file__).name\n'})
    with pytest.warns(UserWarning, match='Keras is unknown'):
        models = importlib.import_module('keras.models')
    assert models.clone_model(None) == 'released'


def test_modules_overlaid_in_other_releases_only_pass_without_a_warning(
        copy, keras_folder, monkeypatch):
    monkeypatch.setattr(copy.overlay, 'OVERLAYS', {
        'keras.models': '>=2.3.1,<2.4', 'keras.engine.network': '>=2.2.4,<2.2.5'})
    assert imported_quietly().clone_model(None) == 'released'
    assert copy.states() == {'keras.engine.network': 'active'}


def test_metadata_of_another_keras_does_not_matter(copy, tmp_path, models):
    metadata = 'Metadata-Version: 2.1\nName: Keras\nVersion: 2.1.6\n'
    write(tmp_path / 'installed' / 'Keras-2.1.6.dist-info', {'METADATA': metadata})
    assert copy.states()['keras.models'] == 'active'


@pytest.mark.parametrize('value', [
    'off', 'OFF', ' off ', '0', 'no', 'n', 'false', 'False', 'none', 'Disabled\t'])
def test_switched_off_everything_is_as_released(
        value, copy, keras_folder, monkeypatch):
    monkeypatch.setenv('KERAS_CLONE', value)
    assert set(copy.states().values()) == {'off'}
    models = importlib.import_module('keras.models')
    assert models.clone_model(None) == 'released'
    monkeypatch.delenv('KERAS_CLONE')
    assert set(copy.states().values()) == {'off'}  # As it was at the import.
    assert copy.reasons()['keras.models'] == 'KERAS_CLONE=' + value


@pytest.mark.parametrize('value', [
    '', ' ', 'on', 'On ', '1', 'yes', 'y', 'true', 'strict'])
def test_any_other_value_leaves_it_switched_on(
        value, copy, keras_folder, monkeypatch):
    monkeypatch.setenv('KERAS_CLONE', value)
    assert imported_quietly().clone_model(None) == 'overlay'


def test_an_unknown_value_is_ignored_with_one_warning(
        copy, keras_folder, monkeypatch):
    monkeypatch.setenv('KERAS_CLONE', 'offf')
    with pytest.warns(UserWarning) as caught:
        models = importlib.import_module('keras.models')
    text, = (str(warning.message) for warning in caught)
    assert text.startswith('keras-clone: KERAS_CLONE=offf is ignored. Use on, off, ')
    assert models.clone_model(None) == 'overlay'


@pytest.mark.parametrize('beside_the_overlays', [False, True])
def test_a_missing_keras_is_reported(beside_the_overlays, copy, monkeypatch):
    # The folder of the overlays is not Keras, but Python could import it as `keras`.
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
def test_nothing_of_a_broken_overlay_is_applied(text, reason, copy, keras_folder):
    write(copy.project / 'keras', {'models.py': text})
    with pytest.warns(UserWarning, match=reason):
        models = importlib.import_module('keras.models')
    as_released = vars(copy.keras_clone.released('keras.models'))
    assert set(vars(models)) == set(as_released)
    assert models.clone_model(None) == models.save_model(None) == 'released'
    assert list(copy.states().values()) == ['failed', 'active', 'active']
    assert reason in copy.reasons()['keras.models']
    assert copy.keras_clone.status()[0]['file'] in copy.reasons()['keras.models']


def test_a_keras_that_cannot_be_imported_fails_as_released(copy, keras_folder):
    write(keras_folder, {'engine/network.py': 'raise RuntimeError("no backend")\n'})
    with pytest.raises(RuntimeError, match='no backend'):
        importlib.import_module('keras')
    assert set(copy.states().values()) == {'not imported yet'}


def test_a_module_that_was_imported_before_is_reported(copy, keras_folder):
    sys.meta_path.remove(copy.finder)
    models = importlib.import_module('keras.models')
    assert models.clone_model(None) == 'released'
    copy.keras_clone.install()
    assert set(copy.states().values()) == {'failed'}
    assert 'imported without the hook' in copy.reasons()['keras.models']


def test_a_missing_hook_is_reported(copy, keras_folder):
    sys.meta_path.remove(copy.finder)
    assert set(copy.states().values()) == {'start-up hook not installed'}
    importlib.import_module('keras.models')
    assert set(copy.states().values()) == {'start-up hook not installed'}
    assert 'keras_clone.install()' in copy.reasons()['keras.models']


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


def test_before_the_import_the_spec_has_the_released_source(copy, keras_folder):
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
def test_released_returns_a_separate_module(imported, copy, keras_folder):
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
        ('keras.engine.base_layer',
         str(copy.project / 'keras' / 'engine' / 'base_layer.py')),
        ('keras.engine.network',
         str(copy.project / 'keras' / 'engine' / 'network.py'))]


# Other import hooks, and threads.

def test_a_hook_that_was_registered_before_takes_effect(copy, keras_folder):
    sys.meta_path.remove(copy.finder)

    @wrapt.when_imported('keras.models')
    def wrap(models):
        function = models.clone_model
        models.clone_model = lambda model: 'wrapped ' + function(model)

    sys.meta_path.insert(0, wrapt.importer.ImportHookFinder())
    copy.keras_clone.install()
    models = importlib.import_module('keras.models')
    assert models.clone_model(None) == 'wrapped overlay'
    assert models.runs == 1
    assert type(models.__loader__) is importlib.machinery.SourceFileLoader
    assert models.__loader__ is models.__spec__.loader


class Hook:
    """A finder of another package, which marks `keras.models`."""

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
def test_another_import_hook_takes_effect_on_the_same_module(
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
    with pytest.warns(UserWarning, match='has no exec_module'):
        spec = copy.finder.find_spec('keras.models', [str(keras_folder)])
    assert spec.loader is old_loader


def test_a_module_that_no_finder_finds_raises_an_import_error(copy, keras_folder):
    (keras_folder / 'engine' / 'network.py').unlink()
    with pytest.raises(ImportError, match='keras.engine.network'):
        importlib.import_module('keras')


def test_other_modules_are_left_alone(copy):
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
                imported.wait(1)  # Before Python 3.10, only one thread searches.

    sys.meta_path.insert(1, SlowFinder)
    thread = threading.Thread(target=copy.finder.find_spec,
                              args=('keras.models', [str(keras_folder)]))
    thread.start()
    looking.wait()
    models = importlib.import_module('keras.models')
    imported.set()
    thread.join()
    assert models.clone_model(None) == 'overlay'


def test_in_a_checkout_the_overlays_are_beside_the_package(copy):
    copy.overlay.__file__ = os.path.join(ROOT, 'keras_clone', 'overlay.py')
    for row in copy.keras_clone.status():
        assert os.path.isfile(row['file'])
        assert row['file'].startswith(os.path.join(ROOT, 'keras'))
