"""The studio calls the front door and the desk: what computes, and the store, are reached through them alone."""

from __future__ import annotations

import ast
from pathlib import Path

import elastocal.studio as package

FOLDER = Path(package.__file__ or "").parent
REACHED = ("app.desk", "errors", "files", "report", "results", "studio", "untrusted", "__version__")
"""Beside the names of ``import elastocal``: the desk, the files of a cell, and how results are shown."""
INSIDE = ("campaign", "plan", "programs", "robot", "tables", "units")
"""What stands in files of a cell is read by the front door and the desk."""
OPENED = {"folder", "uploads", "guard", "jobs", "worker"}
"""Modules that read and write files; pages go through them."""


def imported(module: Path) -> set[str]:
    tree = ast.parse(module.read_text(encoding="utf-8"))
    names = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    names |= {f"{n.module}.{a.name}" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names}
    return {n.removeprefix("elastocal.") for n in names if n.startswith("elastocal.")}


def test_pages_reach_the_library_by_its_front_door() -> None:
    for module in FOLDER.glob("*.py"):
        for name in imported(module):
            assert any(name == r or name.startswith(f"{r}.") for r in REACHED), (module.name, name)
            assert not name.startswith(tuple(f"files.{w}." for w in INSIDE)), (module.name, name)


def test_pages_open_no_files_themselves() -> None:
    opening = ("files.opened.read_bytes", "files.write.", "files.plain_data.", "files.located.", "files.lock.")
    for module in FOLDER.glob("*.py"):
        found = [n for n in imported(module) if n.startswith(opening)]
        assert module.stem in OPENED or not found, (module.name, found)
