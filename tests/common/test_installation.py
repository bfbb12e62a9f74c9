"""Installs, starts, damages and removes the package, in virtual environments."""
import os
import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from glob import glob

import pytest
from tiny_keras import OVERLAY, write, write_keras

pytestmark = [pytest.mark.once, pytest.mark.slow]

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGES = os.path.dirname(os.path.dirname(pytest.__file__))
WHICH = 'import keras; print(keras.models.clone_model(None))'
AS_RELEASED = 'keras-clone: clone_model is as released'


def write_project(folder):
    """Copies the project, with OVERLAY in place of its overlays."""
    for name in os.listdir(ROOT):
        if os.path.isfile(os.path.join(ROOT, name)):
            shutil.copy(os.path.join(ROOT, name), str(folder))
    shutil.copytree(os.path.join(ROOT, 'keras_clone'), str(folder / 'keras_clone'),
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
    for name in os.listdir(PACKAGES):
        if not (name.lower().startswith('keras') or name.endswith('.pth')):
            os.symlink(os.path.join(PACKAGES, name), str(folder / name))
    return str(folder)


@pytest.fixture(scope='session')
def old_pip(tmp_path_factory):
    """The same with pip 18.1 and its setuptools, which Python 3.6 contains."""
    which = 'import ensurepip; print(*ensurepip.__path__)'
    try:
        found = call('python3.6', '-c', which, cwd=ROOT)
    except (OSError, AssertionError):
        pytest.skip('Python 3.6, which contains pip 18.1, is not installed.')
    folder = str(tmp_path_factory.mktemp('old_pip'))
    for wheel in glob(os.path.join(found.strip(), '_bundled', '*.whl')):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    return folder


def call(*command, **options):
    """Runs a command in a clean environment; returns all that it printed."""
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

    def run(self, *arguments, cwd=os.sep, **variables):
        return call(self.python, *arguments, cwd=cwd, variables=variables)

    def pip(self, path, *arguments, **options):
        return self.run('-m', 'pip', '--no-cache-dir', *arguments, PYTHONPATH=path,
                        **options)

    def files(self):
        return {os.path.join(folder, name)
                for folder, _, names in os.walk(self.folder)
                for name in names if '__pycache__' not in folder}


@pytest.fixture
def environment(tmp_path):
    return Environment(tmp_path / 'environment')


@pytest.fixture
def installed(environment, wheel):
    """An environment with the wheel unpacked in it: pip would do no more."""
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


@pytest.mark.skipif(sys.version_info >= (3, 10),
                    reason='pip 18.1 does not run on Python 3.10 and later')
def test_uninstalled_within_the_checkout_by_an_old_pip_it_leaves_nothing(
        environment, old_pip, project):
    before = environment.files()
    for options in ['.'], ['-e', '.']:
        environment.pip(old_pip, 'install', '--no-index', *options, cwd=project)
        assert environment.run('-c', WHICH) == 'overlay\n'
        environment.pip(old_pip, 'uninstall', '-y', 'keras-clone', cwd=project)
        assert environment.files() == before


@pytest.mark.parametrize('install', [install_editable, install_develop])
def test_what_was_built_before_is_not_in_an_editable_installation(
        install, environment, pip, project):
    call(sys.executable, 'setup.py', '-q', 'build', cwd=project)
    install(environment, pip, project, None)
    assert 'keras_clone' not in os.listdir(environment.packages)


@pytest.mark.parametrize('option', ['--target', '--prefix'])
def test_in_a_folder_whose_start_up_files_are_not_read_it_has_to_be_installed(
        option, environment, pip, wheel, tmp_path):
    folder = tmp_path / 'folder'
    environment.pip(pip, 'install', '--no-index', '--no-deps', option, folder, wheel)
    place, = (os.path.dirname(each) for each in glob(
        str(folder / '**' / 'keras_clone_start.py'), recursive=True))
    path = os.pathsep.join([place, pip])
    assert environment.run('-c', WHICH, PYTHONPATH=path) == 'released\n'
    lines = environment.run('-m', 'keras_clone', 'status', PYTHONPATH=path)
    assert lines.count(': start-up hook not installed (') == 3
    assert ': active' not in lines
    install = 'import keras_clone; keras_clone.install()\n'
    assert environment.run('-c', install + WHICH, PYTHONPATH=path) == 'overlay\n'


def test_check_says_that_the_start_up_hook_is_missing(tmp_path):
    environment = Environment(tmp_path / 'environment', keras=False)
    path = os.pathsep.join([ROOT, PACKAGES])  # The installed Keras.
    printed = environment.run('-m', 'keras_clone', 'check', '--only', 'Dense',
                              PYTHONPATH=path)
    last = printed[printed.index('1 model: '):]
    assert 'keras-clone is not active (start-up hook not installed, ' in last


def test_the_wheel_has_the_runtime_the_overlays_and_the_check_alone(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if '.dist-info/' not in name}
    checks = {name for name in names if name.startswith('keras_clone/check/')}
    assert checks >= {'keras_clone/check/' + name for name in (
        'commands.py', 'columns.py', 'drawing.py', 'layout.py', 'outline.py')}
    assert names - checks == {'keras-clone.pth', 'keras_clone_start.py'} | {
        'keras_clone/' + name for name in (
            '__init__.py', '__main__.py', 'call_order.py', 'cloner.py',
            'comparison.py', 'containers.py', 'functions.py', 'generated_names.py',
            'global_state.py', 'history.py', 'hook.py', 'keras/engine/base_layer.py',
            'keras/engine/network.py', 'keras/models.py', 'overlay.py',
            'recording.py', 'settings.py', 'walk.py')}


@pytest.mark.parametrize('install', [install_editable, install_develop])
def test_an_editable_installation_uses_the_checkout_until_it_is_moved(
        install, tmp_path, pip, project):
    environment = Environment(tmp_path / 'environment', keras=False)
    install(environment, pip, project, None)
    # The checkout is used.
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
    # If the checkout is moved, interpreters still start.
    shutil.move(str(project), str(tmp_path / 'moved'))
    assert environment.run('-c', 'pass') == ''
    printed = environment.run('-c', WHICH, PYTHONPATH=keras)
    assert 'released' in printed.splitlines()
    text = f'{AS_RELEASED}: its package is no longer in {project}. Install'
    assert printed.count(text) == 1
    assert 'pip uninstall keras-clone' in printed


# Starting.

def test_starting_imports_one_small_module(installed):
    loaded = 'import sys; print(*sorted(sys.modules))'
    with_it = installed.run('-c', loaded).split()
    write(installed.packages, {'keras-clone.pth': 'import sys\n'})
    assert set(with_it) - set(installed.run('-c', loaded).split()) == {
        'keras_clone_start'}


def test_starting_registers_one_finder(installed):
    finders = 'import sys; print(len(sys.meta_path))'
    with_it = int(installed.run('-c', finders))
    remove(os.path.join(installed.packages, 'keras-clone.pth'))
    assert int(installed.run('-c', finders)) == with_it - 1


@pytest.mark.parametrize('options', [['-I'], ['-E'], ['-OO'], ['-B'],
                                     ['-W', 'error']])
def test_options_of_the_interpreter_leave_the_overlay_on(options, installed):
    assert installed.run(*options, '-c', WHICH) == 'overlay\n'


def test_without_site_the_overlay_is_off_until_it_is_installed(installed):
    def printed(first):
        return installed.run('-S', '-c', first + WHICH,
                             PYTHONPATH=installed.packages)
    assert printed('') == printed('import keras_clone; ') == 'released\n'
    assert printed('import keras_clone; keras_clone.install(); ') == 'overlay\n'


def remove(path):
    shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)


def make_folder(path):
    """Replaces a file by a folder, which not even the superuser can read."""
    os.remove(path)
    os.mkdir(path)


def break_syntax(path):
    with open(path, 'w') as file:
        file.write('def clone_model(:\n')


SKIPPED = 'keras-clone: skipped '


@pytest.mark.parametrize('damage, path, message, part', [
    (remove, '', AS_RELEASED, ''), (remove, 'hook.py', AS_RELEASED, ''),
    (make_folder, 'hook.py', AS_RELEASED, ''),
    (break_syntax, 'overlay.py', AS_RELEASED, ''),
    (break_syntax, '__init__.py', AS_RELEASED, ''),
    (remove, 'keras', SKIPPED, 'keras/engine'),
    (remove, 'keras/models.py', SKIPPED, 'keras/models.py'),
    (make_folder, 'keras/models.py', SKIPPED, 'keras/models.py'),
    (break_syntax, 'keras/models.py', SKIPPED, 'keras/models.py')])
def test_a_damaged_package_is_reported_at_the_import(damage, path, message, part,
                                                     installed):
    damage(os.path.join(installed.packages, 'keras_clone', path))
    assert installed.run('-c', 'pass') == ''
    printed = installed.run('-c', WHICH)
    assert 'released' in printed.splitlines() and part in printed
    assert printed.count('UserWarning: ' + message) == 1
    printed = installed.run('-W', 'error', '-c', WHICH)
    assert 'released' in printed.splitlines()
    assert printed.count(message) == 1
    with pytest.raises(AssertionError, match='ImportError: ' + message):
        installed.run('-c', WHICH, KERAS_CLONE='strict')


@pytest.mark.parametrize('options', [[], ['-W', 'error']])
@pytest.mark.parametrize('text', ['print("run")', 'print("run")\n' + WHICH])
@pytest.mark.parametrize('path, script', [
    ('keras_clone.py', 'keras_clone.py'), ('keras_clone.py', 'before.py'),
    ('keras_clone.py', 'after.py'), ('keras_clone/__init__.py', 'before.py'),
    ('keras_clone/__init__.py', 'after.py')])
def test_a_file_of_the_user_with_the_name_of_the_package_runs_once(
        path, script, text, options, installed, tmp_path):
    write(tmp_path, {path: text, 'before.py': 'import keras_clone\n' + WHICH,
                     'after.py': WHICH + '\nimport keras_clone'})
    printed = installed.run(*options, tmp_path / script)
    lines = printed.splitlines()
    assert lines.count('run') == 1 and 'overlay' not in lines
    warning = f'{AS_RELEASED}: {tmp_path / path} is not its package. Rename'
    assert printed.count(warning) == ('released' in lines)


def test_a_keras_in_a_zip_file_is_left_alone(installed, tmp_path):
    remove(os.path.join(installed.packages, 'keras'))
    path = shutil.make_archive(str(tmp_path / 'zipped'), 'zip',
                               write_keras(tmp_path / 'plain'))
    printed = installed.run('-c', WHICH, PYTHONPATH=path)
    assert 'released' in printed.splitlines()
    assert printed.count('clone_model is as released') == 1


# Processes, threads and other conditions.

@pytest.mark.parametrize('method', ['spawn', 'fork'])
def test_other_processes_have_the_overlay(method, installed, tmp_path):
    script = tmp_path / 'script.py'
    script.write_text(
        'import multiprocessing\n'
        'def work(model):\n'
        '    import keras.models\n'
        '    return keras.models.clone_model(model)\n'
        'if __name__ == "__main__":\n'
        f'    with multiprocessing.get_context("{method}").Pool(2) as pool:\n'
        '        print(*pool.map(work, [None] * 2), work(None))\n')
    assert installed.run(script) == 'overlay overlay overlay\n'


def test_interpreters_that_start_at_once_have_the_overlay(installed):
    with ThreadPoolExecutor(4) as pool:
        printed = pool.map(lambda _: installed.run('-c', WHICH), range(4))
    assert list(printed) == ['overlay\n'] * 4


def test_nothing_has_to_be_written_to_import(installed):
    for folder in ('', 'keras', 'keras/engine', 'keras_clone', 'keras_clone/keras'):
        cache = os.path.join(installed.packages, folder, '__pycache__')
        shutil.rmtree(cache, ignore_errors=True)
        with open(cache, 'w'):  # A file in its place stops the superuser, too.
            pass
    assert installed.run('-c', WHICH) == 'overlay\n'


def test_the_overlay_depends_on_the_release_after_each_installation(installed):
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
    printed = environment.run('-c', 'import keras_clone; keras_clone.install()\n' +
                              WHICH + '; print(keras_clone.status()[0]["state"])',
                              PYTHONPATH=wheel)
    assert 'released' in printed.splitlines() and 'failed' in printed.splitlines()
    assert 'keras-clone: skipped' in printed


def test_tests_that_pytest_rewrites_have_the_overlay(installed, pip, tmp_path):
    write(tmp_path, {'conftest.py': 'import keras.models\n', 'test_it.py':
                     'from keras.models import clone_model\n\n'
                     'def test_it():\n'
                     '    assert clone_model(None) == "overlay"\n'})
    assert '1 passed' in installed.run(
        '-m', 'pytest', '-q', '-p', 'no:cacheprovider', str(tmp_path),
        PYTHONPATH=pip)
