"""Why no candidate tells something: loads that do not turn a joint, markers that do not move with it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from elastocal.design.candidates import Draw
from elastocal.design.loading import Actuator
from elastocal.design.method import Measuring
from elastocal.design.problem import design_problem
from elastocal.design.task import PlanTask
from elastocal.errors import InputError
from elastocal.files.located import parse_yaml
from elastocal.files.robot.file import build_robot
from elastocal.measure.sources.instrument import Reading
from elastocal.model.robot import Robot
from elastocal.model.statics.observation import Marker

ROBOT = """\
format: elastocal-robot/1
name: post
source: written for a test
gravity_m_s2: [0, 0, -9.81]
joints:
  - {name: turn, type: revolute, axis: [0, 0, 1], limits_deg: [-90, 90]}
  - {name: nod, type: revolute, xyz_mm: [0, 0, 500], axis: [0, 1, 0], limits_deg: [20, 80]}
  - {name: roll, type: revolute, axis: [1, 0, 0], limits_deg: [-170, 170]}
  - {name: tip, type: fixed, xyz_mm: [800, 0, 0]}
  - {name: side, type: fixed, parent: roll, xyz_mm: [800, 100, 0]}
tool: tip
elements:
  - {kind: joint_compliance, joint: turn, k_rad_per_Nm: 1.0e-6}
  - {kind: joint_compliance, joint: nod, k_rad_per_Nm: 1.0e-6}
  - {kind: joint_compliance, joint: roll, k_rad_per_Nm: 1.0e-6}
"""
DOWN, ACROSS = (0, 0, -1), (0.6, 0.8, 0)


def post() -> Robot:
    return build_robot(parse_yaml(ROBOT, "post.yaml"))


def problem(names: tuple[str, ...] | None, marker: str, direction: tuple[float, float, float], point: str = "tip"):
    load = Actuator(sizes=(500.0,), directions=(direction,), points=(point,))
    measuring = Measuring("deflection", (Marker(marker),), (Reading(sd=1e-5),), "linear")
    task = PlanTask(post(), measuring, names, loadings=(load,), draw=Draw(40), count=6)
    return design_problem(task, np.random.default_rng(1))


def refused(names: tuple[str, ...], *how: object) -> str:
    with pytest.raises(InputError) as caught:
        problem(names, *how)
    return str(caught.value)


def test_a_weight_does_not_turn_an_upright_axis_nor_one_that_it_hangs_on() -> None:
    """Rounding leaves roll.k a column of 1e-17 of the others, which counts as nothing."""
    said = refused(("turn.k", "nod.k", "roll.k"), "side", DOWN)
    assert said.startswith("no candidate depends on turn.k, roll.k: no load turns turn, roll (a force whose line meets")
    assert "no marker moves" not in said
    assert said.endswith("leave it out or allow other candidates")


def test_a_marker_on_the_axis_sees_no_turn_of_it() -> None:
    said = refused(("turn.k", "roll.k"), "tip", ACROSS, "side")
    assert said.startswith("no candidate depends on roll.k: no marker moves with roll (it lies on the axis")
    said = refused(("roll.k",), "tip", DOWN)
    assert "no load turns roll" in said
    assert "no marker moves with roll" in said


def test_off_the_axis_everything_shows_and_what_does_not_is_not_sought_by_itself() -> None:
    assert problem(("turn.k", "nod.k", "roll.k"), "side", ACROSS, "side").names == (
        "turn.k",
        "nod.k",
        "roll.k",
    )
    found = problem(None, "side", DOWN)
    assert found.names == ("nod.k",)
    assert set(found.left_out) == {"turn.k", "roll.k"}


def test_what_is_known_from_before_need_not_show() -> None:
    known = replace(
        PlanTask(post(), Measuring("deflection", (Marker("side"),), (Reading(sd=1e-5),), "linear"), ("nod.k", "roll.k"),
                 loadings=(Actuator(sizes=(500.0,), directions=(DOWN,)),), draw=Draw(40), count=6),
        earlier=(lambda names: 1e16 * np.eye(len(names)),),
    )  # fmt: skip
    assert design_problem(known, np.random.default_rng(1)).names == ("nod.k", "roll.k")
