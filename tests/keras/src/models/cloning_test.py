import contextlib
import functools
import os

import numpy as np
from absl.testing import parameterized

from keras.src import activations
from keras.src import backend
from keras.src import initializers
from keras.src import layers
from keras.src import models
from keras.src import ops
from keras.src import random
from keras.src import testing
from keras.src.backend.common.variables import standardize_dtype
from keras.src.models.cloning import clone_model
from keras.src.saving import object_registration
from keras.src.saving.saving_api import load_model


class CloneLambdaTest(testing.TestCase):
    class Scale:
        """Callable object."""

        def __init__(self, factor):
            self.factor = factor

        def __call__(self, x):
            return self.factor * x

        def method(self, x):
            return self.factor * x

    def double(x):
        return 2 * x

    @parameterized.named_parameters(
        ("lambda", lambda x: 2 * x),
        ("named", double),
        ("callable_object", Scale(2)),
        ("bound_method", Scale(2).method),
    )
    def test_function(self, function):
        x = np.array([[1.0, 2.0, 3.0]])
        model = models.Sequential([layers.Input((3,)), layers.Lambda(function)])
        clone = clone_model(clone_model(model))
        self.assertAllClose(model(x), 2 * x)
        self.assertAllClose(clone(x), 2 * x)

    def test_global_name_in_function(self):
        function = eval("lambda x: factor * x", {"factor": 2})
        inputs = layers.Input((3,))
        model = models.Model(inputs, layers.Lambda(function)(inputs))
        x = np.array([[1.0, 2.0, 3.0]])
        self.assertAllClose(clone_model(model)(x), 2 * x)

    def test_several_outputs(self):
        inputs = layers.Input((4,))
        outputs = layers.Lambda(lambda x: [x[:, :1], x[:, 1:]])(inputs)
        model = models.Model(inputs, outputs)
        first, second = clone_model(model)(np.array([[1.0, 2.0, 3.0, 4.0]]))
        self.assertAllClose(first, [[1.0]])
        self.assertAllClose(second, [[2.0, 3.0, 4.0]])

    def test_arguments_and_output_shape(self):
        layer = layers.Lambda(
            lambda x, factor: factor * x,
            output_shape=lambda shape: shape,
            arguments={"factor": 2},
            dtype="float16",
            name="double",
        )
        clone = clone_model(models.Sequential([layer])).layers[0]
        self.assertAllClose(clone(np.array([[1.0]])), [[2.0]])
        self.assertIsNot(clone.arguments, layer.arguments)
        self.assertEqual(clone.compute_output_shape((None, 3)), (None, 3))
        self.assertEqual(clone.compute_dtype, "float16")
        self.assertEqual(clone.name, "double")

    def test_mask_function(self):
        inputs = layers.Input((3, 1))
        layer = layers.Lambda(
            lambda x: x, mask=lambda inputs, mask: inputs[:, :, 0] > 1.5
        )
        outputs = layers.GlobalAveragePooling1D()(layer(inputs))
        clone = clone_model(models.Model(inputs, outputs))
        x = np.array([[[1.0], [2.0], [4.0]]])
        self.assertAllClose(clone(x), [[3.0]])

    def test_nested_model_with_recursive(self):
        inner = models.Sequential(
            [layers.Input((3,)), layers.Lambda(lambda x: 2 * x)]
        )
        inputs = layers.Input((3,))
        model = models.Model(inputs, inner(inputs))
        x = np.array([[1.0, 2.0, 3.0]])
        clone = clone_model(model, recursive=True)
        self.assertAllClose(clone(x), 2 * x)

    def test_guard_layer_in_arguments_is_not_shared(self):
        @object_registration.register_keras_serializable("clone_lambda_test")
        def call(x, layer):
            return layer(x)

        layer = layers.Dense(2)
        model = models.Sequential(
            [
                layers.Input((3,)),
                layers.Lambda(call, arguments={"layer": layer}),
            ]
        )
        clone = clone_model(model)
        self.assertIsInstance(clone.layers[0].arguments["layer"], layers.Dense)
        self.assertIsNot(clone.layers[0].arguments["layer"], layer)

    @parameterized.named_parameters(
        ("layer", lambda layer: layer),
        ("model", lambda layer: models.Sequential([layer])),
    )
    def test_guard_from_config_stays_refused(self, wrap):
        obj = wrap(layers.Lambda(lambda x: x))
        with self.assertRaisesRegex(ValueError, "deserialization of a"):
            obj.__class__.from_config(obj.get_config())

    def test_guard_code_from_get_config_is_not_read(self):
        code = layers.Lambda(lambda x: x).get_config()
        read = []

        class FromCode(layers.Layer):
            def get_config(self):
                return {**super().get_config(), "code": code}

            @classmethod
            def from_config(cls, config):
                read.append(layers.Lambda.from_config(config["code"]))
                return read[-1]

        with contextlib.suppress(ValueError):
            clone_model(models.Sequential([FromCode()]))
        self.assertEmpty(read)


class CloneCustomClassesTest(testing.TestCase):
    class Scale(layers.Layer):
        def __init__(self, factor, **kwargs):
            super().__init__(**kwargs)
            self.factor = factor

        def call(self, x):
            return self.factor * x

        def compute_output_shape(self, input_shape):
            return input_shape

    class Cell(layers.Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.state_size = self.output_size = 3

        def call(self, x, states):
            return 2 * x, states

    def assert_clone_doubles(self, model, shape=(1, 3)):
        x = np.ones(shape)
        self.assertAllClose(clone_model(model)(x), 2 * x)

    @parameterized.named_parameters(
        ("sequential", lambda layer: models.Sequential([layer])),
        (
            "nested_twice",
            lambda layer: models.Sequential([models.Sequential([layer])]),
        ),
        ("wrapper", layers.TimeDistributed),
    )
    def test_sublayer(self, wrap):
        inputs = layers.Input((2, 3))
        model = models.Model(inputs, wrap(self.Scale(2))(inputs))
        self.assert_clone_doubles(clone_model(model), (1, 2, 3))

    def test_functional_model(self):
        inner_inputs = layers.Input((3,))
        inner = models.Model(inner_inputs, self.Scale(2)(inner_inputs))
        model = models.Sequential([layers.Input((3,)), inner])
        self.assert_clone_doubles(model)

    def test_cell(self):
        layer = layers.RNN(self.Cell(), return_sequences=True)
        model = models.Sequential([layers.Input((2, 3)), layer])
        self.assert_clone_doubles(model, (1, 2, 3))

    def test_name_of_a_builtin(self):
        class Identity(layers.Layer):
            def call(self, x):
                return 2 * x

        inner = models.Sequential([layers.Identity(), Identity()])
        model = models.Sequential([layers.Input((3,)), inner])
        self.assert_clone_doubles(model)

    def test_guard_two_classes_of_one_name_are_not_mistaken(self):
        class Scale(layers.Layer):
            def call(self, x):
                return x

        inner = models.Sequential([self.Scale(2), Scale()])
        model = models.Sequential([layers.Input((3,)), inner])
        try:
            clone = clone_model(model)
        except TypeError as error:
            self.assertIn("Could not locate class 'Scale'", str(error))
        else:
            self.assertAllClose(clone(np.ones((1, 3))), [[2.0, 2.0, 2.0]])

    def test_guard_scope_of_the_user_counts(self):
        def double(x):
            return 2 * x

        inner = models.Sequential([layers.Activation(double)])
        model = models.Sequential([layers.Input((3,)), inner])
        with object_registration.CustomObjectScope({"double": double}):
            clone = clone_model(model)
        x = np.ones((1, 3))
        self.assertAllClose(clone(x), 2 * x)

    def test_guard_no_scope_stays_open_after_a_failure(self):
        class Broken(self.Scale):
            is_broken = False

            def __init__(self, factor, **kwargs):
                if self.is_broken:
                    raise KeyboardInterrupt
                super().__init__(factor, **kwargs)

        model = models.Sequential([models.Sequential([Broken(2)])])
        Broken.is_broken = True
        # As released, the class is not found.
        with contextlib.suppress(KeyboardInterrupt, TypeError):
            clone_model(model)
        self.assertIsNone(object_registration.get_registered_object("Broken"))

    def test_other_threads_do_not_see_the_scope(self):
        from concurrent.futures import ThreadPoolExecutor

        seen = []

        class Watched(self.Scale):
            def __init__(self, factor, **kwargs):
                find = object_registration.get_registered_object
                with ThreadPoolExecutor(1) as pool:
                    seen.append(pool.submit(find, "Watched").result())
                super().__init__(factor, **kwargs)

        clone_model(models.Sequential([models.Sequential([Watched(2)])]))
        self.assertEqual(seen, [None, None])


class CloneInputTest(testing.TestCase):
    def clone_of_input(self, **kwargs):
        inputs = layers.Input((3,), **kwargs)
        model = models.Model(inputs, layers.Identity()(inputs))
        return model, clone_model(clone_model(model))

    def assert_same_input(self, model, clone):
        self.assertEqual(
            clone._layers[0].get_config(), model._layers[0].get_config()
        )
        self.assertEqual(clone.inputs[0].sparse, model.inputs[0].sparse)
        self.assertEqual(clone.inputs[0].ragged, model.inputs[0].ragged)

    def test_optional(self):
        model, clone = self.clone_of_input(optional=True, name="x")
        self.assertTrue(clone.layers[0].optional)
        self.assert_same_input(model, clone)

    def test_sparse(self):
        if not backend.SUPPORTS_SPARSE_TENSORS:
            self.skipTest("This backend has no sparse tensors.")
        model, clone = self.clone_of_input(sparse=True, name="x")
        self.assertTrue(clone.inputs[0].sparse)
        self.assert_same_input(model, clone)

    def test_ragged(self):
        if not backend.SUPPORTS_RAGGED_TENSORS:
            self.skipTest("This backend has no ragged tensors.")
        model, clone = self.clone_of_input(ragged=True, name="x")
        self.assertTrue(clone.inputs[0].ragged)
        self.assert_same_input(model, clone)

    def test_sparse_sequential(self):
        if not backend.SUPPORTS_SPARSE_TENSORS:
            self.skipTest("This backend has no sparse tensors.")
        inputs = layers.Input((3,), sparse=True)
        model = models.Sequential([inputs, layers.Identity()])
        self.assert_same_input(model, clone_model(model))

    def test_ragged_sequential(self):
        if not backend.SUPPORTS_RAGGED_TENSORS:
            self.skipTest("This backend has no ragged tensors.")
        inputs = layers.Input((3,), ragged=True)
        model = models.Sequential([inputs, layers.Identity()])
        self.assert_same_input(model, clone_model(model))

    def test_generated_name(self):
        model, clone = self.clone_of_input()
        self.assertEqual(clone.layers[0].name, model.layers[0].name)

    def test_guard_name_of_the_tensor(self):
        model, clone = self.clone_of_input()
        self.assertEqual(clone.inputs[0].name, model.inputs[0].name)

    def test_guard_shape_and_dtype(self):
        inputs = layers.Input(batch_shape=(2, None), dtype="int32")
        clone = clone_model(models.Model(inputs, layers.Identity()(inputs)))
        self.assertEqual(clone.inputs[0].shape, (2, None))
        self.assertEqual(clone.inputs[0].dtype, "int32")


class CloneTrainableTest(testing.TestCase):
    def get_model(self):
        inputs = layers.Input((3,))
        return models.Model(inputs, layers.Dense(2)(inputs))

    def test_frozen_model(self):
        model = self.get_model()
        model.trainable = False
        clone = clone_model(clone_model(model))
        self.assertFalse(clone.trainable)
        self.assertEmpty(clone.trainable_variables)
        clone.trainable = True
        self.assertLen(clone.trainable_variables, 2)

    def test_layer_of_a_frozen_model_set_trainable(self):
        model = self.get_model()
        model.trainable = False
        model.layers[1].trainable = True
        clone = clone_model(model)
        self.assertFalse(clone.trainable)
        self.assertTrue(clone.layers[1].trainable)

    def test_guard_frozen_layer(self):
        model = self.get_model()
        model.layers[1].trainable = False
        clone = clone_model(model)
        self.assertTrue(clone.trainable)
        self.assertFalse(clone.layers[1].trainable)


class CloneInputTensorsTest(testing.TestCase):
    def get_model(self, structure):
        a, b = layers.Input((3,), name="a"), layers.Input((3,), name="b")
        return models.Model(structure(a, b), layers.Subtract()([a, b]))

    def assert_subtracts(self, clone, structure):
        two, one = np.full((1, 3), 2.0), np.ones((1, 3))
        self.assertAllClose(clone(structure(two, one)), one)

    def test_list_of_one_tensor(self):
        inputs = layers.Input((3,))
        model = models.Model(inputs, layers.Identity()(inputs))
        x = layers.Input((3,), name="x")
        clone = clone_model(model, input_tensors=[x])
        self.assertIs(clone.inputs[0], x)
        self.assertAllClose(clone(np.ones((2, 3))), np.ones((2, 3)))

    def test_inputs_of_the_model(self):
        inputs = layers.Input((3,))
        model = models.Model(inputs, layers.Identity()(inputs))
        clone = clone_model(model, input_tensors=model.inputs)
        self.assertIs(clone.inputs[0], model.inputs[0])

    @parameterized.named_parameters(
        ("dict", lambda a, b: {"a": a, "b": b}),
        ("tuple", lambda a, b: (a, b)),
    )
    def test_list_for_other_structure(self, structure):
        model = self.get_model(structure)
        x, y = layers.Input((3,), name="a"), layers.Input((3,), name="b")
        clone = clone_model(model, input_tensors=[x, y])
        self.assert_subtracts(clone, structure)

    def test_guard_list_for_list(self):
        model = self.get_model(lambda a, b: [a, b])
        x, y = layers.Input((3,)), layers.Input((3,))
        clone = clone_model(model, input_tensors=[x, y])
        self.assert_subtracts(clone, lambda a, b: [a, b])

    @parameterized.named_parameters(
        ("too_many", lambda x: [x, x, x]),
        ("too_few", lambda x: [x]),
    )
    def test_guard_other_lists_stay_refused(self, structure):
        model = self.get_model(lambda a, b: [a, b])
        with self.assertRaisesRegex(ValueError, "same structure"):
            clone_model(model, input_tensors=structure(layers.Input((3,))))


class CloneInputLayersTest(testing.TestCase):
    @parameterized.named_parameters(
        ("functional", lambda x: models.Model(x, layers.Identity()(x))),
        ("sequential", lambda x: models.Sequential([x, layers.Identity()])),
    )
    def test_input_layer(self, build):
        model = build(layers.Input((3,)))
        layer = layers.InputLayer((3,), name="x")
        clone = clone_model(model, input_tensors=layer)
        self.assertIs(clone.inputs[0], layer.output)
        self.assertAllClose(clone(np.ones((2, 3))), np.ones((2, 3)))

    def test_list_of_input_layers(self):
        inputs = [layers.Input((3,)), layers.Input((3,))]
        model = models.Model(inputs, layers.Subtract()(inputs))
        new = [layers.InputLayer((3,), name=name) for name in "ab"]
        clone = clone_model(model, input_tensors=new)
        self.assertEqual([x.name for x in clone.inputs], ["a", "b"])
        x, y = np.full((1, 3), 2.0), np.ones((1, 3))
        self.assertAllClose(clone([x, y]), y)


class CloneNormalizationTest(testing.TestCase):
    x = np.array([[1.0, 5.0], [3.0, 9.0]], "float32")

    def get_model(self, **kwargs):
        layer = layers.Normalization(**kwargs)
        if "mean" not in kwargs:
            layer.adapt(self.x)
        return models.Sequential([layers.Input((2,)), layer])

    def get_clone(self, model):
        clone = clone_model(model)
        clone.set_weights(model.get_weights())
        return clone

    @parameterized.named_parameters(
        ("last_axis", {}),
        ("no_axis", {"axis": None}),
        ("invert", {"invert": True}),
        ("float16", {"dtype": "float16"}),
        ("mixed_float16", {"dtype": "mixed_float16"}),
    )
    def test_weights_of_the_original(self, kwargs):
        model = self.get_model(**kwargs)
        clone = self.get_clone(model)
        self.assertAllClose(clone(self.x), model(self.x))
        self.assertEqual(
            standardize_dtype(clone(self.x).dtype),
            standardize_dtype(model(self.x).dtype),
        )

    def test_predict_was_compiled_before(self):
        model = self.get_model()
        clone = clone_model(model)
        clone.predict(self.x, verbose=0)
        clone.set_weights(model.get_weights())
        self.assertAllClose(clone.predict(self.x, verbose=0), model(self.x))

    def test_tf_data(self):
        from tensorflow import data as tf_data

        model = self.get_model()
        clone = self.get_clone(model)
        dataset = tf_data.Dataset.from_tensor_slices(self.x).batch(2)
        for output in dataset.map(clone.layers[0]):
            self.assertAllClose(output, model(self.x))

    def test_guard_tf_data_after_adapt(self):
        from tensorflow import data as tf_data

        layer = self.get_model().layers[0]
        dataset = tf_data.Dataset.from_tensor_slices(self.x).batch(2)
        for output in dataset.map(lambda x: layer(x)):
            self.assertAllClose(output, [[-1.0, -1.0], [1.0, 1.0]])

    def test_guard_mean_and_variance_of_the_constructor(self):
        model = self.get_model(mean=[2.0, 7.0], variance=[1.0, 4.0])
        clone = self.get_clone(model)
        self.assertAllClose(clone(self.x), [[-1.0, -1.0], [1.0, 1.0]])

    def test_guard_attributes(self):
        layer = self.get_model(dtype="mixed_float16").layers[0]
        layer(self.x)
        for value, expected in (
            (layer.mean, [[2.0, 7.0]]),
            (layer.variance, [[1.0, 4.0]]),
        ):
            self.assertAllClose(value, expected)
            self.assertEqual(standardize_dtype(value.dtype), "float16")


class CloneVocabularyTest(testing.TestCase):
    words = np.array([["a", "b"], ["b", "c"]])
    numbers = np.array([[30, 40], [40, 50]])
    text = np.array([["a b"], ["b c b"]])

    def get_model(self, layer, data, adapt=True):
        if adapt:
            layer.adapt(data)
        dtype = "int64" if data.dtype.kind == "i" else "string"
        inputs = layers.Input(data.shape[1:], dtype=dtype)
        return models.Model(inputs, layer(inputs))

    def assert_same_lookup(self, model, clone, data):
        layer, new_layer = model.layers[-1], clone.layers[-1]
        self.assertIsNot(new_layer, layer)
        self.assertEqual(new_layer.get_vocabulary(), layer.get_vocabulary())
        self.assertAllClose(new_layer(data), layer(data))

    @parameterized.named_parameters(
        ("int", {}),
        ("no_oov", {"num_oov_indices": 0}),
        ("mask", {"mask_token": "a", "num_oov_indices": 2}),
        ("multi_hot", {"output_mode": "multi_hot"}),
        ("tf_idf", {"output_mode": "tf_idf"}),
    )
    def test_string_lookup(self, kwargs):
        model = self.get_model(layers.StringLookup(**kwargs), self.words)
        clone = clone_model(clone_model(model))
        self.assert_same_lookup(model, clone, self.words)

    def test_integer_lookup(self):
        model = self.get_model(layers.IntegerLookup(), self.numbers)
        clone = clone_model(model)
        self.assert_same_lookup(model, clone, self.numbers)

    @parameterized.named_parameters(
        ("int", {}),
        (
            "padded_tf_idf",
            {
                "output_mode": "tf_idf",
                "max_tokens": 9,
                "pad_to_max_tokens": True,
            },
        ),
    )
    def test_text_vectorization(self, kwargs):
        layer = layers.TextVectorization(**kwargs)
        model = self.get_model(layer, self.text)
        self.assert_same_lookup(model, clone_model(model), self.text)

    def test_sequential(self):
        layer = layers.StringLookup()
        layer.adapt(self.words)
        inputs = layers.Input((2,), dtype="string")
        model = models.Sequential([inputs, layer])
        self.assert_same_lookup(model, clone_model(model), self.words)

    def test_set_vocabulary(self):
        layer = layers.StringLookup()
        layer.set_vocabulary(["b", "c"])
        model = self.get_model(layer, self.words, adapt=False)
        self.assert_same_lookup(model, clone_model(model), self.words)

    def test_nested_model_with_recursive(self):
        inner = self.get_model(layers.StringLookup(), self.words)
        inputs = layers.Input((2,), dtype="string")
        clone = clone_model(models.Model(inputs, inner(inputs)), recursive=True)
        self.assert_same_lookup(inner, clone.layers[-1], self.words)

    def test_clone_can_be_saved(self):
        model = self.get_model(layers.StringLookup(), self.words)
        path = os.path.join(self.get_temp_dir(), "clone.keras")
        clone_model(model).save(path)
        self.assert_same_lookup(model, load_model(path), self.words)

    def test_guard_vocabulary_of_the_constructor(self):
        layer = layers.StringLookup(
            vocabulary=["b", "c"], output_mode="tf_idf", idf_weights=[1.0, 2.0]
        )
        model = self.get_model(layer, self.words, adapt=False)
        self.assert_same_lookup(model, clone_model(model), self.words)

    @parameterized.named_parameters(("one_oov", 1), ("no_oov", 0))
    def test_guard_not_adapted(self, num_oov_indices):
        layer = layers.StringLookup(num_oov_indices=num_oov_indices)
        model = self.get_model(layer, self.words, adapt=False)
        clone = clone_model(model)
        self.assertEqual(
            clone.layers[-1].get_vocabulary(), layer.get_vocabulary()
        )

    def test_guard_clone_can_be_adapted(self):
        layer = layers.StringLookup()
        model = self.get_model(layer, self.words)
        vocabulary = layer.get_vocabulary()
        new_layer = clone_model(model).layers[-1]
        new_layer.adapt(np.array([["x"]]))
        self.assertEqual(new_layer.get_vocabulary(), ["[UNK]", "x"])
        self.assertEqual(layer.get_vocabulary(), vocabulary)

    def test_guard_config_has_no_learned_vocabulary(self):
        model = self.get_model(layers.StringLookup(), self.words)
        config = clone_model(model).layers[-1].get_config()
        self.assertIsNone(config["vocabulary"])

    def test_guard_vocabulary_of_the_clone_function(self):
        def clone_function(layer):
            return layers.StringLookup(vocabulary=["x"])

        model = self.get_model(layers.StringLookup(), self.words)
        clone = clone_model(model, clone_function=clone_function)
        self.assertEqual(clone.layers[-1].get_vocabulary(), ["[UNK]", "x"])


class CloneByArgumentsTest(testing.TestCase):
    x = np.array([[[-1.0, 2.0, 3.0]]])

    def get_model(self, *sequence):
        return models.Sequential([layers.Input((1, 3)), *sequence])

    def assert_same_outputs(self, model):
        clone = clone_model(clone_model(model))
        clone.set_weights(model.get_weights())
        self.assertAllClose(clone(self.x), model(self.x))

    @parameterized.named_parameters(
        ("layer", lambda layer: layer),
        ("wrapper", layers.TimeDistributed),
        ("nested_model", lambda layer: models.Sequential([layer])),
    )
    def test_lambda(self, wrap):
        layer = layers.Lambda(lambda x: 2 * x, lambda shape: shape)
        self.assert_same_outputs(self.get_model(wrap(layer)))

    def test_partial(self):
        function = functools.partial(lambda x, by: by * x, by=2)
        self.assert_same_outputs(self.get_model(layers.Lambda(function)))

    def test_function_as_activation(self):
        def gelu(x):
            return 2 * x

        self.assert_same_outputs(self.get_model(layers.Dense(2, gelu)))

    def test_function_named_as_an_activation_of_keras(self):
        def relu(x):
            return 2 * x

        self.assert_same_outputs(self.get_model(layers.Activation(relu)))

    def test_custom_layer_in_wrapper(self):
        class Scale(layers.Layer):
            def call(self, x):
                return 2 * x

        layer = layers.TimeDistributed(Scale())
        self.assert_same_outputs(self.get_model(layer))

    def test_custom_cell(self):
        class Cell(layers.Layer):
            state_size = output_size = 3

            def call(self, x, states):
                return 2 * x, states

        self.assert_same_outputs(self.get_model(layers.RNN(Cell())))

    def test_layer_without_config(self):
        class Affine(layers.Layer):
            def __init__(self, scales, transform):
                super().__init__()
                self.scales, self.transform = scales, transform

            def call(self, x):
                return self.transform(x * self.scales)

        layer = Affine(np.array([1.0, 2.0, 3.0]), lambda x: x + 1)
        inputs = layers.Input((1, 3))
        self.assert_same_outputs(models.Model(inputs, layer(inputs)))

    def test_operation_with_an_array(self):
        inputs = layers.Input((1, 3))
        outputs = ops.clip(inputs, np.zeros(3), np.array([1.0, 2.0, 2.0]))
        model = models.Model(inputs, outputs)
        self.assertAllClose(clone_model(model)(self.x), model(self.x))

    def test_frozen_lambda(self):
        model = self.get_model(layers.Lambda(lambda x: 2 * x))
        model.trainable = False
        clone = clone_model(model)
        self.assertFalse(clone.layers[0].trainable)

    def test_layer_in_arguments_is_cloned_once(self):
        class Both(layers.Layer):
            def __init__(self, layer, function):
                super().__init__()
                self.layer, self.function = layer, function

            def call(self, x):
                return self.function(self.layer(x))

        dense = layers.Dense(3)
        model = self.get_model(
            dense, Both(dense, lambda x: 2 * x), Both(dense, lambda x: 3 * x)
        )
        clone = clone_model(model)
        self.assertIsNot(clone.layers[0], dense)
        self.assertIs(clone.layers[1].layer, clone.layers[0])
        self.assertIs(clone.layers[2].layer, clone.layers[0])

    def test_containers_of_the_caller_may_change(self):
        class Total(layers.Layer):
            def __init__(self, functions):
                super().__init__()
                self.functions = list(functions)

            def call(self, x):
                return sum(function(x) for function in self.functions)

        functions = [lambda x: x, lambda x: 2 * x]
        model = self.get_model(Total(functions))
        functions.clear()
        self.assert_same_outputs(model)

    def test_guard_changed_attribute(self):
        layer = layers.Dropout(0.5)
        model = self.get_model(layer, layers.Dense(2, activation="relu"))
        layer.rate = 0.25
        model.layers[1].activation = activations.tanh
        clone = clone_model(model)
        self.assertEqual(clone.layers[0].rate, 0.25)
        self.assert_same_outputs(model)

    def test_guard_weights_are_drawn_anew(self):
        initializer = initializers.RandomNormal()
        model = self.get_model(layers.Dense(2, kernel_initializer=initializer))
        model.build()
        old, new = model.get_weights()[0], clone_model(model).get_weights()[0]
        self.assertNotAllClose(old, new)

    def test_seed_generator_in_arguments_is_not_shared(self):
        class Noise(layers.Layer):
            def __init__(self, generator):
                super().__init__()
                self.generator = generator

            def call(self, x):
                return random.dropout(x, 0.5, seed=self.generator)

        generator = random.SeedGenerator(1)
        clone = clone_model(self.get_model(Noise(generator)))
        self.assertIsNot(clone.layers[0].generator, generator)

    def test_guard_weights_in_a_function_are_not_shared(self):
        dense = layers.Dense(3)
        dense.build((None, 1, 3))
        model = self.get_model(layers.Lambda(lambda x: dense(x)))
        try:
            clone = clone_model(model)
        except ValueError as error:
            self.assertIn("deserialization of a `Lambda`", str(error))
        else:
            before = clone(self.x)
            dense.kernel.assign(dense.kernel + 1.0)
            self.assertAllClose(clone(self.x), before)

    def test_guard_clone_function_makes_the_layers(self):
        def clone_function(layer):
            return layers.Dense(5)

        model = self.get_model(layers.Dense(2))
        clone = clone_model(model, clone_function=clone_function)
        self.assertEqual(clone.layers[0].units, 5)

    def test_guard_arguments_are_not_saved(self):
        model = self.get_model(layers.TimeDistributed(layers.Dense(2)))
        path = os.path.join(self.get_temp_dir(), "clone.keras")
        clone_model(model).save(path)
        self.assertLen(load_model(path).weights, 2)
