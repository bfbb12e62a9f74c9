"""The tables "your model, your Keras" and "is this your problem?" of README.md.

The models of the gallery are cloned with the Keras of this interpreter, as released,
with the patches of that release, by `copy.deepcopy` on Keras 3, and with the
overlay. `make table` does this for every release.
"""
import copy
import functools
import json
import re
import tempfile

from contribute import prove
from contribute.patches import apply_patch

from evidence import gallery, pages, records, steps

DATA = 'table'
PAGE = 'README.md'

# The outcomes that matter most to users.
BAD = ('crash', 'cannot predict', 'wrong numbers')
CRASHES = ('crash', 'cannot predict', 'clones only once')
# The parts of messages that differ from model to model, and their replacements.
SHORTENED = ((r' Tensor\(.*', ' Tensor(...)'), (r" '[^']*' with dtype .*", ' ...'),
             (r'(Unknown [a-z ]+: ?).*', r'\1...'), (r"(name) '.*'", r"\1 '...'"),
             (r"(class|on layer) '.*", r"\1 '...'"), (r'(Python lambda\.).*', r'\1'),
             (r'(serialize object) .*', r'\1 ...'))


# Measuring


def measure():
    """Clones the gallery in every way that is available for the installed Keras.

    # Returns
        A list of records, one for each model. Their figures are dicts {way: list of
        the outcome and the reason}.
    """
    checked, _ = gallery.check()
    ways = {'released': _of(checked, 'released')}
    installed = prove.installed_keras()
    patches = prove.patches_of(installed.release)
    if patches and not prove.is_keras_3(installed):
        ways['first patch'] = _patched(installed, patches[:1])
    if patches:
        ways['patches'] = _patched(installed, patches)
    if prove.is_keras_3(installed):
        ways['copy.deepcopy'] = _deep_copies()
    ways['overlay'] = _of(checked, 'active')
    versions = gallery.versions_of(checked)
    found = [records.new(model, versions, {way: ways[way][model] for way in ways})
             for model in ways['released']]
    print(model_table(found))
    return found


def _of(checked, which):
    return {each['description']: [each[which]['outcome'], each[which]['reason']]
            for each in checked['models']}


def _patched(installed, patches):
    with tempfile.TemporaryDirectory() as folder:
        prove.copy_keras(installed, folder)
        if prove.is_keras_3(installed):
            prove.apply_together(patches, folder)
        else:
            for patch in patches:
                apply_patch(patch, folder)
        checked, _ = gallery.check(PYTHONPATH=folder, KERAS_CLONE='off')
        return _of(checked, 'active')


def _deep_copies():
    """Returns the outcomes of `copy.deepcopy`, which many use instead of cloning."""
    from keras_clone.check.faithfulness import check_clone
    from keras_clone.check.gallery import MODELS
    reports = [(build, check_clone(functools.partial(_decided, build),
                                   copy.deepcopy, fresh_weights=False))
               for build in MODELS]
    return {build.title: [report.outcome, report.reason]
            for build, report in reports}


def _decided(build):
    """Builds a model and reads `jit_compile`, which sets it: otherwise,
    `copy.deepcopy` would read it and thereby change the original."""
    model = build()
    assert model.jit_compile in (True, False)
    return model


# Writing


def write(found):
    pages.write(PAGE, page(pages.read(PAGE), found))


def page(text, found):
    """Returns the text of a page, with tables that show records."""
    for name, table in (('table', model_table), ('messages', message_table)):
        pattern = f'(<!-- {name}: .*? -->\n).*?(<!-- end of {name} -->)'
        if not re.search(pattern, text, re.DOTALL):
            raise ValueError(f'The page should have the lines `<!-- {name}: ... '
                             f'-->` and `<!-- end of {name} -->`.')
        text = re.sub(pattern, lambda match: '{}\n{}\n\n{}'.format(
            match.group(1), table(found), match.group(2)), text, flags=re.DOTALL)
    return text


def model_table(found):
    """Returns the tables of models, in Markdown: one for each major version."""
    tables = records.grouped(
        found, lambda each: records.release_of(each).split('.')[0])
    return '\n\n'.join([_table_of_major_version(each) for each in tables] +
                       [_dates(found)])


def _table_of_major_version(found):
    """Releases in which every model has the same outcome share their columns."""
    releases, groups = records.grouped(found, records.release_of), {}
    for release in releases:
        key = [_outcomes(release, way) for way in _ways(release)]
        groups.setdefault(json.dumps(key), []).append(release)
    columns = [('model', [each['what'] for each in releases[0]])]
    for alike in groups.values():
        names = _releases([records.release_of(each[0]) for each in alike], found)
        columns += [(f'Keras {names}' if way == 'released' else way,
                     map(_cell, _outcomes(alike[0], way)))
                    for way in _ways(alike[0])]
    overlays = zip(*[_outcomes(each, 'overlay') for each in releases])
    columns.append(('overlay', [_cell(*sorted(set(each))) for each in overlays]))
    headings, cells = zip(*columns)
    return pages.table(headings, zip(*cells))


def _ways(release):
    return [way for way in release[0]['figures'] if way != 'overlay']


def _outcomes(release, way):
    return [each['figures'][way][0] for each in release]


def _cell(*outcomes):
    texts = dict({each: f'**{each}**' for each in BAD}, faithful='ok')
    return ', '.join(texts.get(each, each) for each in outcomes)


def _releases(releases, found):
    """Returns releases as text: three or more consecutive ones as a range."""
    known = list(dict.fromkeys(map(records.release_of, found)))
    parts = []
    for release in releases:
        if parts and known.index(release) == known.index(parts[-1][-1]) + 1 and (
                release.split('.')[0] == parts[-1][0].split('.')[0]):
            parts[-1].append(release)
        else:
            parts.append([release])
    return ', '.join(f'{part[0]} to {part[-1]}' if len(part) > 2 else
                     ', '.join(part) for part in parts)


def _dates(found):
    runs = {}
    for release in records.grouped(found, records.release_of):
        run = '{backend} {backend_release}, Python {python}, {dates}'.format(
            dates=records.dates(release), **release[0]['versions'])
        runs.setdefault(run, []).append(records.release_of(release[0]))
    return 'Run on ' + '; '.join(f'Keras {_releases(releases, found)} ({run})'
                                 for run, releases in runs.items()) + '.'


def message_table(found):
    """Returns the table of the messages that a user sees, in Markdown."""
    messages = {}
    for each in found:
        text = _message(*each['figures']['released'])
        if text:
            models = messages.setdefault(text, {})
            models.setdefault(each['what'], []).append(records.release_of(each))
    return pages.table(['what you see', 'when you clone (in Keras)'], [
        [text, _models(models, found)] for text, models in messages.items()])


def _models(releases_of, found):
    """Returns names of models as text, those of the same releases together."""
    groups = {}
    for model, releases in releases_of.items():
        groups.setdefault(_releases(releases, found), []).append(model)
    return '<br>'.join(f"{'; '.join(models)} ({releases})"
                       for releases, models in groups.items())


def _message(outcome, reason):
    """Returns the message or symptom that a user sees, in Markdown."""
    if outcome == 'wrong numbers':
        return 'no message: with the same weights, the clone predicts other numbers'
    if outcome not in CRASHES:
        return ''
    text = reason.partition(', got ')[2] or reason
    for pattern, short in SHORTENED:
        text = re.sub(pattern, short, text)
    quote = '``' if '`' in text else '`'
    return quote + text + quote + {
        'crash': '', 'cannot predict': ' from the clone',
        'clones only once': " from the clone's clone"}[outcome]


command = steps.group(__doc__, DATA, measure, write, like=records.release_of)
