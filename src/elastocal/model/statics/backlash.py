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

from elastocal.model.statics import sweep
from elastocal.model.statics.flexibility import Flexibility
from elastocal.model.statics.forces import Forces
from elastocal.model.statics.found import FoundStates
from elastocal.model.statics.newton import Batch, forces_at, newton_equilibrium
from elastocal.spatial.entries import Array, Bools


def undetermined(found: FoundStates) -> Bools:
    """No force, or either side possible (N,), at states that were found."""
    out = np.zeros(found.size, dtype=bool)
    if not found.flex.plays:
        return out
    force, noise = found.forces.q, found.noise
    for coordinate, at in found.flex.plays:
        unknown = coordinate.undetermined(force[list(at)], noise[list(at)])
        if unknown is not None:
            out |= unknown
    single = _single(found.flex)
    other = force[single] - 2 * found.played[0][single] * _resistance(found.flex, found.forces, single)
    return np.asarray(out | np.any(force[single] * other < 0, axis=0))


def floating(flex: Flexibility, batch: Batch) -> Bools:
    """Plays on single joints that hang free inside their gap (N,)."""
    size = batch.theta.shape[1]
    if not flex.plays:
        return np.zeros(size, dtype=bool)
    free = replace(flex, plays=())
    at = batch.posture
    theta, force, _, done = newton_equilibrium(free, Batch(at, batch.applied, at.start(free.dofs)))
    forces = forces_at(free, at, np.where(np.isfinite(theta), theta, 0.0), batch.applied)
    single = _single(flex)
    played, resistance = flex.play(np.ones_like(theta))[0][single], _resistance(free, forces, single)
    hangs = (resistance < 0) & (np.abs(force[single]) <= np.abs(played * resistance))
    return np.asarray(done & np.any(hangs, axis=0))


def _single(flex: Flexibility) -> list[int]:
    """Numbers of the coordinates with a play of their own."""
    return [at[0] for _, at in flex.plays if len(at) == 1]


def _resistance(flex: Flexibility, forces: Forces, at: Sequence[int]) -> Array:
    """Change of each force ``at`` per unit of play there, the rest of the robot yielding (len(at), N)."""
    unit = np.zeros((flex.n, len(at), forces.q.shape[1]))
    each = np.arange(len(at))
    unit[at, each] = 1.0
    return np.asarray(sweep.solve(flex, forces, unit)[1][at, each])
