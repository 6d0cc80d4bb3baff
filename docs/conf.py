"""Sphinx configuration: Markdown pages, generated tables, formulas as MathML.  Nothing is fetched."""

import contextlib
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))
sys.path.insert(0, str(HERE.parent / "src"))

from elastocal import __version__  # noqa: E402

# autodoc changes the annotations of pydantic's base class as it documents models; those of FastAPI are made before that
with contextlib.suppress(ImportError):
    import fastapi  # noqa: F401

project = "Elastocal"
author = "The Elastocal developers"
copyright = "the Elastocal developers, BSD-3-Clause"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "api_pages",
    "command_tables",
    "file_tables",
    "found_names",
    "mathml",
    "plain_docstrings",
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

# The contents beside a page list its modules; with every function and field they took a fifth of the build.
toc_object_entries = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_use_type_comments = False  # there are none, and looking for them took a tenth of the build
autodoc_type_aliases = {"Array": "Array", "Entry": "Entry", "Matrix3": "Matrix3", "Row3": "Row3"}
autodoc_default_options = {"members": True}

# Some folders use the same short word for their own thing (an Estimate of arcs, one of loops): such a word in a
# signature is left without a link.
suppress_warnings = ["ref.python"]
