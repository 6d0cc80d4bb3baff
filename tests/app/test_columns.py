"""A stranger's exports in a cell: recognised, confirmed once, calibrated; the next one needs nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from app.conftest import Run

from elastocal.files.campaign.recognise import recognise
from elastocal.files.robot.read import read_robot
from elastocal.model.kinematics import rigid_pose

DH = """joint;a [mm];Alpha [deg];d [mm];theta [deg];min [deg];max [deg];Convention
A1;150;-90;445;0;-180;180;standard
A2;700;0;0;-90;-95;155;standard
A3;115;-90;0;0;-180;75;standard
A4;0;90;795;0;-400;400;standard
A5;0;-90;0;0;-120;120;standard
A6;0;0;85;180;-400;400;standard
"""


def write_export(file: Path, robot: Path, rng: np.random.Generator, count: int) -> None:
    """Joint values and points of an arm whose zeros are off, in axes of the tracker, as a spreadsheet writes them."""
    model = read_robot(robot)
    low, high = np.array([m.limits for m in model.motions]).T
    q = rng.uniform(0.4 * low, 0.4 * high, (count, 6))
    there = 1e3 * rigid_pose(model.nominal, "tool", (q + np.radians([0, -0.03, 0.05, 0.04, -0.06, 0])).T)[0].T
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    points = there @ turn.T + [3000, 200, -100] + rng.normal(0, 0.02, (count, 3))
    titles = ";".join(["Punkt", *(f"Achse {i}" for i in range(1, 7)), *(f"{c} Ist [mm]" for c in "XYZ")])
    rows = [";".join([f"P{i}", *(f"{v:.4f}".replace(".", ",") for v in (*np.degrees(q[i]), *points[i]))])
            for i in range(count)]  # fmt: skip
    file.write_text("\n".join(["Export", titles, *rows, ""]), encoding="utf-8-sig")


def test_an_export_is_confirmed_once(tmp_path: Path, run: Run) -> None:
    (tmp_path / "irb2600.csv").write_text(DH)
    cell = tmp_path / "cell"
    assert run("new", cell, "--robot", tmp_path / "irb2600.csv").code == 0
    assert (cell / "programs" / "square.mod").exists()
    rng = np.random.default_rng(4)
    write_export(cell / "campaign" / "monday.csv", cell / "robot" / "robot.yaml", rng, 25)
    refused = run("calibrate", cell)
    assert refused.code == 2
    assert "elastocal columns" in refused.err
    shown = run("columns", cell, cell / "campaign" / "monday.csv", "--json")
    assert shown.code == 0
    assert not (cell / "columns.yaml").exists()
    assert run("columns", cell, cell / "campaign" / "monday.csv", "--accept").code == 0
    assert (cell / "columns.yaml").exists()
    write_export(cell / "campaign" / "tuesday.csv", cell / "robot" / "robot.yaml", rng, 15)
    both = run("calibrate", cell, "--model", "geometry", "--json")
    assert both.code == 0, both.err
    assert "monday.csv: by columns.yaml" in both.out
    assert "tuesday.csv: by columns.yaml" in both.out


def test_robot_and_table_may_lie_in_different_folders(tmp_path: Path, run: Run, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "irb2600.csv").write_text(DH)
    cell = tmp_path / "cell"
    run("new", cell, "--robot", "irb2600.csv")
    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / "points.csv"
    write_export(file, cell / "robot" / "robot.yaml", np.random.default_rng(5), 20)
    assert run("columns", "cell/robot/robot.yaml", "data/points.csv", "--accept").code == 0
    assert (tmp_path / "data" / "columns.yaml").exists()
    got = run("calibrate", "cell/robot/robot.yaml", "data/points.csv", "--model", "geometry")
    assert got.code == 0, got.err
    wrong = run("columns", "cell/robot/robot.yaml", "data/points.csv", "--is", "A1_deg")
    assert wrong.code == 2
    assert "write a name and a title" in wrong.err


def test_numbered_points_without_units_are_readings(tmp_path: Path, run: Run) -> None:
    titles = [*(f"axis{i}" for i in range(1, 7)), *(f"{c}{i}" for i in (1, 2) for c in "xyz")]
    (tmp_path / "t.csv").write_text("\n".join([",".join(titles), ",".join(["30.5"] * 12), ""]))
    shown = run("columns", "abb-irb4600-60", tmp_path / "t.csv")
    assert "no column of readings" not in shown.out
    assert "12 columns are in doubt: axis1, axis2, axis3 and others." in shown.out


def test_titles_that_claim_one_name_are_numbered_or_propose_nothing(tmp_path: Path) -> None:
    points = [f"Punkt {i} {c} (mm)" for i in (1, 2) for c in "XYZ"]
    (tmp_path / "t.csv").write_text(
        "\n".join([",".join([*points, "X left (mm)", "X right (mm)"]), "1,2,3,4,5,6,7,8", ""])
    )
    found = recognise(tmp_path / "t.csv", read_robot("abb-irb4600-60"))
    assert found.proposal == {f"{c}{i}_mm": f"Punkt {i} {c.upper()} (mm)" for i in (1, 2) for c in "xyz"}
