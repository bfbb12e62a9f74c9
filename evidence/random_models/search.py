"""Draws random models and counts how they are cloned."""
import collections
import itertools
import json
import time

from hypothesis import HealthCheck, Phase, assume, given
from hypothesis import seed as seeded
from hypothesis import settings

from evidence.random_models.judging import NOT_BUILT, NOT_JUDGED, Judge

# Hypothesis slows down with the number of examples it has seen.
BATCH = 100


class Unfaithful(Exception):
    """The overlay does not clone the model of `recipe` faithfully."""

    def __init__(self, recipe, reason):
        super().__init__(reason)
        self.recipe = recipe


class Worse(Unfaithful):
    """The released function clones the model better."""


def is_worse(released, active):
    """Returns whether the overlay clones a model worse than the released function.

    # Arguments
        released, active: an outcome each, see `outcome_of`.
    """
    from keras_clone.check.difference import OUTCOMES
    if NOT_JUDGED in (released, active):
        return released == 'faithful'
    return OUTCOMES.index(active) < OUTCOMES.index(released)


class Counts:
    """The outcomes of random models.

    # Attributes
        released, active: `Counter`s of the outcomes.
        worse: how many models the overlay cloned worse than the released function.
        sizes: `Counter` of the numbers of operations in a model.
        operations: `Counter` {name: number of models that have it}.
        not_built: how many models Keras itself could not build or evaluate.
    """

    def __init__(self):
        self.released, self.active = collections.Counter(), collections.Counter()
        self.sizes, self.operations = collections.Counter(), collections.Counter()
        self.not_built = self.worse = 0

    @property
    def models(self):
        return sum(self.active.values())

    def enter(self, operations, released, active):
        self.released[released] += 1
        self.active[active] += 1
        self.worse += is_worse(released, active)
        self.sizes[len(operations)] += 1
        self.operations.update(set(operations))


def search(models, minutes, seed, advance):
    """Judges random models until there are enough or time is up.

    # Arguments
        models: how many.
        minutes: the time limit; None for no limit.
        seed: determines the models.
        advance: called after each model.

    # Returns
        The `Counts`.

    # Raises
        Unfaithful: at the first model that the overlay does not clone faithfully;
            `Worse` if it clones this one or a smaller one worse than the released
            function.
    """
    from evidence.random_models import recipes
    counts, until = Counts(), time.time() + 60 * (minutes or 1e6)
    is_built = {}  # {recipe: whether Keras itself can build it}
    found, worse = [], []
    released, active = Judge('off'), Judge('on')

    def judge_model(recipe):
        key = json.dumps(recipe)
        operations = recipes.uses(recipe)
        # Hypothesis requires the same result each time: a recipe that is drawn again
        # is rejected only if it was rejected before.
        assume(is_built.get(key, True))
        if key in is_built or counts.models >= models and not found:
            return
        released.ask(recipe)
        active.ask(recipe)
        (theirs, _), (ours, reason) = released.answer(), active.answer()
        is_built[key] = ours != NOT_BUILT
        counts.not_built += not is_built[key]
        assume(is_built[key])
        counts.enter(operations, theirs, ours)
        advance()
        if ours != 'faithful':
            is_built.clear()  # Hypothesis repeats models to find a smaller one.
            found.append(recipe)
            if is_worse(theirs, ours):
                worse.append(Worse(recipe, reason))
                raise worse[-1]
            if not worse:  # Otherwise, the worse one is to be reported.
                raise Unfaithful(recipe, reason)

    try:
        for batch in itertools.count():
            if counts.models >= models or time.time() > until:
                break
            seeded(f'{seed}, batch {batch}')(settings(
                max_examples=BATCH, database=None, deadline=None,
                phases=[Phase.generate, Phase.shrink], report_multiple_bugs=False,
                suppress_health_check=list(HealthCheck))(
                    given(recipes.recipes())(judge_model)))()
    except Exception:
        if worse:  # Hypothesis may have found another one first.
            raise min(worse, key=lambda error: len(json.dumps(error.recipe)))
        raise
    finally:
        released.end()
        active.end()
    return counts
