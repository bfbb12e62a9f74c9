"""A package `keras` of a few lines, with overlays of a few lines."""
import os

KERAS = {
    '__init__.py': 'from . import models\n__version__ = {release!r}\n',
    'backend.py': '',
    'engine/__init__.py': '',
    'engine/base_layer.py': 'class Layer(object):\n    records = False\n',
    'engine/network.py': '''\
from .base_layer import Layer
class Network(Layer):
    rewired = False
''',
    'models.py': '''\
from .engine.network import Network
from . import backend as K
def clone_model(model):
    return 'released'
def save_model(model):
    return 'released'
''',
}
OVERLAY = {
    'models.py': '''\
runs = globals().get('runs', 0) + 1
def clone_model(model):
    return 'overlay'
def clone_badly(model):
    raise RuntimeError('cannot clone')
def backend():
    return K
''',
    'engine/base_layer.py': 'Layer.records = True\n',
    'engine/network.py': 'Network.rewired = True\n',
}


def write(folder, files, **values):
    for path, text in files.items():
        path = os.path.join(str(folder), path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w') as file:
            file.write(text.format(**values) if values else text)


def write_keras(folder, release='2.2.4'):
    """Writes a package `keras` into a folder."""
    write(os.path.join(str(folder), 'keras'), KERAS, release=release)
    return str(folder)
