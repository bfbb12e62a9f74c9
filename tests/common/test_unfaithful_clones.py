"""A clone that would not be faithful is refused: an error names the layer."""
import pytest
from keras.models import clone_model

from custom_objects import Times
from major_versions import chain


class Growing(Times):
    instances = 0

    def build(self, input_shape):
        Growing.instances += 1
        for i in range(Growing.instances):
            self.add_weight(name='w%d' % i, shape=(3,), initializer='ones')


class Widening(Times):
    instances = 0

    def build(self, input_shape):
        Widening.instances += 1
        self.add_weight(
            name='w', shape=(Widening.instances,), initializer='ones')


class Previous(Times):
    instances = []

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        if Previous.instances:
            self.previous = (Previous.instances[-1],)
        Previous.instances.append(self)


class Singleton(Times):
    instance = None

    def __new__(cls, *args, **kwargs):
        if cls.instance is None:
            cls.instance = super().__new__(cls)
        return cls.instance


@pytest.fixture(autouse=True)
def initial_instances(monkeypatch):
    monkeypatch.setattr(Growing, 'instances', 0)
    monkeypatch.setattr(Widening, 'instances', 0)
    monkeypatch.setattr(Previous, 'instances', [])
    monkeypatch.setattr(Singleton, 'instance', None)


def test_clone_with_other_weights_is_refused():
    model = chain(lambda: Growing(name='growing'))()
    with pytest.raises(ValueError, match="'growing' of class `Growing`: .*weights"):
        clone_model(model)


def test_clone_with_weights_of_other_shapes_is_refused():
    model = chain(lambda: Widening(name='wide'))()
    with pytest.raises(ValueError, match="'wide' of class `Widening`: .*weights"):
        clone_model(model)


def test_clone_that_uses_a_layer_of_the_original_is_refused():
    model = chain(lambda: Previous(name='first'))()
    with pytest.raises(ValueError, match="'first' of class `Previous`.*`previous`"):
        clone_model(model)


def test_layer_whose_class_returns_the_original_is_refused():
    model = chain(lambda: Singleton(name='single'))()
    with pytest.raises(ValueError, match="'single'.*an existing layer"):
        clone_model(model)
