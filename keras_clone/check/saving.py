"""Whether a clone can be saved and loaded."""
import types

from .description import Description
from .difference import SAVING, Difference
from .graphs import graphs
from .messages import summary
from .values import distance


def saving_differences(original, clone):
    """Saves and loads a clone, if its original can be saved and loaded.

    # Arguments
        original: the `Original`.
        clone: its clone, with the same weights.

    # Returns
        List of at most one `Difference`.
    """
    if not original.is_built:
        return []
    objects = custom_objects(original.model)
    try:
        if not original.computes(_outputs_when_loaded(original, original.model,
                                                      objects)):
            return []
    except Exception:
        return []
    try:
        outputs = _outputs_when_loaded(original, clone, objects)
        if original.computes(outputs):
            return []
        text = distance(original.outputs, outputs)
    except Exception as error:
        text = summary(error)
    return [Difference(SAVING, '', 'save and load', "the original's outputs", text)]


def _outputs_when_loaded(original, model, objects):
    return graphs.evaluator(graphs.reloaded(model, objects), original.values)()


def custom_objects(model):
    """Collects the custom objects that `load_model` may need to load a model.

    # Arguments
        model: a `Model` instance.

    # Returns
        A dict: the classes of its layers and the functions they hold, by their
        names, and the global names that these functions use.
    """
    found = {}
    for layer in Description(model).layers.values():
        found[type(layer).__name__] = type(layer)
        for value in vars(layer).values():
            if isinstance(value, types.FunctionType):
                found[value.__name__] = value
                for name in value.__code__.co_names:
                    if name in value.__globals__:
                        found[name] = value.__globals__[name]
    return found
