"""Contacts as candidates: the force asked for, a place in front of every object, filters on both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.design.candidates import Draw, Poses, Region
from elastocal.design.cell import Cell, Link
from elastocal.design.feasibility.collision import Obstacles
from elastocal.design.obstacles import SphereObstacle
from elastocal.design.problem import possible
from elastocal.design.task import PlanTask
from elastocal.design.touching import Touching
from elastocal.files.robot.read import read_robot
from elastocal.measure.sources.instrument import ForceSensor
from elastocal.model.surfaces.disc import Disc
from elastocal.model.surfaces.sphere import Sphere as Ball

SCARA = read_robot("scara-ruggeri")
DISCS = (Disc(name="a", centre=(-0.25, 0.30), radius=0.15), Disc(name="b", centre=(0.20, 0.40), radius=0.05))
TOUCHING = Touching(DISCS, (40.0, 20.0), "gripper", "xy", (ForceSensor(sd=0.1),), standoff=0.03)


def design_problem(seed: int = 1, **more):
    task = PlanTask(SCARA, TOUCHING, None, draw=more.pop("draw", Draw(60)), **more)
    return possible(task, np.random.default_rng(seed))


def test_every_candidate_presses_as_its_label_says_and_starts_in_front() -> None:
    candidates, steps = design_problem()
    state = TOUCHING.readings(candidates).touched(SCARA)
    for i in range(len(candidates)):
        force, _, _, name = candidates.label(i).split()
        disc = DISCS["ab".index(name)]
        assert state.size[i] == pytest.approx(float(force), rel=1e-3)
        away = state.point[i, :2] - np.array(disc.centre)
        assert np.hypot(*away) == pytest.approx(disc.radius, abs=1e-9)
        np.testing.assert_allclose(state.normal[i, :2], away / disc.radius, atol=1e-9)
    front = Poses(SCARA, TOUCHING.stops(candidates)).origin("gripper")
    np.testing.assert_allclose(front, state.point + 0.03 * state.normal, atol=2e-4)  # 0.01 deg of the program
    assert {candidates.label(i) for i in range(len(candidates))} == {f"{f} N on {d}" for f in (20, 40) for d in "ab"}
    assert steps[-1].left == len(candidates)


def test_the_force_of_a_choice_is_about_that_of_the_contact() -> None:
    candidates, _ = design_problem()
    force = TOUCHING.readings(candidates).touched(SCARA).force
    np.testing.assert_allclose(candidates.wrenches[:, :3], force, atol=0.05 * 40)
    assert np.abs(force).max() > 30


def test_an_obstacle_in_front_of_an_object_counts_though_the_contact_is_free() -> None:
    post = SphereObstacle(name="post", centre=(0.275, 0.4, 0.0), radius=0.004)
    tip = Cell((Link("link2_end", "gripper", 0.012),), (post,))
    free, _ = design_problem()
    kept, steps = design_problem(cell=tip, filters=(Obstacles(),))

    def clear(q):
        poses = Poses(SCARA, q)
        a, b = poses.origin("link2_end"), poses.origin("gripper")
        dense = a[:, None] + np.linspace(0, 1, 400)[:, None] * (b - a)[:, None]
        return np.min(np.linalg.norm(dense - np.array(post.centre), axis=2), axis=1) >= 0.016

    touching, front = clear(free.q), clear(TOUCHING.stops(free))
    assert np.sum(touching & ~front) > 0
    assert len(kept) == np.sum(touching & front) == steps[-1].left
    np.testing.assert_array_equal(kept.q, free.q[touching & front])


def test_contacts_of_a_large_arm_round_a_task_only() -> None:
    """A ball in front of the robot is touched where the box of the task is: on its upper half."""
    model = read_robot("kuka-kr270")
    ball = Ball(name="ball", centre=(2.0, 0.0, 1.0), radius=0.1)
    method = Touching((ball,), (300.0,), model.tool, "xyz", (ForceSensor(sd=1.0),))
    draw = Draw(16, (Region((1.9, -0.1, 1.15), (2.1, 0.1, 1.3)),))
    candidates, steps = possible(PlanTask(model, method, None, draw=draw), np.random.default_rng(1))
    assert steps[0].label == "reach of the task"
    assert steps[0].removed + steps[0].left == 16
    state = method.readings(candidates).touched(model)
    np.testing.assert_allclose(state.size, 300, rtol=1e-3)
    assert np.all(state.point[:, 2] > 1.0)
    assert len(candidates) > 4


def test_no_room_to_approach() -> None:
    far = replace(TOUCHING, standoff=2.0)
    with refused("infeasible", {"too far from an object, or inside it": 24, "approach": 16}):
        possible(PlanTask(SCARA, far, None, draw=Draw(10)), np.random.default_rng(1))


def test_a_planar_arm_is_drawn_round_a_task_in_its_plane() -> None:
    near = Region((0.26, 0.36, -0.1), (0.32, 0.44, 0.1))
    candidates, steps = design_problem(draw=Draw(20, (near,)))
    assert steps[0].left > 0
    point = TOUCHING.readings(candidates).touched(SCARA).point
    right = candidates.option >= 2
    assert np.sum(right) > 10
    assert np.all(point[right, 0] > 0.2)  # the side of the right disc that faces the box
    with refused("out-of-reach"):
        design_problem(draw=Draw(8, (Region((0.26, 0.36, 0.1), (0.32, 0.44, 0.3)),)))
