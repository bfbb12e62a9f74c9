"""A few random models; `make fuzz` clones many."""
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from keras_clone.check.graphs import graphs

from evidence import random_models
from evidence.random_models import judging, recipes, search
from evidence.random_models.operations import MODELS, OPERATIONS

pytestmark = pytest.mark.once

WITH_NESTED = {
    'inputs': ['words', 'sequence', 'vector'],
    'steps': [['dense', 'tanh', [[0, 0]]],
              ['nested', {'inputs': ['vector', 'sequence'],
                          'steps': [['mask', 'own', [[1, 0]]],
                                    ['last', 'LSTM', [[2, 0]]]],
                          'outputs': [[2, 0], [3, 0]]}, [[3, 0], [2, 0]]],
              ['repeat', '', [[2, 0]]]],
    'outputs': [[4, 0], [4, 1], [0, 0]]}


@settings(max_examples=15, derandomize=True, deadline=None, database=None,
          suppress_health_check=list(HealthCheck))
@given(recipes.recipes())
def test_random_models_are_cloned_faithfully(recipe):
    from keras.models import clone_model
    outcome, reason = judging.outcome_of(recipe, clone_model)
    assert outcome in ('faithful', judging.NOT_BUILT), reason


def test_a_recipe_builds_only_what_leads_to_an_output():
    names = [layer.name.rstrip('_0123456789')
             for layer in recipes.build(WITH_NESTED).layers]
    assert 'dense' in names
    assert 'repeat_vector' not in names


def test_the_operations_of_nested_models_are_counted():
    assert sorted(recipes.uses(WITH_NESTED)) == ['dense', 'last', 'mask', 'nested']
    assert 'attributed' in recipes.uses(
        dict(WITH_NESTED, model=['attributed', 'list']))


def test_there_is_a_model_for_each_operation_alone():
    uses = [set(recipes.uses(recipe)) for recipe in recipes.alone()]
    assert set.union(*uses) == set(OPERATIONS) | set(MODELS)
    assert len(uses) >= sum(len(each.options) for each in MODELS.values())


@pytest.mark.parametrize('name', OPERATIONS)
def test_an_operation_builds_a_model_alone(name):
    found = [recipe for recipe in recipes.alone() if name in recipes.uses(recipe)]
    with graphs.fresh_state(0):
        recipes.build(found[-1])


class JudgeOfNested:
    """Finds that the overlay clones no model with a nested one faithfully."""

    def __init__(self, switch):
        self._switch = switch

    def ask(self, recipe):
        self._is_nested = 'nested' in recipes.uses(recipe)

    def answer(self):
        if self._switch == 'on' and self._is_nested:
            return 'wrong numbers', 'nested'
        return 'faithful', ''

    def end(self):
        pass


def test_the_search_ends_with_a_small_model_that_is_not_cloned(monkeypatch):
    monkeypatch.setattr(search, 'Judge', JudgeOfNested)
    with pytest.raises(search.Unfaithful) as caught:
        search.search(200, None, '1', lambda: None)
    assert recipes.uses(caught.value.recipe).count('nested') == 1


class JudgeOfDense(JudgeOfNested):
    """Finds nested models cloned worse than by the released function, and models
    with the operation `dense` cloned equally badly by both functions."""

    def ask(self, recipe):
        names = recipes.uses(recipe)
        self._is_nested, self._is_dense = 'nested' in names, 'dense' in names

    def answer(self):
        if self._switch == 'on' and self._is_nested:
            return 'crash', 'nested'
        return ('wrong numbers', 'dense') if self._is_dense else ('faithful', '')


def test_what_is_cloned_worse_than_released_comes_before_all_else(monkeypatch):
    monkeypatch.setattr(search, 'Judge', JudgeOfDense)
    for seed in '12':
        with pytest.raises(search.Unfaithful) as caught:
            search.search(200, None, seed, lambda: None)
        is_nested = 'nested' in recipes.uses(caught.value.recipe)
        assert isinstance(caught.value, search.Worse) == is_nested


@pytest.mark.parametrize('released, active, worse', [
    ('faithful', 'faithful', False),
    ('faithful', 'other graph', True),
    ('faithful', 'does not save', True),
    ('faithful', judging.NOT_JUDGED, True),
    ('crash', judging.NOT_JUDGED, False),
    (judging.NOT_JUDGED, 'crash', False),
    ('clones only once', 'wrong numbers', True),
    ('wrong numbers', 'clones only once', False),
    ('crash', 'crash', False),
    ('crash', 'faithful', False),
])
def test_outcomes_are_counted_that_are_worse_than_the_released(
        released, active, worse):
    assert search.is_worse(released, active) == worse
    counts = search.Counts()
    counts.enter(['dense'], released, active)
    assert counts.worse == worse


@pytest.mark.parametrize('error, first', [
    (search.Worse, 'Worse than released.'),
    (search.Unfaithful, 'Not cloned faithfully: reason')])
def test_the_command_says_first_that_a_clone_is_worse(error, first, monkeypatch):
    def unfaithful(*args):
        raise error({'steps': []}, 'reason')

    monkeypatch.setattr(search, 'search', unfaithful)
    result = CliRunner().invoke(random_models.command, ['run'])
    assert result.exit_code == 1
    assert result.output.splitlines()[1] == first
    assert 'Not cloned faithfully: reason\n{"steps": []}\n' in result.output


class KindJudge(JudgeOfNested):
    """Finds every model cloned faithfully."""

    def answer(self):
        return 'faithful', ''


def test_the_search_counts_as_many_different_models_as_asked_for(monkeypatch):
    monkeypatch.setattr(search, 'Judge', KindJudge)
    counts = search.search(150, None, '1', lambda: None)
    assert counts.models == sum(counts.sizes.values()) == 150
    assert counts.active == counts.released == {'faithful': 150}
    assert counts.worse == 0


VERSIONS = {'keras': '2.2.4', 'backend': 'theano', 'backend_release': '1.0.5',
            'python': '3.7.16', 'seed': '1'}
FIGURES = {'models': 3, 'not_built': 1, 'released': {'crash': 2, 'faithful': 1},
           'active': {'faithful': 3}, 'sizes': {'2': 3}, 'operations': {'dense': 2}}


def record(figures, **versions):
    return {'what': 'random models', 'versions': dict(VERSIONS, **versions),
            'date': '2026-01-02', 'figures': dict(FIGURES, **figures)}


def test_runs_that_differ_in_their_seed_are_added_up():
    runs = [record({'worse': 0}), record({'worse': 1}, seed='2')]
    total = random_models.total(runs)
    assert total['models'] == 6
    assert total['released'] == {'crash': 4, 'faithful': 2}
    assert total['worse'] == 1
    page = random_models.page(runs)
    assert '\n2026-01-02, seed 1, 2: 6 models.' in page
    assert page.count('| 2.2.4 | theano 1.0.5 | 3.7.16 |') == 1


def test_the_page_shows_what_is_worse_than_released_if_that_was_counted():
    page = random_models.page([record({'worse': 1}), record({}, keras='2.3.1')])
    assert '| 2.2.4 | theano 1.0.5 | 3.7.16 | 3 | 1 | 3 | 1 |' in page
    assert '| 2.3.1 | theano 1.0.5 | 3.7.16 | 3 | 1 | 3 | not counted |' in page
    assert page.count('| worse than released |  | 1 |') == 1
    assert page.count('| worse than released |  | not counted |') == 1
