"""The import hook: runs each overlay on top of the module that it belongs to."""
import sys

from . import overlay


def install():
    """Makes modules that are imported from now on use their overlays.

    It is called automatically when Keras is first imported. Programs have to call it
    themselves only if Python reads no start-up files (`python -S`).
    """
    if not any(isinstance(finder, OverlayFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, OverlayFinder())


class OverlayFinder:
    """Finds the modules that have an overlay, by asking the finders after it.

    One of them may be a hook of another package, which asks all finders again: the
    loader that it gets applies the overlay, so that its hook runs after that.
    """

    def find_spec(self, name, path=None, target=None):
        if not overlay.is_wanted(name):
            return None
        spec = self._spec_of_others(name, path, target)
        if hasattr(getattr(spec, 'loader', None), 'exec_module'):
            spec.loader = OverlayLoader(spec.loader)
        elif spec:
            overlay.record(name, 'failed', f'{spec.loader!r} has no exec_module')
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
        overlay.forget(module.__name__)
        self.loader.exec_module(module)
        overlay.apply(module)
