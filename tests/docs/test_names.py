"""Every name of the library that the documentation writes out exists."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
NAME = re.compile(r"`(elastocal\.[A-Za-z0-9_.]+?)(?:\([^`]*\))?`")


def exists(name: str) -> bool:
    parts = name.split(".")
    found: object = import_module(parts[0])
    for i, part in enumerate(parts[1:], 2):
        if hasattr(found, "__path__") and find_spec(".".join(parts[:i])) is not None:
            found = import_module(".".join(parts[:i]))
        elif part in getattr(found, "__dataclass_fields__", {}):
            return True
        elif hasattr(found, part):
            found = getattr(found, part)
        else:
            return False
    return True


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_names_exist(page: Path) -> None:
    names = sorted(set(NAME.findall(page.read_text(encoding="utf-8"))))
    assert [n for n in names if not exists(n)] == []
