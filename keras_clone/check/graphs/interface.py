"""What the judge of a clone has to know about models and Keras."""
import abc
import collections
import contextlib

import keras


class Graphs(abc.ABC):
    """Functions about models, with a subclass for each major version of Keras.

    Both versions store a model's graph as nodes; each node is one call of a layer.
    On Keras 3 a layer is one kind of operation: here, `layer` means any operation.
    No function changes a model.
    """

    # The base classes of Keras for layers and models.
    BASES = ()
    # The types of the objects that record how a graph was built.
    RECORDS = ()
    # The types of values in attributes that are compared elsewhere, or not at all.
    LEFT_OUT = ()
    # Whether a clone may have a mask where the original has none.
    MASKS_MAY_APPEAR = False
    # The key of the weights in what `train_once` returns.
    STEPPED = 'weights after a step of training'

    # What a value is

    @abc.abstractmethod
    def is_tensor(self, value):
        """Returns whether a value is a symbolic tensor or a variable."""

    @abc.abstractmethod
    def is_variable(self, value):
        """Returns whether a value is a variable."""

    @abc.abstractmethod
    def is_layer(self, value):
        """Returns whether a value is a layer."""

    def is_part(self, value):
        """Returns whether a value is a layer, a variable or a symbolic tensor."""
        return self.is_layer(value) or self.is_tensor(value)

    def is_left_by_call(self, value):
        """Returns whether a value is a symbolic tensor and no variable.

        In an attribute, the next call of the layer replaces it.
        """
        return self.is_tensor(value) and not self.is_variable(value)

    @abc.abstractmethod
    def as_array(self, value):
        """Returns an array, or a tensor that is not symbolic, as an array.

        It is None for anything else.
        """

    def belongs_to_keras(self, variable):
        """Returns whether a variable belongs to Keras, not to a model."""
        return False

    # Models and their layers

    @abc.abstractmethod
    def is_network(self, layer):
        """Returns whether a layer is made of layers in a graph of their own."""

    @abc.abstractmethod
    def graph_of(self, network):
        """Returns the object that has the nodes of a network, None if not built."""

    def is_built(self, model):
        """Returns whether a model has inputs and outputs to compare."""
        return self.graph_of(model) is not None

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

    @abc.abstractmethod
    def layers_of(self, network):
        """Returns the layers of a network, in their order."""

    @abc.abstractmethod
    def inner_layers(self, layer):
        """Returns the layers that a layer or model holds.

        # Returns
            A list of pairs (label, layer). The layers of a network are labelled by
            their position, those of another layer so that they can be paired.
        """

    def all_layers(self, model):
        """Returns a model and every layer in it, at any depth, each once.

        # Arguments
            model: a `Model` instance.

        # Returns
            A list of pairs (path, layer): the path is what a user reads, the names
            of the layers down to this one, joined by `/`; it is empty for the model.
        """
        found, seen, waiting = [], set(), [('', model)]
        while waiting:
            path, layer = waiting.pop(0)
            if id(layer) in seen:
                continue
            seen.add(id(layer))
            found.append((path, layer))
            inner = [(f'{path}/{each.name}' if path else each.name, each)
                     for _, each in self.inner_layers(layer)]
            waiting = inner + waiting
        return found

    def layers_up_to(self, tensors):
        """Returns the layers that Keras tensors come from, however far: id -> layer.
        """
        found, waiting = {}, list(tensors)
        while waiting:
            layer = getattr(waiting.pop(), '_keras_history', [None])[0]
            if layer is not None and id(layer) not in found:
                found[id(layer)] = layer
                for node in layer._inbound_nodes:
                    waiting.extend(node.input_tensors)
        return found

    # What layers and models have

    @abc.abstractmethod
    def flags_of(self, layer):
        """Returns the flags that every layer has: {text: value}."""

    @abc.abstractmethod
    def own_attributes(self, layer):
        """Returns the attributes of a layer that not every layer has: {name: value}.
        """

    @abc.abstractmethod
    def names_left_out(self, value):
        """Returns the names of those attributes of an object that need not agree."""

    @abc.abstractmethod
    def attachments(self, model):
        """Returns what a model has apart from its layers: {text: value}."""

    @abc.abstractmethod
    def weights_of(self, layer):
        """Returns the weights of a layer; a network has only those of its layers.
        """

    @abc.abstractmethod
    def variables_by_kind(self, layer):
        """Returns the variables that a layer owns: {kind as text: list}."""

    def own_variables(self, layer):
        """Returns the variables that a layer owns: pairs (`weight 0` or the like,
        variable)."""
        return [(f'{kind} {i}', each)
                for kind, variables in self.variables_by_kind(layer).items()
                for i, each in enumerate(variables)]

    @abc.abstractmethod
    def kind_of(self, variable):
        """Returns as text the properties of a weight other than its values."""

    @abc.abstractmethod
    def values_of(self, variables):
        """Returns the values of variables, as arrays."""

    def adapted_weights_kept(self, model):
        """Returns a context that restores the weights that `adapt` set."""
        return contextlib.ExitStack()

    # Nodes

    def ordered_nodes(self, model):
        """Returns the nodes of a model, inputs first, in a fixed order.

        # Arguments
            model: a model of any class.

        # Returns
            A list of nodes in which a node comes after those that it depends on; it
            is empty for a model that is not built.
        """
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

    def tensors_of(self, node):
        """Returns the tensors that a node makes: outputs, and masks if tensors."""
        return list(node.output_tensors)

    # The graph of the backend

    def backend_name(self):
        """Returns the name of the backend: `tensorflow`, `theano`, `jax`..."""
        return keras.backend.backend()

    def ops_while(self, function):
        """Calls a function and returns the ops that it added to the backend's graph.

        # Arguments
            function: a callable without arguments.

        # Returns
            A pair (what the function returned, list of ops); the list is empty where
            building a model adds none, or none that can be listed.
        """
        return function(), []

    def count_ops(self, ops):
        """Returns a `Counter` of the types of ops, without those that set values."""
        return collections.Counter()

    def sources(self, tensors, seen):
        """Returns what tensors are computed from, except what was seen before.

        # Arguments
            tensors: list of tensors.
            seen: set of the keys that were met before; the new ones are added.

        # Returns
            The set of keys (see `source_keys`) that are new, including those of the
            tensors themselves; empty if the graph cannot be searched.
        """
        return set()

    def source_keys(self, tensor):
        """Returns the keys that stand for a tensor or a variable in `sources`."""
        return set()

    # Computing

    @abc.abstractmethod
    def fresh_state(self, seed=0):
        """Returns a context in which nothing was built yet: names start at number 1.

        # Arguments
            seed: for the random numbers from which Keras draws the seeds of
                initializers. Their previous state is restored afterwards.
        """

    def inputs_to_feed(self, model, values):
        """Returns arrays for the inputs of a model: the given ones, unless an input
        has a value of its own."""
        return values

    @abc.abstractmethod
    def evaluator(self, model, values, nodes=None, on=None, read=None, state=()):
        """Returns a function that computes the outputs of a model at each call.

        # Arguments
            model: a `Model` that is built.
            values: list of arrays, one for each input.
            nodes: list of nodes of the model, to compute their outputs instead.
            on: list of the tensors that the model was built on, if it was.
            read: dict to which the variables that are read are added: id ->
                variable; left as it is where `sources` finds them.
            state: list of pairs (variable, value to use in place of its own), see
                `other_seeds`.

        # Returns
            A function without arguments that returns a list of arrays: the outputs
            of the model or of the nodes, and the masks that go with them.
        """

    def seeds_of(self, layer):
        """Returns the states of the random number generators that a layer has.

        The list is empty on Keras 2, where the backend's graph has the seeds.
        """
        return []

    def other_seeds(self, read, kept=(), draw=1):
        """Returns other values for the states of random number generators.

        # Arguments
            read: dict of the variables that a model reads: id -> variable.
            kept: ids of the variables that should keep their values.
            draw: an integer; each one results in other values.

        # Returns
            List of pairs (variable, value).
        """
        return []

    def draw_targets(self, model, outputs, seed=0):
        """Draws targets for the loss that a model was compiled with.

        # Arguments
            model: a model.
            outputs: list of arrays, the outputs of the model.
            seed: determines everything that is drawn.

        # Returns
            A list of arrays; None if there is no loss, or none that accepts them.
        """
        return None

    @abc.abstractmethod
    def train_once(self, model, values, targets=None, state=()):
        """Computes the losses of a model and one step of gradient descent.

        The model is unchanged afterwards.

        # Arguments
            model: a built model.
            values: list of arrays, one for each input.
            targets: list of arrays, see `draw_targets`.
            state: list of pairs, see `evaluator`.

        # Returns
            A dict {what: list of arrays}, with the weights under `STEPPED`; empty if
            there is nothing to compare in training.
        """

    @abc.abstractmethod
    def reloaded(self, model, objects):
        """Saves a model to a file and loads it, with custom objects."""
