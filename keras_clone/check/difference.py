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
    """One way in which a clone is not faithful."""
    outcome: str    # One of `OUTCOMES`: that of a clone with no worse difference.
    # The name of the layer that differs; for a layer inside others the names down to
    # it, joined by `/`; empty if it is not a single layer.
    layer: str
    what: str       # What is compared.
    expected: str   # What the original has, as text.
    got: str        # What the clone has, as text.
    clone: str = ''  # Which clone differs, as text; empty if it is the first one.

    def __str__(self):
        where = ': '.join(filter(None, (self.layer, self.clone, self.what)))
        return f'{where}: expected {self.expected}, got {self.got}'


class Report(typing.NamedTuple):
    """What `check_clone` found."""
    outcome: str        # One of `OUTCOMES`, the worst thing found.
    layer: str          # See `Difference`: of the first one with this outcome.
    reason: str         # The text of that difference; empty for a faithful clone.
    differences: list   # Every `Difference` found, each once.
    not_compared: list  # Texts: what could not be compared, and why.

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
