"""Builds the model whose clones are judged."""
import keras

from .describing import describe
from .difference import ModelError
from .failures import one_line, place_in_code
from .graphs import graphs


def built(build):
    """Returns what `build` returns as a pair (model, list of arrays or None).

    # Raises
        ModelError: if it raises, or returns no model that can be judged.
    """
    try:
        result = build()
    except Exception as error:
        raise ModelError(f'The model cannot be built: {one_line(error)}'
                         f'{place_in_code(error)}.')
    is_pair = isinstance(result, tuple) and len(result) == 2
    model, inputs = result if is_pair else (result, None)
    if not isinstance(model, keras.models.Model):
        is_other = type(model).__module__.startswith(('tensorflow', 'tf_keras'))
        found = (f'a {type(model).__name__} of tf.keras, not of `import keras`'
                 if is_other else describe(model))
        raise ModelError('Expected a function that returns a Keras `Model`, '
                         f'it returned {found}.')
    if not graphs.is_network(model):
        raise ModelError('Expected a functional or `Sequential` model, it returned '
                         f'a subclassed one, of class `{type(model).__name__}`: '
                         'it has no graph to compare.')
    if not graphs.is_current(model):
        raise ModelError('Expected a function that builds its model anew each time '
                         'it is called, it returned one that was built before.')
    return model, inputs
