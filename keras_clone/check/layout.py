"""Where the calls of layers are drawn: in rows, each below those it depends on."""
import collections
import itertools

BOX, LINE = 176, 20     # the width of a box, and of a tensor that passes a row
SPACE = 24              # the space between two of them
SWEEPS = 6

# A tensor that passes a row on its way from one call to another.
Passing = collections.namedtuple('Passing', 'start end row')


class Layout:
    """Places for calls and for the tensors between them.

    The rows are known first; then each row is moved back and forth until boxes are
    close to what they are connected with.

    # Arguments
        calls: list of keys.
        links: list of pairs (key, key of a call that depends on it); of those that
            form a circle, one leads upwards.

    # Attributes
        rows: dict: key -> its row, from 0.
        x: dict: key or `Passing` -> the middle of its place, from the left.
        width: of all rows.
    """

    def __init__(self, calls, links):
        self.rows = _rows(calls, links)
        # What each item is connected with, in the rows above and in those below.
        above, below = (collections.defaultdict(list) for _ in range(2))
        items = list(self.rows)
        for start, end in dict.fromkeys(links):
            if self.rows[start] < self.rows[end]:
                path = self.path(start, end)
                items += path[1:-1]
                for upper, lower in zip(path, path[1:]):
                    above[lower].append(upper)
                    below[upper].append(lower)
        lines = [list(line) for _, line in itertools.groupby(
            sorted(items, key=self.row_of), self.row_of)]
        self.x = {}
        for line in lines:
            self._put(line, dict.fromkeys(line, 0))
        for _ in range(SWEEPS):
            for line in lines:
                self._move(line, above, below)
            for line in reversed(lines):
                self._move(line, below, above)
        left = min((x - _width(item) / 2 for item, x in self.x.items()), default=0)
        right = max((x + _width(item) / 2 for item, x in self.x.items()),
                    default=BOX)
        self.width = round(right - left)
        self.x = {item: round(x - left) for item, x in self.x.items()}

    def row_of(self, item):
        """Returns the row of a call or a `Passing`."""
        return item.row if isinstance(item, Passing) else self.rows[item]

    def path(self, start, end):
        """Returns a call, the `Passing`s of its tensor, and the call it leads to."""
        return [start, *(Passing(start, end, row) for row in range(
            self.rows[start] + 1, self.rows[end])), end]

    def _move(self, line, near, back):
        """Moves the items of a row towards those on one side of it."""
        wanted = {}
        for item in line:
            # A tensor that comes from far away bends; the boxes stay in line.
            others = [each for each in near[item]
                      if not isinstance(each, Passing)] or near[item]
            # Among equals, the first input or output is the leftmost.
            places = [self.x[each] + back[each].index(item) / 1000
                      for each in others]
            wanted[item] = sum(places) / len(places) if places else self.x[item]
        line.sort(key=wanted.get)
        self._put(line, wanted)

    def _put(self, line, wanted):
        """Places the items of a row where they are wanted, on average: each is moved
        to the right of the one before it, then all back to the left."""
        right, moved, weights = None, 0, 0
        for item in line:
            half = _width(item) / 2
            x = wanted[item] if right is None else max(wanted[item],
                                                       right + SPACE + half)
            self.x[item], right = x, x + half
            weight = 1 if isinstance(item, Passing) else 10
            moved, weights = moved + weight * (x - wanted[item]), weights + weight
        for item in line:
            self.x[item] -= moved / weights


def _width(item):
    return LINE if isinstance(item, Passing) else BOX


def _rows(calls, links):
    """Returns the rows, by calls that each come after those that it depends on: a
    call is as low as what depends on it allows."""
    above, below = (collections.defaultdict(set) for _ in range(2))
    for start, end in links:
        above[end].add(start)
        below[start].add(end)
    waiting, found = dict.fromkeys(calls), {}
    while waiting:
        ready = (key for key in waiting if above[key] <= found.keys())
        key = next(ready, next(iter(waiting)))
        found[key] = waiting.pop(key)
    heights = {}
    for key in reversed(list(found)):
        heights[key] = 1 + max((heights[end] for end in below[key]
                                if end in heights), default=-1)
    return {key: max(heights.values()) - heights[key] for key in found}
