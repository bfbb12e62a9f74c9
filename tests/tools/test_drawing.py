"""The pictures that `keras-clone check MODEL --svg FILE` draws."""
import json
import os
import re
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from keras_clone.check import commands, drawing
from keras_clone.check.columns import LARGEST, SURROUNDINGS, columns_of
from keras_clone.check.drawing import Clone
from keras_clone.check.layout import BOX, Layout
from running import run_process

SVG = '{http://www.w3.org/2000/svg}'

MODELS = '''
import numpy
from keras.layers import Dense, Embedding, Input, Lambda, SimpleRNN
from keras.models import Model, Sequential
def masked():
    x = Input((4,))
    return Model(x, SimpleRNN(2)(Embedding(10, 3, mask_zero=True)(x)))
def with_global_name():
    return Sequential([Dense(3, input_shape=(4,)),
                       Lambda(lambda x: x * numpy.float32(2))])
'''


def call(name, *inputs, **more):
    """Returns a call for an outline; an input is a pair (number of a call, mask)."""
    return {'name': name, 'kind': name.title(), 'call': 1, 'calls': 1,
            'shares_with': [], 'inputs': [
                {'of': i, 'output': 0, 'mask': mask} for i, mask in inputs], **more}


def chain(length):
    return [call('input')] + [call(f'dense_{i}', (i - 1, False))
                              for i in range(1, length)]


def columns(model, clone, outcome='other graph', layer='', reason=''):
    """Returns the columns of a model and its clone."""
    return columns_of('model.h5', model, [
        Clone('Released', clone, outcome, layer, reason)])


def notes(box):
    return [text for text, _ in box.notes]


MASKED = [call('input'), call('embedding', (0, False)), call('rnn', (1, True))]


# What is shown

def test_an_equal_clone_has_no_difference():
    model, clone = columns(MASKED, MASKED, 'faithful')
    assert clone.boxes == model.boxes
    assert clone.edges == model.edges
    assert clone.notes == [('\u2713 faithful', 'good')]


def test_a_lost_mask_is_shown():
    clone = MASKED[:2] + [call('rnn', (1, False))]
    model, clone = columns(MASKED, clone, 'wrong numbers', 'rnn')
    key = ('embedding', 1), 0, ('rnn', 1), 0
    assert model.edges[key] == ('present', 'present')
    assert clone.edges[key] == ('present', 'missing')
    assert notes(clone.boxes['rnn', 1]) == ['first difference']
    assert [key for key, box in clone.boxes.items() if box.first] == [('rnn', 1)]
    assert not any(box.first for box in model.boxes.values())


def test_a_mask_that_only_the_clone_has_is_a_difference_unless_it_is_faithful():
    model = MASKED[:2] + [call('rnn', (1, False))]
    key = ('embedding', 1), 0, ('rnn', 1), 0
    assert columns(model, MASKED)[1].edges[key].mask == 'added'
    assert columns(model, MASKED, 'faithful')[1].edges[key].mask == 'present'


def test_layers_and_tensors_that_only_one_of_the_models_has_are_shown():
    clone = [call('input'), call('rnn', (0, False)), call('other', (1, False))]
    _, column = columns(MASKED, clone)
    assert {name: box.state for (name, _), box in column.boxes.items()} == {
        'input': 'present', 'embedding': 'missing', 'rnn': 'present',
        'other': 'added'}
    assert {(start[0], end[0]): edge.tensor
            for (start, _, end, _), edge in column.edges.items()} == {
        ('input', 'embedding'): 'missing', ('embedding', 'rnn'): 'missing',
        ('input', 'rnn'): 'added', ('rnn', 'other'): 'added'}


def test_a_layer_that_is_only_renamed_keeps_its_place():
    clone = [call('renamed', kind='Input'), *MASKED[1:]]
    _, column = columns(MASKED, clone)
    assert notes(column.boxes['input', 1]) == ['named renamed']
    assert {edge.tensor for edge in column.edges.values()} == {'present'}


def test_several_tensors_between_two_calls_are_told_apart():
    model = [call('input'), call('add', (0, False), (0, False))]
    clone = [call('input'), call('add', (0, False))]
    assert [edge.tensor for edge in columns(model, clone)[1].edges.values()] == [
        'present', 'missing']


def test_calls_of_one_layer_are_numbered_and_lost_sharing_is_shown():
    model = [call('input'), call('dense', (0, False), calls=2),
             call('dense', (1, False), call=2, calls=2)]
    clone = [dict(each, calls=1) for each in model]
    columns_of = columns(model, clone)
    assert [notes(column.boxes['dense', 2]) for column in columns_of] == [
        ['call 2 of 2'], ['no longer shared']]
    assert [column.boxes['dense', 2].shared
            for column in columns_of] == [True, False]


def test_layers_that_share_something_name_each_other():
    model = [call('dense', shares_with=['a', 'b'])]
    clone = [call('dense', shares_with=['b', 'c'])]
    mine, its = columns(model, clone)
    assert notes(mine.boxes['dense', 1]) == ['shared with a, b']
    assert its.boxes['dense', 1].notes == [
        ('shared with b', 'quiet'), ('no longer shared with a', 'bad'),
        ('now shared with c', 'bad')]


def test_a_crash_shows_where_cloning_fails_and_nothing_as_present():
    _, column = columns(MASKED, None, 'crash', 'rnn')
    assert {box.state for box in column.boxes.values()} == {'absent'}
    assert {edge.tensor for edge in column.edges.values()} == {'absent'}
    assert notes(column.boxes['rnn', 1]) == ['cloning fails here']
    assert column.notes == [('\u2717 crash at rnn', 'bad')]


def test_a_call_that_was_never_made_is_missing_and_its_tensors_are_not():
    clone = MASKED[:2] + [dict(MASKED[2], made=False)]
    _, column = columns(MASKED, clone, 'crash')
    assert column.boxes['rnn', 1].state == 'missing'
    assert {edge.tensor for edge in column.edges.values()} == {'present'}


def test_a_difference_in_a_nested_model_is_marked_at_the_model():
    _, column = columns(MASKED, MASKED, 'other graph', 'rnn/cell/dense')
    assert notes(column.boxes['rnn', 1]) == ['first difference: cell/dense']


def test_a_difference_at_no_single_layer_is_said_above_the_clone():
    _, column = columns(MASKED, MASKED, reason='name: expected a, got b')
    assert column.notes == [('\u2717 other graph', 'bad'),
                            ('name: expected a, got b', 'quiet')]
    assert not any(box.first for box in column.boxes.values())


def test_the_layer_is_not_named_twice():
    _, column = columns(MASKED, MASKED, 'wrong numbers', 'rnn', 'rnn: outputs: 1')
    assert column.notes[1] == ('outputs: 1', 'quiet')


def test_the_clone_of_the_clone_is_named():
    assert ("Drawn: the clone's clone.", 'quiet') in columns(
        MASKED, MASKED, 'clones only once')[1].notes


def test_a_model_that_is_not_built_is_said_to_be_so():
    model, _ = columns([], [])
    assert model.notes[1][0] == 'It is not built: it has no graph yet.'
    ElementTree.fromstring(drawing.draw('a', [], [Clone('Released', [])]))


# Large models

def test_a_model_of_40_layers_is_shown_whole():
    assert 40 <= LARGEST
    assert len(columns(chain(LARGEST), chain(LARGEST))[0].boxes) == LARGEST


def test_a_larger_model_is_cut_to_what_is_around_the_difference():
    model = chain(200)
    column, _ = columns(model, model, 'wrong numbers', 'dense_100')
    places = sorted(int(name.split('_')[1]) for name, _ in column.boxes)
    assert len(places) == SURROUNDINGS
    assert places == list(range(places[0], places[0] + SURROUNDINGS))
    assert places[0] < 100 < places[-1]
    assert column.notes[1][0] == (
        f'Cut: {SURROUNDINGS} of 200 layers, those around the difference.')


def test_a_larger_model_without_a_difference_is_cut_after_its_first_layers():
    model, _ = columns(chain(200), chain(200), 'faithful')
    assert ('input', 1) in model.boxes
    assert model.notes[1][0].endswith('those at the start.')


def test_both_clones_differences_are_shown():
    model = chain(200)
    columns = columns_of('a', model, [
        Clone('Released', model, 'wrong numbers', 'dense_20'),
        Clone('This one', model, 'other graph', 'dense_150')])
    assert {('dense_20', 1), ('dense_150', 1)} <= set(columns[0].boxes)


# Where it is drawn

def test_calls_are_below_what_they_depend_on_in_whatever_order_they_are_given():
    links = [('a', 'b'), ('b', 'c'), ('a', 'c'), ('d', 'c')]
    for calls in ('abcd', 'dcba', 'cadb'):
        rows = Layout(list(calls), links).rows
        assert rows == {'a': 0, 'b': 1, 'd': 1, 'c': 2}


def test_a_circle_can_be_placed():
    layout = Layout(['a', 'b'], [('a', 'b'), ('b', 'a')])
    assert sorted(layout.rows.values()) == [0, 1]
    layout = Layout(list('abcd'), [('b', 'a'), ('b', 'c'), ('c', 'd'), ('d', 'b')])
    assert set(layout.path('b', 'a')) <= set(layout.x)


def test_nothing_overlaps():
    calls = list('abcdefgh')
    links = [('a', each) for each in 'bcdef'] + [(each, 'g') for each in 'bcdef']
    layout = Layout(calls, links + [('a', 'g'), ('g', 'h'), ('a', 'h')])
    for row in range(4):
        line = sorted((x, BOX if item in calls else 20)
                      for item, x in layout.x.items() if layout.row_of(item) == row)
        for (x, width), (other, other_width) in zip(line, line[1:]):
            assert other - x >= (width + other_width) / 2
    assert min(layout.x.values()) >= 10
    assert max(layout.x.values()) <= layout.width - 10


def test_a_chain_is_straight():
    layout = Layout(list('abcd'), [('a', 'b'), ('b', 'c'), ('c', 'd')])
    assert set(layout.x.values()) == {BOX / 2}
    assert layout.width == BOX


def test_inputs_are_drawn_in_their_order():
    links = [('a', 'c'), ('b', 'd'), ('d', 'e'), ('c', 'e')]
    layout = Layout(list('abcde'), links)
    assert layout.x['b'] == layout.x['d'] < layout.x['c'] == layout.x['a']


# SVG

def drawn(model, *clones):
    return ElementTree.fromstring(drawing.draw('<model> & more', model, clones))


def test_the_picture_is_described_in_words():
    clone = MASKED[:2] + [call('rnn', (1, False))]
    root = drawn(MASKED, Clone('Released', clone, 'wrong numbers', 'rnn'))
    title, words = root.find(SVG + 'title'), root.find(SVG + 'desc')
    assert root.get('role') == 'img'
    assert root.get('aria-labelledby').split() == [title.get('id'), words.get('id')]
    assert title.text == '<model> & more and its clones'
    assert words.text == (
        'The model: <model> & more; Input to Embedding; Embedding to Rnn, with its '
        'mask. Released: wrong numbers at rnn; rnn: first difference; Input to '
        'Embedding; Embedding to Rnn, without the mask.')


def test_the_picture_has_colors_for_light_and_dark():
    style = drawn(MASKED).find(SVG + 'style').text
    schemes = [re.findall(r'(--[a-z]+): #[0-9a-f]{6}', rule)
               for rule in re.findall(r'\.picture \{([^}]*)|theme=\w+[^{]*\{([^}]*)',
                                      style)
               for rule in rule if rule]
    assert len(schemes) == 4
    assert all(sorted(each) == sorted(schemes[0]) for each in schemes)


def test_every_part_has_a_style():
    clone = [call('input', calls=2), call('rnn', (0, True)), call('new', (1, True))]
    text = drawing.draw('a', MASKED, [
        Clone('Released', clone, 'crash', 'rnn', 'why'),
        Clone('This one', None, 'crash', 'rnn')])
    style = text[text.index('<style>'):text.index('</style>')]
    used = {name for names in re.findall(r'class="([^"]*)"', text)
            for name in names.split()}
    assert used - {'plain'} <= set(re.findall(r'\.([a-z-]+)', style))


def test_names_that_are_long_or_not_for_xml_can_be_drawn():
    model = [call('layer\x00 <&"' + 60 * 'x')]
    root = drawn(model, Clone('Released', model))
    texts = [each.text for each in root.iter(SVG + 'text')]
    assert 'layer  <&"' in ' '.join(texts)
    assert not any('x' * 40 in text for text in texts)
    assert 'x' * 60 in root.find(f'{SVG}g/{SVG}title').text


def test_everything_is_within_the_picture():
    model = [call('input'), call('a', (0, True)), call('b', (0, True)),
             call('c', (1, True), (2, True), (0, True))]
    root = drawn(model, Clone('Released', None, 'crash', 'c'))
    for box in root.iter(SVG + 'rect'):
        assert 0 <= float(box.get('x', 0))
        assert (float(box.get('x', 0)) + float(box.get('width')) <=
                float(root.get('width')))
        assert (float(box.get('y', 0)) + float(box.get('height')) <=
                float(root.get('height')))


# The command

@pytest.fixture
def models(tmp_path):
    (tmp_path / 'drawn_models.py').write_text(MODELS)
    return tmp_path


def headings(path):
    return [each.text for each in ElementTree.parse(str(path)).iter(SVG + 'text')
            if each.get('class') == 'heading']


@pytest.mark.slow
@pytest.mark.once
def test_the_command_draws_the_model_and_both_clones(models):
    status, _, err = run_process('check', 'drawn_models:with_global_name', '--svg',
                                 'picture.svg', cwd=models)
    assert status == 0, err
    picture = (models / 'picture.svg').read_text(encoding='utf-8')
    assert headings(models / 'picture.svg') == [
        'The model', 'Keras 2.2.4, as released', 'With the overlay']
    assert 'crash at lambda_1' in picture
    assert 'cloning fails here' in picture
    assert sorted(os.listdir(str(models)))[-2:] == ['drawn_models.py', 'picture.svg']


@pytest.mark.slow
def test_with_json_the_outlines_are_not_printed(models):
    _, out, _ = run_process('check', 'drawn_models:masked', '--json', '--svg',
                            'picture.svg', cwd=models)
    row, = json.loads(out)['models']
    assert 'outlines' not in row['released'] and 'outlines' not in row['active']
    assert 'with its mask' in (models / 'picture.svg').read_text(encoding='utf-8')


@pytest.mark.slow
def test_switched_off_only_the_released_clone_is_drawn(models):
    run_process('check', 'drawn_models:masked', '--svg', 'picture.svg', cwd=models,
                KERAS_CLONE='off')
    assert len(headings(models / 'picture.svg')) == 2


@pytest.mark.parametrize('arguments, found', [
    (['--svg', 'a.svg'], 'no MODEL'),
    (['--svg', 'no_folder/a.svg', 'a:b'], 'no_folder/a.svg, in a folder that does'),
    (['--svg', 'a.png', 'a:b'], 'a.png.'),
    (['--svg', '', 'a:b'], 'an empty name.')])
def test_a_file_that_cannot_be_written_is_an_error(models, monkeypatch, arguments,
                                                   found):
    monkeypatch.chdir(models)
    before = os.listdir('.')
    done = CliRunner().invoke(commands.main, ['check'] + arguments)
    assert done.exit_code == 2
    assert done.output.startswith(
        'Error: --svg should be an .svg file for the picture of a MODEL. '
        f'Found: {found}')
    assert len(done.output.splitlines()) == 1
    assert os.listdir('.') == before


def test_an_error_while_writing_is_one_line_after_the_results(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    os.mkdir('a.svg')
    found = {'model': MASKED, 'clone': MASKED}
    row = {key: {'outcome': 'faithful', 'layer': '', 'reason': '', 'differences': [],
                 'outlines': found}
           for key in ('released', 'active')}
    monkeypatch.setattr(commands, '_checked', lambda *arguments: (
        [commands.Fact('Keras', '2.2.4', '')], '', [dict(row, description='a')]))
    done = CliRunner().invoke(commands.main, ['check', '--svg', 'a.svg', 'a:b'])
    assert done.exit_code == 2
    assert done.output.splitlines()[-2:] == [
        '1 model: released clone_model faithful for 1, keras-clone for 1.',
        'Error: --svg should be an .svg file that can be written. Found: a.svg, '
        'Is a directory.']
