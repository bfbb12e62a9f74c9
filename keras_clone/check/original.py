"""What a model computes, for comparison with its clones."""
from . import random_values
from .arrays import arrays_close, is_finite
from .describing import describe
from .difference import ModelError
from .failures import one_line
from .graphs import graphs

# How often to draw again: a dropout of few units may keep the same ones twice.
DRAWS = 5


def draw_inputs(model, seed=0):
    """Draws an array for each input of a model; see `random_values.draw_inputs`."""
    return random_values.draw_inputs(graphs.inputs_of(model), seed)


class Original:
    """A model and what it computes.

    # Arguments
        model: a `Model` instance.
        inputs: list of arrays; drawn if not given.
        seed: determines everything that is drawn.
        draw_weights: whether to draw weights; the model keeps its own if the drawn
            ones lead to outputs that are not finite.

    # Attributes
        model: the model.
        is_built: whether it has inputs and outputs. If not, `values`, `outputs` and
            `read` do not exist.
        values: list of arrays that it is evaluated on.
        outputs: list of arrays, its outputs and their masks.
        read: dict of the variables that were read: id -> variable.
        known: see `independence_differences`.
        not_compared: list of texts, what could not be compared so far, and why.

    # Raises
        ModelError: if the model cannot be evaluated on the inputs.
    """

    def __init__(self, model, inputs=None, seed=0, draw_weights=False):
        self.model, self.known = model, {}
        self._trained = None
        self.is_built = graphs.is_built(model)
        self.not_compared = ([] if self.is_built else [
            'outputs (the model is not built: it has none yet)'])
        if self.is_built:
            self.values = self._to_feed(inputs, seed)
            self._compute_first(seed, draw_weights)

    def _to_feed(self, inputs, seed):
        if inputs is None:
            inputs = draw_inputs(self.model, seed)
        count = len(self.model.inputs)
        is_list = isinstance(inputs, (list, tuple))
        if not is_list or len(inputs) != count:
            wanted = ('one array, for the one input' if count == 1
                      else f'{count} arrays, one for each input')
            found = f'{len(inputs)} of them' if is_list else type(inputs).__name__
            raise ModelError('The inputs that come with a model should be a list of '
                             f'{wanted} of the model. Found: {found}.')
        return graphs.inputs_to_feed(self.model, inputs)

    def _compute_first(self, seed, draw_weights):
        weights = self.model.get_weights()
        if draw_weights:
            with graphs.adapted_weights_kept(self.model):
                random_values.draw_weights(self.model, seed)
        self._compute()
        if not all(map(is_finite, self.outputs)):
            self.model.set_weights(weights)
            self._compute()

    def _compute(self):
        try:
            self.read = {}
            self.outputs = graphs.evaluator(self.model, self.values,
                                            read=self.read)()
        except Exception as error:
            raise ModelError('The model cannot be evaluated on the inputs: '
                             f'{one_line(error)}.')

    def computes(self, outputs, seeds=()):
        """Returns whether outputs and masks are those of the model.

        Masks are compared if there are equally many: a missing mask is a difference
        in the graph. Outputs that differ because they are random are not compared.

        # Arguments
            outputs: list of arrays.
            seeds: list of pairs, see `Pairing.seeds`: the generators that were in
                the same state when the outputs were computed.
        """
        differing = self._differing(outputs)
        return self._random_among(differing, seeds) == differing

    def note_random(self, outputs, seeds):
        """Adds those outputs that are random to what was not compared; `outputs`
        and `seeds` are as for `computes`."""
        random = self._random_among(self._differing(outputs), seeds)
        self.not_compared += [self._name_of(i) + ' (random)' for i in random]

    def _differing(self, outputs):
        count = len(self.outputs)
        if len(outputs) != count:
            count = len(self.model.outputs)
        return [i for i, x in enumerate(self.outputs[:count])
                if i >= len(outputs) or not arrays_close(x, outputs[i])]

    def _random_among(self, places, seeds):
        """Returns those of some places at which the outputs are random: they differ
        there when they are computed again with other numbers than `seeds`."""
        if not places:
            return []
        again = [graphs.evaluator(self.model, self.values,
                                  state=self.other_seeds(seeds, draw))()
                 for draw in range(1, DRAWS + 1)]
        return [i for i in places if not all(
            arrays_close(self.outputs[i], outputs[i]) for outputs in again)]

    def other_seeds(self, seeds=(), draw=1):
        """Returns pairs (variable, value): states of random number generators that
        differ for each `draw`, without the variables in `seeds`."""
        return graphs.other_seeds(self.read, {id(mine) for _, mine in seeds},
                                  draw)

    def _name_of(self, i):
        count = len(self.model.outputs)
        return describe(self.model.outputs[i]) if i < count else 'a mask'

    def trained(self):
        """Returns what one step of training computes, see `Graphs.train_once`."""
        if self._trained is None:
            self.targets = graphs.draw_targets(self.model, self.outputs)
            self._trained = graphs.train_once(self.model, self.values, self.targets)
        return self._trained

    def trained_again(self, seeds):
        """Yields what training computes from other random numbers than `seeds`."""
        for draw in range(1, DRAWS + 1):
            yield graphs.train_once(self.model, self.values, self.targets,
                                    self.other_seeds(seeds, draw))
