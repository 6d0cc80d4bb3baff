"""Frame errors of a robot file: what lays the axis of every joint where it was measured.

From joint to joint the frame is corrected by the least motion, a shift and a tilt across the axis, in the axes of the
frame before it.

Angle and distance of neighbouring axes (a, c), with standard deviations.

twist      alpha = atan2(|a1 x a2|, a1 . a2)                d alpha = w1 . da1 + w2 . da2
distance   along the common normal n = a1 x a2 / sin alpha, or across, where the axes are nearly parallel
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from elastocal.errors import ImplausibleError
from elastocal.model.compliant.frame_error import FrameError
from elastocal.model.robot import Robot
from elastocal.procedures.circle_points.axis import JointAxis, Line
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose
from elastocal.values import dataclass

PARALLEL = np.radians(5.0)
"""Axes closer than this have no common normal that could be measured."""


APART = np.radians(8.0)
"""An axis that is tilted, or (in m, of an arm of a metre) shifted by more is no frame error."""


@dataclass(frozen=True)
class Neighbours:
    """Angle (rad) and distance (m) of two axes, measured and by the robot file, with standard deviations."""

    first: str
    second: str
    angle: float
    angle_sd: float
    distance: float
    distance_sd: float
    nominal_angle: float
    nominal_distance: float


def neighbours(one: JointAxis, two: JointAxis, nominal_one: Line, nominal_two: Line) -> Neighbours:
    """Two axes, and the same two of the robot file."""
    angle, by_angle = _angle(one, two)
    distance, by_distance = _distance(one.axis, one.centre, two.axis, two.centre)
    sds = []
    for rows in (by_angle, by_distance):
        total = 0.0
        for axis, (shift, tilt) in zip((one, two), rows, strict=True):
            j = np.concatenate([shift @ axis.plane, tilt @ axis.plane])
            total += float(j @ axis.covariance @ j)
        sds.append(np.sqrt(total))
    (a, p), (b, q) = nominal_one, nominal_two
    flat = np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b)
    return Neighbours(one.joint, two.joint, angle, sds[0], distance, sds[1], float(flat), _distance(a, p, b, q)[0])


Slopes = tuple[tuple[Array, Array], tuple[Array, Array]]
"""For both axes: by a shift of the centre (3,), by a change of the direction (3,)."""


def _angle(one: JointAxis, two: JointAxis) -> tuple[float, Slopes]:
    a, b = one.axis, two.axis
    sine, cosine = float(np.linalg.norm(np.cross(a, b))), float(a @ b)
    angle = float(np.arctan2(sine, cosine))
    none = np.zeros(3)
    if sine < 1e-9:  # no direction of change is special: the larger tilt of each
        return angle, ((none, one.plane[:, 0]), (none, two.plane[:, 0]))
    return angle, ((none, (cosine * a - b) / sine), (none, (cosine * b - a) / sine))


def _distance(a: Array, p: Array, b: Array, q: Array) -> tuple[float, Slopes]:
    cross, between = np.cross(a, b), q - p
    sine = float(np.linalg.norm(cross))
    if sine > np.sin(PARALLEL):
        n = cross / sine
        d = float(between @ n)
        v = between - d * n  # d(n . v) = v . (da x b + a x db) / sine
        sign = 1.0 if d >= 0 else -1.0
        by_a, by_b = np.cross(b, v) / sine, np.cross(v, a) / sine
        return abs(d), ((-sign * n, sign * by_a), (sign * n, sign * by_b))
    along = float(between @ a)
    r = between - along * a
    d = float(np.linalg.norm(r))
    u = r / d if d > 0 else np.zeros(3)
    return d, ((-u, -along * u), (u, np.zeros(3)))


@dataclass(frozen=True)
class AxisError:
    """Shift (m) and turn (rad) of the axis of ``joint``, in the axes of ``frame``, the frame before it."""

    joint: str
    frame: str
    shift: tuple[float, float, float]
    turn: tuple[float, float, float]

    @property
    def angle(self) -> float:
        return math.hypot(*self.turn)


def frame_errors(
    robot: Robot, home: Array, axes: Sequence[JointAxis], numbers: Sequence[int], base: Pose
) -> tuple[AxisError, ...]:
    """Least motions from joint to joint, seen in the axes of the frame that carries each joint."""
    tree = robot.nominal.tree
    place = base
    measured = dict(zip(numbers, axes, strict=True))
    poses: dict[str, Pose] = {"base": base}
    out: list[AxisError] = []
    value = dict(zip(robot.joints, home, strict=True))
    for frame in tree.frames:
        parent = poses[frame.parent]
        place = parent @ frame.pose
        if frame.joint is not None:
            number = robot.joints.index(frame.name) if frame.name in robot.joints else -1
            direction = np.array(frame.joint.axis) / np.linalg.norm(frame.joint.axis)
            if number in measured and number != numbers[0]:
                place, error = _corrected(parent, place, direction, measured[number], frame.name, frame.parent)
                out.append(error)
            at = float(value.get(frame.joint.follows or frame.name, 0.0)) * frame.joint.ratio + frame.joint.offset
            turn = frame.joint.kind == "revolute"
            motion = Pose(Rotation.from_rotvec(at * direction).as_matrix()) if turn else Pose(np.eye(3), at * direction)
            place = place @ motion
        poses[frame.name] = place
    return tuple(out)


def _corrected(
    parent: Pose, place: Pose, direction: Array, axis: JointAxis, joint: str, frame: str
) -> tuple[Pose, AxisError]:
    """The joint's frame laid on the measured axis by a tilt and a shift across it, and that motion in the parent."""
    now = place.rotation @ direction
    normal = np.cross(now, axis.axis)
    size = float(np.linalg.norm(normal))
    angle = float(np.arctan2(size, now @ axis.axis))
    about = normal / size if size > 1e-15 else axis.plane[:, 0]  # of axes that are opposed, any across them
    tilt = Rotation.from_rotvec(about * angle).as_matrix()
    across = np.eye(3) - np.outer(axis.axis, axis.axis)
    new = Pose(tilt @ place.rotation, place.translation + across @ (axis.centre - place.translation))
    moved = parent.inverse() @ new @ place.inverse() @ parent
    turn = Rotation.from_matrix(moved.rotation).as_rotvec()
    x, y, z = (float(v) for v in moved.translation)
    rx, ry, rz = (float(v) for v in turn)
    return new, AxisError(joint, frame, (x, y, z), (rx, ry, rz))


def farthest(errors: Sequence[AxisError]) -> float:
    """Largest tilt or shift, rad or m."""
    return max((max(e.angle, math.hypot(*e.shift)) for e in errors), default=0.0)


def with_frame_errors(robot: Robot, errors: Sequence[AxisError], source: str) -> Robot:
    """The robot with a frame error for every axis that was measured, in place of those that it has there; refused where
    one is none."""
    if farthest(errors) > APART:
        far = max(errors, key=lambda e: max(e.angle, math.hypot(*e.shift)))
        raise ImplausibleError(
            f"the axis of {far.joint} is {math.degrees(far.angle):.3g} deg and {1e3 * math.hypot(*far.shift):.3g} mm "
            "from the robot file's, which is no frame error; check signs, zeros and order of the joint columns",
            value=far.joint,
        )
    added = []
    for error in errors:
        (x, y, z), (rx, ry, rz) = error.shift, error.turn
        added.append(FrameError(
            frame=error.frame, x=x, y=y, z=z, rx=rx, ry=ry, rz=rz, source=f"{source}: axis of {error.joint}",
            status="measured",
        ))  # fmt: skip
    frames = {e.frame for e in added}
    kept = tuple(e for e in robot.elements if not (isinstance(e, FrameError) and e.frame in frames))
    return replace(robot, elements=(*kept, *added))
