"""Logs of joint motion: the value itself, its velocities by another filter, and which samples are left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.refusals import refused
from oracle.robots import random_robot
from scipy.signal import savgol_filter

from elastocal.files.robot.read import read_robot
from elastocal.measure.joints import JointLog, joint_torques
from elastocal.measure.motion import STANDARD_GRAVITY, acceleration_bound, low_speed, motion_of, slow_motion
from elastocal.model.kinematics import kinematics
from elastocal.model.transmission import Transmission

STEP = 0.012


def log_of(q, time=None, **more):
    n = q.shape[1]
    joints = tuple(f"J{i + 1}" for i in range(n))
    return JointLog("sweep.csv", joints, q, np.full(q.shape, np.nan), np.arange(2, 2 + len(q)), time, **more)


def waves(time):
    """Two joints that swing, one that stands."""
    return np.column_stack([0.5 * np.sin(time), 0.2 * np.cos(2 * time), np.full_like(time, 1.2345)])


def test_values_of_axes_become_those_of_joints():
    """A5 is taken along by half of A4; by virtual work tau_c . dc = tau . dq, and time counts from its first value."""
    robot = read_robot("kuka-kr5")
    matrix = np.eye(6)
    matrix[4, 3] = -0.5
    coupled = replace(robot, transmission=replace(robot.controller, matrix=matrix, drives=None))
    values, torque = np.array([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]] * 2), np.array([[1.0, 2, 3, 4, 5, 6]] * 2)
    log = JointLog.of(coupled, values, torque, time=[7.0, 7.5], velocity=values)
    np.testing.assert_allclose(log.q[0], [0.1, 0.2, 0.3, 0.4, 0.3, 0.6])
    np.testing.assert_allclose(log.torque[0], [1, 2, 3, 6.5, 5, 6])
    np.testing.assert_allclose(log.velocity, log.q)
    assert (log.time.tolist(), log.place(1)) == ([0.0, 0.5], "log, line 2")


def test_even_samples_give_what_savitzky_and_golay_give():
    time = STEP * np.arange(400)
    q = waves(time) + 1e-4 * np.random.default_rng(3).normal(size=(400, 3))
    found = motion_of(log_of(q, time))
    assert found.samples == 25
    for order, mine in ((1, found.velocity), (2, found.acceleration)):
        other = savgol_filter(q, 25, 2, deriv=order, delta=STEP, axis=0, mode="interp")
        np.testing.assert_allclose(mine, other, rtol=0, atol=1e-9 * np.max(np.abs(other)))


def test_uneven_samples_keep_their_own_times():
    rng = np.random.default_rng(1)
    time = np.cumsum(rng.uniform(0.5, 1.5, 300)) * STEP
    q = np.column_stack([0.3 + 0.2 * time - 0.4 * time**2, 5.0 - 0.7 * time])
    found = motion_of(log_of(q, time))
    np.testing.assert_allclose(found.velocity, np.column_stack([0.2 - 0.8 * time, np.full(300, -0.7)]), atol=1e-9)
    np.testing.assert_allclose(found.acceleration, np.tile([-0.8, 0.0], (300, 1)), atol=1e-8)


def test_a_pause_is_not_bridged_and_a_short_stretch_has_no_velocity():
    time = np.concatenate([STEP * np.arange(100), 50 + STEP * np.arange(10), 60 + STEP * np.arange(100)])
    q = np.concatenate([0.3 * time[:100], np.zeros(10), -0.5 * time[110:]])[:, None]
    found = motion_of(log_of(q, time))
    np.testing.assert_allclose(found.velocity[:100], 0.3, atol=1e-9)
    np.testing.assert_allclose(found.velocity[110:], -0.5, atol=1e-9)
    assert np.all(np.isnan(found.velocity[100:110]))
    (note,) = found.notes
    assert "10 samples have no velocity" in note
    assert "sweep.csv, line 102" in note
    left = slow_motion(log_of(q, time), found, random_robot(1, 1, 0))
    assert np.all(left.mask[100:110])
    assert "10 more whose acceleration is unknown" in left.reason


def test_the_noise_of_a_velocity_is_that_of_repeated_draws():
    time, rng = STEP * np.arange(200), np.random.default_rng(5)
    clean = waves(0.2 * time)[:, :2]
    found = [motion_of(log_of(clean + 2e-4 * rng.normal(size=clean.shape), time)) for _ in range(200)]
    spread = np.sqrt(np.mean(np.var([m.velocity for m in found], axis=0, ddof=1), axis=0))
    stated = np.mean([m.velocity_sd for m in found], axis=0)
    np.testing.assert_allclose(stated, spread, rtol=0.05)


def test_velocities_of_the_controller_are_kept():
    time = STEP * np.arange(100)
    given = np.full((100, 3), 0.25)
    found = motion_of(log_of(waves(time), time, velocity=given))
    assert np.array_equal(found.velocity, given)
    assert np.max(np.abs(found.acceleration[:, 0] + waves(time)[:, 0])[13:-13]) < 0.02


@pytest.mark.parametrize("seed", range(4))
def test_no_point_of_an_arm_accelerates_more_than_the_bound(seed):
    """Against positions of the tool, differentiated twice by differences in time."""
    model = random_robot(seed, 5, 0)
    rng = np.random.default_rng(seed)
    phase, rate = rng.uniform(0, 6, 5), rng.uniform(0.5, 3, 5)
    time = STEP * np.arange(300)

    def q(at):
        return 0.8 * np.sin(np.multiply.outer(at, rate) + phase)

    log = replace(log_of(q(time), time), joints=model.joints)
    motion = motion_of(log, window=0.06)
    bound = acceleration_bound(log, motion, model)
    h = 1e-3
    at = [kinematics(model, q(time + k * h), model.tool).position for k in (-1, 0, 1)]
    real = np.linalg.norm(at[0] - 2 * at[1] + at[2], axis=-1) / h**2
    assert np.all(real <= 1.02 * bound)
    assert np.max(real / bound) > 0.05


def test_one_turning_joint_reaches_the_bound():
    """The KR 5 about its vertical axis only: a = R sqrt(q''^2 + q'^4) at most, the bound adds the two."""
    model = read_robot("kuka-kr5")
    time = STEP * np.arange(500)
    q = np.zeros((500, 6))
    q[:, 0] = 0.4 * np.sin(1.5 * time)
    log = replace(log_of(q, time), joints=model.joints)
    motion = motion_of(log, window=0.06)
    reach = sum(np.linalg.norm(f.pose.translation) for f in model.tree.frames[1:])
    speed, rate = 0.6 * np.cos(1.5 * time), -0.9 * np.sin(1.5 * time)
    np.testing.assert_allclose(
        acceleration_bound(log, motion, model)[3:-3], reach * (np.abs(rate) + speed**2)[3:-3], rtol=0.02, atol=0.02
    )
    left = slow_motion(log, motion, model, share=0.08)
    assert np.array_equal(left.mask, acceleration_bound(log, motion, model) > 0.08 * STANDARD_GRAVITY)
    assert 0 < left.count < 500
    assert f"{left.count} of 500 samples left out" in left.reason
    assert "8 % of gravity" in left.reason


def test_a_stretched_arm_reaches_the_bound():
    """Two links in line, turning the same way at constant speeds: (w1 + w2)^2 l2 + w1^2 l1 to the inside."""
    model = read_robot("scara-ruggeri")
    lengths = [np.linalg.norm(model.tree.frame(f).pose.translation) for f in ("link1_end", "link2_end")]
    time = STEP * np.arange(101)
    q = np.column_stack([0.3 * time, 0.2 * (time - time[50])])
    log = replace(log_of(q, time), joints=model.joints)
    bound = acceleration_bound(log, motion_of(log), model)
    assert bound[50] == pytest.approx(0.25 * lengths[1] + 0.09 * lengths[0], rel=1e-6)
    h = 1e-3
    at = [kinematics(model, [[0.3 * (time[50] + k * h), 0.2 * k * h]], model.tool).position[0] for k in (-1, 0, 1)]
    assert np.linalg.norm(at[0] - 2 * at[1] + at[2]) / h**2 == pytest.approx(bound[50], rel=1e-4)


def test_a_slide_on_a_turning_arm_adds_the_force_of_coriolis():
    model = read_robot("cylindrical")
    time = STEP * np.arange(101)
    q = np.column_stack([0.1 * time, 0.4 * time, 0.5 + 0.2 * time - 0.3 * time**2])
    log = replace(log_of(q, time), joints=model.joints)
    drawn = np.max(q[:, 2])
    expected = drawn * 0.4**2 + 2 * 0.4 * np.abs(0.2 - 0.6 * time) + 0.6
    np.testing.assert_allclose(acceleration_bound(log, motion_of(log), model), expected, rtol=1e-6)


def test_inertia_left_in_a_log_is_flagged_and_a_slow_one_is_not():
    model = read_robot("kuka-kr5")
    time = STEP * np.arange(1000)
    for rate, share in ((0.05, 0.0), (4.0, 1.0)):
        q = np.zeros((1000, 6))
        q[:, 1] = -1.5 + 0.4 * np.sin(rate * time)
        log = replace(log_of(q, time), joints=model.joints)
        assert slow_motion(log, motion_of(log), model).count == share * 1000


def test_slides_make_the_arm_longer():
    model = read_robot("cylindrical")
    time = STEP * np.arange(200)
    q = np.column_stack([np.full(200, 0.3), 0.5 * np.sin(time), np.full(200, 0.9)])
    log = replace(log_of(q, time), joints=model.joints)
    motion = motion_of(log, window=0.06)
    at_once = acceleration_bound(log, motion, model)
    longer = replace(log, q=q + np.array([0, 0, 0.9]))
    grown = acceleration_bound(longer, motion, model) - at_once
    np.testing.assert_allclose(
        grown[50:150], 0.9 * (np.abs(q[50:150, 1]) + 0.25 * np.cos(time[50:150]) ** 2), rtol=0.02
    )


def test_a_sign_is_unknown_where_a_joint_turns_back_or_stands():
    time = STEP * np.arange(3000)
    rng = np.random.default_rng(2)
    log = log_of(waves(time) + 1e-5 * rng.normal(size=(3000, 3)), time)
    motion = motion_of(log)
    left = low_speed(log, motion)
    true = np.column_stack([0.5 * np.cos(time), -0.4 * np.sin(2 * time)])
    kept = ~left.mask[:, :2]
    assert np.all(np.sign(motion.velocity[:, :2])[kept] == np.sign(true)[kept])
    assert 0.93 < np.mean(kept) < 0.999
    assert np.mean(left.mask[:, 2]) > 0.999
    assert f"J3 {int(np.sum(left.mask[:, 2]))}" in left.reason
    assert left.count == int(np.sum(left.mask))


def test_a_joint_that_stands_exactly_has_no_direction():
    time = STEP * np.arange(100)
    left = low_speed(log := log_of(waves(time), time), motion_of(log))
    assert np.all(left.mask[:, 2])


def test_a_log_without_time_is_taken_in_order_and_says_so():
    q = waves(0.05 * np.arange(200))
    log = log_of(q)
    motion = motion_of(log)
    assert not motion.timed
    moving = np.abs(0.5 * np.cos(0.05 * np.arange(200))) > 0.1
    assert np.all(np.sign(motion.velocity[:, 0])[moving] == np.sign(np.cos(0.05 * np.arange(200)))[moving])
    assert motion.velocity[100, 0] == pytest.approx(0.05 * 0.5 * np.cos(5.0), rel=0.02)
    assert "has no time" in motion.notes[0]
    left = slow_motion(log, motion, random_robot(1, 3, 0))
    assert left.count == 0
    assert "assumed, not checked" in left.reason


def test_torques_of_axes_do_the_work_of_the_joints():
    rng = np.random.default_rng(4)
    matrix = np.array([[-1.0, 0, 0], [0.4, 1, 0], [0, -1 / 3, 1]])
    model = replace(
        random_robot(2, 3, 0), transmission=Transmission(("A", "B", "C"), matrix, np.array([0.1, 0.2, 0.3]))
    )
    axes, speeds = rng.normal(size=(7, 3)), rng.normal(size=(7, 3))
    joints = joint_torques(model, axes)
    np.testing.assert_allclose(np.sum(joints * (speeds @ matrix.T), axis=1), np.sum(axes * speeds, axis=1))
    np.testing.assert_allclose(model.controller.torques_to_controller(joints), axes)
    axes[:, 0] = np.nan
    unknown = np.isnan(joint_torques(model, axes)).all(axis=0)
    assert unknown.tolist() == [True, False, False]


def test_what_cannot_be_a_log_is_refused_with_its_line():
    q = waves(STEP * np.arange(10))
    with refused("range", (0.012, 0.024)):
        log_of(q, STEP * np.array([0, 1, 2, 1, 4, 5, 6, 7, 8, 9]))
    bad = q.copy()
    bad[4, 1] = np.inf
    with refused("number", "J2"):
        log_of(bad)
    with refused("shape", ((5, 3), (10, 3))):
        log_of(q, velocity=q[:5])
    with refused("too-few", (4, 5)):
        motion_of(log_of(q[:4]))


def test_rows_are_chosen_with_everything_that_belongs_to_them():
    time = STEP * np.arange(10)
    log = log_of(waves(time), time, velocity=waves(time) + 1, current=waves(time) + 2)
    some = log.rows(np.array([2, 5, 7]))
    assert some.count == 3
    assert some.place(1) == "sweep.csv, line 7"
    assert np.array_equal(some.time, time[[2, 5, 7]])
    for name in ("q", "velocity", "current"):
        assert np.array_equal(getattr(some, name), getattr(log, name)[[2, 5, 7]])
    with pytest.raises(ValueError, match="read-only"):
        some.q[0, 0] = 1.0
