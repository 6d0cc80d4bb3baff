"""Criteria and problems of design again, written plainly: inverses of whole matrices, one plan at a time."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement

import numpy as np

from elastocal.design.criteria.alphabetic import Condition, CovarianceTrace, Determinant, SmallestEigenvalue
from elastocal.design.criteria.criterion import Weighted
from elastocal.design.criteria.test_pose import TestPose
from elastocal.design.information import CandidateRows


def problem(seed, count=12, k=2, p=4, nuisance=(), prior=0.0, units=True, weak=1.0):
    """Candidates of unlike sizes, of unlike units where ``units``; rows after the second are ``weak``."""
    rng = np.random.default_rng(seed)
    blocks = rng.normal(size=(count, k, p)) * np.exp(0.5 * rng.normal(size=(count, 1, 1)))
    blocks[:, 2:] *= weak
    blocks = blocks * (10.0 ** rng.integers(-3, 3, p) if units else 1.0)
    before = None
    if prior:
        rows = rng.normal(size=(p + 1, p)) * prior * np.abs(blocks).mean(axis=(0, 1))
        before = rows.T @ rows
    return CandidateRows(blocks, before, tuple(nuisance))


def total(candidates, members):
    p = candidates.blocks.shape[2]
    out = np.zeros((p, p)) if candidates.prior is None else candidates.prior.copy()
    for c in members:
        out += candidates.blocks[c].T @ candidates.blocks[c]
    return out


def marginal(information, nuisance):
    """M_ss - M_sn M_nn^-1 M_ns by blocks."""
    s = [i for i in range(len(information)) if i not in nuisance]
    n = list(nuisance)
    if not n:
        return information
    mixed = information[np.ix_(s, n)]
    return information[np.ix_(s, s)] - mixed @ np.linalg.inv(information[np.ix_(n, n)]) @ mixed.T


def determinant(criterion, information, nuisance):
    own = marginal(information, nuisance)
    size = np.sqrt(np.diag(own))
    return (np.linalg.slogdet(own / np.outer(size, size))[1] + 2 * np.log(size).sum()) / len(own)


def scaled_inverse(criterion, information, nuisance):
    own = marginal(information, nuisance)
    s = [i for i in range(len(information)) if i not in nuisance]
    scales = np.ones(len(own)) if criterion.scales is None else criterion.scales[s]
    size = np.sqrt(np.diag(own))
    return np.linalg.inv(own / np.outer(size, size)) / np.outer(size * scales, size * scales)


def trace(criterion, information, nuisance):
    return -np.log(np.mean(np.diag(scaled_inverse(criterion, information, nuisance))))


def smallest(criterion, information, nuisance):
    return -np.log(np.linalg.eigvalsh(scaled_inverse(criterion, information, nuisance))[-1])


def condition(criterion, information, nuisance):
    values = np.linalg.eigvalsh(scaled_inverse(criterion, information, nuisance))
    return np.log(values[0] / values[-1])


def test_pose(criterion, information, nuisance):
    size = np.sqrt(np.diag(information))
    c = np.linalg.inv(information / np.outer(size, size)) / np.outer(size, size)
    squares = [np.trace(f @ c @ f.T) for f in criterion.derivatives]
    return -np.log(np.mean(squares) if criterion.over == "mean" else np.max(squares))


test_pose.__test__ = False  # named like the criterion, not a test


def weighted(criterion, information, nuisance):
    gains = [w * PLAIN[part.kind](part, information, nuisance) for w, part in criterion.parts]
    return sum(gains) / sum(w for w, _ in criterion.parts)


PLAIN = {
    "d": determinant,
    "a": trace,
    "e": smallest,
    "condition": condition,
    "test_pose": test_pose,
    "weighted": weighted,
}


def examples(candidates):
    """Criteria of every kind that fit the parameters; nuisances have no effect at the test poses."""
    p = candidates.parameters
    size = 1 / np.abs(candidates.blocks).mean(axis=(0, 1))
    rng = np.random.default_rng(99)
    scales = size * np.exp(rng.normal(size=p))
    poses = rng.normal(size=(9, 3, p)) / size
    poses[:, :, list(candidates.nuisance)] = 0.0
    return {
        "d": Determinant(),
        "a": CovarianceTrace(scales),
        "e": SmallestEigenvalue(scales),
        "condition": Condition(scales),
        "test_pose": TestPose(poses),
        "test_pose largest": TestPose(poses, "largest"),
        "weighted": Weighted(((2.0, Determinant()), (1.0, TestPose(poses)), (0.5, SmallestEigenvalue(scales)))),
    }


def gain(criterion, candidates, members):
    """-inf for a plan that leaves a combination open."""
    information = total(candidates, members)
    size = np.sqrt(np.diag(information))
    if np.linalg.cond(information / np.outer(size, size)) > 1e13:
        return -np.inf
    return PLAIN[criterion.kind](criterion, information, candidates.nuisance)


def every_plan(candidates, count, repeats=False):
    """All plans."""
    numbers = range(len(candidates.blocks))
    return list(combinations_with_replacement(numbers, count) if repeats else combinations(numbers, count))


def polynomial(degree, points):
    """One row 1, x, x^2, ... for every point."""
    return CandidateRows(np.stack([np.asarray(points, dtype=float) ** i for i in range(degree + 1)], axis=1)[:, None])
