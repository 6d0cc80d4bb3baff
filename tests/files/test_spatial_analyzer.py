"""Points exported by SpatialAnalyzer: names, order, units, and what is said of exports that cannot be used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from files.import_desk import DEFLECTION, EXPORTS, POSITION, ImportDesk
from oracle.refusals import refused

POSES = "name,A1_deg,A2_deg\nP1,5,0\nP2,35,10\n"
TABLE = '{file: e.txt, format: spatial-analyzer, points: "Arm::{name}-{marker}", join: poses.csv}'
PLAIN = (
    "Arm P1-m1 1101.1 109.4 496.5\nArm P1-m2 1012.5 9.4 527\nArm P2-m1 900.3 563.7 670.2\nArm P2-m2 961.4 473.3 703.4\n"
)
READ = [[1101.1, 109.4, 496.5, 1012.5, 9.4, 527.0], [900.3, 563.7, 670.2, 961.4, 473.3, 703.4]]
"""mm, poses by markers: what stands in these lines."""


@pytest.fixture
def desk(tmp_path: Path) -> ImportDesk:
    return ImportDesk(tmp_path)


def with_(text: str) -> str:
    return TABLE.replace("{file", f"{{{text}, file")


def test_an_export_with_uncertainties_and_times(desk: ImportDesk) -> None:
    """The columns are listed with their unit; a nest does not fit, a pose was read twice."""
    read = desk.read(POSITION, TABLE, {"e.txt": (EXPORTS / "tracker.txt").read_bytes(), "poses.csv": POSES})
    again = [1101.12, 109.42, 496.51, 1012.53, 9.41, 526.98]
    np.testing.assert_allclose(1e3 * read.campaign.readings, [*READ, again], rtol=1e-15)
    assert read.campaign.readings[2, 0] == float("1.1011200e+03") * 1e-3
    assert read.campaign.measurement.setup.state[0] == read.campaign.measurement.setup.state[2]
    assert read.campaign.place(2, 1) == "e.txt line 10 (P1-m1), m1.y"
    assert read.notes[:4] == (
        "e.txt: coordinates are of the working frame (its line 2 says 'Working Frame: Station 1::Tracker'); "
        "tracker_frame leads from it to base axes.",
        "e.txt: coordinates are in mm, as its line 4 says.",
        "e.txt: 4 of 9 cells of a line are not used.",
        "e.txt: left out, since 'points' does not fit: Hall::nest1 (line 5).",
    )


@pytest.mark.parametrize(
    ("remarks", "key"),
    [
        ("", "length: mm"),
        ("// Units: Millimeters\n", "length: mm"),
        ("// all units [mm], angles in deg\n", "unmatched: refuse"),
        ("// Group Point X[mm] Y[mm] Z[mm]\n", "unmatched: refuse"),
    ],
)
def test_units_by_the_file_or_by_its_entry(desk: ImportDesk, remarks: str, key: str) -> None:
    read = desk.read(POSITION, with_(key), {"e.txt": remarks + PLAIN, "poses.csv": POSES})
    np.testing.assert_allclose(1e3 * read.campaign.readings, READ, rtol=1e-15)
    said = [n for n in read.notes if "coordinates are in mm" in n]
    assert len(said) == (key != "length: mm")


def test_inches(desk: ImportDesk) -> None:
    inches = "// Units: Inches\n// Working Frame: World\nArm P1-m1 43.35 4.3 19.5\nArm P2-m1 35.4 22.2 26.4\n"
    read = desk.read(POSITION, TABLE, {"e.txt": inches, "poses.csv": POSES})
    np.testing.assert_allclose(read.campaign.readings[0], 0.0254 * np.array([43.35, 4.3, 19.5]), rtol=1e-15)


@pytest.mark.parametrize(
    ("line", "order", "points"),
    [
        ("P1-m1 1101.1 109.4 496.5", "point, x, y, z", "{name}-{marker}"),
        ("Arm P1-m1 1101.1 109.4 496.5", "group, point, x, y, z", "Arm::{name}-{marker}"),
        ('"Hall 3" Arm P1-m1 1101.1 109.4 496.5', "collection, group, point, x, y, z", "Arm::{name}-{marker}"),
        ("Hall 3\tArm\tP1-m1\t1101.1\t109.4\t496.5", "", "*"),
    ],
)
def test_four_to_six_cells_are_understood_and_said(desk: ImportDesk, line: str, order: str, points: str) -> None:
    table = f'{{file: e.txt, format: spatial-analyzer, points: "{points}", length: mm, join: poses.csv}}'
    files = {"e.txt": f"{line}\n", "poses.csv": "name,A1_deg,A2_deg\nP1,5,0\n"}
    if not order:
        assert "7 cells, and no remark lists the columns; add order:" in desk.refused(POSITION, table, files)
        return
    read = desk.read(POSITION, table, files)
    np.testing.assert_allclose(1e3 * read.campaign.readings, [READ[0][:3]], rtol=1e-15)
    assert f"e.txt: no remark lists the columns; they are taken to be {order}." in read.notes


def test_a_stated_order(desk: ImportDesk) -> None:
    files = {"e.txt": "7 P1-m1 496.5 1101.1 109.4 ok\n", "poses.csv": "name,A1_deg,A2_deg\nP1,5,0\n"}
    table = TABLE.replace("Arm::", "").replace("{file", '{length: mm, order: ["-", point, z, x, y], file')
    read = desk.read(POSITION, table, files)
    np.testing.assert_allclose(1e3 * read.campaign.readings, [READ[0][:3]], rtol=1e-15)
    assert "e.txt: 2 of 6 cells of a line are not used." in read.notes


def test_a_tracker_frame_brings_points_to_base_axes(desk: ImportDesk) -> None:
    """x = 4000 - X, y = -Y: a tracker 4 m away that looks back."""
    turned = "Arm P1-m1 2898.9 -109.4 496.5\nArm P2-m1 3099.7 -563.7 670.2\n"
    frame = "tracker_frame: {xyz_mm: [4000, 0, 0], rpy_deg: [0, 0, 180]}\n"
    read = desk.read(POSITION + frame, with_("length: mm"), {"e.txt": turned, "poses.csv": POSES})
    np.testing.assert_allclose(1e3 * read.campaign.readings, [READ[0][:3], READ[1][:3]], rtol=1e-12)


YAML, EXPORT = ("campaign.yaml", 5), ("e.txt", None)
NAMED = "Arm::{name}-{marker}"


@pytest.mark.parametrize(
    ("key", "export", "code", "value", "place", "column"),
    [
        ("unmatched: refuse", PLAIN, "unit", None, YAML, "table.length"),
        ("length: m", f"// Units: mm\n{PLAIN}", "unit", "m", YAML, "table.length"),
        ("length: mile", PLAIN, "unit", "mile", YAML, "table.length"),
        ("length: mm", f"// Cylindrical\n{PLAIN}", "unsupported", "Cylindrical", ("e.txt", 1), "table"),
        ("length: mm", f"{PLAIN}Arm P9 1 2\n", "format", 4, ("e.txt", 5), "table"),
        ("length: mm", "// nothing\n", "missing", "points", EXPORT, "table"),
        ("length: mm, order: [point, x, y]", PLAIN, "missing", ["point", "x", "y"], YAML, "table.order"),
        ("length: mm", "Leg P1-m1 1 2 3\n", "format", NAMED, YAML, "table.points"),
        ("length: mm", f"// Collection, Group, Point, X, Y, Z\n{'A,Arm,P1-m1,1,2,3'}\nB,Arm,P1-m1,1,2,3\n",
         "missing", NAMED, YAML, "table.points"),
    ],
)  # fmt: skip
def test_refusals(
    desk: ImportDesk, key: str, export: str, code: str, value: Any, place: tuple[str, int | None], column: str
) -> None:
    with refused(code, value, file=place[0], line=place[1], column=column):
        desk.read(POSITION, with_(key), {"e.txt": export, "poses.csv": POSES})


def test_a_letter_in_a_number_is_shown_with_its_place(desk: ImportDesk) -> None:
    said = desk.refused(POSITION, with_("length: mm"), {"e.txt": PLAIN.replace("109.4", "l09.4"), "poses.csv": POSES})
    assert said.startswith("e.txt, line 1, column Y: 'l09.4' is not a number")


@pytest.mark.parametrize(
    ("points", "code", "value"),
    [
        ("{pose_name}", "unknown-part-of-a-name", "pose_name"),
        ("Arm::P1", "format", "Arm::P1"),
        ("{name}{name}", "format", "{name}{name}"),
        ("A::B::C::{name}", "format", "A::B::C::{name}"),
    ],
)
def test_names_that_mean_nothing(desk: ImportDesk, points: str, code: str, value: str) -> None:
    table = f'{{file: e.txt, format: spatial-analyzer, points: "{points}", length: mm, join: poses.csv}}'
    with refused(code, value, file="campaign.yaml", line=5, column="table.points"):
        desk.read(POSITION, table, {"e.txt": PLAIN, "poses.csv": POSES})


def test_deflections_by_groups(desk: ImportDesk) -> None:
    """Two readings with load of each without: the first goes to the first, and a second needs a second."""
    text = (
        "Free P1-m1 1000 0 500\nDown P1-m1 1000.5 0.25 497\nFree P1-m1 1000.1 0 500\nDown P1-m1 1000.5 0.25 497\n"
        "Side P1-m1 1001 2 500\n"
    )
    poses = "name,state,A1_deg,A2_deg,fy_N,fz_N\nP1,Down,5,0,0,-1000\nP1,Side,5,0,800,0\n"
    table = (
        '{file: e.txt, format: spatial-analyzer, points: "{state}::{name}-{marker}", length: mm, unloaded: Free, '
        "join: poses.csv}"
    )
    read = desk.read(DEFLECTION, table, {"e.txt": text, "poses.csv": poses})
    want = [[0.5, 0.25, -3.0], [0.4, 0.25, -3.0], [1.0, 2.0, 0.0]]
    np.testing.assert_allclose(1e3 * read.campaign.readings, want, atol=1e-10)
    np.testing.assert_array_equal(read.campaign.measurement.setup.wrenches[:, 1:3], [[0, -1000], [0, -1000], [800, 0]])
    assert "e.txt: 2 readings without load serve 3 with load, whose errors are then related." in read.notes
    places = [read.campaign.place(i, 2) for i in range(3)]
    assert places == [f"e.txt line {a} less line {b} (P1-m1), m1.dz" for a, b in ((2, 1), (4, 3), (5, 1))]
    np.testing.assert_allclose(1e3 * read.points.values[:, 0, 0], [1000, 1000.1, 1000], rtol=1e-12)
    assert read.points.places == {
        (0, "m1"): "e.txt line 1 (P1-m1)",
        (1, "m1"): "e.txt line 3 (P1-m1)",
        (2, "m1"): "e.txt line 1 (P1-m1)",
    }


def test_axes_of_a_joined_table_are_complained_of_where_they_stand(desk: ImportDesk) -> None:
    text = "Free P1-m1 1000 0 500\nDown P1-m1 1000.5 0.25 497\n"
    names = 'points: "{state}::{name}-{marker}", length: mm, unloaded: Free'
    table = f"{{file: e.txt, format: spatial-analyzer, {names}, join: poses.csv}}"
    files = {"e.txt": text, "poses.csv": "name,A1_deg,A2_deg,fz_N\nP0,1,2,3\nP1,5,95,-1000\n"}
    loose = table.replace("join", "unmatched: leave_out, join")
    assert desk.refused(DEFLECTION, loose, files).startswith(
        "poses.csv, line 3, column A2_deg: axis A2 = 95 deg is beyond"
    )
    files["poses.csv"] = "# joints\nname,A1_deg,fz_N\nP1,5,-1000\n"
    assert desk.refused(DEFLECTION, table, files) == "poses.csv, line 2: there is no column for axis A2; add A2_deg"
    files["poses.csv"] = "name,fz_N\nP1,-1000\n"
    assert desk.refused(DEFLECTION, table, files) == "poses.csv, line 1: there is no column for axis A1; add A1_deg"


def test_a_second_reading_with_load_needs_a_second_without(desk: ImportDesk) -> None:
    text = "Free P1-m1 1000 0 500\nDown P1-m1 1000.5 0.25 497\nDown P1-m1 1000.6 0.25 497\n"
    table = '{file: e.txt, format: spatial-analyzer, points: "{state}::{name}-{marker}", length: mm, unloaded: Free}'
    said = desk.refused(DEFLECTION, table, {"e.txt": text})
    assert said.startswith("e.txt: not read without load: P1 m1 (line 3); correct the names")
