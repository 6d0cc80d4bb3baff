"""Errors moved into poses: the same robot, whichever frames can be written."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from elastocal.compensation.corrected_geometry import corrected_poses
from elastocal.files.located import parse_yaml
from elastocal.files.robot.file import build_robot
from elastocal.files.robot.read import read_robot
from elastocal.model.compliant.gear_harmonics import GearHarmonics
from elastocal.model.frames import FrameTree
from elastocal.model.statics.deflection import frame_pose
from elastocal.model.statics.equilibrium import equilibrium

ROBOT = """
format: elastocal-robot/1
name: odd
source: written for a test
gravity_m_s2: [0, 0, 0]
joints:
  - {name: foot, xyz_mm: [100, 0, 50], rpy_deg: [10, 0, 20]}
  - {name: T, type: prismatic, axis: [1, 0, 0], xyz_mm: [0, 30, 0], rpy_deg: [0, 15, 0]}
  - {name: plate, xyz_mm: [0, 0, 200], rpy_deg: [0, 0, 40]}
  - {name: J, type: revolute, axis: [0, 1, 0], xyz_mm: [50, 0, 0]}
  - {name: arm, xyz_mm: [400, 0, 0], rpy_deg: [0, 30, 0]}
  - {name: tip, xyz_mm: [0, 0, 100]}
tool: tip
elements:
  - {kind: frame_error, frame: foot, x_mm: 0.5, rx_mrad: 2}
  - {kind: frame_error, frame: T, y_mm: -0.3, rz_mrad: 1}
  - {kind: frame_error, frame: plate, z_mm: 0.4, ry_mrad: -3}
  - {kind: frame_error, frame: J, x_mm: 0.2, rx_mrad: 4, rz_mrad: -1}
  - {kind: joint_offset, joint: T, offset_m: 0.001}
  - {kind: joint_offset, joint: J, offset_rad: 0.003}
"""
Q = np.array([[0.1, 0.7], [-0.3, -1.1]])


@pytest.mark.parametrize("writable", [None, ("foot", "T", "J", "arm", "tip"), ("T", "J", "tip"), ("foot", "tip")])
def test_the_same_robot(writable) -> None:
    model = build_robot(parse_yaml(ROBOT, "odd.yaml"))
    new = corrected_poses(model, writable)
    assert new.lost == ()
    assert set(new.poses) == set(writable or model.tree.names[1:])
    frames = tuple(replace(f, pose=new.poses.get(f.name, f.pose)) for f in model.tree.frames)
    plain = replace(model, tree=FrameTree(frames), elements=())
    wanted, turned = frame_pose(model, Q, equilibrium(model, Q), "tip")
    if writable == ("foot", "tip"):  # what lies before a joint that turns cannot wait until behind it
        assert np.abs(frame_pose(plain, Q, equilibrium(plain, Q), "tip")[0] - wanted).max() > 1e-5
        return
    place, turn = frame_pose(plain, Q, equilibrium(plain, Q), "tip")
    np.testing.assert_allclose(place, wanted, atol=1e-14)
    np.testing.assert_allclose(turn, turned, atol=1e-14)


def test_an_error_behind_everything_is_named() -> None:
    model = build_robot(parse_yaml(ROBOT, "odd.yaml"))
    assert corrected_poses(model, ("foot", "T", "plate", "J")).lost == ("tip",)


def test_what_depends_on_the_configuration_is_named() -> None:
    """A gear harmonic is no fixed pose: the poses stay, and it is said."""
    model = read_robot("kuka-kr270")
    wavy = replace(model, elements=(*model.elements, GearHarmonics(joint="A2", orders=(2.0,), sin=(1e-4,))))
    new = corrected_poses(wavy)
    assert new.varying == ("gear_harmonics of A2",)
    assert corrected_poses(model).varying == ()
