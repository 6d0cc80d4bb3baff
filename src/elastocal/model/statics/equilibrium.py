"""The loaded equilibrium: all deflections finite, loads at the bent state.

    F(theta) = c + k Q(q, theta) + play(Q) - theta = 0

is solved by Newton's method with the analytic tangent I - (k + play') D, in compliance form, so that a
rigid element (k = 0) is ordinary.  Each configuration stops on its own when its step is below 1e-12
(rad and m), so that its result does not depend on its neighbours in the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import RobotModel
from elastocal.model.statics import stability, sweep
from elastocal.model.statics.flexibility import Flexibility, assemble
from elastocal.model.statics.forces import (
    Forces,
    evaluate,
    force_noise,
    placed_loads,
    placed_wrenches,
)
from elastocal.model.statics.state import check_rows, chunk_size, rest_values, state_at
from elastocal.spatial.entries import Array, Bools, Ints

STEP_TOLERANCE = 1e-12
MAX_STEPS = 40
LONGEST_STEP = 0.3  # rad or m: beyond it the tangent says little
_COMPRESS_AFTER = 6

Progress = Callable[[int, int], None]


class Status(IntEnum):
    """Outcome of one configuration; ``text`` is the help."""

    CONVERGED = 0
    UNSTABLE = 1
    UNDETERMINED_BACKLASH = 2
    NOT_CONVERGED = 3

    @property
    def text(self) -> str:
        return _TEXT[self]


_TEXT = {
    Status.CONVERGED: "converged",
    Status.UNSTABLE: "unstable: the load bends the arm faster than its stiffness holds it; "
    "see the load factor and lower the load",
    Status.UNDETERMINED_BACKLASH: "undetermined: a joint or gripper with backlash carries no force, "
    "so its side of the gap is unknown; add a preload or set its gap to zero",
    Status.NOT_CONVERGED: "not converged: no equilibrium found near the commanded pose; check loads and compliances",
}


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """States of N configurations.

    ``theta`` (N, m) holds all degrees of freedom of the chain, nan where the state is unknown.
    ``load_factor`` (N,) is the multiple of the external load at which the arm becomes unstable: a
    number where it had to be computed, nan where a bound already shows that it is above one.
    """

    theta: Array
    force: Array
    status: Ints
    load_factor: Array
    steps: Ints

    def counts(self) -> dict[str, int]:
        return {s.name.lower(): int(np.sum(self.status == s)) for s in Status if np.any(self.status == s)}


@dataclass
class _Batch:
    """The configurations of one chunk still being solved."""

    q: Array
    applied: tuple[AppliedWrenches, ...]
    theta: Array

    @property
    def size(self) -> int:
        return int(self.q.shape[1])

    def take(self, rows: Bools) -> _Batch:
        return _Batch(self.q[:, rows], tuple(w.picked(rows) for w in self.applied), self.theta[:, rows])


def equilibrium(
    model: RobotModel,
    q: object,
    applied: Sequence[AppliedWrenches] = (),
    *,
    chunk: int | None = None,
    progress: Progress | None = None,
) -> Equilibrium:
    """Loaded equilibrium of joint values (N, n) under external wrenches plus the model's own loads."""
    configurations = model.joint_values(q)
    total = len(configurations)
    check_rows(model, total, applied)
    flex = assemble(model)
    size = chunk or chunk_size(flex.n)
    theta = np.empty((len(model.chain.dofs), total))
    force = np.zeros((flex.n, total))
    status = np.zeros(total, dtype=np.int64)
    factor = np.full(total, np.nan)
    steps = np.zeros(total, dtype=np.int64)
    for start in range(0, total, size):
        rows = slice(start, min(start + size, total))
        count = rows.stop - rows.start
        wrenches = tuple(w.rows(rows, count) for w in applied)
        out = solve_chunk(model, flex, np.ascontiguousarray(configurations[rows].T), wrenches)
        theta[:, rows], force[:, rows], status[rows], factor[rows], steps[rows] = out
        if progress is not None:
            progress(rows.stop, total)
    return Equilibrium(theta.T, force.T, status, factor, steps)


def forces_at(
    model: RobotModel, flex: Flexibility, q: Array, theta: Array, applied: Sequence[AppliedWrenches]
) -> Forces:
    state, values = state_at(model, flex, q, theta)
    placed = placed_loads(model, state) + placed_wrenches(model, state, applied)
    return evaluate(model, flex, state, placed, values, rest_values(model, q))


def solve_chunk(
    model: RobotModel, flex: Flexibility, q: Array, applied: tuple[AppliedWrenches, ...]
) -> tuple[Array, Array, Ints, Array, Ints]:
    """theta of the whole chain, Q, status, load factor and steps of one chunk (configurations last)."""
    total = q.shape[1]
    theta, force, steps, done = _newton(model, flex, _Batch(q, applied, _start(flex, total)))
    status: Ints = np.where(done, np.int64(Status.CONVERGED), np.int64(Status.NOT_CONVERGED))
    unstable, factor = stability.judge(model, flex, q, theta, applied, done)
    unknown = _undetermined(model, flex, q, theta, applied)
    status[unknown] = Status.UNDETERMINED_BACKLASH
    status[unstable] = Status.UNSTABLE
    full = np.repeat(flex.constant[:, None], total, axis=1)
    full[list(flex.dofs)] = theta
    lost = status != Status.CONVERGED
    if lost.any():
        full[:, lost] = np.nan
        force[:, lost] = np.nan
    return full, force, status, factor, steps


def _start(flex: Flexibility, size: int) -> Array:
    return np.repeat(flex.constant[list(flex.dofs)][:, None], size, axis=1)


def _newton(model: RobotModel, flex: Flexibility, batch: _Batch) -> tuple[Array, Array, Ints, Bools]:
    """theta and Q (n, N), steps taken and whether each converged."""
    total = batch.theta.shape[1]
    theta, force = batch.theta.copy(), np.zeros_like(batch.theta)
    steps = np.zeros(total, dtype=np.int64)
    done = np.zeros(total, dtype=bool)
    if flex.n == 0:
        return theta, force, steps, np.ones(total, dtype=bool)
    rows = np.arange(total)
    active = batch
    for count in range(1, MAX_STEPS + 1):
        step, now = _step(model, flex, active)
        size = np.max(np.abs(step), axis=0)
        moving = ~done[rows] & np.isfinite(size)
        factor = np.where(moving, np.minimum(1.0, LONGEST_STEP / np.maximum(size, LONGEST_STEP)), 0.0)
        active.theta = active.theta + np.where(moving, step, 0.0) * factor
        theta[:, rows] = active.theta
        force[:, rows[moving]] = now[:, moving]
        steps[rows[moving]] = count
        done[rows] |= size < STEP_TOLERANCE
        left = ~done[rows] & np.isfinite(size)
        if not left.any():
            break
        if count >= _COMPRESS_AFTER and left.sum() < 0.5 * len(rows):
            rows, active = rows[left], active.take(left)
    return theta, force, steps, done


def _step(model: RobotModel, flex: Flexibility, batch: _Batch) -> tuple[Array, Array]:
    """Newton's step and the forces at the state it starts from."""
    forces = forces_at(model, flex, batch.q, batch.theta, batch.applied)
    residual = flex.constant[list(flex.dofs)][:, None] + flex.linear(forces.q) - batch.theta
    tangent = None
    if flex.plays:
        played, tangent = flex.play(forces.q)
        residual += played
    step, _ = sweep.solve(flex, forces, residual[:, None], tangent)
    return step[:, 0], forces.q


def _undetermined(
    model: RobotModel, flex: Flexibility, q: Array, theta: Array, applied: Sequence[AppliedWrenches]
) -> Bools:
    out = np.zeros(theta.shape[1], dtype=bool)
    if not flex.plays:
        return out
    state, values = state_at(model, flex, q, theta)
    placed = placed_loads(model, state) + placed_wrenches(model, state, applied)
    forces = evaluate(model, flex, state, placed, values, rest_values(model, q))
    noise = force_noise(flex, forces.screws, placed)
    for coordinate, at in flex.plays:
        unknown = coordinate.undetermined(forces.q[list(at)], noise[list(at)])
        if unknown is not None:
            out |= unknown
    return out
