"""Deflection of a frame under external load: loaded minus unloaded state, weights and springs in both.

The linear deflection is a sum over elements, so each has a share of its own (``contributions``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeGuard

import numpy as np

from elastocal.arguments import check_type
from elastocal.model.compliant.joint_backlash import JointBacklash
from elastocal.model.elements import CompliantCoordinate
from elastocal.model.kinematics import rigid_state
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.equilibrium import Equilibrium, Progress, Status, equilibrium
from elastocal.model.statics.flexibility import assemble
from elastocal.model.statics.forces import CHUNK, check_rows, chunk_size, chunks, generalised, placed_wrenches
from elastocal.results import as_frame
from elastocal.spatial.entries import Array, Bools, Entry, Ints
from elastocal.spatial.rotation import rotation_vector
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False, repr=False)
class FrameDeflection:
    """Translation (N, 3) in m and rotation vector (N, 3) in rad of a frame's origin, in base axes."""

    frame: str
    translation: Array
    rotation: Array
    status: Ints
    load_factor: Array

    def __repr__(self) -> str:
        size = self.distance
        lost = int(np.isnan(size).sum())
        most = f"{1e3 * float(np.nanmax(size)):.4g} mm at most" if lost < len(size) else "no determined state"
        return f"<Deflection of {self.frame} at {len(size)} configurations: {most}; {lost} without a determined state>"

    @property
    def twist(self) -> Array:
        return np.concatenate([self.translation, self.rotation], axis=1)

    @cached_property
    def distance(self) -> Array:
        """(N,) in m."""
        return np.asarray(np.linalg.norm(self.translation, axis=1))

    @cached_property
    def angle(self) -> Array:
        """(N,) in rad."""
        return np.asarray(np.linalg.norm(self.rotation, axis=1))

    def to_frame(self) -> object:
        """One row for every configuration: m and rad."""
        names = ("dx", "dy", "dz", "rx", "ry", "rz")
        return as_frame([dict(zip(names, map(float, row), strict=True)) for row in self.twist])


def linear_deflection(
    model: Robot, q: object, applied: Sequence[AppliedWrenches], frame: str | None = None
) -> FrameDeflection:
    """Sum of J k J^T W at the commanded configuration (003 eq. 8): small deflections, no weight, no backlash."""
    at = frame or model.tool
    configurations = model.configurations(q)
    total = len(configurations)
    check_rows(model, total, applied)
    flex = assemble(model)
    out = np.zeros((6, total))
    for rows, posture, wrenches in chunks(model, configurations, applied, chunk_size(flex.n)):
        state = rigid_state(posture)
        force = generalised(flex, state.columns(flex.dofs), placed_wrenches(model, state, wrenches))
        out[:, rows] = np.einsum("ain,in->an", state.jacobian(at, flex.dofs), flex.linear(force))
    return FrameDeflection(at, out[:3].T, out[3:].T, np.zeros(total, dtype=np.int64), np.full(total, np.nan))


def deflection(
    model: Robot,
    q: object,
    applied: Sequence[AppliedWrenches] | Array | Sequence[float],
    frame: str | None = None,
    progress: Progress | None = None,
) -> FrameDeflection:
    """Finite deflection between the two equilibria of joint values (N, n) in rad and m.

    ``applied`` are wrenches at named frames, or one array (6,) or (N, 6) in N and N m on the tool, base axes.
    """
    at = frame or model.tool
    if not _named(applied):
        check_type("applied", applied, Array)
        applied = (AppliedWrenches(model.tool, np.asarray(applied, dtype=float)),)
    applied = tuple(applied)
    configurations = model.configurations(q)
    total = len(configurations)
    half = None if progress is None else (lambda done, _: progress(done, 2 * total))
    rest = None if progress is None else (lambda done, _: progress(total + done, 2 * total))
    unloaded = equilibrium(model, configurations, (), progress=half)
    loaded = equilibrium(model, configurations, applied, progress=rest)
    p0, r0 = frame_pose(model, configurations, unloaded, at)
    p1, r1 = frame_pose(model, configurations, loaded, at)
    turn = rotation_vector(np.einsum("ijn,kjn->ikn", r1, r0))
    status = np.where(unloaded.status != Status.CONVERGED, unloaded.status, loaded.status)
    shift = p1 - p0
    shift[:, status != Status.CONVERGED] = turn[:, status != Status.CONVERGED] = np.nan
    return FrameDeflection(at, shift.T, turn.T, status, loaded.load_factor)


def _named(applied: object) -> TypeGuard[Sequence[AppliedWrenches]]:
    """Whether wrenches say at which frame they act; none do."""
    return isinstance(applied, list | tuple) and all(isinstance(w, AppliedWrenches) for w in applied)


def frame_pose(model: Robot, q: object, bent: Equilibrium, frame: str) -> tuple[Array, Array]:
    """Origin (3, N) and rotation (3, 3, N) of a frame in a bent state."""
    return frame_poses(model, q, bent, (frame,))[0]


def frame_poses(model: Robot, q: object, bent: Equilibrium, frames: Sequence[str]) -> list[tuple[Array, Array]]:
    """The same of several frames."""
    kept = bent.states_of(model, q)
    if kept is not None:
        lost = bent.status != Status.CONVERGED
        return [(_with_gaps(kept.poses.origin(f), lost), _with_gaps(kept.poses.rotation(f), lost)) for f in frames]
    values, chain = model.joint_values(q), model.chain
    out = [(np.empty((3, len(values))), np.empty((3, 3, len(values)))) for _ in frames]
    for first in range(0, len(values), CHUNK):
        rows = slice(first, first + CHUNK)
        some = values[rows]
        theta: list[Entry] = [np.ascontiguousarray(t) for t in bent.theta[rows].T]
        state = chain.evaluate(chain.values(some.T, theta), len(some))
        for frame, (origin, turn) in zip(frames, out, strict=True):
            origin[:, rows], turn[:, :, rows] = state.origin(frame), state.rotation(frame)
    return out


def _with_gaps(values: Array, lost: Bools) -> Array:
    """Values (..., N), nan where they are not known; ``values`` are used up."""
    if lost.any():
        values[..., lost] = np.nan
    return values


@dataclass(frozen=True)
class Contribution:
    """An element's part of the linear deflection: along the total (signed, m), its length (m), and the share."""

    element: str
    along: float
    length: float
    share: float


def contributions(model: Robot, q: Array, applied: AppliedWrenches, frame: str) -> tuple[Contribution, ...]:
    """Largest share first, for one configuration; shares add up to one, and are nan where nothing moves."""
    total = linear_deflection(model, q, [applied], frame).translation[0]
    size = float(np.linalg.norm(total))
    unit = total / size if size > 0 else np.full(3, np.nan)
    out = []
    for element in model.coordinates:
        if not element.compliance().any():
            continue
        part = linear_deflection(_alone(model, element), q, [applied], frame).translation[0]
        along = float(part @ unit)
        share = along / size if size > 0 else float("nan")
        out.append(Contribution(_words(element), along, float(np.linalg.norm(part)), share))
    return tuple(sorted(out, key=lambda c: -c.along if c.along == c.along else 0.0))


def _alone(model: Robot, kept: CompliantCoordinate) -> Robot:
    """The robot with one compliance; geometric errors and loads stay."""
    stiff = {id(c) for c in model.coordinates if c is not kept and c.compliance().any()}
    return replace(model, elements=tuple(e for e in model.elements if id(e) not in stiff))


def _words(element: CompliantCoordinate) -> str:
    return f"{element.kind.replace('_compliance', '')} {element.place}"


def joint_looseness(model: Robot, bent: Equilibrium) -> Array | None:
    """Sd (N, n) of joints within backlash whose side is not certain (``transition``); None where none has it.

    ``bent`` may be of other values of the model's parameters, at which these joints bend too.
    """
    out = None
    for c in (y.coordinate for y in model.compliant if y.has_backlash):
        if isinstance(c, JointBacklash) and not c.sharp and c.joint in model.joints:
            out = np.zeros((len(bent.force), model.n)) if out is None else out
            out[:, model.joints.index(c.joint)] = c.looseness(bent.force_on(model.chain.index[c.dofs()[0]]))
    return out
