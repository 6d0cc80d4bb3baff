"""Reports of the demonstration and the gallery: words that are seen, size, and processor time of the pages.

Ratios are what is allowed over what is there: 1 200 words of the demonstration with all tabs and nothing unfolded,
1.5 MB a report, 60 s of two processors for the gallery.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
import time
from pathlib import Path

from lxml import html

from benchmarks.harness import Outcome, Row

WORDS, SIZE, SECONDS = 1200, 1_500_000, 60.0
HIDDEN = ("script", "style", "title")


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
    from elastocal.app.cli.main import app
    from elastocal.app.pages.reproduce import gallery_page
    from elastocal.published.gallery import Gallery, cases, recompute
    from elastocal.report.html import as_html

    rows, facts = [], []
    with tempfile.TemporaryDirectory() as folder:
        cell = Path(folder) / "cell"
        start = time.process_time()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            app(["demo", "--out", str(cell)], standalone_mode=False)
        facts.append(f"demonstration, all steps and reports: {time.process_time() - start:.1f} s of processor time")
        for path in sorted((cell / "reports").glob("*.html")):
            page, size = path.read_text(encoding="utf-8"), path.stat().st_size
            words = visible_words(page)
            facts.append(f"{path.stem}: {words} words, {size / 1e6:.2f} MB")
            rows.append(Row(f"{path.stem}: size allowed over size", 0.0, SIZE / size, 1.0))
            if path.stem == "demo":
                rows.append(Row("demo: words allowed over words", 0.0, WORDS / words, 1.0))
    start = time.process_time()
    results = tuple(recompute(c.case) for c in cases())
    cases_time = time.process_time() - start
    start = time.process_time()
    page = as_html(gallery_page(Gallery(results)))
    page_time = time.process_time() - start
    facts.append(f"gallery: {visible_words(page)} words, {len(page.encode()) / 1e6:.2f} MB, page in {page_time:.1f} s")
    half = (cases_time + page_time) / 2
    rows.append(Row("gallery: a minute of two processors over its time", 1e6 * half, SECONDS / half, 1.0))
    return Outcome("reports: words, size, time", tuple(rows), tuple(facts))
