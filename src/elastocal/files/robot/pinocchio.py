"""A robot from a ``pinocchio.Model``, where Pinocchio is installed."""

from __future__ import annotations

from typing import Any

import numpy as np

from elastocal.errors import RangeError
from elastocal.files.robot.links import Joint, Links, serial_robot
from elastocal.model.frames import JointKind, JointMotion
from elastocal.model.robot import Robot
from elastocal.spatial.pose import Pose

FAR = 1e10
"""Limits beyond it stand for none, in rad or m."""


def robot_from_pinocchio(model: Any, tool: str | None = None) -> Robot:
    """The serial robot from the universe to the frame ``tool`` (default: inferred, see ``links``).

    Every joint gives a frame of its name, which carries its inertia; bodies and other frames are fixed to it.
    """
    universe = str(model.names[0])
    notes: list[str] = []
    joints = [_joint(model, i, notes) for i in range(1, model.njoints)]
    taken = {universe, *(j.name for j in joints)}
    for frame in model.frames:
        if frame.name not in taken:
            taken.add(frame.name)
            parent = str(model.names[frame.parentJoint])
            joints.append(Joint(f"to {frame.name}", parent, str(frame.name), _pose(frame.placement), None))
    names = (universe, *(j.child for j in joints))
    masses = {
        str(model.names[i]): (float(inertia.mass), float(inertia.mass) * np.array(inertia.lever))
        for i, inertia in enumerate(model.inertias)
        if inertia.mass > 0
    }
    below: dict[str, list[Joint]] = {name: [] for name in names}
    for joint in joints:
        below[joint.parent].append(joint)
    tree = {link: tuple(carried) for link, carried in below.items()}
    source = f"pinocchio.Model {model.name}"
    links = Links(source, names, tuple(joints), universe, {j.child: j for j in joints}, tree, masses)
    return serial_robot(links, str(model.name), source, np.array(model.gravity.linear), tool, None, notes).model


def _pose(placement: Any) -> Pose:
    return Pose(np.array(placement.rotation), np.array(placement.translation))


def _joint(model: Any, i: int, notes: list[str]) -> Joint:
    name, parent = str(model.names[i]), str(model.names[model.parents[i]])
    motion = _motion(model, i)
    if motion is None:
        notes.append(f"joint {name!r} ({model.joints[i].shortname()}) is fixed at its neutral value")
    return Joint(name, parent, name, _pose(model.jointPlacements[i]), motion, f"joint {name!r}", endless=True)


def _motion(model: Any, i: int) -> JointMotion | None:
    """The motion of a joint with one degree of freedom; none of one with several."""
    joint, name = model.joints[i], model.names[i]
    mimics = joint.shortname() == "JointModelMimic"
    if joint.nv != 1 and not mimics:
        return None
    if mimics:
        leader = next(b for a, b in zip(model.mimicking_joints, model.mimicked_joints, strict=True) if a == i)
        ratio, offset = float(joint.extract().scaling), float(joint.extract().offset)
        kind, axis = _axis(model, i, ratio)
        return JointMotion(kind, axis, None, str(model.names[leader]), ratio, offset)
    kind, axis = _axis(model, i)
    if joint.nq != 1:
        return JointMotion(kind, axis)
    low, high = float(model.lowerPositionLimit[joint.idx_q]), float(model.upperPositionLimit[joint.idx_q])
    if low > high:
        raise RangeError(f"joint {name!r}: its limits {low!r} to {high!r} are reversed; exchange them")
    return JointMotion(kind, axis, (low, high) if low < high and max(-low, high) < FAR else None)


def _axis(model: Any, i: int, ratio: float = 1.0) -> tuple[JointKind, tuple[float, float, float]]:
    """Kind and axis of a joint from its motion subspace, which is translation first and has the ``ratio`` in it."""
    import pinocchio

    data = model.joints[i].createData()
    model.joints[i].calc(data, pinocchio.neutral(model))
    twist = np.array(data.S, dtype=np.float64).reshape(6)
    shift, turn = twist[:3], twist[3:]
    if np.any(shift) and np.any(turn):
        raise RangeError(
            f"joint {model.names[i]!r} is a screw; replace it by a revolute and a prismatic joint", value=model.names[i]
        )
    direction = (turn if np.any(turn) else shift) / ratio
    x, y, z = (float(c) for c in direction / np.linalg.norm(direction))
    return ("revolute" if np.any(turn) else "prismatic"), (x, y, z)
