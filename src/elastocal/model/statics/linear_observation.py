"""The observation matrix of the linear deflection model (003 eq. 9, 22, 23).

The deflection is sum J k J^T W, so the column of an element k_ab of a spring is J_a Q_b with Q = J^T W, and a
symmetric pair gives J_a Q_b + J_b Q_a.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from elastocal.errors import MissingError, UnsupportedError
from elastocal.model.elements import CompliantCoordinate
from elastocal.model.kinematics import rigid_state
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.forces import CHUNK, check_rows, chunks
from elastocal.model.statics.observation import Marker
from elastocal.spatial.entries import Array

Choice = tuple[CompliantCoordinate, tuple[tuple[int, int], ...]]


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
    dofs = tuple(sorted({model.chain.index[d] for c, _ in chosen for d in c.dofs()}))
    local = {dof: i for i, dof in enumerate(dofs)}
    names = _names(model, chosen)
    out = np.empty((len(names), sum(m.rows for m in markers), total))
    frames = dict.fromkeys([*(m.frame for m in markers), *(w.frame for w in applied)])
    workspace = {frame: np.empty((len(dofs), 6, min(CHUNK, total))) for frame in frames}
    for rows, posture, wrenches in chunks(model, configurations, applied, CHUNK):
        state = rigid_state(posture, dofs)
        twists = {frame: buffer[:, :, : posture.size] for frame, buffer in workspace.items()}
        for frame, twist in twists.items():
            state.jacobian_into(frame, dofs, twist.swapaxes(0, 1))
        force = np.zeros((len(dofs), posture.size))
        for w in wrenches:
            force += np.einsum("dan,an->dn", twists[w.frame], w.in_base(state))
        parts = [twists[m.frame][:, : m.rows] for m in markers]
        reach = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
        column = 0
        for c, picks in chosen:
            at = [local[model.chain.index[d]] for d in c.dofs()]
            places: slice | list[int] = slice(at[0], at[-1] + 1) if at[-1] - at[0] + 1 == len(at) else at
            part = out[column : column + len(picks), :, rows]
            c.columns_into(reach[places], force[places], posture, [p for p, _ in picks], part)
            column += len(picks)
    return names, np.transpose(out, (2, 1, 0))


def linear_names(model: Robot, parameters: Iterable[str] | None = None) -> tuple[str, ...]:
    """Names of the columns, in order."""
    return _names(model, _compliances(model, parameters))


def _names(model: Robot, chosen: Sequence[Choice]) -> tuple[str, ...]:
    return tuple(model.parameter_names[i] for _, picks in chosen for _, i in picks)


def _compliances(model: Robot, parameters: Iterable[str] | None) -> tuple[Choice, ...]:
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
        raise UnsupportedError(
            f"parameter {name} is not a compliance: the linear model has no column for it, use the loaded model",
            value=name,
        )
    if not out:
        raise MissingError(f"robot {model.name} has no compliance to identify; add joint_compliance or link_compliance")
    return tuple(out)
