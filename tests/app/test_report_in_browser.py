"""The report of an identification in a browser, wide and narrow: complete, quiet, and nothing sticks out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from app.virtual_desk import Chain
from report.browser import browser, driver, opened, overflow

HEADINGS = (
    "Before and after",
    "Robot and campaign",
    "Parameters",
    "Error budget",
    "Correlations",
    "Residuals",
    "The calibrated robot over a section of its workspace",
)


@pytest.fixture(scope="module", params=[1280, 390])
def seen(request: pytest.FixtureRequest, chained: Chain) -> Iterator[Any]:
    with driver() as started, browser(started) as running:
        yield opened(running, chained.folder / "found.html", request.param)


def test_it_is_quiet_and_fits(seen: Any) -> None:
    assert [u for u in seen.requests if not u.startswith(("file:", "data:"))] == []
    assert seen.complaints == []
    assert overflow(seen.page) <= 0


def test_it_begins_with_the_verdict_and_has_every_part(seen: Any) -> None:
    page = seen.page
    assert page.evaluate("document.querySelector('h1').nextElementSibling.className") == "verdict"
    headings = page.locator("h2").all_inner_texts()
    assert [h for h in HEADINGS if h not in headings] == []


CUT_OFF = """() => [...document.querySelectorAll('.figure')].flatMap((figure) => {
    const box = figure.getBoundingClientRect();
    const inside = (b) => b.left > box.left - 1 && b.right < box.right + 1
        && b.top > box.top - 1 && b.bottom < box.bottom + 1;
    return [...figure.querySelectorAll('text')]
        .filter((t) => t.textContent.trim() && t.closest('.updatemenu-dropdown-button-group') === null)
        .map((t) => [t.textContent, t.getBoundingClientRect()])
        .filter(([, b]) => b.width > 0 && !inside(b))
        .map(([words]) => words);
})"""


def test_words_of_the_pictures_stay_inside_them(seen: Any) -> None:
    """No title, tick or legend of a picture is cut off at its edge."""
    assert seen.page.locator(".figure text").count() > 40
    assert seen.page.evaluate(CUT_OFF) == []
