"""Random models, a few of them; `make fuzz` tries many."""
import io
import json

import fuzz
import pytest
import random_models
from hypothesis import HealthCheck
from hypothesis import given
from hypothesis import settings

WITH_NESTED = {
    'inputs': ['words', 'sequence', 'vector'],
    'steps': [['dense', 'tanh', [[0, 0]]],
              ['nested', {'inputs': ['vector', 'sequence'],
                          'steps': [['own_mask', '', [[1, 0]]],
                                    ['last', 'LSTM', [[2, 0]]]],
                          'outputs': [[2, 0], [3, 0]]}, [[3, 0], [2, 0]]],
              ['repeat', '', [[2, 0]]]],
    'outputs': [[4, 0], [4, 1], [0, 0]]}


@settings(max_examples=15, derandomize=True, deadline=None, database=None,
          suppress_health_check=list(HealthCheck))
@given(random_models.recipes())
def test_random_models_are_cloned_faithfully(recipe):
    from keras.models import clone_model
    outcome, reason = fuzz.outcome_of(recipe, clone_model)
    assert outcome in ('faithful', fuzz.NOT_BUILT), reason


def test_a_recipe_builds_only_what_leads_to_an_output():
    names = [layer.name.rstrip('_0123456789')
             for layer in random_models.build(WITH_NESTED).layers]
    assert 'dense' in names
    assert 'repeat_vector' not in names


def test_the_operations_of_nested_models_are_counted():
    assert sorted(random_models.uses(WITH_NESTED)) == [
        'dense', 'last', 'nested', 'own_mask']


class JudgeOfNested(object):
    """Finds fault with every nested model."""

    def __init__(self, switch):
        self._switch = switch

    def ask(self, recipe):
        self._is_nested = 'nested' in random_models.uses(recipe)

    def answer(self):
        if self._switch == 'on' and self._is_nested:
            return 'wrong numbers', 'nested'
        return 'faithful', ''

    def end(self):
        pass


def test_fuzz_ends_with_a_small_model_that_is_not_cloned(monkeypatch):
    monkeypatch.setattr(fuzz, 'Judge', JudgeOfNested)
    with pytest.raises(fuzz.Unfaithful) as caught:
        fuzz.fuzz(200, None, '1', lambda: None)
    assert random_models.uses(caught.value.recipe).count('nested') == 1


class KindJudge(JudgeOfNested):
    """Finds no fault."""

    def answer(self):
        return 'faithful', ''


def test_fuzz_counts_as_many_different_models_as_asked_for(monkeypatch):
    monkeypatch.setattr(fuzz, 'Judge', KindJudge)
    counts = fuzz.fuzz(150, None, '1', lambda: None)
    assert counts.models == sum(counts.sizes.values()) == 150
    assert counts.active == counts.released == {'faithful': 150}


def test_the_page_shows_what_was_recorded():
    with io.open(fuzz.PAGE) as file:
        assert file.read() == fuzz.page(fuzz.recorded())


def test_runs_that_differ_in_their_seed_are_added_up():
    run = dict(keras='2.2.4', backend='theano', backend_release='1.0.5',
               python='3.7.16', seed='1', models=3, not_built=1,
               date='2026-01-02', released={'crash': 2, 'faithful': 1},
               active={'faithful': 3}, sizes={'2': 3}, operations={'dense': 2})
    other = dict(json.loads(json.dumps(run)), seed='2')
    total, = fuzz.sums([run, other])
    assert total['models'] == 6
    assert total['released'] == {'crash': 4, 'faithful': 2}
    assert total['seed'] == ['1', '2']
