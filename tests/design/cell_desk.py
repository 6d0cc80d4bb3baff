"""A robot whose frames are known by hand: a carriage z, a turn about z, an arm of one metre, a hand of half a metre."""

from __future__ import annotations

import numpy as np

from elastocal.design.candidates import CandidateSet, Poses
from elastocal.design.loading import Loading
from elastocal.files.robot.read import read_robot
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.frames import Frame, FrameTree, JointMotion
from elastocal.model.robot import Robot
from elastocal.spatial.pose import Pose


def arm() -> Robot:
    """q1 about z at the base, a link of 1 m along x, q2 about z, a hand of 0.5 m along x: everything lies in z = 0."""
    turn = JointMotion("revolute", (0.0, 0.0, 1.0), (-3.0, 3.0))
    frames = (
        Frame("q1", joint=turn),
        Frame("elbow", "q1", Pose(translation=np.array([1.0, 0, 0]))),
        Frame("q2", "elbow", joint=turn),
        Frame("tool", "q2", Pose(translation=np.array([0.5, 0, 0]))),
    )
    elements = (JointCompliance(joint="q1", k=1e-6), JointCompliance(joint="q2", k=3e-6))
    return Robot("desk", FrameTree(frames), "tool", elements)


def cylindrical() -> Robot:
    return read_robot("cylindrical")


def candidates_of(model: Robot, q: object, *loads: Loading, frame: str | None = None) -> CandidateSet:
    options = [o for load in loads for o in load.options(model)]
    return CandidateSet.of(Poses(model, np.atleast_2d(np.asarray(q, dtype=float))), options, frame or model.tool)
