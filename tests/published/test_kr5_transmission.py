"""The structure matrix of the KR5, against the printed figures and an independent recomputation."""

from __future__ import annotations

import json

import numpy as np
import pytest

from elastocal.published.case import Why
from elastocal.published.gallery import outcome_data
from elastocal.published.kr5_transmission import TABLE_1, TABLE_2
from elastocal.results import as_json

ALL = {"s11": 124.92, "s44": 74.54, "s55": 42.00, "s54": -1.03, "s64": -1.00, "s65": 1.00, "s66": 24.13}
ROBUST = {"s44": 74.37, "s55": 42.24, "s54": -1.11, "s64": -1.00, "s65": 1.00, "s66": 24.12}


def test_every_row_and_robust(outcome, figure):
    of = outcome("kr5-transmission")
    for name, value in ALL.items():
        assert figure(of, f"{name}_all") == pytest.approx(value, abs=0.006)
    for name, value in ROBUST.items():
        assert figure(of, name) == pytest.approx(value, abs=0.006)
    for i in range(1, 7):
        assert figure(of, f"counts_per_turn_{i}") == pytest.approx(16384 if i < 4 else 12288, rel=1e-3)


def test_published_figures_are_those_of_the_paper(outcome):
    of = outcome("kr5-transmission")
    published = {f.name: f.published for f in of.figures if f.published is not None}
    assert len(published) == 2 * 6 + 18 + 9
    assert published["counts_per_turn_3"] == 16386
    assert published["s44"] == published["s44_all"] == 74.59
    third = next(f for f in of.figures if f.name == "counts_per_turn_3_all")
    assert third.recomputed == 16375.5
    assert third.why is Why.CONTRADICTION


def test_outliers_are_a_list_in_json(outcome):
    data = json.loads(as_json(outcome_data(outcome("kr5-transmission"))))
    (listed,) = [f for f in data["figures"] if f["name"] == "outliers"]
    found = {(o["table"], o["row"], o["column"]): o for o in listed["recomputed"]}
    assert set(found) == {("I", 3, "theta_4"), ("II", 1, "epsilon_5")}
    assert found["II", 1, "epsilon_5"]["printed"] == 10433
    assert found["II", 1, "epsilon_5"]["predicted"] == pytest.approx(14032.6, abs=0.2)
    assert all({"name", "published", "recomputed", "unit", "note"} <= set(f) for f in data["figures"])


def test_verdict_and_ratios(outcome, figure):
    of = outcome("kr5-transmission")
    assert "10433 for 14033" in of.verdict
    assert "nan" not in of.verdict
    assert figure(of, "ratios_proposed") == 9
    fractions = {"s44": 670 / 9, "s55": 380 / 9, "s66": 410 / 17, "s54": -10 / 9}
    for name, value in fractions.items():
        assert figure(of, f"{name}_ratio") == pytest.approx(value, abs=7e-4)
    names = [f.name for f in of.figures]
    assert len(set(names)) == len(names)
    assert all(np.isfinite(f.recomputed) for f in of.figures)


def test_the_page_shows_the_list(outcome):
    from elastocal.app.pages.reproduce import case_page as page
    from elastocal.published.gallery import ReproduceResult

    report = page(ReproduceResult("t", "s", outcome("kr5-transmission")))
    table = next(b for s in report.sections for b in s.blocks if getattr(b, "key", "") == "outliers")
    assert ("II", 1, "epsilon_5") in {row[:3] for row in table.rows}


def test_what_is_said_of_counts_per_turn_comes_from_the_fit(outcome):
    """The note of each ratio names the counts of its own motor; the printed s44 is the mean of counts over angles."""
    of = outcome("kr5-transmission")
    notes = {f.name: f.note for f in of.figures}
    assert notes["s11_ratio"].startswith("with 16384 counts per turn")
    assert notes["s65_ratio"].startswith("with 12288 counts per turn")
    assert "16384 (A1, A2, A3) and 12288 (A4, A5, A6)" in of.verdict
    assert "mean of counts over angles, in place of least squares, gives 74.59" in notes["s44_all"]
    assert "mean of counts" not in notes["s22_all"]


def test_the_document_s_own_matrices_by_its_own_rules(outcome, figure) -> None:
    """(4) by differences of Table I; (6) by projections, without a least-squares routine."""
    of = outcome("kr5-transmission")
    assert figure(of, "counts_per_turn_3_all") == pytest.approx((81929 - 16427) / 4)
    assert figure(of, "counts_per_turn_1_all") == pytest.approx((81960 - 16419) / 4)
    counts, angles = (np.array(column, dtype=float) for column in TABLE_1[1])
    assert figure(of, "t22_all") == pytest.approx(1e-3 * counts @ angles / (angles @ angles), rel=1e-12)
    wrist = np.array(TABLE_2, dtype=float)
    across = wrist[:, 1] - wrist[:, 0] * (wrist[:, 0] @ wrist[:, 1]) / (wrist[:, 0] @ wrist[:, 0])
    assert figure(of, "t55_all") == pytest.approx(1e-3 * across @ wrist[:, 4] / (across @ across), rel=1e-9)
    agree = {f.name for f in of.figures if f.published is not None and f.agrees}
    assert {"counts_per_turn_1_all", "counts_per_turn_6_all", "s55_all", "s66_all", "t55_all"} <= agree
    assert {"counts_per_turn_3_all", "s55", "s44"}.isdisjoint(agree)
