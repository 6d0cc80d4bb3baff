"""Any robot written as a robot file and read back is the same robot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elastocal.files.robot.read import read_robot, shipped_robots
from elastocal.files.robot.urdf import read_urdf
from elastocal.files.robot.write import robot_text
from elastocal.model.kinematics import kinematics
from elastocal.model.robot import Robot

Run = Callable[..., Any]
MED7 = Path(__file__).resolve().parents[3] / "shared" / "data" / "kuka-med7" / "med7_nomesh.urdf"

URDF = """<robot name="grip">
  <link name="base"/><link name="slide"/><link name="yes"/><link name="tip"/>
  <joint name="Z" type="prismatic"><origin xyz="0.1 0 0.3333333333333333" rpy="0.1 -1.2 2.9"/>
    <parent link="base"/><child link="slide"/><axis xyz="0 0.6 0.8"/>
    <limit lower="-0.1" upper="0.123456789012345" effort="0" velocity="0"/></joint>
  <joint name="A: 1" type="revolute"><origin rpy="0 1.5707963267948966 0"/><parent link="slide"/><child link="yes"/>
    <axis xyz="0 1 0"/><mimic joint="Z" multiplier="-2.5" offset="0.7"/></joint>
  <joint name="end" type="fixed"><origin xyz="0.6 0 0" rpy="3 1 0.2"/><parent link="yes"/><child link="tip"/></joint>
</robot>
"""


def assert_same(old: Robot, new: Robot) -> None:
    assert new.tree.names == old.tree.names
    assert (new.name, new.tool, new.source) == (old.name, old.tool, old.source)
    np.testing.assert_array_equal(new.gravity, old.gravity)
    q = np.random.default_rng(7).uniform(-2, 2, (5, old.n))
    for frame in old.tree.names:
        a, b = kinematics(old, q, frame), kinematics(new, q, frame)
        np.testing.assert_allclose(b.position, a.position, rtol=0, atol=1e-12)
        np.testing.assert_allclose(b.rotation, a.rotation, rtol=0, atol=1e-12)
    for f, g in zip(old.tree.frames, new.tree.frames, strict=True):
        assert f.source == g.source
        if f.joint is None:
            assert g.joint is None
            continue
        assert (f.joint.kind, f.joint.axis, f.joint.follows) == (g.joint.kind, g.joint.axis, g.joint.follows)
        np.testing.assert_allclose(g.joint.limits or (), f.joint.limits or (), rtol=1e-15)
    assert [(p.name, p.unit, p.kind, p.source) for p in new.parameters] == [
        (p.name, p.unit, p.kind, p.source) for p in old.parameters
    ]
    np.testing.assert_allclose([p.value for p in new.parameters], [p.value for p in old.parameters], rtol=1e-15, atol=0)
    assert new.controller.axes == old.controller.axes
    np.testing.assert_array_equal(new.controller.matrix, old.controller.matrix)
    np.testing.assert_allclose(new.controller.zero, old.controller.zero, rtol=1e-15)


@pytest.mark.parametrize("name", shipped_robots())
def test_shipped_robots_come_back(run: Run, tmp_path: Path, name: str) -> None:
    target = tmp_path / "copy.yaml"
    got = run("convert", name, target)
    assert got.code == 0, got.err
    assert_same(read_robot(name), read_robot(target))
    again = tmp_path / "again.yaml"
    assert run("convert", target, again).code == 0
    body = [p.read_text(encoding="utf-8").split("format:")[1] for p in (target, again)]
    assert body[0] == body[1]


def with_rigid_joints(source: Path) -> Robot:
    from elastocal.app.commands.convert import UNKNOWN
    from elastocal.model.compliant.joint_compliance import JointCompliance

    model = read_urdf(source).model
    moving = [f.name for f in model.tree.frames if f.joint is not None]
    return model.with_elements(*(JointCompliance(joint=j, k=0.0, source=UNKNOWN) for j in moving))


def test_a_urdf_gets_places_for_its_compliances(run: Run, tmp_path: Path) -> None:
    if not MED7.exists():
        pytest.skip(f"{MED7} is not here")
    target = tmp_path / "med7.yaml"
    got = run("convert", MED7, target)
    assert got.code == 0, got.err
    assert "k is 0 (rigid) for A1, A2, A3, A4, A5, A6, A7" in " ".join(got.out.split())
    assert_same(with_rigid_joints(MED7), read_robot(target))
    text = target.read_text(encoding="utf-8")
    assert "# Note: gravity is assumed" in text
    assert "# Compliances that are not known are 0" in text
    assert text.count("k_rad_per_Nm: 0\n") == 7


def test_odd_names_mimic_joints_and_odd_numbers_survive(run: Run, tmp_path: Path) -> None:
    source, target = tmp_path / "grip.urdf", tmp_path / "grip.yaml"
    source.write_text(URDF, encoding="utf-8")
    got = run("convert", source, target, "--json")
    assert got.code == 0, got.err
    assert got.data["verdict"]
    model = read_robot(target)
    assert_same(with_rigid_joints(source), model)
    follower = model.tree.joint("A: 1")
    assert (follower.follows, follower.ratio, follower.offset) == ("Z", -2.5, 0.7)
    assert "k_m_per_N: 0\n" in target.read_text(encoding="utf-8")


def test_couplings_signs_and_zeros_survive(tmp_path: Path) -> None:
    text = """\
format: elastocal-robot/1
name: arm
source: written for a test
joints:
  - {name: J, type: revolute, axis: [0, 1, 0]}
  - {name: K, type: revolute, axis: [0, 1, 0], xyz_in: [1, 2, 3.5]}
controller:
  axes: [A, B]
  sign: {A: -1}
  zero_deg: {B: 10.3}
  couplings: [{joint: J, axis: B, ratio: 0.25}, {joint: K, axis: A, ratio: -0.1}]
elements:
  - {kind: motor_compliance, joints: [J, K], structure: [[100, 0], [3, 80]], k_rad_per_Nm: [0.01, 0.02]}
  - {kind: gripper_backlash, frame: K, gap_um: [3, 4, 5]}
  - {kind: wrench, frame: K, force_N: [1, 2, 3.3], follows: true}
  - {kind: frame_error, frame: K, x_um: 3, rz_urad: 7}
"""
    path = tmp_path / "arm.yaml"
    path.write_text(text, encoding="utf-8")
    model = read_robot(path)
    again = tmp_path / "again.yaml"
    again.write_text(robot_text(model), encoding="utf-8")
    assert_same(model, read_robot(again))


def test_nothing_is_replaced(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "mine.yaml"
    target.write_text("precious", encoding="utf-8")
    got = run("convert", "kuka-kr5", target)
    assert (got.code, got.out) == (2, "")
    assert "exists already" in got.err
    assert target.read_text(encoding="utf-8") == "precious"


@pytest.mark.parametrize(
    ("words", "piece"),
    [(("kuka-kr5", "x.txt"), ".yaml"), (("kuka-kr6", "x.yaml"), "did you mean"), (("no.urdf", "x.yaml"), "no such")],
)
def test_mistakes_write_nothing(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, str], piece: str
) -> None:
    monkeypatch.chdir(tmp_path)
    got = run("convert", *words)
    assert (got.code, got.out) == (2, "")
    assert got.err.count("\n") == 1
    assert piece in got.err
    assert list(tmp_path.iterdir()) == []


def test_what_holds_no_compliance_is_called_by_its_name(run: Run, tmp_path: Path) -> None:
    (tmp_path / "dh.csv").write_text(
        "joint,theta_deg,d_mm,a_mm,alpha_deg,convention\nJ1,0,400,100,-90,standard\nJ2,0,0,600,0,standard\n"
    )
    got = run("convert", tmp_path / "dh.csv", tmp_path / "x.yaml")
    assert got.code == 0, got.err
    assert "dh.csv holds no compliance: k is 0 (rigid) for J1, J2" in got.out
    assert "URDF" not in got.out
