"""Nominal joint values: the closed form where there is one, steps where there is none; both agree."""

from __future__ import annotations

import numpy as np
from oracle.robots import configurations

from elastocal.compensation import spherical_wrist as sw
from elastocal.compensation.spherical_wrist import WristGeometry, wrist_geometry
from elastocal.compensation.targets import Nominal, Targets
from elastocal.files.robot.read import read_robot
from elastocal.model.inverse_kinematics import inverse_kinematics, task
from elastocal.model.kinematics import kinematics


def desired(model, q):
    k = kinematics(model, q)
    return np.ascontiguousarray(k.position.T), np.ascontiguousarray(np.moveaxis(k.rotation, 0, -1))


def test_newton_and_closed_form_agree():
    model = read_robot("kuka-kr5")
    arm = wrist_geometry(model, "tool")
    assert isinstance(arm, WristGeometry)
    q = configurations(model, 300, seed=4)
    position, rotation = desired(model, q)
    solved = sw.wrist_joints(arm, position, rotation, sw.branch_of(arm, q.T), q.T[3])
    clear = solved.margins.min(axis=0) > 0.05
    found = inverse_kinematics(model, "tool", task(model, "tool"), position, rotation, q.T + 0.02)
    assert found.reached[clear].all()
    np.testing.assert_allclose(found.q[:, clear], q.T[:, clear], atol=1e-9)


def test_a_path_without_closed_form_goes_through_nominal():
    """One and a half turns about the column: the angle runs on, as it can only from one target to the next."""
    model = read_robot("cylindrical")
    angle = np.linspace(0.3, 9.5, 90)
    reach = 0.5 + 0.2 * np.cos(3 * angle)
    place = np.column_stack([reach * np.cos(angle), reach * np.sin(angle), 0.2 + 0.05 * angle])
    targets = Targets("tool", place, np.repeat(np.eye(3)[None], 90, axis=0), np.array([0.2, 0.0, 0.7]))
    inverse = Nominal(model, "tool", task(model, "tool"))
    assert "rx, ry, rz" in inverse.why
    q = np.concatenate([f.q for _, _, _, f in inverse.chunks(targets, 17)], axis=1).T
    np.testing.assert_allclose(q, np.column_stack([place[:, 2], angle, reach]), atol=1e-11)
