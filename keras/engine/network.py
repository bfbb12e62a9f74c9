"""Changes to `keras.engine.network` of Keras 2.2.4, 2.2.5, 2.3.0 and 2.3.1.

Executed in the namespace of the released module, right after it.
"""
from .network import Network

_released_run_internal_graph = Network.run_internal_graph


def _run_internal_graph(self, inputs, masks=None):
    """Computes output tensors for new inputs without changing the nodes.

    The released method writes the mask of this call into the `arguments` of each
    node that has call arguments. The next call, and every clone, would use it as a
    mask that the user passed (keras-team/keras issue 12835).

    # Arguments
        inputs: List of tensors, one per input of the network.
        masks: List of masks (tensors or None), one per input, or None.

    # Returns
        Three lists: output_tensors, output_masks, output_shapes.
    """
    call_arguments = [(node, node.arguments)
                      for nodes in self._nodes_by_depth.values()
                      for node in nodes if node.arguments]
    try:
        for node, arguments in call_arguments:
            node.arguments = arguments.copy()
        return _released_run_internal_graph(self, inputs, masks)
    finally:
        for node, arguments in call_arguments:
            node.arguments = arguments


Network.run_internal_graph = _run_internal_graph
