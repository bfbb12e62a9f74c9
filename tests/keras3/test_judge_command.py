"""The command `keras-clone check` on Keras 3."""
import json
import os
import subprocess
import sys

import keras
from keras import layers

from custom_objects import RELEASE


def test_check_of_a_file_with_a_lambda_says_how_to_load_it(tmp_path):
    x = keras.Input((2,))
    model = keras.Model(x, layers.Lambda(lambda x: 2 * x)(x))
    model.save(tmp_path / 'own.keras')
    command = [sys.executable, '-m', 'keras_clone', 'check',
               str(tmp_path / 'own.keras')]
    root = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    done = subprocess.run(command, cwd=root, stderr=subprocess.PIPE,
                          universal_newlines=True)
    assert done.returncode == 2
    assert 'with `custom_objects` or `safe_mode=False`' in done.stderr


def test_check_judges_the_released_function_beside_this_one():
    command = [sys.executable, '-m', 'keras_clone', 'check', '--json', '--only',
               'named_as_one_of_keras']
    root = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    data = json.loads(subprocess.run(
        command, cwd=root, stdout=subprocess.PIPE, check=True,
        env=dict(os.environ, KERAS_CLONE='')).stdout)
    assert data['keras'] == keras.__version__
    row, = data['models']
    # Since 3.16, Keras does not take the user's `relu` for its own any more.
    expected = 'wrong numbers' if RELEASE < (3, 16) else 'crash'
    assert row['released']['outcome'] == expected
    assert row['active']['outcome'] == 'faithful'


def test_command_says_what_is_not_compared(tmp_path):
    (tmp_path / 'own.py').write_text(
        'import keras\n'
        'def build():\n'
        '    return keras.Sequential([keras.layers.Dense(2)])\n')
    command = [sys.executable, '-m', 'keras_clone', 'check', 'own:build']
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(
        os.path.dirname(os.path.abspath(__file__)))))
    text, data = (
        subprocess.run(command + more, cwd=tmp_path, env=environment, check=True,
                       stdout=subprocess.PIPE, universal_newlines=True).stdout
        for more in ([], ['--json']))
    assert 'Not compared' in text
    row, = json.loads(data)['models']
    assert row['active']['not_compared'] == [
        'outputs (the model is not built: it has none yet)']
