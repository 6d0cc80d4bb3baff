"""Between corrected targets: a controller that moves in lines and circles, run through the loaded model."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

import elastocal as ec
from elastocal.compensation import along as module
from elastocal.compensation.commands import correct
from elastocal.compensation.loads import PathLoads
from elastocal.compensation.places import swung
from elastocal.compensation.targets import Targets
from elastocal.compensation.verification import residual
from elastocal.files.robot.read import read_robot
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.spatial.pose import Pose

FORCE = np.array([-200.0, 80, -150, 0, 0, 0])
LONG = """DEF long( )
$BASE={X 0,Y 0,Z 0,A 0,B 0,C 0}
$TOOL={X 0,Y 100,Z 200,A 0,B 0,C 0}
PTP {A1 0,A2 -90,A3 90,A4 0,A5 90,A6 0}
LIN {X 1500,Y -900,Z 800,A 0,B 0,C 180}
LIN {X 1500,Y 900,Z 800,A 0,B 0,C 180}
CIRC {X 2200,Y 200,Z 800,A 0,B 0,C 180},{X 1500,Y -500,Z 800,A 0,B 0,C 180}
END
"""


@pytest.fixture(scope="module")
def robot():
    return read_robot("kuka-kr270")


@pytest.fixture(scope="module")
def program():
    return ec.read_program(LONG, "krl")


def driven(result, place, turn, wanted, force=FORCE):
    """Loaded tool minus ``wanted`` (K, 3) on a controller's way (K, 3), (K, 3, 3)."""
    at = result.job.placed
    (frame,) = set(at.frames)
    near = result.commands.nominal[1]
    sent = correct(at.model.without("joint_compliance", "link_compliance", "foundation_compliance"),
                   Targets(frame, place, turn, near)).command  # fmt: skip
    push = PathLoads((AppliedWrenches(frame, np.atleast_2d(force)),))
    aim = Targets(frame, wanted, turn, near)
    return residual(at.model, sent, aim, push).position


def line_off(result, first, last, shares):
    """Of the way between two stations."""
    place, turn = result.commands.position[[first, last]], result.commands.rotation[[first, last]]
    sent = (1 - shares[:, None]) * place[0] + shares[:, None] * place[1]
    turns = Slerp([0, 1], Rotation.from_matrix(turn))(shares).as_matrix()
    ends = result.job.placed.position[[first, last]]
    wanted = (1 - shares[:, None]) * ends[0] + shares[:, None] * ends[1]
    gap = driven(result, sent, turns, wanted)
    way = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
    return np.linalg.norm(gap - (gap @ way)[:, None] * way, axis=1)


def circle(points):
    """Centre, normal and angle from the first to the last of three points."""
    a, b, c = points
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal)
    rows = np.array([b - a, c - a, normal])
    centre = np.linalg.solve(rows, [(b - a) @ (a + b) / 2, (c - a) @ (a + c) / 2, normal @ a])
    one, two = a - centre, c - centre
    return centre, normal, np.arctan2(np.cross(one, two) @ normal, one @ two) % (2 * np.pi)


def arc_off(done, force):
    """Of the way from the third station to the fifth, through the fourth, under forces at 41 places."""
    rows = [2, 3, 4]
    told, wanted = done.commands.position[rows], done.job.placed.position[rows]
    centre, normal, angle = circle(told)
    share = np.linspace(0, 1, 41)
    way = centre + Rotation.from_rotvec(share[:, None] * angle * normal).apply(told[0] - centre)
    turns = Slerp([0, 1], Rotation.from_matrix(done.commands.rotation[[2, 4]]))(share).as_matrix()
    middle, up, _ = circle(wanted)
    stood = driven(done, way, turns, np.zeros((41, 3)), force) - middle
    return np.hypot(np.linalg.norm(np.cross(up, stood), axis=1) - np.linalg.norm(wanted[0] - middle), stood @ up)


def test_a_long_line_and_an_arc_are_off_between_their_targets(robot, program) -> None:
    done = ec.compensate(robot, program, wrench=FORCE)
    assert [m.line for m in done.along.moves] == [5, 6, 7]
    _, line, arc = done.along.off
    dense = line_off(done, 1, 2, np.linspace(0, 1, 41))
    assert 1e-4 < line <= dense.max() * (1 + 1e-6)
    assert line == pytest.approx(dense.max(), rel=0.02)

    off = arc_off(done, FORCE)
    assert arc == pytest.approx(off.max(), rel=0.05)
    assert done.leaves_way
    finding = next(f for f in done.verdict if f.code == "between-targets")
    assert (finding.data["line"], finding.severity) == (6, "warning")
    assert finding.data["parameter"] == "densify"
    assert "Every motion" not in done.verdict[0].text


def test_points_in_lines_and_arcs_keep_the_tolerance(robot, program) -> None:
    done = ec.compensate(robot, program, wrench=FORCE, densify=5e-5)
    assert (done.along.off < 5e-5).all()
    assert {program.moves[i].line for i in done.changes.inserted} == {5, 6, 7}
    assert not [w for w in done.warnings if w.code == "no-points-inserted"]
    assert not done.leaves_way


def test_an_arc_that_gets_no_points_is_named(robot) -> None:
    spline = LONG.replace("CIRC", "$CIRC_TYPE=#PATH\nCIRC")
    done = ec.compensate(robot, ec.read_program(spline, "krl"), wrench=FORCE, densify=5e-5)
    (finding,) = (w for w in done.warnings if w.code == "no-points-inserted")
    assert finding.data["line"] == 8
    assert finding.data["off"] == done.along.off[2] > 5e-5
    assert done.leaves_way


def test_between_taught_targets_the_way_is_where_the_unloaded_arm_goes(robot, program) -> None:
    before = ec.compensate(robot, program, wrench=FORCE, taught=True)
    after = ec.compensate(robot, program, wrench=FORCE, taught=True, densify=1.5e-5)
    assert after.inserted > 0
    assert (after.along.off[:2] < 1.5e-5).all()
    assert (before.along.off[:2] > 1.5e-5).all()
    nominal = before.job.placed.position[1:3]
    assert np.abs(nominal[:, 2] - 0.8).min() > 5e-4  # the unloaded arm hangs


def test_a_simulated_true_robot_goes_along_the_path_too(robot, program) -> None:
    done = ec.compensate(robot, program, wrench=FORCE, truth=robot)
    np.testing.assert_allclose(done.along.on_truth, done.along.off, rtol=1e-6)
    assert next(f for f in done.verdict if f.code == "truth").data["between_max"] == pytest.approx(done.along.most)


def test_a_move_on_which_the_true_robot_is_not_determined_is_named(robot, program, monkeypatch) -> None:
    real = module.residual

    def hanging(model, command, wanted, loads):
        out = real(model, command, wanted, loads)
        if model.name == "true":
            out.position[11] = np.nan  # behind three places of the first line and seven of the arc: longer ones first
        return out

    monkeypatch.setattr(module, "residual", hanging)
    done = ec.compensate(robot, program, wrench=FORCE, truth=replace(robot, name="true"))
    known = ~np.isnan(done.along.on_truth)
    assert known.tolist() == [True, False, True]
    np.testing.assert_allclose(done.along.on_truth[known], done.along.off[known], rtol=1e-6)
    finding = next(f for f in done.verdict if f.code == "truth")
    assert finding.data["between_open"] == (6,)
    assert finding.data["between_max"] == pytest.approx(done.along.off[known].max())
    assert "program.src, line 6: there its state is not determined" in finding.text


@pytest.mark.parametrize(("via", "angle"), [("X 2200,Y 200", 0.0), ("X 1994.9747,Y 694.9747", 45.0)])
def test_a_force_against_the_motion_turns_with_the_arc_past_its_auxiliary_point(robot, via, angle) -> None:
    """Wherever that lies on the arc."""

    def against(angles):
        return 1500 * np.stack([-np.sin(angles), np.cos(angles), *[0 * angles] * 4], axis=1)

    force = np.zeros((5, 6))
    force[2:] = against(np.radians([90.0, angle, -90.0]))
    done = ec.compensate(robot, ec.read_program(LONG.replace("X 2200,Y 200", via), "krl"), wrench=force)
    off = arc_off(done, against(np.radians(90 - 180 * np.linspace(0, 1, 41))))
    assert done.along.off[2] == pytest.approx(off.max(), rel=0.05)
    assert off.max() > 5e-4


def test_chords_of_an_arc_are_off_by_their_height_and_what_the_correction_changes(robot) -> None:
    """A quarter circle of 300 mm on which the tool turns by 60 degrees, in chords that are 0.2 mm off at most."""
    text = "G21 G90 G54\nG1 X1500 Y-300 Z800 A3=0 B3=0 C3=1 F500\nG1 Y-100\n"
    text += "G3 X1200 Y200 I-300 J0 A3=0 B3=0.8660254 C3=0.5\n"
    program = ec.read_program(
        text, "gcode", bases={"G54": Pose()}, tools={"T0": Pose(np.eye(3), np.array([0.0, 0.1, 0.2]))},
        orientation=Rotation.from_euler("x", 180, degrees=True).as_matrix(),
    )  # fmt: skip
    near = np.radians([0.0, -90, 90, 0, 90, 0])
    done = ec.compensate(robot, program, wrench=FORCE, near=near, chord=2e-4)
    assert [m.line for m in done.along.moves] == [3, 4]
    way, at = [1, *done.job.placed.stations.arcs[2], len(done.job.placed.stations) - 1], done.job.placed
    assert len(way) == 23
    share = np.linspace(0, 1, 21)
    off = []
    for first, last in pairwise(way):
        place, turn = done.commands.position[[first, last]], done.commands.rotation[[first, last]]
        sent = (1 - share[:, None]) * place[0] + share[:, None] * place[1]
        stood = driven(done, sent, Slerp([0, 1], Rotation.from_matrix(turn))(share).as_matrix(), np.zeros((21, 3)))
        out = stood - [1.2, -0.1, 0.8]
        off.append(np.hypot(np.hypot(out[:, 0], out[:, 1]) - 0.3, out[:, 2]).max())
    assert at.position[way[5], 2] == pytest.approx(0.8)
    assert not done.leaves_way  # that was asked for
    tight = ec.compensate(robot, program, wrench=FORCE, near=near, chord=2e-4, densify=1e-5)
    (finding,) = (w for w in tight.warnings if w.code == "no-points-inserted")
    assert (finding.data["line"], finding.data["off"]) == (4, tight.along.off[1])
    assert "chords" in finding.text
    height = 0.3 * (1 - np.cos(np.pi / 4 / 22))
    assert height < max(off) <= done.along.off[1] * (1 + 1e-6)
    assert done.along.off[1] == pytest.approx(max(off), rel=0.01)


def test_short_moves_are_bounded_by_longer_ones_and_not_looked_at(robot, monkeypatch) -> None:
    lines = "\n".join(f"LIN {{X {1500 + 4 * i}}}" for i in range(30))
    text = LONG.replace("CIRC {X 2200,Y 200,Z 800,A 0,B 0,C 180},{X 1500,Y -500,Z 800,A 0,B 0,C 180}", lines)
    program = ec.read_program(text, "krl")
    every = ec.compensate(robot, program, wrench=FORCE).along
    monkeypatch.setattr(module, "MANY", 4)
    some = ec.compensate(robot, program, wrench=FORCE).along
    assert (len(every.moves), every.unseen) == (32, 0)
    assert len(some.moves) == 4
    assert some.unseen == 28
    assert some.most == every.most
    unseen = sorted(every.off)[:28]
    assert max(unseen) <= some.rest < 1e-6


def test_a_load_that_turns_along_an_arc_turns_at_an_even_rate():
    """A force against the motion of a quarter circle, and a constant one: both exact at every place."""
    share = np.array([0.05, 0.3, 0.5, 0.8, 0.97])

    def wrench(angle):
        force = np.stack([-np.sin(angle), np.cos(angle), 0 * angle], axis=1)
        return np.hstack([300 * force, np.tile([2.0, -1.0, 5.0], (len(angle), 1))])

    nodes = np.repeat(wrench(np.radians([10.0, 55, 100]))[:, None], 5, axis=1)
    found = swung(nodes, share)
    np.testing.assert_allclose(found, wrench(np.radians(10 + 90 * share)), rtol=0, atol=1e-12)
