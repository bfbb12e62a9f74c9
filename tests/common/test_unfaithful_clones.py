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


@pytest.mark.parametrize('layer_class, message', [
    (Growing, "'mine' of class `Growing`: .*weights"),
    (Widening, "'mine' of class `Widening`: .*weights"),
    (Previous, "'mine' of class `Previous`.*`previous`"),
    (Singleton, "'mine'.*an existing layer")],
    ids=['has other weights', 'has weights of other shapes',
         'uses a layer of the original', 'is the original'])
def test_error_names_a_layer_whose_clone(layer_class, message):
    model = chain(lambda: layer_class(name='mine'))()
    with pytest.raises(ValueError, match=message):
        clone_model(model)
