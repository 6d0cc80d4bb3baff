"""Circle-point analysis: every joint is swept by itself from one home; axes, their neighbours, errors, couplings.

Ratios and couplings of joints from known steps.

Joint axes as a table of DH parameters; where neighbours are nearly parallel, Hayati's row in place of it.

With z along the axis of joint k, b and p direction and a point of the next one, n their common normal:

    standard   theta + q: from x to n about z,  d: along z to n,  a: along n,  alpha: from z to b about n
    hayati     theta + q: from x to where the next axis meets the plane z = 0,  a: that far,
               b = Rx(alpha) Ry(beta) z:  beta = asin b_x,  alpha = atan2(-b_y, b_z)

A normal of axes that meet has no sign of its own: it gets that of the robot file's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy.spatial.transform import Rotation

from elastocal.errors import ImplausibleError, InputError, MissingError
from elastocal.measure.slips import AxisSlip, axis_slips
from elastocal.model.frames import DHRow
from elastocal.model.robot import Robot
from elastocal.procedures.circle_points.axis import JointAxis, Line, Sweep, joint_axis, nominal_axes, placed_base, slope
from elastocal.procedures.circle_points.frame_errors import (
    APART,
    PARALLEL,
    AxisError,
    Neighbours,
    farthest,
    frame_errors,
    neighbours,
)
from elastocal.solve.linear import minimise
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose
from elastocal.values import dataclass


def couplings(robot: Robot, sweeps: Sequence[Sweep], numbers: Sequence[int], base: Pose) -> Array:
    """Turned joints per moved joint (n, n), nan where they cannot be told.

    At every pose of a sweep the turns of all swept joints are sought that bring the targets from the first pose to
    where they are: p = prod exp(S_k delta_k) p_0; slopes against the step are ratios and couplings.  The axes are those
    of the robot file: a joint that drags another one along turns about an axis that is tilted towards the other's, so
    that couplings below the tilt of the axes themselves (1 mrad is 0.001) cannot be told from it.
    """
    out = np.full((robot.n, robot.n), np.nan)
    for sweep, column in zip(sweeps, numbers, strict=True):
        points = np.stack(list(sweep.points.values()), axis=1)  # (m, k, 3)
        step = sweep.q[:, column] - sweep.q[0, column]
        if np.isnan(points[0]).any() or points.shape[1] < 3:
            continue
        lines = [nominal_axes(robot, sweep.q[0])[k] for k in numbers]
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
            out[row, column], _ = slope(step, table[:, place])
    return out


def _turns(axes: Sequence[tuple[Array, Array]], before: Array, after: Array, start: Array) -> Array:
    """Turns (k,) about axes, in their order from the base, that bring points (s, 3) to others; nan if not told."""

    def rows(delta: Array) -> tuple[Array, Array]:
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
            raise InputError("the points do not tell the turns apart", code="rank")
        return (after - place).ravel(), jacobian

    try:
        return minimise(start, rows, np.add, float(np.max(np.abs(after))))
    except InputError:
        return np.full(len(axes), np.nan)


LAID = 0.3
"""Part of what is no frame error within which a slip must lay all axes."""
MEET = 1e-5
"""m: axes that pass each other by less meet."""


def dh_rows(
    joints: Sequence[str], lines: Sequence[Line], q: Array, base: Pose, like: Sequence[Array] = ()
) -> tuple[tuple[DHRow, ...], tuple[Array, ...]]:
    """Rows of all joints but the last, and their normals (3,); lines, base and normals in the same axes.

    The first x is that of the base, across axis 1, and d counts from the foot of the base's origin on that axis.
    ``like`` are normals whose signs are taken over.
    """
    z, point = lines[0]
    origin = point + z * float(z @ (base.translation - point))
    x = _across(base.rotation[:, 0], z) if abs(base.rotation[:, 0] @ z) < 0.99 else _across(base.rotation[:, 1], z)
    rows: list[DHRow] = []
    normals: list[Array] = []
    for k, (b, p) in enumerate(lines[1:]):
        old = like[k] if like else None
        row, normal, origin, x = _row(joints[k], (origin, x, z), (b, p), float(q[k]), old)
        rows.append(row)
        normals.append(normal)
        z = b
    return tuple(rows), tuple(normals)


def _across(v: Array, z: Array) -> Array:
    rest = v - z * float(v @ z)
    return np.asarray(rest / np.linalg.norm(rest))


def _angle(x: Array, n: Array, z: Array) -> float:
    """From x to n about z."""
    return float(np.arctan2(np.cross(x, n) @ z, x @ n))


def _row(
    joint: str, frame: tuple[Array, Array, Array], line: Line, q: float, like: Array | None
) -> tuple[DHRow, Array, Array, Array]:
    """A row, its normal, and origin and x of the next frame."""
    (origin, x, z), (b, p) = frame, line
    cross = np.cross(z, b)
    if np.linalg.norm(cross) < np.sin(PARALLEL):
        return _hayati(joint, frame, line, q)
    n = cross / np.linalg.norm(cross)
    a = float((p - origin) @ n)
    if (n @ like < 0) if like is not None else (a < -MEET):
        n, a = -n, -a
    alpha = float(np.arctan2(cross @ n, z @ b))
    d = float((p - origin) @ np.cross(b, cross) / (z @ np.cross(b, cross)))
    foot = origin + d * z + a * n
    theta = _wrapped(_angle(x, n, z) - q)
    return DHRow(name=joint, a=a, alpha=alpha, d=d, theta=theta), n, foot, n


def _hayati(joint: str, frame: tuple[Array, Array, Array], line: Line, q: float) -> tuple[DHRow, Array, Array, Array]:
    (origin, x, z), (b, p) = frame, line
    there = p + b * float((origin - p) @ z / (b @ z))
    a = float(np.linalg.norm(there - origin))
    n = (there - origin) / a if a > MEET else x
    bx, by, bz = float(b @ n), float(b @ np.cross(z, n)), float(b @ z)
    alpha, beta = float(np.arctan2(-by, bz)), float(np.arcsin(np.clip(bx, -1.0, 1.0)))
    turned = np.column_stack([n, np.cross(z, n), z]) @ Rotation.from_euler("XY", [alpha, beta]).as_matrix()
    theta = _wrapped(_angle(x, n, z) - q)
    return DHRow(name=joint, a=a, alpha=alpha, beta=beta, theta=theta), n, there, turned[:, 0]


def _wrapped(angle: float) -> float:
    return float(np.arctan2(np.sin(angle), np.cos(angle)))


@dataclass(frozen=True, eq=False)
class CirclePoints:
    """``base`` is the pose of the robot's base in the instrument; ``couplings`` (n, n) turned joint per moved joint.

    ``dh`` are the axes as a DH table (Hayati's rows where neighbours are parallel), ``nominal_dh`` those of the robot
    file; empty where a joint between two others was not swept.
    """

    axes: tuple[JointAxis, ...]
    neighbours: tuple[Neighbours, ...]
    errors: tuple[AxisError, ...]
    base: Pose
    couplings: Array
    home: Array
    dh: tuple[DHRow, ...] = ()
    nominal_dh: tuple[DHRow, ...] = ()

    @property
    def dh_errors(self) -> tuple[DHRow, ...]:
        """Measured minus nominal rows, angles within half a turn; beta is None where either row has none."""
        return tuple(_difference(row, file) for row, file in zip(self.dh, self.nominal_dh, strict=True))


def _difference(row: DHRow, file: DHRow) -> DHRow:
    flat = row.beta is None or file.beta is None
    return DHRow(
        name=row.name, a=row.a - file.a, alpha=_wrapped(row.alpha - file.alpha), d=row.d - file.d,
        theta=_wrapped(row.theta - file.theta), beta=None if flat else _wrapped(row.beta - file.beta),  # type: ignore[operator]
    )  # fmt: skip


def circle_points(robot: Robot, sweeps: Sequence[Sweep], noise: float | None = None) -> CirclePoints:
    """All sweeps together, each of another joint from the same home, against a robot file."""
    home, moved = _home(robot, sweeps)
    pairs = [joint_axis(s, m, noise) for s, m in zip(sweeps, moved, strict=True)]
    order = np.argsort(moved)
    axes = tuple(pairs[i][0] for i in order)
    numbers = [moved[i] for i in order]
    nominal = nominal_axes(robot, home)
    base = placed_base(axes, [nominal[k] for k in numbers])
    errors = frame_errors(robot, home, axes, numbers, base)
    if farthest(errors) > APART and (slip := _slip(robot, home, axes, numbers)):
        far = max(errors, key=lambda e: e.angle)
        raise ImplausibleError(
            f"the axis of {far.joint} is {np.degrees(far.angle):.3g} deg from the robot file's; {slip.text}",
            value=slip.word,
        )
    ratios = couplings(robot, [sweeps[i] for i in order], numbers, base)
    known = [(axis, nominal[k]) for axis, k in zip(axes, numbers, strict=True)]
    both = [neighbours(one, two, a, b) for (one, a), (two, b) in pairwise(known)]
    measured, file = _tables(robot, axes, numbers, nominal, base, home)
    return CirclePoints(axes, tuple(both), errors, base, ratios, home, measured, file)


def _slip(robot: Robot, home: Array, axes: Sequence[JointAxis], numbers: Sequence[int]) -> AxisSlip | None:
    """The sign or zero of one joint that lays all axes where they were measured."""
    left: dict[AxisSlip, float] = {}
    for slip in axis_slips(robot):
        ways = np.diag(slip.turn)
        if slip.unit or np.any(np.abs(ways) != 1) or np.any(slip.turn != np.diag(ways)):
            continue
        turned = [replace(a, axis=ways[k] * a.axis) for a, k in zip(axes, numbers, strict=True)]
        there = robot.controller.to_joints(slip.undone(robot.controller.to_controller(home)[None]))[0]
        nominal = nominal_axes(robot, there)
        base = placed_base(turned, [nominal[k] for k in numbers])
        left[slip] = farthest(frame_errors(robot, there, turned, numbers, base))
    best = min(left, key=lambda slip: left[slip])
    return best if left[best] < LAID * APART else None


def _tables(
    robot: Robot, axes: Sequence[JointAxis], numbers: Sequence[int], nominal: Sequence[Line], base: Pose, home: Array
) -> tuple[tuple[DHRow, ...], tuple[DHRow, ...]]:
    """Measured axes and those of the robot file as DH tables."""
    if any(two - one != 1 for one, two in pairwise(numbers)):
        return (), ()
    joints, q = [robot.joints[k] for k in numbers], home[list(numbers)]
    flat = [(base.rotation @ nominal[k][0], base.rotation @ nominal[k][1] + base.translation) for k in numbers]
    file, normals = dh_rows(joints, flat, q, base)
    return dh_rows(joints, [(a.axis, a.centre) for a in axes], q, base, normals)[0], file


def _home(robot: Robot, sweeps: Sequence[Sweep]) -> tuple[Array, list[int]]:
    moved, others = [], []
    for sweep in sweeps:
        span = np.ptp(sweep.q, axis=0)
        joint = int(np.argmax(span))
        if robot.joints[joint] != sweep.joint:
            raise ImplausibleError(
                f"sweep of {sweep.joint}: joint {robot.joints[joint]} moves most; check its joint values",
                value=(sweep.joint, robot.joints[joint]),
            )
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
        raise MissingError("circle-point analysis needs sweeps of two joints or more, one of each", code="few-sweeps")
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
