"""A table that is wrong as a whole: its name, the place, and what to do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from app.conftest import Run

from elastocal.files.robot.read import read_robot
from elastocal.model.kinematics import kinematics

TITLES = "A1 [deg],A2 [deg],A3 [deg],A4 [deg],A5 [deg],A6 [deg],X [mm],Y [mm],Z [mm]"


def numbers() -> np.ndarray:
    rng = np.random.default_rng(3)
    q = rng.uniform([-60, -120, 30, -90, 20, -90], [60, -40, 120, 90, 80, 90], (24, 6))
    return np.hstack([q, 1e3 * kinematics(read_robot("kuka-kr270"), np.radians(q)).position])


def refusal(run: Run, folder: Path, rows: np.ndarray, titles: str = TITLES, *options: str) -> str:
    lines = [titles] if titles else []
    (folder / "t.csv").write_text("\n".join([*lines, *(",".join(f"{v:.4f}" for v in row) for row in rows)]) + "\n")
    done = run("calibrate", "kuka-kr270", folder / "t.csv", *options)
    assert done.code == 2
    said = done.err.strip().splitlines()[-1]
    assert "t.csv" in said
    assert len(said) < 500
    return said


def test_rows_in_another_unit(run: Run, tmp_path: Path) -> None:
    rows = numbers()
    rows[12:, :6] = np.radians(rows[12:, :6])
    said = refusal(run, tmp_path, rows)
    assert "line 14, column A2 [deg]" in said
    assert "12 of 24 rows" in said
    assert "radians" in said


def test_no_titles(run: Run, tmp_path: Path) -> None:
    assert "A1_deg,A2_deg,A3_deg,A4_deg,A5_deg,A6_deg,x_mm" in refusal(run, tmp_path, numbers(), "")


@pytest.mark.parametrize("change", [lambda x: x / 1e3, lambda x: x + np.random.default_rng(1).normal(0, 900, x.shape)])
def test_points_that_are_not_of_the_robot(change, run: Run, tmp_path: Path) -> None:
    rows = numbers()
    rows[:, 6:] = change(rows[:, 6:])
    assert "the points are" in refusal(run, tmp_path, rows)


def test_of_many_words_the_nearest(run: Run, tmp_path: Path) -> None:
    rows = numbers()
    (tmp_path / "t.csv").write_text("\n".join([TITLES, *(",".join(map(str, row)) for row in rows)]) + "\n")
    done = run("calibrate", "kuka-kr270", tmp_path / "t.csv", "--accept", "A3 revrsed")
    assert done.code == 2
    said = done.err.strip().splitlines()[-1]
    assert "did you mean 'A3 reversed'" in said
    assert "others (docs/calibration.md" in said
    assert len(said) < 300
