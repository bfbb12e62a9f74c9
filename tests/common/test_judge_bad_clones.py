"""The judge finds every clone that is wrong in one respect.

Each model is built once more, with one change, in place of a clone. Built without
the change, it is a faithful clone.
"""
import itertools
import sys
import weakref
import keras
import numpy as np
import pytest
from keras import layers
from keras.models import Model
from keras_clone.check import check_clone
from keras_clone.check.gallery import KeepMask, ops
from keras_clone.check.graphs import graphs

from judging import Own, powers, stateful, Tied, Unsavable
from major_versions import IS_KERAS2, new_variable

if IS_KERAS2:
    from keras import backend
    IS_TENSORFLOW1 = backend.backend() == 'tensorflow' and hasattr(
        __import__('tensorflow'), 'Session')
else:
    IS_TENSORFLOW1 = False


# A name that occurs in the code of `Model`, and that users may choose.
ATTRIBUTE = 'path' if IS_KERAS2 else 'folder'


# The layers


class HiddenDropout(layers.Dropout):
    """Its config does not have its rate."""

    def get_config(self):
        return {'name': self.name}


class Stops(KeepMask):
    """Passes no mask on."""

    def compute_mask(self, inputs, mask=None):
        return None


class Words(layers.Layer):
    """Has a vocabulary that no config, weight or output depends on."""
    words = ['one', 'two']

    def get_vocabulary(self):
        return self.words

    def call(self, inputs):
        return 1 * inputs


class Renamed(layers.Layer):
    """Its config is that of the constructor only where it has a label."""

    def __init__(self, label=None, saved=None, **kwargs):
        super().__init__(**kwargs)
        self.label, self.saved = label, saved

    def call(self, inputs):
        return inputs * (2 if self.label is None else len(self.label))

    def get_config(self):
        return dict(super().get_config(), label=self.saved or self.label)


class WithPath(Model):
    """A model of a graph with an attribute on which its methods depend."""

    def get_config(self):
        return dict(super().get_config(), path=getattr(self, ATTRIBUTE))


class WithLabel(Model):

    @property
    def label(self):
        return 'at ' + getattr(self, ATTRIBUTE)


# The models


def chain(*middle, **arguments):
    """A model of two dense layers with others between them."""
    end = arguments.pop('end', None) or layers.Dense(2, name='last')
    cls = arguments.pop('cls', Model)
    x = y = layers.Input((3,), name='x')
    for layer in (layers.Dense(3, name='first'),) + middle + (end,):
        y = layer(y)
    return cls(inputs=x, outputs=y, name=arguments.get('name', 'chain'))


def own(**arguments):
    return chain(Own(name='own', **arguments))


def masked(middle=KeepMask, value=0.):
    x = layers.Input((4, 3), name='x')
    y = middle(name='middle')(layers.Masking(value, name='masking')(x))
    return Model(x, layers.SimpleRNN(2, name='rnn')(y), name='masked')


def mask_output(middle=KeepMask):
    x = layers.Input((4, 3), name='x')
    y = middle(name='middle')(layers.Masking(name='masking')(x))
    return Model(x, y, name='masked')


class Ignores(layers.Layer):

    def call(self, inputs, options=None):
        return 2 * inputs


def called_with(value):
    x = layers.Input((3,), name='x')
    return Model(x, Ignores(name='ignores')(x, options=value), name='called')


def shared(again=False):
    x = layers.Input((3,), name='x')
    first = layers.Dense(3, name='shared')
    second = layers.Dense(3, name='again') if again else first
    return Model(x, layers.Add(name='add')([first(x), second(x)]), name='model')


def nested_twice(again=False):
    def make():
        x = layers.Input((3,), name='inner_x')
        return Model(x, layers.Dense(3, name='dense')(x), name='inner')
    a, b = (layers.Input((3,), name=name) for name in 'ab')
    first = make()
    second = make() if again else first
    if again:
        rename(second, 'inner_again')
    return Model([a, b], layers.Subtract(name='minus')([first(a), second(b)]),
                 name='model')


def shared_with_nested(again=False):
    x = layers.Input((3,), name='inner_x')
    dense = layers.Dense(3, name='dense')
    inner = Model(x, dense(x), name='inner')
    outer = layers.Dense(3, name='dense') if again else dense
    x = layers.Input((3,), name='x')
    return Model(x, layers.Add(name='add')([inner(x), outer(x)]), name='model')


def tied(tie=True):
    first = Tied(3, name='first')
    x = layers.Input((3,), name='x')
    y = Tied(3, first if tie else None, name='second')(first(x))
    return Model(x, y, name='tied')


def two_ways(inputs=False, outputs=False):
    x = layers.Input((3,), name='x')
    a, b = layers.Dense(2, name='a')(x), layers.Dense(2, name='b')(x)
    y = layers.Subtract(name='minus')([b, a] if inputs else [a, b])
    return Model(x, [y, a] if outputs else [a, y], name='model')


def wrapped(trainable=True):
    x = layers.Input((4, 3), name='x')
    rnn = layers.SimpleRNN(2, name='rnn')
    both = layers.Bidirectional(rnn, name='both')
    model = Model(x, both(x), name='model')
    if not trainable:
        both.forward_layer.trainable = False
    return model


def of_path(cls=WithPath, path='a'):
    model = chain(cls=cls)
    if path:
        setattr(model, ATTRIBUTE, path)
    return model


def of_words(words=('one', 'two')):
    model = chain(Words(name='words'))
    model.get_layer('words').words = list(words)
    return model


def compiled(loss='mse', rate=.1, **arguments):
    model = chain()
    model.compile(keras.optimizers.SGD(rate, name='sgd'), loss, **arguments)
    return model


def rename(layer, name):
    if IS_KERAS2:
        layer.name = name
    else:
        layer._name = name


def holding(value):
    """A model whose last layer but one holds a value, in a closure."""
    return chain(layers.Lambda(lambda x: x + 0. * first_of(value), name='holds',
                               output_shape=(3,)))


def first_of(value):
    return ops.sum(value[0] if isinstance(value, (list, tuple)) else value)


def computing_from(variable):
    return chain(layers.Lambda(lambda x: x + ops.sum(variable), name='holds',
                               output_shape=(3,)))


# The ways in which clones are wrong


def again(build, change=None, **arguments):
    """A case: the model built again with one change.

    # Arguments
        build: function that builds a model.
        change: function of the second model and the first one, or none.
        arguments: those of `build` for the second model.
    """
    def clone(model):
        made = build(**arguments)
        if change:
            change(made, model)
        return made
    return build, clone


def after(build, change):
    """A case: the second model is right, but making it changed the first one."""
    def clone(model):
        change(model)
        return build()
    return build, clone


def second_time(build, change):
    """A case: the clone is right, and its clone is not."""
    def clone(model):
        made = build()
        if hasattr(model, 'is_clone'):
            made = change(made, model)
        made.is_clone = True
        return made
    return build, clone


def layer(name):
    """Returns a function of a model that returns a layer."""
    return lambda model: model.get_layer(name)


def set_in(name, **values):
    """Returns a change: sets attributes of a layer of the second model."""
    def change(made, model):
        for key, value in values.items():
            setattr(made.get_layer(name), key, value)
    return change


def hold(part, holder):
    """Returns a change: a layer holds a part of the first model."""
    def change(made, model):
        vars(made.get_layer('own'))['kept'] = holder(part(model))
    return change


def crash(*ignored):
    raise TypeError('no')


def copy_weights(made, model):
    made.set_weights(model.get_weights())


def call_again(made, model=None):
    made.get_layer('last')(layers.Input((3,)))


def register(model):
    keras.utils.get_custom_objects()['Own'] = Own


def with_original_layer(model):
    return chain(model.get_layer('tanh'))


def with_variable_of(get):
    return lambda model: computing_from(get(model))


def twice_as_large(model):
    model.set_weights([2 * each for each in model.get_weights()])


def tensor_of_original(model):
    x = layers.Input((3,), name='x')
    y = layers.Dense(3, name='first')(x)
    base = model.get_layer('first').output
    z = layers.Add(name='add')([y, base])
    return Model(x, layers.Dense(2, name='last')(z), name='model')


def tensor_of_its_own():
    x = layers.Input((3,), name='x')
    y = layers.Dense(3, name='first')(x)
    z = layers.Add(name='add')([y, y])
    return Model(x, layers.Dense(2, name='last')(z), name='model')


def iterator_over(value):
    return iter([value])


def array_of(value):
    array = np.empty(1, dtype=object)
    array[0] = value
    return array


def generator_of(value):
    def generate():
        yield value
        yield value
    generator = generate()
    next(generator)
    return generator


OPTIONS = []


def called_with_a_list():
    OPTIONS[:] = [{'of': [1, 2]}]
    return called_with(OPTIONS[0])


VARIABLE = []


def global_variable():
    """A layer computes from a variable that a global name stands for."""
    VARIABLE[:] = [new_variable(np.ones(3, 'float32'))]
    return chain(layers.Lambda(lambda x: x * VARIABLE[0], name='holds',
                               output_shape=(3,)))


def kernels():
    """Returns what no search of the layers can find: a module has it."""
    return getattr(sys.modules[__name__], '_'.join(['KERNELS', 'OF', 'ALL']))


KERNELS_OF_ALL = []


class FromModule(layers.Layer):

    def __init__(self, number, **kwargs):
        super().__init__(**kwargs)
        self.number = number

    def call(self, inputs):
        return inputs + ops.sum(kernels()[self.number])


def from_module(number=None):
    x = layers.Input((3,), name='x')
    dense = layers.Dense(3, name='first')
    y = dense(x)
    kernels().append(dense.kernel)
    number = len(kernels()) - 1 if number is None else number
    return Model(x, FromModule(number, name='last')(y), name='model')


def l2_model(**arguments):
    return chain(end=layers.Dense(2, name='last', **arguments))


def with_layer(cls):
    """Returns a function that builds a model with a layer between the others."""
    return lambda **arguments: chain(cls(name='middle', **arguments))


def no_kernel():
    return chain(layers.Activation('tanh', name='tanh'))


own_or_other = with_layer(lambda name, rate=.5: HiddenDropout(rate, name=name))
renamed = with_layer(Renamed)
dropout = with_layer(lambda name, rate=.5: layers.Dropout(rate, name=name))
activation = with_layer(lambda name, of='tanh': layers.Activation(of, name=name))
normalized = with_layer(layers.BatchNormalization)
kernel_of_first = lambda model: model.get_layer('first').kernel     # noqa: E731

CASES = {
    # Not the same function.
    'mask is not passed on': again(masked, middle=Stops),
    'mask is added': (lambda: masked(Stops), lambda model: masked()),
    'mask is lost at the output': again(mask_output, middle=Stops),
    'mask has other values': again(masked, value=1.),
    'number that no config has is lost': again(own, times=3.),
    'number that matters in training is lost': again(own, when_trained=3.),
    'rate that no config has is lost': again(own_or_other, rate=.9),
    'rate is lost': again(dropout, rate=.1),
    'activation is another one': again(activation, of='relu'),
    'gradient is stopped': again(own, stops=True),
    'update is lost': (lambda: own(decay=3.), lambda model: own()),
    'update is another one': (lambda: own(decay=3.), lambda model: own(decay=2.)),
    'momentum is lost': again(normalized, momentum=.3),
    'outputs are swapped': again(two_ways, outputs=True),
    'inputs of a layer are swapped': again(two_ways, inputs=True),
    'regularizer is lost': (lambda: l2_model(kernel_regularizer='l2'),
                            lambda model: l2_model()),
    'regularizer of the activity is lost': (
        lambda: l2_model(activity_regularizer='l2'), lambda model: l2_model()),
    'constraint is lost': (lambda: l2_model(kernel_constraint='non_neg'),
                           lambda model: l2_model()),
    'loss is lost': (lambda: own(loss=1.), lambda model: own()),
    'loss is counted twice': (lambda: own(loss=1.), lambda model: own(loss=2.)),
    # Not made the same way.
    'cloning raises': (chain, crash),
    'clone is no model': (chain, lambda model: None),
    'clone is the original': (chain, lambda model: model),
    'layer is missing': (no_kernel, lambda model: chain()),
    'layer is added': (chain, lambda model: no_kernel()),
    'layer is of another class': again(
        no_kernel, lambda made, model: setattr(
            made.get_layer('tanh'), '__class__', type('Activation', (
                layers.Activation,), {}))),
    'layer has another name': (
        no_kernel, lambda model: chain(layers.Activation('tanh', name='other'))),
    'model has another name': again(chain, name='other'),
    'flag is lost': again(chain, set_in('first', trainable=False)),
    'flag of an inner layer is lost': again(wrapped, trainable=False),
    'flag of a weight is lost': again(own, scale_is_trained=False),
    'flag for states is lost': again(stateful, is_stateful=False),
    'initializer is another one': (
        lambda: l2_model(kernel_initializer='zeros'), lambda model: l2_model()),
    'weights are not drawn anew': again(chain, copy_weights),
    'weights are in another order': again(own, swapped=True),
    'weight has another name': again(own, shift='other'),
    'weight is missing': again(l2_model, use_bias=False),
    # Not the same graph.
    'layer is not shared any more': again(shared, again=True),
    'nested model is not shared any more': again(nested_twice, again=True),
    'layer is not shared with a nested model': again(shared_with_nested,
                                                     again=True),
    'layer is shared that was not': (lambda: shared_with_nested(True),
                                     lambda model: shared_with_nested()),
    'weight is not tied any more': again(tied, tie=False),
    'argument of a call is another one': again(powers, second=4),
    'argument of a call is lost': (lambda: called_with(1),
                                   lambda model: called_with(None)),
    'array among the arguments is another one': (
        lambda: called_with(np.ones(2)), lambda model: called_with(np.zeros(2))),
    'calls are in another order': again(powers, swap=True),
    'layer is called once more': again(chain, call_again),
    # Something is shared.
    'layer is that of the original': (no_kernel, with_original_layer),
    'variable in a closure is that of the original': (
        lambda: computing_from(new_variable(np.ones(3, 'float32'))),
        lambda model: computing_from(
            model.get_layer('holds').function.__closure__[0].cell_contents)),
    'variable in a closure without effect is that of the original': (
        lambda: holding([new_variable(np.ones(3, 'float32'))]),
        lambda model: holding(kernel_of_first(model))),
    'tensor is that of the original': (tensor_of_its_own, tensor_of_original),
    'variable that nothing leads to is that of the original': (
        from_module, lambda model: from_module(model.get_layer('last').number)),
    'layer in an iterator is that of the original': again(own, hold(
        layer('own'), iterator_over)),
    'variable in an array is that of the original': again(own, hold(
        kernel_of_first, array_of)),
    'layer in a generator is that of the original': again(own, hold(
        layer('own'), generator_of)),
    'layer behind a weak reference is that of the original': again(own, hold(
        layer('own'), weakref.ref)),
    'layer behind a proxy is that of the original': again(own, hold(
        layer('own'), weakref.proxy)),
    'layer as a key is that of the original': again(own, hold(
        layer('own'), lambda each: {each: 1})),
    'method of a layer is that of the original': again(own, hold(
        layer('own'), lambda each: each.call)),
    'layer in a chain of iterators is that of the original': again(own, hold(
        layer('own'), lambda each: itertools.chain([1], [each]))),
    # The original is changed.
    'weights of the original are changed': after(chain, twice_as_large),
    'name of a layer of the original is changed': after(
        chain, lambda model: rename(model.get_layer('first'), 'other')),
    'attribute of the original is changed': after(
        own, lambda model: setattr(model.get_layer('own'), 'times', 7.)),
    'layer of the original is called': after(chain, call_again),
    'class is registered': after(own, register),
    # What users ask a model for.
    'attribute is lost that get_config reads': again(of_path, path=None),
    'attribute is another one that get_config reads': again(of_path, path='b'),
    'attribute is lost that a property reads': (
        lambda: of_path(WithLabel), lambda model: of_path(WithLabel, None)),
    'vocabulary is lost': again(of_words, words=[]),
    'clone cannot be saved': (
        l2_model, lambda model: chain(end=Unsavable(2, name='last'))),
    'clone is another model when loaded': (
        lambda: renamed(label='abc'),
        lambda model: renamed(label='abc', saved='d')),
    # It can be cloned only once.
    'clone cannot be cloned': second_time(chain, crash),
    "clone's clone has a layer of the clone": second_time(
        no_kernel, lambda made, model: with_original_layer(model)),
    "clone's clone has lost a number": second_time(
        own, lambda made, model: own(times=3.)),
    "clone's clone has changed the clone": second_time(
        chain, lambda made, model: twice_as_large(model) or made),
}

if IS_KERAS2:   # Keras 3 copies the arguments.
    CASES['arguments of a call are those of the original'] = (
        called_with_a_list, lambda model: called_with(OPTIONS[0]))

if IS_TENSORFLOW1:
    CASES.update({
        'op is added': again(no_kernel, lambda made, model: ops.tanh(
            made.get_layer('first').output)),
        'states are those of the original': again(
            stateful, lambda made, model: setattr(
                made.get_layer('lstm'), 'states', model.get_layer('lstm').states)),
    })

if not IS_KERAS2:
    def policy_model(dtype='float32'):
        return chain(end=layers.Dense(2, name='last', dtype=dtype))

    def quantized(mode='int8'):
        model = chain()
        if mode:
            model.get_layer('first').quantize(mode)
        return model

    def lora(rank=2):
        model = chain()
        if rank:
            model.get_layer('first').enable_lora(rank)
        return model

    CASES.update({
        'policy is lost': again(policy_model, dtype='mixed_float16'),
        'seeds are those of the original': again(
            dropout, lambda made, model: setattr(
                made.get_layer('middle'), 'seed_generator',
                model.get_layer('middle').seed_generator)),
        'quantization is lost': again(quantized, mode=None),
        'matrices of LoRA are lost': again(lora, rank=None),
        'being compiled is lost': (compiled, lambda model: chain()),
        'loss compiled with is another one': again(compiled, loss='mae'),
        'setting of the loss is lost': (
            lambda: compiled(keras.losses.Huber(.5)),
            lambda model: compiled(keras.losses.Huber(.7))),
        'learning rate is lost': again(compiled, rate=.2),
        'metric is lost': (lambda: compiled(metrics=['mae']),
                           lambda model: compiled()),
    })


@pytest.fixture(autouse=True)
def clean_registry():
    before = dict(keras.utils.get_custom_objects())
    yield
    keras.utils.get_custom_objects().clear()
    keras.utils.get_custom_objects().update(before)


# On Keras 2, only TensorFlow tells which random numbers it draws, and computes
# gradients without compiling them for long.
NEEDS_TENSORFLOW = {'gradient is stopped', 'rate that no config has is lost'}
HAS_ALL = not IS_KERAS2 or keras.backend.backend() == 'tensorflow'


@pytest.mark.parametrize('name', [
    name for name in CASES if HAS_ALL or name not in NEEDS_TENSORFLOW])
def test_bad_clone_is_found(name):
    build, clone = CASES[name]
    report = check_clone(build, clone)
    assert not report.faithful


def built_again(build):
    if IS_KERAS2:
        return build()
    with graphs.fresh_state(12345):     # Operations have names with running numbers.
        return build()


BUILDERS = {build: name for name, (build, _) in CASES.items()}


@pytest.mark.parametrize('build', BUILDERS, ids=BUILDERS.values())
def test_guard_the_same_model_built_again_is_faithful(build):
    report = check_clone(build, lambda model: built_again(build))
    assert list(map(str, report.differences)) == []
