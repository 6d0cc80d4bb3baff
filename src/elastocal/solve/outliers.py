"""Which readings do not belong: single numbers, points, whole blocks, by externally studentised deletion residuals.

The most improbable unit of the three levels is left out and everything is computed again; what was left out before
comes back where the others predict it after all.  Probabilities of a level are multiplied by the number of its units
(Bonferroni).  A point of which one number alone is wrong loses that number only.  A wrong block may hide in scales of
the noise that were chosen with it: the doubtful ones are judged once more by scales chosen without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal, Protocol, Self, TypeVar

import numpy as np

from elastocal.solve.deletion import Deletion, deletion_of_rows
from elastocal.solve.linear import orthonormal_span, solve_linear
from elastocal.solve.summary import cauchy_residuals
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

LEVEL = 1e-6
"""Probability of leaving out any good reading, all units of one level together: tails of real readings are heavy."""
BACK = 10.0
"""Times the level: what was left out comes back where it is this probable."""
FAR = 5.0
"""Standard deviations beyond which a number is let go of before anything is decided."""
DOUBTFUL, LOOKED_AT = 1.0, 2
"""Probability of its level below which a whole block is judged by scales chosen without it, and how many are."""
LIKELY = 0.01
"""Probability from which the other numbers of a point with a wrong one are believed."""
MOST = 0.4
"""Share of the numbers that may be left out; beyond it the model is wrong, not the readings."""
Level = Literal["number", "point", "pose"]
LEVELS: tuple[Level, ...] = ("number", "point", "pose")


class Judge(Protocol):
    """A problem that is solved again without some of its numbers (N, R); ``parts`` (R,) are points of a block."""

    @property
    def parts(self) -> Ints: ...

    def without(self, dropped: Bools) -> Deletion:
        """Deletion residuals of the others."""
        ...

    def tuned(self, dropped: Bools) -> Self:
        """The same with what depends on the readings kept chosen anew."""
        ...


J = TypeVar("J", bound=Judge)


@dataclass(frozen=True)
class Unit:
    """Something left out: a block (pose), its rows, and how improbable it is."""

    level: Level
    block: int
    rows: tuple[int, ...]
    size: float
    """Distance from its prediction in standard deviations of that prediction: sqrt(chi2 / numbers)."""
    probability: float


def screen_units(
    judge: J,
    full: Bools,
    dropped: Bools,
    *,
    level: float = LEVEL,
    levels: Sequence[Level] = LEVELS,
    most: float = MOST,
    back: float = BACK,
    back_first: bool = True,
) -> tuple[Bools, tuple[Unit, ...], J]:
    """What to leave out of ``full`` (N, R), from what is left out at the start; the units; and the judge at the end.

    No more than a share of ``most`` is left out.  ``back_first``: whatever may come back does so before the next one
    leaves; where few units are many of all, one that is back may hide the next.
    """
    seen: set[bytes] = set()
    least = back * level / (full.sum() if "number" in levels else full.any(axis=1).sum())
    while dropped.tobytes() not in seen and dropped.sum() < most * full.sum():
        seen.add(dropped.tobytes())
        change = _taken_back(judge, full, dropped, least) if back_first else None
        if change is None:
            change = _left_out(judge, dropped, level, levels)
        if change is None and not back_first:
            change = _taken_back(judge, full, dropped, least)
        if change is None:
            break
        dropped = change
        judge = judge.tuned(dropped)
    if "number" in levels:
        dropped = _narrowed(judge, full, dropped)
    units = [_judged(judge, dropped, *piece) for piece in _pieces(judge.parts, full, dropped)]
    return dropped, tuple(sorted(units, key=lambda u: u.probability)), judge


def _left_out(judge: Judge, dropped: Bools, level: float, levels: Sequence[Level]) -> Bools | None:
    """Without the worst unit too; None where none is improbable."""
    judged = judge.without(dropped)
    doubtful = doubtful_units(judged, max(level, DOUBTFUL), levels)
    if not doubtful:
        return None
    least, worst = doubtful[0]
    if least < level:
        return _without(dropped, worst)
    for unit in (u for _, u in doubtful if u.level == levels[-1]):
        out = _without(dropped, unit)
        tuned = judge.tuned(out)
        if tuned is judge:
            break  # it has no scales to hide in
        alone = _judged(tuned, out, unit.level, unit.block, np.array(unit.rows))
        if alone.probability * _units_of(judged, unit.level) < level:
            return out
    return None


def _without(dropped: Bools, unit: Unit) -> Bools:
    out = dropped.copy()
    out[unit.block, list(unit.rows)] = True
    return out


def worst_unit(deletions: Deletion, level: float, levels: Sequence[Level] = LEVELS) -> Unit | None:
    """The most improbable unit, if it is less probable than ``level``."""
    return next((unit for _, unit in doubtful_units(deletions, level, levels)), None)


def doubtful_units(deletions: Deletion, level: float, levels: Sequence[Level] = LEVELS) -> list[tuple[float, Unit]]:
    """Units less probable than ``level``, ``LOOKED_AT`` of every level at most: the probability that any of that level
    is so far off, and the unit; the most improbable first."""
    used, parts = deletions.used, deletions.parts
    out = []
    for kind in levels:
        chi2, size = _sizes(deletions, kind)
        p = deletions.exceedance(chi2, size)
        adjusted = np.where(np.isfinite(p), p, 1.0) * np.isfinite(p).sum()
        for at in np.argsort(adjusted, axis=None, kind="stable")[:LOOKED_AT].tolist():
            place = np.unravel_index(at, adjusted.shape)
            if not adjusted[place] < level:
                break
            b = int(place[0])
            mine = {"number": np.arange(used.shape[1]) == place[-1], "point": parts == place[-1], "pose": used[b]}[kind]
            rows = tuple(np.flatnonzero(mine & used[b]).tolist())
            unit = Unit(kind, b, rows, float(np.sqrt(chi2[place] / size[place])), float(p[place]))
            out.append((float(adjusted[place]), unit))
    return sorted(out, key=lambda each: each[0])


def _units_of(deletions: Deletion, kind: Level) -> int:
    return int(np.count_nonzero(_sizes(deletions, kind)[1]))


def improbable(deletions: Deletion, level: float) -> Bools:
    """Blocks (N,) with a unit that is less probable than ``level``, the units of one block counted together."""
    out = np.zeros(len(deletions.used), dtype=bool)
    for kind in LEVELS:
        p = deletions.exceedance(*_sizes(deletions, kind)).reshape(len(out), -1)
        out |= np.nanmin(np.where(np.isfinite(p), p, 1.0), axis=1) * np.isfinite(p).sum(axis=1) < level
    return out


def _sizes(deletions: Deletion, kind: Level) -> tuple[Array, Ints]:
    if kind == "number":
        return deletions.number_chi2(), deletions.used.astype(np.int64)
    return deletions.point_chi2() if kind == "point" else deletions.block_chi2()


def _narrowed(judge: Judge, full: Bools, dropped: Bools) -> Bools:
    """Points that were left out as a whole, of which one number alone is wrong, lose that number only."""
    for kind, b, rows in _pieces(judge.parts, full, dropped):
        if kind != "point":
            continue
        again = dropped.copy()
        again[b, rows] = False
        whole = judge.without(again)
        worst = rows[int(np.argmax(whole.number_chi2()[b, rows]))]
        rest = np.array([r for r in rows if r != worst])
        again[b, worst] = True
        if _judged(judge, dropped, "number", b, rest).probability > LIKELY:
            dropped = again
    return dropped


def _pieces(parts: Ints, full: Bools, dropped: Bools) -> list[tuple[Level, int, Ints]]:
    """What is left out, as whole blocks, points and numbers."""
    out: list[tuple[Level, int, Ints]] = []
    for b in np.flatnonzero(dropped.any(axis=1)).tolist():
        rows, points = np.flatnonzero(dropped[b]), np.unique(parts[full[b]])
        if len(points) > 1 and np.array_equal(dropped[b], full[b]):
            out.append(("pose", b, rows))
            continue
        for part in np.unique(parts[rows]):
            own = rows[parts[rows] == part]
            out.append(("point" if len(own) > 1 else "number", b, own))
    return out


def _judged(judge: Judge, dropped: Bools, level: Level, b: int, rows: Ints) -> Unit:
    """How improbable something left out is, by its deletion residual among the readings that are kept."""
    again = dropped.copy()
    again[b, rows] = False
    judged = judge.without(again)
    _, chi2, size = judged.unit(b, rows)
    p = float(judged.exceedance(np.array(chi2), np.array(size)))
    return Unit(level, b, tuple(int(r) for r in rows), float(np.sqrt(chi2 / size)), p)


def _taken_back(judge: Judge, full: Bools, dropped: Bools, least: float) -> Bools | None:
    """Without the left-out unit that the fit predicts best, if it is no longer improbable; None where all are."""
    units = [_judged(judge, dropped, *piece) for piece in _pieces(judge.parts, full, dropped)]
    best = max(units, key=lambda u: u.probability, default=None)
    if best is None or best.probability < least:
        return None
    out = dropped.copy()
    out[best.block, list(best.rows)] = False
    return out


@dataclass(frozen=True, eq=False)
class LinearJudge:
    """A linear problem in blocks: ``misfit`` (N, R) is ``matrix`` (N, R, p) times the unknowns, plus noise.

    ``lower`` (N, R, R) are factors of the noise, None where all of it is one; ``floor`` is the least that residuals may
    take it for, in its own units.  ``prior`` (k, p) and ``aim`` (k,) are rows of what is known beforehand.
    """

    misfit: Array
    matrix: Array
    used: Bools
    parts: Ints
    floor: float = 0.0
    lower: Array | None = None
    prior: Array | None = None
    aim: Array | None = None

    @cached_property
    def _covariance(self) -> Array | None:
        return None if self.lower is None else self.lower @ self.lower.transpose(0, 2, 1)

    def without(self, dropped: Bools) -> Deletion:
        used = self.used & ~dropped
        n, r = used.shape
        inverse, rows, left = self.rows(dropped)
        span = orthonormal_span(rows)
        left = left - span @ (span.T @ left)
        freedom = int(used.sum()) + len(left) - n * r - span.shape[1]
        return deletion_of_rows(
            inverse, span[: n * r].reshape(n, r, -1), left[: n * r].reshape(n, r), used, float(left @ left), freedom,
            parts=self.parts, floor=self.floor**2,
        )  # fmt: skip

    def tuned(self, dropped: Bools) -> Self:
        return self

    def residuals(self, dropped: Bools) -> Array:
        """All numbers (N, R), in their units, less what the kept ones predict."""
        _, rows, left = self.rows(dropped)
        return np.asarray(self.misfit - self.matrix @ solve_linear(rows, left).values)

    def far(self) -> Bools:
        """Where to start: numbers that Cauchy's loss lets go of, so that several outliers do not hide each other."""
        n, r = self.used.shape
        _, rows, misfit = self.rows(np.zeros_like(self.used))
        left, scale = cauchy_residuals(rows, misfit, self.floor)
        raw, size = left[: n * r].reshape(n, r), np.ones((n, r))
        if self.lower is not None:
            raw, size = (self.lower @ raw[:, :, None])[:, :, 0], np.linalg.norm(self.lower, axis=2)
        return np.asarray(self.used & (np.abs(raw) > FAR * scale * size))

    def rows(self, dropped: Bools) -> tuple[Array, Array, Array]:
        """Inverse factors of the noise of what is kept, its whitened rows, and those of the priors behind them."""
        used = self.used & ~dropped
        one = np.eye(used.shape[1])
        inverse = one * used[:, :, None]
        if self._covariance is not None:
            both = used[:, :, None] & used[:, None, :]
            root = np.linalg.cholesky(np.where(both, self._covariance, one))
            inverse = np.asarray(np.linalg.inv(root) * used[:, :, None], dtype=np.float64)
        matrix = (inverse @ self.matrix).reshape(used.size, -1)
        misfit = (inverse @ self.misfit[:, :, None]).reshape(-1)
        if self.prior is None or self.aim is None:
            return inverse, matrix, misfit
        return inverse, np.concatenate([matrix, self.prior]), np.concatenate([misfit, self.aim])
