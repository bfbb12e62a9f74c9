"""Judges other fixes of keras-team/keras issue 12202 by the pull request's tests.

    python tests/alternatives.py            judges, and writes the page
    python tests/alternatives.py --check    judges, and compares with the page's data
    python tests/alternatives.py --page     writes the page from its data

Each alternative is an edit of the installed Keras 2.2.4, made on a copy. The
outcomes go to docs/data/alternatives.json, and from there to docs/alternatives.md.
Exit status 1, and a line that says so, if a check finds other outcomes.
"""
import argparse
import ast
import collections
import difflib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)
from contribute import prove  # noqa: E402
from contribute.patches import apply_patch  # noqa: E402

RELEASE = '2.2.4'
DATA = os.path.join(ROOT, 'docs', 'data', 'alternatives.json')
PAGE = os.path.join(ROOT, 'docs', 'alternatives.md')
TESTS = [prove.PULL_REQUEST_TESTS, prove.FOLLOW_UP_TESTS]

# edit: a function of a `Source`. judge: the test whose name tells why it fails.
Alternative = collections.namedtuple(
    'Alternative', 'key title right breaks judge edit')


class Source:
    """The source of `keras/models.py`, to be edited at the statements of
    `_clone_functional_model`."""

    def __init__(self, text):
        self.lines = text.split('\n')
        self.edits = []
        self.function = next(node for node in ast.walk(ast.parse(text))
                             if isinstance(node, ast.FunctionDef)
                             and node.name == '_clone_functional_model')

    def find(self, test):
        """The first statement that passes a test."""
        return next(node for node in ast.walk(self.function) if test(node))

    # The statements that the alternatives are about.

    @property
    def entering_of_input_layer(self):
        return self.find(lambda node: isinstance(node, ast.Assign)
                         and _names(node) == {'layer_map', 'layer',
                                              'newly_created_input_layer'})

    @property
    def sorting_of_depths(self):
        return self.find(lambda node: isinstance(node, ast.Expr)
                         and getattr(getattr(node.value, 'func', None), 'attr', '')
                         == 'sort')

    @property
    def making_of_layer(self):
        return self.find(lambda node: isinstance(node, ast.If)
                         and _names(node.test) == {'layer', 'layer_map'})

    @property
    def call(self):
        return self.find(lambda node: isinstance(node, ast.If)
                         and _names(node.test) == {'len', 'computed_data'})

    @property
    def update_of_tensor_map(self):
        return self.find(lambda node: isinstance(node, ast.For)
                         and 'reference_output_tensors' in _names(node.iter))

    # The edits.

    def insert_after(self, node, text):
        self._edit(_last_line(node), _last_line(node), node, text)

    def replace(self, first, last, text):
        self._edit(first.lineno - 1, _last_line(last), first, text)

    def _edit(self, start, stop, node, text):
        text = textwrap.indent(textwrap.dedent(text).strip('\n'),
                               ' ' * node.col_offset)
        self.edits.append((start, stop, text.split('\n')))

    def text(self):
        lines = list(self.lines)
        for start, stop, new in sorted(self.edits, reverse=True):
            lines[start:stop] = new
        return '\n'.join(lines)


def _names(node):
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _last_line(node):
    return max(getattr(part, 'lineno', 0) for part in ast.walk(node))


NO_MASKS = 'output_masks = [None] * len(output_tensors)'


def released(source):
    pass


def list_calls(source):
    source.replace(source.call, source.update_of_tensor_map, '''
        output_tensors = layer([x for x, _ in computed_data], **kwargs)
        for x, y in zip(reference_output_tensors, output_tensors):
            tensor_map[x] = (y, None)
    ''')


def deep_copies(source, new_layer='copy.deepcopy(layer)'):
    making = source.making_of_layer.body
    source.replace(making[0], making[-1], '''
        import copy
        if layer.__class__ not in layer_map:
            layer_map[layer.__class__] = {}
        layer_map[layer] = layer_map[layer.__class__]
        layer = layer_map[layer]
        for inbound_node in layer._inbound_nodes:
            inbound_node.inbound_layers = [
                layer_map.get(x, x) for x in inbound_node.inbound_layers]
    '''.format(new_layer))


def one_layer_per_class(source):
    deep_copies(source, 'layer.__class__.from_config(layer.get_config())')
    no_masks(source)


def no_masks(source):
    source.insert_after(source.call, NO_MASKS)


def masks_where_call_takes_one(source):
    source.insert_after(source.call, '''
        if not has_arg(layer.call, 'mask'):
            output_masks = [None]
    ''')


def any_order(source):
    input_layers_called_again(source)
    source.replace(source.sorting_of_depths, source.sorting_of_depths, 'pass')


def input_layers_called_again(source):
    no_masks(source)
    entering = source.entering_of_input_layer
    source.replace(entering, entering, 'pass')


def supports_masking(source):
    source.insert_after(source.call, '''
        if not layer.supports_masking:
            output_masks = [None] * len(output_tensors)
    ''')


def masks_of_the_calls(source):
    source.replace(source.call, source.update_of_tensor_map, '''
        computed_tensors = [x for x, _ in computed_data]
        if len(computed_tensors) == 1:
            computed_tensors = computed_tensors[0]
        output_tensors = to_list(layer(computed_tensors, **kwargs))
        for x, y in zip(reference_output_tensors, output_tensors):
            tensor_map[x] = (y, None)
    ''')


ALTERNATIVES = (
    Alternative(
        'a', 'No mask in the map of tensors, layers called with lists',
        'It leaves masks to the call of each layer, which collects them anyway.',
        'A layer of one input is called with a list, which it did not get in the '
        'original; the one tensor that most layers give is taken for a list.',
        'with_layers_of_one_and_of_two_outputs', list_calls),
    Alternative(
        'b', 'Layers deep-copied, one for all of a class, nodes rewired by hand',
        'A layer that is copied whole needs no configuration: functions and custom '
        'layers would come along.',
        'On TensorFlow 1, a layer that was called holds the graph and cannot be '
        'deep-copied.',
        'with_two_layers_of_one_class', deep_copies),
    Alternative(
        'b′', '(b) with new layers made from configurations, and (c)',
        'The layers can be made.',
        'Two layers of a class become one: the first one\'s, with its function or '
        'its size, and its weights shared by both. And (c).',
        'with_two_layers_of_one_class', one_layer_per_class),
    Alternative(
        'c', '`[None] * len(output_tensors)` for every layer',
        'No output is lost: the crash ends.',
        'Every layer is told that there is no mask. Padding is computed on, without '
        'a word.',
        'with_and_without_mask_support', no_masks),
    Alternative(
        'd', '`compute_mask` where `call` takes a `mask`, `[None]` elsewhere',
        'Masks of nested models and of recurrent layers are kept.',
        'The `call` of an `Embedding` takes no mask, and masks begin there; and a '
        '`[None]` for two outputs is what loses the second.',
        'keeps_mask_of_compute_mask_alone', masks_where_call_takes_one),
    Alternative(
        'e', 'No masks, depths in the order of the dict, input layers not entered',
        'No output is lost for want of a mask.',
        'The depth of the outputs comes first. Its inputs are not there yet, so its '
        'layers are passed over. And (e′).',
        'with_branches_of_different_depth', any_order),
    Alternative(
        'e′', '(e) with the depths sorted',
        'Layers are called when their inputs are there.',
        'An input layer is made a second time, with the same name, and called. And '
        '(c).',
        None, input_layers_called_again),
    Alternative(
        'f', '`layer.supports_masking` decides (merged, in 2.2.5 to 2.3.1)',
        'A layer of two outputs without mask support is cloned.',
        'The flag tells what the default `compute_mask` does with a mask, not '
        'whether the layer gives one. A nested model, `Bidirectional` and a layer '
        'with a `compute_mask` of its own do without it, and lose their masks. A '
        'layer that has it and gives one mask for two outputs still crashes.',
        'keeps_mask_of_nested_model', supports_masking),
    Alternative(
        'g', '(a), with lists made and unpacked as each layer wants',
        'All that is tested here on cloning, the clone of a clone included: it '
        'writes no mask into the arguments of a call.',
        'Nothing that these tests see. It is the better fix, and the overlay is '
        'built on it: a mask that the call of a layer finds by itself is the mask '
        'of the original. The patch is smaller and removes nothing; its first '
        'follow-up does the rest.',
        None, masks_of_the_calls),
)


def edited(edit):
    """The text of the installed `keras/models.py`, edited.

    # Arguments
        edit: A function of a `Source`.
    """
    path = os.path.join(prove.installed_keras().folder, 'models.py')
    with open(path) as stream:
        source = Source(stream.read())
    edit(source)
    return source.text()


def patched():
    """The text of the installed `keras/models.py` with the patch applied."""
    with tempfile.TemporaryDirectory() as copy:
        prove.copy_keras(prove.installed_keras(), copy)
        apply_patch(prove.patches_of(RELEASE)[0], copy)
        with open(os.path.join(copy, 'keras', 'models.py')) as stream:
            return stream.read()


def judge(text, only=None):
    """Runs the tests on a copy of the installed Keras.

    # Arguments
        text: The text of its `keras/models.py`.
        only: The name of a test, without its common start. None: all tests.

    # Returns
        An ordered dict from names of tests to outcomes; see `prove.outcomes`.
    """
    with tempfile.TemporaryDirectory() as copy:
        prove.copy_keras(prove.installed_keras(), copy)
        with open(os.path.join(copy, 'keras', 'models.py'), 'w') as stream:
            stream.write(text)
        return prove.outcomes(TESTS, copy, only=only)


def candidates():
    """What is judged: an ordered dict from keys to texts of `keras/models.py`."""
    texts = dict([('released', edited(released))])
    texts.update((one.key, edited(one.edit)) for one in ALTERNATIVES)
    texts['patch'] = patched()
    return texts


def fingerprint(*texts):
    return hashlib.sha1('\0'.join(texts).encode('utf-8')).hexdigest()


def fingerprint_of_tests():
    return fingerprint(*[_read(path) for path in TESTS])


def run():
    """Judges all candidates: the data of the page."""
    texts = candidates()
    version = 'import {0}; print({0}.__version__)'.format(_backend())
    printed = subprocess.check_output([sys.executable, '-c', version],
                                      stderr=subprocess.DEVNULL)
    data = dict([
        ('versions', '{} {}, {} {}, {} {}.{}'.format(
            'Keras', RELEASE, {'tensorflow': 'TensorFlow', 'theano': 'Theano'}[
                _backend()], printed.decode().split()[-1], 'Python',
            *sys.version_info[:2])),
        ('tests', fingerprint_of_tests()),
        ('candidates', {})])
    for key, text in texts.items():
        print('judging', key, flush=True)
        added, removed = changed_lines(texts['released'], text)
        data['candidates'][key] = dict([
            ('text', fingerprint(text)), ('added', added), ('removed', removed),
            ('outcomes', judge(text))])
    return data


def changed_lines(old, new):
    """How many lines a diff adds and removes."""
    diff = list(difflib.unified_diff(old.split('\n'), new.split('\n'), n=0))[2:]
    return (sum(line.startswith('+') for line in diff),
            sum(line.startswith('-') for line in diff))


def _backend():
    return os.environ.get('KERAS_BACKEND', 'tensorflow')


def _read(path):
    with open(path, encoding='utf-8') as stream:
        return stream.read()


def name_of(test):
    """A test's name without what all have in common."""
    name = test.partition('::')[2]
    return name.replace('test_clone_functional_model_', '').replace('test_', '')


def render(data):
    """The page: text in Markdown."""
    found = data['candidates']
    parts = [HEADER.format(**data)]
    for title, module in (
            ('The tests of the pull request', 'test_sequential_model::'),
            ('The tests of the follow-ups', 'test_node_arguments::')):
        parts += ['## ' + title, _table(found, module)]
    parts += ['## The diffs', 'Of the edits as they are made here: (f) was merged '
              'in other words.', _diffs(found)]
    parts.append('## Each of them')
    for one in ALTERNATIVES:
        parts.append('### ({0.key}) {0.title}'.format(one))
        parts.append(f'Right: {one.right}\n\nBreaks: {one.breaks}')
        parts.append(_verdict(one, found[one.key]))
    return '\n\n'.join(parts) + '\n'


HEADER = '''---
orphan: true
---

# Other fixes

Five other fixes have been proposed for
[keras-team/keras issue 12202](https://github.com/keras-team/keras/issues/12202), and
a sixth was merged. Here the tests of the pull request judge each of them, as an edit
of the released `_clone_functional_model`: (a) to (f). (b′) and (e′) mend the slip
that hides another, (g) mends both slips of (a). *patch* is the first patch in
`patches/2.2.4`.

This page was written by `python tests/alternatives.py`, on {versions}.
A cell holds what the test raised.'''


def _table(found, module):
    keys = list(found)
    tests = [test for test in found['released']['outcomes']
             if test.startswith(module)]
    lines = ['| test | ' + ' | '.join(keys) + ' |', '|---' * (len(keys) + 1) + '|']
    for test in tests:
        cells = [found[key]['outcomes'][test] for key in keys]
        lines.append('| `{}` | {} |'.format(name_of(test), ' | '.join(
            'ok' if cell == 'passes' else cell for cell in cells)))
    return '\n'.join(lines)


def _diffs(found):
    keys = [key for key in found if key != 'released']
    lines = ['| lines | ' + ' | '.join(keys) + ' |', '|---' * (len(keys) + 1) + '|']
    for kind in ('added', 'removed'):
        lines.append('| {} | {} |'.format(kind, ' | '.join(
            str(found[key][kind]) for key in keys)))
    return '\n'.join(lines)


def _verdict(one, record):
    of_request = [outcome for test, outcome in record['outcomes'].items()
                  if test.startswith('test_sequential_model::')]
    failing = sum(outcome != 'passes' for outcome in of_request)
    text = 'Of the {} tests of the pull request, it fails {}'.format(
        len(of_request), failing or 'none')
    return text + (
        f'; the one to see is `{one.judge}`.' if one.judge else '.')


def _write(path, text):
    with open(path, 'w', encoding='utf-8') as stream:
        stream.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--check', action='store_true',
                        help="compare with the page's data instead of writing it")
    parser.add_argument('--page', action='store_true',
                        help='judge nothing, write the page from its data')
    options = parser.parse_args()
    if options.page:
        _write(PAGE, render(json.loads(_read(DATA))))
        return
    if prove.installed_keras().release != RELEASE:
        sys.exit(f'This needs Keras {RELEASE}.')
    text = json.dumps(run(), indent=1, ensure_ascii=False) + '\n'
    if options.check:
        new, known = (json.loads(some)['candidates'] for some in (text, _read(DATA)))
        differing = [key for key in new if new[key] != known.get(key)]
        sys.exit('Not the outcomes of the page: ' + ', '.join(differing)
                 if differing else 0)
    _write(DATA, text)
    _write(PAGE, render(json.loads(text)))


if __name__ == '__main__':
    main()
