"""Campaigns of many poses: the model is chosen on a sample of them, and fitted to all in the memory of one chunk.

A sample of some hundred poses decides what a larger one would not decide otherwise: start values, the model, and the
scales of priors and of noise.  At these scales all readings are then fitted.  They enter by sums over poses,

    H = sum_i J_i^T S_i^-1 J_i + P,    b = sum_i J_i^T S_i^-1 r_i                                              (many)

so that a pass over chunks of poses, in whatever pieces, is a step of the same search as on the whole.  Outliers are
decided pose by pose by the rule of ``solve.outliers``: of so many poses no single one moves the fit, so that what the
others predict does not change while the units of one are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from elastocal.calibration.campaign import Campaign
from elastocal.calibration.fit import Fit, distances, full_step
from elastocal.calibration.sight import Sight
from elastocal.calibration.states import States
from elastocal.calibration.task import assemble
from elastocal.solve.blocks import Blocks
from elastocal.solve.deletion import Deletion, deletion
from elastocal.solve.evidence import Whitened, noise_covariance, posterior, posterior_of_sums, prior_precision, whitened
from elastocal.solve.outliers import LEVEL, MOST, Unit, improbable, screen_units
from elastocal.solve.streamed import spread_indices
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

MANY = 400
"""Poses beyond which the model is chosen on a sample."""
SAMPLE = 120
"""Poses of the sample."""
LEAST = 20
"""Poses of every station and every marker that the sample has at least, where there are so many."""
CHUNK = 1250
"""Poses that are held at once: as many as the statics of a model with everything holds, so that it sees them once."""
SOME, PIECE = 2048, 128
"""Poses that the first passes see, in pieces of so many that follow each other."""
PASSES = 8
STILL = 0.1
"""Root mean square by which a step moves the readings, in their noise, at which the passes end with it: what it leaves
to a further one is smaller by as much again at least, and no outlier depends on it."""
HELD = 3e-4
"""Sd in m and rad that a pass holds stations and markers to where the last one left them: far more than so many
readings leave them unknown by, and little enough that a shift of everything, which none tells, is not lost in rounding.
"""
Watch = Callable[[str], None]


def sample_rows(states: States, rows: int) -> Bools:
    """Rows (N,) of the campaign that belong to the sample: poses spread evenly over their canonical order."""
    chosen = np.zeros(states.poses, dtype=bool)
    chosen[spread_indices(states.poses, SAMPLE)] = True
    seen = np.zeros((states.count, states.points), dtype=bool)
    for key in ("position", "deflection", "distance"):
        read = getattr(states, key)
        if read is not None:
            seen |= np.isfinite(read).reshape(states.count, states.points, -1).any(axis=2)
    sides = [states.station == s for s in range(len(states.stations))] + list(seen.T)
    for mine in (np.flatnonzero(np.bincount(states.pose[side])) for side in sides):
        if len(mine) and chosen[mine].sum() < LEAST:
            chosen[mine[spread_indices(len(mine), LEAST)]] = True
    return np.asarray(chosen[states.pose[states.state_of(rows)]])


def neighbours(campaign: Campaign, runs: int = 10) -> Campaign:
    """Rows for the check of slips, in runs of neighbours: a table may have its readings one row off."""
    length = SAMPLE // runs
    starts = np.linspace(0, campaign.count - length, runs).astype(np.int64)
    return campaign.take(np.unique(starts[:, None] + np.arange(length)))


@dataclass(frozen=True, eq=False)
class ManyFit:
    """A fit of all M states: ``fit`` has their unknowns, placing and posterior, and the sample's states.

    ``left_out`` (M, points) are distances of leave-one-pose-out in m, nan where nothing is kept; ``everything`` has
    what was left out too, as it is predicted.  ``units`` are numbered by pose; ``count`` numbers are kept.
    """

    fit: Fit
    dropped: Bools
    units: tuple[Unit, ...]
    left_out: Array
    everything: Array
    count: int


def fit_many(
    start: Fit, states: States, dropped: Bools | None = None, *, chunk: int = CHUNK, watch: Watch = lambda step: None
) -> ManyFit:
    """Fit the model of ``start`` to all ``states`` at its scales; without ``dropped`` (M, rows) outliers are decided.

    Every pass linearises where the last one led to, and decides on outliers by what that fit predicts.  The first ones
    see some thousand poses, so that one pass over all is enough, as a rule.
    """
    out = np.zeros((states.count, start.task.sight.rows), dtype=bool) if dropped is None else dropped
    scales = _held(start)
    at = replace(start, posterior=posterior(start.posterior.blocks, scales))
    known = start.deletion.total / start.deletion.freedom
    begin = _Pass(at, states, out, dropped is None, known, first=True)
    every = tuple(states.parts(chunk))
    if states.poses > 2 * SOME:
        pieces = tuple(states.parts(PIECE))
        some = tuple(pieces[i] for i in spread_indices(len(pieces), SOME // PIECE))
        at, _, passed = _passes(begin, some, scales, lambda n: watch(f"{SOME} of {states.poses} poses, pass {n}"))
        begin = replace(passed, at=at, dropped=out)
    at, swept, passed = _passes(begin, every, scales, lambda n: watch(f"all {states.poses} poses, pass {n}"))
    post = posterior_of_sums(swept.blocks, start.posterior.log_scales, swept.gram, swept.pull)
    at = replace(at, posterior=post, unbounded=post)
    return ManyFit(at, swept.dropped, swept.units, swept.left_out, swept.everything, swept.count)


def _passes(
    begin: _Pass, parts: Sequence[slice], scales: Array, watch: Callable[[int], None]
) -> tuple[Fit, _Swept, _Pass]:
    """Passes over parts of the states until a step moves no reading by a share of its noise that counts."""
    done, low, change = begin, (np.inf, begin.at), np.zeros(len(begin.theta))
    for number in range(1, PASSES + 1):
        watch(number)
        swept = _sweep(done, parts)
        if swept.dropped.sum() > MOST * (swept.count + swept.dropped.sum()):  # the model is wrong, not the readings
            done = replace(done, decide=False, dropped=np.zeros_like(done.dropped))
            swept = _sweep(done, parts)
        same = np.array_equal(swept.dropped, done.dropped)
        done = replace(done, dropped=swept.dropped, known=swept.square / swept.count, first=False)
        if same and swept.height > low[0]:  # a step too far
            change = 0.5 * change
            done = replace(done, at=_moved(low[1], change))
            continue
        at = done.at
        post = posterior_of_sums(swept.blocks, scales, swept.gram, swept.pull)
        change, _ = full_step(at.task, post, at.x)
        moves = float(np.sqrt(swept.blocks.power * (change @ swept.gram @ change) / swept.count))
        low = swept.height, replace(at, posterior=post)
        at = replace(_moved(low[1], change), converged=moves < STILL, steps=number)
        done = replace(done, at=at)
        if at.converged:
            break
    return done.at, swept, done


def _held(start: Fit) -> Array:
    """Logarithms of the scales of a fit, with those of the placing, whose groups are the last three, at ``HELD``."""
    out = start.posterior.log_scales.copy()
    own = slice(len(start.task.wanted), len(start.posterior.blocks.groups))
    out[own] = np.minimum(out[own], np.log(HELD))
    return out


def _moved(fit: Fit, change: Array) -> Fit:
    return replace(fit, x=fit.task.moved(fit.x, change[: len(fit.x)]), placing=fit.placing.moved(change[len(fit.x) :]))


@dataclass(frozen=True, eq=False)
class _Pass:
    """A pass over ``states`` with ``dropped`` left out, by the fit ``at`` of the last one.

    ``known`` is the mean square of its residuals in units of noise; in the ``first`` pass the states took no part.
    """

    at: Fit
    states: States
    dropped: Bools
    decide: bool
    known: float
    first: bool

    @cached_property
    def theta(self) -> Array:
        """Unknowns at the point of linearisation: those of the placing count from there."""
        return np.concatenate([self.at.x, np.zeros(self.at.task.sight.extra)])

    def judged(self, deletions: Deletion) -> Deletion:
        """With noise and freedom of all readings in place of a chunk's own."""
        numbers = float(self.dropped.size)
        return replace(deletions, total=self.known * numbers, freedom=numbers, spent=0.0, floor=self.known)


@dataclass(frozen=True, eq=False)
class _Swept:
    """Sums over what is kept, and what was decided; ``blocks`` is the problem without its rows."""

    dropped: Bools
    units: tuple[Unit, ...]
    left_out: Array
    everything: Array
    gram: Array
    pull: Array
    square: float
    height: float
    """What the search lowers: -2 log posterior, up to a constant."""
    count: int
    blocks: Blocks


def _sweep(done: _Pass, parts: Sequence[slice]) -> _Swept:
    at, states, p = done.at, done.states, len(done.theta)
    out, units = done.dropped.copy(), []
    gram, pull, square, count = np.zeros((p, p)), np.zeros(p), 0.0, 0
    left_out: list[Array] = []
    everything: list[Array] = []
    for part in parts:
        sight = Sight(states.part(part))
        lost = sight.fold(out[part])
        full = assemble(replace(at.task, sight=sight, dropped=np.zeros_like(out[part])), at.x, at.placing)
        kept = full.without(lost)
        white = whitened(kept, at.posterior.log_scales)
        left = white.misfit(done.theta)
        judged = _judged(done, kept, white, left)
        if done.decide:
            now, mine = _screened(done, full, judged, lost)
            units += [replace(u, block=int(states.pose[part.start]) + u.block) for u in mine]
            if not np.array_equal(now, lost):
                lost, out[part] = now, sight.unfold(now)
                kept = full.without(lost)
                white = whitened(kept, at.posterior.log_scales)
                left = white.misfit(done.theta)
        gram += white.gram
        pull += white.rows.T @ white.misfit(kept.mean)
        square += kept.power * float(np.sum(left**2))
        count += kept.count
        off = np.where(kept.used, judged.blocks, np.nan)
        left_out.append(distances(sight, sight.unfold(off)))
        if lost.any():
            off = np.where(full.used & lost, full.readings - full.jacobian @ done.theta, off)
        everything.append(distances(sight, sight.unfold(off)) if lost.any() else left_out[-1])
    shift = done.theta - kept.mean
    height = square + float(shift @ prior_precision(kept, at.posterior.log_scales)[0] @ shift)
    return _Swept(
        out, tuple(sorted(units, key=lambda u: u.probability)), np.concatenate(left_out), np.concatenate(everything),
        gram, pull, square, height, count, kept.kept(np.zeros(0, dtype=np.int64)),
    )  # fmt: skip


def _judged(done: _Pass, kept: Blocks, white: Whitened, left: Array) -> Deletion:
    """Deletion residuals of the numbers of a chunk that are kept; ``left`` are their whitened residuals."""
    post = replace(done.at.posterior, blocks=kept, whitened=white, left=left)
    return done.judged(deletion(post, strangers=done.first))


def _screened(done: _Pass, full: Blocks, deletions: Deletion, lost: Bools) -> tuple[Bools, list[Unit]]:
    """What is left out of a chunk: poses with something improbable, or that lost something before, are judged."""
    out, level = lost.copy(), LEVEL / done.states.poses
    units: list[Unit] = []
    doubtful = _improbable(deletions, level) | (lost & full.used).any(axis=1)
    for pose in np.flatnonzero(doubtful).tolist():
        used, judge = full.used[[pose]], _others(done, full.kept([pose]), lost[pose])
        chosen, mine, _ = screen_units(judge, used, lost[[pose]] & used, level=level, most=1.0)
        out[pose] = chosen[0]
        units += [replace(u, block=pose) for u in mine]
    return out, units


def _improbable(deletions: Deletion, level: float) -> Bools:
    """Poses with an improbable unit.

    No unit has a larger chi2 than its pose, and none is less probable at it than a single number: few poses are left.
    """
    chi2 = np.nansum(deletions.blocks * deletions.pull, axis=1)
    out = deletions.exceedance(chi2, deletions.used.max(axis=1).astype(np.int64)) < level
    if out.any():
        some = replace(
            deletions, used=deletions.used[out], precision=deletions.precision[out], pull=deletions.pull[out]
        )
        out[out] = improbable(some, level)
    return out


@dataclass(frozen=True, eq=False)
class _Others:
    """One pose as all others predict it: its residuals (R,) and their covariance (R, R)."""

    done: _Pass
    used: Bools
    off: Array
    covariance: Array
    parts: Ints

    def without(self, dropped: Bools) -> Deletion:
        used = self.used & ~dropped
        rows = np.flatnonzero(used[0])
        precision = np.zeros((1, *self.covariance.shape))
        precision[0][np.ix_(rows, rows)] = np.linalg.inv(self.covariance[np.ix_(rows, rows)])
        return self.done.judged(Deletion(used, precision, precision @ self.off, 0.0, 0.0, self.parts))

    def tuned(self, dropped: Bools) -> _Others:
        return self


def _others(done: _Pass, pose: Blocks, lost: Bools) -> _Others:
    """The numbers of a pose that took part leave the fit by Woodbury's formula:

    C' = C + C_m (S_m - C_mm)^-1 C_m^T,  r' = r + C_m (S_m - C_mm)^-1 r_m,  C = J H^-1 J^T                 (others)
    """
    post = done.at.posterior
    noise = noise_covariance(pose, post.log_scales)[0] / pose.power
    spread = post.half @ pose.jacobian[0].T
    cov = spread.T @ spread
    off = np.where(pose.used[0], pose.readings[0] - pose.jacobian[0] @ done.theta, 0.0)
    mine = np.flatnonzero(pose.used[0] & ~lost)
    if len(mine) and not done.first:
        gain = np.linalg.solve(noise[np.ix_(mine, mine)] - cov[np.ix_(mine, mine)], cov[mine]).T
        off, cov = off + gain @ off[mine], cov + gain @ cov[mine]
    return _Others(done, pose.used, off, noise + cov, pose.parts)
