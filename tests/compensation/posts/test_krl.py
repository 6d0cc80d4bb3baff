"""KRL: what is found, and what a naive interpreter reads from the rewritten files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.programs import KRL, KRL_DATA, about, encoded, example, krl_poses, kuka
from oracle.refusals import refused

from elastocal.compensation.posts.krl import Krl, new_turn, turn_bits
from elastocal.compensation.program import Changes, Given, Inserted
from elastocal.spatial.pose import Pose

FILES = {"part.src": KRL, "part.dat": KRL_DATA}


def read(src=KRL, dat=KRL_DATA, given=None):
    return Krl().read(encoded({"part.src": src, "part.dat": dat}), given)


def body(code: str, dat: str = KRL_DATA):
    return read(f"DEF part()\n{code}\nEND\n", dat)


def test_targets_moves_and_frames():
    program = read()
    assert [(m.line, m.motion) for m in program.moves] == [
        (4, "joint"), (8, "linear"), (9, "linear"), (10, "linear"), (11, "arc"), (13, "spline"), (14, "linear"),
        (16, "linear"),
    ]  # fmt: skip
    assert [s.line for s in program.skipped] == [17, 18, 19, 21, 23, 25]
    wanted = ["geometric sum", "relative", "P9 has no value", "P5 is computed or set again in part.src, line 20",
              "outside the robot", "X XVAR"]  # fmt: skip
    for skipped, words in zip(program.skipped, wanted, strict=True):
        assert words in skipped.reason
    np.testing.assert_allclose(program.bases["2"].pose.translation, [1.7, 0, 0.8])
    np.testing.assert_allclose(program.bases["2"].pose.rotation, kuka(90, 0, 0), atol=1e-15)
    np.testing.assert_allclose(program.tools["1"].pose.rotation, kuka(0, 90, 0), atol=1e-15)
    assert program.moves[1].feed == 0.05
    np.testing.assert_allclose(np.degrees(program.joints[0]), [0, -90, 90, 0, 15.5, -20])
    assert program.targets[1].turn == 0b100011
    assert program.targets[1].configuration == "S 2"
    assert program.targets[3].external == (0.0, 0.0)
    assert next(t for t in program.targets if t.name == "P3").turn == 0x23


def test_poses_are_those_of_the_naive_interpreter():
    program = read()
    poses = krl_poses(KRL, KRL_DATA)
    rows = [i for m in program.moves for i in (m.via, m.end) if i is not None and program.targets[i].kind == "pose"]
    found = {tuple(np.round(program.positions[i] * 1e3, 9)): program.rotations[i] for i in rows}
    said = {tuple(np.round(p, 9)): r for p, r in poses if tuple(np.round(p, 9)) != (5.0, 5.0, 5.0)}
    assert found.keys() == said.keys()
    for place, rotation in said.items():
        np.testing.assert_allclose(found[place], rotation, atol=1e-14)


def test_a_shift_and_a_turn_arrive_in_the_files():
    program = read()
    turn, shift = about("z", 0.1) @ about("x", -0.2), np.array([1.2e-3, -0.7e-3, 2.5e-3])
    new = replace(Changes.none(program), positions=program.positions + shift, rotations=turn @ program.rotations)
    out = {name: data.decode() for name, data in Krl().write(program, new).items()}
    before, after = krl_poses(KRL, KRL_DATA), krl_poses(out["part.src"], out["part.dat"])
    assert len(before) == len(after) == 10
    changed = 0
    for (p, r), (q, s) in zip(before, after, strict=True):
        if tuple(p) == (5.0, 5.0, 5.0):  # P5 is computed at run time
            assert tuple(q) == (5.0, 5.0, 5.0)
            continue
        np.testing.assert_allclose(q, p + shift * 1e3, atol=5.1e-5)
        np.testing.assert_allclose(s, turn @ r, atol=2e-7)
        changed += 1
    assert changed == 9
    assert "t 'B100011'} C_DIS" in out["part.src"]


def test_keys_left_out_are_added_only_where_they_change():
    program = body("LIN {X 1,Y 2,Z 3,A 0,B 0,C 0}\nLIN {X 5}\nLIN {X 6,Y 7}")
    same = Krl().write(program, replace(Changes.none(program), positions=program.positions + np.array([0, 1e-3, 0])))
    assert b"LIN {X 5}\n" in same["part.src"]
    one = program.positions.copy()
    one[1] += [0, 0, 1e-3]
    lines = Krl().write(program, replace(Changes.none(program), positions=one))["part.src"].decode().splitlines()
    assert lines[1:4] == ["LIN {X 1,Y 2,Z 3,A 0,B 0,C 0}", "LIN {X 5,Z 4.0000}", "LIN {X 6,Y 7,Z 3.0000}"]


def test_moves_that_are_not_known_are_named():
    full = "{X 1,Y 2,Z 3,A 0,B 0,C 0}"
    program = body(f"LIN {full}\nASYPTP {{E1 5}}\nASYPTP XE\nLINN {full}\nLIM xq C_DIS\nLIN {full}\nXQ={full}")
    assert [m.start for m in program.moves] == [None, None]
    assert [(s.line, s.reason) for s in program.skipped] == [
        (3, "ASYPTP is not supported"),
        (4, "ASYPTP is not supported"),
        (5, "LINN is not supported"),
        (6, "LIM is not supported"),
    ]
    assert not body(f"DECL E6POS XQ\nPOS XQ\nXQ={full}\nRETURN XQ\nHALT\nASYCONT\nWAIT SEC 1").skipped


def test_keys_left_out_need_a_known_place_before():
    full = "LIN {X 1,Y 2,Z 3,A 0,B 0,C 0}"
    program = body(f"LIN {{X 5}}\nPTP {{A1 5}}\n$BASE=BASE_DATA[2]\n{full}\n$BASE=BASE_DATA[3]\nLIN {{X 1}}")
    assert [(s.line, s.reason) for s in program.skipped] == [
        (2, "Y is left out, and the place before is not known"),
        (3, "A2 is left out, and the place before is not known"),
        (7, "Y is left out, and the place before is in another base or tool"),
    ]


def test_inline_forms_take_frames_from_their_data():
    program = Krl().read(example("contour.src", "contour.dat"))
    named = {t.name: t for t in program.targets if t.name}
    assert (named["XP1"].tool, named["XP1"].base) == ("1", "2")
    assert (named["XP1"].file, named["XP1"].line) == ("contour.dat", 12)
    assert [m.line for m in program.moves if program.targets[m.end].name == "XP1"] == [26, 52]
    assert program.missing_frames() == ()
    assert not program.skipped


def test_spline_motions_take_frames_from_their_with_part():
    dat = KRL_DATA.replace("ENDDAT", 'DECL FDAT FP3={TOOL_NO 4,BASE_NO 5,IPO_FRAME #BASE,POINT2[] " "}\nENDDAT')
    code = (
        "SLIN P3 WITH $VEL=SVEL_CP(0.1, , LCPDAT1), $TOOL=STOOL2( FP3), $BASE= SBASE( FP3.BASE_NO),"
        "$IPO_MODE=SIPO_MODE( FP3.IPO_FRAME) C_SPL"
    )
    program = body(code, dat)
    assert [(t.base, t.tool) for t in program.targets] == [("5", "4")]
    outside = body(code, dat.replace("#BASE,POINT2", "#TCP,POINT2"))
    assert not outside.targets
    assert "#TCP" in outside.skipped[0].reason


@pytest.mark.parametrize(
    ("code", "base"),
    [
        ("BAS (#BASE,7)", "7"),
        ("$BASE=$NULLFRAME", "0"),
        ("$BASE = BASE_DATA[ 7 ]", "7"),
        ("$BASE={X 1,Y 2,Z 3,A 0,B 0,C 0}", "$BASE of part.src, line 2"),
        ("$BASE=P4", "P4"),
        ("$BASE=A:B", "$BASE of part.src, line 2"),
    ],
)
def test_ways_to_set_the_base(code, base):
    program = body(f"{code}\nLIN {{X 1,Y 2,Z 3,A 0,B 0,C 0}}")
    assert program.targets[0].base == base
    assert (program.bases[base].pose is None) == (base == "7" or "A:B" in code)


def test_a_frame_set_in_a_branch_is_not_known_after_it():
    code = "$BASE=BASE_DATA[2]\nIF X THEN\n$BASE=BASE_DATA[3]\nLIN P3\nELSE\nLIN P4\nENDIF\nLIN XP1"
    program = body(code)
    assert [t.base for t in program.targets] == ["3", "2", "set in the branch or loop that ends in line 8"]
    assert [m.start for m in program.moves] == [None, None, None]
    assert program.missing_frames()[0].startswith("base 3")


def test_one_point_in_two_bases_cannot_be_corrected():
    program = body(
        "$BASE=BASE_DATA[2]\nLIN P3\nLIN {X 1,Y 2,Z 3,A 0,B 0,C 0}\nLIN {X 4}\n$BASE=BASE_DATA[3]\nLIN P3\nLIN P4"
    )
    assert [t.name for t in program.targets] == ["", "", "P4"]
    assert sorted(s.line for s in program.skipped) == [3, 7]
    assert all("base 2 and base 3" in s.reason for s in program.skipped)
    shift = np.array([[1e-3, 0, 0], [1e-3, 0, 1e-3], [0, 0, 0]])
    moved = replace(Changes.none(program), positions=program.positions + shift)
    assert b"LIN {X 5.0000,Z 4.0000}" in Krl().write(program, moved)["part.src"]


def test_a_frame_that_is_also_a_target_is_left_alone():
    program = body("$BASE=P4\nLIN P3\nLIN P4")
    assert [t.name for t in program.targets] == ["P3"]
    assert program.skipped[0].reason.startswith("P4 is also a base or tool (part.src, line 2)")


def test_a_base_that_the_files_state_otherwise_is_refused():
    with refused("missing", ("base", "2")):
        read(given=Given(bases={"2": Pose(np.eye(3), [1.0, 0, 0])}))
    program = body("$BASE=BASE_DATA[9]\nLIN P3")
    assert "base 9 (part.dat, line 5)" in program.missing_frames()


def test_points_are_put_in_before_a_line():
    program = body("  LIN P3\n  SLIN P4 C_SPL\n  LIN {X 1,Y 2,Z 3,A 179,B 0,C 0}")
    at = Inserted(np.array([[0.1, 0.2, 0.3]]), kuka(-179, 0, 0)[None])
    out = Krl().write(program, replace(Changes.none(program), inserted={1: at, 2: at}))["part.src"].decode()
    lines = out.splitlines()
    assert lines[2].startswith("  SLIN {X 100.0000,Y 200.0000,Z 300.0000,A ")
    assert lines[2].endswith("} C_SPL")
    assert lines[4] == "  LIN {X 100.0000,Y 200.0000,Z 300.0000,A -179.00000,B 0.00000,C 0.00000} C_DIS"
    ptp = body("LIN P3\nLIN P4\nPTP P3")
    with refused("no-points"):
        Krl().write(ptp, replace(Changes.none(ptp), inserted={2: at}))


def test_turn_is_written_in_its_own_form_and_only_where_asked():
    program = read()
    rows = {t.name or t.line: i for i, t in enumerate(program.targets)}
    out = Krl().write(
        program, replace(Changes.none(program), turns={rows[8]: 0b001011, rows["P3"]: 0x2B, rows["XP1"]: 35})
    )
    assert b"t 'B001011'}" in out["part.src"]
    assert b"T 'H2B'}" in out["part.dat"]
    assert b"T 35,E1" in out["part.dat"]
    with refused("unsupported", 1):
        Krl().write(program, replace(Changes.none(program), turns={rows[9]: 1}))


def test_turn_bits_flip_only_for_axes_that_change_sign():
    old = np.radians([-1.0, -70, 90, 0.01, 60, -180])
    assert turn_bits(old) == 0b100011
    new = old.copy()
    new[3] = -1e-5
    assert new_turn(0b100011, old, new) == (0b101011, (4,))
    assert new_turn(0b100010, old, old) == (0b100010, ())
    assert new_turn(0b101011, old, new) == (0b101011, ())


def test_a_dat_file_alone_is_refused():
    with refused("no-source-file"):
        Krl().read({"part.dat": b"DEFDAT part\nENDDAT"})


def test_a_via_point_of_an_arc_that_is_left_alone_is_no_target():
    """XP3 is used with two bases, so the arc over XP2 stays; XP4, first used after, keeps its place in the order."""
    data = "".join(f"DECL E6POS XP{i}={{X {i},Y 0,Z 5,A 0,B 90,C 0,S 2,T 2}}\n" for i in (2, 3, 4))
    body = "BAS(#TOOL,1)\nBAS(#BASE,1)\nCIRC XP2,XP3\nLIN XP4\nLIN XP2\nBAS(#BASE,2)\nLIN XP3\n"
    program = Krl().read(encoded({"a.src": f"DEF a()\n{body}END\n", "a.dat": f"DEFDAT A\n{data}ENDDAT\n"}))
    assert [t.name for t in program.targets] == ["XP4", "XP2"]
    assert [m.end for m in program.moves] == [0, 1]
    assert [s.line for s in program.skipped] == [4, 8]
    less = body.replace("LIN XP2\n", "")
    alone = Krl().read(encoded({"a.src": f"DEF a()\n{less}END\n", "a.dat": f"DEFDAT A\n{data}ENDDAT\n"}))
    assert [t.name for t in alone.targets] == ["XP4"]


def test_what_a_spline_block_says_holds_for_its_segments():
    data = 'DECL FDAT FP1={TOOL_NO 3,BASE_NO 4,IPO_FRAME #BASE,POINT2[] " "}\n'
    body = (
        "BAS(#TOOL,1)\nBAS(#BASE,1)\nSPLINE WITH $TOOL=STOOL2(FP1), $BASE=SBASE(FP1.BASE_NO)\n"
        "SLIN {X 1,Y 2,Z 3,A 0,B 0,C 0}\nENDSPLINE\nSLIN {X 1,Y 2,Z 3,A 0,B 0,C 0}\n"
        "SPLINE WITH $BASE=MINE(3)\nSLIN {X 1,Y 2,Z 3,A 0,B 0,C 0}\nENDSPLINE\n"
    )
    program = Krl().read(encoded({"a.src": f"DEF a()\n{body}END\n", "a.dat": f"DEFDAT A\n{data}ENDDAT\n"}))
    assert [(t.base, t.tool) for t in program.targets] == [("4", "3"), ("1", "1")]
    assert [bool(m.fixed) for m in program.moves] == [True, False]  # no points can be put between its segments
    (left,) = program.skipped
    assert left.line == 9
    assert "$BASE=MINE" in left.reason


def test_points_of_config_dat_are_kept():
    shared = "DEFDAT $CONFIG\nDECL E6AXIS XHOME={A1 0,A2 -90,A3 90,A4 0,A5 90,A6 0}\nENDDAT\n"
    source = "DEF a()\nPTP XHOME\nPTP {A1 1,A2 -90,A3 90,A4 0,A5 90,A6 0}\nEND\n"
    program = Krl().read(encoded({"a.src": source, "$config.dat": shared}))
    assert [t.kept for t in program.targets] == [True, False]


@pytest.mark.parametrize(
    ("mass", "said"),
    [
        ("45.0", ("part.src, line 2: $LOAD states a mass of 45 kg",)),
        ("1", ()),
        ("-1", ()),
    ],
)  # fmt: skip
def test_a_mass_told_to_the_controller_is_not_passed_over(mass: str, said: tuple[str, ...]) -> None:
    program = body(f"$LOAD = {{M {mass}, CM {{X 0,Y 0,Z 120,A 0,B 0,C 0}}}}\nPTP {{A1 0,A2 -90,A3 90,A4 0,A5 30,A6 0}}")
    assert tuple(note.partition(", which counts")[0] for note in program.notes) == said


def test_a_mass_alone_is_not_passed_over() -> None:
    program = body("$LOAD.M=20\n$LOAD.CM.X = 5\nPTP {A1 0,A2 -90,A3 90,A4 0,A5 30,A6 0}")
    assert [n.partition(", which")[0] for n in program.notes] == ["part.src, line 2: $LOAD states a mass of 20 kg"]
