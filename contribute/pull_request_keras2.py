"""The text of the pull request to Keras 2."""
import ast
import os

from contribute.markdown import unwrapped
from contribute.patches import ROOT

HEADINGS = {'what': 'What', 'why': 'Why', 'issue': 'Issue',
            'tested': 'How it was tested', 'limits': 'Limitations',
            'note': 'Release note'}
# Keys of the texts: `bug` and `fix` become the reasons. `failing` are the
# beginnings of the names of the tests that fail without the change.
CRASH = {
    'what': """
`clone_model` keeps all outputs of a layer that has several of them and returns a
single mask. If `compute_mask` returns `None`, every output gets `None`; if it
returns one mask, every output gets that mask, as in `Layer.__call__`.""",
    'bug': """
`_clone_functional_model` zips the outputs of a layer with its masks. `to_list(None)`
has one element, so every output but the first is dropped, and cloning fails with
`AssertionError: Could not compute output`.""",
    'fix': """
The fix looks at what `compute_mask` returned, not at `layer.supports_masking`:
nested models and `Bidirectional` return masks although that flag is `False`.""",
    'issue': 'Fixes keras-team/keras#12202.',
    'failing': ('with_',),
    'guarded': """
These pass with and without it. They fail if a fix relies on `supports_masking`:""",
    'note': """
`clone_model` supports layers with several outputs that return no mask, or one mask
for all outputs (keras-team/keras#12202).""",
}
LOST_MASKS = {
    'what': """
`_clone_functional_model` takes the masks of a layer's outputs from the node that the
call has just created, instead of computing them a second time.""",
    'bug': """
Since keras-team/keras#12205, cloning drops the masks of every layer whose
`supports_masking` is `False`. That flag controls the default `compute_mask`; it does
not say whether a layer returns a mask. Nested models, `Bidirectional` and layers
that only override `compute_mask` return masks without it. Their clones compute on
the padding and return wrong numbers, without an error or a warning.""",
    'fix': """
`Layer.__call__` has already computed one mask per output and recorded it in the
node.""",
    'issue': """
Follow-up to keras-team/keras#12205, which fixed keras-team/keras#12202. The models
that it fixed remain fixed.""",
    'failing': ('keeps_', 'with_one_mask_for_two_outputs'),
    'guarded': 'These pass with and without it. They guard what was fixed before:',
    'note': """
`clone_model` keeps the masks of nested models, of `Bidirectional` and of layers that
only override `compute_mask`.""",
}
ALONE = {'limits': """
Cloning still stores masks in the call arguments of nodes, so the clone of a masked
model cannot be cloned again. That is a separate bug."""}
FOLLOW_UPS = {
    'what': """
`_clone_functional_model` no longer handles masks. It calls each layer with the new
tensors, and `Layer.__call__` finds their masks, as it does in any other model.
`Network.run_internal_graph` adds masks to a copy of a node's call arguments.""",
    'fix': """
The two functions also wrote masks into `node.arguments`, which belong to the
original model. The mask of one call was then used for the next: cloning changed the
original, a clone could not be cloned, and a model that was called again used the
mask of its first call. With `multi_gpu_model`, this is the error in
keras-team/keras#12835.""",
    'issue': 'Fixes the cause of keras-team/keras#12835.',
    'limits': """
A tensor among the call arguments of a node is not replaced by that of the clone.""",
    'note': """
Cloning a model, or calling it again, no longer changes the call arguments of its
nodes (keras-team/keras#12835).""",
}
TESTS = 'test_sequential_model.py'
FOLLOW_UP_TESTS = 'test_node_arguments.py'
PREFIX = 'test_clone_functional_model_'
# Passes on 2.2.5 and later, where states are no longer call arguments.
MULTI_GPU = 'test_multi_gpu_model_of_a_masked_seq2seq_model'


def pull_request_text(release, follow_ups=False):
    """Returns the description of the pull request.

    # Arguments
        release: A string such as `'2.2.4'`.
        follow_ups: Whether the follow-up patches are part of the pull request.

    # Returns
        A string, Markdown.
    """
    words = CRASH if release == '2.2.4' else LOST_MASKS
    more = FOLLOW_UPS if follow_ups else ALONE
    parts = {
        'what': more.get('what', words['what']),
        'why': words['bug'] + '\n' + more.get('fix', words['fix']),
        'issue': words['issue'] + '\n' + more.get('issue', ''),
        'tested': _tested(words, follow_ups),
        'limits': more['limits'],
        'note': words['note'] + '\n' + more.get('note', '')}
    return unwrapped('\n\n'.join(f'### {heading}\n{parts[name].strip()}'
                                 for name, heading in HEADINGS.items()) + '\n')


def _tested(words, follow_ups):
    names = _tests_in(TESTS)
    failing = [name for name in names
               if name[len(PREFIX):].startswith(words['failing'])]
    passing = [name for name in names if name not in failing]
    if follow_ups:
        failing += _tests_in(FOLLOW_UP_TESTS)
        if words is LOST_MASKS:
            failing.remove(MULTI_GPU)
            passing.append(MULTI_GPU)
    return '\n\n'.join(['These tests fail without this change:', _listed(failing),
                        words['guarded'].strip(), _listed(passing)])


def _tests_in(name):
    with open(os.path.join(ROOT, 'tests', 'keras', name)) as stream:
        return [node.name for node in ast.parse(stream.read()).body
                if getattr(node, 'name', '').startswith('test_')]


def _listed(names):
    return '\n'.join(f'- `{name}`' for name in names)
