"""Runs functions in other threads, while a model is being cloned."""
import contextlib
import threading

from keras import backend

from custom_objects import Times
from major_versions import IS_KERAS2


def in_another_thread(function):
    """Calls a function in another thread, and returns or raises what it does."""
    found, raised, session = [], [], None
    if IS_KERAS2 and backend.backend() == 'tensorflow':
        session = backend.get_session()

    def run():
        try:
            with contextlib.ExitStack() as stack:
                if session:  # With the graph of the calling thread.
                    stack.enter_context(session.graph.as_default())
                    stack.enter_context(session.as_default())
                found.append(function())
        except BaseException as error:
            raised.append(error)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
    return found[0]


class Pausing(Times):
    """Calls a function in another thread while its model is being cloned."""

    observe = None

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.pause()

    def build(self, input_shape):
        self.pause()

    def call(self, inputs):
        self.pause()
        return super().call(inputs)

    def get_config(self):
        self.pause()
        return super().get_config()

    @staticmethod
    def pause():
        observe, Pausing.observe = Pausing.observe, None  # Not for those in there.
        if observe:
            in_another_thread(observe)
            Pausing.observe = staticmethod(observe)
