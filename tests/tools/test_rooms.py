"""The runtime, the judge, `contribute` and `evidence`: who may import whom."""
import ast
import os
from glob import glob

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Without `__main__`: the command uses both the runtime and the check.
MODULES = [os.path.basename(path)[:-3]
           for path in glob(os.path.join(ROOT, 'keras_clone', '*.py'))]
RUNTIME = ['setup.py', 'keras_clone_start.py', 'keras/**/*.py'] + [
    f'keras_clone/{name}.py' for name in MODULES if name != '__main__']
# What it shared with the code that it judges, the check could not see.
JUDGED = tuple(f'keras_clone.{name}' for name in MODULES
               if name not in ('__init__', 'overlay'))
ROOMS = [(RUNTIME, ('keras_clone.check', 'contribute', 'evidence')),
         (['keras_clone/**/*.py'], ('contribute', 'evidence')),
         (['keras_clone/check/**/*.py'], JUDGED + ('dis',)),
         (['contribute/**/*.py'], ('keras_clone.check', 'evidence'))]


def imports_of(path):
    """Returns the full names of what a file imports, anywhere in it."""
    package = os.path.relpath(os.path.dirname(path), ROOT).split(os.sep)
    with open(path, encoding='utf-8') as stream:
        for node in ast.walk(ast.parse(stream.read())):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                above = package[:len(package) + 1 - node.level] if node.level else []
                for alias in node.names:
                    yield '.'.join(filter(None, above + [node.module, alias.name]))


@pytest.mark.parametrize('patterns, other_rooms', ROOMS)
def test_a_part_imports_nothing_from_those_that_build_on_it(patterns, other_rooms):
    paths = [path for pattern in patterns
             for path in glob(os.path.join(ROOT, pattern), recursive=True)]
    assert paths
    for path in paths:
        for name in imports_of(path):
            assert not (name + '.').startswith(tuple(
                room + '.' for room in other_rooms)), path


def test_imports_are_found_in_every_form(tmp_path):
    path = tmp_path / 'module.py'
    path.write_text('import a.b, c\n\ndef function():\n    from d import e\n')
    assert list(imports_of(str(path))) == ['a.b', 'c', 'd.e']


def test_relative_imports_are_found():
    path = os.path.join(ROOT, 'keras_clone', 'hook.py')
    assert 'keras_clone.overlay' in imports_of(path)
