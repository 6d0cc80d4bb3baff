"""Sweeps as candidates: rows in closed form, accuracy by Monte Carlo, filters along the whole way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from oracle.logs import G, planar_arm
from oracle.refusals import refused

from elastocal.design.candidates import Draw
from elastocal.design.cell import Cell, Link
from elastocal.design.feasibility.collision import Obstacles
from elastocal.design.obstacles import SphereObstacle
from elastocal.design.planning import best_plan
from elastocal.design.problem import design_problem, possible
from elastocal.design.sweeping import Stroke, Sweeping
from elastocal.design.task import PlanTask
from elastocal.files.robot.read import read_robot
from elastocal.measure.sources.friction import Friction
from elastocal.measure.sources.instrument import Reading

ARM = planar_arm()
SD = 0.5
SPEEDS = (0.05, 0.2)
SWEEPING = Sweeping((0.8, 1.6), SPEEDS, samples=6, sources=(Reading(torque_sd=SD), Friction()))
NAMES = ("J1.mx", "J1.mz", "J2.mx", "J2.mz")
TASK = PlanTask(ARM, SWEEPING, NAMES, draw=Draw(40), count=8)


def columns(candidates, i):
    """Torque of the moving joint by J1.mx, J1.mz, J2.mx, J2.mz, then Coulomb and viscous friction of J1 and of J2."""
    stroke = candidates.options[candidates.option[i]]
    q = np.tile(candidates.q[i], (12, 1))
    way = stroke.span * np.linspace(0, 1, 6)
    q[:, stroke.joint] += np.concatenate([way, way[::-1]])
    sign = np.repeat([1.0, -1.0], 6)
    a, b = q[:, 0], q[:, 0] + q[:, 1]
    inner = np.stack([G * np.cos(a), -G * np.sin(a)], axis=1) * (stroke.joint == 0)
    outer = np.stack([G * np.cos(b), -G * np.sin(b)], axis=1)
    friction = np.zeros((12, 4))
    friction[:, 2 * stroke.joint] = sign
    friction[:, 2 * stroke.joint + 1] = sign * stroke.speed
    return np.concatenate([inner, outer, friction], axis=1)


def test_rows_of_a_planar_arm_by_hand() -> None:
    problem = design_problem(TASK, np.random.default_rng(3))
    assert problem.rows.names == (*NAMES, "J1 coulomb", "J1 viscous", "J2 coulomb", "J2 viscous")
    assert problem.rows.nuisance == ()  # friction is sought as well
    assert len(problem.candidates) == 40 * 2 * 2 * 2
    for i in range(0, 320, 37):
        rows = columns(problem.candidates, i) / SD
        want = rows.T @ rows
        np.testing.assert_allclose(problem.rows.information([i]), want, rtol=1e-8, atol=1e-8 * want.max())
    assert problem.rows.blocks.shape[1] == 3  # sine, cosine and one friction at one speed


def test_expected_accuracy_is_that_of_fits_to_drawn_readings() -> None:
    rng = np.random.default_rng(3)
    found = best_plan(design_problem(TASK, rng), rng, restarts=2)
    candidates = found.chosen
    a = np.concatenate([columns(candidates, i) for i in range(len(candidates))])
    truth = np.array([1.5, 0.2, 1.2, -0.4, 2.0, 5.0, 1.0, 3.0])
    draws = np.array([np.linalg.lstsq(a, a @ truth + SD * rng.normal(size=len(a)), rcond=None)[0] for _ in range(600)])
    np.testing.assert_allclose(draws.std(axis=0), found.selection.known.sd, rtol=0.12)
    speeds = {(candidates.options[o].joint, candidates.options[o].speed) for o in candidates.option}
    assert speeds == {(j, v) for j in (0, 1) for v in SPEEDS}  # viscous friction needs both speeds of each joint
    torque = np.array([[G * np.cos(0.3), -G * np.sin(0.3), G * np.cos(0.8), -G * np.sin(0.8)]])
    slope = TASK.measuring.at_tests(np.array([[0.3, 0.5]]), candidates.load, "tip", ARM, NAMES)
    np.testing.assert_allclose(slope[0, 0], torque[0], atol=1e-9)
    np.testing.assert_allclose(slope[0, 1], torque[0] * [0, 0, 1, 1], atol=1e-9)


def test_one_speed_cannot_tell_coulomb_from_viscous_friction() -> None:
    slow = replace(TASK, measuring=replace(SWEEPING, speeds=(0.1,)))
    problem = design_problem(slow, np.random.default_rng(3))
    with refused("unobservable", "J1 coulomb, J1 viscous, J2 coulomb, J2 viscous"):
        best_plan(problem, np.random.default_rng(3), restarts=1)


def test_the_whole_way_must_be_free() -> None:
    """A post in the middle of a sweep forbids it, though both ends are free: against dense places by hand."""
    post = SphereObstacle(name="post", centre=(0.8, 0.0, 0.45), radius=0.05)
    cell = Cell((Link("J2", "tip", 0.02),), (post,))
    free, _ = possible(TASK, np.random.default_rng(3))
    kept, steps = possible(replace(TASK, cell=cell, filters=(Obstacles(),)), np.random.default_rng(3))

    def away(q):
        elbow = 0.5 * np.stack([np.cos(q[:, 0]), np.sin(q[:, 0])], axis=1)
        tip = elbow + 0.5 * np.stack([np.cos(q.sum(axis=1)), np.sin(q.sum(axis=1))], axis=1)
        places = elbow[:, None] + np.linspace(0, 1, 60)[:, None] * (tip - elbow)[:, None]
        return np.min(np.linalg.norm(places - np.array([0.8, 0.45]), axis=2), axis=1)

    ends, whole = [], []
    for i in range(len(free)):
        stroke = free.options[free.option[i]]
        q = np.tile(free.q[i], (120, 1))
        q[:, stroke.joint] += np.linspace(0, stroke.span, 120)
        distance = away(q)
        ends.append(min(distance[0], distance[-1]))
        whole.append(distance.min())
    sure = np.abs(np.array(whole) - 0.07) > 0.02  # places are 2 degrees apart
    blocked = np.array(whole) < 0.07
    assert np.sum(blocked & (np.array(ends) > 0.09)) > 3
    taken = {(tuple(q), o) for q, o in zip(kept.q, kept.option, strict=True)}
    for i in np.flatnonzero(sure):
        assert ((tuple(free.q[i]), free.option[i]) in taken) == (not blocked[i])
    assert steps[-1].removed == len(free) - len(kept)


def test_sweeps_fit_into_the_limits_and_a_joint_without_weight_is_left_out() -> None:
    model = read_robot("kuka-kr5")
    method = Sweeping((np.radians(120),), (0.1,), sources=(Reading(torque_sd=1.0),))
    candidates, steps = possible(PlanTask(model, method, None, draw=Draw(30)), np.random.default_rng(1))
    assert steps[0].removed == 0
    assert not model.beyond_limits(method.ends(candidates))
    assert {candidates.options[o].joint for o in candidates.option} == {1, 2, 3, 4, 5}  # A1 turns about the vertical
    named = replace(method, joints=("A1",))
    assert isinstance(
        possible(PlanTask(model, named, None, draw=Draw(2)), np.random.default_rng(1))[0].options[0], Stroke
    )
    weightless = model.without("link_mass", "payload")
    with refused("missing", "kuka-kr5"):
        possible(PlanTask(weightless, method, None, draw=Draw(2)), np.random.default_rng(1))


def test_sizes_that_leave_friction_open_are_not_on_the_curve() -> None:
    """Coulomb and viscous friction of two joints need four sweeps at least, whatever equations three would give."""
    rng = np.random.default_rng(3)
    found = best_plan(design_problem(TASK, rng), rng, counts=(3, 4, 8), restarts=2)
    assert [p.count for p in found.curve] == [4, 8]
    small, large = (p.sd for p in found.curve)
    assert np.all(large < small * (1 + 1e-9))
    assert large[:4].max() < small[:4].min()
