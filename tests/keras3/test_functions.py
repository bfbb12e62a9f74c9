"""`clone_function`, `call_function`, `recursive` and `cache` work as released."""
import keras
import keras_clone
import numpy as np
import pytest
from keras import Model, Sequential, layers
from keras.models import clone_model
from keras.src.api_export import get_symbol_from_name

from major_versions import ONES, chain, outputs_of


def renamed(layer):
    config = layer.get_config()
    return type(layer).from_config({**config, 'name': config['name'] + '_new'})


def with_dropout(layer, *args, **kwargs):
    outputs = layer(*args, **kwargs)
    if isinstance(layer, layers.Dense):
        outputs = layers.Dropout(.5)(outputs)
    return outputs


dense = chain(lambda: layers.Dense(2))
nested = chain(chain(lambda: layers.Dense(3, name='inner')),
               lambda: layers.Dense(2, name='outer'))


@pytest.mark.parametrize('build', [
    dense, lambda: Sequential([keras.Input((3,), name='x'), layers.Dense(2)]),
], ids=['functional', 'sequential'])
def test_guard_clone_function_makes_the_layers(build):
    model = build()
    clone = clone_model(model, clone_function=renamed)
    assert clone.layers[-1].name == model.layers[-1].name + '_new'
    assert clone._layers[0].name == model._layers[0].name


def test_guard_clone_function_may_keep_a_layer():
    model = dense()
    clone = clone_model(model, clone_function=lambda layer: layer)
    assert clone.layers[-1] is model.layers[-1]
    assert clone.layers[0] is not model.layers[0]


def wider(layer):
    if isinstance(layer, layers.Dense):
        return layers.Dense(2 * layer.units)
    return type(layer).from_config(layer.get_config())


@pytest.mark.parametrize('arguments, build', [
    ({}, chain(lambda: layers.Dense(3), lambda: layers.Dense(2))),
    ({'recursive': True}, nested)])
def test_guard_clone_function_may_change_the_shapes_of_outputs(arguments, build):
    clone = clone_model(build(), clone_function=wider, **arguments)
    assert [weight.shape for weight in clone.weights] == [(3, 6), (6,), (6, 4), (4,)]


def test_guard_clone_function_may_return_any_callable():
    model = dense()
    clone = clone_model(
        model, clone_function=lambda layer: lambda inputs: 2 * layer(inputs))
    np.testing.assert_allclose(outputs_of(clone, ONES), 2 * outputs_of(model, ONES))


def test_guard_call_function_may_change_the_shapes_of_outputs():
    model = chain(lambda: layers.Dense(3), lambda: layers.Dense(2))()
    clone = clone_model(model, call_function=lambda layer, *args, **kwargs: (
        layers.Concatenate()(2 * [layer(*args, **kwargs)])))
    assert [weight.shape for weight in clone.weights] == [(3, 3), (3,), (6, 2), (2,)]


def test_guard_call_function_may_leave_a_layer_out():
    model = chain(lambda: layers.Dense(3), layers.BatchNormalization,
                  lambda: layers.Dense(2))()
    clone = clone_model(model, call_function=lambda layer, x, **kwargs: (
        x if isinstance(layer, layers.BatchNormalization) else layer(x, **kwargs)))
    assert len(clone.weights) == 4
    assert len(clone_model(clone).weights) == 4


class OfUnits(Model):
    """Takes no inputs and outputs, but creates them."""

    def __init__(self, units=2, **kwargs):
        x = keras.Input((3,))
        super().__init__(x, layers.Dense(units)(x), **kwargs)


class SequentialOfUnits(Sequential):
    def __init__(self, units=2, **kwargs):
        super().__init__([keras.Input((3,)), layers.Dense(units)], **kwargs)


@pytest.mark.parametrize('cls, arguments', [
    (OfUnits, {'clone_function': wider}), (SequentialOfUnits, {
        'clone_function': wider}),
    (OfUnits, {'call_function': lambda layer, x: -layer(x)})])
def test_guard_model_whose_layers_are_changed_can_be_loaded(
        cls, arguments, tmp_path):
    clone = clone_model(cls(5), **arguments)
    clone.save(tmp_path / 'model.keras')
    loaded = keras.models.load_model(
        tmp_path / 'model.keras', custom_objects={cls.__name__: cls})
    np.testing.assert_allclose(outputs_of(loaded, ONES), outputs_of(clone, ONES))


def test_model_whose_layers_are_changed_keeps_a_class_that_takes_layers():
    class Named(Sequential):
        pass
    model = Named([keras.Input((3,)), layers.Dense(2)])
    assert type(clone_model(model, clone_function=wider)) is Named


def test_guard_clone_function_is_called_once_for_a_shared_layer():
    calls = []
    x = keras.Input((3,), name='x')
    shared = layers.Dense(3)
    clone_model(Model(x, shared(shared(x))),
                clone_function=lambda layer: calls.append(layer) or renamed(layer))
    assert calls == [shared]


def test_guard_clone_function_is_called_with_nested_models():
    names, model = [], nested()
    clone_model(model, clone_function=lambda x: names.append(x.name) or x)
    assert names == [layer.name for layer in model.layers[1:]]


def test_guard_recursive_clone_function_makes_the_layers_of_nested_models():
    clone = clone_model(nested(), clone_function=renamed, recursive=True)
    assert clone.layers[1].layers[-1].name == 'inner_new'


@pytest.mark.parametrize('arguments, count', [({}, 2), ({'recursive': True}, 3)])
def test_guard_call_function_is_used_in_a_nested_model_on_request(arguments, count):
    clone = clone_model(nested(), call_function=with_dropout, **arguments)
    assert [type(layer).__name__ for layer in clone.layers] == [
        'InputLayer', 'Functional', 'Dense', 'Dropout']
    assert len(clone.layers[1].layers) == count


def test_guard_call_function_with_a_sequential_model_is_refused():
    with pytest.raises(ValueError, match='`call_function` argument is not supp'):
        clone_model(Sequential([layers.Dense(2)]), call_function=with_dropout)


def test_guard_clone_function_with_a_subclassed_model_is_refused():
    class Subclassed(Model):
        pass
    with pytest.raises(ValueError, match='`clone_function` and `input_tensors`'):
        clone_model(Subclassed(), clone_function=renamed)


@pytest.mark.parametrize('name', ['clone_function', 'call_function'])
def test_argument_that_is_no_function_is_refused(name):
    with pytest.raises(ValueError, match=f'Expected `{name}` argument .*=3'):
        clone_model(dense(), **{name: 3})


def test_clone_function_that_returns_no_layer_is_refused():
    model = dense()
    with pytest.raises(ValueError, match=(
            f"`clone_function` .* layer '{model.layers[-1].name}'. .* None")):
        clone_model(model, clone_function=lambda layer: None)


def test_guard_clone_has_the_layers_of_the_cache():
    model, cached = dense(), layers.Dense(2)
    clone = clone_model(model, cache={id(model.layers[-1]): cached})
    assert clone.layers[-1] is cached


@pytest.mark.parametrize('policy', ['mixed_float16', 'float64'])
def test_guard_clone_keeps_the_dtype_policy(policy):
    clone = clone_model(chain(lambda: layers.Dense(2, dtype=policy))())
    assert clone.layers[-1].dtype_policy == keras.DTypePolicy(policy)


def test_clone_with_a_clone_function_keeps_the_flags_of_inputs():
    x = keras.Input((3,), optional=True)
    clone = clone_model(Model(x, layers.ReLU()(x)), clone_function=lambda x: x)
    assert clone.layers[0].optional
    assert clone.layers[0].name == x._keras_history[0].name


def test_guard_running_the_released_module_keeps_what_the_public_name_leads_to():
    released = keras_clone.released('keras.src.models.cloning').clone_model
    assert released is not clone_model
    assert get_symbol_from_name('keras.models.clone_model') is clone_model
