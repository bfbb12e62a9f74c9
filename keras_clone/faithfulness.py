"""Decides whether a clone is a faithful clone of a model.

A faithful clone computes the same function and has the same graph as the original,
shares nothing with it, leaves it as it was, and can itself be cloned and saved:

- `function`: with the original's weights copied in, equal outputs.
- `graph`: same layers and names in the same order, same configuration, same sharing,
  same calls with the same arguments, a mask where there was a mask and none where
  not; on TensorFlow, as many ops of each type as building the original made.
- `independent`: no layer, node, weight, tensor or call argument of the original is
  in the clone or among what the clone computes from; the original is as before.
- `closed`: the clone's clone is faithful; the clone saves and loads if the original
  does.

`compare` looks at a model and its clone. `check_clone` builds the model, clones it
and looks at everything. Written for Keras 2.2.4 to 2.3.1.
"""
import base64
import collections
import hashlib
import marshal
import os
import shutil
import tempfile
import types
import warnings

import keras
import numpy as np
from keras import backend as K
from keras.engine.base_layer import Node
from keras.engine.network import Network

from . import drawing
from . import graphs

FAITHFUL = 'faithful'
CRASH = 'crash'
PREDICT = 'error at predict'
NUMBERS = 'wrong numbers'
CLONING = 'clone does not clone'
SHARING = 'not independent'
GRAPH = 'other graph'
SAVING = 'does not save'

# From what is worst for a user to what may go unnoticed.
OUTCOMES = (CRASH, PREDICT, NUMBERS, CLONING, SHARING, GRAPH, SAVING, FAITHFUL)

NOTHING = type('Nothing', (), {'__repr__': lambda self: 'nothing'})()


class Difference(collections.namedtuple(
        'Difference', 'clause layer what expected got')):
    """One way in which a clone is not faithful.

    # Attributes
        clause: `function`, `graph`, `independent` or `closed`.
        layer: name of the layer at which the clone parts from the original, for a
            layer inside others the names down to it joined by `/`; empty where
            it is no single layer.
        what: what is compared.
        expected: what the original has, as text.
        got: what the clone has, as text.
    """
    __slots__ = ()

    def __str__(self):
        where = self.layer + ': ' if self.layer else ''
        return '%s%s: expected %s, got %s' % (
            where, self.what, self.expected, self.got)

    @property
    def outcome(self):
        """The word of `OUTCOMES` for this difference."""
        if self.clause == 'function':
            return {'cloning': CRASH, 'predict': PREDICT}.get(self.what, NUMBERS)
        if self.clause == 'closed':
            return SAVING if self.what == 'save and load' else CLONING
        return {'graph': GRAPH, 'independent': SHARING}[self.clause]


class Report(collections.namedtuple(
        'Report', 'outcome layer reason differences')):
    """What `check_clone` found.

    # Attributes
        outcome: one of `OUTCOMES`, the worst thing found.
        layer: name of the layer at which the clone first parts from the original
            in this respect; empty if it is none.
        reason: one readable line; empty for a faithful clone.
        differences: list of every `Difference` found.
    """
    __slots__ = ()

    @property
    def faithful(self):
        """Whether nothing was found."""
        return self.outcome == FAITHFUL


class ModelError(Exception):
    """The original itself cannot be built or evaluated: nothing to compare."""


def check_clone(build, clone_model, inputs=None, seed=0, depth=2, exact_ops=True,
                saving=True):
    """Builds a model, clones it and decides whether the clone is faithful.

    Everything happens in a fresh state (on TensorFlow, a graph and a session of its
    own), because a clone function may change the original it is given.

    # Arguments
        build: a function without arguments that returns a new `Model`.
        clone_model: the function to check; it is called with the model.
        inputs: list of arrays to compare outputs on; drawn if not given.
        seed: what is drawn depends on it alone.
        depth: how often to clone: 2 checks the clone and the clone's clone.
        exact_ops: whether building makes nothing but the model's own ops. If not
            (the model is loaded from a file, or `build` makes more than it
            returns), only more ops than building made are a difference.
        saving: whether to save and load the model and its clone.

    # Returns
        A `Report`.

    # Raises
        ModelError: if `build` raises or returns no `Model`, or the model cannot be
            evaluated on the inputs.

    # Example

    ```python
        from keras.models import clone_model
        print(check_clone(build_my_model, clone_model).outcome)
    ```
    """
    with graphs.fresh_state(seed), warnings.catch_warnings():
        warnings.simplefilter('ignore')
        model, ops = graphs.ops_while(lambda: _built(build))
        original = _Original(model, inputs, seed)
        original.draw_weights(seed)
        found, parent, first = [], model, None
        for generation in range(1, depth + 1):
            before = snapshot(parent)
            try:
                clone, new_ops = graphs.ops_while(lambda: clone_model(parent))
            except Exception as error:
                layer = _first_crash(build, clone_model, generation)
                new = [Difference('function', layer, 'cloning', 'a clone',
                                  _summary(error))]
                found += _of_generation(generation, new, found)
                break
            new = changes(before, snapshot(parent))
            new += _compare(original, clone)
            if parent is not model:
                new += independence_differences(parent, clone)
            exact = exact_ops or parent is not model
            new += op_differences(ops, new_ops, exact, graphs.all_layers(model))
            found += _of_generation(generation, new, found)
            parent, ops, first = clone, new_ops, first or clone
        if first is not None and saving:
            found += saving_differences(original, first)
        return _report(found)


def _built(build):
    try:
        model = build()
    except Exception as error:
        raise ModelError('The model cannot be built: ' + _summary(error))
    if not isinstance(model, keras.models.Model):
        raise ModelError('Expected a function that returns a Keras `Model`, '
                         'it returned %s.' % _describe(model))
    return model


class _Original(object):
    """What a model computes: what its clones are held against.

    # Arguments
        model: the original.
        inputs: list of arrays; drawn if not given.
        seed: what is drawn depends on it alone.
    """

    def __init__(self, model, inputs=None, seed=0):
        self.model = model
        self.is_built = bool(model.inputs)
        if self.is_built:
            if inputs is None:
                inputs = drawing.draw_inputs(model, seed)
            self.values = [
                value if _is_fed(tensor) else graphs.Evaluation([], [tensor])()[0]
                for tensor, value in zip(model.inputs, inputs)]
            self._evaluation = _evaluation(model, _feeds(model, self.values),
                                           _with_masks(model))
            self._compute()

    def _compute(self):
        """Computes the outputs twice: where they differ, they are random."""
        try:
            self.outputs = self._evaluated()
        except Exception as error:
            raise ModelError('The model cannot be evaluated on the inputs: ' +
                             _summary(error))
        self.is_random = not _close(self.outputs, self._evaluated())

    def _evaluated(self):
        _reset_states(self.model)
        return self._evaluation()

    def draw_weights(self, seed):
        """Draws weights, unless only the present ones keep the outputs finite."""
        if self.is_built:
            weights, outputs = self.model.get_weights(), self.outputs
            drawing.draw_weights(self.model, seed)
            self._compute()
            if _all_finite(outputs) and not _all_finite(self.outputs):
                self.model.set_weights(weights)
                self._compute()

    def computed_by(self, model):
        """Returns whether another model computes the same outputs and masks."""
        _reset_states(model)
        outputs = _evaluation(model, _feeds(model, self.values),
                              _with_masks(model))()
        return self.is_random or _close(self.outputs, outputs)


def _all_finite(arrays):
    return all(np.isfinite(each).all() for each in arrays)


def _of_generation(generation, new, known):
    """Makes the differences of a clone's clone, but for known ones, those of closure."""
    if generation == 1:
        return new
    return [each._replace(clause='closed', what="the clone's clone: " + each.what)
            for each in new if each not in known]


def _report(differences):
    for outcome in OUTCOMES:
        for each in differences:
            if each.outcome == outcome:
                return Report(outcome, each.layer, str(each), differences)
    return Report(FAITHFUL, '', '', [])


def _first_crash(build, clone_model, generation):
    """Returns the name of the first layer with which a model cannot be cloned.

    It is found by cloning, each time from the start, models that end after the
    first nodes of the model.
    """
    def crashes(count):
        with graphs.fresh_state():
            model = build()
            nodes = graphs.ordered_nodes(model)
            part = _first_nodes(model, nodes[:count])
            try:
                for _ in range(generation):
                    part = clone_model(part)
            except Exception:
                return nodes[count - 1].outbound_layer.name
            return ''

    with graphs.fresh_state():
        low, high = 0, len(graphs.ordered_nodes(build()))
    name = crashes(high) if high else ''
    while name and high - low > 1:
        middle = (low + high) // 2
        earlier = crashes(middle)
        if earlier:
            name, high = earlier, middle
        else:
            low = middle
    return name


def _first_nodes(model, nodes):
    outputs = [tensor for node in nodes for tensor in node.output_tensors]
    layers = [node.outbound_layer for node in nodes]
    inputs = [tensor for tensor in model.inputs
              if any(tensor._keras_history[0] is layer for layer in layers)]
    return keras.models.Model(inputs, outputs)


def _summary(error):
    first = str(error).strip().split('\n')[0]
    return _shortened('%s: %s' % (type(error).__name__, first), 200)


def _shortened(text, length=70):
    return text if len(text) <= length else text[:length - 3] + '...'


def _describe(value):
    if graphs.is_tensor(value):
        history = getattr(value, '_keras_history', None)
        if history:
            return 'output %d of %s' % (history[2], history[0].name)
        return 'the tensor ' + _shortened(str(value.name))
    return _shortened(repr(value))


# ---------------------------------------------------------------------------------
# A model and its clone


def compare(model, clone, inputs=None, seed=0, on=None):
    """Compares a clone with its original.

    The original's weights are copied to the clone. What can only be seen while
    cloning, or by cloning again, is left to `check_clone`.

    # Arguments
        model: the original.
        clone: its clone.
        inputs: list of arrays to compare outputs on; drawn if not given.
        seed: what is drawn depends on it alone.
        on: list of the tensors that the clone was built on, if it was.

    # Returns
        List of `Difference`s, the worst first. It is empty if nothing was found.
    """
    if not isinstance(clone, keras.models.Model):
        return [Difference('graph', '', 'what cloning returns', 'a `Model`',
                           _describe(clone))]
    return _compare(_Original(model, inputs, seed), clone, on)


def _compare(original, clone, on=None):
    pairing = _Pairing(original.model, clone, on)
    return (function_differences(original, clone, pairing, on) +
            independence_differences(original.model, clone, on) +
            pairing.differences)


# The same function


def function_differences(original, clone, pairing, on=None):
    """Compares outputs, and the masks that go with them, on the same inputs.

    # Arguments
        original: the `_Original`.
        clone: its clone.
        pairing: the `_Pairing` of both.
        on: list of the tensors that the clone was built on, if it was.

    # Returns
        List of at most one `Difference`. Random outputs are not compared.
    """
    if not original.is_built:
        return []
    model, values = original.model, original.values
    try:
        clone.set_weights(model.get_weights())
        _reset_states(clone)
        got = _evaluation(clone, _feeds(clone, values, on), _with_masks(clone))()
    except Exception as error:
        what, got_text = 'predict', _summary(error)
    else:
        if original.is_random or _close(original.outputs, got):
            return []
        what, got_text = 'outputs', _distance(original.outputs, got)
    layer = _first_parting_layer(model, clone, values, pairing, on)
    return [Difference('function', layer, what, "the original's", got_text)]


def _with_masks(model):
    masks = [_mask_of(tensor) for tensor in model.outputs]
    return model.outputs + [mask for mask in masks if mask is not None]


def _mask_of(tensor):
    layer, node_index, tensor_index = tensor._keras_history
    masks = layer._inbound_nodes[node_index].output_masks
    return masks[tensor_index] if tensor_index < len(masks) else None


def _is_fed(tensor):
    return getattr(tensor._keras_history[0], 'is_placeholder', True)


def _feeds(model, values, on=None):
    if on is not None:
        return list(zip(on, values))
    return [(tensor, value) for tensor, value in zip(model.inputs, values)
            if _is_fed(tensor)]


def _evaluation(model, feeds, tensors):
    return graphs.Evaluation(feeds, tensors, model.uses_learning_phase)


def _reset_states(model):
    if model.stateful:
        model.reset_states()


def _close(expected, got):
    return len(expected) == len(got) and all(map(_array_close, expected, got))


def _array_close(x, y):
    if x.shape != y.shape:
        return False
    if x.dtype.kind not in 'fiub' or y.dtype.kind not in 'fiub':
        return bool(np.all(x == y))
    scale = max(1., np.abs(x[np.isfinite(x)]).max()) if x.size else 1.
    return np.allclose(x, y, rtol=1e-4, atol=1e-5 * scale, equal_nan=True)


def _distance(expected, got):
    if len(expected) != len(got):
        return '%d outputs and masks instead of %d' % (len(got), len(expected))
    for x, y in zip(expected, got):
        if x.shape != y.shape:
            return 'the shape %s instead of %s' % (y.shape, x.shape)
    return 'off by up to %.2g' % max(
        np.abs(x.astype(float) - y).max() for x, y in zip(expected, got) if x.size)


def _first_parting_layer(model, clone, values, pairing, on):
    """Returns the first layer whose outputs or masks are not the original's."""
    pairs = pairing.nodes_of_model()
    for node, other in pairs:
        if _has_masks(node) != _has_masks(other):
            return node.outbound_layer.name
    for node, other in pairs:
        _reset_states(model)
        expected = _evaluation(model, _feeds(model, values),
                               graphs.tensors_of(node))()
        try:
            _reset_states(clone)
            got = _evaluation(clone, _feeds(clone, values, on),
                              graphs.tensors_of(other))()
        except Exception:
            return node.outbound_layer.name
        if not _close(expected, got):
            return node.outbound_layer.name
    return ''


def _has_masks(node):
    return [mask is not None for mask in node.output_masks]


# The same graph


class _Pairing(object):
    """Finds for each layer, node and tensor of a model its partner in the clone.

    Layers are paired by their place, starting at the models; tensors and nodes by
    walking back from the outputs. Whatever has no partner, or not the right one,
    becomes a `Difference`.
    """

    def __init__(self, model, clone, on=None):
        self.model = model
        self.paths = {}
        self.partners = {}      # id of a layer or weight -> its partner
        self.originals = {}     # id of a partner -> path of its original
        self.tensors = {}       # id of a tensor or mask -> its partner
        self.node_pairs = []
        self._found = []
        self._seen_nodes = set()
        self._waiting = []
        self._on = on
        self._pair_layers('', model, clone)
        self._walk()
        for node, other in self.node_pairs:
            self._compare_arguments(node, other)
        self._compare_order_of_calls()
        self._compare_attachments(model, clone)

    @property
    def differences(self):
        """The differences, in the order of the model's layers."""
        names = [layer.name for layer in getattr(self.model, '_layers', [])]

        def place(difference):
            top = difference.layer.split('/')[0]
            return names.index(top) if top in names else -1
        return sorted(self._found, key=place)

    def nodes_of_model(self):
        """Returns the paired nodes of the model itself, inputs first."""
        partner = {id(node): other for node, other in self.node_pairs}
        return [(node, partner[id(node)])
                for node in graphs.ordered_nodes(self.model) if id(node) in partner]

    def _differ(self, path, what, expected, got):
        self._found.append(Difference('graph', path, what, expected, got))

    # Layers

    def _pair_layers(self, path, layer, other):
        if id(layer) in self.partners:
            if self.partners[id(layer)] is not other:
                self._differ(path, 'sharing', 'the same layer as %s'
                             % (self.paths[id(layer)] or 'the model'), 'another')
            return
        if id(other) in self.originals:
            self._differ(path, 'sharing', 'a layer of its own',
                         'that of %s' % self.originals[id(other)])
            return
        self.partners[id(layer)] = other
        self.originals[id(other)] = path
        self.paths[id(layer)] = path
        if type(layer) is not type(other):
            self._differ(path, 'class', type(layer).__name__, type(other).__name__)
            return
        for name in ('trainable', 'stateful', 'built'):
            mine, its = getattr(layer, name, None), getattr(other, name, None)
            if mine != its:
                self._differ(path, name, repr(mine), repr(its))
        if isinstance(layer, Network):
            self._pair_networks(path, layer, other)
        else:
            self._pair_weights(path, layer, other)
            self._pair_inner_layers(path, layer, other)

    def _pair_inner_layers(self, path, layer, other):
        mine, its = graphs.inner_layers(layer), dict(graphs.inner_layers(other))
        if sorted(label for label, _ in mine) != sorted(its):
            self._differ(path, 'inner layers', _names(mine), _names(its.items()))
        for label, inner in mine:
            if label in its:
                self._pair_layers('%s/%s' % (path, inner.name), inner, its[label])

    def _pair_weights(self, path, layer, other):
        mine, its = layer.weights, other.weights
        if len(mine) != len(its):
            self._differ(path, 'number of weights', str(len(mine)), str(len(its)))
        for i, (x, y) in enumerate(zip(mine, its)):
            what = 'weight %d' % i
            if self.partners.setdefault(id(x), y) is not y:
                self._differ(path, what, 'that of ' + self.paths[id(x)], 'another')
            elif self.paths.setdefault(id(x), path) == path and \
                    self.originals.setdefault(id(y), path) != path:
                self._differ(path, what, 'one of its own',
                             'that of ' + self.originals[id(y)])
            mine_is, its_is = _kind(x), _kind(y)
            if mine_is != its_is:
                self._differ(path, what, mine_is, its_is)

    def _pair_networks(self, path, network, other):
        if network.name != other.name:
            self._differ(path, 'name', network.name, other.name)
        on = self._on if not path else None
        front = set() if on is None else _layers_up_to(on)
        left_out = set() if on is None else set(map(id, network._input_layers))
        mine = [each for each in network._layers if id(each) not in left_out]
        its = [each for each in other._layers if id(each) not in front]
        prefix = path + '/' if path else ''
        self._compare_names(prefix, mine, its)
        by_name = {each.name: each for each in its}
        for layer in mine:
            if layer.name in by_name:
                its_layer = by_name[layer.name]
                self._pair_layers(prefix + layer.name, layer, its_layer)
                self._compare_configurations(prefix + layer.name, layer, its_layer)
        mine_inputs = network.inputs or []
        its_inputs = on or other.inputs or []
        for what, xs, ys in (('inputs', mine_inputs, its_inputs),
                             ('outputs', network.outputs or [],
                              other.outputs or [])):
            if len(xs) != len(ys):
                self._differ(path, what, str(len(xs)), str(len(ys)))
            for i, (x, y) in enumerate(zip(xs, ys)):
                what_i = '%s %d of the model' % (what[:-1], i)
                if on is not None and what == 'inputs':
                    self.tensors[id(x)] = y
                self._pair_tensors(x.__class__ and path, what_i, x, y)

    def _compare_names(self, prefix, mine, its):
        mine = [each.name for each in mine] + [None]
        its = [each.name for each in its] + [None]
        for i, (x, y) in enumerate(zip(mine, its)):
            if x != y:
                self._differ(prefix + (x or y), 'layer at place %d' % i,
                             x or 'none', y or 'none')
                return

    def _compare_configurations(self, path, layer, other):
        if isinstance(layer, Network) or type(layer) is not type(other):
            return
        try:
            mine = layer.get_config()
        except Exception:
            return
        try:
            its = other.get_config()
        except Exception as error:
            its = _summary(error)
        for way, x, y in _leaf_pairs('', mine, its):
            if not _same_value(x, y):
                self._differ(path, 'configuration' + way, _describe(x), _describe(y))

    # Tensors and nodes

    def _pair_tensors(self, path, what, x, y):
        if id(x) in self.tensors:
            if self.tensors[id(x)] is not y:
                self._differ(path, what, self._partner_text(x), _describe(y))
            return
        if not (hasattr(x, '_keras_history') and hasattr(y, '_keras_history')):
            return
        layer, node_index, tensor_index = x._keras_history
        other, other_node_index, other_tensor_index = y._keras_history
        if id(layer) not in self.partners and id(other) not in self.originals:
            self._pair_layers(layer.name, layer, other)
        if (self.partners.get(id(layer)) is not other or
                tensor_index != other_tensor_index):
            self._differ(path, what, _describe(x), _describe(y))
            return
        self.tensors[id(x)] = y
        self._waiting.append((layer._inbound_nodes[node_index],
                              other._inbound_nodes[other_node_index]))

    def _partner_text(self, x):
        return "the clone's " + _describe(x)

    def _walk(self):
        while self._waiting:
            node, other = self._waiting.pop(0)
            if id(node) in self._seen_nodes:
                continue
            self._seen_nodes.add(id(node))
            self.node_pairs.append((node, other))
            self._pair_nodes(node, other)

    def _path_of(self, node):
        return self.paths[id(node.outbound_layer)]

    def _pair_nodes(self, node, other):
        path = self._path_of(node)
        for what in ('input_tensors', 'output_tensors'):
            mine, its = getattr(node, what), getattr(other, what)
            if len(mine) != len(its):
                self._differ(path, 'number of ' + what.replace('_', ' '),
                             str(len(mine)), str(len(its)))
            for i, (x, y) in enumerate(zip(mine, its)):
                self._pair_tensors(path, '%s %d' % (what.split('_')[0], i), x, y)
        for what in ('input_masks', 'output_masks'):
            self._pair_masks(path, what.replace('_masks', ' mask'),
                             getattr(node, what), getattr(other, what))
        if list(node.output_shapes) != list(other.output_shapes):
            self._differ(path, 'output shapes', str(node.output_shapes),
                         str(other.output_shapes))
        for _, x, y in _leaf_pairs('', node.arguments or {}, other.arguments or {}):
            if graphs.is_tensor(x) and graphs.is_tensor(y):
                self._pair_tensors(path, 'call argument', x, y)

    def _pair_masks(self, path, what, mine, its):
        if len(mine) != len(its):
            self._differ(path, what + 's', str(len(mine)), str(len(its)))
        for i, (x, y) in enumerate(zip(mine, its)):
            if (x is None) != (y is None):
                self._differ(path, '%s %d' % (what, i),
                             'none' if x is None else 'a mask',
                             'none' if y is None else 'a mask')
            elif x is not None:
                self.tensors.setdefault(id(x), y)

    def _compare_arguments(self, node, other):
        for way, x, y in _leaf_pairs('', node.arguments or {},
                                     other.arguments or {}):
            if graphs.is_tensor(x) and graphs.is_tensor(y):
                same = self.tensors.get(id(x), y) is y
            else:
                same = _same_value(x, y, strict=True)
            if not same:
                known = id(x) in self.tensors
                self._differ(self._path_of(node), 'call argument' + way,
                             self._partner_text(x) if known else _describe(x),
                             _describe(y))

    def _compare_order_of_calls(self):
        """A layer's first call is the one that `get_output_at(0)` gives."""
        calls = {}
        for node, other in self.node_pairs:
            calls.setdefault(id(node.outbound_layer), []).append((node, other))
        for pairs in calls.values():
            mine = graphs.nodes_of(pairs[0][0].outbound_layer)
            its = graphs.nodes_of(pairs[0][1].outbound_layer)
            order = [_index(its, other) for _, other in
                     sorted(pairs, key=lambda pair: _index(mine, pair[0]))]
            if order != sorted(order):
                self._differ(self._path_of(pairs[0][0]), 'order of calls',
                             str(sorted(order)), str(order))

    def _compare_attachments(self, model, clone):
        for what in ('losses', 'updates'):
            mine = len(set(map(id, getattr(model, what))))
            its = len(set(map(id, getattr(clone, what))))
            if mine != its:
                self._differ('', 'number of ' + what, str(mine), str(its))


def _names(inner):
    return ', '.join(sorted(label for label, _ in inner)) or 'none'


def _kind(weight):
    return '%s of shape %s' % (K.dtype(weight), K.int_shape(weight))


def _index(items, item):
    return [each is item for each in items].index(True)


def _layers_up_to(tensors):
    """Returns the ids of the layers that tensors come from, at any distance."""
    found, waiting = set(), list(tensors)
    while waiting:
        layer = getattr(waiting.pop(), '_keras_history', [None])[0]
        if layer is not None and id(layer) not in found:
            found.add(id(layer))
            for node in graphs.nodes_of(layer):
                waiting.extend(node.input_tensors)
    return found


def _leaf_pairs(way, x, y):
    """Yields what two structures hold at the same place, as (way, x, y)."""
    if isinstance(x, dict) and isinstance(y, dict):
        for key in sorted(set(x) | set(y), key=repr):
            for each in _leaf_pairs('%s %s' % (way, key), x.get(key, NOTHING),
                                    y.get(key, NOTHING)):
                yield each
    elif (isinstance(x, (list, tuple)) and type(x) is type(y) and
            len(x) == len(y)):
        for i, (each, other) in enumerate(zip(x, y)):
            for pair in _leaf_pairs('%s[%d]' % (way, i), each, other):
                yield pair
    else:
        yield way, x, y


def _same_value(x, y, strict=False):
    """Returns whether two leaves are the same, as far as one can see into them."""
    if x is y:
        return True
    if type(x) is not type(y):
        return False
    if isinstance(x, np.ndarray):
        return x.dtype == y.dtype and _array_close(x, y)
    if isinstance(x, types.FunctionType):
        return x.__code__ == y.__code__
    if isinstance(x, str) and x != y:
        return _code_in(x) == _code_in(y) is not None
    equal = x == y
    if isinstance(equal, (bool, np.bool_)) and equal:
        return True
    return x != x and y != y or (
        not strict and type(x).__eq__ is object.__eq__)


def _code_in(text):
    """Returns the code that `keras.utils.generic_utils.func_dump` put in a text.

    Marshalling the same code twice may give two texts.
    """
    try:
        return marshal.loads(base64.b64decode(text.encode('ascii')))
    except (ValueError, EOFError, TypeError):
        return None


# On TensorFlow, the same ops


def op_differences(expected, got, exact, layers):
    """Compares the ops that building the original and cloning it added.

    # Arguments
        expected: list of the ops that building the original added.
        got: list of the ops that cloning it added.
        exact: whether fewer ops are a difference as well.
        layers: list of pairs (path, layer), to tell where an op belongs.

    # Returns
        List of at most one `Difference`.
    """
    wanted, added = graphs.count_ops(expected), graphs.count_ops(got)
    more = [(kind, added[kind] - wanted[kind])
            for kind in sorted(set(wanted) | set(added))]
    wrong = [(kind, n) for kind, n in more if n > 0 or n and exact]
    if not wrong:
        return []
    kinds = [kind for kind, _ in wrong]
    got_text = ', '.join('%d %s %s' % (abs(n), 'more' if n > 0 else 'fewer', kind)
                         for kind, n in wrong)
    return [Difference('graph', _layer_of_ops(kinds, expected, got, layers),
                       'ops', "as many as the original's", _shortened(got_text))]


def _layer_of_ops(kinds, expected, got, layers):
    """Returns the name of the first layer in whose scopes the counts differ."""
    for path, layer in layers:
        counts = [graphs.count_ops(op for op in ops
                                   if op.type in kinds and
                                   _in_scope(op.name, layer.name))
                  for ops in (expected, got)]
        if path and '/' not in path and counts[0] != counts[1]:
            return path
    return ''


def _in_scope(name, scope):
    """TensorFlow makes a scope's name unique by a number: `lstm_1`, `lstm_1_2`."""
    top = name.split('/')[0]
    return top == scope or (top.startswith(scope + '_') and
                            top[len(scope) + 1:].isdigit())


# Independent of the original


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
    allowed = _layers_up_to(on or [])
    owned = {key: text for key, (text, _) in _belongings(model).items()}
    found = []
    for key, (text, path) in _belongings(clone).items():
        if key in owned and key not in allowed and not any(
                key == id(tensor) for tensor in on or []):
            found.append(Difference('independent', path, text,
                                    "the clone's own", "the original's"))
    return found + _wired_to(model, clone, on or [])


def _belongings(model):
    """Returns the parts of a model that no other may have: id -> (what, path)."""
    found = {}

    def add(value, what, path):
        found.setdefault(id(value), (what, path))

    for path, layer in graphs.all_layers(model):
        add(layer, 'the layer', path)
        for i, weight in enumerate(layer.weights):
            add(weight, 'weight %d' % i, path)
        for i, state in enumerate(graphs.state_variables(layer)):
            add(state, 'state %d' % i, path)
        for i, node in enumerate(graphs.nodes_of(layer)):
            add(node, 'call %d' % i, path)
            for tensor in graphs.tensors_of(node):
                add(tensor, 'a tensor of call %d' % i, path)
            for container in _containers(node.arguments):
                add(container, 'the arguments of call %d' % i, path)
    return found


def _containers(value):
    """Yields the mutable containers of a structure."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    elif isinstance(value, list):
        yield value
    if isinstance(value, (list, tuple)):
        for each in value:
            for container in _containers(each):
                yield container


def _wired_to(model, clone, on):
    """Finds the calls in the clone that compute from the original's tensors."""
    seen = set()
    graphs.sources(on, seen)
    own = set()
    for _, layer in graphs.all_layers(model):
        tensors = list(layer.weights) + graphs.state_variables(layer)
        for node in graphs.nodes_of(layer):
            tensors += graphs.tensors_of(node)
        for tensor in tensors:
            own |= graphs.source_keys(tensor)
    own -= seen
    found = []
    for node in graphs.ordered_nodes(clone):
        arguments = [leaf for _, leaf, _ in
                     _leaf_pairs('', node.arguments or {}, node.arguments or {})
                     if graphs.is_tensor(leaf)]
        met = graphs.sources(graphs.tensors_of(node) + arguments, seen)
        if met & own:
            found.append(Difference(
                'independent', node.outbound_layer.name, 'what it computes from',
                "the clone's own tensors", "some of the original's"))
    return found


# The original, before and after


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
    _note_weights(notes, kept, model)
    _note(notes, kept, ('', 'custom objects'), keras.utils.get_custom_objects())
    return notes, kept


def _note_weights(notes, kept, model):
    places, weights = [], []
    for path, layer in graphs.all_layers(model):
        for i, weight in enumerate(layer.weights):
            places.append((path, 'the value of weight %d' % i))
            weights.append(weight)
    for place, value in zip(places, K.batch_get_value(weights)):
        _note(notes, kept, place, value)


def _note(notes, kept, place, value):
    kept.append(value)
    if isinstance(value, Node):
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
    found = []
    for place in list(old) + [each for each in new if each not in old]:
        if old.get(place, NOTHING) != new.get(place, NOTHING):
            path, way = place[0], ' '.join(place[1:])
            found.append(Difference(
                'independent', path, 'the original after cloning, ' + way,
                'as before' if place in old else 'nothing',
                'something else' if place in new else 'nothing'))
    return found


# Saved and loaded


def saving_differences(original, clone):
    """Saves and loads a clone, if its original can be saved and loaded.

    # Arguments
        original: the `_Original`.
        clone: its clone, with the same weights.

    # Returns
        List of at most one `Difference`.
    """
    if not original.is_built:
        return []
    objects = custom_objects(original.model)
    try:
        if not original.computed_by(_reloaded(original.model, objects)):
            return []
    except Exception:
        return []
    try:
        if original.computed_by(_reloaded(clone, objects)):
            return []
        text = 'other outputs'
    except Exception as error:
        text = _summary(error)
    return [Difference('closed', '', 'save and load', 'the same outputs', text)]


def _reloaded(model, objects):
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, 'model.h5')
    try:
        keras.models.save_model(model, path, include_optimizer=False)
        return keras.models.load_model(path, custom_objects=objects, compile=False)
    finally:
        shutil.rmtree(folder)


def custom_objects(model):
    """Collects what `load_model` may need to know to load a model.

    # Arguments
        model: a `Model` instance.

    # Returns
        A dict: the classes of its layers and the functions they hold, by their
        names, and the global names that these functions use.
    """
    found = {}
    for _, layer in graphs.all_layers(model):
        found[type(layer).__name__] = type(layer)
        for value in vars(layer).values():
            if isinstance(value, types.FunctionType):
                found[value.__name__] = value
                for name in value.__code__.co_names:
                    if name in value.__globals__:
                        found[name] = value.__globals__[name]
    return found
