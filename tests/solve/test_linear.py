"""Linear least squares with its rank: against lstsq and refits, whatever the units, and what is not determined."""

from __future__ import annotations

import numpy as np
import pytest

from elastocal.errors import InputError
from elastocal.solve.linear import determined_values, orthonormal_span, solve_linear

RNG = np.random.default_rng(3)
X = RNG.normal(size=(30, 4)) * [1.0, 1e4, 1e-3, 1.0]
B = np.array([1.0, 2e-4, 3e3, -1.0])
Y = X @ B + 0.1 * RNG.normal(size=30)


def test_values_covariance_and_scatter_are_those_of_normal_equations():
    fit = solve_linear(X, Y)
    values, squares, *_ = np.linalg.lstsq(X, Y, rcond=None)
    np.testing.assert_allclose(fit.values, values, rtol=1e-9)
    np.testing.assert_allclose(fit.unit_covariance, np.linalg.inv(X.T @ X), rtol=1e-6)
    assert (fit.squares, fit.freedom) == (pytest.approx(squares[0]), 26)
    assert fit.scatter == pytest.approx(np.sqrt(squares[0] / 26))
    assert fit.known.all()
    assert not fit.exact


def test_units_change_nothing():
    scale = np.array([1e6, 1e-6, 1e3, 1.0])
    one, other = solve_linear(X, Y), solve_linear(X * scale, Y)
    np.testing.assert_allclose(other.values * scale, one.values, rtol=1e-9)
    np.testing.assert_allclose(other.leverage, one.leverage, rtol=1e-9)


def test_a_row_left_out_has_the_leverage_of_its_prediction():
    kept = np.ones(30, dtype=bool)
    kept[7] = False
    fit, without = solve_linear(X, Y, kept=kept), solve_linear(X[kept], Y[kept])
    np.testing.assert_allclose(fit.values, without.values, rtol=1e-9)
    assert fit.leverage[7] == pytest.approx(X[7] @ without.unit_covariance @ X[7])
    assert fit.residuals[7] == pytest.approx(Y[7] - X[7] @ without.values)
    whole = solve_linear(X, Y)
    assert fit.residuals[7] == pytest.approx(whole.residuals[7] / (1 - whole.leverage[7]))


def test_what_acts_together_is_named_and_the_rest_is_known():
    x = np.column_stack([X[:, 0], X[:, 1], 2 * X[:, 0], np.zeros(30), X[:, 3]])
    fit = solve_linear(x, Y, ("a", "b", "c", "d", "e"))
    assert fit.known.tolist() == [False, True, False, False, True]
    assert fit.entangled("a") == ("c",)
    assert fit.entangled("d") == ()
    assert fit.freedom == 27
    np.testing.assert_allclose(fit.values[[1, 4]], np.linalg.lstsq(x[:, [0, 1, 4]], Y, rcond=None)[0][1:], rtol=1e-9)


def test_the_kept_rows_say_nothing_of_a_column_that_only_others_have():
    x = np.column_stack([np.ones(6), [0, 0, 0, 0, 0, 1.0]])
    fit = solve_linear(x, np.arange(6.0), kept=np.arange(6) < 5)
    assert fit.leverage[5] == np.inf
    assert np.isfinite(fit.leverage[:5]).all()


def test_the_span_is_orthonormal_and_holds_the_columns():
    x = np.column_stack([X, X[:, 0] - X[:, 3]])
    span = orthonormal_span(x)
    assert span.shape == (30, 4)
    np.testing.assert_allclose(span.T @ span, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(span @ (span.T @ x), x, atol=1e-8)


def test_stated_intervals_hold_the_truth_as_often_as_stated():
    noise, rng = np.linspace(0.01, 0.5, 30), np.random.default_rng(11)
    white = X / noise[:, None]
    hits = np.zeros(4)
    for _ in range(600):
        fit = solve_linear(white, white @ B + rng.normal(size=30))
        hits += np.abs(fit.values - B) < 1.959964 * np.sqrt(np.diag(fit.unit_covariance))
    np.testing.assert_allclose(hits / 600, 0.95, atol=0.035)


@pytest.mark.parametrize(
    ("columns", "readings", "code"),
    [
        (X, np.where(np.arange(30) == 3, np.nan, Y), "not-finite"),
        (X[:3], Y[:3], "few-readings"),
        (np.column_stack([X, X[:, 0]]), Y, "rank"),
    ],
)
def test_what_rows_do_not_determine_is_refused(columns, readings, code):
    names = [f"k{i}" for i in range(columns.shape[1])]
    with pytest.raises(InputError) as refused:
        determined_values(columns, readings, names)
    assert refused.value.code == code
    np.testing.assert_array_equal(determined_values(X, Y, "abcd"), solve_linear(X, Y, "abcd").values)
