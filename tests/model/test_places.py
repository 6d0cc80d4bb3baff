"""Places of a workpiece: the tool is where the plane says, held as asked; what is out of reach is said to be."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.files.robot.read import read_robot
from elastocal.model.kinematics import kinematics
from elastocal.model.places import box_plane, reach
from elastocal.spatial.pose import Pose

NEAR = np.deg2rad([0.0, -70.0, 90.0, 0.0, 70.0, 0.0])
TURNED = Pose(np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), np.array([1.9, -0.1, 0.8]))


def test_the_tool_stands_at_every_place_with_one_orientation() -> None:
    robot = read_robot("kuka-kr270")
    plane = box_plane(np.array([-0.2, -0.3, 0.0]), np.array([0.2, 0.3, 0.1]), TURNED, (5, 4))
    found = reach(robot, robot.tool, plane, NEAR)
    assert found.reached.all()
    at = kinematics(robot.nominal, found.q)
    assert at.position == pytest.approx(plane.position, abs=1e-7)
    assert at.rotation == pytest.approx(np.repeat(kinematics(robot.nominal, NEAR[None]).rotation, 20, axis=0), abs=1e-7)
    seen = plane.seen(at.position)
    assert seen[:, 2] == pytest.approx(np.full(20, 0.05), abs=1e-7)  # the middle of the thinnest side
    assert (seen[0, 0], seen[-1, 1]) == (pytest.approx(-0.2, abs=1e-7), pytest.approx(0.3, abs=1e-7))


def test_what_is_out_of_reach_is_empty() -> None:
    robot = read_robot("kuka-kr270")
    plane = box_plane(np.array([1.0, -0.5, 0.9]), np.array([5.0, 0.5, 0.9]), Pose(np.eye(3), np.zeros(3)), (9, 3))
    found = reach(robot, robot.tool, plane, NEAR)
    far = plane.position[:, 0] > 3.5
    assert not found.reached[far].any()
    assert found.reached[~far].any()
    assert np.isnan(found.q[far]).all()
    assert np.isnan(np.array(found.table(np.ones(27)))[:, -1]).all()


def test_a_line_is_no_workpiece() -> None:
    with refused("sides"):
        box_plane(np.zeros(3), np.array([1.0, 0.0, 0.0]), TURNED, (3, 3))
