"""Models, and clones with a fault, for the tests of the judge of a clone.

Most of the clones are built by the function that built the original, with layers of
the same names and one fault.
"""
import keras
import pytest
from keras import backend as K, layers
from keras.layers import (Activation, Add, Bidirectional, Dense, Dropout, Embedding,
                          Input, SimpleRNN, TimeDistributed)
from keras.models import Model, Sequential, clone_model
from keras_clone.check import check_clone
from keras_clone.check.gallery import ops
from keras_clone.check.graphs import graphs
from keras_clone.check.random_values import draw_inputs

from major_versions import IS_KERAS2, KeepsShape

stop_gradient = K.stop_gradient if IS_KERAS2 else keras.ops.stop_gradient

on_tensorflow = pytest.mark.skipif(
    K.backend() != 'tensorflow', reason='only TensorFlow has it')
not_on_cntk = pytest.mark.skipif(
    K.backend() == 'cntk', reason='all of CNTK is float32 and has a batch axis, it '
    'feeds only inputs, and its graph is not searched')


@pytest.fixture(autouse=True)
def fresh_state():
    with graphs.fresh_state():
        yield


def chain(middle=None, end=None, name='chain', x=None, cls=Model):
    """A model of two dense layers with another between them."""
    x = Input((3,), name='x') if x is None else x
    y = Dense(3, name='first')(x)
    y = (middle or Activation('tanh', name='middle'))(y)
    return cls(inputs=x, outputs=(end or Dense(2, name='last'))(y), name=name)


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
        return ops.power(base, exponent) + 0 * inputs


class Ignores(layers.Layer):
    def call(self, inputs, options=None):
        return 2 * inputs


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
    kwargs.setdefault('exact_ops', True)

    def clone(model):
        if IS_KERAS2:
            return clone_model(model)
        with graphs.fresh_state(12345):  # Operations have running numbers.
            return clone_model(model)
    return check_clone(build, clone, **kwargs)


def found(report, outcome=None):
    """The differences, but for those in ops, as pairs (layer, what)."""
    return [(each.layer, each.what) for each in report.differences
            if each.what != 'ops' and outcome in (None, each.outcome)]


def texts(build, *clone, **arguments):
    """Returns the differences if the clone is the model built with arguments."""
    report = check(build, lambda model: build(*clone, **arguments))
    return list(map(str, report.differences))


def stateful(is_stateful=True):
    x = Input(batch_shape=(2, 3, 4), name='x')
    rnn = SimpleRNN(2, stateful=is_stateful, name='rnn')
    return Model(x, rnn(x), name='stateful')


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
        elif IS_KERAS2:
            self.kernel = self.tied_to.kernel
            self._trainable_weights.append(self.kernel)
            self.built = True

    def call(self, inputs):
        return ops.matmul(inputs, (self.tied_to or self).kernel)


def tied(tie=True):
    first = Tied(3, name='first')
    x = Input((3,), name='x')
    y = Tied(3, tied_to=first if tie else None, name='second')(first(x))
    return Model(x, y, name='tied')


class Owner:
    def __init__(self, value):
        self.value = value

    def method(self, x):
        return x


class Own(KeepsShape):
    """Computes what its arguments say, none of which its config has.

    # Arguments
        times: factor of the outputs.
        when_trained: another one, in training.
        loss: factor of a loss; None for none.
        decay: factor of a variable in each step of training; None for none.
        stops: whether no gradient passes.
        swapped: whether its weights are made in the other order.
        scale_is_trained: whether its first weight is trainable.
        shift: name of the second weight.
        held: anything.
    """

    def __init__(self, times=2., when_trained=1., loss=None, decay=None,
                 stops=False, swapped=False, scale_is_trained=True, shift='shift',
                 held=None, **kwargs):
        super().__init__(**kwargs)
        self.times, self.when_trained = times, when_trained
        self.loss_factor, self.decay, self.stops = loss, decay, stops
        self.swapped, self.scale_is_trained = swapped, scale_is_trained
        self.shift_name = shift
        self.held = Owner(held)

    def build(self, input_shape):
        names = ['scale', self.shift_name]
        made = {name: self.add_weight(
            name=name, shape=(input_shape[-1],), initializer='ones',
            trainable=name != 'scale' or self.scale_is_trained)
            for name in (reversed(names) if self.swapped else names)}
        self.scale, self.shift = (made[name] for name in names)
        self.mean = self.add_weight(name='mean', shape=(input_shape[-1],),
                                    initializer='ones', trainable=False)

    def call(self, inputs, training=None):
        if self.loss_factor is not None:
            self._add_loss(self.loss_factor * ops.sum(ops.square(inputs)), inputs)
        if self.decay is not None:
            self._update(inputs, training)
        outputs = self.times * inputs * self.scale + self.shift + 0 * self.mean
        if self.stops:
            outputs = stop_gradient(outputs)
        return self._in_training(outputs, training)

    def get_config(self):
        return {'name': self.name}

    if IS_KERAS2:
        def _add_loss(self, loss, inputs):
            self.add_loss(loss, inputs)

        def _update(self, inputs, training):
            self.add_update(K.update(self.mean, self.mean * self.decay), inputs)

        def _in_training(self, outputs, training):
            return K.in_train_phase(self.when_trained * outputs, outputs)
    else:
        def _add_loss(self, loss, inputs):
            self.add_loss(loss)

        def _update(self, inputs, training):
            if training:
                self.mean.assign(self.mean * self.decay)

        def _in_training(self, outputs, training):
            return self.when_trained * outputs if training else outputs


# For clones that are made by `clone_model` and then changed

def judged(build, change, **arguments):
    """Judges a function that clones faithfully, then changes the clone.

    # Arguments
        change: function of the last layer of the clone and that of the original.
    """
    def clone(model):
        made = clone_model(model)
        change(made.layers[-1], model.layers[-1])
        return made
    return check(build, clone, **arguments)


def drawn(layer, shape, **arguments):
    """Returns the value that is drawn for the input of a layer."""
    x = Input(shape, **arguments)
    value, = draw_inputs(Model(x, layer(x)))
    return value
