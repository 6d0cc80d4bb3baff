"""Deletion of linear rows against fits without them: correlated noise, priors, sets that determine something alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import f

from elastocal.solve.outliers import LinearJudge, screen_units

N, R, P = 9, 2, 3


def problem(seed: int = 3) -> LinearJudge:
    """Blocks of two correlated numbers, and a prior on the first unknown."""
    rng = np.random.default_rng(seed)
    lower = np.tril(rng.normal(size=(N, R, R)), -1) + np.eye(R) * rng.uniform(0.5, 2.0, size=(N, R, 1))
    matrix = rng.normal(size=(N, R, P))
    misfit = matrix @ np.array([0.4, -1.0, 2.0]) + (lower @ rng.normal(size=(N, R, 1)))[:, :, 0]
    prior, aim = np.array([[2.0, 0.0, 0.0]]), np.array([0.7])
    used = np.ones((N, R), dtype=bool)
    used[4, 1] = False
    return LinearJudge(misfit, matrix, used, np.zeros(R, dtype=np.int64), 0.0, lower, prior, aim)


def squares(judge: LinearJudge, kept: np.ndarray) -> float:
    """Generalised least squares of the kept numbers, written with their whole covariance."""
    covariance = np.zeros((N * R + 1, N * R + 1))
    for i in range(N):
        covariance[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = judge.lower[i] @ judge.lower[i].T
    covariance[-1, -1] = 1.0
    rows = np.append(np.flatnonzero(kept.reshape(-1)), N * R)
    a = np.concatenate([judge.matrix.reshape(-1, P), judge.prior])[rows]
    y = np.concatenate([judge.misfit.reshape(-1), judge.aim])[rows]
    w = np.linalg.inv(covariance[np.ix_(rows, rows)])
    left = y - a @ np.linalg.solve(a.T @ w @ a, a.T @ w @ y)
    return float(left @ w @ left)


def test_chi2_is_what_the_squares_lose_without_the_set() -> None:
    judge = problem()
    dropped = np.zeros((N, R), dtype=bool)
    dropped[2, 0] = True
    kept = judge.used & ~dropped
    found = judge.without(dropped)
    assert found.total == pytest.approx(squares(judge, kept), rel=1e-9)
    assert found.freedom == 16 + 1 - 3
    chi2, size = found.block_chi2()
    assert size.tolist() == [2, 2, 1, 2, 1, 2, 2, 2, 2]
    for i in (0, 2, 4, 7):
        rest = kept.copy()
        rest[i] = False
        gain = squares(judge, kept) - squares(judge, rest)
        assert chi2[i] == pytest.approx(gain, rel=1e-8)
        ratio = (gain / size[i]) / (squares(judge, rest) / (14 - size[i]))
        assert found.exceedance(chi2, size)[i] == pytest.approx(f(size[i], 14 - size[i]).sf(ratio), rel=1e-7)


def test_a_set_that_alone_determines_something_is_judged_by_the_rest() -> None:
    """The last unknown moves one direction of block 0 only: across it the others predict, along it nobody does."""
    rng = np.random.default_rng(5)
    matrix, along = rng.normal(size=(N, R, P)), np.array([0.6, 0.8])
    matrix[:, :, 2] = 0.0
    matrix[0, :, 2] = along
    misfit = rng.normal(size=(N, R))
    misfit[0] += 100 * along
    judge = LinearJudge(misfit, matrix, np.ones((N, R), dtype=bool), np.zeros(R, dtype=np.int64))
    found = judge.without(np.zeros((N, R), dtype=bool))
    across = np.array([-0.8, 0.6])
    a, y = matrix[1:, :, :2].reshape(-1, 2), misfit[1:].reshape(-1)
    x = np.linalg.lstsq(a, y, rcond=None)[0]
    row = across @ matrix[0, :, :2]
    off = across @ misfit[0] - row @ x
    expected = off**2 / (1 + row @ np.linalg.inv(a.T @ a) @ row)
    residual, chi2, size = found.unit(0, np.arange(2))
    assert (size, chi2) == (1, pytest.approx(expected, rel=1e-8))
    assert residual == pytest.approx(off * across, rel=1e-8)
    each, sizes = found.block_chi2()
    assert (sizes[0], each[0]) == (1, pytest.approx(expected, rel=1e-8))
    assert sizes[1:].tolist() == [2] * 8
    assert np.isinf(found.blocks[0]).all()


def test_a_set_of_which_the_others_say_nothing_is_no_outlier() -> None:
    matrix = np.zeros((4, 1, 2))
    matrix[:, 0, 0], matrix[0, 0, 1] = 1.0, 1.0
    judge = LinearJudge(
        np.array([[50.0], [1.0], [1.1], [0.9]]), matrix, np.ones((4, 1), dtype=bool), np.zeros(1, dtype=np.int64)
    )
    found = judge.without(np.zeros((4, 1), dtype=bool))
    assert found.unit(0, np.arange(1))[1] == np.inf
    assert found.exceedance(*found.block_chi2())[0] == 1.0


def test_what_comes_back_is_decided_by_its_level() -> None:
    """The same left-out number stays out where coming back asks for ten times the level."""
    y = np.random.default_rng(0).normal(size=(12, 1))
    judge = LinearJudge(y, np.ones((12, 1, 1)), np.ones((12, 1), dtype=bool), np.zeros(1, dtype=np.int64), 1.0)
    rest = np.delete(y, 3)
    spread = np.sqrt(1 + 1 / 11)
    from scipy.stats import norm

    judge.misfit[3] = rest.mean() + spread * norm.isf(0.5 * 0.02 / 12)  # times twelve: 0.02
    start = np.arange(12)[:, None] == 3
    for back, out in ((1.0, 0), (10.0, 1)):
        dropped, units, _ = screen_units(judge, judge.used, start, level=0.01, levels=("pose",), back=back)
        assert (int(dropped.sum()), len(units)) == (out, out)
