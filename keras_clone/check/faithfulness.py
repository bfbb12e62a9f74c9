"""Decides whether a clone is a faithful clone of a model, by what a user can see.

A faithful clone computes the same function and has the same graph as the original,
shares nothing with it, leaves it as it was, and can itself be cloned and saved:

- The same function: right after `clone.set_weights(model.get_weights())`, equal
  outputs and masks, in training as well, equal losses and equal weights after one
  step. Initializers draw the clone's own weights anew.
- The same graph: same layers and names in the same order, at every depth the same
  flags, configurations, weights, their order and, on Keras 3, their paths, same
  sharing, same calls with the same arguments, masks in the same places; the same
  answers of properties and `get_` methods of users' classes; compiled with the same
  settings; on TensorFlow 1, no more ops of a type than building the original added.
- Independent: nothing that Python's garbage collector finds in the clone is a layer,
  weight, tensor or call argument of the original; changing all variables of one
  changes nothing about the other; the original is as before.
- Able to be cloned and saved: the clone's clone is faithful, and so is a second
  clone of the original; the clone saves and loads if the original does.

An attribute on which nothing of this depends is no difference.

`compare` looks at a model and its clone. `check_clone` builds the model, clones it
and looks at everything. What is random is compared where both can draw the same
numbers; otherwise the report lists it as not compared.
"""
import functools
import warnings

from keras.models import Model

from .description import AT_PLACE, Description, differences
from .difference import (CLONING, CRASH, GRAPH, Difference, ModelError, Report,
                         by_severity)
from .graphs import graphs
from .independence import Belongings, changes
from .messages import one_line, place_in_code, shortened, summary
from .original import Original, first_that_holds


def check_clone(build, clone_model, inputs=None, seed=0, depth=2, exact_ops=False,
                saving=True, locate=True, training=True, fresh_weights=True):
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
        depth: 1 checks one clone; 2 checks its clone, too, and a second clone of
            the original; 3 also checks the clone of the clone's clone.
        exact_ops: whether fewer ops than building added are a difference, not only
            more. For a `build` that adds no ops but those of the model: it loads
            no file, compiles nothing and removes no layer.
        saving: whether to save and load the model and its clone.
        locate: whether to look for the layer at which cloning raises or outputs
            differ first. This builds and clones the model several more times.
        training: whether to compare losses and one step of training.
        fresh_weights: whether the clone's weights should be drawn anew.

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
    @functools.lru_cache(maxsize=None)
    def built_again(seed):
        with graphs.fresh_state(seed):
            model, _ = built(build)
            return model.get_weights(), Description(model).facts

    with graphs.fresh_state(seed), warnings.catch_warnings():
        warnings.simplefilter('ignore')
        (model, own_inputs), ops = graphs.counting_ops(lambda: built(build))
        given = own_inputs if inputs is None else inputs
        original = Original(model, given, seed, draw_weights=True)
        found, models, steps = [], [original.belongings], _steps(depth)
        for parent, clone_name in steps:  # The first clone has no name.
            before = [each.snapshot() for each in models]
            try:
                clone, new_ops = graphs.counting_ops(
                    lambda: clone_model(models[parent].model))
            except Exception as error:
                layer = (_first_crash(build, clone_model, steps[:len(models)])
                         if locate else '')
                clone, new = None, [Difference(CRASH, layer, 'cloning', 'a clone',
                                               summary(error))]
            else:
                new = [each for known, notes in zip(models, before)
                       for each in changes(notes, known.snapshot())]
                if fresh_weights and not clone_name and isinstance(clone, Model):
                    new += original.kept_weights(
                        clone, lambda: built_again(seed + 1)[0])
                new += _compare(original, clone, models, locate,
                                training and not clone_name,
                                lambda: built_again(seed)[1])
                new += _op_differences(ops, new_ops, exact_ops or clone_name)
            if clone_name:
                new = [each._replace(outcome=CLONING, clone=clone_name)
                       for each in new if each not in found]
            found += new
            if not isinstance(clone, Model):
                break
            ops = new_ops
        # With layers of other names, Keras 2 may load a model forever.
        if len(models) > 1 and saving and not any(
                each.what.startswith(AT_PLACE) for each in found):
            found += original.compare_saving(models[1].model)
        return Report.of(found, original.not_compared)


def compare(model, clone, inputs=None, seed=0):
    """Compares a clone with its original.

    The original's weights are copied to the clone. What can only be found while
    cloning, or by cloning the clone, is left to `check_clone`.

    # Arguments
        model: the original.
        clone: its clone.
        inputs: list of arrays to compare outputs on; drawn if not given.
        seed: determines everything that is drawn.

    # Returns
        A list of `Difference` objects, the worst first; empty if nothing was found.

    # Raises
        ModelError: if the model has no graph, or cannot be evaluated on the inputs.
    """
    _check_has_graph(model)
    original = Original(model, inputs, seed)
    return by_severity(_compare(original, clone, [original.belongings]))


def _steps(depth):
    """Returns what is cloned in turn, for each clone a pair (the number of the model
    that is cloned, where 0 is the original; the name of the clone in the report)."""
    steps = [(i, "the clone's clone" if i else '') for i in range(depth)]
    return steps + [(0, 'the second clone')] * (depth > 1)


def _compare(original, clone, earlier, locate=True, training=True, facts_again=None):
    """Compares a clone with the original; for the settings see `check_clone` and
    `differences`. The clone may share nothing with the models whose `Belongings` are
    in the list `earlier`; its own are added."""
    if not isinstance(clone, Model):
        return [Difference(GRAPH, '', 'what cloning returns', 'a `Model`',
                           shortened(repr(clone)))]
    its = Belongings(clone, original.belongings)
    numbers = original.compare_outputs(its, locate)
    in_graph = differences(original.belongings, its, facts_again)
    if training and not numbers:
        numbers = original.compare_training(its, not in_graph)
    shared = [each for belongings in earlier
              for each in belongings.shared_with(its)]
    earlier.append(its)
    return shared + numbers + in_graph


def built(build):
    """Returns what `build` returns as a pair (model, list of arrays or None).

    # Raises
        ModelError: if it raises, or returns no model that can be judged.
    """
    try:
        result = build()
    except Exception as error:
        raise ModelError(f'The model cannot be built: {one_line(error)}'
                         f'{place_in_code(error)}.')
    is_pair = isinstance(result, tuple) and len(result) == 2
    model, inputs = result if is_pair else (result, None)
    if not isinstance(model, Model):
        is_other = type(model).__module__.startswith(('tensorflow', 'tf_keras'))
        found = (f'a {type(model).__name__} of tf.keras, not of `import keras`'
                 if is_other else shortened(repr(model)))
        raise ModelError('Expected a function that returns a Keras `Model`, '
                         f'it returned {found}.')
    _check_has_graph(model)
    if not graphs.is_current(model):
        raise ModelError('Expected a function that builds its model anew each time '
                         'it is called, it returned one that was built before.')
    return model, inputs


def _check_has_graph(model):
    if not graphs.is_network(model):
        raise ModelError('Expected a functional or `Sequential` model, got a '
                         'subclassed one, of class '
                         f'`{type(model).__name__}`: it has no graph to compare.')


def _first_crash(build, clone_model, steps):
    """Returns the name of the first layer with which a model cannot be cloned.

    It is found by cloning models that end after the first nodes of the model, each
    in a state of its own: an attempt may change the original. For `steps` see
    `_steps`.
    """
    def crashes(count):
        with graphs.fresh_state():
            model, _ = built(build)
            part = graphs.first_nodes(model, graphs.ordered_nodes(model)[:count])
            models = [part]
            try:
                for parent, _ in steps if part is not None else ():
                    models.append(clone_model(models[parent]))
            except Exception:
                return True
            return False

    with graphs.fresh_state():
        model, _ = built(build)
        names = [graphs.layer_of(node).name for node in graphs.ordered_nodes(model)]
    count = first_that_holds(crashes, len(names))
    return names[count - 1] if count else ''


def _op_differences(expected, got, exact):
    """Returns a list of at most one `Difference`, in the ops that building the
    original and cloning it added, by their types. If not `exact`, fewer ops are
    none."""
    more = {kind: got[kind] - expected[kind] for kind in sorted({*expected, *got})}
    texts = [f"{abs(n)} {'more' if n > 0 else 'fewer'} {kind}"
             for kind, n in more.items() if n > 0 or n and exact]
    return [Difference(GRAPH, '', 'ops', "as many as the original's",
                       shortened(', '.join(texts)))] if texts else []
