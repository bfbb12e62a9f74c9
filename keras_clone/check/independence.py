"""Whether a clone shares nothing with its original and leaves it as it was."""
import hashlib

import keras
import numpy as np

from .describing import describe
from .difference import SHARING, Difference
from .graphs import graphs
from .values import NOTHING, tensor_leaves
from ..walk import ATOMS, parts_of

# The calls of a layer lead to the layers before and after it, wherever they are.
CALLS = ('_inbound_nodes', '_outbound_nodes')


def independence_differences(model, clone, on=None, known=None):
    """Finds what a clone shares with its original.

    # Arguments
        model: the original.
        clone: its clone.
        on: list of the tensors that the clone was built on, if it was: these, and
            what they are computed from, may be shared.
        known: dict that keeps what models own, for later calls with the same
            models: id of a model -> (model, what it owns).

    # Returns
        List of `Difference`s.
    """
    allowed = set() if on is None else _belongings_up_to(on)
    known = {} if known is None else known
    for each in (model, clone):
        if id(each) not in known:
            known[id(each)] = each, _owned(each)
    _, owned = known[id(model)]
    found = [Difference(SHARING, path, what, "the clone's own",
                        "the original's")
             for key, (what, path) in known[id(clone)][1].items()
             if key in owned and key not in allowed]
    return found + _computed_from_original(model, clone, on)


def _owned(model):
    """Returns what belongs to this model only: id -> (what, path)."""
    layers = graphs.all_layers(model)
    found = _belongings(layers)
    for key, place in _held(layers).items():
        found.setdefault(key, place)
    return found


def _held(layers):
    """Returns the layers, variables and tensors that layers hold, also those inside
    containers, functions and objects.

    # Arguments
        layers: list of pairs (path, layer).

    # Returns
        A dict {id: (what, path)}: the path is that of the layer that holds it.
    """
    found, seen = {}, {}
    waiting = [(path, each) for path, layer in reversed(layers)
               for each in _parts_of_layer(layer)]
    while waiting:
        path, value = waiting.pop()
        if type(value) in ATOMS or id(value) in seen:
            continue
        seen[id(value)] = value
        what = _what_is_owned(value)
        if what:
            found[id(value)] = 'what it holds: ' + what, path
        if graphs.is_layer(value):
            path = f'{path}/{value.name}' if path else value.name
        waiting += [(path, each) for each in _parts_of(value)]
    return found


def _what_is_owned(value):
    """Returns as text what a value is; empty if several models may have it."""
    if graphs.is_layer(value):
        return 'layer ' + value.name
    if graphs.is_variable(value):
        return '' if graphs.belongs_to_keras(value) else 'a variable'
    if graphs.is_tensor(value) and hasattr(value, '_keras_history'):
        return describe(value)
    return ''


def _parts_of(value):
    if graphs.is_layer(value):
        return _parts_of_layer(value)
    if graphs.is_tensor(value) or isinstance(value, graphs.RECORDS):
        return []
    return parts_of(value)


def _parts_of_layer(layer):
    arguments = [graphs.arguments_of(node) for node in layer._inbound_nodes]
    # TensorFlow repeats under `_self_` what other attributes hold.
    return arguments + [value for name, value in vars(layer).items()
                        if name not in CALLS and not name.startswith('_self_')]


def _belongings(layers):
    """Returns the parts of layers that no two models share: id -> (what, path)."""
    found = {}

    def add(value, what, path):
        found.setdefault(id(value), (what, path))

    for path, layer in layers:
        add(layer, 'the layer', path)
        for what, variable in graphs.own_variables(layer):
            add(variable, what, path)
        for i, node in enumerate(layer._inbound_nodes):
            add(node, f'call {i}', path)
            for tensor in graphs.tensors_of(node):
                add(tensor, f'a tensor of call {i}', path)
            for arguments in graphs.arguments_of(node):
                for container in _containers(arguments):
                    add(container, f'the arguments of call {i}', path)
    return found


def _belongings_up_to(tensors):
    layers = graphs.layers_up_to(tensors).values()
    keys = set(_belongings([('', layer) for layer in layers]))
    return keys.union(map(id, tensors))


def _containers(value):
    """Yields the mutable containers of a structure."""
    if isinstance(value, (dict, list)):
        yield value
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _containers(each)


def _computed_from_original(model, clone, on):
    """Finds the calls in the clone that compute from the original's tensors."""
    seen = set()
    graphs.sources(on or [], seen)
    own = _own_sources(model) - seen
    found = []
    for node in graphs.ordered_nodes(clone):
        met = graphs.sources(graphs.tensors_of(node) +
                             tensor_leaves(graphs.arguments_of(node)), seen)
        if met & own:
            found.append(Difference(
                SHARING, graphs.layer_of(node).name, 'what it computes from',
                "the clone's own tensors", "some of the original's"))
    return found


def _own_sources(model):
    """Returns the keys of variables and tensors of a model, see `Graphs.sources`.
    """
    own = set()
    for _, layer in graphs.all_layers(model):
        tensors = [variable for _, variable in graphs.own_variables(layer)]
        for node in layer._inbound_nodes:
            tensors += graphs.tensors_of(node)
        own.update(*map(graphs.source_keys, tensors))
    return own


def snapshot(model):
    """Records everything about a model that cloning it must not change.

    # Arguments
        model: a `Model` instance.

    # Returns
        What `changes` compares. It keeps the recorded objects alive.
    """
    notes, kept = {}, []
    for path, layer in graphs.all_layers(model):
        for name, value in sorted(vars(layer).items()):
            _note(notes, kept, (path, name), value)
    _note_values(notes, kept, model)
    _note(notes, kept, ('', 'custom objects'), keras.utils.get_custom_objects())
    return notes, kept


def _note_values(notes, kept, model):
    places, variables = [], []
    for path, layer in graphs.all_layers(model):
        for what, variable in graphs.own_variables(layer):
            places.append((path, 'the value of ' + what))
            variables.append(variable)
    for place, value in zip(places, graphs.values_of(variables)):
        _note(notes, kept, place, value)


def _note(notes, kept, place, value):
    kept.append(value)
    if isinstance(value, graphs.RECORDS):
        notes[place] = id(value)
        for name, each in sorted(vars(value).items()):
            _note(notes, kept, place + (name,), each)
    elif isinstance(value, dict):
        for key in value:
            _note(notes, kept, place + (str(key),), value[key])
    elif isinstance(value, (list, tuple)):
        for i, each in enumerate(value):
            _note(notes, kept, place + (str(i),), each)
    elif isinstance(value, (np.ndarray, np.generic)):
        notes[place] = hashlib.md5(value.tobytes()).hexdigest()
    elif value is None or isinstance(value, (bool, int, float, str, bytes)):
        notes[place] = repr(value)
    else:
        history = getattr(value, '_keras_history', (None, None, None))
        notes[place] = (id(value), id(history[0])) + tuple(history[1:])


def changes(before, after):
    """Compares two snapshots of a model.

    # Arguments
        before: what `snapshot` returned before the model was cloned.
        after: what it returned afterwards.

    # Returns
        List of `Difference`s.
    """
    old, new = before[0], after[0]
    places = list(old) + [place for place in new if place not in old]
    return [Difference(SHARING, place[0],
                       'the original after cloning, ' + ' '.join(place[1:]),
                       'no change' if place in old else 'nothing',
                       'another value' if place in new else 'nothing')
            for place in places
            if old.get(place, NOTHING) != new.get(place, NOTHING)]
