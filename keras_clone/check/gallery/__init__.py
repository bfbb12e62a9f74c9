"""Small models that show what makes cloning difficult.

Each function in `MODELS` builds one; its title is what `keras-clone check` shows.
`keras2` and `keras3` each have a gallery, which includes the models of `both`. This
package has the gallery of the installed Keras.
"""
import keras

from .both import *  # noqa: F401,F403

if hasattr(keras, 'KerasTensor'):
    from .keras3 import *  # noqa: F401,F403
else:
    from .keras2 import *  # noqa: F401,F403
