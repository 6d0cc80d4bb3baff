"""confdata against axis values: cases by hand, from the manual's definition of quadrants."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.programs import EAX

from elastocal.compensation.posts.rapid_data import confdata_at, confdata_notes, quarter_turns
from elastocal.compensation.program import Target
from elastocal.compensation.run import compensate
from elastocal.files.programs import read_program
from elastocal.files.robot.read import read_robot

HOME = f"MoveAbsJ [[-15,0,0,0,90,-15],{EAX}],v100,fine,tool0;"

AXES = tuple(f"J{i}" for i in range(1, 7))


def target(line: int, conf: str, kind: str = "pose") -> Target:
    return Target("p.mod", line, f"p{line}", kind, "wobj0", "tool0", f"{conf},[9E9,9E9,9E9,9E9,9E9,9E9]")


def said(conf: str, old: list[float], new: list[float] | None = None, use: bool = True) -> list[str]:
    axes = [np.radians([v]) for v in (old, new or old)]
    return confdata_notes([target(7, conf)], AXES, *axes, np.array([use]))


@pytest.mark.parametrize(("angle", "quarter"), [(10, 0), (100, 1), (185, 2), (-10, -1), (-100, -2), (350, 3), (361, 4)])
def test_quarter_turns_count_from_zero_both_ways(angle, quarter):
    assert quarter_turns(np.radians([[angle, 0, 0, 5, 0, 5]]))[0, 0] == quarter


def test_what_fits_is_not_mentioned():
    assert said("[-1,1,-3,0]", [-2, 10, 20, 95, 30, -200]) == []
    assert said("[0,0,-1,1]", [0, 10, 20, 0, -30, 0]) == []  # on the edge either quarter is right
    assert said("[ 0 , -1.0, 0, 0]", [0, 10, 20, 0, 30, 0]) == []


def test_each_number_that_does_not_fit_is_named():
    found = said("[0,0,1,0]", [-2, 10, 20, -95, -30, 10])
    assert [s.split(" at p.mod, line 7, p7; ")[0] for s in found] == [
        "confdata does not fit: cf1 is 0, but J1 stands in quarter turn -1",
        "confdata does not fit: cf4 is 0, but J4 stands in quarter turn -2",
        "confdata does not fit: cf6 is 1, but J6 stands in quarter turn 0",
        "confdata does not fit: cfx is 0, but J5 stands below zero",
    ]


def test_an_axis_that_the_correction_moves_over_an_edge():
    old, new = [3, 10, 20, 0.1, 30, 89.9], [3, 10, 20, -0.1, 30, 90.1]
    found = said("[0,0,0,0]", old, new)
    assert [s.split(" at ")[0] for s in found] == [
        "J4 ends in quarter turn -1, so that cf4 should be -1",
        "J6 ends in quarter turn 1, so that cf6 should be 1",
    ]
    assert said("[0,0,0,0]", old, new, use=False) == []
    assert [s.split(" at ")[0] for s in said("[0,-1,0,0]", old, new)] == [
        "confdata does not fit: cf4 is -1, but J4 stands in quarter turn 0",
        "J6 ends in quarter turn 1, so that cf6 should be 1",
    ]


def test_an_axis_that_the_correction_moves_off_an_edge():
    """cf4 = 0 is right just below zero, where noise has put the axis, but not where the correction ends."""
    edge, off = [3, 10, 20, -1e-7, 30, 5], [3, 10, 20, -0.06, 30, 5]
    assert said("[0,0,0,0]", edge) == []
    assert said("[0,0,0,0]", [3, 10, 20, 0.1, 30, 5], edge) == []
    (found,) = said("[0,0,0,0]", edge, off)
    assert found.startswith(
        "J4 ends in quarter turn -1, so that cf4 should be -1 at p.mod, line 7, p7: confdata is kept"
    )
    assert said("[0,-1,0,0]", edge, off) == []
    (found,) = said("[0,-1,0,0]", edge, [3, 10, 20, 0.06, 30, 5])
    assert found.startswith("J4 ends in quarter turn 0, so that cf4 should be 0 at ")


def test_what_did_not_fit_before_is_named_again_only_where_the_correction_ends_elsewhere():
    stay, move = [3, 10, 20, 5, 30, 5], [3, 10, 20, -5, 30, 5]
    first = "confdata does not fit: cf4 is 1, but J4 stands in quarter turn 0"
    assert [s.split(" at ")[0] for s in said("[0,1,0,0]", stay)] == [first]
    assert [s.split(" at ")[0] for s in said("[0,1,0,0]", stay, move)] == [
        first,
        "J4 ends in quarter turn -1, so that cf4 should be -1",
    ]


def test_no_quarter_turn_is_minus_nought():
    assert not np.signbit(quarter_turns(np.full((1, 6), -0.0))).any()


def test_many_targets_of_one_case_make_one_sentence_and_others_are_left_alone():
    targets = [target(i, "[0,0,0,0]") for i in range(8)]
    targets += [target(8, "[cf,0,0,0]"), target(9, "", "joints"), target(10, "[0,0,0,0]")]
    axes = np.radians(np.tile([-2.0, 0, 0, 5, 5, 5], (11, 1)))
    axes[10] = np.nan
    (only,) = confdata_notes(targets, AXES, axes, axes, np.ones(11, dtype=bool))
    assert "p.mod, line 4, p4 and 3 more;" in only


def test_points_on_the_way_have_the_quarters_of_their_own_axes():
    """Axis 1 comes from -5 deg to where the line ends, axis 6 stands on an edge; external axes stay."""
    axes = np.radians([[-5.0, 10, 20, 100, 30, 0], [-0.0, 10, 20, 80, 30, 0], [5, 10, 20, 80, 30, 95]])
    end = "[0, 0,0,1],[9E9,9E9]"
    rows = ["[-1,1,0,1],[9E9,9E9]", "[0,0,0,1],[9E9,9E9]", "[0,0,1,1],[9E9,9E9]"]
    assert confdata_at(end, axes, 3) == rows
    assert confdata_at("[0,0,-1,1],[9E9,9E9]", axes[1:2], 1) == ["[0,0,-1,1],[9E9,9E9]"]
    assert confdata_at("cEnd,[9E9,9E9]", axes, 2) == ["cEnd,[9E9,9E9]"] * 2
    assert confdata_at(end, None, 2) == [end] * 2


def test_points_put_into_a_line_across_a_quarter_turn_say_where_each_stands():
    robot = read_robot("abb-irb4600-60")
    lines = "\n".join(
        f"MoveL [[1500,{y},1200],[0,1,0,0],[{cf},0,{cf},0],{EAX}],v50,fine,tool0;" for y, cf in ((-400, -1), (400, 0))
    )
    program = read_program(f"MODULE a\nPROC main()\n{HOME}\n{lines}\nENDPROC\nENDMODULE\n", "rapid")
    done = compensate(robot, program, [0, 0, -500, 0, 0, 0], densify=1e-6)
    (points,) = (done.changes.inserted[i] for i, m in enumerate(program.moves) if m.line == 5)
    (text,) = (data.decode() for data in done.files.values())
    written = [float(row.split("],[")[2].split(",")[0]) for row in text.splitlines() if "MoveL" in row]
    stands = np.floor(points.axes[:, 0] / (np.pi / 2))
    assert set(stands) == {-1.0, 0.0}
    assert written[-1 - len(stands) :] == [*stands, 0.0]
