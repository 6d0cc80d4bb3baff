"""Corrections on a grid of the workspace, for controllers and CAM systems that interpolate them.

Every grid point is a target like those of a program: the command is solved whose loaded pose is the desired one.  The
correction is commanded minus desired pose, in robot axes: a shift, and a rotation vector.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from elastocal.compensation.correction import Correction
from elastocal.compensation.left_open import ways_to
from elastocal.compensation.posts.poses import kuka_angles
from elastocal.compensation.posts.post import parsed
from elastocal.compensation.process import ProcessLoad
from elastocal.compensation.program import Given
from elastocal.compensation.run import compensate, flange_of
from elastocal.compensation.targets import TargetStatus
from elastocal.errors import InputError, MissingError, RangeError
from elastocal.model.kinematics import rigid_pose
from elastocal.model.robot import Robot
from elastocal.results import Finding
from elastocal.solve.summary import ErrorSummary
from elastocal.spatial.entries import Array, Ints
from elastocal.spatial.pose import Pose
from elastocal.values import dataclass

MOST = 200_000
"""Grid points of one call."""
PIECE = 10_000
"""Points that are held with all that is known of them."""


@dataclass(frozen=True, eq=False)
class CorrectionGrid:
    """``points`` (N, 3) in m with their corrections: ``shift`` (N, 6) in m and rad, nan where there is none.

    ``status`` (N,) are ``TargetStatus``; ``predicted`` (N,) is the residual error predicted after correction, in m.
    ``command`` (N, n) are the controller values in rad and m that put the loaded tool there: an arm that reaches a
    point in another way needs another correction.  ``ways`` (k, n) are those that reach the middle of the grid, where
    nobody said which to take: the first one was.
    """

    axes: tuple[Array, Array, Array]
    points: Array
    shift: Array
    status: Ints
    predicted: Array
    command: Array
    ways: Array
    warnings: tuple[Finding, ...]

    @property
    def central(self) -> int:
        """The corrected point that is nearest to the middle."""
        from_middle = np.linalg.norm(self.points - self.points.mean(axis=0), axis=1)
        return int(np.argmin(np.where(self.status == TargetStatus.CORRECTED, from_middle, np.inf)))

    @property
    def sizes(self) -> ErrorSummary:
        """Of the corrections of places."""
        return ErrorSummary.of(np.linalg.norm(self.shift[:, :3], axis=1))

    @property
    def reached(self) -> int:
        return int(np.sum(self.status == TargetStatus.CORRECTED))


def correction_grid(
    calibration: Any, robot: Robot, low: Array, high: Array, step: Array, rotation: Array, *,
    tool: str | None = None, load: ProcessLoad | None = None, near: Array | None = None, flange: str | None = None,
) -> CorrectionGrid:  # fmt: skip
    """The grid from ``low`` to ``high`` (3,) in m in robot axes, with the ``tool`` frame turned as ``rotation`` says.

    ``near`` (n,) are controller values that say how the arm reaches it; by default the way that is farthest from the
    limits in the middle of the grid.
    """
    axes = tuple(_axis(a, b, s) for a, b, s in zip(low, high, step, strict=True))
    count = int(np.prod([len(a) for a in axes]))
    if count > MOST:
        raise RangeError(f"the grid has {count} points, more than {MOST}; take a larger step", value=count)
    points = _serpentine(*axes)
    hand = flange_of(robot, flange)
    frame = tool or robot.tool
    held = _between(robot, hand, frame)
    ways = np.empty((0, robot.n))
    if near is None:
        ways = ways_to(robot, frame, (np.asarray(low) + high) / 2, rotation)
        if not len(ways):
            raise InputError(
                "the arm does not reach the middle of the grid with this orientation; move the box, turn the tool, or "
                "state axis values near it",
                code="grid-out-of-reach",
            )
        near = ways[0]
    given = Given(bases={"base": Pose()}, tools={"tool": held})
    turn = ",".join(f"{v:.17g}" for v in kuka_angles(rotation))
    parts, warnings = list[tuple[Array, Ints, Array, Array]](), dict[str, Finding]()
    for first in range(0, count, PIECE):
        lines = [f"{1e3 * x:.6f},{1e3 * y:.6f},{1e3 * z:.6f},{turn}" for x, y, z in points[first : first + PIECE]]
        text = "\n".join(["x_mm,y_mm,z_mm,a_deg,b_deg,c_deg", *lines, ""])
        done = compensate(
            calibration, parsed({"grid.csv": text.encode()}, given), load=load, near=near, flange=hand
        )  # fmt: skip
        status, joints = _whole_turns(robot, done)
        good = (status == TargetStatus.CORRECTED)[:, None]
        command = np.where(good, robot.controller.to_controller(joints), np.nan)
        parts.append((np.where(good, done.shift, np.nan), status, done.predicted, command))
        warnings |= {w.text: w for w in done.warnings}
        reached = done.commands.nominal[np.isfinite(done.commands.nominal).all(axis=1)]
        near = robot.controller.to_controller(reached[-1:])[0] if len(reached) else near
    order = np.lexsort((points[:, 0], points[:, 1], points[:, 2]))
    shift, status, predicted, command = (np.concatenate(some)[order] for some in zip(*parts, strict=True))
    return CorrectionGrid(
        axes, points[order], shift, status, predicted, command, ways, tuple(warnings.values())  # type: ignore[arg-type]
    )  # fmt: skip


def _whole_turns(robot: Robot, done: Correction) -> tuple[Ints, Array]:
    """Status (N,) and joint values (N, n): a point stands alone, so a joint beyond a limit may come from the other."""
    status, joints = done.commands.status.copy(), done.commands.command.copy()
    rows = np.flatnonzero(status == TargetStatus.JOINT_LIMIT)
    for i, motion in enumerate(robot.motions):
        if motion.kind == "revolute" and motion.limits is not None:
            turns = np.round((joints[rows, i] - sum(motion.limits) / 2) / (2 * np.pi))
            joints[rows, i] -= 2 * np.pi * turns
    status[np.delete(rows, [row for row, _, _ in robot.beyond_limits(joints[rows])])] = TargetStatus.CORRECTED
    return status, joints


def _axis(low: float, high: float, step: float) -> Array:
    if not step > 0 or not high >= low:
        raise MissingError(
            f"the grid from {1e3 * low:g} to {1e3 * high:g} mm by {1e3 * step:g} mm has no points; check it"
        )
    return np.linspace(low, high, int(np.floor((high - low) / step + 1e-9)) + 1) if high > low else np.array([low])


def _serpentine(x: Array, y: Array, z: Array) -> Array:
    """Points (N, 3), each next to the one before it."""
    out = []
    for k, c in enumerate(z):
        for j, b in enumerate(y if k % 2 == 0 else y[::-1]):
            row = x if (j + k * len(y)) % 2 == 0 else x[::-1]
            out.append(np.column_stack([row, np.full(len(row), b), np.full(len(row), c)]))
    return np.concatenate(out)


def _between(robot: Robot, hand: str, frame: str) -> Pose:
    q = np.zeros((robot.n, 1))
    (a, ra), (b, rb) = (rigid_pose(robot.nominal, f, q) for f in (hand, frame))
    one, two = Pose(ra[..., 0], a[:, 0]), Pose(rb[..., 0], b[:, 0])
    return one.inverse() @ two
