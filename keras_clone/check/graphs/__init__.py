"""What the judge of a clone has to know about models and Keras."""
import collections
import contextlib
import os
import random
import tempfile

import keras
import numpy as np


class Graphs:
    """Functions about models, with a subclass for each major version of Keras.

    Both versions store a model's graph as nodes; each node is one call of a layer.
    On Keras 3 a layer is one kind of operation: here, `layer` means any operation.
    The subclasses also define:

        is_variable(value), is_tensor(value): whether a value is a variable; or a
            variable or symbolic tensor of a graph.
        is_part(value): whether a value is part of one model only.
        sources(tensor): list of what a tensor was computed from, as far as known.
        is_network(layer): whether it is made of layers in a graph of their own.
        graph_of(network): what has its nodes, inputs and outputs; None if it is not
            built.
        layers_of(network): its layers, in their order.
        held_layers(layer): `inner_layers` of a layer other than a network.
        weights_of(layer): the weights that it has itself, as far as Keras tells.
        facts_of_weight(weight): {what: value}, but for its values and its path.
        facts_of_input(tensor): its shape, its dtype and whether it is sparse.
        settings_of(model): {what: value}, but for those of its layers.
        values_of(variables), set_values(variables, values): with arrays.
        layer_of(node): the layer that a node is a call of.
        arguments_of(node): tuple of the structures of the arguments of the call.
        masks_of(node): input masks and output masks, None for each missing.
        shapes_of(node): the shapes, and other properties, of the outputs.
        fresh_names(seed): the context of `fresh_state`, but for Python and NumPy.
        evaluator(model, values, nodes=None): a function that returns, at each call,
            a list of arrays: the outputs of the model, or of some of its nodes, and
            the masks that go with them. `values` are arrays for the inputs.
        train_once(model, values, targets=None, noise=None): computes the losses and
            one step of gradient descent, and leaves the model unchanged. Returns a
            dict {what: list of arrays}, with the weights under `STEPPED`, empty if
            there is nothing to compare; and the random numbers that were drawn, if
            they can be given to another model as `noise`.
    """

    # Whether a clone may have a mask where the original has none.
    MASKS_MAY_APPEAR = False
    # The types of layers, and of the objects that record how a graph was built.
    LAYERS = RECORDS = ()
    # The types of objects that list what layers hold anyway. A list in a config may
    # lead to that of another layer.
    BOOKKEEPING = ()
    # The flags of layers that users set or see.
    FLAGS = ('trainable', 'stateful', 'built', 'supports_masking')
    # What `train_once` leaves out on this backend, and why.
    NOT_TRAINED = ()
    # The key of the weights in what `train_once` computes, and the size of its step.
    STEPPED, RATE = 'weights after a step of training', .1
    # A file for models, and the arguments with which it is saved and loaded.
    FILE, SAVING, LOADING = '', {}, {}

    def path_of(self, weight):
        """Returns the names of the layers in which a weight was created, and its
        own, joined by `/`; an empty string if Keras has none."""
        return ''

    def is_layer(self, value):
        """Returns whether a value is a layer."""
        return isinstance(value, self.LAYERS)

    def as_array(self, value):
        """Returns a tensor of the backend that has a value as an array, or None."""

    def is_current(self, model):
        """Returns whether a model was built in the state that is current now."""
        return True

    def inner_layers(self, layer):
        """Returns the layers that a layer or network holds: a list of pairs (label
        that the layer in a clone has as well, layer)."""
        if self.is_network(layer):
            return [(each.name, each) for each in self.layers_of(layer)]
        return self.held_layers(layer)

    def all_layers(self, layer):
        """Returns a layer and those that it holds, at every depth."""
        return reached([layer], lambda each: [
            inner for _, inner in self.inner_layers(each)])

    def seeds_of(self, layer):
        """Returns the states of the random number generators that a layer has."""
        return [each.state for each in getattr(layer, '_seed_generators', [])]

    def ordered_nodes(self, model):
        """Returns the nodes of a model, inputs first, each after those that it
        depends on; none for a model that is not built."""
        by_depth = getattr(self.graph_of(model), '_nodes_by_depth', {})
        return [node for depth in sorted(by_depth, reverse=True)
                for node in by_depth[depth]]

    def first_nodes(self, model, nodes):
        """Returns a model of the first nodes of a model, with their outputs; None if
        Keras cannot make a model of these."""
        layers = [self.layer_of(node) for node in nodes]
        inputs = [x for x in self.graph_of(model).inputs
                  if any(x._keras_history[0] is layer for layer in layers)]
        if len(inputs) == len(nodes):
            return None
        return keras.models.Model(inputs, [x for node in nodes
                                           for x in node.output_tensors])

    def counting_ops(self, function):
        """Returns a pair: what a function returned, and a `Counter` of the types of
        ops that it added to the backend's graph, as far as they can be listed."""
        return function(), collections.Counter()

    @contextlib.contextmanager
    def fresh_state(self, seed=0):
        """Context in which nothing was built yet: names start at number 1, and
        Keras draws the seeds of initializers from numbers that `seed` determines.
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

    def inputs_to_feed(self, model, values):
        """Returns arrays for the inputs of a model: the given ones, unless an input
        has a value of its own."""
        return values

    def draw_targets(self, model, outputs, seed=0):
        """Returns drawn targets for the loss that a model was compiled with, None
        if there is no loss, or none that accepts them."""

    def reloaded(self, model, objects):
        """Saves a model to a file and loads it, with custom objects."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, self.FILE)
            model.save(path, **self.SAVING)
            return keras.models.load_model(path, custom_objects=objects,
                                           compile=False, **self.LOADING)


def reached(objects, leads_to):
    """Returns objects and all that these lead to, each once, depth first. `leads_to`
    is a function of an object that returns a list of others."""
    found, waiting = {}, list(reversed(objects))
    while waiting:
        each = waiting.pop()
        if id(each) not in found:
            found[id(each)] = each
            waiting += reversed(leads_to(each))
    return list(found.values())


if hasattr(keras, 'KerasTensor'):
    from .keras3 import Keras3Graphs as GraphsOfInstalled   # noqa: E402
else:
    from .keras2 import Keras2Graphs as GraphsOfInstalled   # noqa: E402

graphs = GraphsOfInstalled()
