"""Pages of the API, made from the packages themselves: ``{api} elastocal.files`` lists every module in a package."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any, ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

SCRIPTS = (".migrations.env",)
"""What a tool runs and nobody imports."""
TABLES = ("elastocal.files.units.DIMENSIONS",)
"""Values that a page shows elsewhere, as a table."""


def modules(package: str) -> list[str]:
    """Every module in a package and in the packages inside it, in order of their names; a module is its own."""
    folder = importlib.import_module(package)
    if not hasattr(folder, "__path__"):
        return [package]
    found = (m.name for m in pkgutil.walk_packages(folder.__path__, f"{package}."))
    return sorted(name for name in found if not name.endswith(SCRIPTS))


def api_text(package: str) -> str:
    """Markdown with one section per module."""
    parts = []
    for name in modules(package):
        hidden = [t.rpartition(".")[2] for t in TABLES if t.startswith(f"{name}.")]
        options = f"   :exclude-members: {', '.join(hidden)}\n" if hidden else ""
        title = name.removeprefix("elastocal.")
        parts.append(f"## {title}\n\n```{{eval-rst}}\n.. automodule:: {name}\n{options}```\n")
    return "\n".join(parts)


class Api(SphinxDirective):
    """``{api} elastocal.files``"""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes(api_text(self.arguments[0]), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("api", Api)
    return {"parallel_read_safe": True}
