"""Tests of the Markdown for issues and pull requests."""
import pytest

from contribute.markdown import unwrapped


@pytest.mark.once
@pytest.mark.parametrize('text, expected', [
    ('One line\nand another.\n', 'One line and another.\n'),
    ('# A\nb\nc\n\nd\n', '# A\nb c\n\nd\n'), ('a\n- b\n- c\n', 'a\n- b\n- c\n'),
    ('a\n```\nb\nc\n```\nd\n', 'a\n```\nb\nc\n```\nd\n'), ('- a\nb\n', '- a b\n'),
    ('One\ntwo\nthree\n\nfour\nfive\n', 'One two three\n\nfour five\n'),
    ('# A heading\nand text\n', '# A heading\nand text\n'),
    ('- an item\n  goes on\n- another\n', '- an item goes on\n- another\n'),
    ('1. an item\n   goes on\n2. another\n', '1. an item goes on\n2. another\n'),
    ('- an item\n  - an inner one\n', '- an item\n  - an inner one\n'),
    ('Text:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nMore\ntext.\n',
     'Text:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nMore text.\n'),
    ('```python\na = 1\n\n    b\n```\n', '```python\na = 1\n\n    b\n```\n')])
def test_each_paragraph_is_one_line(text, expected):
    assert unwrapped(text) == expected
