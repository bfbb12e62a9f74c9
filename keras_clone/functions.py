"""Functions that hold layers and tensors: in closures, defaults and global names.

Used by the overlays of both lines of Keras.
"""
import inspect
from functools import partial
from types import FunctionType
from types import MethodType

# What can be told apart into its code and what it holds.
HOLDERS = (FunctionType, MethodType, partial)


def function_holding(function, value):
    """Returns a function that holds other things than a function does.

    # Arguments
        function: an instance of one of `HOLDERS`.
        value: a function that takes what `function` holds, in dicts, lists and
            tuples, and returns what is to be held in place of it.

    # Returns
        A copy of `function`, or `function` itself if `value` changes nothing.
    """
    held = _held_by(function)
    new = value(held)
    return function if _same_leaves(held, new) else _rebuilt(function, new)


def _held_by(function):
    """Returns what a function holds apart from its code, as a dict.

    The global names are those that its code mentions; functions among them are
    followed within the module only: what a script makes is global in it.
    """
    if isinstance(function, MethodType):
        return {'self': function.__self__}
    if isinstance(function, partial):
        return {'func': function.func, 'args': function.args,
                'keywords': function.keywords}
    names = _global_names(function.__code__) & set(function.__globals__)
    mentioned = {name: function.__globals__[name] for name in names}
    return {'cells': [_cell_contents(cell) for cell in function.__closure__ or ()],
            'defaults': function.__defaults__,
            'kwdefaults': function.__kwdefaults__,
            'globals': {name: value for name, value in mentioned.items()
                        if not isinstance(value, FunctionType) or
                        value.__module__ == function.__module__}}


def _rebuilt(function, held):
    """Returns a copy of a function that holds what `_held_by` would return."""
    if isinstance(function, MethodType):
        return MethodType(function.__func__, held['self'])
    if isinstance(function, partial):
        return partial(held['func'], *held['args'], **held['keywords'])
    scope = dict(function.__globals__, **held['globals'])
    new = FunctionType(function.__code__, scope, function.__name__,
                       held['defaults'], tuple(map(_cell, held['cells'])))
    new.__kwdefaults__ = held['kwdefaults']
    new.__dict__.update(function.__dict__)
    return new


def _global_names(code):
    names = set(code.co_names)
    for constant in code.co_consts:
        if inspect.iscode(constant):
            names |= _global_names(constant)
    return names


def _cell(value):
    return (lambda: value).__closure__[0]


def _cell_contents(cell):
    try:
        return cell.cell_contents
    except ValueError:  # The name is not bound yet, or no longer.
        return None


def _same_leaves(value, other):
    if type(value) in (list, tuple):
        return all(map(_same_leaves, value, other))
    if type(value) is dict:
        return all(_same_leaves(v, other[k]) for k, v in value.items())
    return value is other
