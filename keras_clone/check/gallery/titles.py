"""Titles of models."""


def titled(title):
    """Makes a text the title of the model that a function builds."""
    def entitle(build):
        build.title = title
        return build
    return entitle
