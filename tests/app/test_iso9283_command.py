"""Accuracy and repeatability on the command line, with numbers for a pocket calculator."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from app.program_desk import answered

HEAD = "pose,direction,command_x_mm,command_y_mm,command_z_mm,x_mm,y_mm,z_mm\n"
ROWS = [
    "P1,left,100,0,0,104,4,12",
    "P1,left,100,0,0,102,4,12",
    "P1,right,100,0,0,103,7,12",
    "P1,right,100,0,0,103,1,12",
    "P2,,100,0,50,103,4,62",
    "P2,,100,0,50,103,4,62",
    "P2,,100,0,50,103,4,64",
    "P2,,100,0,50,103,4,64",
]


def written(folder: Path, *rows: str, head: str = HEAD) -> Path:
    path = folder / "measured.csv"
    path.write_text(head + "\n".join(rows) + "\n")
    return path


def test_figures_by_hand(run: Any, tmp_path: Path) -> None:
    told = answered(run("iso9283", written(tmp_path, *ROWS), "--path", "--json"))
    first, second = told["poses"]
    assert first["AP_mm"] == pytest.approx(13.0)  # 3, 4, 12
    assert first["RP_mm"] == pytest.approx(2 + 3 * math.sqrt(4 / 3))  # 1, 1, 3, 3 from the mean
    assert (first["cycles"], first["AP_rx_mrad"]) == (4, None)
    assert second["offset_z_mm"] == pytest.approx(13.0)
    assert second["AP_mm"] == pytest.approx(math.sqrt(9 + 16 + 169))
    (between,) = told["distances"]
    # dz 50, 50, 52, 52 with dx -1, 1, 0, 0 and dy 0, 0, -3, 3
    far = [math.hypot(1, 50), math.hypot(1, 50), math.hypot(3, 52), math.hypot(3, 52)]
    assert between["AD_mm"] == pytest.approx(sum(far) / 4 - 50)
    assert between["RD_mm"] == pytest.approx(3 * math.sqrt(sum((f - sum(far) / 4) ** 2 for f in far) / 3))
    assert told["variation"] == [{"pose": "P1", "directions": 2, "vAP_mm": pytest.approx(0.0, abs=1e-9)}]
    assert f"AT {math.sqrt(194):.4g} mm" in " ".join(told["verdict"])


def test_directions_that_differ(run: Any, tmp_path: Path) -> None:
    rows = [r.replace("right,100,0,0,103,7", "right,100,0,0,103,9") for r in ROWS]
    told = answered(run("iso9283", written(tmp_path, *rows), "--json"))
    assert told["variation"][0]["vAP_mm"] == pytest.approx(1.0)  # means (3, 4) and (3, 5)


def test_orientations(run: Any, tmp_path: Path) -> None:
    head = "pose,command_x_mm,command_y_mm,command_z_mm,command_a_deg,command_b_deg,command_c_deg,x_mm,y_mm,z_mm,"
    head += "a_deg,b_deg,c_deg\n"
    rows = ["P,0,0,0,0,0,0,0,0,0,0.2,0,0", "P,0,0,0,0,0,0,0,0,1,0.4,0,0"]
    told = answered(run("iso9283", written(tmp_path, *rows, head=head), "--json"))["poses"][0]
    assert told["AP_rz_mrad"] == pytest.approx(1e3 * math.radians(0.3))
    assert told["RP_rz_mrad"] == pytest.approx(1e3 * 3 * math.radians(0.1) * math.sqrt(2))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (ROWS[:1], "measured.csv: pose P1 was measured once"),
        ([*ROWS[:3], "P1,left,100,0,1,104,4,12"], "line 5: pose P1 has another command"),
        (ROWS[:3], "its directions were measured [2, 1] times"),
        ([*ROWS[:5], "P2,,100,0,50,x,4,62"], "column x_mm: 'x' is not a number"),
    ],
)
def test_refusals(run: Any, tmp_path: Path, rows: list[str], said: str) -> None:
    got = run("iso9283", written(tmp_path, *rows), "--csv", tmp_path / "t.csv")
    assert got.code == 2
    assert said in got.err
    assert not (tmp_path / "t.csv").exists()


def test_a_path_needs_every_point_in_every_cycle(run: Any, tmp_path: Path) -> None:
    got = run("iso9283", written(tmp_path, *ROWS[:-1]), "--path")
    assert got.code == 2
    assert "in every cycle" in got.err
    fine = run("iso9283", written(tmp_path, *ROWS[:-1]))
    assert "equally often" in fine.out
    assert "no statement of conformity" in run("iso9283", "--help").out.replace("\n", " ") or fine.code == 0


def test_a_pose_that_was_measured_once_is_named_with_its_file(run: Any, tmp_path: Path) -> None:
    lines = ["pose,command_x_mm,command_y_mm,command_z_mm,x_mm,y_mm,z_mm", *["P1,1,2,3,1,2,3"] * 2, "P2,4,5,6,4,5,6"]
    (tmp_path / "once.csv").write_text("\n".join(lines) + "\n")
    got = run("iso9283", tmp_path / "once.csv")
    assert got.code == 2
    assert "once.csv: pose P2 was measured once" in got.err


def visits(off: float) -> list[str]:
    """Ten visits of two poses by 0.02 mm noise; x of the fourth visit of P2 (line 9) is off by this."""
    rng, rows = np.random.default_rng(2), []
    for cycle in range(10):
        for name, x in (("P1", 1000.0), ("P2", 400.0)):
            slip = off if name == "P2" and cycle == 3 else 0.0
            read = np.array([x + slip, 0.0, 500.0]) + rng.normal(0, 0.02, 3)
            rows.append(f"{name},,{x:g},0,500,{read[0]:.4f},{read[1]:.4f},{read[2]:.4f}")
    return rows


def test_a_slip_is_named_by_its_line_and_the_figures_stay_as_measured(run: Any, tmp_path: Path) -> None:
    told = answered(run("iso9283", written(tmp_path, *visits(10.0)), "--json"))
    (outlier,) = told["outliers"]
    assert (outlier["line"], outlier["pose"], outlier["axes"]) == (9, "P2", "x")
    assert outlier["others_mm"] == pytest.approx(400.0, abs=0.05)
    assert told["poses"][1]["RP_mm"] > 9.0
    x = np.array([[float(v) for v in r.split(",")[-3:]] for r in visits(0.0) if r.startswith("P2")])
    away = np.linalg.norm(np.delete(x, 3, 0) - np.delete(x, 3, 0).mean(0), axis=1)
    assert outlier["RP_without_mm"] == pytest.approx(away.mean() + 3 * away.std(ddof=1), rel=1e-6)
    assert "measured.csv, line 9 is an outlier of pose P2" in told["verdict"][1]
    assert "outliers" not in answered(run("iso9283", written(tmp_path, *visits(0.0)), "--json"))


def test_a_step_of_the_last_digit_and_one_of_two_visits_are_no_outliers(run: Any, tmp_path: Path) -> None:
    still = ["P1,,100,0,0,100.01,0.00,0.00"] * 9 + ["P1,,100,0,0,100.02,0.00,0.00"]
    two = ["P2,,100,0,0,100.00,0.00,0.00", "P2,,100,0,0,110.00,0.00,0.00"]
    assert "outliers" not in answered(run("iso9283", written(tmp_path, *still, *two), "--json"))
