"""The judge and what only layers of Keras 3 do."""
import keras
import pytest
from keras import layers, Model
from keras.models import clone_model
from keras_clone.check import check_clone, gallery
from keras_clone.check.graphs import graphs

from judging import adapted, on_tensorflow
from major_versions import chain


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


def test_outputs_that_cannot_be_computed_are_found():
    class Broken(layers.Layer):
        def compute_output_spec(self, inputs):
            return keras.KerasTensor(inputs.shape, inputs.dtype)

        def call(self, inputs):
            raise TypeError('no')
    report = check_clone(chain(lambda: layers.Dense(3)), lambda model: clone_model(
        model, clone_function=lambda layer: Broken(name=layer.name)))
    assert report.outcome == 'cannot predict'


def test_clone_that_set_weights_does_not_update_is_found():
    """Loading the weights from a file would update it."""
    report = check_clone(
        lambda: adapted(layers.Normalization), lambda model: clone_model(
            model, clone_function=lambda layer: type(layer).from_config(
                layer.get_config())), depth=1, saving=False)
    assert report.outcome in ('wrong numbers', 'cannot predict')


def test_variable_of_the_original_in_a_function_is_found():
    def with_its_own(layer):
        if isinstance(layer, layers.Lambda):
            return layers.Lambda(layer.function, name=layer.name)
        return type(layer).from_config(layer.get_config())
    report = check_clone(
        gallery.lambda_that_holds_a_layer,
        lambda model: clone_model(model, clone_function=with_its_own))
    assert report.outcome == 'not independent'
    assert 'layer dense' in report.reason


@pytest.mark.parametrize('build', gallery.MODELS, ids=lambda build: build.__name__)
def test_models_of_the_gallery_are_cloned_faithfully(build, assert_faithful):
    assert_faithful(build)


def test_guard_mask_that_the_engine_made_a_call_argument(assert_faithful):
    def build():
        x = keras.Input((4,))
        y = layers.Dense(3)(layers.Embedding(5, 3, mask_zero=True)(x))
        return Model(x, [y, layers.GRU(3)(y)])
    assert_faithful(build)


def test_guard_masks_of_a_model_that_begins_at_a_hidden_tensor(assert_faithful):
    def build():
        x = keras.Input((4, 3))
        hidden = layers.Dense(3)(x)
        masked = layers.Dense(3)(layers.Masking()(hidden))
        part = Model(hidden, layers.GRU(3)(masked))
        return Model(x, part(x))
    assert_faithful(build)


@pytest.mark.parametrize('build', [
    pytest.param(lambda: adapted(layers.Normalization), id='Normalization'),
    pytest.param(lambda: adapted(
        lambda name: layers.Discretization(num_bins=3, name=name)),
        id='Discretization', marks=on_tensorflow),
    pytest.param(lambda: adapted(layers.IntegerLookup, 'int64'),
                 id='IntegerLookup', marks=on_tensorflow),
])
def test_guard_what_was_adapted_is_cloned(build, assert_faithful):
    assert_faithful(build)


class TwoSequentials(layers.Layer):
    """Calls models that are built in that call, if they are not yet."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.both = [keras.Sequential([layers.Dropout(.1, name=name + '_dropout'),
                                       layers.Dense(3, name=name + '_dense')],
                                      name=name) for name in 'ab']

    def build(self, input_shape):
        self.built = True

    def call(self, inputs):
        return self.both[1](self.both[0](inputs))


def two_sequentials(are_built=False):
    layer = TwoSequentials(name='two')
    for each in layer.both if are_built else ():
        each.build((None, 3))
    return chain(lambda: layer)()


def arguments_in(model):
    """The arguments of the call of the last layer in a model of `TwoSequentials`."""
    layer = model.get_layer('two').both[1].layers[-1]
    return layer._inbound_nodes[0].arguments.kwargs


def test_guard_arguments_of_calls_that_a_sequential_makes():
    def clone(model):
        with graphs.fresh_state(12345):
            made = two_sequentials(are_built=True)
        assert arguments_in(made) != arguments_in(model)
        return made
    report = check_clone(two_sequentials, clone, saving=False, depth=1)
    assert list(map(str, report.differences)) == []
