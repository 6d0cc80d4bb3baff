"""Outliers among points of arcs: a loss that lets go of them, then the decision of ``solve.outliers`` point by point.

Start: Cauchy's loss, each point with the weight 1 / (1 + t^2), t = |r| / (2.385 scale), scale from the median, so that
several outliers do not hide each other; from several starts, and the one that ends at the smallest scale counts.  Then
each point is judged by its deletion residual, all of its coordinates together, in the linear problem at the minimum of
the points kept: exactly for a linear model.  A point is an outlier where its probability times the number of points is
below a level (Bonferroni): without any, one run in a hundred names one at the level 0.01.

An arc's own hypotheses: another point may be wrong in its place (``instead``); and a component (a coordinate, or radius
or height) is wrong alone where without it the others agree with the prediction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from elastocal.errors import InputError, RangeError, UnobservableError
from elastocal.procedures.compensator.arc_problem import ArcProblem, minimise
from elastocal.solve.deletion import Deletion
from elastocal.solve.linear import solve_linear
from elastocal.solve.outliers import FAR, LinearJudge, screen_units
from elastocal.solve.summary import TUNING
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

LEVEL, ROUNDS, SAME = 0.01, 20, 1e-3
ALONE = 1e-3
"""Level of the F test by which the other components of an outlier agree with the prediction."""
ALIKE = 0.1
REFINED = 4
"""Starts that are followed to their minimum: those with the smallest scales, and the first one."""
EXACT = 1e-13
"""Rounding of coordinates, which must not pass for noise where data are exact."""
HARDLY = 1e-8
"""A weight that decides what no other point sees, and moves nothing else."""


class UndecidedError(UnobservableError):
    """Points of which outliers cannot be told from the others."""


@dataclass(frozen=True, eq=False)
class ArcJudge:
    """``state`` is the minimum of the points ``kept`` (points,), where the problem is linear; ``floor`` of its noise.

    Points that come back decide first what no other point sees, such as the angle of a pose that only they were seen
    in; they are judged by the rest.
    """

    state: ArcProblem
    kept: Bools
    floor: float

    @classmethod
    def of(cls, state: ArcProblem, kept: Bools, noise: float | None = None) -> ArcJudge:
        """``state`` is the minimum already."""
        return cls(state, kept, max(noise or 0.0, EXACT * float(np.max(np.abs(state.points)))))

    @property
    def parts(self) -> Ints:
        return np.zeros(len(self.state.components), dtype=np.int64)

    @cached_property
    def _open(self) -> bool:
        """Whether the points kept leave something undetermined."""
        r, j = self.state.residuals()[self.kept], self.state.jacobian()[self.kept]
        return bool(solve_linear(j.reshape(r.size, -1), r.reshape(-1)).null.size)

    def without(self, dropped: Bools) -> Deletion:
        state, back = self.state, ~dropped.all(axis=1) & ~self.kept
        if back.any() and self._open:
            state = minimise(state, self.kept + HARDLY * back)
        r = state.residuals()
        return LinearJudge(r, state.jacobian(), np.ones(r.shape, dtype=bool), self.parts, self.floor).without(dropped)

    def tuned(self, dropped: Bools) -> ArcJudge:
        kept = np.asarray(~dropped.any(axis=1), dtype=bool)
        return ArcJudge(minimise(self.state, kept.astype(float)), kept, self.floor)

    def keeping(self, kept: Bools) -> ArcJudge:
        return self.tuned(self._rows(~kept))

    def probabilities(self) -> Array:
        """Of every point kept (points,), times the number of points; nan of the others."""
        fitted = self.without(self._rows(~self.kept))
        return np.asarray(fitted.exceedance(*fitted.block_chi2()) * len(self.kept))

    def with_point(self, g: int, component: int | None = None) -> Deletion:
        """All that is kept and point ``g``, all of it or without a component."""
        dropped = self._rows(~self.kept)
        dropped[g] = False
        if component is not None:
            dropped[g, component] = True
        return self.without(dropped)

    def probability(self, g: int, component: int | None = None) -> float:
        """Of point ``g`` as far as the kept ones predict it, or of what is left of it without a component."""
        fitted = self.with_point(g, component)
        _, chi2, size = fitted.unit(g, np.flatnonzero(fitted.used[g]))
        return float(fitted.exceedance(np.array(chi2), np.array(size)))

    def _rows(self, points: Bools) -> Bools:
        return np.repeat(points[:, None], len(self.parts), axis=1)


def screen(starts: Sequence[ArcProblem], noise: float | None = None, level: float = LEVEL) -> ArcJudge:
    """Points kept and left out; a stated noise is a floor for the scatter of those kept."""
    if not 0 < level < 1:
        raise RangeError(f"the level of the test must lie between 0 and 1, not {level}", value=level)
    state = _best(starts)
    size, scale = _size_scale(state)
    judge = ArcJudge.of(state, np.ones(len(size), dtype=bool), noise).keeping(size <= FAR * scale)
    full = np.ones(state.residuals().shape, dtype=bool)
    _, _, judge = screen_units(
        judge, full, judge._rows(~judge.kept), level=level, levels=("pose",), most=1.0, back=1.0, back_first=False
    )
    if 2 * np.sum(~judge.kept) >= len(judge.kept):
        raise UndecidedError("no more than half of the points agree on one arc; check their order, markers and units")
    for g in np.flatnonzero(~judge.kept).tolist():
        judge = _least(judge, g, alternatives(judge, g, level))
    return judge


def alternatives(judge: ArcJudge, outlier: int, level: float) -> tuple[int, ...]:
    """Points without which the outlier would pass, and all others too; none where no fit converges with it."""
    everyone = judge.kept.copy()
    everyone[outlier] = True
    try:
        doubted = judge.keeping(everyone).probabilities() < level
    except InputError:
        return ()
    out = []
    for h in np.flatnonzero(doubted & judge.kept).tolist():
        without = everyone.copy()
        without[h] = False
        try:
            agreed = not np.any(judge.keeping(without).probabilities() < level)
        except InputError:
            continue
        if agreed:
            out.append(h)
    return tuple(out)


def _least(judge: ArcJudge, outlier: int, instead: tuple[int, ...]) -> ArcJudge:
    """Of an outlier and those that may be it in its place the one is left out that leaves the least."""
    best, least = judge, _squares(judge)
    for out in instead:
        kept = judge.kept.copy()
        kept[outlier], kept[out] = True, False
        trial = judge.keeping(kept)
        if _squares(trial) < least:
            best, least = trial, _squares(trial)
    return best


def _squares(judge: ArcJudge) -> float:
    return float(np.sum(judge.state.residuals()[judge.kept] ** 2))


def _best(starts: Sequence[ArcProblem]) -> ArcProblem:
    """The start that Cauchy's loss takes to the smallest scale; the earlier one where scales are about the same."""
    first = sorted(range(len(starts)), key=lambda i: _size_scale(starts[i])[1])[:REFINED]
    ends = []
    for i in sorted({0, *first}):
        try:
            ends.append(_let_go(starts[i]))
        except InputError:
            continue
    if not ends:
        raise UndecidedError(
            "no arc converges on these points; the arc is too short for its noise, measure a longer one"
        )
    scales = [_size_scale(state)[1] for state in ends]
    return next(e for e, scale in zip(ends, scales, strict=True) if scale <= (1 + ALIKE) * min(scales))


def _let_go(state: ArcProblem) -> ArcProblem:
    """Minimum of Cauchy's loss by reweighting; the scale is taken anew after each round."""
    last = 0.0
    for _ in range(ROUNDS):
        size, scale = _size_scale(state)
        if abs(scale - last) <= SAME * scale:
            break
        last = scale
        state = minimise(state, 1 / (1 + (size / (TUNING["cauchy"] * scale)) ** 2))
    return state


def _size_scale(state: ArcProblem) -> tuple[Array, float]:
    """Residuals of the points (points,), and the standard deviation of a coordinate from their median, less those that
    fit themselves."""
    from scipy.special import chdtri

    size, d = np.linalg.norm(state.residuals(), axis=1), len(state.components)
    free = min(state.jacobian().shape[2] // d, len(size) - 1)
    scale = float(np.median(np.sort(size)[free:]) / np.sqrt(chdtri(d, 0.5)))
    return size, max(scale, EXACT * float(np.max(np.abs(state.points))))


@dataclass(frozen=True, eq=False)
class Outlier:
    """A point that the others contradict; ``marker`` and ``pose`` count from 0.

    ``components`` names what was read (coordinates, or radius and height), ``value`` and ``predicted`` are those
    numbers as read and as the rest has them.  ``component`` is the one that explains it alone, None where several or
    none would.  ``instead`` lists points of which one may as well be the outlier.  ``angle``: the joint angle in rad at
    which the point would be where the rest predicts it, None where none is or angles are not used.
    """

    marker: int
    pose: int
    component: str | None
    components: tuple[str, ...]
    value: Array
    predicted: Array
    statistic: float
    freedom: tuple[int, int]
    probability: float
    instead: tuple[tuple[int, int], ...]
    angle: float | None = None


def named_outliers(judge: ArcJudge, level: float = LEVEL) -> tuple[Outlier, ...]:
    """Names and predictions, the worst first."""
    labels = judge.state.labels
    out = []
    for g in np.flatnonzero(~judge.kept).tolist():
        instead = tuple(labels[h] for h in alternatives(judge, g, level))
        out.append(replace(_named(judge, g), instead=instead))
    return tuple(sorted(out, key=lambda b: (b.probability, -b.statistic, b.marker, b.pose)))


def _named(judge: ArcJudge, g: int) -> Outlier:
    state, value = judge.state, judge.state.readings[g]
    fitted = judge.with_point(g)
    away, chi2, size = fitted.unit(g, np.arange(len(value)))
    spare = int(fitted.freedom) - size
    statistic = chi2 / size / max((fitted.total - chi2) / max(spare, 1), fitted.floor)
    chance = float(fitted.exceedance(np.array(chi2), np.array(size)))
    names = state.components
    hits = [c for i, c in enumerate(names) if len(names) > 1 and judge.probability(g, i) > ALONE]
    alone = names[0] if len(names) == 1 else hits[0] if size == len(names) and len(hits) == 1 else None
    return Outlier(
        *state.labels[g], alone, names, value, value - away, float(statistic), (size, spare),
        chance * len(judge.kept), (),
    )  # fmt: skip
