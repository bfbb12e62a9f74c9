"""Keras's own tests, with the overlay and without: compares each test.

The tests come from the source distribution of the installed release; those of Keras
3 are installed with its modules. The exit status is 0 if every test has the same
outcome both ways, otherwise 1.
"""
import os
import sys
import tempfile

import click
from contribute import prove

from evidence import console

OWN_TESTS = ('keras/test_sequential_model.py', 'keras/engine/test_topology.py',
             'keras/engine/test_training.py', 'test_model_saving.py',
             'test_loss_masking.py', 'keras/layers/core_test.py',
             'keras/layers/wrappers_test.py', 'keras/layers/recurrent_test.py',
             'keras/utils/multi_gpu_test.py')


def outcomes(installed, switch):
    """The outcomes of the tests, with the overlay switched on or off."""
    keras = os.path.dirname(installed.folder)
    if prove.is_keras_3(installed):
        return prove.own_outcomes_of_keras_3(keras, KERAS_CLONE=switch)
    with tempfile.TemporaryDirectory() as folder:
        tests = os.path.join(prove.source_distribution(installed.release, folder),
                             'tests')
        return prove.own_outcomes(tests, keras, names=OWN_TESTS, KERAS_CLONE=switch)


command = click.Group(help=__doc__)


@command.command()
def run():
    """Run the tests and print what differs."""
    installed = prove.installed_keras()
    without, overlaid = (outcomes(installed, switch) for switch in ('off', 'on'))
    names = prove.OWN_TESTS_OF_KERAS_3 if prove.is_keras_3(installed) else OWN_TESTS
    title = f'Keras {installed.release}, Python {installed.python_version}'
    print(title + '\n')
    headings = ["Keras's own tests", 'without', 'with the overlay']
    console.print_table(headings, [
        (module, prove.summary(without, module), prove.summary(overlaid, module))
        for module in prove.modules_of(names)], left=headings)
    print()
    changed = prove.changed_outcomes(without, overlaid)
    for name, before, after in changed:
        print(f'{name}: {before} without, {after} with the overlay.')
    print(f'{title}: {len(without)} tests, {len(changed)} with another outcome.')
    sys.exit(1 if changed else 0)
