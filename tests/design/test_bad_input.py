"""Every refusal says in one sentence what is wrong and what to do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from design.plain import problem
from oracle.refusals import refused

from elastocal.design.criteria.alphabetic import Determinant
from elastocal.design.criteria.criterion import Weighted
from elastocal.design.criteria.test_pose import TestPose
from elastocal.design.exchange import search
from elastocal.design.information import CandidateRows
from elastocal.design.rules import Rules


def plan(candidates, rules, criterion=None, **more):
    return search(candidates, criterion or Determinant(), rules, rng=np.random.default_rng(0), **more)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (Rules(0), ('range', 0)),
        (Rules(1), ('too-few', (1, 2, 2))),
        (Rules(13), ('too-few', (13, 12))),
        (Rules(4, group=np.zeros(12, dtype=int)), ('groups',)),
        (Rules(4, quota=(4,)), ('groups',)),
        (Rules(4, group=np.zeros(11, dtype=int), quota=(4,)), ('shape', (12, 0))),
        (Rules(4, group=np.arange(12), quota=(2, 2)), ('shape', (12, 1))),
        (Rules(4, group=np.zeros(12), quota=(4,)), ('shape', (12, 0))),
        (Rules(4, group=np.arange(12) % 2, quota=(2, 3)), ('range', ((2, 3), 4))),
        (Rules(4, group=np.arange(12) % 2, quota=(5, -1)), ('range', ((5, -1), 4))),
        (Rules(8, group=np.minimum(np.arange(12), 1), quota=(2, 6)), ('too-few', (0, 2, 1))),
        (Rules(4, repeats=True, group=np.zeros(12, dtype=int), quota=(2, 2)), ('too-few', (1, 2, 0))),
    ],
)  # fmt: skip
def test_rules_that_no_plan_obeys(rules, message):
    with refused(*message) as caught:
        plan(problem(71), rules)
    assert str(caught.value).count(". ") == 0


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        (np.ones((3, 4)), ("shape", (3, 4))),
        (np.ones((0, 2, 4)), ("shape", (0, 2, 4))),
        (np.where(np.arange(24).reshape(3, 2, 4) == 17, np.nan, 1.0), ("number", 2)),
    ],
)
def test_bad_blocks(blocks, message):
    with refused(*message):
        CandidateRows(blocks)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"names": ("a", "b")}, ("shape", (2, 4))),
        ({"nuisance": (4,)}, ("range", ((4,), 3))),
        ({"nuisance": (1, 1)}, ("range", ((1, 1), 3))),
        ({"nuisance": (0, 1, 2, 3)}, ("all-nuisances",)),
        ({"prior": np.eye(3)}, ("shape", 4)),
        ({"prior": np.full((4, 4), np.nan)}, ("shape", 4)),
        ({"prior": np.diag([1.0, -1.0, 1.0, 1.0])}, ("prior-information",)),
        ({"prior": np.triu(np.ones((4, 4)))}, ("prior-information",)),
    ],
)
def test_bad_candidates(change, message):
    with refused(*message):
        replace(problem(72), **change)


def test_parameters_that_no_candidate_tells_apart_are_named():
    blocks = np.random.default_rng(1).normal(size=(20, 2, 4))
    blocks[:, :, 3] = 2 * blocks[:, :, 1]
    names = ("a", "b", "c", "d")
    with refused("unobservable", "b, d"):
        plan(CandidateRows(blocks, names=names), Rules(5))
    with refused("unobservable", "b, d"):
        plan(CandidateRows(blocks, names=names, nuisance=(3,)), Rules(5))
    with refused("unobservable", "parameter 1, parameter 3"):
        plan(CandidateRows(blocks), Rules(5))
    known = plan(CandidateRows(blocks, prior=np.diag([0.0, 1, 0, 0])), Rules(5))
    assert np.all(np.isfinite(known.known.sd))
    blocks[:, :, 2] = 0.0
    with refused("unobservable", ("c",)):
        plan(CandidateRows(blocks, names=names), Rules(5))


def test_a_plan_that_must_leave_a_combination_open_is_refused():
    """Quotas allow only candidates without the last parameter."""
    blocks = np.random.default_rng(2).normal(size=(20, 2, 3))
    blocks[:10, :, 2] = 0.0
    rules = Rules(5, group=np.arange(20) // 10, quota=(5, 0))
    with refused("unobservable", "c"):
        plan(CandidateRows(blocks, names=("a", "b", "c")), rules)


def test_other_refusals():
    with refused("range", 0):
        plan(problem(73), Rules(5), restarts=0)
    with refused("shape", (3, 4)):
        plan(problem(73), Rules(5), TestPose(np.ones((1, 3, 3))))
    with refused("shape", (3, 4)):
        plan(problem(73), Rules(5), Weighted(((1.0, TestPose(np.ones((1, 3, 3)))),)))
    with refused("no-parts"):
        Weighted(((0.0, Determinant()),))
    with refused("test-poses"):
        TestPose(np.ones((0, 3, 4)))
    with refused("unknown-way-to-sum-errors", "median", nearest="mean"):
        TestPose(np.ones((1, 3, 4)), "median")
