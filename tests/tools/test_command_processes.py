"""The commands as a user runs them, each in a process of its own."""
import json
import os
import signal
import subprocess
import sys
import time

import click
import pytest

from keras_clone.check import processes
from running import ROOT, run_process

pytestmark = pytest.mark.slow

# Builders that go wrong in ways that a `try` around them does not catch, and those
# that write where the command itself writes.
HOSTILE = '''
import os
import sys
import time
from some_models import Makers
def raise_interrupt():
    raise KeyboardInterrupt
def return_three():
    return Makers.dense(), None, None
def print_anywhere():
    print('a line')
    os.write(1, b'another line\\n')
    os.system('echo the last line')
    return Makers.dense()
def wait():
    open('pid-%d' % os.getpid(), 'w').close()
    time.sleep(600)
def exit():
    sys.exit(0)
def end():
    os._exit(0)
def be_killed():
    os.kill(os.getpid(), 9)
def crash():
    os.kill(os.getpid(), 11)
print(sys.argv)
'''
# What `hostile` prints: a module that parses arguments finds none.
ARGV = "['keras-clone']"


@pytest.fixture
def hostile(models):
    """The folder of `models`, with such builders in another module."""
    (models / 'hostile.py').write_text(HOSTILE)
    return models


def save_dense(path):
    """Saves a model of one layer."""
    from keras.layers import Dense
    from keras.models import Sequential
    Sequential([Dense(2, input_shape=(3,))]).save(path)


@pytest.mark.parametrize('environment, state', [
    ({}, ': active ('), ({'KERAS_CLONE': 'off'}, ': off (KERAS_CLONE=off)')])
def test_status_in_a_process_of_its_own(environment, state):
    """It hides what importing Keras writes, also if Python buffers it."""
    status, out, err = run_process('status', PYTHONUNBUFFERED='', **environment)
    assert (status, out.count(state)) == (0, 3)
    assert 'Using ' not in err


def test_errors_of_both_processes_are_reported():
    status, out, err = run_process('check', 'no_such.h5')
    assert (status, out, err) == (2, '', 'Error: There is no file no_such.h5.\n')
    with pytest.raises(click.ClickException) as error:
        arguments = ['no_such.h5', None, 0, False]
        with processes.started(arguments, 'Released: ') as lines:
            next(lines)
    assert error.value.message == 'Released: There is no file no_such.h5.'


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
    assert out.endswith('keras-clone is not active (off, KERAS_CLONE=off).\n')


@pytest.mark.once  # On 2.2.4 and, by a line of tox.ini, on 2.3.1.
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


@pytest.mark.once
@pytest.mark.parametrize('function, message', [
    ('exit', 'The check was ended by SystemExit: 0 ({}, line 19).'),
    ('raise_interrupt', 'The check was ended by KeyboardInterrupt ({}, line 7).'),
    ('return_three', 'hostile:return_three: Expected a function that returns a '
                     'Keras `Model`, it returned (<keras'),
    ('end', 'The process that builds and clones the model ended early, with exit '
            'status 0.'),
    ('be_killed', 'The process that builds and clones the model ended early, by '
                  'SIGKILL: perhaps the memory was full.'),
    ('crash', 'The process that builds and clones the model ended early, by '
              'SIGSEGV.')])
def test_builder_cannot_end_the_command(hostile, function, message):
    status, out, err = run_process('check', 'hostile:' + function, cwd=hostile)
    assert (status, out) == (2, '')
    lines = [line for line in err.splitlines()
             if line not in ('a line on stdout', ARGV)]
    assert len(lines) == 1
    assert lines[0].startswith('Error: ' + message.format(hostile / 'hostile.py'))


def test_what_a_builder_prints_goes_to_stderr(hostile):
    status, out, err = run_process('check', '--json', 'hostile:print_anywhere',
                                   cwd=hostile)
    assert status == 0, err
    assert json.loads(out)['faithful'] == {'released': 1, 'active': 1}
    assert {'a line', 'another line', 'the last line'} < set(err.splitlines())
    assert ARGV in err.splitlines()


def test_nothing_is_written_to_stderr(models):
    text = (models / 'some_models.py').read_text()
    (models / 'quiet.py').write_text(text.replace("print('a line on stdout')", ''))
    status, _, err = run_process('check', 'quiet:Makers.dense', cwd=models,
                                 TF_CPP_MIN_LOG_LEVEL=None)
    assert (status, err) == (0, '')


@pytest.mark.once
@pytest.mark.parametrize('redirected, status', [
    ('2>&-', 0), ('>&- 2>&- <&-', 0), ('>/dev/full', 2), ('--json >/dev/full', 2),
    ('| head -1', 0),
    ('--no_such_option 2>&-', 2)])
def test_streams_may_be_closed_or_full(hostile, redirected, status):
    done, out, err = run_process('check', 'hostile:print_anywhere', cwd=hostile,
                                 redirected=redirected)
    assert done == status, err
    assert 'Traceback' not in err
    assert 'Exception ignored' not in err


@pytest.mark.once
def test_deleted_current_folder_is_an_error(models):
    (models / 'deleted').mkdir()
    status, out, err = run_process(
        'check', 'some_models:Makers.dense', cwd=models,
        before='cd deleted && rmdir ../deleted')
    # Python 3.7 starts a shell, which complains, too.
    assert (status, out, err.splitlines()[-1]) == (
        2, '', 'Error: The current folder does not exist: change to another one.')
    assert 'Traceback' not in err


@pytest.mark.once
@pytest.mark.parametrize('arguments', [['./--x.h5'], ['--', '--x.h5']])
def test_name_of_a_file_may_begin_with_dashes(models, arguments):
    save_dense('--x.h5')
    status, out, err = run_process('check', *arguments, cwd=models)
    assert (status, err) == (0, '')
    assert '--x.h5  faithful  faithful' in out


@pytest.mark.once
def test_file_is_named_in_ascii_where_nothing_else_can_be_written(models):
    save_dense('\u2603.h5')
    status, out, err = run_process('check', '\u2603.h5', cwd=models,
                                   PYTHONIOENCODING='ascii')
    if sys.version_info < (3, 7):
        assert (status, out) == (2, '') and err.startswith('Error: Unicode')
    else:
        assert (status, err) == (0, '')
        assert '\\u2603.h5 ' in out


@pytest.mark.once
@pytest.mark.parametrize('send, number, status', [
    (os.killpg, signal.SIGINT, 130), (os.kill, signal.SIGTERM, 143)])
def test_signal_ends_both_processes(hostile, send, number, status):
    process = subprocess.Popen(
        [sys.executable, '-m', 'keras_clone', 'check', 'hostile:wait'],
        env=dict(os.environ, PYTHONPATH=ROOT), stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True,
        # A shell starts what runs in the background with SIGINT ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    while len(list(hostile.glob('pid-*'))) < 2 and process.poll() is None:
        time.sleep(.1)
    send(process.pid, number)
    lines = process.communicate(timeout=300)[0].decode().splitlines()
    assert set(lines) <= {ARGV}
    assert process.returncode == status
    for path in hostile.glob('pid-*'):
        with pytest.raises(ProcessLookupError):
            os.kill(int(path.name[4:]), 0)


def test_byte_code_is_warned_of_before_it_runs(models, lambdas):
    status, _, err = run_process('check', lambdas, cwd=models)
    assert status == 0
    warning, *more = err.splitlines()
    assert warning.startswith('Warning: lambdas.h5 holds Python byte code (layers: '
                              "'inner', 'wrapped'). Keras 2")
    assert set(more) == {'it runs'}


def test_command_without_arguments_lists_the_commands():
    status, out, err = run_process()
    for command in ('check ', 'status '):
        assert command in out + err
