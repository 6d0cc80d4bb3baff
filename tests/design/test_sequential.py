"""A plan after an earlier campaign: its information counts, and the new one fills the gaps."""

from __future__ import annotations

import numpy as np
import pytest
from design.plain import every_plan, examples, gain, problem, total

from elastocal.design.criteria.alphabetic import Determinant
from elastocal.design.exchange import search
from elastocal.design.information import CandidateRows
from elastocal.design.rules import Rules


def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("name", ["d", "a", "e", "test_pose"])
def test_the_next_plan_is_the_best_beside_what_was_measured(name):
    candidates = problem(61, count=10, k=2, p=4, nuisance=(3,))
    earlier = total(problem(62, count=10, k=2, p=4, units=False), range(4)) * np.outer(*[_sizes(candidates)] * 2)
    criterion = examples(candidates)[name]
    plan = search(candidates.knowing(earlier), criterion, Rules(2), rng=rng(), restarts=20)
    knowing = CandidateRows(candidates.blocks, earlier, (3,))
    assert plan.gain == pytest.approx(max(gain(criterion, knowing, p) for p in every_plan(knowing, 2)), abs=1e-8)


def _sizes(candidates):
    return np.abs(candidates.blocks).mean(axis=(0, 1))


def test_a_gap_of_the_first_campaign_is_filled():
    """The first campaign did not load the last axis; one reading that does is enough and is chosen."""
    blocks = np.random.default_rng(1).normal(size=(30, 1, 3))
    blocks[:29, 0, 2] *= 1e-3
    earlier = np.diag([50.0, 50.0, 0.0])
    plan = search(CandidateRows(blocks).knowing(earlier), Determinant(), Rules(1), rng=rng())
    assert plan.chosen == (29,)


def test_priors_add_up():
    candidates = problem(63, prior=0.4)
    more = np.diag(_sizes(candidates) ** 2)
    np.testing.assert_allclose(candidates.knowing(more).prior, candidates.prior + more)
    np.testing.assert_allclose(CandidateRows(candidates.blocks).knowing(more).prior, more)


def test_stages_know_all_before():
    candidates = problem(64, count=40, k=2, p=5)
    every, knowing = [], candidates
    for count in (4, 2, 3):
        plan = search(knowing, Determinant(), Rules(count), rng=rng(), restarts=4)
        knowing = knowing.knowing(total(candidates, plan.chosen))
        every += plan.chosen
    assert plan.gain == pytest.approx(gain(Determinant(), candidates, every), abs=1e-9)
    at_once = search(candidates, Determinant(), Rules(9, repeats=True), rng=rng(), restarts=20)
    assert plan.gain <= at_once.gain + 1e-9
    assert plan.gain > at_once.gain - 0.3
