"""The commands: what they print, to which stream, and their exit statuses."""
import io
import json
import logging
import os
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner
from rich.console import Console

import keras_clone
from keras_clone import __main__ as package_main
from keras_clone.check import commands

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

MODELS = '''
from keras.layers import Dense, Lambda
from keras.models import Sequential


class Makers(object):
    @staticmethod
    def dense():
        print('a line on stdout')
        return Sequential([Dense(2, input_shape=(3,))])


def offset():
    return Sequential([Lambda(lambda x: x + 1, input_shape=(3,))]), None


def wrong():
    raise ValueError('no such\\nmodel')


def text():
    return 'a model'


number = 3
'''


def run(*arguments):
    return CliRunner().invoke(commands.main, list(arguments))


def run_process(*arguments, **environment):
    """Runs the command as a user does; returns (exit status, stdout, stderr)."""
    cwd = str(environment.pop('cwd', ROOT))
    path = os.pathsep.join(filter(None, [os.environ.get('PYTHONPATH'), ROOT]))
    process = subprocess.Popen(
        [sys.executable, '-m', 'keras_clone'] + list(arguments), cwd=cwd,
        env=dict(os.environ, PYTHONPATH=path, COLUMNS='80', **environment),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    out, err = process.communicate()
    return process.returncode, out, err


def result(outcome='faithful', layer=''):
    differences = [] if outcome == 'faithful' else [layer + ': one', layer + ': two']
    return {'outcome': outcome, 'layer': layer, 'reason': ''.join(differences[:1]),
            'differences': differences}


@pytest.fixture
def rows(monkeypatch):
    """Replaces the check by these results."""
    rows = [{'model': 'first', 'description': 'A description of 33 characters..',
             'released': result('clones only once', 'bidirectional_1'),
             'active': result()},
            {'model': 'second', 'description': 'Another', 'released': result(),
             'active': result()}]
    monkeypatch.setattr(commands, '_rows', lambda *arguments: rows)
    return rows


@pytest.fixture
def overlay(monkeypatch):
    """Sets what `keras_clone.status` says of `keras.models`."""
    import keras  # noqa: F401  The first import writes a message.

    def set_state(state, reason=''):
        monkeypatch.setattr(keras_clone, 'status', lambda: [
            {'module': 'keras.engine.network', 'file': 'keras/engine/network.py',
             'state': 'active', 'reason': ''},
            {'module': 'keras.models', 'file': 'keras/models.py', 'state': state,
             'reason': reason}])
    set_state('active')
    return set_state


@pytest.fixture
def models(tmp_path, monkeypatch):
    """A folder with a module in it, as the current one."""
    (tmp_path / 'some_models.py').write_text(MODELS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, 'path', sys.path[:])
    yield tmp_path
    sys.modules.pop('some_models', None)


# status


def test_status_shows_versions_and_what_is_overlaid(overlay):
    overlay('failed', 'SyntaxError in line 3')
    done = run('status')
    assert done.exit_code == 0
    lines = done.output.splitlines()
    assert [line.split()[0] for line in lines[-6:-3]] == ['Keras', 'Backend',
                                                          'Python']
    assert keras_clone.keras_release() in lines[-6]
    assert lines[-2:] == ['keras.engine.network: active (keras/engine/network.py)',
                          'keras.models: failed (SyntaxError in line 3)']


def test_status_shows_a_state_without_a_reason(overlay):
    overlay('not imported yet')
    assert run('status').output.endswith('keras.models: not imported yet\n')


def test_status_without_keras_says_so(monkeypatch):
    monkeypatch.setattr(keras_clone, 'keras_release', lambda: None)
    done = run('status')
    assert done.exit_code == 0
    assert 'Keras is not installed. Install it, for example with: ' in done.output


def test_status_of_a_keras_that_cannot_be_imported_says_why(monkeypatch):
    monkeypatch.setitem(sys.modules, 'keras.models', None)
    assert 'cannot be imported: ModuleNotFoundError: ' in run('status').output


def test_status_hides_what_importing_keras_writes():
    """Also if Python buffers it, as version 3.7 does with a pipe."""
    _, _, err = run_process('status', PYTHONUNBUFFERED='')
    assert 'Using ' not in err


def test_status_in_a_process_of_its_own():
    status, out, _ = run_process('status')
    assert (status, out.count(': active (')) == (0, 2)
    status, out, _ = run_process('status', KERAS_CLONE='off')
    assert (status, out.count(': off (KERAS_CLONE=off)')) == (0, 2)


@pytest.mark.parametrize('own', [None, '1'])
def test_environment_is_restored(monkeypatch, own):
    monkeypatch.delenv('THEANO_FLAGS', raising=False)
    monkeypatch.delenv('TF_CPP_MIN_LOG_LEVEL', raising=False)
    if own:
        monkeypatch.setenv('TF_CPP_MIN_LOG_LEVEL', own)
    before = dict(os.environ)
    level = logging.getLogger('tensorflow').level
    with commands._quiet():
        assert os.environ['TF_CPP_MIN_LOG_LEVEL'] == (own or '3')
        assert os.environ['THEANO_FLAGS']
    assert dict(os.environ) == before
    assert logging.getLogger('tensorflow').level == level


# check: what is printed


def test_table_fits_80_columns_and_ends_with_the_counts(rows, overlay, monkeypatch):
    monkeypatch.setenv('COLUMNS', '80')
    done = run('check')
    lines = done.output.splitlines()
    assert done.exit_code == 0
    assert max(map(len, lines)) <= 80
    assert 'Model' in lines[0] and 'Released' in lines[0] and 'This one' in lines[0]
    assert lines[2].split('  ')[0] == 'A description of 33 characters..'
    assert 'clones only once at bidirectional_1' in lines[2]
    assert lines[2].rstrip().endswith('faithful')
    assert lines[-1] == ('2 models: released clone_model faithful for 1, '
                         'this one for 2.')


def test_exit_status_is_1_if_the_active_function_is_not_faithful(rows, overlay):
    rows[1]['active'] = result('crash')
    done = run('check')
    assert done.exit_code == 1
    assert done.output.endswith('faithful for 1, this one for 1.\n')


def test_differences_are_printed_on_request(rows, overlay):
    del rows[1]
    rows[0]['active'] = result('crash', 'dense_1')
    lines = run('check', '-v').output.splitlines()
    assert lines[-9:] == [
        'A description of 33 characters.., released:',
        '  bidirectional_1: one',
        '  bidirectional_1: two',
        '',
        'A description of 33 characters.., this one:',
        '  dense_1: one',
        '  dense_1: two',
        '',
        '1 model: released clone_model faithful for 0, this one for 0.']


def test_differences_of_the_gallery_are_not_printed_by_default(rows, overlay):
    assert 'bidirectional_1: one' not in run('check').output


def test_differences_of_a_model_of_the_user_are_printed(rows, overlay, models):
    assert 'bidirectional_1: one' in run('check', 'some_models:wrong').output


def test_switched_off_the_released_function_is_the_active_one(rows, overlay):
    overlay('off', 'KERAS_CLONE=off')
    for row in rows:
        row['active'] = row['released']
    done = run('check')
    assert done.exit_code == 1
    assert 'This one' not in done.output
    assert done.output.endswith(
        '2 models: released clone_model faithful for 1. It is what is active: '
        'keras-clone is not (off, KERAS_CLONE=off).\n')


def test_json_is_all_that_is_on_stdout(rows, overlay):
    done = run('check', '--json', '--seed', '4')
    data = json.loads(done.output)
    assert data['models'] == rows
    assert data['faithful'] == {'released': 1, 'active': 2}
    assert data['active'] == 'keras-clone'
    assert data['seed'] == 4
    assert data['keras'] == keras_clone.keras_release()
    assert set(data) == {'keras', 'backend', 'python', 'active', 'seed', 'faithful',
                         'models'}


def test_json_says_that_the_released_function_is_active(rows, overlay):
    overlay('off')
    assert json.loads(run('check', '--json').output)['active'] == 'released'


def test_progress_bar_is_for_a_terminal(overlay, monkeypatch):
    monkeypatch.setattr(commands, '_result', lambda subject, seed: result())
    for is_terminal in (False, True):
        stream = io.StringIO()
        monkeypatch.setattr(commands, 'Console', lambda **kwargs: Console(
            file=stream, force_terminal=is_terminal))
        subject = commands.Subject('a', 'A model', None, True, '')
        rows = commands._rows([subject], 0, False, [])
        assert [row['released'] for row in rows] == [result()]
        assert ('Cloning' in stream.getvalue()) == is_terminal


# check: what is checked


def test_gallery_is_chosen_from_by_name_or_description(overlay):
    def names(only):
        return [subject.name for subject in commands._subjects(None, only)]
    assert names('issue 12202') == ['lambda_with_two_outputs']
    assert names('ENCODER') == ['encoder_decoder']
    assert len(names(None)) == len(set(names(''))) >= 15
    assert names(None)[0] == 'lambda_with_two_outputs'


def test_help_explains_the_outcomes_in_their_order():
    from keras_clone.check.difference import OUTCOMES
    lines = run('check', '--help').output.splitlines()
    words = [line[4:20].strip() for line in lines
             if line.startswith('    ') and line[4] != ' ']
    assert words == list(OUTCOMES[:-1])


def test_descriptions_of_the_gallery_leave_room_for_the_rest_of_the_table():
    for subject in commands._subjects(None, None):
        assert len(subject.text) <= 33


def test_function_in_the_current_folder_is_checked(models, overlay):
    done = run('check', '--lines', 'some_models:Makers.dense')
    assert json.loads(done.stdout.splitlines()[-1])['outcome'] == 'faithful'


def test_function_that_returns_inputs_as_well_is_checked(models, overlay):
    done = run('check', '--lines', 'some_models:offset')
    assert done.exit_code == 0


def test_file_is_checked(models, overlay):
    from keras.layers import Dense
    from keras.models import Sequential
    Sequential([Dense(2, input_shape=(3,))]).save('dense.h5')
    done = run('check', '--lines', 'dense.h5')
    assert json.loads(done.stdout.splitlines()[-1])['outcome'] == 'faithful'


@pytest.mark.parametrize('arguments, message', [
    (['model'], 'MODEL should be an .h5 or .keras file or package.module:function. '
                'Found: model'),
    (['model.h5'], 'There is no file model.h5.'),
    (['no_such_module:make'], 'The module of MODEL, no_such_module, cannot be '
                              "imported: ModuleNotFoundError: No module named "
                              "'no_such_module'"),
    (['some_models:make'], 'MODEL should be package.module:function. There is no '
                           'function make in some_models.'),
    (['some_models:number'], 'MODEL should be package.module:function. There is no '
                             'function number in some_models.'),
    (['--only', 'Issue', 'model.h5'], '--only chooses from the gallery: leave it '
                                      'out with a MODEL.'),
    (['--only', 'nothing'], "No model of the gallery has 'nothing' in its name or "
                            'description. Their names: lambda_with_two_outputs, '),
    (['--lines', 'some_models:wrong'], 'some_models:wrong: The model cannot be '
                                       'built: ValueError: no such.'),
    (['--lines', 'some_models:text'], 'some_models:text: Expected a function that '
                                      'returns a Keras `Model`, it returned '
                                      "'a model'."),
    (['--lines', 'text.h5'], 'text.h5: The model cannot be built: OSError: ')])
def test_error_is_one_line(models, overlay, arguments, message):
    (models / 'text.h5').write_text('no model')
    done = run('check', *arguments)
    assert done.exit_code == 2
    line = done.output.splitlines()[-1]
    assert line.startswith('Error: ' + message)
    assert 'Traceback' not in done.output


def test_error_with_a_file_says_what_to_do_about_custom_layers(models, overlay):
    from keras.layers import Dense
    from keras.models import Sequential

    class Custom(Dense):
        pass

    Sequential([Custom(2, input_shape=(3,))]).save('own.h5')
    line = run('check', '--lines', 'own.h5').output.splitlines()[-1]
    assert line == ('Error: own.h5: The model cannot be built: ValueError: Unknown '
                    'layer: Custom. A file holds no custom layers and functions, '
                    'and Keras 3 loads no `Lambda` from it by default: if the model '
                    'has some, write a function that loads it with `custom_objects` '
                    'or `safe_mode=False`, and name it: package.module:function.')


def test_check_without_keras_is_an_error(monkeypatch):
    monkeypatch.setattr(keras_clone, 'keras_release', lambda: None)
    assert run('check').exit_code == 2


# check: with the released function


def test_process_of_the_released_function_reports_its_errors():
    with pytest.raises(click.ClickException) as error:
        with commands._released_results(True, ['no_such.h5', None]) as results:
            next(results)
    assert error.value.message == ('The released function could not be checked: '
                                   'Error: There is no file no_such.h5.')


def test_process_that_ends_without_a_message_is_an_error():
    with pytest.raises(click.ClickException, match='it ended early'):
        next(commands._parsed(io.StringIO(), io.StringIO()))


def test_nothing_is_started_if_nothing_is_to_be_compared():
    with commands._released_results(False, []) as results:
        assert results is None


def test_check_of_a_function_as_a_user_runs_it(models):
    status, out, err = run_process('check', '--json', 'some_models:Makers.dense',
                                   cwd=models)
    assert status == 0, err
    row, = json.loads(out)['models']
    assert row['released']['outcome'] == row['active']['outcome'] == 'faithful'
    assert 'Cloning' not in err


def test_check_switched_off_as_a_user_runs_it():
    status, out, err = run_process('check', '--only', 'Issue 12202',
                                   KERAS_CLONE='off')
    assert status == 1, err
    assert out.endswith('keras-clone is not (off, KERAS_CLONE=off).\n')


def test_gallery_shows_what_the_released_function_does():
    status, out, err = run_process('check', '--json')
    assert status == 0, err
    data = json.loads(out)
    found = {row['model']: row['released']['outcome'] for row in data['models']}
    merged_fix = data['keras'] != '2.2.4'
    assert found == {
        'lambda_with_two_outputs': 'other graph' if merged_fix else 'crash',
        'masked_bidirectional':
            'wrong numbers' if merged_fix else 'clones only once',
        'nested_model_with_mask':
            'wrong numbers' if merged_fix else 'clones only once',
        'own_compute_mask': 'wrong numbers' if merged_fix else 'clones only once',
        'two_masked_outputs': 'crash',
        'masked_sequence': 'clones only once',
        'encoder_decoder': 'clones only once' if merged_fix else 'crash',
        'mask_as_argument': 'cannot predict',
        'lambda_with_global_name': 'crash',
        'lambda_with_mask': 'wrong numbers',
        'custom_layer_in_nested_model': 'crash',
        'custom_layer_in_wrapper': 'crash',
        'custom_cell': 'crash',
        'callable_activation': 'crash',
        'two_lambdas_in_one_layer': 'crash',
        'call_arguments': 'faithful',
        'shared_layer': 'faithful',
        'layer_shared_with_nested_model': 'other graph',
        'shared_nested_model': 'other graph',
        'plain_network': 'faithful'}
    assert {row['active']['outcome'] for row in data['models']} == {'faithful'}


# python -m keras_clone


@pytest.mark.parametrize('package', ['click', 'rich'])
def test_missing_package_is_named(monkeypatch, capsys, package):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, 'keras_clone.check.commands')
    with pytest.raises(SystemExit) as exit:
        package_main.main()
    assert exit.value.code == 2
    assert capsys.readouterr().err == (
        f'Error: keras-clone needs {package} for its commands. Install it with: '
        'pip install "keras-clone[commands]"\n')


def test_other_import_errors_are_not_hidden(monkeypatch):
    monkeypatch.setitem(sys.modules, 'tempfile', None)
    monkeypatch.delitem(sys.modules, 'keras_clone.check.commands')
    with pytest.raises(ImportError, match='tempfile'):
        package_main.main()


def test_package_runs_as_a_module(monkeypatch, capsys):
    monkeypatch.setattr(sys, 'argv', ['keras_clone', '--version'])
    with pytest.raises(SystemExit) as exit:
        package_main.main()
    assert exit.value.code == 0
    assert capsys.readouterr().out == ('keras-clone, version %s\n'
                                       % keras_clone.__version__)


def test_command_without_arguments_lists_the_commands():
    status, out, err = run_process()
    for command in ('check ', 'status '):
        assert command in out + err
