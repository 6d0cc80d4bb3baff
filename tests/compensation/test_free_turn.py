"""A turn about the tool axis that the program leaves open is not what keeps a target from being corrected."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused

import elastocal as ec
from elastocal.compensation.targets import TargetStatus
from elastocal.files.robot.read import read_robot, robot_from_text
from elastocal.files.robot.write import robot_text
from elastocal.spatial.pose import Pose

APT = "UNITS/MM\nGOTO/1800,0,900,0,0,-1\nGOTO/1900,100,900,0,0,-1\nGOTO/1900,300,900,0,0,-1\n"
FORCE = [-400.0, 300, -1500, 0, 0, 0]
NEAR = np.radians([0, -70, 92, 0, 68, 0])


def program(orientation=None):
    tool = {"tool": Pose(np.eye(3), np.array([0, 0, 0.2]))}
    turn = None if orientation is None else np.asarray(orientation, dtype=float)
    return ec.read_program(APT, "apt", bases={"base": Pose()}, tools=tool, orientation=turn)


def between(joint, width=100):
    """The KR 270 with a limit just beyond what the controller does at the last target, on the side of the command."""
    robot = read_robot("kuka-kr270")
    free = ec.compensate(robot, program(), FORCE, near=NEAR)
    i = robot.joints.index(joint)
    nominal, command = (np.degrees(q[-1, i]) for q in (free.commands.nominal, free.commands.command))
    assert abs(command - nominal) > 1e-4
    middle = nominal + 0.02 * (command - nominal)
    span = [nominal - width, middle] if command > nominal else [middle, nominal + width]
    low, high = np.degrees(robot.motions[i].limits)
    text = robot_text(robot)
    head, tail = text.split(f"name: {joint}\n", 1)
    old = f"limits_deg: [{low:g}, {high:g}]"
    assert old in tail
    return robot_from_text(
        f"{head}name: {joint}\n{tail.replace(old, f'limits_deg: [{span[0]:.8f}, {span[1]:.8f}]', 1)}", "r.yaml"
    )


def test_another_turn_is_taken_and_said():
    robot = between("A6")
    done = ec.compensate(robot, program(), FORCE, near=NEAR)
    assert done.corrected.all()
    low, high = robot.motions[5].limits
    assert ((done.commands.command[:, 5] > low) & (done.commands.command[:, 5] < high)).all()
    said = next(f for f in done.warnings if f.code == "turn-taken")
    assert (said.data["targets"], said.data["left"], abs(said.data["angle_deg"])) == (1, 0, 30)
    a = np.radians(said.data["orientation_deg"])
    stated = ec.compensate(robot, program(_kuka(a)), FORCE, near=NEAR)
    assert stated.corrected.all()
    for one, same in zip(done.files.values(), stated.files.values(), strict=True):
        assert one == same
    np.testing.assert_allclose(done.program.rotations[:, :, 2], [[0, 0, -1]] * 3, atol=1e-9)


def _kuka(angles):
    a, b, c = angles
    z = np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
    y = np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]])
    x = np.array([[1, 0, 0], [0, np.cos(c), -np.sin(c)], [0, np.sin(c), np.cos(c)]])
    return z @ y @ x


def test_a_stated_orientation_is_kept_and_another_named():
    robot = between("A6")
    done = ec.compensate(robot, program(np.diag([1.0, -1, -1])), FORCE, near=NEAR)
    assert done.commands.status.tolist()[-1] == TargetStatus.JOINT_LIMIT
    said = next(f for f in done.warnings if f.code == "turn-limited")
    named = ec.compensate(robot, program(_kuka(np.radians(said.data["orientation_deg"]))), FORCE, near=NEAR)
    assert named.corrected.all()


def test_where_no_turn_helps_axis_values_are_named():
    """A4 stands at its limit, which turns about an upright tool leave alone; with the wrist turned over it does not."""
    robot = between("A4", 300)
    done = ec.compensate(robot, program(), FORCE, near=NEAR)
    assert (done.commands.status == TargetStatus.JOINT_LIMIT).any()
    said = next(f for f in done.warnings if f.code == "turn-limited")
    other = ec.compensate(robot, program(), FORCE, near=np.array(said.data["near"]))
    assert other.corrected.all()
    assert "turn-limited" not in [f.code for f in other.warnings]


def test_where_nothing_helps_that_is_said():
    done = ec.compensate(between("A1"), program(), FORCE, near=NEAR)
    said = next(f for f in done.warnings if f.code == "turn-limited")
    assert set(said.data) == {"targets"}


@pytest.mark.parametrize("near", [NEAR.tolist(), tuple(NEAR), NEAR, [np.float64(v) for v in NEAR]])
def test_axis_values_before_the_program_in_any_sequence(near):
    assert ec.compensate(read_robot("kuka-kr270"), program(), FORCE, near=near).corrected.all()


@pytest.mark.parametrize("name", ["near", "wrench"])
def test_other_values_are_refused_by_name(name):
    robot, given = read_robot("kuka-kr270"), {"near": NEAR, "wrench": FORCE}
    for wrong in (
        (v for v in NEAR),
        map(float, NEAR),
        "0,0",
        [[1.0], [2.0, 3.0]],
        ["a"] * 6,
        dict.fromkeys(range(6), 0.0),
    ):
        with refused("type", wrong, parameter=name):
            ec.compensate(robot, program(), **{**given, name: wrong})
    with refused("shape", [NEAR.tolist()], parameter="near"):
        ec.compensate(robot, program(), FORCE, near=[NEAR.tolist()])
