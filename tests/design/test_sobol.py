"""Sobol points are those of scipy, to the bit, plain and scrambled."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import qmc

from elastocal.design.candidates import sobol


@pytest.mark.parametrize("d", [1, 2, 3, 6, 7, 12, 16, 17])
@pytest.mark.parametrize("log2", [0, 1, 5, 9])
def test_points_are_those_of_scipy(d, log2):
    np.testing.assert_array_equal(sobol(d, log2), qmc.Sobol(d, scramble=False).random_base2(log2))
    rng = np.random.default_rng
    np.testing.assert_array_equal(sobol(d, log2, rng(3)), qmc.Sobol(d, seed=rng(3)).random_base2(log2))


def test_the_generator_goes_on_as_with_scipy():
    one, other = np.random.default_rng(4), np.random.default_rng(4)
    sobol(6, 4, one)
    qmc.Sobol(6, seed=other).random_base2(4)
    assert one.integers(10**9) == other.integers(10**9)
    np.testing.assert_array_equal(sobol(6, 4, one), qmc.Sobol(6, seed=other).random_base2(4))
