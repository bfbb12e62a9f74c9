"""The pictures of models and their clones in the docs, drawn from real models.

Draws the files in docs/pictures/ that show the installed release of Keras: 2.2.4
crashes, 2.3.1 loses masks. A test compares the files with the real models.
"""
import collections
import os
import subprocess
import sys
import tempfile

import click
import keras_clone
from keras import backend, models
from keras_clone.check import drawing, faithfulness, gallery
from keras_clone.check.difference import CRASH
from keras_clone.check.graphs import graphs
from keras_clone.check.outline import outline, outlines

from evidence import pages
from evidence.records import ROOT

FILE = 'docs/pictures/{}.svg'

# A picture: the name of its file, the release of Keras, a model of the gallery, its
# title. If there is no title, the model is one of `MY_MODELS`, and the picture is
# what `keras-clone check --svg` writes.
Picture = collections.namedtuple('Picture', 'name keras model title')
PICTURES = (
    Picture('crash', '2.2.4', 'lambda_with_two_outputs', 'The model of issue 12202'),
    Picture('bidirectional', '2.3.1', 'masked_bidirectional',
            'A masked Bidirectional'),
    Picture('nested', '2.3.1', 'nested_model_with_mask',
            'A nested model that returns a mask'),
    Picture('check-keras2', '2.2.4', 'lambda_with_mask', None),
    Picture('check-keras3', '3.15.1', 'shared_dense', None),
)

# The models of the pictures that the command writes.
MY_MODELS = '''
from keras.layers import Dense, Input
from keras.models import Model
from keras_clone.check.gallery import lambda_with_mask


def shared_dense():
    dense = Dense(4)
    inner = Input((4,))
    nested = Model(inner, dense(inner))
    x = Input((4,))
    return Model(x, dense(nested(x)))
'''


def drawn():
    """Draws the pictures of the installed release of Keras.

    # Returns
        A dict from names of files to SVGs. It is empty on other backends than that
        of the files: they contain sizes of differences, and so random numbers.
    """
    is_keras_2 = keras_clone.keras_release().startswith('2.')
    backend = 'TensorFlow 1' if is_keras_2 else 'TensorFlow 2'
    if _backend() != backend:
        return {}
    return {FILE.format(picture.name):
            _draw(picture) if picture.title else _written_by_check(picture.model)
            for picture in PICTURES if picture.keras == keras_clone.keras_release()}


def _backend():
    name = backend.backend()
    if name != 'tensorflow':
        return name
    import tensorflow
    return 'TensorFlow ' + tensorflow.__version__[0]


def _draw(picture):
    build = getattr(gallery, picture.model)
    released = keras_clone.released('keras.models').clone_model
    clones = [_clone(build, released, f'Keras {picture.keras}, as released'),
              _clone(build, models.clone_model, 'With the overlay')]
    with graphs.fresh_state():
        return drawing.draw(picture.title, outline(build()), clones)


def _clone(build, clone_model, heading):
    report = faithfulness.check_clone(build, clone_model, exact_ops=True)
    if report.outcome == CRASH:
        # Without the reason: README.md shows the message above the picture.
        return drawing.Clone(heading, _incomplete(build, clone_model),
                             report.outcome, report.layer, '')
    found = outlines(build, clone_model, report.outcome)['clone']
    return drawing.Clone(heading, found, *report[:3])


def _incomplete(build, clone_model):
    """Returns the outline of a model with only those tensors that can be cloned: a
    model that ends there can be cloned."""
    with graphs.fresh_state():
        model = build()
        calls = outline(model)
        made = [[_can_be_cloned(models.Model(model.inputs, x), clone_model)
                 for x in node.output_tensors]
                for node in graphs.ordered_nodes(model)]
    return [dict(call, made=any(made[i]), inputs=[
        each for each in call['inputs'] if made[each['of']][each['output']]])
            for i, call in enumerate(calls)]


def _can_be_cloned(model, clone_model):
    try:
        clone_model(model)
    except AssertionError:
        return False
    return True


def _written_by_check(model):
    """Returns what `keras-clone check` draws of one of `MY_MODELS`."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, 'my_models.py'), 'w') as file:
            file.write(MY_MODELS)
        path = os.path.join(folder, 'picture.svg')
        process = subprocess.run(
            [sys.executable, '-m', 'keras_clone', 'check', f'my_models:{model}',
             '--svg', path], cwd=folder, env=dict(os.environ, PYTHONPATH=ROOT),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        if not os.path.exists(path):
            raise click.ClickException(process.stderr)
        with open(path, encoding='utf-8') as file:
            return file.read()


command = click.Group(help=__doc__)


@command.command()
def record():
    """Draw and write the pictures of the installed release of Keras."""
    for name, text in drawn().items():
        pages.write(name, text)
        click.echo(name)
