"""Kinematics in the style of Universal Robots' kinematics.yaml: the origin of every joint, which turns about its z.

    T_flange(q) = prod_i  origin_i Rz(q_i)    and a constant behind it

with x y z in m and roll pitch yaw in rad.  Axes of the joint frames are chosen so that z is the axis of the joint.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from elastocal.errors import InputError
from elastocal.model.robot import RobotModel
from elastocal.spatial.pose import Pose
from elastocal.spatial.rotation import align_z, matrix_rpy

NAMES = ("shoulder", "upper_arm", "forearm", "wrist_1", "wrist_2", "wrist_3")


def kinematics_text(model: RobotModel, poses: Mapping[str, Pose], mark: str) -> str:
    """The file's text; ``poses`` are the corrected ones of all frames, ``mark`` stands in the file as its hash."""
    motions = [f.joint for f in model.tree.frames if f.joint is not None]
    if len(motions) != 6 or any(m.kind != "revolute" or m.follows for m in motions):
        raise InputError(
            f"robot {model.name} has not six revolute joints of their own, so kinematics.yaml cannot describe it; use "
            "a URDF or the calibration itself",
            parameter="urdf",
        )
    lines = ["kinematics:"]
    for name, pose in zip(NAMES, origins(model, poses), strict=True):
        numbers = (*(float(v) for v in pose.translation), *matrix_rpy(pose.rotation))
        lines.append(f"  {name}:")
        words = ("x", "y", "z", "roll", "pitch", "yaw")
        lines += [f"    {word}: {number + 0.0!r}" for word, number in zip(words, numbers, strict=True)]
    return "\n".join([*lines, f"  hash: {mark}", ""])


def origins(model: RobotModel, poses: Mapping[str, Pose]) -> list[Pose]:
    """Pose of every joint frame, with z along its axis, in the one before."""
    out, way, turn = [], Pose(), Pose()
    for frame in model.tree.path(model.tool):
        way = way @ poses[frame.name]
        if frame.joint is not None:
            align = Pose(align_z(np.asarray(frame.joint.unit_axis)))
            out.append(Pose(turn.rotation.T) @ way @ align)
            way, turn = Pose(), align
    return out
