"""Bounds against all plans, tight ones against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from design.plain import every_plan, examples, gain, polynomial, problem

from elastocal.design.candidates import Candidates
from elastocal.design.certificate import certify
from elastocal.design.criteria.a import Trace
from elastocal.design.criteria.d import Determinant
from elastocal.design.criteria.test_pose import TestPose
from elastocal.design.rules import Rules
from elastocal.design.search import search
from elastocal.errors import InputError

GRID = np.linspace(-1, 1, 41)


def certified(candidates, criterion, rules, **more):
    plan = search(candidates, criterion, rules, rng=np.random.default_rng(0))
    return plan, certify(candidates, criterion, rules, plan, **more)


@pytest.mark.parametrize("name", ["d", "a", "test_pose"])
@pytest.mark.parametrize(
    ("cell", "rules"),
    [
        ({}, Rules(4)),
        ({"nuisance": (1, 2)}, Rules(5)),
        ({"prior": 0.5, "nuisance": (0,)}, Rules(3)),
        ({"count": 7}, Rules(5, repeats=True)),
        ({"count": 7}, Rules(5, repeats=True, fixed=(0, 0, 3))),
        ({}, Rules(6, fixed=(1, 4))),
        ({}, Rules(5, group=np.arange(10) % 2, quota=(1, 4))),
    ],
    ids=["subsets", "nuisances", "prior", "repeats", "fixed and repeats", "fixed", "groups"],
)
def test_no_plan_is_above_the_bound(name, cell, rules):
    for seed in range(3):
        candidates = problem(40 + seed, **{"count": 10, **cell})
        criterion = examples(candidates)[name]
        plan, found = certified(candidates, criterion, rules, tolerance=1e-6)
        plans = every_plan(candidates, rules.count, rules.repeats, rules.fixed)
        if rules.group is not None:
            plans = [p for p in plans if np.sum(rules.group[list(p)] == 0) == rules.quota[0]]
        best = max(gain(criterion, candidates, p) for p in plans)
        assert found.bound >= best - 1e-9
        assert found.gap < 1e-5
        assert found.efficiency <= np.exp(plan.gain - best) + 1e-9
        assert found.efficiency > 0.2
        assert found.gain == plan.gain


@pytest.mark.parametrize("name", ["d", "a", "test_pose"])
def test_weights_obey_the_rules(name):
    candidates = problem(45, count=12)
    rules = Rules(6, fixed=(2,), group=np.arange(12) % 2, quota=(4, 2))
    _, found = certified(candidates, examples(candidates)[name], rules)
    assert found.weights[2] == 0  # fixed members are in the plan already
    assert np.all((found.weights >= 0) & (found.weights <= 1 + 1e-12))
    assert found.weights[::2].sum() == pytest.approx(3)
    assert found.weights[1::2].sum() == pytest.approx(2)


def test_fixed_members_carry_no_weight_beside_themselves():
    candidates = problem(49)
    fixed = certified(candidates, Determinant(), Rules(4))[0].chosen[:2]
    free = certified(candidates, Determinant(), Rules(4))[1].weights
    assert np.all(free[list(fixed)] > 0.5)
    assert np.all(certified(candidates, Determinant(), Rules(4, fixed=fixed))[1].weights[list(fixed)] == 0)


@pytest.mark.parametrize("count", [3, 6])
def test_d_optimal_quadratic_regression_is_certified(count):
    _, found = certified(polynomial(2, GRID), Determinant(), Rules(count, repeats=True), tolerance=1e-7)
    assert found.bound == pytest.approx(np.log(4 * (count / 3) ** 3) / 3, abs=1e-6)
    assert found.efficiency == pytest.approx(1, abs=1e-6)
    assert found.weights[[0, 20, 40]] == pytest.approx(np.full(3, count / 3), rel=1e-2)


def test_whole_numbers_cost_what_they_cost():
    """4 readings of a quadratic: det 8 against 4 (4/3)^3 with weights."""
    _, found = certified(polynomial(2, GRID), Determinant(), Rules(4, repeats=True), tolerance=1e-7)
    assert found.efficiency == pytest.approx((8 / (4 * (4 / 3) ** 3)) ** (1 / 3), abs=1e-6)


def test_cubic_regression():
    points = np.sort(np.append(GRID, [-1 / np.sqrt(5), 1 / np.sqrt(5)]))
    _, found = certified(polynomial(3, points), Determinant(), Rules(4, repeats=True), tolerance=1e-6)
    assert found.efficiency == pytest.approx(1, abs=1e-5)


def test_a_optimal_quadratic_regression_is_certified():
    _, found = certified(polynomial(2, GRID), Trace(), Rules(4, repeats=True), tolerance=1e-6)
    assert found.bound == pytest.approx(-np.log(8 / 4 / 3), abs=1e-5)


def test_extrapolation_is_certified():
    wanted = TestPose(np.array([[[1.0, 2.0, 4.0]]]))
    _, found = certified(polynomial(2, GRID), wanted, Rules(7, repeats=True), tolerance=1e-6)
    assert found.bound == pytest.approx(-np.log(7.0), abs=1e-5)


def test_without_repeats_the_bound_is_lower():
    """Six different points of 41 cannot all be the three best ones."""
    _, free = certified(polynomial(2, GRID), Determinant(), Rules(6, repeats=True), tolerance=1e-6)
    plan, held = certified(polynomial(2, GRID), Determinant(), Rules(6), tolerance=1e-6)
    assert plan.gain <= held.bound < free.bound - 0.02
    assert held.efficiency > np.exp(plan.gain - free.bound) + 0.02


def test_a_nuisance_level_is_marginalised():
    """y = u + b x: with u unknown, the information of b is the sum of squares about the mean, best at the ends."""
    candidates = Candidates(polynomial(1, GRID).blocks, nuisance=(0,))
    plan, found = certified(candidates, Determinant(), Rules(4, repeats=True), tolerance=1e-6)
    assert plan.multiplicity == {0: 2, 40: 2}
    assert plan.value == pytest.approx(np.log(4))
    assert found.efficiency == pytest.approx(1, abs=1e-5)


def test_a_plan_whose_members_are_all_fixed_is_the_best():
    plan, found = certified(problem(48), Determinant(), Rules(4, fixed=(1, 3, 6, 8)))
    assert plan.chosen == (1, 3, 6, 8)
    assert found.efficiency == pytest.approx(1, abs=1e-9)
    assert not found.weights.any()


def test_a_large_problem_is_bounded_closely():
    candidates = problem(46, count=3000, k=3, p=12, units=False)
    plan, found = certified(candidates, Determinant(), Rules(15))
    assert found.gap < 1e-4
    assert 0.9 < found.efficiency < 1
    assert found.relaxed > plan.gain
    assert np.sum(found.weights > 0) < 200


def test_candidates_left_out_at_first_join(monkeypatch):
    candidates = problem(46, count=800, k=2, p=12, units=False)
    _, wide = certified(candidates, Determinant(), Rules(10, repeats=True))
    monkeypatch.setattr("elastocal.design.relaxation.ACTIVE", 20)
    _, narrow = certified(candidates, Determinant(), Rules(10, repeats=True))
    assert narrow.gap < 1e-4
    assert narrow.bound == pytest.approx(wide.bound, abs=1e-4)


@pytest.mark.parametrize("name", ["e", "condition", "test_pose largest", "weighted"])
def test_criteria_without_slopes_have_no_certificate(name):
    candidates = problem(47)
    criterion = examples(candidates)[name]
    with pytest.raises(InputError, match="there is no certificate"):
        certified(candidates, criterion, Rules(5))
