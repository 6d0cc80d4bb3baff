"""Holding torques of the KUKA KR5 as printed by Hayat, Udai and Saha 2013, equations (15) to (17)."""

from __future__ import annotations

import numpy as np

from elastocal.files.robot.read import read_robot
from elastocal.model.compliant.joint_compliance import JointCompliance
from elastocal.model.statics.equilibrium import equilibrium


def printed_torques(deg):
    """tau_2, tau_3, tau_5 at pendant angles in degrees (A4 = 0)."""
    a2, a3, a5 = (np.deg2rad(deg[:, i]) for i in (1, 2, 4))
    a = a2 + a3 + a5
    tau5 = -11.47 * np.cos(a) + 4.90 * np.sin(a)
    tau3 = -126.28 * np.cos(a2 + a3 - np.deg2rad(44.85)) + tau5
    return np.stack([-375.70 * np.cos(a2) + tau3, tau3, tau5], axis=1)


def test_kr5_holds_its_weight_with_the_published_torques():
    pendant = np.array(
        [
            [0, 0, 0, 0, 0, 0],
            [30, -90, 90, 0, 0, 0],
            [-70, -45, 60, 0, 50, 0],
            [10, -120, 100, 0, -80, 0],
            [90, 20, 10, 0, 110, 0],
        ],
        dtype=float,
    )
    model = read_robot("kuka-kr5").without("joint_compliance", "motor_compliance")
    model = model.with_elements(*(JointCompliance(joint=j, k=1e-15) for j in model.joints))
    q = model.controller.to_joints(np.deg2rad(pendant))
    holding = model.controller.torques_to_controller(-equilibrium(model, q).force)
    published = printed_torques(pendant)
    assert np.abs(published).max() > 400
    # 0.005 in each printed digit, 0.005 deg in 44.85 deg times 126 N m
    np.testing.assert_allclose(holding[:, [1, 2, 4]], published, rtol=0, atol=0.03)
    np.testing.assert_allclose(holding[0, [1, 2, 4]], [-476.70, -101.00, -11.47], rtol=0, atol=0.02)
