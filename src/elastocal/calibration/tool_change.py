"""How the tool moves from one calibration of a robot to another, over a plane of the workpiece.

p_b(q) - p_a(q) at the same joint values.  Base and tool of each calibration were registered by its own readings, so
that a shift of all places is told apart from a change of shape by the best rigid fit.
"""

from __future__ import annotations

import numpy as np

from elastocal.arguments import vector
from elastocal.calibration.calibration import Calibration
from elastocal.calibration.tool import tool_of
from elastocal.errors import InputError
from elastocal.model.kinematics import kinematics
from elastocal.model.places import Plane, Reached, box_plane, reach
from elastocal.solve.summary import ErrorSummary
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose, rigid_fit
from elastocal.values import dataclass

COUNTS = (15, 11)


@dataclass(frozen=True, eq=False)
class ToolChange:
    """``moved`` (N, 3) in m at places reached, ``shape`` without the best rigid fit, ``sd`` (N,) of its size."""

    at: Reached
    near: Array
    moved: Array
    shape: Array
    sd: Array

    def sizes(self, rigid: bool = False) -> Array:
        return np.asarray(np.linalg.norm(self.moved if rigid else self.shape, axis=1))

    def summary(self, rigid: bool = False) -> ErrorSummary:
        return ErrorSummary.of(self.sizes(rigid))

    @property
    def uncertainty(self) -> ErrorSummary:
        """Of the sizes without rigid motion, k = 2."""
        return ErrorSummary.of(2 * self.sd)

    @property
    def over_plane(self) -> Array:
        """Sizes at all places of the plane, nan where the robot does not reach."""
        out = np.full(len(self.at.reached), np.nan)
        out[self.at.reached] = self.sizes()
        return out


def workpiece(c: Calibration, plane: Plane | None, near: Array | None) -> tuple[Reached, Array] | None:
    """The plane given, else a horizontal one about the tool with all joints in the middle of their ranges."""
    robot = c.robot
    start = (
        vector("near", near, robot.n)
        if near is not None
        else np.array([sum(m.limits) / 2 if m.limits else 0.0 for m in robot.motions])
    )
    if plane is None:
        tip = kinematics(robot.nominal, start[None]).position[0]
        side = 0.15 * robot.size
        half = np.array([side, side, 0.0])
        plane = box_plane(tip - half, tip + half, Pose(np.eye(3), np.zeros(3)), COUNTS)
    try:
        places = reach(robot, robot.tool, plane, start)
    except InputError:
        return None
    return (places, start) if int(places.reached.sum()) >= 3 else None


def tool_change(a: Calibration, b: Calibration, at: Reached, near: Array) -> ToolChange:
    q = at.q[at.reached]
    (before, own), (after, other) = (tool_places(c, q) for c in (a, b))
    return ToolChange(at, near, after - before, shape_change(before, after), np.sqrt(own + other))


def tool_places(c: Calibration, q: Array) -> tuple[Array, Array]:
    """The tool (N, 3) in base axes at joint values, unloaded, and its variance (N,) without shifts and turns of all."""
    rigid = _rigid_motions(kinematics(c.robot.nominal, q).position)
    values = np.array([c.parameters[n].value for n in c.names])
    warm = np.zeros(len(q)) if "thermal" in c.words else None
    state = tool_of(c.robot, c.names, q, None, None, warm).states(values)
    own = c.inflation**2 * c.covariance[: len(c.names), : len(c.names)]
    flat = state.slope[:, :3].reshape(3 * len(q), -1)
    slope = (flat - rigid @ (rigid.T @ flat)).reshape(len(q), 3, -1)
    return state.origin, np.einsum("nip,pq,niq->n", slope, own, slope)


def shape_change(before: Array, after: Array) -> Array:
    """By how much points (N, 3) moved, once the best rigid fit of all is taken out."""
    pose, _ = rigid_fit(after, before)
    return np.asarray(after @ pose.rotation.T + pose.translation - before)


def _rigid_motions(points: Array) -> Array:
    """Orthonormal columns (3 N, 6) of small shifts and turns of points (N, 3) together."""
    centred = points - points.mean(axis=0)
    columns = [np.tile(e, len(points)) for e in np.eye(3)]
    columns += [np.cross(e, centred).ravel() for e in np.eye(3)]
    return np.asarray(np.linalg.qr(np.stack(columns, axis=1))[0])
