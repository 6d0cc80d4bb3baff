"""Numbers, markers and whole readings that the others contradict, by deletion residuals (``solve.outliers``).

A loss that lets go of what is far off starts the search, so that several outliers do not hide each other.  Every number
left out is named with what the rest predicts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.reduction.fit import Fit
from elastocal.solve.outliers import LEVEL, LinearJudge, screen_units


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
    judge = _linear(fit)
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


def _linear(fit: Fit) -> LinearJudge:
    """The problem of a fit in m and rad, with unit columns."""
    problem, kind = fit.problem, fit.campaign.measurement
    n, r = problem.shape
    live, inverse = problem.weights.live, problem.weights.inverse
    lower = np.asarray(np.linalg.inv(inverse + np.eye(r) * ~live[:, :, None]), dtype=np.float64)
    lengths = np.linalg.norm(problem.matrix, axis=0)
    columns = problem.matrix / np.where(lengths > 0, lengths, 1.0)
    matrix, misfit = columns[: n * r].reshape(n, r, -1), problem.misfit[: n * r].reshape(n, r, 1)
    parts = np.array([kind.groups.index(row.group) for row in kind.rows])
    return LinearJudge(
        (lower @ misfit)[:, :, 0], lower @ matrix, problem.used, parts, 1.0 if fit.stated else 0.0, lower,
        columns[problem.priors()], problem.misfit[problem.priors()],
    )  # fmt: skip
