"""Weighted least squares against scipy, Monte Carlo and its own statement of what it cannot do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from elastocal.errors import InputError
from elastocal.identify.linear import fit_linear

RNG = np.random.default_rng(11)
A = RNG.normal(size=(60, 4)) * [1.0, 1e-6, 1e3, 10.0]
TRUTH = np.array([2.0, 3e5, -1e-3, 0.4])
NAMES = ("a", "b", "c", "d")
NOISE = RNG.uniform(0.01, 0.5, 60)


def test_the_weighted_minimum_is_scipys():
    y = A @ TRUTH + NOISE * RNG.normal(size=60)
    found = fit_linear(NAMES, A, y, NOISE)
    units = np.array([1.0, 1e6, 1e-3, 0.1])
    other = lsq_linear(A * units / NOISE[:, None], y / NOISE).x * units
    np.testing.assert_allclose(found.values, other, rtol=1e-8)
    np.testing.assert_allclose(found.residuals, y - A @ other, rtol=0, atol=1e-8)
    assert found.freedom == 56
    assert 0.6 < found.scatter < 1.4


def test_stated_intervals_hold_the_truth_as_often_as_stated():
    hits = np.zeros(4)
    for _ in range(600):
        found = fit_linear(NAMES, A, A @ TRUTH + NOISE * RNG.normal(size=60), NOISE)
        hits += np.abs(found.values - TRUTH) < 1.959964 * found.sd
    np.testing.assert_allclose(hits / 600, 0.95, atol=0.035)


def test_too_small_a_stated_noise_shows_in_the_scatter():
    y = A @ TRUTH + 3 * NOISE * RNG.normal(size=60)
    assert fit_linear(NAMES, A, y, NOISE).scatter == pytest.approx(3, rel=0.4)


@pytest.mark.parametrize(
    ("matrix", "readings", "words"),
    [
        (A[:3], np.ones(3), "3 equations cannot give 4 parameters"),
        (A * [1, 0, 1, 1], np.ones(60), "no reading depends on b"),
        (A[:, [0, 1, 2, 2]], np.ones(60), "cannot be told apart"),
        (A, np.full(60, np.nan), "finite"),
    ],
)
def test_what_cannot_be_fitted_is_refused(matrix, readings, words):
    with pytest.raises(InputError, match=words):
        fit_linear(NAMES, matrix, readings, 1.0)
