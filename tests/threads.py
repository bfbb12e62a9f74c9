"""Runs functions in other threads, for the tests of both major versions of Keras."""
import threading


def in_another_thread(function):
    """Calls a function in another thread, and returns or raises what it does."""
    found, raised = [], []

    def run():
        try:
            found.append(function())
        except BaseException as error:
            raised.append(error)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
    return found[0]
