"""One step of Newton's method for a contact without friction: bends theta and pressing force lambda together.

    theta = c + k Q + play(Q),   Q = Q_loads + J^T f,   f = lambda n(x),   phi(x) = 0,   x = x(theta) the tip

With A = I - (k + play') D the tangent under a force that keeps its direction, a change df of the contact force
moves the tip by dx = u + C df:

    u = J A^-1 r  (r the residual of theta),     C = J A^-1 (k + play') J^T, the tip's compliance (3 x 3).

The normal turns with the tip, df = lambda H dx + n dlambda, and the tip stays on the surface, n . dx = -phi.  So

    (I - lambda C H) dx = u + C n dlambda,    n . dx = -phi

are four equations for dx and dlambda (``contact_lever``), whatever the number of joints, and
dtheta = A^-1 (r + (k + play') J^T df): four right-hand sides of one sweep.  Further ones tell whether a gap could as
well be closed on its other side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from elastocal.model.loads.resultant import Resultant
from elastocal.model.posture import Posture
from elastocal.model.statics import sweep
from elastocal.model.statics.contact_lever import Lever
from elastocal.model.statics.flexibility import Flexibility
from elastocal.model.statics.forces import Forces, evaluate, force_noise, placed_loads
from elastocal.model.statics.state import state_at
from elastocal.model.surfaces.surface import Near
from elastocal.model.surfaces.touches import Touches
from elastocal.spatial import batch
from elastocal.spatial.entries import Array, Bools, Ints

RELEASED = 1e-9
"""N: a contact pressed less than this, with its tip clear of the surface, has let go."""

SMALLEST_SHARE = 1e-3  # of lambda that a step leaves


@dataclass(frozen=True, eq=False)
class Pressed:
    """Configurations, the objects, and where the search is: theta (n, N) and lambda (N,)."""

    posture: Posture
    touches: Touches
    theta: Array
    size: Array

    def take(self, rows: Ints | Bools) -> Pressed:
        return Pressed(self.posture.take(rows), self.touches.rows(rows), self.theta[:, rows], self.size[rows])


class Grip(NamedTuple):
    """One state: forces on the chain, the surface near the tip, the tip's Jacobian (3, n, N), all loads."""

    forces: Forces
    near: Near
    jacobian: Array
    point: Array
    noise: Array | None


def grip(flex: Flexibility, at: Pressed, noise: bool = False) -> Grip:
    model = at.posture.model
    state, values = state_at(flex, at.posture, at.theta)
    frame = at.touches.frame
    point = state.origin(frame)
    near = at.touches.near(point)
    force = [f if f.any() else 0.0 for f in near.normal * at.size]
    load = Resultant.dead(state.pose(frame)[1], (force[0], force[1], force[2]))
    placed = [*placed_loads(model, state), (model.chain.level(frame), load)]
    forces = evaluate(flex, at.posture, state, placed, values)
    jacobian = np.empty((3, flex.n, state.size))
    state.jacobian_into(frame, flex.dofs, jacobian)
    return Grip(forces, near, jacobian, point, force_noise(model, flex, forces, placed) if noise else None)


class Step(NamedTuple):
    """Changes of theta (n, N) and lambda (N,); what the state says of itself on the way.

    ``cut``: lambda would have become negative; ``slips``: not stable; ``either``: a gap would be held on its other
    side too; ``sides`` (joints with play, N): the side of each gap.
    """

    theta: Array
    size: Array
    cut: Bools
    slips: Bools
    either: Bools
    sides: Array


def newton_step(flex: Flexibility, at: Pressed, held: Grip) -> Step:
    forces, near, jacobian = held.forces, held.near, held.jacobian
    count = len(at.size)
    residual = at.posture.unloaded(flex.dofs) + flex.linear(forces.q) - at.theta
    back = jacobian.swapaxes(0, 1)
    give = flex.linear(back)
    gaps = [a[0] for _, a in flex.plays if len(a) == 1]
    units = np.zeros((flex.n, len(gaps), count))
    units[gaps, range(len(gaps))] = 1.0
    tangent, played = None, np.zeros_like(residual)
    if flex.plays:
        played, tangent = flex.play(forces.q)
        residual += played
        give += np.einsum("ijn,jkn->ikn", tangent, back)
    solved, felt = sweep.solve(flex, forces, np.concatenate([residual[:, None], give, units], axis=1), tangent)
    with np.errstate(all="ignore"):  # a tip that cannot yield has no finite step, and is not moved
        moved = batch.matmul(jacobian, solved)
        lever = Lever.of(near, at.size, moved[:, 1:4])
        wanted = lever.size(moved[:, 0], -near.distance)
        floor = np.maximum(SMALLEST_SHARE * at.size, 0.1 * RELEASED) - at.size
        size = np.maximum(wanted, floor)
        push = lever.force(moved[:, 0], size)
        theta = solved[:, 0] + np.einsum("ikn,kn->in", solved[:, 1:4], push)
        resists = _resistance(gaps, lever, moved[:, 4:], felt, back)
    sides = forces.q[gaps]
    either = np.any(sides * (sides - 2 * played[gaps] * resists) < 0, axis=0)
    return Step(theta, size, wanted < floor, lever.slips(), either, np.sign(sides))


def _resistance(gaps: list[int], lever: Lever, free: Array, felt: Array, back: Array) -> Array:
    """Change of the force in each gap per unit of its own play, the contact kept and the rest yielding (gaps, N)."""
    push = lever.force(free, lever.size(free, np.zeros(free.shape[1:])))
    per_force = felt[gaps, 1:4] + back[gaps]
    own = felt[gaps, range(4, 4 + len(gaps))]
    return np.asarray(own + np.einsum("jkn,kjn->jn", per_force, push))
