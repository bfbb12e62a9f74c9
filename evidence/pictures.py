"""The pictures of models and their clones in the docs, drawn from real models.

Draws the files in docs/pictures/ that show the installed release of Keras: 2.2.4
crashes, 2.3.1 loses masks. A test compares the files with the real models.
"""
import collections

import click
import drawsvg
import keras_clone
from keras import models
from keras.engine.network import Network
from keras_clone.check import faithfulness, gallery
from keras_clone.check.difference import FAITHFUL
from keras_clone.check.graphs import graphs

from evidence import pages

FILE = 'docs/pictures/{}.svg'

# A picture: the name of its file, the release of Keras, the model, the title.
Picture = collections.namedtuple('Picture', 'name keras build title')
PICTURES = (
    Picture('crash', '2.2.4', gallery.lambda_with_two_outputs,
            'The model of issue 12202 and its clones'),
    Picture('bidirectional', '2.3.1', gallery.masked_bidirectional,
            'A masked Bidirectional and its clones'),
    Picture('nested', '2.3.1', gallery.nested_model_with_mask,
            'A nested model that returns a mask, and its clones'),
)

# A layer: its texts, its row, whether the clone has it.
Box = collections.namedtuple('Box', 'name text row made')
# A tensor from one box to another; `tensor` and `mask` are `yes`, `no` or `lost`.
Edge = collections.namedtuple('Edge', 'start end tensor mask')
Graph = collections.namedtuple('Graph', 'heading boxes edges note')

WIDTH, HEIGHT, GAP, MARGIN = 176, 44, 46, 20
HEAD = 54           # height above the graphs
FOOT = 50           # height below the graphs
GOOD = '', FAITHFUL
LANES = 22          # distance between two tensors that connect the same layers

STYLE = """
.picture { --ink: #1f2328; --quiet: #57606a; --box: #f6f8fa; --mask: #0550ae;
  --lost: #b3152b; --paper: #ffffff; font: 13px system-ui, sans-serif; }
@media (prefers-color-scheme: dark) { .picture { --ink: #e6edf3; --quiet: #9ea7b3;
  --box: #21262d; --mask: #79c0ff; --lost: #ff938a; --paper: #131416; } }
[data-theme=light] .picture { --ink: #1f2328; --quiet: #57606a; --box: #f6f8fa;
  --mask: #0550ae; --lost: #b3152b; --paper: #ffffff; }
[data-theme=dark] .picture { --ink: #e6edf3; --quiet: #9ea7b3; --box: #21262d;
  --mask: #79c0ff; --lost: #ff938a; --paper: #131416; }
.picture .paper { fill: var(--paper); }
.picture text { fill: var(--ink); }
.picture .quiet { fill: var(--quiet); }
.picture .mask-text { fill: var(--mask); }
.picture .lost-text { fill: var(--lost); font-weight: 600; }
.picture .box { fill: var(--box); stroke: var(--quiet); }
.picture .tensor { stroke: var(--ink); stroke-width: 1.5; fill: none; }
.picture .mask { stroke: var(--mask); stroke-width: 5; fill: none; }
.picture .lost { stroke: var(--lost); stroke-width: 2; fill: none;
  stroke-dasharray: 4 4; }
.picture .cross { stroke: var(--lost); stroke-width: 2.5; fill: none; }
"""


# What is drawn


def graphs_of(picture):
    """Builds the model of a picture and clones it.

    # Returns
        A list of `Graph`s: the model, its clone by the released function, its clone
        by the overlay.
    """
    released = keras_clone.released('keras.models').clone_model
    with graphs.fresh_state():
        model = graph_of(picture.build(), 'The model')
    return [model,
            _clone(picture, released, f'Keras {picture.keras}, as released'),
            _clone(picture, models.clone_model, 'With the overlay')]


def graph_of(model, heading, made=None, like=None, note=''):
    """Reads the graph of a model from its nodes.

    # Arguments
        model: a `Model`.
        heading: the text above it.
        made: None, or the ids of the tensors that the clone has.
        like: None, or the `Graph` of the original, to find the masks that are lost.
        note: the text below it.

    # Returns
        A `Graph`.
    """
    depths = sorted(model._nodes_by_depth, reverse=True)
    boxes, edges, where = [], [], {}
    for row, depth in enumerate(depths):
        for node in model._nodes_by_depth[depth]:
            where.update((id(x), len(boxes)) for x in node.output_tensors)
            for x, mask in _inputs(node):
                state = 'yes' if made is None or id(x) in made else 'lost'
                had = like and like.edges[len(edges)].mask == 'yes'
                edges.append(Edge(where[id(x)], len(boxes), state,
                                  'yes' if mask is not None else
                                  'lost' if had else 'no'))
            boxes.append(Box(
                node.outbound_layer.name, _text(node.outbound_layer), row,
                made is None or any(id(x) in made for x in node.output_tensors)))
    return Graph(heading, boxes, edges, note)


def _inputs(node):
    """Returns pairs: an input tensor of a node, the mask that the layer got."""
    masks = (node.arguments or {}).get('mask', node.input_masks)
    masks = masks if isinstance(masks, list) else [masks]
    return list(zip(node.input_tensors, masks)) if node.inbound_layers else []


def _text(layer):
    if isinstance(layer, Network):
        inner = [type(each).__name__ for each in layer.layers[1:]]
        return 'Model of ' + ', '.join(inner)
    inner = getattr(layer, 'forward_layer', None)
    name = type(layer).__name__
    return f'{name}({type(inner).__name__})' if inner else name


def _clone(picture, clone_model, heading):
    note = faithfulness.check_clone(picture.build, clone_model).outcome
    with graphs.fresh_state():
        model = picture.build()
        original = graph_of(model, heading)
        try:
            clone = clone_model(model)
        except AssertionError as error:
            note = 'AssertionError: ' + str(error).partition(' Tensor(')[0]
            return graph_of(model, heading, made=_made(model, clone_model),
                            note=note)
        return graph_of(clone, heading, like=original, note=note)


def _made(model, clone_model):
    """Returns the ids of the tensors that the function can clone: it can clone a
    model that ends there."""
    made = set()
    for node in graphs.ordered_nodes(model):
        for x in node.output_tensors:
            try:
                clone_model(models.Model(model.inputs, x))
            except AssertionError:
                continue
            made.add(id(x))
    return made


# How it is drawn


def svg(picture, found):
    """Draws graphs side by side.

    # Returns
        Text: SVG, with a description in words for screen readers.
    """
    rows = 1 + max(box.row for graph in found for box in graph.boxes)
    width = len(found) * (WIDTH + 2 * MARGIN) + 2 * MARGIN
    height = HEAD + rows * (HEIGHT + GAP) - GAP + FOOT
    name = picture.name
    drawing = drawsvg.Drawing(
        width, height, id_prefix=name, class_='picture', role='img',
        aria_labelledby=f'{name}-title {name}-words')
    drawing.append(drawsvg.Raw(f'<title id="{name}-title">{picture.title}</title>'))
    drawing.append(drawsvg.Raw(f'<desc id="{name}-words">{words(found)}</desc>'))
    drawing.append_css(STYLE)
    drawing.append(drawsvg.Rectangle(0, 0, width, height, class_='paper'))
    for i, graph in enumerate(found):
        left = 2 * MARGIN + i * (WIDTH + 2 * MARGIN)
        _draw(drawing, graph, left)
        drawing.append(_label(
            graph.note, left + WIDTH / 2, height - FOOT / 2 + 6,
            class_='quiet' if graph.note in GOOD else 'lost-text'))
    return drawing.as_svg(header='') + '\n'


def _draw(drawing, graph, left):
    drawing.append(_label(graph.heading, left + WIDTH / 2, 24, font_weight=600))
    for i, edge in enumerate(graph.edges):
        twins = [j for j, each in enumerate(graph.edges)
                 if each[:2] == edge[:2]]
        lane = (twins.index(i) - (len(twins) - 1) / 2) * LANES
        _draw_edge(drawing, edge, left + WIDTH / 2 + lane,
                   _top(graph.boxes[edge.start]) + HEIGHT,
                   _top(graph.boxes[edge.end]))
    for box in graph.boxes:
        _draw_box(drawing, box, left)


def _top(box):
    return HEAD + box.row * (HEIGHT + GAP)


def _draw_box(drawing, box, left):
    top = _top(box)
    drawing.append(drawsvg.Rectangle(
        left, top, WIDTH, HEIGHT, rx=6, class_='box' if box.made else 'lost'))
    drawing.append(_label(box.text, left + WIDTH / 2, top + 19))
    drawing.append(_label(box.name if box.made else 'never made',
                          left + WIDTH / 2, top + 35, size=11,
                          class_='quiet' if box.made else 'lost-text'))


def _draw_edge(drawing, edge, x, top, bottom):
    if edge.mask == 'yes':
        drawing.append(drawsvg.Line(x + 6, top, x + 6, bottom, class_='mask'))
    if edge.mask == 'lost':
        drawing.append(drawsvg.Line(x + 6, top, x + 6, bottom, class_='lost'))
    drawing.append(drawsvg.Line(
        x, top, x, bottom, class_='lost' if edge.tensor == 'lost' else 'tensor'))
    middle = (top + bottom) / 2
    if 'lost' in (edge.mask, edge.tensor):
        cross = x + 6 if edge.mask == 'lost' else x
        for rise in (6, -6):
            drawing.append(drawsvg.Lines(cross - 6, middle - rise, cross + 6,
                                         middle + rise, class_='cross'))
    text, style = ('output lost', 'lost-text') if edge.tensor == 'lost' else {
        'yes': ('mask', 'mask-text'), 'lost': ('mask lost', 'lost-text'),
        'no': ('', 'quiet')}[edge.mask]
    if text:
        drawing.append(_label(text, x + 18, middle + 4, class_=style,
                              text_anchor='start'))


def _label(text, x, y, size=13, **attributes):
    attributes.setdefault('text_anchor', 'middle')
    return drawsvg.Text(text, size, x, y, **attributes)


def words(found):
    """Returns what the graphs show, in words."""
    return ' '.join(_sentence(graph) for graph in found)


def _sentence(graph):
    texts = ['{} to {}{}'.format(
        graph.boxes[edge.start].text, graph.boxes[edge.end].text,
        {'yes': ', with its mask', 'lost': ', without the mask'}.get(edge.mask, '')
        if edge.tensor == 'yes' else ': the output is lost')
        for edge in graph.edges]
    note = f' {graph.note}.' if graph.note else ''
    return f"{graph.heading}: {'; '.join(texts)}.{note}"


def drawn():
    """Draws the pictures of the installed release of Keras.

    # Returns
        A dict from names of files to SVGs. It is empty on backends other than
        TensorFlow.
    """
    if graphs.backend_name() != 'tensorflow':
        return {}
    return {FILE.format(picture.name): svg(picture, graphs_of(picture))
            for picture in PICTURES if picture.keras == keras_clone.keras_release()}


command = click.Group(help=__doc__)


@command.command()
def record():
    """Draw and write the pictures of the installed release of Keras."""
    for name, text in drawn().items():
        pages.write(name, text)
        click.echo(name)
