"""Numbers, points and blocks that were spoiled are left out, as what they are; nothing else is."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from elastocal.solve.deletion import Deletion, deletion_of_rows
from elastocal.solve.linear import orthonormal_span
from elastocal.solve.outliers import LinearJudge, doubtful_units, screen_units

N, R, P = 20, 6, 5
PARTS = np.array([0, 0, 0, 1, 1, 1])


@dataclass(frozen=True, eq=False)
class Plain:
    """Independent noise of one, no prior."""

    rows: np.ndarray
    y: np.ndarray
    parts: np.ndarray

    def without(self, dropped: np.ndarray) -> Deletion:
        used = ~dropped
        span = orthonormal_span(np.where(used.reshape(-1, 1), self.rows, 0.0))
        y = np.where(used, self.y, 0.0).reshape(-1)
        left = y - span @ (span.T @ y)
        inverse = np.eye(R) * used[:, :, None]
        return deletion_of_rows(
            inverse, span.reshape(N, R, -1), left.reshape(N, R), used, float(left @ left), used.sum() - P,
            parts=self.parts, floor=0.0,
        )  # fmt: skip

    def tuned(self, dropped: np.ndarray) -> Plain:
        return self


def problem(seed: int = 3) -> Plain:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(N * R, P))
    y = rows @ rng.normal(size=P) + rng.normal(size=N * R)
    return Plain(rows, y.reshape(N, R), PARTS)


def test_good_readings_stay() -> None:
    plain = problem()
    dropped, units, _ = screen_units(plain, np.ones((N, R), bool), np.zeros((N, R), bool))
    assert units == ()
    assert not dropped.any()


@pytest.mark.parametrize(
    ("rows", "level"), [((4,), "number"), ((3, 4, 5), "point"), ((0, 1, 2, 3, 4, 5), "pose")]
)  # fmt: skip
def test_what_was_spoiled_is_left_out_as_what_it_is(rows: tuple[int, ...], level: str) -> None:
    plain = problem()
    plain.y[7, list(rows)] += 30.0 * np.array([1, -1, 1, 1, -1, -1])[: len(rows)]
    _, units, _ = screen_units(plain, np.ones((N, R), bool), np.zeros((N, R), bool))
    assert [(u.level, u.block, u.rows) for u in units] == [(level, 7, rows)]


def test_what_was_left_out_wrongly_comes_back() -> None:
    plain = problem()
    plain.y[7, 4] += 30.0
    start = np.zeros((N, R), bool)
    start[[2, 7], 4] = True
    dropped, _, _ = screen_units(plain, np.ones((N, R), bool), start)
    assert np.argwhere(dropped).tolist() == [[7, 4]]


@pytest.mark.parametrize(("others", "left_out"), [(1.5, (4,)), (4.0, (3, 4, 5))])
def test_a_point_with_a_wrong_number_keeps_those_that_are_likely(others: float, left_out: tuple[int, ...]) -> None:
    """Two numbers beside it at 1.5 sd of what the rest predicts have a probability of 10 %, at 4 sd of 1e-6."""
    plain = problem()
    start = np.zeros((N, R), bool)
    start[7, 3:] = True
    keep = ~start.reshape(-1)
    x = np.linalg.lstsq(plain.rows[keep], plain.y.reshape(-1)[keep], rcond=None)[0]
    plain.y[7, 3:] = plain.rows[7 * R + 3 : 8 * R] @ x + np.array([others, 30.0, -others])
    dropped, _, _ = screen_units(plain, np.ones((N, R), bool), start)
    assert np.argwhere(dropped).tolist() == [[7, row] for row in left_out]


@dataclass(frozen=True, eq=False)
class Shared(LinearJudge):
    """Noise of one, and a shift of all numbers of a block whose size is fitted to the blocks that are kept."""

    def tuned(self, dropped: np.ndarray) -> Shared:
        means = self.misfit[~dropped.any(axis=1)].mean(axis=1)
        shift = max(0.0, float(np.mean(means**2)) - 1 / R)
        return replace(self, lower=np.broadcast_to(np.linalg.cholesky(np.eye(R) + shift), (N, R, R)))


def test_a_block_does_not_hide_in_a_scale_that_was_fitted_with_it() -> None:
    y = np.random.default_rng(2).normal(size=(N, R))
    y[7] += 25.0
    none = np.zeros((N, R), bool)
    judge = Shared(y, np.zeros((N, R, 1)) + 1e-3, ~none, PARTS).tuned(none)
    assert doubtful_units(judge.without(none), 1e-6) == []  # 4.5 times the size of all shifts, of which it is one
    dropped, units, _ = screen_units(judge, ~none, none)
    assert [(u.level, u.block) for u in units] == [("pose", 7)]
    assert dropped.sum() == R


def test_a_deletion_residual_is_what_a_fit_without_the_number_predicts() -> None:
    plain = problem()
    found = plain.without(np.zeros((N, R), bool))
    keep = np.arange(N * R) != 7 * R + 4
    x = np.linalg.lstsq(plain.rows[keep], plain.y.reshape(-1)[keep], rcond=None)[0]
    assert found.number_residuals()[7, 4] == pytest.approx(plain.y[7, 4] - plain.rows[7 * R + 4] @ x, rel=1e-9)
