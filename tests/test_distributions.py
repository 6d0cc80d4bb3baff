"""Tails of distributions against the library that they stand for."""

import numpy as np
import pytest
from scipy import special

from elastocal import distributions as d

FREEDOM = np.array([0.3, 0.5, 1, 2, 3, 4.7, 9, 18, 60, 161, 700, 2500.0])


def _close(ours, theirs):
    there = theirs > 1e-290
    assert ours[there] == pytest.approx(theirs[there], rel=3e-11)
    assert np.all(ours[~there] <= 1e-289)


@pytest.mark.parametrize("x", [0.0, 1e-6, 0.1, 0.9, 1.0, 1.1, 3.0, 30.0, 1e3])
def test_tails_are_those_of_the_library(x):
    a, b = np.meshgrid(FREEDOM, FREEDOM)
    _close(d.fdtrc(a, b, x), special.fdtrc(a, b, x))
    _close(d.chdtrc(FREEDOM, x * FREEDOM), special.chdtrc(FREEDOM, x * FREEDOM))
    _close(d.chdtrc(FREEDOM, x), special.chdtrc(FREEDOM, x))
    _close(d.stdtr(FREEDOM, -x), special.stdtr(FREEDOM, -x))
    _close(d.stdtr(FREEDOM, x), special.stdtr(FREEDOM, x))


def test_many_degrees_of_freedom_and_readings_that_are_missing():
    assert d.fdtrc(3, 1e6, 2.0) == special.fdtrc(3, 1e6, 2.0)
    assert d.chdtrc(1e5, 1.01e5) == special.chdtrc(1e5, 1.01e5)
    assert np.isnan(d.stdtr(5, np.array([np.nan, 1.0]))).tolist() == [True, False]
    assert np.isnan(d.fdtrc(3, 5, np.nan))
    assert np.isnan(d.chdtrc(3, np.nan))


def test_nothing_lies_beyond_infinity():
    for tail, freedom in ((d.fdtrc, (3, 5)), (d.chdtrc, (3,)), (d.chdtrc, (3.5,)), (d.stdtr, (4,))):
        assert tail(*freedom, np.array([np.inf, 2.0])) == pytest.approx(
            getattr(special, tail.__name__)(*freedom, np.array([np.inf, 2.0])), rel=3e-11
        )
    assert d.stdtr(4, -np.inf) == 0


@pytest.mark.parametrize("v", [1.0, 1.5, 2, 7, 30, 99.5])
def test_quantiles_and_the_binomial(v):
    assert d.stdtrit(v, 0.975) == pytest.approx(special.stdtrit(v, 0.975), rel=1e-12)
    n = int(10 * v)
    _close(d.bdtr(np.arange(n + 1), n, 0.95), special.bdtr(np.arange(n + 1), n, 0.95))
