"""The words of the trade (VIM, GUM, ISO 9283): names, messages and pages have no private ones in their place.

Names are those of functions, classes, arguments and fields; messages are strings of the code that are no docstrings.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "elastocal"
MODULES = sorted(SOURCE.rglob("*.py"))
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"])

NAMES = {
    "gross": "outlier", "suspect": "outlier", "suspects": "outlier", "unsought": "omitted", "strayed": "conflict",
    "belief": "prior", "beliefs": "prior", "offer": "candidates", "bank": "candidates", "pushing": "applied load",
    "rebuilt": "derived", "rebuild": "derive", "rebuilding": "derivation", "yielding": "compliant",
}  # fmt: skip
"""Parts of names, by what to write."""
PHRASES = {
    r"gross errors?": "outlier", r"suspects?": "outlier", r"bad numbers?": "outlier", r"doubtful readings?": "outlier",
    r"readings that decide most": "leverage", r"strayed": "prior conflict", r"unsought": "omitted parameter",
    r"(does|do|did) not settle": "converge", r"act together": "not separately identifiable",
    r"common source": "nuisance parameter", r"robot taken for true": "simulated robot", r"expected rest": "residual",
    r"what this rests on": "Inputs and versions", r"told minus stated": "correction", r"rebuilt": "derived",
    r"what moved is explained": "R2", r"yielding": "compliant", r"(half|with) (the )?play": "backlash",
}  # fmt: skip
"""What people read, by what to write."""
PRINTED = ("k11_rebuilt_error_percent",)
"""Names of figures of published cases, which scripts rely on."""
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
OWN_LANGUAGE = ("app", "studio", "__main__.py")
"""Where options of the command line are at home."""


@cache
def trees() -> tuple[tuple[Path, ast.Module], ...]:
    return tuple((path.relative_to(SOURCE), ast.parse(path.read_text(encoding="utf-8"))) for path in MODULES)


def names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def messages(tree: ast.Module) -> Iterator[str]:
    """Strings that are an expression of their own are documentation."""
    loose = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in loose:
            yield node.value


def private(text: str) -> list[str]:
    return [p for p in PHRASES if re.search(rf"\b{p}\b", text, re.IGNORECASE)]


def test_no_name_has_a_private_word() -> None:
    found = [
        f"{path}: {name} ({NAMES[part]})"
        for path, tree in trees()
        for name in names(tree)
        for part in (p.lower() for p in re.findall(r"[A-Z]?[a-z]+", name))
        if part in NAMES
    ]
    assert found == []


def test_no_message_has_a_private_word() -> None:
    found = [
        f"{path}: {text[:60]!r} ({PHRASES[p]})"
        for path, tree in trees()
        for text in messages(tree)
        if not text.startswith(PRINTED)
        for p in private(text)
    ]
    assert found == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_no_page_has_a_private_word(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    assert [f"{i}: {line[:60]} ({PHRASES[p]})" for i, line in enumerate(lines, 1) for p in private(line)] == []


def test_the_library_names_no_option_of_the_command_line() -> None:
    """An error carries the ``parameter``; the command line adds its option."""
    found = [
        f"{path}: {text[:60]!r}"
        for path, tree in trees()
        if path.parts[0] not in OWN_LANGUAGE
        for text in messages(tree)
        if FLAG.search(text)
    ]
    assert found == []


def test_a_private_word_is_seen() -> None:
    tree = ast.parse(
        'class Gross_size:\n    """gross error"""\n    rebuilt: int\n\ndef f(x):\n    return f"{x} Suspects"\n'
    )
    assert [n for n in names(tree) if {p.lower() for p in re.findall(r"[A-Z]?[a-z]+", n)} & NAMES.keys()] == [
        "Gross_size",
        "rebuilt",
    ]
    assert [private(m) for m in messages(tree)] == [["suspects?"]]
    assert FLAG.search("give it by --near, or")
    assert not FLAG.search("a -- b, x--y")


CODED = ("reduction", "report", "store")
"""Folders whose every error says by a code what is wrong; one that joins them stays."""


def test_errors_carry_a_code() -> None:
    found = [
        f"{path}:{node.lineno}"
        for path, tree in trees()
        if path.parts[0] in CODED
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
        if isinstance(node.exc.func, ast.Name) and node.exc.func.id == "InputError"
        if not any(k.arg in ("code", None) for k in node.exc.keywords)
    ]
    assert found == []
