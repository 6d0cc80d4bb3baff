"""Reports of commands in a browser, wide, narrow and on paper; those of the cycle are opened with the demonstration."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from report.browser import WIDTHS, browser, driver, misplaced, opened, overflow, unfold

from elastocal.app.cli.main import app

KR270 = "kuka-kr270"
AT = ("--at", "0,-70,90,0,70,0")
WORDS = {
    "deflect": ("deflect", KR270, *AT, "--force", "0,0,-1000"),
    "stiffness": ("stiffness", KR270, "--map", "A2:-130:-20:12,A3:-90:120:12"),
    "workpiece": ("stiffness", KR270, "--map", "x:1400:2300:11,z:400:1600:9,y:0", *AT),
    "published": ("reproduce", "kr5-transmission"),
}


@pytest.fixture(scope="module")
def running() -> Iterator[Any]:
    with driver() as started, browser(started) as found:
        yield found


@pytest.fixture(scope="module", params=list(WORDS))
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reports") / f"{request.param}.html"
    app([*WORDS[request.param], "--report", str(path)], standalone_mode=False)
    return path


@pytest.mark.parametrize("width", WIDTHS)
def test_it_is_quiet_and_nothing_overlaps(running: Any, report: Path, width: int) -> None:
    seen = opened(running, report, width)
    assert overflow(seen.page) <= 0
    unfold(seen.page)
    assert misplaced(seen.page) == []
    assert seen.foreign(report) == []
    assert seen.complaints == []
    assert report.stat().st_size < 1_500_000
    seen.page.close()


def test_it_prints_on_a4(running: Any, report: Path, tmp_path: Path) -> None:
    pikepdf = pytest.importorskip("pikepdf")
    page = opened(running, report, 1280).page
    page.pdf(path=str(tmp_path / "paper.pdf"), prefer_css_page_size=True)
    with pikepdf.open(tmp_path / "paper.pdf") as pdf:
        box = [float(v) for v in pdf.pages[0].MediaBox]
        assert (box[2] - box[0], box[3] - box[1]) == (pytest.approx(595, abs=2), pytest.approx(842, abs=2))
        assert len(pdf.pages) < 12
    page.close()
