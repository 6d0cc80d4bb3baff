"""Torques at joint values beyond those fitted, for the joints that they depend on only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from oracle.logs import logged, planar_arm, waves

from elastocal.procedures.gravity.prediction import outside_seen, torque_depends
from elastocal.procedures.gravity.samples import slow_samples

ARM = planar_arm()
Q, V = waves(2, 1500, seed=7, size=0.5, rate=0.3)
SEEN = slow_samples(ARM, logged(ARM, Q, V), friction=False)


def test_both_torques_of_a_planar_arm_depend_on_both_joints():
    low, high = SEEN.log.q.min(axis=0), SEEN.log.q.max(axis=0)
    inside = (low + high) / 2
    poses = np.array([inside, [high[0] + 0.005, inside[1]], [high[0] + 0.02, inside[1]], [inside[0], low[1] - 0.02]])
    assert outside_seen(ARM, SEEN, poses).tolist() == [[False] * 2, [False] * 2, [True] * 2, [True] * 2]


def test_a_joint_that_a_torque_does_not_feel_may_be_anywhere():
    """A vertical first axis turns the arm about the direction of gravity: no torque feels it."""
    from elastocal.files.robot.read import read_robot

    kr5 = read_robot("kuka-kr5")
    depends = torque_depends(kr5, np.radians([[10.0, -70, 60, 20, 40, 0]]))
    assert not depends[0].any()
    assert not depends[:, 0].any()
    assert depends[1:5, 1].all()
    q, v = waves(6, 300, seed=4, size=0.3, rate=0.12)
    middle = np.radians([0, -80, 80, 0, 20, 0])
    seen = slow_samples(kr5, logged(kr5, q + middle, v), friction=False)
    poses = np.median(seen.log.q, axis=0) + 0.9 * np.eye(6)[:2]
    outside = outside_seen(kr5, seen, poses)
    assert not outside[0].any()
    assert not outside[1, 0]
    assert outside[1, 1:3].all()


def test_the_range_is_that_of_the_readings_which_count():
    torque = SEEN.torque.copy()
    torque[SEEN.log.q[:, 0] > 0, 1] = np.nan
    pose = np.array([[0.2, 0.0]])
    assert outside_seen(ARM, replace(SEEN, torque=torque), pose).tolist() == [[False, True]]
