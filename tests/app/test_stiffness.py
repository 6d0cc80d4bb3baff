"""Stiffness from the command line against closed forms."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Run = Callable[..., Any]


def test_a_robot_without_stiffness_shows_compliance_and_status(run: Run) -> None:
    """PRP: C = Jk J^T with q2 = 30 deg and 500 mm reach, by hand."""
    data = run("stiffness", "cylindrical", "--at", "100,30,500", "--json").data
    row = data["stiffness"][0]
    assert row["Kxx_N_per_um"] is None
    assert "rigid" in row["unknown"]["Kxx_N_per_um"]
    assert row["status"] == "rigid direction"
    c, s = np.cos(np.pi / 6), np.sin(np.pi / 6)
    turned = 0.5e-6 * 0.5**2
    assert row["Cxx_um_per_N"] == pytest.approx(1e6 * (2e-6 * c * c + turned * s * s), rel=1e-12)
    assert row["Cyy_um_per_N"] == pytest.approx(1e6 * (2e-6 * s * s + turned * c * c), rel=1e-12)
    assert row["Czz_um_per_N"] == pytest.approx(1.0, rel=1e-12)
    assert row["Crz_mrad_per_Nm"] == pytest.approx(0.5e-3, rel=1e-12)
    assert row["softest_N_per_um"] == pytest.approx(0.5, rel=1e-12)
    assert "stiffness_matrix" not in data


def test_full_matrices_are_inverse_to_each_other(run: Run) -> None:
    data = run("stiffness", "kuka-kr270", "--at", "0,-60,80,20,40,10", "--force", "0,0,-2500", "--json").data
    moves, loads = (
        ("dx_m", "dy_m", "dz_m", "rx_rad", "ry_rad", "rz_rad"),
        ("fx_N", "fy_N", "fz_N", "mx_Nm", "my_Nm", "mz_Nm"),
    )
    assert tuple(row["row"] for row in data["compliance_matrix"]) == moves
    assert tuple(row["row"] for row in data["stiffness_matrix"]) == loads
    c = np.array([[row[a] for a in loads] for row in data["compliance_matrix"]])
    k = np.array([[row[a] for a in moves] for row in data["stiffness_matrix"]])
    np.testing.assert_allclose(c @ k, np.eye(6), atol=1e-7)
    row = data["stiffness"][0]
    assert row["Kzz_N_per_um"] == pytest.approx(1e-6 * k[2, 2], rel=1e-12)
    assert row["Kry_Nm_per_mrad"] == pytest.approx(1e-3 * k[4, 4], rel=1e-12)
    assert row["softest_N_per_um"] == pytest.approx(1e-6 / np.linalg.svd(c[:3, :3])[1][0], rel=1e-12)


def test_loaded_differs_from_unloaded(run: Run) -> None:
    def softest(*words: str) -> float:
        got = run("stiffness", "kuka-kr270", "--at", "0,-60,80,20,40,10", *words, "--json")
        return float(got.data["stiffness"][0]["softest_N_per_um"])

    plain, weights, pushed = softest(), softest("--loaded"), softest("--force", "0,0,-2500")
    assert len({round(v, 6) for v in (plain, weights, pushed)}) == 3


def test_a_map_holds_the_same_numbers_as_single_configurations(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "map.csv"
    words = (
        "--at",
        "5,-90,0,10,40,0",
        "--map",
        "A3:0:90:4,A2:-120:-30:3",
        "--csv",
        table,
        "--report",
        tmp_path / "m.html",
    )
    data = run("stiffness", "kuka-kr270", *words, "--json").data
    heat = data["map"]
    assert heat["x"] == {"name": "A3", "unit": "deg", "values": [0, 30, 60, 90]}
    assert heat["y"] == {"name": "A2", "unit": "deg", "values": [-120, -75, -30]}
    single = run("stiffness", "kuka-kr270", "--at", "5,-75,60,10,40,0", "--json").data["stiffness"][0]
    assert heat["values"][1][2] == pytest.approx(single["softest_N_per_um"], rel=1e-12)
    assert len(table.read_text().splitlines()) == 13
    assert "<figure>" in (tmp_path / "m.html").read_text(encoding="utf-8")


def test_other_axes_default_to_zero_or_the_nearest_limit_and_that_is_said(run: Run) -> None:
    got = run("stiffness", "kuka-kr270", "--map", "A3:0:90:3,A5:10:60:2", "--json")
    assert "A2 -5 deg" in got.err
    assert got.data["stiffness"][0]["A2_deg"] == -5


def test_limits_of_coupled_joints_leave_cells_empty(run: Run) -> None:
    """FANUC's joint 3 is J3 + J2: at J2 = 130 and J3 = 160 it would stand at 290, beyond 280 deg."""
    got = run("stiffness", "fanuc-m710ic50", "--map", "J2:0:130:2,J3:0:160:2", "--json")
    assert got.code == 0
    assert got.data["map"]["values"][1][1] is None
    assert got.data["map"]["values"][0][1] is not None
    assert "1 of 4 points" in got.err


def test_text_prints_the_grid(run: Run) -> None:
    out = run("stiffness", "kuka-kr270", "--map", "A2:-120:-30:3,A3:0:90:3").out
    assert "A3 [deg] \\ A2 [deg]" in out
    assert "Softest configuration" in out


COLUMN = """\
format: elastocal-robot/1
name: column
source: written for a test
gravity_m_s2: [0, 0, 0]
joints:
  - {name: C, type: revolute, axis: [0, 0, 1], limits_deg: [-180, 180]}
  - {name: Z, type: prismatic, axis: [0, 0, 1], limits_mm: [0, 1000]}
  - {name: B, type: revolute, axis: [0, 1, 0], limits_deg: [-90, 90]}
  - {name: tip, type: fixed, xyz_mm: [0, 0, 2000]}
elements:
  - {kind: joint_compliance, joint: B, k_rad_per_Nm: 1.0e-6}
"""


def test_points_without_equilibrium_are_empty_and_explained(run: Run, tmp_path: Path) -> None:
    """Pushed down by twice 1 / (k l), a column on a spring buckles wherever it stands."""
    path = tmp_path / "column.yaml"
    path.write_text(COLUMN, encoding="utf-8")
    words = ("--map", "C:-90:90:2,Z:0:900:2", "--force", "0,0,-1000000", "--json")
    data = run("stiffness", path, *words).data
    assert data["map"]["values"] == [[None, None], [None, None]]
    assert data["map"]["notes"][0].startswith("4 points are empty: no stable")
    assert data["stiffness"][0]["status"] == "no equilibrium"
    assert data["verdict"][0].startswith("No translational stiffness")


def test_a_large_map_is_drawn_thinned_and_says_so_and_its_table_has_every_point(run: Run, tmp_path: Path) -> None:
    csv = tmp_path / "map.csv"
    said = run("stiffness", "kuka-kr270", "--map", "A2:-130:-20:300,A3:-90:120:9", "--csv", csv, "--json").data
    assert len(said["map"]["x"]["values"]) == 250
    assert "250 x 9 of 300 x 9 points are drawn" in said["map"]["notes"][-1]
    rows = csv.read_text().splitlines()
    assert len(rows) == 1 + 300 * 9
    assert len(said["stiffness"]) == 300 * 9
    cells = rows[1234].split(",")
    alone = run("stiffness", "kuka-kr270", "--at", ",".join(cells[:6]), "--json").data["stiffness"][0]
    assert float(cells[12]) == pytest.approx(alone["softest_N_per_um"], rel=1e-9)


def test_a_map_too_large_for_a_table_is_drawn_without_one_and_a_table_is_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("stiffness", "kuka-kr270", "--map", "A2:-130:-20:30,A3:-90:120:9")
    whole = run(*words, "--json").data
    monkeypatch.setattr("elastocal.app.commands.stiffness.MOST_ROWS", 200)
    monkeypatch.setattr("elastocal.app.pages.stiffness.MOST_ROWS", 200)
    monkeypatch.setattr("elastocal.app.commands.stiffness.PIECE", 7)
    monkeypatch.setattr("elastocal.app.grid.PIECE", 11)
    found = run(*words, "--json").data
    assert found["map"] == whole["map"]
    assert "stiffness" in whole
    assert "stiffness" not in found
    refused = run(*words, "--csv", tmp_path / "map.csv")
    assert refused.code == 2
    assert "270 points" in refused.err
    assert not (tmp_path / "map.csv").exists()
