"""Every kind of report: words that are seen, size, and processor time of the command that writes it.

Ratios are what is allowed over what is there: 1 200 words of the demonstration with all tabs and nothing unfolded,
1.5 MB a report, 60 s of two processors for the gallery.  The table in docs/reports.md is written by every run.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lxml import html

from benchmarks.harness import Outcome, Row

WORDS, SIZE, SECONDS = 1200, 1_500_000, 60.0
HIDDEN = ("script", "style", "title")
ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reports.md"
START, END = "<!-- reports: written by python -m benchmarks reports -->", "<!-- end of reports -->"


@dataclass(frozen=True)
class Written:
    name: str
    page: str
    seconds: float

    @property
    def words(self) -> int:
        return visible_words(self.page)

    @property
    def size(self) -> int:
        return len(self.page.encode())

    @property
    def line(self) -> str:
        words = f"{self.words:,}".replace(",", " ")
        return f"| {self.name} | {words} | {self.size / 1e6:.2f} | {self.seconds:.1f} |"


def visible_words(page: str) -> int:
    """Of all tabs at full width, without what is folded."""
    tree = html.document_fromstring(page)
    folded = [e for d in tree.iter("details") for e in d if e.tag != "summary"]
    narrow = tree.xpath("//div[@class='narrow' or @class='live']")
    for element in [*folded, *narrow, *(e for e in tree.iter(*HIDDEN))]:
        if element.getparent() is not None:
            element.drop_tree()
    return len(" ".join(tree.find("body").itertext()).split())


def measure() -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        demonstration = _demonstration(Path(folder) / "cell")
        kinds = list(_kinds(Path(folder) / "kinds"))
    gallery = _gallery()
    written = [demonstration, *sorted(kinds, key=lambda w: w.name), gallery]
    before, rest = PAGE.read_text(encoding="utf-8").split(START)
    PAGE.write_text(f"{before}{START}\n\n{table(written)}\n{END}{rest.split(END)[1]}", encoding="utf-8")
    rows = [
        Row("demonstration: words allowed over words", 0.0, WORDS / demonstration.words, 1.0),
        *(Row(f"{w.name}: size allowed over size", 0.0, SIZE / w.size, 1.0) for w in written),
        Row(
            "gallery: a minute of two processors over its time", 5e5 * gallery.seconds, 2 * SECONDS / gallery.seconds, 1
        ),
    ]
    return Outcome("reports: words, size, time", tuple(rows), (f"written: {PAGE.relative_to(ROOT)}",))


def table(written: list[Written]) -> str:
    head = (
        "| report | words, all tabs, nothing unfolded | size [MB] | processor time of the command [s] |",
        "|---|---|---|---|",
    )
    return "\n".join((*head, *(w.line for w in written), ""))


def _demonstration(cell: Path) -> Written:
    """The whole cycle with all of its reports; that of the whole is looked at."""
    from elastocal.app.cli.main import app

    start = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        app(["demo", "--out", str(cell)], standalone_mode=False)
    spent = time.process_time() - start
    return Written("demonstration, whole cycle", (cell / "reports" / "demo.html").read_text(encoding="utf-8"), spent)


def _kinds(folder: Path) -> Iterator[Written]:
    """As the tests make them for the browser; what they need is made before the clock runs."""
    sys.path.insert(0, str(ROOT / "tests"))
    from app.cell_desk import well
    from app.report_desk import KINDS, Desk

    (shared := folder / "shared").mkdir(parents=True)
    desk = Desk(folder, shared)
    for kind, words in KINDS.items():
        typed, path = words(desk), folder / f"{kind}.html"
        start = time.process_time()
        well(*typed, "--report", path)
        spent = time.process_time() - start
        of = kind.removeprefix(str(typed[0])).removeprefix("-")
        yield Written(f"`{typed[0]}`, {of}" if of else f"`{kind}`", path.read_text("utf-8"), spent)


def _gallery() -> Written:
    """One case after the other; the command takes two at a time."""
    from elastocal.app.pages.reproduce import gallery_page
    from elastocal.published.case import registry
    from elastocal.published.gallery import Gallery, recompute
    from elastocal.report.html import as_html

    start = time.process_time()
    page = as_html(gallery_page(Gallery(tuple(recompute(name) for name in registry()))))
    return Written("gallery of published cases, in 12 tabs", page, time.process_time() - start)
