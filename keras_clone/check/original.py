"""What a model computes, and whether its clones compute the same."""
import types

import numpy as np

from . import random_values
from .difference import (GRAPH, NUMBERS, PREDICT, SAVING, SHARING, Difference,
                         ModelError)
from .graphs import graphs
from .independence import Belongings, changed, changes, names_in
from .messages import one_line, summary
from .values import all_close, arrays_close, distance, is_numeric

# How often to draw again: a dropout of few units may keep the same ones twice.
DRAWS = 5


class Original:
    """A model and what it computes. What is not compared is noted in `not_compared`.

    # Arguments
        model: a `Model` instance.
        inputs: list of arrays; drawn if not given.
        seed: determines everything that is drawn.
        draw_weights: whether to draw weights; the model keeps its own if the drawn
            ones lead to outputs that are not finite.

    # Raises
        ModelError: if the model cannot be evaluated on the inputs.
    """

    def __init__(self, model, inputs=None, seed=0, draw_weights=False):
        self.model = model
        self.belongings = Belongings(model)
        self.is_built = graphs.graph_of(model) is not None
        if not self.is_built:
            self.not_compared = ['outputs (the model is not built: it has none yet)']
            return
        self.not_compared = list(graphs.NOT_TRAINED)
        if inputs is None:
            inputs = random_values.draw_inputs(model, seed)
        self._refuse_other_number(inputs)
        self.values = graphs.inputs_to_feed(model, inputs)
        self.first_weights = model.get_weights()
        try:
            if draw_weights:
                random_values.draw_weights(model, seed)
            self.outputs = graphs.evaluator(model, self.values)()
            if not all(np.isfinite(x).all() for x in self.outputs if is_numeric(x)):
                model.set_weights(self.first_weights)
                self.outputs = graphs.evaluator(model, self.values)()
        except Exception as error:
            raise ModelError('The model cannot be evaluated on the inputs: '
                             f'{one_line(error)}.')

    def _refuse_other_number(self, inputs):
        count = len(self.model.inputs)
        is_list = isinstance(inputs, (list, tuple))
        if not is_list or len(inputs) != count:
            wanted = ('one array, for the one input' if count == 1
                      else f'{count} arrays, one for each input')
            found = f'{len(inputs)} of them' if is_list else type(inputs).__name__
            raise ModelError('The inputs that come with a model should be a list of '
                             f'{wanted} of the model. Found: {found}.')

    def _draws_same(self, its):
        """Returns whether a clone can draw the numbers of the model: whether it has
        as many random number generators."""
        return 0 < len(self.belongings.seeds()) == len(its.seeds())

    def _again(self, compute, its=None, count=DRAWS):
        """Computes something several times, each time from other random numbers; if
        a clone can draw the numbers of the model, from those that both have drawn.
        """
        seeds = self.belongings.seeds()
        if its and self._draws_same(its):
            seeds = []
        values = graphs.values_of(seeds)
        found = []
        for draw in range(1, count + 1):
            graphs.set_values(seeds, [value + draw for value in values])
            found.append(compute())
        graphs.set_values(seeds, values)
        return found

    def _random_among(self, places, its=None):
        """Returns those of some places at which the outputs are random: they differ
        there when they are computed again."""
        again = self._again(graphs.evaluator(self.model, self.values), its,
                            DRAWS if places else 0)
        return [i for i in places if not all(
            arrays_close(self.outputs[i], outputs[i]) for outputs in again)]

    def _differing(self, outputs):
        """Returns the places at which outputs and masks are not those of the model.

        Masks are compared if there are equally many: a missing mask is a difference
        in the graph.
        """
        count = len(self.outputs)
        if len(outputs) != count:
            count = len(self.model.outputs)
        return [i for i, x in enumerate(self.outputs[:count])
                if i >= len(outputs) or not arrays_close(x, outputs[i])]

    def compare_outputs(self, its, locate=True):
        """Compares what the model and a clone compute.

        # Arguments
            its: the `Belongings` of the clone, which gets the weights of the model,
                and the states of its random number generators.
            locate: whether to look for the layer at which outputs differ first.
        """
        if not self.is_built:
            return []
        try:
            its.model.set_weights(self.model.get_weights())
            if self._draws_same(its):
                graphs.set_values(its.seeds(),
                                  graphs.values_of(self.belongings.seeds()))
            evaluate = graphs.evaluator(its.model, self.values)
            with changed(self.belongings.variables()):
                suspects = self._differing(evaluate())
            outputs = evaluate() if suspects else self.outputs
        except Exception as error:
            texts = PREDICT, 'predict', 'outputs', summary(error)
        else:
            differing = self._differing(outputs)
            random = self._random_among(differing, its)
            self.not_compared += [f'{self._name_of(i)} (random)' for i in random]
            if random == differing:
                return self._effects(its, [i for i in suspects
                                           if i not in differing])
            texts = (NUMBERS, 'outputs', "the original's",
                     distance(self.outputs, outputs))
        layer = self._first_layer_to_differ(its) if locate else ''
        return [Difference(texts[0], layer, *texts[1:])]

    def _name_of(self, i):
        if i >= len(self.model.outputs):
            return 'a mask'
        layer, _, k = self.model.outputs[i]._keras_history
        return f'output {k} of {layer.name}'

    def _effects(self, its, suspects):
        """Finds where a change of the variables of one of the models changes the
        other one: at `suspects`, the outputs of the clone have changed."""
        found = []
        if self._random_among(suspects, its) != suspects:
            found.append(Difference(SHARING, '', 'what it computes from',
                                    'variables of its own', "the original's"))
        before = self.belongings.snapshot()
        with changed(its.variables()):
            after = self.belongings.snapshot()
        if changes(before, after):
            found.append(Difference(
                SHARING, '', 'the original when the weights of the clone change',
                'no change', 'other values'))
        return found

    def _first_layer_to_differ(self, its):
        """Returns the first layer whose outputs or masks are not the original's."""
        pairs = self.belongings.partners(its)

        def differ(count):
            nodes, others = zip(*pairs[:count])
            if list(map(_has_masks, nodes)) != list(map(_has_masks, others)):
                return True
            evaluate = graphs.evaluator(self.model, self.values, nodes)
            expected, (again,) = evaluate(), self._again(evaluate, its, 1)
            try:
                got = graphs.evaluator(its.model, self.values, others)()
            except Exception:
                return True
            return len(expected) != len(got) or not all(
                arrays_close(x, y) for x, y, z in zip(expected, got, again)
                if arrays_close(x, z))

        count = first_that_holds(differ, len(pairs))
        return graphs.layer_of(pairs[count - 1][0]).name if count else ''

    def compare_training(self, its, same_graph):
        """Compares losses, outputs in training and the weights after one step.

        # Arguments
            its: the `Belongings` of the clone, which has the weights of the model.
            same_graph: whether the graphs have no difference. If they have one, it
                may be why weights are trained differently: these are left out.
        """
        if not self.is_built:
            return []
        try:
            targets = graphs.draw_targets(
                self.model, self.outputs[:len(self.model.outputs)])
            expected, noise = graphs.train_once(self.model, self.values, targets)
        except Exception as error:
            self.not_compared.append(f'training ({summary(error)})')
            return []
        try:
            got, _ = graphs.train_once(its.model, self.values, targets, noise)
        except Exception as error:
            return [Difference(NUMBERS, '', 'training', "as the original's",
                               summary(error))]
        for what, mine in expected.items():
            others = got.get(what, [])
            if all_close(mine, others) or what == graphs.STEPPED and not same_graph:
                continue
            again = self._again(lambda: graphs.train_once(
                self.model, self.values, targets, noise), its)
            if all(all_close(mine, drawn[what]) for drawn, _ in again):
                weights = [i for i, (x, y) in enumerate(zip(mine, others))
                           if what == graphs.STEPPED and not arrays_close(x, y)]
                layer = (self.belongings.layer_of_weight(weights[0]) if weights
                         else '')
                return [Difference(NUMBERS, layer, what, "the original's",
                                   distance(mine, others))]
            self.not_compared.append(f'{what} (random)')
        return []

    def kept_weights(self, clone, other_values):
        """Finds the weights that a new clone should have drawn anew and has not.

        # Arguments
            clone: the clone.
            other_values: function that returns the weights, as arrays, of a model
                built once more.
        """
        if not self.is_built or graphs.graph_of(clone) is None:
            return []
        values = clone.get_weights()
        drawn = [i for i, (x, _) in enumerate(zip(values, self.first_weights))
                 if x.dtype.kind == 'f' and x.size and (x != x.flat[0]).any()]

        def those_of(others):
            return [i for i, x in enumerate(others)
                    if i in drawn and np.array_equal(values[i], x)]

        kept = those_of(self.model.get_weights())
        if kept != drawn:
            # What a layer was taught, such as matrices of LoRA, may be in the clone.
            kept = [i for i in those_of(self.first_weights) if i not in kept]
        others = other_values() if kept else []
        for i in kept:
            if not np.array_equal(others[i], self.first_weights[i]):
                return [Difference(GRAPH, self.belongings.layer_of_weight(i),
                                   f'weight {i} of the model', 'drawn anew',
                                   "the original's numbers")]
        return []

    def compare_saving(self, clone):
        """Saves and loads a clone with the same weights, if the model can be saved
        and loaded. Returns a list of at most one `Difference`."""
        objects = custom_objects(self.model)

        def problem_of(model):
            try:
                loaded = graphs.reloaded(model, objects)
                outputs = graphs.evaluator(loaded, self.values)()
                differing = self._differing(outputs)
                is_other = self._random_among(differing) != differing
                return distance(self.outputs, outputs) if is_other else ''
            except Exception as error:
                return summary(error)

        text = problem_of(clone) if self.is_built else ''
        return [Difference(SAVING, '', 'save and load', "the original's outputs",
                           text)] if text and not problem_of(self.model) else []


def custom_objects(model):
    """Returns the custom objects that `load_model` may need to load a model: the
    classes of its layers and the functions they hold, by their names, and the global
    names that these functions use."""
    found = {}
    for layer in graphs.all_layers(model):
        found[type(layer).__name__] = type(layer)
        for value in vars(layer).values():
            if isinstance(value, types.FunctionType):
                found[value.__name__] = value
                found.update((name, value.__globals__[name])
                             for name in names_in(value.__code__)
                             if name in value.__globals__)
    return found


def _has_masks(node):
    return [mask is not None for mask in graphs.masks_of(node)[1]]


def first_that_holds(holds, count):
    """Returns the least number of 1 to `count` for which something holds, 0 if it
    holds for none. What holds for a number is assumed to hold for all greater ones.
    """
    if count == 0 or not holds(count):
        return 0
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
