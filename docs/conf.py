"""Sphinx settings. `make docs` builds the pages; notebooks are executed before they are committed."""

project = "lopsided"
author = "the lopsided authors"
extensions = ["myst_nb"]
html_theme = "furo"
html_title = "lopsided"
exclude_patterns = ["_build"]
myst_enable_extensions = ["dollarmath", "amsmath"]
nb_execution_mode = "off"
