"""Points that the others contradict: a loss that lets go of them, then an exact test of each against the rest.

Start: Cauchy's loss, each point with the weight 1 / (1 + t^2), t = |r| / (2.385 scale), scale from the median, so that
several bad points do not hide each other; from several starts (``starts``), and the one that ends at the smallest scale
counts.  Then each point is tested against the points kept so far (``deviations``): those that pass come back, the
worst of those that fail leaves, until nothing changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastocal.arcs.deviations import EXACT, Deviation, deviations
from elastocal.arcs.problem import ArcProblem, minimise
from elastocal.errors import InputError
from elastocal.spatial.entries import Array, Bools

TUNING = 2.385
"""Where Cauchy's loss bends, in standard deviations: 95 % efficient for normal errors."""
FAR, LEVEL, ROUNDS, SAME = 5.0, 0.01, 20, 1e-3
ALIKE = 0.1
REFINED = 4
"""Starts that are followed to their minimum: those with the smallest scales, and the first one."""


class UndecidedError(InputError):
    """Points of which no good ones can be told from bad ones."""


@dataclass(frozen=True, eq=False)
class ScreenedPoints:
    """The state fitted to the points ``kept`` (points,), and how each point stands to the others.

    ``instead[g]``: kept points of which one may as well be the bad one in place of g.
    """

    state: ArcProblem
    kept: Bools
    deviations: tuple[Deviation, ...]
    instead: dict[int, tuple[int, ...]]


def screen(starts: Sequence[ArcProblem], noise: float | None = None, level: float = LEVEL) -> ScreenedPoints:
    """Find the bad points; a stated noise is a floor for what the rest is taken to scatter."""
    if not 0 < level < 1:
        raise InputError(f"the level of the test must lie between 0 and 1, not {level}")
    parameters = starts[0].slopes().shape[2]
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


def _least(state: ArcProblem, kept: Bools, bad: int, instead: tuple[int, ...]) -> Bools:
    """Of a bad point and those that may be bad in its place the one is left out that leaves the least."""
    sets = []
    for out in (bad, *instead):
        trial = kept.copy()
        trial[bad], trial[out] = True, False
        sets.append(trial)
    if not instead:
        return kept
    left = [float(np.sum(minimise(state, k.astype(float)).residuals()[k] ** 2)) for k in sets]
    return sets[int(np.argmin(left))]


def _next(found: tuple[Deviation, ...], kept: Bools, level: float) -> Bools:
    """All that pass come back; of those that fail only the worst leaves, because one may be blamed for another."""
    bad = np.array([d.probability * len(kept) < level for d in found])
    out: Bools = np.logical_or(kept, ~bad)
    if np.any(bad & kept):
        out[min(np.flatnonzero(bad & kept), key=lambda g: (found[g].probability, -found[g].statistic))] = False
    return out


def _agreeing(state: ArcProblem, kept: Bools, noise: float | None, level: float) -> Bools:
    return np.array([not d.probability * len(kept) < level for d in deviations(state, kept, noise)])


def _alternatives(state: ArcProblem, kept: Bools, bad: int, noise: float | None, level: float) -> tuple[int, ...]:
    """Points without which the bad one would pass, and all others too; none where no fit settles with the bad one."""
    everyone = kept.copy()
    everyone[bad] = True
    try:
        together = minimise(state, everyone.astype(float))
    except InputError:
        return ()
    suspected = ~_agreeing(together, everyone, noise, level)
    out = []
    for h in np.flatnonzero(suspected & kept):
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
        raise UndecidedError("no arc settles on these points; the arc is too short for its noise, measure a longer one")
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
