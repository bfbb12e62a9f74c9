"""Judges whether a clone is faithful: the command `keras-clone check`, and for
programs `check_clone` and `compare`, see `keras_clone.check.faithfulness`.

The command imports this package before Keras.
"""


def check_clone(build, clone_model, **settings):
    """Builds a model, clones it and decides whether the clone is faithful."""
    from .faithfulness import check_clone
    return check_clone(build, clone_model, **settings)


def compare(model, clone, **settings):
    """Compares a clone with its original."""
    from .faithfulness import compare
    return compare(model, clone, **settings)
