"""Whether a clone has the graph of its original, and its layers know the same."""
from . import graphs
from .difference import NOTHING
from .difference import Difference
from .difference import describe
from .difference import leaf_pairs
from .difference import same_value
from .difference import shortened
from .difference import summary
from .state import Comparison
from .state import stable_text

# How a layer lists its weights.
LISTS_OF_WEIGHTS = ('trainable_weights', 'non_trainable_weights', 'weights')


class Pairing:
    """Finds for each layer, node and tensor of a model its partner in the clone.

    Layers are paired by their names and by what holds them, starting at the models;
    tensors and nodes by walking back from the outputs. Whatever has no partner, or
    not the right one, becomes a `Difference`.

    # Arguments
        model: the original.
        clone: its clone.
        on: list of the tensors that the clone was built on, if it was.
    """

    def __init__(self, model, clone, on=None):
        self.model = model
        self.clone = clone
        self._on = on
        self._paths = {}        # id of a layer or weight -> path of the layer
        self._partners = {}     # id of a layer or weight -> its partner
        self._originals = {}    # id of such a partner -> path of its original
        self._tensors = {}      # id of a tensor or mask -> its partner
        self._pairs = []        # triples (path, layer, its partner)
        self._layers = []       # pairs (layer that is no network, its partner)
        self._variables = []    # triples (path, variable, its partner)
        self._nodes = []        # pairs (node, its partner)
        self._networks = []     # pairs (network, its partner)
        self._waiting = []      # nodes to pair
        self._in_layers, self._in_nodes, self._in_arguments = [], [], []
        self._in_state = []
        self._pair_layers('', model, clone)
        self._walk()
        for node, other in self._nodes:
            self._compare_arguments(node, other)
        for network, other in self._networks:
            self._compare_order_of_calls(network)
        self._compare_state()
        self._compare_attachments(model, clone)

    @property
    def differences(self):
        """The differences: first those in what the models are made of, then those
        in how it is connected, then those in call arguments, then those in what
        layers know; each in the order of the model's layers.
        """
        names = [layer.name for layer in graphs.layers_of(self.model)]

        def place(difference):
            top = difference.layer.split('/')[0]
            return names.index(top) if top in names else -1
        return [each for found in (self._in_layers, self._in_nodes,
                                   self._in_arguments, self._in_state)
                for each in sorted(found, key=place)]

    def nodes_of_model(self):
        """Returns the pairs of nodes of the model itself, inputs first."""
        partner = {id(node): other for node, other in self._nodes}
        return [(node, partner[id(node)])
                for node in graphs.ordered_nodes(self.model) if id(node) in partner]

    def copy_weights(self):
        """Copies the weights of the original to the clone.

        With a clone built on tensors, the layers from which these come have weights
        of their own, which stay as they are.
        """
        if self._on is None:
            self.clone.set_weights(self.model.get_weights())
        else:
            for layer, other in self._layers:
                other.set_weights(layer.get_weights())

    def seeds(self):
        """Returns the generators of random numbers that are partners, their states.

        # Returns
            List of pairs (variable of the clone, variable of the original).
        """
        return [(y, x) for _, layer, other in self._pairs
                for x, y in zip(graphs.seeds_of(layer), graphs.seeds_of(other))]

    def path_of(self, part):
        """Returns the path of the layer that is, or has, a part of the original."""
        return self._paths.get(id(part), '')

    def hidden_variables(self):
        """Returns the variables whose values `set_weights` does not reach.

        # Returns
            List of triples (path, variable of the original, its partner).
        """
        reached = set(map(id, self.model.weights))
        return [each for each in self._variables if id(each[1]) not in reached]

    # Layers

    def _pair_layers(self, path, layer, other):
        if id(layer) in self._partners:
            if self._partners[id(layer)] is not other:
                self._layers_differ(path, 'sharing', 'the layer that is also %s'
                                    % self._paths[id(layer)], 'another layer')
            return
        if id(other) in self._originals:
            self._layers_differ(path, 'sharing', 'a layer of its own',
                                'the layer that is also %s'
                                % self._originals[id(other)])
            return
        self._partners[id(layer)] = other
        self._originals[id(other)] = path
        self._paths[id(layer)] = path
        if type(layer) is not type(other):
            mine, its = type(layer).__name__, type(other).__name__
            self._layers_differ(path, 'class', mine, its if its != mine else
                                'another class of that name')
            return
        its = graphs.flags_of(other)
        for what, mine in sorted(graphs.flags_of(layer).items()):
            if mine != its[what]:
                self._layers_differ(path, what, repr(mine), repr(its[what]))
        self._pairs.append((path, layer, other))
        self._pair_weights(path, layer, other)
        if graphs.is_network(layer):
            self._pair_networks(path, layer, other)
        else:
            self._layers.append((layer, other))
            self._pair_inner_layers(path, layer, other)

    def _layers_differ(self, path, what, expected, got):
        self._in_layers.append(Difference('graph', path, what, expected, got))

    def _pair_inner_layers(self, path, layer, other):
        mine = dict(graphs.inner_layers(layer))
        its = dict(graphs.inner_layers(other))
        if set(mine) != set(its):
            self._layers_differ(path, 'inner layers', ', '.join(sorted(mine)),
                                ', '.join(sorted(its)))
        for label in sorted(set(mine) & set(its)):
            self._pair_layers(f'{path}/{mine[label].name}', mine[label],
                              its[label])

    def _pair_weights(self, path, layer, other):
        mine, its = graphs.weights_of(layer), graphs.weights_of(other)
        if len(mine) != len(its):
            self._layers_differ(path, 'number of weights', str(len(mine)),
                                str(len(its)))
        for i, (x, y) in enumerate(zip(mine, its)):
            what = 'weight %d' % i
            if id(x) in self._partners:
                if self._partners[id(x)] is not y:
                    self._layers_differ(path, what, 'that of ' + self._paths[id(x)],
                                        'another')
            elif id(y) in self._originals:
                self._layers_differ(path, what, 'one of its own',
                                    'that of ' + self._originals[id(y)])
            else:
                self._pair_variables(path, what, x, y)

    def _pair_variables(self, path, what, x, y):
        self._partners[id(x)] = y
        self._paths[id(x)] = self._originals[id(y)] = path
        self._variables.append((path, x, y))
        if graphs.kind_of(x) != graphs.kind_of(y):
            self._layers_differ(path, what, graphs.kind_of(x), graphs.kind_of(y))

    def _pair_networks(self, path, network, other):
        self._networks.append((network, other))
        if network.name != other.name:
            self._layers_differ(path, 'name', network.name, other.name)
        prefix = path + '/' if path else ''
        mine, its = self._comparable_layers(path, network, other)
        self._compare_names(prefix, mine, its)
        by_name = {each.name: each for each in its}
        for layer in mine:
            if layer.name in by_name:
                self._pair_layers(prefix + layer.name, layer, by_name[layer.name])
                self._compare_configurations(prefix + layer.name, layer,
                                             by_name[layer.name])
        self._pair_inputs_and_outputs(path, network, other)

    def _comparable_layers(self, path, network, other):
        """A clone built on tensors has their layers in place of its input layers."""
        if path or self._on is None:
            return graphs.layers_of(network), graphs.layers_of(other)
        front = graphs.layers_up_to(self._on)
        inputs = [x._keras_history[0] for x in network.inputs]
        return ([each for each in graphs.layers_of(network)
                 if each not in inputs],
                [each for each in graphs.layers_of(other) if id(each) not in front])

    def _compare_names(self, prefix, mine, its):
        mine = [each.name for each in mine] + [None]
        its = [each.name for each in its] + [None]
        for i, (x, y) in enumerate(zip(mine, its)):
            if x != y:
                self._layers_differ(prefix + (x or y), 'layer at place %d' % i,
                                    x or 'none', y or 'none')
                return

    def _compare_configurations(self, path, layer, other):
        if graphs.is_network(layer) or type(layer) is not type(other):
            return
        try:
            mine = layer.get_config()
        except Exception:  # It cannot be saved either, or needs more to be.
            return
        try:
            its = other.get_config()
        except Exception as error:
            its = summary(error)
        for way, x, y in leaf_pairs(mine, its):
            if not same_value(x, y):
                self._layers_differ(path, 'configuration' + way, describe(x),
                                    describe(y))

    def _pair_inputs_and_outputs(self, path, network, other):
        inputs, outputs = graphs.inputs_and_outputs(network)
        its_inputs, its_outputs = graphs.inputs_and_outputs(other)
        if not path and self._on is not None:
            its_inputs = self._on
            self._tensors.update((id(x), y) for x, y in zip(inputs, its_inputs))
        for what, xs, ys in (('input', inputs, its_inputs),
                             ('output', outputs, its_outputs)):
            if len(xs) != len(ys):
                self._layers_differ(path, f'number of {what}s', str(len(xs)),
                                    str(len(ys)))
            for i, (x, y) in enumerate(zip(xs, ys)):
                self._pair_tensors(path, '%s %d of the model' % (what, i), x, y)

    # Tensors and nodes

    def _pair_tensors(self, path, what, x, y):
        if id(x) in self._tensors:
            if self._tensors[id(x)] is not y:
                self._nodes_differ(path, what, x, y)
        else:
            self._pair_histories(path, what, x, y)

    def _pair_histories(self, path, what, x, y):
        layer, node_index, tensor_index = x._keras_history
        other, other_index, other_tensor_index = getattr(
            y, '_keras_history', (None, None, None))
        if layer is None and other is None:
            self._tensors[id(x)] = y  # An input of a `Function` may have no layer.
            return
        if layer is None or other is None:
            self._nodes_differ(path, what, x, y)
            return
        if id(layer) not in self._partners and id(other) not in self._originals:
            # Only a call argument leads to this layer: no model lists it.
            self._pair_layers(layer.name, layer, other)
        if (self._partners.get(id(layer)) is not other or
                tensor_index != other_tensor_index):
            self._nodes_differ(path, what, x, y)
            return
        self._tensors[id(x)] = y
        self._waiting.append((layer._inbound_nodes[node_index],
                              other._inbound_nodes[other_index]))

    def _nodes_differ(self, path, what, x, y):
        expected, got = describe(x), describe(y)
        if y is x:
            got = 'that of the original'
        elif expected == got:
            got = 'another tensor of that name'
        self._in_nodes.append(Difference('graph', path, what, expected, got))

    def _walk(self):
        seen = set()
        while self._waiting:
            node, other = self._waiting.pop(0)
            if id(node) not in seen:
                seen.add(id(node))
                self._nodes.append((node, other))
                self._pair_nodes(self._path_of(node), node, other)

    def _path_of(self, node):
        return self._paths[id(graphs.layer_of(node))]

    def _pair_nodes(self, path, node, other):
        for what in ('input_tensors', 'output_tensors'):
            mine, its = getattr(node, what), getattr(other, what)
            if len(mine) != len(its):
                self._in_nodes.append(Difference(
                    'graph', path, 'number of ' + what.replace('_', ' '),
                    str(len(mine)), str(len(its))))
            for i, (x, y) in enumerate(zip(mine, its)):
                self._pair_tensors(path, '%s %d' % (what.split('_')[0], i), x, y)
        for what, mine, its in zip(('input mask', 'output mask'),
                                   graphs.masks_of(node), graphs.masks_of(other)):
            self._pair_masks(path, what, mine, its)
        mine, its = graphs.shapes_of(node), graphs.shapes_of(other)
        if mine != its:
            self._in_nodes.append(Difference(
                'graph', path, 'output shapes', str(mine), str(its)))
        for _, x, y in _argument_pairs(node, other):
            if hasattr(x, '_keras_history') and hasattr(y, '_keras_history'):
                self._pair_tensors(path, 'call argument', x, y)

    def _pair_masks(self, path, what, mine, its):
        if graphs.MASKS_MAY_APPEAR:
            its = [None if x is None else y for x, y in zip(mine, its)]
        texts = [', '.join('none' if mask is None else 'a mask' for mask in masks)
                 for masks in (mine, its)]
        if texts[0] != texts[1]:
            self._in_nodes.append(Difference('graph', path, what, *texts))
        for x, y in zip(mine, its):
            # Where a mask has a history, that tells which one it is in the clone.
            if not (x is None or y is None or hasattr(x, '_keras_history')):
                self._tensors.setdefault(id(x), y)

    def _compare_arguments(self, node, other):
        for way, x, y in _argument_pairs(node, other):
            if graphs.is_tensor(x) and graphs.is_tensor(y):
                same = self._tensors.get(id(x), y) is y
            else:
                same = same_value(x, y, strict=True)
            if not same:
                got = 'that of the original' if x is y else describe(y)
                self._in_arguments.append(Difference(
                    'graph', self._path_of(node), 'call argument' + way,
                    describe(x), got))

    def _compare_order_of_calls(self, network):
        """Within a network: a saved model names a layer's calls by their order."""
        partner = {id(node): other for node, other in self._nodes}
        calls = {}
        for node in graphs.ordered_nodes(network):
            if id(node) in partner:
                calls.setdefault(id(graphs.layer_of(node)), []).append(node)
        for nodes in calls.values():
            layer = graphs.layer_of(nodes[0])
            other_layer = graphs.layer_of(partner[id(nodes[0])])
            nodes.sort(key=layer._inbound_nodes.index)
            order = [other_layer._inbound_nodes.index(partner[id(node)])
                     for node in nodes]
            if order != sorted(order):
                self._in_nodes.append(Difference(
                    'graph', self._path_of(nodes[0]), 'order of calls',
                    str(sorted(order)), str(order)))

    # What layers know

    def _compare_state(self):
        """Compares the attributes of all layers, those met on the way included."""
        for path, layer, other in self._pairs:  # It may grow.
            for texts in self._comparison(path).of_layers(layer, other):
                self._in_state.append(Difference('graph', path, *texts))
            if path or self._on is None:
                self._compare_order_of_weights(path, layer, other)

    def _comparison(self, path):
        return Comparison(lambda way, x, y: self._compare_parts(path, way, x, y))

    def _compare_parts(self, path, way, x, y):
        """Compares what two layers hold at one place: a layer, a variable or a
        tensor, which is whatever a call left there."""
        if graphs.is_left_by_call(x):
            return
        known = id(x) in self._partners
        if known and self._partners[id(x)] is y:
            return
        kinds = graphs.is_layer, graphs.is_variable
        if not any(is_kind(x) and is_kind(y) for is_kind in kinds):
            texts = stable_text(x), stable_text(y)
        elif known or id(y) in self._originals:
            texts = ('that of ' + self._paths[id(x)] if known else 'one of its own',
                     'that of ' + self._originals[id(y)]
                     if id(y) in self._originals else 'another')
        elif graphs.is_layer(x):
            return self._pair_layers(f'{path}/{x.name}' if path else x.name,
                                     x, y)
        else:
            return self._pair_variables(path, way, x, y)
        self._in_state.append(Difference('graph', path, way, *texts))

    def _compare_order_of_weights(self, path, layer, other):
        for name in LISTS_OF_WEIGHTS:
            mine, its = (list(getattr(each, name, [])) for each in (layer, other))
            partners = [self._partners.get(id(x)) for x in mine]
            if len(mine) != len(its):
                what, texts = 'number of ', (str(len(mine)), str(len(its)))
            elif any(x is not y for x, y in zip(partners, its) if x is not None):
                what, texts = 'order of ', ("the original's", 'another')
            else:
                continue
            self._in_state.append(Difference(
                'graph', path, what + name.replace('_', ' '), *texts))
            return

    def _compare_attachments(self, model, clone):
        mine, its = graphs.attachments(model), graphs.attachments(clone)
        for what in sorted(mine):
            for texts in self._comparison('').of(what, mine[what],
                                                 its.get(what, NOTHING)):
                self._layers_differ('', *texts)


def _argument_pairs(node, other):
    for mine, its in zip(graphs.arguments_of(node), graphs.arguments_of(other)):
        yield from leaf_pairs(mine, its)


def op_differences(expected, got, exact, layers):
    """Compares the ops that building the original and cloning it added.

    # Arguments
        expected: list of the ops that building the original added.
        got: list of the ops that cloning it added.
        exact: whether fewer ops are a difference as well.
        layers: names of the model's layers, to tell where an op belongs.

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
    layer = next((name for name in layers if _ops_in(name, kinds, expected) !=
                  _ops_in(name, kinds, got)), '')
    text = ', '.join('%d %s %s' % (abs(n), 'more' if n > 0 else 'fewer', kind)
                     for kind, n in wrong)
    return [Difference('graph', layer, 'ops', "as many as the original's",
                       shortened(text))]


def _ops_in(scope, kinds, ops):
    """Counts the ops in a scope, whose name may have got a number: `lstm_1_2`."""
    def is_in_scope(name):
        top = name.split('/')[0]
        return top == scope or (top.startswith(scope + '_') and
                                top[len(scope) + 1:].isdigit())
    return graphs.count_ops(op for op in ops
                            if op.type in kinds and is_in_scope(op.name))
