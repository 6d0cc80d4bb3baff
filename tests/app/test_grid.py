"""Correction grids and RoboDK tables: the same corrections as those of a program, and readable again."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from app.cell_desk import typed, well
from app.program_desk import calibration

from elastocal.compensation import grid
from elastocal.compensation.process import ProcessLoad
from elastocal.compensation.run import compensate
from elastocal.files.formats.robodk import measured_lines
from elastocal.files.programs import read_program
from elastocal.files.robot.read import read_robot
from elastocal.files.tables.csv_file import read_csv
from elastocal.model.kinematics import rigid_pose

BOX = ("kuka-kr270", "--box", "1500,-300,600,1800,300,900", "--step-mm", "300")
NEAR = "0,-70,100,0,60,0"


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("grid")
    well("grid", *BOX, "--near", NEAR, "--force", "0,0,-500", "--csv", folder / "g.csv", "--json")
    with (folder / "g.csv").open() as file:
        return list(csv.DictReader(file))


def test_a_grid_in_pieces_is_that_of_all_its_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """A joint may stand a whole turn away, as it may between neighbours: a point stands alone."""
    robot, corners = read_robot("kuka-kr270"), (np.array([1.5, -0.3, 0.6]), np.array([1.8, 0.3, 3.6]))
    down, load = np.diag([1.0, -1.0, -1.0]), ProcessLoad(wrench=np.array([0.0, 0, -500, 0, 0, 0]), air_moves=True)
    whole = grid.correction_grid(robot, robot, *corners, np.full(3, 0.3), down, load=load)
    monkeypatch.setattr(grid, "PIECE", 5)
    pieces = grid.correction_grid(robot, robot, *corners, np.full(3, 0.3), down, load=load)
    assert 0 < whole.reached < len(whole.points)
    np.testing.assert_array_equal(pieces.status, whole.status)
    np.testing.assert_allclose(pieces.shift, whole.shift, atol=1e-12)
    np.testing.assert_allclose(np.exp(1j * pieces.command), np.exp(1j * whole.command), atol=1e-12)  # but for turns


def test_a_grid_point_is_corrected_like_a_target_of_a_program(rows: list[dict[str, Any]]) -> None:
    assert len(rows) == 2 * 3 * 2
    assert len({(r["x_mm"], r["y_mm"], r["z_mm"]) for r in rows}) == len(rows)
    robot = read_robot("kuka-kr270")
    frame = "{X 0,Y 100,Z 200,A 0,B -90,C 0}"
    for row in rows[::5]:
        x, y, z = (row[f"{c}_mm"] for c in "xyz")
        text = (
            f"DEF p()\n$BASE={{X 0,Y 0,Z 0,A 0,B 0,C 0}}\n$TOOL={frame}\nLIN {{X {x},Y {y},Z {z},A 0,B 0,C 180}}\nEND\n"
        )
        done = compensate(
            robot,
            read_program(text, "krl"),
            [0, 0, -500, 0, 0, 0],
            near=np.radians([float(v) for v in NEAR.split(",")]),
        )
        found = [float(row[f"d{c}_mm"]) for c in "xyz"]
        np.testing.assert_allclose(found, 1e3 * done.shift[0, :3], atol=1e-6)


def test_axis_values_of_a_point_stand_beside_its_correction(rows: list[dict[str, Any]]) -> None:
    """Where the rigid arm goes with them is the point and its correction, the command of a Cartesian program."""
    robot = read_robot("kuka-kr270")
    axes = np.radians([[float(r[f"A{i}_deg"]) for i in range(1, 7)] for r in rows])
    place, _ = rigid_pose(robot.nominal, robot.tool, robot.controller.to_joints(axes).T)
    asked = [[float(r[f"{c}_mm"]) + float(r[f"d{c}_mm"]) for c in "xyz"] for r in rows]
    np.testing.assert_allclose(1e3 * place.T, asked, atol=1e-5)


def test_a_configuration_that_nobody_chose_is_named_with_the_others() -> None:
    said = well("grid", *BOX, "--json").data
    axes, ways = [f"A{i}_deg" for i in range(1, 7)], said["ways"]
    taken, other = ([row[a] for a in axes] for row in ways[:2])
    robot = read_robot("kuka-kr270")
    q = robot.controller.to_joints(np.radians([[row[a] for a in axes] for row in ways]))
    place, _ = rigid_pose(robot.nominal, robot.tool, q.T)
    np.testing.assert_allclose(place.T, np.tile([1.65, 0, 0.75], (len(ways), 1)), atol=1e-3)  # in hundredths of a deg
    assert np.abs(np.sin((q[0] - q[1:]) / 2)).max(axis=1).min() > 0.01
    stated = well("grid", *BOX, "--near", ",".join(map(str, taken)), "--json").data
    first, same = ([row["dx_mm"] for row in data["grid"]] for data in (said, stated))
    np.testing.assert_allclose(first, same, atol=1e-9)
    turned = well("grid", *BOX, "--near", ",".join(map(str, other)), "--json").data
    assert not np.allclose([row["A4_deg"] for row in turned["grid"]], [row["A4_deg"] for row in said["grid"]], atol=1)
    assert "ways" not in stated
    shown = well("grid", *BOX).out
    assert all(f"{a.removesuffix('_deg')} " in shown for a in axes)
    assert "NOBODY SAID WHICH CONFIGURATION TO TAKE" in shown
    assert "--near" in shown


ROUND = """\
format: elastocal-robot/1
name: arm
source: made up
joints:
  - {name: J1, type: revolute, parent: base, xyz_mm: [0, 0, 300], axis: [0, 0, 1], limits_deg: [-180, 180]}
  - {name: J2, type: revolute, parent: J1, xyz_mm: [500, 0, 0], axis: [0, 0, 1], limits_deg: [-150, 150]}
  - {name: flange, type: fixed, parent: J2, xyz_mm: [400, 0, 0]}
tool: flange
controller: {axes: [J1, J2]}
elements:
  - {kind: joint_offset, joint: J1, offset_deg: OFFSET, status: assumed, source: made up}
"""


@pytest.mark.parametrize(("offset", "command"), [(0.1, 179.9), (-0.1, -179.9)])
def test_a_point_may_be_reached_a_whole_turn_away(tmp_path: Path, offset: float, command: float) -> None:
    """J1 stands at 180 deg for it: an offset below zero calls for 180.1 deg, which is -179.9 deg."""
    (tmp_path / "arm.yaml").write_text(ROUND.replace("OFFSET", str(offset)))
    place = f"{-500 - 400 * np.cos(np.radians(60)):.6f},{-400 * np.sin(np.radians(60)):.6f},300"
    words = ("--box", f"{place},{place}", "--near", "180,60", "--json")
    row = well("grid", tmp_path / "arm.yaml", *words).data["grid"][0]
    assert row["status"] == "corrected"
    assert [row["J1_deg"], row["J2_deg"]] == pytest.approx([command, 60], abs=1e-5)


@pytest.mark.parametrize("share", [0.1, 0.2])
def test_a_calibration_file_gives_the_accuracy(tmp_path: Path, share: float) -> None:
    """Of a robot whose compliances are known to a share, the residual under a force is that share of the bend."""
    names = tuple(p.name for p in read_robot("kuka-kr270").parameters if p.kind == "joint_compliance")
    path = calibration(tmp_path, "kuka-kr270", names, share)
    found = well("grid", path, *BOX[1:], "--near", NEAR, "--force", "0,0,-500", "--json").data["grid"]
    alone = well("grid", *BOX, "--near", NEAR, "--force", "0,0,-500", "--json").data["grid"]
    for row, same in zip(found, alone, strict=True):
        assert row["dz_mm"] == pytest.approx(same["dz_mm"], abs=1e-9)
        assert same["predicted_um"] is None
        assert 0.1 * share * row["dz_mm"] < 1e-3 * row["predicted_um"] < 2 * share * row["dz_mm"]
    got = typed("grid", tmp_path / "other.json", *BOX[1:])
    assert "no such file" in got.err


def test_excel_and_refusals(tmp_path: Path) -> None:
    well("grid", *BOX, "--csv", tmp_path / "g.xlsx", "--json")
    assert len(read_csv(tmp_path / "g.xlsx").rows) == 12
    for words, said in (
        (("--box", "1,2,3"), "6 numbers"),
        (("--box", "9000,0,0,9900,1,1"), "does not reach the middle"),
        (("--box", "0,0,0,1000,1000,1000", "--step-mm", "1"), "more than 200000"),
        (("--box", "0,0,0,1000,1000,1000", "--step-mm", "-1"), "must be positive"),
    ):
        got = typed("grid", "kuka-kr270", *words)
        assert got.code == 2
        assert said in got.err


def test_corrected_targets_as_a_robodk_table(tmp_path: Path) -> None:
    program = tmp_path / "p.src"
    program.write_text(
        "DEF p()\n$BASE={X 0,Y 0,Z 0,A 0,B 0,C 0}\n$TOOL={X 0,Y 100,Z 200,A 0,B -90,C 0}\n"
        "PTP {A1 0,A2 -70,A3 100,A4 0,A5 60,A6 0}\n"
        "LIN {X 1500,Y 0,Z 900,A 0,B 0,C 180}\nLIN {X 1600,Y 0,Z 900,A 0,B 0,C 180}\nEND\n"
    )
    well(
        "compensate", program, "--robot", "kuka-kr270", "--force", "0,0,-500", "--robodk", tmp_path / "r.csv", "--json"
    )
    raw = measured_lines(tmp_path / "r.csv")
    assert len(raw.rows) == 3
    assert [float(c) for c in raw.rows[1][1][12:15]] == [0, 100, 200]
    assert float(raw.rows[1][1][6]) == pytest.approx(1500, abs=3)
    assert float(raw.rows[1][1][8]) > 900.5
