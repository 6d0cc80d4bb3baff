"""What is active behind calls, in routines, in loops: as a controller would run the lines, not as they stand."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator

import numpy as np
import pytest

from elastocal.compensation.posts.rapid_data import Statements
from elastocal.compensation.program import Program
from elastocal.compensation.run import compensate
from elastocal.files.programs import read_program
from elastocal.files.robot.read import read_robot

P1, P2 = "p[0.7,-0.2,0.3,0,3.14159,0]", "p[0.7,-0.1,0.3,0,3.14159,0]"
A, B = "set_tcp(p[0,0,0.15,0,0,0])", "set_tcp(p[0,0,0.30,0,0,0])"


def urscript(*lines: str) -> Program:
    return read_program("\n".join(("def prog():", *lines, "end", "")), "urscript")


def tool_heights(program: Program) -> dict[int, float]:
    """z of the tool in mm, by line of the move."""
    poses = [program.tools[program.targets[m.end].tool].pose for m in program.moves]
    return {m.line: round(1e3 * p.translation[2]) for m, p in zip(program.moves, poses, strict=True) if p is not None}


def reasons(program: Program) -> dict[int, str]:
    return {s.line: s.reason for s in program.skipped}


def test_a_tool_that_a_function_sets_is_active_behind_its_call_only() -> None:
    program = urscript(A, "def tool2():", B, "end", f"movel({P1})", "tool2()", f"movel({P2})")
    assert tool_heights(program) == {6: 150, 8: 300}
    assert not program.skipped


def test_a_function_has_the_tool_of_its_calls_and_calls_others() -> None:
    inner = ("def wide():", B, "end", "def go():", "wide()", f"movel({P1})", "end")
    program = urscript(*inner, A, "def way():", f"movel({P2})", "end", "way()", "go()", f"movel({P1})")
    assert tool_heights(program) == {7: 300, 11: 150, 15: 300}


def test_different_calls_leave_the_tool_of_a_function_unknown() -> None:
    program = urscript("def way():", f"movel({P1})", "end", A, "way()", B, "way()", f"movel({P2})")
    assert tool_heights(program) == {9: 300}
    assert reasons(program) == {3: "its tool is not known: it is another one at different calls of way"}


def test_functions_that_end_in_two_places_or_call_themselves_leave_the_tool_unknown() -> None:
    early = urscript(A, "def f():", "if x:", "return 1", "end", B, "end", "f()", f"movel({P1})")
    assert reasons(early) == {10: "its tool is not known: f ends in more than one place"}
    again = urscript(A, "def f():", B, "f()", "end", "f()", f"movel({P1})")
    assert reasons(again) == {8: "its tool is not known: f calls itself"}


def test_a_loop_that_changes_the_tool_begins_with_another_the_second_time() -> None:
    program = urscript(A, "while True:", f"movel({P1})", B, f"movel({P2})", "end")
    assert tool_heights(program) == {6: 300}
    assert reasons(program) == {4: "its tool is not known: it changes in the loop that begins in line 3"}
    assert tool_heights(urscript(A, "while True:", f"movel({P1})", "end")) == {4: 150}


def test_a_tool_of_a_branch_or_of_nobody_knows_what_is_asked_for() -> None:
    program = urscript(A, "if x:", B, "else:", f"movel({P1})", "end", f"movel({P2})")
    assert tool_heights(program) == {6: 150}
    assert "tool set in the branch or loop that ends in line 7 (program.script, line 8)" in program.missing_frames()
    program = urscript(A, "set_tcp(get_it())", f"movel({P1})")
    assert "tool line 3 (program.script, line 4)" in program.missing_frames()


def test_a_thread_that_sets_the_tool_leaves_it_unknown() -> None:
    program = urscript(A, "thread t():", B, "end", f"movel({P1})", "run t()", f"movel({P2})")
    assert tool_heights(program) == {6: 150}
    assert reasons(program) == {8: "its tool is not known: thread t sets it"}


POINT = "LIN {X 0,Y 0,Z 0,A 0,B 0,C 180}"
BASE1, BASE2 = "$BASE={X 1650,Y -150,Z 750,A 0,B 0,C 0}", "$BASE={X 1100,Y 900,Z 1200,A 90,B 0,C 0}"


def krl(*lines: str) -> Program:
    return read_program("\n".join(("DEF part()", "$TOOL={X 0,Y 0,Z 250,A 0,B 0,C 0}", *lines, "")), "krl")


def bases(program: Program) -> dict[int, float]:
    """x of the base in mm, by line of the move."""
    poses = [program.bases[program.targets[m.end].base].pose for m in program.moves]
    return {m.line: round(1e3 * p.translation[0]) for m, p in zip(program.moves, poses, strict=True) if p is not None}


def test_a_base_that_a_routine_of_the_file_sets_is_active_behind_its_call() -> None:
    program = krl(BASE1, POINT, "Next()", POINT, "END", "DEF NEXT()", BASE2, POINT, "END")
    assert bases(program) == {4: 1650, 6: 1100, 10: 1100}
    assert {t.tool for t in program.targets} == {"$TOOL of program.src, line 2"}
    assert not program.notes
    other = krl(BASE1, POINT, "ELSEWHERE()", POINT, "END")
    assert other.notes == ("program.src: the call of ELSEWHERE is taken not to change base and tool",)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (("IF X THEN", "RETURN", "ENDIF", BASE2), "NEXT ends in more than one place"),
        ((BASE2, "NEXT()"), "NEXT calls itself"),
    ],
)
def test_a_base_that_a_routine_may_set_is_not_known(body: tuple[str, ...], why: str) -> None:
    program = krl(BASE1, POINT, "NEXT()", POINT, "END", "DEF NEXT()", *body, "END")
    assert bases(program) == {4: 1650}
    assert reasons(program) == {6: f"its base is not known: {why}"}


def test_loops_interrupts_and_calls_from_elsewhere() -> None:
    program = krl(BASE1, "LOOP", POINT, "NEXT()", POINT, "ENDLOOP", "END", "DEF NEXT()", BASE2, "END")
    assert bases(program) == {7: 1100}
    assert reasons(program) == {5: "its base is not known: it changes in the loop that begins in line 4"}
    asked = "INTERRUPT DECL 1 WHEN $IN[1]==TRUE DO LIFT()"
    program = krl(BASE1, asked, POINT, "LIFT()", "END", "DEF LIFT()", POINT, "END")
    assert reasons(program) == {9: "its base is not known: line 4 runs LIFT within another statement"}
    program = krl(BASE1, "LIFT()", "END", "GLOBAL DEF LIFT()", POINT, "END")
    assert [t.base for t in program.targets] == ["at the start of LIFT"]


def test_a_displacement_is_active_behind_the_call_of_its_routine() -> None:
    point = "[[0,10,0],[0,0,1,0],[-1,-1,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]]"
    move = f"MoveL {point},v100,fine,tool0;"
    lines = ("MODULE m", "PROC main()", move, "lift;", move, "PDispOff;", "IF x PDispSet pose1;", move,
             "PDispOff;", "IF x THEN", "PDispSet pose1;", "ELSE", move, "ENDIF", move, "ENDPROC",
             "PROC lift()", "PDispSet pose1;", "ENDPROC", "PROC free()", move, "ENDPROC", "ENDMODULE", "")  # fmt: skip
    program = read_program("\n".join(lines), "rapid")
    assert [m.line for m in program.moves] == [3, 13, 21]
    assert reasons(program) == {
        5: "all positions are displaced by PDispSet in line 18",
        8: "all positions are displaced by PDispSet in line 7",
        15: "all positions are displaced by what is set in the branch or loop that ends in line 14",
    }


@pytest.mark.parametrize("language", ["krl", "urscript", "rapid"])
def test_blocks_without_end_are_read_all_the_same(language: str) -> None:
    lines = {
        "krl": f"DEF a()\nLOOP\n{BASE1}\n{POINT}\n",
        "urscript": f"def a():\nwhile x:\n{A}\nmovel({P1})\n",
        "rapid": "PROC a()\nPDispSet x;\nWHILE x DO\na;\n",
    }
    program = read_program(lines[language] + 120 * lines[language].partition("\n")[2], language)
    assert len(program.moves) + len(program.skipped) == (0 if language == "rapid" else 121)


def test_calls_and_loops_are_followed_to_a_depth() -> None:
    chain = [line for i in range(30) for line in (f"def f{i}():", B if i == 29 else f"f{i + 1}()", "end")]
    assert reasons(urscript(A, *chain, "f0()", f"movel({P1})")) == {
        94: "its tool is not known: calls and loops are nested deeper than 20"
    }
    assert tool_heights(urscript(A, *chain, "f20()", f"movel({P1})")) == {94: 300}


FUNCTION = ("END", "DEFFCT BOOL NEXT()", BASE2, "RETURN TRUE", "ENDFCT")
ROUTINE = ("END", "DEF NEXT()", BASE2, "END")


@pytest.mark.parametrize(
    "lines",
    [
        ("OK=NEXT()", POINT, *FUNCTION),
        ("IF NEXT() THEN", POINT, "ENDIF", *FUNCTION),
        ("INTERRUPT DECL 1 WHEN $IN[1] DO NEXT()", POINT, *ROUTINE),
        ("GLOBAL INTERRUPT DECL 1 WHEN $IN[1] DO NEXT()", POINT, *ROUTINE),
        ("TRIGGER WHEN DISTANCE=0 DELAY=0 DO NEXT() PRIO=-1", POINT, *ROUTINE),
    ],
)
def test_a_base_set_by_a_routine_within_another_statement_is_known_nowhere(lines: tuple[str, ...]) -> None:
    program = krl(BASE1, *lines)
    assert not program.moves
    assert reasons(program) == {5: "its base is not known: line 4 runs NEXT within another statement"}
    assert bases(krl(BASE1, f"; {lines[0]}", POINT, *ROUTINE)) == {5: 1650}


def test_a_routine_that_a_function_or_an_interrupt_runs_has_no_known_base() -> None:
    program = krl(BASE1, "LIFT()", BASE2, "OK=LIFT()", "END", "DEFFCT BOOL LIFT()", POINT, "RETURN TRUE", "ENDFCT")
    assert reasons(program) == {9: "its base is not known: line 6 runs LIFT within another statement"}
    asked = "GLOBAL INTERRUPT DECL 1 WHEN $IN[1]==TRUE DO LIFT()"
    program = krl(BASE1, asked, POINT, "LIFT()", "END", "DEF LIFT()", POINT, "END")
    assert bases(program) == {5: 1650}
    assert list(reasons(program)) == [9]


def test_a_base_that_changes_between_jumps_is_not_known_at_labels() -> None:
    why = "its base is not known: it changes in lines that GOTO connects"
    program = krl(BASE1, "IF X THEN", "GOTO L1", "ENDIF", BASE2, POINT, "L1:", POINT, "END")
    assert (bases(program), reasons(program)) == ({8: 1100}, {10: why})
    program = krl(BASE1, "L1:", POINT, BASE2, POINT, "GOTO L1", "END")
    assert (bases(program), reasons(program)) == ({7: 1100}, {5: why})
    inside = krl(BASE1, "GOTO L1", BASE2, "LOOP", POINT, "L1:", POINT, "ENDLOOP", "END")
    assert not inside.moves
    assert bases(krl(BASE1, "L1:", POINT, "GOTO L1", "END", "DEF NEXT()", BASE2, "END")) == {5: 1650}


OUTSIDE = "$IPO_MODE=#TCP"
STANDS = "the tool stands outside the robot ($IPO_MODE #TCP)"


@pytest.mark.parametrize(
    ("lines", "left"),
    [
        (("EXT()", POINT, "END", "DEF EXT()", OUTSIDE, "END"), {5: STANDS}),
        ((OUTSIDE, "EXT()", "END", "DEF EXT()", POINT, "END"), {8: STANDS}),
        (
            ("LOOP", POINT, OUTSIDE, "ENDLOOP", "END"),
            {5: "its $IPO_MODE is not known: it changes in the loop that begins in line 4"},
        ),
        (
            ("IF X THEN", OUTSIDE, "ELSE", "Y=1", "ENDIF", POINT, "END"),
            {9: "the tool may stand outside the robot ($IPO_MODE #TCP)"},
        ),
        (("$IPO_MODE=MODE", POINT, "END"), {5: "its $IPO_MODE is not known: MODE is no literal"}),
        (("OK=EXT()", POINT, "END", "DEFFCT BOOL EXT()", OUTSIDE, "RETURN TRUE", "ENDFCT"),
         {5: "its $IPO_MODE is not known: line 4 runs EXT within another statement"}),
    ],
)  # fmt: skip
def test_a_tool_outside_the_robot_is_followed_as_frames_are(lines: tuple[str, ...], left: dict[int, str]) -> None:
    program = krl(BASE1, *lines)
    assert not program.moves
    assert reasons(program) == left


def test_one_name_does_not_stand_for_the_frames_of_several_calls() -> None:
    body = ("END", "DEF NEXT(N:IN)", "INT N", "$BASE=BASE_DATA[N]", POINT, "END")
    why = "its base is not known: it is no literal, and NEXT runs more than once"
    assert reasons(krl(BASE1, "NEXT(3)", POINT, "NEXT(4)", POINT, *body)) == {5: why, 7: why, 12: why}
    assert {t.base for t in krl("NEXT(3)", POINT, *body).targets} == {"$BASE of program.src, line 8"}
    numbered = ("END", "DEF NEXT(N:IN)", "BAS(#BASE,N)", "END")
    assert reasons(krl(BASE1, "NEXT(3)", POINT, "NEXT(4)", POINT, *numbered)) == {5: why, 7: why}
    use = ("def use(t):", "set_tcp(t)", "end")
    program = urscript(*use, f"use({P1})", f"movel({P1})", f"use({P2})", f"movel({P2})")
    left = "its tool is not known: it is no literal, and use runs more than once"
    assert {k: v for k, v in reasons(program).items() if k > 3} == {6: left, 8: left}


def test_one_name_does_not_stand_for_the_branches_of_several_calls() -> None:
    body = ("END", "DEF NEXT()", "IF X THEN", BASE2, "ENDIF", "END")
    why = "its base is not known: it is no literal, and NEXT runs more than once"
    assert reasons(krl(BASE1, "NEXT()", POINT, "NEXT()", POINT, *body)) == {5: why, 7: why}
    program = urscript(A, "def f():", "if x:", B, "end", "end", "f()", f"movel({P1})", "f()", f"movel({P2})")
    assert reasons(program) == dict.fromkeys(
        (9, 11), "its tool is not known: it is no literal, and f runs more than once"
    )


def test_a_loop_ends_at_exit_and_a_routine_at_resume() -> None:
    first, second = "$BASE=BASE_DATA[1]", "$BASE=BASE_DATA[2]"
    program = krl(first, "LOOP", second, "IF X THEN", "EXIT", "ENDIF", first, "ENDLOOP", POINT, "END")
    assert [t.base for t in program.targets] == ["set in the branch or loop that ends in line 10"]
    stop = ("END", "DEF NEXT()", BASE2, "END", "DEF HALTED()", "RESUME", "END")
    assert reasons(krl(BASE1, "NEXT()", POINT, *stop)) == {
        5: "its base is not known: RESUME in line 11 leaves NEXT early"
    }


def test_calls_beyond_the_depth_count_for_the_routines_that_they_call() -> None:
    chain = [x for i in range(20) for x in (f"DEF F{i}()", *((BASE2, "WAY()") if i == 19 else (f"F{i + 1}()",)), "END")]
    program = krl(BASE1, "WAY()", "F0()", "END", *chain, "DEF WAY()", POINT, "END")
    assert list(reasons(program).values()) == ["its base is not known: it is another one at different calls of WAY"]


def test_a_helper_that_no_line_calls_does_not_run() -> None:
    program = urscript(A, "def helper():", B, "end", f"movel({P1})", "def other():", f"movel({P2})", "end")
    assert tool_heights(program) == {6: 150}
    assert reasons(program) == {8: "its tool is not known: no line calls other"}


def test_a_parameter_hides_a_variable() -> None:
    program = urscript(f"p1 = {P1}", "def go(p1):", "movel(p1)", "end", f"go({P2})")
    assert reasons(program) == {4: "p1 is computed or set again in line 3"}
    program = urscript("t = p[0,0,0.15,0,0,0]", "def use(a, t):", "set_tcp(t)", "end", f"use(1, {P2})", f"movel({P1})")
    assert tool_heights(program) == {}
    program = krl(
        "F=" + BASE2.partition("=")[2], "NEXT({X 1,Y 0})", POINT, "END", "DEF NEXT(N:IN, F :IN)", "$BASE=F", "END"
    )
    assert [t.base for t in program.targets] == ["$BASE of program.src, line 8"]
    program = read_program(f"MODULE m\nCONST robtarget p10:={LITERAL};\nPROC w(num n{{*}},\\robtarget p10)\n"
                           "MoveL p10,v100,fine,tool0;\nENDPROC\nENDMODULE\n", "rapid")  # fmt: skip
    assert reasons(program) == {4: "p10 is computed or declared again in program.mod, line 3"}


def test_of_two_functions_of_one_name_none_is_followed() -> None:
    program = urscript(
        A, "def f():", B, "end", "f()", f"movel({P1})", "def f():", "x = 1", f"movel({P1})", "end", "f()"
    )
    assert reasons(program) == dict.fromkeys((7, 10), "its tool is not known: f is defined twice")


def test_functions_within_statements_and_threads_leave_the_tool_unknown() -> None:
    program = urscript(A, "def f():", B, "return True", "end", "if x or f():", f"movel({P1})", "end", A, f"movel({P2})")
    why = "its tool is not known: line 7 runs f within another statement"
    assert reasons(program) == {8: why, 11: why}
    program = urscript("thread t():", "while True:", B, "sync()", "end", "end", "run t()", A, f"movel({P2})")
    assert reasons(program) == {10: "its tool is not known: thread t sets it"}


LITERAL = "[[0,10,0],[0,0,1,0],[-1,-1,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]]"
MOVE = f"MoveL {LITERAL},v100,fine,tool0;"


def rapid(*lines: str) -> Program:
    return read_program("\n".join(("MODULE m", "PROC main()", *lines, "ENDMODULE", "")), "rapid")


@pytest.mark.parametrize(
    ("lines", "left"),
    [
        (("IF x lift;", MOVE, "ENDPROC", "PROC lift()", "PDispSet a;", "ENDPROC"),
         {4: "line 3 runs lift within another statement"}),
        (("ok := lift();", MOVE, "ENDPROC", "FUNC bool lift()", "PDispSet a;", "RETURN TRUE;", "ENDFUNC"),
         {4: "line 3 runs lift within another statement"}),
        (("w;", "PDispSet a;", "IF x w;", "ENDPROC", "PROC w()", MOVE, "ENDPROC"),
         {8: "line 5 runs w within another statement"}),
        (("CONNECT i1 WITH tr;", MOVE, "ENDPROC", "TRAP tr", "PDispSet a;", "ENDTRAP"), {4: "tr is a trap"}),
        (("PDispSet a;", "IF x GOTO b;", "PDispOff;", "b:", MOVE, "ENDPROC"),
         {7: "it changes in lines that GOTO connects"}),
        (("lift;", '%"w"%;', "ENDPROC", "PROC lift()", "PDispSet a;", "ENDPROC", "PROC w()", MOVE, "ENDPROC"),
         {10: "line 4 calls a routine by a name that is computed"}),
        (("lift;", MOVE, "ENDPROC", "PROC lift()", "PDispSet a;", "ERROR", "PDispOff;", "ENDPROC"),
         {4: "lift ends in more than one place"}),
        (("w;", "ENDPROC", "PROC w()", MOVE, "ERROR", "PDispSet a;", "RETRY;", "ENDPROC"),
         {6: "the error handler of w changes it"}),
        (("WHILE x DO", MOVE, "PDispSet a;", "ENDWHILE", "ENDPROC"),
         {4: "it changes in the loop that begins in line 3"}),
    ],
)  # fmt: skip
def test_a_displacement_that_may_be_active_is_not_known(lines: tuple[str, ...], left: dict[int, str]) -> None:
    program = rapid(*lines)
    assert not program.moves
    assert reasons(program) == {k: f"its displacement is not known: {v}" for k, v in left.items()}


def test_names_behind_case_are_no_labels() -> None:
    body = ("TEST n", "CASE a:", MOVE, "CASE b:", "PDispSet p;", "ENDTEST", "ENDPROC")
    assert [m.line for m in rapid(*body, "PROC w()", "x:", "ERROR", "ENDPROC").moves] == [5]


def test_every_routine_of_a_module_is_read_once_for_what_it_leaves_active(monkeypatch: pytest.MonkeyPatch) -> None:
    read, each = [], Statements.__iter__

    def counted(statements: Statements) -> Iterator[re.Match[str]]:
        for statement in each(statements):
            read.append(statement)
            yield statement

    monkeypatch.setattr(Statements, "__iter__", counted)

    def count(routines: int) -> int:
        read.clear()
        procs = [line for i in range(routines) for line in (f"PROC w{i}()", MOVE, "ENDPROC")]
        program = rapid(*(f"w{i};" for i in range(routines)), "PDispSet a;", "ENDPROC", *procs)
        assert len(program.moves) == routines
        return len(read)

    assert count(40) < 2.1 * count(20)


LONG = {
    "a.src": ("DEF a()\nLIFT()\n", "LIN {X 1,Y 2,Z 3,A 0,B 0,C 0}\n", "END\nDEF LIFT()\n$BASE=BASE_DATA[2]\nEND\n"),
    "a.script": (
        "def a():\n lift()\n",
        " movel(p[1,2,3,0,0,0])\n",
        " def lift():\n  set_tcp(p[0,0,1,0,0,0])\n end\nend\n",
    ),
    "a.mod": (
        "MODULE a\nPROC main()\nlift;\n",
        "MoveL [[1,2,3],[1,0,0,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]],v1,z1,t;\n",
        "ENDPROC\nPROC lift()\nPDispSet x;\nENDPROC\nENDMODULE\n",
    ),
}
"""Before, 300 times, and behind."""


@pytest.mark.parametrize("file", LONG)
def test_the_text_of_a_program_goes_with_its_reader(file: str) -> None:
    """Long programs are read piece by piece: what is read must not wait for the collector of garbage."""
    head, line, tail = LONG[file]
    text = head + 300 * line + tail
    read_program({file: text})  # what is made once
    gc.collect()
    gc.disable()
    try:
        program = read_program({file: text})
        assert len(program.targets) + len(program.skipped) >= 300
        del program
        assert gc.collect() < 300
    finally:
        gc.enable()


def test_a_routine_in_a_file_of_its_own_is_read_for_what_it_leaves_active(tmp_path) -> None:
    head = "DEF p( )\n$BASE={X 1750,Y -80,Z 800,A 0,B 0,C 0}\n$TOOL={X 0,Y 100,Z 200,A 0,B 0,C 0}\n"
    start = "PTP {A1 0,A2 -90,A3 90,A4 0,A5 90,A6 0}\nLIN {X 0,Y 0,Z 20,A 0,B 0,C 180}\n"
    (tmp_path / "p.src").write_text(f"{head}{start}newBase()\nLIN {{X 100,Y 0,Z 20,A 0,B 0,C 180}}\nEND\n")
    alone = read_program(tmp_path / "p.src")
    assert alone.unread == ("NEWBASE",)
    (tmp_path / "newbase.src").write_text("DEF newbase( )\nset(1)\nEND\n")
    (tmp_path / "set.src").write_text("DEF set(n:IN)\nINT n\nLIN {X 5}\n$BASE=PART\nEND\n")
    (tmp_path / "set.dat").write_text("DEFDAT set\nFRAME PART={X 1650,Y -80,Z 900,A 0,B 0,C 0}\nENDDAT\n")
    program = read_program(tmp_path / "p.src")
    assert not program.unread
    first, last = (program.bases[t.base].pose.translation for t in program.targets[1:])
    np.testing.assert_allclose(first, [1.75, -0.08, 0.8])
    np.testing.assert_allclose(last, [1.65, -0.08, 0.9])
    assert list(program.files) == ["p.src"]
    assert len(program.moves) == 3
    done = compensate(read_robot("kuka-kr270"), program, [-400.0, 0, -300, 0, 0, 0])
    place = done.job.placed.position[-1]
    np.testing.assert_allclose(place, [1.75, -0.08, 0.92], atol=1e-9)
    assert list(done.files) == ["p.src"]
    other = compensate(read_robot("kuka-kr270"), alone, [-400.0, 0, -300, 0, 0, 0])
    assert other.verdict[0].data["unread"] == ("NEWBASE",)
    assert "Every" not in other.verdict[0].text
