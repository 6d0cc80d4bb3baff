"""Lines that stay as they are run under the motion that they had, also behind an arc that became chords."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.programs import encoded, gcode_motions
from oracle.refusals import refused

from elastocal.compensation.posts.gcode import Gcode
from elastocal.compensation.posts.gcode_words import Use, line_of, motion_use
from elastocal.compensation.posts.text import Text
from elastocal.compensation.program import Changes, Inserted
from elastocal.compensation.stations import chords

ARC = "G21 G90 G54\nG0 X0 Y0 Z50\nG1 Z0 F300\nG2 X10 Y0 I5 J0\n"
SHIFT = np.array([1.2e-3, -0.7e-3, 2.5e-3])


def corrected(text):
    program = Gcode().read(encoded({"part.nc": text}))
    points = {i: Inserted(p.positions + SHIFT, p.rotations) for i, p in chords(program, 1e-3).items()}
    changes = replace(Changes.none(program), positions=program.positions + SHIFT, inserted=points)
    return Gcode().write(program, changes)["part.nc"].decode()


RELYING = (
    "X#1 Y0 I5 J0", "X[10+10] Y0 I5 J0", "N5 X#1 I5 J0", "N5 X[2*[#1+3]] I5", "X=R1 I5", "R1=20 X=R1 I5",
    "X=IC(5) CR=5", "#1=20\nX#1 Y0 I5 J0", "X20 Y0 I77 J0", "M8\nG40\nX#1 I5", "X#<wide> I5", "  X#1 I5",
)  # fmt: skip


@pytest.mark.parametrize("lines", RELYING)
def test_a_line_that_relies_on_the_arc_before_is_told_it(lines):
    text = f"{ARC}{lines} (here)\nX#2 I5 (next)\nM30\n"
    out = corrected(text)
    assert "G1 X11.2000" in out  # the arc did become chords
    assert gcode_motions(out) == gcode_motions(text)
    assert gcode_motions(text)["here"] == 2
    assert out.splitlines()[-3].replace("G2 ", "", 1) == text.splitlines()[-3]


@pytest.mark.parametrize("code", ["X#1 I5", "N5 X#1 I5", "/X#1 I5", "N5 /2 X20 Y0 I5 J0"])
def test_the_word_stands_behind_the_number_of_the_line(code):
    head, tail = code[: code.index("X")], code[code.index("X") :]
    assert corrected(f"{ARC}{code}\n").splitlines()[-1] == f"{head}G2 {tail}"


@pytest.mark.parametrize(
    "line",
    ["G81 X100 Y20 Z-5 R2", "G83 X1 Y1 Z-5 R2 Q1", "G33 Z-5 K1", "G5 X1 Y1 I0 J1 P0 Q-1", "G38.2 Z-5 F10",
     "G28 X0 Y0", "G92 X0 Y0", "G68 X0 Y0 R45", "G53 G0 Z0", "X#1 G1 Y0", "G4 X2", "M8", "F#3", "G1", "M30"],
)  # fmt: skip
def test_nothing_is_added_to_a_line_with_another_use_for_its_words(line):
    text = f"{ARC}{line} (here)\nG80\n"
    out = corrected(text)
    gcode_motions(out)  # refuses two motions
    assert out.splitlines()[-2:] == text.splitlines()[-2:]
    assert out.splitlines()[-3].startswith("G1 X11.2000")


def test_the_motion_holds_again_after_a_drilling_cycle():
    text = f"{ARC}G81 X100 Y20 Z-5 R2\nX110\nX120 Y#1\nG80\nX#1 I5 (here)\n"
    assert corrected(text).splitlines()[-5:] == [*text.splitlines()[-5:-1], "G2 X#1 I5 (here)"]


@pytest.mark.parametrize(
    "line", ["G65 P9000 X1", "M98 P100", "M99", "L100", "CONTOUR1", "IF [#1 GT 5] GOTO 10", "END1", "G12.1", "G#5 X10"]
)
def test_what_is_not_seen_gets_the_motion_by_a_line_of_its_own(line):
    """A macro may ask for it, a jump may lead to a line that relies on it."""
    out = corrected(f"{ARC}{line} (here)\nX#2 I5\n").splitlines()
    assert out[-3:] == ["G2", f"{line} (here)", "X#2 I5"]
    assert out[-4].startswith("G1 X11.2000")


def test_a_line_that_may_be_switched_off_leaves_both_open():
    """Its word counts only where it runs, so the next line is told as well; its own motion hides the one before."""
    out = corrected(f"{ARC}/X20 Y0 I5 J0\nX#1 I5\n").splitlines()
    assert out[-2:] == ["/G2 X20 Y0 I5 J0", "G2 X#1 I5"]
    out = corrected(f"{ARC}/G1 X20 Y0\nX#1 I5\n").splitlines()
    assert [out[-3], out[-1]] == ["G2", "X#1 I5"]
    assert out[-2].startswith("/G1 X21.2000")


def test_an_arc_stated_on_a_line_of_its_own_is_straightened_again():
    """Where chords stand on the arc's end already, no line with G1 comes before."""
    program = Gcode().read(encoded({"part.nc": f"{ARC}G2\nX20 Y0 I5 J0\n"}))
    points = {2: chords(program, 1e-3)[2], 3: Inserted(program.positions[[2]] + SHIFT, program.rotations[[2]])}
    points[2] = Inserted(points[2].positions + SHIFT, points[2].rotations)
    changes = replace(Changes.none(program), positions=program.positions + SHIFT, inserted=points)
    out = Gcode().write(program, changes)["part.nc"].decode().splitlines()
    assert out[-2] == "G2"
    assert out[-1].startswith("G1 X21.2000")


@pytest.mark.parametrize("line", ["/X100", "G93 X100 F2"])
def test_no_points_before_a_line_that_they_would_not_go_with(line):
    """They would be run where it is switched off, or each take the time that F states for the whole line."""
    program = Gcode().read(encoded({"part.nc": f"G21 G90 G1 X0 Y0 Z0 F100\n{line}\n"}))
    inserted = {1: Inserted(np.array([[0.05, 1e-4, 0]]), np.full((1, 3, 3), np.nan))}
    with refused("no-points"):
        Gcode().write(program, replace(Changes.none(program), inserted=inserted))


def test_an_arc_by_its_time_is_left_as_it_is():
    program = Gcode().read(encoded({"part.nc": ARC.replace("G2", "G93 G2").replace("J0", "J0 F4")}))
    assert [(s.line, "G93" in s.reason) for s in program.skipped] == [(4, True)]


def test_a_code_behind_a_variable_is_read():
    program = Gcode().read(encoded({"part.nc": f"{ARC}X#1 G1 Y0\nX1 Y1 Z1\nX2 Y1 I5\nG#1\nX3 Y3 Z3\n"}))
    assert [(m.line, m.motion) for m in program.moves][-2:] == [(6, "linear"), (7, "linear")]
    assert program.skipped[-1].line == 9


@pytest.mark.parametrize(
    ("code", "use"),
    [("O100 while [#1 LT 5]", Use.PASSES), ("O<sub> call [3]", Use.PASSES), ("G5.1 Q1", Use.PASSES),
     ("G43 H1 Z5", Use.RELIES), ("G16 X5 Y30", Use.RELIES), ("G6.2 X1 P4", Use.STATES)],
)  # fmt: skip
def test_uses_of_the_motion(code, use):
    line = line_of(Text("part.nc", code), 1)
    assert motion_use(line, False) is use


def test_an_arc_left_as_it_is_starts_from_a_corrected_place():
    """Its centre then is at two distances from start and end; after a line that is not followed nothing is known."""
    program = Gcode().read(encoded({"part.nc": f"{ARC}X#1 Y0 I5 J0\nX#2 Y0 I5 J0\nG1 X0 Y0 Z0\nX#1\n"}))
    assert [(s.line, "corrected place" in s.reason) for s in program.skipped] == [(5, True), (6, False), (8, False)]
