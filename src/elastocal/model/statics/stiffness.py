"""Cartesian compliance and stiffness of a frame.

Unloaded (003 eq. 7): C = J k J^T with the Jacobian of all flexible coordinates.  With k = B B^T and the
factor R of (J B)^T = Q R, the stiffness is C^-1 = R^-1 R^-T: the matrix J k J^T is never formed for it,
so that near a singular configuration only half as many digits are lost.

Loaded (000 eq. 7): C = J (I - k D)^-1 k J^T at the loaded equilibrium, D the tangent of all loads
(external wrench, weights, compensator); K = C^-1.  It is symmetric only where the loads have a potential.

A robot with fewer than six flexible directions, or in a singular configuration, has a compliance and no
stiffness: the status says so and the stiffness is nan.

The section of a workspace in which the stiffness changes most is that over two of the joints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum

import numpy as np

from elastocal.model.chain import ChainState
from elastocal.model.kinematics import rigid_state
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.posture import Posture
from elastocal.model.robot import Robot
from elastocal.model.statics import sweep
from elastocal.model.statics.equilibrium import Equilibrium, Progress, Status, solve_chunk
from elastocal.model.statics.flexibility import Flexibility, assemble
from elastocal.model.statics.forces import check_rows, chunk_size, chunks, forces_at, state_at
from elastocal.spatial import batch
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass

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
            StiffnessStatus.SINGULAR: "rigid, or nearly so, in at least one direction (singular configuration or too "
            "few flexible joints): use the compliance",
            StiffnessStatus.NO_EQUILIBRIUM: "no stable, determined equilibrium at this load",
        }[self]


@dataclass(frozen=True, eq=False, repr=False)
class CartesianStiffness:
    """Compliance and stiffness (N, 6, 6) in base axes at the frame's origin, translation first, SI."""

    frame: str
    compliance: Array
    stiffness: Array
    status: Ints

    def rows(self, some: slice) -> CartesianStiffness:
        return CartesianStiffness(self.frame, self.compliance[some], self.stiffness[some], self.status[some])

    def principal(self) -> tuple[Array, Array]:
        """How far a newton moves the frame, free to turn: the axes of the ellipsoid of all directions of the force.

        Sizes (N, 3) in m/N, the softest first, and unit directions (N, 3, 3) in columns; nan where it is not known.
        """
        block = self.compliance[:, :3, :3]
        known = np.asarray(np.isfinite(block).all(axis=(1, 2)))
        directions, sizes, _ = np.linalg.svd(np.where(known[:, None, None], block, 0.0))
        return np.where(known[:, None], sizes, np.nan), np.where(known[:, None, None], directions, np.nan)

    def __repr__(self) -> str:
        give = np.nan_to_num(self.principal()[0][:, 0])
        most = f"{1e6 * float(give.max()):.4g} um/N along the softest direction" if len(give) else "none"
        return f"<Stiffness of {self.frame} at {len(give)} configurations: at most {most}>"


def stiffness(
    model: Robot, q: object, frame: str | None = None, progress: Progress | None = None
) -> CartesianStiffness:
    """Unloaded compliance and stiffness of joint values (N, n)."""
    at = frame or model.tool
    configurations = model.configurations(q)
    total = len(configurations)
    compliance, stiff = np.empty((total, 6, 6)), np.empty((total, 6, 6))
    status = np.empty(total, dtype=np.int64)
    for rows, c, k, s in stiffness_chunks(model, configurations, at):
        compliance[rows], stiff[rows], status[rows] = np.moveaxis(c, -1, 0), np.moveaxis(k, -1, 0), s
        if progress is not None:
            progress(rows.stop, total)
    return CartesianStiffness(at, compliance, stiff, status)


def stiffness_chunks(
    model: Robot, q: object, frame: str | None = None, *, compliance: bool = True
) -> Iterator[tuple[slice, Array, Array, Ints]]:
    """Rows, compliance, stiffness (6, 6, m) and status (m,), chunk by chunk: memory does not grow with N.

    The arrays are filled again for every chunk: use or copy them before asking for the next.
    """
    at = frame or model.tool
    level = model.chain.level(at)
    configurations = model.configurations(q)
    total = len(configurations)
    flex = assemble(model)
    root = flex.root()
    size = min(2 * chunk_size(flex.n), max(total, 1))
    work = np.zeros((3, 6, 6, size))
    arms = np.zeros((max(root.shape[1], 1), 6, size))
    twists = np.empty((flex.n + 1, 6, size))
    for rows, posture, _ in chunks(model, configurations, (), size):
        count = posture.size
        r, stiff, soft = work[:, :, :, :count]
        if level and flex.n:
            state = rigid_state(posture)
            _arms_into(state, at, flex, root, arms[:, :, :count], twists)
        else:
            arms[:] = 0.0
        batch.triangle(arms[:, :, :count], r)
        if compliance:
            np.einsum("rin,rjn->ijn", r, r, out=soft)
        yield rows, soft, stiff, _from_triangle(r, stiff)


def loaded_stiffness(
    model: Robot,
    q: object,
    applied: Sequence[AppliedWrenches] = (),
    frame: str | None = None,
    progress: Progress | None = None,
    bent: Equilibrium | None = None,
) -> CartesianStiffness:
    """Compliance and stiffness at the loaded equilibrium; without wrenches: under weights and springs alone.

    ``bent`` is that equilibrium, where it is known already.
    """
    at = frame or model.tool
    configurations = model.configurations(q)
    total = len(configurations)
    check_rows(model, total, applied)
    flex = assemble(model)
    out = np.full((2, 6, 6, total), np.nan)
    status = np.empty(total, dtype=np.int64)
    for rows, at_rows, wrenches in chunks(model, configurations, applied, chunk_size(flex.n)):
        if bent is None:
            full, _, solved, _, _ = solve_chunk(flex, at_rows, wrenches)
        else:
            full, solved = bent.theta[rows].T, bent.status[rows]
        part = _loaded_chunk(flex, at_rows, wrenches, at, full, solved)
        out[0, :, :, rows], out[1, :, :, rows], status[rows] = part
        if progress is not None:
            progress(rows.stop, total)
    compliance, stiff = np.moveaxis(out, -1, 1)
    return CartesianStiffness(at, compliance, stiff, status)


def _arms_into(state: ChainState, frame: str, flex: Flexibility, root: Array, out: Array, work: Array) -> None:
    """(J B)^T into (r, 6, N); sums over B run in a fixed order, so that a row's result is its own.

    ``work`` (n + 1, 6, N or more) is memory to use, and so is what ``out`` held.
    """
    if all(b.stop - b.start == 1 for b in flex.blocks) and root.shape == (flex.n, flex.n):
        state.jacobian_into(frame, flex.dofs, out.swapaxes(0, 1))
        out *= np.diag(root)[:, None, None]
        return
    twists, scratch = work[:-1, :, : state.size], work[-1, :, : state.size]
    state.jacobian_into(frame, flex.dofs, twists.swapaxes(0, 1))
    for r, column in enumerate(root.T):
        first, *others = np.flatnonzero(column).tolist()
        np.multiply(twists[first], column[first], out=out[r])
        for i in others:
            out[r] += np.multiply(twists[i], column[i], out=scratch)


def _from_triangle(r: Array, stiff: Array) -> Ints:
    """Stiffness from R, nan where a pivot vanishes beside its column; the status."""
    lost = np.zeros(r.shape[2], dtype=bool)
    for j in range(6):
        column = np.einsum("mn,mn->n", r[: j + 1, j], r[: j + 1, j])
        lost |= ~(r[j, j] ** 2 > SINGULAR**2 * column)
    if lost.any():
        r[:, :, lost] = np.eye(6)[:, :, None]
    batch.inverse_gram(r, stiff)
    stiff[:, :, lost] = np.nan
    return np.where(lost, StiffnessStatus.SINGULAR, StiffnessStatus.EXISTS)


def _loaded_chunk(
    flex: Flexibility,
    posture: Posture,
    applied: tuple[AppliedWrenches, ...],
    frame: str,
    full: Array,
    solved: Ints,
) -> tuple[Array, Array, Ints]:
    """At theta (m, N) of the whole chain, where that is an equilibrium."""
    lost = solved != Status.CONVERGED
    theta = np.where(lost, 0.0, full[list(flex.dofs)])
    compliance = _loaded_compliance(flex, posture, theta, applied, frame)
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
    flex: Flexibility, posture: Posture, theta: Array, applied: Sequence[AppliedWrenches], frame: str
) -> Array:
    if flex.n == 0:
        return np.zeros((6, 6, posture.size))
    state, _ = state_at(flex, posture, theta)
    forces = forces_at(flex, posture, theta, applied)
    backlash = flex.backlash(forces.q)[1] if flex.backlashes else None
    jacobian = state.jacobian(frame, flex.dofs)
    bent = flex.bend(slice(0, flex.n), jacobian.swapaxes(0, 1), backlash)
    response, _ = sweep.solve(flex, forces, bent, backlash)
    return batch.matmul(jacobian, response)


def softest(stiffness: CartesianStiffness) -> Array:
    """Translational stiffness in the softest direction, free to turn: 1 / largest displacement per newton."""
    return softest_of(np.moveaxis(stiffness.compliance, 0, -1))


def softest_of(compliance: Array) -> Array:
    """The same of compliances (6, 6, N), configurations last; nan where nothing gives way, or it is not known.

    The largest singular value of a block C is the root of the largest eigenvalue of C^T C, a cubic with three real
    roots: with C^T C = m I + B, m = tr / 3, that is m + 2 s cos(arccos(det B / 2 s^3) / 3), s^2 = tr B^2 / 6.
    For maps of millions of points it takes a fraction of the time of singular values; where the two softest directions
    give way alike half of its digits are left, 1e-8.
    """
    c = compliance[:3, :3]
    b = np.einsum("kin,kjn->ijn", c, c)
    mean = (b[0, 0] + b[1, 1] + b[2, 2]) / 3
    for i in range(3):
        b[i, i] -= mean
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = b
    size = np.sqrt((xx * xx + yy * yy + zz * zz + 2 * (xy * xy + xz * xz + yz * yz)) / 6)
    det = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz)
    some = np.where(size > 0, size, 1.0)
    angle = np.arccos(np.clip(det / some / some / some / 2, -1.0, 1.0)) / 3
    square = mean + 2 * size * np.cos(angle)
    return np.where(square > 0, 1.0 / np.sqrt(np.where(square > 0, square, 1.0)), np.nan)


TRIED = 9
"""Values of each joint that are compared to choose the joints."""


@dataclass(frozen=True, eq=False)
class StiffnessSection:
    """``joints`` move from ``low`` to ``high`` (n,), the others stand as in ``middle`` (n,)."""

    joints: tuple[int, int]
    middle: Array
    low: Array
    high: Array


def stiffness_section(model: Robot, q: Array) -> StiffnessSection:
    """Through the middle one of poses (N, n)."""
    middle = q[int(np.argmin(np.linalg.norm((q - q.mean(axis=0)) / (np.ptp(q, axis=0) + 1e-9), axis=1)))]
    low, high = _ranges(model, q)
    first, second = sorted(np.argsort(-_effect(model, middle, low, high), kind="stable")[:2])
    return StiffnessSection((int(first), int(second)), middle, low, high)


def _ranges(model: Robot, q: Array) -> tuple[Array, Array]:
    """Limits of every joint; without limits as far as it was moved, and a quarter turn or 0.1 m at least."""
    ends = []
    for motion, values in zip(model.motions, q.T, strict=True):
        least = np.pi / 4 if motion.kind == "revolute" else 0.05
        middle, half = float(values.max() + values.min()) / 2, max(least, float(np.ptp(values)) / 2)
        ends.append(motion.limits or (middle - half, middle + half))
    return np.array([e[0] for e in ends]), np.array([e[1] for e in ends])


def _effect(model: Robot, middle: Array, low: Array, high: Array) -> Array:
    """How much each joint changes the stiffness in the softest direction: the spread of its logarithm, (n,)."""
    tried = np.repeat(middle[None, None], model.n, axis=0).repeat(TRIED, axis=1)
    for k in range(model.n):
        tried[k, :, k] = np.linspace(low[k], high[k], TRIED)
    effect = np.log(softest(stiffness(model, tried.reshape(-1, model.n)))).reshape(model.n, TRIED)
    known = np.isfinite(effect)
    centre = np.where(known, effect, 0.0).sum(axis=1, keepdims=True) / np.maximum(known.sum(axis=1, keepdims=True), 1)
    return np.asarray(np.where(known, np.abs(effect - centre), 0.0).max(axis=1))
