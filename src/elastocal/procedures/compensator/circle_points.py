r"""Circle-point analysis: every joint is swept by itself, all targets (SMRs) of a sweep turn rigidly about its axis.

One sweep, in the frame of the axis (``rigid_body``), with commanded steps as start of the angles:

    p_ij = c + E (Rot(theta_i) b_j, h_j)

All targets share the angles, so one near the axis, whose own arc tells nothing, spoils nothing.  The start is linear:
displacements lie in the plane of the circles, and with known angles c, b_j, h_j follow from one least-squares problem.

The angles theta_i against the joint's steps give its ratio (1 where the file is right).  Neighbouring axes (a, c) give

    twist      alpha = atan2(|a1 x a2|, a1 . a2)                d alpha = w1 . da1 + w2 . da2
    distance   along the common normal n = a1 x a2 / sin alpha, or across, where the axes are nearly parallel

Against a robot: axis 1 is laid on the robot's axis 1, what is left (a turn about it, a shift along it) fits axes 2
and 3 best.  From joint to joint the frame is then corrected by the least motion E_k, a shift and a tilt across the
axis, that lays the axis of joint k where it was measured: frame errors in the axes of the frame before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.spatial.transform import Rotation

from elastocal.errors import InputError
from elastocal.model.chain import JOINT
from elastocal.model.compliant.frame_error import FrameError
from elastocal.model.robot import Robot
from elastocal.procedures.compensator.points import AxisFrame, Markers, as_markers, centred, refuse_straight
from elastocal.procedures.compensator.rigid_body import BodyProblem, RigidBody, compressed, finished
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose

PARALLEL = np.radians(5.0)
"""Axes closer than this have no common normal that could be measured."""
FIRST = 3
"""Axes, from the base on, that the base is placed by: further ones may be dragged along by others."""
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


@dataclass(frozen=True)
class AxisError:
    """Shift (m) and turn (rad) of the axis of ``joint``, in the axes of ``frame``, the frame before it."""

    joint: str
    frame: str
    shift: tuple[float, float, float]
    turn: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class CirclePoints:
    """``base`` is the pose of the robot's base in the instrument; ``couplings`` (n, n) turned joint per moved joint."""

    axes: tuple[JointAxis, ...]
    neighbours: tuple[Neighbours, ...]
    errors: tuple[AxisError, ...]
    base: Pose
    couplings: Array
    coupling_sd: Array
    home: Array


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
        raise InputError(f"sweep of {sweep.joint}: its points have two coordinates; axes in space need three")
    seen = list(body.problem.numbers)
    wanted = step[seen] - step[seen[0]]
    turns = np.unwrap(body.turns - body.turns[0])
    ratio, ratio_sd = _slope(wanted, turns)
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
    found = np.linalg.lstsq(rows, np.concatenate([local[:, 0], local[:, 1]]), rcond=None)[0]
    heights = np.array([local[data.marker == j, 2].mean() for j in range(count)])
    origin = frame.matrix @ np.array([found[0], found[1], heights.mean()])
    return BodyProblem(
        AxisFrame(origin, frame.matrix), found[2:].reshape(count, 2), heights - heights.mean(), turns, data, numbers
    )


def _slope(x: Array, y: Array) -> tuple[float, float]:
    """Slope with its standard deviation from the residuals, intercept free."""
    a = np.column_stack([x, np.ones_like(x)])
    found, *_ = np.linalg.lstsq(a, y, rcond=None)
    rest = y - a @ found
    spare = max(len(x) - 2, 1)
    sd = np.sqrt(np.sum(rest**2) / spare / max(np.sum((x - x.mean()) ** 2), 1e-300))
    return float(found[0]), float(sd)


def circle_points(robot: Robot, sweeps: Sequence[Sweep], noise: float | None = None) -> CirclePoints:
    """All sweeps together, each of another joint from the same home, against a robot file."""
    home, moved = _home(robot, sweeps)
    pairs = [joint_axis(s, m, noise) for s, m in zip(sweeps, moved, strict=True)]
    order = np.argsort(moved)
    axes = tuple(pairs[i][0] for i in order)
    numbers = [moved[i] for i in order]
    nominal = _nominal(robot, home)
    base = _placed(axes, [nominal[k] for k in numbers])
    couplings, sds = _couplings(robot, [sweeps[i] for i in order], numbers, base)
    known = [(axis, nominal[k]) for axis, k in zip(axes, numbers, strict=True)]
    both = [_neighbours(one, two, a, b) for (one, a), (two, b) in pairwise(known)]
    return CirclePoints(axes, tuple(both), _errors(robot, home, axes, numbers, base), base, couplings, sds, home)


def _home(robot: Robot, sweeps: Sequence[Sweep]) -> tuple[Array, list[int]]:
    moved, others = [], []
    for sweep in sweeps:
        span = np.ptp(sweep.q, axis=0)
        joint = int(np.argmax(span))
        if robot.joints[joint] != sweep.joint:
            raise InputError(f"sweep of {sweep.joint}: joint {robot.joints[joint]} moves most; check its joint values")
        still = np.delete(span, joint)
        if np.any(still > 1e-3):
            raise InputError(
                f"sweep of {sweep.joint}: {robot.joints[int(np.argsort(span)[-2])]} moves too; sweep one joint at a "
                "time",
                code="two-joints-move",
            )
        moved.append(joint)
        others.append(np.where(np.arange(robot.n) == joint, np.nan, sweep.q.mean(axis=0)))
    if len(set(moved)) != len(moved) or len(moved) < 2:
        raise InputError("circle-point analysis needs sweeps of two joints or more, one of each")
    table = np.array(others)
    spread = np.nanmax(table, axis=0) - np.nanmin(table, axis=0)
    if np.any(spread > 1e-3):
        bad = robot.joints[int(np.argmax(spread))]
        raise InputError(
            f"the sweeps start from different homes: {bad} stands still at values {np.degrees(spread.max()):.3g} deg "
            "apart; begin every sweep from the same home",
            code="other-home",
            value=bad,
        )
    return np.asarray(np.nanmean(table, axis=0)), moved


def _nominal(robot: Robot, home: Array) -> list[tuple[Array, Array]]:
    """Direction and a point of every joint axis at home, in base axes."""
    model = robot.nominal
    dofs = [i for i, d in enumerate(model.chain.dofs) if d.axis == JOINT]
    values = [0.0] * len(model.chain.dofs)
    for place, value in zip(dofs, home, strict=True):
        values[place] = float(value)
    state = model.chain.evaluate(values, 1, screws=dofs)
    out = []
    for dof in dofs:
        screw = state.screws[dof]
        assert screw is not None
        assert screw.point is not None
        out.append((np.array(screw.axis, dtype=float).ravel(), np.array(screw.point, dtype=float).ravel()))
    return out


def _placed(axes: Sequence[JointAxis], nominal: Sequence[tuple[Array, Array]]) -> Pose:
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


def _free(
    axes: Sequence[JointAxis], nominal: Sequence[tuple[Array, Array]], turn: Array, p: Array
) -> tuple[float, float]:
    """Turn about and shift along the first axis that lay the other axes best, by Gauss-Newton on lines."""
    one, angle, lift = axes[0], 0.0, 0.0
    for _ in range(20):
        spin = Rotation.from_rotvec(angle * one.axis).as_matrix() @ turn
        rows, rest = [], []
        for axis, (a, q) in zip(axes[1:FIRST], nominal[1:FIRST], strict=True):
            now, at = spin @ a, one.centre + lift * one.axis + spin @ (q - p)
            across = np.eye(3) - np.outer(axis.axis, axis.axis)
            size = max(float(np.linalg.norm(q - p)), 0.1)
            rest += [size * (across @ now), across @ (at - axis.centre)]
            rows += [
                np.column_stack([size * (across @ np.cross(one.axis, now)), np.zeros(3)]),
                np.column_stack([across @ np.cross(one.axis, at - one.centre), across @ one.axis]),
            ]
        step = np.linalg.lstsq(np.concatenate(rows), -np.concatenate(rest), rcond=None)[0]
        angle, lift = angle + float(step[0]), lift + float(step[1])
        if abs(step[0]) < 1e-13 and abs(step[1]) < 1e-13:
            break
    return angle, lift


def _neighbours(
    one: JointAxis, two: JointAxis, nominal_one: tuple[Array, Array], nominal_two: tuple[Array, Array]
) -> Neighbours:
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


def _errors(
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
    tilt = Rotation.from_rotvec(normal / size * angle if size > 1e-15 else np.zeros(3)).as_matrix()
    across = np.eye(3) - np.outer(axis.axis, axis.axis)
    new = Pose(tilt @ place.rotation, place.translation + across @ (axis.centre - place.translation))
    moved = parent.inverse() @ new @ place.inverse() @ parent
    turn = Rotation.from_matrix(moved.rotation).as_rotvec()
    x, y, z = (float(v) for v in moved.translation)
    rx, ry, rz = (float(v) for v in turn)
    return new, AxisError(joint, frame, (x, y, z), (rx, ry, rz))


def _couplings(robot: Robot, sweeps: Sequence[Sweep], numbers: Sequence[int], base: Pose) -> tuple[Array, Array]:
    """Turned joints per moved joint (n, n), nan where they cannot be told, with standard deviations.

    At every pose of a sweep the turns of all swept joints are sought that bring the targets from the first pose to
    where they are: p = prod exp(S_k delta_k) p_0; slopes against the step are ratios and couplings.  The axes are those
    of the robot file: a joint that drags another one along turns about an axis that is tilted towards the other's, so
    that couplings below the tilt of the axes themselves (1 mrad is 0.001) cannot be told from it.
    """
    n = robot.n
    out, sds = np.full((n, n), np.nan), np.full((n, n), np.nan)
    for sweep, column in zip(sweeps, numbers, strict=True):
        points = np.stack(list(sweep.points.values()), axis=1)  # (m, k, 3)
        step = sweep.q[:, column] - sweep.q[0, column]
        if np.isnan(points[0]).any() or points.shape[1] < 3:
            continue
        lines = [_nominal(robot, sweep.q[0])[k] for k in numbers]
        axes = [(base.rotation @ a, base.rotation @ p + base.translation) for a, p in lines]
        turns = []
        for i in range(len(step)):
            seen = ~np.isnan(points[i, :, 0])
            start = np.where(np.array(numbers) == column, step[i], 0.0)
            turns.append(_turns(axes, points[0][seen], points[i][seen], start))
        table = np.array(turns)
        if np.isnan(table).any():
            continue
        for place, row in enumerate(numbers):
            out[row, column], sds[row, column] = _slope(step, table[:, place])
    return out, sds


def _turns(axes: Sequence[tuple[Array, Array]], before: Array, after: Array, start: Array) -> Array:
    """Turns (k,) about axes, in their order from the base, that bring points (s, 3) to others; nan if not told."""
    delta = start.copy()
    for _ in range(30):
        place = before
        columns: list[Array] = []
        for (axis, centre), value in zip(reversed(axes), delta[::-1], strict=True):
            turn = Rotation.from_rotvec(value * axis)
            columns = [turn.apply(c) for c in columns]
            place = centre + turn.apply(place - centre)
            columns.append(np.cross(axis, place - centre))
        jacobian = np.stack([c.ravel() for c in reversed(columns)], axis=1)
        size = np.linalg.svd(jacobian, compute_uv=False)
        if size[-1] < 1e-6 * size[0]:
            return np.full(len(axes), np.nan)
        step = np.linalg.lstsq(jacobian, (after - place).ravel(), rcond=None)[0]
        delta = delta + step
        if np.abs(step).max() < 1e-12:
            return np.asarray(delta)
    return np.full(len(axes), np.nan)


def with_frame_errors(robot: Robot, found: CirclePoints, source: str) -> Robot:
    """The robot with a frame error for every axis that was measured, in place of those that it has there."""
    added = []
    for error in found.errors:
        (x, y, z), (rx, ry, rz) = error.shift, error.turn
        added.append(FrameError(
            frame=error.frame, x=x, y=y, z=z, rx=rx, ry=ry, rz=rz, source=f"{source}: axis of {error.joint}",
            status="measured",
        ))  # fmt: skip
    frames = {e.frame for e in added}
    kept = tuple(e for e in robot.elements if not (isinstance(e, FrameError) and e.frame in frames))
    return replace(robot, elements=(*kept, *added))
