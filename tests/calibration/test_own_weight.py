"""Columns of own weight describe the sag of any arm: any masses, any centres of mass, any compliance of its gears."""

from __future__ import annotations

import numpy as np
from virtual import joint_values, random_arm

from elastocal.model.compliant.own_weight import OwnWeight
from elastocal.model.compliant.weight_lever import weight_lever
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.posture import Posture
from elastocal.model.statics.holding import weight_torque


def columns(robot, joint: str, q: np.ndarray) -> np.ndarray:
    sag = OwnWeight.neutral(robot.tree, joint)
    terms = sag.sensitivity(np.zeros(1), Posture(robot, q.T.copy()))
    return np.stack([column for ((_, column),) in terms], axis=1)


def test_any_masses_of_a_chain_of_revolute_joints() -> None:
    """The torque of random masses on every joint lies in the span of the columns."""
    rng = np.random.default_rng(4)
    robot = random_arm(4)
    weights = [
        LinkMass(frame=j, mass=m, moment=tuple(m * rng.uniform(-0.4, 0.4, size=3)))
        for j, m in zip(robot.joints, rng.uniform(5, 200, size=6), strict=True)
    ]
    heavy = robot.with_elements(*weights)
    q = joint_values(robot, 80, rng)
    for joint in robot.joints:
        torque = weight_torque(heavy, q, joint)
        span = columns(robot, joint, q)
        left = torque - span @ np.linalg.lstsq(span, torque, rcond=1e-10)[0]
        assert np.abs(left).max() < 1e-6 * np.abs(torque).max()


def test_the_lever_of_a_typical_arm_is_at_most_one() -> None:
    robot = random_arm(5)
    at = Posture(robot, joint_values(robot, 200, np.random.default_rng(1), 3.0).T.copy())
    for joint in robot.joints:
        lever, _ = weight_lever(at, joint)
        assert np.linalg.norm(lever, axis=0).max() <= 1 + 1e-12
