"""Models of packages for Keras 3: see requirements/real-models-keras3.txt."""
from evidence.real_models.tables import Packages

PACKAGES = Packages()
package = PACKAGES.of


def on(shape, *layers):
    """Returns a function that builds a model of layers on one input.

    # Arguments
        shape: that of the input.
        layers: functions that make a layer each, or take a tensor.
    """
    def build():
        from keras import Input, Model
        x = inputs = Input(shape)
        for call in layers:
            x = call(x)
        return Model(inputs, x)
    return build


def layer(make, *arguments, **named):
    """Returns a function of a tensor that makes a layer and calls it."""
    return lambda x: make(*arguments, **named)(x)


# Text


@package('keras-hub')
def keras_hub():
    from keras_hub import models as of
    text = dict(vocabulary_size=20, num_layers=2, hidden_dim=8, intermediate_dim=10)
    encoder = dict(text, num_heads=2, max_sequence_length=8)
    decoder = dict(text, num_query_heads=2, num_key_value_heads=2)
    image = dict(image_shape=(32, 32, 3))

    def model(name, *known, **arguments):
        for each in known:
            arguments = dict(each, **arguments)
        return lambda: getattr(of, name + 'Backbone')(**arguments)

    def task(name, backbone, **arguments):
        return lambda: getattr(of, name)(backbone=backbone(), **arguments)
    bert, gpt2 = model('Bert', encoder), model('GPT2', encoder)
    vit = model('ViT', image, patch_size=(8, 8), num_layers=2, num_heads=2,
                hidden_dim=8, mlp_dim=10)
    resnet = model('ResNet', image, input_conv_filters=[64],
                   input_conv_kernel_sizes=[3], stackwise_num_filters=[64, 8],
                   stackwise_num_blocks=[1, 1], stackwise_num_strides=[1, 2],
                   block_type='basic_block')
    return {
        'BERT': bert, 'RoBERTa': model('Roberta', encoder),
        'ALBERT': model('Albert', encoder, embedding_dim=4),
        'DistilBERT': model('DistilBert', encoder),
        'DeBERTaV3': model('DebertaV3', encoder, bucket_size=4),
        'FNet': model('FNet', dict(text, max_sequence_length=8)),
        'ELECTRA': model('Electra', vocab_size=20, num_layers=2, num_heads=2,
                         hidden_dim=8, embedding_dim=4, intermediate_dim=10,
                         max_sequence_length=8),
        'BART': model('Bart', encoder), 'GPT-2': gpt2,
        'OPT': model('OPT', encoder),
        'GPT-NeoX': model('GPTNeoX', encoder, rotary_percentage=.5),
        'Bloom': model('Bloom', text, num_heads=2),
        'Falcon': model('Falcon', text, num_attention_heads=2),
        'Llama': model('Llama', decoder), 'Mistral': model('Mistral', decoder),
        'Gemma': model('Gemma', decoder, head_dim=4),
        'Phi-3': model('Phi3', decoder), 'Qwen': model('Qwen', decoder),
        'T5': model('T5', text, num_heads=2),
        'RoFormerV2': model('RoformerV2', text, num_heads=2, head_size=4),
        'Whisper': model('Whisper', text, num_heads=2, num_mels=4,
                         max_encoder_sequence_length=16,
                         max_decoder_sequence_length=8),
        'classifier on BERT': task('BertTextClassifier', bert, num_classes=3),
        'language model on GPT-2': task('GPT2CausalLM', gpt2),
        'ViT': vit, 'ResNet': resnet,
        'classifier on ResNet': task('ResNetImageClassifier', resnet,
                                     num_classes=3),
        'VGG': model('VGG', image, stackwise_num_repeats=[1, 1],
                     stackwise_num_filters=[4, 4]),
        'DenseNet': model('DenseNet', image, stackwise_num_repeats=[2, 2],
                          growth_rate=4),
        'Xception': model('Xception', image, stackwise_conv_filters=[
            [4, 4], [8, 8]], stackwise_pooling=[True, False]),
        'DeiT': model('DeiT', image, patch_size=(8, 8), num_layers=2, num_heads=2,
                      hidden_dim=8, intermediate_dim=10),
        'SwinTransformer': model('SwinTransformer', image, embed_dim=4,
                                 depths=[2, 2], num_heads=[2, 2], window_size=4)}


@package('keras-rs')
def keras_rs():
    from keras.layers import Dense
    from keras_rs.layers import DotInteraction, FeatureCross

    def crossed():
        from keras import Input, Model
        x = Input((4,))
        y = FeatureCross(projection_dim=2)(x)
        return Model(x, Dense(2)(FeatureCross(projection_dim=2)(x, y)))

    def dotted():
        from keras import Input, Model
        inputs = [Input((4,)) for _ in range(3)]
        return Model(inputs, Dense(2)(DotInteraction()(inputs)))
    return {'FeatureCross': crossed, 'DotInteraction': dotted}


@package('GLU-KERAS')
def glu_keras():
    import glu_keras as of
    from keras.layers import Dense
    return {name: on((6, 4), layer(getattr(of, name)), layer(Dense, 2))
            for name in ('GLU', 'SwiGLU')}


# Sequences


@package('keras-tcn')
def keras_tcn():
    from keras.layers import Dense
    from tcn import TCN
    return {
        'TCN': on((8, 2), layer(TCN, 4, dilations=(1, 2)), layer(Dense, 2)),
        'normalized': on((8, 2), layer(
            TCN, 4, dilations=(1, 2), use_batch_norm=True, dropout_rate=.2,
            return_sequences=True), layer(TCN, 3, dilations=(1, 2),
                                          use_skip_connections=False))}


@package('ncps')
def ncps():
    from keras.layers import Dense
    from ncps import wirings
    from ncps.keras import CfC, LTC

    def wired():
        return wirings.AutoNCP(8, 2, seed=1)
    return {
        'CfC': on((5, 2), layer(CfC, 4), layer(Dense, 2)),
        'CfC with memory': on((5, 2), layer(CfC, 4, mixed_memory=True)),
        'CfC, wired': on((5, 2), lambda x: CfC(wired())(x)),
        'LTC': on((5, 2), layer(LTC, 4, return_sequences=True)),
        'LTC, wired': on((5, 2), lambda x: LTC(wired())(x))}


@package('keras-lmu')
def keras_lmu():
    from keras.layers import SimpleRNNCell
    from keras_lmu import LMU
    sizes = dict(memory_d=2, order=3, theta=4)
    return {
        'LMU': on((5, 2), lambda x: LMU(
            hidden_cell=SimpleRNNCell(3), **sizes)(x)),
        'connected': on((5, 2), lambda x: LMU(
            hidden_cell=SimpleRNNCell(3), hidden_to_memory=True,
            memory_to_memory=True, input_to_hidden=True, return_sequences=True,
            **sizes)(x)),
        'without a hidden cell': on((5, 2), lambda x: LMU(
            hidden_cell=None, **sizes)(x))}


@package('mingru-keras')
def mingru_keras():
    from keras.layers import Dense
    from mingru_keras import MinGRU
    return {'MinGRU': on((5, 2), layer(MinGRU, 4), layer(MinGRU, 3),
                         layer(Dense, 2))}


@package('keras-climate')
def keras_climate():
    from keras_climate import forecasting as of
    sizes = dict(seq_len=16, pred_len=4)
    small = dict(sizes, num_channels=2, d_model=8, num_heads=2)
    return {
        'NBeats': lambda: of.NBeats(
            stack_types=('trend', 'seasonality'), num_blocks_per_stack=2,
            hidden_dim=8, num_fc_layers=2, **sizes),
        'DLinear': lambda: of.DLinear(num_channels=2, kernel_size=5, **sizes),
        'PatchTST': lambda: of.PatchTST(depth=1, patch_len=4, stride=2, **small),
        'Autoformer': lambda: of.Autoformer(
            label_len=8, d_ff=8, encoder_layers=1, moving_avg=5, **small),
        'Informer': lambda: of.Informer(label_len=8, d_ff=8, encoder_layers=1,
                                        **small),
        'TemporalFusionTransformer': lambda: of.TemporalFusionTransformer(
            encoder_len=8, decoder_len=4, num_past_vars=2, num_future_vars=2,
            hidden_dim=8, num_heads=2)}


# Images


@package('keras')
def keras():
    from keras import applications as of

    def model(name, size=32):
        return lambda: getattr(of, name)(
            weights=None, input_shape=(size, size, 3), classes=3)
    return {'VGG16': model('VGG16'), 'ResNet50': model('ResNet50'),
            'MobileNetV3Small': model('MobileNetV3Small'),
            'EfficientNetV2B0': model('EfficientNetV2B0')}


@package('k3im')
def k3im():
    from k3im import (cait, cct_1d, convmixer, eanet, fnet_1d, gmlp_1d, mlp_mixer_1d,
                      simple_vit, simple_vit_1d, simple_vit_with_fft,
                      simple_vit_with_register_tokens, vit, vit_1d,
                      vit_with_patch_dropout, vivit)
    text = dict(seq_len=16, patch_size=4, num_classes=3, dim=8, depth=2)
    text_heads = dict(text, heads=2, mlp_dim=8, dim_head=4)
    image = dict(image_size=16, patch_size=4, num_classes=3, dim=8, depth=2,
                 heads=2, mlp_dim=8, dim_head=4)
    return {
        'ViT': lambda: vit.ViT(**image),
        'SimpleViT': lambda: simple_vit.SimpleViT(**image),
        'with register tokens': lambda: (
            simple_vit_with_register_tokens.SimpleViT_RT(**image)),
        'with FFT': lambda: simple_vit_with_fft.SimpleViTFFT(
            freq_patch_size=4, **image),
        'with patch dropout': lambda: vit_with_patch_dropout.SimpleViTPD(**image),
        'CaiT': lambda: cait.CaiTModel(cls_depth=1, **image),
        'ConvMixer': lambda: convmixer.ConvMixer(16, 4, 2, num_classes=3),
        'EANet': lambda: eanet.EANet(
            (16, 16, 3), 4, 8, 1, 8, 2, 2, .1, .1, 3),
        'ViT1D': lambda: vit_1d.ViT1DModel(**text_heads),
        'SimpleViT1D': lambda: simple_vit_1d.SimpleViT1DModel(**text_heads),
        'FNet1D': lambda: fnet_1d.FNet1DModel(**text),
        'gMLP1D': lambda: gmlp_1d.gMLP1DModel(**text),
        'Mixer1D': lambda: mlp_mixer_1d.Mixer1DModel(**text),
        'CCT1D': lambda: cct_1d.CCT_1DModel(
            (16, 3), 2, 8, 3, 1, 1, [8, 8], .1, 2, 3),
        'ViViT': lambda: vivit.ViViT(
            16, 4, 4, 2, 3, 8, 1, 1, 2, 8, dim_head=4)}


@package('kimm')
def kimm():
    from kimm._src.models.convmixer import ConvMixer
    from kimm._src.models.repvgg import RepVGG
    from kimm._src.models.vision_transformer import VisionTransformer
    arguments = dict(input_shape=(32, 32, 3), classes=3, weights=None,
                     include_preprocessing=False, include_top=True, pooling=None,
                     dropout_rate=0., classifier_activation='softmax',
                     default_size=32)
    return {
        'ConvMixer': lambda: ConvMixer(
            depth=2, hidden_channels=8, patch_size=4, kernel_size=3, **arguments),
        'RepVGG': lambda: RepVGG([1, 1, 1, 1], [8, 8, 8, 8], 8, **arguments),
        'VisionTransformer': lambda: VisionTransformer(
            8, 8, 2, 2, **arguments)}


@package('tfvit')
def tfvit():
    from tfvit.model import ViT
    sizes = dict(patch_size=8, hidden_size=8, num_layers=2, num_heads=2,
                 img_size=16, input_shape=(16, 16, 3), classes=3)
    return {'ViT': lambda: ViT(**sizes),
            'with registers': lambda: ViT(num_reg=2, use_ls=True, use_swiglu=True,
                                          **sizes)}


@package('tfswin')
def tfswin():
    from tfswin.model import SwinTransformer
    sizes = dict(pretrain_size=32, window_size=4, embed_dim=8, depths=(2, 2),
                 num_heads=(2, 2), input_shape=(32, 32, 3), classes=3)
    return {'V1': lambda: SwinTransformer(**sizes),
            'V2': lambda: SwinTransformer(swin_v2=True, **sizes)}


@package('mlp-mixer-keras')
def mlp_mixer_keras():
    from mlp_mixer_keras import MlpMixerModel
    return {'MLP-Mixer': lambda: MlpMixerModel((16, 16, 3), 3, 2, 4, 8, 8, 8)}


@package('keras-vision')
def keras_vision():
    from keras_vision.MobileViT_v1.mobile_vit_v1 import build_MobileViT_v1
    return {'MobileViT': lambda: build_MobileViT_v1(
        'XXS', num_classes=3, input_shape=(64, 64, 3))}


@package('kyolo')
def kyolo():
    from kyolo.models.yolov8 import build_yolov8
    return {'YOLOv8': lambda: build_yolov8(nc=3, input_shape=(64, 64, 3))}


@package('keras-unet-collection')
def keras_unet_collection():
    from keras_unet_collection import models as of
    size = (32, 32, 3)
    return {
        'U-net': lambda: of.unet_2d(size, [4, 8, 8], 2, batch_norm=True),
        'U-net++': lambda: of.unet_plus_2d(size, [4, 8, 8], 2,
                                           deep_supervision=True),
        'Attention U-net': lambda: of.att_unet_2d(size, [4, 8, 8], 2),
        'R2U-net': lambda: of.r2_unet_2d(size, [4, 8, 8], 2),
        'UNET 3+': lambda: of.unet_3plus_2d(size, 2, [4, 8, 8])}


@package('segmodels-keras')
def segmodels_keras():
    import segmodels_keras as of

    def model(make, size=32):
        return lambda: make('mobilenetv2', (size, size, 3), 2, encoder_weights=None)
    return {'Unet': model(of.Unet), 'Linknet': model(of.Linknet)}


@package('medicai')
def medicai():
    from medicai.models import UNet

    def model(**arguments):
        return lambda: UNet(input_shape=(32, 32, 1), encoder_name='resnet18',
                            num_classes=2, **arguments)
    return {'UNet': model()}


# Graphs


@package('kgcnn')
def kgcnn():
    from importlib import import_module

    import numpy as np

    def on_graphs(model):
        """Returns a model, and two graphs: the indices in them must be small."""
        drawn = np.random.RandomState(0)
        shapes = [(2, *(size or 4 for size in x.shape[1:])) for x in model.inputs]
        return model, [
            drawn.uniform(.1, 1, shape).astype(x.dtype) if 'float' in x.dtype else
            # The counts of what is in a graph have no other axis.
            (np.full(shape, 4) if len(shape) == 1 else drawn.randint(0, 3, shape))
            .astype(x.dtype) for x, shape in zip(model.inputs, shapes)]

    def model(name, make='make_model'):
        module = import_module('kgcnn.literature.' + name)
        return lambda: on_graphs(getattr(module, make)())
    names = ['AttentiveFP', 'CMPNN', 'DGIN', 'DMPNN', 'DimeNetPP', 'EGNN', 'GAT',
             'GCN', 'GIN', 'GNNFilm', 'GraphSAGE', 'HDNNP2nd', 'HamNet', 'INorp',
             'MEGAN', 'Megnet', 'MoGAT', 'PAiNN', 'RGCN', 'Schnet']
    return {**{name: model(name) for name in names},
            'GIN with edges': model('GIN', 'make_model_edge'),
            'CGCNN of crystals': model('CGCNN', 'make_crystal_model'),
            'PAiNN of crystals': model('PAiNN', 'make_crystal_model'),
            'Schnet of crystals': model('Schnet', 'make_crystal_model')}


# Others


@package('bayesflow')
def bayesflow():
    from bayesflow import networks as of
    from keras import Input, Model

    def flow():
        x, condition = Input((4,)), Input((3,))
        return Model([x, condition], of.CouplingFlow()(x, conditions=condition))
    summaries = {make.__name__: on((6, 4), layer(make)) for make in (
        of.DeepSet, of.SetTransformer, of.TimeSeriesNetwork,
        of.TimeSeriesTransformer, of.FusionTransformer)}
    return {**summaries, 'MLP': on((4,), layer(of.MLP)), 'CouplingFlow': flow}


@package('HGQ2')
def hgq2():
    from hgq import layers as of
    from keras import Input, Model

    def attention():
        x = Input((4, 6))
        return Model(x, of.QMultiHeadAttention(2, 3)(x, x))
    dense = layer(of.QDense, 4, activation='relu')
    return {
        'dense': on((6,), dense, layer(of.QBatchNormalization),
                    layer(of.QSoftmax)),
        'convolution': on((8, 3), layer(of.QConv1D, 3, 2),
                          layer(of.QGlobalAveragePooling1D), dense),
        'recurrent': on((4, 3), layer(of.QGRU, 4, return_sequences=True),
                        layer(of.QSimpleRNN, 3)),
        'table': on((6,), dense, layer(of.QUnaryFunctionLUT, 'tanh'),
                    layer(of.QDenseT, 3)),
        'attention': attention}


@package('keras-complex')
def keras_complex():
    from complexnn import ComplexBN, ComplexConv1D, ComplexConv2D, ComplexDense
    return {
        'dense': on((6,), layer(ComplexDense, 4), layer(ComplexDense, 2)),
        '1D': on((8, 4), layer(ComplexConv1D, 4, 3, padding='same')),
        '2D': on((8, 8, 4), layer(ComplexConv2D, 4, 3, padding='same'),
                 layer(ComplexBN))}


@package('keras-mdn-layer')
def keras_mdn_layer():
    from keras.layers import Dense
    from keras_mdn_layer import MDN
    return {'MDN': on((3,), layer(Dense, 4, activation='relu'), layer(MDN, 2, 3))}


@package('tf-kan-latest')
def tf_kan_latest():
    from tfkan.layers import Conv1DKAN, DenseKAN
    return {'dense': on((3,), layer(DenseKAN, 4), layer(DenseKAN, 2)),
            'convolution': on((8, 2), layer(Conv1DKAN, 3, 3))}


@package('keras-efficient-kan')
def keras_efficient_kan():
    from keras_efficient_kan import KANLinear
    return {'KAN': on((3,), layer(KANLinear, 4), layer(KANLinear, 2))}


@package('keras-hexagdly')
def keras_hexagdly():
    from keras_hexagdly import Conv2d, MaxPool2d
    return {'hexagons': on((8, 8, 2), layer(Conv2d, 2, 4, 1), layer(
        MaxPool2d, 1, 2))}


@package('qkeras-v3')
def qkeras_v3():
    import qkeras as of
    from keras.layers import Flatten
    return {
        'dense': on((3,), lambda x: of.QDense(
            4, kernel_quantizer=of.quantized_bits(4, 0, 1),
            bias_quantizer=of.quantized_bits(4))(x),
            lambda x: of.QActivation(of.quantized_relu(3))(x)),
        'convolution': on((8, 8, 1), lambda x: of.QConv2D(
            3, 3, kernel_quantizer=of.ternary())(x), layer(Flatten),
            lambda x: of.QDense(2, kernel_quantizer='binary()')(x))}
