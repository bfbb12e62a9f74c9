"""Recurrent layers, their cells and their states."""
from keras import layers
from keras.utils import custom_object_scope
from keras_clone.check.gallery import MinimalCell

from evidence.random_models.custom import Composed, gelu, relu
from evidence.random_models.operations import (
    BATCH, STEPS, UNITS, new_layer, operation)
from evidence.random_models.versions import IS_KERAS2, call_inner, ops


class HoldingCell(Composed):
    """A cell that holds a layer and a function, and has no config."""

    def __init__(self, units, function, **kwargs):
        super().__init__(**kwargs)
        self.state_size, self.function = units, function
        self.parts = [layers.Dense(units, name='inner')]

    def call(self, inputs, states):
        output = self.function(call_inner(self.parts[0], inputs) + states[0])
        return output, [output]


def of_cells(*cells, **kwargs):
    cells = list(cells) if len(cells) > 1 else cells[0]
    return layers.RNN(cells, return_sequences=True, **kwargs)


def sequences(name, **kwargs):
    return getattr(layers, name)(UNITS, return_sequences=True, **kwargs)


new_layer('recurrent', 's', {
    'SimpleRNN': lambda: sequences('SimpleRNN'),
    'LSTM': lambda: sequences('LSTM'),
    'backwards': lambda: sequences('GRU', go_backwards=True),
    'unrolled': lambda: sequences('LSTM', unroll=True),
    'activations': lambda: sequences(
        'LSTM', activation=lambda x: .5 * x,
        recurrent_activation=lambda x: .1 * x),
    'activation named as one of Keras': lambda: sequences('LSTM', activation=relu),
    'cell': lambda: of_cells(MinimalCell(UNITS)),
    'cell that holds a layer': lambda: of_cells(HoldingCell(UNITS, gelu)),
    'cells': lambda: of_cells(layers.GRUCell(UNITS), MinimalCell(UNITS)),
    'cells, one that holds a layer': lambda: of_cells(
        HoldingCell(UNITS, lambda x: .5 * x), layers.GRUCell(UNITS)),
})


@operation('s', 's', ['SimpleRNN', 'LSTM'])
def stateful(building, option, x):
    batch = layers.Lambda(
        lambda x: ops.reshape(x, (BATCH, STEPS, UNITS)),
        output_shape=lambda shape: (BATCH, STEPS, UNITS))(x)
    return [sequences(option, stateful=True)(batch)]


@operation('s', 'v', ['LSTM', 'cell', 'Bidirectional'])
def last(building, option, x):
    if option == 'Bidirectional':
        return [layers.Add()(layers.Bidirectional(
            layers.GRU(UNITS), merge_mode=None)(x))]
    if option == 'cell':
        return [layers.RNN(MinimalCell(UNITS))(x)]
    return [layers.LSTM(UNITS)(x)]


@operation('s', 'svv', ['LSTM', 'Bidirectional', 'cells'])
def returned_states(building, option, x):
    if option == 'cells':
        return of_cells(MinimalCell(UNITS), layers.GRUCell(UNITS),
                        return_state=True)(x)
    if option == 'Bidirectional':
        return layers.Bidirectional(sequences('GRU', return_state=True),
                                    merge_mode='ave')(x)
    return sequences('LSTM', return_state=True)(x)


@operation('sv', 's', ['GRU', 'cell'])
def initial_state(building, option, x, h):
    if option == 'cell':
        return [of_cells(MinimalCell(UNITS))(x, initial_state=[h])]
    return [sequences('GRU')(x, initial_state=h)]


@operation('svv', 's', ['LSTM', 'Bidirectional'])
def initial_states(building, option, x, h, c):
    layer = sequences('LSTM')
    if option == 'Bidirectional':
        layer = layers.Bidirectional(sequences('GRU'), merge_mode='sum')
    return [layer(x, initial_state=[h, c])]


BIDIRECTIONAL = {
    'sum': lambda: layers.Bidirectional(sequences('SimpleRNN'), merge_mode='sum'),
    'LSTM': lambda: layers.Bidirectional(sequences('LSTM'), merge_mode='ave'),
    'activation': lambda: layers.Bidirectional(
        sequences('GRU', activation=gelu), merge_mode='mul'),
    'cell': lambda: layers.Bidirectional(
        of_cells(MinimalCell(UNITS)), merge_mode='sum'),
}
if not IS_KERAS2:
    BIDIRECTIONAL['backward layer'] = lambda: layers.Bidirectional(
        sequences('GRU'), merge_mode='sum',
        backward_layer=sequences('SimpleRNN', go_backwards=True))


@operation('s', 's', BIDIRECTIONAL)
def bidirectional(building, option, x):
    # `Bidirectional` looks them up to make its second layer.
    with custom_object_scope({'MinimalCell': MinimalCell, 'gelu': gelu}):
        return [BIDIRECTIONAL[option]()(x)]
