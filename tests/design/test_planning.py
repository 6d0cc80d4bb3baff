"""Whole plans: closed forms, Monte Carlo, the criteria against one another, and what cannot be planned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from design.cell_desk import arm, cylindrical
from oracle.refusals import refused

import elastocal as ec
from elastocal.design import planning
from elastocal.design.candidates import Draw
from elastocal.design.criteria.alphabetic import Determinant
from elastocal.design.feasibility.places import ToolBox
from elastocal.design.loading import Actuator
from elastocal.design.method import Measuring
from elastocal.design.planning import best_plan
from elastocal.design.problem import design_problem
from elastocal.design.task import Limits, PlanTask, Tests
from elastocal.errors import InputError
from elastocal.measure.measured import virtual_campaign
from elastocal.measure.sources.instrument import Reading
from elastocal.measure.sources.load import LoadSize
from elastocal.model.loads.wrench import AppliedWrenches
from elastocal.model.statics.observation import Marker

NAMES = ("q1.k", "q2.k", "q3.k")
PUSH = Actuator(sizes=(300.0, 1000.0), directions=((1, 0, 0), (0, 1, 0), (0, 0, 1)))
TASK = PlanTask(
    cylindrical(), Measuring("deflection", (Marker("tool"),), (Reading(sd=1e-5),), "linear"), NAMES,
    loadings=(PUSH,), draw=Draw(250), count=12,
)  # fmt: skip


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def planned_for(task: PlanTask, **more):
    return best_plan(design_problem(task, rng()), rng(), restarts=4, **more)


def test_the_largest_loads_and_the_longest_arm_are_chosen() -> None:
    """k1, k2, k3 are told by fz, r^2 f_t and f_r apart: D wants 1000 N everywhere and r near 1 m across the arm."""
    found = planned_for(TASK)
    chosen = found.chosen
    assert np.all(np.linalg.norm(chosen.wrenches[:, :3], axis=1) == 1000)
    q, f = chosen.q, chosen.wrenches
    across = np.abs(-f[:, 0] * np.sin(q[:, 1]) + f[:, 1] * np.cos(q[:, 1])) > 500
    assert np.sum(across) >= 3
    assert np.all(q[across, 2] > 0.9)
    counts = [np.sum(np.abs(f[:, 2]) > 0), np.sum(across), 12 - np.sum(np.abs(f[:, 2]) > 0) - np.sum(across)]
    assert counts == [4, 4, 4]  # equal weights
    limit = 1e-5 * np.sqrt(2 / 4) / 1000
    np.testing.assert_allclose(found.selection.known.sd, limit * np.ones(3), rtol=0.1)
    assert found.by_determinant.efficiency > 0.97
    assert found.certificate is found.by_determinant


def test_expected_accuracy_is_that_of_many_virtual_campaigns() -> None:
    """Repeats, a common error of the load, loads of two sizes: 400 campaigns, each solved with its full covariance."""
    sources = (Reading(sd=2e-5), LoadSize(sd=0.005, every="campaign"))
    task = replace(TASK, measuring=replace(TASK.measuring, sources=sources), count=5, repeats=2)
    found = planned_for(task)
    candidates = found.chosen.picked(np.repeat(np.arange(5), 2))
    kind = task.measuring.at(candidates.q, candidates.load)
    exact = kind.predict(task.model).reshape(-1)
    spread = 2 * 2e-5**2 * np.eye(len(exact)) + 0.005**2 * np.outer(exact, exact)
    a = kind.derivative(task.model, NAMES).reshape(-1, 3)
    weighed = np.linalg.solve(spread, a)
    solve = np.linalg.solve(a.T @ weighed, weighed.T)
    draw = np.random.default_rng(8)
    drawn = [virtual_campaign(task.model, kind, sources, draw).campaign.readings.reshape(-1) for _ in range(400)]
    fits = np.array(drawn) @ solve.T
    np.testing.assert_allclose(found.selection.known.sd[:3], np.std(fits, axis=0), rtol=0.11)  # three standard errors
    errors = found.problem.derivatives[:, :, :3] @ (fits - np.mean(fits, axis=0)).T
    np.testing.assert_allclose(found.errors, np.sqrt(np.mean(np.sum(errors**2, axis=1), axis=1)), rtol=0.12)


def test_each_plan_is_best_by_its_own_criterion() -> None:
    tests = Tests(
        np.array([[0.5, 0.2, 0.3]]), AppliedWrenches("tool", np.array([[0, 400.0, 0, 0, 0, 0]])), "tool", "one"
    )
    problem = design_problem(replace(TASK, tests=tests), rng())
    plans = {}
    for kind in ("d", "a", "e", "condition", "test_pose"):
        of = design_problem(replace(TASK, tests=tests, weights={kind: 1.0}), rng())
        plans[kind] = (of, best_plan(of, rng(), restarts=3))
    for kind, (of, own) in plans.items():
        gains = {k: of.criterion.gain(p.selection.known) for k, (_, p) in plans.items()}
        assert gains[kind] >= max(gains.values()) - 1e-6, kind
        assert (own.certificate is None) == (kind in ("e", "condition"))
        assert own.by_determinant.gain == pytest.approx(Determinant().gain(own.selection.known))
        assert own.by_determinant.gain <= own.by_determinant.bound
    by_tests, by_d = plans["test_pose"][1], plans["d"][1]
    assert problem.errors(by_tests.selection.known).max() < 0.85 * problem.errors(by_d.selection.known).max()


def test_weighted_criteria_lie_between() -> None:
    tests = Tests(
        np.array([[0.5, 0.2, 0.3]]), AppliedWrenches("tool", np.array([[0, 400.0, 0, 0, 0, 0]])), "tool", "one"
    )
    value = {}
    for weights in ({"d": 1.0}, {"d": 1.0, "test_pose": 1.0}, {"test_pose": 1.0}):
        found = planned_for(replace(TASK, tests=tests, weights=weights))
        value[len(weights), "d" in weights] = (found.selection.known.log_determinant, found.errors[0])
    assert value[1, False][0] < value[2, True][0] < value[1, True][0]
    assert value[1, False][1] < value[2, True][1] < value[1, True][1]


def test_the_smallest_plan_that_meets_what_is_required() -> None:
    """sd(k1) = sigma sqrt(2/m) / F falls with the poses that push along z: 1 % of 1e-6 m/N needs two."""
    limits = Limits({"q1.k": 0.011, "q[23].k": 0.02})
    found = planned_for(TASK, limits=limits)
    sd = found.selection.known.sd / found.problem.values
    assert np.all(sd <= [0.011, 0.02, 0.02])
    assert found.needed is not None
    fewer = design_problem(replace(TASK, count=len(found.selection.chosen) - 1), rng())
    assert fewer.requirement(limits).ratio(best_plan(fewer, rng(), restarts=6).selection.known) > 1
    assert len(found.selection.climbs) == 4  # the restarts asked for, not those that sizes are compared with
    with pytest.raises(InputError) as caught:
        planned_for(TASK, limits=Limits({"q1.k": 1e-4}), most=4)
    assert (caught.value.code, caught.value.value[0]) == ("infeasible", 4)
    few = replace(TASK, draw=Draw(2))
    with pytest.raises(InputError) as caught:
        planned_for(few, limits=Limits({"q1.k": 1e-4}))
    assert (caught.value.code, caught.value.value[0]) == ("infeasible", 12)


def test_the_better_plan_counts_only_if_it_meets_what_is_required(monkeypatch) -> None:
    """A search that ends at a plan of the same size and a better criterion may miss the requirement."""
    limits = Limits({"q1.k": 0.011, "q[23].k": 0.02})
    problem = design_problem(TASK, rng())
    wish = problem.requirement(limits)
    worse = planning.search(problem.rows, Determinant(), problem.rules(3), rng=rng(), restarts=1)
    assert wish.ratio(worse.known) > 1
    monkeypatch.setattr(planning, "search", lambda *_, **__: worse)
    found = best_plan(problem, rng(), limits=limits)
    assert wish.ratio(found.selection.known) <= 1


def test_a_required_error_at_test_poses() -> None:
    problem = design_problem(TASK, rng())
    limit = 0.8 * float(problem.errors(best_plan(problem, rng(), restarts=2).selection.known).max())
    found = best_plan(problem, rng(), limits=Limits(error=limit))
    assert len(found.selection.chosen) > 12
    assert found.errors.max() <= limit


def test_the_curve_falls() -> None:
    found = planned_for(TASK, counts=(4, 8, 16))
    gains = [p.plan.gain for p in found.curve]
    assert gains == sorted(gains)
    assert gains[2] - gains[1] == pytest.approx(np.log(2), abs=0.05)


def test_quotas_of_loads_are_kept() -> None:
    loads = (
        Actuator(name="up", sizes=(1000.0,), directions=((0, 0, 1),), poses=7),
        Actuator(name="side", sizes=(1000.0,), directions=((1, 0, 0), (0, 1, 0)), poses=5),
    )
    found = planned_for(replace(TASK, loadings=loads))
    assert np.sum(found.chosen.wrenches[:, 2] > 0) == 7
    with refused("range", ([7, 4], 12)):
        planned_for(replace(TASK, loadings=(loads[0], replace(loads[1], poses=4))))
    with refused("range", ([7, None], 12)):
        planned_for(replace(TASK, loadings=(loads[0], replace(loads[1], poses=None))))
    for more in ({"counts": (8, 12)}, {"limits": Limits({"q1.k": 0.1})}):
        with refused("fixed-size"):
            planned_for(replace(TASK, loadings=loads), **more)


def test_repeated_poses_where_they_are_allowed() -> None:
    found = planned_for(replace(TASK, may_repeat=True))
    assert len(set(found.selection.chosen)) < len(found.selection.chosen)


def test_earlier_information_moves_the_plan_to_what_is_unknown() -> None:
    def known(names: tuple[str, ...]) -> np.ndarray:
        return np.diag([1e24 if n == "q1.k" else 0.0 for n in names])

    plain, after = planned_for(TASK), planned_for(replace(TASK, earlier=(known,)))
    assert np.sum(after.chosen.wrenches[:, 2] > 0) < np.sum(plain.chosen.wrenches[:, 2] > 0)
    assert after.selection.known.sd[0] < 1.0e-12 * 1.01


def test_what_cannot_be_planned() -> None:
    sources = (Reading(sd=1e-5), LoadSize(sd=np.inf, every="campaign"))
    with refused("too-few", (1, 3, 3)):
        planned_for(replace(TASK, count=1, measuring=replace(TASK.measuring, sources=sources)))
    up = Actuator(sizes=(1.0,), directions=((0, 0, 1),))
    with refused("unobservable", ("q2.k", "q3.k")):
        planned_for(replace(TASK, loadings=(up,)))
    straight = replace(
        TASK, model=arm(), names=("q1.k", "q2.k"), loadings=(Actuator(sizes=(1.0,), directions=((0, 0, 1),)),)
    )
    with refused("unobservable", ("q1.k", "q2.k")):
        planned_for(straight)
    with refused("infeasible", {"tool box": 1500}):
        planned_for(replace(TASK, filters=(ToolBox(low=(3, 3, 3)),)))
    with refused("unknown-parameter-that-is-sought", "q9.k", nearest="q3.k"):
        planned_for(TASK, limits=Limits({"q9.k": 0.1}))
    with refused("unknown-criterion", "weighted"):
        planned_for(replace(TASK, weights={"weighted": 1.0}))
    with refused("nothing-sought"):
        planned_for(replace(TASK, hold=NAMES))


def test_everything_that_can_be_told_apart_is_sought_where_nothing_is_named() -> None:
    found = design_problem(replace(TASK, names=None), rng())
    assert found.names == NAMES
    up = Actuator(sizes=(1.0,), directions=((0, 0, 1),))
    less = design_problem(replace(TASK, names=None, loadings=(up,)), rng())
    assert (less.names, less.left_out) == (("q1.k",), ("q2.k", "q3.k"))


@pytest.mark.parametrize("poses", [0, -3])
def test_a_plan_of_no_poses_is_refused(poses: int) -> None:
    loads = [Actuator(sizes=(300.0,), directions=((1, 0, 0), (0, 1, 0), (0, 0, 1)))]
    with refused("range", poses):
        ec.plan(cylindrical(), loads=loads, seek=["q*.k"], poses=poses, restarts=1)


def test_a_plan_from_python_says_what_it_is_in_a_few_lines() -> None:
    """No file: a robot, loads and markers; the result has poses as the controller shows them."""
    from elastocal.design.assessing import assess
    from elastocal.design.result import Plan
    from elastocal.measure.markers import Deflection
    from elastocal.measure.measured import Measured

    robot = cylindrical()
    loads = [Actuator(sizes=(300.0, 1000.0), directions=((1, 0, 0), (0, 1, 0), (0, 0, 1)))]
    found = ec.plan(robot, loads=loads, seek=["q*.k"], poses=9, restarts=2)
    assert isinstance(found, Plan)
    assert found.axes.shape == (9, robot.n)
    np.testing.assert_allclose(robot.controller.to_joints(found.axes), found.chosen.q)
    assert {p.name for p in found.parameters} == set(NAMES)
    assert all(p.determined and 0 < p.share < 1 for p in found.parameters)
    assert found.rms_error <= found.errors.max()
    assert all(w.code and w.text for w in found.warnings)
    lines = repr(found).splitlines()
    assert len(lines) < 20
    assert max(len(line) for line in lines) < 300
    again = ec.plan(robot, found.task, restarts=2, poses=9)
    np.testing.assert_array_equal(again.chosen.q, found.chosen.q)
    kind = found.task.measuring.readings(found.chosen)
    assert isinstance(kind, Deflection)
    told = assess(robot, Measured(kind, kind.predict(robot), found.task.measuring.sources), NAMES)
    assert {e.name for e in told.expected.expectations} == set(NAMES)
    assert told.unobservable == ()
    assert len(repr(told).splitlines()) < 12


def test_a_plan_by_assumed_values_says_so() -> None:
    """A robot without compliances gets start values by its size; measured ones bring no such warning."""
    task = replace(TASK, model=cylindrical().without("joint_compliance").with_joint_compliance())
    plan = planned_for(task)
    (assumed,) = [w for w in plan.warnings if w.code == "assumed-values"]
    assert set(assumed.data["parameters"]) == set(NAMES)
    assert "warning assumed-values" in repr(plan)
    measured = [replace(e, status="measured") if e.kind == "joint_compliance" else e for e in task.model.elements]
    known = planned_for(replace(task, model=replace(task.model, elements=tuple(measured))))
    assert "assumed-values" not in [w.code for w in known.warnings]
