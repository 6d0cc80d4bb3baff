"""Is the side of every gap known?  Three ways in which it is not.

No force      the force on the play is zero within rounding, or below its friction threshold.
Either side   with the gap closed the other way the force would hold it there: both are equilibria.
Floating      the force changes its sign across the gap: the play hangs free inside, at zero force.

The last two are judged by the stiffness that the rest of the robot shows to the play: moving it by t changes its
force by t (D (I - k D)^-1)_ii.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import RobotModel
from elastocal.model.statics import sweep
from elastocal.model.statics.flexibility import Flexibility
from elastocal.model.statics.forces import Forces, evaluate, force_noise, placed_loads, placed_wrenches
from elastocal.model.statics.newton import Batch, forces_at, newton, start
from elastocal.model.statics.state import rest_values, state_at
from elastocal.spatial.entries import Array, Bools


def undetermined(
    model: RobotModel, flex: Flexibility, q: Array, theta: Array, applied: Sequence[AppliedWrenches]
) -> Bools:
    """No force, or either side possible (N,), at states that were found."""
    out = np.zeros(theta.shape[1], dtype=bool)
    if not flex.plays:
        return out
    known = np.where(np.isfinite(theta), theta, 0.0)
    state, values = state_at(model, flex, q, known)
    placed = placed_loads(model, state) + placed_wrenches(model, state, applied)
    forces = evaluate(model, flex, state, placed, values, rest_values(model, q))
    noise = force_noise(model, flex, forces, placed)
    played, _ = flex.play(forces.q)
    for coordinate, at in flex.plays:
        unknown = coordinate.undetermined(forces.q[list(at)], noise[list(at)])
        if unknown is not None:
            out |= unknown
        if len(at) == 1:
            i = at[0]
            other = forces.q[i] - 2 * played[i] * _resistance(flex, forces, i)
            out |= forces.q[i] * other < 0
    return out


def floating(model: RobotModel, flex: Flexibility, batch: Batch) -> Bools:
    """Plays on single joints that hang free inside their gap (N,)."""
    size = batch.theta.shape[1]
    out = np.zeros(size, dtype=bool)
    if not flex.plays:
        return out
    free = replace(flex, plays=())
    theta, force, _, done = newton(model, free, Batch(batch.q, batch.applied, start(free, size)))
    forces = forces_at(model, free, batch.q, np.where(np.isfinite(theta), theta, 0.0), batch.applied)
    for coordinate, at in flex.plays:
        if len(at) == 1:
            i = at[0]
            played = coordinate.play(np.ones((1, size)))
            assert played is not None
            resistance = _resistance(free, forces, i)
            out |= done & (resistance < 0) & (np.abs(force[i]) <= np.abs(played[0][0] * resistance))
    return out


def _resistance(flex: Flexibility, forces: Forces, i: int) -> Array:
    """Change of force i per unit of play at i, the rest of the robot yielding (N,)."""
    unit = np.zeros((flex.n, 1, forces.q.shape[1]))
    unit[i] = 1.0
    return np.asarray(sweep.solve(replace(flex, plays=()), forces, unit)[1][i, 0])
