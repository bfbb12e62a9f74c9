"""The judge finds that a clone cannot be made, or computes something else."""
import keras
import pytest
from keras import layers, Model
from keras.models import clone_model
from keras_clone.check.faithfulness import check_clone, ModelError

from judging import adapted, changed, two_dense
from major_versions import chain


def test_other_numbers_are_found_with_their_layer():
    report = check_clone(chain(lambda: layers.Dense(3), layers.ReLU),
                         changed(layers.ReLU, negative_slope=.5))
    assert (report.outcome, report.layer) == ('wrong numbers', 're_lu')


def test_mask_that_the_original_does_not_return_is_found():
    class HidesMask(layers.Layer):
        hides = True

        def call(self, inputs):
            return 2. * inputs

        def compute_mask(self, inputs, previous_mask):
            return None if self.hides else previous_mask

    def clone_function(layer):
        clone = type(layer).from_config(layer.get_config())
        clone.hides = False
        return clone
    report = check_clone(chain(layers.Masking, HidesMask, shape=(4, 3)),
                         lambda model: clone_model(
                             model, clone_function=clone_function))
    assert (report.outcome, report.layer) == ('wrong numbers', 'hides_mask')


def test_crash_is_found_with_its_layer():
    def refuse(layer):
        if layer.name == 'dense_1':
            raise TypeError('no')
        return type(layer).from_config(layer.get_config())
    report = check_clone(
        two_dense, lambda model: clone_model(model, clone_function=refuse))
    assert (report.outcome, report.layer) == ('crash', 'dense_1')


def test_outputs_that_cannot_be_computed_are_found():
    class Broken(layers.Layer):
        def compute_output_spec(self, inputs):
            return keras.KerasTensor(inputs.shape, inputs.dtype)

        def call(self, inputs):
            raise TypeError('no')
    report = check_clone(two_dense, lambda model: clone_model(
        model, clone_function=lambda layer: Broken(name=layer.name)))
    assert report.outcome == 'cannot predict'


def test_subclassed_model_is_refused():
    class Subclassed(Model):
        def call(self, inputs):
            return inputs
    with pytest.raises(ModelError, match='`Subclassed`'):
        check_clone(Subclassed, clone_model)


def test_clone_that_set_weights_does_not_update_is_found():
    """Loading the weights from a file would update it."""
    report = check_clone(
        lambda: adapted(layers.Normalization), lambda model: clone_model(
            model, clone_function=lambda layer: type(layer).from_config(
                layer.get_config())), depth=1, saving=False)
    assert report.outcome in ('wrong numbers', 'cannot predict')


def test_unbuilt_model_is_judged():
    def build(units=3):
        return keras.Sequential([layers.Dense(units, name='dense')], name='model')
    report = check_clone(build, clone_model)
    assert report.faithful
    assert report.not_compared == ['outputs (the model is not built: it has none '
                                   'yet)']
    assert check_clone(build, lambda model: build(4)).outcome == 'other graph'
