"""Tells which attributes the methods of a class set or fill, from their byte code.

The clone of a layer sets these attributes itself when it is called. They are not
copied to it before that.
"""
import builtins
import dis
import functools
import inspect
import sys
import types

import numpy as np

from keras_clone.holding import MUTABLE

# The methods of a layer that Keras uses to build and call it.
METHODS_KERAS_CALLS = ('build', 'call', '__call__', 'compute_mask',
                       'compute_output_shape', 'compute_output_spec')
# The methods that change a list, deque, set or dict.
_METHODS_THAT_FILL = frozenset([
    'add', 'append', 'appendleft', 'clear', 'discard', 'extend', 'extendleft',
    'insert', 'pop', 'popitem', 'popleft', 'remove', 'setdefault', 'update'])
# What sets attributes whose names are computed.
_SETTERS = frozenset(['setattr', '__setattr__', '__dict__', 'vars'])


def may_be_set_by_call(cls, name, value):
    """Returns whether a call of a layer may set an attribute, or fill its container.

    # Arguments
        cls: the class of the layer.
        name: the name of the attribute.
        value: its value.
    """
    is_filled = isinstance(value, MUTABLE + (np.ndarray,))
    return name in names_set_by(cls, METHODS_KERAS_CALLS) or (
        is_filled and name in _names_filled_by(cls, METHODS_KERAS_CALLS))


@functools.lru_cache(maxsize=1024)
def names_read_by_call(cls):
    """Returns the names of the attributes that a call of a layer of this class may
    read, by `getattr` as well, its methods included."""
    codes = _codes_used_by(cls, METHODS_KERAS_CALLS)
    return set(METHODS_KERAS_CALLS).union(
        *(code.co_names for code in codes),
        *(filter(lambda each: type(each) is str, code.co_consts) for code in codes))


@functools.lru_cache(maxsize=1024)
def sets_computed_names(cls):
    """Returns whether a call of a layer of this class may set attributes whose names
    are not in the code, by `setattr` and the like."""
    return any(not _SETTERS.isdisjoint(code.co_names)
               for code in _codes_used_by(cls, METHODS_KERAS_CALLS))


@functools.lru_cache(maxsize=1024)
def names_set_by(cls, methods):
    """Returns the names of the attributes that methods of a class, or methods they
    use, set by an assignment such as `self.name = ...`."""
    return frozenset().union(*map(_names_set_in, _codes_used_by(cls, methods)))


@functools.lru_cache(maxsize=4096)
def _names_set_in(code):
    return frozenset(each.argval for each in dis.get_instructions(code)
                     if each.opname == 'STORE_ATTR')


@functools.lru_cache(maxsize=1024)
def _names_filled_by(cls, methods):
    """Returns the names of the attributes that methods of a class, or methods they
    use, may fill: by `self.name.append(...)`, by `self.name[key] = ...`, by way of a
    local variable, or in a function that they are passed to."""
    names = set()
    for code in _codes_used_by(cls, methods):
        steps = list(dis.get_instructions(code))
        sets_items = any(each.opname in ('STORE_SUBSCR', 'DELETE_SUBSCR')
                         for each in steps)
        names.update(
            step.argval for i, step in enumerate(steps[:-1])
            if step.opname == 'LOAD_ATTR' and (
                sets_items or _may_fill(steps[i + 1], steps[max(i - 2, 0)])))
    return names


def _may_fill(following, called):
    """Returns whether an instruction that follows the access of an attribute may
    fill its container.

    # Arguments
        following: the instruction.
        called: the instruction that loads the function, if `following` calls one
            with the attribute as its only argument.
    """
    if following.opname.startswith(('CALL', 'PRECALL')):
        is_builtin = called.opname == 'LOAD_GLOBAL' and hasattr(
            builtins, called.argval)
        return not is_builtin
    return following.opname.startswith('STORE_FAST') or (
        following.opname in ('LOAD_ATTR', 'LOAD_METHOD') and
        following.argval in _METHODS_THAT_FILL)


@functools.lru_cache(maxsize=1024)
def names_set_after_init(cls):
    """Returns the names of the attributes that methods other than `__init__` set."""
    # Other attributes of a class may run code of the user when they are inspected.
    methods = {name for base in cls.__mro__ for name, value in vars(base).items()
               if isinstance(value, (types.FunctionType, property))}
    return names_set_by(cls, tuple(methods - {'__init__', '__new__'}))


def _codes_used_by(cls, methods):
    """Returns the code objects of methods of a class, and of the methods and functions
    that they use."""
    found, seen, waiting = [], set(), list(methods)
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            codes = _codes(cls, name)
            found += codes
            waiting += [used for code in codes for used in code.co_names]
    return found


def _function_beside(cls, name):
    """Returns the function of this name in the module of a user's class, or None."""
    if str(cls.__module__).split('.')[0] in ('keras', 'tensorflow'):
        return None
    # Not `getattr`, for which a module may run code.
    value = getattr(sys.modules.get(cls.__module__), '__dict__', {}).get(name)
    return value if isinstance(value, types.FunctionType) else None


def _codes(cls, name):
    """Returns the code objects of a method or property in all base classes, or of a
    function in their modules."""
    found = []
    for base in cls.__mro__:
        value = (vars(base)[name] if name in vars(base) else
                 _function_beside(base, name))
        if value is None:
            continue
        for each in ([value.fget, value.fset] if isinstance(value, property)
                     else [getattr(value, '__func__', value)]):
            found.append(getattr(inspect.unwrap(each), '__code__', None))
    found = [code for code in found if code]
    for code in found:  # The list grows in the loop.
        found += filter(inspect.iscode, code.co_consts)
    return found
