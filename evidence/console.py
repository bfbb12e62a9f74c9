"""Prints tables and progress."""
import sys

import click
from rich.console import Console
from rich.progress import Progress


def print_table(headings, rows, left=()):
    """Prints a table: the first column and those named in `left` are texts, the
    others numbers."""
    columns = []
    for number, texts in enumerate(zip(headings, *rows)):
        is_text = number == 0 or headings[number] in left
        cells = list(map(str, texts))
        width = max(map(len, cells))
        columns.append([cell.ljust(width) if is_text else cell.rjust(width)
                        for cell in cells])
    for line in zip(*columns):
        click.echo('  '.join(line).rstrip())


def progress():
    """Returns a progress bar, a context manager: it is shown only on terminals."""
    return Progress(console=Console(stderr=True), transient=True,
                    disable=not sys.stderr.isatty())
