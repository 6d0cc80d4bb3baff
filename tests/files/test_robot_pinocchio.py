"""A robot from a ``pinocchio.Model`` is the same as the one from its URDF."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from files.test_urdf import LIMIT, ODD, gravity_torque, joint, link, placements, robot, saved
from oracle.refusals import refused

from elastocal.errors import UnknownNameError
from elastocal.files.robot.read import read_robot
from elastocal.files.robot.urdf import read_urdf

pin = pytest.importorskip("pinocchio", reason="Pinocchio has no Windows wheel")


@pytest.mark.parametrize("mimic", [True, False])
def test_poses_and_own_weight_are_those_of_the_urdf(tmp_path: Path, mimic: bool) -> None:
    path = saved(tmp_path, ODD)
    source = pin.buildModelFromUrdf(str(path), mimic=mimic)
    source.gravity.linear = np.array([0.0, 0.0, -9.80665])
    model = read_robot(source, "tcp")
    expected = read_urdf(path, "tcp").model
    assert model.joints == (expected.joints if mimic else (*expected.joints, "nod"))
    q = np.random.default_rng(1).uniform(-1, 1, (4, 3))
    full = q if mimic else np.column_stack([q, -1.5 * q[:, 0] + 0.2])
    np.testing.assert_allclose(placements(model, "tcp", full), placements(expected, "tcp", q), atol=1e-12)
    if mimic:
        np.testing.assert_allclose(
            [gravity_torque(model, row) for row in q], [gravity_torque(expected, row) for row in q], atol=1e-7
        )
    assert model.motions[0].limits == (-2.0, 2.5)
    assert model.motions[2].limits is None
    assert any("grip" in note for note in model.notes)


def test_the_tool_is_inferred_and_unknown_ones_list_the_frames(tmp_path: Path) -> None:
    text = robot(
        link("a"), link("b", 2.0), link("tool0"),
        joint("j", "revolute", "a", "b", LIMIT), joint("k", "fixed", "b", "tool0", '<origin xyz="0 0 1"/>'),
    )  # fmt: skip
    source = pin.buildModelFromXML(text)
    model = read_robot(source)
    assert (model.name, model.tool, model.joints) == ("odd", "tool0", ("j",))
    with pytest.raises(UnknownNameError) as caught:
        read_robot(source, "tool1")
    assert "tool0" in caught.value.allowed


def test_a_floating_root_is_fixed_and_a_screw_is_refused(tmp_path: Path) -> None:
    text = robot(link("a"), link("b", 2.0), joint("j", "revolute", "a", "b", LIMIT))
    model = read_robot(pin.buildModelFromXML(text, pin.JointModelFreeFlyer()), "b")
    assert model.joints == ("j",)
    assert any("root_joint" in note for note in model.notes)
    screw = pin.Model()
    screw.addJoint(0, pin.JointModelHZ(0.1), pin.SE3.Identity(), "thread")
    with refused("range", "thread"):
        read_robot(screw)
