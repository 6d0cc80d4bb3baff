"""What is no reading is found out before anything is fitted, and the answer is right without it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.logs import STEP, logged, planar_arm, planar_torques, waves

from elastocal.measure.motion import jumps
from elastocal.procedures.gravity import identify
from elastocal.procedures.gravity.readings import usable

ARM = planar_arm()
POSES = np.array([[0.1, 0.2], [-0.5, 0.6], [0.6, -0.7]])


def recording(count=2500, **more):
    """Fast enough for its inertia (of none but point masses at rest) to stay out; velocities are sought, not read."""
    q, v = waves(2, count, seed=3, rate=0.3)
    return replace(logged(ARM, q, v, coulomb=(4.0, 2.0), noise=0.2, seed=1, **more), velocity=None)


def findings(log, code):
    return [f.data for f in usable(ARM, log).findings if f.code == code]


def off(result):
    """Errors of holding torques by the closed form, in standard deviations."""
    there = result.predict(POSES)
    return np.abs(there.torque - planar_torques(POSES)) / there.sd


def found(log, **more):
    return identify(ARM, log, hold_out=0.0, **more)


def codes(result):
    return [w.code for w in result.warnings]


def test_a_log_as_it_should_be_has_no_finding():
    assert usable(ARM, recording()).findings == ()
    assert usable(ARM, recording(time=False)).findings == ()


@pytest.mark.parametrize("value", [0.0, 5.0])
def test_a_constant_torque_is_named_and_the_other_joint_goes_on(value):
    log = recording()
    torque = log.torque.copy()
    torque[:, 1] = value
    result = found(replace(log, torque=torque))
    (said,) = [w for w in result.warnings if w.code == "constant-torque"]
    assert (said.data["joint"], said.data["value"], said.data["rows"]) == ("J2", value, log.count)
    there = result.predict(POSES)
    assert f"is {value:g} in all 2500 rows" in there.refused["J2"]
    assert np.all(off(result)[:, 0] < 4)


def test_constant_torques_everywhere_are_a_sentence():
    from oracle.refusals import refused

    log = recording()
    with refused("no-torques"):
        found(replace(log, torque=np.zeros_like(log.torque)))


@pytest.mark.parametrize("rows", [2, 4, 10, 2.5])
def test_held_positions_are_told_with_their_period_and_taken_right(rows):
    log = recording()
    held = np.ceil(np.floor(np.arange(log.count) / rows) * rows).astype(int)
    stepped = replace(log, q=log.q[held])
    (said,) = findings(stepped, "held-positions")
    assert said["joints"] == "J1, J2"
    assert said["period"] == pytest.approx(rows, rel=0.05)
    np.testing.assert_allclose(usable(ARM, stepped).log.q, log.q[: usable(ARM, stepped).log.count], atol=2e-4)
    result = found(stepped)
    assert "held-positions" in codes(result)
    assert np.all(off(result) < 4)


def test_coarse_digits_and_an_arm_that_stands_are_not_held_positions():
    log = recording()
    coarse = replace(log, q=np.round(log.q, 3))
    assert np.mean(np.diff(coarse.q, axis=0) == 0) > 0.05
    assert findings(coarse, "held-positions") == []
    rng = np.random.default_rng(0)
    q = np.repeat(rng.uniform(-1, 1, (60, 2)), 30, axis=0)
    stations = replace(logged(ARM, q, np.zeros_like(q), noise=0.2), velocity=None)
    assert findings(stations, "held-positions") == []


@pytest.mark.parametrize("time", [True, False])
def test_rows_that_are_missing_without_a_gap_part_the_log(time):
    whole = recording(3000, time=time)
    rows = np.r_[0:1000, 1600:3000]
    log = whole.rows(rows)
    log = replace(log, time=STEP * np.arange(len(rows)) if time else None, lines=np.arange(len(rows)) + 2)
    (said,) = findings(log, "jump")
    assert (said["joints"], said["line"], said["left_out"]) == ("J1, J2", 1002, 0)
    np.testing.assert_allclose(said["sizes"], whole.q[1600] - whole.q[999], rtol=1e-12)
    result = found(log)
    assert "jump" in codes(result)
    assert np.all(off(result) < 4)
    assert np.all(result.arm.samples.counts > 1500)


def test_a_value_that_is_lost_for_a_moment_is_left_out():
    log = recording()
    q = log.q.copy()
    q[700:760, 1] = 0.9
    lost = replace(log, q=q)
    assert [(j.row, j.joint) for j in jumps(lost)] == [(700, 1), (760, 1)]
    (said,) = findings(lost, "jump")
    assert (said["joints"], said["line"], said["left_out"]) == ("J2", 702, 60)
    assert usable(ARM, lost).log.count == log.count - 60
    result = found(lost)
    assert np.all(off(result) < 4)
    assert np.all(result.arm.samples.counts > 2000)


def test_a_saturated_drive_with_noise_on_its_readings_is_left_out():
    log = recording()
    torque = log.torque.copy()
    noise = 0.3 * np.random.default_rng(5).normal(size=log.count)
    torque[:, 0] = np.minimum(torque[:, 0], 40.0) + noise
    clipped = log.torque[:, 0] > 40.0
    (said,) = findings(replace(log, torque=torque), "saturated")
    assert said["joint"] == "J1"
    assert said["level"] == pytest.approx(40, abs=0.3)
    left = np.isnan(usable(ARM, replace(log, torque=torque)).log.torque[:, 0])
    assert np.mean(left[clipped]) > 0.95
    assert np.mean(left[~clipped]) < 0.05
    assert np.all(off(found(replace(log, torque=torque))) < 4)


def test_torques_that_turn_back_by_themselves_or_stand_with_the_arm_are_no_saturation():
    assert findings(recording(), "saturated") == []
    q = np.concatenate([waves(2, 1500, seed=3)[0], np.tile([0.0, 0.0], (800, 1))])
    v = np.concatenate([waves(2, 1500, seed=3)[1], np.zeros((800, 2))])
    assert findings(logged(ARM, q, v, noise=0.3), "saturated") == []
