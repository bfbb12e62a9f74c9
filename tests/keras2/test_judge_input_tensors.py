"""The judge compares a clone that was built on other tensors."""
from keras.layers import Activation, Dense, Input
from keras.models import Model
from keras_clone.check.faithfulness import compare

from judging import chain, not_on_cntk
from judging import fresh_state  # noqa: F401


def test_clone_on_an_input_is_faithful():
    model = chain()
    x = Input((3,), name='another')
    assert compare(model, chain(x=x), on=[x]) == []


@not_on_cntk
def test_clone_on_the_output_of_a_layer_is_faithful():
    model = chain()
    source = Input((5,), name='source')
    y = Dense(3, name='before')(source)
    clone = Model(source, Dense(2, name='last')(Activation('tanh', name='middle')(
        Dense(3, name='first')(y))), name='chain')
    assert compare(model, clone, on=[y]) == []


def test_clone_on_an_input_of_the_original_is_faithful():
    model = chain()
    assert compare(model, chain(x=model.inputs[0]), on=model.inputs) == []


def test_fault_of_a_clone_on_an_input_is_found():
    x = Input((3,), name='another')
    found = compare(chain(), chain(Activation('relu', name='middle'), x=x), on=[x])
    assert (found[0].outcome, found[0].layer) == ('wrong numbers', 'middle')
