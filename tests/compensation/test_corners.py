"""A cutter's force turns at once at a corner, by hand from the directions of the sides and the robot's deflection."""

from __future__ import annotations

import numpy as np
import pytest

import elastocal as ec
from elastocal.compensation.loads import Milling
from elastocal.compensation.process import ProcessLoad
from elastocal.files.robot.read import read_robot
from elastocal.model.loads.wrench import AppliedWrenches

CUTTER = Milling(specific_force=9e8, axial_depth=4e-3, radial_engagement=8e-3, diameter=2e-2, teeth=2, spindle=100.0)
CUT = ProcessLoad(milling=CUTTER)
FORCE = 9e8 * 4e-3 * 8e-3 * 0.05 / (np.pi * 2e-2 * 100)
HEAD = """DEF part( )
$BASE={X 1750,Y 0,Z 800,A 0,B 0,C 0}
$TOOL={X 0,Y 100,Z 200,A 0,B 0,C 0}
$VEL.CP=0.05
PTP {A1 0,A2 -90,A3 90,A4 0,A5 90,A6 0}
"""
CORNERS = np.array([[0, 0], [100, 0], [100, 100], [0, 100], [0, 0]])
AHEAD = np.array([[1.0, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]])


@pytest.fixture(scope="module")
def robot():
    return read_robot("kuka-kr270")


def square(places=CORNERS):
    return HEAD + "".join(f"LIN {{X {x},Y {y},Z 0,A 0,B 0,C 180}}\n" for x, y in places) + "END\n"


def bends(done, row, ahead, force=FORCE):
    """How far the tool goes (3,) when the force against ``ahead`` comes to the arm at the command of a station."""
    at = done.job.placed
    wrench = np.concatenate([-force * np.asarray(ahead), np.zeros(3)])
    frame = at.frames[row]
    push = (AppliedWrenches(frame, wrench[None]),)
    return at.model.deflection(done.commands.command[[row]], push, frame).translation[0]


def across(gap, ahead):
    return np.linalg.norm(gap - (gap @ ahead) * ahead)


def test_behind_a_corner_the_tool_is_off_by_what_the_turned_force_bends(robot) -> None:
    done = ec.compensate(robot, ec.read_program(square(), "krl"), load=CUT)
    assert [m.line for m in done.along.moves] == [6, 7, 8, 9, 10]
    wanted = [across(bends(done, i, AHEAD[i - 1]) - bends(done, i, AHEAD[i - 2]), AHEAD[i - 1]) for i in range(2, 5)]
    assert min(wanted) > 2e-4
    np.testing.assert_allclose(done.along.off[2:], wanted, rtol=1e-6)
    assert done.along.by_turn[2:].all()
    (finding,) = (f for f in done.verdict if f.code == "between-targets")
    assert (finding.data["line"], finding.severity) == (9, "warning")
    assert "load turns at once" in finding.text


def test_points_leave_a_millimetre_or_two_behind_each_corner(robot) -> None:
    done = ec.compensate(robot, ec.read_program(square(), "krl"), load=CUT, densify=1e-5)
    lines = {done.program.moves[i].line: points for i, points in done.changes.inserted.items()}
    assert {8, 9, 10} <= set(lines)
    for line in (8, 9, 10):
        first = 1e3 * lines[line].positions[0, :2] - CORNERS[line - 7]
        assert 1.0 < first @ AHEAD[line - 7, :2] < 2.2
    assert done.leaves_way
    assert not [f for f in done.warnings if f.code == "no-points-inserted"]

    behind = CORNERS[:4] + 2 * AHEAD[:, :2]
    places = np.vstack([np.stack([CORNERS[:4], behind], axis=1).reshape(-1, 2), CORNERS[4:]])
    apart = ec.compensate(robot, ec.read_program(square(places), "krl"), load=CUT).along.off
    assert (apart[2::2] < 5e-6).all()
    assert (apart[3::2] > 2e-4).all()


def test_a_line_back_to_a_shared_point_has_its_own_force(robot) -> None:
    """Down into the first corner and round to it again, by its name."""
    text = HEAD + "LIN {X 0,Y 0,Z 50,A 0,B 0,C 180}\nLIN XP1\nLIN {X 0,Y 100}\nLIN XP1\nEND\n"
    data = "DEFDAT part\nDECL E6POS XP1={X 0.0,Y 0.0,Z 0.0,A 0.0,B 0.0,C 180.0}\nENDDAT\n"
    program = ec.read_program({"part.src": text.encode(), "part.dat": data.encode()}, "krl")
    done = ec.compensate(robot, program, load=CUT)
    moving = done.load.loads.moving[2:, :, :3]
    for i, ahead in enumerate(([0, 0, -1], [0, 1, 0], [0, -1, 0])):
        np.testing.assert_allclose(moving[i], np.tile(-FORCE * np.array(ahead), (3, 1)), atol=1e-6 * FORCE)
    assert done.along.turning[2] > 1e-4


def test_wrenches_by_target_go_evenly_from_one_to_the_next(robot) -> None:
    wrench = np.zeros((6, 6))
    wrench[:, 0] = 100.0 * np.arange(6)
    done = ec.compensate(robot, ec.read_program(square(), "krl"), load=ProcessLoad(wrench=wrench))
    np.testing.assert_allclose(done.load.loads.moving[1:, ::2, 0], [[100.0 * i, 100.0 * (i + 1)] for i in range(5)])
    assert not done.along.turning.any()
    assert not done.along.by_turn.any()
