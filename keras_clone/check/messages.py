"""Texts for people."""
import os
import re
import traceback

STANDARD_LIBRARY = os.path.dirname(os.__file__)


def shortened(text, length=70):
    """Returns a text, cut if it is longer than `length`."""
    return text if len(text) <= length else text[:length - 3] + '...'


def summary(error):
    """Returns the type and the message of an exception, cut if it is very long."""
    return shortened(one_line(error), 1000)


def one_line(error):
    """Returns the type and the message of an exception, without a full stop."""
    text = re.sub('\x1b\\[[0-9;]*m', '', f'{type(error).__name__}: {error}')
    return ' '.join(text.split()).rstrip(' :.')


def with_place(error):
    """Returns the type and the message of an exception, and where it was raised."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = place_in_code(error) or f' ({frame.filename}, line {frame.lineno})'
    return one_line(error) + place


def place_in_code(error):
    """Returns where in the user's code an exception was raised; '' if nowhere."""
    places = [f' ({frame.f_code.co_filename}, line {line})'
              for frame, line in traceback.walk_tb(error.__traceback__)
              if _is_of_user(frame)]
    return places[-1] if places else ''


def _is_of_user(frame):
    package = frame.f_globals.get('__name__', '').split('.')[0]
    path = frame.f_code.co_filename
    return not (package in ('keras', 'keras_clone') or
                path.startswith((STANDARD_LIBRARY, '<frozen ')) or
                re.search(r'[/\\](site|dist)-packages[/\\]', path))
