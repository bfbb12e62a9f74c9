"""What a picture shows of a model and of each clone: one column each.

Graphs are compared by the names of layers: what a clone lacks, and what it has in
addition, is marked in its column.
"""
import collections
import textwrap
import typing

from .difference import CLONING, CRASH, FAITHFUL

# A larger model is cut to this many calls of layers, those around the difference.
LARGEST, SURROUNDINGS = 50, 16

OF_STATE = {'missing': 'missing', 'added': 'not in the model'}


class Clone(typing.NamedTuple):
    """A clone of the model, or the attempt to make one.

    # Attributes
        heading: the text above it.
        outline: see `outline.outline`; None if cloning raises. A call of which
            `made` is False was never made.
        outcome: what `check_clone` found.
        layer: the layer at which it first differs from the original; may be empty.
        reason: one line; empty for a faithful clone.
    """
    heading: str
    outline: typing.Optional[list]
    outcome: str = FAITHFUL
    layer: str = ''
    reason: str = ''


class Box(typing.NamedTuple):
    """A call of a layer.

    # Attributes
        kind: the class of the layer.
        name: the name of the layer.
        state: `present`; `missing` or `added`, if only the model or only the clone
            has it; `absent`, if there is no clone.
        notes: list of pairs (text, `quiet` or `bad`).
        shared: whether the layer, or a part of it, is used elsewhere as well.
        first: whether the clone first differs from the model here.
    """
    kind: str
    name: str
    state: str
    notes: list
    shared: bool
    first: bool


# A tensor between two calls. `tensor` and `mask` are states, see `Box`; the mask is
# None if there is none in either model.
Edge = collections.namedtuple('Edge', 'tensor mask')
# notes: list of pairs (text, `quiet`, `plain`, `good` or `bad`). boxes: dict: key of
# a call -> `Box`. edges: dict: key of a tensor -> `Edge`.
Column = collections.namedtuple('Column', 'heading notes boxes edges')


class Graph:
    """An outline, with keys that are the same in a model and its clone.

    # Arguments
        outline: the outline of the model or the clone.
        original: the outline of the model, if it is that of the clone.

    # Attributes
        calls: dict: (name of the layer, number of its call) -> the call.
        inputs: dict: key of a call -> list of what it depends on: triples (key of
            another call, number of its output, whether there is a mask).
        masks: dict: (key of the call from which a tensor comes, number of the
            output, key of the call to which it leads, how many tensors are alike
            in these) -> whether there is a mask.
    """

    def __init__(self, outline, original=()):
        keys = _keys(outline, original)
        self.calls = {key: call for key, call in zip(keys, outline)
                      if call.get('made', True)}
        self.inputs = {key: [(keys[each['of']], each['output'], each['mask'])
                             for each in call['inputs']]
                       for key, call in zip(keys, outline)}
        self.masks = {}
        for key, inputs in self.inputs.items():
            alike = collections.Counter()
            for start, output, mask in inputs:
                self.masks[start, output, key, alike[start, output]] = mask
                alike[start, output] += 1


def _keys(outline, original):
    """Returns the keys of calls: where a clone has another name for a layer of the
    same kind at the same place, the key has the name in the original."""
    keys = [_key(call) for call in outline]
    known = set(map(_key, original))
    for i, (call, other) in enumerate(zip(outline, original)):
        if (keys[i] not in known and _key(other) not in keys and
                call['kind'] == other['kind']):
            keys[i] = _key(other)
    return keys


def _key(call):
    return call['name'], call['call']


class Comparison:
    """The columns of a picture.

    # Arguments
        title: what the model is called.
        model: the outline of the model.
        clones: list of `Clone`s.

    # Attributes
        calls: list of the keys of all calls.
        links: list of pairs: the keys of two calls between which there is a tensor.
        shown: set of the keys of the calls that are shown.
        cut: set of pairs (key of a call, -1 or 1): it is connected with calls above
            or below it that are not shown.
        columns: list of `Column`s, that of the model first.
    """

    def __init__(self, title, model, clones):
        self._model = Graph(model)
        graphs = [self._model] + [Graph(each.outline or [], model)
                                  for each in clones]
        calls = list(dict.fromkeys(key for graph in graphs for key in graph.calls))
        tensors = list(dict.fromkeys(key for graph in graphs for key in graph.masks))
        firsts = [_first_difference(self._model, *each)
                  for each in zip(graphs[1:], clones)]
        differing = list(filter(None, firsts))
        self.calls = calls
        self.links = [(start, end) for start, _, end, _ in tensors]
        self.shown = _surroundings(calls, self.links, differing)
        self._tensors = [key for key in tensors if self.shown.issuperset(key[::2])]
        self.cut = _cut(self.links, self.shown)
        notes = [(title, 'quiet')] + _about_size(len(self.shown), len(calls),
                                                 differing)
        self.columns = [self._column('The model', notes, self._model)]
        self.columns += [
            self._column(clone.heading, _about(clone), graph, clone, first)
            for graph, clone, first in zip(graphs[1:], clones, firsts)]

    def _column(self, heading, notes, graph, clone=None, first=None):
        boxes, edges = {}, {}
        for key in filter(self.shown.__contains__, self.calls):
            mine, its = self._model.calls.get(key), graph.calls.get(key)
            state = _state(mine, its, clone)
            if state:
                boxes[key] = _box(mine, its, state, clone if key == first else None)
        for key in self._tensors:
            mine, its = self._model.masks.get(key), graph.masks.get(key)
            state = _state(mine, its, clone)
            if state:
                edges[key] = Edge(state, _state_of_mask(mine, its, state, clone))
        return Column(heading, notes, boxes, edges)


def _first_difference(model, graph, clone):
    """Returns the key of the call at which a clone first differs from the model.

    It is the first call of the layer that the judge named, or of the one that this
    layer is in. If it named none, it is the first call with other sharing or inputs;
    None if there is none.
    """
    key = clone.layer.partition('/')[0], 1
    if key in model.calls:
        return key
    if clone.outcome == FAITHFUL or clone.outline is None:
        return None
    for key, mine in model.calls.items():
        its = graph.calls.get(key)
        if (its is None or model.inputs[key] != graph.inputs[key] or
                any(style == 'bad' for _, style in _sharing(mine, its))):
            return key
    return None


def _state(mine, its, clone):
    """Returns the state of a part, given what the model and the clone have; None if
    neither has it."""
    if mine is None and its is None:
        return None
    if clone is not None and clone.outline is None:
        return 'absent'
    return 'missing' if its is None else 'added' if mine is None else 'present'


def _state_of_mask(mine, its, state, clone):
    if state != 'present' or not (mine or its):
        return None
    if mine and its or clone.outcome == FAITHFUL:
        return 'present' if its else None
    return 'added' if its else 'missing'


def _box(mine, its, state, differing):
    """Returns the `Box` of a call.

    # Arguments
        mine: the call in the model, or None.
        its: that in the clone, or None.
        state: see `Box`.
        differing: the `Clone`, if it first differs from the model here.
    """
    call, key = its or mine, _key(mine or its)
    notes = [] if state == 'absent' else _sharing(mine, its)
    if state == 'present' and mine['name'] != its['name']:
        notes.insert(0, (f"named {its['name']}", 'quiet'))
    if state in OF_STATE:
        notes.append((OF_STATE[state], 'bad'))
    if differing:
        what = ('cloning fails here' if differing.outcome == CRASH
                else 'first difference')
        inner = differing.layer.partition('/')[2]
        notes.append((f'{what}: {inner}' if inner else what, 'bad'))
    shared = call['calls'] > 1 or bool(call['shares_with'])
    return Box(call['kind'], key[0], state, notes, shared, bool(differing))


def _sharing(mine, its):
    """Returns notes on what a call shares with others."""
    mine, its = mine or its, its or mine
    found = []
    if its['calls'] > 1:
        found.append((f"call {its['call']} of {its['calls']}", 'quiet'))
    elif mine['calls'] > 1:
        found.append(('no longer shared', 'bad'))
    before, now = set(mine['shares_with']), set(its['shares_with'])
    for text, names, style in (('shared with', now & before, 'quiet'),
                               ('no longer shared with', before - now, 'bad'),
                               ('now shared with', now - before, 'bad')):
        if names:
            found.append((f"{text} {', '.join(sorted(names))}", style))
    return found


def _about(clone):
    """Returns the notes above a clone."""
    faithful = clone.outcome == FAITHFUL
    at = f' at {clone.layer}' if clone.layer else ''
    notes = [(('\u2713 ' if faithful else '\u2717 ') + clone.outcome + at,
              'good' if faithful else 'bad')]
    if clone.reason:
        prefix = clone.layer + ': '
        reason = clone.reason
        reason = reason[len(prefix):] if reason.startswith(prefix) else reason
        notes.append((textwrap.shorten(reason, 250, placeholder='...'), 'quiet'))
    if clone.outcome == CLONING and clone.outline is not None:
        notes.append(("Drawn: the clone's clone.", 'quiet'))
    return notes


def _about_size(shown, count, differing):
    """Returns the notes on what of the model is shown."""
    if not count:
        return [('It is not built: it has no graph yet.', 'quiet')]
    if shown == count:
        return []
    where = 'around the difference' if differing else 'at the start'
    return [(f'Cut: {shown} of {count} layers, those {where}.', 'plain')]


def _surroundings(calls, links, differing):
    """Returns the calls to show: all, or those that are nearest to a difference."""
    if len(calls) <= LARGEST:
        return set(calls)
    near = collections.defaultdict(list)
    for start, end in links:
        near[start].append(end)
        near[end].append(start)
    waiting, found = collections.deque(differing or calls[:1]), set()
    while waiting and len(found) < SURROUNDINGS:
        key = waiting.popleft()
        if key not in found:
            found.add(key)
            waiting.extend(near[key])
    return found


def _cut(links, shown):
    above = {(end, -1) for start, end in links if start not in shown}
    below = {(start, 1) for start, end in links if end not in shown}
    return {(key, side) for key, side in above | below if key in shown}
