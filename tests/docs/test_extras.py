"""Extras: what pages say of them is what the project declares and the code asks for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from elastocal.errors import ExtraMissingError

ROOT = Path(__file__).parents[2]
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
OF_USERS = set(DECLARED) - {"test", "docs", "bench"}
SOURCES = {p: p.read_text("utf-8") for p in (ROOT / "src").rglob("*.py")}
PAGES = {
    p: p.read_text("utf-8") for p in (*(ROOT / "docs").rglob("*.md"), ROOT / "README.md") if "_build" not in p.parts
}


def test_the_page_of_installation_lists_every_extra() -> None:
    listed = re.findall(r"^\| `\.\[(\w+)\]` \|", (ROOT / "docs" / "install.md").read_text("utf-8"), re.MULTILINE)
    assert set(listed) == OF_USERS
    assert len(listed) == len(OF_USERS)


def test_every_extra_that_code_asks_for_is_declared() -> None:
    asked = {
        e
        for text in SOURCES.values()
        for e in re.findall(r"ExtraMissingError\.needed\(\s*f?\"[^\n]*?\",\s*\"(\w+)\"", text)
    }
    assert {"formats", "fleet", "pdf", "studio", "mcmc", "cluster", "mesh"} <= asked <= OF_USERS


def test_the_readme_claims_nothing_that_set_up_does_not_bring() -> None:
    """make setup installs the project alone; what needs more is marked."""
    makefile, readme = (ROOT / "Makefile").read_text("utf-8"), PAGES[ROOT / "README.md"]
    assert "\t$(PIP) -e .\n" in makefile
    assert "everything in it" not in readme
    for word in ("Excel", "xacro", "MCAP", "emcee", "(`history`)", "(`studio`)"):
        rows = [line for line in readme.splitlines() if line.startswith("| ") and word in line]
        assert rows, word
        assert all(re.search(rf"{re.escape(word)} \[\d\]", row) for row in rows), word


@pytest.mark.parametrize("extra", sorted(OF_USERS))
def test_the_command_can_be_typed_in_any_shell(extra: str) -> None:
    """Double quotes: cmd.exe hands single ones on, zsh takes bare brackets for a pattern."""
    assert str(ExtraMissingError.needed("it needs more", extra)) == f'it needs more; pip install "elastocal[{extra}]"'
    bad = re.compile(rf"pip install '?(?:elastocal|\.)\[{extra}")
    assert [p.name for p, text in (SOURCES | PAGES).items() if bad.search(text)] == []
