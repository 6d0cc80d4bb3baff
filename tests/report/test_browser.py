"""A scene in a browser: it can be turned, shows one view at a time, prints, and says so where it cannot be drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from report.browser import FIRST, WITHOUT_WEBGL, browser, camera, driver, opened, overflow

from elastocal.report.blocks import Axis, Heatmap, Report, Scene, Section
from elastocal.report.html import as_html
from elastocal.report.parts import Arrows, Dots, Strokes

ARM = ((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (1.5, 0.0, 1.2))
SCENE = Scene(
    "scene",
    "An arm",
    "m",
    (
        Strokes("arm", (ARM,), "first", "arm"),
        Strokes("arm", (tuple((y, x, z) for x, y, z in ARM),), "second", "arm"),
        Dots("poses", (ARM[-1],), ("P1",)),
        Arrows("load", (ARM[-1],), ((1.5, 0.0, 0.8),), ("400 N",)),
    ),
    ("Deflections are drawn 200 times larger.",),
)
MAP = Heatmap("map", "Map", Axis("A2", "deg", (1.0, 2.0)), Axis("A3", "mm", (3.0, 4.0)), "k", "N/um", ((1, 2), (3, 4)))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(as_html(Report("Title", ("All is well.",), (Section("Part", (SCENE, MAP)),))), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def started() -> Iterator[Any]:
    with driver() as found:
        yield found


@pytest.fixture(scope="module")
def seen(started: Any, report: Path) -> Iterator[Any]:
    with browser(started) as running:
        yield opened(running, report, 1280)


def middle(page: Any) -> tuple[float, float]:
    """Of the scene, scrolled into sight."""
    page.evaluate(f"{FIRST}.scrollIntoView()")
    box = page.locator(".gl-container canvas").first.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_nothing_is_asked_of_the_network_and_nothing_is_wrong(seen: Any, report: Path) -> None:
    assert seen.requests[0] == report.as_uri()
    assert all(url.startswith("data:") for url in seen.requests[1:])
    assert seen.complaints == []
    assert overflow(seen.page) <= 0


def test_dragging_turns_the_picture(seen: Any) -> None:
    page, before = seen.page, camera(seen.page)
    x, y = middle(page)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 160, y + 10, steps=6)
    page.mouse.up()
    page.wait_for_function(f"Math.abs({FIRST}._fullLayout.scene.camera.eye.x - {before['x']}) > 0.1")
    centre = page.evaluate(f"{FIRST}._fullLayout.scene.camera.center")
    assert distance(camera(page), centre) == pytest.approx(distance(before, centre), rel=1e-3)


def distance(eye: dict[str, float], centre: dict[str, float]) -> float:
    """From what the camera looks at: turning keeps it."""
    return math.dist([eye[c] for c in "xyz"], [centre[c] for c in "xyz"])


def test_another_view_shows_another_arm(seen: Any) -> None:
    page = seen.page
    visible = f"{FIRST}._fullData.map((t) => t.visible)"
    assert page.evaluate(visible) == [True, False, True, True]
    page.locator(".updatemenu-header").first.click()
    page.locator(".updatemenu-dropdown-button").nth(1).click()
    page.wait_for_function(f"{FIRST}._fullData[1].visible === true")
    assert page.evaluate(visible) == [False, True, True, True]


def test_paper_gets_a_copy_of_what_is_seen(seen: Any) -> None:
    page = seen.page
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    inked = """() => {
        const copy = document.querySelector('canvas.still');
        const drawn = copy.getContext('2d').getImageData(0, 0, copy.width, copy.height).data;
        return drawn.filter((v, i) => i % 4 === 3 && v > 0).length;
    }"""
    assert page.evaluate(inked) > 2000
    seen_canvases = """() => [...document.querySelectorAll('.figure canvas')]
        .filter((c) => getComputedStyle(c).visibility === 'visible').map((c) => c.className)"""
    assert page.evaluate(seen_canvases) == ["still"]  # not both: paper has another width, the two would not agree
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("canvas.still").count() == 0
    assert len(page.evaluate(seen_canvases)) == 1


def test_a_browser_without_webgl_says_so_in_words(started: Any, report: Path) -> None:
    with browser(started, WITHOUT_WEBGL) as running:
        seen = opened(running, report, 390)
        assert "needs WebGL" in seen.page.locator(".missing").inner_text()
        assert seen.page.locator(".figure .main-svg").count() > 0  # the map is there all the same
        assert seen.complaints == []
        assert overflow(seen.page) <= 0
