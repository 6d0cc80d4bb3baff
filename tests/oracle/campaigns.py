"""Small robots to measure, and what would be read of them by plain mechanics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from elastocal.measure.markers import Deflection
from elastocal.measure.measured import Measured
from elastocal.measure.setup import Setup
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.compliant.joint_offset import JointOffset
from elastocal.model.frames import BASE, Frame, FrameTree, JointMotion
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.observation import Marker
from elastocal.spatial.pose import Pose
from oracle.mechanics import compliance, constants, generalised_forces, poses

TURN = Rotation.from_rotvec([0.3, -0.2, 0.5]).as_matrix()
GRAVITY = np.array([1.0, -2.0, -9.0])


def arm(*elements, joints=(1e-5, 2e-5, 3e-5, 1e-5), weight=True):
    """Three turning joints and a slide, nothing parallel; a hand with a load frame and two markers on it.

    ``joints`` are their compliances, None where there is none.
    """
    tree = FrameTree(
        (
            Frame("j1", BASE, Pose(TURN, (0.1, 0, 0.4)), JointMotion("revolute", (0, 0, 1))),
            Frame("j2", "j1", Pose(TURN.T, (0.2, 0.1, 0.1)), JointMotion("revolute", (0, 1, 0.2))),
            Frame("j3", "j2", Pose(translation=(0.5, 0, 0.1)), JointMotion("revolute", (0.1, 1, 0))),
            Frame("p4", "j3", Pose(TURN, (0.3, 0.1, 0)), JointMotion("prismatic", (1, 0, 0.3))),
            Frame("end", "p4", Pose(TURN, (0.1, 0.1, 0.1))),
            Frame("tip", "end", Pose(TURN.T, (0.05, -0.1, 0.1))),
            Frame("grip", "tip", Pose(TURN, (0.1, 0.05, -0.1))),
            Frame("m1", "tip", Pose(TURN @ TURN, (0.1, 0.2, 0.05))),
            Frame("m2", "tip", Pose(TURN.T, (-0.15, 0.1, 0.2))),
        )
    )
    springs = [JointCompliance(joint=j, k=k) for j, k in zip(tree.joint_names, joints, strict=True) if k is not None]
    mass = [LinkMass(frame="j3", mass=8.0, moment=(2.0, 0.4, 0.3))] if weight else []
    return Robot("arm", tree, "tip", (*springs, *mass, *elements), GRAVITY)


def arm_poses(count, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform([-1.5, -1.2, -1.5, 0.0], [1.5, 1.2, 1.5, 0.3], (count, 4))


def planar(links=2, k=1e-5, offsets=True, mass=0.0, length=0.5):
    """``links`` equal links that turn about y in the vertical plane."""
    frames = [Frame("j1", BASE, Pose(), JointMotion("revolute", (0, 1, 0), (-np.pi, np.pi)))]
    for i in range(2, links + 1):
        motion = JointMotion("revolute", (0, 1, 0), (-2.5, 2.5))
        frames.append(Frame(f"j{i}", f"j{i - 1}", Pose(translation=(length, 0, 0)), motion))
    frames.append(Frame("tip", f"j{links}", Pose(translation=(length, 0, 0))))
    elements = [JointCompliance(joint=f"j{i}", k=k * (0.5 + i / 2)) for i in range(1, links + 1)]
    if offsets:
        elements += [JointOffset(joint=f"j{i}") for i in range(1, links + 1)]
    if mass:
        elements += [LinkMass(frame=f"j{i}", mass=mass, moment=(mass * length / 2, 0, 0)) for i in range(1, links + 1)]
    return Robot("planar", FrameTree(tuple(frames)), "tip", tuple(elements))


def moved_frame(model, name, shift):
    """The same robot with a frame's origin moved by ``shift`` along its own axes, and all that hangs on it."""
    frames = tuple(
        f if f.name != name else replace(f, pose=f.pose @ Pose(translation=shift)) for f in model.tree.frames
    )
    return replace(model, tree=FrameTree(frames))


def bends(model, q, wrenches=()):
    """theta of one loaded configuration by running theta = c + k Q(theta) until nothing moves."""
    k, c = compliance(model), constants(model)
    theta = c
    for _ in range(60):
        last, theta = theta, c + k @ generalised_forces(model, q, theta, wrenches)
        if np.abs(theta - last).max() < 1e-14:
            return theta
    raise AssertionError("the robot is too soft for this")


def marker_poses(model, q, wrenches, frames):
    """4x4 poses of frames in the loaded state."""
    at = poses(model, q, bends(model, q, wrenches))
    return [at[f] for f in frames]


def rotation_vectors(matrices):
    return Rotation.from_matrix(matrices).as_rotvec()


def loads(frame, count, seed=0, size=100.0, arm=0.1, follows=False):
    rng = np.random.default_rng(seed)
    return AppliedWrenches(frame, rng.normal(size=(count, 6)) * size * np.array([1, 1, 1, arm, arm, arm]), follows)


def arm_campaign(
    truth,
    sources,
    count=10,
    seed=1,
    *,
    statics="linear",
    each=1,
    poses_each=1,
    noise=1.0,
    size=100.0,
    markers=("m1", "m2"),
):
    """Deflections of an arm, every state read ``each`` times and every pose under ``poses_each`` loads.

    Errors are drawn from the scattering sources, ``noise`` times as large as stated.
    """
    q = np.repeat(arm_poses(count, seed), poses_each * each, axis=0)
    six = np.repeat(loads("grip", count * poses_each, seed + 50, size).wrench, each, axis=0)
    kind = Deflection(Setup(q, AppliedWrenches("grip", six), tuple(Marker(m) for m in markers)), statics)
    exact = kind.predict(truth)
    return Measured(kind, exact + noise * scatter(kind, truth, sources, seed + 100), sources)


def scatter(kind, truth, sources, seed):
    """One draw (N, R) of all sources that are new in every reading."""
    rng = np.random.default_rng(seed)
    total = sum(s.covariance(kind, truth) for s in sources if not s.common)
    return np.einsum("nij,nj->ni", np.linalg.cholesky(total), rng.normal(size=total.shape[:2]))
