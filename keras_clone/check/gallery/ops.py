"""Operations that both major versions of Keras have, named as in `keras.ops`."""
import keras

if hasattr(keras, 'KerasTensor'):
    from keras.ops import (  # noqa: F401
        abs, any, clip, flip, matmul, mean, minimum, not_equal, ones, power,
        relu, shape, sigmoid, square, sum, tanh, transpose)
else:
    from keras.backend import (  # noqa: F401
        abs, any, mean, minimum, not_equal, ones, relu, shape, sigmoid, square, sum,
        tanh, transpose)
    from keras.backend import dot as matmul  # noqa: F401
    from keras.backend import pow as power  # noqa: F401
    from keras.backend import reverse as flip  # noqa: F401
