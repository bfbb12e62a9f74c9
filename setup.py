"""Installs `keras_clone` and a `.pth` file that imports it in every interpreter."""
import os
import re

from setuptools import Command, find_namespace_packages, setup
from setuptools.command.install_egg_info import install_egg_info

HERE = os.path.dirname(os.path.abspath(__file__))

# `site` would print an error: a package that is broken or gone must pass unnoticed.
START = """\
try:
    import keras_clone
except Exception:
    pass
"""
# A checkout is not left on `sys.path`: its folders would pass for packages, and
# `import keras` would succeed where Keras is not installed.
START_EDITABLE = """\
import sys
sys.path.insert(0, {!r})
try:
    import keras_clone
except Exception:
    pass
finally:
    del sys.path[0]
""".format(HERE)


class InstallStart(install_egg_info):
    """Puts the `.pth` file beside the metadata: there `site` looks for it."""

    def run(self):
        super(InstallStart, self).run()
        editable = not self.distribution.packages
        path = os.path.join(self.install_dir, 'keras-clone.pth')
        with open(path, 'w') as file:
            file.write('import os; exec({!a})\n'.format(
                START_EDITABLE if editable else START))
        self.outputs.append(path)


class EditableWheel(Command):
    """Makes the wheel of `pip install -e`: metadata and the `.pth` file."""

    user_options = [('dist-dir=', None, 'where the wheel goes'),
                    ('dist-info-dir=', None, 'ignored'),
                    ('mode=', None, 'ignored')]

    def initialize_options(self):
        self.dist_dir = self.dist_info_dir = self.mode = None

    def finalize_options(self):
        pass

    def run(self):
        self.distribution.packages = []
        self.reinitialize_command('bdist_wheel', dist_dir=self.dist_dir)
        self.run_command('bdist_wheel')


class Develop(Command):
    """Installs in place for pips that know no editable wheels.

    It installs metadata that lists the files, not an `.egg-link`: with the latter,
    `pip uninstall` would leave the `.pth` file.
    """

    user_options = [('no-deps', None, 'ignored: nothing is required'),
                    ('prefix=', None, 'installation prefix'),
                    ('user', None, 'install for this user')]
    boolean_options = ['no-deps', 'user']

    def initialize_options(self):
        self.no_deps = self.prefix = self.user = None

    def finalize_options(self):
        pass

    def run(self):
        self.distribution.packages = []
        install = self.reinitialize_command(
            'install', prefix=self.prefix, user=self.user,
            record='installed-files.txt', single_version_externally_managed=True)
        install.ensure_finalized()
        metadata = self.get_finalized_command('install_egg_info').target
        install.record = os.path.join(metadata, install.record)
        self.run_command('install')


def version():
    with open(os.path.join(HERE, 'keras_clone', '__init__.py')) as file:
        return re.search("__version__ = '(.*)'", file.read()).group(1)


# The files of keras/ travel inside keras_clone: `keras` belongs to Keras.
folders = find_namespace_packages(HERE, include=['keras', 'keras.*'],
                                  exclude=['*.__pycache__'])

commands = ['click', 'rich']
tensorflow = [
    'Keras>=2.2.4,<2.4; python_version<"3.8"',
    'tensorflow>=1.12,<2; python_version<"3.8"',
    'h5py<3; python_version<"3.8"',
    'numpy<1.19; python_version<"3.8"',
    'protobuf<3.21; python_version<"3.8"',
    'PyYAML<6; python_version<"3.8"',
    'scipy; python_version<"3.8"',
    'keras>=3.12; python_version>="3.10"',
    'tensorflow; python_version>="3.10"',
]
theano = [
    'Keras>=2.2.4,<2.4; python_version<"3.8"',
    'Theano==1.0.5; python_version<"3.8"',
    'h5py<3; python_version<"3.8"',
    'numpy<1.19; python_version<"3.8"',
    'scipy<1.6; python_version<"3.8"',
    'PyYAML<6; python_version<"3.8"',
]
tests = commands + [
    # Later ones want an importlib-metadata on Python 3.7 that is too old for Sphinx.
    'flake8<4; python_version<"3.8"', 'flake8; python_version>="3.8"',
    'hypothesis', 'pytest', 'pytest-cov', 'pytest-xdist', 'setuptools', 'wheel']
# Models of packages of the time, with the helper packages that they were made for.
real_models = [name + '; python_version<"3.8"' for name in (
    'keras-bert==0.68.0', 'keras-transformer==0.32.0',
    'keras-self-attention==0.41.0', 'keras-embed-sim==0.7.0',
    'keras-layer-normalization==0.14.0',
    'keras-multi-head==0.22.0', 'keras-pos-embd==0.11.0',
    'keras-position-wise-feed-forward==0.6.0')]

setup(
    name='keras-clone',
    version=version(),
    description='keras.models.clone_model, right everywhere: '
                'an overlay for the installed Keras',
    author='The keras-clone authors',
    license='MIT',
    python_requires='>=3.6',
    packages=['keras_clone'] + ['keras_clone.' + folder for folder in folders],
    package_dir={'keras_clone.keras': 'keras'},
    extras_require={
        'commands': commands,
        'tensorflow': tensorflow,
        'theano': theano,
        'tests': tests + tensorflow + theano + real_models,
        'tests-without-backend': tests,
        'docs': ['Sphinx', 'furo', 'myst-parser'],
    },
    entry_points={'console_scripts': ['keras-clone = keras_clone.commands:main']},
    cmdclass={'develop': Develop, 'editable_wheel': EditableWheel,
              'install_egg_info': InstallStart},
    classifiers=['Programming Language :: Python :: 3'],
)
