"""Rows that belong together: what has no partner is named, on both sides, with its line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from files.import_desk import DEFLECTION, POSITION, ImportDesk

POINTS = "name,marker,x_mm,y_mm,z_mm\nP1,m1,1101,109,496\nP1,m2,1012,9,527\nP2,m1,900,563,670\nP3,m1,901,560,671\n"
POSES = "name;A1_deg;A2_deg\nP1;5;0\nP2;35,5;10\nP3;36;10\n"
ENTRY = "{file: p.csv, join: poses.csv}"


@pytest.fixture
def desk(tmp_path: Path) -> ImportDesk:
    return ImportDesk(tmp_path)


def test_poses_are_joined_by_name(desk: ImportDesk) -> None:
    """The table of poses has decimal commas, that of points has none."""
    read = desk.read(POSITION + "missing: skip\n", ENTRY, {"p.csv": POINTS, "poses.csv": POSES})
    shown = read.model.controller.to_controller(read.campaign.measurement.setup.q)
    np.testing.assert_allclose(np.degrees(shown), [[5, 0], [35.5, 10], [36, 10]], atol=1e-12)
    assert [f.name for f in read.files] == ["campaign.yaml", "arm.yaml", "p.csv", "poses.csv"]


def test_an_error_in_a_joined_table_points_there(desk: ImportDesk) -> None:
    said = desk.refused(POSITION, ENTRY, {"p.csv": POINTS, "poses.csv": POSES.replace("35,5", "35,5,1")})
    assert said == "poses.csv, line 3, column A1_deg: '35,5,1' is not a number; give a number"


def test_a_join_of_a_join_points_to_the_last_file(desk: ImportDesk) -> None:
    """Points to poses by name, poses to directions of load by state."""
    entry = "{file: p.csv, join: {file: poses.csv, join: loads.csv}}"
    files = {
        "p.csv": "name,marker,dx_mm,dy_mm,dz_mm\nP1,m1,0,0,-1\nP2,m1,0,1,0\n",
        "poses.csv": "name,state,A1_deg,A2_deg\nP1,down,5,0\nP2,side,35,10\n",
        "loads.csv": "state,fy_N,fz_N\nside,800,0\ndown,0,-1OOO\n",
    }
    assert desk.refused(DEFLECTION, entry, files).startswith("loads.csv, line 3, column fz_N: '-1OOO' is not a number")
    files["loads.csv"] = files["loads.csv"].replace("O", "0")
    setup = desk.read(DEFLECTION, entry, files).campaign.measurement.setup
    np.testing.assert_array_equal(setup.wrenches[:, 1:3], [[0, -1000], [800, 0]])


def test_what_has_no_partner_is_named_or_left_out(desk: ImportDesk) -> None:
    files = {"p.csv": POINTS, "poses.csv": POSES.replace("P3", "P4")}
    assert desk.refused(POSITION, ENTRY, files) == (
        "p.csv: not in poses.csv: P3 m1 (line 5); in poses.csv only: P4 (line 4); correct the names, or leave them out "
        "by unmatched: leave_out"
    )
    read = desk.read(POSITION, ENTRY.replace("}", ", unmatched: leave_out}"), files)
    assert "p.csv: left out, not in poses.csv: P3 m1 (line 5); in poses.csv only: P4 (line 4)." in read.notes
    assert len(read.campaign.readings) == 2


def test_states_without_partner(desk: ImportDesk) -> None:
    text = (
        "name,state,marker,A1_deg,A2_deg,fz_N,x_mm,y_mm,z_mm\nP1,down,m1,5,0,-1000,1000,0,497\nP1,free,m1,5,0,0,1000,0,500\n"
        "P2,down,m1,35,0,-1000,1000,0,497\nP3,free,m1,35,0,0,1000,0,500\n"
    )
    entry = "{file: p.csv, unloaded: free}"
    said = desk.refused(DEFLECTION, entry, {"p.csv": text})
    assert said.startswith("p.csv: not read without load: P2 m1 (line 4); not read with load: P3 m1 (line 5); correct")
    read = desk.read(DEFLECTION, entry.replace("}", ", unmatched: leave_out}"), {"p.csv": text})
    np.testing.assert_allclose(1e3 * read.campaign.readings, [[0, 0, -3]], atol=1e-12)
    assert "there are down, free" in desk.refused(DEFLECTION, entry.replace("free", "none"), {"p.csv": text})
    assert "p.csv has no state" in desk.refused(DEFLECTION, entry, {"p.csv": text.replace("state", "repeat")})


LOADED = "name,marker,x_mm,y_mm,z_mm\nP1,m1,1000,0,497\nP1,m1,1000,0,496.5\nP2,m1,900,560,668\n"
FREE = "marker;name;x_m;y_m;z_m\nm1;P2;0,9;0,56;0,67\nm1;P1;1;0;0,5\nm1;P1;1;0,0001;0,4999\n"
"""The same points in another order, other columns and another unit."""
TWO = "{file: p.csv, unloaded: {file: free.csv}, join: poses.csv}"
HELD = "name,A1_deg,A2_deg,fz_N\nP1,5,0,-1000\nP2,35,10,-1000\n"


def test_a_file_without_load_beside_one_with_load(desk: ImportDesk) -> None:
    """The second reading of P1 goes to the second without load; places lead to both files."""
    files = {"p.csv": LOADED, "free.csv": FREE, "poses.csv": HELD}
    read = desk.read(DEFLECTION, TWO, files)
    np.testing.assert_allclose(1e3 * read.campaign.readings, [[0, 0, -3], [0, -0.1, -3.4], [0, 0, -2]], atol=1e-9)
    assert [f.name for f in read.files] == ["campaign.yaml", "arm.yaml", "p.csv", "free.csv", "poses.csv"]
    assert read.campaign.place(1, 2) == "p.csv line 3 less free.csv line 4 (P1), m1.dz"
    files["free.csv"] = FREE.replace("0,4999", "0,4.999")
    assert (
        desk.refused(DEFLECTION, TWO, files) == "free.csv, line 4, column z_m: '0,4.999' is not a number; give a number"
    )
    third = {**files, "free.csv": FREE, "p.csv": f"{LOADED}P1,m1,1000,0,497\n"}
    assert desk.refused(DEFLECTION, TWO, third).startswith("p.csv: not read without load: P1 m1 (line 5); correct")
    files["free.csv"] = FREE.replace("P2", "P3")
    assert desk.refused(DEFLECTION, TWO, files) == (
        "p.csv: not read without load: P2 m1 (line 4); in free.csv only: P3 m1 (line 2); correct the names, or leave "
        "them out by unmatched: leave_out"
    )
    read = desk.read(DEFLECTION, TWO.replace("join", "unmatched: leave_out, join"), files)
    assert len(read.campaign.readings) == 2
    files["free.csv"] = "x_m;y_m;z_m\n1;0;0,5\n"
    assert "free.csv has no column of names that p.csv has too" in desk.refused(DEFLECTION, TWO, files)


def test_several_loads_of_the_same_points_without_load(desk: ImportDesk) -> None:
    second = TWO.replace("p.csv", "q.csv").replace("poses", "side")
    files = {"p.csv": LOADED, "q.csv": LOADED.replace("497", "498"), "free.csv": FREE, "poses.csv": HELD}
    files["side.csv"] = HELD.replace("fz", "fy").replace("-1000", "800")
    said = desk.refused(DEFLECTION, f"[{TWO}, {second}]", files)
    assert "fy stands in q.csv and not in p.csv" in said
    files["poses.csv"] = HELD.replace("fz_N", "fz_N,fy_N").replace("-1000", "-1000,0")
    files["side.csv"] = HELD.replace("fz_N", "fy_N,fz_N").replace("-1000", "800,0")
    read = desk.read(DEFLECTION, f"[{TWO}, {second}]", files)
    np.testing.assert_allclose(1e3 * read.campaign.readings[[0, 3], 2], [-3, -2], atol=1e-9)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("{file: p.csv, unloaded: free.csv, join: poses.csv}", "of its own is written unloaded: {file: free.csv}"),
        ("{file: [p.csv, free.csv], join: poses.csv}", "table.file: is one file; that without load is named by"),
        ("{file: p.csv, join: {file: p.csv, join: poses.csv}}", "have both x_mm; points without load are named by"),
        ("{file: p.csv, unloaded: {file: no.csv}, join: poses.csv}", "table.unloaded: there is no file no.csv"),
        ("{file: one.csv, unloaded: free}", "file with load under file, and this one by unloaded: {file: one.csv}"),
    ],
)  # fmt: skip
def test_two_files_in_ways_that_are_not_meant(desk: ImportDesk, entry: str, said: str) -> None:
    one = "name,state,marker,x_mm,y_mm,z_mm\nP1,free,m1,1000,0,500\n"
    files = {"p.csv": LOADED, "free.csv": FREE, "poses.csv": HELD, "one.csv": one}
    assert said in desk.refused(DEFLECTION, entry, files)


@pytest.mark.parametrize(
    ("entry", "poses", "said"),
    [
        (ENTRY, POSES + "P2;1;2\n", "poses.csv, line 5: P2 stands in line 3 already; keep one"),
        (ENTRY, POSES.replace("name", "pose"), "poses.csv, line 1: has no column of names that p.csv has too (name"),
        (ENTRY.replace("poses", "no"), POSES, "table.join: there is no file no.csv; give its name as seen from"),
        (ENTRY[:-1] + ", markers: {M9: m1}}", POSES, "markers.M9: no row of p.csv is of marker 'M9'; there are m1"),
        ("[p.csv, {file: p.csv}]", POSES, "table: must name at least one file, and none twice"),
        ("7", POSES, "7 should name a file"),
    ],
)  # fmt: skip
def test_refusals(desk: ImportDesk, entry: str, poses: str, said: str) -> None:
    assert said in desk.refused(POSITION, entry, {"p.csv": POINTS, "poses.csv": poses})


def test_a_list_of_tables_of_different_programs(desk: ImportDesk) -> None:
    other = '{file: q.txt, format: spatial-analyzer, points: "{name}_{marker}", length: mm, join: more.csv}'
    more = {"q.txt": "P7_m1 950 500 660\n", "more.csv": "name,A1_deg,A2_deg\nP7,30,9\n"}
    read = desk.read(POSITION, f"[{ENTRY}, {other}]", {"p.csv": POINTS, "poses.csv": POSES, **more})
    assert read.campaign.readings.shape == (4, 6)
    assert read.campaign.place(3, 0) == "q.txt line 1 (P7_m1), m1.x"
