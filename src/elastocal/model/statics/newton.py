"""theta = c(q) + k Q(q, theta) + backlash(Q): by substitution, or by Newton's method, tangent I - (k + backlash') D.

Each configuration stops on its own when its next scaled step would be below 1e-12 (rad, and m per m of the robot's
length), so that its result does not depend on its neighbours in the batch.  Near the solution each step is shorter
than the one before by a growing factor, so that the next is at most size * (size / size before).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from elastocal.model.chain import ChainState
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.posture import Posture
from elastocal.model.statics import sweep
from elastocal.model.statics.flexibility import Flexibility
from elastocal.model.statics.forces import Bends, Forces, force_noise, forces_at, values_at
from elastocal.spatial.entries import Array, Bools, Entry, Ints
from elastocal.values import dataclass

STEP_TOLERANCE = 1e-12
MAX_STEPS = 40
TERMS = 2
"""Terms of the series for (I - k D)^-1 beside the first, where D of states nearby is known."""
LONGEST_STEP = 0.3  # scaled: beyond it the tangent says little
_COMPRESS_AFTER = 6
HANGING = 12
"""Steps of Newton's method that a state gets in which a joint seems to hang free in its backlash."""
BACK = 1e-4
"""Share of a step by which a search is where it was two steps ago: from side to side of a backlash, for ever."""
LEAST, NEAREST = 0.03, 0.002
"""Rates of a substitution that are counted upon, whatever was seen; the other with the tangent of states nearby."""
HALVED = 80
"""Steps that are halved until the residual falls, before Newton's method goes on alone."""
SLOW, MIXED = 0.2, 0.02
"""Ratios of two steps of a substitution beyond which Newton's method, and mixing of steps, take less time."""


@dataclass(frozen=True, eq=False)
class States:
    """Configurations, theta (m, N) of the flexible coordinates (nan: not known) and what is applied.

    Where everything is then, and what pushes there, is worked out once; of no meaning where theta is not known.
    """

    flex: Flexibility
    posture: Posture
    applied: tuple[AppliedWrenches, ...]
    theta: Array
    known: Array | None = None
    """Q (m, N) there, where a search has left it."""
    near: States | None = None
    """The same configurations under other parameters: a search from here takes their tangent for its own."""

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
    def _known(self) -> Array:
        known = np.isfinite(self.theta)
        return self.theta if known.all() else np.where(known, self.theta, 0.0)

    @cached_property
    def values(self) -> list[Entry]:
        """Of all degrees of freedom."""
        return values_at(self.flex, self.posture, self._known)

    @cached_property
    def poses(self) -> ChainState:
        """Where all frames are."""
        return self.posture.model.chain.evaluate(self.values, self.size)

    @cached_property
    def forces(self) -> Forces:
        """All forces and their tangent."""
        return forces_at(self.flex, self.posture, self._known, self.applied)

    @property
    def q(self) -> Array:
        """Forces on the coordinates (m, N)."""
        return self.forces.q if self.known is None else self.known

    @cached_property
    def noise(self) -> Array:
        """How large rounding may make forces that should vanish (m, N)."""
        return force_noise(self.posture.model, self.flex, self.forces.screws, [w.sizes() for w in self.applied])

    @cached_property
    def backlash(self) -> tuple[Array, Array]:
        """What backlash adds to theta (m, N) and to the compliance (m, m, N)."""
        return self.flex.backlash(self.q)


def searched(start: States, hangs: Bools) -> tuple[Array, Array, Ints, Bools]:
    """theta and Q (n, N), steps taken and whether converged, by Newton's method; where backlash leads that from side to
    side, by shorter steps first.  Short where a joint seems to hang free, since hardly any ends there."""
    theta, force, steps, done = newton_equilibrium(start, np.where(hangs, HANGING, MAX_STEPS))
    rows = np.flatnonzero(~done & ~hangs)
    if len(rows) and start.flex.backlashes:
        theta[:, rows], force[:, rows], steps[rows], done[rows] = newton_equilibrium(_nearer(start.take(rows)))
    return theta, force, steps, done


def substituted(start: States, tolerance: float = STEP_TOLERANCE) -> tuple[Array, Array, Ints, Bools]:
    """The same by theta = c + k Q(theta) + backlash(Q(theta)) again and again.

    Where loads bend the arm little, as they should, k D is small: each step is a small part of the one before and needs
    no tangent.  One slower than by ``MIXED`` mixes its last steps; slower than by ``SLOW`` leaves, not converged.

    With the tangent of states ``near``, steps are Newton's but for what differs there and the rest of a short series.
    """
    flex, total, near = start.flex, start.size, start.near
    theta, force = np.empty_like(start.theta), np.empty_like(start.theta)
    steps, done = np.zeros(total, dtype=np.int64), np.zeros(total, dtype=bool)
    scale = np.where(flex.rotates, 1.0, 1.0 / start.posture.model.size)[:, None]
    rows, at, past, least = np.arange(total), start.theta, list[_Tried](), LEAST if near is None else NEAREST
    posture, bends = start.posture, Bends.of(flex, start.posture, start.applied)
    on, worst = np.ones(total, dtype=bool), np.zeros(total)
    for count in range(1, MAX_STEPS + 1):
        q, ahead = bends.at(at)
        ahead += posture.unloaded(flex.dofs)
        if flex.backlashes:
            ahead += flex.backlash_shift(q)
        if near is not None:
            ahead = at + newton_step(flex, near, ahead - at)
        now = _Tried(at, ahead, _largest(ahead - at, scale))
        rate = now.rate(past[0], scale) if past else np.full(len(rows), SLOW)
        worst = np.maximum(worst, rate) if past else worst
        ready = now.size * np.maximum(worst if past else rate, least) <= 0.1 * tolerance
        ends = on & (ready | ~(rate <= SLOW) | (count == MAX_STEPS))
        if ends.any():
            _put((theta, force), (ahead, q), rows, ends)
            steps[rows[ends]], done[rows[ends]] = count, ready[ends]
            on &= ~ends
            if not on.any():
                break
        slow = on & (worst > MIXED)
        at = _mixed(now, past, scale, slow) if slow.any() else ahead
        past = [now, *past[:1]]
        if np.count_nonzero(on) < 0.5 * len(rows):
            posture, at, rows, worst = posture.take(on), at[:, on], rows[on], worst[on]
            past = [t.take(on) for t in past]
            near = near if near is None else near.take(on)
            on, bends = np.ones(len(rows), dtype=bool), bends.take(posture, on)
    return theta, force, steps, done


def newton_step(flex: Flexibility, near: States, residual: Array) -> Array:
    """(I - (k + backlash') D)^-1 of residuals (n, N), with D and backlash' of states nearby, by its series."""
    tangent = near.backlash[1] if flex.backlashes else None
    step = residual
    for _ in range(TERMS):
        felt = near.forces.product(step)
        bend = flex.linear(felt)
        if tangent is not None:
            flex.add_backlash(bend, tangent, felt)
        step = residual + bend
    return step


def _put(into: Sequence[Array], values: Sequence[Array], rows: Ints, ends: Bools) -> None:
    """Write the columns ``ends`` of the values to their ``rows``: faster where no configuration has left yet."""
    for all_rows, some in zip(into, values, strict=True):
        if len(rows) == all_rows.shape[1]:
            np.copyto(all_rows, some, where=ends)
        else:
            all_rows[:, rows[ends]] = some[:, ends]


@dataclass(frozen=True, eq=False)
class _Tried:
    """theta, what came of it (n, N) and how far that is away (N,)."""

    theta: Array
    ahead: Array
    size: Array

    def take(self, rows: Bools) -> _Tried:
        return _Tried(*(np.compress(rows, part, axis=-1) for part in (self.theta, self.ahead, self.size)))

    def rate(self, before: _Tried, scale: Array) -> Array:
        """How much of a difference of theta is left in what comes of it."""
        if self.theta is before.ahead:
            left, off = self.size, before.size
        else:
            left, off = _largest(self.ahead - before.ahead, scale), _largest(self.theta - before.theta, scale)
        return np.asarray(left / np.maximum(np.maximum(off, left), 1e-300))


def _largest(theta: Array, scale: Array) -> Array:
    """The largest component (N,) in units of ``scale``; ``theta`` is used up."""
    np.abs(theta, out=theta)
    if np.any(scale != 1.0):
        theta *= scale
    return np.asarray(np.max(theta, axis=0, initial=0.0))


def _mixed(now: _Tried, past: Sequence[_Tried], scale: Array, where: Bools) -> Array:
    """Anderson's mixing: the mean of the last two or three results whose remainder is smallest, if it were linear."""
    tries = (now, *past)
    moved = [a.ahead - b.ahead for a, b in pairwise(tries)]
    first, *other = [(m - (a.theta - b.theta)) * scale for m, (a, b) in zip(moved, pairwise(tries), strict=True)]
    left = (now.ahead - now.theta) * scale
    a, b = _dot(first, first), _dot(first, left)
    parts = [b / np.maximum(a, 1e-300)]
    if other:
        both, c, d = _dot(first, other[0]), _dot(other[0], other[0]), _dot(other[0], left)
        size = a * c - both * both
        plane = size > 1e-12 * a * c  # else the two steps are one direction
        size = np.where(plane, size, 1.0)
        parts = [np.where(plane, (b * c - d * both) / size, parts[0]), np.where(plane, (d * a - b * both) / size, 0.0)]
    mixed = now.ahead.copy()
    for part, m in zip(parts, moved, strict=True):
        mixed -= np.where(where, part, 0.0) * m
    return mixed


def _dot(a: Array, b: Array) -> Array:
    return np.asarray(np.einsum("in,in->n", a, b))


def newton_equilibrium(start: States, most: Ints | int = MAX_STEPS) -> tuple[Array, Array, Ints, Bools]:
    """The same by Newton's method in at most so many steps, or (N,)."""
    flex, total = start.flex, start.size
    theta, force = start.theta.copy(), np.zeros_like(start.theta)
    steps, before = np.zeros(total, dtype=np.int64), np.zeros(total)
    done, ended = np.zeros((2, total), dtype=bool)
    if flex.n == 0:
        return theta, force, steps, np.ones(total, dtype=bool)
    rows, active, last = np.arange(total), start, np.full_like(theta, np.nan)
    scale = np.where(flex.rotates, 1.0, 1.0 / start.posture.model.size)[:, None]
    for count in range(1, int(np.max(most, initial=0)) + 1):
        step, change = _step(active)
        size = np.max(np.abs(step) * scale, axis=0)
        moving = ~ended[rows] & np.isfinite(size)
        factor = np.where(moving, np.minimum(1.0, LONGEST_STEP / np.maximum(size, LONGEST_STEP)), 0.0)
        now, before_that, last = active.forces.q, last, active.theta
        active = replace(active, theta=active.theta + np.where(moving, step, 0.0) * factor)
        theta[:, rows] = active.theta
        force[:, rows[moving]] = (now + change * factor)[:, moving]
        steps[rows[moving]] = count
        done[rows] |= moving & (size * size <= STEP_TOLERANCE * np.maximum(before[rows], size))
        back = np.max(np.abs(active.theta - before_that) * scale, axis=0) <= BACK * factor * size
        ended[rows] |= done[rows] | back | (count >= np.broadcast_to(most, total)[rows])
        before[rows] = size
        left = ~ended[rows] & np.isfinite(size)
        if not left.any():
            break
        if count >= _COMPRESS_AFTER and left.sum() < 0.5 * len(rows):
            rows, active, last = rows[left], active.take(left), last[:, left]
    return theta, force, steps, done


def _nearer(start: States) -> States:
    """Nearer to the equilibrium by Newton's steps, each halved until the residual is smaller."""
    scale = np.where(start.flex.rotates, 1.0, 1.0 / start.posture.model.size)[:, None]
    at, factor = start, np.ones(start.size)
    least, step = _length(_residual(at) * scale), _step(at)[0]
    for _ in range(HALVED):
        tried = replace(at, theta=at.theta + factor * step)
        size = _length(_residual(tried) * scale)
        better = size < least
        if better.any():
            at, least = replace(at, theta=np.where(better, tried.theta, at.theta)), np.where(better, size, least)
            step = _step(at)[0]
        factor = np.where(better, np.minimum(1.0, 2 * factor), 0.5 * factor)
    return at


def _length(vectors: Array) -> Array:
    return np.asarray(np.sqrt(_dot(vectors, vectors)))


def _residual(states: States) -> Array:
    """c + k Q + backlash(Q) - theta."""
    flex, force = states.flex, states.forces.q
    residual = states.posture.unloaded(flex.dofs) + flex.linear(force) - states.theta
    return residual + states.backlash[0] if flex.backlashes else residual


def _step(states: States) -> tuple[Array, Array]:
    """Newton's step, and how it changes the forces."""
    tangent = states.backlash[1] if states.flex.backlashes else None
    step, change = sweep.solve(states.flex, states.forces, _residual(states)[:, None], tangent)
    return step[:, 0], change[:, 0]
