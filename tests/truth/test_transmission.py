"""Stated accuracy holds the truth as often as it says, and simple ratios are proposed only where they are true."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.draws import draws, spread_of_share
from oracle.encoders import series, tables
from scipy.stats import t as student

from elastocal.procedures.transmission import identify
from elastocal.procedures.transmission.equations import AxisColumn, EncoderSeries

S = np.array([[93.0, 0.0, 0.0], [-1.25, 61.5, 0.0], [-1.0, 2.0, 247 / 9]])
PER_TURN = np.array([16384, 12288, 8192])
SETS = draws(14, 200)


@pytest.fixture(scope="module")
def fits():
    rng = np.random.default_rng(11)
    return [identify(series(tables(rng, S, PER_TURN, True, 10)), from_zero=False) for _ in range(SETS)]


def test_intervals_hold_the_truth(fits):
    """95 % intervals of S and of the counts per turn, all entries pooled."""
    inside = total = 0
    for f in fits:
        half = student.ppf(0.975, f.robust.structure_freedom) * f.robust.structure_sd
        for k in zip(*np.nonzero(S), strict=True):
            inside += abs(f.robust.structure[k] - S[k]) < half[k]
            total += 1
        counts = student.ppf(0.975, f.robust.per_turn_freedom) * f.robust.per_turn_sd
        inside += int(np.sum(np.abs(f.robust.per_turn - PER_TURN) < counts))
        total += 3
    # entries of one motor share its counts per turn, so sets count, not entries
    assert abs(inside / total - 0.95) < spread_of_share(0.95, 3 * SETS, 3.5)


def test_errors_are_as_large_as_stated(fits):
    """Counts per turn and T_j separately: their squared standardised errors average to one."""
    true = S * PER_TURN[:, None] / (2 * np.pi)
    z = np.array(
        [[(f.robust.joint[k] - true[k]) / f.robust.joint_sd[k] for k in zip(*np.nonzero(S), strict=True)] for f in fits]
    )
    assert np.mean(z**2) == pytest.approx(1.0, abs=2.2 / np.sqrt(SETS))
    assert np.abs(z.mean(axis=0)).max() < 4 / np.sqrt(SETS)


def test_zeros_are_found_and_no_number_is_named(fits):
    right = sum(np.array_equal(f.robust.structure != 0, S != 0) for f in fits)
    assert right >= 0.95 * SETS - 1
    assert sum(bool(f.outliers) for f in fits) <= 1 + 0.025 * SETS


def test_simple_ratios_are_true_or_not_proposed(fits):
    true = {(f"J{i + 1}", f"J{j + 1}"): S[i, j] for i, j in zip(*np.nonzero(S), strict=True)}
    proposed = [(f.ratios.fractions[k], true[k]) for f in fits for k in f.ratios.fractions if f.ratios.proposed[k]]
    wrong = sum(abs(float(s.value) - value) > 1e-9 for s, value in proposed)
    assert len(proposed) > 2 * SETS
    assert wrong < 0.15 * len(proposed)


def test_ratios_that_are_no_fractions_are_hardly_ever_proposed():
    rng = np.random.default_rng(12)
    invented, sets = 0, draws(8, 100)
    for _ in range(sets):
        s = np.diag(rng.uniform(20, 150, 3))
        f = identify(series(tables(rng, s, PER_TURN, False, 8)))
        invented += any(f.ratios.proposed.values())
    assert invented <= 0.3 * sets  # the rate is 0.1


def test_a_display_whose_last_digit_divides_the_steps_does_not_make_a_ratio_exact():
    """A ratio near 60 in whole turns of the motor: joint values are near 6, 12, 18 deg, shown to 0.01 deg."""
    rng, sets, turns, inside = np.random.default_rng(1), draws(60, 400), np.arange(1.0, 9.0), 0
    for _ in range(sets):
        true = rng.uniform(59.98, 60.02)
        shown = [f"{v:.2f}" for v in 360 * turns / true]
        angle = AxisColumn("A_deg", np.radians([float(t) for t in shown]), np.pi / 180, tuple(shown))
        counts = {"A": AxisColumn.of("A_counts", 8192 * turns)}
        fit = identify([EncoderSeries("t", tuple(range(8)), counts, {"A": angle})], counts_per_turn={"A": 8192})
        half = student.ppf(0.975, fit.robust.structure_freedom[0, 0]) * fit.robust.structure_sd[0, 0]
        inside += abs(fit.robust.structure[0, 0] - true) < half
    assert inside / sets > 0.95 - spread_of_share(0.95, sets)
