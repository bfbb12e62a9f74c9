from absl.testing import parameterized

from keras.src import activations
from keras.src import backend
from keras.src import ops
from keras.src import testing
from keras.src.saving import object_registration


class CustomActivationWithBuiltinNameTest(testing.TestCase):
    def get_relu(self):
        def relu(x):
            return 2 * x

        return relu

    def test_config_is_not_that_of_the_builtin(self):
        config = activations.serialize(self.get_relu())
        self.assertNotEqual(config, activations.serialize(activations.relu))

    def test_not_replaced_when_it_cannot_be_found(self):
        config = activations.serialize(self.get_relu())
        with self.assertRaisesRegex(TypeError, "Could not locate function"):
            activations.get(config)

    def test_found_among_custom_objects(self):
        relu = self.get_relu()
        config = activations.serialize(relu)
        with object_registration.CustomObjectScope({"relu": relu}):
            self.assertIs(activations.get(config), relu)

    def test_op_with_other_defaults(self):
        found = activations.get(activations.serialize(ops.gelu))
        x = ops.convert_to_tensor([-1.0, 2.0])
        self.assertAllClose(found(x), ops.gelu(x))
        self.assertNotAllClose(found(x), activations.gelu(x))

    @parameterized.named_parameters(
        (name, function)
        for name, function in activations.ALL_OBJECTS_DICT.items()
    )
    def test_guard_builtin(self, function):
        config = activations.serialize(function)
        self.assertIsInstance(config, str)
        self.assertIs(activations.get(config), function)

    def test_guard_function_of_ops_or_of_the_backend(self):
        functions = [ops.relu]
        if backend.backend() == "tensorflow":
            import tensorflow as tf

            functions.append(tf.nn.relu)
        elif backend.backend() == "torch":
            import torch

            functions.append(torch.nn.functional.relu)
        x = ops.convert_to_tensor([-1.0, 2.0])
        for function in functions:
            found = activations.get(activations.serialize(function))
            self.assertAllClose(found(x), function(x))

    def test_guard_name_of_no_builtin(self):
        def double(x):
            return 2 * x

        config = activations.serialize(double)
        self.assertEqual(config["config"], "double")
        self.assertEqual(config["module"], "builtins")
