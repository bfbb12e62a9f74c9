"""`keras-clone check` with files, and with modules that the user has written."""
import json
import os
import subprocess
import sys

import keras
import pytest
from keras import layers

from major_versions import IS_KERAS2, RELEASE, chain
from running import found, run_process

ENDING = 'h5' if IS_KERAS2 else 'keras'
BUILDER = '''
from keras import layers, models
def build():
    print('a line on stdout')
    x = layers.Input((2,))
    return models.Model(x, layers.Dense(2)(x))
'''
WITH_GLOBAL_NAME = '''
from keras.layers import Dense, Input, Lambda
from keras.models import Model, load_model
FACTOR = 3
def build():
    x = Input((2,))
    return Model(x, Dense(2)(Lambda(lambda x: FACTOR * x, output_shape=(2,))(x)))
def load():
    return load_model('own.keras', safe_mode=False, custom_objects={'FACTOR': 3})
def load_weights():
    model = build()
    model.load_weights('own.ENDING')
    return model
if __name__ == '__main__':
    build().save('own.ENDING')
'''.replace('ENDING', ENDING)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, empty."""
    before = set(sys.modules)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, 'path', sys.path[:])
    yield tmp_path
    for name in set(sys.modules) - before:
        if (tmp_path / (name + '.py')).exists():
            del sys.modules[name]


on_keras3 = pytest.mark.skipif(
    IS_KERAS2, reason='Keras 2 has no such files, or tests/tools has the test')


def once_on_keras3(test):
    return test if IS_KERAS2 else pytest.mark.once(test)


dense = chain(lambda: layers.Dense(2))


def error_with(name):
    error = found(name)['error']
    assert len(error.splitlines()) == 1
    return error


@pytest.mark.parametrize('name', ['dense.' + ENDING] + ['DENSE.H5'] * IS_KERAS2)
def test_file_is_checked(folder, name):
    dense().save('dense.' + ENDING)
    os.rename('dense.' + ENDING, name)
    assert found(name)['outcome'] == 'faithful'


def test_error_with_a_custom_layer_says_what_to_do(folder):
    custom_class = type('Custom', (layers.Dense,), {})
    chain(lambda: custom_class(2))().save('own.' + ENDING)
    message = ('Unknown layer: Custom' if IS_KERAS2 else
               "Could not locate class 'Custom'")
    error = error_with('own.' + ENDING)
    assert message in error and 'safe_mode' not in error
    assert error.endswith('that loads the file with `custom_objects`, and name it: '
                          'package.module:function.')
    (folder / 'loads.py').write_text('from keras.models import load_model\n'
                                     'def load():\n'
                                     f'    return load_model("own.{ENDING}")\n')
    error = error_with('loads:load')
    assert message in error and 'custom_objects' not in error.partition(message)[0]
    assert error.endswith(f' ({folder / "loads.py"}, line 3).')


@pytest.mark.slow
def test_error_with_a_global_name_says_what_to_do(folder):
    """The name is found neither with `safe_mode` nor with `custom_objects`."""
    (folder / 'own.py').write_text(WITH_GLOBAL_NAME)
    subprocess.check_call([sys.executable, 'own.py'])
    assert 'calls `load_weights` with the file' in error_with('own.' + ENDING)
    assert found('own:load_weights')['outcome'] == 'faithful'
    if not IS_KERAS2:
        assert "name 'FACTOR' is not defined" in error_with('own:load')


@once_on_keras3
def test_error_with_a_file_of_weights_says_what_to_do(folder):
    dense().save_weights('own.weights.h5')
    assert ('It may hold only weights: write a function that builds the model'
            in error_with('own.weights.h5'))


@once_on_keras3
@pytest.mark.parametrize('name, size', [('cut.h5', 0), ('cut.h5', 1000)] + [
    ('cut.h5', 3000), ('cut.keras', 3000)] * (not IS_KERAS2))
def test_error_with_a_damaged_file_has_no_advice(folder, name, size):
    dense().save(name)
    with open(name, 'rb+') as file:
        file.truncate(size)
    error = error_with(name)
    assert error.startswith(f'{name}: The model cannot be built: ')
    assert 'safe_mode' not in error and 'function' not in error


@once_on_keras3
@on_keras3
def test_error_with_a_damaged_file_says_that_it_exists(folder):
    (folder / 'cut.keras').write_bytes(b'PK')
    assert 'The file exists: it is damaged' in error_with('cut.keras')


@once_on_keras3
@pytest.mark.parametrize('code, place', [
    ('import json\n\njson.loads("{")', 3), ('\nno_such_name', 2),
    # Newer versions of Python have no file of `os` that runs.
    ('import os\n\nos.makedirs("fails.py/folder")', 3)])
def test_error_names_the_line_of_the_user(folder, code, place):
    path = folder / 'fails.py'
    path.write_text(code)
    assert error_with('fails:make').endswith(f' ({path}, line {place})')
    sys.modules.pop('fails', None)
    path.write_text('def make():\n    ' + code.replace('\n', '\n    '))
    os.utime(str(path), (0, 0))  # Python compares times to see what is compiled.
    assert error_with('fails:make').endswith(f' ({path}, line {place + 1}).')


@pytest.mark.slow
@once_on_keras3
def test_modules_of_the_current_folder_replace_no_others(folder):
    for name in ('random', 'rich', 'click', 'h5py', 'numpy', 'keras'):
        (folder / (name + '.py')).write_text('raise ValueError')
    (folder / 'own.py').write_text(BUILDER)
    status, out, err = run_process('check', 'own:build', '--json', cwd=folder)
    assert status == 0, out + err
    assert '"active": 1' in out
    assert set(err.splitlines()) == {'a line on stdout'}


@pytest.mark.slow
@on_keras3
@pytest.mark.parametrize('name', [
    'own.keras', pytest.param('own.h5', marks=pytest.mark.skipif(
        RELEASE < (3, 11, 3), reason='Keras loads byte code from .h5 files'))])
def test_check_of_a_file_with_a_lambda_says_how_to_load_it(tmp_path, name):
    chain(lambda: layers.Lambda(lambda x: 2 * x, name='double'))().save(
        tmp_path / name)
    status, _, err = run_process('check', tmp_path / name,
                                 TF_CPP_MIN_LOG_LEVEL=None)
    assert status == 2
    *warning, error = err.splitlines()
    assert error.startswith('Error: ')
    assert 'write a function that loads it with `safe_mode=False`' in error
    assert 'custom_objects' not in error
    assert len(warning) == (name == 'own.h5')
    if warning:
        assert "holds Python byte code (layers: 'double')" in warning[0]


@pytest.mark.slow
@on_keras3
def test_check_judges_the_released_function_beside_this_one():
    status, out, err = run_process(
        'check', '--json', '--only', 'named_as_one_of_keras', KERAS_CLONE='',
        TF_CPP_MIN_LOG_LEVEL=None)
    assert (status, err) == (0, '')
    data = json.loads(out)
    assert data['keras'] == keras.__version__
    row, = data['models']
    # Since 3.16, Keras does not take the user's `relu` for its own any more.
    expected = 'wrong numbers' if RELEASE < (3, 16) else 'crash'
    assert row['released']['outcome'] == expected
    assert row['active']['outcome'] == 'faithful'


@pytest.mark.slow
@on_keras3
@pytest.mark.once
def test_command_says_what_is_not_compared(tmp_path):
    (tmp_path / 'own.py').write_text(
        'import keras\n'
        'def build():\n'
        '    return keras.Sequential([keras.layers.Dense(2)])\n')
    status, out, _ = run_process('check', 'own:build', cwd=tmp_path)
    assert status == 0 and 'Not compared' in out
    status, out, _ = run_process('check', 'own:build', '--json', cwd=tmp_path)
    row, = json.loads(out)['models']
    assert status == 0 and row['active']['not_compared'] == [
        'outputs (the model is not built: it has none yet)']
