"""The bootstrap over poses against repeated rows and the sandwich covariance."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.refusals import refused

from elastocal.solve import linear_sampling as module
from elastocal.solve.linear_sampling import bootstrap

NAMES = ("a", "b", "c")
UNITS = np.array([1.0, 1e-6, 1e3])


def problem(poses=400, rows=3, seed=6):
    """Each pose has its own size of noise, and its readings share a part of it; rows in random order."""
    rng = np.random.default_rng(seed)
    pose = rng.permutation(np.repeat(np.arange(poses) * 7 - 20, rows))
    a = (rng.normal(size=(len(pose), 3)) + 2 * rng.normal(size=(9000, 3))[pose]) / UNITS
    size = 0.2 + 2 * np.abs(a[:, 0])
    return a, a @ (UNITS * [1.0, -2.0, 0.5]) + size * (rng.normal(size=9000)[pose] + rng.normal(size=len(pose))), pose


def test_sd_is_that_of_the_sandwich():
    """(A^T A)^-1 (sum over poses of A_i^T r_i r_i^T A_i) (A^T A)^-1, up to 1 / poses."""
    a, y, pose = problem()
    found = bootstrap(NAMES, a, y, pose, rng=np.random.default_rng(2), resamples=4000)
    scaled = a * UNITS
    bread = np.linalg.inv(scaled.T @ scaled)
    r = y - scaled @ (bread @ (scaled.T @ y))
    scores = np.array([scaled[pose == i].T @ r[pose == i] for i in np.unique(pose)])
    sandwich = bread @ (scores.T @ scores) @ bread * np.outer(UNITS, UNITS)
    sd = np.sqrt(np.diag(sandwich))
    assert found.dropped == 0
    np.testing.assert_allclose(found.sd, sd, rtol=0.06)
    np.testing.assert_allclose(np.corrcoef(found.draws.T), sandwich / np.outer(sd, sd), atol=0.06)
    plain = UNITS * np.sqrt(np.diag(bread) * (r @ r) / (len(y) - 3))
    assert np.max(np.abs(found.sd / plain - 1)) > 0.3  # the usual covariance would not pass
    np.testing.assert_allclose((found.interval(0.95) - found.mean) / sd, np.outer([-1.96, 1.96], np.ones(3)), rtol=0.08)


def test_each_resample_is_the_fit_of_repeated_rows(monkeypatch):
    a, y, pose = problem(poses=9, rows=2)
    monkeypatch.setattr(module, "CHUNK", 60)  # three resamples at once
    found = bootstrap(NAMES, a, y, pose, rng=np.random.default_rng(3), resamples=20)
    names = np.unique(pose)
    counts = np.random.default_rng(3).multinomial(9, np.full(9, 1 / 9), 20)
    for draw, count in zip(found.draws, counts, strict=True):
        rows = np.concatenate([np.flatnonzero(pose == i) for i, k in zip(names, count, strict=True) for _ in range(k)])
        expected = np.linalg.lstsq(a[rows] * UNITS, y[rows])[0] * UNITS
        np.testing.assert_allclose(draw, expected, rtol=1e-8)


def test_resamples_that_fix_nothing_are_dropped_and_counted():
    """Only pose 0 sees b, so every resample without it is dropped: (1 - 1/5)^5 of them."""
    rng = np.random.default_rng(4)
    a = rng.normal(size=(20, 2))
    pose = np.arange(20) % 5
    a[pose > 0, 1] = 0.0
    y = a @ [1.0, 2.0] + rng.normal(size=20)
    found = bootstrap(("a", "b"), a, y, pose, rng=rng, resamples=3000)
    assert len(found.draws) + found.dropped == 3000
    assert found.dropped / 3000 == pytest.approx(0.8**5, abs=0.03)
    assert np.abs(found.draws).max() < 1e3
    a[pose > 0, 1] = 1e-4  # hardly seen is still seen
    assert bootstrap(("a", "b"), a, y, pose, rng=rng, resamples=300).dropped == 0


def test_a_seed_gives_the_same_bits():
    a, y, pose = problem(poses=30)
    one, two, other = (bootstrap(NAMES, a, y, pose, rng=np.random.default_rng(s), resamples=50) for s in (1, 1, 2))
    np.testing.assert_array_equal(one.draws, two.draws)
    assert not np.any(one.draws == other.draws)


A, Y, POSE = problem(poses=4)


@pytest.mark.parametrize(
    ("matrix", "pose", "resamples", "words"),
    [
        (A, POSE[:-1], 100, ("shape", 12)),
        (A, POSE * 1.0, 100, ("shape", 12)),
        (A, POSE * 0, 100, ("one-pose",)),
        (A, POSE, 1, ("few-resamples",)),
        (A[:, [0, 0, 1]], POSE, 100, ("not-separable",)),
    ],
)
def test_bad_input_is_refused(matrix, pose, resamples, words):
    with refused(*words):
        bootstrap(NAMES, matrix, Y, pose, rng=np.random.default_rng(1), resamples=resamples)


def test_poses_that_never_suffice_are_refused():
    """Each of two poses sees one of two parameters, and both resamples of this seed repeat a pose."""
    seed = next(s for s in range(99) if np.all(np.random.default_rng(s).multinomial(2, [0.5, 0.5], 2) != 1))
    a, y = np.repeat(np.eye(2), 2, axis=0), np.array([1.0, 1.1, 2.0, 2.1])
    with refused("no-resample"):
        bootstrap(("a", "b"), a, y, np.array([0, 0, 1, 1]), rng=np.random.default_rng(seed), resamples=2)


def test_rows_that_belong_to_no_pose_count_in_every_resample() -> None:
    """A prior alone fixes the second parameter: it must not be lost in a third of the resamples."""
    rng = np.random.default_rng(0)
    poses = np.repeat(np.arange(20), 3)
    matrix = np.column_stack([rng.normal(size=60), np.full(60, 1e-3)])
    matrix = np.vstack([matrix, [[0.0, 1.0]]])
    readings = np.append(rng.normal(size=60), 0.0)
    labels = np.append(poses, 0)
    drawn = bootstrap(("a", "b"), matrix, readings, labels, always=np.arange(61) == 60, rng=np.random.default_rng(1))
    assert drawn.dropped == 0
    assert drawn.sd[1] < 0.1
    lost = bootstrap(("a", "b"), matrix, readings, np.append(poses, 20), rng=np.random.default_rng(1))
    assert lost.sd[1] > 10 * drawn.sd[1]
