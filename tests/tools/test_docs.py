"""What the docs show is what the models and the data say."""
import os
import re
import sys

import keras_clone
import matrix
import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, 'benchmarks'), os.path.join(ROOT, 'docs')]
import cloning  # noqa: E402
import table  # noqa: E402


def read(*parts):
    with open(os.path.join(ROOT, *parts), encoding='utf-8') as stream:
        return stream.read()


@pytest.mark.once
def test_the_tables_of_the_page_say_what_the_data_say():
    text = read('README.md')
    assert text == table.page(text, table.recorded())


@pytest.mark.once
def test_the_data_are_about_the_models_of_the_gallery():
    from keras_clone.check import gallery
    line = keras_clone.keras_release()[0]
    for each in table.recorded():
        for rows in each['models'].values() if each['keras'][0] == line else ():
            assert [row['model'] for row in rows] == [
                build.title for build in gallery.MODELS]


@pytest.mark.once
def test_the_overlay_clones_every_model_of_the_table():
    outcomes = {row['outcome'] for each in table.recorded()
                for row in each['models']['overlay']}
    assert outcomes == {'faithful'}


@pytest.mark.once
def test_a_page_without_the_place_of_a_table_is_refused():
    with pytest.raises(ValueError, match='end of table'):
        table.page('', table.recorded())


@pytest.mark.once
@pytest.mark.parametrize('release', ['2.2.4', '2.3.1'])
def test_the_diff_on_the_page_is_the_patch(release):
    patch = read('patches', release, '0001-one-mask-per-output.patch')
    assert f"```diff\n{patch[patch.index('@@'):]}```" in read('README.md')


def test_the_pictures_are_those_of_the_live_models():
    pytest.importorskip('drawsvg', reason='It needs Python 3.7.')
    import pictures
    drawn = pictures.drawn()
    if not drawn:
        pytest.skip('No picture is about this Keras and this backend.')
    for path, svg in drawn:
        assert svg == pictures.committed(path)


@pytest.mark.once
def test_every_picture_is_about_a_release_of_the_matrix():
    pytest.importorskip('drawsvg', reason='It needs Python 3.7.')
    import pictures
    releases = {picture.keras for picture in pictures.PICTURES}
    for release in releases:
        assert release.replace('.', '') in read('tox.ini')


@pytest.mark.once
@pytest.mark.parametrize('page', ['README.md', 'CONTRIBUTING.md'])
def test_links_to_files_lead_to_files(page):
    for link in re.findall(r'\]\(([^)#:]+)(?:#[^)]*)?\)', read(page)):
        assert os.path.exists(os.path.join(ROOT, link)), link


@pytest.mark.once
def test_the_page_of_releases_and_backends_says_what_the_data_say():
    assert read('docs', 'matrix.md') == matrix.page(matrix.recorded())


@pytest.mark.once
def test_the_page_of_costs_says_what_the_data_say():
    runs = cloning.recorded()
    assert read('docs', 'performance.md') == cloning.page(runs)
    for run in runs:
        assert os.path.exists(cloning.PLOT.format(**run))
