"""Sphinx configuration: Markdown pages, generated tables, formulas as MathML.  Nothing is fetched."""

import gc
import sys
from pathlib import Path

gc.disable()  # pages are trees that stay: searching them for garbage takes a third of a build
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))
sys.path.insert(0, str(HERE.parent / "src"))

from elastocal import __version__  # noqa: E402

project = "Elastocal"
author = "The Elastocal developers"
copyright = "the Elastocal developers, BSD-3-Clause"
version = release = __version__

extensions = [
    "myst_parser",
    "api_pages",
    "command_tables",
    "file_tables",
    "mathml",
    "proofs",
    "published_cases",
    "yield_map",
]
exclude_patterns = ["_build", "_ext"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_dmath_double_inline = False
myst_heading_anchors = 3

# Equations carry the number of their chapter: (2.7).  numfig brings that about; there are no other numbered figures.
numfig = True
numfig_secnum_depth = 1
html_math_renderer = "mathml"
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["mathml.css", "cases.css"]
html_title = f"Elastocal {__version__}"
html_show_sphinx = False
html_copy_source = False
