"""Newton's method for theta = c(q) + k Q(q, theta) + play(Q), with the analytic tangent I - (k + play') D.

Each configuration stops on its own when its next scaled step would be below 1e-12 (rad, and m per m of the robot's
length), so that its result does not depend on its neighbours in the batch.  Near the solution each step is shorter
than the one before by a growing factor, so that the next is at most size * (size / size before).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.posture import Posture
from elastocal.model.statics import sweep
from elastocal.model.statics.flexibility import Flexibility
from elastocal.model.statics.forces import Forces, evaluate, placed_loads, placed_wrenches
from elastocal.model.statics.state import state_at
from elastocal.spatial.entries import Array, Bools, Ints

STEP_TOLERANCE = 1e-12
MAX_STEPS = 40
LONGEST_STEP = 0.3  # scaled: beyond it the tangent says little
_COMPRESS_AFTER = 6


@dataclass
class Batch:
    """The configurations of one chunk still being solved."""

    posture: Posture
    applied: tuple[AppliedWrenches, ...]
    theta: Array

    def take(self, rows: Bools | Ints) -> Batch:
        return Batch(self.posture.take(rows), tuple(w.picked(rows) for w in self.applied), self.theta[:, rows])


def forces_at(flex: Flexibility, at: Posture, theta: Array, applied: Sequence[AppliedWrenches]) -> Forces:
    state, values = state_at(flex, at, theta)
    placed = placed_loads(at.model, state) + placed_wrenches(at.model, state, applied)
    return evaluate(flex, at, state, placed, values)


def newton_equilibrium(flex: Flexibility, batch: Batch) -> tuple[Array, Array, Ints, Bools]:
    """theta and Q (n, N), steps taken and whether each converged."""
    total = batch.theta.shape[1]
    theta, force = batch.theta.copy(), np.zeros_like(batch.theta)
    steps, before = np.zeros(total, dtype=np.int64), np.zeros(total)
    done = np.zeros(total, dtype=bool)
    if flex.n == 0:
        return theta, force, steps, np.ones(total, dtype=bool)
    rows = np.arange(total)
    active = batch
    scale = np.where(flex.rotates, 1.0, 1.0 / batch.posture.model.size)[:, None]
    for count in range(1, MAX_STEPS + 1):
        step, now, change = _step(flex, active)
        size = np.max(np.abs(step) * scale, axis=0)
        moving = ~done[rows] & np.isfinite(size)
        factor = np.where(moving, np.minimum(1.0, LONGEST_STEP / np.maximum(size, LONGEST_STEP)), 0.0)
        active.theta = active.theta + np.where(moving, step, 0.0) * factor
        theta[:, rows] = active.theta
        force[:, rows[moving]] = (now + change * factor)[:, moving]
        steps[rows[moving]] = count
        done[rows] |= moving & (size * size <= STEP_TOLERANCE * np.maximum(before[rows], size))
        before[rows] = size
        left = ~done[rows] & np.isfinite(size)
        if not left.any():
            break
        if count >= _COMPRESS_AFTER and left.sum() < 0.5 * len(rows):
            rows, active = rows[left], active.take(left)
    return theta, force, steps, done


def _step(flex: Flexibility, batch: Batch) -> tuple[Array, Array, Array]:
    """Newton's step, the forces at the state it starts from, and how the step changes them."""
    forces = forces_at(flex, batch.posture, batch.theta, batch.applied)
    residual = batch.posture.unloaded(flex.dofs) + flex.linear(forces.q) - batch.theta
    tangent = None
    if flex.plays:
        played, tangent = flex.play(forces.q)
        residual += played
    step, change = sweep.solve(flex, forces, residual[:, None], tangent)
    return step[:, 0], forces.q, change[:, 0]
