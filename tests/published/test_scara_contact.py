"""The document's contact calibration: figures of table 2, the plan that cannot separate, noise, starts, pictures."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from elastocal.published import scara_contact as given
from elastocal.published.case import Outcome, Why

ACTUAL = {"x0": 2.5e-3, "y0": -2.2e-3, "theta1": -1.7e-3, "l1": 0.3302, "theta2": 7e-4, "l2": 0.3298, "p_ee": 1.1e-5,
          "p_1": 1.1e-5, "p_2": 1.1e-5, "g_ee": 9.5e-5, "g_1": 2.9e-4, "g_2": 2.9e-4}  # fmt: skip


@pytest.fixture(scope="module")
def found(outcome: Callable[[str], Outcome]) -> Outcome:
    return outcome("scara-contact")


def value(of: Outcome, name: str) -> float:
    (out,) = [f.recomputed for f in of.figures if f.name == name]
    assert out is not None
    return out


def test_the_twelve_parameters_come_back(found: Outcome) -> None:
    assert {v.figure: v.actual for v in given.VALUES} == ACTUAL
    for name, true in ACTUAL.items():
        assert value(found, name) == pytest.approx(true, rel=1e-8)
    assert value(found, "e_f_N") < 1e-8
    assert value(found, "success_rate") == 1.0  # of 120 random starts


def test_one_force_level_cannot_separate(found: Outcome) -> None:
    assert value(found, "singular_gap_single_force") < 1e-8
    assert value(found, "condition_two_forces") == pytest.approx(30, abs=1)


def test_the_published_errors_cancel_in_the_combination() -> None:
    """By the printed signs of eq. (7) it is 40 N * p_ee - g_ee: 2.848e-7 and 2.850e-7 m."""
    at = {v.figure: v for v in given.VALUES}
    p, g = (at[n].published - at[n].actual for n in ("p_ee", "g_ee"))
    assert 40 * p == pytest.approx(2.848e-7, abs=2e-10)
    assert g == pytest.approx(2.850e-7, abs=2e-10)


def test_the_verdict_has_both_combinations(found: Outcome) -> None:
    """2.848e-7 and 2.8501e-7 m; with noise 40 N x 4.4164e-6 m/N and 1.87987e-4 m."""
    assert "off by 5.7e-07 m in the sum and by -2e-10 m in the difference" in found.verdict
    assert "(with noise 0.00036 and -1e-05 m)" in found.verdict


def test_what_is_put_in_or_chosen_is_said(found: Outcome) -> None:
    named = {f.name: f for f in found.figures}
    assert {n: named[n].put_in for n in ACTUAL} == ACTUAL
    assert named["e_f_noise_N"].why is Why.INPUTS
    assert "by construction" in named["e_f_noise_N"].note
    assert "chosen so that e_f has the published size" in found.verdict


def test_noise_gives_the_published_error_index(found: Outcome) -> None:
    """Mean length of plane noise after twelve of 72 degrees of freedom are fitted."""
    expected = given.FORCE_SD * np.sqrt(np.pi / 2 * 60 / 72)
    assert value(found, "e_f_noise_N") == pytest.approx(expected, rel=0.06)
    assert 1.2 < expected < 1.4
    (listing,) = found.listings
    rms = {row["parameter"]: row["rms_error"] for row in listing.rows}
    assert 4e-6 < float(rms["x0"]) < 1.2e-5
    assert 2e-7 < float(rms["p_ee"]) < 8e-7
    published = {row["parameter"]: row["published_error"] for row in listing.rows}
    assert published["p_ee"] == pytest.approx(4.4164e-6)


def test_pictures_and_the_error_index_are_drawn(found: Outcome) -> None:
    index, before, after = found.curves
    gaps, forces, published = index.series
    assert gaps.y[0] == forces.y[0] == pytest.approx(np.log10(136.4), abs=0.01)
    assert gaps.y[-1] < -8
    assert published.y[0] == pytest.approx(np.log10(4.491026e-5))
    assert before.equal
    assert after.equal
    assert any("does not touch" in n for n in before.notes)
    assert not any("does not touch" in n for n in after.notes)
