"""Tails of t, F, chi square and of counts against ``scipy.special``, and against other routes where that has lost
digits itself."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

from elastocal import distributions
from elastocal.distributions import bdtr, chdtrc, chdtri, fdtrc, stdtr, stdtrit

SIZES = np.array([1.0, 1.5, 2.0, 3.0, 9.0, 18.0, 50.0, 300.0])
FREEDOMS = np.array([1.0, 2.0, 5.5, 14.0, 99.0, 140.0, 900.0])
RATIOS = np.geomspace(1e-3, 1e3, 61)


def test_tails_of_f_are_those_of_scipy_far_out_too() -> None:
    a, b, f = np.meshgrid(SIZES, FREEDOMS, RATIOS)
    np.testing.assert_allclose(fdtrc(a, b, f), scipy.special.fdtrc(a, b, f), rtol=2e-12, atol=1e-290)


def test_tails_of_chi_square_are_those_of_scipy() -> None:
    v, ratio = np.meshgrid(np.concatenate([SIZES, [1e4]]), RATIOS)
    np.testing.assert_allclose(chdtrc(v, v * ratio), scipy.special.chdtrc(v, v * ratio), rtol=5e-12, atol=1e-290)


def test_students_t_and_its_quantiles_are_those_of_scipy() -> None:
    v, t = np.meshgrid(FREEDOMS, np.linspace(-30, 30, 41))
    np.testing.assert_allclose(stdtr(v, t), scipy.special.stdtr(v, t), rtol=2e-12)
    for freedom in FREEDOMS:
        for p in (0.003, 0.025, 0.6, 0.975, 1 - 1e-7):
            assert stdtrit(float(freedom), p) == pytest.approx(scipy.special.stdtrit(freedom, p), rel=1e-9)


def test_two_degrees_of_freedom_are_exponentials_and_powers() -> None:
    x = np.geomspace(1e-3, 500, 30)
    np.testing.assert_allclose(chdtrc(2, x), np.exp(-x / 2), rtol=1e-13)
    np.testing.assert_allclose(fdtrc(2, 7e6, x), np.exp(-3.5e6 * np.log1p(2 * x / 7e6)), rtol=1e-10)


def test_many_degrees_of_freedom_are_without_end() -> None:
    x = np.linspace(0.1, 6, 20)
    np.testing.assert_allclose(stdtr(np.inf, -x), scipy.special.ndtr(-x), rtol=1e-12)
    for a in (1.0, 3.0, 9.0):
        for b in (np.inf, 2e12):
            np.testing.assert_allclose(fdtrc(a, b, x), scipy.special.chdtrc(a, a * x), rtol=1e-9)


def test_a_hundred_terms_do_for_any_number_of_degrees_of_freedom(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many readings as there are: campaigns of some thousand poses ask for ten thousand tails in every pass."""
    monkeypatch.setattr(distributions, "TERMS", 100)
    a, b, f = np.meshgrid([1.0, 1.5, 3.0, 9.0, 300.0], np.geomspace(1, 1e8, 33), np.geomspace(1e-3, 30, 200))
    with np.errstate(under="ignore"):
        expected = scipy.special.betaincc(a / 2, b / 2, a * f / (b + a * f))
    np.testing.assert_allclose(fdtrc(a, b, f), expected, rtol=1e-10, atol=1e-290)


def test_ends_and_what_is_not_known() -> None:
    ends = np.array([0.0, np.inf, np.nan])
    np.testing.assert_array_equal(fdtrc(3, 4, ends), [1.0, 0.0, np.nan])
    np.testing.assert_array_equal(chdtrc(3, ends), [1.0, 0.0, np.nan])
    np.testing.assert_array_equal(stdtr(3, [np.inf, -np.inf, np.nan]), [1.0, 0.0, np.nan])
    assert np.isnan(fdtrc(3, np.nan, 1.0))


def test_quantiles_of_chi_square_are_those_of_scipy() -> None:
    for freedom in (*SIZES, 1e4):
        for p in (1e-9, 0.01, 0.05, 0.5, 0.95, 0.99):
            assert chdtri(float(freedom), p) == pytest.approx(scipy.special.chdtri(freedom, p), rel=1e-12)


def test_chances_of_at_most_so_many_of_some_tries_are_those_of_scipy() -> None:
    for tries in (1, 5, 12, 59, 400):
        for chance in (0.05, 0.5, 0.95):
            most = np.arange(tries)
            np.testing.assert_allclose(
                bdtr(most, tries, chance), scipy.special.bdtr(most, tries, chance), rtol=1e-11, atol=1e-290
            )
    assert bdtr(1, 2, 0.25) == pytest.approx(15 / 16, rel=1e-14)
