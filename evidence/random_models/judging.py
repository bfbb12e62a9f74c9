"""The processes that judge clones, one with the overlay and one without."""
import json
import os
import subprocess
import sys
import traceback

from evidence.records import ROOT

NOT_BUILT = 'not built'
NOT_JUDGED = 'not judged'


def judge():
    """Reads recipes from standard input and writes the outcome for each."""
    lines = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)  # What Keras and the backend print goes to stderr.
    from keras.models import clone_model
    for line in sys.stdin:
        lines.write(json.dumps(outcome_of(json.loads(line), clone_model)) + '\n')
        lines.flush()


def outcome_of(recipe, clone_model):
    """Judges how a function clones the model of a recipe.

    # Arguments
        recipe: see `recipes.recipes`.
        clone_model: the function.

    # Returns
        A list: one of the outcomes of `keras_clone.check.faithfulness`, NOT_BUILT
        where Keras itself cannot build or evaluate the model, or NOT_JUDGED where
        the judge raises an exception; and the reason.
    """
    from keras_clone.check.faithfulness import ModelError, check_clone

    from evidence.random_models import recipes
    try:
        report = check_clone(lambda: recipes.build(recipe), clone_model,
                             exact_ops=True, saving=False, locate=False)
    except ModelError as error:
        return [NOT_BUILT, str(error)]
    except Exception:  # Reported like an unfaithful clone.
        return [NOT_JUDGED, traceback.format_exc()]
    return [report.outcome, report.reason]


class Judge:
    """A process that judges clones, with the overlay `on` or `off`."""

    def __init__(self, switch):
        self._process = subprocess.Popen(
            [sys.executable, '-W', 'ignore', '-m', 'evidence', 'random-models',
             'judge'],
            env=dict(os.environ, KERAS_CLONE=switch, PYTHONPATH=os.pathsep.join(
                [ROOT] + os.environ.get('PYTHONPATH', '').split(os.pathsep)),
                TF_CPP_MIN_LOG_LEVEL='3'),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, universal_newlines=True)

    def ask(self, recipe):
        self._process.stdin.write(json.dumps(recipe) + '\n')
        self._process.stdin.flush()

    def answer(self):
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError('The process that judges clones has ended.')
        return json.loads(line)

    def end(self):
        self._process.stdin.close()
        self._process.wait()
