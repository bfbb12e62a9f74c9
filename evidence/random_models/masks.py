"""Layers that create, use, pass on or change masks."""
from keras import layers

from evidence.random_models.custom import OneShape, gelu
from evidence.random_models.operations import UNITS, new_layer, operation
from evidence.random_models.versions import IS_KERAS2, ops


def is_large(x, mask=None):
    return ops.any(ops.greater(x, -.3), axis=-1)


def masked(x, mask):
    if mask is None:
        return 2. * x
    return x * ops.expand_dims(ops.cast(mask, 'float32'), -1)


class OwnMask(OneShape):
    """Computes a mask of its own and does not set `supports_masking`."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = False

    def call(self, inputs):
        return 1. * inputs

    def compute_mask(self, inputs, mask=None):
        return is_large(inputs)


class UsesMask(OneShape):
    """Uses the mask and does not pass it on."""

    def call(self, inputs, mask=None):
        return masked(inputs, mask)

    def compute_mask(self, inputs, mask=None):
        return None


new_layer('mask', 's', {
    'own': OwnMask,
    'used': UsesMask,
    'of a Lambda': lambda: layers.Lambda(
        lambda x: x + .1, mask=lambda x, mask: ops.greater(x[:, :, 0], -.3)),
    'of a Lambda, named': lambda: layers.Lambda(lambda x: 3 * x, mask=is_large),
    'of a Lambda, passed on': lambda: layers.Lambda(
        gelu, mask=lambda x, mask: mask),
    'used by a Lambda': lambda: layers.Lambda(
        lambda x, mask=None: masked(x, mask)),
})


class TwoOutputs(layers.Layer):
    """Has two outputs; `masks` determines which of them have a mask."""

    def __init__(self, masks, **kwargs):
        super().__init__(**kwargs)
        self.masks = masks
        self.supports_masking = masks == 'default'

    def call(self, inputs):
        return [1. * inputs, 2. * inputs]

    def compute_output_shape(self, input_shape):
        return [input_shape, input_shape]

    def compute_mask(self, inputs, mask=None):
        if self.masks == 'default':
            return super().compute_mask(inputs, mask)
        return {'none': None, 'list': [mask, None], 'tuple': (None, mask),
                'both': [mask, mask], 'new': [None, is_large(inputs)]}[self.masks]

    def get_config(self):
        return dict(super().get_config(), masks=self.masks)


@operation('s', 'ss', ['none', 'default', 'list', 'both', 'new'] +
           ([] if IS_KERAS2 else ['tuple']))
def two_outputs(building, option, x):
    return TwoOutputs(option)(x)


class TwoInputs(layers.Layer):
    """Has two inputs; the mask of its output is that of the input `mask_of`."""

    def __init__(self, mask_of, **kwargs):
        super().__init__(**kwargs)
        self.mask_of = mask_of

    def call(self, inputs):
        return inputs[0] - .5 * inputs[1]

    def compute_output_shape(self, input_shape):
        return input_shape[0]

    def compute_mask(self, inputs, mask=None):
        return mask[self.mask_of]

    def get_config(self):
        return dict(super().get_config(), mask_of=self.mask_of)


@operation('ss', 's', ['0', '1'])
def two_inputs(building, option, x, y):
    return [TwoInputs(int(option))([x, y])]


# `outermost` on Keras 2: when it calls a nested model again, it passes the tensors
# of the first call.
@operation('ss', 's', outermost=IS_KERAS2)
def mask_argument(building, option, x, y):
    mask = layers.Lambda(lambda x: ops.greater(x[:, :, 0], -.4))(y)
    return [layers.SimpleRNN(UNITS, return_sequences=True)(x, mask=mask)]
