"""Arcs of markers on one rigid body: one common rotation per pose, or the direction of the spring as well.

Beyond 000 eq. (18), which lets every marker turn by an angle of its own.  What is known more makes the centre more
certain, if it is true; ``arcs.variants`` says whether the points agree with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from elastocal.arcs.axis_problem import AxisProblem
from elastocal.arcs.body_problem import BodyProblem
from elastocal.arcs.concentric import algebraic
from elastocal.arcs.estimate import estimated
from elastocal.arcs.markers_fit import MarkersFit
from elastocal.arcs.pointing_problem import PointingProblem
from elastocal.arcs.points import Markers, as_markers, as_noise, as_points
from elastocal.arcs.problem import ArcProblem, minimise
from elastocal.errors import InputError
from elastocal.spatial.entries import Array


@dataclass(frozen=True, eq=False)
class RigidBody(MarkersFit):
    """A body on an axis."""

    problem: BodyProblem

    @property
    def radii(self) -> Array:
        return np.asarray(np.linalg.norm(self.problem.arms, axis=1))

    @property
    def turns(self) -> Array:
        """(poses,) angles of the body in rad; from its first pose, or of the direction to the target."""
        return self.problem.turns

    @property
    def heights_at(self) -> slice:
        k = self.problem.markers.count
        return slice(4 + 2 * k, 4 + 3 * k)


def fit_common_rotation(markers: Sequence[ArrayLike], *, noise: float | None = None) -> RigidBody:
    """Fit markers, (m, 2) or (m, 3) each, row i of all of them pose i; rows of nan were not seen."""
    return _finished(rigid_start(markers), noise)


def rigid_start(markers: Sequence[ArrayLike]) -> BodyProblem:
    """The body on the axis of Algorithm 2, not yet fitted."""
    data, numbers = _compressed(as_markers(markers, same_poses=True))
    start = algebraic(data)
    turns = common_angles(start)
    return BodyProblem(start.frame, arms_of(start, turns), start.heights, turns, data, numbers)


def fit_pointing(markers: Sequence[ArrayLike], targets: ArrayLike, *, noise: float | None = None) -> RigidBody:
    """The same for a body that points from its axis to ``targets`` (m, d), whose noise is that of the markers.

    A target that was not seen in a pose (nan) says nothing of it.
    """
    body = minimise(rigid_start(markers))
    aims = as_points(targets, "targets")
    if len(aims) <= body.numbers[-1] or aims.shape[1] != body.markers.dimension:
        raise InputError(
            f"the markers have {body.numbers[-1] + 1} poses, the targets {len(aims)}; give one for each pose"
        )
    aims = aims[list(body.numbers)]
    aimed = np.flatnonzero(~np.isnan(aims[:, 0]))
    if len(aimed) < 2:
        raise InputError("the target was seen in fewer than two poses of the markers, so where they point is unknown")
    local = body.frame.local(aims[aimed]) @ ([1, 1j, 0] if body.frame.spatial else [1, 1j])
    offset = float(np.angle(np.sum(local * np.exp(-1j * body.turns[aimed]))))
    c, s = np.cos(offset), np.sin(offset)
    body = replace(body, turns=body.turns + offset, arms=body.arms @ np.array([[c, -s], [s, c]]))
    problem = minimise(PointingProblem(body, aims[aimed], aimed))
    problem = replace(problem, body=problem.body.centred())
    equations = body.markers.points.size + len(aimed)
    return _rigid(problem.body, problem, equations, noise)


def _finished(start: BodyProblem, noise: float | None) -> RigidBody:
    problem = minimise(start).centred()
    return _rigid(problem, problem, problem.markers.points.size, noise)


def _rigid(body: BodyProblem, problem: ArcProblem, equations: int, noise: float | None) -> RigidBody:
    spare = equations - problem.slopes().shape[2]
    return RigidBody(body, estimated(problem, as_noise(noise), equations, spare, "rigid body"))


def _compressed(markers: Markers) -> tuple[Markers, tuple[int, ...]]:
    """Poses that some marker was seen in, counted without gaps, and their numbers in the data."""
    numbers, pose = np.unique(markers.pose, return_inverse=True)
    return replace(markers, pose=pose, poses=len(numbers)), tuple(numbers.tolist())


def common_angles(start: AxisProblem) -> Array:
    """(poses,) first guess of the body's angles from the first: marker after marker, through the poses they share."""
    data, local = start.markers, start.frame.local(start.markers.points)
    angle = np.arctan2(local[:, 1], local[:, 0])
    turns = np.full(data.poses, np.nan)
    left = list(range(data.count))
    while left:
        known = [int(np.sum(~np.isnan(turns[data.pose[data.marker == j]]))) for j in left]
        j = left.pop(int(np.argmax(known)))
        rows = np.flatnonzero(data.marker == j)
        shared = rows[~np.isnan(turns[data.pose[rows]])]
        if len(left) < data.count - 1 and not len(shared):
            raise InputError(f"marker {j + 1} shares no pose with the others, so their common rotation is unknown")
        own = np.angle(np.sum(np.exp(1j * (angle[shared] - turns[data.pose[shared]])))) if len(shared) else 0.0
        new = rows[np.isnan(turns[data.pose[rows]])]
        turns[data.pose[new]] = angle[new] - own
    return np.asarray(np.angle(np.exp(1j * (turns - turns[0]))))


def arms_of(start: AxisProblem, turns: Array) -> Array:
    """(k, 2): mean place of each marker in the body."""
    data, local = start.markers, start.frame.local(start.markers.points)
    back = (local[:, 0] + 1j * local[:, 1]) * np.exp(-1j * turns[data.pose])
    means = np.array([back[data.marker == j].mean() for j in range(data.count)])
    return np.column_stack([means.real, means.imag])
