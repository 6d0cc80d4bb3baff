"""A robot file that is not the robot of the log is called out, with its cause; intervals hold what remains."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.logs import logged, waves

from elastocal.files.robot.read import read_robot
from elastocal.model.statics.holding import holding_torque
from elastocal.procedures.gravity import identify

KR5 = read_robot("kuka-kr5")
MIDDLE = np.radians([0, -80, 80, 0, 20, 0])
FRICTION = np.array([8.0, 10.0, 6.0, 2.0, 1.5, 1.0])


def recording(base=KR5, seed=2, rough=0.0):
    """Torques of the right robot, and what a gear adds that turns ten times as fast."""
    q, v = waves(6, 1500, seed=seed, size=0.8, rate=0.3)
    q = q + MIDDLE
    torque = holding_torque(base, q)
    torque = torque + rough * np.std(torque, axis=0) * np.sin(40 * q + np.arange(6))
    return logged(KR5, q, v, torque=torque, coulomb=FRICTION, viscous=2.0, noise=0.5, seed=seed)


def weighed(log, **more):
    return identify(KR5, log, inertia="leave-out", slow=0.5, hold_out=0.0, **more)


def misfit(result):
    said = [w.data for w in result.warnings if w.code == "model-misfit"]
    return said[0] if said else None


@pytest.mark.parametrize("rough", [0.0, 0.03])
def test_the_right_robot_has_no_alarm(rough):
    assert misfit(weighed(recording(rough=rough))) is None


def slipped(name):
    log = recording()
    q, v, torque = log.q.copy(), log.velocity.copy(), log.torque.copy()
    if name == "A3 reversed":
        q[:, 2], v[:, 2] = -q[:, 2], -v[:, 2]
    if name == "zero of A3":
        q[:, 2] += 1.4  # less is taken for masses whose centres are some mm off
    if name == "torque of A3 by a factor":
        torque[:, 2] *= 1.6
    if name == "A2 and A3 swapped":
        q[:, [1, 2]], v[:, [1, 2]] = q[:, [2, 1]], v[:, [2, 1]]
    return replace(log, q=q, velocity=v, torque=torque)


ENDLESS = replace(
    KR5, tree=replace(KR5.tree, frames=tuple(
        replace(f, joint=None if f.joint is None else replace(f.joint, limits=None)) for f in KR5.tree.frames)),
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "size"),
    [("A3 reversed", None), ("zero of A3", 1.4), ("torque of A3 by a factor", 1.6), ("A2 and A3 swapped", None)],
)
def test_slips_are_named_with_their_size(name, size):
    result = identify(ENDLESS, slipped(name), inertia="leave-out", slow=0.5, hold_out=0.0, torques="drive")
    said = misfit(result)
    assert said["cause"] == name
    assert said["size"] == (None if size is None else pytest.approx(size, rel=0.05))


def test_a_base_that_is_tilted_is_named_and_intervals_hold_the_truth():
    tilted = replace(KR5, gravity=9.81 * np.array([np.sin(0.2), 0.0, -np.cos(0.2)]))
    result = weighed(recording(tilted), torques="drive")
    said = misfit(result)
    assert (said["cause"], said["alike"]) == ("tilt", [])
    assert "A1" in said["joints"]
    poses = MIDDLE + np.random.default_rng(0).uniform(-0.6, 0.6, (20, 6))
    there, truth = result.predict(poses), holding_torque(tilted, poses)
    assert np.sqrt(np.mean(truth[:, 0] ** 2)) > 5
    assert np.all(np.abs(there.torque - truth)[:, 0] < 3 * there.sd[:, 0])


def test_most_joints_decide_the_sense_and_the_odd_one_is_named():
    log = recording()
    torque = log.torque * np.array([1, -1, 1, 1, 1, 1])
    result = weighed(replace(log, torque=torque))
    assert result.arm.sense.sign == 1
    assert "friction of" in result.arm.sense.reason
    assert [w.data["joint"] for w in result.warnings if w.code == "sign-of-torque"] == ["A2"]
    assert not {"model-misfit", "friction-drives"} & {w.code for w in result.warnings}  # said once
    there = result.predict(MIDDLE[None])
    assert np.all(np.abs(there.torque - holding_torque(KR5, MIDDLE[None])) <= 3 * there.sd + 0.1)


def test_a_log_at_rest_says_that_nothing_moves():
    from oracle.refusals import refused

    q = np.tile(MIDDLE, (300, 1))
    with refused("no-motion", parameter="torques"):
        weighed(logged(KR5, q, np.zeros_like(q), noise=0.3))
