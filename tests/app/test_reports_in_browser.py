"""Every kind of report in a browser, wide, narrow, in the dark and on paper; the demonstration has its own test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from app.conftest import Reports
from app.report_desk import KINDS, Desk
from report.browser import (
    COARSE,
    WIDTHS,
    WITHOUT_WEBGL,
    browser,
    camera,
    driver,
    misplaced,
    opened,
    overflow,
    resized,
    turned,
    undrawn,
    unfold,
    with_exponents,
)

from elastocal.app.cli.command import declared as declared_commands

WIDE, NARROW = WIDTHS
ELSEWHERE = {"demo"}
"""Opened by tests of its own."""
DRAWN = ("deflect", "plan", "compensate")
"""Whose scenes Plotly draws: a bent arm with its load, obstacles and poses, errors along a path."""


@pytest.fixture(scope="module")
def started() -> Iterator[Any]:
    with driver() as found:
        yield found


@pytest.fixture(scope="module")
def running(started: Any) -> Iterator[Any]:
    with browser(started, WITHOUT_WEBGL) as found:
        yield found


def test_every_command_with_a_report_is_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Desk, "once", lambda self, name, lay: self.folder / name)
    named = {str(words(Desk(tmp_path, tmp_path))[0]) for words in KINDS.values()}
    assert named == {c.name for c in declared_commands() if c.report} - ELSEWHERE


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_quiet_fits_and_works(running: Any, reports: Reports, tmp_path: Path, kind: str) -> None:
    """Loaded once: the narrow page is the wide one in a smaller window, folded as before and unfolded."""
    report = reports(kind).path
    assert report.stat().st_size < 1_500_000
    assert report.read_text(encoding="utf-8").count("<dt>Elastocal</dt>") <= 1
    report = undrawn(report, tmp_path)
    seen = opened(running, report, WIDE)
    page = seen.page
    _folds(page)
    if page.locator(".scene").count():
        _turns(page)
    if page.locator("nav a").count():
        page.locator("nav a").last.click()
    for width in (NARROW, WIDE):
        resized(page, width)
        assert overflow(page) <= 0
    unfold(page)
    for width in (WIDE, NARROW):
        resized(page, width)
        assert overflow(page) <= 0
        assert misplaced(page) == []
        if width == WIDE:
            _prints(page, tmp_path / "paper.pdf")
    assert kind == "published" or with_exponents(page) == []  # a paper's numbers are given as it prints them
    assert seen.foreign(report) == []
    assert seen.complaints == []
    page.close()


@pytest.mark.parametrize("kind", DRAWN)
def test_its_scenes_are_drawn(started: Any, reports: Reports, kind: str) -> None:
    report = reports(kind).path
    with browser(started) as running:
        seen = opened(running, report, WIDE, fine=COARSE)
        _turns(seen.page)
        assert seen.page.locator(".scene .live canvas").count() > 0
        assert seen.foreign(report) == []
        assert seen.complaints == []


def _folds(page: Any) -> None:
    fold = page.locator("details:visible").last.element_handle()  # what it opens may hold others
    press = "details => details.querySelector(':scope > summary').click()"  # a scene being drawn moves it under a mouse
    fold.evaluate(press)
    assert fold.evaluate("details => details.open")
    fold.evaluate(press)
    assert not fold.evaluate("details => details.open")


def _turns(page: Any) -> None:
    turned(page)
    assert any(abs(v) > 0.1 for v in camera(page).values())


def _prints(page: Any, path: Path) -> None:
    pikepdf = pytest.importorskip("pikepdf")
    page.pdf(path=str(path), prefer_css_page_size=True)
    with pikepdf.open(path) as pdf:
        box = [float(v) for v in pdf.pages[0].MediaBox]
        assert (box[2] - box[0], box[3] - box[1]) == (pytest.approx(595, abs=2), pytest.approx(842, abs=2))
        assert len(pdf.pages) < 16  # everything unfolded
