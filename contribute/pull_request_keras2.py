"""The text of the pull request to Keras 2."""
from contribute.patches import patches_of

HEADINGS = {'what': 'What', 'why': 'Why', 'closes': 'Closes',
            'tested': 'How it was tested', 'limits': 'Limitations',
            'note': 'Release note'}
CRASH = {
    'what': """
In `_clone_functional_model`, a layer without mask support (its `compute_mask`
returns `None`) now gets `output_masks = [None] * len(output_tensors)`. If a layer
returns one mask for several outputs, the mask applies to each of them, as in
`Layer.__call__`.""",
    'why': """
`to_list(None)` has one element. Zipped with several outputs, it drops all outputs
but the first, and cloning fails with `AssertionError: Could not compute output`.
The fix checks what `compute_mask` returns, not `layer.supports_masking`: nested
models and `Bidirectional` return masks although that flag is `False`.""",
    'closes': """
Closes #12202.""",
    'tested': """
Tests with `_model_with_` in their names fail without this change. Tests with
`_model_keeps_` pass with and without it. They guard masks that a fix based on
`layer.supports_masking` would drop.""",
    'limits': """
A clone still stores its masks as call arguments. Therefore the clone of a masked
model cannot be cloned again. That is a separate bug.""",
    'note': """
`clone_model` supports layers with several outputs that return no mask, or one
mask for all outputs (#12202).""",
}
LOST_MASKS = {
    'what': """
`_clone_functional_model` now takes the masks of a layer's outputs from the node
that its call has just created. The node records one mask per output.""",
    'why': """
Since #12205, the masks of a layer without `supports_masking` are dropped. That
flag controls the default `compute_mask`; it does not say whether a layer returns
a mask. Nested models, `Bidirectional` and layers that only override
`compute_mask` return masks without it. Their clones return wrong numbers, without
an error or warning.""",
    'closes': """
Follow-up to #12205, which closed #12202. Models fixed by #12205 remain fixed.""",
    'tested': """
Tests with `_model_keeps_` in their names fail without this change, and so does
the test of one mask for two outputs. The other tests guard what #12205 fixed.""",
    'limits': """
This change only inserts lines. The code above them is now unused and can be
removed separately. A clone still stores its masks as call arguments. Therefore
the clone of a masked model cannot be cloned again. That is a separate bug.""",
    'note': """
`clone_model` keeps the masks of nested models, of `Bidirectional` and of layers
that only override `compute_mask`.""",
}
FOLLOW_UPS = {
    'what': """
Masks are no longer written into the call arguments that a node stores, neither
when a model is cloned nor when it is called again.""",
    'why': """
The mask of one call was used for the next call. A model that was called again
used the mask of the first call, a clone could not be cloned, and cloning changed
the original. With `multi_gpu_model`, this causes the error in #12835.""",
    'closes': """
Fixes the cause of #12835.""",
    'tested': """
Tests with `_of_a_clone_`, `_leaves_`, `_returns_`, `_called_` and `_multi_gpu_` in
their names cover this. In Keras 2.2.5 and later, the states of a recurrent layer
are no longer call arguments, and the `_multi_gpu_` test passes without this
change.""",
    'limits': """
A tensor among the call arguments of a node is not replaced by that of the
clone.""",
    'note': """
Cloning a model or calling it again no longer changes the call arguments of its
nodes (#12835).""",
}


def pull_request_text(release, follow_ups=False):
    """Returns the description of the pull request.

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
    return '\n\n'.join(f'### {heading}\n{words[name].strip()}'
                       for name, heading in HEADINGS.items()) + '\n'
