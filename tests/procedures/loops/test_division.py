"""Gauges whose division is coarser than their noise: residuals say nothing of it, and the numbers must."""

from __future__ import annotations

import numpy as np
import pytest

from elastocal.procedures import loops
from elastocal.procedures.loops.loop import Estimate, NamedLoop, loop_of, mean_of

FORCE = np.r_[10:101:15, 85:9:-15, -10:-101:-15, -85:-9:15].astype(float)
WAY = np.sign(np.diff(np.r_[0, FORCE]))


def shown(p, g, h, division=10.0, noise=0.0, seed=0):
    """What a gauge of this division (um) shows, in m."""
    true = p * FORCE + g * np.sign(FORCE) - h * WAY + np.random.default_rng(seed).normal(0, noise, len(FORCE))
    return 1e-6 * division * np.round(true / division)


def named(displacement, angle=0.0):
    unit = np.array([np.cos(angle), np.sin(angle)])
    return NamedLoop(f"{angle:.2f}", loop_of(FORCE, displacement), direction=unit)


def test_steps_that_the_division_divides_do_not_make_numbers_exact():
    """Half a hysteresis of 6 um shows as 10 um; every reading lies on a straight line."""
    found = loops.identify([named(shown(2.0, 40.0, 6.0, noise=0.3))])
    fit = found.fits[0]
    assert fit.solution.scatter < 1e-12
    assert fit.half_hysteresis.value == pytest.approx(1e-5)
    assert 4e-6 < fit.half_hysteresis.half_width() < 8e-6
    assert abs(fit.half_gap.value - 40e-6) < fit.half_gap.half_width() < 15e-6
    assert abs(fit.compliance.value - 2e-6) < fit.compliance.half_width() < 0.3e-6
    assert "division" in [w.code for w in found.warnings]
    assert fit.departures.slopes[0].sd > 1e-8


def test_no_reading_is_an_outlier_by_one_division_nor_a_loop_curved():
    read = shown(2.0, 40.0, 6.0)
    read[4] += 1e-5
    found = loops.identify([named(read)])
    assert found.fits[0].outliers == ()
    assert found.not_straight == 0


def test_a_gauge_finer_than_its_noise_adds_nothing():
    found = loops.identify([named(shown(2.0, 40.0, 6.0, division=1.0, noise=2.0))])
    assert found.fits[0].division == pytest.approx(1e-6)
    gap = found.fits[0].half_gap
    assert gap.division < 1e-6 * gap.sd
    assert "division" not in [w.code for w in found.warnings]


def test_many_loops_do_not_average_the_division():
    one = Estimate(1.0, 0.5, division=0.4)
    mean, _ = mean_of([one] * 9)
    assert mean.division == pytest.approx(0.4)
    assert mean.sd == pytest.approx(np.sqrt(0.09 / 9 + 0.16))
    assert one.minus(one).sd == pytest.approx(np.sqrt(2 * 0.09 + 0.8**2))
