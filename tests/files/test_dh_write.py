"""Robots as DH tables and as new URDFs: read back, they stand where the robot with its errors stands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from oracle.refusals import refused

import elastocal as ec
from elastocal.compensation.corrected_geometry import corrected_poses
from elastocal.files.robot.dh_write import dh_table
from elastocal.model.compliant.frame_error import FrameError
from elastocal.model.compliant.joint_offset import JointOffset
from elastocal.model.robot import Robot

TABLE = """\
joint,theta_deg,d_mm,a_mm,alpha_deg,min_deg,max_deg,sign,convention
A1,0,450,150,-90,-170,170,-1,standard
A2,-90,0,650,0,-130,80,1,standard
A3,0,0,120,-90,-90,100,1,standard
A4,0,700,0,90,-180,180,1,standard
A5,0,0,0,-90,-120,120,-1,standard
A6,180,110,0,0,-360,360,1,standard
"""


SCARA = """\
joint,theta_deg,d_mm,a_mm,alpha_deg,min_deg,max_deg,type,convention
A1,0,450,325,0,-170,170,revolute,standard
A2,0,0,275,180,-130,130,revolute,standard
A3,0,200,0,0,,,prismatic,standard
A4,0,50,0,0,-360,360,revolute,standard
"""


def off(robot: Robot, size: float = 1e-3) -> Robot:
    """With errors behind all joints but the last, and in all zeros."""
    rng = np.random.default_rng(4)
    moving = [f for f in robot.tree.path(robot.tool) if f.joint is not None]
    names = ("x", "y", "z", "rx", "ry", "rz")
    errors = [FrameError(frame=f.name, **dict(zip(names, size * rng.normal(size=6), strict=True))) for f in moving[:-1]]
    zeros = [JointOffset(joint=f.name, offset=float(size * rng.normal())) for f in moving if f.joint.kind == "revolute"]
    return robot.with_elements(*errors, *zeros)


def arm(folder: Path) -> Robot:
    (folder / "arm.csv").write_text(TABLE)
    return ec.read_robot(folder / "arm.csv")


def poses(robot: Robot, c: np.ndarray) -> np.ndarray:
    """(N, 4, 4) of the tool at values of the controller."""
    at = robot.kinematics(robot.controller.to_joints(c))
    out = np.zeros((len(c), 4, 4))
    out[:, :3, :3], out[:, :3, 3], out[:, 3, 3] = at.rotation, at.position, 1
    return out


@pytest.mark.parametrize(
    "word", ["arm.csv", "ur10e", "kuka-kr270", "kuka-kr5", "abb-irb4600-60", "iiwa14-on-track", "scara-ruggeri"]
)
def test_a_table_read_back_is_the_robot(tmp_path: Path, word: str) -> None:
    """Parallel axes, spherical wrists, slides, turned flanges, axes that count the other way, zeros elsewhere."""
    robot = off(arm(tmp_path) if word == "arm.csv" else ec.read_robot(word).nominal)
    ec.export(robot, dh=tmp_path / "new.csv")
    table, again = dh_table(robot, corrected_poses(robot).poses), ec.read_robot(tmp_path / "new.csv")
    c = np.random.default_rng(5).uniform(-1.5, 1.5, (20, len(robot.joints)))
    made = table.base.matrix() @ poses(again, c) @ table.tool.matrix()
    np.testing.assert_allclose(made, poses(robot, c), atol=1e-9)
    assert again.joints == robot.joints
    assert np.abs(made - poses(robot.nominal, c)).max() > 1e-3


def test_numbers_of_the_table_that_it_was_made_from_stay(tmp_path: Path) -> None:
    """Without errors the table comes back; nearly parallel axes are Hayati's, limits and signs are kept."""
    robot = arm(tmp_path)
    ec.export(robot, dh=tmp_path / "new.csv")
    titles, *rows = [line.split(",") for line in (tmp_path / "new.csv").read_text().split()]
    old_titles, *old = [line.split(",") for line in TABLE.split()]
    places = [titles.index(t) for t in old_titles]
    assert [[row[p] for p in places] for row in rows] == old
    assert [row[titles.index("beta_deg")] for row in rows] == ["", "0", "", "", "", ""]
    long = arm(tmp_path).with_elements(FrameError(frame="A2", x=5e-4, ry=2e-4))
    ec.export(long, dh=tmp_path / "new.xlsx")
    again = ec.read_robot(tmp_path / "new.xlsx")
    end = next(f for f in again.tree.frames if f.name == "A2_end")
    assert end.pose.translation[0] == pytest.approx(0.65, abs=1e-3)
    assert np.hypot(*end.pose.translation[:2]) > 0.6504


@pytest.mark.parametrize("turned", [False, True])
def test_a_slide_on_the_axis_of_its_neighbour_is_laid_into_it(tmp_path: Path, turned: bool) -> None:
    """As of a SCARA, whose last two axes are one; ``turned``, the slide comes last."""
    *rows, third, fourth = SCARA.splitlines()
    text = [*rows, fourth.replace("A4", "A3"), third.replace("A3", "A4")] if turned else [*rows, third, fourth]
    (tmp_path / "scara.csv").write_text("\n".join(text))
    plain = ec.read_robot(tmp_path / "scara.csv")
    c = np.random.default_rng(5).uniform(-0.2, 0.2, (20, 4))
    for robot in (plain, off(plain, 4e-4)):
        ec.export(robot, dh=tmp_path / "new.csv")
        table, again = dh_table(robot, corrected_poses(robot).poses), ec.read_robot(tmp_path / "new.csv")
        made = table.base.matrix() @ poses(again, c) @ table.tool.matrix()
        np.testing.assert_allclose(made, poses(robot, c), atol=1e-9)
        thetas = [abs(r.theta) for r in table.rows]
        assert max(min(t, np.pi - t) for t in thetas) < 0.01  # none that is anything


def test_a_slide_along_the_next_axis_that_counts_from_elsewhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "scara.csv").write_text(SCARA)
    robot = ec.read_robot(tmp_path / "scara.csv")
    moved = replace(robot, transmission=replace(robot.transmission, zero=np.array([0, 0, 0.1, 0])))
    with refused("unsupported", parameter="yaml"):
        ec.export(moved, dh=tmp_path / "new.csv")


def test_limits_that_have_no_column_are_named(tmp_path: Path) -> None:
    robot = ec.read_robot("iiwa14-on-track").nominal
    (slide,) = (j for j, m in zip(robot.joints, robot.motions, strict=True) if m.kind == "prismatic")
    notes = ec.export(robot, dh=tmp_path / "new.csv")
    assert f"Not in the DH table, whose limits are angles: those of {slide}." in notes


def test_a_urdf_is_written_anew_for_a_robot_of_a_table(tmp_path: Path) -> None:
    robot = off(arm(tmp_path))
    lost = ec.export(robot, urdf=tmp_path / "new.urdf")
    again = ec.read_robot(tmp_path / "new.urdf", tool="flange")
    q = np.random.default_rng(5).uniform(-1.5, 1.5, (20, 6))
    made, want = again.kinematics(q), robot.kinematics(q)
    np.testing.assert_allclose(made.position, want.position, atol=1e-12)
    np.testing.assert_allclose(made.rotation, want.rotation, atol=1e-12)
    assert again.joints == robot.joints
    limits = [m.limits for m in again.motions]
    assert limits[1] == pytest.approx(np.radians([-130, 80]))
    assert lost == ("Not in the URDF, which is written anew: signs, zeros and couplings of the controller.",)


def test_what_no_table_holds_is_refused(tmp_path: Path) -> None:
    with refused("unsupported", parameter="yaml"):
        ec.export(ec.read_robot("fanuc-m710ic50"), dh=tmp_path / "new.csv")
    for name, word in (("yaml", "new.csv"), ("dh", "new.yaml"), ("urdf", "new.csv"), ("kinematics", "k.json")):
        with refused("suffix", word[word.index(".") :], file=word):
            ec.export(arm(tmp_path), **{name: tmp_path / word})
    assert not list(tmp_path.glob("new.*"))
