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

from custom_objects import Times
from judging import Ignores, Own, chain, stateful, tied
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
    def get_config(self):
        return {'name': self.name}


class Stops(KeepMask):
    def compute_mask(self, inputs, mask=None):
        return None


class Words(Times):
    """Has a vocabulary that no config, weight or output depends on."""
    words = ['one', 'two']

    def get_vocabulary(self):
        return self.words


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
    def get_config(self):
        return dict(super().get_config(), path=getattr(self, ATTRIBUTE))


class WithLabel(Model):

    @property
    def label(self):
        return 'at ' + getattr(self, ATTRIBUTE)


# The models

def own(**arguments):
    return chain(Own(name='own', **arguments))


def mask_output(middle=KeepMask):
    x = layers.Input((4, 3), name='x')
    y = middle(name='middle')(layers.Masking(name='masking')(x))
    return Model(x, y, name='masked')


def called_with(value=None):
    x = layers.Input((3,), name='x')
    return Model(x, Ignores(name='ignores')(x, options=value), name='called')


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


def rename(model, name):
    setattr(model, 'name' if IS_KERAS2 else '_name', name)


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


def lost(build, **arguments):
    """A case: the second model is built without the arguments of the first one."""
    return lambda: build(**arguments), lambda model: build()


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


def once_more(build, change):
    """A case: the clone is right, and a second one of the same model is not."""
    first_clones = {}

    def clone(model):
        made = build()
        # The model is kept alive: no id may be used twice.
        _, first = first_clones.setdefault(id(model), (model, made))
        return made if first is made else change(made, first)
    return build, clone


def layer(name):
    """Returns a function of a model that returns a layer."""
    return lambda model: model.get_layer(name)


def hold(part, holder):
    """Returns a change: a layer holds a part of the first model."""
    def change(made, model):
        vars(made.get_layer('own'))['kept'] = holder(part(model))
    return change


hold_layer = hold(layer('own'), lambda each: [each])


def copy_weights(made, model):
    made.set_weights(model.get_weights())


def call_again(made, model=None):
    made.get_layer('last')(layers.Input((3,)))


def twice_as_large(model):
    model.set_weights([2 * each for each in model.get_weights()])


def adding_a_tensor(model=None):
    """A model that adds a tensor of its own, or that of another model."""
    x = layers.Input((3,), name='x')
    y = layers.Dense(3, name='first')(x)
    added = model.get_layer('first').output if model else y
    z = layers.Add(name='add')([y, added])
    return Model(x, layers.Dense(2, name='last')(z), name='model')


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


def dense_at_the_end(**arguments):
    return chain(end=layers.Dense(2, name='last', **arguments))


def with_layer(cls):
    """Returns a function that builds a model with a layer between the others."""
    return lambda **arguments: chain(cls(name='middle', **arguments))


own_or_other = with_layer(lambda name, rate=.5: HiddenDropout(rate, name=name))
renamed = with_layer(Renamed)
dropout = with_layer(lambda name, rate=.5: layers.Dropout(rate, name=name))
normalized = with_layer(layers.BatchNormalization)
kernel_of_first = lambda model: model.get_layer('first').kernel     # noqa: E731

CASES = {
    # Not the same function.
    'mask is lost at the output': again(mask_output, middle=Stops),
    'number that no config has is lost': again(own, times=3.),
    'rate that no config has is lost': again(own_or_other, rate=.9),
    'update is lost': lost(own, decay=3.),
    'momentum is lost': again(normalized, momentum=.3),
    'regularizer of the activity is lost': lost(
        dense_at_the_end, activity_regularizer='l2'),
    'constraint is lost': lost(dense_at_the_end, kernel_constraint='non_neg'),
    'loss is lost': lost(own, loss=1.),
    # Not made the same way.
    'clone is the original': (chain, lambda model: model),
    'flag of an inner layer is lost': again(wrapped, trainable=False),
    'flag of a weight is lost': again(own, scale_is_trained=False),
    'flag for states is lost': again(stateful, is_stateful=False),
    'initializer is another one': lost(dense_at_the_end, kernel_initializer='zeros'),
    'weights are not drawn anew': again(chain, copy_weights),
    'weights are in another order': again(own, swapped=True),
    'weight has another name': again(own, shift='other'),
    # Not the same graph.
    'nested model is not shared any more': again(nested_twice, again=True),
    'weight is not tied any more': again(tied, tie=False),
    'argument of a call is lost': lost(called_with, value=1),
    'array among the arguments is another one': (
        lambda: called_with(np.ones(2)), lambda model: called_with(np.zeros(2))),
    'layer is called once more': again(chain, call_again),
    # Something is shared.
    'variable in a closure is that of the original': (
        lambda: computing_from(new_variable(np.ones(3, 'float32'))),
        lambda model: computing_from(
            model.get_layer('holds').function.__closure__[0].cell_contents)),
    'variable in a closure without effect is that of the original': (
        lambda: holding([new_variable(np.ones(3, 'float32'))]),
        lambda model: holding(kernel_of_first(model))),
    'tensor is that of the original': (adding_a_tensor, adding_a_tensor),
    'variable that nothing leads to is that of the original': (
        from_module, lambda model: from_module(model.get_layer('last').number)),
    **{f'{what} is that of the original': again(own, hold(part, holder))
       for what, part, holder in [
           ('layer in an iterator', layer('own'), lambda each: iter([each])),
           ('variable in an array', kernel_of_first, array_of),
           ('layer in a generator', layer('own'), generator_of),
           ('layer behind a weak reference', layer('own'), weakref.ref),
           ('layer behind a proxy', layer('own'), weakref.proxy),
           ('layer as a key', layer('own'), lambda each: {each: 1}),
           ('method of a layer', layer('own'), lambda each: each.call),
           ('layer in a chain of iterators', layer('own'),
            lambda each: itertools.chain([1], [each]))]},
    # The original is changed.
    'weights of the original are changed': after(chain, twice_as_large),
    'attribute of the original is changed': after(
        own, lambda model: setattr(model.get_layer('own'), 'times', 7.)),
    # What users ask a model for.
    'attribute is lost that get_config reads': again(of_path, path=None),
    'attribute is another one that get_config reads': again(of_path, path='b'),
    'attribute is lost that a property reads': (
        lambda: of_path(WithLabel), lambda model: of_path(WithLabel, None)),
    'vocabulary is lost': again(of_words, words=[]),
    'clone is another model when loaded': (
        lambda: renamed(label='abc'),
        lambda model: renamed(label='abc', saved='d')),
    # It can be cloned only once.
    'second clone has lost a number': once_more(
        own, lambda made, first: own(times=3.)),
    'second clone holds a layer of the first one': once_more(
        own, lambda made, first: hold_layer(made, first) or made),
    'second clone changes the weights of the first one': once_more(
        chain, lambda made, first: twice_as_large(first) or made),
    "clone's clone has lost a number": second_time(
        own, lambda made, model: own(times=3.)),
    "clone's clone has changed the clone": second_time(
        chain, lambda made, model: twice_as_large(model) or made),
}

if IS_TENSORFLOW1:
    CASES['states are those of the original'] = again(
        stateful, lambda made, model: setattr(
            made.get_layer('rnn'), 'states', model.get_layer('rnn').states))

if not IS_KERAS2:
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

    def in_scope(name='scope'):
        with keras.name_scope(name):
            return chain()

    CASES.update({
        'path of a weight is another one': again(in_scope, name='other'),
        'policy is another one': again(dense_at_the_end, dtype='mixed_float16'),
        'seeds are those of the original': again(
            dropout, lambda made, model: setattr(
                made.get_layer('middle'), 'seed_generator',
                model.get_layer('middle').seed_generator)),
        'quantization is lost': again(quantized, mode=None),
        'matrices of LoRA are lost': again(lora, rank=None),
        'being compiled is lost': (compiled, lambda model: chain()),
        'metric is lost': lost(compiled, metrics=['mae']),
    })


# On Keras 2, only TensorFlow 1 tells which random numbers it draws.
HAS_ALL = not IS_KERAS2 or IS_TENSORFLOW1


@pytest.mark.parametrize('name', [
    name for name in CASES if HAS_ALL or name != 'rate that no config has is lost'])
def test_bad_clone_is_found(name):
    build, clone = CASES[name]
    report = check_clone(build, clone, exact_ops=True)
    assert not report.faithful


def built_again(build):
    if IS_KERAS2:
        return build()
    with graphs.fresh_state(12345):     # Operations have names with running numbers.
        return build()


BUILDERS = {build: name for name, (build, _) in CASES.items()}


@pytest.mark.parametrize('build', BUILDERS, ids=BUILDERS.values())
def test_guard_the_same_model_built_again_is_faithful(build):
    report = check_clone(build, lambda model: built_again(build), exact_ops=True)
    assert list(map(str, report.differences)) == []
