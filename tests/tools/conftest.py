"""Modules of a user's, for the commands."""
import sys

import pytest

MODELS = '''
from keras.layers import Dense, Lambda
from keras.models import Sequential
class Makers(object):
    @staticmethod
    def dense():
        print('a line on stdout')
        return Sequential([Dense(2, input_shape=(3,))])
def offset():
    return Sequential([Lambda(lambda x: x + 1, input_shape=(3,))]), None
def wrong():
    raise ValueError('no such\\nmodel')
def text():
    return 'a model'
number = 3
model = offset()[0]
'''


@pytest.fixture
def models(tmp_path, monkeypatch):
    """A folder with a module in it, as the current one."""
    (tmp_path / 'some_models.py').write_text(MODELS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, 'path', sys.path[:])
    yield tmp_path
    sys.modules.pop('some_models', None)


@pytest.fixture
def lambdas(models):
    """The name of a file in the current folder that holds byte code."""
    from keras.layers import Dense, Lambda, Reshape, TimeDistributed
    from keras.models import Sequential
    inner = Sequential([Lambda(lambda x: print('it runs') or x, name='inner',
                               input_shape=(3,))])
    Sequential([inner, Reshape((3, 1)), TimeDistributed(
        Lambda(lambda x: 2 * x, name='wrapped')), Dense(2)]).save('lambdas.h5')
    return 'lambdas.h5'
