"""The commands: what they print, to which stream, and their exit statuses."""
import contextlib
import io
import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner
from rich.console import Console

import keras_clone
from keras_clone import __main__ as package_main
from keras_clone.check import commands, processes, subjects
from running import ROOT, found


def run(*arguments):
    return CliRunner().invoke(commands.main, list(arguments))


def result(outcome='faithful', layer=''):
    differences = [] if outcome == 'faithful' else [layer + ': one', layer + ': two']
    return {'outcome': outcome, 'layer': layer, 'reason': ''.join(differences[:1]),
            'differences': differences}


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
def rows(overlay, monkeypatch):
    """Replaces the check by these results."""
    rows = [{'model': 'first', 'description': 'A description of 33 characters..',
             'released': result('clones only once', 'bidirectional_1'),
             'active': result()},
            {'model': 'second', 'description': 'Another', 'released': result(),
             'active': result()}]
    monkeypatch.setattr(commands, '_checked', lambda *arguments: (
        commands._facts(), commands._why_inactive(), rows))
    return rows


# status

@pytest.mark.parametrize('state, shown', [
    (('failed', 'SyntaxError in line 3'), 'failed (SyntaxError in line 3)'),
    (('not imported yet',), 'not imported yet')])
def test_status_shows_versions_and_what_is_overlaid(overlay, state, shown):
    overlay(*state)
    done = run('status')
    assert done.exit_code == 0
    lines = done.output.splitlines()
    assert [line.split()[0] for line in lines[-6:-3]] == ['Keras', 'Backend',
                                                          'Python']
    assert keras_clone.keras_release() in lines[-6]
    assert lines[-2:] == ['keras.engine.network: active (keras/engine/network.py)',
                          'keras.models: ' + shown]


def test_status_without_keras_says_so(monkeypatch):
    monkeypatch.setattr(keras_clone, 'keras_release', lambda: None)
    done = run('status')
    assert done.exit_code == 0
    assert 'Keras is not installed. Install it, for example with: ' in done.output


def test_status_of_a_keras_that_cannot_be_imported_says_why(monkeypatch):
    monkeypatch.setitem(sys.modules, 'keras.models', None)
    assert 'cannot be imported: ModuleNotFoundError: ' in run('status').output


@pytest.mark.parametrize('own', [None, '1'])
def test_the_level_of_messages_may_be_chosen(own):
    environment = dict(os.environ, PYTHONPATH=ROOT)
    environment.pop('TF_CPP_MIN_LOG_LEVEL', None)
    if own:
        environment['TF_CPP_MIN_LOG_LEVEL'] = own
    code = ('import os; from keras_clone.check.commands import be_quiet; '
            'be_quiet(); print(os.environ["TF_CPP_MIN_LOG_LEVEL"])')
    assert subprocess.check_output([sys.executable, '-c', code], env=environment
                                   ).decode().strip() == (own or '3')


# check: what is printed

def test_table_fits_80_columns_and_ends_with_the_counts(rows, monkeypatch):
    monkeypatch.setenv('COLUMNS', '80')
    done = run('check')
    lines = done.output.splitlines()
    assert done.exit_code == 0
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == ['Model', 'Released', 'keras-clone']
    assert lines[2].split('  ')[0] == 'A description of 33 characters..'
    assert 'clones only once at' in lines[2]
    assert lines[2].rstrip().endswith('faithful')
    assert lines[3].strip() == 'bidirectional_1'
    assert lines[-1] == ('2 models: released clone_model faithful for 1, '
                         'keras-clone for 2.')


def test_exit_status_is_1_if_the_active_function_is_not_faithful(rows):
    rows[1]['active'] = result('crash')
    done = run('check')
    assert done.exit_code == 1
    assert done.output.endswith('faithful for 1, keras-clone for 1.\n')


def test_differences_are_printed_on_request(rows):
    del rows[1]
    rows[0]['active'] = result('crash', 'dense_1')
    lines = run('check', '-v').output.splitlines()
    assert lines[-9:] == [
        'A description of 33 characters.., released:',
        '  bidirectional_1: one',
        '  bidirectional_1: two',
        '',
        'A description of 33 characters.., keras-clone:',
        '  dense_1: one',
        '  dense_1: two',
        '',
        '1 model: released clone_model faithful for 0, keras-clone for 0.']


@pytest.mark.parametrize('model, printed', [
    ([], False), (['some_models:wrong'], True)],
    ids=['of the gallery', 'of the user'])
def test_differences_are_printed_by_default_for_a_model(rows, model, printed):
    assert ('bidirectional_1: one' in run('check', *model).output) == printed


def test_switched_off_the_released_function_is_the_active_one(rows, overlay):
    overlay('off', 'KERAS_CLONE=off')
    for row in rows:
        row['active'] = row['released']
    done = run('check')
    assert done.exit_code == 1
    assert 'keras-clone  ' not in done.output
    assert done.output.endswith(
        '2 models: released clone_model faithful for 1. keras-clone is not active '
        '(off, KERAS_CLONE=off).\n')


def test_json_is_all_that_is_on_stdout(rows):
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


@pytest.mark.parametrize('is_terminal, count, shown', [
    (False, 2, False), (True, 2, True), (True, 1, False)])
def test_progress_bar_is_for_several_models_on_a_terminal(
        monkeypatch, capsys, is_terminal, count, shown):
    @contextlib.contextmanager
    def started(*arguments, **options):
        yield iter([{'facts': [], 'inactive': '',
                     'models': [('a', 'A model')] * count}] + [result()] * count)

    stream = io.StringIO()
    monkeypatch.setattr(processes, 'started', started)
    monkeypatch.setattr(commands, 'Console', lambda **kwargs: Console(
        file=stream, force_terminal=is_terminal))
    _, _, rows = commands._checked(None, None, 0)
    assert [row['released'] for row in rows] == [result()] * count
    assert ('Cloning' in stream.getvalue()) == shown
    commands._checked('m:make', None, 0)
    assert capsys.readouterr().err == 'Cloning m:make ...\n' * is_terminal


# check: what is checked

def test_gallery_is_chosen_from_by_name_or_description(overlay):
    def names(only):
        return [subject.name for subject in subjects.chosen(None, only)]
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
    for subject in subjects.chosen(None, None):
        assert len(subject.text) <= 33


@pytest.mark.parametrize('name', ['Makers.dense', 'offset'],
                         ids=['a model', 'a model and inputs'])
def test_function_in_the_current_folder_is_checked(models, overlay, name):
    assert found('some_models:' + name)['outcome'] == 'faithful'


@pytest.mark.parametrize('arguments, message', [
    (['model'], 'MODEL should be an .h5 or .keras file or package.module:function. '
                'Found: model'),
    (['model.h5'], 'There is no file model.h5.'),
    (['folder.h5'], 'MODEL should be a file. Found: folder.h5, a folder.'),
    ([':make'], 'MODEL should be an .h5 or .keras file or package.module:function. '
                'Found: :make'),
    (['some_models:model'], 'MODEL should be package.module:function. In '
                            'some_models, model is a model: name a function that '
                            'builds it.'),
    (['no_such_module:make'], 'The module of MODEL, no_such_module, cannot be '
                              "imported: ModuleNotFoundError: No module named "
                              "'no_such_module'"),
    (['some_models:make'], 'MODEL should be package.module:function. There is no '
                           'function make in some_models.'),
    (['some_models:number'], 'MODEL should be package.module:function. There is no '
                             'function number in some_models.'),
    (['model.h5', 'Issue'], '--only chooses from the gallery: leave it out with a '
                            'MODEL.'),
    ([None, 'nothing'], "No model of the gallery has 'nothing' in its name or "
                        'description. Their names: lambda_with_two_outputs, '),
    (['some_models:wrong'], 'some_models:wrong: The model cannot be built: '
                            'ValueError: no such model ('),
    (['some_models:text'], 'some_models:text: Expected a function that returns a '
                           "Keras `Model`, it returned 'a model'."),
    (['text.h5'], 'text.h5: The model cannot be built: OSError: ')])
def test_error_is_one_line(models, overlay, arguments, message):
    (models / 'text.h5').write_text('no model')
    (models / 'folder.h5').mkdir()
    error = found(*arguments)['error']
    assert error.startswith(message)
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize('model, meant', [
    ('m:', 'm:function'), ('m.py', 'm:function'),
    ('m.py:make', 'm:make'), ('./m.py:make', 'm:make'),
    ('pk/models.py:make', 'pk.models:make'), ('m:make()', 'm:make'),
    ('m:Makers.make(3)', 'm:Makers.make')])
def test_other_forms_of_model_are_corrected(model, meant):
    assert run('check', model).output.endswith(f'. Write {meant}\n')


@pytest.mark.parametrize('arguments', [
    ['no_such.h5'], ['no_such.h5', '--only', 'a'], ['m.py'], ['--seed', '-1'],
    ['--seed', '4294967296']])
def test_wrong_arguments_are_refused_before_keras_is_imported(monkeypatch,
                                                              arguments):
    monkeypatch.setattr(commands, '_checked', None)
    done = run('check', *arguments)
    assert done.exit_code == 2
    assert 'NoneType' not in done.output


def test_model_of_tf_keras_is_named(models, overlay, monkeypatch):
    class Model:
        pass

    Model.__module__ = 'tensorflow_core.python.keras.engine.training'
    monkeypatch.setattr(subjects, 'chosen', lambda *arguments: [
        subjects.Subject('a', 'a', Model, False, False)])
    assert found('a:b')['error'] == (
        'a: Expected a function that returns a Keras `Model`, it returned a Model '
        'of tf.keras, not of `import keras`.')


def test_check_without_keras_says_what_to_install(monkeypatch):
    monkeypatch.setattr(keras_clone, 'keras_release', lambda: None)
    for version, wanted in [((3, 7), 'keras==2.3.1'), ((3, 11), 'keras')]:
        monkeypatch.setattr(sys, 'version_info', version)
        assert found()['error'].endswith(': pip install ' + wanted)


# check: with the released function

# check: what goes wrong

def test_what_a_builder_prints_is_written_before_its_result(monkeypatch):
    written, results = io.BytesIO(), []

    class Results(io.StringIO):
        def write(self, text):
            results.append((text, written.getvalue()))

    def build():
        print('a line')
        yield {}

    monkeypatch.setattr(sys, 'stderr', io.TextIOWrapper(written))
    monkeypatch.setattr(sys, 'stdout', Results())
    processes.write_lines(build())
    assert results[0] == ('{}\n', b'a line\n')


def test_results_that_nobody_reads_end_the_process_silently():
    read, write = os.pipe()
    os.close(read)
    code = ('from keras_clone.check import processes; '
            'processes.write_lines([{}]); print("not reached")')
    done = subprocess.run([sys.executable, '-c', code], stdout=write,
                          stderr=subprocess.PIPE, env=dict(os.environ,
                                                           PYTHONPATH=ROOT))
    os.close(write)
    assert (done.returncode, done.stderr) == (2, b'')


def test_module_cannot_end_the_command(models):
    (models / 'exits.py').write_text('raise SystemExit')
    assert found('exits:make')['error'] == (
        f"The check was ended by SystemExit ({models / 'exits.py'}, line 1).")


def test_module_of_the_current_folder_is_preferred_to_an_installed_one(
        models, overlay, monkeypatch):
    (models / 'installed').mkdir()
    (models / 'installed' / 'some_models.py').write_text('')
    monkeypatch.syspath_prepend(models / 'installed')
    assert found('some_models:Makers.dense')['outcome'] == 'faithful'


# check: files that hold code

def test_only_files_with_byte_code_are_warned_of(models, lambdas, capsys):
    from keras.layers import Dense, Lambda
    from keras.models import Sequential
    Sequential([Dense(2, input_shape=(3,)), Lambda(abs)]).save('named.h5')
    (models / 'text.h5').write_text('no model')
    capsys.readouterr()  # What importing Keras writes.
    for path in ('named.h5', 'text.h5', 'no_such.h5'):
        subjects.warn_of_code(path)
    assert capsys.readouterr() == ('', '')
    subjects.warn_of_code(lambdas)
    assert 'Warning: ' in capsys.readouterr().err


# python -m keras_clone

def exit_status_of_main():
    with pytest.raises(SystemExit) as exit:
        package_main.main()
    return exit.value.code


@pytest.mark.parametrize('package', ['click', 'rich'])
def test_missing_package_is_named(monkeypatch, capsys, package):
    parts = [name for name in sys.modules if name.startswith(package + '.')]
    for name in [package] + parts:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, 'keras_clone.check.commands')
    assert exit_status_of_main() == 2
    assert capsys.readouterr().err == (
        f'Error: keras-clone needs {package} for its commands. Install it with: '
        'pip install click rich\n')


def test_other_import_errors_are_not_hidden(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, 'platform', None)
    monkeypatch.delitem(sys.modules, 'keras_clone.check.commands')
    assert exit_status_of_main() == 2
    err = capsys.readouterr().err
    assert err.startswith('Error: ModuleNotFoundError: ') and 'platform' in err


@pytest.mark.parametrize('raised, status, message', [
    (ImportError('no name'), 2, 'Error: ImportError: no name\n'),
    (KeyboardInterrupt(), 130, '')])
def test_importing_the_command_fails_without_a_traceback(monkeypatch, capsys, raised,
                                                         status, message):
    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name == 'keras_clone.check.commands':
                raise raised

    monkeypatch.delitem(sys.modules, 'keras_clone.check.commands')
    monkeypatch.delattr('keras_clone.check.commands')
    monkeypatch.setattr(sys, 'meta_path', [Finder] + sys.meta_path)
    assert exit_status_of_main() == status
    assert capsys.readouterr().err == message


def test_package_runs_as_a_module(monkeypatch, capsys):
    monkeypatch.setattr(sys, 'argv', ['keras_clone', '--version'])
    assert exit_status_of_main() == 0
    assert capsys.readouterr().out == ('keras-clone, version %s\n'
                                       % keras_clone.__version__)
