"""Each point against the others: how far it is from what they predict, and how likely that is.

With the points kept, point g is e_g away from what the others predict, with covariance sigma_g^2 C_g, and

    T = e_g^T C_g^-1 e_g / (d sigma_g^2)   follows F on d and the others' spare equations,

exactly for a linear model.  For a point that took no part C_g = I + J_g (J^T J)^-1 J_g^T; for one that did, with
H = J_g (J^T J)^-1 J_g^T, e_g = (I - H)^-1 r_g and C_g = (I - H)^-1.  It is bad where its probability times the number
of points is below a level (Bonferroni): with no bad point, one run in a hundred names one at the level 0.01.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elastocal.arcs.problem import ArcProblem, decomposed, minimise
from elastocal.spatial.entries import Array, Bools

EXACT = 1e-13
"""Rounding of coordinates, which must not pass for noise where data are exact."""
HARDLY = 1e-8
"""A weight that decides what no other point sees, and moves nothing else."""


@dataclass(frozen=True, eq=False)
class Deviation:
    """One point against the rest: deviation ``away`` (d,) from the prediction, its covariance, and the F test.

    ``basis`` (d, t): the t directions in which the rest predicts the point at all.
    """

    away: Array
    covariance: Array
    basis: Array
    statistic: float
    freedom: int
    probability: float


def deviations(state: ArcProblem, kept: Bools, noise: float | None = None) -> tuple[Deviation, ...]:
    """Each point against the kept ones without it; ``state`` is the minimum for the kept ones."""
    r, j = state.residuals(), state.slopes()
    lengths, _, s, vt = decomposed(j[kept].reshape(-1, j.shape[2]))
    root, unseen = vt.T / s / lengths[:, None], np.eye(j.shape[2]) - vt.T @ vt
    squares, spare = float(np.sum(r[kept] ** 2)), r[kept].size - len(s)
    floor = max(noise or 0.0, EXACT * float(np.max(np.abs(state.points))))
    out = []
    for g in range(len(r)):
        if kept[g]:
            basis, away, shape = _left_out(r[g], j[g] @ root)
            without = squares - float(r[g] @ basis @ away)
            out.append(_deviation(basis, away, shape, without, spare - len(away), floor))
            continue
        away, slope = r[g], j[g]
        if np.linalg.norm(slope / lengths @ unseen) > 1e-6 * np.linalg.norm(slope / lengths):
            own = minimise(state, kept + HARDLY * (np.arange(len(r)) == g))
            away, slope = own.residuals()[g], own.slopes()[g]
        u, hidden, _ = np.linalg.svd(slope / lengths @ unseen)
        basis = u[:, np.concatenate([hidden, np.zeros(len(away) - len(hidden))]) <= 1e-6 * max(1.0, hidden[0])]
        seen = basis.T @ slope @ root
        out.append(_deviation(basis, basis.T @ away, np.eye(len(seen)) + seen @ seen.T, squares, spare, floor))
    return tuple(out)


def _left_out(r: Array, seen: Array) -> tuple[Array, Array, Array]:
    """Directions, deviation and its shape for a point that took part."""
    values, vectors = np.linalg.eigh(np.eye(len(r)) - seen @ seen.T)
    alone = values <= 1e-6
    basis, shape = vectors[:, ~alone], np.diag(1 / values[~alone])
    return basis, shape @ basis.T @ r, shape


def _deviation(basis: Array, away: Array, shape: Array, squares: float, spare: int, floor: float) -> Deviation:
    """The F test; nan where the rest says nothing of the point or has no equation to spare."""
    from scipy.special import fdtrc

    value = probability = variance = float("nan")
    if spare > 0 and len(away):
        variance = max(squares / spare, floor**2)
        value = float(away @ np.linalg.solve(shape, away)) / len(away) / variance
        probability = float(fdtrc(len(away), spare, value))
    return Deviation(basis @ away, variance * basis @ shape @ basis.T, basis, value, spare, probability)
