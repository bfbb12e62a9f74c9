"""The processes that judge clones: two for each package, one with the overlay.

What is said of a clone comes from `check_clone` alone: see `outcome_of`.
"""
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import traceback

from evidence.records import ROOT

FAITHFUL, NAMES, WRONG = 'faithful', 'names of layers only', 'wrong'
ONCE, ERROR, TOO_SLOW = 'clones only once', 'error', 'too slow'
NOT_BUILT, NOT_JUDGED = 'not built', 'not judged'
# What the judge calls them; an outcome that is not here keeps its name.
OUTCOMES = {'crash': ERROR, 'cannot predict': ERROR, 'wrong numbers': WRONG}
# From best to worst; an outcome that is not here has the place of None.
ORDER = (FAITHFUL, NAMES, None, ONCE, WRONG, ERROR)

# What such a process runs. The checkout is that of the overlay and of the judge.
START = """\
import sys
checkout, root, package, seconds = sys.argv[1:]
sys.path[0] = checkout
import keras_clone
keras_clone.install()
sys.path[0] = root
from evidence.real_models import judging
judging.judge(package, int(seconds))
"""


def judge(package, seconds=300):
    """Writes the models of a package, reads names and writes the outcome of each."""
    lines = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)  # What Keras and the backend print goes to stderr.

    def answer(value):
        lines.write(json.dumps(value) + '\n')
        lines.flush()

    import keras
    from evidence.real_models.tables import packages_for
    models = packages_for(keras.__version__)[package]()
    answer(list(models))
    for name in sys.stdin:
        limit(seconds)
        answer(outcome_of(models[json.loads(name)], keras.models.clone_model))


def limit(seconds):
    """Ends this process when it has computed for some more seconds."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    end = int(used.ru_utime + used.ru_stime) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (end, most))


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
    others = [each for each in report.differences if not is_of_names(each)]
    if report.differences and not others:
        return [NAMES, report.reason]
    found = type(report).of(others)
    return [OUTCOMES.get(found.outcome, found.outcome), found.reason]


def is_of_names(difference):
    """Returns whether only a layer, or what is called after it, has another name."""
    return bool(re.match(
        r'name$|layer at place \d+$|configuration.* name$|path of weight',
        difference.what))


def exception_of(reason):
    """Returns the class of the exception that a reason tells of; '' without one."""
    found = re.search(r'\b[A-Z]\w*(Error|Exception)\b', reason)
    return found.group() if found else ''


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
        seconds: how long it may compute for a model.

    # Attributes
        models: list of the models of the package.
    """

    def __init__(self, package, switch, checkout, seconds):
        self._package = package
        self._arguments = [sys.executable, '-W', 'ignore', '-c', START, checkout,
                           ROOT, package, str(seconds)]
        # With oneDNN, TensorFlow 2.21 corrupts memory in the gradients of the
        # convolutions of kimm's RepVGG, in a model that was never cloned, too.
        self._environment = dict(os.environ, KERAS_CLONE=switch,
                                 TF_CPP_MIN_LOG_LEVEL='3', TF_ENABLE_ONEDNN_OPTS='0')
        self._start()

    def _start(self):
        self._errors = tempfile.TemporaryFile('w+')
        self._process = subprocess.Popen(
            self._arguments, env=self._environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self._errors, universal_newlines=True)
        line = self._process.stdout.readline()
        if not line:
            self._errors.seek(0)
            raise RuntimeError(f'{self._package} has no models here: ' +
                               self._errors.read().strip().rpartition('\n')[2])
        self.models = json.loads(line)

    def outcome_of(self, model):
        """Returns the outcome and the reason for the model of this name."""
        self._process.stdin.write(json.dumps(model) + '\n')
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if line:
            return json.loads(line)
        status = self._process.wait()
        self._start()
        if status == -signal.SIGXCPU:
            return [TOO_SLOW, 'no result within the limit']
        return [NOT_JUDGED, f'the process has ended with exit status {status}']

    def end(self):
        self._process.stdin.close()
        self._process.wait()
