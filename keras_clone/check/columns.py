"""What a picture shows of a model and of each clone: one column each.

Graphs are compared by the names of layers: what a clone lacks, and what it has in
addition, is marked in its column.
"""
import collections
import typing

from .difference import CLONING, CRASH, FAITHFUL
from .messages import shortened

# A larger model is cut to this many calls of layers, those around the difference.
LARGEST, SURROUNDINGS = 50, 16


class Clone(typing.NamedTuple):
    """A clone of the model, or the attempt to make one, and the `Report` on it."""
    heading: str    # The text above it.
    # See `outline.outline`; None if cloning raises. A call of which `made` is False
    # was never made.
    outline: typing.Optional[list]
    outcome: str = FAITHFUL
    layer: str = ''
    reason: str = ''


class Box(typing.NamedTuple):
    """A call of a layer."""
    kind: str       # The class of the layer.
    name: str
    # `present`; `missing` or `added`, if only the model or only the clone has it;
    # `absent`, if there is no clone.
    state: str
    notes: list     # Pairs (text, `quiet` or `bad`).
    shared: bool    # Whether the layer, or a part of it, is used elsewhere as well.
    first: bool     # Whether the clone first differs from the model here.


# A tensor between two calls. `tensor` and `mask` are states, see `Box`; the mask is
# None if there is none in either model.
Edge = collections.namedtuple('Edge', 'tensor mask')
# notes: list of pairs (text, `quiet`, `plain`, `good` or `bad`). boxes: dict: key of
# a call -> `Box`. edges: dict: key of a tensor -> `Edge`.
Column = collections.namedtuple('Column', 'heading notes boxes edges')
# The parts of an outline under keys that are the same in a model and its clone.
# calls: dict: (name of the layer, number of its call) -> the call. masks: dict: (key
# of the call from which a tensor comes, number of the output, key of the call to
# which it leads, how many tensors are alike in these) -> whether there is a mask.
Graph = collections.namedtuple('Graph', 'calls masks')


def columns_of(title, model, clones):
    """Returns what a picture shows: a list of `Column`s, that of the model first.

    # Arguments
        title: what the model is called.
        model: the outline of the model.
        clones: list of `Clone`s.
    """
    mine, *others = graphs = [_graph(model)] + [
        _graph(each.outline or [], model) for each in clones]
    calls = list(dict.fromkeys(key for graph in graphs for key in graph.calls))
    tensors = list(dict.fromkeys(key for graph in graphs for key in graph.masks))
    differing = [key for key in map(_first_difference, clones) if key in mine.calls]
    shown = _surroundings(calls, tensors, differing)
    notes = [(title, 'quiet')]
    if not calls:
        notes.append(('It is not built: it has no graph yet.', 'quiet'))
    if len(shown) < len(calls):
        where = 'around the difference' if differing else 'at the start'
        notes.append((f'Cut: {len(shown)} of {len(calls)} layers, those {where}.',
                      'plain'))

    def column(heading, notes, its, clone=None):
        boxes = {key: _box(key, mine.calls.get(key), its.calls.get(key), clone)
                 for key in calls
                 if key in shown and (key in mine.calls or key in its.calls)}
        edges = {key: _edge(mine.masks.get(key), its.masks.get(key), clone)
                 for key in tensors if shown.issuperset(key[::2]) and
                 (key in mine.masks or key in its.masks)}
        return Column(heading, notes, boxes, edges)

    return [column('The model', notes, mine)] + [
        column(clone.heading, _about(clone), its, clone)
        for clone, its in zip(clones, others)]


def _graph(outline, original=()):
    """Returns the `Graph` of an outline: where a clone has another name for a layer
    of the same kind at the same place, the key has the name in the original."""
    keys, known = list(map(_key, outline)), set(map(_key, original))
    for i, (call, other) in enumerate(zip(outline, original)):
        if (keys[i] not in known and _key(other) not in keys and
                call['kind'] == other['kind']):
            keys[i] = _key(other)
    masks = {}
    for key, call in zip(keys, outline):
        alike = collections.Counter()
        for each in call['inputs']:
            start = keys[each['of']], each['output']
            masks[(*start, key, alike[start])] = each['mask']
            alike[start] += 1
    return Graph({key: call for key, call in zip(keys, outline)
                  if call.get('made', True)}, masks)


def _key(call):
    return call['name'], call['call']


def _first_difference(clone):
    """Returns the key of the first call of the layer at which a clone first differs
    from the model, or of the layer that this one is in."""
    return clone.layer.partition('/')[0], 1


def _surroundings(calls, tensors, differing):
    """Returns the calls to show: all, or those that are nearest to a difference."""
    if len(calls) <= LARGEST:
        return set(calls)
    near = collections.defaultdict(list)
    for start, _, end, _ in tensors:
        near[start].append(end)
        near[end].append(start)
    waiting, found = collections.deque(differing or calls[:1]), set()
    while waiting and len(found) < SURROUNDINGS:
        key = waiting.popleft()
        if key not in found:
            found.add(key)
            waiting.extend(near[key])
    return found


def _state(mine, its, clone):
    """Returns the state of a part, given what the model and the clone have; `clone`
    is None in the column of the model."""
    if clone is not None and clone.outline is None:
        return 'absent'
    return 'missing' if its is None else 'added' if mine is None else 'present'


def _edge(mine, its, clone):
    state, mask = _state(mine, its, clone), None
    if state == 'present' and bool(mine) != bool(its) and clone.outcome != FAITHFUL:
        mask = 'added' if its else 'missing'
    elif state == 'present' and its:
        mask = 'present'
    return Edge(state, mask)


def _box(key, mine, its, clone):
    state, call = _state(mine, its, clone), its or mine
    notes = [] if state == 'absent' else _sharing(mine or its, its or mine)
    if state == 'present' and mine['name'] != its['name']:
        notes.insert(0, (f"named {its['name']}", 'quiet'))
    if state in ('missing', 'added'):
        notes.append((state if state == 'missing' else 'not in the model', 'bad'))
    is_first = bool(clone and mine and key == _first_difference(clone))
    if is_first:
        what = 'cloning fails here' if clone.outcome == CRASH else 'first difference'
        inner = clone.layer.partition('/')[2]
        notes.append((f'{what}: {inner}' if inner else what, 'bad'))
    shared = call['calls'] > 1 or bool(call['shares_with'])
    return Box(call['kind'], key[0], state, notes, shared, is_first)


def _sharing(mine, its):
    """Returns notes on what a call shares with others."""
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
        prefix, reason = clone.layer + ': ', clone.reason
        reason = reason[len(prefix):] if reason.startswith(prefix) else reason
        notes.append((shortened(reason, 250), 'quiet'))
    if clone.outcome == CLONING and clone.outline is not None:
        notes.append(("Drawn: the clone's clone.", 'quiet'))
    return notes
