"""How much single readings decide a fit, and how well it predicts what it has not seen.

With the hat matrix H = A (A^T A)^-1 A^T of the whitened problem, the residuals of a pose g that is left out are
(I - H_gg)^-1 r_g, without fitting again: exact where readings are affine, first order at the solution elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.identify.fit import Fit
from elastocal.spatial.entries import Array, Ints


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
        values = self.left_out[:, rows]
        known = values[~np.isnan(values)]
        return float(np.sqrt(np.mean(known**2))) if len(known) else float("nan")


def influence(fit: Fit, pose: Ints) -> Influence:
    """Leave-one-pose-out; ``pose`` (N,) says which readings belong together."""
    n, r = fit.problem.shape
    basis = np.linalg.qr(fit.problem.matrix)[0][: n * r].reshape(n, r, -1)
    used = fit.problem.used
    leverage = np.where(used, np.sum(basis**2, axis=2), np.nan)
    deleted = np.full((n, r), np.nan)
    for members in _by_size(pose):
        k = members.shape[1] * r
        q = basis[members].reshape(len(members), k, -1)
        residual = fit.whitened[members].reshape(len(members), k, 1)
        rest = np.eye(k) - q @ q.swapaxes(1, 2)
        deleted[members] = _solved(rest, residual).reshape(len(members), -1, r)
    finite = fit.problem.weights.unwhiten(np.where(np.isinf(deleted), 0.0, deleted))
    left_out = np.where(np.isinf(deleted).any(axis=1)[:, None], np.inf, finite)
    return Influence(leverage, np.where(used, left_out, np.nan))


def _by_size(pose: Ints) -> list[Ints]:
    """Readings of every pose, poses of equal size together: a list of (poses, readings) index arrays."""
    order = np.argsort(pose, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(pose[order])) + 1)
    sizes = sorted({len(p) for p in parts})
    return [np.stack([p for p in parts if len(p) == size]) for size in sizes]


def _solved(rest: Array, residual: Array) -> Array:
    """(I - H)^-1 r; inf where a pose alone holds up a parameter."""
    values, vectors = np.linalg.eigh(rest)
    alone = values[:, 0] < 1e-8
    safe = np.where(values > 1e-8, values, 1.0)
    part = np.einsum("nji,njk->nik", vectors, residual) / safe[:, :, None]
    out = np.asarray(vectors @ part)
    out[alone] = np.inf
    return out


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
