"""Small models that show what it takes to clone a model.

Each function builds one; its docstring is what `keras-clone check` shows. `keras2`
and `keras3` have a gallery each; that of the installed line is here.
"""
import keras

if hasattr(keras, 'KerasTensor'):
    from .keras3 import *  # noqa: F401,F403
else:
    from .keras2 import *  # noqa: F401,F403
