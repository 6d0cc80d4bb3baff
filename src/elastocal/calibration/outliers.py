"""Which readings do not belong: single numbers, points of markers, whole poses.

Robust weights (Student's t, 4 degrees of freedom, one for every point) only start the search, so that up to a third of
the poses may be bad.  The decision is by externally studentised deletion residuals (``solve.deletion``) of the richest
model: the most improbable unit of the three levels is left out, everything is computed again, and what was left out
before comes back where the fit predicts it after all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from elastocal.calibration.fit import Fit, Task, assemble, fit, moved
from elastocal.calibration.placing import Placing
from elastocal.solve.blocks import Blocks, Noise
from elastocal.solve.deletion import Deletion, deletion
from elastocal.solve.evidence import Posterior, posterior
from elastocal.solve.scales import maximise_evidence
from elastocal.spatial.entries import Array, Bools, Ints

LEVEL = 1e-6
"""Probability of leaving out any good reading of a campaign, all units of one level together: tails are heavy."""
LIKELY = 0.01
"""Probability from which the other numbers of a point with a wrong one are believed."""
MOST = 0.4
"""Share of the numbers that may be left out; beyond it the model is wrong, not the readings."""
FREEDOM = 4.0
Level = Literal["number", "point", "pose"]


@dataclass(frozen=True)
class Unit:
    """Something left out: a block (pose), its rows, and how improbable it is."""

    level: Level
    block: int
    rows: tuple[int, ...]
    size: float
    """Distance from its prediction in standard deviations of that prediction: sqrt(chi2 / numbers)."""
    probability: float


@dataclass(frozen=True, eq=False)
class Screened:
    """What to leave out (M, rows), the units, and the fit without them."""

    fit: Fit
    units: tuple[Unit, ...]


def robust_fit(task: Task, placing: Placing) -> tuple[Array, Placing, Bools]:
    """Unknowns and placing by t weights at fixed prior scales, and the points (M, rows) that it does not believe."""
    x = np.zeros(len(task.names))
    weight = np.ones((task.sight.states.count, task.sight.rows))
    blocks = assemble(task, x, placing)
    scales = blocks.start.copy()
    noise = slice(len(blocks.groups), len(scales))
    size, still = None, np.zeros(task.sight.extra)
    for _ in range(30):
        found = posterior(_weighted(task, blocks, weight), scales)
        x, placing, step = moved(task, found, x, placing)
        blocks = assemble(task, x, placing)
        left = task.sight.unfold(
            np.where(blocks.used, blocks.readings - blocks.jacobian @ np.concatenate([x, still]), np.nan)
        )
        new, distance = _point_scales(task, left, _spread_for(found))
        scales[noise] = np.log(new / [_typical(c, blocks.used) for c in blocks.noise])
        weight = (FREEDOM + distance[1]) / (FREEDOM + distance[0])
        if step < 1e-3 and size is not None and np.allclose(new, size, rtol=1e-3):
            break
        size = new
    return x, placing, distance[0] > 49.0 * distance[1] / 3


def _typical(part: Noise, used: Bools) -> float:
    """Sd of the rows that a part of the noise reaches, at scale 1."""
    sizes = np.sum(part.factor**2, axis=2)[used]
    return float(np.sqrt(np.mean(sizes[sizes > 0])))


def _weighted(task: Task, blocks: Blocks, weight: Array) -> Blocks:
    """The same problem with the noise of every row divided by the root of its weight."""
    spread = task.sight.fold(1 / np.sqrt(weight))
    spread = np.where(spread > 0, spread, 1.0)[:, :, None]
    return replace(blocks, noise=tuple(Noise(c.scale, c.factor * spread) for c in blocks.noise))


def _spread_for(found: Posterior) -> float:
    """Factor on residuals for what the fit took of them: sqrt(n / (n - effective parameters)), 3 at most."""
    count = max(1, found.blocks.count)
    return float(min(3.0, np.sqrt(count / max(count - found.effective, 0.1 * count))))


def _point_scales(task: Task, left: Array, factor: float) -> tuple[Array, tuple[Array, Array]]:
    """Robust sds of lengths (and angles), and of every row the squared size of its point and its number of rows."""
    parts, lengths = task.sight.parts, task.sight.lengths
    scales = []
    unit = np.ones(len(parts))
    for mask in (lengths, ~lengths):
        if mask.any():
            sd = max(factor * float(np.nanmedian(np.abs(left[:, mask]))) / 0.6745, 1e-7)
            scales.append(sd)
            unit[mask] = sd
    square, count = np.zeros_like(left), np.ones_like(left)
    for part in range(int(parts.max()) + 1):
        mine = parts == part
        square[:, mine] = np.nansum((left[:, mine] / unit[mine]) ** 2, axis=1, keepdims=True)
        count[:, mine] = np.isfinite(left[:, mine]).sum(axis=1, keepdims=True)
    return np.array(scales), (square, np.maximum(count, 1))


def screen(task: Task, start: Fit, *, level: float = LEVEL) -> Screened:
    """Leave out and take back, one unit at a time, until nothing changes."""
    full = task.sight.fold(task.sight.used)
    blocks, scales = replace(start.posterior.blocks, used=full), start.posterior.log_scales
    dropped = full & ~start.posterior.blocks.used
    seen: set[bytes] = set()
    while dropped.tobytes() not in seen and dropped.sum() < MOST * full.sum():
        seen.add(dropped.tobytes())
        change = _taken_back(blocks, dropped, scales, level)
        if change is None:
            worst = _worst(deletion(posterior(blocks.without(dropped), scales)), level)
            if worst is None:
                break
            change = dropped.copy()
            change[worst.block, list(worst.rows)] = True
        dropped = change
        scales, _ = maximise_evidence(blocks.without(dropped), scales, revive=False)
    dropped = _narrowed(blocks, dropped, scales)
    new = replace(task, dropped=task.sight.unfold(dropped))
    units = [_judged(blocks, dropped, scales, *piece) for piece in _pieces(blocks, dropped)]
    return Screened(fit(new, start.placing, start.x, scales), tuple(sorted(units, key=lambda u: u.probability)))


def _narrowed(blocks: Blocks, dropped: Bools, scales: Array) -> Bools:
    """Points that were left out as a whole, of which one number alone is wrong, lose that number only."""
    for kind, b, rows in _pieces(blocks, dropped):
        if kind != "point":
            continue
        again = dropped.copy()
        again[b, rows] = False
        whole = deletion(posterior(blocks.without(again), scales))
        worst = rows[int(np.argmax(whole.number_chi2()[b, rows]))]
        rest = np.array([r for r in rows if r != worst])
        again[b, worst] = True
        others = _judged(blocks, again | _only(dropped, b, rest), scales, "number", b, rest)
        if others.probability > LIKELY:
            dropped = again
    return dropped


def _only(like: Bools, b: int, rows: Ints) -> Bools:
    out = np.zeros_like(like)
    out[b, rows] = True
    return out


def _pieces(blocks: Blocks, dropped: Bools) -> list[tuple[Level, int, Ints]]:
    """What is left out, as whole poses, points and numbers."""
    out: list[tuple[Level, int, Ints]] = []
    for b in np.flatnonzero(dropped.any(axis=1)).tolist():
        rows, points = np.flatnonzero(dropped[b]), np.unique(blocks.parts[blocks.used[b]])
        if len(points) > 1 and np.array_equal(dropped[b], blocks.used[b]):
            out.append(("pose", b, rows))
            continue
        for part in np.unique(blocks.parts[rows]):
            own = rows[blocks.parts[rows] == part]
            out.append(("point" if len(own) > 1 else "number", b, own))
    return out


def _judged(blocks: Blocks, dropped: Bools, scales: Array, level: Level, b: int, rows: Ints) -> Unit:
    """How improbable something left out is, by its deletion residual among the readings that are kept."""
    again = dropped.copy()
    again[b, rows] = False
    found = deletion(posterior(blocks.without(again), scales))
    chi2 = found.chi2(b, rows)
    p = float(found.exceedance(np.array(chi2), np.array(len(rows)), found.posterior.effective))
    return Unit(level, b, tuple(int(r) for r in rows), float(np.sqrt(chi2 / len(rows))), p)


def _taken_back(blocks: Blocks, dropped: Bools, scales: Array, level: float) -> Bools | None:
    """Without the left-out unit that the fit predicts best, if it is no longer improbable; None where all are."""
    units = [_judged(blocks, dropped, scales, *piece) for piece in _pieces(blocks, dropped)]
    best = max(units, key=lambda u: u.probability, default=None)
    if best is None or best.probability * blocks.count < 10 * level:
        return None
    out = dropped.copy()
    out[best.block, list(best.rows)] = False
    return out


def _worst(found: Deletion, level: float) -> Unit | None:
    """The most improbable unit of the three levels, each level's probabilities times the number of its units."""
    used, parts = found.posterior.blocks.used, found.posterior.blocks.parts
    levels: tuple[tuple[Level, Array, Ints], ...] = (
        ("number", found.number_chi2(), used.astype(np.int64)),
        ("point", *found.point_chi2()),
        ("pose", *found.block_chi2()),
    )
    best, least = None, level
    for kind, chi2, size in levels:
        p = found.exceedance(chi2, size, found.posterior.effective)
        adjusted = np.where(np.isfinite(p), p, 1.0) * np.isfinite(p).sum()
        place = np.unravel_index(int(np.argmin(adjusted)), adjusted.shape)
        if adjusted[place] < least:
            b, least = int(place[0]), float(adjusted[place])
            mine = {"number": np.arange(used.shape[1]) == place[-1], "point": parts == place[-1], "pose": used[b]}[kind]
            rows = tuple(np.flatnonzero(mine & used[b]).tolist())
            best = Unit(kind, b, rows, float(np.sqrt(chi2[place] / len(rows))), float(p[place]))
    return best
