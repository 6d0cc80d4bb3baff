"""Newton's method for theta = c(q) + k Q(q, theta) + backlash(Q), with the analytic tangent I - (k + backlash') D.

Each configuration stops on its own when its next scaled step would be below 1e-12 (rad, and m per m of the robot's
length), so that its result does not depend on its neighbours in the batch.  Near the solution each step is shorter
than the one before by a growing factor, so that the next is at most size * (size / size before).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from elastocal.model.chain import ChainState
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.posture import Posture
from elastocal.model.statics import sweep
from elastocal.model.statics.flexibility import Flexibility
from elastocal.model.statics.forces import (
    Forces,
    Placed,
    evaluate,
    force_noise,
    placed_loads,
    placed_wrenches,
    state_at,
)
from elastocal.spatial.entries import Array, Bools, Entry, Ints

STEP_TOLERANCE = 1e-12
MAX_STEPS = 40
LONGEST_STEP = 0.3  # scaled: beyond it the tangent says little
_COMPRESS_AFTER = 6


@dataclass(frozen=True, eq=False)
class States:
    """Configurations, theta (m, N) of the flexible coordinates (nan: not known) and what is applied.

    Where everything is then, and what pushes there, is worked out once; of no meaning where theta is not known.
    """

    flex: Flexibility
    posture: Posture
    applied: tuple[AppliedWrenches, ...]
    theta: Array

    @classmethod
    def unloaded(cls, flex: Flexibility, posture: Posture, applied: tuple[AppliedWrenches, ...] = ()) -> States:
        """Where a search starts: theta without load."""
        return cls(flex, posture, applied, posture.start(flex.dofs))

    @property
    def size(self) -> int:
        return self.posture.size

    def take(self, rows: Bools | Ints) -> States:
        applied = tuple(w.picked(rows) for w in self.applied)
        return States(self.flex, self.posture.take(rows), applied, self.theta[:, rows])

    @cached_property
    def _at(self) -> tuple[ChainState, list[Entry]]:
        known = np.isfinite(self.theta)
        return state_at(self.flex, self.posture, self.theta if known.all() else np.where(known, self.theta, 0.0))

    @cached_property
    def _placed(self) -> list[Placed]:
        model = self.posture.model
        return placed_loads(model, self._at[0]) + placed_wrenches(model, self._at[0], self.applied)

    @cached_property
    def forces(self) -> Forces:
        """All forces and their tangent."""
        state, values = self._at
        return evaluate(self.flex, self.posture, state, self._placed, values)

    @cached_property
    def noise(self) -> Array:
        """How large rounding may make forces that should vanish (m, N)."""
        return force_noise(self.posture.model, self.flex, self.forces, self._placed)

    @cached_property
    def backlash(self) -> tuple[Array, Array]:
        """What backlash adds to theta (m, N) and to the compliance (m, m, N)."""
        return self.flex.backlash(self.forces.q)


def forces_at(flex: Flexibility, at: Posture, theta: Array, applied: Sequence[AppliedWrenches]) -> Forces:
    """All forces and their tangent at theta (m, N)."""
    return States(flex, at, tuple(applied), theta).forces


def newton_equilibrium(start: States) -> tuple[Array, Array, Ints, Bools]:
    """theta and Q (n, N), steps taken and whether each converged."""
    flex, total = start.flex, start.size
    theta, force = start.theta.copy(), np.zeros_like(start.theta)
    steps, before = np.zeros(total, dtype=np.int64), np.zeros(total)
    done = np.zeros(total, dtype=bool)
    if flex.n == 0:
        return theta, force, steps, np.ones(total, dtype=bool)
    rows, active = np.arange(total), start
    scale = np.where(flex.rotates, 1.0, 1.0 / start.posture.model.size)[:, None]
    for count in range(1, MAX_STEPS + 1):
        step, change = _step(active)
        size = np.max(np.abs(step) * scale, axis=0)
        moving = ~done[rows] & np.isfinite(size)
        factor = np.where(moving, np.minimum(1.0, LONGEST_STEP / np.maximum(size, LONGEST_STEP)), 0.0)
        now = active.forces.q
        active = replace(active, theta=active.theta + np.where(moving, step, 0.0) * factor)
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


def _step(at: States) -> tuple[Array, Array]:
    """Newton's step, and how it changes the forces."""
    flex, forces = at.flex, at.forces
    residual = at.posture.unloaded(flex.dofs) + flex.linear(forces.q) - at.theta
    tangent = None
    if flex.backlashes:
        shift, tangent = at.backlash
        residual += shift
    step, change = sweep.solve(flex, forces, residual[:, None], tangent)
    return step[:, 0], change[:, 0]
