"""Long programs with statements between their moves are, cut anywhere, byte for byte those corrected as a whole."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from oracle.draws import draws

from elastocal.compensation.loads import Milling
from elastocal.compensation.posts.post import parsed, post_kinds
from elastocal.compensation.process import ProcessLoad
from elastocal.compensation.program import Given
from elastocal.compensation.run import compensate
from elastocal.compensation.streamed import streamed
from elastocal.files.robot.read import read_robot
from elastocal.spatial.pose import Pose

NEAR = np.radians([0.0, -90.0, 90.0, 0.0, 90.0, 0.0])
PART, TOOL = Pose(np.eye(3), np.array([1.75, 0.0, 0.8])), Pose(np.eye(3), np.array([0.0, 0.1, 0.2]))
LOAD = ProcessLoad(wrench=np.array([-400.0, 0, -150, 0, 0, 0]))
CUTTER = Milling(
    specific_force=9e8, axial_depth=3e-3, radial_engagement=6e-3, diameter=2e-2, teeth=2, spindle=100.0, exponent=0.2
)
CUT = ProcessLoad(milling=CUTTER, feed=0.05)
NAMES = {"krl": "part.src", "rapid": "part.mod", "apt": "part.apt", "urscript": "part.script"}
FRAMES = {
    "krl": Given({"1": PART}, {"1": TOOL}), "rapid": Given({"wPart": PART}, {"tMill": TOOL}),
    "apt": Given({"base": PART}, {"tool": TOOL}, np.diag([1.0, -1, -1])), "urscript": Given(),
}  # fmt: skip
KRL = [
    ";FOLD LIN;%{PE}", "", "$OUT[3]=TRUE ; on", "WAIT SEC 0.2", "WAIT FOR ( IN 1 'ready' )", "$ACC={CP 1.0,ORI1 50.0}",
    "TRIGGER WHEN DISTANCE=0 DELAY=20 DO $OUT[4]=FALSE", "BAS(#ACC_CP,50)", "CONTINUE", "LIN {Z -7.5}",
    "lin {X 21,Y 3}", "LIN_REL {X 5,Y 0,Z 1}",
    "CIRC {X 15,Y 20,Z -3,A 0,B 0,C 180},{X 30,Y 0,Z -3,A 0,B 0,C 180} C_DIS",
    "PTP {A1 0,A2 -90,A3 90,A4 0,A5 90,A6 0}", "$VEL.CP=0.02", "$vel.cp=0.11 ; slow", "BAS(#VEL_CP,0.07)",
    "LIN {X XHOME,Y 3}", "$VEL={CP 0.1,ORI1 200}",
]  # fmt: skip
EAX = "[9E9,9E9,9E9,9E9,9E9,9E9]"
DOWN = f"[0,1,0,0],[0,0,0,0],{EAX}"
RAPID = [
    "! FOLD", "", "SetDO do1,1;", "  WaitTime 0.5; ! rest", 'TPWrite "next; ! row";', "ConfL\\Off;", "AccSet 50,100;",
    "WaitDI di1,1\\MaxTime:=5;", "Set doOn;",
    f"MoveAbsJ [[0,-90,90,0,90,0],{EAX}]\\NoEOffs,v100,z1,tMill\\WObj:=wPart;",
    f"MoveC [[15,20,-3],{DOWN}],[[30,0,-3],{DOWN}],v50,z1,tMill\\WObj:=wPart;", "VelSet 50,800;",
]  # fmt: skip
URSCRIPT = [
    "# row", "", "sleep(0.5)", "set_standard_digital_out(3, True)", 'textmsg("next (row) # 2")', "sync()",
    "movej([0,-1.57,1.57,0,1.57,0],a=0.5,v=0.2)", "set_tool_digital_out(0, False) # off", "stopl(1.2)",
    "movec(p[1.8,0.1,0.8,3.1,0,0],p[1.85,0.0,0.8,3.1,0,0],a=1.2,v=0.05,r=0.001)",
]  # fmt: skip
APT = ["$$ row", "", "PPRINT/next $$ 2", "COOLNT/ON", "SPINDL/9000,RPM,CLW", "RAPID", "FEDRAT/300,MMPM", "FEDRAT/12.5",
       "DELAY/2"]  # fmt: skip


def krl(x: float, y: float, z: float) -> str:
    return f"LIN {{X {x:.3f},Y {y:.3f},Z {z:.3f},A 10,B {y / 10:.1f},C 180.0}} C_DIS"


def rapid(x: float, y: float, z: float) -> str:
    return f"MoveL [[{x:.3f},{y:.3f},{z:.3f}],{DOWN}],v50,z1,tMill\\WObj:=wPart;"


def urscript(x: float, y: float, z: float) -> str:
    return f"movel(p[{1.75 + x / 1e3:.6f},{y / 1e3:.6f},{0.8 + z / 1e3:.6f},3.1,0.0,0.0],a=1.2,v=0.05,r=0.001)"


def apt(x: float, y: float, z: float) -> str:
    return f"GOTO/{x:.4f},{y:.4f},{z:.4f},{y / 1e3:.6f},0.0,1.0"


LANGUAGES = {
    "krl": (krl, KRL, ["DEF part()", "BAS(#BASE,1)", "BAS(#TOOL,1)", "PTP {A1 0,A2 -90,A3 90,A4 0,A5 90,A6 0}",
                       "$VEL.CP=0.05"], ["PTP {A1 0,A2 -90,A3 90,A4 0,A5 90,A6 0}", "END"]),
    "rapid": (rapid, RAPID, ["MODULE part", "PROC main()", "WHILE TRUE DO"], ["ENDWHILE", "ENDPROC", "ENDMODULE"]),
    "urscript": (urscript, URSCRIPT,
                 ["def part():", "  set_tcp(p[0,0.1,0.2,0,0,0])", "  while True:"], ["  end", "end"]),
    "apt": (apt, APT, ["UNITS/MM", "MULTAX/ON", "FEDRAT/500,MMPM"], ["FINI"]),
}  # fmt: skip


@cache
def arm():
    return read_robot("kuka-kr270")


def both(kind: str, data: bytes, size: int, load: ProcessLoad = LOAD, **options: object):
    """As a whole, and in pieces."""
    files, given = {NAMES[kind]: data}, FRAMES[kind]
    call = partial(compensate, arm(), load=load, judged=False, **options)
    run = post_kinds()[kind]().long(files, 1, size, 10)
    assert run is not None
    pieces = streamed(
        run, given, "", lambda program, near: call(program, near=NEAR if near is None else near),
        lambda program, _: call(program, near=NEAR),
    )  # fmt: skip
    return run, call(parsed(files, given, kind), near=NEAR), pieces


@st.composite
def text(draw: st.DrawFn, kind: str) -> bytes:
    """Whole targets, and up to three statements between them."""
    line, statements, head, tail = LANGUAGES[kind]
    place, rows = st.integers(-150, 150), []
    for i in range(draw(st.integers(20, 45))):
        rows.append(line(draw(place) / 3 + i / 7, draw(place) / 2, -i / 10))
        rows += draw(st.lists(st.sampled_from(statements), max_size=3))
    return draw(st.sampled_from(["\n", "\r\n"])).join([*head, *rows, line(0, 0, 0), *tail, ""]).encode()


@pytest.mark.parametrize("kind", LANGUAGES)
@settings(max_examples=draws(10, 150), phases=[Phase.generate])
@given(st.data(), st.sampled_from([16, 19]), st.booleans(), st.sampled_from([LOAD, CUT]))
def test_pieces_give_the_bytes_of_the_whole(kind: str, data: st.DataObject, size: int, dense: bool, load: ProcessLoad):
    program = data.draw(text(kind))
    assume(post_kinds()[kind]().long({NAMES[kind]: program}, 1, size, 10) is not None)
    run, whole, pieces = both(kind, program, size, load, **({"densify": 1e-5} if dense else {}))
    assert pieces is not None
    assert pieces.files == whole.files
    assert whole.changes.changed(whole.program).any()
    _, _, head, tail = LANGUAGES[kind]
    assert len(run) == program.count(b"\n") - len(head) - len(tail)
    assert len(tuple(run.pieces())) > 1
    assert [(s.line, s.reason) for s in pieces.left] == [(s.line, s.reason) for s in whole.left]
    said = pieces.warnings[0].data
    assert said["targets"] == len(whole.job.placed.stations)
    assert said["corrected"] == int(whole.corrected.sum())


@pytest.mark.parametrize("kind", LANGUAGES)
def test_a_cutter_comes_to_the_start_of_a_piece_as_in_the_whole(kind: str):
    """Its force at both ends of a line decides where further points go."""
    line, _, head, tail = LANGUAGES[kind]
    rows = [line(40 * (-1) ** i, 30 * (i % 3), -i / 10) for i in range(24)]
    data = "\n".join([*head, *rows, *tail, ""]).encode()
    _, whole, pieces = both(kind, data, 6, CUT, densify=1e-6)
    assert pieces is not None
    assert whole.inserted > len(rows) / 2
    assert pieces.files == whole.files


@pytest.mark.parametrize("kind", ["krl", "apt"])
def test_speeds_that_were_set_before_a_piece_hold_in_it(kind: str):
    """The force of milling goes with the feed."""
    line, _, head, tail = LANGUAGES[kind]
    speeds = {"krl": ["$VEL.CP=0.02", "BAS(#VEL_CP,0.07)"], "apt": ["FEDRAT/1200,MMPM", "FEDRAT/12.5,IPM"]}[kind]
    rows = [line(i, 10 * np.sin(i / 9), -i / 10) for i in range(40)]
    rows[5:5], rows[20:20] = [speeds[0]], [speeds[1], ""]
    data = "\n".join([*head, *rows, *tail, ""]).encode()
    _, whole, pieces = both(kind, data, 6, ProcessLoad(milling=CUTTER))
    assert pieces is not None
    assert pieces.files == whole.files
    wrench = {int(n): w for n, w in zip(whole.job.placed.stations.lines, whole.job.loads.wrench, strict=True)}
    shown = zip(pieces.job.placed.stations.lines[5:15].tolist(), pieces.job.loads.wrench[5:15], strict=True)
    for number, force in shown:
        np.testing.assert_allclose(np.linalg.norm(force), np.linalg.norm(wrench[number]), rtol=1e-6)


@pytest.mark.parametrize(
    ("kind", "word"),
    [("krl", "$BASE={X 0,Y 0,Z 0,A 0,B 0,C 0}"), ("krl", "PART_IN()"), ("krl", "IF $IN[1] THEN"),
     ("krl", "COUNT=COUNT+1"), ("krl", "WAIT FOR READY()"), ("krl", "BAS(#TOOL,2)"), ("krl", "$LOAD.M=12"),
     ("rapid", "PDispSet pe1;"), ("rapid", "nRow:=nRow+1;"), ("rapid", "IF di1=1 WaitTime 1;"), ("rapid", "drop;"),
     ("urscript", "set_tcp(p[0,0,0,0,0,0])"),
     ("urscript", "row = row + 1"), ("urscript", "drop()"), ("apt", "CYCLE/DRILL,1"), ("apt", "UNITS/INCHES"),
     ("apt", "TLAXIS/0,0.1,1"), ("apt", "SPINDL/900 $")],
)  # fmt: skip
def test_statements_that_reach_further_end_a_run(kind: str, word: str):
    line, _, head, tail = LANGUAGES[kind]
    rows = [line(i, 0, 0) for i in range(30)]
    data = "\n".join([*head, *rows[:20], word, *rows[20:], *tail, ""]).encode()
    run = post_kinds()[kind]().long({NAMES[kind]: data}, 1, 5, 10)
    assert run is not None
    assert len(run) == 20


def test_a_run_with_too_many_statements_between_two_targets_stays_whole():
    line, _, head, tail = LANGUAGES["krl"]
    rows = [line(1, 2, 3), *["WAIT SEC 0.1"] * 12, line(4, 5, 6)]
    files = {"part.src": "\n".join([*head, *rows, *tail, ""]).encode()}
    assert post_kinds()["krl"]().long(files, 1, 10, 10) is None
    assert post_kinds()["krl"]().long(files, 1, 20, 10) is not None
