"""Decides whether a clone is a faithful clone of a model.

A faithful clone computes the same function and has the same graph as the original,
shares nothing with it, leaves it as it was, and can itself be cloned and saved:

- `function`: right after `clone.set_weights(model.get_weights())`, equal outputs,
  equal losses and equal weights after one step of training.
- `graph`: same layers and names in the same order, same configuration, same sharing,
  same calls with the same arguments, a mask where there was a mask and none where
  not; at every depth the same flags, order of weights and attributes; compiled with
  the same settings; on TensorFlow, as many ops of each type as building the original
  made.
- `independent`: no layer, node, weight, tensor or call argument of the original is
  in the clone, in anything that the clone holds, or among what it computes from; the
  original is as before.
- `closed`: the clone's clone is faithful; the clone saves and loads if the original
  does.

`compare` looks at a model and its clone. `check_clone` builds the model, clones it
and looks at everything. What is random is compared where both can draw the same
numbers (Keras 3); where not, the report says so.
"""
import types
import warnings

import keras

from . import random_values
from . import graphs
from .difference import GENERATION
from .difference import OUTCOMES
from .difference import Difference
from .difference import ModelError
from .difference import Report
from .difference import all_close
from .difference import arrays_close
from .difference import describe
from .difference import distance
from .difference import first_that_holds
from .difference import is_finite
from .difference import of_generation
from .difference import summary
from .graphs import ops_added
from .independence import changes
from .independence import independence_differences
from .independence import snapshot
from .pairing import Pairing
from .pairing import op_differences

__all__ = ['Difference', 'ModelError', 'OUTCOMES', 'Report', 'changes',
           'check_clone', 'compare', 'ops_added', 'snapshot']

# A dropout of few units leaves the same ones twice now and then.
DRAWS = 5


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
        seed: what is drawn depends on it alone.
        depth: how often to clone: 2 checks the clone and the clone's clone.
        exact_ops: whether building makes nothing but the model's own ops. If not
            (the model is loaded from a file, or `build` makes more than it
            returns), only more ops than building made are a difference.
        saving: whether to save and load the model and its clone.
        locate: whether to look for the layer at which cloning raises or outputs
            part. It takes building and cloning the model some times more.
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
        (model, own_inputs), ops = graphs.ops_while(lambda: _built(build))
        original = _Original(model, inputs or own_inputs, seed, draw_weights=True)
        names = [layer.name for layer in model.layers]
        found, parent, first = [], model, None
        for generation in range(1, depth + 1):
            before = snapshot(parent)
            try:
                clone, new_ops = graphs.ops_while(lambda: clone_model(parent))
            except Exception as error:
                layer = (_first_crash(build, clone_model, generation) if locate
                         else '')
                new = [Difference('function', layer, 'cloning', 'a clone',
                                  summary(error))]
                found += of_generation(generation, new, found)
                break
            new = changes(before, snapshot(parent))
            new += _compare(original, clone, locate=locate,
                            training=training and generation == 1)
            if parent is not model:
                new += independence_differences(parent, clone,
                                                known=original.known)
            exact = exact_ops or parent is not model
            new += op_differences(ops, new_ops, exact, names)
            found += of_generation(generation, new, found)
            parent, ops, first = clone, new_ops, first or clone
        if first is not None and saving:
            found += saving_differences(original, first)
        found = _without_identities(found, original, build, seed)
        return Report.of(found, original.not_compared())


def _without_identities(found, original, build, seed):
    """Leaves out attributes that differ between any two models of that build: they
    tell one layer from another, as a running number does."""
    if not any(each.is_in_attribute for each in found):
        return found
    with graphs.fresh_state(seed):
        other = Pairing(original.model, _built(build)[0]).differences
    places = [(each.layer, each.what) for each in other]
    return [each for each in found if not each.is_in_attribute or
            (each.layer, each.what.split(GENERATION)[-1]) not in places]


def draw_inputs(model, seed=0):
    """Draws an array for each input of a model; see `random_values.draw_inputs`."""
    return random_values.draw_inputs(graphs.inputs_of(model), seed)


def _built(build):
    """Returns what `build` returns as a pair (model, list of arrays or None)."""
    try:
        built = build()
    except Exception as error:
        raise ModelError(f'The model cannot be built: {summary(error)}.')
    model, inputs = built if isinstance(built, tuple) else (built, None)
    if not isinstance(model, keras.models.Model):
        raise ModelError('Expected a function that returns a Keras `Model`, '
                         'it returned %s.' % describe(model))
    if not graphs.is_network(model):
        raise ModelError('Expected a functional or `Sequential` model, it returned '
                         'a subclassed one, of class `%s`: only its code knows its '
                         'graph.' % type(model).__name__)
    if not graphs.is_current(model):
        raise ModelError('Expected a function that builds its model anew each time '
                         'it is called, it returned one that was built before.')
    return model, inputs


class _Original:
    """What a model computes: what its clones are held against.

    # Arguments
        model: the original.
        inputs: list of arrays; drawn if not given.
        seed: what is drawn depends on it alone.
        draw_weights: whether to draw weights; the present ones stay if the drawn
            ones lead to outputs that are not finite.
    """

    def __init__(self, model, inputs=None, seed=0, draw_weights=False):
        self.model = model
        self.is_built = graphs.is_built(model)
        self.known = {}     # see `independence_differences`
        self._not_compared, self._trained = [], None
        if self.is_built:
            if inputs is None:
                inputs = draw_inputs(model, seed)
            if len(inputs) != len(model.inputs):
                raise ModelError('Expected one array for each of the %d inputs of '
                                 'the model, got %d.'
                                 % (len(model.inputs), len(inputs)))
            self.values = graphs.inputs_to_feed(model, inputs)
            weights = model.get_weights()
            if draw_weights:
                with graphs.adapted_weights_kept(model):
                    random_values.draw_weights(model, seed)
            self._compute()
            if not all(map(is_finite, self.outputs)):
                model.set_weights(weights)
                self._compute()

    def _compute(self):
        try:
            self.read = {}
            self.outputs = graphs.evaluator(self.model, self.values,
                                            read=self.read)()
        except Exception as error:
            raise ModelError('The model cannot be evaluated on the inputs: %s.'
                             % summary(error))

    def computes(self, outputs, seeds=()):
        """Returns whether outputs and masks are those of the model.

        Masks are compared if there are as many: whether one is missing is a matter
        of the graph. What is random is not compared, where it differs.

        # Arguments
            outputs: list of arrays.
            seeds: list of pairs, see `Pairing.seeds`: with these equal, they were
                computed.
        """
        count = len(self.outputs)
        if len(outputs) != count:
            count = len(self.model.outputs)
        parting = [i for i, x in enumerate(self.outputs[:count])
                   if i >= len(outputs) or not arrays_close(x, outputs[i])]
        random = self._random_among(parting, seeds)
        self._not_compared += [self._name_of(i) + ' (random)' for i in random]
        return random == parting

    def _random_among(self, places, seeds):
        """Returns at which of some places the outputs are random: there they differ
        when they are computed again, from other numbers than those of `seeds`."""
        if not places:
            return []
        again = [graphs.evaluator(self.model, self.values,
                                  state=self.other_seeds(seeds, draw))()
                 for draw in range(1, DRAWS + 1)]
        return [i for i in places if not all(
            arrays_close(self.outputs[i], outputs[i]) for outputs in again)]

    def other_seeds(self, seeds=(), draw=1):
        """Returns pairs (variable, value): numbers to draw from, others than before
        and for each `draw` but for those in `seeds`."""
        return graphs.other_seeds(self.read, {id(mine) for _, mine in seeds},
                                  draw)

    def _name_of(self, i):
        count = len(self.model.outputs)
        return describe(self.model.outputs[i]) if i < count else 'a mask'

    def not_compared(self):
        """Returns texts for what could not be compared so far."""
        if not self.is_built:
            return ['outputs (the model is not built: it has none yet)']
        return self._not_compared

    def trained(self):
        """Returns what one step of training computes, see `graphs.train_once`."""
        if self._trained is None:
            self.targets = graphs.draw_targets(self.model, self.outputs)
            self._trained = graphs.train_once(self.model, self.values, self.targets)
        return self._trained

    def trained_again(self, seeds, draw):
        return graphs.train_once(self.model, self.values, self.targets,
                                 self.other_seeds(seeds, draw))

    def leave_out(self, text):
        """Notes what cannot be compared."""
        self._not_compared.append(text)


def _first_crash(build, clone_model, generation):
    """Returns the name of the first layer with which a model cannot be cloned.

    It is found by cloning models that end after the first nodes of the model, each
    in a state of its own: an attempt may change the original.
    """
    def crashes(count):
        with graphs.fresh_state():
            model, _ = _built(build)
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
        model, _ = _built(build)
        names = [graphs.layer_of(node).name for node in graphs.ordered_nodes(model)]
    count = first_that_holds(crashes, len(names))
    return names[count - 1] if count else ''


# ---------------------------------------------------------------------------------
# A model and its clone


def compare(model, clone, inputs=None, seed=0, on=None):
    """Compares a clone with its original.

    The original's weights are copied to the clone. What can only be seen while
    cloning, or by cloning again, is left to `check_clone`.

    # Arguments
        model: the original.
        clone: its clone.
        inputs: list of arrays to compare outputs on; drawn if not given.
        seed: what is drawn depends on it alone.
        on: list of the tensors that the clone was built on, if it was.

    # Returns
        List of `Difference`s, the worst first. It is empty if nothing was found.
    """
    return _compare(_Original(model, inputs, seed), clone, on)


def _compare(original, clone, on=None, locate=True, training=True):
    if not isinstance(clone, keras.models.Model):
        return [Difference('graph', '', 'what cloning returns', 'a `Model`',
                           describe(clone))]
    pairing = Pairing(original.model, clone, on)
    found = function_differences(original, clone, pairing, on, locate)
    if not found and on is None:
        found += hidden_differences(pairing)
        found += training_differences(original, clone, pairing) if training else []
    return (found + independence_differences(original.model, clone, on,
                                             original.known) +
            pairing.differences)


# The same function


def function_differences(original, clone, pairing, on=None, locate=True):
    """Compares outputs, and the masks that go with them, on the same inputs.

    # Arguments
        original: the `_Original`.
        clone: its clone.
        pairing: the `Pairing` of both.
        on: list of the tensors that the clone was built on, if it was.
        locate: whether to look for the layer at which the outputs part.

    # Returns
        List of at most one `Difference`.
    """
    if not original.is_built:
        return []
    read, seeds = {}, pairing.seeds()
    try:
        pairing.copy_weights()
        outputs = graphs.evaluator(clone, original.values, on=on, read=read,
                                   state=seeds)()
    except Exception as error:
        texts = 'predict', 'outputs', summary(error)
    else:
        if original.computes(outputs, seeds):
            return _foreign_variables(original.read, read) if on is None else []
        texts = 'outputs', "the original's", distance(original.outputs, outputs)
    layer = _first_parting_layer(original, clone, pairing, on) if locate else ''
    return [Difference('function', layer, *texts)]


def _foreign_variables(owned, read):
    """Finds the variables of the original that a clone computes from."""
    return [Difference('independent', '', 'what it computes from',
                       'variables of its own', "the original's " + read[key].path)
            for key in read if key in owned and not graphs.is_of_nobody(read[key])]


def _first_parting_layer(original, clone, pairing, on=None):
    """Returns the first layer whose outputs or masks are not the original's."""
    pairs, seeds = pairing.nodes_of_model(), pairing.seeds()

    def part(count):
        nodes, others = zip(*pairs[:count])
        if any(_has_masks(x) != _has_masks(y) for x, y in pairs[:count]):
            return True
        expected, again = (
            graphs.evaluator(original.model, original.values, nodes, state=state)()
            for state in ((), original.other_seeds(seeds)))
        try:
            got = graphs.evaluator(clone, original.values, others, on, state=seeds)()
        except Exception:
            return True
        return len(expected) != len(got) or not all(
            arrays_close(x, y) for x, y, z in zip(expected, got, again)
            if arrays_close(x, z))

    count = first_that_holds(part, len(pairs))
    return graphs.layer_of(pairs[count - 1][0]).name if count else ''


def _has_masks(node):
    return [mask is not None for mask in graphs.masks_of(node)[1]]


def hidden_differences(pairing):
    """Compares the values of variables that `set_weights` does not reach: those that
    a function, an object or a container holds."""
    hidden = pairing.hidden_variables()
    values = [graphs.values_of([each[i] for each in hidden]) for i in (1, 2)]
    return [Difference('function', path, 'the value of a variable that it holds',
                       "the original's", distance([x], [y]))
            for (path, _, _), x, y in zip(hidden, *values) if not arrays_close(x, y)]


def training_differences(original, clone, pairing):
    """Compares losses, and weights after one step of training.

    # Arguments
        original: the `_Original`.
        clone: its clone, with the same weights.
        pairing: the `Pairing` of both.

    # Returns
        List of at most one `Difference`.
    """
    if not original.is_built:
        return []
    try:
        expected = original.trained()
    except Exception as error:
        original.leave_out(f'training ({summary(error)})')
        return []
    seeds = pairing.seeds()
    try:
        got = graphs.train_once(clone, original.values, original.targets, seeds)
    except Exception as error:
        return [Difference('function', '', 'training', "as the original's",
                           summary(error))]
    if pairing.differences:  # They tell why weights are trained otherwise.
        expected = {what: expected[what] for what in expected
                    if what != graphs.STEPPED}
    return _first_in_training(original, expected, got, pairing)


def _first_in_training(original, expected, got, pairing):
    """Returns the first difference in what `graphs.train_once` computed."""
    again = None
    for what, mine in expected.items():
        its = got.get(what, [])
        if all_close(mine, its):
            continue
        again = again or [original.trained_again(pairing.seeds(), draw)
                          for draw in range(1, DRAWS + 1)]
        if all(all_close(mine, drawn[what]) for drawn in again):
            layer = (_layer_of_weights(pairing, mine, its)
                     if what == graphs.STEPPED else '')
            return [Difference('function', layer, what, "the original's",
                               distance(mine, its))]
        original.leave_out(what + ' (random)')
    return []


def _layer_of_weights(pairing, expected, got):
    """Returns the path of the layer of the first weight that has other values."""
    return next(pairing.path_of(weight) for weight, x, y in
                zip(pairing.model.weights, expected, got) if not arrays_close(x, y))


# Saved and loaded


def saving_differences(original, clone):
    """Saves and loads a clone, if its original can be saved and loaded.

    # Arguments
        original: the `_Original`.
        clone: its clone, with the same weights.

    # Returns
        List of at most one `Difference`.
    """
    if not original.is_built:
        return []
    objects = custom_objects(original.model)
    try:
        loaded = graphs.reloaded(original.model, objects)
        outputs = graphs.evaluator(loaded, original.values)()
        if not original.computes(outputs):
            return []
    except Exception:
        return []
    try:
        loaded = graphs.reloaded(clone, objects)
        outputs = graphs.evaluator(loaded, original.values)()
        if original.computes(outputs):
            return []
        text = distance(original.outputs, outputs)
    except Exception as error:
        text = summary(error)
    return [Difference('closed', '', 'save and load', "the original's outputs",
                       text)]


def custom_objects(model):
    """Collects what `load_model` may need to know to load a model.

    # Arguments
        model: a `Model` instance.

    # Returns
        A dict: the classes of its layers and the functions they hold, by their
        names, and the global names that these functions use.
    """
    found = {}
    for _, layer in graphs.all_layers(model):
        found[type(layer).__name__] = type(layer)
        for value in vars(layer).values():
            if isinstance(value, types.FunctionType):
                found[value.__name__] = value
                for name in value.__code__.co_names:
                    if name in value.__globals__:
                        found[name] = value.__globals__[name]
    return found
