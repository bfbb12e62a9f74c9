"""Whether a clone shares nothing with its original and leaves it as it was."""
import collections
import hashlib

import keras
import numpy as np

from . import graphs
from .difference import NOTHING
from .difference import Difference
from .difference import tensor_leaves


def independence_differences(model, clone, on=None):
    """Finds what a clone shares with its original.

    # Arguments
        model: the original.
        clone: its clone.
        on: list of the tensors that the clone was built on, if it was: they, and
            what they come from, may be anything.

    # Returns
        List of `Difference`s.
    """
    allowed = set() if on is None else _belongings_up_to(on)
    owned = set(_belongings(graphs.all_layers(model))) - allowed
    found = [Difference('independent', path, what, "the clone's own",
                        "the original's")
             for key, (what, path) in _belongings(graphs.all_layers(clone)).items()
             if key in owned]
    return found + _wired(model, clone, on)


def _belongings(layers):
    """Returns the parts of layers that nobody else may have: id -> (what, path)."""
    found = collections.OrderedDict()

    def add(value, what, path):
        found.setdefault(id(value), (what, path))

    for path, layer in layers:
        add(layer, 'the layer', path)
        for what, variable in graphs.own_variables(layer):
            add(variable, what, path)
        for i, node in enumerate(layer._inbound_nodes):
            add(node, 'call %d' % i, path)
            for tensor in graphs.tensors_of(node):
                add(tensor, 'a tensor of call %d' % i, path)
            for arguments in graphs.arguments_of(node):
                for container in _containers(arguments):
                    add(container, 'the arguments of call %d' % i, path)
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
            for container in _containers(each):
                yield container


def _wired(model, clone, on):
    """Finds the calls in the clone that compute from the original's tensors."""
    seen = set()
    graphs.sources(on or [], seen)
    own = set()
    for _, layer in graphs.all_layers(model):
        tensors = [variable for _, variable in graphs.own_variables(layer)]
        for node in layer._inbound_nodes:
            tensors += graphs.tensors_of(node)
        for tensor in tensors:
            own |= graphs.source_keys(tensor)
    own -= seen
    found = []
    for node in graphs.ordered_nodes(clone):
        met = graphs.sources(graphs.tensors_of(node) +
                             tensor_leaves(graphs.arguments_of(node)), seen)
        if met & own:
            found.append(Difference(
                'independent', graphs.layer_of(node).name, 'what it computes from',
                "the clone's own tensors", "some of the original's"))
    return found


def snapshot(model):
    """Notes everything about a model that cloning it must not change.

    # Arguments
        model: a `Model` instance.

    # Returns
        What `changes` compares. It keeps the objects it has noted alive.
    """
    notes, kept = collections.OrderedDict(), []
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
    elif isinstance(value, np.ndarray):
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
    return [Difference('independent', place[0],
                       'the original after cloning, ' + ' '.join(place[1:]),
                       'no change' if place in old else 'nothing',
                       'another value' if place in new else 'nothing')
            for place in places
            if old.get(place, NOTHING) != new.get(place, NOTHING)]
