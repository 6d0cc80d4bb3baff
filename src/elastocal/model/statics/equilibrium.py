"""The loaded equilibrium: all deflections finite, loads at the bent state.

    F(theta) = c(q) + k Q(q, theta) + backlash(Q) - theta = 0

is solved by Newton's method in compliance form, so that a rigid element (k = 0) is ordinary.  Where Newton fails
or ends on a branch that is not stable, the load is raised from zero in steps (``continuation``) before any verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import IntEnum

import numpy as np

from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.posture import Posture
from elastocal.model.robot import Robot
from elastocal.model.statics import continuation, stability
from elastocal.model.statics.flexibility import Flexibility, assemble
from elastocal.model.statics.forces import check_rows, chunk_size, chunks
from elastocal.model.statics.newton import STEP_TOLERANCE, States, solve_equilibrium
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass

Progress = Callable[[int, int], None]
FEW = 16
"""Flexible coordinates up to which twice as many configurations go in one chunk: calls cost more than memory."""
SEARCHED = 1e-10
"""Scaled step, in rad and in m per m, at which substitution ends in a search: a nanometre, and one step less."""


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
    Status.UNSTABLE: "unstable: the load bends the arm faster than its stiffness holds it, or by more than a "
    "radian; see the load factor and lower the load",
    Status.UNDETERMINED_BACKLASH: "undetermined: a joint or gripper with backlash carries no force, floats inside "
    "its gap or could rest on either side of it; add a preload or set its gap to zero",
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


def equilibrium(
    model: Robot,
    q: object,
    applied: Sequence[AppliedWrenches] = (),
    *,
    start: Equilibrium | Array | None = None,
    judged: bool = True,
    chunk: int | None = None,
    progress: Progress | None = None,
) -> Equilibrium:
    """Loaded equilibrium of joint values (N, n) under external wrenches plus the model's own loads.

    ``start`` is an equilibrium nearby (other parameters, the same rows), or its theta (N, m) alone, nan where none is
    known, from which the search begins.  Where not
    ``judged``, states that substitution finds count as stable without proof: it contracts by five at least from one
    step to the next, where a state that is about to give way repels.
    """
    configurations = model.configurations(q)
    total = len(configurations)
    check_rows(model, total, applied)
    flex = assemble(model)
    size = chunk or (2 if flex.n <= FEW else 1) * chunk_size(flex.n)
    theta = np.empty((len(model.chain.dofs), total))
    force = np.zeros((flex.n, total))
    status = np.zeros(total, dtype=np.int64)
    factor = np.full(total, np.nan)
    steps = np.zeros(total, dtype=np.int64)
    for rows, posture, wrenches in chunks(model, configurations, applied, size):
        begin = None if start is None else _nearby(flex, posture, start, rows)
        out = solve_chunk(flex, posture, wrenches, begin, judged or begin is None)
        theta[:, rows], force[:, rows], status[rows], factor[rows], steps[rows] = out
        if progress is not None:
            progress(rows.stop, total)
    return Equilibrium(theta.T, force.T, status, factor, steps)


def _nearby(flex: Flexibility, posture: Posture, start: Equilibrium | Array, rows: slice) -> Array:
    """theta of the flexible coordinates from a state nearby: what its forces bend the arm by now, a step further."""
    force = start.force[rows].T if isinstance(start, Equilibrium) else None
    if force is None or len(force) != flex.n:
        theta = start.theta if isinstance(start, Equilibrium) else start
        return np.ascontiguousarray(theta[rows][:, list(flex.dofs)].T)
    return posture.unloaded(flex.dofs) + flex.linear(force) + (flex.backlash_shift(force) if flex.backlashes else 0.0)


def solve_chunk(
    flex: Flexibility, at: Posture, applied: tuple[AppliedWrenches, ...], start: Array | None = None,
    judged: bool = True,
) -> tuple[Array, Array, Ints, Array, Ints]:  # fmt: skip
    """theta of the whole chain, Q, status, load factor and steps of one chunk (configurations last).

    ``start`` is a theta (n, N) of the flexible coordinates nearby, nan where none is known.
    """
    total = at.size
    begin = States.unloaded(flex, at, applied)
    if start is not None:
        begin = replace(begin, theta=np.where(np.isfinite(start), start, begin.theta))
    theta, force, steps, done, quick = solve_equilibrium(begin, STEP_TOLERANCE if judged else SEARCHED)
    states = States(flex, at, applied, theta, force)
    unstable, factor = np.zeros(total, dtype=bool), np.full(total, np.nan)
    if judged or not quick.all():
        unstable, factor = stability.judge_stability(states, done)
    again = np.flatnonzero(~done | unstable)
    floating = np.zeros(total, dtype=bool)
    if len(again):
        some = states.take(again)
        floating[again] = stability.floating(some)
        path = continuation.trace(some)
        theta[:, again], force[:, again], factor[again] = path.theta, path.force, path.factor
        done[again], unstable[again] = path.reached, path.gave_way
        states = States(flex, at, applied, theta, force)
    status: Ints = np.where(done, np.int64(Status.CONVERGED), np.int64(Status.NOT_CONVERGED))
    status[unstable] = Status.UNSTABLE
    status[floating | (done & stability.undetermined(states))] = Status.UNDETERMINED_BACKLASH
    full = at.start(tuple(range(len(at.offsets))))
    full[list(flex.dofs)] = theta
    lost = status != Status.CONVERGED
    if lost.any():
        full[:, lost] = np.nan
        force[:, lost] = np.nan
    return full, force, status, factor, steps
