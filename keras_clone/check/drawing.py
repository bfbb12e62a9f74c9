"""Draws a model and its clones side by side, as SVG.

All columns have the same layout: that of everything that any of them has.
"""
import collections
import itertools
import re
import textwrap
from xml.sax.saxutils import escape, quoteattr

from .columns import Clone, columns_of
from .layout import BOX, Layout
from .messages import shortened

__all__ = ['Clone', 'draw']

MARGIN = 24         # on each side of a column
GAP = 44            # between two rows
LINE = 16           # height of a line of text
PORTS = 22          # between two tensors that one call returns, or depends on
MASK = 6            # how far the line of a mask is from that of its tensor
LETTER = 0.58       # average width of a letter, as part of the size of the font

# For an `Edge`: the text beside it in a picture, and that in the description.
TEXTS = {('present', None): ('', ''),
         ('present', 'present'): ('mask', ', with its mask'),
         ('present', 'missing'): ('mask lost', ', without the mask'),
         ('present', 'added'): ('mask added',
                                ', with a mask that the model does not have'),
         ('missing', None): ('output lost', ': the output is lost'),
         ('added', None): ('added', ', which the model does not have'),
         ('absent', None): ('', '')}

LIGHT = """--ink: #1f2328; --quiet: #57606a; --box: #f6f8fa; --mask: #0550ae;
  --lost: #b3152b; --tint: #ffebe9; --good: #116329; --rule: #d0d7de;
  --paper: #ffffff;"""
DARK = """--ink: #e6edf3; --quiet: #9ea7b3; --box: #21262d; --mask: #79c0ff;
  --lost: #ff938a; --tint: #4a1a1f; --good: #7ee787; --rule: #3d444d;
  --paper: #131416;"""
STYLE = f"""
.picture {{ {LIGHT} font: 13px system-ui, sans-serif; }}
@media (prefers-color-scheme: dark) {{ .picture {{ {DARK} }} }}
[data-theme=light] .picture {{ {LIGHT} }}
[data-theme=dark] .picture {{ {DARK} }}""" + """
.picture text { fill: var(--ink); text-anchor: middle; }
.picture .heading { font-weight: 600; }
.picture .small { font-size: 11px; }
.picture .quiet { fill: var(--quiet); }
.picture .good { fill: var(--good); font-weight: 600; }
.picture .bad { fill: var(--lost); font-weight: 600; }
.picture .of-mask { fill: var(--mask); }
.picture .label { text-anchor: start; paint-order: stroke; stroke: var(--paper);
  stroke-width: 4px; stroke-linejoin: round; }
.picture .left { text-anchor: end; }
.picture path { fill: none; stroke-width: 2; }
.picture .rule { stroke: var(--rule); stroke-width: 1; }
.picture .tensor { stroke: var(--ink); stroke-width: 1.5; }
.picture .mask { stroke: var(--mask); stroke-width: 5; }
.picture .cross { stroke: var(--lost); stroke-width: 2.5; }
.picture .absent { fill: none; stroke: var(--quiet); stroke-dasharray: 2 4; }
.picture .missing { fill: none; stroke: var(--lost); stroke-dasharray: 4 4; }
.picture .added { stroke: var(--lost); }
.picture rect { stroke-width: 1; fill: var(--box); }
.picture .paper { fill: var(--paper); stroke: none; }
.picture .present { stroke: var(--quiet); }
.picture rect.first { fill: var(--tint); stroke: var(--lost); stroke-width: 3; }
"""


def draw(title, model, clones):
    """Draws a model and its clones.

    # Arguments
        title: what the model is called.
        model: the outline of the model, see `outline.outline`.
        clones: list of `Clone`s.

    # Returns
        Text: SVG, with a description in words for screen readers.
    """
    columns = columns_of(title, model, clones)
    drawing = _Drawing(columns)
    name = re.sub('[^a-z0-9]+', '-', title.lower()).strip('-') or 'model'
    ids = f'{name}-title', f'{name}-words'
    children = [
        _tag('title', _escaped(f'{title} and its clones'), id=ids[0]),
        _tag('desc', _escaped(' '.join(map(_in_words, columns))), id=ids[1]),
        _tag('style', STYLE),
        _tag('rect', class_='paper', width=drawing.width, height=drawing.height),
        *drawing.parts()]
    return _tag(
        'svg', *[f'\n{each}' for each in children], '\n',
        xmlns='http://www.w3.org/2000/svg', class_='picture', role='img',
        width=drawing.width, height=drawing.height,
        viewBox=f'0 0 {drawing.width} {drawing.height}',
        aria_labelledby=' '.join(ids)) + '\n'


class _Drawing:
    """Draws `Column`s in a picture of a `width` and a `height`."""

    def __init__(self, columns):
        self._columns = columns
        calls = dict.fromkeys(key for column in columns for key in column.boxes)
        tensors = dict.fromkeys(key for column in columns for key in column.edges)
        self._layout = Layout(list(calls), [(start, end)
                                            for start, _, end, _ in tensors])
        self._step = self._layout.width + 2 * MARGIN
        self._heads = [self._head(column) for column in columns]
        self._tops, self._heights = self._rows(columns)
        self._ports = self._all_ports(tensors)
        self.width = self._step * len(columns)
        self.height = self._tops[-1]

    def _head(self, column):
        """Returns the lines of text above a column: pairs (text, CSS class)."""
        lines = [(column.heading, 'heading')]
        for text, style in column.notes:
            # Bold letters are wider.
            style, size = ('small quiet', 11) if style == 'quiet' else (style, 15)
            lines += [(line, style)
                      for line in _wrapped(text, self._step - 16, size)]
        return lines

    def _rows(self, columns):
        """Returns the tops of all rows, that of one more, and the heights."""
        rows = self._layout.rows
        heights = [max(_height(box) for column in columns
                       for key, box in column.boxes.items() if rows[key] == row)
                   for row in range(1 + max(rows.values(), default=-1))]
        first = 24 + LINE * max(map(len, self._heads)) + MARGIN
        tops = itertools.accumulate([first] + [each + GAP for each in heights])
        return list(tops), heights

    def _all_ports(self, tensors):
        """Returns where tensors leave and reach boxes: pairs (tensor, 0 or 2)."""
        groups = collections.defaultdict(list)
        for key in tensors:
            path = self._layout.path(key[0], key[2])
            groups[key[0], 0].append((self._layout.x[path[1]], key))
            groups[key[2], 2].append((self._layout.x[path[-2]], key))
        ports = {}
        for (call, place), items in groups.items():
            # By where they come from or lead to, then by their numbers.
            items.sort(key=lambda item: (item[0], item[1][1], item[1][3]))
            step = min(PORTS, (BOX - 40) / max(1, len(items) - 1))
            for i, (_, key) in enumerate(items):
                ports[key, place] = (self._layout.x[call] +
                                     round((i - (len(items) - 1) / 2) * step))
        return ports

    def parts(self):
        """Yields the lines between columns, then the parts of each column."""
        for i in range(1, len(self._columns)):
            x = i * self._step
            yield _path([(x, MARGIN), (x, self.height - MARGIN)], 'rule')
        for i, column in enumerate(self._columns):
            yield from self._column(i, column)

    def _column(self, i, column):
        left, middle = i * self._step + MARGIN, (i + .5) * self._step
        for j, (text, style) in enumerate(self._heads[i]):
            yield _text(text, middle, 28 + j * LINE, style)
        labels = []
        for key, edge in column.edges.items():
            points = self._points(left, key, column.boxes[key[0]])
            if edge.mask:
                yield _path([(x + MASK, y) for x, y in points],
                            'mask' if edge.mask == 'present' else edge.mask)
            yield _path(points,
                        'tensor' if edge.tensor == 'present' else edge.tensor)
            is_left = self._ports[key, 2] < self._layout.x[key[2]]
            labels += _label(edge, points[-2:], is_left)
        yield from labels
        for key, box in column.boxes.items():
            yield _box(box, left + self._layout.x[key],
                       self._tops[self._layout.rows[key]])

    def _points(self, left, key, box):
        """Returns the points through which a tensor is drawn, in pairs: from the
        bottom of one row to the top of the next."""
        start, _, end, _ = key
        points = [(self._ports[key, 0],
                   self._tops[self._layout.rows[start]] + _height(box))]
        for each in self._layout.path(start, end)[1:-1]:
            x, top = self._layout.x[each], self._tops[each.row]
            points += [(x, top), (x, top + self._heights[each.row])]
        points.append((self._ports[key, 2], self._tops[self._layout.rows[end]]))
        return [(left + x, y) for x, y in points]


def _box(box, x, top):
    frame = dict(x=x - BOX / 2, y=top, width=BOX, height=_height(box), rx=6,
                 class_='first' if box.first else box.state)
    behind = dict(frame, x=frame['x'] + 5, y=top + 5, class_='present')
    tip = ', '.join([box.kind, box.name] + [text for text, _ in box.notes])
    parts = [_tag('title', _escaped(tip))]
    if box.shared and box.state == 'present':
        parts.append(_tag('rect', **behind))
    parts.append(_tag('rect', **frame))
    parts += [_text(text, x, top + 19 + i * LINE, style)
              for i, (text, style) in enumerate(_texts(box))]
    return _tag('g', *parts)


def _height(box):
    return 12 + LINE * len(_texts(box))


def _texts(box):
    """Returns the lines of text in a box: pairs (text, CSS class)."""
    notes = [(line, 'small ' + style) for text, style in box.notes
             for line in _wrapped(text, BOX - 12, 11)]
    return [(_fitting(box.kind, 13), ''),
            (_fitting(box.name, 11), 'small quiet')] + notes


def _label(edge, points, is_left):
    """Yields what is drawn at the end of a tensor: a text and, if it or its mask is
    missing, a cross."""
    (x0, y0), (x1, y1) = points
    x, y = (x0 + x1) / 2, (y0 + y1) / 2
    if 'missing' in edge:
        middle = x + MASK * (edge.mask == 'missing')
        for rise in (6, -6):
            yield _tag('path', class_='cross', d=(f'M{middle - 6:g},{y - rise:g} '
                                                  f'L{middle + 6:g},{y + rise:g}'))
    text, _ = TEXTS[edge]
    if text:
        style = 'label of-mask' if edge.mask == 'present' else 'label bad'
        if is_left:
            yield _text(text, x - 10, y + 4, style + ' left')
        else:
            yield _text(text, x + (18 if edge.mask else 10), y + 4, style)


def _tag(name, *children, **attributes):
    """Returns an element; underscores in names of attributes stand for hyphens."""
    texts = [f' {key.rstrip("_").replace("_", "-")}='
             + quoteattr(value if isinstance(value, str) else f'{value:g}')
             for key, value in attributes.items()]
    start = f'<{name}{"".join(texts)}'
    return f'{start}>{"".join(children)}</{name}>' if children else start + '/>'


def _escaped(text):
    """Returns a text for XML, which does not allow all characters."""
    return escape(''.join(each if each.isprintable() else ' ' for each in text))


def _text(text, x, y, style):
    return _tag('text', _escaped(text), x=x, y=y, class_=style)


def _wrapped(text, width, size):
    return textwrap.wrap(text, int(width / LETTER / size))


def _fitting(text, size):
    """Returns a text, cut if it is too long for a box."""
    return shortened(text, int((BOX - 8) / LETTER / size))


def _path(points, style):
    """Returns a line through points; it is vertical at each of them."""
    text = 'M{:g},{:g}'.format(*points[0])
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        middle = (y0 + y1) / 2
        text += (f' V{y1:g}' if x0 == x1 else
                 f' C{x0:g},{middle:g} {x1:g},{middle:g} {x1:g},{y1:g}')
    return _tag('path', d=text, class_=style)


def _in_words(column):
    """Returns what a column shows."""
    notes = [text.strip('\u2713\u2717 .') for text, _ in column.notes]
    boxes = [f"{box.name}: {', '.join(text for text, _ in box.notes)}"
             for box in column.boxes.values() if box.notes]
    tensors = [f'{column.boxes[start].kind} to {column.boxes[end].kind}' +
               TEXTS[edge][1]
               for (start, _, end, _), edge in column.edges.items()
               if edge.tensor != 'absent']
    return f"{column.heading}: {'; '.join(notes + boxes + tensors)}."
