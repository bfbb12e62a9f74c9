"""Runs whenever an interpreter starts: `keras-clone.pth` calls `register`.

Nothing that `site` has not imported is imported, and nothing can fail, before Keras
is looked for.
"""
import os
import sys

HERE = os.path.dirname(__file__)


class StartFinder:
    """Installs the import hook of `keras_clone` when `keras` is first looked for.

    # Arguments
        checkout: the folder of an editable installation, where `keras_clone` is
            found, as if that were installed beside this file. It is not put on
            `sys.path`: Python would take its other folders for packages, and
            `import keras` would succeed without Keras.
    """

    def __init__(self, checkout=None):
        self.checkout = checkout
        self.has_warned = False

    def find_spec(self, name, path=None, target=None):
        if name == 'keras':
            try:
                problem = self._install()
            except Exception as error:
                problem = f'{error}. Install keras-clone again'
            if problem:
                self._report(problem)
        if name == 'keras_clone' and self.checkout:
            from importlib.machinery import PathFinder
            folders = [self.checkout if folder == HERE else folder
                       for folder in sys.path]
            return PathFinder.find_spec(name, folders + [self.checkout])

    def _install(self):
        """Installs the import hook; returns the problem if it is not where it was.

        A module of the user that has the name of the package is not imported.
        """
        from importlib.machinery import PathFinder
        from importlib.util import find_spec
        spec = find_spec('keras_clone')
        if not (spec and spec.has_location):
            return ('its package is no longer in {}. Install keras-clone again, or '
                    'remove it with: pip uninstall keras-clone'.format(
                        self.checkout or HERE))
        folders = spec.submodule_search_locations or []
        if not PathFinder.find_spec('keras_clone.hook', folders):
            return (f'{spec.origin} is not its package. Rename this file if it is '
                    'yours, or install keras-clone again')
        import keras_clone
        keras_clone.install()

    def _report(self, problem):
        """Warns once; raises an `ImportError` if KERAS_CLONE=strict."""
        text = f'keras-clone: clone_model is as released: {problem}.'
        if os.environ.get('KERAS_CLONE', '').strip().lower() == 'strict':
            raise ImportError(text)
        if not self.has_warned:
            self.has_warned = True
            import warnings
            try:
                warnings.warn(text)
            except Warning:  # Python turns warnings into exceptions (`-W error`).
                print(text, file=sys.stderr)


def register(checkout=None):
    """Registers a `StartFinder`, once: `site` reads `.pth` files twice in a virtual
    environment."""
    if not any(isinstance(finder, StartFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, StartFinder(checkout))
