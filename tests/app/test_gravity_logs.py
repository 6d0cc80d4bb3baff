"""Logs as they come: at rest, saturated, doubled, uneven, by motors, long. Each gives a result or one sentence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.moving_logs import cobot, recorded, sweeps

from elastocal.files.robot.write import robot_text
from elastocal.measure.joints import JointLog
from elastocal.model.statics.holding import holding_torque
from elastocal.model.transmission import Drives, Transmission
from elastocal.procedures.gravity.samples import MOST, moving_samples, slow_samples

FILE, TRUTH = cobot(), cobot(1.1)
LIFT, POSE = 1, "0,-68.75,45.84,-45.84,17.19,0"
STRUCTURE = np.diag([100.0, 120, 101, -80, 81, 60])


def table(log, time=None, torque=None, motors=""):
    clock = log.time if time is None else time
    values = np.degrees(log.q)
    unit = "deg"
    if motors:
        values, unit = log.q @ STRUCTURE.T / (2 * np.pi if motors == "turns" else 1), f"motor_{motors}"
    read = log.torque if torque is None else torque
    head = [*(["time_s"] if clock is not None else []), *(f"{j}_{unit}" for j in log.joints)]
    head += [f"{j}_torque_Nm" for j in log.joints]
    rows = np.column_stack([*([clock] if clock is not None else []), values, read])
    body = "\n".join(",".join("" if np.isnan(v) else f"{v:.7g}" for v in row) for row in rows)
    return ",".join(head) + "\n" + body + "\n"


@pytest.fixture(scope="module")
def moving():
    return recorded(TRUTH, sweeps(LIFT, times=2))


@pytest.fixture
def ask(run, tmp_path):
    def asked(text, *words, robot=FILE):
        (tmp_path / "log.csv").write_text(text)
        (tmp_path / "arm.yaml").write_text(robot_text(robot))
        return run("gravity", tmp_path / "log.csv", tmp_path / "arm.yaml", "--hold-out", "0", *words, "--json")

    return asked


def right(done):
    """The holding torque of the lift at a pose that was seen, within what is stated."""
    assert done.code == 0, done.err
    row = {r["joint"]: r for r in done.data["holding"]}["lift"]
    truth = holding_torque(TRUTH, np.radians([[float(x) for x in POSE.split(",")]]))[0, LIFT]
    assert abs(row["torque"] - truth) < 4 * row["sd"] + 0.5
    return done


def test_uneven_steps_and_lost_rows(ask, moving):
    rng = np.random.default_rng(0)
    keep = np.sort(rng.choice(moving.count, int(0.9 * moving.count), replace=False))
    late = moving.rows(keep)
    jitter = late.time + 1e-3 * rng.uniform(size=len(keep))
    right(ask(table(late, time=jitter), "--at", POSE))


def test_doubled_times_are_left_out_and_those_that_go_back_are_refused(ask, moving):
    rows = np.sort(np.concatenate([np.arange(moving.count), np.arange(100, 160)]))
    text = table(moving)
    lines = text.splitlines()
    doubled = "\n".join([lines[0], *(lines[1 + i] for i in rows)])
    done = right(ask(doubled, "--at", POSE))
    assert any("60 rows repeat the time" in n for n in done.data["notes"])
    lines[200], lines[300] = lines[300], lines[200]
    back = ask("\n".join(lines))
    assert back.code == 2
    assert "it must grow from row to row" in back.err


def test_saturated_drives_are_left_out(ask, moving):
    clipped = np.clip(moving.torque, -75.0, 75.0)
    done = right(ask(table(moving, torque=clipped), "--at", POSE))
    assert any("torques of lift stand at -75: the drive was saturated" in n for n in done.data["notes"])


def test_motors_in_turns_go_through_the_structure_matrix(ask, moving):
    drives = Drives(STRUCTURE, np.full(6, np.nan), np.zeros(6))
    geared = replace(FILE, transmission=Transmission(FILE.joints, np.eye(6), np.zeros(6), drives))
    right(ask(table(moving, motors="turns"), "--at", POSE, robot=geared))
    refused = ask(table(moving, motors="turns"))
    assert refused.code == 2
    assert "does not say how motors move the axes" in refused.err


def test_a_log_at_rest(ask):
    rng = np.random.default_rng(1)
    still = np.tile([0.0, -1.2, 0.8, -0.8, 0.3, 0.0], (200, 1)) + 1e-5 * rng.normal(size=(200, 6))
    torque = holding_torque(TRUTH, still) + 0.2 * rng.normal(size=still.shape)
    log = JointLog("log.csv", FILE.joints, still, torque, np.arange(200) + 2, np.arange(200) / 125)
    done = ask(table(log), "--torques", "drive", "--at", POSE)
    right(done)
    assert any("No joint moves for long" in n for n in done.data["notes"])
    asked = ask(table(log), "--torques", "drive", "--friction", "coulomb")
    assert asked.code == 2
    assert "no joint has 20 readings that count" in asked.err


def test_poses_in_any_order_without_time(ask):
    rng = np.random.default_rng(2)
    q = rng.uniform(-1, 1, (150, 6)) + np.array([0, -1.2, 0.8, 0, 0, 0])
    log = JointLog("log.csv", FILE.joints, q, holding_torque(TRUTH, q) + 0.3 * rng.normal(size=q.shape), np.arange(150))
    right(ask(table(log), "--at", POSE))


def test_a_joint_that_never_moves_in_a_log_without_time(ask, moving):
    done = right(ask(table(replace(moving, time=None)), "--at", POSE))
    pan = {r["joint"]: r for r in done.data["holding"]}["pan"]
    assert pan["torque"] is None
    assert "it never moves" in pan["reason"]


def test_a_missing_column_and_too_few_rows_are_a_sentence(ask, moving):
    lines = [line.split(",") for line in table(moving).splitlines()]
    gone = ask("\n".join(",".join([*row[:3], *row[4:]]) for row in lines))
    assert gone.code == 2
    assert "there is no column for axis elbow" in gone.err
    short = ask("\n".join(",".join(row) for row in lines[:4]))
    assert short.code == 2
    assert "too short" in short.err


def test_a_coupled_motor_in_the_file_is_checked(ask, moving, tmp_path, run):
    done = ask(table(moving), "--coupled", "elbow+wrist9")
    assert done.code == 2
    assert "wrist9" in done.err
    path = tmp_path / "odd.yaml"
    path.write_text(robot_text(FILE).replace("\nelements:", "\ncontroller: {coupled: [elbow]}\n\nelements:"))
    wrong = run("gravity", tmp_path / "log.csv", path)
    assert wrong.code == 2
    assert "'elbow' is no sum of joints" in wrong.err


def test_long_logs_are_thinned(moving):
    """Memory of a fit is that of at most ``MOST`` samples."""
    times = -(-30 * MOST // moving.count)
    q, torque = np.tile(moving.q, (times, 1)), np.tile(moving.torque, (times, 1))
    clock = np.arange(len(q)) / 125
    long = JointLog("log.csv", FILE.joints, q, torque, np.arange(len(q)) + 2, clock)
    for samples in (moving_samples(FILE, long), slow_samples(FILE, replace(long, time=None))):
        assert samples.log.count <= MOST
        assert any("of 30" in n or "of 29" in n for n in samples.notes)
