"""What changes in `keras.engine.network` of Keras 2.2.4, 2.2.5, 2.3.0 and 2.3.1.

Executed in the namespace of the released module, right after it.
"""
from .network import Network

_released_run_internal_graph = Network.run_internal_graph


def _run_internal_graph(self, inputs, masks=None):
    """Computes output tensors for new inputs, and leaves the nodes as they are.

    The released method adds the mask of this call to the `arguments` of each node
    that was called with arguments, where the next call, and every clone, takes it
    for a mask that the user passed (keras-team/keras issue 12835).

    # Arguments
        inputs: List of tensors, one per input of the network.
        masks: List of masks (tensors or None), one per input, or None.

    # Returns
        Three lists: output_tensors, output_masks, output_shapes.
    """
    called_with = [(node, node.arguments)
                   for nodes in self._nodes_by_depth.values()
                   for node in nodes if node.arguments]
    try:
        for node, arguments in called_with:
            node.arguments = arguments.copy()
        return _released_run_internal_graph(self, inputs, masks)
    finally:
        for node, arguments in called_with:
            node.arguments = arguments


Network.run_internal_graph = _run_internal_graph
