"""The robot of all races and the same robot as its peers know it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from elastocal.files.robot.read import read_robot
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.compliant.link_compliance import LinkCompliance
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.robot import Robot

LINKS = ("link_compliance", "foundation_compliance")
WRENCH = np.array([1000.0, 500.0, -2500.0, 100.0, 50.0, 30.0])


@cache
def robot() -> Robot:
    return read_robot("kuka-kr270")


def configurations(count: int, seed: int = 20) -> np.ndarray:
    limits = np.array([m.limits for m in robot().motions])
    return np.random.default_rng(seed).uniform(limits[:, 0], limits[:, 1], (count, len(limits)))


def pinocchio_model(model: Robot, links: bool) -> tuple[Any, np.ndarray, list[int]]:
    """Pinocchio's model, with six joints per spring if ``links``; the compliance matrix; places of q."""
    import pinocchio as pin
    import scipy.linalg

    springs = {e.frame: np.array(e.matrix) for e in model.elements if isinstance(e, LinkCompliance) and links}
    joints = {e.joint: e.k for e in model.elements if isinstance(e, JointCompliance)}
    out = pin.Model()
    out.gravity.linear = model.gravity
    blocks: list[np.ndarray] = []

    def spring(parent: int, place: Any, name: str) -> tuple[int, Any]:
        kinds = (pin.JointModelPX, pin.JointModelPY, pin.JointModelPZ)
        turns = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)
        for kind in (*kinds, *turns):
            parent = out.addJoint(parent, kind(), place, f"{name}.{kind.__name__}")
            place = pin.SE3.Identity()
        blocks.append(springs[name])
        return parent, place

    at: dict[str, tuple[int, Any]] = {"base": (0, pin.SE3.Identity())}
    if "base" in springs:
        at["base"] = spring(*at["base"], "base")
    for frame in model.tree.frames:
        parent, place = at[frame.parent]
        place = place * pin.SE3(frame.pose.rotation, frame.pose.translation)
        if frame.joint is not None:
            kind = pin.JointModelRevoluteUnaligned(np.array(frame.joint.axis, dtype=float))
            parent, place = out.addJoint(parent, kind, place, frame.name), pin.SE3.Identity()
            blocks.append(np.array([[joints[frame.name]]]))
        if frame.name in springs:
            parent, place = spring(parent, place, frame.name)
        at[frame.name] = (parent, place)
        out.addFrame(pin.Frame(frame.name, parent, 0, place, pin.FrameType.OP_FRAME))
    for e in model.elements:
        if isinstance(e, LinkMass) and e.mass > 0 and at[e.frame][0] > 0:
            body = pin.Inertia(e.mass, np.array(e.moment) / e.mass, np.zeros((3, 3)))
            out.appendBodyToJoint(at[e.frame][0], body, at[e.frame][1])
    places = [out.joints[out.getJointId(n)].idx_q for n in model.joints]
    return out, scipy.linalg.block_diag(*blocks), places
