"""Adds the tests of this project to a test file of Keras."""
import ast


class CannotMerge(ValueError):
    """The tests cannot be added; the message tells why."""


def with_tests(name, theirs, ours, only=None):
    """Adds tests at the end of a file.

    # Arguments
        name: What the file is called in messages.
        theirs: String, the text of Keras's test file.
        ours: String, the text of a test file of this project.
        only: None to add all functions and classes of `ours` and refuse a file that
            does not import what they use; or the name of the class to add, with the
            imports that it uses.

    # Returns
        A string, the new text.

    # Raises
        CannotMerge: If `theirs` is not valid Python, has the tests already or does
            not import what they use.
    """
    try:
        tree = ast.parse(theirs)
    except SyntaxError as error:
        raise CannotMerge(f'{name} is not valid Python: {error}')
    added = [node for node in _definitions(ast.parse(ours))
             if only in (None, node.name)]
    twice = sorted({node.name for node in added} &
                   {node.name for node in _definitions(tree)})
    if twice:
        raise CannotMerge(f'The tests are in {name} already: {twice[0]}.')
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
    """A dict from the names that are imported to the statements, as text."""
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
    """The names that functions and classes use of those that are imported."""
    used = {node.id for part in nodes for node in ast.walk(part)
            if isinstance(node, ast.Name)}
    return used & set(_imports(tree))


def _with_import(text, statement):
    """Adds an import where isort would, as Keras 3 has it: one name a line."""
    lines = text.split('\n')
    known = [number for number, line in enumerate(lines)
             if line.startswith(('import ', 'from '))]
    before = [number for number in known if _rank(lines[number]) < _rank(statement)]
    place = before[-1] + 1 if before else known[0]
    return '\n'.join(lines[:place] + [statement] + lines[place:])


def _rank(statement):
    words = statement.split()
    return words[1].split('.')[0] == 'keras', words[0] == 'from', words


def _start_of_main(tree, otherwise):
    last = tree.body[-1] if tree.body else None
    return last.lineno - 1 if isinstance(last, ast.If) else otherwise


def _text(source, nodes):
    """The text of functions and classes that follow one another."""
    tree, lines = ast.parse(source), source.rstrip('\n').split('\n')
    known = _definitions(tree)
    after = known[[node.name for node in known].index(nodes[-1].name) + 1:]
    end = _start(after[0]) if after else _start_of_main(tree, len(lines))
    return '\n'.join(lines[_start(nodes[0]):end]).rstrip('\n')


def _start(node):
    return min(part.lineno for part in [node] + node.decorator_list) - 1
