"""Runs Keras's own tests with the overlay and without, and compares each test.

    python tests/own_tests.py

The tests come from the source distribution of the installed release. Exit status 0
if every single test has the same outcome both ways, 1 if not.
"""
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'patches'))
import prove  # noqa: E402

OWN_TESTS = ('keras/test_sequential_model.py', 'keras/engine/test_topology.py',
             'keras/engine/test_training.py', 'test_model_saving.py',
             'test_loss_masking.py', 'keras/layers/core_test.py',
             'keras/layers/wrappers_test.py', 'keras/layers/recurrent_test.py',
             'keras/utils/multi_gpu_test.py')


def main():
    installed = prove.installed_keras()
    with tempfile.TemporaryDirectory() as folder:
        tests = os.path.join(prove.source_distribution(installed.release, folder),
                             'tests')
        without, overlaid = [
            prove.own_outcomes(tests, os.path.dirname(installed.folder),
                               names=OWN_TESTS, KERAS_CLONE=switch)
            for switch in ('off', 'on')]
    title = 'Keras {}, Python {}'.format(installed.release, installed.python_version)
    print(title + '\n')
    modules = [os.path.basename(name)[:-len('.py')] for name in OWN_TESTS]
    prove.print_table(("Keras's own tests", 'without', 'with the overlay'), [
        (module, prove.summary(without, module), prove.summary(overlaid, module))
        for module in modules])
    changed = prove.changed_outcomes(without, overlaid)
    for change in changed:
        print('{}: {} without, {} with the overlay.'.format(*change))
    print('{}: {} tests, {} with another outcome.'.format(
        title, len(without), len(changed)))
    sys.exit(1 if changed else 0)


if __name__ == '__main__':
    main()
