"""What the user of the command has to fix."""
import traceback

import click


class Failure(click.ClickException):
    """What the user has to fix: one line on stderr, exit status 2."""
    exit_code = 2


def one_line(error):
    """Returns the type and the message of an exception."""
    return ' '.join(f'{type(error).__name__}: {error}'.split()).rstrip(' :')


def with_place(error):
    """Returns the type and the message of an exception, and where it was raised."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f'{one_line(error)} ({frame.filename}, line {frame.lineno})'
