"""The case design: what planning is worth on the KR-270, against bounds that are known from elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from elastocal.published.case import Why
from elastocal.published.design import explained
from elastocal.published.kr270_table3 import EXPLAINED, UNEXPLAINED, alike

SHORT = ("k_c", "s_0")


@pytest.fixture(scope="module")
def value(outcome):
    found = outcome("design").figures
    figures = {f.name: f.recomputed for f in found}
    assert len(figures) == len(found)
    assert all(np.isfinite(v) for v in figures.values())
    return figures


@pytest.mark.parametrize("noise", ["", "_budget"])
def test_each_plan_wins_where_it_should(value, noise) -> None:
    for s in SHORT:
        assert value[f"{s}_percent_d{noise}"] < 0.6 * value[f"{s}_percent_random{noise}"]
    error = [value[f"error_{p}{noise}"] for p in ("test_pose", "d", "random")]
    assert error[0] < 0.95 * error[1] < 0.9 * error[2]
    assert value[f"better_than_random{noise}"] == pytest.approx(100 * (1 - error[0] / error[2]))
    assert value[f"better_than_d{noise}"] == pytest.approx(100 * (1 - error[0] / error[1]))


@pytest.mark.parametrize("noise", ["", "_budget"])
def test_certificates(value, noise) -> None:
    assert 97 < value[f"efficiency_d{noise}"] <= 100
    assert 90 < value[f"efficiency_test_pose{noise}"] <= 100
    assert value[f"d_efficiency_of_test_pose{noise}"] < value[f"efficiency_d{noise}"]


def test_tracker_noise_alone_gives_what_the_virtual_experiment_gives(value) -> None:
    """About 2 % and 0.5 % designed, 5 % and 1.3 % at random, from a search over other candidates with other code."""
    assert value["k_c_percent_d"] == pytest.approx(2.0, abs=0.5)
    assert value["s_0_percent_d"] == pytest.approx(0.5, abs=0.15)
    assert value["k_c_percent_random"] == pytest.approx(5.0, abs=1.5)
    assert value["s_0_percent_random"] == pytest.approx(1.3, abs=0.4)


def test_the_budget_explains_most_of_what_is_printed(value) -> None:
    """Table 3 prints 21.5 and 5.9 %: random poses with the whole budget come near, tracker noise does not."""
    assert value["k_c_percent_random_budget"] == pytest.approx(21.5, rel=0.35)
    assert value["s_0_percent_random_budget"] == pytest.approx(5.9, rel=0.35)
    for s in SHORT:
        assert value[f"{s}_percent_d_budget"] > 3 * value[f"{s}_percent_d"]


PRINTED = {"k_c": 21.5, "s_0": 5.9, "k_2": 1.3, "k_3": 2.0, "k_4": 3.8, "k_5": 4.9, "k_6": 4.0}


def test_what_the_budget_does_not_explain_is_called_open(value, outcome) -> None:
    """k_3 to k_5 are printed some 4 to 12 times worse than the whole budget makes them at random poses.

    ``EXPLAINED`` and ``UNEXPLAINED``, which another case quotes, are what this one finds by the product's own rule.
    """
    of = outcome("design")
    same = {s: alike(s, value[f"{s}_percent_random_budget"]) for s in PRINTED}
    assert tuple(s for s in PRINTED if same[s]) == EXPLAINED
    assert tuple(s for s in PRINTED if not same[s]) == UNEXPLAINED == ("k_3", "k_4", "k_5")
    times = {s: printed / value[f"{s}_percent_random_budget"] for s, printed in PRINTED.items()}
    for f in of.figures:
        if "_percent_" in f.name and f.published is not None:
            t = f.published / f.recomputed
            assert f"printed is {t:.2g} times as much" in f.note
            assert f.why is (Why.OPEN if f.name.endswith("_budget") and not 0.5 <= t <= 2 else Why.VIRTUAL)
    for s in ("k_3", "k_4", "k_5"):
        assert f"(printed {PRINTED[s]}, {times[s]:.2g} times as much)" in of.verdict
    assert "not tested here" in of.verdict


def test_a_budget_that_explains_everything_leaves_nothing_open() -> None:
    assert explained(PRINTED).endswith("k_6 4 % (printed 4.0).")
    assert "but not for k_2 3 % (printed 1.3, 0.43 times as much)." in explained({**PRINTED, "k_2": 3.0})


def test_errors_fall_with_the_number_of_poses(outcome) -> None:
    (curve,) = outcome("design").curves
    for series in curve.series:
        assert list(series.y) == sorted(series.y, reverse=True)
    random, by_d, by_tests = (s.y for s in curve.series)
    assert all(t < d < r for t, d, r in zip(by_tests, by_d, random, strict=True))
