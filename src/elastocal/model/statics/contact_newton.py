"""The search for a contact without friction: where the tip would be without it, then Newton's method, each on its own.

lambda stays positive: a step that would make the object pull is cut.  Where it shrinks to nothing and the tip is clear
of the surface, the contact is released.

One step takes theta and pressing force lambda together:

    theta = c + k Q + backlash(Q),   Q = Q_loads + J^T f,   f = lambda n(x),   phi(x) = 0,   x = x(theta) the tip

With A = I - (k + backlash') D the tangent under a force that keeps its direction, four equations tell how the tip moves
and the force changes, whatever the number of joints:

    dx = u + C df,   df = lambda H dx + n dlambda + g,   n . dx = t

u is what moves the tip at a given force, C = J A^-1 (k + backlash') J^T its compliance, g what turns the force at a
given tip, t what moves the surface.  In Newton's step u = J A^-1 r with the residual r of theta, g = 0 and t = -phi.
With M = I - lambda C H:

    dx = M^-1 (u + C g) + M^-1 C n dlambda,    dlambda = (t - n . M^-1 (u + C g)) / (n . M^-1 C n)

and dtheta = A^-1 (r + (k + backlash') J^T df): four right-hand sides of one sweep.  Further ones tell whether a gap
could as well be closed on its other side.

The contact is stable where the energy of the tip on the surface is least, which needs det(M) n . M^-1 C n > 0:
else the tip slides off.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from elastocal.model.elements import CompliantCoordinate
from elastocal.model.loads.wrench import Resultant
from elastocal.model.posture import Posture
from elastocal.model.statics import sweep
from elastocal.model.statics.flexibility import Flexibility
from elastocal.model.statics.forces import Forces, evaluate, force_noise, placed_loads, state_at
from elastocal.model.statics.newton import LONGEST_STEP, States, newton_equilibrium
from elastocal.model.surfaces.surface import Near, Touches
from elastocal.spatial import batch
from elastocal.spatial.batch import dot_products
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False)
class Lever:
    """Normal n (3, N), lambda H and C (3, 3, N), M^-1 (3, 3, N), M^-1 C n (3, N) and its part along n (N,)."""

    normal: Array
    turn: Array
    give: Array
    inverse: Array
    along: Array
    yields: Array

    @classmethod
    def of(cls, near: Near, size: Array, give: Array) -> Lever:
        turn = size * near.hessian
        unit = np.eye(3)[:, :, None]
        inverse = batch.eliminate_unpivoted(unit - batch.matmul(give, turn), np.broadcast_to(unit, give.shape))
        along = np.einsum("ijn,jkn,kn->in", inverse, give, near.normal)
        return cls(near.normal, turn, give, inverse, along, np.einsum("in,in->n", near.normal, along))

    def slips(self) -> Bools:
        return np.asarray(~(self.yields * np.linalg.det(np.moveaxis(self.inverse, -1, 0)) > 0))

    def size(self, free: Array, target: Array) -> Array:
        """dlambda (..., N) for u + C g (3, ..., N) and t (..., N); not finite where the tip cannot yield along n."""
        with np.errstate(all="ignore"):
            return np.asarray((target - self._through(free)) / self.yields)

    def force(self, free: Array, size: Array, turned: Array | float = 0.0) -> Array:
        """df (3, ..., N) for u + C g, dlambda and g."""
        dx = self.point(free, size)
        return np.asarray(np.einsum("ijn,j...n->i...n", self.turn, dx) + self._spread(self.normal, size) + turned)

    def point(self, free: Array, size: Array) -> Array:
        """dx (3, ..., N)."""
        return np.asarray(np.einsum("ijn,j...n->i...n", self.inverse, free) + self._spread(self.along, size))

    def _through(self, free: Array) -> Array:
        return np.asarray(np.einsum("in,ijn,j...n->...n", self.normal, self.inverse, free))

    @staticmethod
    def _spread(vector: Array, size: Array) -> Array:
        return vector[:, None] * size if size.ndim == 2 else vector * size


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
    pressed = np.linalg.norm(near.normal * at.size, axis=0)
    doubt = force_noise(model, flex, forces.screws, [(frame, pressed, 0.0)]) if noise else None
    return Grip(forces, near, jacobian, point, doubt)


class Step(NamedTuple):
    """Changes of theta (n, N) and lambda (N,); what the state says of itself on the way.

    ``cut``: lambda would have become negative; ``slips``: not stable; ``either``: a gap would be held on its other
    side too; ``sides`` (joints with backlash, N): the side of each gap.
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
    gaps = [a[0] for _, a in flex.backlashes if len(a) == 1]
    units = np.zeros((flex.n, len(gaps), count))
    units[gaps, range(len(gaps))] = 1.0
    tangent, shift = None, np.zeros_like(residual)
    if flex.backlashes:
        shift, tangent = flex.backlash(forces.q)
        residual += shift
    give = flex.bend(slice(0, flex.n), back, tangent)
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
    either = np.any(sides * (sides - 2 * shift[gaps] * resists) < 0, axis=0)
    return Step(theta, size, wanted < floor, lever.slips(), either, np.sign(sides))


def _resistance(gaps: list[int], lever: Lever, free: Array, felt: Array, back: Array) -> Array:
    """Change of the force in each gap per unit of its backlash (gaps, N), contact kept, the rest compliant."""
    push = lever.force(free, lever.size(free, np.zeros(free.shape[1:])))
    per_force = felt[gaps, 1:4] + back[gaps]
    own = felt[gaps, range(4, 4 + len(gaps))]
    return np.asarray(own + np.einsum("jkn,kjn->jn", per_force, push))


def at_rest(flex: Flexibility, posture: Posture) -> tuple[Array, Bools]:
    """theta (n, N) of the arm without contact, and whether it was found; gaps that nothing loads stay at the middle."""
    theta, force, _, done = newton_equilibrium(States.unloaded(replace(flex, backlashes=()), posture))
    if not flex.backlashes or not posture.model.loads:
        return theta, done
    noise = States(flex, posture, (), np.where(done, theta, np.nan)).noise
    loaded = np.array([~unsure(c, force[list(at)], noise[list(at)]) for c, at in flex.backlashes])
    for pattern in np.unique(loaded, axis=1).T:
        if pattern.any():
            rows = np.flatnonzero((loaded == pattern[:, None]).all(axis=0))
            some = replace(flex, backlashes=tuple(p for p, on in zip(flex.backlashes, pattern, strict=True) if on))
            theta[:, rows], _, _, done[rows] = newton_equilibrium(States(some, posture.take(rows), (), theta[:, rows]))
    return theta, done


def unsure(coordinate: CompliantCoordinate, force: Array, noise: Array) -> Bools:
    unknown = coordinate.undetermined(force, noise)
    return np.zeros(force.shape[1], dtype=bool) if unknown is None else unknown


def too_deep(free: Near) -> Bools:
    """Inside by more than the radius of curvature there (N,): nearer to the middle than to the surface.

    Of a ball or bar H = P / rho with a projector P, so that rho = tr(H) / |H|^2.
    """
    bend = np.einsum("iin->n", free.hessian)
    flat = bend <= 0
    rho = bend / np.where(flat, 1.0, np.einsum("ijn,ijn->n", free.hessian, free.hessian))
    lost = dot_products(free.normal, free.normal) < 0.5  # the very middle has no normal
    return np.asarray(lost | (~flat & (-free.distance > rho)))


SETTLED = 1e-8
"""A full step this small (rad, and m per m of the robot's length) leaves an error of its square: below rounding."""

MAX_STEPS = 40
MOST_FLIPS = 8  # changes of side after which no side is right
CLEAR = 1e-6  # a step this small shows where the tip is without force


@dataclass(frozen=True, eq=False)
class ContactSearch:
    """Where the search ended, and what its last step said; ``wavers``: gaps changed their sides again and again."""

    theta: Array
    size: Array
    steps: Ints
    done: Bools
    released: Bools
    wavers: Bools
    slips: Bools
    either: Bools


def press(flex: Flexibility, start: Pressed) -> ContactSearch:
    """The contact of every row, each stopping by its own step."""
    total = len(start.size)
    theta, size = start.theta.copy(), start.size.copy()
    steps, flips = np.zeros(total, dtype=np.int64), np.zeros(total, dtype=np.int64)
    done, released, slips, either = (np.zeros(total, dtype=bool) for _ in range(4))
    scale = np.where(flex.rotates, 1.0, 1.0 / start.posture.model.size)[:, None]
    rows, active = np.arange(total), start
    before: Array | None = None
    for count in range(1, MAX_STEPS + 1):
        held = grip(flex, active)
        step = newton_step(flex, active, held)
        length = np.max(np.abs(step.theta) * scale, axis=0, initial=0.0)
        open_ = ~done[rows] & ~released[rows] & (flips[rows] <= MOST_FLIPS)
        moving = open_ & np.isfinite(length) & np.isfinite(step.size)
        changed = np.zeros(len(rows), dtype=bool) if before is None else np.any(step.sides != before, axis=0)
        factor = np.where(moving, np.minimum(1.0, LONGEST_STEP / np.maximum(length, LONGEST_STEP)), 0.0)
        factor[changed & (flips[rows] >= 2)] *= 0.5  # sides that change to and fro may agree half-way
        pushed = active.size > 0  # without any force the gaps have no side yet
        active = replace(
            active,
            theta=active.theta + np.where(moving, step.theta, 0.0) * factor,
            size=active.size + np.where(moving, step.size, 0.0) * factor,
        )
        now = rows[moving]
        theta[:, now], size[now], steps[now] = active.theta[:, moving], active.size[moving], count
        slips[now], either[now] = step.slips[moving], step.either[moving]
        flips[now] += changed[moving]
        settled = pushed & moving & (length < SETTLED) & (factor == 1.0) & ~changed & ~step.cut
        let_go = moving & (active.size < RELEASED) & (held.near.distance > 0) & (length < CLEAR)
        done[rows[settled]], released[rows[let_go]] = True, True
        left = moving & ~settled & ~let_go & (flips[rows] <= MOST_FLIPS)
        if not left.any():
            break
        before = step.sides
        if left.sum() < 0.5 * len(rows):
            rows, active, before = rows[left], active.take(left), before[:, left]
    return ContactSearch(theta, size, steps, done, released, flips > MOST_FLIPS, slips, either)
