"""Judges whether a clone is faithful: the command `keras-clone check`, and for
programs `check_clone` and `compare`, see `keras_clone.check.faithfulness`.

The command imports this package before Keras.

- The judge: `faithfulness` decides, by `original` (what a model computes),
  `description` (its graph) and `independence` (what belongs to it alone). `graphs`
  is what these know about Keras, `random_values` what they draw.
- The command: `commands`, `subjects`, `processes`, and the models of `gallery`.
- The pictures: `outline` (of a model), `columns` (what is shown), `layout` (where),
  `drawing`.
"""


def check_clone(build, clone_model, **settings):
    """Builds a model, clones it and decides whether the clone is faithful."""
    from .faithfulness import check_clone
    return check_clone(build, clone_model, **settings)


def compare(model, clone, **settings):
    """Compares a clone with its original."""
    from .faithfulness import compare
    return compare(model, clone, **settings)
