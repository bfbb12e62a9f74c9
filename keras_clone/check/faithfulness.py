"""Decides whether a clone is a faithful clone of a model.

A faithful clone computes the same function and has the same graph as the original,
shares nothing with it, leaves it as it was, and can itself be cloned and saved:

- The same function: right after `clone.set_weights(model.get_weights())`, equal
  outputs, equal losses and equal weights after one step of training.
- The same graph: same layers and names in the same order, same configuration, same
  sharing, same calls with the same arguments, masks in the same places; at every
  depth the same flags, order of weights and attributes; compiled with the same
  settings; on TensorFlow, as many ops of each type as building the original added.
- Independent: no layer, node, weight, tensor or call argument of the original is in
  the clone, in anything that the clone holds, or among what it computes from; the
  original is as before.
- Able to be cloned and saved: the clone's clone is faithful; the clone saves and
  loads if the original does.

`compare` looks at a model and its clone. `check_clone` builds the model, clones it
and looks at everything. What is random is compared where both can draw the same
numbers (Keras 3); otherwise the report lists it as not compared.
"""
import warnings

import keras

from .bisection import first_that_holds
from .building import built
from .comparisons import graph_differences
from .describing import describe, summary
from .difference import (CRASH, GRAPH, OUTCOMES, Difference, ModelError, Report,
                         of_generation)
from .graphs import graphs
from .independence import changes, independence_differences, snapshot
from .ops import op_differences
from .original import Original
from .outputs import hidden_differences, output_differences
from .pairing import pair
from .saving import saving_differences
from .training import training_differences

__all__ = ['Difference', 'ModelError', 'OUTCOMES', 'Report', 'check_clone',
           'compare']


def check_clone(build, clone_model, inputs=None, seed=0, depth=2, exact_ops=True,
                saving=True, locate=True, training=True):
    """Builds a model, clones it and decides whether the clone is faithful.

    Everything happens in a fresh state (on TensorFlow, a graph and a session of its
    own), because a clone function may change the original it is given.

    # Arguments
        build: a function without arguments that returns a new `Model`, or a pair
            (model, list of arrays to compare outputs on).
        clone_model: the function to check; it is called with the model.
        inputs: list of arrays to compare outputs on; drawn if not given here or
            by `build`.
        seed: determines everything that is drawn.
        depth: how often to clone: 2 checks the clone and the clone's clone.
        exact_ops: whether building adds no ops but those of the model. If not
            (the model is loaded from a file, or `build` makes more than it
            returns), fewer ops than building added are no difference.
        saving: whether to save and load the model and its clone.
        locate: whether to look for the layer at which cloning raises or outputs
            differ first. This builds and clones the model several more times.
        training: whether to compare losses and one step of training.

    # Returns
        A `Report`.

    # Raises
        ModelError: if `build` raises or returns no `Model`, or the model cannot be
            evaluated on the inputs.

    # Example

    ```python
        from keras.models import clone_model
        print(check_clone(build_my_model, clone_model).outcome)
    ```
    """
    with graphs.fresh_state(seed), warnings.catch_warnings():
        warnings.simplefilter('ignore')
        (model, own_inputs), ops = graphs.ops_while(lambda: built(build))
        given = own_inputs if inputs is None else inputs
        original = Original(model, given, seed, draw_weights=True)
        found, parent, first = [], model, None
        for generation in range(1, depth + 1):
            before = snapshot(parent)
            try:
                clone, new_ops = graphs.ops_while(lambda: clone_model(parent))
            except Exception as error:
                layer = (_first_crash(build, clone_model, generation) if locate
                         else '')
                clone, new = None, [Difference(CRASH, layer, 'cloning', 'a clone',
                                               summary(error))]
            else:
                is_first = parent is model
                new = (changes(before, snapshot(parent)) +
                       _compare(original, clone, None if is_first else parent,
                                locate=locate, training=training and is_first) +
                       op_differences(ops, new_ops, exact_ops or not is_first,
                                      [layer.name for layer in model.layers]))
            found += of_generation(generation, new, found)
            if not isinstance(clone, keras.models.Model):
                break
            parent, ops, first = clone, new_ops, first or clone
        if first is not None and saving:
            found += saving_differences(original, first)
        found = _without_identities(found, original, build, seed)
        return Report.of(found, original.not_compared)


def _without_identities(found, original, build, seed):
    """Leaves out attributes that differ between any two models of that build, such
    as a running number."""
    if not any(each.in_attribute for each in found):
        return found
    with graphs.fresh_state(seed):
        other = graph_differences(pair(original.model, built(build)[0]))
    places = [(each.layer, each.what) for each in other]
    return [each for each in found
            if not each.in_attribute or (each.layer, each.what) not in places]


def _first_crash(build, clone_model, generation):
    """Returns the name of the first layer with which a model cannot be cloned.

    It is found by cloning models that end after the first nodes of the model, each
    in a state of its own: an attempt may change the original.
    """
    def crashes(count):
        with graphs.fresh_state():
            model, _ = built(build)
            part = graphs.first_nodes(model, graphs.ordered_nodes(model)[:count])
            if part is None:
                return False
            try:
                for _ in range(generation):
                    part = clone_model(part)
            except Exception:
                return True
            return False

    with graphs.fresh_state():
        model, _ = built(build)
        names = [graphs.layer_of(node).name for node in graphs.ordered_nodes(model)]
    count = first_that_holds(crashes, len(names))
    return names[count - 1] if count else ''


def compare(model, clone, inputs=None, seed=0, on=None):
    """Compares a clone with its original.

    The original's weights are copied to the clone. What can only be found while
    cloning, or by cloning the clone, is left to `check_clone`.

    # Arguments
        model: the original.
        clone: its clone.
        inputs: list of arrays to compare outputs on; drawn if not given.
        seed: determines everything that is drawn.
        on: list of the tensors that the clone was built on, if it was.

    # Returns
        List of `Difference`s, the worst first. It is empty if nothing was found.
    """
    return _compare(Original(model, inputs, seed), clone, on=on)


def _compare(original, clone, parent=None, on=None, locate=True, training=True):
    if not isinstance(clone, keras.models.Model):
        return [Difference(GRAPH, '', 'what cloning returns', 'a `Model`',
                           describe(clone))]
    pairing = pair(original.model, clone, on)
    in_graph = graph_differences(pairing)
    found = output_differences(original, pairing, locate)
    if not found and on is None:
        found += hidden_differences(pairing)
        if training:
            found += training_differences(original, pairing, not in_graph)
    found += independence_differences(original.model, clone, on, original.known)
    found += in_graph
    if parent is not None:
        found += independence_differences(parent, clone, known=original.known)
    return found
