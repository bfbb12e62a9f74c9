"""The text of the pull request to Keras."""
import io
import re

from keras_clone.diffs import patches_of, resource

CRASH = {
    'what': """
In `_clone_functional_model`, a layer that lacks mask support, whose `compute_mask`
gives `None`, gets `[None] * len(output_tensors)`. A mask that a layer gives for
several outputs counts for each of them, as in `Layer.__call__`.""",
    'why': """
`to_list(None)` has one element. Zipped with several outputs it drops all but the
first, and cloning ends in `AssertionError: Could not compute output`. What
`compute_mask` gives decides, not `layer.supports_masking`: a nested model and
`Bidirectional` have that flag unset and give masks all the same.""",
    'closes': """
Closes #12202.""",
    'tested': """
The tests with `_model_with_` in their names fail without the change. Those with
`_model_keeps_` pass before and after: they guard masks which a fix by
`layer.supports_masking` would drop.""",
    'limits': """
A clone still has its masks stored as call arguments, so the clone of a masked model
cannot be cloned in its turn. That is a bug of its own.""",
    'note': """
`clone_model` clones layers with several outputs that give no mask, or one for all of
them (#12202).""",
}
LOST_MASKS = {
    'what': """
In `_clone_functional_model`, the masks of a layer's outputs are those which its call
has just recorded on the node: one for each output.""",
    'why': """
Since #12205, a layer without `supports_masking` has its masks dropped. That flag
tells what the default `compute_mask` does with a mask, not whether the layer gives
one: a nested model, `Bidirectional` and a layer that overrides `compute_mask` alone
do without it. Their clones compute other numbers, without a word.""",
    'closes': """
Follows up #12205, which closed #12202. What that mended stays mended.""",
    'tested': """
The tests with `_model_keeps_` in their names fail without the change, and so does
the one on one mask for two outputs. The others guard what #12205 mended.""",
    'limits': """
It is an insertion. What is above it has no use any more and can go in a change of
its own. A clone still has its masks stored as call arguments, so the clone of a
masked model cannot be cloned in its turn. That is a bug of its own.""",
    'note': """
`clone_model` keeps the masks of nested models, of `Bidirectional` and of layers that
override `compute_mask` alone.""",
}
FOLLOW_UPS = {
    'what': """
No mask is written into the arguments that a node keeps, neither when a model is
cloned nor when it is called again.""",
    'why': """
The mask of one call was taken for that of the next: a model that was called again
computed with the mask of the first call, a clone could not be cloned, and cloning
changed the original. Under `multi_gpu_model`, this is the error of #12835.""",
    'closes': """
Mends the cause of #12835.""",
    'tested': """
The tests with `_of_a_clone_`, `_leaves_`, `_gives_`, `_called_` and `_multi_gpu_` in
their names are about that. In Keras 2.2.5 and later, the states of a recurrent layer
are no call arguments any more, and the last of them passes without the change.""",
    'limits': """
A tensor among a node's call arguments is not mapped to the tensor of the clone.""",
    'note': """
Cloning a model or calling it again leaves the call arguments of its nodes alone
(#12835).""",
}


def pull_request_text(release, follow_ups=False):
    """Fills in the template of `.github/`.

    # Arguments
        release: A string such as `'2.2.4'`.
        follow_ups: Whether the follow-up patches are part of the pull request.

    # Returns
        A string, Markdown.
    """
    words = dict(CRASH if release == '2.2.4' else LOST_MASKS)
    patches = patches_of(release)[:None if follow_ups else 1]
    if follow_ups:
        words = {name: words[name] + '\n' + FOLLOW_UPS[name] for name in words}
        words['limits'] = FOLLOW_UPS['limits']
    words['what'] += '\n\nLines added: {}, removed: {}.'.format(
        sum(patch.added for patch in patches),
        sum(patch.removed for patch in patches))
    with io.open(resource('.github', 'PULL_REQUEST_TEMPLATE.md'),
                 encoding='utf-8') as stream:
        template = stream.read()
    return re.sub(r'<!-- (\w+): .*? -->',
                  lambda match: words[match.group(1)].strip(), template)
