"""What the residuals of a fit say: influence, how far the model is from the robot, and outliers.

Influence     with the hat matrix H = A (A^T A)^-1 A^T of the whitened problem, the residuals of a pose g that is left
              out are (I - H_gg)^-1 r_g, without fitting again: exact where readings are affine, first order elsewhere.
Discrepancy   what the residuals show beyond noise.  With repeats the noise is known without any model, and the excess
              of the lack of fit over it is the model's.  Without repeats the stated noise stands in.  With neither,
              noise and model cannot be told apart.
Outliers      numbers, markers and whole readings that the others contradict, by deletion residuals
              (``solve.outliers``); every number left out is named with what the rest predicts.
"""

from __future__ import annotations

import numpy as np

from elastocal.reduction.fit import Fit
from elastocal.solve.deletion import deletion_of_rows
from elastocal.solve.linear import unit_qr
from elastocal.solve.outliers import LinearJudge, screen_units
from elastocal.solve.summary import rms
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False)
class Influence:
    """``leverage`` (N, R): share of a reading in its own prediction, nan where nothing was read.

    ``left_out`` (N, R): residuals, in m or rad, with the whole pose left out of the fit; inf where the fit cannot do
    without it.
    """

    leverage: Array
    left_out: Array

    def rms(self, rows: list[int]) -> float:
        """Root mean square of the prediction errors in some of the R numbers."""
        return rms(self.left_out[:, rows])


def influence(fit: Fit, pose: Ints) -> Influence:
    """Leave-one-pose-out; ``pose`` (N,) says which readings belong together."""
    n, r = fit.problem.shape
    basis = unit_qr(fit.problem.matrix).q[: n * r].reshape(n, r, -1)
    used = fit.problem.used
    leverage = np.where(used, np.sum(basis**2, axis=2), np.nan)
    deleted = np.full((n, r), np.nan)
    squares = float(fit.problem.misfit @ fit.problem.misfit)
    for members in _by_size(pose):
        shape = (len(members), members.shape[1] * r)
        one = np.broadcast_to(np.eye(shape[1]), (len(members), shape[1], shape[1]))
        deletions = deletion_of_rows(
            one, basis[members].reshape(*shape, -1), fit.whitened[members].reshape(shape), used[members].reshape(shape),
            squares, fit.freedom, parts=np.zeros(shape[1], dtype=np.int64), floor=0.0,
        )  # fmt: skip
        deleted[members] = np.nan_to_num(deletions.blocks, nan=0.0, posinf=np.inf).reshape(len(members), -1, r)
    finite = fit.problem.weights.unwhiten(np.where(np.isinf(deleted), 0.0, deleted))
    left_out = np.where(np.isinf(deleted).any(axis=1)[:, None], np.inf, finite)
    return Influence(leverage, np.where(used, left_out, np.nan))


def _by_size(pose: Ints) -> list[Ints]:
    """Readings of every pose, poses of equal size together: a list of (poses, readings) index arrays."""
    order = np.argsort(pose, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(pose[order])) + 1)
    sizes = sorted({len(p) for p in parts})
    return [np.stack([p for p in parts if len(p) == size]) for size in sizes]


@dataclass(frozen=True)
class Correlation:
    """Two estimates that move together."""

    first: str
    second: str
    coefficient: float


def correlations(fit: Fit, above: float) -> tuple[Correlation, ...]:
    """Pairs whose correlation exceeds a threshold, the strongest first."""
    size = np.sqrt(np.diag(fit.unit_covariance))
    matrix = fit.unit_covariance / np.outer(size, size)
    pairs = [
        Correlation(fit.names[i], fit.names[j], float(matrix[i, j]))
        for i in range(len(size))
        for j in range(i + 1, len(size))
        if abs(matrix[i, j]) > above
    ]
    return tuple(sorted(pairs, key=lambda c: (-abs(c.coefficient), c.first, c.second)))


@dataclass(frozen=True)
class Discrepancy:
    """Standard deviation in m per axis (nan where unknown), and how it is known."""

    sd: float
    reason: str


def discrepancy(fit: Fit) -> Discrepancy:
    """Excess variance of the residuals, in units of the mean variance of a length reading."""
    lack = fit.repeats
    lengths = [i for i, row in enumerate(fit.campaign.measurement.rows) if row.unit == "m"]
    if not lengths:
        return Discrepancy(float("nan"), "no length was read: what the model lacks is not known in m")
    variance = fit.problem.weights.variance[:, lengths]
    one = float(np.mean(variance[fit.problem.used[:, lengths]]))
    if np.isfinite(lack.ratio):
        excess = (lack.lack_of_fit**2 - lack.pure_error**2) / lack.each  # all repeats of a state share the fault
        return Discrepancy(float(np.sqrt(max(excess, 0.0) * one)), "lack of fit beyond the scatter of repeats")
    if fit.stated and np.isfinite(fit.scatter):
        return Discrepancy(float(np.sqrt(max(fit.scatter**2 - 1, 0.0) * one)), "residuals beyond the stated noise")
    return Discrepancy(float("nan"), "neither repeats nor a stated noise: the model's part cannot be told from noise")


@dataclass(frozen=True)
class Outlier:
    """One number that lies ``sigmas`` of the others' scatter away from what they predict."""

    reading: int
    row: int
    place: str
    value: float
    predicted: float
    sigmas: float


def find_outliers(fit: Fit) -> tuple[Outlier, ...]:
    """Numbers, markers and whole readings that the others contradict, the worst number first.

    A loss that lets go of what is far off starts the search, so that several outliers do not hide each other.
    """
    if fit.freedom < 2:
        return ()
    judge = _linear(fit)
    dropped, _, judge = screen_units(judge, judge.used, judge.far())
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
