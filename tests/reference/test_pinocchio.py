"""Kinematics, Jacobians and gravity torque against Pinocchio, on every shipped robot and on random chains."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.mechanics import masses
from oracle.robots import ALIKE, SHIPPED, configurations, random_robot

from elastocal.files.robot.read import read_robot, shipped_robots
from elastocal.model.chain import JOINT
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.kinematics import kinematics
from elastocal.model.statics.equilibrium import equilibrium
from elastocal.model.statics.flexibility import assemble
from elastocal.model.statics.forces import forces_at

pin = pytest.importorskip("pinocchio")

RANDOM = [(seed, 1 + seed % 8, seed % 4) for seed in range(12)]
COMPLIANT = ("joint_compliance", "motor_compliance", "link_compliance", "foundation_compliance")


def pinocchio_model(model):
    """The tree joint by joint; masses hung on the joint (or the universe) that carries their frame."""
    out = pin.Model()
    out.gravity.linear[:] = model.gravity
    carrier = {"base": (0, pin.SE3.Identity())}
    for frame in model.tree.frames:
        joint, offset = carrier[frame.parent]
        place = offset * pin.SE3(np.array(frame.pose.rotation), np.array(frame.pose.translation))
        if frame.joint is not None:
            axis = np.array(frame.joint.axis) / np.linalg.norm(frame.joint.axis)
            kind = (
                pin.JointModelRevoluteUnaligned if frame.joint.kind == "revolute" else pin.JointModelPrismaticUnaligned
            )
            joint, place = out.addJoint(joint, kind(axis), place, frame.name), pin.SE3.Identity()
        carrier[frame.name] = (joint, place)
        out.addFrame(pin.Frame(f"at_{frame.name}", joint, 0, place, pin.FrameType.OP_FRAME))
    for name, mass, moment in masses(model):
        if mass > 0:
            joint, place = carrier[name]
            out.appendBodyToJoint(joint, pin.Inertia(mass, moment / mass, np.zeros((3, 3))), place)
    return out


def robots():
    return [pytest.param(read_robot, name, id=name) for name in SHIPPED] + [
        pytest.param(lambda spec: random_robot(spec[0], spec[1], spec[2]), spec, id=f"random{spec[0]}")
        for spec in RANDOM
    ]


def test_every_shipped_robot_is_in_the_table():
    assert {*SHIPPED, *ALIKE} == set(shipped_robots())


@pytest.mark.parametrize(("make", "what"), robots())
def test_frame_poses_and_jacobians_equal_pinocchio(make, what):
    model = make(what)
    other = pinocchio_model(model)
    data = other.createData()
    q = configurations(model, 5, seed=3)
    for name in model.tree.names[1:]:
        ours = kinematics(model, q, name)
        frame = other.getFrameId(f"at_{name}")
        for i, row in enumerate(q):
            pin.forwardKinematics(other, data, row)
            place = pin.updateFramePlacement(other, data, frame)
            theirs = pin.computeFrameJacobian(other, data, row, frame, pin.LOCAL_WORLD_ALIGNED)
            np.testing.assert_allclose(ours.position[i], place.translation, rtol=0, atol=2e-14)
            np.testing.assert_allclose(ours.rotation[i], place.rotation, rtol=0, atol=2e-14)
            np.testing.assert_allclose(ours.jacobian[i], theirs.reshape(6, -1), rtol=0, atol=3e-14)


def gravity_forces(model, q):
    """Generalised forces (N, n) of the weights on rigid joints."""
    bare = model.without(*COMPLIANT, "gravity_compensator")
    joints = [i for i, d in enumerate(bare.chain.dofs) if d.axis == JOINT]
    flex = assemble(bare, joints)
    return forces_at(flex, bare.posture(q.T), np.zeros((len(joints), len(q))), ()).q.T


@pytest.mark.parametrize(("make", "what"), robots())
def test_weights_push_joints_with_minus_pinocchios_gravity_torque(make, what):
    model = make(what)
    if model.n == 0:
        pytest.skip("no joints")
    model = model.with_parameters({n: v for n, v in [("flange.payload_m", 12.0), ("flange.payload_mx", 1.5)]
                                   if n in model.parameters.names})  # fmt: skip
    other = pinocchio_model(model)
    data = other.createData()
    q = configurations(model, 6, seed=5)
    ours = gravity_forces(model, q)
    theirs = np.array([pin.computeGeneralizedGravity(other, data, row).copy() for row in q])
    if masses(model) and model.gravity.any():
        assert np.abs(theirs).max() > 1
    np.testing.assert_allclose(ours, -theirs, rtol=0, atol=1e-12 * max(1.0, np.abs(theirs).max()))


def test_the_equilibrium_of_nearly_rigid_joints_carries_pinocchios_gravity_torque():
    model = random_robot(4, 6, 2, links=False).without("joint_compliance")
    model = model.with_elements(*(JointCompliance(joint=j, k=1e-15) for j in model.joints))
    other = pinocchio_model(model)
    data = other.createData()
    q = configurations(model, 6, seed=8)
    theirs = np.array([pin.computeGeneralizedGravity(other, data, row).copy() for row in q])
    np.testing.assert_allclose(equilibrium(model, q).force, -theirs, rtol=0, atol=1e-10)
