"""Small models that show what it takes to clone a model.

Each function in `MODELS` builds one; its title is what `keras-clone check` shows.
`keras2` and `keras3` have a gallery each, with the models of `both` among them; that
of the installed Keras is here.
"""
import keras

from .both import *  # noqa: F401,F403

if hasattr(keras, 'KerasTensor'):
    from .keras3 import *  # noqa: F401,F403
else:
    from .keras2 import *  # noqa: F401,F403
