"""Proves the patches for the installed Keras release.

    python -m contribute prove [--python PYTHON] [--without-own-tests]

Copies the installed Keras to a temporary folder, applies the patches to the copy
and runs the tests that go with them. Then runs Keras's own tests before and after
all patches. The environment itself is not changed.

The patches for Keras 2 are applied one after the other; Keras's own tests come from
its source distribution. Those for Keras 3 are applied one at a time, then together,
and the code that reproduces each bug is run before and after; Keras's own tests are
part of most installed packages.

On a development build of Keras 3 (keras-nightly), this proves the patches for the
newest release, which is downloaded. A patch that no longer applies is a failure.

The exit status is 0 if every patch fixes a test, no patch breaks a test, and every
test passes with all patches; otherwise it is 1. For Keras 3, the code of each issue
must also print what its page says; for both, no test of Keras itself may break. The
last line states the result.
"""
import argparse
import collections
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from glob import glob
from xml.etree import ElementTree

from contribute.patches import ROOT
from contribute.patches import apply_patch
from contribute.patches import merge
from contribute.patches import name_of
from contribute.patches import newest_release
from contribute.patches import parts_for
from contribute.patches import patches_of
from contribute.patches import release_of
from contribute.patches import with_parts
from contribute.pull_request_keras3 import proposal

TESTS = os.path.join(ROOT, 'tests', 'keras')
PULL_REQUEST_TESTS = os.path.join(TESTS, 'test_sequential_model.py')
FOLLOW_UP_TESTS = os.path.join(TESTS, 'test_node_arguments.py')
# Keras's own tests of the code that the patches change.
OWN_TESTS = ('keras/test_sequential_model.py', 'keras/engine/test_topology.py',
             'test_model_saving.py', 'keras/utils/multi_gpu_test.py',
             'keras/layers/wrappers_test.py')
OWN_TESTS_OF_KERAS_3 = (
    'models/cloning_test.py', 'models/functional_test.py',
    'models/sequential_test.py', 'layers/core/lambda_layer_test.py',
    'layers/core/input_layer_test.py',
    'layers/preprocessing/index_lookup_test.py',
    'layers/preprocessing/integer_lookup_test.py',
    'layers/preprocessing/normalization_test.py',
    'saving/file_editor_test.py', 'saving/object_registration_test.py',
    'saving/saving_api_test.py', 'saving/saving_lib_test.py',
    'saving/serialization_lib_test.py')

# Also runs on Python 2.7. Does not import Keras, which would import the backend.
FIND_KERAS = """
import sys
try:
    from importlib.util import find_spec
    print(find_spec('keras').origin)
except ImportError:
    import imp
    print(imp.find_module('keras')[1] + '/__init__.py')
print('%d.%d' % sys.version_info[:2])
"""
# Without several GPUs, Keras would skip tests. TensorFlow uses the CPU for these.
FAKE_GPUS = """
from keras.utils import multi_gpu_utils
multi_gpu_utils._get_available_devices = lambda: ['/cpu:0'] + [
    '/gpu:%d' % i for i in range(8)]
"""

# As in Keras's own conftest.py. Otherwise each test is slower than the one before.
CLEAR_SESSION = """
import pytest
from keras import backend as K

@pytest.fixture(autouse=True)
def clear_session():
    yield
    if K.backend() != 'theano':
        K.clear_session()
"""

Installed = collections.namedtuple('Installed', 'folder release python_version')


def installed_keras(python=sys.executable):
    """Finds the Keras of an interpreter, as it was installed.

    # Arguments
        python: Path of the interpreter.

    # Returns
        A named tuple: `folder` of the package, `release` of Keras (None if its
        source does not state it) and `python_version`.

    # Raises
        subprocess.CalledProcessError: If it has no Keras.
    """
    out = subprocess.check_output([python, '-c', FIND_KERAS], env=_environment(),
                                  stderr=subprocess.DEVNULL)
    init, version = out.decode().split('\n')[:2]
    folder = os.path.dirname(init)
    source = ''
    for path in (init, os.path.join(folder, 'src', 'version.py')):
        if os.path.exists(path):
            with open(path) as stream:
                source += stream.read()
    release = re.search(r"""^__version__ = ['"]([^'"]+)""", source, re.MULTILINE)
    return Installed(folder, release and release.group(1), version)


def is_keras_3(installed):
    return (installed.release or '').startswith('3.')


def copy_keras(installed, directory):
    """Copies the installed package `keras` into `directory`."""
    shutil.copytree(installed.folder, os.path.join(directory, 'keras'),
                    ignore=shutil.ignore_patterns('__pycache__', '*.pyc'))


def outcomes(tests, keras, python=sys.executable, only=None):
    """Runs tests in a separate process and returns their outcomes.

    # Arguments
        tests: Paths of test files.
        keras: Folder that holds the package `keras` to test.
        python: Path of the interpreter.
        only: Runs only tests with this string in their names. None: all.

    # Returns
        A dict from the names of the tests, including their files, to `'passes'`,
        `'skipped'`, `'wrong numbers'` if an array differs from the expected one, or
        else the name of the exception.

    # Raises
        RuntimeError: If some could not be run; the message is the output of pytest.
    """
    # Run outside of this repository: its conftest.py and settings must not apply.
    with tempfile.TemporaryDirectory() as scratch:
        _write(os.path.join(scratch, 'conftest.py'), CLEAR_SESSION)
        names = [os.path.basename(shutil.copy(path, scratch)) for path in tests]
        return _run(names + (['-k', only] if only else []), scratch, keras, python)


def own_outcomes(tests, keras, python=sys.executable, names=OWN_TESTS,
                 **environment):
    """Like `outcomes`, for Keras's own tests: `tests` is their folder, `names` are
    the files to run, `environment` has the environment variables to set."""
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copytree(tests, os.path.join(scratch, 'tests'))
        _write(os.path.join(scratch, 'fake_gpus.py'), FAKE_GPUS)
        names = [os.path.join('tests', name) for name in names]
        return _run(['-p', 'fake_gpus'] + names, scratch, keras, python,
                    **environment)


def own_outcomes_of_keras_3(keras, python=sys.executable, **environment):
    """Like `own_outcomes`, for Keras 3, whose own tests are next to its modules."""
    paths = [os.path.join(keras, 'keras', 'src', *name.split('/'))
             for name in OWN_TESTS_OF_KERAS_3]
    with tempfile.TemporaryDirectory() as scratch:
        # pytest reports the modules of tests only for files below its root.
        return _run(['--rootdir', keras] + paths, scratch, keras, python,
                    **environment)


def _run(arguments, directory, keras, python, **environment):
    report = os.path.join(directory, 'report.xml')
    _write(os.path.join(directory, 'pytest.ini'), '')
    process = subprocess.Popen(
        [python, '-B', '-m', 'pytest', '-q', '-c', 'pytest.ini', '--tb=short',
         '--continue-on-collection-errors', '--junitxml', report,
         '-p', 'no:cacheprovider'] + arguments,
        cwd=directory, env=_environment(PYTHONPATH=keras, **environment),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    printed = process.communicate()[0].decode(errors='replace')
    cases = (list(ElementTree.parse(report).iter('testcase'))
             if os.path.exists(report) else [])
    if not cases or process.returncode > 1:
        raise RuntimeError('Not every test was run:\n' + printed)
    return collections.OrderedDict((_name(case), _outcome(case)) for case in cases)


def _write(path, text):
    with open(path, 'w') as stream:
        stream.write(text)


def _environment(**changes):
    # An inherited PYTHONPATH could take precedence over the patched copy.
    kept = {key: value for key, value in os.environ.items() if key != 'PYTHONPATH'}
    return dict(kept, **dict({'KERAS_CLONE': 'off', 'TF_CPP_MIN_LOG_LEVEL': '3'},
                             **changes))


def _name(case):
    parts = case.get('classname', '').split('.')
    modules = [i for i, part in enumerate(parts)
               if part.startswith('test_') or part.endswith('_test')]
    return '.'.join(parts[modules[-1] if modules else -1:]) + '::' + case.get('name')


def _outcome(case):
    if case.find('skipped') is not None:
        return 'skipped'
    fault = case.find('failure')
    fault = case.find('error') if fault is None else fault
    if fault is None:
        return 'passes'
    if 'Not equal to tolerance' in fault.get('message', '') + (fault.text or ''):
        return 'wrong numbers'
    raised = re.match(r'(?:[\w.]+\.)?(\w+)', fault.get('message', ''))
    name = raised.group(1) if raised else 'fails'
    return 'AssertionError' if name == 'assert' else name


def source_distribution(release, directory):
    """Downloads the source distribution of Keras and unpacks it.

    # Returns
        The path of its top folder.

    # Raises
        subprocess.CalledProcessError: If pip cannot download it.
    """
    subprocess.check_output(
        [sys.executable, '-m', 'pip', 'download', '--quiet', '--no-binary', ':all:',
         '--no-deps', '--disable-pip-version-check', '-d', directory,
         'Keras==' + release], stderr=subprocess.STDOUT)
    archive, = glob(os.path.join(directory, '[Kk]eras-*.tar.gz'))
    with tarfile.open(archive) as stream:
        stream.extractall(directory)
    return archive[:-len('.tar.gz')]


def stages(installed, python=sys.executable):
    """Runs the tests on the released Keras and after each patch.

    # Returns
        A list of pairs (name of the stage, outcomes).
    """
    tests = [PULL_REQUEST_TESTS, FOLLOW_UP_TESTS]
    with tempfile.TemporaryDirectory() as copy:
        copy_keras(installed, copy)
        result = [('released', outcomes(tests, copy, python))]
        for patch in patches_of(installed.release):
            apply_patch(patch, copy)
            stage = os.path.basename(patch.path).partition('-')[0]
            result.append((stage, outcomes(tests, copy, python)))
    return result


def faults_of(results):
    """The problems in the outcomes of the stages: a list of sentences."""
    faults = []
    for (_, before), (stage, after) in zip(results, results[1:]):
        good = {name for name in before if before[name] == 'passes'}
        faults += [f'{stage} breaks {name}.'
                   for name in sorted(good) if after.get(name) != 'passes']
        if not any(after[name] == 'passes' for name in after if name not in good):
            faults.append(f'{stage} fixes no test.')
    first, last = results[1][1], results[-1][1]
    faults += [f'{name} needs more than the first patch.'
               for name in first if first[name] != 'passes'
               and name.startswith('test_sequential_model::')]
    return faults + [f'{name} fails with all patches.' for name in last
                     if last[name] not in ('passes', 'skipped')]


def own_tests(installed, python=sys.executable):
    """Runs Keras's own tests before and after all patches, and checks that the
    patches also apply to the source distribution.

    # Returns
        A pair of outcomes.
    """
    with tempfile.TemporaryDirectory() as copy:
        source = source_distribution(installed.release, copy)
        tests = os.path.join(source, 'tests')
        copy_keras(installed, copy)
        before = own_outcomes(tests, copy, python)
        for patch in patches_of(installed.release):
            apply_patch(patch, source)
            apply_patch(patch, copy)
        return before, own_outcomes(tests, copy, python)


def patches_for(release):
    """The patches of a release or, for a development build, of the newest one."""
    return patches_of(newest_release() if '.dev' in str(release) else release)


@contextlib.contextmanager
def released_keras(installed, patches):
    """The folder of the release that patches for Keras 3 are for.

    It is that of the installed Keras or, for a development build, a download.
    """
    folder, release = os.path.dirname(installed.folder), release_of(patches[0])
    with tempfile.TemporaryDirectory() as download:
        if installed.release != release:
            subprocess.check_output(
                [sys.executable, '-m', 'pip', 'install', '--quiet', '--no-deps',
                 '--no-compile', '--disable-pip-version-check', '--target', download,
                 'keras==' + release], stderr=subprocess.STDOUT)
            folder = download
        yield folder


def apply_together(patches, directory, released=None):
    """Applies patches that were all made for the same files.

    # Arguments
        patches: The patches.
        directory: Folder that holds the package `keras` to change.
        released: Folder that holds the release that the patches are for, if
            `directory` holds a newer Keras.

    # Raises
        ValueError: If Keras has changed the same lines, or has the changes already.
            Nothing is changed then.
    """
    changed = {}
    for name in {part.file for patch in patches for part in patch.parts}:
        before, current = (_content(folder, name)
                           for folder in (released or directory, directory))
        after = with_parts(parts_for(name, patches), before)
        changed[name] = merge(current, before, after)
        if changed[name] == current:
            raise ValueError(f'The changes are already in {name}.')
    for name in changed:
        with open(os.path.join(directory, name), 'wb') as stream:
            stream.write(changed[name])


def _content(folder, name):
    with open(os.path.join(folder, name), 'rb') as stream:
        return stream.read()


def outdated(patches, keras, released):
    """The patches that do not apply to a newer Keras: dict from their names to the
    reasons."""
    reasons = {}
    for patch in patches:
        with tempfile.TemporaryDirectory() as copy:
            for part in patch.parts:
                target = os.path.join(copy, part.file)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copy(os.path.join(keras, part.file), target)
            try:
                apply_together([patch], copy, released)
            except ValueError as error:
                reasons[name_of(patch)] = str(error)
    return reasons


def alone(patches):
    """Returns the patches that are not applied together with the others."""
    return [patch for patch in patches
            if release_of(patch).startswith('3.') and proposal(patch).replaced]


def with_replacement(patch, patches):
    """A patch that takes the place of others, and those that it does not replace."""
    return [each for each in together(patches)
            if name_of(each)[:4] not in proposal(patch).replaced] + [patch]


def together(patches):
    """Returns the patches that are applied together: all that replace no others."""
    return [patch for patch in patches if patch not in alone(patches)]


def tests_of_keras_3():
    return sorted(glob(os.path.join(TESTS, 'src', '*', '*_test.py')))


def stages_of_keras_3(installed, patches, released, python=sys.executable):
    """Runs the tests and the code of the issues on the installed Keras 3 and with
    each patch, then the tests with all patches.

    # Arguments
        installed: The installed Keras.
        patches: The patches.
        released: Folder of the release that they are for.
        python: Path of the interpreter.

    # Returns
        A list of triples (name of the stage, outcomes, dict from the names of
        patches to the output of their issues' code).
    """
    result, plans = [], [('released', [], patches)]
    plans += [(name_of(patch), [patch], [patch]) for patch in patches]
    plans += [('all', together(patches), [])]
    for stage, chosen, reproduced in plans:
        with tempfile.TemporaryDirectory() as copy:
            copy_keras(installed, copy)
            apply_together(chosen, copy, released)
            printed = {name_of(patch): reproduce(patch, copy, python)
                       for patch in reproduced}
            result.append((stage, outcomes(tests_of_keras_3(), copy, python),
                           printed))
    return result


def reproduce(patch, keras, python=sys.executable):
    """The output of the code in a patch's issue: stdout, or stderr if it fails.

    # Arguments
        patch: The patch.
        keras: Folder that holds the package `keras` to use.
        python: Path of the interpreter.
    """
    process = subprocess.Popen(
        [python, '-B', '-c', proposal(patch).code], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=_environment(PYTHONPATH=keras))
    out, errors = (text.decode(errors='replace') for text in process.communicate())
    return errors if process.returncode else out


def faults_of_keras_3(results, patches):
    """The problems in the outcomes of the stages: a list of sentences."""
    (_, before, printed), faults = results[0], []
    for patch, (stage, after, now) in zip(patches, results[1:]):
        page, name = proposal(patch), name_of(patch)
        faults += [f'{stage} breaks {test}.' for test in sorted(before)
                   if before[test] == 'passes' and after.get(test) != 'passes']
        own = [test for test in sorted(before)
               if '.' + page.test_class + '::' in test]
        faults += [f'{test} fails with {stage}.' for test in own
                   if after[test] not in ('passes', 'skipped')]
        faults += [f'{test} passes without {stage}.' for test in own
                   if before[test] == 'passes' and 'guard' not in test]
        if not any(before[test] not in ('passes', 'skipped') for test in own):
            faults.append(f'{stage} fixes no test: Keras may have fixed its bug.')
        if now[name].strip() != page.expected:
            faults.append('With {}, its code does not print the expected output: {}'
                          .format(stage, now[name]))
        if '\n' + page.actual not in '\n' + printed[name]:
            faults.append('Without {}, its code does not do what the issue says: {}'
                          .format(stage, printed[name]))
    stage, after, _ = results[-1]
    others = [f'.{proposal(patch).test_class}::' for patch in alone(patches)]
    return faults + [f'{test} fails with {stage}.' for test in after
                     if after[test] not in ('passes', 'skipped')
                     and not any(part in test for part in others)]


def own_tests_of_keras_3(installed, sets, released, python=sys.executable):
    """Runs Keras 3's own tests without patches and with each set of patches: a list
    of outcomes."""
    found = []
    for patches in [[]] + sets:
        with tempfile.TemporaryDirectory() as copy:
            copy_keras(installed, copy)
            apply_together(patches, copy, released)
            found.append(own_outcomes_of_keras_3(copy, python))
    return found


def changed_outcomes(before, after):
    """The tests whose outcome changed: triples (name, before, after)."""
    names = list(before) + [name for name in after if name not in before]
    pairs = [(name, before.get(name, 'missing'), after.get(name, 'missing'))
             for name in names]
    return [(name, old, new) for name, old, new in pairs if old != new]


def summary(found, module):
    kinds = collections.Counter(outcome for name, outcome in found.items()
                                if re.match(module + '(::|[.])', name))
    return ', '.join(f'{kinds[kind]} {kind}' for kind in sorted(kinds))


def print_table(header, rows):
    rows = [header] + rows
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    for row in rows:
        print('  '.join(map(str.ljust, row, widths)).rstrip())
    print(flush=True)


def _print_patches(patches):
    print_table(('patch', 'lines added', 'removed'), [
        (os.path.basename(patch.path), str(patch.added), str(patch.removed))
        for patch in patches])


def _prove_keras_2(installed, options):
    _print_patches(patches_of(installed.release))
    faults = _prove_stages(installed, options.python)
    if not options.without_own_tests:
        faults += _prove_own_tests(OWN_TESTS, *own_tests(installed, options.python))
    return faults


def _prove_stages(installed, python):
    results = stages(installed, python)
    print_table(('test',) + tuple(stage for stage, _ in results), [
        (name.partition('::')[2],) + tuple(found[name] for _, found in results)
        for name in results[0][1]])
    return faults_of(results)


def _prove_keras_3(installed, options):
    patches = patches_for(installed.release)
    _print_patches(patches)
    with released_keras(installed, patches) as released:
        reasons = outdated(patches, os.path.dirname(installed.folder), released)
        fitting = [patch for patch in patches if name_of(patch) not in reasons]
        faults = [f'{name} does not apply: {reasons[name]}' for name in reasons]
        faults += _prove_stages_of_keras_3(installed, fitting, released,
                                           options.python)
        if not has_own_tests(installed):
            print("This Keras was installed without its own tests.")
        elif not options.without_own_tests:
            sets = [together(fitting)] + [[patch] for patch in alone(fitting)]
            before, *after = own_tests_of_keras_3(installed, sets, released,
                                                  options.python)
            for outcomes_after in after:
                faults += _prove_own_tests(OWN_TESTS_OF_KERAS_3, before,
                                           outcomes_after)
    return faults


def has_own_tests(installed):
    """Whether Keras 3 was installed with its own tests."""
    return os.path.exists(
        os.path.join(installed.folder, 'src', OWN_TESTS_OF_KERAS_3[0]))


def _prove_stages_of_keras_3(installed, patches, released, python):
    results = stages_of_keras_3(installed, patches, released, python)
    rows = []
    for patch, (stage, alone, _) in zip(patches, results[1:]):
        part = '.' + proposal(patch).test_class + '::'
        rows += [(stage[:4], test.partition('.')[2], results[0][1][test],
                  alone[test], results[-1][1][test])
                 for test in alone if part in test]
    print_table(('patch', 'test', 'released', 'with the patch', 'with all'), rows)
    return faults_of_keras_3(results, patches)


def modules_of(names):
    return [os.path.basename(name)[:-len('.py')] for name in names]


def _prove_own_tests(names, before, after):
    print_table(("Keras's own tests", 'before', 'after'), [
        (module, summary(before, module), summary(after, module))
        for module in modules_of(names)])
    changed = changed_outcomes(before, after)
    for change in changed:
        print('{}: {} before, {} after.'.format(*change))
    return [name + ' breaks.' for name, _, new in changed if new != 'passes']


def main(arguments=None):
    """Runs `python -m contribute prove` with a list of arguments."""
    parser = argparse.ArgumentParser(prog='python -m contribute prove',
                                     description=__doc__.split('\n')[0])
    parser.add_argument('--python', default=sys.executable,
                        help='interpreter whose Keras is tested (default: this one)')
    parser.add_argument('--without-own-tests', action='store_true',
                        help="do not run Keras's own tests")
    options = parser.parse_args(arguments)
    try:
        installed = installed_keras(options.python)
    except subprocess.CalledProcessError:
        sys.exit('NOT PROVEN: {} has no Keras. Install a release that has a folder '
                 'in patches/.'.format(options.python))
    if not patches_for(installed.release):
        sys.exit('NOT PROVEN: there are no patches for this Keras.')
    title = 'Keras {}, {}, Python {}'.format(
        installed.release, os.environ.get('KERAS_BACKEND', 'tensorflow'),
        installed.python_version)
    print(title + '\n')
    prove = _prove_keras_3 if is_keras_3(installed) else _prove_keras_2
    faults = prove(installed, options)
    print('\n'.join(faults + [title + (': NOT PROVEN' if faults else ': proven')]))
    sys.exit(1 if faults else 0)


if __name__ == '__main__':
    main()
