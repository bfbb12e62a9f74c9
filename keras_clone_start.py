"""Runs whenever an interpreter starts: `keras-clone.pth` calls `register`.

Nothing else is imported and nothing can fail before Keras is looked for.
"""
import sys


class StartFinder:
    """Installs the import hook of `keras_clone` when `keras` is first looked for.

    # Arguments
        checkout: the folder of an editable installation, where `keras_clone` is
            found. It is not put on `sys.path`: Python would take its other folders
            for packages, and `import keras` would succeed without Keras.
    """

    def __init__(self, checkout=None):
        self.checkout = checkout

    def find_spec(self, name, path=None, target=None):
        if name == 'keras':
            try:
                import keras_clone
                keras_clone.install()
            except Exception as error:
                import warnings
                warnings.warn(f'clone_model is as released: {error!r}')
        if name == 'keras_clone' and self.checkout:
            from importlib.machinery import PathFinder
            return PathFinder.find_spec(name, [self.checkout])


def register(checkout=None):
    """Registers a `StartFinder`, once: `site` reads `.pth` files twice in a virtual
    environment."""
    if not any(isinstance(finder, StartFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, StartFinder(checkout))
