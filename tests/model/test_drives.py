"""Counts and motor angles to joints and back, torques by the power that they carry."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.files.robot.read import read_robot
from elastocal.model.compliant.motor_compliance import MotorCompliance
from elastocal.model.transmission import Drives, Transmission

S = np.array([[90.0, 0.0, 0.0], [-1.5, 60.0, 0.0], [-1.0, 2.0, 30.0]])
DRIVES = Drives(S, np.array([16384.0, 12288.0, 8192.0]), np.array([500.0, -20.0, 7.0]))


def test_counts_by_hand_and_back():
    c = np.array([[0.1, -0.4, 2.0], [1.0, 0.5, -0.3]])
    counts = DRIVES.counts(c)
    third = 7.0 + 8192 / (2 * np.pi) * (-0.1 - 0.8 + 60.0)
    assert counts[0, 2] == pytest.approx(third)
    np.testing.assert_allclose(DRIVES.from_counts(counts), c, atol=1e-14)
    np.testing.assert_allclose(DRIVES.from_motors(c @ S.T), c, atol=1e-14)


def test_torques_carry_the_same_power():
    """tau . dc = tau_m . dphi for any motion."""
    rng = np.random.default_rng(1)
    torque, rate = rng.normal(size=(5, 3)), rng.normal(size=(5, 3))
    motors = DRIVES.torques_to_motors(torque)
    np.testing.assert_allclose(np.sum(motors * (rate @ S.T), axis=1), np.sum(torque * rate, axis=1))
    np.testing.assert_allclose(DRIVES.torques_of_motors(motors), torque)
    assert abs(motors[0, 0] - torque[0, 0] / 90) > 1e-4  # the couplings take part


def test_kr5_counts_lead_to_the_printed_angles():
    """Table II of Hayat et al. 2013, rows that are not misprinted: counts to joint angles within a count's worth."""
    model = read_robot("kuka-kr5")
    counts = np.array([[0, 0, 0, 50821, 13653, 24355], [0, 0, 0, 152460, 69784, 32587]], dtype=float)
    q = model.controller.to_joints(model.controller.drives.from_counts(counts))
    np.testing.assert_allclose(np.rad2deg(q)[:, 3:], [[20, 10, 30], [60, 50, 40]], atol=1.5e-3)
    np.testing.assert_allclose(model.controller.drives.counts(model.controller.to_controller(q)), counts, atol=1e-6)


@pytest.mark.parametrize(
    ("structure", "per_turn", "said"),
    [
        ([[1.0, 2.0], [2.0, 4.0]], [1, 1], ("singular-structure",)),
        ([[0.0, 0.0], [2.0, 4.0]], [1, 1], ("singular-structure",)),
        ([[1.0, 2.0]], [1], ("structure",)),
        ([[np.nan, 0.0], [0.0, 1.0]], [1, 1], ("structure",)),
        (np.eye(2), [1, 0], ("zero-counts",)),
    ],
)
def test_drives_that_cannot_be(structure, per_turn, said):
    with refused(*said):
        Drives(np.array(structure), np.array(per_turn, dtype=float), np.zeros(len(per_turn)))


def test_drives_belong_to_all_axes():
    with refused("shape", (3, 2)):
        Transmission(("a", "b"), np.eye(2), np.zeros(2), DRIVES)


def test_the_wrist_of_the_kr5_is_the_same_for_counts_and_for_compliance():
    """The robot file says the structure matrix of the wrist twice: of all axes, and of the motors that yield."""
    model = read_robot("kuka-kr5")
    (motors,) = (e for e in model.elements if isinstance(e, MotorCompliance))
    assert motors.joints == model.controller.axes[3:]
    assert model.controller.drives.structure[3:, 3:].tolist() == [list(row) for row in motors.structure]
