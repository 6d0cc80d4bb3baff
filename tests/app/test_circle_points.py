"""Circle-point analysis through the command line: one file or several, and the robot file that comes of it."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from app.cell_desk import typed, well
from scipy.spatial.transform import Rotation

from elastocal.files.robot.read import read_robot
from elastocal.model.kinematics import kinematics

ROBOT = "abb-irb4600-60"
HOME = np.radians([10.0, 20, -15, 25, 40, 15])
TARGETS = np.array([[0.1, 0, 0.15], [-0.08, 0.05, 0.12], [0.0, -0.1, 0.2]])
TURN = Rotation.from_euler("z", 70, degrees=True).as_matrix()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("sweeps")
    lay_sweeps(out)
    return out


def lay_sweeps(out: Path) -> None:
    """sweeps.csv of all joints, and one file for each."""
    robot = read_robot(ROBOT).nominal
    header = ["sweep", "marker", *(f"{a}_deg" for a in robot.controller.axes), "x_mm", "y_mm", "z_mm"]
    every = [header]
    for k, joint in enumerate(robot.joints):
        q = np.repeat(HOME[None], 9, axis=0)
        q[:, k] += np.linspace(-0.6, 0.6, 9)
        at = kinematics(robot, q, "flange")
        points = (at.position[:, None] + np.einsum("nij,kj->nki", at.rotation, TARGETS)) @ TURN.T + [1.0, 2.0, 0.1]
        rows = [
            [joint, f"smr{j}", *np.degrees(q[i]).tolist(), *(1e3 * points[i, j]).tolist()]
            for i in range(9)
            for j in range(3)
        ]
        every += rows
        with (out / f"{joint}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([header[1:], *(r[1:] for r in rows)])
    with (out / "sweeps.csv").open("w", newline="") as file:
        csv.writer(file).writerows(every)


def test_all_sweeps_in_one_file_or_one_file_each(folder: Path, tmp_path: Path) -> None:
    told = well("arcs", folder / "sweeps.csv", "--robot", ROBOT, "--out", tmp_path / "new.yaml", "--json").data
    near = {(r["first"], r["second"]): r for r in told["neighbours"]}
    assert near["axis2", "axis3"]["distance_mm"] == pytest.approx(900, abs=1e-3)
    assert near["axis1", "axis2"]["angle_deg"] == pytest.approx(90, abs=1e-5)
    assert all(abs(r["x_um"]) < 0.01 for r in told["frame_errors"])
    assert told["axes"][0]["ratio"] == pytest.approx(1, abs=1e-6)
    turned = [r[f"{w}_error_urad"] for r in told["dh"] for w in ("alpha", "theta", "beta")]
    assert max(abs(v) for v in turned if v is not None) < 1, "the readings are those of the robot file"
    assert any(e.kind == "frame_error" for e in read_robot(tmp_path / "new.yaml").elements)
    files = [folder / f"{j}.csv" for j in read_robot(ROBOT).joints]
    more = [w for f in files[1:] for w in ("--more", f)]
    again = well("arcs", files[0], *more, "--robot", ROBOT, "--json").data
    assert [r["joint"] for r in again["axes"]] == [r["joint"] for r in told["axes"]]
    assert again["neighbours"][1]["distance_mm"] == pytest.approx(near["axis2", "axis3"]["distance_mm"], abs=1e-9)


def test_titles_of_others_and_columns_beside_them(folder: Path, tmp_path: Path) -> None:
    head, *rows = (folder / "sweeps.csv").read_text().splitlines()
    titles = (
        head.replace("_deg", " [deg]").replace("x_mm", "X [mm]").replace("y_mm", "Y (mm)").replace("sweep", "Sweep")
    )
    lines = [f"{titles},RMS", *(f"{row},0.01" for row in rows)]
    (tmp_path / "a.csv").write_text("\n".join(line.replace(",", ";") for line in lines) + "\n")
    got = well("arcs", tmp_path / "a.csv", "--robot", ROBOT, "--json").data
    dh = {row["joint"]: row for row in got["dh"]}
    assert dh["axis1"]["a_mm"] == pytest.approx(175, abs=1e-3)
    assert dh["axis2"]["beta_deg"] == pytest.approx(0, abs=1e-6)
    assert "a.csv: not used: RMS." in got["notes"]


def test_wrong_tables_in_one_sentence(folder: Path, tmp_path: Path) -> None:
    lines = (folder / "sweeps.csv").read_text().splitlines()
    (tmp_path / "a.csv").write_text("\n".join(line.replace("axis1,", "axis9,", 1) for line in lines) + "\n")
    (tmp_path / "b.csv").write_text("sweep,marker,x_mm,y_mm,z_mm\naxis1,m,1,2,3\n")
    for name, said in (("a.csv", "axis9"), ("b.csv", "there is no column for axis1")):
        got = typed("arcs", tmp_path / name, "--robot", ROBOT)
        assert got.code == 2
        assert said in got.err
    assert "--robot" in typed("arcs", folder / "sweeps.csv", "--out", tmp_path / "x.yaml").err
