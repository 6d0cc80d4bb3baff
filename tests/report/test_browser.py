"""A report of every kind of block in a browser: quiet, nothing overlaps, tabs open, scenes turn, paper works."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from report.browser import (
    COARSE,
    FIRST,
    WIDTHS,
    WITHOUT_WEBGL,
    browser,
    camera,
    driver,
    faint,
    misplaced,
    opened,
    overflow,
    skipped,
    turned,
    undrawn,
    unfold,
)
from report.samples import EVERY_BLOCK

from elastocal.report.html import as_html, bundle_name, plotly_script


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(as_html(EVERY_BLOCK), encoding="utf-8")
    path.with_name(bundle_name()).write_text(plotly_script(), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def started() -> Iterator[Any]:
    with driver() as found:
        yield found


@pytest.fixture(scope="module")
def running(started: Any) -> Iterator[Any]:
    with browser(started) as found:
        yield found


@pytest.fixture(scope="module")
def blind(started: Any) -> Iterator[Any]:
    with browser(started, WITHOUT_WEBGL) as found:
        yield found


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_it_is_quiet_fits_and_nothing_overlaps(
    blind: Any, report: Path, width: int, scheme: str, tmp_path: Path
) -> None:
    shown = undrawn(report, tmp_path)
    seen = opened(blind, shown, width, scheme)
    assert overflow(seen.page) <= 0
    unfold(seen.page)
    assert misplaced(seen.page) == []
    assert overflow(seen.page) <= 0
    assert seen.foreign(shown) == []
    assert seen.complaints == []
    background = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, background[4:-1].split(","))) > 380) == (scheme == "light")
    assert faint(seen.page) == []
    assert skipped(seen.page) == []
    seen.page.close()


def test_faint_words_and_skipped_headings_are_seen(running: Any) -> None:
    page = running.new_page()
    page.set_content("<body style='background: #fff'><h1>One</h1><h3 style='color: #999'>Three</h3><p>Words</p></body>")
    assert faint(page) == ["H3 Three"]
    assert skipped(page) == [3]
    page.close()


def test_tabs_show_one_step_and_folds_open(blind: Any, report: Path, tmp_path: Path) -> None:
    page = opened(blind, undrawn(report, tmp_path), 1280).page
    assert page.locator(".pane:visible").count() == 1
    page.locator("nav button").nth(1).click()
    assert page.locator(".pane:visible h2").inner_text() == "Second"
    inside = page.locator("details.section p", has_text="folded words")
    assert not inside.is_visible()
    page.locator("details.section > summary", has_text="Folded").click()
    assert inside.is_visible()
    page.close()


def test_a_standalone_report_turns_alone_in_the_dark_and_a_view_is_chosen(running: Any, tmp_path: Path) -> None:
    """One drawing for all of it; reports with their script beside them are drawn in ``app``."""
    lone = tmp_path / "lone.html"
    lone.write_text(as_html(EVERY_BLOCK, standalone=True), encoding="utf-8")
    seen = opened(running, lone, 1280, "dark", COARSE)
    turned(seen.page)
    _words_can_be_read(seen.page)
    _dragging_turns(seen.page)
    _a_view_is_chosen(seen.page)
    assert [u for u in seen.requests if u != lone.as_uri() and not u.startswith(("data:", "blob:"))] == []
    assert seen.complaints == []
    seen.page.close()


def _words_can_be_read(page: Any) -> None:
    ink = page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--ink').trim()")
    drawn = page.evaluate(f"{FIRST}.data.filter((t) => t.mode === 'text').map((t) => t.textfont.color)")
    assert drawn == [ink] * len(drawn)
    assert drawn


def _dragging_turns(page: Any) -> None:
    before = camera(page)
    for _ in range(20):  # a drag between two frames of a slow drawing is not seen: a person would drag again
        drag(page)
        if abs(camera(page)["x"] - before["x"]) > 0.1:
            break
    assert abs(camera(page)["x"] - before["x"]) > 0.1
    centre = page.evaluate(f"{FIRST}._fullLayout.scene.camera.center")
    assert distance(camera(page), centre) == pytest.approx(distance(before, centre), rel=1e-3)


def _a_view_is_chosen(page: Any) -> None:
    visible = f"{FIRST}._fullData.map((t) => t.visible)"
    first = page.evaluate(visible)
    page.locator(".updatemenu-header").first.click()
    page.locator(".updatemenu-dropdown-button").nth(1).click()
    page.wait_for_function(f"{FIRST}._fullData[1].visible === true")
    assert first[:2] == [True, False]
    assert page.evaluate(visible)[:2] == [False, True]


def drag(page: Any) -> None:
    """Across the first scene, no faster than it is drawn."""
    box = page.locator(".scene canvas").first.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for i in range(1, 7):
        page.mouse.move(x + 25 * i, y + 2 * i)
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.mouse.up()
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def distance(eye: dict[str, float], centre: dict[str, float]) -> float:
    """From what the camera looks at: turning keeps it."""
    return math.dist([eye[c] for c in "xyz"], [centre[c] for c in "xyz"])


def test_paper_has_all_steps_and_still_pictures(blind: Any, report: Path, tmp_path: Path) -> None:
    page = opened(blind, undrawn(report, tmp_path), 1280).page
    turned(page)
    page.emulate_media(media="print")
    assert page.locator(".pane:visible").count() == page.locator(".pane").count()
    assert page.locator(".scene .still svg").first.is_visible()
    assert not page.locator(".scene .live").first.is_visible()
    assert not page.locator("nav").is_visible()
    page.pdf(path=str(tmp_path / "paper.pdf"))
    assert (tmp_path / "paper.pdf").stat().st_size > 10_000
    page.close()


def test_without_its_script_a_report_has_still_pictures_and_says_why(blind: Any, report: Path, tmp_path: Path) -> None:
    lone = tmp_path / "lone.html"
    lone.write_bytes(report.read_bytes())
    page = opened(blind, lone, 390).page
    assert bundle_name() in page.locator(".scene .missing").inner_text()
    assert page.locator(".scene .still svg:visible").count() == 1
    page.close()


def test_a_browser_without_webgl_says_so_in_words(blind: Any, report: Path) -> None:
    seen = opened(blind, report, 390)
    assert "no WebGL" in seen.page.locator(".scene .missing").inner_text()
    assert seen.complaints == []
    assert overflow(seen.page) <= 0
    seen.page.close()
