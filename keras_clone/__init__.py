"""Makes the installed Keras clone models faithfully, unless KERAS_CLONE=off."""
from .hook import install
from .overlay import keras_release, released, status

__all__ = ['install', 'keras_release', 'released', 'status']
__version__ = '0.1.0'
