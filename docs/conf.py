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
default_role = 'code'
html_theme = 'furo'
html_title = 'keras-clone ' + version
html_theme_options = {'source_directory': 'docs/'}
html_static_path = ['_static']
html_css_files = ['custom.css']
html_js_files = ['accessible.js', 'search.js']
# The styles of Pygments that have enough contrast.
pygments_style = 'default'
pygments_dark_style = 'github-dark'


def code_block(match):
    code = match.group(2).replace('\n', '\n    ')
    return match.expand(r'\1.. code-block:: python\n\n\1    ') + code.strip()


def keras_sections(app, what, name, obj, options, lines):
    """Converts docstrings, Markdown in the style of Keras 2, for Sphinx."""
    text = re.sub(r'^# (\w+)$', r'\1:', '\n'.join(lines), flags=re.MULTILINE)
    text = re.sub(r'( *)```python\n(.*?)\n *```', code_block, text, flags=re.DOTALL)
    lines[:] = text.split('\n')


def setup(app):
    app.connect('autodoc-process-docstring', keras_sections, priority=400)
