"""Robots from xacro (through xacrodoc) and from DH tables (CSV, Excel), and wrong ones in a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.compensation.run import flange_of, flange_reason
from elastocal.compensation.stations import own_base
from elastocal.errors import InputError, UnitError
from elastocal.files.robot.read import read_robot
from elastocal.files.tables.excel import excel_bytes
from elastocal.model.kinematics import kinematics, rigid_pose

# written from the xacro wiki (macros, properties, arguments, includes) and REP 199 (base, flange, tool0)
MACRO = """<?xml version="1.0"?>
<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:property name="upper" value="0.9"/>
  <xacro:macro name="arm" params="prefix">
    <link name="${prefix}base_link"/><link name="${prefix}link_1"/><link name="${prefix}link_2"/>
    <link name="${prefix}base"/><link name="${prefix}flange"/><link name="${prefix}tool0"/>
    <joint name="${prefix}joint_1" type="revolute">
      <origin xyz="0 0 0.495"/><parent link="${prefix}base_link"/><child link="${prefix}link_1"/><axis xyz="0 0 1"/>
      <limit lower="${radians(-180)}" upper="${pi}" effort="0" velocity="1"/>
    </joint>
    <joint name="${prefix}joint_2" type="revolute">
      <origin xyz="0.175 0 ${upper}"/><parent link="${prefix}link_1"/><child link="${prefix}link_2"/><axis xyz="0 1 0"/>
      <limit lower="-1" upper="1" effort="0" velocity="1"/>
    </joint>
    <joint name="${prefix}a" type="fixed">
      <origin xyz="0 0 0.1"/><parent link="${prefix}base_link"/><child link="${prefix}base"/>
    </joint>
    <joint name="${prefix}b" type="fixed">
      <origin xyz="1 0 0"/><parent link="${prefix}link_2"/><child link="${prefix}flange"/>
    </joint>
    <joint name="${prefix}c" type="fixed">
      <origin rpy="0 ${pi/2} 0"/><parent link="${prefix}flange"/><child link="${prefix}tool0"/>
    </joint>
  </xacro:macro>
</robot>
"""
CALL = """<?xml version="1.0"?>
<robot name="two" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="reach" default="1.0"/>
  <xacro:include filename="$(find my_support)/urdf/macro.xacro"/>
  <xacro:arm prefix=""/>
</robot>
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "my_support"
    (folder / "urdf").mkdir(parents=True)
    (folder / "package.xml").write_text("<package><name>my_support</name></package>")
    (folder / "urdf" / "macro.xacro").write_text(MACRO)
    (folder / "urdf" / "two.urdf.xacro").write_text(CALL)
    return folder / "urdf"


def test_xacro_is_expanded_and_the_flange_is_inferred_and_said(package: Path) -> None:
    robot = read_robot(package / "two.urdf.xacro")
    assert robot.joints == ("joint_1", "joint_2")
    np.testing.assert_allclose(kinematics(robot, np.zeros((1, 2)), "tool0").position[0], [1.175, 0, 1.395])
    assert flange_of(robot) == "tool0"
    assert "controller's flange" in flange_reason(robot, "tool0")
    np.testing.assert_allclose(own_base(robot).translation, [0, 0, 0.1])


def test_folders_of_a_repository_need_no_package_xml(package: Path) -> None:
    (package.parent / "package.xml").unlink()
    other = package.parents[1] / "my_resources" / "urdf"
    other.mkdir(parents=True)
    (other / "macro.xacro").write_text(MACRO)
    (package / "two.urdf.xacro").write_text(CALL.replace("my_support", "my_resources"))
    assert read_robot(package / "two.urdf.xacro").joints == ("joint_1", "joint_2")


def test_arguments_stand_behind_a_question_mark(package: Path) -> None:
    text = CALL.replace('name="two"', 'name="$(arg called)"').replace(
        '<xacro:arg name="reach"', '<xacro:arg name="called" default="x"/><xacro:arg name="reach"'
    )
    (package / "named.xacro").write_text(text)
    assert read_robot(f"{package / 'named.xacro'}?called=mine").name == "mine"
    with refused("format", "called"):
        read_robot(f"{package / 'named.xacro'}?called")


def test_wrong_xacro_in_one_sentence(package: Path) -> None:
    with refused("no-macro", file="macro.xacro", line=2):
        read_robot(package / "macro.xacro")
    (package / "lost.xacro").write_text(CALL.replace("my_support", "no_such_package"))
    with refused("xacro", "no_such_package", file="lost.xacro") as error:
        read_robot(package / "lost.xacro")
    assert (error.value.code, error.value.value) == ("xacro", "no_such_package")
    (package / "name.xacro").write_text(CALL.replace("xacro:arm", "xacro:no_such_macro"))
    with refused("xacro", file="name.xacro"):
        read_robot(package / "name.xacro")
    (package / "plain.urdf").write_text(CALL)
    with refused("xacro"):
        read_robot(package / "plain.urdf")


# UR10e, standard DH as the maker's article has it; Craig's form of a PUMA 560 (Corke and Armstrong-Helouvry 1994)
UR10E = """joint,a_mm,alpha_deg,d_mm,theta_deg,min_deg,max_deg,convention
base_joint,0,90,180.7,0,-360,360,standard
shoulder,-612.7,0,0,0,-360,360,standard
elbow,-571.55,0,0,0,-360,360,standard
wrist1,0,90,174.15,0,-360,360,standard
wrist2,0,-90,119.85,0,-360,360,standard
wrist3,0,0,116.55,0,-360,360,standard
"""
PUMA = [(0, 0, 0, 0), (0, -90, 243.5, 0), (431.8, 0, -93.4, 0), (-20.3, 90, 433.1, 0), (0, -90, 0, 0), (0, 90, 0, 0)]


def by_hand(rows: list[tuple[float, ...]], q: np.ndarray) -> np.ndarray:
    """Craig's product of matrices, written out."""
    out = np.eye(4)
    for (a, alpha, d, theta), value in zip(rows, q, strict=True):
        ca, sa = np.cos(np.radians(alpha)), np.sin(np.radians(alpha))
        c, s = np.cos(np.radians(theta) + value), np.sin(np.radians(theta) + value)
        out = out @ np.array([
            [c, -s, 0, a / 1e3], [s * ca, c * ca, -sa, -d / 1e3 * sa], [s * sa, c * sa, ca, d / 1e3 * ca], [0, 0, 0, 1],
        ])  # fmt: skip
    return out


def test_standard_dh_is_the_shipped_robot(tmp_path: Path) -> None:
    (tmp_path / "ur.csv").write_text(UR10E)
    header, *rows = (line.split(",") for line in UR10E.splitlines())
    (tmp_path / "ur.xlsx").write_bytes(excel_bytes(header, rows))
    shipped = read_robot("ur10e")
    q = np.random.default_rng(0).uniform(-3, 3, (6, 10))
    at, turn = rigid_pose(shipped.nominal, "flange", q)
    for name in ("ur.csv", "ur.xlsx"):
        robot = read_robot(tmp_path / name)
        here, turned = rigid_pose(robot.nominal, "flange", q)
        np.testing.assert_allclose(here, at, atol=1e-12)
        np.testing.assert_allclose(turned, turn, atol=1e-12)
        assert robot.motions[0].limits == pytest.approx((-2 * np.pi, 2 * np.pi))


def test_a_dh_table_as_people_type_it_is_the_same_robot(tmp_path: Path) -> None:
    """A title above, Greek letters, units in brackets, joints as numbers, the convention said once."""
    _, *rows = (line.split(",") for line in UR10E.splitlines())
    typed = [[str(i), r[4], r[3], r[1], r[2], r[5], r[6], "standard" if i == 1 else ""] for i, r in enumerate(rows, 1)]
    titles = ["i", "θ [°]", "d [mm]", "a [mm]", "\u03b1 (deg)", "lower [deg]", "upper [deg]", "Convention"]
    (tmp_path / "typed.xlsx").write_bytes(excel_bytes(["UR10e of cell 4"], [[], titles, *typed]))
    robot, q = read_robot(tmp_path / "typed.xlsx"), np.random.default_rng(0).uniform(-3, 3, (6, 10))
    assert robot.joints == ("J1", "J2", "J3", "J4", "J5", "J6")
    np.testing.assert_allclose(
        rigid_pose(robot.nominal, "J1", q[:, :1])[0][:, 0], [0, 0, 0.1807], atol=1e-15
    )  # its foot
    assert robot.motions[5].limits == pytest.approx((-2 * np.pi, 2 * np.pi))
    np.testing.assert_allclose(rigid_pose(robot.nominal, "flange", q)[0],
                               rigid_pose(read_robot("ur10e").nominal, "flange", q)[0], atol=1e-12)  # fmt: skip


def test_modified_dh_is_the_product_of_craig(tmp_path: Path) -> None:
    lines = ["joint,a_mm,alpha_deg,d_mm,theta_deg,convention"]
    lines += [f"J{i},{','.join(map(str, row))},modified" for i, row in enumerate(PUMA, 1)]
    (tmp_path / "puma.csv").write_text("\n".join(lines) + "\n")
    robot = read_robot(tmp_path / "puma.csv")
    for q in np.random.default_rng(1).uniform(-3, 3, (5, 6)):
        at, turn = rigid_pose(robot.nominal, "flange", q[:, None])
        wanted = by_hand(PUMA, q)
        np.testing.assert_allclose(at[:, 0], wanted[:3, 3], atol=1e-12)
        np.testing.assert_allclose(turn[..., 0], wanted[:3, :3], atol=1e-12)
    assert any("no limits" in note for note in robot.notes)


def test_a_convention_that_is_not_stated_is_told_by_titles_or_zeros(tmp_path: Path) -> None:
    """PUMA's first frame lies in its base (modified), UR10e's last in its flange (standard)."""
    craig = [f"{i},{','.join(map(str, row))}" for i, row in enumerate(PUMA, 1)]
    for name, titles, rows, said in (
        ("zeros", "i,a [mm],alpha [deg],d [mm],theta [deg]", craig, "modified convention, since a is 0"),
        ("titles", "i,a(i-1) [mm],alpha_i-1 [deg],d_i [mm],theta_i [deg]", [*craig[:-1], "6,0,0,0,0"],
         "modified convention, as 'a(i-1) [mm]' says"),
    ):  # fmt: skip
        (tmp_path / f"{name}.csv").write_text("\n".join([titles, *rows]) + "\n")
        (tmp_path / "stated.csv").write_text(
            "\n".join([f"{titles},convention", *(f"{r},modified" for r in rows)]) + "\n"
        )
        robot, stated = read_robot(tmp_path / f"{name}.csv"), read_robot(tmp_path / "stated.csv")
        q = np.random.default_rng(4).uniform(-3, 3, (6, 5))
        np.testing.assert_array_equal(*(rigid_pose(r.nominal, "flange", q)[0] for r in (robot, stated)))
        assert any(said in note for note in robot.notes)
    (tmp_path / "ur.csv").write_text(UR10E.replace(",convention", ",remark"))
    assert any("standard convention, since" in note for note in read_robot(tmp_path / "ur.csv").notes)
    turned = UR10E.replace(",convention", ",remark").replace("wrist3,0,0", "wrist3,0,180")  # z of the flange looks back
    (tmp_path / "turned.csv").write_text(turned)
    assert any("standard convention, since" in note for note in read_robot(tmp_path / "turned.csv").notes)


def test_limits_without_a_unit_are_in_that_of_the_angles(tmp_path: Path) -> None:
    (tmp_path / "ur.csv").write_text(UR10E.replace("min_deg,max_deg", "min,max"))
    robot = read_robot(tmp_path / "ur.csv")
    assert robot.motions[0].limits == pytest.approx((-2 * np.pi, 2 * np.pi))
    assert any("taken in deg, as its angles" in note for note in robot.notes)
    slides = (
        UR10E.replace("min_deg,max_deg", "min,max")
        .replace("convention", "type,convention")
        .replace("standard", "P,standard")
    )
    (tmp_path / "slide.csv").write_text(slides)
    with refused("unit", "min"):
        read_robot(tmp_path / "slide.csv")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (UR10E.replace(",convention", ",remark").replace("base_joint,0,90", "base_joint,0,0"), ("dh-convention",)),
        (UR10E.replace(",convention", ",conventoin"), ("unknown-column", "conventoin")),
        ("joint,alpha_deg,d_mm,theta_deg,convention\nA,0,0,0,standard\n", ("dh-column", "a")),
        (UR10E.replace("standard", "modified", 1), ("dh-convention",)),
        (UR10E.replace("-360,360", "360,-360", 1), ("limits",)),
        (UR10E.replace("180.7", "abc"), ("number",)),
    ],
)
def test_wrong_tables_in_one_sentence(tmp_path: Path, text: str, said: tuple[Any, ...]) -> None:
    (tmp_path / "dh.csv").write_text(text)
    with refused(*said):
        read_robot(tmp_path / "dh.csv")


BARE = UR10E.replace("min_deg,max_deg", "min,max")


@pytest.mark.parametrize(
    ("text", "most"),
    [
        (BARE.replace("-360,360", "-3.14,3.14"), 3.14),
        (
            BARE.replace("alpha_deg", "alpha_rad").replace("theta_deg", "theta_rad").replace(",90,", ",1.5707963,"),
            360.0,
        ),
    ],
)
def test_limits_without_a_unit_that_are_not_in_that_of_the_angles(tmp_path: Path, text: str, most: float) -> None:
    path = tmp_path / "dh.csv"
    path.write_text(text.replace(",-90,", ",-1.5707963,") if most == 360 else text)
    with pytest.raises(UnitError) as caught:
        read_robot(path)
    assert (caught.value.file, caught.value.line) == (str(path), 1)
    assert caught.value.value == pytest.approx(most)
    path.write_text(BARE)
    assert read_robot(path).motions[0].limits == pytest.approx((-2 * np.pi, 2 * np.pi))


@pytest.mark.parametrize(
    "rows",
    [
        "a,0,0,100,0,prismatic\nb,0,90,0,0,revolute\nc,200,0,0,0,revolute\n",
        "a,0,0,100,0,revolute\nb,0,0,50,0,revolute\nc,0,0,20,0,revolute\n",
    ],
    ids=["sliding", "coaxial"],
)
def test_the_convention_of_sliding_and_coaxial_joints_is_asked_for(tmp_path: Path, rows: str) -> None:
    path = tmp_path / "dh.csv"
    path.write_text("joint,a_mm,alpha_deg,d_mm,theta_deg,type\n" + rows)
    with pytest.raises(InputError) as caught:
        read_robot(path)
    assert "convention" in str(caught.value)
    assert caught.value.file == str(path)


def test_a_xacro_expression_that_never_ends_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elastocal.files.robot.xacro.SECONDS", 2)
    path = tmp_path / "endless.urdf.xacro"
    path.write_text(MACRO.replace('"0.9"', '"${9**9**9}"').replace("</robot>", '<xacro:arm prefix=""/></robot>'))
    with pytest.raises(InputError) as caught:
        read_robot(path)
    assert "longer than 2 s" in str(caught.value)


def test_a_xacro_expression_that_fills_the_memory_is_given_up(tmp_path: Path) -> None:
    pytest.importorskip("resource")
    path = tmp_path / "full.urdf.xacro"
    path.write_text(
        MACRO.replace('"0.9"', """"${'x' * 10**10}\"""").replace("</robot>", '<xacro:arm prefix=""/></robot>')
    )
    with pytest.raises(InputError) as caught:
        read_robot(path)
    assert "more than 1 GB" in str(caught.value)


def test_a_xacro_expression_that_is_wrong_is_quoted_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "wrong.urdf.xacro"
    path.write_text(MACRO.replace('"0.9"', '"${lenght + 1}"').replace("</robot>", '<xacro:arm prefix=""/></robot>'))
    with pytest.raises(InputError) as caught:
        read_robot(path)
    assert "name 'lenght' is not defined" in str(caught.value)
    assert "lenght + 1" in str(caught.value)


def test_xacro_that_is_no_xml_is_refused_at_its_line(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a process is started for it."""
    monkeypatch.setattr("elastocal.files.robot.xacro.subprocess.run", None)
    (package / "two.urdf.xacro").write_text(CALL.replace("</robot>", "</robo>"))
    with pytest.raises(InputError) as refused:
        read_robot(package / "two.urdf.xacro")
    assert refused.value.line == CALL[: CALL.index("</robot>")].count("\n") + 1
