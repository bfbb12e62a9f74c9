"""The judge finds that a clone cannot be saved and loaded."""
from keras import layers

from judging import chain, check, Unsavable
from judging import fresh_state  # noqa: F401


def test_clone_that_cannot_be_saved_is_found():
    def clone(model):
        return chain(end=Unsavable(2, name='last'))
    report = check(chain, clone, saving=True)
    assert report.differences[-1].outcome == 'does not save'
    assert str(report.differences[-1]) == (
        "save and load: expected the original's outputs, "
        'got NotImplementedError: not to be saved')


def test_clone_may_be_another_model_when_loaded_if_the_original_is():
    class Forgetful(layers.Layer):
        def __init__(self, factor=1., **kwargs):
            super().__init__(**kwargs)
            self.factor = factor

        def call(self, inputs):
            return self.factor * inputs

    def build():
        return chain(Forgetful(3., name='middle'))
    assert check(build, lambda model: build(), saving=True).faithful
