"""Nested models, and ways to make the outer model."""
from keras import layers
from keras.models import Model, Sequential

from evidence.random_models.custom import Plain, Scale, Stack, gelu
from evidence.random_models.masks import OwnMask
from evidence.random_models.operations import (
    NESTED, STEPS, UNITS, new_layer, operation, whole)
from evidence.random_models.versions import layers_inside


@operation('s', 's', ['built', 'not built', 'masked', 'built by hand', 'nested',
                      'twice'])
def sequential(building, option, x):
    stack = [layers.Dense(UNITS, activation=gelu), OwnMask(), Scale()]
    if option == 'built':
        stack.insert(0, layers.InputLayer((STEPS, UNITS)))
    elif option == 'masked':
        stack[0] = layers.Masking()
    elif option == 'nested':
        stack[0] = Sequential([layers.Dense(UNITS), Scale()])
    elif option == 'twice':
        stack.append(stack[0])
    model = Sequential(stack)
    if option == 'built by hand':
        model.build((None, STEPS, UNITS))
    return [model(x)]


@operation('sv', 'sv', NESTED)
def nested(building, recipe, x, v):
    return building.nested_model(recipe)(x, v)


@operation('svs', 'sv', NESTED)
def nested_called_twice(building, recipe, x, v, y):
    model = building.nested_model(recipe)
    _, v = model(x, v)
    return model(y, v)


class Branded(Model):
    """A functional model of a custom class."""


class Graphless(Model):
    """A model that has no graph, and a config of its own."""

    def __init__(self, units, activation='tanh', **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.dense = layers.Dense(units, activation=activation)

    def call(self, inputs):
        return self.dense(inputs)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.units)

    def get_config(self):
        return {'name': self.name, 'units': self.units,
                'activation': self.dense.activation}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**config)


def _branded():
    inputs = layers.Input((STEPS, UNITS))
    return Branded(inputs, Scale()(inputs))


new_layer('model_of_a_class', 's', {
    'Branded': _branded, 'Stack': lambda: Stack(UNITS, gelu),
    'Stack, text': lambda: Stack(UNITS, activation='tanh')})
new_layer('model_without_graph', 'v', {
    'default': lambda: Graphless(UNITS), 'function': lambda: Graphless(UNITS, gelu)})


# How the outer model is made


class Attributed(Model):
    """A functional model with some of its layers and an object in attributes."""

    def __init__(self, inputs, outputs, kind=tuple, **kwargs):
        super().__init__(inputs, outputs, **kwargs)
        own = [layer for layer in self.layers if layer.weights]
        self.some = kind(own[-2:])
        self.by_name = {layer.name: layer for layer in own}
        self.keeper = Plain(*own[-1:])
        self.method = own[0].count_params if own else None


@whole(['list', 'set', 'tuple'])
def attributed(option, inputs, outputs):
    return Attributed(inputs, outputs, {'list': list, 'set': set}.get(option, tuple))


class Explains(Model):
    """A functional model that holds another one with the same layers."""

    def __init__(self, inputs, outputs, **kwargs):
        super().__init__(inputs, outputs, **kwargs)
        self.hidden = Model(inputs, [layer.output for layer in self.layers[:3]])


@whole()
def explains(option, inputs, outputs):
    return Explains(inputs, outputs)


@whole()
def frozen_inside(option, inputs, outputs):
    model = Model(inputs, outputs)
    for layer in layers_inside(model)[::3]:
        layer.trainable = False
    return model


class WithArgument(Model):
    """A functional model with an argument of its own."""

    def __init__(self, model, factor=1., **kwargs):
        super().__init__(model.inputs, model.outputs, **kwargs)
        self.factor = factor


class AnyKeyword(Model):
    """Accepts any keyword arguments and makes its graph from one of them."""

    def __init__(self, **options):
        model = options.get('model')
        if model is None:
            x = layers.Input((1,))
            model = Model(x, layers.Dense(1)(x))
        super().__init__(model.inputs, model.outputs)


@whole(['a model', 'any keyword'])
def of_model(option, inputs, outputs):
    model = Model(inputs, outputs)
    if option == 'any keyword':
        return AnyKeyword(model=model)
    return WithArgument(model, factor=.5)
