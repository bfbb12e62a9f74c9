"""What a user can see of a model, as plain data, and how two models differ in it.

A description knows layers by their names, tensors by the calls that return them: so
those of a model and its clone are equal, although nothing in one is in the other.
"""
import collections
import re

import keras
import numpy as np

from .difference import GRAPH, Difference
from .graphs import graphs
from .messages import summary
from .values import NOTHING, leaves_of, same, text_of

# Groups of facts, the most important first.
PARTS, CONNECTIONS, ARGUMENTS, ANSWERS = range(4)
AT_PLACE = 'layer at place'

# A call of a layer. network: the key of the network it is in. number: from 0.
Call = collections.namedtuple('Call', 'network number')


class Label(str):
    """A text that stands for something, such as a layer or a tensor.

    # Arguments
        text: what people read. It may have a number that Keras appended to a name.
        key: what decides whether two labels are equal; the text if not given.
    """
    __repr__ = str.__str__

    def __new__(cls, text, *key):
        label = super().__new__(cls, text)
        label.key = key or text
        return label

    def __eq__(self, other):
        return self.key == getattr(other, 'key', other)


class Raised(Label):
    """The text of the exception that a method raised, instead of an answer."""


NO_MASK, ANSWERED = Label('none'), Label('an answer')


class Description:
    """What a user can see of a model.

    # Arguments
        model: a `Model`.
        like: the `Description` of the original, if it is that of a clone: a layer
            that has only another name has the key of the one in its place.

    # Attributes
        facts: dict: (group, key of a layer, text that says what) -> plain value.
            The key is the names of the layers down to this one; in a layer that is
            no network they are replaced by labels, since Keras numbers them.
        layers: dict: key -> layer, the model first, each before those in it.
        paths: dict: key -> the names joined by `/`.
        nodes: dict: (key, `Call`) -> node.
    """

    def __init__(self, model, like=None):
        self.model, self._like = model, like
        self.layers, self.paths, self.nodes = {}, {}, {}
        self._facts, self._shared, self._keys, self._weights = {}, {}, {}, {}
        self._tensors = {}
        self._add_layer((), '', model)
        self._find_calls()

    @property
    def facts(self):
        if not self._facts:
            for key, other in self._shared.items():
                self._set(PARTS, key, 'sharing', Label(
                    f'the layer that is also {self.paths[other]}', other))
            for key, layer in self.layers.items():
                self._describe(key, layer)
            for (key, call), node in self.nodes.items():
                self._describe_call(key, call, node)
        return self._facts

    def located_layers(self):
        """Returns pairs (path, layer)."""
        return [(self.paths[key], layer) for key, layer in self.layers.items()]

    def partners(self, other):
        """Returns pairs of nodes of two models, inputs first: those of the same
        number of a layer of the same key."""
        return [(node, other.nodes[key, call])
                for (key, call), node in self.nodes.items()
                if not call.network and (key, call) in other.nodes]

    def layer_of_weight(self, i):
        """Returns the path of the layer of the model's weight of that number."""
        key, _ = self._weights.get(id(self.model.weights[i]), ((), 0))
        return self.paths[key]

    def seeds(self):
        """Returns the states of the random number generators, in a fixed order."""
        return [each for layer in self.layers.values()
                for each in graphs.seeds_of(layer)]

    def _set(self, group, key, what, value):
        self._facts[group, key, what] = value

    def _set_leaves(self, group, key, what, value, after=''):
        for place, leaf in leaves_of(value, self._leaf, what):
            self._set(group, key, place + after, leaf)

    def _add_layer(self, key, path, layer):
        if id(layer) in self._keys:
            self._shared[key] = self._keys[id(layer)]
            return
        self._keys[id(layer)] = key
        self.layers[key], self.paths[key] = layer, path
        for label, each in self._labelled(key, layer):
            self._add_layer(key + (label,),
                            f'{path}/{each.name}' if path else each.name, each)

    def _labelled(self, key, layer):
        """Returns the layers in one, with their labels; see `like`."""
        pairs = graphs.inner_layers(layer)
        other = self._like and self._like.layers.get(key)
        if not (other and graphs.is_network(other) and graphs.is_network(layer)):
            return pairs
        own, wanted = dict(pairs), graphs.inner_layers(other)
        known = dict(wanted)
        wanted += pairs[len(wanted):]
        return [(name if name not in own and label not in known and
                 type(one) is type(each) else label, each)
                for (label, each), (name, one) in zip(pairs, wanted)]

    def _describe(self, key, layer):
        self._set(PARTS, key, 'sharing', Label('a layer of its own'))
        self._set(PARTS, key, 'class', type(layer))
        for name in graphs.FLAGS:
            self._set(PARTS, key, name, getattr(layer, name, None))
        if graphs.is_network(layer):
            self._describe_network(key, layer)
        else:
            self._set(PARTS, key, 'inner layers', Label(', '.join(
                label for label, _ in graphs.inner_layers(layer))))
        self._describe_weights(key, layer)
        if not key:
            for what, value in graphs.settings_of(layer).items():
                self._set_leaves(PARTS, key, what, value)
        for what, value in _answers_of(layer):
            is_answer = not isinstance(value, Raised)
            self._set(ANSWERS, key, what, ANSWERED if is_answer else value)
            if is_answer:
                self._set_leaves(ANSWERS, key, what + ':', value)
        holder = self.layers.get(key[:-1], layer)
        if not graphs.is_network(holder):   # Keras numbers the names in it.
            self._facts.pop((ANSWERS, key, 'configuration: name'), None)

    def _describe_network(self, key, network):
        self._set(PARTS, key, 'name', Label(network.name))
        for i, each in enumerate(graphs.layers_of(network)):
            self._set(PARTS, key, f'{AT_PLACE} {i}', Label(each.name))
        for kind in 'input', 'output':
            tensors = getattr(graphs.graph_of(network), kind + 's', [])
            self._set(CONNECTIONS, key, f'number of {kind}s', len(tensors))
            for i, x in enumerate(tensors):
                self._set(CONNECTIONS, key, f'{kind} {i} of the model',
                          self._leaf(x))

    def _describe_weights(self, key, layer):
        weights = graphs.weights_of(layer)
        self._set(PARTS, key, 'number of weights', len(weights))
        for i, weight in enumerate(weights):
            owner, _ = self._weights.setdefault(id(weight), (key, i))
            if owner != key:
                self._set(PARTS, key, f'weight {i}',
                          Label(f'that of {self.paths[owner]}', owner))
                continue
            self._set(PARTS, key, f'path of weight {i}', self._path(key, weight))
            for what, value in graphs.facts_of_weight(weight).items():
                self._set(PARTS, key, f'weight {i}{what}',
                          Label(value) if isinstance(value, str) else value)
        for what in 'trainable weights', 'non trainable weights', 'weights':
            self._set(ANSWERS, key, f'order of {what}', [
                self._leaf(each)
                for each in getattr(layer, what.replace(' ', '_'), [])])

    def _path(self, key, weight):
        """Returns the path of a weight, in which layers have their labels."""
        path = graphs.path_of(weight)
        holders = [key[:n] for n in range(len(key) + 1) if key[:n] in self.layers]
        labels = {self.layers[each].name: each[-1:] for each in holders}
        return Label(path, *(labels.get(each, re.sub(r'_\d+$', '', each))
                             for each in path.split('/')))

    def _find_calls(self):
        """Finds the calls in each network, also those that only arguments lead to.
        Those of a layer have numbers, in the order in which they were made."""
        for key, network in list(self.layers.items()):
            if graphs.is_network(network):
                nodes = self._nodes_up_to(network)
                found = set(map(id, nodes))
                for node in nodes:    # Inputs first.
                    layer = graphs.layer_of(node)
                    calls = [id(each) for each in layer._inbound_nodes
                             if id(each) in found]
                    call = Call(key, calls.index(id(node)))
                    self.nodes[self._keys[id(layer)], call] = node
        for call, node in self.nodes.items():
            for i, x in enumerate(node.output_tensors):
                self._tensors.setdefault(id(x), self._label(call, f'output {i}'))
        for call, node in self.nodes.items():   # A mask may be an output as well.
            for i, mask in enumerate(graphs.masks_of(node)[1]):
                if mask is not None:
                    self._tensors.setdefault(
                        id(mask), self._label(call, f'mask of output {i}'))

    def _nodes_up_to(self, network):
        """Returns the nodes of a network and all that lead to them, but for those
        that are known."""
        known = {id(node) for node in self.nodes.values()}
        found, waiting = [], collections.deque(graphs.ordered_nodes(network))
        while waiting:
            node = waiting.popleft()
            layer = graphs.layer_of(node)
            if id(node) in known:
                continue
            known.add(id(node))
            found.append(node)
            if id(layer) not in self._keys:
                # Keras numbers what a `Sequential` adds, e.g. to compute masks.
                # Its name is not compared.
                is_added = isinstance(network, keras.models.Sequential)
                label = str(len(self.layers)) if is_added else layer.name
                self._add_layer((None, label), layer.name, layer)
            for x in [*node.input_tensors, *tensors_in(graphs.arguments_of(node))]:
                maker, i, _ = getattr(x, '_keras_history', (None, None, None))
                if maker is not None:
                    waiting.append(maker._inbound_nodes[i])
        return found

    def _label(self, key_and_call, what):
        key, call = key_and_call
        return Label(f'{what} of {self.paths[key]}{self._text_of(key, call)}', what,
                     key, call)

    def _text_of(self, key, call):
        """Returns what to add to the name of a layer for one of its calls."""
        where = '' if key[:-1] in (call.network, (None,)) else (
            f" in {self.paths[call.network] or 'the model'}")
        return (f' (call {call.number})' if call.number else '') + where

    def _describe_call(self, key, call, node):
        text, network = self._text_of(key, call), self.layers[call.network]
        for i, x in enumerate(node.input_tensors):
            self._set(CONNECTIONS, key, f'input {i}{text}', self._leaf(x))
        self._set(CONNECTIONS, key, 'number of input tensors' + text,
                  len(node.input_tensors))
        for what, masks in zip(('input mask', 'output mask'),
                               graphs.masks_of(node)):
            for i, mask in enumerate(masks):
                number = f' {i}' if len(masks) > 1 else ''
                self._set(CONNECTIONS, key, what + number + text,
                          NO_MASK if mask is None else Label('a mask'))
        self._set(CONNECTIONS, key, 'output shapes' + text, graphs.shapes_of(node))
        # A `Sequential` makes its calls itself. What Keras notes of them depends on
        # where it was called first, and it passes its own arguments on instead.
        if not isinstance(network, keras.models.Sequential):
            for arguments in graphs.arguments_of(node):
                self._set_leaves(ARGUMENTS, key, 'call argument', arguments, text)

    def _leaf(self, value):
        """Returns what stands for a value, for `leaves_of`."""
        if graphs.is_layer(value):
            key = self._keys.get(id(value))
            return Label(f'the layer {self.paths.get(key, value.name)}', key)
        if id(value) in self._tensors:
            return self._tensors[id(value)]
        if id(value) in self._weights:
            key, i = self._weights[id(value)]
            return Label(f'weight {i} of {self.paths[key]}', i, key)
        if graphs.is_tensor(value):
            return Label('a variable' if graphs.is_variable(value) else 'a tensor')
        return None if isinstance(value, np.ndarray) else graphs.as_array(value)


def tensors_in(structure):
    """Returns the tensors of a graph in a structure of lists, tuples and dicts."""
    leaves = leaves_of(structure, lambda x: x if graphs.is_tensor(x) else None)
    return [leaf for _, leaf in leaves if graphs.is_tensor(leaf)]


def _answers_of(layer):
    """Yields what a layer answers to those who ask for it: its configuration and
    vocabulary, and what the properties and `get_` methods of a user's class return,
    as pairs (text for what is asked, the answer or `Raised`)."""
    names = [name for cls in type(layer).__mro__ if _is_of_user(cls)
             for name, value in vars(cls).items()
             if isinstance(value, property) or name.startswith('get_')]
    names += ['get_vocabulary'] + ['get_config'] * (not graphs.is_network(layer))
    for name in dict.fromkeys(names):
        if hasattr(type(layer), name):
            what = {'get_config': 'configuration'}.get(name, f'its {name}')
            try:
                answer = getattr(layer, name)
                yield what, answer() if callable(answer) else answer
            except Exception as error:  # It is any code of the user's.
                yield what, Raised(summary(error))


def _is_of_user(cls):
    package = cls.__module__.partition('.')[0]
    return package not in ('builtins', 'abc', 'keras', 'tensorflow', 'torch', 'jax')


def differences(mine, its, again=None):
    """Compares two descriptions.

    # Arguments
        mine: the `Description` of a model.
        its: that of its clone.
        again: function that returns the facts of the same model, built once more.

    # Returns
        List of `Difference`s, each group of facts in the order of the model's
        layers.
    """
    names = [layer.name for layer in graphs.layers_of(mine.model)]

    def place(fact):
        group, key, _ = fact
        return group, names.index(key[0]) if key and key[0] in names else -1

    common = {key for _, key, _ in mine.facts} & {key for _, key, _ in its.facts}
    found, done = [], []    # done: facts that need not be compared any more.
    for fact in sorted({**mine.facts, **its.facts}, key=place):
        group, key, what = fact
        x, y = mine.facts.get(fact, NOTHING), its.facts.get(fact, NOTHING)
        if same(x, y) or key not in common or any(
                _includes(*each, key, what) for each in done):
            continue
        if isinstance(x, Raised):   # The clone may answer or not.
            done.append((key, what + ':'))
        # What a model that is built once more answers otherwise, such as a running
        # number, belongs to no model.
        elif not (x is NO_MASK and graphs.MASKS_MAY_APPEAR or
                  group == ANSWERS and again is not None and
                  not same(x, again().get(fact, NOTHING))):
            found.append(_difference(mine.paths.get(key, its.paths.get(key)),
                                     what, x, y))
            done.append((key, '' if what in ('sharing', 'class') else
                         AT_PLACE if what.startswith(AT_PLACE) else
                         what + ':' if isinstance(y, Raised) else what))
    # Calls of the clone in no graph. An original may have some: its layers may be
    # used in other models.
    for key in [key for key in mine.layers if key in its.layers]:
        count, got = (len(each.layers[key]._inbound_nodes) for each in (mine, its))
        if got > count:
            found.append(Difference(GRAPH, mine.paths[key], 'number of calls',
                                    str(count), str(got)))
    return found


def _includes(key, what, inner_key, inner_what):
    """Returns whether a fact includes another one, as `configuration:` includes
    `configuration: units`; the empty fact of a layer includes all in the layer."""
    if not what:
        return inner_key[:len(key)] == key
    return key == inner_key and inner_what.startswith(what) and (
        inner_what[len(what):len(what) + 1] in ('', *' [,:'))


def _difference(path, what, x, y):
    if what.startswith(AT_PLACE):
        name = str(y if x is NOTHING else x)
        path = f'{path}/{name}' if path else name
    expected, got = text_of(x), text_of(y)
    return Difference(GRAPH, path, what, expected, got if got != expected else
                      'another one that looks the same')
