"""The axis of a joint from one sweep: all targets (SMRs) turn rigidly about it, in the frame of the axis:

    p_ij = c + E (Rot(theta_i) b_j, h_j)

All targets share the angles, so one near the axis, whose own arc tells nothing, spoils nothing.  The start is linear:
displacements lie in the plane of the circles, and with known angles c, b_j, h_j follow from one least-squares problem.
The angles theta_i against the joint's steps give its ratio (1 where the file is right).

Axes by the robot file, and the base of the robot in the instrument.

Axis 1 is laid on the robot's axis 1; what is left (a turn about it, a shift along it) fits axes 2 and 3 best.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.spatial.transform import Rotation

from elastocal.errors import InputError, ShapeError
from elastocal.model.chain import JOINT
from elastocal.model.robot import Robot
from elastocal.procedures.compensator.arc_problem import AxisFrame, Markers, as_markers
from elastocal.procedures.compensator.concentric import centred, refuse_straight
from elastocal.procedures.compensator.rigid_body import BodyProblem, RigidBody, compressed, finished
from elastocal.solve.linear import minimise, solve_linear
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose
from elastocal.values import dataclass

STEP = np.radians(1.0)
"""Least sweep of a joint in rad."""


@dataclass(frozen=True, eq=False)
class Sweep:
    """``points`` of each marker (m, 3), nan where unseen, at joint values (m, n), of which one joint moves."""

    joint: str
    points: Mapping[str, Array]
    q: Array


@dataclass(frozen=True, eq=False)
class JointAxis:
    """``axis`` and ``centre`` (3,) with the plane (3, 2) across it; ``covariance`` (4, 4): shift and tilt in the plane.

    ``ratio`` is turned over commanded angle; ``residual`` in m.
    """

    joint: str
    axis: Array
    centre: Array
    plane: Array
    covariance: Array
    ratio: float
    ratio_sd: float
    residual: float
    swept: float
    radii: tuple[float, ...]

    @property
    def tilt_sd(self) -> float:
        """Of the direction, in rad, along its worst direction."""
        return float(np.sqrt(np.linalg.eigvalsh(self.covariance[2:, 2:])[-1]))

    @property
    def shift_sd(self) -> float:
        """Of the place across the axis, in m."""
        return float(np.sqrt(np.linalg.eigvalsh(self.covariance[:2, :2])[-1]))


def joint_axis(sweep: Sweep, moved: int, noise: float | None = None) -> tuple[JointAxis, RigidBody]:
    """The axis of one sweep; the angle counts as the joint's value does."""
    step = sweep.q[:, moved] - sweep.q[0, moved]
    if np.ptp(step) < STEP:
        raise InputError(
            f"sweep of {sweep.joint}: it moves by {np.degrees(np.ptp(step)):.3g} deg; sweep at least "
            f"{np.degrees(STEP):g} deg, better 60",
            code="short-sweep",
            value=sweep.joint,
        )
    body = finished(_start(sweep, step), noise)
    if body.problem.markers.dimension != 3:
        raise ShapeError(f"sweep of {sweep.joint}: its points have two coordinates; axes in space need three")
    seen = list(body.problem.numbers)
    wanted = step[seen] - step[seen[0]]
    turns = np.unwrap(body.turns - body.turns[0])
    ratio, ratio_sd = slope(wanted, turns)
    covariance = body.estimate.covariance[:4, :4]
    frame, sign = body.problem.frame, 1.0 if ratio > 0 else -1.0
    made = JointAxis(
        sweep.joint, sign * frame.axis, frame.origin, frame.plane, covariance, abs(ratio), ratio_sd,
        float(body.residual_sd), float(np.ptp(wanted)), tuple(body.radii.tolist()),
    )  # fmt: skip
    return made, body


def _start(sweep: Sweep, step: Array) -> BodyProblem:
    """The body from commanded steps: the plane of all displacements, then one linear problem."""
    data, numbers = compressed(as_markers(list(sweep.points.values()), same_poses=True))
    spread = centred(data)
    _, size, directions = np.linalg.svd(spread, full_matrices=False)
    refuse_straight(size, f"sweep of {sweep.joint}")
    x, y = directions[0], directions[1]
    best: BodyProblem | None = None
    lowest = np.inf
    for sense in (1.0, -1.0):
        frame = AxisFrame(np.zeros(3), np.column_stack([x, sense * y, np.cross(x, sense * y)]))
        turns = step[list(numbers)] - step[numbers[0]]
        problem = _linear(frame, turns, data, numbers)
        misfit = float(np.sum(problem.residuals() ** 2))
        if misfit < lowest:
            best, lowest = problem, misfit
    assert best is not None
    return best


def _linear(frame: AxisFrame, turns: Array, data: Markers, numbers: tuple[int, ...]) -> BodyProblem:
    """Centre, arms and heights by least squares for given axis and angles."""
    local = data.points @ frame.matrix
    c, s = np.cos(turns[data.pose]), np.sin(turns[data.pose])
    count, at = data.count, np.arange(len(local))
    rows = np.zeros((2 * len(local), 2 + 2 * count))
    rows[: len(local), 0] = rows[len(local) :, 1] = 1.0
    rows[at, 2 + 2 * data.marker], rows[at, 3 + 2 * data.marker] = c, -s
    rows[len(local) + at, 2 + 2 * data.marker], rows[len(local) + at, 3 + 2 * data.marker] = s, c
    values = solve_linear(rows, np.concatenate([local[:, 0], local[:, 1]])).values
    heights = data.each(local[:, 2])
    origin = frame.matrix @ np.array([values[0], values[1], heights.mean()])
    return BodyProblem(
        AxisFrame(origin, frame.matrix), values[2:].reshape(count, 2), heights - heights.mean(), turns, data, numbers
    )


def slope(x: Array, y: Array) -> tuple[float, float]:
    """Slope with its standard deviation from the residuals, intercept free."""
    fit = solve_linear(np.column_stack([x, np.ones_like(x)]), y)
    return float(fit.values[0]), float(np.sqrt(fit.squares / max(fit.freedom, 1) * fit.unit_covariance[0, 0]))


FIRST = 3
"""Axes, from the base on, that the base is placed by: further ones may be dragged along by others."""
Line = tuple[Array, Array]
"""Direction and a point (3,)."""


def nominal_axes(robot: Robot, home: Array) -> list[Line]:
    """Direction and a point of every joint axis at home, in base axes."""
    model = robot.nominal
    dofs = [i for i, d in enumerate(model.chain.dofs) if d.axis == JOINT]
    values = [0.0] * len(model.chain.dofs)
    for place, value in zip(dofs, home, strict=True):
        values[place] = float(value)
    state = model.chain.evaluate(values, 1)
    out = []
    for dof in dofs:
        screw = state.screws[dof]
        assert screw is not None
        assert screw.point is not None
        out.append((np.array(screw.axis, dtype=float).ravel(), np.array(screw.point, dtype=float).ravel()))
    return out


def placed_base(axes: Sequence[JointAxis], nominal: Sequence[Line]) -> Pose:
    """Pose of the base in the instrument: first axis on first axis, the rest best for the others."""
    (a, p), one = nominal[0], axes[0]
    turn = Rotation.align_vectors(
        np.array([x.axis for x in axes]), np.array([n[0] for n in nominal]),
        weights=np.array([1e6, *np.ones(len(axes) - 1)][: len(axes)]),
    )[0].as_matrix()  # fmt: skip
    a_in = turn @ a
    normal = np.cross(a_in, one.axis)
    angle = np.arctan2(np.linalg.norm(normal), a_in @ one.axis)
    size = np.linalg.norm(normal)
    turn = Rotation.from_rotvec(normal / size * angle).as_matrix() @ turn if size > 0 else turn
    angle, lift = _free(axes, nominal, turn, p)
    spin = Rotation.from_rotvec(angle * one.axis).as_matrix() @ turn
    return Pose(spin, one.centre + lift * one.axis - spin @ p)


def _free(axes: Sequence[JointAxis], nominal: Sequence[Line], turn: Array, p: Array) -> tuple[float, float]:
    """Turn about and shift along the first axis that lay the other axes best, by the distances of lines."""
    one = axes[0]

    def linear(state: Array) -> tuple[Array, Array]:
        angle, lift = state
        spin = Rotation.from_rotvec(angle * one.axis).as_matrix() @ turn
        rows, rest = [np.zeros((0, 2))], [np.zeros(0)]
        for axis, (a, q) in zip(axes[1:FIRST], nominal[1:FIRST], strict=True):
            now, at = spin @ a, one.centre + lift * one.axis + spin @ (q - p)
            across = np.eye(3) - np.outer(axis.axis, axis.axis)
            size = max(float(np.linalg.norm(q - p)), 0.1)
            rest += [size * (across @ now), across @ (at - axis.centre)]
            rows += [
                np.column_stack([size * (across @ np.cross(one.axis, now)), np.zeros(3)]),
                np.column_stack([across @ np.cross(one.axis, at - one.centre), across @ one.axis]),
            ]
        return -np.concatenate(rest), np.concatenate(rows)

    size = max(float(np.linalg.norm(axis.centre)) for axis in axes)
    angle, lift = minimise(np.zeros(2), linear, np.add, size)
    return float(angle), float(lift)
