"""Expected position error after compensation at test poses (003 section 5): what the calibration is made for.

With F_t (d, p) the derivative of what the robot does at test pose t under its load by the parameters,

    error_t^2 = tr(F_t C F_t^T),    value = sqrt(mean or largest error_t^2),    gain = -2 log value

in the unit of F.  A smaller covariance is worth something only where it is seen at the test poses.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from elastocal.design.criteria.criterion import Criterion, Over, Stakes, mean_slopes, minus_log
from elastocal.design.knowledge import Knowledge, Trials
from elastocal.errors import ShapeError, UnknownNameError
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass

WATCHED = 4
"""Poses that a bound of the largest error is taken from."""


@dataclass(frozen=True, eq=False)
class TestPose(Criterion):
    """``derivatives`` (T, d, p), d = 3 for positions; ``over`` says whether the mean or the largest error counts."""

    __test__: ClassVar[bool] = False  # pytest takes classes with this name for tests
    kind: ClassVar[str] = "test_pose"
    derivatives: Array
    over: Over = "mean"

    @classmethod
    def for_task(cls, stakes: Stakes) -> Self:
        return cls(stakes.derivatives, stakes.over)

    def __post_init__(self) -> None:
        if self.over not in ("mean", "largest"):
            raise UnknownNameError("way to sum errors", self.over, ("mean", "largest"))
        if self.derivatives.ndim != 3 or 0 in self.derivatives.shape or not np.all(np.isfinite(self.derivatives)):
            raise ShapeError(
                "test poses: give finite derivatives (poses, 3, parameters), one pose or more", code="test-poses"
            )

    @property
    def certifiable(self) -> bool:
        return self.over == "mean"

    def check(self, parameters: int) -> None:
        if self.derivatives.shape[2] != parameters:
            raise ShapeError(
                f"test poses: derivatives by {self.derivatives.shape[2]} parameters, the candidates have {parameters}",
                value=(self.derivatives.shape[2], parameters),
            )

    @cached_property
    def mean_rows(self) -> Array:
        """Rows W (at most p) with tr(W C W^T) the mean square for every C."""
        t, d, p = self.derivatives.shape
        return np.asarray(np.linalg.qr(self.derivatives.reshape(t * d, p), mode="r") / np.sqrt(t))

    def errors(self, known: Knowledge) -> Array:
        """Expected error (T,) at every test pose: sqrt of the expected square of its length."""
        return np.asarray(np.sqrt(np.sum(self._halves(known) ** 2, axis=(1, 2))))

    def _halves(self, known: Knowledge) -> Array:
        t, d, p = self.derivatives.shape
        return known.half(self.derivatives.reshape(t * d, p)).reshape(t, d, -1)

    def value(self, known: Knowledge) -> float:
        errors = self.errors(known)
        return float(np.sqrt(np.mean(errors**2)) if self.over == "mean" else errors.max())

    def gains(self, trials: Trials) -> Array:
        if self.over == "mean":
            return minus_log(trials.total(self.mean_rows))
        return self._largest(trials, np.arange(len(self.derivatives)))

    def ceilings(self, trials: Trials) -> Array | None:
        if self.over == "mean" or len(self.derivatives) <= 2 * WATCHED:
            return None
        worst = np.argsort(-self.errors(trials.base), kind="stable")[:WATCHED]
        return self._largest(trials, worst)

    def _largest(self, trials: Trials, poses: Ints) -> Array:
        f = self.derivatives[poses]
        squares = trials.squares(f.reshape(-1, f.shape[2]))
        return minus_log(squares.reshape(len(f), f.shape[1], -1).sum(axis=1).max(axis=0))

    def slopes(self, known: Knowledge, rows: Array) -> Array:
        return mean_slopes(known, self.mean_rows, rows) if self.over == "mean" else super().slopes(known, rows)
