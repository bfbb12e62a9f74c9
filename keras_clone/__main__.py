"""Runs the command `keras-clone`: `python -m keras_clone`."""
import os
import signal
import sys


def main():
    """Runs the command; if it cannot be imported, says why."""
    _open_closed_streams()
    if hasattr(signal, 'SIGPIPE'):  # Not on Windows.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if hasattr(sys.stdout, 'reconfigure'):  # Not on Python 3.6.
        sys.stdout.reconfigure(errors='backslashreplace')
    try:
        from .check.commands import main as command
        command(prog_name='keras-clone')
    except KeyboardInterrupt:
        sys.exit(130)
    except ImportError as error:
        package = (error.name or '').split('.')[0]
        if package in ('click', 'rich'):
            sys.exit(_failed(f'keras-clone needs {package} for its commands. '
                             'Install it with: pip install click rich'))
        sys.exit(_failed(f'{type(error).__name__}: {error}'))


def _failed(message):
    sys.stderr.write(f'Error: {message}\n')
    return 2


def _open_closed_streams():
    """Opens standard streams that are closed, so that no other file takes their
    number and is written to instead."""
    number = 0
    while number < 3:
        number = os.open(os.devnull, os.O_RDWR)
        os.set_inheritable(number, number < 3)
    os.close(number)
    for name in ('stdout', 'stderr'):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, 'w'))


def _leave_out_current_folder():
    """Removes the folder that `python -m` puts first on `sys.path`."""
    try:
        current = os.getcwd()
    except OSError:
        current = ''  # It was deleted.
    if sys.path[0] in ('', current):
        del sys.path[0]


if __name__ == '__main__':
    _leave_out_current_folder()
    main()
