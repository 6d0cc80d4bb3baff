"""A long program corrected piece by piece is, byte for byte, the one corrected as a whole."""

from __future__ import annotations

from functools import partial
from math import cos, sin

import numpy as np
import pytest

from elastocal.compensation.posts.post import parsed, post_kinds
from elastocal.compensation.process import ProcessLoad
from elastocal.compensation.program import Given
from elastocal.compensation.run import compensate
from elastocal.compensation.streamed import streamed
from elastocal.errors import InputError
from elastocal.files.robot.read import read_robot
from elastocal.spatial.pose import Pose

NEAR = np.radians([0.0, -90.0, 90.0, 0.0, 90.0, 0.0])
GIVEN = Given({"1": Pose(np.eye(3), np.array([1.75, 0.0, 0.8]))}, {"1": Pose(np.eye(3), np.array([0.0, 0.1, 0.2]))})
LINES = 90
PART = GIVEN.bases["1"], GIVEN.tools["1"]
NAMES = {"krl": "part.src", "rapid": "part.mod", "csv": "part.csv", "apt": "part.apt", "urscript": "part.script"}
FRAMES = {"krl": GIVEN, "rapid": Given({"wPart": PART[0]}, {"tMill": PART[1]}), "csv": Given({}, {"tool": PART[1]}),
          "apt": Given({"base": PART[0]}, {"tool": PART[1]}, np.diag([1.0, -1, -1])), "urscript": Given()}  # fmt: skip


def rapid(lines: int = LINES) -> bytes:
    """The same: tool and work object are stated in RAPID's own way."""
    rows = ["MODULE part", "CONST speeddata v1:=[50,500,5000,1000];", "PROC main()",
            "MoveAbsJ [[0,-90,90,0,90,0],[9E9,9E9,9E9,9E9,9E9,9E9]],v100,z1,tMill\\WObj:=wPart;"]  # fmt: skip
    for i in range(lines):
        x, y, z, turn = 300 * cos(i / 20), 300 * sin(i / 20), -i / 10, np.radians(1.5 * i) / 2
        pose = f"[[{x:.3f},{y:.3f},{z:.3f}],[0,{cos(turn):.8f},{-sin(turn):.8f},0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]]"
        rows.append(f"  MoveL {pose},v50,z1,tMill\\WObj:=wPart; ! {i}")
    return "\r\n".join([*rows, "ENDPROC", "ENDMODULE", ""]).encode()


def table(lines: int = LINES) -> bytes:
    """The same: the base is stated by a comment behind all rows, which holds in every piece."""
    rows = [
        f"{300 * cos(i / 20):.3f},{300 * sin(i / 20):.3f},{-i / 10:.3f},{-1.5 * i:.1f},0.0,180" for i in range(lines)
    ]
    base = "# base {X 1750,Y 0,Z 800,A 0,B 0,C 0}"
    return "\n".join(["x_mm,y_mm,z_mm,a_deg,b_deg,c_deg", *rows, base, ""]).encode()


def apt(lines: int = LINES) -> bytes:
    """The same with a rapid move to its start, in millimetres, the axis of some lines that of those before."""
    rows = ["UNITS/MM", "MULTAX/ON", "FEDRAT/500,MMPM", "RAPID"]
    for i in range(lines):
        x, y, z, lean = 300 * cos(i / 20), 300 * sin(i / 20), -i / 10, 0.2 * sin(i / 30)
        rows.append(f"GOTO/{x:.4f},{y:.4f},{z:.4f},{sin(lean):.8f},0.0,{cos(lean):.8f}")
    return "\n".join([*rows, "GOTO/0,0,100 $$ back", "FINI", ""]).encode()


def urscript(lines: int = LINES) -> bytes:
    """The same: the base is the robot's own, a tool is set, a loop stands round the run."""
    rows = ["def part():", "  set_tcp(p[0,0.1,0.2,0,0,0])", "  while True:", "    movej([0,-1.57,1.57,0,1.57,0])"]
    for i in range(lines):
        x, y, z = 1.75 + 0.3 * cos(i / 20), 0.3 * sin(i / 20), 0.8 - i / 1e4
        rows.append(f"    movel(p[{x:.6f},{y:.6f},{z:.6f},3.1,{i / 1e3:.4f},0.0],a=1.2,v=0.05,r=0.001) # {i}")
    return "\r\n".join([*rows, "    movel(p[1.75,0.0,0.9,3.1,0.0,0.0])", "  end", "end", ""]).encode()


def text(lines: int = LINES, end: str = "\r\n") -> bytes:
    """A start by axes, a run along a spiral with comments, and a way back."""
    rows = ["DEF part()", "BAS(#BASE,1)", "BAS(#TOOL,1)", "PTP {A1 0,A2 -90,A3 90,A4 0,A5 90,A6 0}", "$VEL.CP=0.05"]
    for i in range(lines):
        x, y, z = 300 * cos(i / 20), 300 * sin(i / 20), -i / 10
        rows.append(f"LIN {{X {x:.3f},Y {y:.3f},Z {z:.3f},A {-1.5 * i:.1f},B 0.0,C 180.0}} C_DIS ; {i}")
    rows += ["LIN {X 0,Y 0,Z 100,A 0,B 0,C 180}", "PTP {A1 0,A2 -90,A3 90,A4 0,A5 90,A6 0}", "END"]
    return end.join([*rows, ""]).encode()


def corrected(data: bytes, size: int, kind: str = "krl", **options: object):
    """As a whole, and in pieces."""
    files, given = {NAMES[kind]: data}, FRAMES[kind]
    load = ProcessLoad(wrench=np.array([-400.0, 0, -150, 0, 0, 0]))
    call = partial(compensate, read_robot("kuka-kr270"), load=load, **options)
    run = post_kinds()[kind]().long(files, 20, size, 10)
    assert run is not None
    whole = call(parsed(files, given, kind), near=NEAR)
    pieces = streamed(
        run, given, "",
        lambda program, near: call(program, near=NEAR if near is None else near, judged=False),
        lambda program, _: call(program, near=NEAR),
    )  # fmt: skip
    return run, whole, pieces


@pytest.mark.parametrize("size", [20, 23, 90])
def test_pieces_give_the_bytes_of_the_whole(size):
    run, whole, pieces = corrected(text(), size)
    assert len(run) == LINES + 1
    assert pieces is not None
    assert pieces.files == whole.files
    assert pieces.files["part.src"] != text()
    of_whole, of_pieces = (
        {m.line: off for m, off in zip(c.along.moves, c.along.off, strict=True)} for c in (whole, pieces)
    )
    assert of_pieces.keys() == of_whole.keys()
    assert of_pieces[whole.along.worst.line] == pytest.approx(whole.along.most, rel=1e-6)
    assert pieces.along.worst.line == whole.along.worst.line


@pytest.mark.parametrize(
    ("kind", "data"), [("rapid", rapid()), ("csv", table()), ("apt", apt()), ("urscript", urscript())]
)
def test_other_languages_are_cut_too(kind, data):
    run, whole, pieces = corrected(data, 20, kind)
    assert len(run) in (LINES, LINES + 1)
    assert pieces is not None
    assert pieces.files == whole.files
    assert whole.corrected.all()
    assert pieces.files[NAMES[kind]] != data


@pytest.mark.parametrize(
    ("kind", "data", "step"), [("krl", text(), 2e-7), ("rapid", rapid(), 2e-9), ("csv", table(), 2e-9)]
)
def test_points_between_targets_are_put_in_across_the_cuts(kind, data, step):
    _, whole, pieces = corrected(data, 20, kind, densify=step)
    assert pieces is not None
    assert whole.inserted > 0
    assert pieces.files == whole.files


def test_a_table_with_its_own_loads_is_corrected_as_a_whole():
    rows = table().decode().splitlines()
    loaded = [f"{rows[0]},fx_N", *(f"{row},{i}" for i, row in enumerate(rows[1:-1])), rows[-1], ""]
    given, files = FRAMES["csv"], {"part.csv": "\n".join(loaded).encode()}
    run = post_kinds()["csv"]().long(files, 20)

    def never(program, near):
        raise AssertionError

    assert streamed(run, given, "", never, never) is None


def test_what_is_shown_keeps_its_lines_and_the_totals_are_of_all():
    _, whole, pieces = corrected(text(end="\n"), 30)
    lines = {m.line for m in pieces.program.moves}
    assert lines < {m.line for m in whole.program.moves}
    assert len(pieces.job.placed.stations) == 2 + 10
    said = pieces.warnings[0]
    assert said.code == "in-pieces"
    assert said.data["targets"] == len(whole.job.placed.stations)
    assert said.data["corrected"] == int(whole.corrected.sum())
    np.testing.assert_allclose(pieces.before.position[3], whole.before.position[sorted(lines)[3] - 5], atol=1e-12)


def test_lines_that_are_left_are_named_by_their_place_in_the_whole():
    data = text().replace(b"LIN {X 0,Y 0,Z 100,A 0,B 0,C 180}", b"LIN XSOMEWHERE")
    _, whole, pieces = corrected(data, 20)
    assert pieces is not None
    assert [(s.line, s.reason) for s in pieces.left] == [(s.line, s.reason) for s in whole.left]


def test_errors_in_a_piece_name_their_line_in_the_whole():
    data = text()
    run, row = post_kinds()["krl"]().long({"part.src": data}, 20, 20, 10), data.splitlines()[60]
    call = partial(compensate, read_robot("kuka-kr270"), judged=False)

    def refusing(program, near):
        lines = program.files["part.src"].splitlines()
        if row in lines:
            place = lines.index(row) + 1
            raise InputError(f"part.src, line {place}: too far", file="part.src", line=place)
        return call(program, near=NEAR if near is None else near)

    with pytest.raises(InputError, match=r"^part.src, line 61: too far") as told:
        streamed(run, FRAMES["krl"], "", refusing, lambda program, _: call(program, near=NEAR))
    assert told.value.line == 61


@pytest.mark.parametrize("data", [text(15), b"DEF a()\nLIN XP1\nEND\n" * 40, text().replace(b"X", b"Q")])
def test_short_runs_and_other_lines_are_not_cut(data):
    assert post_kinds()["krl"]().long({"part.src": data}, 20) is None


def test_languages_without_lines_that_stand_alone_are_not_cut():
    assert post_kinds()["fanuc"]().long({"part.ls": b"/PROG A\n" * 100}, 20) is None
