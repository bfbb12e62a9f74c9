"""The table in README.md that sums up how many models are cloned faithfully.

The commands that record the gallery and the models of other packages write it.
"""
import re

from evidence import pages, records

PAGE = 'README.md'
SIDES = 'released', 'overlay'


def write():
    pages.write(PAGE, with_table(pages.read(PAGE)))


def with_table(text):
    """Returns the text of a page, with the table that sums up all records."""
    pattern = '(<!-- measured -->\n).*?(\n<!-- end of measured -->)'
    if not re.search(pattern, text, re.DOTALL):
        raise ValueError('The page should have the lines `<!-- measured -->` and '
                         '`<!-- end of measured -->`.')
    return re.sub(pattern, lambda match: match.group(1) + table() + match.group(2),
                  text, flags=re.DOTALL)


def table():
    """Returns the counts for the releases of which there are all records."""
    real = counts((record, each) for record in records.read('real_models')
                  for each in record['figures']['models'].values())
    gallery = counts((record, record['figures']) for record in records.read('table'))
    releases = [release for release in gallery if release in real]
    return pages.table(
        ['faithful clones, as released → with the overlay',
         *(f'Keras {release}' for release in releases)],
        [["[models of other people's packages](docs/real-models.md)",
          *(real[release] for release in releases)],
         ['[gallery](docs/results.md), mostly of models that show a bug',
          *(gallery[release] for release in releases)]])


def counts(models):
    """Returns how many models are cloned faithfully: a dict {release: text}.

    # Arguments
        models: tuples (record, dict {side: list of the outcome and the reason}).
    """
    found = {}
    for record, outcomes in models:
        release = found.setdefault(records.release_of(record), [])
        release.append([outcomes[side][0] == 'faithful' for side in SIDES])
    return {release: '{} → {} of {}'.format(*map(sum, zip(*each)), len(each))
            for release, each in found.items()}
