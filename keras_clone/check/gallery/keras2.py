"""Models of Keras 2.2.4 to 2.3.1, that of keras-team/keras issue 12202 first.

They build on every backend of these releases.
"""
from keras import backend
from keras import layers
from keras.models import Model
from keras.models import Sequential

from .both import Scale
from .both import custom_layer_in_wrapper
from .both import layer_shared_with_nested_model
from .both import masked_bidirectional
from .both import own_compute_mask


class TwoOutputs(layers.Layer):
    """A layer with two outputs and the default `compute_mask`."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def call(self, inputs):
        return [inputs, 2 * inputs]

    def compute_output_shape(self, input_shape):
        return [input_shape, input_shape]


class Power(layers.Layer):
    """A layer that is told at each call what to do."""

    def call(self, inputs, exponent=1):
        return backend.pow(inputs, exponent)


class MinimalCell(layers.Layer):
    """A recurrent cell of the user."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.state_size = units

    def build(self, input_shape):
        self.kernel = self.add_weight(name='kernel', initializer='uniform',
                                      shape=(input_shape[-1], self.units))
        super().build(input_shape)

    def call(self, inputs, states):
        output = backend.tanh(backend.dot(inputs, self.kernel) + states[0])
        return output, [output]

    def get_config(self):
        config = super().get_config()
        config['units'] = self.units
        return config


def gelu(x):
    """The activation of keras-bert, approximated."""
    return x * backend.sigmoid(1.702 * x)


def lambda_with_two_outputs():
    """Issue 12202: two-output Lambda"""
    x = layers.Input((1,))
    a, b = layers.Lambda(lambda x: [x, x],
                         output_shape=lambda shape: [shape, shape])(x)
    return Model(x, layers.Add()([a, b]))


def nested_model_with_mask():
    """Nested model that gives a mask"""
    words = layers.Input((4,))
    embedded = layers.Embedding(10, 3, mask_zero=True)(words)
    nested = Model(words, embedded)
    x = layers.Input((4,))
    return Model(x, layers.SimpleRNN(2)(nested(x)))


def masked_sequence():
    """Masked recurrent layer"""
    x = layers.Input((4, 3))
    return Model(x, layers.SimpleRNN(2)(layers.Masking()(x)))


def two_masked_outputs():
    """Masked layer with two outputs"""
    x = layers.Input((4, 3))
    a, b = TwoOutputs()(layers.Masking()(x))
    return Model(x, [layers.SimpleRNN(2)(a), b])


def encoder_decoder():
    """Encoder-decoder, initial_state="""
    words = layers.Input((4,))
    _, h, c = layers.LSTM(2, return_state=True)(
        layers.Embedding(10, 3, mask_zero=True)(words))
    answers = layers.Input((3, 3))
    return Model([words, answers],
                 layers.LSTM(2)(answers, initial_state=[h, c]))


def mask_as_argument():
    """Mask passed by hand, mask="""
    x = layers.Input((4,))
    embedding = layers.Embedding(10, 3, mask_zero=True)
    y = layers.Lambda(lambda x: 2 * x)(embedding(x))
    return Model(x, layers.SimpleRNN(2)(y, mask=embedding.output_mask))


def lambda_with_global_name():
    """Lambda that uses a global name"""
    x = layers.Input((4,))
    return Model(x, layers.Lambda(lambda x: backend.reverse(x, 1))(x))


def lambda_with_mask():
    """Lambda with mask="""
    x = layers.Input((4, 3))
    y = layers.Lambda(
        lambda x: 2 * x,
        mask=lambda x, mask: backend.any(backend.not_equal(x, 0), -1))(x)
    return Model(x, layers.SimpleRNN(2)(y))


def custom_layer_in_nested_model():
    """Custom layer in a nested model"""
    nested = Sequential([layers.Dense(3, input_shape=(4,)), Scale()])
    x = layers.Input((4,))
    return Model(x, nested(x))


def custom_cell():
    """Custom recurrent cell"""
    x = layers.Input((4, 3))
    return Model(x, layers.RNN(MinimalCell(2))(x))


def callable_activation():
    """Function as activation"""
    return Sequential([layers.Dense(3, activation=gelu, input_shape=(4,))])


def two_lambdas_in_one_layer():
    """Two lambdas in one layer"""
    return Sequential([layers.Dense(
        3, activation=lambda x: 2 * x,
        activity_regularizer=lambda x: .1 * backend.sum(backend.abs(x)),
        input_shape=(4,))])


def call_arguments():
    """Layer called with an argument"""
    x = layers.Input((4,))
    power = Power()
    return Model(x, layers.Add()([power(x, exponent=2), power(x, exponent=3)]))


def shared_layer():
    """Layer used in two places"""
    x = layers.Input((4,))
    shared = layers.Dense(4, activation='tanh')
    return Model(x, layers.Add()([shared(x), shared(shared(x))]))


def shared_nested_model():
    """Nested model used in two places"""
    nested = Sequential([layers.Dense(3, input_shape=(4,)), layers.Dense(2)])
    a, b = layers.Input((4,)), layers.Input((4,))
    return Model([a, b], layers.Subtract()([nested(a), nested(b)]))


def plain_network():
    """Dense, normalization, dropout"""
    return Sequential([
        layers.Dense(3, activation='relu', input_shape=(4,)),
        layers.BatchNormalization(),
        layers.Dropout(.5),
        layers.Dense(2, activation='softmax')])


MODELS = (
    lambda_with_two_outputs,
    masked_bidirectional,
    nested_model_with_mask,
    own_compute_mask,
    two_masked_outputs,
    masked_sequence,
    encoder_decoder,
    mask_as_argument,
    lambda_with_global_name,
    lambda_with_mask,
    custom_layer_in_nested_model,
    custom_layer_in_wrapper,
    custom_cell,
    callable_activation,
    two_lambdas_in_one_layer,
    call_arguments,
    shared_layer,
    layer_shared_with_nested_model,
    shared_nested_model,
    plain_network,
)
