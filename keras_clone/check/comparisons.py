"""Whether a clone has the graph of its original, and its layers hold the same."""
from . import attributes, calls, layers
from .graphs import graphs


def _sharing_differences(pairing):
    return pairing.differences_in_sharing


# The parts of models; their connections; call arguments; what attributes hold.
COMPARISONS = (
    (_sharing_differences, layers.class_differences, layers.name_differences,
     layers.flag_differences, layers.weight_differences,
     layers.inner_layer_differences, layers.configuration_differences,
     attributes.attachment_differences),
    (calls.tensor_differences, calls.mask_differences, calls.shape_differences,
     calls.order_differences),
    (calls.argument_differences,),
    (attributes.attribute_differences, attributes.weight_order_differences),
)


def graph_differences(pairing):
    """Compares the graphs of two models.

    # Arguments
        pairing: the `Pairing` of a model and its clone.

    # Returns
        List of `Difference`s, each group of `COMPARISONS` in the order of the
        model's layers.
    """
    names = [layer.name for layer in graphs.layers_of(pairing.model)]

    def place(difference):
        top = difference.layer.split('/')[0]
        return names.index(top) if top in names else -1

    return [each for comparisons in COMPARISONS
            for each in sorted((each for compare in comparisons
                                for each in compare(pairing)), key=place)]
