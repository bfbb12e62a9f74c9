"""Backend-dependent tests, run on Theano while the other tests use TensorFlow."""
import os
import subprocess
import sys

import pytest
from keras import backend as K

TESTS = os.path.dirname(os.path.abspath(__file__))


@pytest.mark.once
@pytest.mark.skipif(K.backend() == 'theano', reason='the other tests use Theano')
def test_tensors_computed_by_theano():
    pytest.importorskip('theano')
    subprocess.check_call(
        [sys.executable, '-m', 'pytest', '-q', '-k',
         'computed_by or does_not_depend',
         os.path.join(TESTS, 'test_call_arguments.py')],
        env=dict(os.environ, KERAS_BACKEND='theano',
                 THEANO_FLAGS='device=cpu,optimizer=fast_compile,cxx='))
