"""The gallery: every case, every printed number reproduced or explained, one file, drawings with units."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from lxml import html

from elastocal.app.pages import reproduce as pages
from elastocal.app.pages.reproduce import judgement
from elastocal.published import gallery
from elastocal.published.case import Figure, Kind, Outcome, Why, registry
from elastocal.report.blocks import Heatmap, Lines
from elastocal.report.html import as_html

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def made(outcome: Callable[[str], Outcome]) -> gallery.Gallery:
    """All cases, each run once for all tests and for the documentation built after them."""

    def run(**_: object) -> gallery.Gallery:
        cases = registry().values()
        return gallery.Gallery(tuple(gallery.ReproduceResult(c.title, c.source, outcome(c.name)) for c in cases))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gallery, "run", run)
        patch.syspath_prepend(str(Path(__file__).parents[2] / "docs" / "_ext"))
        made: gallery.Gallery = importlib.import_module("kept_cases").recomputed()
        return made


@pytest.fixture(scope="module")
def page(made: gallery.Gallery) -> html.HtmlElement:
    return html.document_fromstring(as_html(pages.page(made)))


def small(*figures: Figure) -> gallery.Gallery:
    return gallery.Gallery((gallery.ReproduceResult("title", "source", Outcome("case", "verdict", figures)),))


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
    """Also in the order that was asked for, whichever is done first."""
    names = ("cylindrical", "kr5-transmission")
    here = {r.outcome.case: r for r in made.results}
    told: list[tuple[int, int, str]] = []
    there = gallery.run(names, progress=lambda *done: told.append(done))
    assert there.results == tuple(here[n] for n in names)
    assert [done[:2] for done in told] == [(1, 2), (2, 2)]


def test_numbers_that_follow_from_print_come_back(made: gallery.Gallery) -> None:
    """Not by the counting of the gallery: relative differences of the numbers themselves."""
    own = [f for f in made.of(Kind.FROM_PRINT) if f.published and f.recomputed is not None]
    close = [f for f in own if abs(f.recomputed / f.published - 1) <= 0.01]  # type: ignore[operator]
    assert len(own) > 80
    assert len(close) / len(own) > 0.75


def test_counts_and_verdict() -> None:
    exact = Figure("exact", 1.25, 1.2549, "mm", "n", "Table 1")
    near = Figure("near", 100.0, 100.9, "mm", "n", "Table 1", Why.RULE)
    far = Figure("far", 100.0, 130.0, "mm", "n", "Table 1", Why.VIRTUAL)
    by_chance = Figure("by_chance", 100.0, 100.0, "mm", "n", "Table 1", Why.INPUTS)
    bound = Figure("bound", 95.0, 99.0, "%", "n", "Table 1", Why.VIRTUAL, at_least=True)
    truth = Figure("truth", 0.25, 0.25, "mm", "n", "Table 1", Why.VIRTUAL, put_in=0.25)
    stopped = Figure("stopped", 2.01, 2.002, "mm", "n", "Table 1", Why.STOPPED, put_in=2.0)
    unprinted = Figure("unprinted", None, 4.0, "mm")
    of = small(exact, near, far, by_chance, bound, truth, stopped, PLANTED, unprinted)
    assert gallery.tally(of.printed) == gallery.Tally(8, 1, 2, 1)
    assert [f.name for f in of.of(Kind.FROM_PRINT)] == ["exact", "near", "planted"]
    assert [f.name for f in of.of(Kind.SIZE)] == ["far", "by_chance", "bound"]
    assert of.come_back == pytest.approx((0.0, 0.001))
    assert of.reasons == {Why.RULE: 1, Why.VIRTUAL: 1}
    first, sizes, back, missing = pages.verdict(of)
    assert "compare 3 times" in first
    assert ": 1 agree to the last printed digit, 2 (these included) within 1 %" in first
    assert "1 because it is found here by another rule" in first
    assert sizes.startswith("3 more")
    assert "kept 1 times out of 1" in sizes
    assert back.startswith("2 times a printed number")
    assert "0.1 % at worst" in back
    assert missing == "1 printed numbers differ WITHOUT AN EXPLANATION."
    assert "WITHOUT" not in " ".join(pages.verdict(small(exact, near, far)))
    words = as_html(pages.page(of))
    assert "NOT EXPLAINED" in words
    assert Why.RULE.value in html.document_fromstring(words).text_content()


def test_what_a_row_is_called() -> None:
    def called(*more: object, **fields: object) -> str:
        return judgement(Figure("f", 100.0, *more, "1", "n", "Table 1", **fields))  # type: ignore[arg-type]

    assert called(100.02) == "agrees"
    assert called(100.02, why=Why.VIRTUAL) == Why.VIRTUAL.value
    assert called(130.0, why=Why.RULE) == Why.RULE.value
    assert called(130.0, why=Why.INPUTS, at_least=True) == f"bound kept; {Why.INPUTS.value}"
    assert called(130.0, at_least=True) == "bound kept"
    assert called(102.0, why=Why.VIRTUAL, put_in=100.0) == "put in, comes back to 2 %"
    assert called(104.0, why=Why.STOPPED, put_in=104.0) == f"put in, comes back to 0 %; {Why.STOPPED.value}"
    assert called(130.0) == "NOT EXPLAINED"
    zero = Figure("f", 0.0, 0.004, "1", "n", "Table 1", Why.VIRTUAL, put_in=0.0)
    assert judgement(zero) == "put in, comes back"


def test_nothing_that_was_put_in_or_made_up_counts_as_an_agreement(made: gallery.Gallery) -> None:
    """By the sources of the numbers: a virtual log, loops and experiments, chosen robots; only these cases agree."""
    agree = {r.outcome.case for r in made.results if any(f.agrees for f in r.outcome.figures)}
    assert agree == {"kr270-compensator", "kr270-elastostatic", "kr5-gravity", "kr5-transmission", "orthoglide-link"}
    put_in = {f.name for f in made.of(Kind.PUT_IN)}
    assert {"k_2", "k_2_random", "tau5_cos", "m3_dx", "x0", "l2", "joint2_compliance_rad_per_Nm"} <= put_in
    assert max(made.come_back) < 0.1
    counted = gallery.tally(made.of(Kind.FROM_PRINT))
    assert gallery.tally(made.printed).agree == counted.agree
    assert pages.verdict(made)[0].startswith(f"{len(made.results)} cases compare {counted.compared} times")
    assert f": {counted.agree} agree to the last" in pages.verdict(made)[0]


def test_the_page_has_contents_and_every_number(made: gallery.Gallery, page: html.HtmlElement) -> None:
    tabs = page.xpath("//nav/button/@aria-controls")
    assert len(tabs) == len(made.results) + 2
    assert all(len(page.xpath(f"//section[@id='{tab}']/h2")) == 1 for tab in tabs)
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
    assert "Overview" in target.read_text(encoding="utf-8")
    shown = run("reproduce", "--report", target)
    assert "scara-force-deflection" in shown.out
    assert f"written: {target}" in shown.out


def test_a_number_without_a_reason_ends_with_1(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "gallery.html"
    monkeypatch.setattr(gallery, "run", lambda **_: small(PLANTED))
    assert run("reproduce", "--report", target).code == 1
    assert target.is_file()
    monkeypatch.setattr(gallery, "recompute", lambda *_, **__: small(PLANTED).results[0])
    assert run("reproduce", "anything").code == 1
    explained = replace(PLANTED, why=Why.RULE)
    monkeypatch.setattr(gallery, "recompute", lambda *_, **__: small(explained).results[0])
    assert run("reproduce", "anything").code == 0
