"""Installs `keras_clone` and a `.pth` file: whoever looks for Keras, imports it."""
import os
import re

from setuptools import Command, find_namespace_packages, setup
from setuptools.command.install_egg_info import install_egg_info

HERE = os.path.dirname(os.path.abspath(__file__))

# What every interpreter runs when it starts, once: in a virtual environment, `site`
# reads a `.pth` file twice. No module is imported, and nothing can fail, before
# Keras is looked for.
START = """\
class KerasCloneStart(object):
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == 'keras':
            try:
                import keras_clone.overlay
            except Exception as error:
                import warnings
                warnings.warn('clone_model is as released: {!r}'.format(error))
"""
# A checkout is found without being on `sys.path`: its other folders would pass for
# packages there, and `import keras` would succeed where Keras is not installed.
FIND_CHECKOUT = f"""        if name == 'keras_clone':
            from importlib.machinery import PathFinder
            return PathFinder.find_spec(name, [{HERE!r}])
"""
REGISTER = 'sys.meta_path.insert(0, KerasCloneStart)'
LINE = ('import sys; "KerasCloneStart" in [getattr(finder, "__name__", "") '
        'for finder in sys.meta_path] or exec({!a})\n')


class InstallStart(install_egg_info):
    """Puts the `.pth` file beside the metadata: there `site` looks for it."""

    def run(self):
        super().run()
        in_place = '' if self.distribution.packages else FIND_CHECKOUT
        path = os.path.join(self.install_dir, 'keras-clone.pth')
        with open(path, 'w') as file:
            file.write(LINE.format(START + in_place + REGISTER))
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
    # On Python 3.7, flake8 and Sphinx agree on no other importlib-metadata.
    'flake8<4; python_version<"3.8"', 'importlib-metadata<5; python_version<"3.8"',
    'flake8; python_version>="3.8"',
    # The docs: their pictures, their code blocks.
    'drawsvg; python_version>="3.7" and python_version<"3.8"',
    'sybil>=6; python_version>="3.7"',
    'hypothesis', 'pytest', 'pytest-cov', 'pytest-xdist', 'setuptools', 'wheel',
    'ruff; python_version>="3.10"']  # The formatter of Keras 3.
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
    packages=(['keras_clone', 'keras_clone.check', 'keras_clone.check.gallery',
               'keras_clone.check.graphs'] +
              ['keras_clone.' + folder for folder in folders]),
    package_dir={'keras_clone.keras': 'keras'},
    extras_require={
        'commands': commands,
        'tensorflow': tensorflow,
        'theano': theano,
        'tests': tests + tensorflow + theano + real_models,
        'tests-without-backend': tests,
        'benchmarks': ['matplotlib'],
        'docs': ['LinkChecker', 'Sphinx', 'furo', 'myst-parser'],
    },
    entry_points={'console_scripts': ['keras-clone = keras_clone.__main__:main']},
    cmdclass={'develop': Develop, 'editable_wheel': EditableWheel,
              'install_egg_info': InstallStart},
    classifiers=['Programming Language :: Python :: 3'],
)
