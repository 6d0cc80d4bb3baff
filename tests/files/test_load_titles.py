"""Columns beside those of a campaign: loads in kg, loads that are lost, others, and slips of titles."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from elastocal.errors import InputError
from elastocal.files.campaign.column_titles import speaks_of_load
from elastocal.files.campaign.observed import Observed, observed_tables
from elastocal.files.campaign.recognise import recognise
from elastocal.files.robot.read import read_robot

ROBOT = read_robot("kuka-kr5")
TITLES = [*(f"A{i}_deg" for i in range(1, 7)), "x_mm", "y_mm", "z_mm"]
ROWS = [[5, -90, 80, 3, 20, 4, 900, 10, 1200], [15, -80, 70, 13, 30, 14, 950, 110, 1100]]


def read(folder: Path, title: str, cells: tuple[object, object]) -> Observed:
    lines = [
        ",".join([*TITLES, f'"{title}"']),
        *(",".join(map(str, [*r, c])) for r, c in zip(ROWS, cells, strict=True)),
    ]
    (folder / "t.csv").write_text("\n".join(lines) + "\n")
    return observed_tables([folder / "t.csv"], ROBOT, {"limits": "ignore"})


@pytest.mark.parametrize("title", ["payload_kg", "Payload [kg]", "Last_kg", "Nutzlast [kg]", "load (kg)"])
def test_a_payload_pulls_along_gravity(tmp_path: Path, title: str) -> None:
    """The robot file has 9.81 m/s2: 5 kg are 49.05 N, straight down."""
    observed = read(tmp_path, title, (0, 5))
    np.testing.assert_allclose(observed.load.wrench, [[0] * 6, [0, 0, -49.05, 0, 0, 0]], rtol=1e-12)
    assert any(title in n.text and "hangs" in n.text for n in observed.notes)
    assert not observed.warnings


def test_a_payload_of_a_robot_on_a_wall_pulls_sideways(tmp_path: Path) -> None:
    from dataclasses import replace

    (tmp_path / "t.csv").write_text(
        "\n".join([",".join([*TITLES, "payload_kg"]), "5,-90,80,3,20,4,900,10,1200,2"]) + "\n"
    )
    wall = replace(ROBOT, gravity=np.array([9.8, 0.0, 0.0]))
    observed = observed_tables([tmp_path / "t.csv"], wall, {"limits": "ignore"})
    np.testing.assert_allclose(observed.load.wrench, [[19.6, 0, 0, 0, 0, 0]], rtol=1e-12)


def test_a_payload_that_cannot_be_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError) as below:
        read(tmp_path, "payload_kg", (0, -5))
    assert (below.value.code, below.value.line) == ("range", 3)
    both = ",".join([*TITLES, "payload_kg", "fz_N"])
    (tmp_path / "t.csv").write_text(both + "\n5,-90,80,3,20,4,900,10,1200,2,-20\n")
    with pytest.raises(InputError) as twice:
        observed_tables([tmp_path / "t.csv"], ROBOT, {"limits": "ignore"})
    assert (twice.value.code, twice.value.column) == ("conflict", "payload_kg")
    (tmp_path / "t.csv").write_text(both.removesuffix(",fz_N") + "\n5,-90,80,3,20,4,900,10,1200,2\n")
    with pytest.raises(InputError) as turning:
        observed_tables([tmp_path / "t.csv"], ROBOT, {"limits": "ignore", "load": {"follows": True}})
    assert turning.value.code == "conflict"


@pytest.mark.parametrize("title", ["payload", "mass [kg]", "Kraft_N", "Kraft", "Last", "weight", "Fn_N", "M [Nm]"])
def test_a_load_that_is_not_used_is_a_warning(tmp_path: Path, title: str) -> None:
    (warning,) = read(tmp_path, title, (0, 5)).warnings
    assert (warning.code, warning.severity, warning.data["columns"]) == ("load-not-used", "warning", (title,))
    assert warning.text.startswith("the load in column")
    assert not read(tmp_path, title, (0, 0)).warnings


def test_words_that_speak_of_no_load() -> None:
    for title in ("RMS_mm", "last calibrated", "Nr", "N", "loaded by", "A1_torque_Nm", "temperature_C", "H_m"):
        assert not speaks_of_load(title), title


@pytest.mark.parametrize(
    "title", ["RMS_mm", "RMS", "RMS [mm]", "sigma_um", "dist_mm", "H_m", "dr_mm", "Feed_mm", "tilt_deg", "A1_torque_Nm"]
)
def test_columns_that_are_no_part_of_a_campaign_are_not_used(tmp_path: Path, title: str) -> None:
    observed = read(tmp_path, title, (0.1, 0.2))
    assert f"t.csv: not used: {title}." in [n.text for n in observed.notes if n.code == "columns-read"]
    assert not observed.warnings
    (column,) = [c for c in recognise(tmp_path / "t.csv", ROBOT).columns if c.title == title]
    assert column.name == ""


@pytest.mark.parametrize(
    "title", ["x_mmm", "A1_dge", "A33_deg", "A7_deg", "E1_mm", "dxx_mm", "tempreature_C", "dxx [mm]"]
)
def test_what_is_nearly_a_column_is_refused_with_the_way_to_leave_it_out(tmp_path: Path, title: str) -> None:
    with pytest.raises(InputError) as slip:
        read(tmp_path, title, (0.1, 0.2))
    assert slip.value.code in ("unknown-column", "unit", "duplicate")
    assert "unused" in str(slip.value)
