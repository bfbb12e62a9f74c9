"""Small models that show what makes cloning difficult.

Each function in `MODELS` builds one; its title is what `keras-clone check` shows.
"""
# flake8: noqa: F401, F403
import keras

from .both import *

if hasattr(keras, 'KerasTensor'):
    from .keras3 import *
else:
    from .keras2 import *

# That of keras-team/keras issue 12202 is the first.
MODELS.sort(key=lambda build: not build.title.startswith('Issue'))
