"""The words of the trade (VIM, GUM, ISO 9283): names, messages and pages have no private ones in their place.

Names are those of functions, classes, arguments and fields; messages are strings of the code that are no docstrings.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from oracle.sources import source, sources

ROOT = Path(__file__).parents[2]
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


def private(text: str) -> list[str]:
    return [p for p in PHRASES if re.search(rf"\b{p}\b", text, re.IGNORECASE)]


def test_no_name_has_a_private_word() -> None:
    found = [
        f"{path}: {name} ({NAMES[part]})"
        for path, name in ((s.path, name) for s in sources() for name in s.names)
        for part in (p.lower() for p in re.findall(r"[A-Z]?[a-z]+", name))
        if part in NAMES
    ]
    assert found == []


def test_no_message_has_a_private_word() -> None:
    found = [
        f"{path}: {text[:60]!r} ({PHRASES[p]})"
        for path, text in ((s.path, text) for s in sources() for text in s.messages)
        if not text.startswith(PRINTED)
        for p in private(text)
    ]
    assert found == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_no_page_has_a_private_word(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    assert [f"{i}: {line[:60]} ({PHRASES[p]})" for i, line in enumerate(lines, 1) for p in private(line)] == []


FIGURES = {"sqrt", "mean", "nanmean", "median", "nanmedian", "quantile", "std", "var", "svd", "lstsq", "solve", "inv"}
"""Functions that make a figure out of readings."""


def test_pages_compute_no_figures() -> None:
    """A figure that is shown is a value of the result, so that Python and JSON have it too."""
    pages = [s for s in sources() if s.path.parts[:2] == ("app", "pages")]
    assert len(pages) > 20
    assert [(s.path.as_posix(), c.line, c.method) for s in pages for c in s.calls if c.method in FIGURES] == []


def test_a_private_word_is_seen() -> None:
    text = 'class Gross_size:\n    """gross error"""\n    rebuilt: int\n\ndef f(x):\n    return f"{x} Suspects"\n'
    shown = source(Path("x.py"), text)
    assert [n for n in shown.names if {p.lower() for p in re.findall(r"[A-Z]?[a-z]+", n)} & NAMES.keys()] == [
        "Gross_size",
        "rebuilt",
    ]
    assert [private(m) for m in shown.messages] == [["suspects?"]]
