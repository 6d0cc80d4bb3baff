"""Candidates: spread evenly, sayable by a program, around a task."""

from __future__ import annotations

import numpy as np
from design.cell_desk import arm, candidates_of, cylindrical
from oracle.refusals import refused

from elastocal.design.candidates import Draw, Region, drawn, programmable, reached, spread_points, spread_poses
from elastocal.design.loading import Actuator
from elastocal.files.robot.read import read_robot
from elastocal.model.kinematics import kinematics


def test_sobol_points_fill_every_cell_of_the_box_once() -> None:
    points = spread_points(np.array([0.0, -1.0]), np.array([4.0, 1.0]), 64, np.random.default_rng(3))
    cells = np.floor((points - [0, -1]) / [0.5, 0.25]).astype(int)
    assert len({tuple(c) for c in cells}) == 64  # a (0, m, 2)-net: one point in each of 8 x 8 cells


def test_the_same_generator_gives_the_same_poses() -> None:
    one, other = (spread_poses(cylindrical(), 100, np.random.default_rng(7)) for _ in range(2))
    np.testing.assert_array_equal(one, other)
    assert one.shape == (100, 3)
    assert np.all((one >= [0, -np.pi, 0.2]) & (one <= [1, np.pi, 1]))


def test_a_program_can_say_every_candidate() -> None:
    for name in ("kuka-kr270", "cylindrical", "scara-ruggeri"):
        model = read_robot(name)
        q = spread_poses(model, 50, np.random.default_rng(1))
        near = programmable(model, q)
        unit = np.array([np.pi / 180 if m.kind == "revolute" else 1e-3 for m in model.motions])
        shown = model.controller.to_controller(near) / unit
        np.testing.assert_allclose(shown, np.round(shown, 2), atol=1e-9)
        assert 1e-4 < np.max(np.abs(near - q) / unit) < 0.0051


def test_picking_keeps_configuration_and_load_together() -> None:
    push = Actuator(sizes=(1.0, 2.0), directions=((0, 1, 0),))
    candidates = candidates_of(arm(), [[0.1, 0], [0.2, 0], [0.3, 0]], push)
    some = candidates.picked(np.array([5, 2]))
    np.testing.assert_allclose(some.q[:, 0], [0.3, 0.2])
    np.testing.assert_allclose(some.wrenches[:, 1], [2, 1])
    assert len(some.poses) == 2


def test_points_are_reached_from_anywhere_or_given_up() -> None:
    model = read_robot("kuka-kr270")
    rng = np.random.default_rng(2)
    start = spread_poses(model, 200, rng)
    targets = spread_points(np.array([1.2, -0.5, 0.8]), np.array([2.0, 0.5, 1.5]), 200, rng)
    q, held = reached(model, start, targets)
    assert np.mean(held) > 0.5
    np.testing.assert_allclose(kinematics(model, q[held]).position, targets[held], atol=2e-6)
    assert not model.beyond_limits(q)
    assert not np.any(reached(model, start[:20], np.full((20, 3), 9.0))[1])


def test_a_task_box_holds_the_tool() -> None:
    model = read_robot("kuka-kr270")
    box = Region((1.2, -0.5, 0.8), (2.0, 0.5, 1.5))
    poses, missed = drawn(model, Draw(300, (box,)), np.random.default_rng(1))
    at = poses.origin("tool")
    assert len(poses) + missed == 300
    assert len(poses) > 150
    assert np.all((at > np.array(box.low) - 1e-3) & (at < np.array(box.high) + 1e-3))
    turned = poses.rotation("tool")[:, 0]
    assert turned[:, 2].min() < -0.5 < 0.5 < turned[:, 2].max()  # from above and from below


def test_what_cannot_be_drawn() -> None:
    with refused("out-of-reach"):
        drawn(arm(), Draw(10, (Region((5, 5, 5), (6, 6, 6)),)), np.random.default_rng(1))
    with refused("range", 0):
        drawn(arm(), Draw(0), np.random.default_rng(1))
    with refused("range", ((0, 0, 1), (1, 1, 1))):
        Region((0, 0, 1), (1, 1, 1))
