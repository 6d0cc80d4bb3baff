"""Evidence, its gradient and the posterior against one dense normal distribution of all readings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from dense import dense, random_problem

from elastocal.solve.blocks import Blocks, Group, Noise, Scale
from elastocal.solve.deletion import deletion
from elastocal.solve.evidence import (
    evidence,
    evidence_of_group,
    noise_covariance,
    posterior,
    prior_precision,
)

CASES = {
    "plain": {"precision": False, "mean": False, "missing": 0.0, "common": 0},
    "noise that is shared": {"precision": False, "mean": False, "missing": 0.0},
    "numbers not read": {"missing": 0.3},
    "blocks not read": {"missing": 0.75, "blocks": 9},
    "precision matrices": {"mean": False},
    "prior means": {"precision": False},
    "everything": {},
    "power": {"power": 0.5},
    "power and numbers not read": {"power": 0.25, "missing": 0.4},
    "more unknowns than readings": {"sizes": (20, 15, 30), "blocks": 4},
    "one unknown": {"sizes": (1,), "blocks": 3},
}
cases = pytest.mark.parametrize("case", CASES)


def problem_and_scales(case: str, seed: int = 0) -> tuple[Blocks, np.ndarray]:
    problem = random_problem(seed, **CASES[case])
    rng = np.random.default_rng(seed + 100)
    return problem, problem.start + rng.normal(scale=0.5, size=len(problem.start))


def hyperprior(problem: Blocks, at: np.ndarray) -> float:
    """Normal logarithms of the scales about their start, or about the mean of their pool."""
    pools = {s.pool for s in problem.scales if s.pool}
    centre = {p: np.mean([at[i] for i, s in enumerate(problem.scales) if s.pool == p]) for p in pools}
    return -0.5 * sum(
        ((at[i] - centre.get(s.pool, np.log(s.start))) / s.width) ** 2 for i, s in enumerate(problem.scales)
    )


@cases
@pytest.mark.parametrize("seed", [0, 1])
def test_evidence_is_the_log_density_of_all_readings(case: str, seed: int) -> None:
    problem, at = problem_and_scales(case, seed)
    whole = dense(problem, at)
    n, w = len(whole.y), problem.power
    log_noise = np.linalg.slogdet(w * whole.noise)[1]
    expected = (
        whole.log_density() + 0.5 * n * np.log(2 * np.pi) + 0.5 * (log_noise - n * np.log(w)) - 0.5 * w * log_noise
    )
    assert posterior(problem, at).evidence == pytest.approx(expected, rel=1e-9)
    assert evidence(problem, at).value == pytest.approx(expected + hyperprior(problem, at), rel=1e-9)


@cases
def test_its_gradient_is_that_of_central_differences(case: str) -> None:
    problem, at = problem_and_scales(case)
    gradient = evidence(problem, at).gradient
    h = 1e-5
    steps = h * np.eye(len(at))
    central = [(evidence(problem, at + d).value - evidence(problem, at - d).value) / (2 * h) for d in steps]
    assert gradient == pytest.approx(np.array(central), rel=1e-6, abs=1e-6)


def test_scales_that_are_fixed_have_no_gradient() -> None:
    problem, at = problem_and_scales("everything")
    fixed = replace(problem.groups[1], scale=replace(problem.groups[1].scale, width=0.0))
    problem = replace(problem, groups=(problem.groups[0], fixed, problem.groups[2]))
    gradient = evidence(problem, at).gradient
    assert gradient[1] == 0.0
    assert np.all(gradient[[0, 2, 3]] != 0.0)


@cases
def test_the_posterior_is_least_squares_with_the_prior_as_further_rows(case: str) -> None:
    problem, at = problem_and_scales(case)
    estimate = posterior(problem, at)
    mean, covariance = dense(problem, at).posterior()
    assert estimate.mean == pytest.approx(mean, rel=1e-8, abs=1e-9)
    assert estimate.covariance == pytest.approx(covariance, rel=1e-7, abs=1e-9 * np.abs(covariance).max())


def in_pairs(problem: Blocks) -> Blocks:
    """The same with two blocks in one, which no noise ties to each other."""
    n, r, p = problem.shape
    noise = []
    for c in problem.noise:
        wide = np.zeros((n // 2, 2, r, 2, c.factor.shape[2]))
        for k in range(2):
            wide[:, k, :, k] = c.factor[k::2]
        noise.append(Noise(c.scale, wide.reshape(n // 2, 2 * r, -1)))
    readings, used = problem.readings.reshape(n // 2, -1), problem.used.reshape(n // 2, -1)
    return replace(
        problem, readings=readings, used=used, jacobian=problem.jacobian.reshape(n // 2, 2 * r, p), noise=tuple(noise),
        parts=np.concatenate([problem.parts, problem.parts + problem.parts.max() + 1]), split=2,
    )  # fmt: skip


@pytest.mark.parametrize("case", ["everything", "numbers not read", "blocks not read", "power and numbers not read"])
def test_blocks_that_fall_into_cells_are_the_same_problem(case: str) -> None:
    plain, at = problem_and_scales(case)
    plain = plain.kept(np.arange(len(plain.used) // 2 * 2))
    plain.used[3] = False  # a cell of which nothing was read
    cells = in_pairs(plain)
    whole = replace(cells, split=1)
    found, expected = evidence(cells, at), evidence(whole, at)
    assert len(found.posterior.left) < whole.used.size
    assert found.value == pytest.approx(evidence(plain, at).value, rel=1e-12)
    assert found.gradient == pytest.approx(expected.gradient, rel=1e-9, abs=1e-9)
    assert found.information == pytest.approx(expected.information, rel=1e-9, abs=1e-9)
    for name in ("mean", "white", "inverse", "covariance"):
        assert getattr(found.posterior, name) == pytest.approx(getattr(expected.posterior, name), rel=1e-9, abs=1e-12)
    sizes = at[0] + np.array([-1.0, 0.5])
    assert evidence_of_group(found.posterior, 0, sizes) == pytest.approx(
        evidence_of_group(expected.posterior, 0, sizes), rel=1e-10
    )
    own, other = deletion(found.posterior), deletion(expected.posterior)
    assert own.precision == pytest.approx(other.precision, rel=1e-9, abs=1e-9 * np.abs(other.precision).max())
    assert own.blocks == pytest.approx(other.blocks, rel=1e-8, abs=1e-12, nan_ok=True)


@cases
def test_residuals_are_white(case: str) -> None:
    problem, at = problem_and_scales(case)
    whole = dense(replace(problem, power=1.0), at)
    off = whole.y - whole.j @ posterior(problem, at).mean
    white = posterior(problem, at).white
    assert np.sum(white**2) == pytest.approx(off @ np.linalg.solve(whole.noise, off), rel=1e-9)
    assert np.all(white[~problem.used] == 0.0)


@cases
def test_effective_number_of_parameters_is_the_trace_of_the_hat_matrix(case: str) -> None:
    problem, at = problem_and_scales(case)
    whole = dense(problem, at)
    hat = whole.j @ whole.posterior()[1] @ whole.j.T @ np.linalg.inv(whole.noise)
    assert posterior(problem, at).effective == pytest.approx(np.trace(hat), rel=1e-7)


def test_units_of_the_unknowns_do_not_matter() -> None:
    """Columns in units of 1e-6 and of 1e6: the same evidence, the same readings predicted."""
    problem, at = problem_and_scales("everything")
    unit = np.concatenate([np.full(3, 1e-6), np.full(2, 1e6), np.ones(4)])
    groups = tuple(
        replace(
            g,
            mean=None if g.mean is None else g.mean / unit[g.columns],
            scale=replace(g.scale, start=g.scale.start / unit[g.columns[0]]),
        )
        for g in problem.groups
    )
    other = replace(problem, jacobian=problem.jacobian * unit, groups=groups)
    moved = at - np.log(np.concatenate([[1e-6, 1e6, 1.0], np.ones(len(at) - 3)]))
    assert posterior(other, moved).evidence == pytest.approx(posterior(problem, at).evidence, rel=1e-9)
    assert unit * posterior(other, moved).mean == pytest.approx(posterior(problem, at).mean, rel=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_blocks_has_no_effect(seed: int) -> None:
    problem, at = problem_and_scales("power and numbers not read", seed)
    order = np.random.default_rng(seed).permutation(len(problem.used))
    one, other = posterior(problem, at), posterior(problem.kept(order), at)
    assert other.evidence == pytest.approx(one.evidence, rel=1e-9)
    assert other.mean == pytest.approx(one.mean, rel=1e-9, abs=1e-9)
    assert evidence(problem.kept(order), at).gradient == pytest.approx(
        evidence(problem, at).gradient, rel=1e-9, abs=1e-9
    )


def test_numbers_left_out_are_as_if_never_read() -> None:
    problem, at = problem_and_scales("everything")
    out = np.random.default_rng(5).random(problem.used.shape) < 0.3
    rest = problem.without(out)
    whole = dense(rest, at)
    assert rest.count == len(whole.y) == int((problem.used & ~out).sum())
    assert posterior(rest, at).mean == pytest.approx(whole.posterior()[0], rel=1e-8)


def test_a_group_takes_columns_in_any_place() -> None:
    """Unknowns of a group need not lie side by side."""
    rng = np.random.default_rng(3)
    jacobian = rng.normal(size=(5, 6, 4))
    white = Noise(Scale("white", 0.3), np.broadcast_to(np.eye(6), (5, 6, 6)))
    k = np.array([[2.0, 0.5], [0.5, 1.0]])
    groups = (
        Group(Scale("even", 0.7), np.array([2, 0]), np.array([0.3, -0.1]), k),
        Group(Scale("odd", 1.5), np.array([3, 1])),
    )
    problem = Blocks(rng.normal(size=(5, 6)), jacobian, np.ones((5, 6), dtype=bool), (white,), groups)
    at = problem.start
    assert posterior(problem, at).mean == pytest.approx(dense(problem, at).posterior()[0], rel=1e-9)
    assert posterior(problem, at).evidence == pytest.approx(dense(problem, at).log_density() + 15 * np.log(2 * np.pi))


@pytest.mark.parametrize("seed", range(4))
def test_a_group_at_other_scales_without_factoring_again(seed: int) -> None:
    """From one posterior as from one for every scale, with priors that tie unknowns and a mean that is not zero."""
    problem = random_problem(seed)
    scales = problem.start + 0.3 * np.random.default_rng(seed).normal(size=len(problem.scales))
    found = posterior(problem, scales)
    for group in range(len(problem.groups)):
        sizes = scales[group] + np.array([-3.0, -0.5, 0.0, 0.7, 4.0])
        expected = []
        for size in sizes:
            other = scales.copy()
            other[group] = size
            expected.append(posterior(problem, other).evidence)
        assert evidence_of_group(found, group, sizes) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("smaller", [8.0, 18.0])
def test_a_group_that_was_nothing_at_other_scales(smaller: float) -> None:
    """Beside the precision of its prior rounding hides what the readings tell of it: that is worked out without."""
    problem = random_problem(0)
    scales = problem.start.copy()
    scales[0] -= smaller
    values = evidence_of_group(posterior(problem, scales), 0, problem.start[:1])
    assert values == pytest.approx([posterior(problem, problem.start).evidence], rel=1e-9)


def test_the_expected_curvature_is_that_of_draws() -> None:
    """Minus the second derivative of the evidence by differences, mean over readings drawn from the model."""
    problem = random_problem(3)
    problem = replace(problem, power=1.0, used=np.ones_like(problem.used))
    scales, rng, k = problem.start, np.random.default_rng(1), len(problem.scales)
    curved, draws, first = np.zeros((k, k)), 400, len(problem.groups)
    lower = np.linalg.cholesky(noise_covariance(problem, scales))
    root = np.linalg.inv(np.linalg.cholesky(prior_precision(problem, scales)[0])).T
    for _ in range(draws):
        theta = problem.mean + root @ rng.normal(size=problem.shape[2])
        noise = (lower @ rng.normal(size=(*problem.readings.shape, 1)))[:, :, 0]
        drawn = replace(problem, readings=problem.jacobian @ theta + noise)
        for i in range(k):
            step = np.where(np.arange(k) == i, 1e-4, 0.0)
            change = evidence(drawn, scales + step).gradient - evidence(drawn, scales - step).gradient
            curved[i] -= change / 2e-4 / draws
    curved -= problem.penalty[0]
    expected = evidence(problem, scales).information
    size = np.sqrt(np.diag(curved))
    off = (expected - curved) / np.outer(size, size)
    assert np.abs(off[:first, :first]).max() < 0.1
    assert np.abs(off[first:, first:]).max() < 0.35  # the unknowns' share is taken off all parts alike
