"""Layers of Keras: a few that are cloned in each of the ways."""
from keras import layers

from evidence.random_models.custom import INNER, OwnWrapper, Scale, relu
from evidence.random_models.operations import STEPS, UNITS, new_layer, operation
from evidence.random_models.versions import IS_KERAS2

STOCK = {
    'Activation': lambda: layers.Activation(relu),
    'ActivityRegularization': lambda: layers.ActivityRegularization(.1),
    'BatchNormalization': layers.BatchNormalization,
    'Conv1D': lambda: layers.Conv1D(UNITS, 2, padding='same'),
    'Dropout': lambda: layers.Dropout(.5, seed=3),
    'Masking': layers.Masking,
    'PReLU': layers.PReLU,
    'Reshape': lambda: layers.Reshape((STEPS, UNITS)),
    'Scale': Scale,
}
REFUSE_MASKS = ('Conv1D', 'Flatten', 'PReLU', 'Reshape')


def accepted(x, name):
    """Returns a tensor that a layer accepts on Keras 2 as well: without a mask."""
    if IS_KERAS2 and name in REFUSE_MASKS:
        return layers.Lambda(lambda x: 1. * x)(x)
    return x


@operation('s', 's', STOCK)
def stock(building, option, x):
    return [STOCK[option]()(accepted(x, option))]


@operation('s', 's', STOCK)
def frozen(building, option, x):
    layer = STOCK[option]()
    layer.trainable = False
    return [layer(accepted(x, option))]


@operation('s', 'v', ['GlobalAveragePooling1D', 'Flatten'])
def pooled(building, option, x):
    y = getattr(layers, option)()(accepted(x, option))
    return [layers.Dense(UNITS)(y) if option == 'Flatten' else y]


@operation('v', 's')
def repeat(building, option, x):
    return [layers.RepeatVector(STEPS)(x)]


@operation('ss', 's', ['Add', 'Subtract', 'Maximum', 'Concatenate'])
def merge(building, option, x, y):
    z = getattr(layers, option)()([x, y])
    return [layers.Dense(UNITS)(z) if option == 'Concatenate' else z]


@operation('vv', 'v')
def dot(building, option, x, y):
    return [layers.Dense(UNITS)(layers.Dot(1)([x, y]))]


new_layer('time_distributed', 's', {
    name: lambda make=make: layers.TimeDistributed(make())
    for name, make in INNER.items()})
new_layer('own_wrapper', 'v', {
    name: lambda make=make: OwnWrapper(make()) for name, make in INNER.items()})
