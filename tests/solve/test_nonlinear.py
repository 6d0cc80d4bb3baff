"""The way to a minimum against scipy's, from far starts, along moves that the rows do not determine, and in words."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused
from scipy.optimize import least_squares

from elastocal.solve.linear import minimise

T = np.linspace(0, 3, 20)
Y = 2.5 * np.exp(-1.3 * T) + 0.01 * np.random.default_rng(2).normal(size=20)


def rows(x):
    a, b = x
    model = a * np.exp(-b * T)
    return Y - model, np.column_stack([np.exp(-b * T), -T * model])


@pytest.mark.parametrize("start", [(2.0, 1.0), (1.0, 0.0), (1.0, 2.5), (10.0, 2.0)])
def test_the_minimum_is_that_of_scipy(start):
    best = least_squares(lambda x: rows(x)[0], (2.5, 1.3), xtol=1e-15, ftol=1e-15, gtol=1e-15)
    found = minimise(np.array(start), rows, np.add, float(np.max(np.abs(Y))))
    np.testing.assert_allclose(found, best.x, rtol=1e-7)


def test_moves_that_no_row_determines_stay_zero():
    found = minimise(np.array([2.0, 1.0, 7.0]), lambda x: (rows(x[:2])[0], np.pad(rows(x[:2])[1], ((0, 0), (0, 1)))),
                     np.add, 2.5)  # fmt: skip
    assert found[2] == 7.0
    np.testing.assert_allclose(found[:2], minimise(np.array([2.0, 1.0]), rows, np.add, 2.5), rtol=1e-8)


def test_what_has_no_minimum_is_refused():
    """The squares of exp(-x) fall for ever."""
    with refused("not-converged") as error:
        minimise(np.zeros(1), lambda x: (np.exp(-x), np.exp(-x)[:, None]), np.add, 0.0, "it has no end")
    assert error.value.code == "not-converged"


@pytest.mark.parametrize("start", [np.zeros(1), np.array([3.0])])
def test_a_start_that_no_step_leaves_is_refused(start):
    """Slopes of the wrong sign, or a model that is not there beyond the start: the start is no minimum."""

    def model(x):
        beside = np.where(np.array_equal(x, start), x, np.nan)
        return np.array([1.0, 1.2]) - beside, np.ones((2, 1))

    for rows_of in (lambda x: (np.array([1.0, 1.2]) - x, -np.ones((2, 1))), model):
        with refused("not-converged"):
            minimise(start, rows_of, np.add, 1.0)
