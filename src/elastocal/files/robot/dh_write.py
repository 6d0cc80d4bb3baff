"""A robot as a table of Denavit-Hartenberg parameters, which ``dh`` reads: from lines of its axes at zero.

Behind the frame of a row, whose z is the axis of its joint, comes the axis of the next, a point r and a direction w:

    Rz(theta) Tz(d) Tx(a) Rx(alpha)         along the common normal z x w
    Rz(theta) Tx(a) Rx(alpha) Ry(beta)      where w is nearly z: r where the axis crosses the plane of x and y (Hayati)

The normal has two directions; that is taken which is nearer to the x axis of the frame in which the robot has the next
joint.  A slide may lie anywhere along its direction: beside the axis of its neighbour, as on a SCARA's last two joints,
it is laid through a point of that.  The last row leads to the tool: turns about x of the row, and what lies along it
and along its joint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from elastocal.errors import UnsupportedError
from elastocal.model.frames import DHRow, dh_frames
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose
from elastocal.spatial.rotation import align_z, axis_matrix
from elastocal.values import dataclass

PARALLEL = 0.1
"""Sine of the angle between axes below which a row is Hayati's."""
CLOSE = 1e-3
"""m between nearly parallel axes below which they are nearly one: a slide is laid into the other; two axes that turn
have no certain row."""
ROUNDS = 20
"""Times that a slide is laid anew into an axis, which each leaves a tenth of the distance at most."""
SAME = 1e-9
"""Cosine below which a direction tells nothing, and m between axes that are one."""
TITLES = ("joint", "theta_deg", "d_mm", "a_mm", "alpha_deg", "beta_deg", "min", "max", "type", "sign", "convention")


@dataclass(frozen=True, eq=False)
class DHTable:
    """``rows`` of joints, ``signs`` by which the controller counts; the first frame in the base, the tool in the last
    frame."""

    rows: tuple[DHRow, ...]
    signs: tuple[float, ...]
    base: Pose
    tool: Pose

    @property
    def titles(self) -> tuple[str, ...]:
        unit = "deg" if any(r.type == "revolute" for r in self.rows) else "mm"
        return tuple(f"{t}_{unit}" if t in ("min", "max") else t for t in TITLES)

    @property
    def unlimited(self) -> tuple[str, ...]:
        """Joints whose limits have no place in the columns, which have one unit."""
        turns = any(r.type == "revolute" for r in self.rows)
        return tuple(r.name for r in self.rows if r.limits is not None and turns != (r.type == "revolute"))

    @property
    def cells(self) -> list[list[object]]:
        turns = any(r.type == "revolute" for r in self.rows)
        out: list[list[object]] = []
        for row, sign in zip(self.rows, self.signs, strict=True):
            stated = row.limits if row.limits is not None and row.name not in self.unlimited else ("", "")
            limits = [v if isinstance(v, str) else _digits(np.degrees(v) if turns else 1e3 * v) for v in stated]
            beta = "" if row.beta is None else _digits(np.degrees(row.beta))
            angles = [_digits(180 - (180 - round(np.degrees(v), 9)) % 360) for v in (row.theta, row.alpha)]
            lengths = (_digits(1e3 * row.d), _digits(1e3 * row.a))
            out.append([row.name, angles[0], *lengths, angles[1], beta, *limits, row.type, _digits(sign), "standard"])
        return out


def dh_table(model: Robot, poses: Mapping[str, Pose]) -> DHTable:
    """The table of a robot whose frames stand in their parents at ``poses``."""
    path = model.tree.path(model.tool)
    at = {"base": np.eye(4)}
    for frame in path:
        at[frame.name] = at[frame.parent] @ poses[frame.name].matrix()
    moving = [f for f in path if f.joint is not None]
    matrix, zero = model.controller.matrix, model.controller.zero
    off = matrix - np.diag(np.diag(matrix))
    if any(f.joint.follows for f in moving if f.joint) or np.abs(off).max(initial=0) > 0 or not moving:
        raise UnsupportedError(
            f"robot {model.name} has joints that are coupled, and a DH table has no column for that; use a robot file",
            parameter="yaml",
        )
    lines = [at[f.name] @ _of_axis(f.joint.unit_axis if f.joint else np.array([0.0, 0, 1])) for f in moving]
    near = [at[f.parent][:3, 0] for f in moving[1:]]
    slides = [f.joint is not None and f.joint.kind == "prismatic" for f in moving]
    here = first = _foot(_laid(lines, 0, slides, None, _foot))
    rows = []
    zeros = -matrix @ zero
    for i, joint in enumerate(moving):
        motion = joint.joint
        assert motion is not None
        if i < len(near):
            row = _row(here, _laid(lines, i + 1, slides, here, partial(_next, here, near[i])), near[i])
        else:
            row = _last(here, at[model.tool])
        if motion.kind == "prismatic" and row.beta is not None and zeros[i]:
            raise UnsupportedError(
                f"joint {joint.name} of robot {model.name} slides nearly along the next axis and counts from another "
                "zero, for which Hayati's rows have no column; use a robot file",
                parameter="yaml",
            )
        shift = {"theta": row.theta + zeros[i]} if motion.kind == "revolute" else {"d": row.d + zeros[i]}
        rows.append(replace(row, name=joint.name, type=motion.kind, limits=motion.limits))
        here = here @ _led(row)
        rows[-1] = replace(rows[-1], **shift)
    left = np.asarray(np.linalg.solve(here, at[model.tool]), dtype=np.float64)
    return DHTable(tuple(rows), tuple(np.diag(matrix)), _pose(first), _pose(left))


def _row(frame: Array, line: Array, near: Array) -> DHRow:
    """From the frame of a joint to the axis of the next, whose z is along it."""
    turn, here = frame[:3, :3], frame[:3, 3]
    w, r, x = turn.T @ line[:3, 2], turn.T @ (line[:3, 3] - here), turn.T @ near
    normal = np.array([-w[1], w[0], 0.0])
    size = float(np.linalg.norm(normal))
    if size < PARALLEL:
        r = r - w * r[2] / w[2]
        a = float(np.hypot(r[0], r[1]))
        if SAME < a < CLOSE:
            raise UnsupportedError("two axes are nearly one line, which no row of a DH table holds with certainty; "
                                   "use a robot file", parameter="yaml")  # fmt: skip
        a = 0.0 if a <= SAME else -a if r @ x < 0 else a
        e = np.array([r[0], r[1]]) * np.sign(a) if a else x
        theta = float(np.arctan2(e[1], e[0]))
        u = axis_matrix(2, theta).T @ w
        return DHRow(
            name="", a=a, theta=theta, alpha=float(np.arctan2(-u[1], u[2])), beta=float(np.arcsin(np.clip(u[0], -1, 1)))
        )
    e = normal / size
    told = e @ x if abs(e @ x) > SAME else e @ r
    e = -e if told < 0 else e
    side = np.cross([0.0, 0.0, 1.0], e)
    along = float(r @ side) / float(w @ side)
    return DHRow(
        name="", theta=float(np.arctan2(e[1], e[0])), d=float((r - along * w)[2]), a=float(r @ e),
        alpha=float(np.arctan2(-w @ side, w[2])),
    )  # fmt: skip


def _laid(
    lines: list[Array], number: int, slides: list[bool], here: Array | None, to: Callable[[Array], Array]
) -> Array:
    """The line of a joint; that of a slide through its neighbour's axis where it is nearly one with that: behind it
    where ``to`` has the next frame, or before it where ``here`` is."""
    line, behind = lines[number], lines[number + 1] if number + 1 < len(lines) else None
    if slides[number] and behind is not None and _nearly_one(line, behind):
        for _ in range(ROUNDS):
            at = to(line)
            far = (at[:3, 3] - behind[:3, 3]) @ at[:3, 2] / (behind[:3, 2] @ at[:3, 2])
            line = _through(line, behind[:3, 3] + far * behind[:3, 2])
    elif slides[number] and here is not None and _nearly_one(line, here):
        line = _through(line, here[:3, 3])
    return line


def _through(line: Array, point: Array) -> Array:
    out = line.copy()
    out[:3, 3] = point
    return out


def _nearly_one(line: Array, other: Array) -> bool:
    """Whether two axes are nearly one line."""
    across = other[:3, 3] - line[:3, 3]
    across = across - line[:3, 2] * (line[:3, 2] @ across)
    sine = np.linalg.norm(np.cross(line[:3, 2], other[:3, 2]))
    return bool(sine < PARALLEL and np.linalg.norm(across) < CLOSE)


def _next(here: Array, near: Array, line: Array) -> Array:
    """The frame of the next joint, on its line."""
    return np.asarray(here @ _led(_row(here, line, near)))


def _led(row: DHRow) -> Array:
    """Where a row leads to."""
    link = dh_frames((row,), "standard")
    return np.asarray(link[0].pose.matrix() @ link[1].pose.matrix())


def _last(frame: Array, tool: Array) -> DHRow:
    """From the frame of the last joint to the tool, or as near to it as a row leads."""
    at: Array = np.asarray(np.linalg.solve(frame, tool), dtype=np.float64)
    if np.hypot(at[0, 2], at[1, 2]) >= PARALLEL:
        return _row(np.eye(4), at, at[:3, 0])
    theta = float(np.arctan2(at[1, 0], at[0, 0]))
    turned = axis_matrix(2, theta).T
    w, r = turned @ at[:3, 2], turned @ at[:3, 3]
    return DHRow(name="", theta=theta, d=float(r[2]), a=float(r[0]), alpha=float(np.arctan2(-w[1], w[2])))


def _foot(line: Array) -> Array:
    """The first frame: z along the axis, where it is nearest to the base, x as near to that of the base as may be."""
    z, out = line[:3, 2], np.eye(4)
    x = np.eye(3)[0 if abs(z[0]) < 0.9 else 1]
    x = (x - z * (x @ z)) / np.linalg.norm(x - z * (x @ z))
    out[:3, :3] = np.stack([x, np.cross(z, x), z], axis=1)
    out[:3, 3] = line[:3, 3] - z * (line[:3, 3] @ z)
    return out


def _of_axis(axis: Array) -> Array:
    out = np.eye(4)
    out[:3, :3] = align_z(axis)
    return out


def _pose(matrix: Array) -> Pose:
    return Pose(matrix[:3, :3], matrix[:3, 3])


def _digits(value: float) -> str:
    return f"{value:.9f}".rstrip("0").rstrip(".") if abs(value) >= 5e-10 else "0"
