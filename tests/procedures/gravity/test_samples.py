"""Which samples count: what is left out is counted and named, wrong units are refused."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.logs import STEP, joined, logged, planar_arm, sweep, waves
from oracle.refusals import refused

from elastocal.procedures.gravity.samples import slow_samples

ARM = planar_arm()


def test_inertia_left_in_a_log_is_flagged_and_left_out():
    slow, fast = logged(ARM, *waves(2, 400)), logged(ARM, *waves(2, 100, rate=4.0))
    samples = slow_samples(ARM, joined(slow, fast), friction=False)
    assert samples.logged == 500
    assert samples.fast == 100
    assert samples.log.count == 400
    assert any("100 of 500 samples left out" in n for n in samples.notes)
    with refused("too-fast", parameter="inertia"):
        slow_samples(ARM, fast)


def test_readings_without_a_sign_of_friction_are_left_out_joint_by_joint():
    q, v = sweep([0.2, 0.3], 1, 1.2)
    log = logged(ARM, q, v)
    samples = slow_samples(ARM, log)
    assert not np.isfinite(samples.torque[:, 0]).any()
    turning = np.abs(v[:, 1]) < 0.009 * np.abs(v).max()
    assert turning.sum() > 3
    assert not np.isfinite(samples.torque[turning, 1]).any()
    assert np.isfinite(samples.torque[:, 1]).mean() > 0.9
    assert any("J1 " in n and "low speed" in n for n in samples.notes)
    everything = slow_samples(ARM, log, friction=False)
    assert np.isfinite(everything.torque).all()
    assert samples.unmoved() == ("J1",)


def test_the_tremble_of_a_locked_joint_tells_nothing():
    q, v = sweep([0.2, 0.3], 1, 1.2)
    shaken = q + 1e-5 * np.random.default_rng(0).normal(size=q.shape) * [1, 0]
    held = slow_samples(ARM, logged(ARM, shaken, v)).q
    assert np.ptp(held[:, 0]) == 0
    assert held[0, 0] == pytest.approx(0.2, abs=1e-6)
    assert np.ptp(held[:, 1]) > 0.85


def test_degrees_read_as_radians_are_refused_with_line_and_value():
    q, v = waves(2, 200)
    log, worst = logged(ARM, np.degrees(q), v), int(np.argmax(np.abs(q[:, 0])))
    value = np.degrees(q[worst, 0])
    with refused("unit", pytest.approx(value), file="log.csv", line=log.lines[worst], column="J1", allowed=(-3.0, 3.0)):
        slow_samples(ARM, log)
    with refused("limits", pytest.approx(1000 * q[worst, 0]), column="J1"):
        slow_samples(ARM, logged(ARM, 1000 * q, v))
    endless = planar_arm(limits=None)
    with refused("unit", pytest.approx(2 * value), column="J1"):
        slow_samples(endless, logged(endless, np.degrees(2 * q), v))
    assert slow_samples(endless, logged(endless, q + 6, v), friction=False).log.count == 200


def test_a_full_turn_is_told_from_degrees():
    q, v = waves(2, 200)
    for turn in (2 * np.pi, -2 * np.pi):
        wrapped = q.copy()
        wrapped[100:, 0] += turn
        value = pytest.approx(wrapped[100 + np.argmax(np.abs(wrapped[100:, 0])), 0])
        with refused("full-turn", value, column="J1"):
            slow_samples(ARM, logged(ARM, wrapped, v))


def test_a_little_beyond_the_limits_is_said():
    narrow = planar_arm(limits=(-0.7, 0.7))
    q, v = waves(2, 1500)
    samples = slow_samples(narrow, logged(narrow, q, v), friction=False)
    beyond = np.sum(np.abs(q[:, 0]) > 0.7)
    assert beyond > 0
    assert any(f"J1 is beyond its limits in {beyond} samples" in n for n in samples.notes)


def test_logs_that_say_nothing_are_refused():
    q, v = waves(2, 200)
    with refused("no-torques"):
        slow_samples(ARM, logged(ARM, q, v, torque=np.full(q.shape, np.nan)))
    still = np.tile([0.3, 0.4], (50, 1))
    with refused("too-few", ("J1", "J2")):
        slow_samples(ARM, logged(ARM, still, np.zeros_like(still)))
    assert slow_samples(ARM, logged(ARM, still, np.zeros_like(still)), friction=False).log.count == 50


def test_prismatic_joints_are_read_in_newtons():
    from elastocal.files.robot.read import read_robot

    model = read_robot("cylindrical")
    q = np.column_stack([0.2 * np.sin(0.1 * STEP * np.arange(100)) + 0.4, np.zeros(100), np.full(100, 0.5)])
    v = np.gradient(q, STEP, axis=0)
    assert slow_samples(model, logged(model, q, v, torque=np.ones((100, 3))), friction=False).units == ("N", "N m", "N")
