"""Outliers among points of arcs: a loss that lets go of them, then an exact test of each point against the others.

Start: Cauchy's loss, each point with the weight 1 / (1 + t^2), t = |r| / (2.385 scale), scale from the median, so that
several outliers do not hide each other; from several starts (``starts``), and the one that ends at the smallest scale
counts.  Then each point is tested against the points kept so far: those that pass come back, the worst of those that
fail leaves, until nothing changes.  In the test point g is e_g away from what the others predict, with covariance
sigma_g^2 C_g, and

    T = e_g^T C_g^-1 e_g / (d sigma_g^2)   follows F on d and the others' degrees of freedom,

exactly for a linear model.  For a point that took no part C_g = I + J_g (J^T J)^-1 J_g^T; for one that did, with
H = J_g (J^T J)^-1 J_g^T, e_g = (I - H)^-1 r_g and C_g = (I - H)^-1.  It is an outlier where its probability times the
number of points is below a level (Bonferroni): without any, one run in a hundred names one at the level 0.01.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastocal.errors import InputError, UnobservableError
from elastocal.procedures.compensator.least_squares import ArcProblem, minimise
from elastocal.solve.linear import solve_linear
from elastocal.spatial.entries import Array, Bools

TUNING = 2.385
"""Where Cauchy's loss bends, in standard deviations: 95 % efficient for normal errors."""
FAR, LEVEL, ROUNDS, SAME = 5.0, 0.01, 20, 1e-3
ALIKE = 0.1
REFINED = 4
"""Starts that are followed to their minimum: those with the smallest scales, and the first one."""
EXACT = 1e-13
"""Rounding of coordinates, which must not pass for noise where data are exact."""
UNSEEN = 1e-6
"""Part of a direction of a point that the others do not see; also what they leave of a point that only fits itself."""
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
    r, j = state.residuals(), state.jacobian()
    solution = solve_linear(j[kept].reshape(-1, j.shape[2]), r[kept].reshape(-1))
    known, squares, spare = solution.unit_covariance, float(np.sum(r[kept] ** 2)), solution.freedom
    lengths = np.linalg.norm(j[kept], axis=(0, 1))
    lengths = np.where(lengths > 0, lengths, 1.0)
    floor = max(noise or 0.0, EXACT * float(np.max(np.abs(state.points))))
    out = []
    for g in range(len(r)):
        if kept[g]:
            basis, away, shape = _left_out(r[g], j[g] @ known @ j[g].T)
            without = squares - float(r[g] @ basis @ away)
            out.append(_deviation(basis, away, shape, without, spare - len(away), floor))
            continue
        away, slope = r[g], j[g]
        if np.linalg.norm(slope / lengths @ solution.null) > UNSEEN * np.linalg.norm(slope / lengths):
            own = minimise(state, kept + HARDLY * (np.arange(len(r)) == g))
            away, slope = own.residuals()[g], own.jacobian()[g]
        basis = _predicted(slope / lengths @ solution.null)
        seen = basis.T @ slope
        out.append(_deviation(basis, basis.T @ away, np.eye(len(seen)) + seen @ known @ seen.T, squares, spare, floor))
    return tuple(out)


def _predicted(hidden: Array) -> Array:
    """Directions (d, t) of a point in which nothing that the others leave open moves it by ``hidden`` (d, nulls)."""
    u, sizes, _ = np.linalg.svd(hidden)
    sizes = np.concatenate([sizes, np.zeros(len(u) - len(sizes))])
    return np.asarray(u[:, sizes <= UNSEEN * max(1.0, sizes[0])])


def _left_out(r: Array, leverage: Array) -> tuple[Array, Array, Array]:
    """Directions, deviation and its shape for a point that took part with a leverage (d, d)."""
    values, vectors = np.linalg.eigh(np.eye(len(r)) - leverage)
    alone = values <= UNSEEN
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


class UndecidedError(UnobservableError):
    """Points of which outliers cannot be told from the others."""


@dataclass(frozen=True, eq=False)
class ScreenedPoints:
    """The state fitted to the points ``kept`` (points,), and how each point stands to the others.

    ``instead[g]``: kept points of which one may as well be the outlier in place of g.
    """

    state: ArcProblem
    kept: Bools
    deviations: tuple[Deviation, ...]
    instead: dict[int, tuple[int, ...]]


def screen(starts: Sequence[ArcProblem], noise: float | None = None, level: float = LEVEL) -> ScreenedPoints:
    """Points kept and left out; a stated noise is a floor for the scatter of those kept."""
    if not 0 < level < 1:
        raise InputError(f"the level of the test must lie between 0 and 1, not {level}")
    parameters = starts[0].jacobian().shape[2]
    state = _best(starts, parameters)
    size, scale = _size_scale(state, parameters)
    kept, seen = size <= FAR * scale, []
    while kept.tobytes() not in seen:
        seen.append(kept.tobytes())
        state = minimise(state, kept.astype(float))
        kept = _next(deviations(state, kept, noise), kept, level)
    if 2 * np.sum(~kept) >= len(kept):
        raise UndecidedError("no more than half of the points agree on one arc; check their order, markers and units")
    for g in np.flatnonzero(~kept):
        kept = _least(state, kept, int(g), _alternatives(state, kept, int(g), noise, level))
    state = minimise(state, kept.astype(float))
    instead = {int(g): _alternatives(state, kept, int(g), noise, level) for g in np.flatnonzero(~kept)}
    return ScreenedPoints(state, kept, deviations(state, kept, noise), instead)


def _least(state: ArcProblem, kept: Bools, outlier: int, instead: tuple[int, ...]) -> Bools:
    """Of an outlier and those that may be it in its place the one is left out that leaves the least."""
    sets = []
    for out in (outlier, *instead):
        trial = kept.copy()
        trial[outlier], trial[out] = True, False
        sets.append(trial)
    if not instead:
        return kept
    left = [float(np.sum(minimise(state, k.astype(float)).residuals()[k] ** 2)) for k in sets]
    return sets[int(np.argmin(left))]


def _next(tests: tuple[Deviation, ...], kept: Bools, level: float) -> Bools:
    """All that pass come back; of those that fail only the worst leaves, because one may be blamed for another."""
    outlier = np.array([d.probability * len(kept) < level for d in tests])
    out: Bools = np.logical_or(kept, ~outlier)
    if np.any(outlier & kept):
        out[min(np.flatnonzero(outlier & kept), key=lambda g: (tests[g].probability, -tests[g].statistic))] = False
    return out


def _agreeing(state: ArcProblem, kept: Bools, noise: float | None, level: float) -> Bools:
    return np.array([not d.probability * len(kept) < level for d in deviations(state, kept, noise)])


def _alternatives(state: ArcProblem, kept: Bools, outlier: int, noise: float | None, level: float) -> tuple[int, ...]:
    """Points without which the outlier would pass, and all others too; none where no fit converges with it."""
    everyone = kept.copy()
    everyone[outlier] = True
    try:
        together = minimise(state, everyone.astype(float))
    except InputError:
        return ()
    doubted = ~_agreeing(together, everyone, noise, level)
    out = []
    for h in np.flatnonzero(doubted & kept):
        without = everyone.copy()
        without[h] = False
        try:
            other = minimise(state, without.astype(float))
        except InputError:
            continue
        if _agreeing(other, without, noise, level)[without].all():
            out.append(int(h))
    return tuple(out)


def _best(starts: Sequence[ArcProblem], parameters: int) -> ArcProblem:
    """The start that Cauchy's loss takes to the smallest scale; the earlier one where scales are about the same."""
    first = sorted(range(len(starts)), key=lambda i: _size_scale(starts[i], parameters)[1])[:REFINED]
    ends = []
    for i in sorted({0, *first}):
        try:
            ends.append(_let_go(starts[i], parameters))
        except InputError:
            continue
    if not ends:
        raise UndecidedError(
            "no arc converges on these points; the arc is too short for its noise, measure a longer one"
        )
    scales = [_size_scale(state, parameters)[1] for state in ends]
    return next(e for e, scale in zip(ends, scales, strict=True) if scale <= (1 + ALIKE) * min(scales))


def _let_go(state: ArcProblem, parameters: int) -> ArcProblem:
    """Minimum of Cauchy's loss by reweighting; the scale is taken anew after each round."""
    last = 0.0
    for _ in range(ROUNDS):
        size, scale = _size_scale(state, parameters)
        if abs(scale - last) <= SAME * scale:
            break
        last = scale
        state = minimise(state, 1 / (1 + (size / (TUNING * scale)) ** 2))
    return state


def _size_scale(state: ArcProblem, parameters: int) -> tuple[Array, float]:
    size = np.linalg.norm(state.residuals(), axis=1)
    return size, _scale(size, state, parameters)


def _scale(size: Array, state: ArcProblem, parameters: int) -> float:
    """Standard deviation of a coordinate from the median of the points' residuals, less those that fit themselves."""
    from scipy.special import chdtri

    d = len(state.components)
    free = min(parameters // d, len(size) - 1)
    scale = float(np.median(np.sort(size)[free:]) / np.sqrt(chdtri(d, 0.5)))
    return max(scale, EXACT * float(np.max(np.abs(state.points))))
