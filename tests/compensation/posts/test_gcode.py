"""G-code: what is found, and where a naive interpreter goes with the rewritten files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.programs import GCODE, SIEMENS, about, encoded, example, gcode_places
from oracle.refusals import refused
from scipy.spatial.transform import Rotation

from elastocal.compensation.posts.gcode import Gcode
from elastocal.compensation.program import Changes, Given, Inserted
from elastocal.compensation.stations import between, chords
from elastocal.files.programs import read_program

SHIFT = np.array([1.2e-3, -0.7e-3, 2.5e-3])


def read(text=GCODE, given=None):
    return Gcode().read(encoded({"part.nc": text}), given)


def shifted(program, shift=SHIFT, tolerance=1e-4):
    points = {i: Inserted(p.positions + shift, p.rotations) for i, p in chords(program, tolerance).items()}
    new = replace(Changes.none(program), positions=program.positions + shift, inserted=points)
    return Gcode().write(program, new)["part.nc"].decode()


def places(program):
    return np.round(program.positions * 1e3, 9).tolist()


def test_targets_moves_and_frames():
    program = read()
    assert [(m.line, m.motion) for m in program.moves] == [
        (7, "joint"), (8, "linear"), (9, "linear"), (10, "linear"), (11, "arc"), (12, "arc"), (13, "linear"),
        (14, "arc"), (15, "linear"), (16, "linear"), (17, "linear"), (18, "linear"), (19, "linear"),
    ]  # fmt: skip
    assert {s.line: s.reason for s in program.skipped} == {
        6: "Z is not known here",
        20: "'X#100' is not known when the file is read; the position is not known after it",
        21: "X and Z are not known here",
        22: "G28 (reference point); the position is not known after it",
    }
    np.testing.assert_allclose(program.bases["G54"].pose.translation, [1.7, -0.15, 0.8])
    assert program.missing_frames() == ("tool T1 (part.nc, line 7)",)
    assert program.moves[1].feed == pytest.approx(0.5 / 60)
    assert {t.kind for t in program.targets} == {"point"}
    assert any("state it" in note for note in program.notes)


def test_straight_moves_arrive_shifted():
    text = "\n".join(s for s in GCODE.splitlines() if not s.startswith(("G3", "G2", "X80", "/")))
    program = read(text)
    before, after = gcode_places(text), gcode_places(shifted(program))
    assert len(before) == len(after) == len(program.targets) == 9
    for p, q in zip(before, after, strict=True):
        np.testing.assert_allclose(q, p + SHIFT * 1e3, atol=1e-4)
    np.testing.assert_allclose(places(program), before, atol=1e-9)


def test_words_left_out_follow_what_the_control_holds():
    program = read("G21 G90\nG1 X0 Y0 Z0\nX10\nY10\nX20")
    moved = program.positions.copy()
    moved[1] += [0, 2e-3, 0]
    out = Gcode().write(program, replace(Changes.none(program), positions=moved))["part.nc"].decode().splitlines()
    assert out[1:] == ["G1 X0 Y0 Z0", "X10 Y2.0000", "Y10", "X20"]
    moved[1] += [0, 0, 1e-3]
    out = Gcode().write(program, replace(Changes.none(program), positions=moved))["part.nc"].decode().splitlines()
    assert out[1:] == ["G1 X0 Y0 Z0", "X10 Y2.0000 Z1.0000", "Y10 Z0.0000", "X20"]


def test_increments_do_not_add_up_rounding():
    text = "G21 G90 G1 X0 Y0 Z0\nG91\n" + "X1Y1\n" * 300
    program = read(text)
    drift = np.cumsum(np.full((301, 3), 3.3e-8), axis=0)  # each less than the last decimal
    out = (
        Gcode().write(program, replace(Changes.none(program), positions=program.positions + drift))["part.nc"].decode()
    )
    np.testing.assert_allclose(gcode_places(out), gcode_places(text) + drift * 1e3, atol=1.01e-4 / 2 + 1e-9)


def test_inches():
    program = read("G20 G1 X1 Y2 Z3.\nX1.5")
    np.testing.assert_allclose(program.positions, [[0.0254, 0.0508, 0.0762], [0.0381, 0.0508, 0.0762]])
    assert shifted(program, np.array([0.0254e-3, 0, 0])) == "G20 G1 X1.001000 Y2 Z3.\nX1.501000"


@pytest.mark.parametrize(
    ("line", "centre", "angle"),
    [
        ("G3 X90 Y60 I-10 J0", (90, 50), 90),
        ("G2 X90 Y60 I0 J10", (100, 60), -90),
        ("G3 X90 Y60 R10", (90, 50), 90),
        ("G2 X90 Y60 R-10", (90, 50), -270),
        ("G2 X90 Y60 R10", (100, 60), -90),
        ("G90.1 G3 X90 Y60 I90 J50", (90, 50), 90),
        ("G3 I-10", (90, 50), 360),
        ("G3 X90 Y60 Z-1 I-10 J0", (90, 50), 90),
        ("G91 G3 X-10 Y10 I-10 J0", (90, 50), 90),
    ],
)
def test_arcs_become_chords_within_the_tolerance(line, centre, angle):
    text = f"G21 G90 G1 X100 Y50 Z0 F100\n{line}\nG90 G1 X0 Y0 Z0"
    program = read(text)
    assert np.degrees(program.moves[1].arc.angle) == pytest.approx(angle)
    np.testing.assert_allclose(program.moves[1].arc.centre, [centre[0] / 1e3, centre[1] / 1e3, 0], atol=1e-12)
    points = np.array(gcode_places(shifted(program, tolerance=2e-5)))[:-1] - SHIFT * 1e3
    from_centre = points[:, :2] - centre
    np.testing.assert_allclose(np.linalg.norm(from_centre, axis=1), 10, atol=2e-4)
    middles = (from_centre[1:] + from_centre[:-1]) / 2
    sag = 10 - np.linalg.norm(middles, axis=1)
    assert 0.005 < sag.max() < 0.0201
    turned = np.degrees(np.unwrap(np.arctan2(from_centre[:, 1], from_centre[:, 0])))
    assert turned[-1] - turned[0] == pytest.approx(angle, abs=0.01)
    assert points[-1, 2] == pytest.approx(-1 if "Z-1" in line else 0, abs=1e-4)
    assert np.all(np.diff(points[:, 2]) <= 1e-9)


def test_arcs_in_other_planes():
    program = read("G21 G18 G90 G1 X10 Y0 Z0\nG3 X0 Z10 I-10\nG19 G2 Y10 Z0 J10 K0")
    first, second = program.moves[1].arc, program.moves[2].arc
    assert (first.axis, np.degrees(first.angle)) == (1, pytest.approx(270))  # x over -z and -x to z
    assert (second.axis, np.degrees(second.angle)) == (0, pytest.approx(-270))  # -y over z and y to -z
    np.testing.assert_allclose(second.centre, [0, 0.01, 0.01], atol=1e-12)
    middle = between(program, 2, np.array([0.5])).positions[0]
    np.testing.assert_allclose(middle, [0, 0.01 + 0.01 / np.sqrt(2), 0.01 + 0.01 / np.sqrt(2)], atol=1e-12)


def test_an_uncorrected_arc_after_chords_says_its_motion_again():
    text = "G21 G90 G1 X100 Y50 Z0 F100\nG3 X90 Y60 I-10 J0\nX80 Y50 J-10\nG1 X0 Y0"
    program = read(text)
    moved = program.positions.copy()
    moved[0] += [0, 0, 1e-3]
    points = {1: chords(program, 1e-3)[1]}
    moved[1:] = program.positions[1:]
    new = replace(Changes.none(program), positions=moved, inserted=points)
    out = Gcode().write(program, new)["part.nc"].decode().splitlines()
    assert out[-3].startswith("G1 X90 Y60")
    assert out[-2] == "G3 X80 Y50 J-10"
    circle = read(text.replace("X80 Y50 J-10", "N7 I0 J-10"))
    new_circle = replace(Changes.none(circle), positions=np.vstack([moved[:1], circle.positions[1:]]), inserted=points)
    assert Gcode().write(circle, new_circle)["part.nc"].decode().splitlines()[-2] == "N7 G3 I0 J-10"
    with refused("no-points"):
        Gcode().write(program, replace(new, inserted={}))


def test_words_before_any_motion_stay():
    program = read("G21 G90 X1\nX1 Y2\nG1 X0 Y0 Z0")
    assert [s.line for s in program.skipped] == [1, 2]
    assert shifted(program) == "G21 G90 X1\nX1 Y2\nG1 X1.2000 Y-0.7000 Z2.5000"


def test_a_motion_stated_on_a_line_of_its_own():
    text = "G21 G90 G0 X0 Y0 Z0\nG1 F500\nX100\nY50\nG3 X90 Y60 I-10 J0\nG1\nX0 Y0"
    program = read(text)
    assert Gcode().write(program, Changes.none(program))["part.nc"].decode() == text
    assert shifted(program).splitlines()[-2:] == ["G1", "X1.2000 Y-0.7000"]


def test_words_of_the_line_are_active_on_its_chords():
    text = "G21 G91 G1 X1 Y1 Z1\nG90 G1 X100 Y50 Z0 F100\nN5 G17 G3 X90 Y60 I-10 J0 F50 M8 (corner)\nM30"
    program = read(text)
    assert program.skipped[0].reason.startswith("X and Y and Z are not known")
    lines = shifted(program, tolerance=1e-3).splitlines()
    assert lines[2].startswith("G17 F50 G1 X")
    assert lines[-2].startswith("N5 G17 G1 X")
    assert lines[-2].endswith("F50 M8 (corner)")


def test_points_are_put_in_before_a_line():
    program = read("G21 G90 G1 X0 Y0 Z0 F100\nX100 F50\nG0 X0")
    at = Inserted(np.array([[0.05, 1e-4, 0]]), np.full((1, 3, 3), np.nan))
    out = Gcode().write(program, replace(Changes.none(program), inserted={1: at}))["part.nc"].decode().splitlines()
    assert out == ["G21 G90 G1 X0 Y0 Z0 F100", "F50 G1 X50.0000 Y0.1000", "X100 F50 Y0.0000", "G0 X0"]
    with refused("no-points"):
        Gcode().write(program, replace(Changes.none(program), inserted={2: at}))


def test_tool_axes_of_siemens():
    program = read(SIEMENS)
    assert [(t.line, t.kind) for t in program.targets] == [
        (4, "axis"),
        (5, "axis"),
        (6, "axis"),
        (8, "axis"),
        (9, "axis"),
    ]
    np.testing.assert_allclose(program.rotations[1][:, 2], [0.1, 0, 0.99498744], atol=1e-8)
    assert [s.line for s in program.skipped] == [7, 10]
    turn = about("y", 0.5)
    points = {i: Inserted(p.positions, turn @ p.rotations) for i, p in chords(program, 1e-3).items()}
    new = replace(Changes.none(program), rotations=turn @ program.rotations, inserted=points)
    out = Gcode().write(program, new)["part.nc"].decode().splitlines()
    line = next(s for s in out if s.startswith("N40"))
    x, z = (float(line.split(w)[1].split()[0]) for w in ("A3=", "C3="))
    np.testing.assert_allclose([x, 0, z], turn @ [0.1, 0, 0.99498744], atol=2e-8)
    assert "X=10.5 Y10 Z0" in line


@pytest.mark.parametrize(
    ("rotary", "words"), [("ZY", "C30 B20"), ("ZX", "C30 A20"), ("XY", "A30 B20"), ("ZYX", "A10 B20 C30")]
)
def test_rotary_words_turn_the_tool_as_stated(rotary, words):
    program = read(f"G21 G90 G1 X0 Y0 Z0 {words}\nX10", Given(rotary=rotary))
    said = {w[0]: float(w[1:]) for w in words.split()}
    letters = {"X": ("A", "x"), "Y": ("B", "y"), "Z": ("C", "z")}
    wanted = np.eye(3)
    for letter in rotary:
        wanted = wanted @ about(letters[letter][1], said[letters[letter][0]])
    np.testing.assert_allclose(program.rotations[0], wanted, atol=1e-14)
    turn = about("x", 0.2) @ about("y", -0.3)
    new = replace(Changes.none(program), rotations=turn @ program.rotations)
    out = Gcode().write(program, new)["part.nc"].decode().splitlines()
    assert out[1] == "X10"
    got = {w[0]: float(w[1:]) for w in out[0].split() if w[0] in "ABC"}
    after = np.eye(3)
    for letter in rotary:
        after = after @ about(letters[letter][1], got[letters[letter][0]])
    np.testing.assert_allclose(after[:, 2], (turn @ wanted)[:, 2], atol=2e-7)
    if len(rotary) == 3:
        np.testing.assert_allclose(after, turn @ wanted, atol=2e-7)


def test_rotary_words_are_kept_where_nothing_is_stated():
    program = read("G21 G90 G1 X0 Y0 Z0 B20\nX10 B30")
    assert any("A B C are kept" in n for n in program.notes)
    assert shifted(program, np.array([1e-3, 0, 0])) == "G21 G90 G1 X1.0000 Y0 Z0 B20\nX11.0000 B30"
    with refused("format", "XX"):
        read(given=Given(rotary="XX"))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("M98 P1000", "calls another program"),
        ("G65 P9000 X1", "macro call"),
        ("X[#1+2]", "is not known when the file is read"),
        ("X=IC(5)", "is not known when the file is read"),
        ("R1=5", ""),
        ("R1=5 X=R1", "is not known when the file is read"),
        ("G#1 X5", "is not known when the file is read"),
        ("G81 X1 Y1 Z-5 R2", "drilling cycle"),
        ("G53 Z0", "machine coordinates"),
        ("G12.1 X3", "G12.1 is not followed"),
        ("G3 X0 Y0 I77", "mm from its centre"),
        ("G3 X0 Y0 R1", "no arc of radius 1 mm"),
        ("G3 X0 Y0", "neither centre nor radius"),
    ],
)
def test_after_a_line_that_is_not_followed_the_position_must_be_stated_again(line, reason):
    program = read(f"G21 G90 G1 X10 Y10 Z10\n{line}\nG80\nG1 Z5\nX1 Y1\nX2")
    if not reason:
        assert [m.line for m in program.moves] == [1, 4, 5, 6]
        return
    assert [(s.line, s.reason.split(";")[0]) for s in program.skipped][1:] == [(4, "X and Y are not known here")]
    assert reason in program.skipped[0].reason
    assert places(program) == [[10, 10, 10], [1, 1, 5], [2, 1, 5]]


def test_cutter_compensation_is_said():
    program = read("G21 G90 G1 X1 Y1 Z1\nG41 D1 X5")
    assert len(program.targets) == 2
    assert any("line 2: the control offsets the path" in n for n in program.notes)


def test_shifted_frames_have_another_name():
    program = read("G21 G90 G54 G1 X1 Y1 Z1\nG92 X0 Y0 Z0\nX1 Y1 Z1\nG55 X1 Y1 Z1")
    assert [t.base for t in program.targets] == ["G54", "G54 as changed by G92 in line 2", "G55"]
    assert all(m.start is None for m in program.moves)


def test_the_example():
    program = Gcode().read(example("contour.nc"), Given(orientation=np.diag([1.0, -1, -1])))
    assert [np.degrees(m.arc.angle) for m in program.moves if m.arc] == pytest.approx([90] * 4)
    assert [s.line for s in program.skipped] == [22]
    assert Rotation.from_matrix(program.rotations[0]).magnitude() == pytest.approx(np.pi)


@pytest.mark.parametrize(("word", "said"), [("", True), ("G21", False), ("G20", False), ("G71", False)])
def test_a_unit_that_no_word_says_is_named(word: str, said: bool) -> None:
    text = f"G90 G54 {word}\nG0 X0 Y0 Z1\nG1 X4.\nX5.\nX6.\n"
    program = read_program(text, "gcode")
    assert any("MM ARE ASSUMED" in note for note in program.notes) is said
    late = read_program("G0 X0 Y0 Z1\nG20\nG1 X4.\n", "gcode")
    assert any("MM ARE ASSUMED" in note for note in late.notes)


@pytest.mark.parametrize(("line", "said"), [("", True), ("UNITS/MM\n", False), ("UNITS/INCHES\n", False)])
def test_the_same_of_apt(line: str, said: bool) -> None:
    program = read_program(f"PARTNO A\n{line}GOTO/0,0,1\nGOTO/4,0,1\n", "apt")
    assert any("MM ARE ASSUMED" in note for note in program.notes) is said
