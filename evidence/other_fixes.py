"""Other fixes of keras-team/keras issue 12202, judged by the pull request's tests.

Each candidate is an edit of the installed Keras 2.2.4, made on a copy: the fixes
that others proposed, the unchanged release, and the patch. Each is tested by the
tests of the patch and of its follow-ups.
"""
import ast
import collections
import difflib
import hashlib
import os
import tempfile
import textwrap

import click
from contribute import prove
from contribute.patches import apply_patch

from evidence import pages, records, steps

RELEASE = '2.2.4'
DATA = 'other_fixes'
PAGE = 'docs/other-fixes.md'
TESTS = [prove.PULL_REQUEST_TESTS, prove.FOLLOW_UP_TESTS]
OF_PULL_REQUEST = 'test_sequential_model::'
OF_FOLLOW_UPS = 'test_node_arguments::'

# edit: a function of a `Source`. judge: the test whose name says why it fails.
Fix = collections.namedtuple('Fix', 'key title right breaks judge edit')


class Source:
    """The source of `keras/models.py`, to be edited at the statements of
    `_clone_functional_model`."""

    def __init__(self, text):
        self.lines = text.split('\n')
        self.edits = []
        self.function = next(node for node in ast.walk(ast.parse(text))
                             if isinstance(node, ast.FunctionDef)
                             and node.name == '_clone_functional_model')

    def find(self, kind, *names):
        """The first statement of a kind with these names: in the condition of an
        `if`, in what a `for` iterates over."""
        return next(node for node in ast.walk(self.function)
                    if isinstance(node, kind) and _names(node) == set(names))

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
    head = getattr(node, 'test', getattr(node, 'iter', node))
    return {part.id for part in ast.walk(head) if isinstance(part, ast.Name)}


def _last_line(node):
    return max(getattr(part, 'lineno', 0) for part in ast.walk(node))


# The statements that the fixes edit.
ENTERING_OF_INPUT_LAYER = (ast.Assign, 'layer_map', 'layer',
                           'newly_created_input_layer')
SORTING_OF_DEPTHS = ast.Expr, 'depth_keys'
MAKING_OF_LAYER = ast.If, 'layer', 'layer_map'
CALL = ast.If, 'len', 'computed_data'
UPDATE_OF_TENSOR_MAP = (ast.For, 'zip', 'reference_output_tensors', 'output_tensors',
                        'output_masks')
NO_MASKS = 'output_masks = [None] * len(output_tensors)'


def released(source):
    pass


def list_calls(source):
    source.replace(source.find(*CALL), source.find(*UPDATE_OF_TENSOR_MAP), '''
        output_tensors = layer([x for x, _ in computed_data], **kwargs)
        for x, y in zip(reference_output_tensors, output_tensors):
            tensor_map[x] = (y, None)
    ''')


def deep_copies(source, new_layer='copy.deepcopy(layer)'):
    making = source.find(*MAKING_OF_LAYER).body
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
    source.insert_after(source.find(*CALL), NO_MASKS)


def masks_where_call_takes_one(source):
    source.insert_after(source.find(*CALL), '''
        if not has_arg(layer.call, 'mask'):
            output_masks = [None]
    ''')


def any_order(source):
    input_layers_called_again(source)
    sorting = source.find(*SORTING_OF_DEPTHS)
    source.replace(sorting, sorting, 'pass')


def input_layers_called_again(source):
    no_masks(source)
    entering = source.find(*ENTERING_OF_INPUT_LAYER)
    source.replace(entering, entering, 'pass')


def supports_masking(source):
    source.insert_after(source.find(*CALL), '''
        if not layer.supports_masking:
            output_masks = [None] * len(output_tensors)
    ''')


def masks_of_the_calls(source):
    source.replace(source.find(*CALL), source.find(*UPDATE_OF_TENSOR_MAP), '''
        computed_tensors = [x for x, _ in computed_data]
        if len(computed_tensors) == 1:
            computed_tensors = computed_tensors[0]
        output_tensors = to_list(layer(computed_tensors, **kwargs))
        for x, y in zip(reference_output_tensors, output_tensors):
            tensor_map[x] = (y, None)
    ''')


FIXES = (
    Fix(
        'a', 'No mask in the map of tensors, layers called with lists',
        'It leaves masks to the call of each layer, which collects them anyway.',
        'A layer of one input is called with a list, which it did not get in the '
        'original; the single tensor that most layers return is treated as a list.',
        'with_layers_of_one_and_of_two_outputs', list_calls),
    Fix(
        'b', 'Layers deep-copied, one for all of a class, nodes rewired by hand',
        'A layer that is copied as a whole needs no configuration: functions and '
        'custom layers would be copied, too.',
        'On TensorFlow 1, a layer that was called holds the graph and cannot be '
        'deep-copied.',
        'with_two_layers_of_one_class', deep_copies),
    Fix(
        'b′', '(b) with new layers made from configurations, and (c)',
        'The layers can be created.',
        'Two layers of a class become one: the first one\'s, with its function or '
        'its size, and its weights shared by both. And (c).',
        'with_two_layers_of_one_class', one_layer_per_class),
    Fix(
        'c', '`[None] * len(output_tensors)` for every layer',
        'No output is lost: the crash ends.',
        'Every layer is told that there is no mask. The clone computes on the '
        'padding, without an error.',
        'with_and_without_mask_support', no_masks),
    Fix(
        'd', '`compute_mask` where `call` takes a `mask`, `[None]` elsewhere',
        'Masks of nested models and of recurrent layers are kept.',
        'The `call` of an `Embedding` takes no mask, and masks begin there; and a '
        '`[None]` for two outputs is what loses the second.',
        'keeps_mask_of_compute_mask_alone', masks_where_call_takes_one),
    Fix(
        'e', 'No masks, depths in the order of the dict, input layers not entered',
        'No output is lost because a mask is missing.',
        'The depth of the outputs comes first. Its inputs do not exist yet, so its '
        'layers are skipped. And (e′).',
        'with_branches_of_different_depth', any_order),
    Fix(
        'e′', '(e) with the depths sorted',
        'Layers are called when their inputs exist.',
        'An input layer is created a second time, with the same name, and called. '
        'And (c).',
        None, input_layers_called_again),
    Fix(
        'f', '`layer.supports_masking` decides (merged, in 2.2.5 to 2.3.1)',
        'A layer of two outputs without mask support is cloned.',
        'The flag only controls the default `compute_mask`. A nested model, '
        '`Bidirectional` and a layer that overrides `compute_mask` return masks '
        'without the flag, and lose them. A layer that has the flag and returns one '
        'mask for two outputs still crashes.',
        'keeps_mask_of_nested_model', supports_masking),
    Fix(
        'g', '(a), with lists made and unpacked as each layer wants',
        'All that is tested here on cloning, the clone of a clone included: it '
        'writes no mask into the arguments of a call.',
        'Nothing that these tests see. It is not the first patch because it '
        'rewrites the middle of the function, while four added lines end the crash '
        'and change nothing else: that is quicker to review, and safer in a bugfix '
        'release. It is the better code to end up with, since a layer that finds '
        'its masks itself finds those of the original. The second patch, which '
        'follows the first, does this.',
        None, masks_of_the_calls),
)


def edited(edit):
    """The text of the installed `keras/models.py`, edited.

    # Arguments
        edit: A function of a `Source`.
    """
    source = Source(_read(prove.installed_keras().folder, 'models.py'))
    edit(source)
    return source.text()


def patched():
    """The text of the installed `keras/models.py` with the patch applied."""
    with tempfile.TemporaryDirectory() as copy:
        prove.copy_keras(prove.installed_keras(), copy)
        apply_patch(prove.patches_of(RELEASE)[0], copy)
        return _read(copy, 'keras', 'models.py')


def judge(text, only=None):
    """Runs the tests on a copy of the installed Keras.

    # Arguments
        text: The text of its `keras/models.py`.
        only: The name of a test, without the prefix that all share. None: all tests.

    # Returns
        A dict from names of tests to outcomes; see `prove.outcomes`.
    """
    with tempfile.TemporaryDirectory() as copy:
        prove.copy_keras(prove.installed_keras(), copy)
        with open(os.path.join(copy, 'keras', 'models.py'), 'w') as file:
            file.write(text)
        return prove.outcomes(TESTS, copy, only=only)


def candidates():
    """What is judged: a dict from keys to texts of `keras/models.py`."""
    texts = {'released': edited(released)}
    texts.update((fix.key, edited(fix.edit)) for fix in FIXES)
    return dict(texts, patch=patched())


def fingerprint(*texts):
    return hashlib.sha1('\0'.join(texts).encode('utf-8')).hexdigest()


def fingerprint_of_tests():
    return fingerprint(*map(_read, TESTS))


def measure():
    """Judges all candidates: returns a record of each."""
    if prove.installed_keras().release != RELEASE:
        raise click.ClickException(f'This needs Keras {RELEASE}.')
    versions, texts = records.installed_versions(), candidates()
    found = []
    for key, text in texts.items():
        added, removed = changed_lines(texts['released'], text)
        found.append(records.new(key, versions, {
            'text': fingerprint(text), 'tests': fingerprint_of_tests(),
            'added': added, 'removed': removed, 'outcomes': dict(judge(text))}))
        click.echo(f'{key}: fails {len(failing(found[-1]))} tests')
    return found


def changed_lines(old, new):
    """How many lines a diff adds and removes."""
    diff = list(difflib.unified_diff(old.split('\n'), new.split('\n'), n=0))[2:]
    return (sum(line.startswith('+') for line in diff),
            sum(line.startswith('-') for line in diff))


def _read(*path):
    with open(os.path.join(*path), encoding='utf-8') as file:
        return file.read()


def outcomes(record, start=''):
    """The outcomes of the tests whose names begin with `start`: a dict."""
    return {test: outcome for test, outcome in record['figures']['outcomes'].items()
            if test.startswith(start)}


def failing(record, start=''):
    return [test for test, outcome in outcomes(record, start).items()
            if outcome != 'passes']


def name_of(test):
    """A test's name without the parts that all names have in common."""
    name = test.partition('::')[2]
    return name.replace('test_clone_functional_model_', '').replace('test_', '')


def write(found):
    pages.write(PAGE, page(found))


def page(found):
    """The page, as Markdown, that shows records."""
    edits = found[1:]
    parts = [
        HEADER.format(records.title(found[0]['versions']), records.dates(found)),
        '## The tests of the pull request', _table(found, OF_PULL_REQUEST),
        '## The tests of the follow-ups', _table(found, OF_FOLLOW_UPS),
        '## The diffs',
        'Of the edits as they are made here: (f) was merged in other words.',
        pages.table(['lines'] + [each['what'] for each in edits], [
            [kind] + [each['figures'][kind] for each in edits]
            for kind in ('added', 'removed')]),
        '## Each of them']
    for fix, record in zip(FIXES, edits):
        parts += [f'### ({fix.key}) {fix.title}', f'Right: {fix.right}',
                  f'Breaks: {fix.breaks}', _verdict(fix, record)]
    return '\n\n'.join(parts) + '\n'


HEADER = '''# Other fixes

Five other fixes have been proposed for
[keras-team/keras issue 12202](https://github.com/keras-team/keras/issues/12202), and
a sixth was merged. Here the tests of the pull request judge each of them, as an edit
of the released `_clone_functional_model`: (a) to (f). (b′) and (e′) fix a
mistake that hides another one, (g) fixes both mistakes of (a). *patch* is the first
patch in `patches/2.2.4`.

This page was written by `python -m evidence other-fixes record`, on {}, {}.
A cell holds what the test raised.'''


def _table(found, start):
    rows = []
    for test in outcomes(found[0], start):
        cells = [each['figures']['outcomes'][test] for each in found]
        rows.append([f'`{name_of(test)}`'] + [
            'ok' if cell == 'passes' else cell for cell in cells])
    return pages.table(['test'] + [each['what'] for each in found], rows)


def _verdict(fix, record):
    text = 'Of the {} tests of the pull request, it fails {}'.format(
        len(outcomes(record, OF_PULL_REQUEST)),
        len(failing(record, OF_PULL_REQUEST)) or 'none')
    return text + (f'; the most telling is `{fix.judge}`.' if fix.judge else '.')


command = steps.group(__doc__, DATA, measure, write, like=records.release_of)


@command.command()
def check():
    """Measure and compare with the data: exit status 1 if they differ."""
    recorded = {each['what']: each['figures'] for each in records.read(DATA)}
    differing = [each['what'] for each in measure()
                 if each['figures'] != recorded.get(each['what'])]
    if differing:
        raise click.ClickException('Not as recorded: ' + ', '.join(differing))
