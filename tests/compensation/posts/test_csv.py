"""CSV toolpaths: every way to write an orientation, and what the standard library reads from the rewritten file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.programs import CSV, about, csv_rows, encoded, example, kuka, of_quaternion
from oracle.refusals import refused

from elastocal.compensation.posts.csv import Csv
from elastocal.compensation.program import Changes, Given, Inserted
from elastocal.compensation.stations import between


def read(text=CSV, given=None):
    return Csv().read(encoded({"path.csv": text}), given)


def test_targets_loads_feeds_and_frames():
    program = read()
    np.testing.assert_allclose(program.positions, [[0.0105, 0.02, 0], [0.1, 0.02, 0], [0.1, 0.05, 0]])
    np.testing.assert_allclose(program.rotations[1], kuka(90, 10, 180), atol=1e-15)
    assert [t.name for t in program.targets] == ["p1", "p2", "p;4"]
    np.testing.assert_allclose(program.wrenches, [[-200, 0, 0, 0, 0, 3]] * 3)
    assert [m.start for m in program.moves] == [None, 0, None]
    assert program.moves[0].feed == pytest.approx(0.5 / 60)
    assert program.skipped[0][1:] == (6, "p3;abc;20;0;90;0;180;-200;3;500;3", "cell 2 is 'abc', not a number")
    np.testing.assert_allclose(program.bases["base"].pose.translation, [1.7, -0.15, 0.8])
    assert program.missing_frames() == ("tool tool (path.csv, line 4)",)
    assert program.notes == ("columns kept as they are: power",)


def test_a_shift_arrives_in_the_cells_with_their_decimal_comma():
    program = read()
    shift, turn = np.array([1.2e-3, -0.7e-3, 0]), about("z", 0.25)
    new = replace(Changes.none(program), positions=program.positions + shift, rotations=turn @ program.rotations)
    rows = csv_rows(Csv().write(program, new)["path.csv"].decode())
    assert [r["x_mm"] for r in rows] == ["11,7000", "101,2000", "abc", "101,2000"]
    assert [r["a_deg"] for r in rows] == ["90,25000", "90,25000", "90", "-89,75000"]
    assert [r["z_mm"] for r in rows] == ["0"] * 4
    assert [r["c_deg"] for r in rows] == ["170", "180", "180", "180"]
    assert [r["fx_N"] for r in rows] == ["-200"] * 4


FORMS = {
    "a_deg,b_deg,c_deg": ("30,20,10", kuka(30, 20, 10)),
    "a_rad,b_rad,c_rad": ("0.3,0.2,0.1", kuka(*np.degrees([0.3, 0.2, 0.1]))),
    "w_deg,p_deg,r_deg": ("10,20,30", kuka(30, 20, 10)),
    "rx_deg,ry_deg,rz_deg": ("10,20,30", about("x", 10) @ about("y", 20) @ about("z", 30)),
    "rx_rad,ry_rad,rz_rad": ("0,0,-3.5", about("z", -np.degrees(3.5))),
    "a_deg,e_deg,r_deg": ("10,-20,30", about("z", 10) @ about("y", -20) @ about("z", 30)),
    "roll_rad,pitch_rad,yaw_rad": ("0.1,0.2,0.3", kuka(*np.degrees([0.3, 0.2, 0.1]))),
    "q1,q2,q3,q4": ("0.5,-0.5,0.5,0.5", of_quaternion(0.5, -0.5, 0.5, 0.5)),
    "qw,qx,qy,qz": ("-0.6,0,0.8,0", of_quaternion(0.6, 0, -0.8, 0)),
}


@pytest.mark.parametrize("columns", FORMS)
def test_every_orientation_comes_and_goes(columns):
    cells, wanted = FORMS[columns]
    text = f"x_mm,y_mm,z_mm,{columns}\n1,2,3,{cells}\n"
    program = read(text)
    np.testing.assert_allclose(program.rotations[0], wanted, atol=1e-8)
    assert Csv().write(program, Changes.none(program))["path.csv"].decode() == text
    turn = about("x", 0.1) @ about("z", -0.2)
    out = Csv().write(program, replace(Changes.none(program), rotations=turn @ program.rotations))
    again = Csv().read(out)
    np.testing.assert_allclose(again.rotations[0], turn @ wanted, atol=3e-7)
    (row,) = csv_rows(out["path.csv"].decode())
    old = np.array([float(c) for c in cells.split(",")])
    new = np.array([float(row[c]) for c in columns.split(",")])
    assert 0 < np.abs(new - old).max() < (0.6 if "deg" in columns else 0.01)


def test_tool_axes():
    program = read("x_m,y_m,z_m,i,j,k\n1,2,3,0,0.6,0.8\n")
    assert program.targets[0].kind == "axis"
    np.testing.assert_allclose(program.rotations[0][:, 2], [0, 0.6, 0.8])
    assert np.linalg.det(program.rotations[0]) == pytest.approx(1)
    out = Csv().write(program, replace(Changes.none(program), rotations=about("x", 1.0) @ program.rotations))
    (row,) = csv_rows(out["path.csv"].decode())
    np.testing.assert_allclose([float(row[c]) for c in "ijk"], about("x", 1.0) @ [0, 0.6, 0.8], atol=1e-8)


def test_axis_values():
    program = read("A1_deg,A2_deg,E1_mm\n10,20.5,300\n")
    assert program.targets[0].kind == "joints"
    np.testing.assert_allclose(program.joints, [[np.radians(10), np.radians(20.5), 0.3]])
    out = Csv().write(program, replace(Changes.none(program), joints=program.joints + 1e-3))
    assert out["path.csv"] == b"A1_deg,A2_deg,E1_mm\n10.05730,20.55730,301.0000\n"


def test_points_only_take_the_orientation_given():
    down = np.diag([1.0, -1, -1])
    assert np.isnan(read("x_mm,y_mm,z_mm\n1,2,3\n").rotations).all()
    program = read("x_mm,y_mm,z_mm\n1,2,3\n", Given(orientation=down))
    np.testing.assert_array_equal(program.rotations[0], down)


def test_rows_are_put_in_like_the_row_of_the_move():
    program = read("x_mm,y_mm,z_mm,a_deg,b_deg,c_deg,tool\n0,0,0,0,0,0,T1\n100,0,0,20,0,0,T1")
    out = Csv().write(program, replace(Changes.none(program), inserted={1: between(program, 1, np.array([0.25, 0.5]))}))
    assert out["path.csv"].decode().splitlines()[2:] == [
        "25.0000,0.0000,0.0000,5.00000,0.00000,0.00000,T1",
        "50.0000,0.0000,0.0000,10.00000,0.00000,0.00000,T1",
        "100,0,0,20,0,0,T1",
    ]


def test_camrob_files_have_no_header():
    row = "10.5;20;-3;90;0;180;0;0.02;0;0;0;0;4;0;0;"
    program = read(f"{row}\n{row}\n")
    assert len(program.targets) == 2
    assert program.targets[0].tool == "4"
    np.testing.assert_allclose(program.rotations[0], kuka(90, 0, 180), atol=1e-15)
    assert "CAMRob" in program.notes[0]
    out = Csv().write(program, replace(Changes.none(program), positions=program.positions + np.array([1e-3, 0, 0])))
    assert out["path.csv"].decode() == f"{row}\n{row}\n".replace("10.5", "11.5000")


@pytest.mark.parametrize(
    ("text", "code", "value", "column"),
    [
        ("x_mm,y_mm\n1,2\n", "no-positions", ("x_mm", "y_mm"), None),
        ("x,y,z\n1,2,3\n", "unit", "", "x"),
        ("x_mm,y_mm,z_deg\n1,2,3\n", "unit", "deg", "z"),
        ("x_mm,y_mm,z_mm,X_m\n", "duplicate", "x", None),
        ("x_mm,y_mm,z_mm,a_deg,b_deg,c_deg,q1,q2,q3,q4\n", "duplicate", ("a b c", "q1 q2 q3 q4"), None),
        ("x_mm,y_mm,z_mm,A1_deg\n", "duplicate", "a1", None),
        ("x_mm,y_mm,z_mm,rx_mrad,ry_mrad,rz_mrad\n", "unit", "rx ry rz", None),
        ("x_mm,y_mm,z_mm,fx_kg\n", "unit", "kg", "fx"),
        ("# base {X 1}\nx_mm,y_mm,z_mm\n", "missing", "base", None),
    ],
)
def test_headers_that_cannot_be_used(text: str, code: str, value: object, column: str | None) -> None:
    with refused(code, value, file="path.csv", line=1, column=column):
        read(text)


def test_units_of_a_title_are_listed() -> None:
    with refused("unit", "", column="x", allowed=("x_m", "x_mm", "x_um", "x_in")):
        read("x,y,z\n1,2,3\n")


@pytest.mark.parametrize("text", ["", "# only a comment\n"])
def test_a_table_without_a_header_is_empty(text: str) -> None:
    with refused("empty", file="path.csv"):
        read(text)


def test_the_example_pushes_against_the_motion():
    program = Csv().read(example("contour.csv"))
    assert program.missing_frames() == ()
    steps = np.diff(program.positions, axis=0)
    along = (steps * program.wrenches[1:, :3]).sum(axis=1) / np.linalg.norm(steps, axis=1)
    assert along.max() < -380


def test_whole_numbers_beside_decimal_commas_get_a_comma():
    text = "X [mm];Y [mm];Z [mm];A [deg];B [deg];C [deg]\n10,5;20;0;180;55,2;180\n100;20;0;180;55,2;180\n"
    program = read(text)
    np.testing.assert_allclose(program.positions, [[0.0105, 0.02, 0], [0.1, 0.02, 0]])
    turn = kuka(0.01, 0, 0)[None] @ program.rotations
    changes = replace(Changes.none(program), positions=program.positions + 1e-4, rotations=turn)
    inserted = {1: Inserted(np.array([[0.05, 0.02, 0.001]]), turn[:1])}
    out = Csv().write(program, replace(changes, inserted=inserted))["path.csv"].decode()
    assert "." not in out
    assert out.splitlines()[1].startswith("10,6000;20,1000;0,1000;180,01000;55,2;180")
    again = read(out)
    np.testing.assert_allclose(again.positions[[0, 2]], changes.positions, atol=1e-9)
    np.testing.assert_allclose(again.rotations[[0, 2]], turn, atol=2e-7)


def test_titles_as_spreadsheets_have_them():
    plain = read("x_mm,y_mm,z_mm,a_deg,b_deg,c_deg,feed_mm_min\n1,2,3,4,5,6,600\n")
    other = read("X (mm),Y [mm],Z [ mm ],A [\xb0],B [deg],C [Grad],Feed [mm/min]\n1,2,3,4,5,6,600\n")
    np.testing.assert_array_equal(other.positions, plain.positions)
    np.testing.assert_array_equal(other.rotations, plain.rotations)
    assert other.moves[0].feed == plain.moves[0].feed == pytest.approx(0.01)
