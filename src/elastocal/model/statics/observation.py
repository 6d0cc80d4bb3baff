"""How measured poses depend on the parameters: the matrices that identification solves with.

With Lambda = J_out (I - k D)^-1 at the loaded equilibrium, a parameter p that changes
theta at fixed force has the column Lambda dtheta/dp, one that changes a load has Lambda k dQ/dp.
So compliances, backlash, geometry, masses and springs all use one formula.

The matrix of the linear deflection model (003 eq. 9, 22, 23) is much faster to fill.  The deflection is sum J k J^T W,
so the column of an element k_ab of a spring is J_a Q_b with Q = J^T W, and a symmetric pair gives J_a Q_b + J_b Q_a.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import count, pairwise
from typing import Literal

import numpy as np

from elastocal.errors import MissingError, UnsupportedError
from elastocal.model.chain import ChainState
from elastocal.model.elements import CompliantCoordinate, Load
from elastocal.model.kinematics import moved_dofs
from elastocal.model.loads.wrench import AppliedWrenches, Resultant, Wrench
from elastocal.model.parameters import selected
from elastocal.model.posture import Posture
from elastocal.model.robot import Robot
from elastocal.model.statics import sweep
from elastocal.model.statics.equilibrium import Equilibrium, Status, solve_chunk
from elastocal.model.statics.flexibility import Flexibility, assemble
from elastocal.model.statics.force_code import rigid_answer
from elastocal.model.statics.forces import (
    CHUNK,
    Forces,
    axis_forces,
    check_rows,
    chunk_size,
    chunks,
    loaded_joints,
    shifted,
)
from elastocal.model.statics.newton import States
from elastocal.spatial import batch
from elastocal.spatial import entries as en
from elastocal.spatial.entries import Array, Entry, Ints
from elastocal.values import dataclass


@dataclass(frozen=True)
class Marker:
    """What is measured of a frame: its position (3 rows) or its full pose (6 rows, translation first)."""

    frame: str
    what: Literal["position", "pose"] = "position"

    @property
    def rows(self) -> int:
        return 3 if self.what == "position" else 6


def loaded_observation(
    model: Robot,
    q: object,
    applied: Sequence[AppliedWrenches],
    markers: Sequence[Marker],
    parameters: Iterable[str] | None = None,
    bent: Equilibrium | None = None,
) -> tuple[tuple[str, ...], Array, Ints]:
    """Names, derivative (N, rows, p) of the loaded marker poses by any parameters, and status (N,).

    ``bent`` is the loaded equilibrium, where it is known already.

    Orientation rows are the small rotation in base axes.  Rows of configurations without a determined
    equilibrium are nan.  The derivative of a deflection is the loaded matrix minus the unloaded one.
    """
    configurations = model.configurations(q)
    total = len(configurations)
    check_rows(model, total, applied)
    picked = selected(model.parameter_names, parameters)
    kept = None if bent is None else bent.states_of(model, configurations)
    also = sorted({i for at in model.places for i in at})
    flex = assemble(model, also)
    out = np.empty((total, sum(m.rows for m in markers), len(picked)))
    status = np.empty(total, dtype=np.int64)
    for rows, posture, wrenches in chunks(model, configurations, applied, chunk_size(flex.n)):
        if bent is None:
            full, _, status[rows], _, _ = solve_chunk(flex, posture, wrenches)
        else:
            full, status[rows] = bent.theta[rows].T, bent.status[rows]
        if kept is not None and kept.flex is flex and _equal(kept.applied, wrenches):
            held = answer(kept, markers)
        else:
            theta = np.where(status[rows] == Status.CONVERGED, full[list(flex.dofs)], 0.0)
            held = response(flex, posture, theta, wrenches, markers)
        out[rows] = np.moveaxis(parameter_derivatives(flex, held, picked), -1, 0)
    out[status != Status.CONVERGED] = np.nan
    return tuple(model.parameter_names[i] for i in picked), out, status


def _equal(applied: Sequence[AppliedWrenches], others: Sequence[AppliedWrenches]) -> bool:
    pairs = zip(applied, others, strict=False)
    same = all((a.frame, a.follows) == (b.frame, b.follows) and np.array_equal(a.wrench, b.wrench) for a, b in pairs)
    return same and len(applied) == len(others)


@dataclass(frozen=True, eq=False)
class Response:
    """A loaded state, and how the rows of the markers answer there.

    ``reach`` (n, rows, N) per bend that is forced on a coordinate, ``bent`` per force on it, ``direct`` (rows, n, N)
    the markers' own Jacobian.
    """

    posture: Posture
    state: ChainState
    values: Sequence[Entry]
    forces: Forces
    direct: Array
    reach: Array
    bent: Array

    @property
    def size(self) -> int:
        return self.posture.size

    @cached_property
    def _carried(self) -> dict[int, Array]:
        return {}

    def carried(self, flex: Flexibility, level: int) -> Array:
        """Twist (6, rows, N) of the body beyond ``level`` degrees of freedom that a unit of each row bends it by."""
        count = bisect_left(flex.dofs, level)
        if count not in self._carried:
            screws, bent = self.forces.screws[:, :count], self.bent[:count]
            self._carried[count] = np.einsum("ain,irn->arn", screws, bent)
        return self._carried[count]


def response(
    flex: Flexibility,
    posture: Posture,
    theta: Array,
    applied: Sequence[AppliedWrenches],
    markers: Sequence[Marker],
) -> Response:
    """At an equilibrium theta (n, N) of the flexible coordinates."""
    return answer(States(flex, posture, tuple(applied), theta), markers)


def answer(states: States, markers: Sequence[Marker]) -> Response:
    """The same at states."""
    flex, state, forces = states.flex, states.poses, states.forces
    chain = state.chain
    backlash = states.backlash[1] if flex.backlashes else None
    direct = np.zeros((sum(m.rows for m in markers), flex.n, state.size))
    first = 0
    for m in markers:
        felt = bisect_left(flex.dofs, chain.level(m.frame))
        shifted(forces.screws[:, :felt], state.origin(m.frame), direct[first : first + m.rows, :felt])
        first += m.rows
    reach, bent = sweep.transposed(flex, forces, direct.swapaxes(0, 1), backlash)
    return Response(states.posture, state, states.values, forces, direct, reach, bent)


def parameter_derivatives(flex: Flexibility, at: Response, picked: Sequence[int]) -> Array:
    """Derivative (rows, p, N) of the markers by the parameters of these numbers, loads held."""
    model = at.posture.model
    out = np.zeros((len(picked), at.direct.shape[0], at.size))
    place = {index: column for column, index in enumerate(picked)}
    springs = _rest_tangents(flex, at)
    loaded = loaded_joints(model, at.values, at.size) if model.axis_loads else {}
    bends, pushes, wrenches, first = list[Bend](), list[Bend](), list[tuple[int, int, Resultant]](), 0
    for element, at_dofs, number in zip(model.elements, model.places, model.parameter_counts, strict=True):
        mine = {p: place[first + p] for p in range(number) if first + p in place}
        first += number
        if not mine:
            continue
        if isinstance(element, CompliantCoordinate):
            where = [flex.place[i] for i in at_dofs]
            for p, terms in enumerate(element.sensitivity(at.forces.q[where], at.posture)):
                for i, value in terms if p in mine else ():
                    bends.append((mine[p], where[i], value))
                    if where[i] in springs and element.constant_in_load:
                        pushes.append((mine[p], where[i], springs[where[i]] * value))
        elif isinstance(element, Load):
            for p, frame, resultant in element.resultant_sensitivity(at.state, model.gravity):
                if p in mine:
                    wrenches.append((mine[p], model.chain.level(frame), resultant))
            for p, joint, slope in element.axis_sensitivity(loaded, at.posture.resting) if loaded else ():
                at_joint = flex.place.get(model.chain.joint_dof(joint))
                if p in mine and at_joint is not None:  # a force on a rigid joint moves nothing
                    pushes.append((mine[p], at_joint, slope))
    _fill(out, at.reach, bends)
    for k, i, value in pushes:
        out[k] += at.bent[i] * value
    for k, level, resultant in wrenches:
        _add_work(out[k], at.carried(flex, level), resultant)
    return np.swapaxes(out, 0, 1)


Bend = tuple[int, int, Entry]
"""A parameter's column, the coordinate that it moves or pushes, and by how much."""


def _fill(out: Array, reach: Array, bends: Sequence[Bend]) -> None:
    """Columns (p, rows, N) = sums of reach (n, rows, N) times bends, those of a column one after the other.

    Many at once while they are short; long ones are added up while they are in cache.
    """
    scratch = np.empty(out.shape[1:])
    at_once, last = TOGETHER // max(1, scratch.size), -1
    if at_once > 1:
        starts = [b for a, b in pairwise([(-1, 0, 0.0), *bends]) if a[0] != b[0]]
        for some in (starts[i : i + at_once] for i in range(0, len(starts), at_once)):
            columns, where, values = map(list, zip(*some, strict=True))
            out[columns] = reach[where] * en.dense(values, out.shape[2])[:, None]
    for k, i, value in bends:
        if k == last:
            out[k] += np.multiply(reach[i], value, out=scratch)
        elif at_once <= 1:
            np.multiply(reach[i], value, out=out[k])
        last = k


def _add_work(out: Array, twists: Array, wrench: Resultant) -> None:
    """Add to (rows, N) the work of a wrench on the twist (6, rows, N) of every row."""
    force, moment = wrench.wrench()
    for twist, entry in zip(twists, (*force, *moment), strict=True):
        if not isinstance(entry, float) or entry != 0.0:
            out += twist * entry


def load_observation(
    model: Robot, q: object, load: AppliedWrenches, markers: Sequence[Marker], bent: Equilibrium
) -> Array:
    """Derivative (N, rows, 6) of the poses of markers by the components of their load, in the axes it is given in."""
    configurations, flex = model.configurations(q), assemble(model)
    unit = Wrench(frame=load.frame, follows=load.follows)
    out = np.zeros((len(configurations), sum(m.rows for m in markers), 6))
    for rows, posture, wrenches in chunks(model, configurations, [load], chunk_size(flex.n)):
        theta = np.where(bent.status[rows] == Status.CONVERGED, bent.theta[rows].T[list(flex.dofs)], 0.0)
        at = response(flex, posture, theta, wrenches, markers)
        part, twists = out[rows].transpose(1, 2, 0), at.carried(flex, model.chain.level(load.frame))
        for i, _, resultant in unit.resultant_sensitivity(at.state, model.gravity):
            _add_work(part[:, i], twists, resultant)
    out[bent.status != Status.CONVERGED] = np.nan
    return out


def joint_columns(flex: Flexibility, at: Response) -> Array:
    """Derivative (rows, n, N) of the markers by the joint values, loads held; ``flex`` as of ``flexible`` or more."""
    model = at.posture.model
    springs = _rest_tangents(flex, at)
    dofs = moved_dofs(at.posture)
    columns = np.empty((at.direct.shape[0], len(dofs), at.size))
    for k, dof in enumerate(dofs):
        i = flex.place[dof]
        columns[:, k] = at.reach[i] + at.bent[i] * springs[i] if i in springs else at.reach[i]
    out = columns[:, : len(model.joint_dofs)]
    out = out.copy() if model.leads is None else np.einsum("rdn,dj->rjn", out, model.leads)
    at.posture.add_slopes(columns, dofs, out)
    return np.asarray(out)


def _rest_tangents(flex: Flexibility, response: Response) -> dict[int, Array]:
    """Derivative of the axis forces by their joint's value at rest, which an offset moves: by coordinate."""
    out: dict[int, Array] = {}
    for i, axis in axis_forces(flex, response.posture, response.values):
        if axis.rest_tangent is not None:
            out[i] = out.get(i, 0.0) + axis.rest_tangent
    return out


TOGETHER = 20_000
"""Numbers of columns that are filled in one call: they stay in cache."""
LINEAR = 2 * CHUNK
"""Configurations per chunk of the linear matrix: what is written lies far apart, and long rows are written faster."""
Choice = tuple[CompliantCoordinate, tuple[int, ...], tuple[tuple[int, int], ...]]
"""An effect, where it acts, and own and table number of every parameter sought."""


def linear_observation(
    model: Robot,
    q: object,
    applied: Sequence[AppliedWrenches],
    markers: Sequence[Marker],
    parameters: Iterable[str] | None = None,
) -> tuple[tuple[str, ...], Array]:
    """Parameter names and the observation matrix (N, rows, p).

    The array is a view with the configurations stored last; ``np.ascontiguousarray`` makes it row by row.
    """
    configurations = model.configurations(q)
    total = len(configurations)
    check_rows(model, total, applied)
    if not markers:
        raise MissingError("no marker to observe; name at least one frame")
    chosen = _compliances(model, parameters)
    dofs = tuple(sorted({i for _, places, _ in chosen for i in places}))
    local = {dof: i for i, dof in enumerate(dofs)}
    names = _names(model, chosen)
    out = batch.room(len(names), sum(m.rows for m in markers), total)
    seen = tuple((m.frame, m.rows) for m in markers)
    workspace = np.empty((len(dofs) * (out.shape[1] + 1), min(LINEAR, total)))
    for rows, posture, wrenches in chunks(model, configurations, applied, LINEAR):
        reach, force = rigid_answer(posture, dofs, seen, wrenches, workspace)
        bends: list[Bend] = []
        column = count()
        for c, places, picks in chosen:
            at = [local[i] for i in places]
            terms = c.sensitivity(force[at], posture)
            bends += [(k, at[i], value) for p, _ in picks for k in (next(column),) for i, value in terms[p]]
        _fill(out[:, :, rows], reach, bends)
    return names, np.transpose(out, (2, 1, 0))


def linear_names(model: Robot, parameters: Iterable[str] | None = None) -> tuple[str, ...]:
    """Names of the columns, in order."""
    return _names(model, _compliances(model, parameters))


def _names(model: Robot, chosen: Sequence[Choice]) -> tuple[str, ...]:
    return tuple(model.parameter_names[i] for *_, picks in chosen for _, i in picks)


def _compliances(model: Robot, parameters: Iterable[str] | None) -> tuple[Choice, ...]:
    """Coordinates whose theta is linear in Q."""
    wanted = None if parameters is None else set(model.parameters.select(parameters))
    out: list[Choice] = []
    index = 0
    taken: set[int] = set()
    for element, places, number in zip(model.elements, model.places, model.parameter_counts, strict=True):
        if isinstance(element, CompliantCoordinate) and element.linear_in_force:
            picks = tuple((p, index + p) for p in range(number) if wanted is None or index + p in wanted)
            if picks:
                out.append((element, places, picks))
                taken |= {i for _, i in picks}
        index += number
    if wanted is not None and wanted - taken:
        name = model.parameters.names[min(wanted - taken)]
        raise UnsupportedError(
            f"parameter {name} is not a compliance: the linear model has no column for it, use the loaded model",
            value=name,
        )
    if not out:
        raise MissingError(f"robot {model.name} has no compliance to identify; add joint_compliance or link_compliance")
    return tuple(out)
