"""Correlated readings are worth fewer: the effective number of an autoregression is known in closed form."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.logs import correlated

from elastocal.solve.serial import SMALLEST, crowding, scatter_and_worth


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
