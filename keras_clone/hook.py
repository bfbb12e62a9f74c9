"""The import hook: runs each overlay on top of the module that it belongs to."""
import sys
from threading import get_ident

from . import overlay


def install():
    """Makes modules that are imported from now on use their overlays.

    It is called automatically when Keras is first imported. Programs have to call it
    themselves only if Python reads no start-up files (`python -S`).
    """
    if not any(isinstance(finder, OverlayFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, OverlayFinder())


class OverlayFinder:
    """Finds the modules that have an overlay, by asking the finders after it."""

    def __init__(self):
        self._searches = set()  # What is being looked for: (thread, name).

    def find_spec(self, name, path=None, target=None):
        search = get_ident(), name  # Another finder may ask all finders again.
        if search in self._searches or not overlay.is_wanted(name):
            return None
        self._searches.add(search)
        try:
            spec = self._spec_of_others(name, path, target)
        finally:
            self._searches.remove(search)
        if hasattr(getattr(spec, 'loader', None), 'exec_module'):
            spec.loader = OverlayLoader(spec.loader)
        return spec

    def _spec_of_others(self, name, path, target):
        finders = sys.meta_path[sys.meta_path.index(self) + 1:]
        specs = (finder.find_spec(name, path, target) for finder in finders
                 if hasattr(finder, 'find_spec'))
        return next(filter(None, specs), None)


class OverlayLoader:
    """Loads a module as another loader does, then runs the overlay on it.

    # Arguments
        loader: the loader that the other finders found.
    """

    def __init__(self, loader):
        self.loader = loader

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        overlay.apply(module)
