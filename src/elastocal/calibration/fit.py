"""One model fitted to the states of a campaign: Gauss-Newton on the exact problem, scales by evidence.

At every point the readings are linearised and the linear problem of ``solve`` is solved; the scales of priors and of
noise are chosen where the linearisation has settled, and chosen again after it has moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from elastocal.calibration.placing import Placing
from elastocal.calibration.sight import Sight
from elastocal.calibration.task import KNOWN, Task, assemble
from elastocal.model.robot import Robot
from elastocal.solve.blocks import Blocks, Group
from elastocal.solve.deletion import Deletion, deletion
from elastocal.solve.evidence import Posterior, objective, posterior, prior_precision
from elastocal.solve.scales import GAIN, ROUGHLY, largest_evidence
from elastocal.spatial.entries import Array, Bools
from elastocal.values import dataclass

LONGEST = 1.5
"""Longest step of a logarithm."""
HELD = 1e-4
"""Prior sd of a parameter at its bound, as a share of its own."""
STEPS = 25
NEAR = 0.3
"""Step in standard deviations below which the scales are chosen."""
SETTLED = 3e-4
"""The step expected after the next, at which the search ends with the next: each is shorter than the one before by
about the same factor, or by a growing one."""
ROUGH = 0.03
"""The same for searches that only start others, or weigh a model that is tried."""
MIXED = 4
"""Steps that a further one is mixed with."""
ROUNDING = 0.02
"""The same below which a step that does not lower the objective is a matter of rounding."""
FAR = 1.0
"""The same from which on a step that backlash does not let go is no minimum, whatever stopped it."""
LINEAR = 1e-3
"""What may be left of a step for the linear problem before it to count as that after it."""


@dataclass(frozen=True, eq=False)
class Fit:
    """Unknowns ``x`` of the robot, ``placing``, and the posterior of the linear problem there.

    Parameters at their bound are fixed there in ``posterior``; in ``unbounded`` they are not, which is how well they
    are known.
    """

    task: Task
    x: Array
    placing: Placing
    posterior: Posterior
    unbounded: Posterior
    evidence: float
    steps: int
    converged: bool
    kink: float = 0.0
    """Length in standard deviations of a last step that backlash does not let go: no minimum of smooth slopes."""
    linearised: tuple[Array, Placing] | None = None
    """Where ``posterior`` is linearised, less than a step before: the tool's states are remembered there."""
    rate: float = 1.0
    """What was left of the last step, as a share of it: how far from linear the problem is nearby."""

    @property
    def start(self) -> tuple[Placing, Array]:
        """Where a search for the same unknowns begins."""
        x, placing = self.linearised or (self.x, self.placing)
        return placing, x

    def blocks(self, task: Task) -> Blocks:
        """The linear problem at ``start`` of a task from which other readings are dropped; what was not determined
        there tells nothing."""
        known = self.unbounded.blocks
        determined = known.used | known.jacobian.any(axis=2) | (known.readings != 0)
        return replace(known, used=task.sight.fold(task.sight.used & ~task.dropped) & determined)

    @cached_property
    def values(self) -> Array:
        return self.task.values(self.x)

    @cached_property
    def robot(self) -> Robot:
        named = dict(zip(self.task.names, self.values.tolist(), strict=True))
        return self.task.robot.with_estimates(named) if named else self.task.robot

    @cached_property
    def covariance(self) -> Array:
        """Of parameters, stations, markers and the tool's turn; compliances with the share by which they vary."""
        s, p = self.task.sight.states, len(self.x)
        unit = KNOWN**2 * np.eye(p + 6 * len(s.stations) + 3 * s.points + 3)
        size, own = np.ones(len(unit)), len(self.posterior.mean)
        unit[:own, :own] = self.unbounded.covariance
        size[:p] = np.where(self.task.logs, self.values, 1.0)
        for name, part in self.task.shares.items():
            unit[:p, :p] += self.scale(name) ** 2 * (part @ part.T)
        return np.asarray(unit * size * size[:, None])

    def scale(self, name: str) -> float:
        """Of a part of the noise; 0 where the fit has none of that name."""
        post = self.posterior
        first = len(post.blocks.groups)
        names = [part.scale.name for part in post.blocks.noise]
        return float(np.exp(post.log_scales[first + names.index(name)])) if name in names else 0.0

    @cached_property
    def deletion(self) -> Deletion:
        return deletion(self.posterior)

    @cached_property
    def left_out(self) -> Array:
        """Residuals (M, rows) of every state predicted without its pose; nan where not read."""
        return self.task.sight.unfold(self.deletion.blocks)

    def loo_lengths(self) -> Array:
        """Leave-one-pose-out distances in m, one for every point that was read (deflections, distances too)."""
        return distances(self.task.sight, self.left_out)


def distances(sight: Sight, off: Array) -> Array:
    """Distances (M, points) of residuals (M, rows), of the coordinates that were read; nan where none was."""
    out = []
    for key, part in sight.sections.items():
        if key == "orientation":
            continue
        size = 1 if key == "distance" else 3
        each = off[:, part].reshape(len(off), -1, size)
        read = np.isfinite(each).any(axis=2)
        out.append(np.where(read, np.sqrt(np.nansum(each**2, axis=2)), np.nan))
    return np.concatenate(out, axis=1) if out else np.linalg.norm(off, axis=1)[:, None]


def fit(
    task: Task,
    placing: Placing,
    x: Array | None = None,
    log_scales: Array | None = None,
    near: Sequence[Posterior] = (),
    settled: float = SETTLED,
    blocks: Blocks | None = None,
    rate: float = 1.0,
) -> Fit:
    """Fit from a start; ``log_scales`` of an earlier fit of the same task, or those of fits ``near``, warm the search.

    ``blocks`` is the linear problem at the start, where it is known already, ``rate`` what fits nearby had left of a
    step: where that is next to nothing, the problem is linear, and one step is all.
    Backlash makes the objective jump where a force changes its sign: a search that no step takes further has arrived
    at such a kink.  Where there is none, it has not converged, unless the step is lost in rounding.  Scales are not
    chosen at a linearisation that is still far off: with backlash they would be of another valley.  The tool's states
    are moved along their slopes until that brings no more; the last steps of a search that goes to its end are exact.
    """
    at = np.zeros(len(task.names)) if x is None else x
    blocks = assemble(task, at, placing, False) if blocks is None else blocks
    scales, fresh = near_scales(blocks, near)
    scales = scales if log_scales is None else log_scales
    chosen, converged, step, kink, before = 0, False, 0, 0.0, np.inf
    exact, gain, linear = (False, GAIN, 0.0) if settled < ROUGH else (False, ROUGHLY, LINEAR)
    steps: list[tuple[Array, Array]] = []
    origin = at, placing
    for step in range(1, STEPS + 1):
        post = posterior(blocks, scales, next((n for n in near if n.whitened.serves(blocks, scales)), None))
        change, size = full_step(task, post, at)
        rate = rate if before == np.inf else min(1.0, size / max(before, 1e-300))
        chosen = 2 if chosen == 1 and size < linear else chosen
        if chosen < 2 and (size < NEAR or (step > 2 and chosen == 0)):
            first = chosen == 0
            mine = fresh if first and log_scales is None else None
            bounded = _at_bounds(task, blocks, at)
            best = largest_evidence(bounded, scales, revive=first, fresh=mine, gain=gain, known=post)
            chosen, scales = chosen + 1, best.log_scales
            post = best.posterior if bounded is blocks else posterior(blocks, scales, best.posterior)
            change, size = full_step(task, post, at)
            chosen = 2 if size * rate < linear else chosen
        if chosen == 2 and size * min(1.0, size / max(before, settled)) < settled:
            if not exact and settled < ROUGH:
                exact = True
                if not task.solved(at):
                    blocks, steps = assemble(task, at, placing), []
                    continue
            at, placing, converged = task.moved(at, change[: len(at)]), placing.moved(change[len(at) :]), True
            break
        aim = _mixed(post, change, steps)
        there = ahead(task, at, placing, blocks, aim, post if chosen == 2 else None, exact)
        if there is None and not exact:
            blocks, steps, exact = assemble(task, at, placing), [], True
            continue
        if there is None:
            kink = size if size > ROUNDING and len(task.backlash) else 0.0
            converged = chosen == 2 and (size <= ROUNDING or 0 < kink < FAR)
            break
        at, placing, blocks, share = there
        origin = at, placing
        steps = [*steps[1 - MIXED :], (change, share * aim)] if chosen == 2 else []
        before = size
    free = post if post.blocks is blocks else posterior(blocks, scales, post)
    bounded = _at_bounds(task, blocks, at)
    post = free if bounded is blocks else posterior(bounded, scales, free)
    value = post.evidence + blocks.log_penalty(scales)[0]
    return Fit(task, at, placing, post, free, value, step, converged, kink, origin, rate)


def _mixed(post: Posterior, change: Array, steps: list[tuple[Array, Array]]) -> Array:
    """Anderson's mixing of a step with those before, (asked for, taken), where these leave a linear rest.

    The noise depends on where it is linearised, which a Gauss-Newton step does not know of: alone they become shorter
    by a third, or swing.
    """
    if not steps:
        return change
    asked = np.stack([*(a for a, _ in steps), change], axis=1)
    falls = np.diff(asked, axis=1)
    parts = np.linalg.lstsq(post.factor.T @ falls, post.factor.T @ change, rcond=1e-6)[0]
    return np.asarray(change - (np.stack([t for _, t in steps], axis=1) + falls) @ parts)


def near_scales(blocks: Blocks, near: Sequence[Posterior]) -> tuple[Array, Bools]:
    """Scales to start from: those of fits nearby by their names, start values of others; and which are the others."""
    known = {s: v for n in reversed(near) for s, v in zip(n.blocks.scales, n.log_scales.tolist(), strict=True)}
    fresh = np.array([s not in known for s in blocks.scales])
    return np.array([known.get(s, at) for s, at in zip(blocks.scales, blocks.start.tolist(), strict=True)]), fresh


def ahead(
    task: Task,
    x: Array,
    placing: Placing,
    blocks: Blocks,
    change: Array,
    post: Posterior | None = None,
    exact: bool = False,
) -> tuple[Array, Placing, Blocks, float] | None:
    """The point that a step leads to, and the share of the step that was taken.

    It is halved while it takes states of readings into what has no determined state; with the posterior ``post`` here
    also until the objective with its noise falls.  None where no step will do.
    """
    p, extra = len(x), np.zeros(task.sight.extra)
    now = np.inf if post is None else objective(post, blocks, np.concatenate([x, extra]))
    for factor in (1.0, 0.5, 0.25, 0.125):
        at, place = task.moved(x, factor * change[:p]), placing.moved(factor * change[p:])
        there = assemble(task, at, place, exact)
        lost = there.count < blocks.count
        if not lost and (post is None or objective(post, there, np.concatenate([at, extra])) < now):
            return at, place, there, factor
    return None


def full_step(task: Task, post: Posterior, x: Array) -> tuple[Array, float]:
    """Change of all unknowns, and its size in standard deviations."""
    p = len(task.names)
    aim = _allowed(task, post)
    step = aim - np.concatenate([x, np.zeros(len(aim) - p)])
    if task.logs.any() and np.array_equal(aim, post.mean):
        step = _curved(task, post, step)
    longest = float(np.max(np.abs(step[:p][task.logs]), initial=0.0))
    step = step * min(1.0, LONGEST / longest) if longest else step
    return step, float(np.linalg.norm(post.factor.T @ step)) / np.sqrt(max(1, len(step)))


def _curved(task: Task, post: Posterior, step: Array) -> Array:
    """Newton's step: readings are linear in a compliance, so their second derivative by its logarithm is the first."""
    h = post.factor @ post.factor.T
    pull = h @ step
    prior, _ = prior_precision(post.blocks, post.log_scales)
    change = post.mean - step - post.blocks.mean
    curvature = np.zeros(len(step))
    logs = np.flatnonzero(task.logs)
    curvature[logs] = np.minimum((pull + prior @ change)[logs], 0.8 * np.diag(h)[logs])
    try:
        np.linalg.cholesky(h - np.diag(curvature))
    except np.linalg.LinAlgError:
        return step
    return np.asarray(np.linalg.solve(h - np.diag(curvature), pull))


def _allowed(task: Task, post: Posterior) -> Array:
    """The posterior's mean; parameters that would fall below zero are set to zero and the others solved again."""
    p = len(task.names)
    mean = post.mean
    held = np.zeros(p, dtype=bool)
    for _ in range(3):
        below = task.positive & (task.file_values + mean[:p] < -1e-15) & ~held
        if not below.any():
            break
        held |= below
        fixed, free = np.flatnonzero(held), np.flatnonzero(~np.concatenate([held, np.zeros(len(mean) - p, dtype=bool)]))
        target = -task.file_values[held]
        h = post.factor @ post.factor.T
        mean = mean.copy()
        mean[free] = post.mean[free] - np.linalg.solve(
            h[np.ix_(free, free)], h[np.ix_(free, fixed)] @ (target - post.mean[fixed])
        )
        mean[fixed] = target
    return mean


def _at_bounds(task: Task, blocks: Blocks, x: Array) -> Blocks:
    """The same problem with the parameters fixed that are zero and may not fall below."""
    held = task.positive & ~task.logs & (task.file_values + x <= 1e-15)
    if not held.any():
        return blocks
    groups, every = [], np.zeros(blocks.shape[2], dtype=bool)
    every[: len(held)] = held
    for g in blocks.groups:
        mine = every[g.columns]
        if mine.any():
            mean = np.zeros(len(mine)) if g.mean is None else g.mean.copy()
            mean[mine] = -task.file_values[g.columns[mine]]
            precision = np.eye(len(mine)) if g.precision is None else g.precision.copy()
            precision[mine], precision[:, mine] = 0.0, 0.0
            sizes = np.abs(task.file_values[g.columns[mine]]) + g.scale.start / np.sqrt(_typical(g, mine))
            precision[mine, mine] = (g.scale.start / (HELD * sizes)) ** 2
            g = replace(g, mean=mean, precision=precision)
        groups.append(g)
    return replace(blocks, groups=tuple(groups))


def _typical(g: Group, mine: Bools) -> Array:
    return np.ones(int(mine.sum())) if g.precision is None else np.asarray(np.diag(g.precision)[mine])
