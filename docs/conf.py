"""Settings of Sphinx."""
import os
import re

import keras_clone

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')

project = 'keras-clone'
author = copyright = 'The keras-clone authors'
version = release = keras_clone.__version__

extensions = ['myst_parser', 'sphinx.ext.autodoc', 'sphinx.ext.napoleon']
exclude_patterns = ['_build', 'data']
myst_heading_anchors = 3
html_theme = 'furo'
html_title = 'keras-clone ' + version
html_theme_options = {'source_directory': 'docs/'}


def keras_sections(app, what, name, obj, options, lines):
    """Turns the headings of Keras 2's docstrings into those that Sphinx knows."""
    lines[:] = [re.sub(r'^# (\w+)$', r'\1:', line) for line in lines]


def setup(app):
    app.connect('autodoc-process-docstring', keras_sections, priority=400)
