"""The texts that go with a patch for Keras 3: an issue and a pull request.

Both are in the page next to the patch, `patches/<release>/<name>.md`, which also
names the tests.
"""
import ast
import collections
import os
import re

from contribute.markdown import unwrapped
from contribute.patches import ROOT

Proposal = collections.namedtuple(
    'Proposal',
    'issue code expected actual pull_request test_file test_class replaced')

# The line, for this project alone, that names the patches which a patch replaces.
REPLACED = '^<!-- in place of (.*) -->\n'

ADVICE = """
What Keras requires of a pull request (see its CONTRIBUTING.md and issue 23601):
1. Open the issue first, unless it exists. Open the pull request when the issue is
   assigned to you, and replace #ISSUE with its number. A pull request without an
   issue that is assigned to its author is converted to a draft.
2. One pull request per bug, and no more than three ready for review at a time.
3. Run `pre-commit run --files {files}` and `pytest {tests}`.
   The formatter is ruff, at 80 columns.
4. Sign the contributor license agreement when the check `cla/google` asks for it.
5. You are responsible for the change: make sure that you understand every line,
   disclose in the description which AI tools were used, tick the boxes of Keras's
   template yourself, and answer the reviewers yourself, within seven days.
"""
TEXT = """\
{}
# Pull request: {}

## Description

Fixes #ISSUE.

{}

Tests in `{}` that fail without this change:

{}

Tests that pass with and without it, and guard what works:

{}

AI tools: <!-- List those that were used, and for what. -->
"""


def proposal(patch):
    """Reads the page that belongs to a patch for Keras 3.

    # Arguments
        patch: A patch from `patches.patches_of`.

    # Returns
        A named tuple of strings: the text of the `issue`; the `code` that reproduces
        it, its `expected` output and its `actual` output on the release; the text of
        the `pull_request`; Keras's `test_file` to which the tests are added and the
        `test_class` to add; the numbers of the patches that this one
        takes the place of, `replaced`.
    """
    with open(patch.path[:-len('.patch')] + '.md', encoding='utf-8') as stream:
        issue, pull_request = stream.read().split('\n# Pull request: ')
    code, expected, actual = re.findall(r'^```\w*\n(.*?)\n```$', issue, re.M | re.S)
    test_file, test_class = re.search(
        r'^Tests: `(\S+)`, class `(\w+)`', pull_request, re.M).groups()
    return Proposal(issue, code, expected, actual, pull_request, test_file,
                    test_class, _replaced(issue))


def _replaced(issue):
    line = re.search(REPLACED, issue, re.MULTILINE)
    return re.findall(r'\d+', line.group(1)) if line else []


def proposal_text(patch):
    """The texts of the issue to open and of the pull request.

    # Returns
        A string, Markdown.
    """
    texts = proposal(patch)
    title, _, body = texts.pull_request.partition('\n')
    names = tests_of(patch)
    lists = ['\n'.join(f'- `{texts.test_class}.{name}`' for name in names
                       if ('guard' in name) == guards) for guards in (False, True)]
    body = body.partition('\nTests: `')[0].strip()
    issue = re.sub(REPLACED, '', texts.issue, flags=re.MULTILINE)
    return unwrapped(TEXT.format(issue, title, body, texts.test_file, *lists))


def tests_of(patch):
    """The names of the tests that go with a patch."""
    texts = proposal(patch)
    with open(os.path.join(ROOT, 'tests', *texts.test_file.split('/'))) as stream:
        tree = ast.parse(stream.read())
    only, = (node for node in tree.body
             if getattr(node, 'name', None) == texts.test_class)
    return [node.name for node in only.body if node.__class__ is ast.FunctionDef
            and node.name.startswith('test_')]


def advice(patch):
    """The remaining steps after a patch and its tests are staged."""
    tests = proposal(patch).test_file
    files = [part.file for part in patch.parts] + [tests]
    return ADVICE.format(files=' '.join(files), tests=tests)
