"""Correction grids and RoboDK tables: the same corrections as those of a program, and readable again."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from app.cell_desk import typed, well

from elastocal.compensation.run import compensate
from elastocal.files.formats.robodk import measured_lines
from elastocal.files.programs import read_program
from elastocal.files.robot.read import read_robot
from elastocal.files.tables.csv_file import read_csv

BOX = ("kuka-kr270", "--box", "1500,-300,600,1800,300,900", "--step-mm", "300")
NEAR = "0,-70,100,0,60,0"


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("grid")
    well("grid", *BOX, "--near", NEAR, "--force", "0,0,-500", "--csv", folder / "g.csv", "--json")
    with (folder / "g.csv").open() as file:
        return list(csv.DictReader(file))


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
