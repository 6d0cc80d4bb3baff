"""A report in Debian's Chromium, opened from disk, with everything it asks for and complains about written down."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium")
SOFTWARE = ("--enable-unsafe-swiftshader",)
"""WebGL without a graphics card."""
WITHOUT_WEBGL = ("--disable-gpu", "--disable-3d-apis")
PATIENCE = 120_000
"""ms: drawing by software on a busy machine is slow."""


@dataclass
class Seen:
    page: Any
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@contextmanager
def driver() -> Iterator[Any]:
    """Starts browsers; one at a time in a process."""
    sync_api = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    with sync_api.sync_playwright() as started:
        yield started


@contextmanager
def browser(started: Any, flags: tuple[str, ...] = SOFTWARE) -> Iterator[Any]:
    running = started.chromium.launch(executable_path=CHROMIUM, args=[*flags, "--no-sandbox"])
    try:
        yield running
    finally:
        running.close()


def opened(running: Any, report: Path, width: int) -> Seen:
    """The report at a width; requests other than for the file itself, errors and warnings of the page are noted."""
    page = running.new_page(viewport={"width": width, "height": 900})
    seen = Seen(page)
    page.on("request", lambda r: seen.requests.append(r.url))
    page.on("pageerror", lambda e: seen.complaints.append(str(e)))
    page.on("console", lambda m: seen.complaints.append(m.text) if m.type == "error" else None)
    page.goto(report.as_uri(), timeout=PATIENCE)
    page.wait_for_function(DRAWN, timeout=PATIENCE)
    return seen


DRAWN = """() => [...document.querySelectorAll('.figure')].every(
    (f) => f._fullLayout && (!f._fullLayout.scene || f._fullLayout.scene._scene.glplot))"""


def overflow(page: Any) -> int:
    """By how many pixels the page is wider than the window."""
    return int(page.evaluate("document.scrollingElement.scrollWidth - window.innerWidth"))


def camera(page: Any) -> dict[str, float]:
    """Where the eye of the first scene is."""
    return dict(page.evaluate(f"{FIRST}._fullLayout.scene.camera.eye"))


FIRST = "[...document.querySelectorAll('.figure')].find((f) => f._fullLayout.scene)"
