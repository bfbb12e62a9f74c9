"""The pages of symptoms and of results.

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
from contribute.patches import apply_patch, name_of

from evidence import gallery, pages, records, steps, summary

DATA = 'table'
RESULTS = 'docs/results.md'
SYMPTOMS = 'docs/symptoms.md'

# The outcomes that matter most to users.
BAD = ('crash', 'cannot predict', 'wrong numbers')
# When the user sees the message of an outcome.
MOMENTS = {'crash': 'when cloning', 'cannot predict': 'when the clone predicts',
           'clones only once': 'when the clone of the clone predicts',
           'wrong numbers': 'when the clone predicts'}
# The parts of messages that differ from model to model, and their replacements.
SHORTENED = ((r' Tensor\(.*', ' Tensor(...)'), (r" '[^']*' with dtype .*", ' ...'),
             (r'(Unknown [a-z ]+: ?).*', r'\1...'), (r"(name) '.*'", r"\1 '...'"),
             (r"(class|on layer) '.*", r"\1 '...'"), (r'(Python lambda\.).*', r'\1'),
             (r'(serialize object) .*', r'\1 ...'),
             (r'(Object) .* (was created by .* values) in .*', r'\1 ... \2 ...'))


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
        ways['patches'] = _patched(installed, prove.together(patches))
    for patch in prove.alone(patches):
        number = name_of(patch)[:4]
        ways[f'{number} alone'] = _patched(installed, [patch])
        ways[f'patches, {number}'] = _patched(
            installed, prove.with_replacement(patch, patches))
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
                                   copy.deepcopy, exact_ops=True,
                                   fresh_weights=False))
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
    for name, text in written(found).items():
        pages.write(name, text)
    summary.write()


def written(found):
    """Returns the pages that show records: a dict from names to texts."""
    return {RESULTS: RESULTS_PAGE.format(model_table(found)),
            SYMPTOMS: SYMPTOMS_PAGE + symptoms(found)}


RESULTS_PAGE = '''\
# Results for each model

What `keras-clone check` says of the models of its gallery: with Keras as released,
with the patches for that release, and with the overlay. Most of these models show a
bug of Keras; the last ones are models that Keras clones correctly, or nearly so.

- **ok**: the clone is faithful. With the same weights, it computes the same, has the
  same graph, shares nothing with the original, and can be cloned and saved.
- **other graph**: the outputs are equal, but the graph differs visibly, e.g. in an
  argument of a call or a name, or something is computed twice.
- **crash**: cloning raises an exception. **cannot predict**: computing the outputs
  of the clone does.
- **wrong numbers**: with the same weights, the outputs of the clone are others.
- **clones only once**: the clone of the clone is not faithful.
- *first patch*: the pull request alone. *patches*: all of `patches/<release>/`
  except 0010. *patches, 0010*: 0010 in place of 0001 and 0002, and the others.

{}
'''
SYMPTOMS_PAGE = '''\
# Symptoms

What users see when `clone_model` of the released Keras fails. [Install the
overlay](index.md#install) and [check your model](usage.md#check-a-model), or apply
[the patches](patches.md). Three dots stand for what differs from model to model; the
search finds the symptom of a whole message, too.
[Results](results.md) explains the outcomes.

'''
NO_MESSAGE = 'No message: with the same weights, the clone predicts other numbers'


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


def symptoms(found):
    """Returns a section for each message that a user sees, in Markdown."""
    sections = {}
    for each in found:
        outcome, reason = each['figures']['released']
        if outcome in MOMENTS:
            rows = sections.setdefault(message(outcome, reason), {})
            row = (each['what'], MOMENTS[outcome], *(
                _cell(each['figures'][way][0]) for way in ('patches', 'overlay')))
            rows.setdefault(row, []).append(records.release_of(each))
    headings = ['model', 'Keras', 'appears', 'with the patches except 0010',
                'with the overlay']
    parts = []
    for text, rows in sections.items():
        parts += [f'## {_heading(text)}', pages.table(headings, [
            [row[0], _releases(releases, found), *row[1:]]
            for row, releases in rows.items()])]
    return '\n\n'.join(parts) + '\n'


def _heading(text):
    quote = '``' if '`' in text else '`'
    return text if text == NO_MESSAGE else quote + text + quote


def message(outcome, reason):
    """Returns the message that a user sees, without what differs between models."""
    if outcome == 'wrong numbers':
        return NO_MESSAGE
    text = reason.partition(', got ')[2] or reason
    for pattern, short in SHORTENED:
        text = re.sub(pattern, short, text)
    return text


command = steps.group(__doc__, DATA, measure, write, like=records.release_of)
