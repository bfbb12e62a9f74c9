"""Fails unless the search of the built docs finds the page of each symptom.

    python docs/check_search.py docs/_build/html

It looks the words of each message up in Sphinx's index, as the page of the search
does: all of them have to be on the page of symptoms, and its section has to be among
the titles.
"""
import json
import os
import re
import sys

from sphinx.search.en import SearchEnglish

PAGE = 'symptoms'


def messages():
    """The headings of the page of symptoms, as text."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), PAGE + '.md')
    with open(path, encoding='utf-8') as file:
        headings = re.findall('^## (.*)$', file.read(), re.MULTILINE)
    return [re.sub('^(`+)(.*?)\\1$', r'\2', heading) for heading in headings]


def pages_with(message, index):
    """The names of the pages that have all words of a message."""
    language, found = SearchEnglish({}), set(index['docnames'])
    for word in language.split(message.lower()):
        if word not in language.stopwords and len(word) > 2:
            pages = [_list(index[kind].get(language.stem(word), []))
                     for kind in ('terms', 'titleterms')]
            found &= {index['docnames'][page] for page in sum(pages, [])}
    return found


def pages_titled(message, index):
    """The names of the pages with a section of this title."""
    places = index['alltitles'].get(message, [])
    return {index['docnames'][page] for page, _ in places}


def _list(pages):
    return pages if isinstance(pages, list) else [pages]


def main(folder):
    with open(os.path.join(folder, 'searchindex.js'), encoding='utf-8') as file:
        text = re.search(r'^Search.setIndex\((.*)\)$', file.read()).group(1)
    index = json.loads(text)
    expected = messages()
    missed = [each for each in expected
              if PAGE not in pages_with(each, index) & pages_titled(each, index)]
    if missed or not expected:
        sys.exit('The search finds no page of: {}'.format('; '.join(missed)))


if __name__ == '__main__':
    main(sys.argv[1])
