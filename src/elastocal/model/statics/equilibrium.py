"""The loaded equilibrium: all deflections finite, loads at the bent state.

    F(theta) = c(q) + k Q(q, theta) + backlash(Q) - theta = 0

is solved by Newton's method in compliance form, so that a rigid element (k = 0) is ordinary.  Where Newton fails
or ends on a branch that is not stable, the load is raised from zero in steps (``trace``) before any verdict.

First the robot's own loads grow (all compliances scaled from 0 to 1, which is the same as scaling the loads), then
the external ones.  Each step starts from the last.  A configuration is lost where no equilibrium is found near the
last one, where the determinant of I - k D has changed its sign, or where a joint or link would bend by more than a
radian.  In the last two cases the arm gives way.  In the first it does where the tangent is about to become singular
(a turning point of the path); elsewhere the search has failed and the load factor is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from enum import IntEnum
from functools import cached_property

import numpy as np

from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.posture import Configurations, Posture
from elastocal.model.robot import Robot
from elastocal.model.statics import stability
from elastocal.model.statics.flexibility import Flexibility, assemble
from elastocal.model.statics.forces import check_rows, chunk_size, chunks
from elastocal.model.statics.newton import (
    STEP_TOLERANCE,
    States,
    newton_equilibrium,
    newton_step,
    searched,
    substituted,
)
from elastocal.spatial.entries import Array, Bools, Ints
from elastocal.values import dataclass

STEPS = 48
FINER = 32
TURNING = 0.05  # a critical factor this close above the share reached: the path turns back there
LARGEST_BEND = 1.0  # rad: what bends farther has given way, whatever holds it there
_DENSE = 256


@dataclass(frozen=True, eq=False)
class Path:
    """Where the path ended: state and forces, whether it reached full load, whether the arm gave way, the load factor.

    Neither reached nor gave way: the search failed, the factor is nan.
    """

    theta: Array
    force: Array
    reached: Bools
    gave_way: Bools
    factor: Array


def trace(states: States) -> Path:
    """Follow every configuration from theta without load, in pieces."""
    total = states.size
    pieces = [np.arange(a, min(a + _DENSE, total)) for a in range(0, total, _DENSE)]
    parts = [_trace(states.take(rows)) for rows in pieces]
    return Path(*(np.concatenate([getattr(p, f.name) for p in parts], axis=-1) for f in fields(Path)))


def _trace(batch: States) -> Path:
    flex, size = batch.flex, batch.size
    theta, force = batch.posture.start(flex.dofs), np.zeros((flex.n, size))
    alive, gave_way = np.ones(size, dtype=bool), np.zeros(size, dtype=bool)
    for scale in np.linspace(0, 1, STEPS + 1)[1:]:
        _advance(flex.scaled(scale), batch, 0.0, theta, force, alive, gave_way)
    stood = alive.copy()
    share = np.zeros(size)
    for part in np.linspace(0, 1, STEPS + 1)[1:]:
        before = alive.copy()
        _advance(flex, batch, part, theta, force, alive, gave_way)
        share[alive] = part
        fell = before & ~alive
        if fell.any():  # a sharp bend of the path looks like its end: take it in small steps
            alive[fell], gave_way[fell] = True, False
            for finer in np.linspace(part - 1 / STEPS, part, FINER + 1)[1:]:
                _advance(flex, batch, float(finer), theta, force, alive, gave_way, fell)
                share[alive & fell] = finer
    factor = np.zeros(size)  # gave way under its own loads: no external load at all can be borne
    if stood.any():
        factor[stood] = _critical(flex, batch.take(stood), theta[:, stood], share[stood])
    fell = stood & ~alive
    gave_way |= fell & (factor <= share + TURNING)
    gave_way |= alive & (factor <= 1.0)
    factor[fell] = np.clip(factor[fell], share[fell], share[fell] + 1 / (STEPS * FINER))
    factor[~alive & ~gave_way] = np.nan
    return Path(theta, force, alive & ~gave_way, gave_way, factor)


def _advance(
    flex: Flexibility,
    batch: States,
    share: float,
    theta: Array,
    force: Array,
    alive: Bools,
    gave_way: Bools,
    only: Bools | None = None,
) -> None:
    """One step of the path for the configurations still alive (and in ``only``); updates the arrays in place."""
    rows = np.flatnonzero(alive if only is None else alive & only)
    if not len(rows):
        return
    some = batch.take(rows)
    push = tuple(AppliedWrenches(w.frame, share * w.wrench, w.follows) for w in some.applied)
    last = States(flex, some.posture, push, theta[:, rows])
    ahead, now, _, done = newton_equilibrium(last)
    bend = np.abs(ahead - some.posture.unloaded(flex.dofs))[flex.rotates]
    firm = np.all(bend <= LARGEST_BEND, axis=0) & (_sign(replace(last, theta=ahead)) > 0)
    held = done & firm
    theta[:, rows[held]], force[:, rows[held]] = ahead[:, held], now[:, held]
    alive[rows[~held]] = False
    gave_way[rows[done & ~firm]] = True


def _sign(states: States) -> Array:
    """Sign of the determinant of I - (k + backlash') D (N,)."""
    k = states.flex.compliance[:, :, None] + states.backlash[1]
    tangent = np.eye(states.flex.n)[:, :, None] - np.einsum("ijn,jkn->ikn", k, states.forces.dense())
    return np.asarray(np.linalg.slogdet(np.moveaxis(tangent, -1, 0))[0])


def _critical(flex: Flexibility, batch: States, theta: Array, share: Array) -> Array:
    """Multiple of the full external load (N,) at which the tangent at these states becomes singular."""
    part = np.where(share > 0, share, 1.0)
    push = [AppliedWrenches(w.frame, part[:, None] * w.wrench, w.follows) for w in batch.applied]
    own, external = stability.split_forces(flex, batch.posture, theta, push)
    k = flex.compliance[:, :, None] + flex.backlash(own.q + external.q)[1]
    bent = [np.einsum("ijn,jkn->ikn", k, f.dense()) for f in (own, external)]
    return np.asarray(part * stability.critical_factor(bent[0], bent[1]))


Progress = Callable[[int, int], None]
FEW = 16
"""Flexible coordinates up to which twice as many configurations go in one chunk: calls cost more than memory."""
UNJUDGED = 1e-9
"""Scaled step, in rad and in m per m, at which substitution ends where states are not judged: known to a nanometre."""


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
    ``force`` (N, m') is that on ``dofs``, chain indices: those that bend, which other values of the same parameters
    may make more or fewer.
    """

    theta: Array
    force: Array
    status: Ints
    load_factor: Array
    steps: Ints
    dofs: tuple[int, ...]

    def force_on(self, dof: int) -> Array:
        """Force (N,) on one degree of freedom of the chain, which must be one that bends."""
        return np.asarray(self.force[:, self.dofs.index(dof)])

    def picked(self, rows: Ints) -> Equilibrium:
        """Of some of the configurations."""
        return Equilibrium(
            self.theta[rows], self.force[rows], self.status[rows], self.load_factor[rows], self.steps[rows], self.dofs
        )

    @cached_property
    def states(self) -> States | None:
        """What the search has left, for those who ask for its tangent or poses; None where it was not kept."""
        return None

    def states_of(self, model: Robot, q: object) -> States | None:
        """These where they are of this model at these configurations."""
        known = self.states
        if known is None or known.posture.model is not model or not isinstance(q, Configurations):
            return None
        return known if model.posture(q) is known.posture else None

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
    step to the next, where a state that is about to give way repels; where they fit into one chunk they are kept
    (``Equilibrium.states``), so that observation rows and the next search share what is worked out of them.
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
    near = start.states if isinstance(start, Equilibrium) else None
    near = near if near is not None and near.flex.dofs == flex.dofs and near.size == total <= size else None
    for rows, posture, wrenches in chunks(model, configurations, applied, size):
        begin = None if start is None else _nearby(flex, posture, start, rows, near)
        out = solve_chunk(flex, posture, wrenches, begin, judged or begin is None, near)
        theta[:, rows], force[:, rows], status[rows], factor[rows], steps[rows] = out
        if progress is not None:
            progress(rows.stop, total)
    bent = Equilibrium(theta.T, force.T, status, factor, steps, flex.dofs)
    if not judged and 0 < total <= size:
        vars(bent)["states"] = States(flex, posture, wrenches, theta[list(flex.dofs)])
    return bent


def _nearby(flex: Flexibility, posture: Posture, start: Equilibrium | Array, rows: slice, near: States | None) -> Array:
    """theta of the flexible coordinates from a state nearby: what its forces bend the arm by now, a step further."""
    if not isinstance(start, Equilibrium) or start.dofs != flex.dofs:
        theta = start.theta if isinstance(start, Equilibrium) else start
        return np.ascontiguousarray(theta[rows][:, list(flex.dofs)].T)
    force = start.force[rows].T
    ahead = posture.unloaded(flex.dofs) + flex.linear(force) + (flex.backlash_shift(force) if flex.backlashes else 0.0)
    return ahead if near is None else near.theta + newton_step(flex, near, ahead - near.theta)


def solve_equilibrium(
    start: States, tolerance: float = STEP_TOLERANCE
) -> tuple[Array, Array, Ints, Bools, Bools, Bools]:
    """theta and Q (n, N), steps taken, whether converged, and whether by substitution alone.

    Where that fails, by a search.  Last, where a joint seemed to hang free then."""
    theta, force, steps, quick = substituted(start, tolerance)
    done, hangs, rows = quick.copy(), np.zeros(start.size, dtype=bool), np.flatnonzero(~quick)
    if len(rows):
        hard = start.take(rows)
        hangs[rows] = stability.floating(hard)
        theta[:, rows], force[:, rows], steps[rows], done[rows] = searched(hard, hangs[rows])
    return theta, force, steps, done, quick, hangs


def solve_chunk(
    flex: Flexibility, at: Posture, applied: tuple[AppliedWrenches, ...], start: Array | None = None,
    judged: bool = True, near: States | None = None,
) -> tuple[Array, Array, Ints, Array, Ints]:  # fmt: skip
    """theta of the whole chain, Q, status, load factor and steps of one chunk (configurations last).

    ``start`` is a theta (n, N) of the flexible coordinates nearby, nan where none is known; ``near`` states whose
    tangent is nearly that of these.
    """
    total = at.size
    begin = States.unloaded(flex, at, applied)
    if start is not None:
        begin = replace(begin, theta=np.where(np.isfinite(start), start, begin.theta), near=near)
    theta, force, steps, done, quick, hangs = solve_equilibrium(begin, STEP_TOLERANCE if judged else UNJUDGED)
    states = States(flex, at, applied, theta, force)
    unstable, factor = np.zeros(total, dtype=bool), np.full(total, np.nan)
    if judged or not quick.all():
        unstable, factor = stability.judge_stability(states, done)
    gives = np.flatnonzero(quick & unstable)
    if len(gives):
        hangs[gives] = stability.floating(states.take(gives))
    floating = hangs & (~done | unstable)
    again = np.flatnonzero((~done | unstable) & ~floating)  # no path leads to a state where a joint hangs free
    if len(again):
        path = trace(states.take(again))
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
