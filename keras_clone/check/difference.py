"""How a clone differs from its original, and the report on all differences."""
import typing

# From what is worst for a user to what may go unnoticed.
OUTCOMES = (
    'crash', 'cannot predict', 'wrong numbers', 'clones only once',
    'not independent', 'other graph', 'does not save', 'faithful')
CRASH, PREDICT, NUMBERS, CLONING, SHARING, GRAPH, SAVING, FAITHFUL = OUTCOMES


class ModelError(Exception):
    """The original itself cannot be built or evaluated: nothing to compare."""


class Difference(typing.NamedTuple):
    """One way in which a clone is not faithful.

    # Attributes
        outcome: one of `OUTCOMES`: that of a clone with no worse difference.
        layer: name of the layer that differs; for a layer inside others the names
            down to it, joined by `/`; empty if it is not a single layer.
        what: what is compared.
        expected: what the original has, as text.
        got: what the clone has, as text.
        in_clones_clone: whether it is the clone's clone that differs.
    """
    outcome: str
    layer: str
    what: str
    expected: str
    got: str
    in_clones_clone: bool = False

    def __str__(self):
        where = self.layer + ': ' if self.layer else ''
        whose = "the clone's clone: " if self.in_clones_clone else ''
        return f'{where}{whose}{self.what}: expected {self.expected}, got {self.got}'


class Report(typing.NamedTuple):
    """What `check_clone` found.

    # Attributes
        outcome: one of `OUTCOMES`, the worst thing found.
        layer: see `Difference`: of the first one with this outcome.
        reason: the text of that difference; empty for a faithful clone.
        differences: list of every `Difference` found, each once.
        not_compared: list of texts, what could not be compared, and why.
    """
    outcome: str
    layer: str
    reason: str
    differences: list
    not_compared: list

    @classmethod
    def of(cls, differences, not_compared=()):
        """Returns the report on a list of `Difference`s, see `not_compared`."""
        found = list(dict.fromkeys(differences)), list(dict.fromkeys(not_compared))
        if not differences:
            return cls(FAITHFUL, '', '', *found)
        worst = by_severity(differences)[0]
        return cls(worst.outcome, worst.layer, str(worst), *found)

    @property
    def faithful(self):
        """Whether nothing was found."""
        return self.outcome == FAITHFUL


def by_severity(differences):
    """Returns `Difference`s, the worst first."""
    return sorted(differences, key=lambda each: OUTCOMES.index(each.outcome))
