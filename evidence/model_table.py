"""Runs the tables "your model, your Keras" and writes them into README.md.

    python docs/table.py run
    python docs/table.py page

`run` clones the models of the gallery with the Keras of this interpreter, as
released, with the patches of that release, by `copy.deepcopy` on Keras 3, and with
the overlay, and enters what came of it into docs/data/table.json. Then it does what
`page` does: it writes the tables of README.md from that file. `make table` runs it
for every release.
"""
import argparse
import collections
import copy
import functools
import json
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DATA = os.path.join(ROOT, 'docs', 'data', 'table.json')
PAGE = os.path.join(ROOT, 'README.md')
sys.path.insert(0, ROOT)
from contribute import prove  # noqa: E402
from contribute.patches import apply_patch  # noqa: E402

# What a user notices, or ought to.
BAD = ('crash', 'cannot predict', 'wrong numbers')
CRASHES = ('crash', 'cannot predict', 'clones only once')
# What differs from model to model in a message.
SHORTENED = ((r' Tensor\(.*', ' Tensor(...)'), (r" '[^']*' with dtype .*", ' ...'),
             (r'(Unknown [a-z ]+: ?).*', r'\1...'), (r"(name) '.*'", r"\1 '...'"),
             (r"(class|on layer) '.*", r"\1 '...'"), (r'(Python lambda\.).*', r'\1'),
             (r'(serialize object) .*', r'\1 ...'))


# Running


def run():
    """Clones the gallery in every way that there is with the installed Keras.

    # Returns
        A dict: the versions, the date, and under `models` for each way a list of
        dicts, one for each model: `model`, `outcome`, `reason`.
    """
    facts = _check()
    models = [('released', _of(facts, 'released'))]
    installed = prove.installed_keras()
    patches = prove.patches_of(installed.release)
    if patches and not prove.is_keras_3(installed):
        models.append(('first patch', _of(_check_patched(installed, 1), 'active')))
    if patches:
        facts_of_patched = _check_patched(installed, len(patches))
        models.append(('patches', _of(facts_of_patched, 'active')))
    if prove.is_keras_3(installed):
        models.append(('copy.deepcopy', _deep_copies()))
    models.append(('overlay', _of(facts, 'active')))
    return collections.OrderedDict([
        (name, facts[name]) for name in ('keras', 'backend', 'python')] + [
        ('date', time.strftime('%Y-%m-%d')),
        ('models', collections.OrderedDict(models))])


def _check(**environment):
    """Returns what `keras-clone check --json` prints in a changed environment."""
    path = os.pathsep.join(filter(None, [environment.pop('PYTHONPATH', ''), ROOT]))
    process = subprocess.Popen(
        [sys.executable, '-m', 'keras_clone', 'check', '--json'],
        stdout=subprocess.PIPE, env=dict(os.environ, PYTHONPATH=path, **environment))
    printed = process.communicate()[0].decode()
    if not printed:
        sys.exit('Nothing could be checked: see the message above.')
    return json.loads(printed)


def _check_patched(installed, count):
    with tempfile.TemporaryDirectory() as copy:
        prove.copy_keras(installed, copy)
        patches = prove.patches_of(installed.release)[:count]
        if prove.is_keras_3(installed):
            prove.apply_together(patches, copy)
        else:
            for patch in patches:
                apply_patch(patch, copy)
        return _check(PYTHONPATH=copy, KERAS_CLONE='off')


def _deep_copies():
    """Returns what comes of `copy.deepcopy`, which many use in place of a clone."""
    from keras_clone.check import gallery
    from keras_clone.check.faithfulness import check_clone
    reports = [(build, check_clone(functools.partial(_decided, build),
                                   copy.deepcopy)) for build in gallery.MODELS]
    return [collections.OrderedDict([
        ('model', build.title), ('outcome', report.outcome),
        ('reason', report.reason)]) for build, report in reports]


def _decided(build):
    """Builds a model that has decided whether to be compiled by XLA: `copy.deepcopy`
    asks, and the original is to stay as it is."""
    model = build()
    assert model.jit_compile in (True, False)
    return model


def _of(checked, which):
    return [collections.OrderedDict([
        ('model', each['description']), ('outcome', each[which]['outcome']),
        ('reason', each[which]['reason'])]) for each in checked['models']]


# Writing


def recorded():
    """Returns the data: a list of what `run` returned, in the order of releases."""
    with open(DATA, encoding='utf-8') as stream:
        return json.load(stream, object_pairs_hook=collections.OrderedDict)


def record(result):
    """Enters a result into the data, in place of an earlier one of that Keras."""
    known = recorded() if os.path.exists(DATA) else []
    kept = [each for each in known if each['keras'] != result['keras']]
    _write(DATA, json.dumps(sorted(kept + [result], key=lambda each: each['keras']),
                            indent=1, ensure_ascii=False) + '\n')


def _write(path, text):
    with open(path, 'w', encoding='utf-8') as stream:
        stream.write(text)


def page(text, data):
    """Returns the text of a page, with tables that say what the data say."""
    for name, table in (('table', model_table), ('messages', message_table)):
        pattern = '(<!-- {0}: .*? -->\n).*?(<!-- end of {0} -->)'.format(name)
        if not re.search(pattern, text, re.DOTALL):
            raise ValueError('The page should have the lines `<!-- %s: ... -->` and '
                             '`<!-- end of %s -->`.' % (name, name))
        text = re.sub(pattern, lambda match: '{}\n{}\n\n{}'.format(
            match.group(1), table(data), match.group(2)), text, flags=re.DOTALL)
    return text


def model_table(data):
    """Returns the tables of models, in Markdown: one for each line of Keras."""
    lines = collections.OrderedDict()
    for each in data:
        lines.setdefault(each['keras'].split('.')[0], []).append(each)
    return '\n\n'.join([_table_of_line(each) for each in lines.values()] +
                       [_dates(data)])


def _table_of_line(data):
    """Releases in which every model has the same outcome share their columns."""
    groups = collections.OrderedDict()
    for each in data:
        ways = [(way, [row['outcome'] for row in rows])
                for way, rows in each['models'].items()]
        groups.setdefault(json.dumps(ways[:-1]), []).append((each['keras'], ways))
    headings, columns = ['model'], [_texts(data[0], 'model')]
    for releases in groups.values():
        names = _releases([keras for keras, _ in releases], data)
        for way, outcomes in releases[0][1][:-1]:
            headings.append('Keras ' + names if way == 'released' else way)
            columns.append([_cell(each) for each in outcomes])
    headings.append('overlay')
    columns.append([_cell(*sorted(set(each))) for each in zip(
        *[_texts(each, 'outcome', 'overlay') for each in data])])
    return '\n'.join([_line(headings), '|---' * len(headings) + '|'] +
                     [_line(row) for row in zip(*columns)])


def _texts(result, key, way='released'):
    return [row[key] for row in result['models'][way]]


def _cell(*outcomes):
    texts = dict({each: f'**{each}**' for each in BAD}, faithful='ok')
    return ', '.join(texts.get(each, each) for each in outcomes)


def _releases(releases, data):
    """Returns releases as text: three or more that follow each other as a range."""
    known = [each['keras'] for each in data]
    parts = []
    for release in releases:
        if parts and known.index(release) == known.index(parts[-1][-1]) + 1 and (
                release.split('.')[0] == parts[-1][0].split('.')[0]):
            parts[-1].append(release)
        else:
            parts.append([release])
    return ', '.join(f'{part[0]} to {part[-1]}' if len(part) > 2 else
                     ', '.join(part) for part in parts)


def _line(cells):
    return '| ' + ' | '.join(cells) + ' |'


def _dates(data):
    runs = collections.OrderedDict()
    for each in data:
        runs.setdefault('{backend}, Python {python}, {date}'.format(**each),
                        []).append(each['keras'])
    return 'Run on ' + '; '.join(f'Keras {_releases(releases, data)} ({run})'
                                 for run, releases in runs.items()) + '.'


def message_table(data):
    """Returns the table of the messages that a user sees, in Markdown."""
    found = collections.OrderedDict()
    for each in data:
        for row in each['models']['released']:
            text = _message(row)
            if text:
                models = found.setdefault(text, collections.OrderedDict())
                models.setdefault(row['model'], []).append(each['keras'])
    headings = 'what you see', 'when you clone (in Keras)'
    return '\n'.join([_line(headings), '|---' * len(headings) + '|'] + [
        _line([text, _models(models, data)]) for text, models in found.items()])


def _models(releases_of, data):
    """Returns names of models as text, those of the same releases together."""
    groups = collections.OrderedDict()
    for model, releases in releases_of.items():
        groups.setdefault(_releases(releases, data), []).append(model)
    return '<br>'.join(f"{'; '.join(models)} ({releases})"
                       for releases, models in groups.items())


def _message(row):
    """Returns what tells a user that a clone is wrong, in Markdown."""
    if row['outcome'] == 'wrong numbers':
        return 'no message: with the same weights, the clone predicts other numbers'
    if row['outcome'] not in CRASHES:
        return ''
    text = row['reason'].partition(', got ')[2] or row['reason']
    for pattern, short in SHORTENED:
        text = re.sub(pattern, short, text)
    quote = '``' if '`' in text else '`'
    return quote + text + quote + {
        'crash': '', 'cannot predict': ' from the clone',
        'clones only once': " from the clone's clone"}[row['outcome']]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('step', choices=['run', 'page'])
    step = parser.parse_args().step
    if step == 'run':
        record(run())
    with open(PAGE, encoding='utf-8') as stream:
        text = stream.read()
    _write(PAGE, page(text, recorded()))


if __name__ == '__main__':
    main()
