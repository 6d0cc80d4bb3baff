"""A report in Chromium, opened from disk, with everything it asks for and complains about written down."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from elastocal.report.html import bundle_name

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
SOFTWARE = ("--use-gl=angle", "--use-angle=swiftshader-webgl", "--enable-unsafe-swiftshader")
"""WebGL without a graphics card, and nothing but it: pages are painted at half the price without."""
WITHOUT_WEBGL = ("--disable-gpu", "--disable-3d-apis")
"""Pages are painted several times faster then."""
PATIENCE = 120_000
"""ms: drawing by software on a busy machine is slow."""
WIDTHS = (1280, 390)
COARSE = 0.25
"""Pixels that are painted along each pixel of the layout, where a scene is drawn: by software each of them costs."""


@dataclass
class Seen:
    page: Any
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def foreign(self, report: Path) -> list[str]:
        """Requests for anything but files in the folder of the report."""
        own = report.parent.as_uri()
        return [u for u in self.requests if not u.startswith((own, "data:"))]


@contextmanager
def driver() -> Iterator[Any]:
    """Starts browsers; one at a time in a process.  With CI=true a machine without a browser fails."""
    missing = pytest.fail if os.environ.get("CI", "").lower() == "true" else pytest.skip
    try:
        from playwright import sync_api
    except ImportError:
        missing("playwright is not installed")
    if CHROMIUM is None:
        missing("no chromium: install Debian's package, or set CHROMIUM to the path of a browser")
    with sync_api.sync_playwright() as started:
        yield started


@contextmanager
def browser(started: Any, flags: tuple[str, ...] = SOFTWARE) -> Iterator[Any]:
    running = started.chromium.launch(executable_path=CHROMIUM, args=[*flags, "--no-sandbox"])
    try:
        yield running
    finally:
        running.close()


STAND_IN = """HTMLCanvasElement.prototype.getContext = () => ({});
window.Plotly = {newPlot: (box, data, layout) => {
    box.style.height = layout.height + 'px';
    const scene = {camera: layout.scene.camera, _scene: {glplot: {}}};
    Object.assign(box, {data, _fullData: data, _fullLayout: {scene}});
}};"""
"""Takes what Plotly would draw, and the room of it, also without WebGL.  By software a scene takes four seconds of
a processor: tests of everything else on a page save them, those of turning have the real one."""


def undrawn(report: Path, folder: Path) -> Path:
    """A copy in ``folder`` whose scenes are not drawn."""
    (folder / bundle_name()).write_text(STAND_IN, encoding="utf-8")
    return Path(shutil.copy(report, folder))


def opened(running: Any, report: Path, width: int, scheme: str = "light", fine: float = 1) -> Seen:
    """The report at a width; requests, errors and warnings of the page are noted."""
    window = {"width": width, "height": 900}
    page = running.new_page(viewport=window, color_scheme=scheme, device_scale_factor=fine)
    seen = Seen(page)
    page.on("request", lambda r: seen.requests.append(r.url))
    page.on("pageerror", lambda e: seen.complaints.append(str(e)))
    page.on("console", lambda m: seen.complaints.append(m.text) if m.type == "error" else None)
    page.goto(report.as_uri(), timeout=PATIENCE)
    return seen


def resized(page: Any, width: int) -> None:
    """The narrow window in the dark."""
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="light" if width == WIDTHS[0] else "dark")


def overflow(page: Any) -> int:
    """By how many pixels the page is wider than the window."""
    return int(page.evaluate("document.scrollingElement.scrollWidth - window.innerWidth"))


def unfold(page: Any) -> None:
    """Everything is seen: all steps, all folded parts."""
    page.evaluate("""() => {
        document.querySelectorAll('.pane').forEach((p) => p.style.setProperty('display', 'block', 'important'));
        document.querySelectorAll('details').forEach((d) => { d.open = true; });
    }""")


def words_seen(page: Any) -> int:
    """Of all tabs, with nothing unfolded."""
    return int(
        page.evaluate("""() => {
        document.querySelectorAll('.pane').forEach((p) => p.style.setProperty('display', 'block', 'important'));
        return document.body.innerText.split(/\\s+/).length;
    }""")
    )


def misplaced(page: Any) -> list[str]:
    """Words of drawings that lie on each other or leave their drawing, boxes of the page that lie on each other."""
    return list(page.evaluate(MISPLACED))


def with_exponents(page: Any) -> list[str]:
    """Numbers like 3e-07 in what people read, but for lines that they copy."""
    return list(
        page.evaluate("""() => {
        const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), out = [];
        for (let n = walk.nextNode(); n; n = walk.nextNode())
            if (!n.parentElement.closest('script, style, pre')
                && /(?<![\\w.])-?\\d[\\d.]*(\\(\\d+\\))?[eE][-+]?\\d+\\b/.test(n.data))
                out.push(n.data.trim());
        return out;
    }""")
    )


MISPLACED = """() => {
    const out = [], seen = (e) => { const b = e.getBoundingClientRect(); return b.width > 0 && b.height > 0; };
    const overlap = (a, b, by) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > by
        && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > by;
    for (const svg of [...document.querySelectorAll('figure svg[role=img]')].filter(seen)) {
        const box = svg.getBoundingClientRect(), still = svg.closest('.still') !== null;
        const texts = [...svg.querySelectorAll('text')].map((t) => [t.textContent, t.getBoundingClientRect()]);
        texts.forEach(([words, b], i) => {
            if (b.left < box.left - 2 || b.right > box.right + 2 || b.top < box.top - 2 || b.bottom > box.bottom + 2)
                out.push('leaves its drawing: ' + words);
            if (!still) for (const [other, c] of texts.slice(i + 1))
                if (overlap(b, c, 3)) out.push(words + ' lies on ' + other);
        });
    }
    const boxes = [...document.querySelectorAll('main > *, .pane > *, .tiles > li, figure > *, .certificate > *')]
        .filter((e) => seen(e) && !e.classList.contains('sr'));
    for (const e of boxes) for (const f of boxes)
        if (e !== f && e.parentElement === f.parentElement && e.compareDocumentPosition(f) & 4
            && overlap(e.getBoundingClientRect(), f.getBoundingClientRect(), 3))
            out.push(e.tagName + '.' + e.className + ' lies on ' + f.tagName + '.' + f.className);
    return out;
}"""


def turned(page: Any) -> None:
    """Waits until the first scene can be turned."""
    page.evaluate("document.querySelector('.scene').scrollIntoView()")
    drawn = "() => { const l = document.querySelector('.scene .live')._fullLayout; return l && l.scene._scene.glplot; }"
    page.wait_for_function(drawn, timeout=PATIENCE)


FIRST = "document.querySelector('.scene .live')"


def camera(page: Any) -> dict[str, float]:
    """Where the eye of the first scene is."""
    return dict(page.evaluate(f"{FIRST}._fullLayout.scene.camera.eye"))


FAINT = """() => {
  const rgb = (text) => (text.match(/[\\d.]+/g) || []).map(Number), weight = [0.2126, 0.7152, 0.0722];
  const linear = (v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = (c) => c.slice(0, 3).reduce((sum, v, i) => sum + weight[i] * linear(v / 255), 0);
  const solid = (c) => c.length === 3 || c[3] === 1;
  const behind = (e) => {
    for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (solid(c)) return c; }
    return [255, 255, 255];
  };
  const said = (e) => [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.textContent.trim()).join("");
  const own = (e) => said(e) && !e.closest("svg, .sr, .skip, option, [disabled]") && e.checkVisibility();
  return [...document.querySelectorAll("body *")].filter(own).filter((e) => {
    const style = getComputedStyle(e), pair = [light(rgb(style.color)), light(behind(e))].sort((p, q) => q - p);
    return (pair[0] + 0.05) / (pair[1] + 0.05) < (parseFloat(style.fontSize) >= 24 ? 3 : 4.5);
  }).map((e) => `${e.tagName} ${said(e).slice(0, 40)}`);
}"""
SKIPPED = """() => [...document.querySelectorAll("h1, h2, h3, h4, h5")].filter((e) => e.checkVisibility())
    .map((e) => Number(e.tagName[1])).filter((n, i, all) => n > (i ? all[i - 1] : 0) + 1)"""


def faint(page: Any) -> list[str]:
    """Words whose contrast is below that of WCAG 2 AA: 4.5, or 3 where they are large."""
    found: list[str] = page.evaluate(FAINT)
    return found


def skipped(page: Any) -> list[int]:
    """Levels of headings that follow one that is more than a level above."""
    found: list[int] = page.evaluate(SKIPPED)
    return found
