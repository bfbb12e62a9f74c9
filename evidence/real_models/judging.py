"""The processes that judge clones: one for each package, with the overlay and without.

What is said of a clone comes from `check_clone` alone: see `outcome_of`.
"""
import json
import os
import queue
import re
import subprocess
import sys
import threading
import traceback

from evidence.records import ROOT

FAITHFUL, NAMES, WRONG = 'faithful', 'names of layers only', 'wrong'
ONCE, ERROR, TOO_SLOW = 'clones only once', 'error', 'too slow'
NOT_BUILT, NOT_JUDGED = 'not built', 'not judged'
# What the judge calls them; what is not here keeps its name.
OUTCOMES = {'crash': ERROR, 'cannot predict': ERROR, 'wrong numbers': WRONG}
# From best to worst; what is not here is worse than names and better than wrong.
ORDER = (FAITHFUL, NAMES, None, ONCE, WRONG, ERROR)

# A process of this kind runs this. The checkout is that of the overlay under test.
START = """\
import os, sys
checkout, root, package = sys.argv[1:]
sys.path.insert(0, checkout)
import keras_clone
keras_clone.install()
sys.path[0] = root
from evidence.real_models import judging
judging.judge(package)
"""


def judge(package):
    """Writes the models of a package, reads names and writes the outcome of each."""
    lines = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)  # What Keras and the backend print goes to stderr.

    def answer(value):
        lines.write(json.dumps(value) + '\n')
        lines.flush()

    import keras
    from evidence.real_models.tables import of_series
    models = of_series(keras.__version__)[package]()
    answer(list(models))
    for name in sys.stdin:
        answer(outcome_of(models[json.loads(name)], keras.models.clone_model))


def outcome_of(build, clone_model):
    """Judges how a function clones a model.

    # Arguments
        build: function that builds the model.
        clone_model: the function.

    # Returns
        A list of the outcome and the reason: one of those above, or what the judge
        calls it.
    """
    from keras_clone.check.faithfulness import ModelError, check_clone
    try:
        report = check_clone(build, clone_model, saving=False, locate=False)
    except ModelError as error:
        return [NOT_BUILT, str(error)]
    except Exception:  # Reported like an unfaithful clone.
        return [NOT_JUDGED, traceback.format_exc()]
    return classified(report)


def classified(report):
    """Returns the outcome and the reason of a report of the judge."""
    if report.differences and all(map(is_of_names, report.differences)):
        return [NAMES, report.reason]
    return [OUTCOMES.get(report.outcome, report.outcome), report.reason]


def is_of_names(difference):
    """Returns whether layers, or what is called after them, have other names."""
    return bool(re.match(r'name$|layer at place \d+$|configuration.* name$',
                         difference.what))


def exception_of(reason):
    """Returns the class of the exception that a reason tells of; '' without one."""
    found = re.search(r'\b([A-Z]\w*(?:Error|Exception|Warning|Interrupt))\b', reason)
    return found.group(1) if found else ''


def is_worse(outcome, other):
    """Returns whether an outcome is worse than another."""
    def place(each):
        return ORDER.index(each if each in ORDER else None)
    return place(outcome) > place(other)


class Judge:
    """A process that judges clones of the models of a package.

    # Arguments
        package: its name.
        switch: `on` or `off`, whether with the overlay.
        checkout: the folder with the overlay.
        limit: seconds that a model may take.
    """

    def __init__(self, package, switch, checkout, limit):
        self._arguments = [sys.executable, '-W', 'ignore', '-c', START, checkout,
                           ROOT, package]
        self._environment = dict(os.environ, KERAS_CLONE=switch,
                                 TF_CPP_MIN_LOG_LEVEL='3')
        self._limit = limit
        self._start()

    def _start(self):
        self._errors = subprocess.DEVNULL
        self._process = subprocess.Popen(
            self._arguments, env=self._environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self._errors, universal_newlines=True)
        self._lines = queue.Queue()
        threading.Thread(target=self._read, args=(self._process.stdout, self._lines),
                         daemon=True).start()
        self.models = self._answer()

    @staticmethod
    def _read(stream, lines):
        for line in stream:
            lines.put(line)
        lines.put('')

    def _answer(self):
        line = self._lines.get(timeout=self._limit)
        if not line:
            raise ChildProcessError('the process has ended')
        return json.loads(line)

    def outcome_of(self, model):
        """Returns the outcome and the reason for the model of this name."""
        self._process.stdin.write(json.dumps(model) + '\n')
        self._process.stdin.flush()
        try:
            return self._answer()
        except queue.Empty:
            found = [TOO_SLOW, f'no result in {self._limit} seconds']
        except ChildProcessError as error:
            found = [NOT_JUDGED, str(error)]
        self.end()
        self._start()
        return found

    def end(self):
        self._process.kill()
        self._process.wait()
