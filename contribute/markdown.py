"""Markdown as GitHub shows it in issues and pull requests."""
import re


def unwrapped(text):
    """Returns Markdown with each paragraph in one line.

    In issues and pull requests, GitHub breaks a line wherever the text does.
    """
    parts = re.split(r'^(```.*?^```$)', text, flags=re.DOTALL | re.MULTILINE)
    parts[::2] = map(_joined, parts[::2])
    return ''.join(parts)


def _joined(text):
    # A heading ends with its line, so does a row of a table. A heading, an item of a
    # list, a row or a comment begins a line.
    return re.sub(r'^(?!#|\|)(.*\S)\n(?! *(#|- |\d+\. |\||<!--|\n|\Z)) *', r'\1 ',
                  text, flags=re.MULTILINE)
