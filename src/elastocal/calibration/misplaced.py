"""A frame that stands elsewhere than the robot file says: a length read from the wrong line of a data sheet, say.

A frame that is d from its place in its parent takes everything behind it along, without a turn:

    o(q, d) = o(q) + R_parent(q) d,

so one least-squares step finds d with the placing of instrument and markers, which is then taken anew.
"""

from __future__ import annotations

import numpy as np

from elastocal.calibration.campaign import Campaign
from elastocal.calibration.placing import Placing, believed, placed, robust_start, start_error
from elastocal.model.frames import BASE, Frame
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array, Ints
from elastocal.values import dataclass

STEPS = 4
"""Of the search for d: the second one finds what the first placing had taken for its own."""
ALIKE = 1.5
"""Frames whose shifts leave no more than this times the least explain the points alike, such as two in line."""


@dataclass(frozen=True)
class Misplaced:
    """``frame`` stands ``shift`` (x, y, z in m, axes of its parent) from its place; ``distance`` is what is left."""

    frame: str
    shift: tuple[float, float, float]
    distance: float

    @property
    def text(self) -> str:
        moved = ", ".join(f"{1e3 * v + 0.0:.1f}" for v in self.shift)
        return f"frame {self.frame} stands [{moved}] mm from its place in the robot file"


def misplaced_frame(robot: Robot, campaign: Campaign) -> Misplaced | None:
    """The frame whose shift brings the points nearest; of those alike the one farthest from its parent.

    Only between the first and the last joint: elsewhere instrument or markers take the shift.
    """
    path = robot.tree.path(robot.tool)
    moving = [i for i, frame in enumerate(path) if frame.joint is not None]
    tried = [(frame, _shifted(robot, campaign, frame)) for frame in path[moving[0] + 1 : moving[-1] + 1]]
    least = min((shifted.distance for _, shifted in tried), default=np.inf)
    alike = [t for t in tried if t[1].distance <= ALIKE * least]
    return max(alike, key=lambda t: float(np.linalg.norm(t[0].pose.translation)), default=(None, None))[1]


def _shifted(robot: Robot, campaign: Campaign, frame: Frame) -> Misplaced:
    assert campaign.position is not None
    q, station, points = campaign.joint_values(robot), campaign.station_index, campaign.position
    points = np.where(np.isfinite(points).all(axis=2, keepdims=True), points, np.nan)
    tool, parent = kinematics(robot.nominal, q), _turn(robot.nominal, q, frame.parent)
    centres, shift = np.zeros((len(campaign.stations), 3)), np.zeros(3)
    for _ in range(STEPS):
        origin = tool.position + parent @ shift
        placing = robust_start(origin, tool.rotation, station, centres, points, quick=True)
        shift = shift + _step(placing, origin, tool.rotation, parent, station, points)
    origin = tool.position + parent @ shift
    placing = robust_start(origin, tool.rotation, station, centres, points)
    x, y, z = shift.tolist()
    return Misplaced(frame.name, (x, y, z), start_error(placing, origin, tool.rotation, station, points))


def _turn(robot: Robot, q: Array, frame: str) -> Array:
    return np.tile(np.eye(3), (len(q), 1, 1)) if frame == BASE else kinematics(robot, q, frame).rotation


def _step(placing: Placing, origin: Array, turn: Array, parent: Array, station: Ints, points: Array) -> Array:
    """The change of d (3,), with small changes of stations and markers, by the points that the placing fits best."""
    expected = placed(placing, origin, turn, station)
    off = points - expected
    away = np.linalg.norm(off, axis=2)
    keep = believed(away)
    n, m = away.shape
    stations = len(placing.turn)
    columns = np.zeros((n, m, 3, 3 + 6 * stations + 3 * m))
    seen = placing.turn[station]
    columns[..., :3] = (seen @ parent)[:, None]
    for s in range(stations):
        mine, at = station == s, 3 + 6 * s
        columns[mine, :, :, at : at + 3] = np.eye(3)
        columns[mine, :, :, at + 3 : at + 6] = np.moveaxis(np.cross(np.eye(3), expected[mine][:, :, None]), -1, -2)
    for j in range(m):
        at = 3 + 6 * stations + 3 * j
        columns[:, j, :, at : at + 3] = seen @ turn
    a = columns[keep].reshape(-1, columns.shape[-1])
    return np.asarray(np.linalg.lstsq(a, off[keep].reshape(-1), rcond=1e-9)[0][:3])
