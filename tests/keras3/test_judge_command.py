"""The command `keras-clone check` on Keras 3."""
import json
import os
import subprocess
import sys

import keras
import pytest
from keras import layers

from major_versions import RELEASE

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def check(*arguments, cwd=ROOT, **environment):
    """Runs the command, with the messages of TensorFlow that are on by default."""
    variables = dict(os.environ, PYTHONPATH=ROOT, **environment)
    variables.pop('TF_CPP_MIN_LOG_LEVEL', None)
    return subprocess.run(
        [sys.executable, '-m', 'keras_clone', 'check', *map(str, arguments)],
        cwd=cwd, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        universal_newlines=True)


@pytest.mark.parametrize('name', [
    'own.keras', pytest.param('own.h5', marks=pytest.mark.skipif(
        RELEASE < (3, 11, 3), reason='Keras loads byte code from .h5 files'))])
def test_check_of_a_file_with_a_lambda_says_how_to_load_it(tmp_path, name):
    x = keras.Input((2,))
    model = keras.Model(x, layers.Lambda(lambda x: 2 * x, name='double')(x))
    model.save(tmp_path / name)
    done = check(tmp_path / name)
    assert done.returncode == 2
    *warning, error = done.stderr.splitlines()
    assert error.startswith('Error: ')
    assert 'write a function that loads it with `safe_mode=False`' in error
    assert 'custom_objects' not in error
    assert len(warning) == (name == 'own.h5')
    if warning:
        assert "holds Python byte code (layers: 'double')" in warning[0]


def test_check_of_a_file_with_a_custom_layer_says_how_to_load_it(tmp_path):
    class Custom(layers.Dense):
        pass

    x = keras.Input((2,))
    keras.Model(x, Custom(2)(x)).save(tmp_path / 'own.keras')
    done = check(tmp_path / 'own.keras')
    assert done.returncode == 2
    assert "Could not locate class 'Custom'" in done.stderr
    assert 'that loads the file with `custom_objects`' in done.stderr
    assert 'safe_mode' not in done.stderr


def test_a_lambda_with_a_global_name_is_checked_with_loaded_weights(tmp_path):
    """The name is found neither with `safe_mode` nor with `custom_objects`."""
    (tmp_path / 'own.py').write_text(
        'import keras\n'
        'FACTOR = 3\n'
        'def build():\n'
        '    x = keras.Input((2,))\n'
        '    y = keras.layers.Lambda(lambda x: FACTOR * x, output_shape=(2,))(x)\n'
        '    return keras.Model(x, keras.layers.Dense(2)(y))\n'
        'def load():\n'
        '    return keras.models.load_model(\n'
        '        "own.keras", safe_mode=False, custom_objects={"FACTOR": 3})\n'
        'def load_weights():\n'
        '    model = build()\n'
        '    model.load_weights("own.keras")\n'
        '    return model\n'
        'if __name__ == "__main__":\n'
        '    build().save("own.keras")\n')
    subprocess.check_call([sys.executable, 'own.py'], cwd=tmp_path)
    assert 'calls `load_weights` with the file' in check(
        'own.keras', cwd=tmp_path).stderr
    loaded = check('own:load', cwd=tmp_path)
    assert loaded.returncode == 2
    assert "name 'FACTOR' is not defined" in loaded.stderr
    assert check('own:load_weights', cwd=tmp_path).returncode == 0


@pytest.mark.once
def test_check_of_a_file_of_weights_says_what_to_do(tmp_path):
    model = keras.Sequential([keras.Input((2,)), layers.Dense(2)])
    model.save_weights(tmp_path / 'own.weights.h5')
    assert 'It may hold only weights: write a function' in check(
        tmp_path / 'own.weights.h5').stderr


@pytest.mark.once
def test_check_of_a_damaged_file_says_that_it_exists(tmp_path):
    (tmp_path / 'cut.keras').write_bytes(b'PK')
    assert 'The file exists: it is damaged' in check(tmp_path / 'cut.keras').stderr


@pytest.mark.once
def test_error_in_the_standard_library_names_the_line_of_the_user(tmp_path):
    """Newer versions of Python have no file of `os` that runs."""
    (tmp_path / 'own.py').write_text('import os\n'
                                     'def build():\n'
                                     '    os.makedirs("own.py/folder")\n')
    assert check('own:build', cwd=tmp_path).stderr.endswith(
        f" ({tmp_path / 'own.py'}, line 3).\n")


@pytest.mark.once
@pytest.mark.parametrize('name', ['cut.keras', 'cut.h5'])
def test_check_of_a_damaged_file_has_no_advice(tmp_path, name):
    keras.Sequential([keras.Input((2,)), layers.Dense(2)]).save(tmp_path / name)
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:3000])
    done = check(tmp_path / name)
    assert done.returncode == 2
    assert 'Error: ' in done.stderr
    assert 'safe_mode' not in done.stderr
    assert 'function' not in done.stderr


def test_check_judges_the_released_function_beside_this_one():
    done = check('--json', '--only', 'named_as_one_of_keras', KERAS_CLONE='')
    assert (done.returncode, done.stderr) == (0, '')
    data = json.loads(done.stdout)
    assert data['keras'] == keras.__version__
    row, = data['models']
    # Since 3.16, Keras does not take the user's `relu` for its own any more.
    expected = 'wrong numbers' if RELEASE < (3, 16) else 'crash'
    assert row['released']['outcome'] == expected
    assert row['active']['outcome'] == 'faithful'


@pytest.mark.once
def test_command_says_what_is_not_compared(tmp_path):
    (tmp_path / 'own.py').write_text(
        'import keras\n'
        'def build():\n'
        '    return keras.Sequential([keras.layers.Dense(2)])\n')
    text, data = (check('own:build', *more, cwd=tmp_path)
                  for more in ([], ['--json']))
    assert text.returncode == data.returncode == 0
    assert 'Not compared' in text.stdout
    row, = json.loads(data.stdout)['models']
    assert row['active']['not_compared'] == [
        'outputs (the model is not built: it has none yet)']


@pytest.mark.once
def test_modules_of_the_current_folder_replace_no_others(tmp_path):
    for name in ('random', 'rich', 'click', 'h5py', 'numpy', 'keras'):
        (tmp_path / (name + '.py')).write_text('raise ValueError')
    (tmp_path / 'own.py').write_text(
        'from keras import layers, models\n'
        'def build():\n'
        '    print("a line on stdout")\n'
        '    return models.Sequential([layers.Input((3,)), layers.Dense(2)])\n')
    done = check('own:build', '--json', cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)['faithful']['active'] == 1
    assert set(done.stderr.splitlines()) == {'a line on stdout'}
