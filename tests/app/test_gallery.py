"""The gallery: every case, every printed number reproduced or explained, one file, drawings with units."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from elastocal.app.commands import gallery, reproduce
from elastocal.app.pages import gallery as pages
from elastocal.cases.case import Figure, Outcome, Why, registry
from elastocal.report.blocks import Heatmap, Lines
from elastocal.report.html import as_html

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def made() -> gallery.Gallery:
    """All cases over two processes, once for all tests of this file."""
    return gallery.run()


@pytest.fixture(scope="module")
def page(made: gallery.Gallery) -> html.HtmlElement:
    return html.document_fromstring(as_html(pages.page(made)))


def small(*figures: Figure) -> gallery.Gallery:
    return gallery.Gallery((reproduce.ReproduceResult("title", "source", Outcome("case", "verdict", figures)),))


PLANTED = Figure("planted", 2.0, 3.0, "mm", "a note is no reason", "Table 9")


def test_every_case_is_there_and_every_difference_explained(made: gallery.Gallery) -> None:
    assert [r.outcome.case for r in made.results] == list(registry())
    for result in made.results:
        assert result.outcome.unexplained == ()
        compared = gallery.printed(result)
        assert compared, result.outcome.case
        assert all(f.place for f in compared), result.outcome.case
        assert all(f.note for f in compared), result.outcome.case
        assert result.outcome.curves or result.outcome.listings


def test_other_processes_give_the_same_bits(made: gallery.Gallery) -> None:
    (there,) = [r for r in made.results if r.outcome.case == "kr5-transmission"]
    assert reproduce.run("kr5-transmission").outcome == there.outcome


def test_numbers_that_follow_from_print_come_back(made: gallery.Gallery) -> None:
    """Not by the counting of the gallery: relative differences of the numbers themselves."""
    own = [f for f in made.from_print if f.published and f.recomputed is not None]
    close = [f for f in own if abs(f.recomputed / f.published - 1) <= 0.01]  # type: ignore[operator]
    assert len(own) > 80
    assert len(close) / len(own) > 0.75


def test_counts_and_verdict() -> None:
    exact = Figure("exact", 1.25, 1.2549, "mm", "n", "Table 1")
    near = Figure("near", 100.0, 100.9, "mm", "n", "Table 1", Why.RULE)
    far = Figure("far", 100.0, 130.0, "mm", "n", "Table 1", Why.VIRTUAL)
    unprinted = Figure("unprinted", None, 4.0, "mm")
    of = small(exact, near, far, PLANTED, unprinted)
    assert gallery.tally(of.printed) == gallery.Tally(4, 1, 2, 1)
    assert [f.name for f in of.from_print] == ["exact", "near", "planted"]
    assert of.reasons == {Why.RULE: 1, Why.VIRTUAL: 1}
    said = " ".join(pages.verdict(of))
    assert "compare 4 times" in said
    assert "1 of them WITHOUT AN EXPLANATION" in said
    assert "each with its reason" in " ".join(pages.verdict(small(exact, near, far)))
    words = as_html(pages.page(of))
    assert "NOT EXPLAINED" in words
    assert Why.RULE.value in html.document_fromstring(words).text_content()


def test_the_page_has_contents_and_every_number(made: gallery.Gallery, page: html.HtmlElement) -> None:
    links = page.xpath("//nav//a/@href")
    assert len(links) == len(made.results) + 2
    assert all(len(page.xpath(f"//section[@id='{link[1:]}']/h2")) == 1 for link in links)
    text = page.text_content()
    for result in made.results:
        assert result.title in text
        for figure in gallery.printed(result):
            assert figure.name in text
    assert "NOT EXPLAINED" not in text


def test_the_page_needs_no_network(page: html.HtmlElement) -> None:
    outside = re.compile(r"^(https?:)?//")
    assert not [v for v in page.xpath("//@src | //link/@href") if outside.match(str(v))]


def test_drawings_have_axes_with_names_and_units(made: gallery.Gallery) -> None:
    drawn = [c for r in made.results for c in r.outcome.curves]
    assert len(drawn) >= 29
    assert len({(r.outcome.case, c.key) for r in made.results for c in r.outcome.curves}) == len(drawn)
    plain = {"", "1"}  # counts, iterations, eta and rows of a matrix have no unit
    for c in drawn:
        if isinstance(c, Lines):
            assert c.x_name
            assert c.y_name
            assert c.y_unit not in plain or c.key == "eta", c.key
        else:
            assert isinstance(c, Heatmap)
            assert c.x.name
            assert c.y.name


def test_on_the_command_line(run: Run, made: gallery.Gallery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gallery, "run", lambda **_: made)
    target = tmp_path / "gallery.html"
    got = run("reproduce", "--report", target, "--json")
    assert got.code == 0
    assert [c["case"] for c in got.data["cases"]] == list(registry())
    assert got.data["all"]["unexplained"] == 0
    assert got.data["all"]["compared"] == sum(
        f["published"] is not None for c in got.data["cases"] for f in c["figures"]
    )
    assert "Contents" in target.read_text(encoding="utf-8")
    shown = run("reproduce", "--report", target)
    assert "scara-force-deflection" in shown.out
    assert f"written: {target}" in shown.out


def test_a_number_without_a_reason_ends_with_1(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "gallery.html"
    monkeypatch.setattr(gallery, "run", lambda **_: small(PLANTED))
    assert run("reproduce", "--report", target).code == 1
    assert target.is_file()
    monkeypatch.setattr(reproduce, "run", lambda *_, **__: small(PLANTED).results[0])
    assert run("reproduce", "anything").code == 1
    explained = replace(PLANTED, why=Why.RULE)
    monkeypatch.setattr(reproduce, "run", lambda *_, **__: small(explained).results[0])
    assert run("reproduce", "anything").code == 0
