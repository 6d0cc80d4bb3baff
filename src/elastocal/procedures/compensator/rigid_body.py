"""Markers on one rigid body that turns about an axis: in pose i all of them have turned by the same angle theta_i.

In the frame of the axis, with arms b_j (2,) and heights h_j of the markers in the body,

    p_ij = p_0 + E (Rot(theta_i) b_j, h_j)

The angles theta_i are free, all but the first, which fixes the direction from which they count.  The body may also
point from its axis to a target, the spring's other end P1, which is measured like the markers; each target y_i, in the
frame of the axis, then adds its distance from the line on which the body points,

    e_i = cos(theta_i) y_i2 - sin(theta_i) y_i1

with the same noise as a coordinate.  Where on that line the target is, is free; all theta_i are, because the targets
fix the direction from which they count.  Taken as exact, targets would make a body that does point look as if it did
not, because their noise would count as its misfit.

Beyond 000 eq. (18), which lets every marker turn by an angle of its own.  What is known more makes the centre more
certain, if it is true; ``variants`` tests whether it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from elastocal.errors import ShapeError, TooFewError, UnobservableError
from elastocal.procedures.compensator.arc_problem import (
    ArcProblem,
    AxisFrame,
    Markers,
    as_markers,
    as_noise,
    as_points,
    estimated,
    minimise,
)
from elastocal.procedures.compensator.concentric import ConcentricProblem, MarkersFit, MarkersProblem, algebraic
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass


@dataclass(frozen=True, eq=False)
class BodyProblem(MarkersProblem):
    """Moves: centre in the plane (2), tilt (2, in space), arms (2 k), heights (k, in space), angles (poses - 1).

    ``turns`` (poses,) are the angles.  ``numbers`` are the poses' numbers in the data, where some may have been seen by
    no marker.
    """

    frame: AxisFrame
    arms: Array
    heights: Array
    turns: Array
    markers: Markers
    numbers: tuple[int, ...]

    @property
    def labels(self) -> tuple[tuple[int, int], ...]:
        poses = [self.numbers[i] for i in self.markers.pose]
        return tuple(zip(self.markers.marker.tolist(), poses, strict=True))

    def _local(self) -> tuple[Array, Array, Array]:
        """Model points in the axis frame (M, d), and cosine and sine of their angles (M,)."""
        theta, b = self.turns[self.markers.pose], self.arms[self.markers.marker]
        c, s = np.cos(theta), np.sin(theta)
        columns = [c * b[:, 0] - s * b[:, 1], s * b[:, 0] + c * b[:, 1]]
        if self.frame.spatial:
            columns.append(self.heights[self.markers.marker])
        return np.column_stack(columns), c, s

    def residuals(self) -> Array:
        return np.asarray(self.markers.points - self.frame.origin - self._local()[0] @ self.frame.matrix.T)

    def jacobian(self) -> Array:
        model, c, s = self._local()
        j, at, k = self.markers.marker, np.arange(len(c)), self.markers.count
        first = 4 if self.frame.spatial else 2
        out = np.zeros((len(c), model.shape[1], first + 2 * k + (k if self.frame.spatial else 0)))
        out[:, 0, 0] = out[:, 1, 1] = 1.0
        if self.frame.spatial:
            out[:, 0, 2] = out[:, 1, 3] = model[:, 2]
            out[:, 2, 2:4] = -model[:, :2]
            out[at, 2, first + 2 * k + j] = 1.0
        out[at, 0, first + 2 * j], out[at, 1, first + 2 * j] = c, s
        out[at, 0, first + 2 * j + 1], out[at, 1, first + 2 * j + 1] = -s, c
        turned = np.einsum("ab,mbp->map", self.frame.matrix, out)
        return np.concatenate([turned, self.turn_jacobian()[:, :, 1:]], axis=2)

    def turn_jacobian(self) -> Array:
        """(M, d, poses): by the angle of every pose, also the first."""
        model = self._local()[0]
        out = np.zeros((*model.shape, len(self.turns)))
        at = np.arange(len(model))
        out[at, 0, self.markers.pose], out[at, 1, self.markers.pose] = -model[:, 1], model[:, 0]
        return np.asarray(np.einsum("ab,mbp->map", self.frame.matrix, out))

    def moved(self, step: Array) -> Self:
        k, first = self.markers.count, 4 if self.frame.spatial else 2
        frame = self.frame.shifted(step[:2])
        arms = self.arms + step[first : first + 2 * k].reshape(k, 2)
        rest = step[first + 2 * k :]
        heights = self.heights
        if self.frame.spatial:
            frame, heights, rest = frame.tilted(step[2:4]), heights + rest[:k], rest[k:]
        turns = self.turns + np.concatenate([[0.0], rest])
        return replace(self, frame=frame, arms=arms, heights=heights, turns=turns)


@dataclass(frozen=True, eq=False)
class PointingProblem(ArcProblem):
    """``targets`` (t, d) in the poses ``aimed`` (t,).  Moves: those of the body, the angle of its first pose last.

    Targets come after the points of the body, as marker ``markers.count``; only their first component is used.
    """

    body: BodyProblem
    targets: Array
    aimed: Ints

    @property
    def labels(self) -> tuple[tuple[int, int], ...]:
        return (*self.body.labels, *((self.body.markers.count, self.body.numbers[i]) for i in self.aimed))

    @property
    def points(self) -> Array:
        return np.concatenate([self.body.points, self.targets])

    def residuals(self) -> Array:
        local, c, s = self._aims()
        out = np.zeros_like(self.targets)
        out[:, 0] = c * local[:, 1] - s * local[:, 0]
        return np.concatenate([self.body.residuals(), out])

    def jacobian(self) -> Array:
        points, turns = self.body.jacobian(), self.body.turn_jacobian()[:, :, :1]
        local, c, s = self._aims()
        aims = np.zeros((len(local), points.shape[1], points.shape[2] + 1))
        aims[:, 0, 0], aims[:, 0, 1] = -s, c
        if self.body.frame.spatial:
            aims[:, 0, 2], aims[:, 0, 3] = -s * local[:, 2], c * local[:, 2]
        along = c * local[:, 0] + s * local[:, 1]
        first = points.shape[2] - len(self.body.turns)  # the turn of pose i is at first + i, of pose 0 at the end
        column = np.where(self.aimed > 0, first + self.aimed, points.shape[2])
        aims[np.arange(len(local)), 0, column] = along
        return np.concatenate([np.concatenate([points, turns], axis=2), aims])

    def _aims(self) -> tuple[Array, Array, Array]:
        theta = self.body.turns[self.aimed]
        return self.body.frame.local(self.targets), np.cos(theta), np.sin(theta)

    def moved(self, step: Array) -> Self:
        body = self.body.moved(step[:-1])
        turns = body.turns.copy()
        turns[0] += step[-1]
        return replace(self, body=replace(body, turns=turns))


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
    return finished(rigid_start(markers), noise)


def rigid_start(markers: Sequence[ArrayLike]) -> BodyProblem:
    """The body on the axis of Algorithm 2, not yet fitted."""
    data, numbers = compressed(as_markers(markers, same_poses=True))
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
        raise ShapeError(
            f"the markers have {body.numbers[-1] + 1} poses, the targets {len(aims)}; give one for each pose",
            value=(body.numbers[-1] + 1, len(aims)),
        )
    aims = aims[list(body.numbers)]
    aimed = np.flatnonzero(~np.isnan(aims[:, 0]))
    if len(aimed) < 2:
        raise TooFewError(
            "the target was seen in fewer than two poses of the markers, so where they point is unknown",
            code="few-targets",
        )
    local = body.frame.local(aims[aimed]) @ ([1, 1j, 0] if body.frame.spatial else [1, 1j])
    offset = float(np.angle(np.sum(local * np.exp(-1j * body.turns[aimed]))))
    c, s = np.cos(offset), np.sin(offset)
    body = replace(body, turns=body.turns + offset, arms=body.arms @ np.array([[c, -s], [s, c]]))
    problem = minimise(PointingProblem(body, aims[aimed], aimed))
    problem = replace(problem, body=problem.body.centred())
    equations = body.markers.points.size + len(aimed)
    return _rigid(problem.body, problem, equations, noise)


def finished(start: BodyProblem, noise: float | None) -> RigidBody:
    problem = minimise(start).centred()
    return _rigid(problem, problem, problem.markers.points.size, noise)


def _rigid(body: BodyProblem, problem: ArcProblem, equations: int, noise: float | None) -> RigidBody:
    spare = equations - problem.jacobian().shape[2]
    return RigidBody(body, estimated(problem, as_noise(noise), equations, spare, "rigid body"))


def compressed(markers: Markers) -> tuple[Markers, tuple[int, ...]]:
    """Poses that some marker was seen in, counted without gaps, and their numbers in the data."""
    numbers, pose = np.unique(markers.pose, return_inverse=True)
    return replace(markers, pose=pose, poses=len(numbers)), tuple(numbers.tolist())


def common_angles(start: ConcentricProblem) -> Array:
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
            raise UnobservableError(
                f"marker {j + 1} shares no pose with the others, so their common rotation is unknown", value=j + 1
            )
        own = np.angle(np.sum(np.exp(1j * (angle[shared] - turns[data.pose[shared]])))) if len(shared) else 0.0
        new = rows[np.isnan(turns[data.pose[rows]])]
        turns[data.pose[new]] = angle[new] - own
    return np.asarray(np.angle(np.exp(1j * (turns - turns[0]))))


def arms_of(start: ConcentricProblem, turns: Array) -> Array:
    """(k, 2): mean place of each marker in the body."""
    data, local = start.markers, start.frame.local(start.markers.points)
    back = (local[:, 0] + 1j * local[:, 1]) * np.exp(-1j * turns[data.pose])
    means = data.each(back)
    return np.column_stack([means.real, means.imag])
