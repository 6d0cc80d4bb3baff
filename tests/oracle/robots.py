"""Robots to test on: random chains with everything that bends and weighs, and shipped ones at random poses."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.compliant.link_compliance import LinkCompliance, as_matrix6
from elastocal.model.frames import Frame, FrameTree, JointMotion
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.robot import Robot
from elastocal.spatial.pose import Pose

ALIKE = ("abb-irb120", "abb-irb4600-60", "fanuc-r2000ic165f", "kuka-kr210-r2700", "ur10e", "yaskawa-gp25")
"""Arms of six joints built like others; ``reference/test_shipped_arms.py`` has their kinematics."""
SHIPPED = (
    "cylindrical",
    "fanuc-m710ic50",
    "iiwa14-on-track",
    "kuka-kr270",
    "kuka-kr5",
    "orthoglide-link",
    "scara-ruggeri",
)


def configurations(model, count, seed=0):
    """(count, n) values inside the limits, or within +-1 where there are none."""
    rng = np.random.default_rng(seed)
    low = [m.limits[0] if m.limits else -1.0 for m in model.motions]
    high = [m.limits[1] if m.limits else 1.0 for m in model.motions]
    return rng.uniform(low, high, (count, model.n))


def random_pose(rng, reach=0.4):
    return Pose(Rotation.random(rng=rng).as_matrix(), rng.uniform(-reach, reach, 3))


def random_tree(seed, joints=5, fixed=3):
    """A serial tree of revolute, prismatic and fixed frames in random order, with a side frame and a tip."""
    rng = np.random.default_rng(seed)
    kinds = ["revolute"] * joints + ["fixed"] * fixed
    for i in range(joints):
        if rng.random() < 0.3:
            kinds[i] = "prismatic"
    rng.shuffle(kinds)
    frames, parent = [], "base"
    for i, kind in enumerate(kinds):
        motion = None if kind == "fixed" else JointMotion(kind, tuple(rng.normal(size=3)))
        name = f"{kind[0]}{i}"
        frames.append(Frame(name, parent, random_pose(rng), motion))
        parent = name
    frames.append(Frame("tip", parent, random_pose(rng)))
    side = frames[len(frames) // 2].name
    frames.append(Frame("side", side, random_pose(rng)))
    return FrameTree(tuple(frames))


def random_spd(rng, size):
    """A random symmetric positive definite 6x6 compliance of about ``size`` (m/N, rad/(N m))."""
    a = rng.normal(size=(6, 6))
    return size * (a @ a.T / 6 + 0.3 * np.eye(6))


def random_robot(seed, joints=5, fixed=3, *, k=1e-5, links=True, weight=True):
    """Every joint elastic; with links, 6x6 springs at a fixed frame and at the tip; with weight, a mass per frame."""
    rng = np.random.default_rng(1000 + seed)
    tree = random_tree(seed, joints, fixed)
    elements = [JointCompliance(joint=j, k=k * rng.uniform(0.5, 2)) for j in tree.joint_names]
    if links:
        stops = [f.name for f in tree.frames if f.joint is None and f.name not in ("side", "tip")]
        for name in [*stops[:1], "tip"]:
            elements.append(LinkCompliance(frame=name, matrix=as_matrix6(random_spd(rng, 0.3 * k))))
    if weight:
        for f in tree.frames:
            mass = rng.uniform(1, 10)
            elements.append(LinkMass(frame=f.name, mass=mass, moment=tuple(mass * rng.uniform(-0.2, 0.2, 3))))
    gravity = rng.normal(size=3) * 6 if weight else np.zeros(3)
    return Robot(f"random-{seed}", tree, "tip", tuple(elements), gravity)


def random_wrench(seed, size=100.0, arm=0.3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=6) * size * np.array([1, 1, 1, arm, arm, arm])
