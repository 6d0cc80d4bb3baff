"""Poses for an unloaded calibration: what they promise, and what arms drawn from the priors make of it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from oracle.draws import draws
from oracle.refusals import refused

import elastocal as ec
from elastocal.calibration.planning import drawn_robot, noise_of
from elastocal.design.loading import Hanging
from elastocal.design.result import Plan
from elastocal.design.task import Limits
from elastocal.model.robot import Robot
from elastocal.solve.summary import rms
from elastocal.spatial.pose import Pose

WORDS = ("geometry", "weight", "harmonics")
POSES = 30
STATION = Pose(np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]]), np.array([1.0, -2.0, 0.5]))


@cache
def arm() -> Robot:
    """Geometry alone."""
    return ec.read_robot("kuka-kr5").nominal


@cache
def planned() -> Plan:
    return ec.plan(arm(), poses=POSES, model=WORDS, restarts=1)


def test_planned_poses_predict_better_than_random_ones() -> None:
    """Arms drawn from the priors, a tracker and a reflector that stand nobody knows where: plan, simulate, calibrate,
    validate.  What is promised comes true, but for scales of priors that a calibration must find first."""
    plan, rng = planned(), np.random.default_rng(1)
    feasible = arm().controller.to_controller(plan.problem.candidates.q)
    errors = []
    for _ in range(draws(6, 60)):
        truth = drawn_robot(arm(), rng, WORDS)
        some, others = (feasible[rng.choice(len(feasible), n, replace=False)] for n in (POSES, 80))
        unseen = ec.simulate(truth, others, noise=None, stations=STATION)
        both = (ec.simulate(truth, where, rng=rng, stations=STATION) for where in (plan, some))
        checks = [ec.calibrate(arm(), data, model=WORDS).validate(unseen) for data in both]
        errors.append([c.after.rms for c in checks])
    best, usual = np.sqrt(np.mean(np.square(errors), axis=0))
    assert best < 0.93 * usual
    assert 0.85 < best / plan.rms_error < 1.25


def test_the_error_without_calibration_is_that_of_drawn_arms() -> None:
    """Instrument and reflector fitted to the nominal arm by least squares of their nine small numbers."""
    plan, rng = planned(), np.random.default_rng(2)
    tests = plan.problem.tests

    def places(robot: Robot, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        at = robot.kinematics(arm().controller.to_controller(q))
        cross = [np.cross(np.eye(3), p).swapaxes(0, 1) for p in at.position]
        return at.position, np.concatenate([np.tile(np.eye(3), (len(q), 1, 1)), cross, at.rotation], axis=2)

    (_, seen), (_, unseen) = (places(arm(), q) for q in (plan.chosen.q, tests.q))
    squares = []
    for _ in range(draws(60, 2000)):
        truth = drawn_robot(arm(), rng, WORDS)
        off, beyond = (ec.simulate(truth, arm().controller.to_controller(q), noise=None).position[:, 0]
                       - places(arm(), q)[0] for q in (plan.chosen.q, tests.q))  # fmt: skip
        fit = np.linalg.lstsq(seen.reshape(-1, 9), off.ravel(), rcond=None)[0]
        squares.append(np.mean(np.sum((beyond - unseen @ fit) ** 2, axis=1)))
    spread = np.std(squares) / np.sqrt(len(squares))
    assert plan.uncalibrated is not None
    assert abs(np.mean(squares) - rms(plan.uncalibrated) ** 2) < 4.5 * spread
    assert spread < 0.15 * np.mean(squares)


def test_the_expected_error_is_that_of_all_parameters() -> None:
    """By the inverse of the whole information; the search knows leading combinations alone, and little less."""
    plan = planned()
    rows, slopes = plan.problem.rows, plan.problem.derivatives
    spread = np.linalg.inv(rows.information(plan.selection.chosen))
    whole = np.sqrt(np.einsum("tij,jk,tik->t", slopes, spread, slopes))
    np.testing.assert_allclose(plan.errors, whole, rtol=1e-4)
    np.testing.assert_allclose([p.sd for p in plan.parameters], np.sqrt(np.diag(spread)), rtol=1e-4)
    leading = plan.problem.space.known(plan.selection.chosen)
    assert len(leading.root) < 0.7 * rows.parameters
    searched = rms(plan.problem.errors(leading))
    assert 0.97 * plan.rms_error < searched < plan.rms_error
    known = {p.name: p.known for p in plan.parameters if not p.nuisance}
    assert known["A4.offset"] > 0.9
    assert known["A1.offset"] < 0.01  # the instrument may stand turned about the first axis
    assert sum(number for _, number, _ in plan.effects) == len(plan.problem.names)


def test_more_poses_and_what_was_known_before_lower_the_error() -> None:
    robot, words = ec.read_robot("cylindrical"), ["geometry", "harmonics"]
    many, fewer = (ec.plan(robot, poses=n, model=words, restarts=1) for n in (24, 8))
    assert fewer.rms_error > 1.3 * many.rms_error
    assert fewer.task.prior is not None
    tenth = replace(fewer.task.prior, covariance=fewer.task.prior.covariance / 100)
    sure = ec.plan(robot, replace(fewer.task, prior=tenth), restarts=1)
    assert fewer.uncalibrated is not None
    assert sure.uncalibrated is not None
    assert sure.rms_error < fewer.rms_error
    assert rms(sure.uncalibrated) < 0.2 * rms(fewer.uncalibrated)
    wanted = 1.2 * float(many.errors.max())
    enough = ec.plan(robot, many.task, limits=Limits(error=wanted), restarts=1)
    assert 8 < len(enough.chosen) < 24
    assert enough.errors.max() <= 1.02 * wanted


def test_a_name_is_enough_and_nothing_is_silent() -> None:
    by_name = ec.plan("cylindrical", poses=8, restarts=1, model=["geometry"])
    by_robot = ec.plan(ec.read_robot("cylindrical"), poses=8, restarts=1, model=["geometry"])
    np.testing.assert_array_equal(by_name.axes, by_robot.axes)
    assert "mm without calibration" in repr(by_name)
    with refused("missing"):
        ec.plan("cylindrical", seek=["q1.k"])
    with refused("conflict", ("d",), parameter="criterion"):
        ec.plan("cylindrical", criterion="d", poses=8)
    with refused("unsupported"):
        ec.plan(arm(), planned().task, limits=Limits(share={"A2.offset": 0.1}))
    with refused("unknown-model-word", "geometri"):
        ec.plan("cylindrical", model=["geometri"])


@pytest.mark.parametrize(
    ("name", "value"),
    [("loads", [Hanging(masses=(100.0,))]), ("markers", ["nonsense"]), ("model", "auto"), ("noise", 3e-5)],
)
def test_what_a_plan_would_not_use_is_refused(name: str, value: Any) -> None:
    with refused("conflict", value, parameter=name):
        ec.plan(arm(), planned().task, **{name: value})
    with refused("conflict", "geometri", parameter="model"):
        ec.plan(arm(), loads=[Hanging(masses=(100.0,))], model="geometri", seek=["A?.k"])


def test_a_reflector_on_the_last_axis_is_told() -> None:
    flange = replace(arm(), tool="flange")
    (told,) = [w for w in ec.plan(flange, poses=10, restarts=1, model=["geometry"]).warnings if "axis" in w.code]
    assert (told.code, told.data["joints"]) == ("marker-on-axis", ("A6",))
    assert not [w for w in planned().warnings if w.code == "marker-on-axis"]


def test_every_marker_is_seen_where_the_place_of_the_tracker_is_known() -> None:
    at = (1.2, 0.0, 1.0)
    plan = ec.plan(arm(), ec.Cell(tracker=at), poses=10, restarts=1, model=["geometry"])
    steps = {s.label: s.removed for s in plan.problem.steps}
    assert steps["line of sight"] > 0
    done = {c.code: c.done for c in plan.checks}
    assert done["line-of-sight"]
    assert {c.code: c.done for c in planned().checks}["line-of-sight"] is False


@pytest.mark.parametrize("name", ["kuka-kr270", "scara-ruggeri", "cylindrical"])
def test_robots_with_compliance_and_masses_and_planar_ones_are_planned_too(name: str) -> None:
    plan = ec.plan(name, poses=12, restarts=1)
    assert plan.uncalibrated is not None
    assert plan.rms_error < 0.2 * rms(plan.uncalibrated)
    assert len(plan.axes) == 12


def test_a_plan_has_as_many_poses_as_calibrate_needs() -> None:
    """A point alone is three numbers of nine unknowns: three poses tell nothing of the arm, four three numbers."""
    with refused("too-few", 3, parameter="poses", allowed=(4,)):
        ec.plan("cylindrical", poses=3, restarts=1, model=["geometry"])
    plan = ec.plan(arm(), poses=4, restarts=1, model="geometry", noise=0.01)
    (told,) = [w for w in plan.warnings if w.code == "no-gain"]
    assert told.data["poses"] == 4
    assert told.data["before"] > told.data["after"] > 0.9 * told.data["before"] > 1e-3
    assert "no-gain" not in [w.code for w in planned().warnings]


def test_columns_of_a_plan_say_their_unit_and_are_taken_by_name() -> None:
    plan = planned()
    table = plan.to_frame()
    names = list(plan.rows()[0])
    assert names == ["pose", *(f"{axis}_rad" for axis in arm().controller.axes), "load"]
    assert len(table) == POSES  # type: ignore[arg-type]
    assert [plan.rows()[0][n] for n in names[1:-1]] == pytest.approx(list(plan.axes[0]))


@pytest.mark.parametrize("loaded", [False, True])
def test_the_noise_of_a_plan_is_that_of_one_reading_of_the_calibration(loaded: bool) -> None:
    """Positions with repeats, and deflections: differences of two readings."""
    robot, rng = ec.read_robot("kuka-kr270"), np.random.default_rng(3)
    low, high = 0.6 * np.array([m.limits for m in robot.motions]).T
    q = low + (high - low) * rng.random((30, robot.n))
    wrench = np.zeros((30, 6))
    wrench[:, 2] = -rng.choice([500.0, 1500.0, 3000.0], 30)
    if loaded:
        made = ec.simulate(
            robot, robot.controller.to_controller(q), wrench=wrench, noise=2e-5, rng=rng, read="deflection"
        )
    else:
        made = ec.simulate(robot, np.repeat(robot.controller.to_controller(q), 3, axis=0), noise=2e-5, rng=rng)
    cal = ec.calibrate(robot, made.changed(noise=None), ["compliance"] if loaded else ["geometry"])
    assert noise_of(cal) == pytest.approx(2e-5, rel=0.2)


def test_a_calibration_by_lengths_of_beams_tells_no_noise_of_a_coordinate() -> None:
    robot, rng = arm(), np.random.default_rng(3)
    low, high = 0.6 * np.array([m.limits for m in robot.motions]).T
    q = low + (high - low) * rng.random((40, robot.n))
    length = np.linalg.norm(robot.kinematics(q).position - [3.0, 0.5, 0.2], axis=1)[:, None]
    read = length + 2e-5 * rng.normal(size=length.shape)
    read = ec.Campaign(q=robot.controller.to_controller(q), distance=read, length="m", angle="rad")
    assert noise_of(ec.calibrate(robot, read, ["geometry"])) is None
