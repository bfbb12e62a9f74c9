"""What goes to Keras 3 with a patch: an issue, a pull request, a class of tests.

All of it is in the page beside the patch: `patches/<release>/<name>.md`.
"""
import collections
import re

Proposal = collections.namedtuple(
    'Proposal', 'issue code expected actual pull_request test_file test_class')

ADVICE = """
What Keras asks of a pull request (its CONTRIBUTING.md, and issue 23601):
1. Open the issue first, unless there is one. Begin with the pull request when the
   issue is assigned to you, and put its number in place of #ISSUE: without an issue
   that is assigned to its author, a pull request is made a draft.
2. One bug a pull request, and at most three of yours ready for review at a time.
3. Run `pre-commit run --files {files}` and `pytest {tests}`.
   The formatter is ruff, at 80 columns.
4. Sign the contributor license agreement when the check `cla/google` asks for it.
5. You answer for it: be sure that you understand every line, disclose in the
   description which AI tools had a part in it, tick the boxes of Keras's template
   yourself, and answer the reviewers yourself, within seven days.
"""
TEXT = """\
{}
# Pull request: {}

## Description

Fixes #ISSUE.
{}
Lines added: {}, removed: {}.

AI tools: <!-- Say which had a part in this, and in what. -->
"""


def proposal(patch):
    """Reads the page that belongs to a patch for Keras 3.

    # Arguments
        patch: One of those that `patches.patches_of` gives.

    # Returns
        A named tuple of strings: the text of the `issue`; the `code` that reproduces
        it, what that prints if all is well (`expected`) and what it prints or raises
        on the release (`actual`); the text of the `pull_request`; the `test_file`
        of Keras that gets the tests and the `test_class` that holds them.
    """
    with open(patch.path[:-len('.patch')] + '.md', encoding='utf-8') as stream:
        issue, pull_request = stream.read().split('\n# Pull request: ')
    code, expected, actual = re.findall(r'^```\w*\n(.*?)\n```$', issue, re.M | re.S)
    test_file, test_class = re.search(
        r'^Tests: `(\S+)`, class `(\w+)`', pull_request, re.M).groups()
    return Proposal(issue, code, expected, actual, pull_request, test_file,
                    test_class)


def proposal_text(patch):
    """The texts of the issue to open and of the pull request.

    # Returns
        A string, Markdown.
    """
    texts = proposal(patch)
    title, _, body = texts.pull_request.partition('\n')
    return TEXT.format(texts.issue, title, body, patch.added, patch.removed)


def advice(patch):
    """What is left to do, once a patch and its tests are staged."""
    tests = proposal(patch).test_file
    return ADVICE.format(files=patch.file + ' ' + tests, tests=tests)
