"""The studio calls the front door: what computes, what opens files and the store are reached through it alone."""

from __future__ import annotations

import ast
from pathlib import Path

import elastocal.studio as package

FOLDER = Path(package.__file__ or "").parent
REACHED = ("__version__", "desk", "errors", "report", "results", "studio", "values")
"""Names of ``import elastocal`` that are modules, how results are shown, and the decorator of frozen values."""


def imported(module: Path) -> set[str]:
    tree = ast.parse(module.read_text(encoding="utf-8"))
    names = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    return names | {f"{n.module}.{a.name}" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names}


def test_pages_reach_the_library_by_its_front_door() -> None:
    for module in FOLDER.glob("*.py"):
        names = imported(module)
        own = {n.removeprefix("elastocal.") for n in names if n.startswith("elastocal.")}
        assert {n.partition(".")[0] for n in own} <= set(REACHED), (module.name, own)
        assert not [n for n in names if n.partition(".")[0] in ("numpy", "scipy")], module.name
