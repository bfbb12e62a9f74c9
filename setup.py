"""Installs `keras_clone`, and the `.pth` file that makes it active."""
import os
import re
import shutil
from tempfile import TemporaryDirectory

from setuptools import Command, find_namespace_packages, setup
from setuptools.command.install_egg_info import install_egg_info

HERE = os.path.dirname(os.path.abspath(__file__))

# What every interpreter runs when it starts; the argument is the checkout of an
# editable installation.
LINE = 'import keras_clone_start; keras_clone_start.register({})\n'


class InstallStart(install_egg_info):
    """Puts the `.pth` file beside the metadata, where `site` looks for it."""

    def run(self):
        super().run()
        path = os.path.join(self.install_dir, 'keras-clone.pth')
        with open(path, 'w') as file:
            file.write(LINE.format('' if self.distribution.packages else repr(HERE)))
        self.outputs.append(path)


class EditableWheel(Command):
    """Makes the wheel for `pip install -e`, without the packages."""

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
        with TemporaryDirectory() as build:  # `build/` may hold the packages.
            self.reinitialize_command('build', build_base=build)
            self.run_command('bdist_wheel')


class Develop(Command):
    """Installs in place, for versions of pip that do not support editable wheels.

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
        with TemporaryDirectory() as build:  # `build/` may hold the packages.
            self.reinitialize_command('build', build_base=build)
            install = self.reinitialize_command(
                'install', prefix=self.prefix, user=self.user,
                record='installed-files.txt', single_version_externally_managed=True)
            install.ensure_finalized()
            metadata = self.get_finalized_command('install_egg_info').target
            install.record = os.path.join(metadata, install.record)
            self.run_command('install')
        # From within the checkout, pip 18.1 would uninstall this in its place.
        shutil.rmtree(self.get_finalized_command('egg_info').egg_info)


def version():
    with open(os.path.join(HERE, 'keras_clone', '__init__.py')) as file:
        return re.search("__version__ = '(.*)'", file.read()).group(1)


def packages():
    """The overlays are installed in `keras_clone`: `keras` belongs to Keras."""
    found = find_namespace_packages(HERE, include=['keras', 'keras.*', 'keras_clone',
                                                   'keras_clone.*'],
                                    exclude=['*.__pycache__'])
    return [name if name.startswith('keras_clone') else 'keras_clone.' + name
            for name in found]


setup(
    name='keras-clone',
    version=version(),
    description='Fixes keras.models.clone_model of the installed Keras',
    author='The keras-clone authors',
    license='MIT',
    python_requires='>=3.6',
    packages=packages(),
    package_dir={'keras_clone.keras': 'keras'},
    py_modules=['keras_clone_start'],
    extras_require={'commands': ['click', 'rich']},
    entry_points={'console_scripts': ['keras-clone = keras_clone.__main__:main']},
    cmdclass={'develop': Develop, 'editable_wheel': EditableWheel,
              'install_egg_info': InstallStart},
    classifiers=['Programming Language :: Python :: 3'],
)
