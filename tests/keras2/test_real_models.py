"""Unmodified models of third-party packages, cloned twice in succession."""
import numpy as np
import pytest
from keras import backend as K
from keras import applications
from keras.layers import Bidirectional, Dense, Embedding, Input, LSTM
from keras.models import Model, clone_model
from keras.utils.generic_utils import to_list

pytestmark = pytest.mark.real_models


def words_of(model, limit=8):
    """Ids for each input of a model, padded with zeros at the end."""
    random = np.random.RandomState(0)
    arrays = []
    for x in model.inputs:
        ids = random.randint(1, limit, [2] + [7 if size is None else size for size
                                              in K.int_shape(x)[1:]])
        ids[:, -2:] = 0
        arrays.append(ids)
    return arrays


def image_for(model):
    shape = (1,) + K.int_shape(model.inputs[0])[1:]
    return [np.random.RandomState(0).uniform(size=shape)]


def new_session():
    """Starts a new graph on TensorFlow, because large graphs are slow."""
    if K.backend() == 'tensorflow':
        import tensorflow as tf
        K.clear_session()
        config = tf.ConfigProto(allow_soft_placement=True)
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        K.set_session(tf.Session(config=config))


def set_weights(model, values):
    """Like `model.set_weights`, but in one step instead of one per weight."""
    if K.backend() == 'tensorflow':
        initializers = [weight.initializer for layer in model.layers
                        for weight in layer.weights]
        K.get_session().run(initializers, {initializer.inputs[1]: value
                                           for initializer, value
                                           in zip(initializers, values)})
    else:
        model.set_weights(values)


def assert_clones_predict_the_same(model, inputs):
    weights = model.get_weights()
    expected = to_list(model.predict(inputs))
    clone = model
    for _ in range(2):
        new_session()
        clone = clone_model(clone)
        set_weights(clone, weights)
        for x, y in zip(expected, to_list(clone.predict(inputs))):
            np.testing.assert_allclose(y, x, rtol=1e-4, atol=1e-6)


@pytest.fixture(autouse=True)
def session():
    new_session()


@pytest.mark.parametrize('training', [True, False])
def test_bert(training):
    keras_bert = pytest.importorskip('keras_bert')
    model = keras_bert.get_model(
        token_num=20, head_num=2, transformer_num=2, embed_dim=8,
        feed_forward_dim=10, seq_len=7, pos_num=7, training=training)
    if not training:
        model = Model(*model)
    inputs = words_of(model)
    inputs[1] %= 2
    assert_clones_predict_the_same(model, inputs)


def test_transformer():
    keras_transformer = pytest.importorskip('keras_transformer')
    model = keras_transformer.get_model(
        token_num=20, embed_dim=8, encoder_num=2, decoder_num=2, head_num=2,
        hidden_dim=10, embed_weights=np.random.RandomState(0).uniform(size=(20, 8)))
    assert_clones_predict_the_same(model, words_of(model))


@pytest.mark.parametrize('kind', ['additive', 'multiplicative'])
def test_self_attention(kind):
    attention = pytest.importorskip('keras_self_attention')
    words = Input((None,))
    x = Embedding(9, 6, mask_zero=True)(words)
    x = Bidirectional(LSTM(4, return_sequences=True))(x)
    x = attention.SeqSelfAttention(attention_type=kind, attention_width=3,
                                   attention_activation='sigmoid')(x)
    model = Model(words, Dense(3)(attention.SeqWeightedAttention()(x)))
    assert_clones_predict_the_same(model, words_of(model))


def test_multi_head():
    attention = pytest.importorskip('keras_multi_head')
    words = Input((7,))
    x = Embedding(9, 6, mask_zero=True)(words)
    x = attention.MultiHeadAttention(2)(x)
    x = attention.MultiHead(LSTM(4), layer_num=3)(x)
    model = Model(words, x)
    assert_clones_predict_the_same(model, words_of(model))


@pytest.mark.parametrize('make_model, shape', [
    (applications.ResNet50, (64, 64, 3)),
    (applications.InceptionV3, (96, 96, 3)),
    (applications.NASNetMobile, (64, 64, 3)),
], ids=['ResNet50', 'InceptionV3', 'NASNetMobile'])
def test_application(make_model, shape):
    model = make_model(weights=None, input_shape=shape)
    assert_clones_predict_the_same(model, image_for(model))


@pytest.mark.skipif(K.backend() != 'tensorflow', reason='needs TensorFlow devices')
def test_multi_gpu_model_that_relocates_a_masked_model(monkeypatch):
    from keras.utils import multi_gpu_utils
    monkeypatch.setattr(multi_gpu_utils, '_get_available_devices',
                        lambda: ['/cpu:0', '/gpu:0', '/gpu:1'])
    words, decoded = Input((7,)), Input((5,))
    state = LSTM(4, return_state=True)(Embedding(9, 6, mask_zero=True)(words))[1:]
    x = Embedding(9, 6, mask_zero=True)(decoded)
    x = Bidirectional(LSTM(4, return_sequences=True))(
        LSTM(4, return_sequences=True)(x, initial_state=state))
    model = Model([words, decoded], Dense(2)(LSTM(4)(x)))
    parallel = multi_gpu_utils.multi_gpu_model(model, gpus=2, cpu_relocation=True)
    parallel.set_weights(model.get_weights())
    inputs = words_of(model)
    np.testing.assert_allclose(parallel.predict(inputs), model.predict(inputs),
                               rtol=1e-4, atol=1e-6)
    assert_clones_predict_the_same(parallel, inputs)
