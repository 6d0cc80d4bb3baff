"""Searches against all plans, closed forms, and their own rules."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from design.plain import every_plan, examples, gain, polynomial, problem

from elastocal.design.criteria.alphabetic import CovarianceTrace, Determinant, SmallestEigenvalue
from elastocal.design.criteria.test_pose import TestPose
from elastocal.design.exchange import Search, best, best_climb, climbed, grown, search
from elastocal.design.information import CandidateRows, space_of
from elastocal.design.knowledge import DRIFT, Forms, known, step
from elastocal.design.rules import Rules

NAMES = tuple(examples(problem(0)))
criteria = pytest.mark.parametrize("name", NAMES)
CHEBYSHEV = np.array([-1.0, -0.75, -0.5, -1 / np.sqrt(5), -0.25, 0.0, 0.25, 1 / np.sqrt(5), 0.5, 0.75, 1.0])


def found(candidates, criterion, rules, seed=0, restarts=12, **more):
    return search(candidates, criterion, rules, rng=np.random.default_rng(seed), restarts=restarts, **more)


@criteria
@pytest.mark.parametrize(
    ("cell", "rules"),
    [
        ({}, Rules(4)),
        ({"nuisance": (1,)}, Rules(5)),
        ({"nuisance": (3,), "prior": 0.5}, Rules(2)),
        ({"count": 7}, Rules(4, repeats=True)),
        ({"p": 6, "k": 2, "count": 10}, Rules(3)),  # no equation to spare
    ],
    ids=["subsets", "nuisance", "prior", "repeats", "no spare equation"],
)
def test_the_plan_is_the_best_of_all_plans(name, cell, rules):
    candidates = problem(11, **{"count": 10, **cell})
    criterion = examples(candidates)[name]
    plan = found(candidates, criterion, rules, restarts=25)
    plans = every_plan(candidates, rules.count, rules.repeats)
    gains = [gain(criterion, candidates, p) for p in plans]
    assert plan.gain == pytest.approx(max(gains), abs=1e-8)
    assert plan.gain == pytest.approx(gain(criterion, candidates, plan.chosen), abs=1e-8)
    assert len(plan.chosen) == rules.count
    assert max(gains) > np.median(gains) + 0.1


@criteria
def test_no_exchange_of_one_member_improves_a_plan(name):
    candidates = problem(12, count=40, k=3, p=6, nuisance=(0,))
    criterion = examples(candidates)[name]
    plan = found(candidates, criterion, Rules(5), restarts=1)
    for j in range(5):
        rest = [*plan.chosen[:j], *plan.chosen[j + 1 :]]
        assert max(gain(criterion, candidates, [*rest, c]) for c in range(40) if c not in rest) < plan.gain + 1e-8


@criteria
def test_exchange_improves_a_bad_start_and_never_worsens_one(name):
    candidates = problem(13, count=60, k=2, p=5)
    criterion = examples(candidates)[name]
    task = Search(space_of(candidates), criterion, Rules(6))
    for seed in range(5):
        start = [int(c) for c in np.random.default_rng(seed).permutation(60)[:6]]
        climb = climbed(task, start)
        assert climb.gain > gain(criterion, candidates, start) + 0.05
        again = climbed(task, climb.members)
        assert (again.members, again.exchanges) == (climb.members, 0)
        assert climb.exchanges > 0


def test_d_optimal_quadratic_regression():
    """Weights 1/3 at -1, 0, 1; det = 4 (m/3)^3."""
    plan = found(polynomial(2, np.linspace(-1, 1, 41)), Determinant(), Rules(6, repeats=True))
    assert Counter(plan.chosen) == {0: 2, 20: 2, 40: 2}
    assert plan.value == pytest.approx(np.log(4 * 2**3), rel=1e-12)


def test_d_optimal_cubic_regression():
    """Weights 1/4 at the ends and at +-1/sqrt(5)."""
    plan = found(polynomial(3, CHEBYSHEV), Determinant(), Rules(8, repeats=True))
    assert Counter(plan.chosen) == {0: 2, 3: 2, 7: 2, 10: 2}


def test_a_optimal_quadratic_regression():
    """Weights 1/4, 1/2, 1/4; the trace of the inverse is 8 / m."""
    plan = found(polynomial(2, np.linspace(-1, 1, 41)), CovarianceTrace(), Rules(4, repeats=True))
    assert Counter(plan.chosen) == {0: 1, 20: 2, 40: 1}
    assert plan.value == pytest.approx(8 / 4, rel=1e-12)


def test_e_optimal_quadratic_regression():
    """Weights 1/5, 3/5, 1/5; the smallest eigenvalue is m / 5."""
    plan = found(polynomial(2, np.linspace(-1, 1, 41)), SmallestEigenvalue(), Rules(10, repeats=True))
    assert Counter(plan.chosen) == {0: 2, 20: 6, 40: 2}
    assert plan.value == pytest.approx(2.0, rel=1e-12)


def test_optimal_extrapolation():
    """At x = 2 (Hoel and Levine): weights as |Lagrange polynomials| 1, 3, 3 at -1, 0, 1; variance 7^2 / m."""
    wanted = TestPose(np.array([[[1.0, 2.0, 4.0]]]))
    plan = found(polynomial(2, np.linspace(-1, 1, 41)), wanted, Rules(7, repeats=True))
    assert Counter(plan.chosen) == {0: 1, 20: 3, 40: 3}
    assert plan.value == pytest.approx(np.sqrt(7.0), rel=1e-12)


def test_the_vertices_of_a_cube():
    """First-order model: all 8 vertices once, each parameter gets m readings."""
    at = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 3), axis=-1).reshape(-1, 3)
    candidates = CandidateRows(np.column_stack([np.ones(27), at])[:, None])
    plan = found(candidates, Determinant(), Rules(8))
    assert plan.value == pytest.approx(4 * np.log(8), rel=1e-12)
    assert np.all(np.abs(at[list(plan.chosen)]) == 1)


def test_groups_get_their_quota():
    candidates = problem(14, count=12, k=2, p=4)
    group = np.arange(12) % 3
    rules = Rules(5, group=group, quota=(1, 0, 4))
    plan = found(candidates, Determinant(), rules, restarts=20)
    legal = [p for p in every_plan(candidates, 5) if list(np.bincount(group[list(p)], minlength=3)) == [1, 0, 4]]
    assert plan.gain == pytest.approx(max(gain(Determinant(), candidates, p) for p in legal), abs=1e-9)
    assert list(np.bincount(group[list(plan.chosen)], minlength=3)) == [1, 0, 4]
    assert plan.gain < found(candidates, Determinant(), Rules(5)).gain - 0.01


def test_units_do_not_change_a_plan():
    candidates = problem(15, count=50, k=3, p=6, units=False)
    units = 10.0 ** np.array([-9, 6, 0, 3, -6, 9])
    other = CandidateRows(candidates.blocks * units)
    wanted = np.random.default_rng(1).normal(size=(5, 3, 6))
    pairs = [
        (Determinant(), Determinant()),
        (CovarianceTrace(), CovarianceTrace(1 / units)),
        (TestPose(wanted), TestPose(wanted * units)),
        (SmallestEigenvalue(), SmallestEigenvalue(1 / units)),
    ]
    for here, there in pairs:
        plan, same = found(candidates, here, Rules(6), restarts=4), found(other, there, Rules(6), restarts=4)
        assert plan.chosen == same.chosen
        shift = 2 * np.log(units).mean() if here.kind == "d" else 0.0
        assert same.gain == pytest.approx(plan.gain + shift, abs=1e-9)


def test_parameters_that_are_hard_to_tell_apart_are_planned_as_well():
    """Two columns differ by 1e-6 of their size: the information has a condition of 1e13."""
    plain = problem(16, count=40, k=3, p=5, units=False)
    mixed = np.eye(5)
    mixed[0, 1], mixed[1, 1] = 1.0, 1e-6
    hard = CandidateRows(plain.blocks @ mixed)
    assert np.linalg.cond(hard.information(range(40))) > 1e12
    easy, other = found(plain, Determinant(), Rules(5)), found(hard, Determinant(), Rules(5))
    assert easy.chosen == other.chosen
    assert other.value == pytest.approx(easy.value + 2 * np.log(1e-6), abs=1e-8)


def test_rows_that_say_nothing_new_are_dropped_and_change_nothing():
    candidates = problem(17, count=60, k=3, p=10)
    turn = np.linalg.qr(np.random.default_rng(2).normal(size=(60, 9, 3)))[0]
    nine = replace(candidates, blocks=turn @ candidates.blocks)
    assert space_of(nine).k == 3
    for criterion in examples(candidates).values():
        plan, same = (found(c, criterion, Rules(7), restarts=3) for c in (candidates, nine))
        assert plan.chosen == same.chosen
        assert same.gain == pytest.approx(plan.gain, abs=1e-8)


def test_a_row_that_only_one_candidate_has_is_kept():
    blocks = np.random.default_rng(3).normal(size=(200, 4, 6))
    blocks[:, 3] = 0.0
    blocks[77, 3, 5] = 100.0
    assert 77 in found(CandidateRows(blocks), Determinant(), Rules(4), restarts=3).chosen


def test_every_restart_is_told_with_its_end():
    candidates = problem(18, count=60, k=1, p=12)
    plan = found(candidates, Determinant(), Rules(13), restarts=15)
    assert len(plan.climbs) == len(plan.agreed) == 15
    assert plan.gain == pytest.approx(max(c.gain for c in plan.climbs), abs=1e-9)
    for climb, same in zip(plan.climbs, plan.agreed, strict=True):
        assert same == (climb.gain > plan.gain - 1e-6)
        assert climb.gain == pytest.approx(gain(Determinant(), candidates, climb.members), abs=1e-9)
    assert 0 < sum(plan.agreed) < 15


def test_the_greedy_start_takes_the_best_candidate_each_time():
    candidates = problem(26, count=30, k=2, p=4)
    task = Search(space_of(candidates), CovarianceTrace(1 / np.abs(candidates.blocks).mean(axis=(0, 1))), Rules(8))
    members = grown(task, [3, 11, 20], 8)
    assert members[:3] == [3, 11, 20]
    for n in range(3, 8):
        others = [c for c in range(30) if c not in members[:n]]
        gains = [gain(task.criterion, candidates, [*members[:n], c]) for c in others]
        assert members[n] == others[int(np.argmax(gains))]


@criteria
def test_a_plan_is_closed_by_its_determinant(name):
    """Six rows for six parameters: until then no other criterion sees a difference."""
    candidates = problem(25, count=40, k=1, p=6)
    space, criterion = space_of(candidates), examples(candidates)[name]
    members = grown(Search(space, criterion, Rules(9)), [], 9)
    assert members[:6] == grown(Search(space, Determinant(), Rules(9)), [], 6)
    assert not space.known(members[:6]).open


def test_a_plan_for_few_test_poses_still_determines_every_parameter():
    """The error asked for depends on one parameter of four; a plan that leaves others open would serve it best."""
    blocks = 0.1 * np.random.default_rng(4).normal(size=(40, 1, 4))
    blocks[:20, 0, 1:] = 0.0
    blocks[:20, 0, 0] = 10.0
    wanted = TestPose(np.array([[[1.0, 0.0, 0.0, 0.0]]]))
    plan = found(CandidateRows(blocks), wanted, Rules(6), restarts=12)
    assert np.all(np.isfinite(plan.known.sd))
    assert sum(c < 20 for c in plan.chosen) == 3
    assert not any(climb.open for climb in plan.climbs)  # though some of them start open
    task = Search(space_of(CandidateRows(blocks)), wanted, Rules(6))
    assert task.space.known(range(6)).open
    assert climbed(task, range(6)).gain == pytest.approx(plan.gain, abs=1e-3)


def test_a_member_that_alone_closes_the_plan_moves_to_the_best_that_does():
    """Candidates to 9 see the first parameter best, the others see it by their number and the second one too."""
    blocks = np.zeros((20, 2, 2))
    blocks[:10, :, 0] = 10.0
    blocks[10:, 0, 0], blocks[10:, 1, 1] = np.arange(10) / 3, 0.1
    task = Search(space_of(CandidateRows(blocks)), TestPose(np.array([[[1.0, 0.0]]])), Rules(3))
    assert climbed(task, [0, 1, 12]).members == (0, 1, 19)


@pytest.mark.parametrize("k", [1, 3])
def test_updated_matrices_stay_exact(k):
    """Members leave and join 60 times; the bank renews itself where rounding has gathered."""
    candidates = problem(20, count=100, k=k, p=6)
    space, rng = space_of(candidates), np.random.default_rng(5)
    members = list(range(12))
    kept = Forms.at(space, space.known(members))
    for _ in range(60):
        j, c = int(rng.integers(12)), int(rng.integers(100))
        without = space.known(members[:j] + members[j + 1 :])
        left, joined = step(without, space.block(members[j])), step(without, space.block(c))
        members[j] = c
        kept.move(space.known(members), joined, left)
    assert kept.drift < DRIFT
    assert kept.renewed == 0
    covariance = np.linalg.inv(space.information(members))
    for c in range(100):
        direct = space.block(c) @ covariance @ space.block(c).T
        np.testing.assert_allclose(
            np.tril(kept.forms[0][:, :, c]), np.tril(direct), rtol=0, atol=1e-9 * (1 + direct.max())
        )


def test_a_bank_that_has_drifted_is_renewed():
    candidates = problem(21, count=50, k=2, p=4)
    space = space_of(candidates)
    kept = Forms.at(space, space.known([0, 1, 2]))
    kept.forms[0] += 1e-8
    kept.move(space.known([0, 1, 2, 3]), step(space.known([0, 1, 2]), space.block(3)))
    assert kept.renewed == 1
    direct = Forms.at(space, space.known([0, 1, 2, 3]))
    lower = np.tril_indices(2)
    np.testing.assert_array_equal(kept.forms[0][lower], direct.forms[0][lower])


@criteria
def test_candidates_that_bounds_exclude_are_not_the_best(name):
    candidates = problem(22, count=500, k=2, p=10)
    criterion, space = examples(candidates)[name], space_of(candidates)
    members, allowed = list(range(9)), np.arange(500) % 3 != 0
    known = space.known(members)
    where, top = best(criterion, Forms.at(space, known).trials(known), allowed)
    gains = np.array([gain(criterion, candidates, [*members, c]) if allowed[c] else -np.inf for c in range(500)])
    assert where == int(np.argmax(gains))
    assert top == pytest.approx(gains.max(), abs=1e-8)


@criteria
@pytest.mark.parametrize("cell", [{}, {"nuisance": (1,)}, {"prior": 0.5}], ids=["plain", "nuisance", "prior"])
def test_candidates_whose_slope_is_low_never_improve_a_plan(name, cell, monkeypatch):
    """With the bound by slopes and without it, the same climbs, step by step."""
    candidates = problem(24, count=60, k=2, p=5, **cell)
    criterion = examples(candidates)[name]
    quick = found(candidates, criterion, Rules(6), restarts=4).climbs
    monkeypatch.setattr("elastocal.design.exchange._slopes", lambda search, known: None)
    slow = found(candidates, criterion, Rules(6), restarts=4).climbs
    assert [(c.members, c.exchanges, c.sweeps) for c in quick] == [(c.members, c.exchanges, c.sweeps) for c in slow]
    assert sum(c.exchanges for c in quick) > 0


def test_chunks_do_not_change_a_plan(monkeypatch):
    candidates = problem(23, count=90, k=2, p=5)
    for criterion in (Determinant(), examples(candidates)["e"]):
        monkeypatch.setattr("elastocal.design.information.CHUNK", 4096)
        whole = found(candidates, criterion, Rules(6), restarts=3)
        monkeypatch.setattr("elastocal.design.information.CHUNK", 7)
        assert len(space_of(candidates).chunks) == 13
        assert found(candidates, criterion, Rules(6), restarts=3).chosen == whole.chosen


def test_candidates_that_close_a_plan():
    """Members are all alike but one; without it, only some candidates determine the rest."""
    blocks = np.random.default_rng(6).normal(size=(30, 1, 3))
    blocks[:20, 0, 2] = blocks[:20, 0, 1]
    space = space_of(CandidateRows(blocks))
    members = [0, 1, 2]
    base = space.known(members)
    assert base.open
    closed = next(Forms.at(space, base).trials(base)).closed
    ranks = [np.linalg.matrix_rank(blocks[[*members, c], 0]) for c in range(30)]
    np.testing.assert_array_equal(closed, np.array(ranks) == 3)
    assert 0 < closed.sum() < 30


def test_a_ridge_only_where_a_combination_is_open():
    coordinates = space_of(problem(24, p=3)).coordinates
    poor = known(np.diag([1.0, 5.0, 1e-5]), coordinates)
    assert not poor.open
    np.testing.assert_allclose(np.diag(poor.covariance), [1.0, 0.2, 1e5], rtol=1e-12)
    singular = known(np.diag([1.0, 5.0, 0.0]), coordinates)
    assert singular.open
    np.testing.assert_allclose(np.diag(singular.covariance), [1.0, 0.2, 1e7], rtol=1e-6)


def test_a_climb_that_ends_open_is_not_the_plan():
    candidates = problem(27, count=20, k=2, p=4)
    task = Search(space_of(candidates), Determinant(), Rules(4))
    climb = climbed(task, [0, 1, 2, 3])
    stuck = replace(climb, members=(0, 0, 0, 0), gain=climb.gain + 1, open=True)
    plan = best_climb(candidates, Determinant(), (stuck, climb), task.space)
    assert plan.chosen == tuple(sorted(climb.members))
    assert plan.agreed == (False, True)
