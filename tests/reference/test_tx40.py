"""A real log that moves all the time: a Staubli TX40 by its motors, 5 kHz, as a user would hand it over.

Reference figures: low-pass 100 Hz, joint-weighted least squares, readings above a threshold of speed.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from elastocal.files.log.read import read_log
from elastocal.files.robot.read import read_robot
from elastocal.files.robot.write import robot_text
from elastocal.model.transmission import Drives, Transmission
from elastocal.procedures.gravity import identify
from elastocal.procedures.gravity.motors import friction_terms

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "staubli-tx40"
pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="../shared/data/staubli-tx40 is not beside the repository")
COULOMB = np.array([7.11, 8.32, 6.32, 2.51, 3.07, 0.33])
VISCOUS = np.array([8.04, 5.48, 1.95, 1.10, 1.83, 0.64])
EVERY = 20
"""One row of twenty, 250 Hz: the motion lies below 5 Hz."""


def tx40(coupled=True):
    robot = read_robot(FOLDER / "tx40_mdh_modified.urdf")
    structure = np.diag([32.0, 32, 45, -48, 45, 32])
    structure[5, 4] = 32.0 * coupled
    zero = np.array([0, np.pi / 2, -np.pi / 2, 0, 0, 0])
    drives = Drives(structure, np.full(6, np.nan), np.zeros(6))
    return replace(robot, transmission=Transmission(robot.joints, np.eye(6), zero, drives))


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    q, tau = (
        np.loadtxt(FOLDER / f"motor_{n}.csv", delimiter=",", skiprows=1)[::EVERY] for n in ("positions", "torques")
    )
    joints = [f"joint_{i}" for i in range(1, 7)]
    head = ["time_s", *(f"{j}_motor_rad" for j in joints), *(f"{j}_motor_torque_Nm" for j in joints)]
    rows = np.column_stack([np.arange(len(q)) * EVERY / 5000, q, tau])
    path = tmp_path_factory.mktemp("tx40") / "log.csv"
    np.savetxt(path, rows, delimiter=",", header=",".join(head), comments="", fmt="%.7g")
    return path


def terms(done):
    return {(t.joint, t.term): t for t in friction_terms(done.arm)}


@pytest.fixture(scope="module")
def coupled(table):
    robot = tx40()
    return identify(robot, read_log(table, robot), hold_out=0.3)


def test_friction_is_that_of_the_reference(coupled):
    assert coupled.arm.samples.moving
    assert coupled.arm.sense.sign == 1
    assert [c.label for c in coupled.arm.unknowns.coupled] == ["joint_5+joint_6"]
    of = terms(coupled)
    found = np.array([of[f"joint_{i}", "coulomb"].value for i in range(1, 7)])
    np.testing.assert_allclose(found, COULOMB, rtol=0.05)
    np.testing.assert_allclose([of[f"joint_{i}", "viscous"].value for i in range(1, 7)], VISCOUS, rtol=0.05)
    assert of["joint_5+joint_6", "coulomb"].value == pytest.approx(1.95, rel=0.05)
    assert of["joint_5+joint_6", "viscous"].value == pytest.approx(0.62, rel=0.05)
    assert coupled.proposal is None


def test_friction_brakes_and_tells_whose_torque_was_logged(table):
    """Through a wider filter the weight correlates with 0.55 only; the evidence of both signs took the wrong one."""
    robot = tx40()
    log = read_log(table, robot)
    done = identify(robot, replace(log, torque=-log.torque), hold_out=0, cutoff=100)
    assert done.arm.sense.sign == -1
    assert "joint_2" in done.arm.sense.reason
    assert "brakes" in done.arm.sense.reason
    wrong = identify(robot, log, torques="load", hold_out=0, cutoff=20)
    (said,) = [w for w in wrong.warnings if w.code == "friction-drives"]
    assert said.data["least"] < -5
    assert "joint_5+joint_6" in said.data["joints"]


def test_unseen_torques_are_predicted_within_their_intervals(coupled):
    judged = coupled.validation
    assert np.all(judged.rms(judged.error) < 1.5 * coupled.arm.noise)
    assert np.all(judged.rms(judged.error) < judged.rms(judged.file_error) + 1e-9)
    assert np.all(judged.inside() > 0.85)


def test_without_the_coupling_joint_6_gets_the_friction_of_the_motor(table):
    robot = tx40(coupled=False)
    done = identify(robot, read_log(table, robot), hold_out=0)
    assert terms(done)["joint_6", "coulomb"].value == pytest.approx(2.32, rel=0.05)


def test_the_coupling_is_proposed_by_joint_torques_and_accepted_by_a_word(table, tmp_path):
    robot = tx40()
    log = read_log(table, robot)
    plain = replace(robot, transmission=None)
    done = identify(plain, log, hold_out=0)
    assert terms(done)["joint_6", "coulomb"].value > 2.3
    assert done.proposal.coupled.label == "joint_5+joint_6"
    (said,) = [w for w in done.warnings if w.code == "coupled-motor"]
    assert "coupled: [joint_5+joint_6]" in said.text
    path = tmp_path / "tx40.yaml"
    word = replace(plain, transmission=replace(plain.controller, coupled=("joint_5+joint_6",)))
    path.write_text(robot_text(word))
    assert "coupled: [joint_5+joint_6]" in path.read_text()
    accepted = identify(read_robot(path), log, hold_out=0)
    assert accepted.proposal is None
    assert terms(accepted)["joint_6", "coulomb"].value == pytest.approx(0.33, rel=0.05)
