"""The curve of accuracy and the smallest plan, against all plans and the law 1/sqrt(m)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from design.made import error_below, every_sd
from design.plain import every_plan, examples, polynomial, problem, total
from oracle.refusals import refused

from elastocal.design.criteria.alphabetic import Determinant
from elastocal.design.criteria.test_pose import TestPose
from elastocal.design.how_many import Requirement, accuracy_curve, how_many


def rng():
    return np.random.default_rng(0)


def covariance(candidates, members):
    return np.linalg.inv(total(candidates, members))


def test_the_curve_follows_the_root_of_the_number():
    """D-optimal quadratic with repeats at 3, 12, 48 readings: every standard deviation halves."""
    points = accuracy_curve(polynomial(2, np.linspace(-1, 1, 21)), Determinant(), [48, 3, 12], rng=rng(), repeats=True)
    assert [p.count for p in points] == [3, 12, 48]
    np.testing.assert_allclose(points[1].sd, points[0].sd / 2, rtol=1e-9)
    np.testing.assert_allclose(points[2].sd, points[0].sd / 4, rtol=1e-9)
    assert np.isnan(points[0].ratio)


@pytest.mark.parametrize("name", ["d", "a", "e", "test_pose", "test_pose largest"])
def test_the_curve_never_falls(name):
    candidates = problem(51, count=40, k=2, p=5)
    points = accuracy_curve(candidates, examples(candidates)[name], range(4, 12), rng=rng(), restarts=1)
    assert np.all(np.diff([p.plan.gain for p in points]) > 0)
    assert [len(p.plan.chosen) for p in points] == list(range(4, 12))
    for before, after in pairwise(points):  # the last climb starts from the plan before
        last = after.plan.climbs[-1]
        assert last.gain > before.plan.gain
        assert len(set(last.members) & set(before.plan.chosen)) >= before.count - last.exchanges
        assert last is not after.plan.climbs[0]


def test_the_smallest_plan_is_the_smallest_of_all():
    """The criterion is the requirement itself, so that the smallest number is known from all plans."""
    candidates = problem(64, count=14, k=1, p=5)
    poses = examples(candidates)["test_pose"].derivatives
    criterion = TestPose(poses, "largest")

    def error(members):
        c = covariance(candidates, members)
        return np.sqrt(max(np.trace(f @ c @ f.T) for f in poses))

    exchanged = 0
    best = {n: min(error(p) for p in every_plan(candidates, n)) for n in range(5, 8)}
    for n in (5, 6, 7):
        limit = best[n] * 1.0001
        found = how_many(candidates, criterion, error_below(poses, limit), rng=rng(), restarts=10)
        assert found.smallest.count == n
        assert found.smallest.ratio == pytest.approx(best[n] / limit, rel=1e-6)
        assert found.greedy >= n
        assert all(p.ratio > 1 for p in found.tried if p.count < n)
        exchanged += found.greedy > n
    assert exchanged > 0  # greedy plans alone would need more


def test_every_standard_deviation_is_met():
    candidates = problem(54, count=60, k=2, p=4)
    limits = 0.9 * np.sqrt(np.diag(covariance(candidates, range(20))))
    limits[2] = np.inf
    found = how_many(candidates, Determinant(), every_sd(limits), rng=rng())
    assert np.all(found.smallest.sd <= limits)
    assert 2 < found.smallest.count <= found.greedy
    sd = np.sqrt(np.diag(covariance(candidates, found.smallest.plan.chosen)))
    assert found.smallest.ratio == pytest.approx(np.max(sd / limits), rel=1e-9)
    assert any(p.count == found.smallest.count - 1 and p.ratio > 1 for p in found.tried)


def test_the_mean_error_is_asked_for():
    candidates = problem(55, count=30, k=2, p=4)
    poses = examples(candidates)["test_pose"].derivatives
    c = covariance(candidates, range(10))
    rms = np.sqrt(np.mean([np.trace(f @ c @ f.T) for f in poses]))
    found = how_many(candidates, TestPose(poses), error_below(poses, rms, "mean"), rng=rng())
    assert found.smallest.count < 10
    chosen = covariance(candidates, found.smallest.plan.chosen)
    assert found.smallest.ratio == pytest.approx(np.sqrt(np.mean([np.trace(f @ chosen @ f.T) for f in poses])) / rms)


def test_a_requirement_out_of_reach_is_told():
    candidates = problem(56, count=8, k=2, p=4)
    sd = np.sqrt(np.diag(covariance(candidates, range(8))))
    found = how_many(candidates, Determinant(), every_sd(0.5 * sd), rng=rng())
    assert found.smallest is None
    assert found.greedy is None
    assert found.tried[-1].ratio == pytest.approx(2.0, rel=1e-9)
    repeated = how_many(candidates, Determinant(), every_sd(0.5 * sd), rng=rng(), repeats=True)
    assert repeated.smallest.count > 8


def test_bad_requirements():
    candidates = problem(57)
    with refused("requirement"):
        every_sd(np.full(4, np.inf))
    with refused("limit"):
        every_sd(np.zeros(4))
    with refused("requirement"):
        Requirement(np.ones((2, 3, 4)), np.ones(3))
    with refused("shape", (5, 4)):
        how_many(candidates, Determinant(), every_sd(np.ones(5)), rng=rng())
    with refused("too-few", (1, 4, 2)):
        how_many(candidates, Determinant(), every_sd(np.ones(4)), rng=rng(), most=1)
