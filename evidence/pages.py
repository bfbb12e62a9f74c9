"""Reads and writes pages; their names are paths from the root of the checkout."""
import os

from evidence.records import ROOT


def path_of(name):
    return os.path.join(ROOT, *name.split('/'))


def read(name):
    with open(path_of(name), encoding='utf-8') as file:
        return file.read()


def write(name, text):
    with open(path_of(name), 'w', encoding='utf-8') as file:
        file.write(text)


def table(headings, rows):
    """Returns a table in Markdown."""
    return '\n'.join([_line(headings), '|---' * len(headings) + '|'] +
                     [_line(row) for row in rows])


def _line(cells):
    return '| ' + ' | '.join(map(str, cells)) + ' |'
