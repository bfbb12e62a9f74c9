"""Models, and clones with a fault, for the tests of the judge of a clone.

Most of the clones are built by the function that built the original, with layers of
the same names and one fault.
"""
import functools

import numpy as np
import pytest
from keras import backend as K, layers
from keras.layers import (Activation, Add, Bidirectional, Dense, Dropout, Embedding,
                          Input, LSTM, SimpleRNN, TimeDistributed)
from keras.models import Model, Sequential
from keras_clone.check.faithfulness import check_clone
from keras_clone.check.graphs import graphs

on_tensorflow = pytest.mark.skipif(
    K.backend() != 'tensorflow', reason='only TensorFlow has it')
not_on_cntk = pytest.mark.skipif(
    K.backend() == 'cntk', reason='all of CNTK is float32 and has a batch axis, it '
    'feeds only inputs, and its graph is not searched')


@pytest.fixture(autouse=True)
def fresh_state():
    with graphs.fresh_state():
        yield


def chain(middle=None, end=None, name='chain', x=None):
    """A model of two dense layers with another between them."""
    x = Input((3,), name='x') if x is None else x
    y = Dense(3, name='first')(x)
    y = (middle or Activation('tanh', name='middle'))(y)
    return Model(x, (end or Dense(2, name='last'))(y), name=name)


def masked(**arguments):
    x = Input((4,), name='x')
    y = Embedding(10, 3, mask_zero=True, name='embedding')(x)
    return Model(x, SimpleRNN(2, name='rnn')(y, **arguments), name='masked')


def twice(first=None, second=None):
    """A model that calls one layer twice, or two layers of that name."""
    x = Input((3,), name='x')
    first = first or Dense(3, name='dense')
    y = Activation('tanh', name='tanh')(first(x))
    return Model(x, Add(name='add')([(second or first)(y), x]), name='twice')


def nested(inner=None, outer=None):
    words = Input((3,), name='words')
    shared = Dense(3, name='shared')
    inner_model = Model(words, (inner or shared)(words), name='inner')
    x = Input((3,), name='x')
    y = Add(name='add')([inner_model(x), (outer or shared)(x)])
    return Model(x, y, name='nested')


class Power(layers.Layer):

    def call(self, inputs, exponent=1, bases=None):
        base = inputs if bases is None else bases['of'][0]
        return K.pow(base, exponent) + 0 * inputs


class Two(layers.Layer):

    def call(self, inputs):
        return [inputs, 2 * inputs]

    def compute_output_shape(self, input_shape):
        return [input_shape, input_shape]


class Unsavable(Dense):

    def get_config(self):
        raise NotImplementedError('not to be saved')


def powers(first=2, second=3, swap=False, **arguments):
    x = Input((3,), name='x')
    power = Power(name='power')
    if swap:
        b, a = power(x, exponent=second), power(x, exponent=first, **arguments)
    else:
        a, b = power(x, exponent=first, **arguments), power(x, exponent=second)
    return Model(x, layers.Subtract(name='minus')([a, b]), name='powers')


def check(build, clone_model, **kwargs):
    kwargs.setdefault('depth', 1)
    kwargs.setdefault('saving', False)
    return check_clone(build, clone_model, **kwargs)


def found(report, outcome=None):
    """The differences, but for those in ops, as pairs (layer, what)."""
    return [(each.layer, each.what) for each in report.differences
            if each.what != 'ops' and outcome in (None, each.outcome)]


def stateful():
    x = Input(batch_shape=(2, 3, 4), name='x')
    return Model(x, LSTM(2, stateful=True, name='lstm')(x), name='stateful')


def every_kind_of_layer():
    x, image = Input((4,), name='x'), Input((6, 6, 1), name='image')
    y = Embedding(10, 3, mask_zero=True, name='embedding')(x)
    y = Bidirectional(SimpleRNN(2, return_sequences=True, name='one'),
                      name='both')(y)
    y = TimeDistributed(Dense(2, name='dense'), name='each')(y)
    y = SimpleRNN(2, name='rnn')(y)
    z = layers.Conv2D(2, 3, name='conv')(image)
    z = layers.BatchNormalization(name='norm')(z)
    z = Dropout(.5, name='dropout')(layers.GlobalMaxPooling2D(name='pool')(z))
    sum_ = Add(name='add')([y, z])
    return Model([x, image], [sum_, z, image], name='every')


def sequential():
    return Sequential([Dense(3, input_shape=(3,), name='a'), Dense(2, name='b')],
                      name='sequential')


def unbuilt():
    return Sequential([Dense(3, name='a'), Dense(2, name='b')], name='unbuilt')


class Choice(layers.Layer):

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.choices = {'tanh': Activation('tanh', name='tanh'),
                        'relu': [Activation('relu', name='relu')]}

    def call(self, inputs):
        return self.choices['tanh'].call(inputs)


class Tied(Dense):
    """A dense layer on the kernel of another one."""

    def __init__(self, units, tied_to=None, **kwargs):
        super().__init__(units, use_bias=False, **kwargs)
        self.tied_to = tied_to

    def build(self, input_shape):
        if self.tied_to is None:
            super().build(input_shape)
        else:
            self.kernel = self.tied_to.kernel
            self._trainable_weights.append(self.kernel)
            self.built = True


class Owner:
    """A custom object."""

    def __init__(self, value):
        self.value = value

    def method(self, x):
        return x


class Knows(layers.Layer):
    """Has attributes of all kinds, none of which its config records."""
    times = 2

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.number = .5
        self.table = {'a': [1, 2]}
        self.array = np.arange(3.)
        self.function = lambda x, by=self.times: by * x
        self.partial = functools.partial(max, 1)
        self.owner = Owner(2)
        self.kinds = {1, 2}
        self.inner = Bidirectional(SimpleRNN(2, name='rnn'), name='inner')

    def build(self, input_shape):
        self.first, self.second = (self.add_weight(
            shape=(3,), initializer='ones', name=name) for name in 'ab')
        super().build(input_shape)

    def call(self, inputs):
        return inputs * self.first * self.second


def knows(change=lambda layer: None):
    model = chain(Knows(name='middle'))
    change(model.get_layer('middle'))
    return model


def set_by_name(name, value):
    return lambda layer: setattr(layer, name, value)
