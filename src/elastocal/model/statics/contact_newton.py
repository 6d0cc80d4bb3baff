"""The search for a contact without friction: where the tip would be without it, then Newton's method, each on its own.

lambda stays positive: a step that would make the object pull is cut.  Where it shrinks to nothing and the tip is clear
of the surface, the contact is released.  The steps themselves are those of ``contact_step``.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from elastocal.model.elements import CompliantCoordinate
from elastocal.model.posture import Posture
from elastocal.model.statics.contact_step import RELEASED, Pressed, grip, newton_step
from elastocal.model.statics.flexibility import Flexibility
from elastocal.model.statics.newton import LONGEST_STEP, States, newton_equilibrium
from elastocal.model.surfaces.surface import Near
from elastocal.spatial.batch import dot_products
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass


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
