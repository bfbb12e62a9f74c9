"""How a clone differs from its original, and the report on all differences."""
import collections
import typing

FAITHFUL = 'faithful'
CRASH = 'crash'
PREDICT = 'cannot predict'
NUMBERS = 'wrong numbers'
CLONING = 'clones only once'
SHARING = 'not independent'
GRAPH = 'other graph'
SAVING = 'does not save'

# From what is worst for a user to what may go unnoticed.
OUTCOMES = (CRASH, PREDICT, NUMBERS, CLONING, SHARING, GRAPH, SAVING, FAITHFUL)


class Difference(typing.NamedTuple):
    """One way in which a clone is not faithful.

    # Attributes
        outcome: one of `OUTCOMES`: that of a clone with no worse difference.
        layer: name of the layer at which the clone differs from the original, for a
            layer inside others the names down to it joined by `/`; empty if it
            is not a single layer.
        what: what is compared.
        expected: what the original has, as text.
        got: what the clone has, as text.
        in_clones_clone: whether it is the clone's clone that differs, or a clone of
            that one.
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


class Report(collections.namedtuple(
        'Report', 'outcome layer reason differences not_compared')):
    """What `check_clone` found.

    # Attributes
        outcome: one of `OUTCOMES`, the worst thing found.
        layer: name of the layer at which the clone first differs from the original
            in this respect; empty if it is not a single layer.
        reason: one readable line; empty for a faithful clone.
        differences: list of every `Difference` found, each once.
        not_compared: list of texts, what could not be compared, and why.
    """
    __slots__ = ()

    @classmethod
    def of(cls, differences, not_compared=()):
        """Returns the report on a list of `Difference`s, see `not_compared`."""
        differences = list(dict.fromkeys(differences))
        not_compared = list(dict.fromkeys(not_compared))
        if not differences:
            return cls(FAITHFUL, '', '', [], not_compared)
        worst = min(differences, key=lambda each: OUTCOMES.index(each.outcome))
        return cls(worst.outcome, worst.layer, str(worst), differences, not_compared)

    @property
    def faithful(self):
        """Whether nothing was found."""
        return self.outcome == FAITHFUL


class ModelError(Exception):
    """The original itself cannot be built or evaluated: nothing to compare."""
