"""Sphinx settings. `make docs` builds the pages; notebooks are executed before they are committed."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "lopsided"
author = "the lopsided authors"
copyright = "the lopsided authors, Apache-2.0"
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "cyclopts.sphinx_ext",
    "sphinx-mathjax-offline",
    "recipe_pages",
    "spec_page",
    "decision_page",
]
html_theme = "furo"
html_title = "lopsided"
exclude_patterns = ["_build", "jupyter_execute", "rows"]
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_heading_anchors = 2
nb_execution_mode = "off"
nb_code_prompt_show = "Show the set-up"
nb_code_prompt_hide = "Hide the set-up"
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
