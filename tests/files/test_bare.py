"""Points of a tracker in one file, joint values in another, no campaign file: joined by names."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.errors import InputError
from elastocal.files.campaign.observed import observed_tables
from elastocal.files.campaign.recognise import recognise
from elastocal.files.cell import read_cell, tables_in
from elastocal.files.robot.read import read_robot
from elastocal.files.tables.csv_file import read_csv
from elastocal.files.tables.excel import excel_bytes

ROBOT = "abb-irb120"
AXES = [f"axis{i}_deg" for i in range(1, 7)]
DEG = np.random.default_rng(1).uniform(-40, 40, (4, 6)).round(2)
MM = np.random.default_rng(2).uniform(200, 600, (4, 3)).round(3)
HEAD = """// SpatialAnalyzer 2023.1
// Working Frame: A::World
// Units: Millimeters
// Collection, Group, Target, X, Y, Z
"""


def poses(folder: Path, titles: list[str] | None = None) -> Path:
    """As people type it: a title and a blank row above, rows in another order than the points."""
    rows = [[f"P{i + 1:02d}", *map(float, q)] for i, q in enumerate(DEG)][::-1]
    head = titles or ["name", *AXES]
    (folder / "poses.xlsx").write_bytes(excel_bytes(["cell 4"], [[], head, *rows]))
    return folder / "poses.xlsx"


def export(folder: Path, name: str, head: str = HEAD) -> Path:
    """``name`` is such as ``Cell, SMR, P{:02d}``."""
    lines = [f"{name.format(i + 1)}, {x:.4f}, {y:.4f}, {z:.4f}" for i, (x, y, z) in enumerate(MM)]
    (folder / "export.txt").write_bytes((head + "\n".join(lines) + "\n").replace("\n", "\r\n").encode("cp1252"))
    return folder / "export.txt"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Cell, SMR, P{:02d}", "{name}"),
        ("Größe, SMR, P{:02d}_M1", "{name}_{marker}"),
        ("Cell, SMR, P{:02d}-M1", "{name}-{marker}"),
        ("Cell, P{:02d}, M1", "{name}::{marker}"),
    ],
)
def test_points_find_their_joint_values_whatever_the_names(tmp_path: Path, name: str, said: str) -> None:
    read = observed_tables([export(tmp_path, name), poses(tmp_path)], ROBOT, {})
    np.testing.assert_allclose(read.readings.read["position"][:, 0], MM / 1e3, atol=1e-12)
    np.testing.assert_allclose(np.degrees(read.readings.values), DEG, atol=1e-9)
    assert f"export.txt: joint values are those of the same name in poses.xlsx; its names are read as {said}." in [
        n.text for n in read.notes
    ]
    assert {p.name for p in read.files} == {"export.txt", "poses.xlsx"}


@pytest.mark.parametrize("axis", ["x", "z"])
def test_a_dial_gauge_reads_deflections_in_one_direction(tmp_path: Path, axis: str) -> None:
    rows = [[*q, -100.0, -0.1 * (i + 1)] for i, q in enumerate(DEG)]
    lines = [",".join(map(str, row)) for row in ([*AXES, "fz_N", f"d{axis}_mm"], *rows)]
    (tmp_path / "gauge.csv").write_text("\n".join(lines))
    read = observed_tables([tmp_path / "gauge.csv"], ROBOT, {})
    expected = np.where(np.array(list("xyz")) == axis, -1e-4 * np.arange(1, 5)[:, None], np.nan)
    np.testing.assert_allclose(read.readings.read["deflection"][:, 0], expected)
    said = [n.text for n in read.notes]
    assert f"gauge.csv: of the deflection d{axis} alone was read." in said
    assert not any("lack numbers" in text or "left out" in text for text in said)
    assert read.readings.places[2] == "gauge.csv line 4"


def test_a_csv_of_points_is_joined_too(tmp_path: Path) -> None:
    rows = "".join(f"P{i + 1:02d},{x},{y},{z}\n" for i, (x, y, z) in enumerate(MM))
    (tmp_path / "points.csv").write_text(f"name,x_mm,y_mm,z_mm\n{rows}")
    read = observed_tables([tmp_path / "points.csv", poses(tmp_path)], ROBOT, {})
    np.testing.assert_allclose(read.readings.read["position"][:, 0], MM / 1e3, atol=1e-12)
    np.testing.assert_allclose(np.degrees(read.readings.values), DEG, atol=1e-9)


def test_units_may_be_declared_where_the_export_has_none(tmp_path: Path) -> None:
    file = export(tmp_path, "Cell, SMR, P{:02d}", HEAD.replace("// Units: Millimeters\n", ""))
    with refused("unit", file="export.txt", column="table[1].length"):
        observed_tables([file, poses(tmp_path)], ROBOT, {})
    read = observed_tables([file, poses(tmp_path)], ROBOT, {"units": {"length": "in", "angle": "deg"}})
    np.testing.assert_allclose(read.readings.read["position"][:, 0], MM * 0.0254, atol=1e-12)


def test_titles_in_other_words_are_asked_for_once(tmp_path: Path) -> None:
    file = poses(tmp_path, ["Punkt", *(f"Achse {i}" for i in range(1, 7))])
    with refused("missing-column", "axis1", file="poses.xlsx", line=3) as seen:
        observed_tables([export(tmp_path, "Cell, SMR, P{:02d}"), file], ROBOT, {})
    assert (seen.value.code, seen.value.value) == ("missing-column", "axis1")
    robot = read_robot(ROBOT)
    told = recognise(file, robot, told=recognise(file, robot).proposal)
    assert told.sure
    assert told.of_poses


def test_a_table_of_poses_without_names_is_refused(tmp_path: Path) -> None:
    (tmp_path / "poses.csv").write_text(",".join(AXES) + "\n" + ",".join(map(str, DEG[0])) + "\n")
    with refused("missing-column", "name", file="poses.csv"):
        observed_tables([export(tmp_path, "Cell, SMR, P{:02d}"), tmp_path / "poses.csv"], ROBOT, {})


def test_a_folder_of_tables_holds_exports_and_no_notes(tmp_path: Path) -> None:
    export(tmp_path, "Cell, SMR, P{:02d}")
    (tmp_path / "notes.txt").write_text("warm-up 30 min\n")
    (tmp_path / "cell.yaml").write_text("format: elastocal-cell/1\nname: cell\n")
    assert tables_in(read_cell(tmp_path), Path()) == (Path("export.txt"),)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Report of May\nOperator;Mr. X\n\nname;A1_deg;x_mm\nP1;1,5;2\n", 4),
        ("Report;;;\nname;A1_deg;x_mm\nP1;1,5;2\n", 2),
        ("name;A1_deg;x_mm\nP1;1,5;2\n", 1),
        ("A1_deg;x_mm\n1,5;2\n", 1),
    ],
)
def test_titles_are_found_below_remarks(tmp_path: Path, text: str, line: int) -> None:
    (tmp_path / "t.csv").write_text(text)
    raw = read_csv(tmp_path / "t.csv")
    assert raw.header_line == line
    assert raw.header[-2:] == ("A1_deg", "x_mm")
    assert [row[1][-2:] for row in raw.rows] == [("1,5", "2")]
    assert raw.notes == (
        () if line == 1 else (f"t.csv: the titles are taken to stand in line {line}; what is above is not used.",)
    )


def _two_arms(grippers: bool) -> str:
    """A torso with two arms of three joints, each with a gripper that moves or does not."""
    joints = ["torso:root:torso:revolute"]
    for side in ("left", "right"):
        chain = ["torso", *(f"{side}{i}" for i in (1, 2, 3)), f"{side}_hand"]
        joints += [f"{c}_joint:{p}:{c}:revolute" for p, c in pairwise(chain[:-1])]
        joints += [f"{chain[-1]}_joint:{chain[-2]}:{chain[-1]}:{'revolute' if grippers else 'fixed'}"]
    rows = [j.split(":") for j in joints]
    links = "".join(f'<link name="{name}"/>' for name in ["root", *(r[2] for r in rows)])
    text = "".join(
        f'<joint name="{n}" type="{kind}"><parent link="{p}"/><child link="{c}"/><origin xyz="0.3 0 0.1"/>'
        '<axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>'
        for n, p, c, kind in rows
    )
    return f'<robot name="two">{links}{text}</robot>'


@pytest.mark.parametrize("grippers", [False, True])
@pytest.mark.parametrize("unit", ["", "_rad", " [rad]"])
def test_joints_of_a_table_say_which_arm_of_a_robot_is_meant(tmp_path: Path, grippers: bool, unit: str) -> None:
    (tmp_path / "two.urdf").write_text(_two_arms(grippers))
    named = ["torso", "right1_joint", "right2_joint", "right3_joint"]
    table = tmp_path / "points.csv"
    rows = ["0.1,0.2,-0.3,0.4,1,2,3", "0.2,0.1,-0.2,0.1,1,2,3.1"]
    table.write_text("\n".join([",".join([*(n + unit for n in named), "x_m", "y_m", "z_m"]), *rows]) + "\n")
    seen = observed_tables((table,), str(tmp_path / "two.urdf"), {"units": {"angle": "rad"}})
    assert seen.model.joints == tuple(named)
    assert seen.model.tool == "right3"
    assert any("which the last joint of the table carries" in n.text for n in seen.notes)


def test_joints_of_both_arms_in_a_table_leave_the_choice_to_the_reader(tmp_path: Path) -> None:
    (tmp_path / "two.urdf").write_text(_two_arms(False))
    (tmp_path / "points.csv").write_text("torso_rad,left1_joint_rad,right1_joint_rad,x_m,y_m,z_m\n0,0,0,1,2,3\n")
    with pytest.raises(InputError) as refused:
        observed_tables((tmp_path / "points.csv",), str(tmp_path / "two.urdf"), {})
    assert refused.value.parameter == "tool"


def _points_of(folder: Path, name: str, titles: str = "x_mm,y_mm,z_mm") -> Path:
    rows = "".join(f"{','.join(map(str, q))},{','.join(map(str, p))}\n" for q, p in zip(DEG, MM, strict=True))
    (folder / name).write_text(f"{','.join(AXES)},{titles}\n{rows}", encoding="utf-8")
    return folder / name


def test_files_that_are_called_by_their_targets_hold_a_marker_each(tmp_path: Path) -> None:
    files = [_points_of(tmp_path, name) for name in ("day 1 SMR A.csv", "day 1 SMR-b.csv", "Reflektor 3.csv")]
    read = observed_tables(files, ROBOT, {})
    assert list(dict.fromkeys(read.readings.markers)) == ["smr_A", "smr_B", "reflektor_3"]
    assert any("SMR-b.csv: its points are of marker smr_B" in note.text for note in read.notes)


@pytest.mark.parametrize(
    "names", [("smr_1.csv", "smr_1 again.csv"), ("smr_1.csv", "morning.csv"), ("small.csv", "smrt2.csv")]
)
def test_other_names_of_files_tell_no_marker(names: tuple[str, str], tmp_path: Path) -> None:
    read = observed_tables([_points_of(tmp_path, name) for name in names], ROBOT, {})
    assert not any("of marker" in note.text for note in read.notes)
    assert len(set(read.readings.markers)) == 1


def test_titles_that_name_their_markers_are_left_alone(tmp_path: Path) -> None:
    files = [_points_of(tmp_path, name, "x1_mm,y1_mm,z1_mm") for name in ("smr_1.csv", "smr_2.csv")]
    assert set(observed_tables(files, ROBOT, {}).readings.markers) == {"marker1"}
