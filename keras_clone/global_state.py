"""The global state of Keras that constructors and `build` depend on.

A clone is created in the state in which the original was.
"""
import contextlib

# For each part of it, the function that returns it, and one that returns a context
# with another value. The overlay sets the list; the first is which names were
# generated.
GLOBAL_STATE = []


def global_state():
    """Returns the global state of Keras, a tuple in the order of `GLOBAL_STATE`."""
    return tuple([get() for get, _ in GLOBAL_STATE])


@contextlib.contextmanager
def in_global_state_of(record, name='global_state', with_names=True):
    """Context with the global state of Keras in which something was called.

    # Arguments
        record: None, or a `Record` or a `FirstCall`.
        name: the name of its attribute that has the state.
        with_names: whether the names are generated again that were generated then.
    """
    with contextlib.ExitStack() as contexts:
        for part, value in zip(GLOBAL_STATE, getattr(record, name, ())):
            get, context_with = part
            if get() != value and (with_names or part != GLOBAL_STATE[0]):
                contexts.enter_context(context_with(value))
        yield


def setting(get, set_value):
    """Returns the part for a setting that a function of Keras sets."""
    @contextlib.contextmanager
    def context_with(value):
        former = get()
        set_value(value)
        try:
            yield
        finally:
            set_value(former)
    return get, context_with
