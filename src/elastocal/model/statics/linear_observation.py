"""The observation matrix of the linear deflection model (003 eq. 9, 22, 23).

The deflection is sum J k J^T W, so the column of an element k_ab of a spring is J_a Q_b with Q = J^T W, and a
symmetric pair gives J_a Q_b + J_b Q_a.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from elastocal.errors import MissingError, UnsupportedError
from elastocal.model.elements import CompliantCoordinate
from elastocal.model.kinematics import rigid_state
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.posture import Configurations
from elastocal.model.robot import Robot
from elastocal.model.statics.forces import CHUNK, check_rows
from elastocal.model.statics.observation import Marker
from elastocal.spatial.entries import Array
from elastocal.values import dataclass

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
    job = _Job.plan(model, q, applied, markers, parameters)
    out = np.empty((len(job.names), job.height, job.total))
    twists = job.workspace()
    for rows in job.slices():
        job.fill(rows, twists, out[:, :, rows])
    return job.names, np.transpose(out, (2, 1, 0))


def linear_names(model: Robot, parameters: Iterable[str] | None = None) -> tuple[str, ...]:
    """Names of the columns, in order."""
    table = model.parameters.names
    return tuple(table[i] for _, picks in _compliances(model, parameters) for _, i in picks)


@dataclass(frozen=True, eq=False)
class _Job:
    """What to fill, checked once."""

    model: Robot
    configurations: Configurations
    applied: tuple[AppliedWrenches, ...]
    markers: tuple[Marker, ...]
    chosen: tuple[Choice, ...]
    names: tuple[str, ...]
    dofs: tuple[int, ...]

    @classmethod
    def plan(
        cls,
        model: Robot,
        q: object,
        applied: Sequence[AppliedWrenches],
        markers: Sequence[Marker],
        parameters: Iterable[str] | None,
    ) -> _Job:
        configurations = model.configurations(q)
        check_rows(model, len(configurations), applied)
        if not markers:
            raise MissingError("no marker to observe; name at least one frame")
        chosen = _compliances(model, parameters)
        table = model.parameters.names
        names = tuple(table[i] for _, picks in chosen for _, i in picks)
        dofs = tuple(sorted({model.chain.index[d] for c, _ in chosen for d in c.dofs()}))
        return cls(model, configurations, tuple(applied), tuple(markers), chosen, names, dofs)

    @property
    def total(self) -> int:
        return len(self.configurations)

    @property
    def height(self) -> int:
        return sum(m.rows for m in self.markers)

    def slices(self) -> Iterator[slice]:
        return (slice(start, min(start + CHUNK, self.total)) for start in range(0, self.total, CHUNK))

    def workspace(self) -> dict[str, Array]:
        """Twists (n, 6, m) of every frame that is watched or loaded."""
        frames = dict.fromkeys([*(m.frame for m in self.markers), *(w.frame for w in self.applied)])
        return {frame: np.empty((len(self.dofs), 6, min(CHUNK, self.total))) for frame in frames}

    def fill(self, rows: slice, workspace: dict[str, Array], out: Array) -> None:
        """Write the columns of one chunk into (p, rows, m)."""
        count = rows.stop - rows.start
        posture = self.model.posture(self.configurations[rows])
        state = rigid_state(posture, self.dofs)
        twists = {frame: buffer[:, :, :count] for frame, buffer in workspace.items()}
        for frame, twist in twists.items():
            state.jacobian_into(frame, self.dofs, twist.swapaxes(0, 1))
        force = np.zeros((len(self.dofs), count))
        for w in self.applied:
            force += np.einsum("dan,an->dn", twists[w.frame], w.rows(rows, count).in_base(state))
        parts = [twists[m.frame][:, : m.rows] for m in self.markers]
        reach = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
        local = {dof: i for i, dof in enumerate(self.dofs)}
        column = 0
        for c, picks in self.chosen:
            at = [local[self.model.chain.index[d]] for d in c.dofs()]
            places: slice | list[int] = slice(at[0], at[-1] + 1) if at[-1] - at[0] + 1 == len(at) else at
            part = out[column : column + len(picks)]
            c.columns_into(reach[places], force[places], posture, [p for p, _ in picks], part)
            column += len(picks)


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
