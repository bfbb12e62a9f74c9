"""Records in docs/data/: what was measured on which versions, when, and the figures.

A file is a JSON list of records, one per line. Each is a dict: `what` was measured,
the `versions` that the figures depend on, the `date`, the `figures`.
"""
import importlib
import itertools
import json
import operator
import os
import platform
import re
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, 'docs', 'data')

versions_of = operator.itemgetter('versions')


def release_of(record):
    """Returns the release of Keras that a record is about."""
    return record['versions']['keras']


def new(what, versions, figures):
    """Returns a record with the current date."""
    return {'what': what, 'versions': versions, 'date': time.strftime('%Y-%m-%d'),
            'figures': figures}


def installed_versions():
    """Returns the versions of the installed Keras, of its backend, of Python."""
    import keras
    backend = keras.backend.backend()
    return {'keras': keras.__version__, 'backend': backend,
            'backend_release': importlib.import_module(backend).__version__,
            'python': platform.python_version()}


def read(name):
    """Returns the records of a file in docs/data/."""
    path = _path(name)
    if not os.path.exists(path):
        return []
    with open(path, encoding='utf-8') as file:
        return json.load(file)


def write(name, records):
    """Writes records, sorted by their versions, to a file in docs/data/."""
    lines = [json.dumps(each, ensure_ascii=False) for each in in_order(records)]
    with open(_path(name), 'w', encoding='utf-8') as file:
        file.write('[\n' + ',\n'.join(lines) + '\n]\n')


def in_order(records):
    """Returns records in the order of their versions: those of the same versions
    keep their order."""
    return sorted(records, key=_numbers_and_words)


def enter(name, records, like=versions_of):
    """Adds records to a file and removes those that they replace.

    # Arguments
        name: the name of the file.
        records: the new records.
        like: a function of a record: a new record replaces those for which this
            returns the same.
    """
    replaced = [like(each) for each in records]
    kept = [each for each in read(name) if like(each) not in replaced]
    write(name, kept + records)


def grouped(records, like=versions_of):
    """Returns lists of consecutive records for which `like` returns the same."""
    return [list(group) for _, group in itertools.groupby(records, like)]


def title(versions):
    """Returns versions as text."""
    return 'Keras {keras}, {backend} {backend_release}, Python {python}'.format(
        **versions)


def dates(records):
    """Returns the dates of records as text."""
    return ', '.join(sorted({each['date'] for each in records}))


def _path(name):
    return os.path.join(FOLDER, name + '.json')


def _numbers_and_words(record):
    parts = re.split(r'(\d+)', ' '.join(record['versions'].values()))
    return [int(part) if part.isdigit() else part for part in parts]
