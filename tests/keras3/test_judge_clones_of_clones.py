"""The judge finds faults of the clone's clone."""
from keras.models import clone_model
from keras_clone.check.faithfulness import check_clone

from judging import two_dense


def test_clone_that_cannot_be_cloned_is_found():
    clones = []

    def clone_once(model):
        if model in clones:
            raise TypeError('no')
        clones.append(clone_model(model))
        return clones[-1]
    assert check_clone(two_dense, clone_once, locate=False).outcome == (
        'clones only once')
