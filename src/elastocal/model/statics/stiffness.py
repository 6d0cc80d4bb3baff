"""Cartesian compliance and stiffness of a frame.

Unloaded (003 eq. 7): C = J k J^T with the Jacobian of all flexible coordinates.  With k = B B^T and the
factor R of (J B)^T = Q R, the stiffness is C^-1 = R^-1 R^-T: the matrix J k J^T is never formed for it,
so that near a singular configuration only half as many digits are lost.

Loaded (000 eq. 7): C = J (I - k D)^-1 k J^T at the loaded equilibrium, D the tangent of all loads
(external wrench, weights, compensator); K = C^-1.  It is symmetric only where the loads have a potential.

A robot with fewer than six flexible directions, or in a singular configuration, has a compliance and no
stiffness: the status says so and the stiffness is nan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from elastocal.model.kinematics import rigid_state
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import RobotModel
from elastocal.model.statics import sweep
from elastocal.model.statics.equilibrium import Progress, Status, forces_at, solve_chunk
from elastocal.model.statics.flexibility import Flexibility, assemble
from elastocal.model.statics.state import check_rows, chunk_size, state_at
from elastocal.spatial import batch
from elastocal.spatial.entries import Array, Ints

SINGULAR = 1e-10


class StiffnessStatus(IntEnum):
    """Whether the 6x6 stiffness exists."""

    EXISTS = 0
    SINGULAR = 1
    NO_EQUILIBRIUM = 2

    @property
    def text(self) -> str:
        return {
            StiffnessStatus.EXISTS: "stiffness exists",
            StiffnessStatus.SINGULAR: "rigid in at least one direction (singular configuration or too few flexible "
            "joints): use the compliance",
            StiffnessStatus.NO_EQUILIBRIUM: "no stable, determined equilibrium at this load",
        }[self]


@dataclass(frozen=True, eq=False)
class CartesianStiffness:
    """Compliance and stiffness (N, 6, 6) in base axes at the frame's origin, translation first, SI."""

    frame: str
    compliance: Array
    stiffness: Array
    status: Ints


def stiffness(
    model: RobotModel, q: object, frame: str | None = None, progress: Progress | None = None
) -> CartesianStiffness:
    """Unloaded compliance and stiffness of joint values (N, n)."""
    at = frame or model.tool
    configurations = model.joint_values(q)
    total = len(configurations)
    compliance, stiff = np.empty((total, 6, 6)), np.empty((total, 6, 6))
    status = np.empty(total, dtype=np.int64)
    for rows, c, k, s in stiffness_chunks(model, configurations, at):
        compliance[rows], stiff[rows], status[rows] = np.moveaxis(c, -1, 0), np.moveaxis(k, -1, 0), s
        if progress is not None:
            progress(rows.stop, total)
    return CartesianStiffness(at, compliance, stiff, status)


def stiffness_chunks(
    model: RobotModel, q: object, frame: str | None = None, *, compliance: bool = True
) -> Iterator[tuple[slice, Array, Array, Ints]]:
    """Rows, compliance, stiffness (6, 6, m) and status (m,), chunk by chunk: memory does not grow with N."""
    at = frame or model.tool
    level = model.chain.level(at)
    configurations = model.joint_values(q)
    total = len(configurations)
    flex = assemble(model)
    root = flex.root()
    size = chunk_size(flex.n)
    empty = np.empty((6, 6, 0))
    for start in range(0, total, size):
        rows = slice(start, min(start + size, total))
        state = rigid_state(model, np.ascontiguousarray(configurations[rows].T), flex.dofs)
        if level == 0 or flex.n == 0:
            arms = np.zeros((1, 6, rows.stop - rows.start))
        else:
            arms = _arms(state.jacobian(at, flex.dofs), root)
        r, norms = batch.triangle(arms)
        stiff, status = _from_triangle(r, norms)
        yield rows, (batch.matmul_t(arms, arms) if compliance else empty), stiff, status


def loaded_stiffness(
    model: RobotModel,
    q: object,
    applied: Sequence[AppliedWrenches] = (),
    frame: str | None = None,
    progress: Progress | None = None,
) -> CartesianStiffness:
    """Compliance and stiffness at the loaded equilibrium; without wrenches: under weights and springs alone."""
    at = frame or model.tool
    configurations = model.joint_values(q)
    total = len(configurations)
    check_rows(model, total, applied)
    flex = assemble(model)
    out = np.full((2, 6, 6, total), np.nan)
    status = np.empty(total, dtype=np.int64)
    size = chunk_size(flex.n)
    for start in range(0, total, size):
        rows = slice(start, min(start + size, total))
        q_chunk = np.ascontiguousarray(configurations[rows].T)
        wrenches = tuple(w.rows(rows, rows.stop - rows.start) for w in applied)
        out[0, :, :, rows], out[1, :, :, rows], status[rows] = _loaded_chunk(model, flex, q_chunk, wrenches, at)
        if progress is not None:
            progress(rows.stop, total)
    compliance, stiff = np.moveaxis(out, -1, 1)
    return CartesianStiffness(at, compliance, stiff, status)


def _arms(jacobian: Array, root: Array) -> Array:
    """(J B)^T as (r, 6, N)."""
    if root.shape[0] == root.shape[1] and np.array_equal(root, np.diag(np.diag(root))):
        return np.asarray(np.diag(root)[:, None, None] * jacobian.swapaxes(0, 1))
    return np.asarray(np.einsum("ir,ain->ran", root, jacobian, optimize=True))


def _from_triangle(r: Array, norms: Array) -> tuple[Array, Ints]:
    diagonal = np.arange(6)
    pivots = r[diagonal, diagonal]
    singular = np.any(~(pivots > SINGULAR * norms), axis=0)
    if singular.any():
        r = np.where(singular, np.eye(6)[:, :, None], r)
    stiff = batch.inverse_gram(r)
    if singular.any():
        stiff[:, :, singular] = np.nan
    return stiff, np.where(singular, StiffnessStatus.SINGULAR, StiffnessStatus.EXISTS)


def _loaded_chunk(
    model: RobotModel, flex: Flexibility, q: Array, applied: tuple[AppliedWrenches, ...], frame: str
) -> tuple[Array, Array, Ints]:
    full, _, solved, _, _ = solve_chunk(model, flex, q, applied)
    lost = solved != Status.CONVERGED
    theta = np.where(lost, 0.0, full[list(flex.dofs)])
    compliance = _loaded_compliance(model, flex, q, theta, applied, frame)
    scale = np.sqrt(np.einsum("iin->in", np.abs(compliance)))
    unit = np.where(scale > 0, scale, 1.0)
    even = np.moveaxis(compliance / (unit[:, None] * unit[None]), -1, 0)
    even = np.where(lost[:, None, None], np.eye(6), even)
    values = np.linalg.svd(even, compute_uv=False)
    singular = values[:, -1] <= SINGULAR * values[:, 0]
    safe = np.where(singular[:, None, None], np.eye(6), even)
    stiff = np.moveaxis(np.linalg.inv(safe), 0, -1) / (unit[:, None] * unit[None])
    stiff[:, :, singular | lost] = np.nan
    compliance[:, :, lost] = np.nan
    status = np.where(singular, StiffnessStatus.SINGULAR, StiffnessStatus.EXISTS)
    return compliance, stiff, np.where(lost, StiffnessStatus.NO_EQUILIBRIUM, status)


def _loaded_compliance(
    model: RobotModel,
    flex: Flexibility,
    q: Array,
    theta: Array,
    applied: Sequence[AppliedWrenches],
    frame: str,
) -> Array:
    if flex.n == 0:
        return np.zeros((6, 6, q.shape[1]))
    state, _ = state_at(model, flex, q, theta)
    forces = forces_at(model, flex, q, theta, applied)
    play = flex.play(forces.q)[1] if flex.plays else None
    jacobian = state.jacobian(frame, flex.dofs)
    bent = flex.linear(jacobian.swapaxes(0, 1))
    if play is not None:
        bent = bent + np.einsum("ijn,ajn->ian", play, jacobian)
    response, _ = sweep.solve(flex, forces, bent, play)
    return batch.matmul(jacobian, response)
