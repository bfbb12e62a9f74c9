"""What the judge of a clone has to know about models and Keras."""
import abc
import collections
import contextlib
import random

import numpy as np


class Graphs(abc.ABC):
    """Functions about models, with a subclass for each major version of Keras.

    Both versions store a model's graph as nodes; each node is one call of a layer.
    On Keras 3 a layer is one kind of operation: here, `layer` means any operation.
    """

    # Whether a clone may have a mask where the original has none.
    MASKS_MAY_APPEAR = False
    # The types of the objects that record how a graph was built.
    RECORDS = ()
    # The types of objects that list what layers hold anyway. A list in a config may
    # lead to that of another layer.
    BOOKKEEPING = ()
    # The flags of layers that users set or see.
    FLAGS = ()
    # The key of the weights in what `trainer` computes.
    STEPPED = 'weights after a step of training'

    # What a value is

    @abc.abstractmethod
    def is_layer(self, value):
        """Returns whether a value is a layer."""

    @abc.abstractmethod
    def is_variable(self, value):
        """Returns whether a value is a variable."""

    @abc.abstractmethod
    def is_tensor(self, value):
        """Returns whether a value is a symbolic tensor of a graph, or a variable."""

    def is_part(self, value):
        """Returns whether a value is part of one model only."""
        return self.is_layer(value) or (
            self.is_tensor(value) and not self.belongs_to_keras(value))

    def belongs_to_keras(self, tensor):
        """Returns whether a tensor or variable belongs to no model."""
        return not (self.is_variable(tensor) or hasattr(tensor, '_keras_history'))

    def sources(self, tensor):
        """Returns the symbolic tensors that one is computed from, as far as the
        backend tells."""
        return []

    def as_array(self, value):
        """Returns a tensor of the backend that has a value as an array, or None."""

    # Models and their layers

    @abc.abstractmethod
    def is_network(self, layer):
        """Returns whether a layer is made of layers in a graph of their own."""

    @abc.abstractmethod
    def graph_of(self, network):
        """Returns the object that has the nodes of a network, None if not built."""

    def is_current(self, model):
        """Returns whether a model was built in the state that is current now."""
        return True

    def inputs_and_outputs(self, network):
        """Returns the lists of inputs and outputs of a network, empty if unbuilt."""
        graph = self.graph_of(network)
        return ([], []) if graph is None else (graph.inputs, graph.outputs)

    @abc.abstractmethod
    def inputs_of(self, model):
        """Returns the inputs of a model, for `random_values.draw_inputs`."""

    def consumers(self, layer):
        """Returns the layers that what goes into a layer reaches before one that has
        weights of its own; the layer itself included."""
        found, waiting = {}, [layer]
        while waiting:
            layer = waiting.pop()
            if layer is None or id(layer) in found:
                continue
            found[id(layer)] = layer
            if self.is_network(layer):
                waiting += [x._keras_history[0]
                            for x in self.inputs_and_outputs(layer)[0]]
            else:
                waiting += [each for _, each in self.inner_layers(layer)]
            if not getattr(layer, 'weights', []):
                waiting += map(self.layer_of, layer._outbound_nodes)
        return list(found.values())

    @abc.abstractmethod
    def layers_of(self, network):
        """Returns the layers of a network, in their order."""

    def inner_layers(self, layer):
        """Returns the layers that a layer or network holds.

        # Returns
            A list of pairs (label that the layer in a clone has as well, layer).
        """
        if self.is_network(layer):
            return [(each.name, each) for each in self.layers_of(layer)]
        return self.held_layers(layer)

    @abc.abstractmethod
    def held_layers(self, layer):
        """Returns `inner_layers` of a layer other than a network."""

    @abc.abstractmethod
    def weights_of(self, layer):
        """Returns the weights that a layer has itself, as far as Keras tells."""

    @abc.abstractmethod
    def facts_of_weight(self, weight):
        """Returns what a weight has apart from its values: dict {what: value}."""

    @abc.abstractmethod
    def settings_of(self, model):
        """Returns what a model has apart from its layers: {what: value}."""

    @abc.abstractmethod
    def values_of(self, variables):
        """Returns the values of variables, as arrays."""

    @abc.abstractmethod
    def set_values(self, variables, values):
        """Sets the values of variables."""

    def adapted_weights_kept(self, model):
        """Returns a context that restores the weights that `adapt` set."""
        return contextlib.ExitStack()

    def seeds_of(self, layer):
        """Returns the states of the random number generators that a layer has."""
        return []

    # Nodes

    def ordered_nodes(self, model):
        """Returns the nodes of a model, inputs first, each after those that it
        depends on; none for a model that is not built."""
        by_depth = getattr(self.graph_of(model), '_nodes_by_depth', {})
        return [node for depth in sorted(by_depth, reverse=True)
                for node in by_depth[depth]]

    @abc.abstractmethod
    def first_nodes(self, model, nodes):
        """Returns a model of the first nodes of a model, with their outputs.

        It is None if Keras cannot make a model of these.
        """

    @abc.abstractmethod
    def layer_of(self, node):
        """Returns the layer that a node is a call of."""

    @abc.abstractmethod
    def arguments_of(self, node):
        """Returns the structures of the arguments of the call."""

    @abc.abstractmethod
    def masks_of(self, node):
        """Returns the input masks and output masks of a node, None for each missing.
        """

    @abc.abstractmethod
    def shapes_of(self, node):
        """Returns the shapes, and other properties, of the outputs of a node."""

    def ops_while(self, function):
        """Calls a function and returns the ops that it added to the backend's graph.

        # Returns
            A pair (what the function returned, list of ops); the list is empty where
            building a model adds none, or none that can be listed.
        """
        return function(), []

    def count_ops(self, ops):
        """Returns a `Counter` of the types of ops, without those that set values."""
        return collections.Counter()

    # Computing

    @contextlib.contextmanager
    def fresh_state(self, seed=0):
        """Context in which nothing was built yet: names start at number 1.

        # Arguments
            seed: for the random numbers from which Keras draws the seeds of
                initializers. Their previous state is restored afterwards.
        """
        states = random.getstate(), np.random.get_state()
        random.seed(seed)
        np.random.seed(seed)
        try:
            with self.fresh_names(seed):
                yield
        finally:
            random.setstate(states[0])
            np.random.set_state(states[1])

    @abc.abstractmethod
    def fresh_names(self, seed):
        """Returns the context of `fresh_state`, but for Python and NumPy."""

    def inputs_to_feed(self, model, values):
        """Returns arrays for the inputs of a model: the given ones, unless an input
        has a value of its own."""
        return values

    @abc.abstractmethod
    def evaluator(self, model, values, nodes=None, on=None, state=()):
        """Returns a function that computes the outputs of a model at each call.

        # Arguments
            model: a `Model` that is built.
            values: list of arrays, one for each input.
            nodes: list of nodes of the model, to compute their outputs instead.
            on: list of the tensors that the model was built on, if it was.
            state: list of pairs (variable, value to use in place of its own).

        # Returns
            A function without arguments that returns a list of arrays: the outputs
            of the model or of the nodes, and the masks that go with them.
        """

    def draw_targets(self, model, outputs, seed=0):
        """Returns drawn targets for the loss that a model was compiled with, None
        if there is no loss, or none that accepts them."""
        return None

    @abc.abstractmethod
    def train_once(self, model, values, targets=None, state=(), noise=None):
        """Computes the losses of a model and one step of gradient descent.

        The model is unchanged afterwards.

        # Arguments
            model: a built model.
            values: list of arrays, one for each input.
            targets: list of arrays, see `draw_targets`.
            state: list of pairs, see `evaluator`.
            noise: list of arrays to take for the random numbers that are drawn.

        # Returns
            A pair: a dict {what: list of arrays}, with the weights under `STEPPED`
            (empty if there is nothing to compare in training); the random numbers,
            if they can be given to another model.
        """

    @abc.abstractmethod
    def reloaded(self, model, objects):
        """Saves a model to a file and loads it, with custom objects."""
