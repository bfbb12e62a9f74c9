"""Where the calls of layers are drawn: in rows, each below those it depends on.

The rows are known first; then each row is moved back and forth until boxes are close
to what they are connected with. A tensor that passes rows gets a place in each.
"""
import collections

BOX, LINE = 176, 20     # the width of a box, and of a tensor that passes a row
SPACE = 24              # the space between two of them
SWEEPS = 12

# A tensor that passes a row on its way from one call to another.
Passing = collections.namedtuple('Passing', 'start end row')


class Layout:
    """Places for calls and for the tensors between them.

    # Arguments
        calls: list of keys.
        links: list of pairs (key, key of a call that depends on it); of those that
            form a circle, one is left out.
        shown: the keys of the calls to place.

    # Attributes
        rows: dict: key -> its row, from 0.
        x: dict: key or `Passing` -> the middle of its place, from the left.
        width: of all rows.
    """

    def __init__(self, calls, links, shown):
        calls = _sorted(calls, links)
        order = {key: i for i, key in enumerate(calls)}
        links = [(start, end) for start, end in dict.fromkeys(links)
                 if order[start] < order[end]]
        self.rows = _rows(calls, links, shown)
        self._neighbours = {-1: collections.defaultdict(list),
                            1: collections.defaultdict(list)}
        items = [key for key in calls if key in shown]
        for start, end in links:
            if not {start, end}.issubset(shown):
                continue
            path = [start] + self.passed(start, end) + [end]
            items += path[1:-1]
            for upper, lower in zip(path, path[1:]):
                self._neighbours[-1][lower].append(upper)
                self._neighbours[1][upper].append(lower)
        self._lines = _lines(items, self.row_of)
        self._place()

    def row_of(self, item):
        return item.row if isinstance(item, Passing) else self.rows[item]

    def passed(self, start, end):
        """Returns the `Passing`s of a tensor from one call to another."""
        return [Passing(start, end, row)
                for row in range(self.rows[start] + 1, self.rows[end])]

    def _place(self):
        self.x = {}
        for line in self._lines:
            self.x.update(zip(line, _apart(line, [0] * len(line))))
        for sweep in range(SWEEPS):
            side = -1 if sweep % 2 == 0 else 1
            for line in self._lines[::-side]:
                self._move(line, side)
        lefts = [self.x[item] - _width(item) / 2 for item in self.x]
        rights = [self.x[item] + _width(item) / 2 for item in self.x]
        left = min(lefts, default=0)
        self.width = round(max(rights, default=BOX) - left)
        self.x = {item: round(x - left) for item, x in self.x.items()}

    def _move(self, line, side):
        """Moves the items of a row towards those of the row on one side of it."""
        wanted = {}
        for item in line:
            near = self._neighbours[side][item]
            # A tensor that comes from far away bends; the boxes stay in line.
            near = [each for each in near if not isinstance(each, Passing)] or near
            # Among equals, the first input or output is the leftmost.
            places = [self.x[each] + self._neighbours[-side][each].index(item) / 1000
                      for each in near]
            wanted[item] = sum(places) / len(places) if near else self.x[item]
        line.sort(key=wanted.get)
        self.x.update(zip(line, _apart(line, [wanted[item] for item in line])))


def _sorted(calls, links):
    """Returns calls so that each comes after those that it depends on."""
    needed = collections.defaultdict(set)
    for start, end in links:
        needed[end].add(start)
    waiting, found = dict.fromkeys(calls), {}
    while waiting:
        ready = (key for key in waiting if needed[key] <= found.keys())
        key = next(ready, next(iter(waiting)))
        found[key] = waiting.pop(key)
    return list(found)


def _rows(calls, links, shown):
    """Returns the rows: a call is as low as what depends on it allows. Rows of which
    nothing is shown are left out."""
    below = collections.defaultdict(list)
    for start, end in links:
        below[start].append(end)
    heights = {}
    for key in reversed(calls):
        heights[key] = 1 + max((heights[end] for end in below[key]), default=-1)
    used = sorted({heights[key] for key in shown}, reverse=True)
    return {key: used.index(heights[key]) for key in shown}


def _lines(items, row_of):
    """Returns the items of each row, from the top."""
    lines = collections.defaultdict(list)
    for item in items:
        lines[row_of(item)].append(item)
    return [lines[row] for row in sorted(lines)]


def _width(item):
    return LINE if isinstance(item, Passing) else BOX


def _weight(item):
    return 1 if isinstance(item, Passing) else 10


def _apart(line, wanted):
    """Returns places as close as possible to those wanted, that do not overlap.

    The least squares under the order of the line: neighbours that are too close are
    joined into one block, which is where its members want to be on average.
    """
    blocks = []     # lists: place of the first, total weight, distances from it
    for i, (item, x) in enumerate(zip(line, wanted)):
        blocks.append([x, _weight(item), [0]])
        while len(blocks) > 1:
            (x0, weight0, inner0), (x1, weight1, inner1) = blocks[-2:]
            last = line[i - len(inner1)]
            step = (inner0[-1] + SPACE +
                    (_width(last) + _width(line[i - len(inner1) + 1])) / 2)
            if x0 + step <= x1:
                break
            joined = (x0 * weight0 + (x1 - step) * weight1) / (weight0 + weight1)
            blocks[-2:] = [[joined, weight0 + weight1,
                            inner0 + [step + each for each in inner1]]]
    return [x + each for x, _, inner in blocks for each in inner]
