"""RAPID: what is found, and what a JSON reader finds in the rewritten literals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.programs import EAX, RAPID, about, encoded, of_quaternion, rapid_targets
from oracle.refusals import refused

from elastocal.compensation.posts.rapid import Rapid
from elastocal.compensation.program import Changes, Given, Inserted
from elastocal.spatial.pose import Pose


def read(text=RAPID, given=None):
    return Rapid().read(encoded({"part.mod": text}), given)


def with_lines(*lines: str) -> str:
    head, tail = RAPID.split("  PROC main()\n")[0], "\n  ENDPROC\nENDMODULE\n"
    return head + "  PROC main()\n" + "\n".join(lines) + tail


def test_targets_moves_and_frames():
    program = read()
    assert [t.name for t in program.targets] == ["jHome", "p10", "p20", "", "", ""]
    assert [(m.line, m.motion, m.end) for m in program.moves] == [
        (17, "joint", 0), (19, "linear", 1), (20, "linear", 2), (22, "linear", 3), (23, "arc", 5), (29, "linear", 1),
    ]  # fmt: skip
    assert {s.line: s.reason.split(";")[0] for s in program.skipped} == {
        18: "the shift of Offs is not known when the file is read",
        25: "pCalc is computed or declared again in part.mod, line 24",
        26: "its point is an expression",
        27: "wTurn moves with a mechanical unit (part.mod, line 9)",
        28: "TriggL is not supported",
    }
    base = program.bases["wPart"].pose
    np.testing.assert_allclose(base.translation, [1.7, -0.15, 0.81])
    np.testing.assert_allclose(base.rotation, about("z", 90), atol=1e-15)
    assert program.moves[2].feed == 0.05
    np.testing.assert_allclose(np.degrees(program.joints[0]), [0, -90, 90, 0, 30, -1.5])


def test_the_feed_is_that_of_the_speed_in_mm_per_second():
    """A name of ABB's table says it, and a literal its first number; a variable of the program is not known."""
    words = ("v50", "[13.5,500,5000,1000]", "[ 80, 500,5000,1000 ]", "vCut")
    program = read(with_lines(*(f"    MoveL p10,{word},z1,tMill\\WObj:=wPart;" for word in words)))
    np.testing.assert_allclose([m.feed for m in program.moves], [0.05, 0.0135, 0.08, np.nan])


def test_a_correction_of_a_point_is_said_where_others_use_it():
    program = read()
    assert "it uses p10, which may be corrected" in program.skipped[0].reason
    assert program.notes == (
        "part.mod, line 7: tMill states a mass of 12 kg, which counts in the correction only if it is given as payload",
        "part.mod, line 24: pCalc is computed from p20, which may be corrected",
    )


def test_a_shift_and_a_turn_arrive_in_the_literals():
    program = read()
    turn, shift = about("y", 0.15) @ about("x", -0.2), np.array([1.2e-3, -0.7e-3, 2.5e-3])
    new = replace(
        Changes.none(program), positions=program.positions + shift, rotations=turn @ program.rotations,
        joints=program.joints + np.radians(0.01),
    )  # fmt: skip
    out = Rapid().write(program, new)["part.mod"].decode()
    before, after = rapid_targets(RAPID), rapid_targets(out)
    assert len(before) == len(after) == 5
    for (p, r), (q, s) in zip(before, after, strict=True):
        np.testing.assert_allclose(q, p + shift * 1e3, atol=5.1e-5)
        np.testing.assert_allclose(s, turn @ r, atol=2e-8)
    assert "[[0.01000,-89.99000,90.01000,0.01000,30.01000,-1.49000],[9E9" in out
    assert out.count(EAX) == RAPID.count(EAX)
    assert "[0,-1,0,1]" in out


def test_quaternions_become_of_unit_length_and_keep_their_sign():
    text = with_lines(f"MoveL [[1,2,3],[-0.7071,0,-0.7071,0],[0,0,0,0],{EAX}],v5,z1,tMill\\WObj:=wPart;")
    program = read(text)
    np.testing.assert_allclose(program.rotations[0], of_quaternion(1, 0, 1, 0), atol=1e-15)
    out = Rapid().write(program, replace(Changes.none(program), rotations=about("x", 0.3) @ program.rotations))
    (row,) = [s for s in out["part.mod"].decode().splitlines() if "MoveL" in s]
    q = [float(v) for v in row.split("],[")[1].split(",")]
    assert q[0] < -0.7
    assert abs(np.linalg.norm(q) - 1) < 1e-8
    assert "[[1,2,3],[" in row


def test_points_are_put_in_with_the_speed_and_frames_of_the_move():
    program = read()
    at = Inserted(np.array([[0.05, 0.02, 0.0]]), of_quaternion(0, 0.6, 0.8, 0)[None])
    out = Rapid().write(program, replace(Changes.none(program), inserted={3: at}))["part.mod"].decode().splitlines()
    assert out[21] == (
        "    MoveL [[50.0000,20.0000,0.0000],[0.00000000,0.60000000,0.80000000,0.00000000],"
        f"[0,-1,0,1],{EAX}],v50,z0,tMill\\WObj:=wPart;"
    )
    assert out[22] == RAPID.splitlines()[21]
    with refused("no-points"):
        Rapid().write(program, replace(Changes.none(program), inserted={4: at}))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("MoveL p10,v5,z1,tHeld\\WObj:=wPart;", "tHeld stands outside the robot"),
        ("MoveL p10,v5,z1,tMill\\WObj:=wHeld;", "wHeld is held by the robot"),
        ("MoveL p99,v5,z1,tMill;", "p99 has no value in the files given"),
        ("MoveL pCalc,v5,z1,tMill;", "pCalc has no value in part.mod, line 15"),
        ("MoveL jHome,v5,z1,tMill;", "the other kind of target"),
        (f"MoveL [[1,2,3],[0,0,0,0],[0,0,0,0],{EAX}],v5,z1,tMill;", "expression"),
        ("MoveLDO p10,v5,z1,tMill,do1,1;", "MoveLDO is not supported"),
        ("MoveL p10,v5;", "speed, zone and tool are not plain"),
        ("SearchL di1,pCalc,p10,v5,tMill;", "SearchL is not supported"),
        ("EGMMoveL egm1,p99,v5,z1,tMill;", "EGMMoveL is not supported"),
        ("EGMRunPose egm1,EGM_STOP_HOLD\\x;", "EGMRunPose is not supported"),
        ("MyMoveL\\Slow,p99,v5\\WObj:=wPart;", "MyMoveL is not supported"),
        ("stop1; Moove p99,\n  p10;", "Moove is not supported"),
        (f"Weld [[1,2,3],[1,0,0,0],[0,0,0,0],{EAX}],v5;", "Weld is not supported"),
    ],
)
def test_moves_that_are_left_alone(line, reason):
    extra = (
        "  PERS tooldata tHeld:=[FALSE,[[1,2,3],[1,0,0,0]],[1,[0,0,1],[1,0,0,0],0,0,0]];\n"
        '  PERS wobjdata wHeld:=[TRUE,TRUE,"",[[0,0,0],[1,0,0,0]],[[0,0,0],[1,0,0,0]]];\n'
    )
    text = with_lines(line).replace("  PROC main", extra + "  PROC main")
    program = read(text)
    assert not program.moves
    (skipped,) = program.skipped
    assert reason in skipped.reason


def test_a_procedure_that_is_given_a_corrected_target_is_named():
    move = "MoveL p10,v5,z1,tMill\\WObj:=wPart;"
    program = read(with_lines(move, "MyWay p10,v100;", move))
    assert [m.start for m in program.moves] == [None, None]
    assert [(s.line, s.text, s.reason) for s in program.skipped] == [
        (18, "MyWay p10,v100;", "MyWay is not supported; it uses p10, which may be corrected")
    ]


def test_calls_and_conditions_without_a_move_are_not_named():
    others = ("rOther;", "Remove tMill;", "WHILE Distance(p10.trans,p20.trans)>9 DO", "ENDWHILE", "RETURN p10;",
              "IF nWay>Distance(p10.trans,p20.trans) THEN", "ENDIF", 'TPWrite "MoveL"\\Pos:=p10.trans;')  # fmt: skip
    assert not read(with_lines(*others)).skipped
    move = "MoveL p10,v5,z1,tMill\\WObj:=wPart;"
    away = f"MODULE away\n  PROC main()\n    IF di1=1\n      OR Distance(p10.trans,p20.trans)>9 THEN\n{move}\nENDIF\n"
    files = {"part.mod": with_lines(""), "away.mod": f"{away}  ENDPROC\nENDMODULE\n"}
    program = Rapid().read({name: text.encode() for name, text in files.items()})
    assert (len(program.moves), program.skipped) == (1, ())


def test_displacements_stop_the_correction_until_they_are_off():
    move = "MoveL p10,v5,z1,tMill\\WObj:=wPart;"
    program = read(with_lines("PDispSet pose1;", move, "PDispOff;", move))
    assert [m.line for m in program.moves] == [20]
    assert "displaced by PDispSet in line 17" in program.skipped[0].reason


def test_conditions_hide_where_the_robot_stands():
    move = "MoveL p10,v5,z1,tMill\\WObj:=wPart;"
    program = read(with_lines(move, move, "IF di1=1 " + move, move, "rOther;", move, "WaitTime 1;", move))
    assert [m.start for m in program.moves] == [None, 0, None, None, None, 0]
    assert program.moves[2].fixed


def test_one_point_with_two_tools_cannot_be_corrected():
    program = read(with_lines("MoveL p10,v5,z1,tMill\\WObj:=wPart;", "MoveL p10,v5,z1,tool0\\WObj:=wPart;"))
    assert not program.moves
    assert [s.line for s in program.skipped] == [17, 18]
    assert "tool tMill and tool tool0" in program.skipped[0].reason


def test_axis_values_need_one_tool_but_no_base():
    moves = ("MoveAbsJ jHome,v5,z1,tMill\\WObj:=wPart;", "MoveAbsJ jHome,v5,z1,tMill;", "MoveAbsJ jHome,v5,z1,tool0;")
    assert len(read(with_lines(*moves[:2])).moves) == 2
    assert not read(with_lines(*moves)).moves


def test_frames_are_given_in_any_case_and_must_agree():
    text = with_lines("MoveL p10,v5,z1,tOther\\WObj:=WOBJ7;")
    assert read(text).missing_frames() == ("base WOBJ7 (part.mod, line 10)", "tool tOther (part.mod, line 10)")
    given = Given(bases={"wobj7": Pose(np.eye(3), [1.5, 0, 0])}, tools={"tother": Pose()})
    assert read(text, given).missing_frames() == ()
    with refused("missing", ("base", "wPart")):
        read(given=Given(bases={"wPart": Pose()}))


@pytest.mark.parametrize("head", ["IF done ", "IF done THEN ", "IF i=1 ", "lab: "])
def test_a_move_that_depends_on_a_condition_is_found(head: str) -> None:
    """It is corrected as any other; where the robot stands after it is not known."""
    line = f"MoveL [[1,2,3],[1,0,0,0],[0,0,0,0],{EAX}],v1,z1,tMill;"
    text = f"MODULE m\nPROC main()\n{line}\n{head}{line.replace('[1,', '[5,', 1)}\n{line}\nENDPROC\nENDMODULE\n"
    program = Rapid().read({"m.mod": text.encode()})
    assert [(m.line, m.start is None) for m in program.moves] == [(3, True), (4, True), (5, True)]
    np.testing.assert_allclose(program.positions[1], [5e-3, 2e-3, 3e-3])


def test_the_mass_of_a_tool_in_use_is_not_passed_over() -> None:
    heavy = "  PERS tooldata tBig:=[TRUE,[[0,0,250],[1,0,0,0]],[20,[0,0,120],[1,0,0,0],0,0,0]];\n"
    head, main = with_lines("MoveAbsJ jHome,v100,fine,tBig;").split("  PROC main()\n")
    line = head.count("\n") + 1
    counts = "which counts in the correction only if it is given as payload"
    said = f"part.mod, line {line}: tBig states a mass of 20 kg, {counts}"
    assert read(f"{head}{heavy}  PROC main()\n{main}").notes == (said,)
    unused = main.replace("tBig", "tool0")
    assert read(f"{head}{heavy}  PROC main()\n{unused}").notes == ()
