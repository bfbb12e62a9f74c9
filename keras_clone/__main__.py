"""Runs the command `keras-clone`: `python -m keras_clone`."""
import os
import signal
import sys


def main():
    """Runs the command and exits with its status."""
    _open_closed_streams()
    if hasattr(signal, 'SIGPIPE'):  # Not on Windows.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    # The command ends the processes that it started.
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda number, frame: sys.exit(128 + number))
    if hasattr(sys.stdout, 'reconfigure'):  # Not on Python 3.6.
        sys.stdout.reconfigure(errors='backslashreplace')
    status = _status()
    try:
        sys.stdout.flush()
    except OSError as error:
        # Python will write what is left once more, and would change the status.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if status != 2:
            status = _failed(f'stdout cannot be written to: {error}')
    sys.exit(status)


def _status():
    """Runs the command and returns its exit status.

    On an exception, Python itself would print a traceback and end with the status
    that `check` has for a clone that is not faithful.
    """
    try:
        from .check.commands import main as command
        command(prog_name='keras-clone')
    except SystemExit as ended:
        return ended.code
    except KeyboardInterrupt:
        return 130
    except ImportError as error:
        package = (error.name or '').split('.')[0]
        if package in ('click', 'rich'):
            return _failed(f'keras-clone needs {package} for its commands. '
                           'Install it with: pip install click rich')
        return _failed(f'{type(error).__name__}: {error}')
    except Exception as error:
        from .check.messages import with_place
        return _failed(with_place(error))


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
