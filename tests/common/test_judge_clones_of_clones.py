"""The judge finds faults of a clone's clone, a second clone, and a saved one."""
from keras.models import Model

from judging import chain, check, found, masked, Own, twice, Unsavable
from judging import fresh_state  # noqa: F401


def test_clone_whose_clone_crashes_clones_only_once():
    def clone(model):
        if hasattr(model, 'is_clone'):
            raise RuntimeError('once is enough')
        clone = chain()
        clone.is_clone = True
        return clone
    report = check(chain, clone, depth=2)
    assert report.outcome == 'clones only once'
    assert report.reason.endswith("the clone's clone: cloning: expected a clone, "
                                  'got RuntimeError: once is enough')


def test_clone_whose_clone_shares_its_layers_clones_only_once():
    clones = []

    def clone(model):
        clones.append(clones[0] if clones else chain())
        return clones[-1]
    report = check(chain, clone, depth=2)
    assert report.outcome == 'clones only once'
    assert ('first', 'what it holds: layer first') in found(
        report, 'clones only once')
    assert any(str(each).startswith(
        "first: the clone's clone: what it holds: layer first: ")
               for each in report.differences)


def test_clone_that_shares_its_layers_with_another_one_clones_only_once():
    clones = {}

    def clone(model):
        return clones.setdefault(id(model), chain())
    report = check(chain, clone, depth=2)
    assert report.outcome == 'clones only once'
    assert any(str(each).startswith(
        'first: the second clone: what it holds: layer first: ')
               for each in report.differences)


def test_fault_of_every_generation_is_reported_once():
    report = check(masked, lambda model: masked(mask=None), depth=3)
    assert len(report.differences) == len(set(report.differences))
    assert not any(each.clone for each in report.differences)


def test_same_fault_of_two_calls_of_a_layer_is_reported_once():
    report = check(twice, lambda model: Model(model.inputs, model.outputs), depth=2)
    assert report.differences
    assert len(report.differences) == len(set(report.differences))


# Saving and loading

def test_clone_that_cannot_be_saved_is_found():
    def clone(model):
        return chain(end=Unsavable(2, name='last'))
    report = check(chain, clone, saving=True)
    assert report.differences[-1].outcome == 'does not save'
    assert str(report.differences[-1]) == (
        "save and load: expected the original's outputs, "
        'got NotImplementedError: not to be saved')


def test_clone_may_be_another_model_when_loaded_if_the_original_is():
    def build():
        return chain(Own(times=3., name='middle'))
    assert check(build, lambda model: build(), saving=True).faithful
