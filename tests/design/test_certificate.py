"""Bounds against all plans, tight ones against closed forms."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from design.plain import every_plan, examples, gain, polynomial, problem
from oracle.refusals import refused

from elastocal.design.certificate import certify
from elastocal.design.criteria.alphabetic import CovarianceTrace, Determinant
from elastocal.design.criteria.test_pose import TestPose
from elastocal.design.exchange import search
from elastocal.design.information import CandidateRows
from elastocal.design.rules import Rules

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
        ({}, Rules(5, group=np.arange(10) % 2, quota=(1, 4))),
    ],
    ids=["subsets", "nuisances", "prior", "repeats", "groups"],
)
def test_no_plan_is_above_the_bound(name, cell, rules):
    for seed in range(3):
        candidates = problem(40 + seed, **{"count": 10, **cell})
        criterion = examples(candidates)[name]
        plan, found = certified(candidates, criterion, rules, tolerance=1e-6)
        plans = every_plan(candidates, rules.count, rules.repeats)
        if rules.group is not None:
            plans = [p for p in plans if np.sum(rules.group[list(p)] == 0) == rules.quota[0]]
        best = max(gain(criterion, candidates, p) for p in plans)
        assert found.bound >= best - 1e-9
        assert found.bound - found.relaxed < 1e-5
        assert found.efficiency <= np.exp(plan.gain - best) + 1e-9
        assert found.efficiency > 0.2
        assert found.gain == plan.gain


@pytest.mark.parametrize("name", ["d", "a", "test_pose"])
def test_weights_obey_the_rules(name):
    candidates = problem(45, count=12)
    rules = Rules(6, group=np.arange(12) % 2, quota=(4, 2))
    _, found = certified(candidates, examples(candidates)[name], rules)
    assert np.all((found.weights >= 0) & (found.weights <= 1 + 1e-12))
    assert found.weights[::2].sum() == pytest.approx(4)
    assert found.weights[1::2].sum() == pytest.approx(2)


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
    _, found = certified(polynomial(2, GRID), CovarianceTrace(), Rules(4, repeats=True), tolerance=1e-6)
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
    candidates = CandidateRows(polynomial(1, GRID).blocks, nuisance=(0,))
    plan, found = certified(candidates, Determinant(), Rules(4, repeats=True), tolerance=1e-6)
    assert Counter(plan.chosen) == {0: 2, 40: 2}
    assert plan.value == pytest.approx(np.log(4))
    assert found.efficiency == pytest.approx(1, abs=1e-5)


def test_a_plan_of_all_candidates_is_the_best():
    plan, found = certified(problem(48, count=6), Determinant(), Rules(6))
    assert plan.chosen == tuple(range(6))
    assert found.efficiency == pytest.approx(1, abs=1e-9)


def test_hardly_more_equations_than_parameters_leave_the_bound_far_from_the_best_plan():
    """15 equations for 14 parameters: of all 142 506 plans the best is found, but certified for 70 % only."""
    rng = np.random.default_rng(7)
    candidates = CandidateRows(rng.normal(size=(30, 3, 14)) @ rng.normal(size=(14, 14)))
    plan, found = certified(candidates, Determinant(), Rules(5))
    squares = candidates.blocks.swapaxes(1, 2) @ candidates.blocks
    best = max(
        float(np.linalg.slogdet(squares[list(first)].sum(axis=0) + squares[max(first) + 1 :])[1].max())
        for first in combinations(range(29), 4)
    )
    assert np.exp(plan.gain - best / 14) > 0.97
    assert 0.6 < np.exp(best / 14 - found.bound) < 0.8


def test_a_large_problem_is_bounded_closely():
    candidates = problem(46, count=3000, k=3, p=12, units=False)
    plan, found = certified(candidates, Determinant(), Rules(15))
    assert found.bound - found.relaxed < 1e-4
    assert 0.9 < found.efficiency < 1
    assert found.relaxed > plan.gain
    assert np.sum(found.weights > 0) < 200


def test_candidates_left_out_at_first_join(monkeypatch):
    candidates = problem(46, count=800, k=2, p=12, units=False)
    _, wide = certified(candidates, Determinant(), Rules(10, repeats=True))
    monkeypatch.setattr("elastocal.design.certificate.ACTIVE", 20)
    _, narrow = certified(candidates, Determinant(), Rules(10, repeats=True))
    assert narrow.bound - narrow.relaxed < 1e-4
    assert narrow.bound == pytest.approx(wide.bound, abs=1e-4)


@pytest.mark.parametrize("name", ["e", "condition", "test_pose largest", "weighted"])
def test_criteria_without_slopes_have_no_certificate(name):
    candidates = problem(47)
    criterion = examples(candidates)[name]
    with refused("unsupported", name.split()[0]):
        certified(candidates, criterion, Rules(5))
