"""Geometric errors and joint zeros of a calibrated robot moved into the fixed poses of its frames.

A frame stands at  T_parent pose motion(q + offset) E,  E the error of the frame, behind its motion.  So the offset goes
into the pose of its own frame, and E into that of the next frames on the way to the tool:

    pose' = E_parent pose motion(offset)            moving frame; E is handed on
    pose' = E_parent pose E                          fixed frame

Frames whose pose cannot be written hand on  pose^-1 E_parent pose E.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from elastocal.model.chain import AXES, JOINT, Dof
from elastocal.model.frames import BASE, Frame
from elastocal.model.robot import Robot
from elastocal.spatial.entries import Array
from elastocal.spatial.pose import Pose
from elastocal.spatial.rotation import Rotation, axis_matrix
from elastocal.values import dataclass

SAME = 1e-12


@dataclass(frozen=True)
class CorrectedPoses:
    """``poses`` of the frames that can be written, by name; ``lost`` are frames whose error no written pose holds.

    ``varying`` names effects that depend on joint values or temperature: no fixed pose holds them.
    """

    poses: dict[str, Pose]
    lost: tuple[str, ...]
    varying: tuple[str, ...] = ()


def corrected_poses(model: Robot, writable: Collection[str] | None = None) -> CorrectedPoses:
    """New poses of all frames, or of those that can be written."""
    handed = {BASE: _error(model, BASE)}
    out: dict[str, Pose] = {}
    for frame in model.tree.frames:
        before, own = handed[frame.parent], _error(model, frame.name)
        offset = _offset(model, frame)
        if writable is not None and frame.name not in writable:
            handed[frame.name] = frame.pose.inverse() @ before @ frame.pose @ offset @ own
            continue
        moving = frame.joint is not None
        out[frame.name] = before @ frame.pose @ (offset if moving else own)
        handed[frame.name] = own if moving else Pose()
    taken = {frame.parent for frame in model.tree.frames}
    left = {name: pose for name, pose in handed.items() if name not in taken}
    lost = tuple(name for name, pose in left.items() if np.abs(pose.matrix() - np.eye(4)).max() >= SAME)
    return CorrectedPoses(out, lost, tuple(f"{e.kind} of {e.place}" for e in model.coordinates if e.varies))


def _error(model: Robot, frame: str) -> Pose:
    """Tx Ty Tz Rx Ry Rz of a frame's constant error."""
    x, y, z, rx, ry, rz = (_constant(model, Dof(frame, axis)) for axis in AXES)
    return Pose(axis_matrix(0, rx) @ axis_matrix(1, ry) @ axis_matrix(2, rz), np.array([x, y, z]))


def _offset(model: Robot, frame: Frame) -> Pose:
    value = _constant(model, Dof(frame.name, JOINT))
    if frame.joint is None or value == 0.0:
        return Pose()
    axis: Array = frame.joint.unit_axis * value
    if frame.joint.kind == "prismatic":
        return Pose(np.eye(3), axis)
    return Pose(Rotation.from_rotvec(axis).as_matrix())


def _constant(model: Robot, dof: Dof) -> float:
    at = model.chain.index.get(dof)
    return 0.0 if at is None else float(model.constants[at])
