"""Adds the tests of this project to a test file of Keras."""
import ast
import os
import sys
import sysconfig


class CannotMerge(ValueError):
    """The tests cannot be added; the message says why."""


def with_tests(name, theirs, ours, only=None):
    """Adds tests at the end of a file.

    # Arguments
        name: The name of the file, for messages.
        theirs: String, the text of Keras's test file.
        ours: String, the text of a test file of this project.
        only: The name of the class to add, together with the imports that it uses.
            None: add all functions and classes of `ours`, but no imports; the file
            must have them.

    # Returns
        A string, the new text.

    # Raises
        CannotMerge: If `theirs` is not valid Python, already has the tests or lacks
            imports that they use.
    """
    try:
        tree = ast.parse(theirs)
    except SyntaxError as error:
        raise CannotMerge(f'{name} is not valid Python: {error}')
    added = [node for node in _definitions(ast.parse(ours))
             if only in (None, node.name)]
    existing = sorted({node.name for node in added} &
                      {node.name for node in _definitions(tree)})
    if existing:
        raise CannotMerge(f'The tests are already in {name}: {existing[0]}.')
    lines = theirs.rstrip('\n').split('\n')
    end = _start_of_main(tree, len(lines))
    parts = ['\n'.join(lines[:end]), _text(ours, added), '\n'.join(lines[end:])]
    merged = '\n\n\n'.join(part.strip('\n') for part in parts if part) + '\n'
    missing = sorted(_used(added, ast.parse(ours)) - set(_imports(tree)))
    if missing and only is None:
        raise CannotMerge('{} should import {}, which the tests use.'.format(
            name, ', '.join(missing)))
    for imported in missing:
        merged = _with_import(merged, _imports(ast.parse(ours))[imported])
    return merged


def _definitions(tree):
    return [node for node in tree.body
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))]


def _imports(tree):
    """A dict from imported names to the import statements, as text."""
    found = {}
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for name in node.names:
                bound = (name.asname or name.name).split('.')[0]
                text = 'import ' + name.name
                if isinstance(node, ast.ImportFrom):
                    text = f'from {node.module} {text}'
                if name.asname:
                    text += ' as ' + name.asname
                found[bound] = text
    return found


def _used(nodes, tree):
    """The imported names that functions and classes use."""
    used = {node.id for part in nodes for node in ast.walk(part)
            if isinstance(node, ast.Name)}
    return used & set(_imports(tree))


def _with_import(text, statement):
    """Adds an import where isort would with Keras 3's settings: one name a line."""
    lines, rank = text.split('\n'), _rank(statement)
    known = [number for number, line in enumerate(lines)
             if line.startswith(('import ', 'from '))]
    before = [number for number in known if _rank(lines[number]) < rank]
    after = [number for number in known if _rank(lines[number]) > rank]
    if before and _rank(lines[before[-1]])[0] == rank[0]:
        place, added = before[-1] + 1, [statement]
    elif after and _rank(lines[after[0]])[0] == rank[0]:
        place, added = after[0], [statement]
    elif after:
        place, added = after[0], [statement, '']
    else:
        place, added = known[-1] + 1, ['', statement]
    return '\n'.join(lines[:place] + added + lines[place:])


def _rank(statement):
    """The block of imports to which a statement belongs, and its place in there."""
    words = statement.split()
    module = words[1].split('.')[0]
    block = 2 if module == 'keras' else 0 if _is_standard(module) else 1
    return block, words[0] == 'from', words


def _is_standard(module):
    path = os.path.join(sysconfig.get_path('stdlib'), module)
    return (module in sys.builtin_module_names or os.path.isdir(path) or
            os.path.exists(path + '.py'))


def _start_of_main(tree, default):
    last = tree.body[-1] if tree.body else None
    is_main = isinstance(last, ast.If) and '__name__' in {
        node.id for node in ast.walk(last.test) if isinstance(node, ast.Name)}
    return last.lineno - 1 if is_main else default


def _text(source, nodes):
    """The text of consecutive functions and classes."""
    tree, lines = ast.parse(source), source.rstrip('\n').split('\n')
    known = _definitions(tree)
    after = known[[node.name for node in known].index(nodes[-1].name) + 1:]
    end = _start(after[0]) if after else _start_of_main(tree, len(lines))
    return '\n'.join(lines[_start(nodes[0]):end]).rstrip('\n')


def _start(node):
    return min(part.lineno for part in [node] + node.decorator_list) - 1
