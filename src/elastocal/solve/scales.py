"""Scales of priors and of noise by maximum evidence.

EM steps first, s_g^2 <- (|theta_g - m_g|^2 + tr H^-1_gg) / n_g, which never kill a group at once; then L-BFGS on the
logarithms from the point reached and from one where the scales of the priors are ten times larger; then every group
that ended far below its start is tried again at several sizes, since a group that shrank early cannot come back.  The
logarithms count by the root of the number of unknowns of their group, which is about their curvature.
"""

from __future__ import annotations

import numpy as np

from elastocal.solve.blocks import Blocks
from elastocal.solve.evidence import evidence
from elastocal.spatial.entries import Array, Bools

RANGE = np.log(1e5)
"""How far a scale may leave its start value, as a logarithm."""


LEAST_NOISE = np.log(1e3)
"""How far the scale of a noise may fall: readings without any noise would make the problem singular."""


MOST_CURVED = 50.0
"""Number of unknowns or readings beyond which a scale counts no more."""


def maximise_evidence(
    blocks: Blocks, start: Array | None = None, *, revive: bool = True, fresh: Bools | None = None
) -> tuple[Array, float]:
    """Logarithms of all scales at the largest evidence found, and that evidence (hyperprior included).

    From ``start`` the scales are near; those that are ``fresh`` were never fitted (all of them without a start).
    """
    begin = blocks.start if start is None else start
    if not blocks.free.any():
        return begin, evidence(blocks, begin)[0]
    if fresh is None:
        fresh = np.full(len(begin), start is None)
    warm = _em(blocks, begin, 6) if fresh.any() else begin
    best = _climb(blocks, warm)
    if not revive:
        return best
    groups = np.arange(len(blocks.scales)) < len(blocks.groups)
    if (fresh & groups).any():
        wider = np.where(blocks.free & groups & fresh, warm + np.log(10.0), warm)
        best = max(best, _climb(blocks, wider), key=lambda pair: pair[1])
    for i in np.flatnonzero(blocks.free & groups):
        if best[0][i] < blocks.start[i] + np.log(0.05):
            best = _revived(blocks, best, int(i))
    return best


def _revived(blocks: Blocks, best: tuple[Array, float], group: int) -> tuple[Array, float]:
    """The best again with one group tried at other sizes; climbed from only where that alone is an improvement."""
    trials = []
    for factor in (0.003, 0.02, 0.1, 0.3, 3.0, 30.0):
        trial = best[0].copy()
        trial[group] = blocks.start[group] + np.log(factor)
        trials.append((evidence(blocks, trial)[0], factor, trial))
    value, _, trial = max(trials, key=lambda t: t[:2])
    if value <= best[1] + 1e-6:
        return best
    return max(best, _climb(blocks, trial), key=lambda pair: pair[1])


def _em(blocks: Blocks, log_scales: Array, steps: int) -> Array:
    """EM of the groups' scales, and the same fixed point for those of the noise, damped."""
    at, sizes = log_scales.copy(), _sizes(blocks)
    for _ in range(steps):
        _, gradient = evidence(blocks, at)
        at = np.where(
            blocks.free, at + np.clip(0.5 * np.log(np.maximum(1 + 2 * gradient / sizes, 0.05)), -1.0, 1.0), at
        )
    return at


def _sizes(blocks: Blocks) -> Array:
    """Twice the number of unknowns of every group, and of readings for every part of the noise."""
    own = [2.0 * len(g.columns) for g in blocks.groups]
    return np.array(own + [2.0 * blocks.count / len(blocks.noise)] * len(blocks.noise))


def _climb(blocks: Blocks, start: Array) -> tuple[Array, float]:
    from scipy.optimize import minimize

    free = blocks.free
    unit = np.sqrt(np.minimum(_sizes(blocks), MOST_CURVED))[free]

    def objective(part: Array) -> tuple[float, Array]:
        full = start.copy()
        full[free] = part / unit
        try:
            value, gradient = evidence(blocks, full)
        except np.linalg.LinAlgError:
            return 1e12, np.zeros(len(part))
        return -value, -gradient[free] / unit

    centre = blocks.start[free]
    noise = (np.arange(len(free)) >= len(blocks.groups))[free]
    low, high = centre - np.where(noise, LEAST_NOISE, RANGE), centre + RANGE
    found = minimize(
        objective,
        np.clip(start[free], low, high) * unit,
        jac=True,
        method="L-BFGS-B",
        bounds=list(zip(low * unit, high * unit, strict=True)),
        options={"maxiter": 100, "maxcor": 20, "ftol": 1e-7, "gtol": 1e-3},
    )
    out = start.copy()
    out[free] = found.x / unit
    return out, -float(found.fun)
