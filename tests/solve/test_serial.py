"""Correlated readings are worth fewer: the effective number of an autoregression is known in closed form."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.logs import correlated

from elastocal.solve.blocks import Blocks, Noise, Scale
from elastocal.solve.dependent import (
    SMALLEST,
    STRETCHES,
    considered,
    crowding,
    left_out,
    mean_square,
    scatter_and_worth,
    spread,
)
from elastocal.solve.evidence import posterior


@pytest.mark.parametrize("rho", [0.0, 0.6, 0.9])
def test_the_effective_number_is_that_of_the_autoregression(rho):
    noise, worth = scatter_and_worth(correlated((20000, 3), rho, 0.7, seed=1))
    np.testing.assert_allclose(noise, 0.7, rtol=0.1)
    np.testing.assert_allclose(worth, 20000 * (1 - rho) / (1 + rho), rtol=0.2)


def test_gaps_are_left_out_and_nothing_is_unknown():
    r = correlated((4000, 3), 0.5, 2.0, seed=2)
    r[:, 1] = np.nan
    r[10:, 2] = np.nan
    noise, worth = scatter_and_worth(r)
    assert noise[0] == pytest.approx(2, rel=0.1)
    assert np.isnan(noise[1])
    assert np.isnan(worth[1:]).all()
    assert np.isfinite(noise[2])
    assert scatter_and_worth(np.zeros((50, 1)))[0][0] == SMALLEST


def test_crowding_is_at_least_one():
    counts = np.array([100, 100, 100])
    np.testing.assert_array_equal(crowding(counts, np.array([25.0, 200.0, np.nan])), [4, 1, 1])


def straight_line(noise, count=600):
    """A line through readings of one channel: blocks of one number, scale one."""
    t = np.linspace(-1, 1, count)
    x = np.stack([np.ones(count), t], axis=1)[:, None]
    parts = (Noise(Scale("noise", 1.0, 0.0), np.ones((count, 1, 1))),)
    blocks = Blocks((0.5 - 2 * t + noise)[:, None], x, np.ones((count, 1), dtype=bool), parts, ())
    return posterior(blocks, np.zeros(1)), x


def test_stretches_left_out_are_those_of_refits():
    noise = correlated((600, 1), 0.98, 1.0, seed=3)[:, 0]
    solved, x = straight_line(noise)
    read, residuals = solved.blocks.readings, solved.blocks.readings - x @ solved.mean
    errors = []
    for part in np.array_split(np.arange(600), STRETCHES):
        others = np.setdiff1d(np.arange(600), part)
        values = np.linalg.lstsq(x[others, 0], read[others, 0], rcond=None)[0]
        errors.append(read[part, 0] - x[part, 0] @ values)
    expected = np.sqrt(np.mean(np.concatenate(errors) ** 2))
    assert left_out(solved, residuals)[0] == pytest.approx(expected, rel=1e-9)
    assert left_out(solved, residuals)[0] > np.sqrt(mean_square(residuals)[0])


def test_intervals_widen_where_stretches_err_alike_and_only_there():
    rng = np.random.default_rng(4)
    used = np.ones((600, 1), dtype=bool)
    white = [spread(*straight_line(rng.normal(size=600)), used)[2][0] for _ in range(20)]
    assert np.mean(white) < 1.4
    alike = np.repeat(rng.normal(size=STRETCHES), 600 // STRETCHES)  # 50 readings of a stretch err as one
    covariance, drawn, widening = spread(*straight_line(alike), used)
    assert 15 < widening[0] < 150
    assert covariance[0, 0] == pytest.approx(1 / 600 + (widening[0] - 1) * drawn[0, 0], rel=0.5)


def test_what_is_only_considered_adds_the_shift_and_the_spread_of_a_larger_fit():
    """By the normal equations of the larger problem, its new column with a prior of 0.4 about zero."""
    solved, x = straight_line(correlated((600, 1), 0.0, 1.0, seed=5)[:, 0] + np.linspace(-1, 1, 600) ** 2)
    z = np.exp(np.linspace(-1, 1, 600))[:, None, None]
    both = np.concatenate([x, z], axis=2)[:, 0]
    covariance = np.linalg.inv(both.T @ both + np.diag([0, 0, 0.4**-2]))
    shift = (covariance @ both.T @ solved.blocks.readings[:, 0])[:2] - solved.mean
    expected = covariance[:2, :2] - solved.covariance + np.outer(shift, shift)
    used = np.ones((600, 1), dtype=bool)
    np.testing.assert_allclose(considered(solved, x, 0.4 * z, used), expected, rtol=1e-8)
    assert np.all(np.diag(expected) > 1e-4)
    np.testing.assert_array_equal(considered(solved, x, z[:, :, :0], used), np.zeros((2, 2)))
