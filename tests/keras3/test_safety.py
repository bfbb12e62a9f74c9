"""Cloning does not weaken safe mode: what may contain code is refused as before.

What a clone saves contains no references to live objects, and no scope is left open
or visible to other threads (keras-team/keras pull request 23048).
"""
import contextlib
import json
from functools import partial

import keras
import pytest
from keras import Model, layers
from keras.models import clone_model

from custom_objects import TWO, Both, Scale, StoresOtherValue, gelu, relu
from major_versions import RELEASE, chain
from threads import Pausing

REFUSED = 'disallowed by default|deserialization of a|Deserializing it is unsafe'


# Keras pull request 23048.
REFUSED_BY_LAMBDA = pytest.mark.skipif(
    not ((3, 12, 3) <= RELEASE < (3, 13) or RELEASE >= (3, 15)),
    reason='`Lambda.from_config` does not refuse code')


def with_lambda():
    return chain(lambda: layers.Lambda(lambda x: TWO * x, output_shape=(3,)))()


class CodeInConfig(layers.Layer):
    """Its config contains code, in a form that `make_code` determines."""

    make_code = None
    ran = []

    def __init__(self, held=None, **kwargs):
        super().__init__(**kwargs)
        self.held = held

    def call(self, inputs):
        return inputs

    def get_config(self):
        return {**super().get_config(), 'held': self.make_code()}

    @classmethod
    def from_config(cls, config):
        config['held'] = keras.saving.deserialize_keras_object(config['held'])
        if callable(config['held']):
            config['held'](0.)
        return cls(**config)


def code_of_a_function():
    function = layers.Lambda(
        lambda x: CodeInConfig.ran.append(x) or x).get_config()['function']
    return {'class_name': '__lambda__', 'config': {'value': function['config']}}


def code_of_a_layer():
    layer = layers.Lambda(lambda x: CodeInConfig.ran.append(x) or x)
    return {'module': 'keras.layers', 'class_name': 'Lambda',
            'registered_name': None, 'config': layer.get_config()}


@pytest.fixture
def code(monkeypatch):
    """Returns a function that sets the code in configs."""
    monkeypatch.setattr(CodeInConfig, 'ran', [])
    return lambda make: monkeypatch.setattr(CodeInConfig, 'make_code',
                                            staticmethod(make))


@pytest.mark.parametrize('make_code', [
    code_of_a_function,
    pytest.param(code_of_a_layer, marks=REFUSED_BY_LAMBDA)],
    ids=['guard function', 'guard layer'])
def test_code_in_a_config_never_runs(make_code, code):
    code(make_code)
    with contextlib.suppress(TypeError, ValueError):
        clone_model(chain(lambda: StoresOtherValue(.5), CodeInConfig)())
    assert not CodeInConfig.ran


@pytest.mark.parametrize('own', [lambda x: 2 * x, gelu], ids=['lambda', 'named'])
def test_guard_code_in_a_config_never_runs_next_to_functions(own, code):
    code(code_of_a_function)
    layer = CodeInConfig()
    layer.held = own
    with contextlib.suppress(ValueError):
        clone = clone_model(chain(lambda: layers.Lambda(own), lambda: layer)())
        assert clone.layers[-1].held is own
    assert not CodeInConfig.ran


def loader_of_file(model, tmp_path):
    path = str(tmp_path / 'model.keras')
    model.save(path)
    return partial(keras.models.load_model, path)


@pytest.mark.parametrize('read', [
    lambda model, path: partial(keras.models.model_from_json, model.to_json()),
    lambda model, path: partial(Model.from_config, model.get_config()),
    pytest.param(lambda model, path: partial(layers.Lambda.from_config,
                                             model.layers[-1].get_config()),
                 marks=REFUSED_BY_LAMBDA),
    loader_of_file,
], ids=['model_from_json', 'from_config', 'Lambda.from_config', 'load_model'])
@pytest.mark.filterwarnings('ignore')
def test_loading_the_clone_of_a_lambda_is_refused(read, tmp_path):
    load = read(clone_model(with_lambda()), tmp_path)
    with pytest.raises(ValueError, match=REFUSED):
        load()


def test_config_of_a_clone_equals_that_of_the_original():
    model = chain(
        lambda: layers.Reshape((1, 3)),
        lambda: layers.TimeDistributed(Scale(2., gelu)),
        lambda: Both(layers.Dense(3, activation=gelu), layers.Dense(3)),
        lambda: layers.LSTM(2, activation=relu))()
    clone = clone_model(model)
    assert json.dumps(clone.get_config()) == json.dumps(model.get_config())
    assert clone.to_json() == model.to_json()


@REFUSED_BY_LAMBDA
def test_guard_no_other_thread_sees_a_scope(monkeypatch):
    model, seen = chain(Pausing)(), []
    config = layers.Lambda(lambda x: x).get_config()

    def observe():
        with pytest.raises(ValueError, match=REFUSED):
            layers.Lambda.from_config(dict(config))
        seen.append(json.dumps(layers.serialize(layers.Dense(2, activation=gelu))))
    monkeypatch.setattr(Pausing, 'observe', staticmethod(observe))
    clone_model(model)
    assert len(seen) >= 2
    assert all('gelu' in config for config in seen)


def test_unsafe_setting_is_neither_needed_nor_changed():
    from keras.src.backend.common import global_state
    for _ in range(2):
        assert global_state.get_global_attribute('safe_mode_saving') is None
        clone_model(with_lambda())
