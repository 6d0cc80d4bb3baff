"""Which readings do not belong: a robust start, then the decision of ``solve.outliers`` on the exact problem.

Robust weights (Student's t, 4 degrees of freedom, one for every point) only start the search, so that up to a third of
the poses may be bad.  Numbers, points of markers and whole poses are then decided on the richest model, whose scales
are chosen anew whenever something leaves or comes back.  At last the errors of the model have their say: where
all readings together, with noise of joints and of deflections, are more probable than so many wrong ones, all are kept.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elastocal.calibration.fit import NEAR, ROUGH, Fit, ahead, fit, full_step
from elastocal.calibration.placing import Placing
from elastocal.calibration.task import Task, assemble
from elastocal.solve.blocks import Blocks, Noise
from elastocal.solve.deletion import Deletion, deletion
from elastocal.solve.evidence import Posterior, posterior
from elastocal.solve.outliers import LEVEL, Unit, screen_units
from elastocal.solve.scales import ROUGHLY, maximise_evidence
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

RARE = 1e-3
"""Probability of a wrong unit before any is looked at, where the alternative is an error of the model."""
CLEAR = 100.0
"""Evidence by which all readings may fall behind without a search of their own: far more than a search changes."""
FREEDOM = 4.0
LINEARISATIONS, REWEIGHTED = 10, 20


@dataclass(frozen=True, eq=False)
class Screened:
    """The fit without what was left out, and the units left out."""

    fit: Fit
    units: tuple[Unit, ...]


def robust_fit(task: Task, placing: Placing, x: Array) -> tuple[Array, Placing, Bools]:
    """Unknowns and placing by t weights at fixed prior scales, and the points (M, rows) that it does not believe.

    Weights change in many small steps, for which one linearisation does."""
    blocks = assemble(task, x, placing)
    scales, weight = blocks.start.copy(), np.ones((task.sight.states.count, task.sight.rows))
    change, step, doubtful = _reweighted(task, blocks, x, scales, weight, 1)
    for _ in range(LINEARISATIONS):
        there = ahead(task, x, placing, blocks, change)
        if there is None:
            break
        x, placing, blocks, _ = there
        change, step, doubtful = _reweighted(task, blocks, x, scales, weight, REWEIGHTED)
        if step < NEAR:
            return task.moved(x, change[: len(x)]), placing.moved(change[len(x) :]), doubtful
    return x, placing, doubtful


def not_believed(task: Task, placing: Placing, x: Array) -> Bools:
    """Points (M, rows) that robust weights do not believe where a search begins that has ended near here before."""
    blocks = assemble(task, x, placing)
    weight = np.ones((task.sight.states.count, task.sight.rows))
    return _reweighted(task, blocks, x, blocks.start.copy(), weight, REWEIGHTED)[2]


def _reweighted(
    task: Task, blocks: Blocks, x: Array, scales: Array, weight: Array, most: int
) -> tuple[Array, float, Bools]:
    """Step, its size and the points not believed, of one linear problem; ``scales`` and ``weight`` are set anew."""
    free = [i for i, c in enumerate(blocks.noise) if not c.scale.fixed]
    still, last = np.zeros(task.sight.extra), None
    typical = [_typical(blocks.noise[i], blocks.used) for i in free]
    for _ in range(most):
        post = posterior(_weighted(task, blocks, weight), scales)
        change, step = full_step(task, post, x)
        theta = np.concatenate([x, still]) + change
        left = task.sight.unfold(np.where(blocks.used, blocks.readings - blocks.jacobian @ theta, np.nan))
        new, (square, count) = _point_scales(task, left, _spread_for(post))
        scales[len(blocks.groups) + np.array(free)] = np.log(new / typical)
        weight[:] = (FREEDOM + count) / (FREEDOM + square)
        if last is not None and np.allclose(new, last, rtol=1e-3):
            break
        last = new
    return change, step, square > 49.0 * count / 3


def _typical(part: Noise, used: Bools) -> float:
    """Sd of the rows that a part of the noise reaches, at scale 1."""
    sizes = np.sum(part.factor**2, axis=2)[used]
    return float(np.sqrt(np.mean(sizes[sizes > 0])))


def _weighted(task: Task, blocks: Blocks, weight: Array) -> Blocks:
    """The same problem with the noise of every row divided by the root of its weight."""
    spread = task.sight.fold(1 / np.sqrt(weight))
    spread = np.where(spread > 0, spread, 1.0)[:, :, None]
    return replace(blocks, noise=tuple(Noise(c.scale, c.factor * spread) for c in blocks.noise))


def _spread_for(post: Posterior) -> float:
    """Factor on residuals for what the fit took of them: sqrt(n / (n - effective parameters)), 3 at most."""
    count = max(1, post.blocks.count)
    return float(min(3.0, np.sqrt(count / max(count - post.effective, 0.1 * count))))


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
    judge = _Judge(replace(start.posterior.blocks, used=full), start.posterior.log_scales)
    dropped, units, judge = screen_units(judge, full, full & ~start.posterior.blocks.used, level=level)
    new = replace(task, dropped=task.sight.unfold(dropped))
    if np.array_equal(new.dropped & task.sight.used, start.task.dropped & task.sight.used):
        return Screened(start, units)
    known, rate = start.blocks(new), start.rate
    return Screened(fit(new, *start.start, judge.scales, settled=ROUGH, blocks=known, rate=rate), units)


def log_probability(screened: Screened) -> float:
    """Evidence of what is kept, times the chance of so many wrong readings, each of its numbers anywhere within the
    largest residual of those left out."""
    fit, task = screened.fit, screened.fit.task
    off, _ = task.sight.linearise(task.tool, fit.values, fit.placing, exact=False)
    out = fit.evidence + len(screened.units) * np.log(RARE)
    for rows in (task.sight.lengths, ~task.sight.lengths):
        mine = np.abs(off[:, rows][(task.dropped & task.sight.used)[:, rows]])
        if mine.size:
            out += mine.size * (0.5 * np.log(2 * np.pi) - np.log(2 * float(mine.max())))
    return float(out)


def explained(screened: Screened) -> Fit | None:
    """The fit of all readings, where errors of the model explain what was left out better than wrong readings do.

    The evidence of all readings, with compliances and joints that differ from state to state, against
    ``log_probability``.
    """
    fitted, task = screened.fit, screened.fit.task
    wrong = log_probability(screened)
    whole = replace(fitted.posterior.blocks, used=task.sight.fold(task.sight.used))
    if maximise_evidence(whole, fitted.posterior.log_scales, revive=False, gain=ROUGHLY)[1] < wrong - CLEAR:
        return None
    all_read = replace(task, dropped=np.zeros_like(task.dropped))
    everything = fit(all_read, *fitted.start, settled=ROUGH, blocks=fitted.blocks(all_read), rate=fitted.rate)
    return everything if everything.evidence > wrong else None


@dataclass(frozen=True, eq=False)
class _Judge:
    """The linear problem of all readings, and the scales chosen last."""

    blocks: Blocks
    scales: Array

    @property
    def parts(self) -> Ints:
        return self.blocks.parts

    def without(self, dropped: Bools) -> Deletion:
        return deletion(posterior(self.blocks.without(dropped), self.scales))

    def tuned(self, dropped: Bools) -> _Judge:
        kept = self.blocks.without(dropped)
        return replace(self, scales=maximise_evidence(kept, self.scales, revive=False, gain=ROUGHLY)[0])
