"""Functions: what they hold, and new ones that hold other things."""
import functools
import inspect
import types

from keras_clone.containers import ATOMS

Cell = type((lambda value: lambda: value)(None).__closure__[0])
FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)


def globals_used_by(function):
    """Returns the global variables that a function uses, as a dict.

    Plain data, modules, classes and functions of other modules are left out: they
    do not belong to the model.
    """
    scope = function.__globals__
    names = [name for name in _names(function.__code__) if name in scope]
    return {name: scope[name] for name in names
            if type(scope[name]) not in ATOMS and
            not isinstance(scope[name], (type, types.ModuleType)) and
            not (isinstance(scope[name], types.FunctionType) and
                 scope[name].__module__ != function.__module__)}


def _names(code):
    names = list(code.co_names)
    for constant in code.co_consts:
        if inspect.iscode(constant):
            names += _names(constant)
    return names


def content_of(cell):
    """Returns what a cell of a closure holds; of an empty cell, the cell itself."""
    try:
        return cell.cell_contents
    except ValueError:
        return cell


def with_closure(function, contents):
    """Returns a function with what its closure held at another time.

    # Arguments
        function: a function.
        contents: list of the `content_of` each cell at that time.

    # Returns
        The same function if none of these have changed.
    """
    cells = list(function.__closure__)
    for i, (cell, former) in enumerate(zip(cells, contents)):
        if former is not cell and content_of(cell) is not former:
            cells[i], set_content = new_cell()
            set_content(former)
    if all(map(lambda x, y: x is y, cells, function.__closure__)):
        return function
    new = function_like(function, function.__globals__, tuple(cells))
    new.__dict__.update(vars(function))
    return new


def function_like(function, scope, cells):
    """Returns a function with the same code and defaults, but no attributes."""
    new = types.FunctionType(function.__code__, scope, function.__name__,
                             function.__defaults__, cells or None)
    new.__kwdefaults__ = function.__kwdefaults__
    functools.update_wrapper(new, function, updated=())
    del new.__wrapped__
    return new


def new_cell():
    """Returns a new closure cell and a function that sets its contents."""
    value = None

    def get():
        return value

    def set_content(new):
        nonlocal value
        value = new
    return get.__closure__[0], set_content
