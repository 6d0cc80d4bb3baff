"""How measured poses depend on the parameters: the matrices that identification solves with.

Linear model (003 eq. 9, 22, 23): the deflection is sum J k J^T W, so the column of an element k_ab of a
spring is J_a Q_b, with Q = J^T W; a symmetric pair gives J_a Q_b + J_b Q_a.

Loaded model: with Lambda = J_out (I - k D)^-1 at the loaded equilibrium, a parameter p that changes
theta at fixed force has the column Lambda dtheta/dp, one that changes a load has Lambda k dQ/dp.
So compliances, backlash, geometry, masses and springs all use one formula.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from elastocal.errors import InputError
from elastocal.model.elements import CompliantCoordinate, Load
from elastocal.model.kinematics import rigid_state
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import RobotModel
from elastocal.model.statics import sweep
from elastocal.model.statics.equilibrium import Status, forces_at, solve_chunk
from elastocal.model.statics.flexibility import Flexibility, assemble
from elastocal.model.statics.forces import generalised, joint_values
from elastocal.model.statics.state import check_rows, chunk_size, commanded_values, state_at
from elastocal.spatial.entries import Array, Ints


@dataclass(frozen=True)
class Marker:
    """What is measured of a frame: its position (3 rows) or its full pose (6 rows, translation first)."""

    frame: str
    what: Literal["position", "pose"] = "position"

    @property
    def rows(self) -> int:
        return 3 if self.what == "position" else 6


Chunk = tuple[slice, Array]
CHUNK = 2048


def linear_observation(
    model: RobotModel,
    q: object,
    applied: Sequence[AppliedWrenches],
    markers: Sequence[Marker],
    parameters: Iterable[str] | None = None,
) -> tuple[tuple[str, ...], Array]:
    """Parameter names and the observation matrix (N, rows, p) of the linear deflection model.

    The array is a view with the configurations stored last; ``np.ascontiguousarray`` makes it row by row.
    """
    configurations = model.joint_values(q)
    chosen, names = _chosen(model, configurations, applied, parameters)
    out = np.empty((len(names), sum(m.rows for m in markers), len(configurations)))
    for rows in _slices(len(configurations)):
        _fill(
            model,
            configurations[rows],
            [w.rows(rows, rows.stop - rows.start) for w in applied],
            markers,
            chosen,
            out[:, :, rows],
        )
    return names, np.transpose(out, (2, 1, 0))


def linear_observation_chunks(
    model: RobotModel,
    q: object,
    applied: Sequence[AppliedWrenches],
    markers: Sequence[Marker],
    parameters: Iterable[str] | None = None,
) -> tuple[tuple[str, ...], Iterator[Chunk]]:
    """The same chunk by chunk, each (p, rows, m) with configurations last: memory does not grow with N.

    One buffer is filled again and again: use or copy a chunk before asking for the next.
    """
    configurations = model.joint_values(q)
    chosen, names = _chosen(model, configurations, applied, parameters)

    def stream() -> Iterator[Chunk]:
        buffer = np.empty((len(names), sum(m.rows for m in markers), CHUNK))
        for rows in _slices(len(configurations)):
            count = rows.stop - rows.start
            part = buffer[:, :, :count]
            _fill(model, configurations[rows], [w.rows(rows, count) for w in applied], markers, chosen, part)
            yield rows, part

    return names, stream()


def _slices(total: int) -> Iterator[slice]:
    return (slice(start, min(start + CHUNK, total)) for start in range(0, total, CHUNK))


def _chosen(
    model: RobotModel, configurations: Array, applied: Sequence[AppliedWrenches], parameters: Iterable[str] | None
) -> tuple[tuple[Choice, ...], tuple[str, ...]]:
    check_rows(model, len(configurations), applied)
    chosen = _compliances(model, parameters)
    return chosen, tuple(model.parameters.names[i] for _, picks in chosen for _, i in picks)


Choice = tuple[CompliantCoordinate, tuple[tuple[int, int], ...]]


def _compliances(model: RobotModel, parameters: Iterable[str] | None) -> tuple[Choice, ...]:
    """Coordinates whose theta is linear in Q, with (own number, table index) of the parameters sought."""
    wanted = None if parameters is None else set(model.parameters.select(parameters))
    out: list[Choice] = []
    index = 0
    taken: set[int] = set()
    for element in model.elements:
        count = len(element.parameters(model.tree))
        if isinstance(element, CompliantCoordinate) and element.linear_in_force:
            picks = tuple((p, index + p) for p in range(count) if wanted is None or index + p in wanted)
            if picks:
                out.append((element, picks))
                taken |= {i for _, i in picks}
        index += count
    if wanted is not None and wanted - taken:
        name = model.parameters.names[min(wanted - taken)]
        raise InputError(
            f"parameter {name} is not a compliance: the linear model has no column for it, use the loaded model"
        )
    if not out:
        raise InputError(f"robot {model.name} has no compliance to identify; add joint_compliance or link_compliance")
    return tuple(out)


def _fill(
    model: RobotModel,
    configurations: Array,
    applied: Sequence[AppliedWrenches],
    markers: Sequence[Marker],
    chosen: tuple[Choice, ...],
    out: Array,
) -> None:
    """Write the columns of one chunk into (p, rows, m)."""
    index = model.chain.index
    dofs = sorted({index[d] for c, _ in chosen for d in c.dofs()})
    local = {dof: i for i, dof in enumerate(dofs)}
    state = rigid_state(model, np.ascontiguousarray(configurations.T), tuple(dofs))
    twists: dict[str, Array] = {}
    for frame in {m.frame for m in markers} | {w.frame for w in applied}:
        twists[frame] = np.empty((len(dofs), 6, state.size))
        state.jacobian_into(frame, dofs, twists[frame].swapaxes(0, 1))
    force = np.zeros((len(dofs), state.size))
    for w in applied:
        force += np.einsum("dan,an->dn", twists[w.frame], w.in_base(state))
    parts = [twists[m.frame][:, : m.rows] for m in markers]
    reach = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
    column = 0
    for c, picks in chosen:
        at = [local[index[d]] for d in c.dofs()]
        places: slice | list[int] = slice(at[0], at[-1] + 1) if at[-1] - at[0] + 1 == len(at) else at
        c.columns_into(reach[places], force[places], [p for p, _ in picks], out[column : column + len(picks)])
        column += len(picks)


def loaded_observation(
    model: RobotModel,
    q: object,
    applied: Sequence[AppliedWrenches],
    markers: Sequence[Marker],
    parameters: Iterable[str] | None = None,
) -> tuple[tuple[str, ...], Array, Ints]:
    """Names, derivative (N, rows, p) of the loaded marker poses by any parameters, and status (N,).

    Orientation rows are the small rotation in base axes.  Rows of configurations without a determined
    equilibrium are nan.  The derivative of a deflection is the loaded matrix minus the unloaded one.
    """
    configurations = model.joint_values(q)
    total = len(configurations)
    check_rows(model, total, applied)
    picked = model.parameters.select(parameters)
    also = sorted({model.chain.index[d] for c in model.coordinates for d in c.dofs()})
    flex = assemble(model, also)
    out = np.empty((total, sum(m.rows for m in markers), len(picked)))
    status = np.empty(total, dtype=np.int64)
    size = chunk_size(flex.n)
    for start in range(0, total, size):
        rows = slice(start, min(start + size, total))
        wrenches = tuple(w.rows(rows, rows.stop - rows.start) for w in applied)
        q_chunk = np.ascontiguousarray(configurations[rows].T)
        part, status[rows] = _loaded_chunk(model, flex, q_chunk, wrenches, markers)
        out[rows] = np.moveaxis(part[:, list(picked)], -1, 0)
    out[status != Status.CONVERGED] = np.nan
    return tuple(model.parameters.names[i] for i in picked), out, status


def _loaded_chunk(
    model: RobotModel,
    flex: Flexibility,
    q: Array,
    applied: tuple[AppliedWrenches, ...],
    markers: Sequence[Marker],
) -> tuple[Array, Ints]:
    full, _, status, _, _ = solve_chunk(model, flex, q, applied)
    theta = np.where(status == Status.CONVERGED, full[list(flex.dofs)], 0.0)
    state, values = state_at(model, flex, q, theta)
    forces = forces_at(model, flex, q, theta, applied)
    play = flex.play(forces.q)[1] if flex.plays else None
    direct = np.concatenate([state.jacobian(m.frame, flex.dofs)[: m.rows] for m in markers])
    reach = sweep.transposed(flex, forces, direct.swapaxes(0, 1), play)
    bent = flex.linear(reach) if play is None else flex.linear(reach) + np.einsum("jin,jrn->irn", play, reach)
    out = np.zeros((direct.shape[0], len(model.parameters), q.shape[1]))
    local = {dof: i for i, dof in enumerate(flex.dofs)}
    loaded, commanded = joint_values(model, values, q.shape[1]), commanded_values(model, q)
    column = 0
    for element in model.elements:
        if isinstance(element, CompliantCoordinate):
            at = [local[model.chain.index[d]] for d in element.dofs()]
            for p, terms in enumerate(element.sensitivity(forces.q[at])):
                for i, value in terms:
                    out[:, column + p] += reach[at[i]] * value
        elif isinstance(element, Load):
            for p, frame, resultant in element.resultant_sensitivity(state, model.gravity):
                push = generalised(flex, forces.screws, [(model.chain.level(frame), resultant)])
                out[:, column + p] += np.einsum("irn,in->rn", bent, push)
            for p, joint, slope in element.axis_sensitivity(loaded, commanded):
                at_joint = local.get(model.chain.joint_dof(joint))
                if at_joint is not None:  # a force on a rigid joint moves nothing
                    out[:, column + p] += bent[at_joint] * slope
        column += len(element.parameters(model.tree))
    return out, status
