"""Small models that show what makes cloning difficult.

Each function in `MODELS` builds one; its title is what `keras-clone check` shows.
`keras2` and `keras3` each have a gallery, which includes the models of `both`. This
package has the gallery of the installed Keras.
"""
# flake8: noqa: F401
import keras

from .both import (
    KeepMask, MinimalCell, Power, Scale, call_arguments, custom_cell,
    custom_layer_in_nested_model, custom_layer_in_wrapper, lambda_with_global_name,
    lambda_with_mask, layer_shared_with_nested_model, masked_bidirectional,
    own_compute_mask, plain_network, shared_nested_model)

if hasattr(keras, 'KerasTensor'):
    from .keras3 import (
        MODELS, activation_named_as_one_of_keras, callable_activation,
        compiled_with_own_loss, frozen_model, lambda_in_nested_model,
        lambda_in_wrapper, lambda_of_partial,
        lambda_that_holds_a_layer, lambda_with_two_outputs, operation_with_an_array,
        relu)
else:
    from .keras2 import (
        MODELS, callable_activation, encoder_decoder, gelu, lambda_with_two_outputs,
        mask_as_argument,
        masked_sequence, nested_model_with_mask, shared_layer,
        two_lambdas_in_one_layer, two_masked_outputs)
