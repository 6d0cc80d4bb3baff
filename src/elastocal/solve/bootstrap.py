"""Bootstrap over poses of a whitened linear(ised) problem y = A beta + e.

Readings of one pose share its errors, so poses are resampled, not readings: pose i counts w_i times, w multinomial.
In the coordinates z of ``draws.basis`` each resample solves

    (sum_i w_i Q_i^T Q_i) z = sum_i w_i Q_i^T r_i,

whose matrix is the identity where all w_i = 1; so it is well conditioned unless the resample itself is poor.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastocal.errors import ShapeError, TooFewError
from elastocal.solve.draws import Draws, basis
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

SINGULAR = 1e10
CHUNK = 4_000_000  # numbers in the matrices that are solved at once: 32 MB


@dataclass(frozen=True, eq=False)
class Bootstrap(Draws):
    """``draws`` (B, p), one per resample; ``dropped`` more could not tell the parameters apart and are left out.

    Where many are dropped, the intervals are too short: the poor resamples are the widest.
    """

    dropped: int


def bootstrap(
    names: Sequence[str],
    matrix: Array,
    readings: Array,
    poses: Ints,
    *,
    always: Bools | None = None,
    rng: np.random.Generator,
    resamples: int = 2000,
) -> Bootstrap:
    """Refit ``resamples`` times; ``poses`` (m,) says which pose a reading belongs to.

    Rows in ``always`` (m,), such as priors, belong to no pose and count once in every resample.
    """
    at = basis(names, matrix, readings)
    labels = np.asarray(poses)
    if labels.shape != at.residuals.shape or labels.dtype.kind not in "iu":
        raise ShapeError(
            f"poses: give one whole number for each of the {len(at.residuals)} readings", value=len(at.residuals)
        )
    if resamples < 2:
        raise TooFewError("bootstrap: needs 2 resamples or more; 2000 is usual", code="few-resamples")
    rows = np.column_stack([at.q, at.residuals])
    fixed = np.zeros(len(labels), dtype=bool) if always is None else np.asarray(always, dtype=bool)
    grams = _grams(rows[~fixed], labels[~fixed])
    if len(grams) < 2:
        raise TooFewError("poses: all readings belong to one pose; a bootstrap over poses needs more", code="one-pose")
    counts = rng.multinomial(len(grams), np.full(len(grams), 1 / len(grams)), resamples)
    grams = np.concatenate([grams, (rows[fixed].T @ rows[fixed])[None]])
    counts = np.column_stack([counts, np.ones(resamples, dtype=counts.dtype)])
    step = max(1, CHUNK // grams[0].size)
    parts = [_solve(counts[i : i + step], grams) for i in range(0, resamples, step)]
    z = np.concatenate(parts)
    if len(z) < 2:
        raise TooFewError("no resample of the poses tells the parameters apart; measure more poses", code="no-resample")
    return Bootstrap(tuple(names), at.parameters(z), resamples - len(z))


def _grams(joined: Array, labels: Ints) -> Array:
    """[Q_i, r_i]^T [Q_i, r_i] (poses, p + 1, p + 1) of every pose."""
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order])) + 1
    return np.array([rows.T @ rows for rows in np.split(joined[order], starts)])


def _solve(counts: Ints, grams: Array) -> Array:
    """z of the resamples whose matrix has a condition up to 1e10."""
    p = grams.shape[1] - 1
    summed = (counts.astype(np.float64) @ grams.reshape(len(grams), -1)).reshape(-1, p + 1, p + 1)
    sizes = np.linalg.eigvalsh(summed[:, :p, :p])
    good = summed[sizes[:, 0] * SINGULAR > sizes[:, -1]]
    return np.asarray(np.linalg.solve(good[:, :p, :p], good[:, :p, p:])[:, :, 0])
