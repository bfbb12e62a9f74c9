"""The command `keras-clone check` on Keras 3."""
import json

import keras
import pytest
from keras import layers

from major_versions import RELEASE, chain
from running import run_process


def check(*arguments, **options):
    """Runs the command, with the messages of TensorFlow that are on by default."""
    return run_process('check', *arguments, TF_CPP_MIN_LOG_LEVEL=None, **options)


@pytest.mark.parametrize('name', [
    'own.keras', pytest.param('own.h5', marks=pytest.mark.skipif(
        RELEASE < (3, 11, 3), reason='Keras loads byte code from .h5 files'))])
def test_check_of_a_file_with_a_lambda_says_how_to_load_it(tmp_path, name):
    chain(lambda: layers.Lambda(lambda x: 2 * x, name='double'))().save(
        tmp_path / name)
    status, _, err = check(tmp_path / name)
    assert status == 2
    *warning, error = err.splitlines()
    assert error.startswith('Error: ')
    assert 'write a function that loads it with `safe_mode=False`' in error
    assert 'custom_objects' not in error
    assert len(warning) == (name == 'own.h5')
    if warning:
        assert "holds Python byte code (layers: 'double')" in warning[0]


def test_check_judges_the_released_function_beside_this_one():
    status, out, err = check('--json', '--only', 'named_as_one_of_keras',
                             KERAS_CLONE='')
    assert (status, err) == (0, '')
    data = json.loads(out)
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
    status, out, _ = check('own:build', cwd=tmp_path)
    assert status == 0 and 'Not compared' in out
    status, out, _ = check('own:build', '--json', cwd=tmp_path)
    row, = json.loads(out)['models']
    assert status == 0 and row['active']['not_compared'] == [
        'outputs (the model is not built: it has none yet)']
