"""Newton's method for a contact without friction: bends theta and pressing force lambda together.

    theta = c + k Q + play(Q),   Q = Q_loads + J^T f,   f = lambda n(x),   phi(x) = 0,   x = x(theta) the tip

With A = I - (k + play') D the tangent under a force that keeps its direction, a change df of the contact force
moves the tip by dx = u + C df:

    u = J A^-1 r  (r the residual of theta),     C = J A^-1 (k + play') J^T, the tip's compliance (3 x 3).

The normal turns with the tip, df = lambda H dx + n dlambda, and the tip stays on the surface, n . dx = -phi.  So

    (I - lambda C H) dx = u + C n dlambda,    n . dx = -phi

are four equations for dx and dlambda, whatever the number of joints, and dtheta = A^-1 (r + (k + play') J^T df): four
right-hand sides of one sweep.  lambda stays positive: a step that would make the object pull is cut.  Where it
shrinks to nothing and the tip is clear of the surface, the contact is released.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from elastocal.model.loads.resultant import Resultant
from elastocal.model.robot import RobotModel
from elastocal.model.statics import sweep
from elastocal.model.statics.contact_lever import Lever
from elastocal.model.statics.flexibility import Flexibility
from elastocal.model.statics.forces import Forces, evaluate, force_noise, placed_loads
from elastocal.model.statics.newton import LONGEST_STEP
from elastocal.model.statics.state import rest_values, state_at
from elastocal.model.surfaces.surface import Near
from elastocal.model.surfaces.touches import Touches
from elastocal.spatial import batch
from elastocal.spatial.entries import Array, Bools, Ints

SETTLED = 1e-8
"""A full step this small (rad, and m per m of the robot's length) leaves an error of its square: below rounding."""

RELEASED = 1e-9
"""N: a contact pressed less than this, with its tip clear of the surface, has let go."""

MAX_STEPS = 40
LARGEST_TURN = 0.5  # rad by which the normal may turn in a step
SMALLEST_SHARE = 1e-3  # of lambda that a step leaves
CLEAR = 1e-6  # a step this small shows where the tip is without force


@dataclass(frozen=True, eq=False)
class Pressed:
    """Joint values (n, N), the objects, and where the search is: theta (n, N) and lambda (N,)."""

    q: Array
    touches: Touches
    theta: Array
    size: Array

    def take(self, rows: Ints | Bools) -> Pressed:
        return Pressed(self.q[:, rows], self.touches.rows(rows), self.theta[:, rows], self.size[rows])


@dataclass(frozen=True, eq=False)
class Found:
    """Where the search ended; ``wavers``: the sides of gaps still changed in its last step; ``slips``: not stable."""

    theta: Array
    size: Array
    steps: Ints
    done: Bools
    released: Bools
    wavers: Bools
    slips: Bools


class Grip(NamedTuple):
    """One state: forces on the chain, the surface near the tip, the tip's Jacobian (3, n, N), all loads."""

    forces: Forces
    near: Near
    jacobian: Array
    point: Array
    noise: Array | None


def grip(model: RobotModel, flex: Flexibility, at: Pressed, noise: bool = False) -> Grip:
    state, values = state_at(model, flex, at.q, at.theta)
    frame = at.touches.frame
    point = state.origin(frame)
    near = at.touches.near(point)
    force = [f if f.any() else 0.0 for f in near.normal * at.size]
    load = Resultant.dead(state.pose(frame)[1], (force[0], force[1], force[2]))
    placed = [*placed_loads(model, state), (model.chain.level(frame), load)]
    forces = evaluate(model, flex, state, placed, values, rest_values(model, at.q))
    jacobian = np.empty((3, flex.n, state.size))
    state.jacobian_into(frame, flex.dofs, jacobian)
    return Grip(forces, near, jacobian, point, force_noise(model, flex, forces, placed) if noise else None)


class _Step(NamedTuple):
    theta: Array
    size: Array
    cut: Bools
    slips: Bools
    sides: Array


def press(model: RobotModel, flex: Flexibility, start: Pressed) -> Found:
    """The contact of every row, each stopping by its own step."""
    total = len(start.size)
    theta, size = start.theta.copy(), start.size.copy()
    steps = np.zeros(total, dtype=np.int64)
    done, released, wavers, slips = (np.zeros(total, dtype=bool) for _ in range(4))
    scale = np.where(flex.rotates, 1.0, 1.0 / model.size)[:, None]
    rows, active = np.arange(total), start
    before: Array | None = None
    for count in range(1, MAX_STEPS + 1):
        held = grip(model, flex, active)
        step = _step(flex, active, held)
        length = np.max(np.abs(step.theta) * scale, axis=0, initial=0.0)
        moving = np.isfinite(length) & np.isfinite(step.size) & ~done[rows] & ~released[rows]
        factor = np.where(moving, np.minimum(1.0, LONGEST_STEP / np.maximum(length, LONGEST_STEP)), 0.0)
        factor *= _gentle(held, step, factor)
        pushed = active.size > 0  # without any force the gaps have no side yet
        active = replace(
            active,
            theta=active.theta + np.where(moving, step.theta, 0.0) * factor,
            size=active.size + np.where(moving, step.size, 0.0) * factor,
        )
        changed = np.zeros(len(rows), dtype=bool) if before is None else np.any(step.sides != before, axis=0)
        now = rows[moving]
        theta[:, now], size[now], steps[now] = active.theta[:, moving], active.size[moving], count
        wavers[now], slips[now] = changed[moving], step.slips[moving]
        settled = pushed & moving & (length < SETTLED) & (factor == 1.0) & ~changed & ~step.cut
        let_go = moving & (active.size < RELEASED) & (held.near.distance > 0) & (length < CLEAR)
        done[rows[settled]], released[rows[let_go]] = True, True
        left = moving & ~settled & ~let_go
        if not left.any():
            break
        before = step.sides
        if left.sum() < 0.5 * len(rows):
            rows, active, before = rows[left], active.take(left), before[:, left]
    return Found(theta, size, steps, done, released, wavers, slips)


def _step(flex: Flexibility, at: Pressed, held: Grip) -> _Step:
    forces, near, jacobian = held.forces, held.near, held.jacobian
    residual = flex.constant[list(flex.dofs)][:, None] + flex.linear(forces.q) - at.theta
    back = jacobian.swapaxes(0, 1)
    give = flex.linear(back)
    tangent, sides = None, np.zeros((0, len(at.size)))
    if flex.plays:
        played, tangent = flex.play(forces.q)
        residual += played
        give += np.einsum("ijn,jkn->ikn", tangent, back)
        sides = np.concatenate([np.sign(forces.q[list(a)]) for _, a in flex.plays if len(a) == 1] or [sides])
    solved, _ = sweep.solve(flex, forces, np.concatenate([residual[:, None], give], axis=1), tangent)
    moved = batch.matmul(jacobian, solved)
    lever = Lever.of(near, at.size, moved[:, 1:])
    wanted = lever.size(moved[:, 0], -near.distance)
    floor = np.maximum(SMALLEST_SHARE * at.size, 0.1 * RELEASED) - at.size
    size = np.maximum(wanted, floor)
    with np.errstate(all="ignore"):  # a tip that cannot yield has no finite step, and is not moved
        push = lever.force(moved[:, 0], size)
        theta = solved[:, 0] + np.einsum("ikn,kn->in", solved[:, 1:], push)
    return _Step(theta, size, wanted < floor, lever.slips(), sides)


def either_side(flex: Flexibility, at: Pressed, held: Grip) -> Bools:
    """Gaps of joints that would be held on their other side too (N,).

    Moving one by t, the contact kept, changes its force by t R: across the gap by -2 t R, which must not turn it.
    """
    where = [a[0] for _, a in flex.plays if len(a) == 1]
    out = np.zeros(len(at.size), dtype=bool)
    if not where:
        return out
    forces, back = held.forces, held.jacobian.swapaxes(0, 1)
    played, tangent = flex.play(forces.q)
    units = np.zeros((flex.n, len(where), len(at.size)))
    units[where, range(len(where))] = 1.0
    give = flex.linear(back) + np.einsum("ijn,jkn->ikn", tangent, back)
    solved, felt = sweep.solve(flex, forces, np.concatenate([units, give], axis=1), tangent)
    moved = batch.matmul(held.jacobian, solved)
    free = moved[:, : len(where)]
    with np.errstate(all="ignore"):  # rows without contact are not asked about
        lever = Lever.of(held.near, at.size, moved[:, len(where) :])
        push = lever.force(free, lever.size(free, np.zeros(free.shape[1:])))
        for j, i in enumerate(where):
            resists = felt[i, j] + np.einsum("kn,kn->n", felt[i, len(where) :] + back[i], push[:, j])
            out |= forces.q[i] * (forces.q[i] - 2 * played[i] * resists) < 0
    return out


def _gentle(held: Grip, step: _Step, factor: Array) -> Array:
    """A share of the step with which the normal turns no farther than its tangent is good for (N,)."""
    dx = np.einsum("ijn,jn->in", held.jacobian, np.where(np.isfinite(step.theta), step.theta, 0.0)) * factor
    turn = np.linalg.norm(np.einsum("ijn,jn->in", held.near.hessian, dx), axis=0)
    return np.asarray(np.minimum(1.0, LARGEST_TURN / np.maximum(turn, LARGEST_TURN)))
