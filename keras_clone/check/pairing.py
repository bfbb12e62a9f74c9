"""Finds for each layer, weight, tensor and call of a model its partner in a clone.

Layers are paired by their names and by what holds them, starting at the models;
tensors and calls by walking back from the outputs; then what the attributes of
layers hold. Other modules compare what was paired.
"""
import collections

from .difference import GRAPH, Difference
from .graphs import graphs
from .state import differing_attributes, differing_values
from .values import NOTHING, leaf_pairs

# What two partners have at the same place. path: that of the layer. what: text for
# the place in it.
Place = collections.namedtuple('Place', 'path what original partner')


class Pair(collections.namedtuple('Pair', 'path original partner')):
    """Two layers that are partners, with the path of the original."""
    __slots__ = ()

    @property
    def are_of_one_class(self):
        mine, its = map(type, self[1:])
        return mine is its


class Pairing:
    """Which part of a clone is the partner of which part of its original.

    # Attributes
        model: the original.
        clone: its clone.
        on: list of the tensors that the clone was built on, None if it was not.
        layers: list of `Pair`s of layers, the models first, each layer before those
            that it holds.
        variables: list of `Place`s of variables that are partners.
        calls: list of pairs (node, its partner).
        differing_in_layers: list of `Place`s in the attributes of layers at which
            these are not the same.
        differing_in_models: list of such `Place`s in what models have apart from
            layers.
        differences_in_sharing: list of `Difference`s: layers and weights that only
            one of the models shares.
    """

    def __init__(self, model, clone, on=None):
        self.model, self.clone, self.on = model, clone, on
        self.layers, self.variables, self.calls = [], [], []
        self.differing_in_layers, self.differing_in_models = [], []
        self.differences_in_sharing = []
        self._paths = {}        # id of a layer or variable -> path of the layer
        self._partners = {}     # id of a layer or variable -> its partner
        self._originals = {}    # id of such a partner -> path of its original
        self._tensors = {}      # id of a tensor or mask -> its partner

    def path_of(self, part):
        """Returns the path of the layer that is, or has, a part of the original."""
        return self._paths.get(id(part), '')

    def partner_of(self, part):
        """Returns the partner of a layer or variable of the original, or None."""
        return self._partners.get(id(part))

    def partner_of_tensor(self, tensor, default=None):
        """Returns the partner of a tensor or mask of the original."""
        return self._tensors.get(id(tensor), default)

    def is_known(self, part, other):
        """Returns whether a layer or variable of the original, or one of the clone,
        has a partner."""
        return id(part) in self._partners or id(other) in self._originals

    def enter(self, path, part, other):
        """Makes two layers or variables partners."""
        self._paths[id(part)] = self._originals[id(other)] = path
        self._partners[id(part)] = other

    def enter_tensor(self, tensor, other):
        """Makes two tensors or masks partners."""
        self._tensors[id(tensor)] = other

    def of_one_class(self):
        """Returns the `Pair`s of layers that are of one class: those to compare."""
        return [each for each in self.layers if each.are_of_one_class]

    def networks(self):
        """Returns the `Pair`s of networks that are of one class."""
        return [pair for pair in self.of_one_class()
                if graphs.is_network(pair.original)]

    def layers_of(self, pair):
        """Returns the lists of layers of two networks that should correspond.

        A clone built on tensors has their layers in place of its input layers.
        """
        mine, its = map(graphs.layers_of, pair[1:])
        if pair.path or self.on is None:
            return mine, its
        front = graphs.layers_up_to(self.on)
        inputs = [x._keras_history[0] for x in pair.original.inputs]
        return ([each for each in mine if each not in inputs],
                [each for each in its if id(each) not in front])

    def layers_by_name(self, pair):
        """Returns the `Pair`s of layers of two networks that have the same name."""
        mine, its = self.layers_of(pair)
        by_name = {each.name: each for each in its}
        return [Pair(_inside(pair.path, layer), layer, by_name[layer.name])
                for layer in mine if layer.name in by_name]

    def inputs_and_outputs(self, pair):
        """Returns triples (`input` or `output`, tensors of a network, those of its
        partner)."""
        mine = graphs.inputs_and_outputs(pair.original)
        inputs, outputs = graphs.inputs_and_outputs(pair.partner)
        if not pair.path and self.on is not None:
            inputs = self.on
        return list(zip(('input', 'output'), mine, (inputs, outputs)))

    def nodes_of(self, network):
        """Returns the pairs of nodes of a network, inputs first."""
        partners = {id(node): other for node, other in self.calls}
        return [(node, partners[id(node)]) for node in graphs.ordered_nodes(network)
                if id(node) in partners]

    def seeds(self):
        """Returns the states of the random number generators that are partners.

        # Returns
            List of pairs (variable of the clone, variable of the original).
        """
        return [(y, x) for _, layer, other in self.of_one_class()
                for x, y in zip(graphs.seeds_of(layer), graphs.seeds_of(other))]

    def sharing(self, x, y):
        """Returns texts for two layers or variables that are not partners: where
        else the original has `x`, where else the clone has `y`."""
        own, another, shared = (
            ('a layer of its own', 'another layer', 'the layer that is also {}')
            if graphs.is_layer(x) else ('one of its own', 'another', 'that of {}'))
        return tuple(shared.format(paths[id(part)]) if id(part) in paths else alone
                     for part, paths, alone in ((x, self._paths, own),
                                                (y, self._originals, another)))


def pair(model, clone, on=None):
    """Pairs the parts of a model and its clone.

    # Arguments
        model: the original.
        clone: its clone.
        on: list of the tensors that the clone was built on, if it was.

    # Returns
        A `Pairing`.
    """
    pairing = Pairing(model, clone, on)
    pairer = _Pairer(pairing)
    pairer.pair_layers('', model, clone)
    pairer.pair_calls()
    pairer.pair_held()
    return pairing


def argument_pairs(node, other):
    """Yields the arguments of two calls at each place, see `leaf_pairs`."""
    for mine, its in zip(graphs.arguments_of(node), graphs.arguments_of(other)):
        yield from leaf_pairs(mine, its)


class _Pairer:
    """Fills a `Pairing`."""

    def __init__(self, pairing):
        self._pairing = pairing
        self._waiting = []      # pairs of nodes whose tensors are not paired yet

    # Layers

    def pair_layers(self, path, layer, other):
        """Pairs two layers and what is in them, unless one of them is paired."""
        if self._is_paired(path, 'sharing', layer, other):
            return
        partners = Pair(path, layer, other)
        self._pairing.enter(path, layer, other)
        self._pairing.layers.append(partners)
        if not partners.are_of_one_class:
            return
        self._pair_weights(path, layer, other)
        if graphs.is_network(layer):
            self._pair_networks(partners)
        else:
            self._pair_inner_layers(path, layer, other)

    def _is_paired(self, path, what, x, y):
        """Returns whether one of two parts has a partner.

        It records a difference if they are not partners of each other.
        """
        if not self._pairing.is_known(x, y):
            return False
        if self._pairing.partner_of(x) is not y:
            self._pairing.differences_in_sharing.append(
                Difference(GRAPH, path, what, *self._pairing.sharing(x, y)))
        return True

    def _pair_weights(self, path, layer, other):
        for i, (x, y) in enumerate(zip(graphs.weights_of(layer),
                                       graphs.weights_of(other))):
            if not self._is_paired(path, f'weight {i}', x, y):
                self._pair_variables(path, f'weight {i}', x, y)

    def _pair_variables(self, path, what, x, y):
        self._pairing.enter(path, x, y)
        self._pairing.variables.append(Place(path, what, x, y))

    def _pair_inner_layers(self, path, layer, other):
        mine, its = map(dict, map(graphs.inner_layers, (layer, other)))
        for label in sorted(set(mine) & set(its)):
            self.pair_layers(_inside(path, mine[label]), mine[label], its[label])

    def _pair_networks(self, networks):
        for each in self._pairing.layers_by_name(networks):
            self.pair_layers(*each)
        if not networks.path and self._pairing.on is not None:
            inputs, _ = graphs.inputs_and_outputs(networks.original)
            for x, y in zip(inputs, self._pairing.on):
                self._pairing.enter_tensor(x, y)
        for _, mine, its in self._pairing.inputs_and_outputs(networks):
            self._pair_tensors(mine, its)

    # Tensors and calls

    def pair_calls(self):
        """Pairs the calls that lead to tensors that are paired."""
        seen = set()
        while self._waiting:
            node, other = self._waiting.pop(0)
            if id(node) not in seen:
                seen.add(id(node))
                self._pairing.calls.append((node, other))
                self._pair_tensors_of(node, other)

    def _pair_tensors_of(self, node, other):
        self._pair_tensors(node.input_tensors, other.input_tensors)
        self._pair_tensors(node.output_tensors, other.output_tensors)
        for mine, its in zip(graphs.masks_of(node), graphs.masks_of(other)):
            self._pair_masks(mine, its)
        for _, x, y in argument_pairs(node, other):
            if hasattr(x, '_keras_history') and hasattr(y, '_keras_history'):
                self._pair_tensors([x], [y])

    def _pair_tensors(self, mine, its):
        for x, y in zip(mine, its):
            if (self._pairing.partner_of_tensor(x) is None and
                    self._come_from_partners(x, y)):
                self._pairing.enter_tensor(x, y)

    def _come_from_partners(self, x, y):
        """Returns whether two tensors are the same output of layers that are
        partners. If so, their calls will be paired."""
        layer, node_index, tensor_index = x._keras_history
        other, other_index, other_tensor_index = getattr(
            y, '_keras_history', (None, None, None))
        if layer is None or other is None:
            return layer is other  # An input of a `Function` may have no layer.
        if not self._pairing.is_known(layer, other):
            # Only a call argument leads to this layer: no model lists it.
            self.pair_layers(layer.name, layer, other)
        if (self._pairing.partner_of(layer) is not other or
                tensor_index != other_tensor_index):
            return False
        self._waiting.append((layer._inbound_nodes[node_index],
                              other._inbound_nodes[other_index]))
        return True

    def _pair_masks(self, mine, its):
        """Pairs masks without a history; those with one are outputs of a layer."""
        for x, y in zip(mine, its):
            if not (x is None or y is None or hasattr(x, '_keras_history') or
                    self._pairing.partner_of_tensor(x) is not None):
                self._pairing.enter_tensor(x, y)

    # What attributes hold

    def pair_held(self):
        """Pairs what the attributes of all layers hold, including layers that are
        found meanwhile, and what models have apart from layers."""
        pairing = self._pairing
        for partners in pairing.layers:  # The list may grow.
            if partners.are_of_one_class:
                pairing.differing_in_layers += self._differing(
                    partners.path, differing_attributes(*partners[1:]))
        attached = graphs.attachments(pairing.clone)
        for what, mine in sorted(graphs.attachments(pairing.model).items()):
            pairing.differing_in_models += self._differing(
                '', differing_values(what, mine, attached.get(what, NOTHING)))

    def _differing(self, path, found):
        """Returns as `Place`s what is found in two layers, except partners."""
        return [Place(path, *each) for each in found
                if not self._are_or_become_partners(path, *each)]

    def _are_or_become_partners(self, path, what, x, y):
        """Returns whether two values are partners; pairs them if they can be."""
        if not self._pairing.is_known(x, y):
            if graphs.is_layer(x) and graphs.is_layer(y):
                self.pair_layers(_inside(path, x), x, y)
            elif graphs.is_variable(x) and graphs.is_variable(y):
                self._pair_variables(path, what, x, y)
        return graphs.is_part(x) and self._pairing.partner_of(x) is y


def _inside(path, layer):
    return f'{path}/{layer.name}' if path else layer.name
