"""Numbers, markers and whole readings that the others contradict, by deletion residuals (``solve.outliers``).

A loss that lets go of what is far off starts the search, so that several outliers do not hide each other.  Every number
left out is named with what the rest predicts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.reduction.fit import Fit
from elastocal.solve.deletion import Deletion, deletion_of_rows
from elastocal.solve.linear import orthonormal_span, solve_linear
from elastocal.solve.loss import cauchy_residuals
from elastocal.solve.outliers import LEVEL, screen_units
from elastocal.spatial.entries import Array, Bools, Ints

FAR = 5.0
"""Standard deviations beyond which a number is let go of before anything is decided."""


@dataclass(frozen=True)
class Outlier:
    """One number that lies ``sigmas`` of the others' scatter away from what they predict."""

    reading: int
    row: int
    place: str
    value: float
    predicted: float
    sigmas: float


def find_outliers(fit: Fit, level: float = LEVEL) -> tuple[Outlier, ...]:
    """Numbers, markers and whole readings that the others contradict, the worst number first."""
    if fit.freedom < 2:
        return ()
    judge = _Linear.of(fit)
    dropped, _, judge = screen_units(judge, judge.used, judge.far(), level=level)
    if not dropped.any():
        return ()
    left = judge.residuals(dropped)
    rest = judge.without(dropped)
    away = np.abs(left) / (np.sqrt(fit.problem.weights.variance * max(rest.total / rest.freedom, rest.floor)))
    readings = fit.campaign.readings
    out = [
        Outlier(i, j, fit.campaign.place(i, j), float(readings[i, j]), float(readings[i, j] - left[i, j]),
                float(away[i, j]))
        for i, j in np.argwhere(dropped).tolist()
    ]  # fmt: skip
    return tuple(sorted(out, key=lambda s: (-s.sigmas, s.reading, s.row)))


@dataclass(frozen=True, eq=False)
class _Linear:
    """The problem of a fit in m and rad, with unit columns: ``lower`` factors (N, R, R) of the noise, rows, priors."""

    lower: Array
    misfit: Array
    matrix: Array
    prior: Array
    aim: Array
    used: Bools
    parts: Ints
    stated: bool

    @classmethod
    def of(cls, fit: Fit) -> _Linear:
        problem, kind = fit.problem, fit.campaign.measurement
        n, r = problem.shape
        live, inverse = problem.weights.live, problem.weights.inverse
        lower = np.asarray(np.linalg.inv(inverse + np.eye(r) * ~live[:, :, None]), dtype=np.float64)
        lengths = np.linalg.norm(problem.matrix, axis=0)
        columns = problem.matrix / np.where(lengths > 0, lengths, 1.0)
        matrix, misfit = columns[: n * r].reshape(n, r, -1), problem.misfit[: n * r].reshape(n, r, 1)
        parts = np.array([kind.groups.index(row.group) for row in kind.rows])
        return cls(
            lower, (lower @ misfit)[:, :, 0], lower @ matrix, columns[problem.priors()],
            problem.misfit[problem.priors()], problem.used, parts, fit.stated,
        )  # fmt: skip

    def far(self) -> Bools:
        """Where to start: numbers that Cauchy's loss lets go of."""
        _, rows, misfit = self._rows(np.zeros_like(self.used))
        n, r = self.used.shape
        left, scale = cauchy_residuals(rows, misfit, self._floor)
        raw = (self.lower @ left[: n * r].reshape(n, r, 1))[:, :, 0]
        return np.asarray(self.used & (np.abs(raw) > FAR * scale * np.linalg.norm(self.lower, axis=2)))

    def without(self, dropped: Bools) -> Deletion:
        used = self.used & ~dropped
        n, r = used.shape
        inverse, rows, left = self._rows(dropped)
        span = orthonormal_span(rows)
        left = left - span @ (span.T @ left)
        freedom = int(used.sum()) + len(self.aim) - span.shape[1]
        return deletion_of_rows(
            inverse, span[: n * r].reshape(n, r, -1), left[: n * r].reshape(n, r), used, float(left @ left), freedom,
            parts=self.parts, floor=self._floor**2,
        )  # fmt: skip

    def residuals(self, dropped: Bools) -> Array:
        """All numbers (N, R), in m and rad, less what the kept ones predict."""
        _, rows, left = self._rows(dropped)
        return np.asarray(self.misfit - self.matrix @ solve_linear(rows, left).values)

    @property
    def _floor(self) -> float:
        return 1.0 if self.stated else 0.0

    def _rows(self, dropped: Bools) -> tuple[Array, Array, Array]:
        """Inverse factors of the noise of what is kept, and its whitened rows with those of the priors behind them."""
        used = self.used & ~dropped
        both = used[:, :, None] & used[:, None, :]
        covariance = np.where(both, self.lower @ self.lower.transpose(0, 2, 1), np.eye(used.shape[1]))
        inverse = np.linalg.inv(np.linalg.cholesky(covariance)) * used[:, :, None]
        rows = (inverse @ self.matrix).reshape(used.size, -1)
        left = (inverse @ self.misfit[:, :, None]).reshape(-1)
        return np.asarray(inverse), np.concatenate([rows, self.prior]), np.concatenate([left, self.aim])

    def tuned(self, dropped: Bools) -> _Linear:
        return self
