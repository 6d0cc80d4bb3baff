"""Arms as lines against Jacobians and deflections, for every shipped robot."""

from __future__ import annotations

import numpy as np
import pytest

from elastocal.files.robot.read import read_robot, shipped_robots
from elastocal.model.kinematics import kinematics
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.robot import Robot
from elastocal.model.statics.deflection import deflection
from elastocal.model.statics.equilibrium import equilibrium
from elastocal.model.statics.loaded_arm import THICK, skeleton
from elastocal.spatial.entries import Array


def poses(model: Robot, count: int = 4) -> Array:
    rng = np.random.default_rng(5)
    ends = np.array([m.limits or (-1.0, 1.0) for m in model.motions]).reshape(-1, 2)
    return ends[:, 0] + rng.uniform(0.2, 0.8, (count, model.n)) * np.ptp(ends, axis=1)


@pytest.mark.parametrize("name", shipped_robots())
def test_the_line_runs_from_the_base_to_the_tool(name: str) -> None:
    model = read_robot(name)
    q = poses(model)
    arms = skeleton(model, q)
    assert len(arms) == 4
    assert arms.line[:, 0] == pytest.approx(np.zeros((4, 3)))
    assert np.ptp(arms.tip, axis=0).max() > 0.05 or model.n == 0
    assert arms.tip == pytest.approx(kinematics(model, q).position)
    assert arms.extent == pytest.approx(np.ptp(arms.line.reshape(-1, 3), axis=0).max())


@pytest.mark.parametrize("name", [n for n in shipped_robots() if n != "orthoglide-link"])
def test_joints_are_pieces_of_their_axes(name: str) -> None:
    """The tool moves as a turn about, or a slide along, what is drawn: the columns of the Jacobian."""
    model = read_robot(name)
    q = poses(model)
    arms, jacobian = skeleton(model, q), kinematics(model, q).jacobian
    ends = arms.axes
    length = np.linalg.norm(ends[:, :, 1] - ends[:, :, 0], axis=2)
    assert length == pytest.approx(np.full(length.shape, 2 * THICK * model.size))
    axis, middle = (ends[:, :, 1] - ends[:, :, 0]) / length[..., None], ends.mean(axis=2)
    assert axis.shape == (4, model.n, 3)
    for k, motion in enumerate(model.motions):
        turned = np.cross(axis[:, k], arms.tip - middle[:, k])
        moved = turned if motion.kind == "revolute" else axis[:, k]
        assert np.linalg.norm(jacobian[:, :, k]) > 0.5
        assert moved == pytest.approx(jacobian[:, :3, k], abs=1e-12)


def test_a_slide_is_drawn_along_its_axis() -> None:
    """A piece of the line runs from where the slide is at zero to where it is."""
    model = read_robot("cylindrical")
    q = poses(model)
    arms = skeleton(model, q)
    pieces = np.diff(arms.line, axis=1)
    slides = [k for k, m in enumerate(model.motions) if m.kind == "prismatic"]
    assert len(slides) == 2
    for k in slides:
        home = q.copy()
        home[:, k] = 0.0
        starts, ends = (kinematics(model, at, model.joints[k]).position for at in (home, q))
        place = [i for i in range(len(pieces[0])) if arms.line[:, i] == pytest.approx(starts)]
        assert np.linalg.norm(ends - starts, axis=1) == pytest.approx(np.abs(q[:, k]))
        assert any(arms.line[:, i + 1] == pytest.approx(ends) for i in place)


@pytest.mark.parametrize("name", ["kuka-kr270", "cylindrical", "scara-ruggeri"])
def test_a_bent_arm_is_drawn_larger_by_the_factor(name: str) -> None:
    model = read_robot(name)
    q = poses(model)
    load = AppliedWrenches(model.tool, np.array([[20.0, 40.0, -30.0, 0.0, 0.0, 0.0]]))
    rest, bent = skeleton(model, q, equilibrium(model, q)), skeleton(model, q, equilibrium(model, q, [load]))
    moved = deflection(model, q, [load]).translation
    assert np.linalg.norm(moved, axis=1).min() > 1e-6
    large = rest.enlarged(bent, 200.0)
    assert large.tip - rest.tip == pytest.approx(200.0 * moved, rel=1e-9)
    assert large.line[:, 0] == pytest.approx(rest.line[:, 0])
    assert large.picked(np.array([2])).tip[0] == pytest.approx(large.tip[2])


def test_a_tip_of_its_own() -> None:
    model = read_robot("kuka-kr270")
    q = poses(model)
    ends = skeleton(model, q, tip="marker1").tip
    assert ends == pytest.approx(kinematics(model, q, "marker1").position)
    assert np.linalg.norm(ends - skeleton(model, q).tip, axis=1).min() > 0.01
