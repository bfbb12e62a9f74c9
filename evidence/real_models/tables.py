"""The tables of models: packages by name, and the models of each."""


class Packages(dict):
    """A dict {name of a package: function that returns its models}.

    The models are a dict {text: function that builds the model}. The function is
    called in a process of its own, and imports the package.
    """

    def of(self, name):
        """Returns a decorator that adds the models of the package `name`."""
        def add(models):
            self[name] = models
            return models
        return add


def packages_for(release):
    """Returns the `Packages` for a release of Keras."""
    if release.startswith('2.'):
        from evidence.real_models.keras2 import PACKAGES
    else:
        from evidence.real_models.keras3 import PACKAGES
    return PACKAGES
