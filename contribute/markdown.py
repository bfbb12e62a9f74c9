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
    # A heading ends with its line; a heading, a list item or a comment begins one.
    return re.sub(r'^(?!#)(.*\S)\n(?!\s|#|- |\d+\. |<!--|\Z)', r'\1 ', text,
                  flags=re.MULTILINE)
