"""Columns of own weight describe the sag of any arm: any masses, any centres of mass, any compliance of its gears."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation
from virtual import Truth, campaign, joint_values, random_arm, read_positions, shipped

from elastocal.calibration.run import calibrate
from elastocal.model.compliant.lateral_weight import LateralWeight
from elastocal.model.compliant.own_weight import OwnWeight, weight_lever
from elastocal.model.compliant.weight_backlash import WeightBacklash
from elastocal.model.loads.link_mass import LinkMass
from elastocal.model.posture import Configurations, Posture
from elastocal.model.statics.holding import weight_torque


def columns(robot, joint: str, q: np.ndarray) -> np.ndarray:
    (sag,) = (e for e in OwnWeight.neutral(robot) if e.joint == joint)
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
        assert np.linalg.norm(weight_lever(at, joint), axis=0).max() <= 1 + 1e-12


def test_what_the_nominal_robot_decides_is_worked_out_once_for_all_parameters() -> None:
    robot = random_arm(5)
    q, other = (joint_values(robot, 20, np.random.default_rng(k), 3.0) for k in (1, 2))
    heavy = robot.with_elements(LateralWeight(joint=robot.joints[0], tilt=(1e-3, 2e-3)))
    twice = heavy.with_parameters({f"{robot.joints[0]}.lateral_1": 2e-3})
    at = heavy.configurations(Configurations(q))
    first, again = heavy.posture(at), twice.posture(twice.configurations(at))
    assert again.rest is first.rest
    assert not np.array_equal(np.array(again.unloaded((1, 2, 3))), np.array(first.unloaded((1, 2, 3))))
    fresh = twice.posture(Configurations(q))
    assert fresh.rest is not first.rest
    for one, two in zip(again.offsets, fresh.offsets, strict=True):
        np.testing.assert_array_equal(one, two)
    assert not np.array_equal(
        heavy.posture(Configurations(other)).rest.origin(robot.tool), first.rest.origin(robot.tool)
    )


def test_the_side_of_a_preloaded_gear_is_that_of_the_weight() -> None:
    """Where a typical arm's torque is large the gear lies on the side that masses like it press it to."""
    robot = shipped("kuka-kr270")
    heavy = robot.with_elements(*(LinkMass(frame=j, mass=0.6**i) for i, j in enumerate(robot.joints[1:])))
    q = joint_values(robot, 300, np.random.default_rng(2))
    torque = weight_torque(heavy, q, "A2")
    side = WeightBacklash(joint="A2", preload=1.0).unloaded(Posture(robot, q.T.copy()))[0]
    plain = np.abs(torque) > 0.3 * np.abs(torque).max()
    assert plain.sum() > 100
    assert np.mean(np.sign(torque[plain]) == np.sign(side[plain])) > 0.95
    assert np.abs(side).max() <= 1


def test_preloaded_backlash_is_found() -> None:
    """Backlash of the two gears that carry the arm: kept by leave-one-out, within three sd, no other found."""
    nominal, rng = shipped("kuka-kr270"), np.random.default_rng(3)
    gaps = {"A2": 1.2e-4, "A3": 0.8e-4}
    robot = nominal.with_elements(*(WeightBacklash(joint=j, preload=g) for j, g in gaps.items()))
    truth = Truth(robot, nominal, np.array([[0.1, 0.05, 0.2]]), ((Rotation.identity(), np.zeros(3)),))
    q = joint_values(nominal, 45, rng)
    data = campaign(q, nominal, position=read_positions(truth, q, rng, 2e-5))
    cal = calibrate(nominal, data, ["geometry", "preload"])
    assert "preload" in cal.words
    for joint in nominal.joints[:5]:
        found = cal.parameters[f"{joint}.preload"]
        assert abs(found.value - gaps.get(joint, 0.0)) < 3 * found.sd + 1e-6
    assert cal.parameters["A2.preload"].value > 5 * cal.parameters["A2.preload"].sd
