"""Models of packages for Keras 2: see requirements/real-models-keras2.txt."""
from functools import partial

import numpy as np

from evidence.real_models.tables import Packages

PACKAGES = Packages()
package = PACKAGES.of


def on_words(*layers, length=6, **arguments):
    """Returns a function that builds a model of layers on embedded words.

    # Arguments
        layers: functions that make a layer each, or take a tensor.
    """
    def build():
        from keras.layers import Embedding, Input
        from keras.models import Model
        x = words = Input((length,))
        for call in (lambda x: Embedding(9, 6, **arguments)(x), *layers):
            x = call(x)
        return Model(words, x)
    return build


def on_image(*layers, shape=(16, 16, 3)):
    """Returns a function that builds a model of layers on an image."""
    def build():
        from keras.layers import Input
        from keras.models import Model
        x = image = Input(shape)
        for call in layers:
            x = call(x)
        return Model(image, x)
    return build


def layer(make, *arguments, **named):
    """Returns a function of a tensor that makes a layer and calls it."""
    return lambda x: make(*arguments, **named)(x)


# Images


@package('Keras')
def keras():
    from keras import applications as of

    def model(name, size=32):
        return lambda: getattr(of, name)(
            weights=None, input_shape=(size, size, 3), classes=3)
    return {
        'VGG16': model('VGG16'), 'ResNet50': model('ResNet50'),
        'InceptionV3': model('InceptionV3', 75), 'Xception': model('Xception', 71),
        'MobileNet': model('MobileNet'), 'MobileNetV2': model('MobileNetV2'),
        'DenseNet121': model('DenseNet121'), 'NASNetMobile': model('NASNetMobile')}


@package('image-classifiers')
def image_classifiers():
    from classification_models.keras import Classifiers

    def model(name, **arguments):
        make, _ = Classifiers.get(name)
        return lambda: make((32, 32, 3), weights=None, classes=3, **arguments)
    return {'ResNet18': model('resnet18'), 'SEResNet18': model('seresnet18'),
            'ResNet18 without top': model('resnet18', include_top=False),
            'ResNet50V2': model('resnet50v2')}


@package('segmentation-models')
def segmentation_models():
    import segmentation_models as of

    def model(make, backbone='resnet18', size=32, **arguments):
        return lambda: make(backbone, (size, size, 3), 2, encoder_weights=None,
                            **arguments)
    return {
        'Unet': model(of.Unet), 'FPN': model(of.FPN), 'Linknet': model(of.Linknet),
        'PSPNet': model(of.PSPNet, size=48),
        'Unet with a frozen encoder': model(of.Unet, encoder_freeze=True),
        'Unet, transposed': model(of.Unet, decoder_block_type='transpose'),
        'Unet of EfficientNetB0': model(of.Unet, 'efficientnetb0')}


@package('efficientnet')
def efficientnet():
    import efficientnet.keras as of
    return {name: lambda name=name: getattr(of, name)(
        weights=None, input_shape=(32, 32, 3), classes=3)
        for name in ('EfficientNetB0',)}


@package('keras-efficientnets')
def keras_efficientnets():
    import keras_efficientnets as of
    blocks = [of.BlockArgs(32, 16, 3, (1, 1), 1, .25, expand_ratio=1),
              of.BlockArgs(16, 24, 3, (2, 2), 2, .25, expand_ratio=6)]
    arguments = dict(weights=None, classes=3)
    return {
        'EfficientNetB0': lambda: of.EfficientNetB0((32, 32, 3), **arguments),
        'two blocks': lambda: of.EfficientNet(
            (32, 32, 3), blocks, 1., 1., **arguments)}


@package('keras-mixnets')
def keras_mixnets():
    import keras_mixnets as of
    arguments = dict(weights=None, classes=3)
    return {'MixNetSmall': lambda: of.MixNetSmall((32, 32, 3), **arguments),
            'MixNetMedium': lambda: of.MixNetMedium((32, 32, 3), **arguments)}


@package('mobilenet-v3')
def mobilenet_v3():
    from mobilenetv3 import mobilenet_v3_large, mobilenet_v3_small
    return {
        'small': lambda: mobilenet_v3_small.MobileNetV3_Small(
            (32, 32, 3), 3).build(),
        'large': lambda: mobilenet_v3_large.MobileNetV3_Large(
            (32, 32, 3), 3).build()}


@package('keras-resnet')
def keras_resnet():
    from keras.layers import Input
    from keras_resnet import models as of

    def model(make, *shape, blocks=(1, 1, 1, 1), **arguments):
        return lambda: make(Input(shape), list(blocks), classes=3, **arguments)
    return {
        'ResNet2D18': model(of.ResNet2D18, 32, 32, 3),
        'ResNet2D50': model(of.ResNet2D50, 32, 32, 3),
        'ResNet2D50, not frozen': model(of.ResNet2D50, 32, 32, 3, freeze_bn=False),
        'TimeDistributedResNet18': model(of.TimeDistributedResNet18, 2, 32, 32, 3),
        'ResNet2D18 without top': model(of.ResNet2D18, 32, 32, 3,
                                        include_top=False)}


@package('keras-vggface')
def keras_vggface():
    from keras_vggface.vggface import VGGFace

    def model(name):
        return lambda: VGGFace(model=name, weights=None, include_top=False,
                               input_shape=(48, 48, 3), pooling='avg')
    return {'VGG16': model('vgg16')}


@package('keras-wrn')
def keras_wrn():
    import keras_wrn
    return {'WRN-10-2': lambda: keras_wrn.build_model((32, 32, 3), 3, 10, 2),
            'with dropout': lambda: keras_wrn.build_model((32, 32, 3), 3, 10, 2,
                                                          dropout=.3)}


@package('Deep-Models')
def deep_models():
    from deep_models.wide_residual_network import build_model
    return {'wide residual network': lambda: build_model((32, 32, 3), 3, k=1)}


@package('keras-segmentation')
def keras_segmentation():
    from keras_segmentation import models as of
    size = dict(input_height=64, input_width=64)
    return {
        'unet_mini': lambda: of.unet.unet_mini(3, **size),
        'unet': lambda: of.unet.unet(3, **size),
        'segnet': lambda: of.segnet.segnet(3, **size),
        'fcn_8': lambda: of.fcn.fcn_8(3, **size),
        'pspnet': lambda: of.pspnet.pspnet(3, 192, 192)}


@package('kerascv')
def kerascv():
    from kerascv.model_provider import get_model

    names = ('resnet10', 'sepreresnet10', 'mobilenet_wd4', 'mobilenetv2_wd4',
             'mobilenetv3_small_w7d20', 'shufflenet_g3_wd4', 'shufflenetv2_wd2',
             'squeezenet_v1_1', 'menet108_8x1_g3', 'igcv3_wd4', 'darknet_tiny')
    return {name: lambda name=name: get_model(name, classes=3) for name in names}


@package('keras-unet')
def keras_unet():
    from keras_unet.models import custom_unet, satellite_unet, vanilla_unet
    shape = (32, 32, 3)
    return {
        'custom': lambda: custom_unet(shape, filters=4, num_layers=2),
        'with attention': lambda: custom_unet(
            shape, filters=4, num_layers=2, use_attention=True,
            upsample_mode='simple', dropout_type='standard'),
        'vanilla': lambda: vanilla_unet((64, 64, 3), filters=4, num_layers=2),
        'satellite': lambda: satellite_unet(shape, num_layers=2)}


@package('csbdeep')
def csbdeep():
    from csbdeep.internals.nets import common_unet, custom_unet
    return {
        'residual': lambda: common_unet(n_depth=2, n_first=4, residual=True)(
            (16, 16, 1)),
        'probabilistic': lambda: common_unet(n_depth=1, n_first=4, prob_out=True)(
            (16, 16, 1)),
        'in three dimensions': lambda: common_unet(3, n_depth=1, n_first=4)(
            (8, 8, 8, 1)),
        'with dropout': lambda: custom_unet(
            (16, 16, 1), 'sigmoid', n_filter_base=4, kernel_size=(3, 3),
            pool_size=(2, 2), batch_norm=True, dropout=.2)}


@package('stardist')
def stardist():
    from stardist.models import Config2D, Config3D, StarDist2D, StarDist3D
    return {
        'StarDist2D': lambda: StarDist2D(Config2D(
            n_rays=8, unet_n_filter_base=4, unet_n_depth=2,
            net_conv_after_unet=8), basedir=None).keras_model,
        'StarDist3D': lambda: StarDist3D(Config3D(
            n_rays=8, backbone='unet', unet_n_filter_base=4, unet_n_depth=1,
            net_conv_after_unet=8), basedir=None).keras_model}


@package('keras-retinanet')
def keras_retinanet():
    from keras_retinanet.models import resnet

    def model():
        import keras
        import keras_resnet.models
        from keras_retinanet.models.retinanet import default_submodels, retinanet
        inputs = keras.layers.Input((64, 64, 3))
        backbone = keras_resnet.models.ResNet2D18(inputs, [1, 1, 1, 1],
                                                  include_top=False)
        return retinanet(inputs, backbone.outputs[1:], 2,
                         submodels=default_submodels(2, 9))
    return {'retinanet': model,
            'retinanet for training': lambda: resnet.resnet_retinanet(2)}


@package('Keras-CoordConv')
def keras_coordconv():
    from Keras_CoordConv import coord as of
    from keras.layers import Conv1D, Conv2D, Conv3D
    return {
        '1D': on_image(layer(of.CoordinateChannel1D), layer(Conv1D, 3, 3),
                       shape=(8, 2)),
        '2D': on_image(layer(of.CoordinateChannel2D, use_radius=True),
                       layer(Conv2D, 3, 3)),
        '3D': on_image(layer(of.CoordinateChannel3D), layer(Conv3D, 3, 3),
                       shape=(6, 6, 6, 1))}


@package('keras-drop-block')
def keras_drop_block():
    from keras.layers import Conv1D, Conv2D
    from keras_drop_block import DropBlock1D, DropBlock2D
    return {
        '1D': on_image(layer(DropBlock1D, 3, .8), layer(Conv1D, 3, 3),
                       shape=(9, 2)),
        '2D': on_image(layer(DropBlock2D, 3, .8), layer(Conv2D, 3, 3))}


@package('keras-octave-conv')
def keras_octave_conv():
    import keras_octave_conv as of
    from keras.layers import Dense, Flatten, MaxPool2D

    def dual(x):
        x = of.octave_conv_2d(x, 4, 3)
        x = of.octave_dual(x, lambda: MaxPool2D())
        return layer(Dense, 3)(layer(Flatten)(of.octave_conv_2d(x, 4, 3,
                                                                ratio_out=0.)))
    return {
        '1D': on_image(layer(of.OctaveConv1D, 4, 3), layer(
            of.OctaveConv1D, 4, 3, ratio_out=0.), shape=(16, 2)),
        '2D': on_image(layer(of.OctaveConv2D, 4, 3), layer(
            of.OctaveConv2D, 4, 3, ratio_out=0.)),
        'dual': on_image(dual)}


@package('keras-spp')
def keras_spp():
    from keras.layers import Conv2D, Dense
    from spp.SpatialPyramidPooling import SpatialPyramidPooling
    return {'pyramid': on_image(layer(Conv2D, 4, 3), layer(
        SpatialPyramidPooling, [1, 2]), layer(Dense, 3))}


@package('keras-mobile')
def keras_mobile():
    from keras_mobile.blocks import conv
    from keras_mobile.layers.activations import MatrixSwish, ScalarSwish
    return {
        'separable': on_image(conv.SeperableConvBlock(4), layer(ScalarSwish)),
        'mobile': on_image(conv.MobileConvBlock(3, 6), layer(MatrixSwish))}


@package('innvestigate')
def innvestigate():
    from innvestigate.utils.tests import networks

    def model(module, name):
        def build():
            from keras.models import Model
            network = getattr(module, name)()
            return Model(network['in'], network['sm_out'])
        return build
    return {name: model(networks.mnist, name)
            for name in ('log_reg', 'mlp_3dense', 'cnn_2convb_3dense')}


@package('imageai')
def imageai():
    from imageai.Detection.keras_retinanet.models import resnet
    from imageai.Detection.YOLOv3.models import tiny_yolo_main
    from keras.layers import Input
    return {
        'tiny YOLOv3': lambda: tiny_yolo_main(Input((64, 64, 3)), 2, 3),
        'RetinaNet': lambda: resnet.resnet50_retinanet(3, Input((64, 64, 3)))}


@package('mrcnn')
def mrcnn():
    from mrcnn.config import Config
    from mrcnn.model import MaskRCNN

    class Small(Config):
        NAME = 'small'
        BACKBONE = 'resnet50'
        IMAGES_PER_GPU = 1
        IMAGE_MIN_DIM = IMAGE_MAX_DIM = 64
        NUM_CLASSES = 3
        RPN_ANCHOR_SCALES = 8, 16, 32, 64, 128
        POST_NMS_ROIS_INFERENCE = 16
        DETECTION_MAX_INSTANCES = 4
        FPN_CLASSIF_FC_LAYERS_SIZE = TOP_DOWN_PYRAMID_SIZE = 16

    def model():
        drawn, config = np.random.RandomState(0), Small()
        network = MaskRCNN('inference', config, model_dir='')
        return network.keras_model, [
            drawn.rand(1, 64, 64, 3), drawn.rand(1, config.IMAGE_META_SIZE),
            network.get_anchors((64, 64, 3))[None]]
    return {'Mask R-CNN': model}


# Text


@package('keras-bert')
def keras_bert():
    import keras_bert
    from keras.models import Model
    sizes = dict(token_num=20, head_num=2, transformer_num=2, embed_dim=8,
                 feed_forward_dim=10, seq_len=7, pos_num=7)
    return {
        'pre-training': lambda: keras_bert.get_model(**sizes),
        'features': lambda: Model(*keras_bert.get_model(**sizes, training=False)),
        'trainable': lambda: keras_bert.get_model(**sizes, trainable=True),
        'features of two layers': lambda: Model(*keras_bert.get_model(
            **sizes, training=False, output_layer_num=2))}


@package('keras-transformer')
def keras_transformer():
    from keras_transformer import get_model
    sizes = dict(token_num=20, embed_dim=8, encoder_num=2, decoder_num=2,
                 head_num=2, hidden_dim=10)
    return {
        'one embedding': lambda: get_model(
            **sizes, embed_weights=np.random.uniform(size=(20, 8))),
        'two embeddings': lambda: get_model(
            **dict(sizes, token_num=[20, 18]), use_same_embed=False),
        'adapters': lambda: get_model(**sizes, use_adapter=True, adapter_units=3)}


@package('keras-gpt-2')
def keras_gpt_2():
    from keras_gpt_2 import get_model
    return {'GPT-2': lambda: get_model(20, 8, 8, 2, 2),
            'fixed length': lambda: get_model(20, 8, 8, 2, 2,
                                              fixed_input_shape=True)}


@package('keras-xlnet')
def keras_xlnet():
    from keras_xlnet import build_xlnet
    sizes = dict(units=8, num_token=20, num_block=2, num_head=2, hidden_dim=10,
                 batch_size=3, memory_len=4, target_len=5)
    return {'training': lambda: build_xlnet(training=True, **sizes),
            'fine-tuning': lambda: build_xlnet(training=False, **sizes),
            'own biases': lambda: build_xlnet(training=False, shared_biases=False,
                                              **sizes)}


@package('keras-transformer-xl')
def keras_transformer_xl():
    from keras_transformer_xl import build_transformer_xl
    sizes = dict(units=8, embed_dim=8, hidden_dim=10, num_token=20, num_block=2,
                 num_head=2, batch_size=3, memory_len=4, target_len=5)
    return {'shared biases': lambda: build_transformer_xl(**sizes),
            'adaptive': lambda: build_transformer_xl(
                cutoffs=[5, 10], div_val=2, share_biases=False, **sizes)}


@package('keras-bi-lm')
def keras_bi_lm():
    from keras_bi_lm import BiLM
    sizes = dict(token_num=20, embedding_dim=6, rnn_units=4)

    def features(**arguments):
        from keras.models import Model
        lm = BiLM(**sizes, **arguments)
        return Model(*lm.get_feature_layers(
            input_layer=None, use_weighted_sum=True))
    return {
        'training': lambda: BiLM(**sizes, rnn_layer_num=2).model,
        'GRU': lambda: BiLM(**sizes, rnn_type='gru', use_bidirectional=True).model,
        'features': features}


@package('keras-self-attention')
def keras_self_attention():
    from keras.layers import LSTM, Bidirectional, Dense
    from keras_self_attention import SeqSelfAttention, SeqWeightedAttention

    def model(**arguments):
        return on_words(
            layer(Bidirectional, LSTM(4, return_sequences=True)),
            layer(SeqSelfAttention, attention_activation='sigmoid', **arguments),
            layer(SeqWeightedAttention), layer(Dense, 3), mask_zero=True)
    return {kind: lambda kind=kind: model(attention_type=kind, attention_width=3)()
            for kind in ('additive', 'multiplicative')}


@package('keras-multi-head')
def keras_multi_head():
    from keras.layers import LSTM, Conv1D
    from keras_multi_head import MultiHead, MultiHeadAttention
    return {
        'attention': on_words(layer(MultiHeadAttention, 2), mask_zero=True),
        'LSTM': lambda: on_words(layer(MultiHead, LSTM(4), layer_num=3),
                                 mask_zero=True)(),
        'layers': lambda: on_words(layer(MultiHead, [
            Conv1D(4, 3, padding='same'), Conv1D(4, 1)]))()}


@package('keras-pos-embd')
def keras_pos_embd():
    from keras.layers import Dense
    from keras_pos_embd import PositionEmbedding, TrigPosEmbedding
    return {
        'added': on_words(layer(PositionEmbedding, 6, 6, mode='add'),
                          layer(Dense, 3), mask_zero=True),
        'concatenated': on_words(layer(
            PositionEmbedding, 6, 4, mode='concat'), layer(Dense, 3)),
        'trigonometric': on_words(layer(
            TrigPosEmbedding, output_dim=6, mode='add'), mask_zero=True)}


@package('keras-position-wise-feed-forward')
def keras_position_wise_feed_forward():
    from keras_position_wise_feed_forward import FeedForward
    return {'feed forward': on_words(layer(FeedForward, 8, activation='relu',
                                           dropout_rate=.1), mask_zero=True)}


@package('keras-layer-normalization')
def keras_layer_normalization():
    from keras.layers import LSTM
    from keras_layer_normalization import LayerNormalization
    return {'masked': on_words(layer(LayerNormalization), layer(LSTM, 3),
                               mask_zero=True)}


@package('keras-embed-sim')
def keras_embed_sim():
    from keras_embed_sim import EmbeddingRet, EmbeddingSim

    def model():
        from keras.layers import Dense, Input
        from keras.models import Model
        words = Input((6,))
        x, weights = EmbeddingRet(9, 4, mask_zero=True)(words)
        return Model(words, EmbeddingSim()([Dense(4)(x), weights]))
    return {'tied to the embedding': model}


@package('keras-adaptive-softmax')
def keras_adaptive_softmax():
    from keras_adaptive_softmax import AdaptiveEmbedding, AdaptiveSoftmax

    def model(**arguments):
        def build():
            from keras.layers import Input
            from keras.models import Model
            words = Input((6,))
            found = AdaptiveEmbedding(
                20, 8, cutoffs=[5, 10], div_val=2, mask_zero=True,
                return_embeddings=True, return_projections=True)(words)
            x = AdaptiveSoftmax(8, 20, cutoffs=[5, 10], div_val=2,
                                bind_embeddings=True, bind_projections=True)(found)
            return Model(words, x)
        return build
    return {'bound': model()}


@package('keras-trans-mask')
def keras_trans_mask():
    from keras_trans_mask import CreateMask, RemoveMask, RestoreMask

    def model():
        from keras.layers import LSTM, Conv1D, Embedding, Input
        from keras.models import Model
        words = Input((6,))
        embedded = Embedding(9, 4, mask_zero=True)(words)
        x = Conv1D(4, 3, padding='same')(RemoveMask()(embedded))
        return Model(words, LSTM(3)(RestoreMask()([x, embedded])))

    def created():
        from keras.layers import LSTM, Embedding, Input
        from keras.models import Model
        words = Input((6,))
        x = Embedding(9, 4)(CreateMask(mask_value=2)(words))
        return Model(words, LSTM(3)(x))
    return {'removed and restored': model, 'created': created}


@package('keras-word-char-embd')
def keras_word_char_embd():
    from keras_wc_embd import WordCharEmbd, get_embedding_layer

    def model(kind):
        def build():
            from keras.layers import LSTM
            from keras.models import Model
            inputs, x = get_embedding_layer(
                9, 9, 5, word_embd_dim=4, char_embd_dim=3, char_hidden_dim=4,
                char_hidden_layer_type=kind)
            return Model(inputs, LSTM(3)(x))
        return build

    def wrapped():
        from keras.layers import LSTM
        from keras.models import Model
        embedding = WordCharEmbd()
        embedding.set_dicts(dict.fromkeys('ab', 1), dict.fromkeys('ab', 1))
        inputs, x = embedding.get_embedding_layer(4, 3, 4)
        return Model(inputs, LSTM(3)(x))
    return {'LSTM': model('lstm'), 'GRU': model('gru'), 'CNN': model('cnn')}


@package('keras-ordered-neurons')
def keras_ordered_neurons():
    from keras.layers import Bidirectional
    from keras_ordered_neurons import ONLSTM
    return {
        'ONLSTM': on_words(layer(ONLSTM, 4, chunk_size=2), mask_zero=True),
        'bidirectional': lambda: on_words(layer(Bidirectional, ONLSTM(
            4, chunk_size=2, dropout=.2, return_sequences=True)),
            layer(ONLSTM, 4, chunk_size=2), mask_zero=True)()}


@package('keras-targeted-dropout')
def keras_targeted_dropout():
    from keras.layers import Conv1D, Dense
    from keras_targeted_dropout import TargetedDropout
    arguments = dict(drop_rate=.4, target_rate=.4, drop_patterns=['kernel'])
    return {
        'weights': lambda: on_words(layer(TargetedDropout, Dense(4), **arguments))(),
        'units': lambda: on_words(layer(TargetedDropout, Conv1D(4, 3), mode=(
            TargetedDropout.MODE_UNIT), **arguments))()}


@package('keras-piecewise')
def keras_piecewise():
    from keras_piecewise import Piecewise

    def model():
        from keras.layers import LSTM, Embedding, Input
        from keras.models import Model
        words, places = Input((6,)), Input((2,), dtype='int32')
        x = Embedding(9, 4)(words)
        x = Piecewise(LSTM(3))([x, places])
        return Model([words, places], x), [
            np.arange(12).reshape(2, 6) % 8, np.array([[2, 6], [3, 6]])]
    return {'LSTM': model}


@package('keras-gcn')
def keras_gcn():
    from keras_gcn import GraphConv, GraphMaxPool

    def model():
        from keras.layers import Dense, Input
        from keras.models import Model
        nodes, edges = Input((4, 3)), Input((4, 4))
        x = GraphConv(5, step_num=2)([nodes, edges])
        x = GraphMaxPool()([x, edges])
        return Model([nodes, edges], Dense(2)(x))
    return {'convolution and pooling': model}


@package('bert4keras')
def bert4keras():
    from bert4keras.models import build_transformer_model
    sizes = dict(
        vocab_size=20, hidden_size=8, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=10, hidden_act='gelu', max_position_embeddings=8,
        hidden_dropout_prob=.1, initializer_range=.02, type_vocab_size=2)

    def model(name, **arguments):
        return lambda: build_transformer_model(
            model=name, **dict(sizes, **arguments))
    return {
        'BERT': model('bert'),
        'BERT with heads': model('bert', with_pool=True, with_nsp=True,
                                 with_mlm=True),
        'UniLM': model('bert', application='unilm', with_mlm=True),
        'language model': model('bert', application='lm', with_mlm=True),
        'ALBERT': model('albert', embedding_size=4),
        'ALBERT, unshared': model('albert_unshared', embedding_size=4),
        'NEZHA': model('nezha'), 'ELECTRA': model('electra', embedding_size=4),
        'GPT-2': model('gpt2_ml'),
        'T5': model('t5'), 'T5 encoder': model('t5_encoder')}


@package('MatchZoo')
def matchzoo():
    import matchzoo

    def model(name):
        def build():
            found = getattr(matchzoo.models, name)()
            found.params['task'] = matchzoo.tasks.Ranking()
            sizes = dict(input_shapes=[(10,), (12,)], embedding_input_dim=20,
                         embedding_output_dim=4)
            for key, value in sizes.items():
                if key in found.params:
                    found.params[key] = value
            found.guess_and_fill_missing_params(verbose=0)
            found.build()
            return found._backend
        return build
    names = ('DenseBaseline', 'ArcI', 'ArcII', 'KNRM', 'ConvKNRM',
             'DUET', 'DRMMTKS', 'MVLSTM', 'DSSM', 'Naive')
    return {name: model(name) for name in names}


@package('anago')
def anago():
    from anago.models import BiLSTMCRF
    sizes = dict(num_labels=3, word_vocab_size=9, char_vocab_size=9,
                 word_embedding_dim=4, char_embedding_dim=3, word_lstm_size=4,
                 char_lstm_size=3, fc_dim=4)
    return {'BiLSTM-CRF': lambda: BiLSTMCRF(**sizes).build()[0],
            'without characters': lambda: BiLSTMCRF(
                **sizes, use_char=False).build()[0],
            'without CRF': lambda: BiLSTMCRF(**sizes, use_crf=False).build()[0]}


@package('seqtag-keras')
def seqtag_keras():
    from seqtag_keras.models import BiLSTMCRF
    sizes = dict(num_labels=3, word_vocab_size=9, char_vocab_size=9,
                 word_embedding_dim=4, char_embedding_dim=3, word_lstm_size=4,
                 char_lstm_size=3, fc_dim=4)
    return {'BiLSTM-CRF': lambda: BiLSTMCRF(**sizes).build()[0]}


@package('text-classification-keras')
def text_classification_keras():
    from texcla.models import sequence_encoders as of
    from texcla.models.sentence_model import SentenceModelFactory
    from texcla.models.token_model import TokenModelFactory
    words = dict.fromkeys(range(9))

    def model(make, **arguments):
        return lambda: TokenModelFactory(
            3, words, 8, embedding_type=None, embedding_dims=4).build_model(
                make(**arguments))

    def sentences():
        return SentenceModelFactory(
            3, words, 4, 8, embedding_type=None, embedding_dims=4).build_model(
                of.AttentionRNN(encoder_dims=3), of.AttentionRNN(encoder_dims=3))
    return {
        'YoonKimCNN': model(of.YoonKimCNN, num_filters=3),
        'AlexCNN': model(of.AlexCNN, num_filters=3, filter_sizes=[2, 3]),
        'StackedRNN': model(of.StackedRNN, hidden_dims=[3, 3]),
        'AttentionRNN': model(of.AttentionRNN, encoder_dims=3),
        'sentences': sentences}


@package('textgenrnn')
def textgenrnn():
    from keras.optimizers import RMSprop
    from textgenrnn.model import textgenrnn_model

    def model(**arguments):
        config = dict(rnn_layers=2, rnn_size=4, rnn_bidirectional=True,
                      max_length=6, dim_embeddings=4)
        # Its default is an optimizer of another graph.
        return lambda: textgenrnn_model(8, config, optimizer=RMSprop(), **arguments)
    return {'characters': model(), 'with context': model(context_size=3)}


# Sequences, graphs, others


@package('keras-tcn')
def keras_tcn():
    from keras.layers import Dense
    from tcn import TCN
    return {
        'TCN': on_words(TCN(4, 2, dilations=[1, 2]), layer(Dense, 3)),
        'with batch normalization': on_words(TCN(
            4, 2, dilations=[1, 2], use_batch_norm=True, dropout_rate=.2,
            use_skip_connections=False, return_sequences=True))}


@package('phased-lstm-keras')
def phased_lstm_keras():
    from phased_lstm_keras.PhasedLSTM import PhasedLSTM
    return {'PhasedLSTM': on_words(layer(PhasedLSTM, 4))}


@package('keras-nalu')
def keras_nalu():
    from keras_nalu.nalu import NALU
    return {'NALU': on_image(layer(NALU, 4), layer(NALU, 2, cell='a'), shape=(3,))}


@package('kulc')
def kulc():
    from keras.layers import GRU, LSTM
    from kulc import attention, image, layer_normalization
    return {
        'LayerNormalization': on_words(layer(
            layer_normalization.LayerNormalization), layer(LSTM, 3)),
        'DiscreteResize2D': on_image(layer(image.DiscreteResize2D, 2)),
        'AttentionRNNWrapper': lambda: on_words(layer(
            attention.AttentionRNNWrapper, GRU(3)))()}


@package('complexnet')
def complexnet():
    from complexnet.layers.complex_core import CDense
    from complexnet.layers.complex_recurrent import CGRU, CLSTM
    return {
        'CDense': on_image(layer(CDense, 4), shape=(6,)),
        'CGRU': on_words(layer(CGRU, 4)), 'CLSTM': on_words(layer(CLSTM, 4))}


@package('keras-complex')
def keras_complex():
    from complexnn import ComplexBN, ComplexConv1D, ComplexConv2D, ComplexDense
    return {
        'dense': on_image(layer(ComplexDense, 4), layer(ComplexDense, 2),
                          shape=(6,)),
        '1D': on_image(layer(ComplexConv1D, 4, 3, padding='same'), shape=(8, 4)),
        '2D': on_image(layer(ComplexConv2D, 4, 3, padding='same'),
                       layer(ComplexBN), shape=(8, 8, 4))}


@package('keras-genomics')
def keras_genomics():
    from keras_genomics import layers as of
    return {
        'reverse complement': on_image(
            layer(of.RevCompConv1D, 4, 3), layer(of.RevCompConv1DBatchNorm),
            layer(of.DenseAfterRevcompConv1D, 3), shape=(10, 4)),
        'SeparableFC': on_image(layer(of.SeparableFC, 2), shape=(10, 4))}


@package('mhcflurry')
def mhcflurry():
    from mhcflurry.class1_neural_network import Class1NeuralNetwork

    def model(**arguments):
        def build():
            found = Class1NeuralNetwork(**arguments)
            defaults = found.network_hyperparameter_defaults
            return found.make_network(**defaults.subselect(found.hyperparameters))
        return build
    return {'affinity': model(layer_sizes=[8]),
            'locally connected': model(
                layer_sizes=[8], batch_normalization=True, dropout_probability=.2)}


@package('stellargraph')
def stellargraph():
    from keras.layers import Input
    from keras.models import Model
    from stellargraph.layer import graph_attention, gcn, graphsage

    def on_graph(make):
        nodes, edges = [Input(batch_shape=(1, 5, size)) for size in (3, 5)]
        known = Input(batch_shape=(1, 3), dtype='int32')
        x = nodes
        for units in (4, 2):
            x = make(units)([x, known, edges])
        return Model([nodes, known, edges], x)

    def sage(aggregator):
        model = graphsage.GraphSAGE([4, 4], n_samples=[2, 2], input_dim=3,
                                    aggregator=aggregator)
        return Model(*model.node_model())
    kinds = {'GraphSAGE of means': graphsage.MeanAggregator,
             'GraphSAGE of maxima': graphsage.MaxPoolingAggregator,
             'GraphSAGE with attention': graphsage.AttentionalAggregator}
    return {'GCN': lambda: on_graph(gcn.GraphConvolution),
            'GAT': lambda: on_graph(graph_attention.GraphAttention),
            **{name: partial(sage, each) for name, each in kinds.items()}}
