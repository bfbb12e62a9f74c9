"""The docs agree with the models and with the data."""
import os
import re

import keras_clone
import pytest

from evidence import costs, matrix, other_fixes, pages, random_models, real_models
from evidence import records, summary, table

pytestmark = pytest.mark.once


@pytest.mark.parametrize('module', [costs, matrix, other_fixes, random_models,
                                    real_models],
                         ids=lambda module: module.PAGE)
def test_a_page_agrees_with_the_data(module):
    assert pages.read(module.PAGE) == module.page(records.read(module.DATA))


@pytest.mark.parametrize('name', [table.RESULTS, table.SYMPTOMS])
def test_a_page_of_the_gallery_agrees_with_the_data(name):
    assert pages.read(name) == table.written(records.read(table.DATA))[name]


def test_the_headings_of_the_symptoms_are_the_messages():
    text = pages.read(table.SYMPTOMS)
    headings = re.findall('^## (?:`+)?(.*?)(?:`+)?$', text, re.M)
    assert len(headings) > 10 and sorted(headings) == sorted({
        table.message(*each['figures']['released'])
        for each in records.read(table.DATA)
        if each['figures']['released'][0] in table.MOMENTS})


def test_the_page_of_costs_has_its_pictures():
    for path in re.findall(r':file: (.*)', pages.read(costs.PAGE)):
        assert os.path.exists(pages.path_of('docs/' + path))


def test_the_data_are_about_the_models_of_the_gallery():
    from keras_clone.check import gallery
    major = keras_clone.keras_release()[0]
    for release in records.grouped(records.read(table.DATA), records.release_of):
        if records.release_of(release[0])[0] == major:
            assert {each['what'] for each in release} == {
                build.title for build in gallery.MODELS}


def test_the_overlay_clones_every_model_of_the_gallery():
    outcomes = {each['figures']['overlay'][0] for each in records.read(table.DATA)}
    assert outcomes == {'faithful'}


def test_the_readme_agrees_with_the_data():
    text = pages.read(summary.PAGE)
    assert summary.with_table(text) == text


def test_a_page_without_the_place_of_the_summary_is_refused():
    with pytest.raises(ValueError, match='end of measured'):
        summary.with_table('')


@pytest.mark.parametrize('release, page', [
    ('2.2.4', 'README.md'), ('2.2.4', 'docs/patches.md'),
    ('2.3.1', 'docs/patches.md')])
def test_the_diff_on_a_page_is_the_patch(release, page):
    patch = pages.read(f'patches/{release}/0001-one-mask-per-output.patch')
    assert f"```diff\n{patch[patch.index('@@'):]}```" in pages.read(page)


def test_every_picture_is_about_a_release_of_the_matrix():
    from evidence import pictures
    releases = {picture.keras for picture in pictures.PICTURES}
    for release in releases:
        assert release.replace('.', '') in pages.read('tox.ini')


@pytest.mark.parametrize('page', ['README.md', 'CONTRIBUTING.md'])
def test_links_to_files_lead_to_files(page):
    for link in re.findall(r'\]\(([^)#:]+)(?:#[^)]*)?\)', pages.read(page)):
        assert os.path.exists(pages.path_of(link)), link
