"""The Gibbs sampler against closed forms, integration on a grid, and its promise to hold the truth."""

from __future__ import annotations

import numpy as np
import pytest
from oracle.draws import draws, spread_of_share
from oracle.refusals import refused
from scipy.stats import chi2, t

from elastocal.errors import InputError
from elastocal.solve import linear_sampling as module
from elastocal.solve.linear import solve_linear
from elastocal.solve.linear_sampling import GibbsPosterior, gibbs

NAMES = ("a", "b", "c")
UNITS = np.array([1.0, 1e-6, 1e3])


def least_squares(a, y):
    """Values, covariance for noise of one, and the scatter of the residuals."""
    units = np.linalg.norm(a, axis=0)
    fit = solve_linear(a / units, y)
    return fit.values / units, fit.unit_covariance / np.outer(units, units), fit.scatter


def problem(seed=3, count=12):
    """Three correlated parameters in very different units and noise of size 2."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(count, 3)) @ np.array([[1, 0.8, 0], [0, 1, -0.7], [0, 0, 1]]) / UNITS
    return a, a @ (UNITS * [1.0, -2.0, 0.5]) + 2 * rng.normal(size=count)


@pytest.mark.parametrize("blocks", [False, True])
def test_one_class_is_the_multivariate_t(blocks, monkeypatch):
    """Both routes, the loop over s only and the general blocks, on 12 readings: 9 degrees of freedom."""
    if blocks:
        monkeypatch.setattr(module, "_one_scale", module._several_scales)
    a, y = problem()
    size = {"draws": 8_000} if blocks else {"draws": 40_000}
    found = gibbs(NAMES, a, y, rng=np.random.default_rng(1), **size)
    values, covariance, scatter = least_squares(a, y)
    sd = scatter * np.sqrt(np.diag(covariance))
    np.testing.assert_allclose((found.mean - values) / sd, 0, atol=0.03)
    np.testing.assert_allclose(found.sd, np.sqrt(9 / 7) * sd, rtol=0.02)
    for level in (0.5, 0.95):
        half = t.ppf((1 + level) / 2, 9)
        np.testing.assert_allclose(
            (found.interval(level) - values) / sd, np.outer([-half, half], np.ones(3)), rtol=0.04
        )
    correlation = scatter**2 * covariance / np.outer(sd, sd)
    assert np.abs(correlation[np.triu_indices(3, 1)]).min() > 0.15
    np.testing.assert_allclose(np.corrcoef(found.flat.T), correlation, atol=0.03)
    scale = np.quantile(found.scales, [0.1, 0.5, 0.9])
    np.testing.assert_allclose(scale, scatter * np.sqrt(9 / chi2.ppf([0.9, 0.5, 0.1], 9)), rtol=0.02)
    assert found.converged
    np.testing.assert_allclose(found.rhat, 1, atol=0.003)
    assert np.all(found.effective > 0.5 * found.flat.shape[0])


def test_two_classes_and_a_prior_against_the_grid():
    """p(beta | y) ~ exp(-S_prior / 2) S_0^(-m_0 / 2) S_1^(-m_1 / 2), integrated in two dimensions."""
    rng = np.random.default_rng(8)
    a = np.concatenate([rng.normal(size=(16, 2)) @ [[1, 0.6], [0, 1]], [[2.0, 0.0], [0.0, 1.5]]])
    classes = np.array([0] * 7 + [1] * 9 + [-1] * 2)
    noise = np.array([0.5, 4.0, 1.0])[classes]
    y = a @ [1.0, -1.0] + noise * rng.normal(size=18)
    found = gibbs(("a", "b"), a, y, classes, rng=rng, draws=10_000)

    axis = np.linspace(-6, 6, 1201)
    beta = np.stack(np.meshgrid(found.mean[0] + axis, found.mean[1] + axis, indexing="ij"), axis=-1)
    s = [np.sum((y[classes == c] - beta @ a[classes == c].T) ** 2, axis=-1) for c in (0, 1, -1)]
    log = -s[2] / 2 - 3.5 * np.log(s[0]) - 4.5 * np.log(s[1])
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    mean = np.einsum("ij,ijk->k", weight, beta)
    covariance = np.einsum("ij,ijk,ijl->kl", weight, beta - mean, beta - mean)
    sd = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose((found.mean - mean) / sd, 0, atol=0.03)
    np.testing.assert_allclose(np.cov(found.flat.T) / np.outer(sd, sd), covariance / np.outer(sd, sd), atol=0.04)
    # E s_c^2 = E S_c / (m_c - 2)
    expected = [np.sum(weight * s[0]) / 5, np.sum(weight * s[1]) / 7]
    np.testing.assert_allclose(np.mean(found.scales**2, axis=(0, 1)), expected, rtol=0.05)


def test_classes_of_very_different_noise_are_recovered():
    rng = np.random.default_rng(5)
    a = rng.normal(size=(300, 3)) / UNITS
    classes = np.arange(300) % 3
    truth = np.array([1e-3, 1.0, 50.0])
    y = a @ (UNITS * [1.0, -2.0, 0.5]) + truth[classes] * rng.normal(size=300)
    found = gibbs(NAMES, a, y, classes, rng=rng, draws=1000)
    assert found.converged
    np.testing.assert_allclose(found.scales.mean(axis=(0, 1)), truth, rtol=0.25)
    values, covariance, _ = least_squares(a / truth[classes][:, None], y / truth[classes])
    sd = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose((found.mean - values) / sd, 0, atol=0.4)
    np.testing.assert_allclose(found.sd / sd, 1, atol=0.25)


def test_intervals_hold_the_truth_as_often_as_they_say():
    """7 readings, 3 parameters: intervals from a normal distribution would hold it in 88 % only."""
    rng = np.random.default_rng(21)
    a, _ = problem(count=7)
    truth, hits, sets = UNITS * [1.0, -2.0, 0.5], np.zeros(4), draws(150, 2000)
    for _ in range(sets):
        y = a @ truth + 3 * rng.normal(size=7)
        found = gibbs(NAMES, a, y, rng=rng, draws=500, warm_up=50)
        low, high = found.interval(0.95)
        s_low, s_high = np.quantile(found.scales, [0.025, 0.975])
        hits += [*((low < truth) & (truth < high)), s_low < 3 < s_high]
    np.testing.assert_allclose(hits / sets, 0.95, atol=spread_of_share(0.95, sets, 3.5))


def test_starts_are_overdispersed():
    a, y = problem(count=60)
    found = gibbs(NAMES, a, y, rng=np.random.default_rng(2), chains=400, draws=8, warm_up=0)
    late = gibbs(NAMES, a, y, rng=np.random.default_rng(2), chains=400, draws=8, warm_up=20)
    assert np.std(found.draws[:, 0, 0]) > 1.3 * np.std(late.draws[:, 0, 0])


def test_a_seed_gives_the_same_bits():
    a, y = problem()
    for classes in (None, np.arange(12) % 2):
        one, two, other = (gibbs(NAMES, a, y, classes, rng=np.random.default_rng(s), draws=20) for s in (4, 4, 5))
        np.testing.assert_array_equal(one.draws, two.draws)
        np.testing.assert_array_equal(one.scales, two.scales)
        assert not np.any(one.draws == other.draws)


def test_not_converged_is_said():
    good, nan = np.array([1.0]), np.array([np.nan])
    x, many, few, apart = np.zeros((1, 8, 1)), np.array([900.0]), np.array([100.0]), np.array([1.2])
    assert GibbsPosterior(("a",), x, x, good, many, good, many).converged
    for numbers in (
        (apart, many, good, many),
        (good, few, good, many),
        (good, many, apart, many),
        (good, many, good, few),
        (nan, nan, good, many),
    ):
        assert not GibbsPosterior(("a",), x, x, *numbers).converged


A, Y = problem()
HALVES = np.arange(12) % 2


@pytest.mark.parametrize(
    ("matrix", "readings", "classes", "code", "value"),
    [
        (A[:3], Y[:3], None, "too-few", (3, 3, 4)),
        (A[:, [0, 1, 1]], Y, None, "not-separable", None),
        (A * [1, 0, 1], Y, None, "unobservable", "b"),
        (A, Y[:-1], None, "shape", (3, (12, 3), (11,))),
        (A[:, :2], Y, None, "shape", (3, (12, 2), (12,))),
        (A, np.where(HALVES, np.nan, Y), None, "not-finite", None),
        (A, A @ UNITS, None, "range", 0),
        (A, Y, HALVES * (np.arange(12) == 1), "too-few", (1, 1)),
        (A, Y, 2 * HALVES, "too-few", (1, 0)),
        (A, Y, (np.arange(12) < 3).astype(int), "too-few", (3, 1, 3)),
        (A, Y, np.full(12, -1), "no-unknown-noise", None),
        (A, Y, HALVES - 2, "shape", 12),
        (A, Y, HALVES[:5], "shape", 12),
        (A, Y, HALVES * 1.0, "shape", 12),
    ],
)
def test_what_has_no_posterior_is_refused(matrix, readings, classes, code, value):
    with refused(code, value):
        gibbs(NAMES, matrix, readings, classes, rng=np.random.default_rng(1))


def test_noises_of_classes_that_differ_too_much_are_told():
    size = np.where(HALVES, 1e-8, 1)
    with pytest.raises(InputError) as caught:
        gibbs(NAMES, A * size[:, None], Y * size, HALVES, rng=np.random.default_rng(1))
    assert caught.value.code == "implausible"
    assert caught.value.value == pytest.approx(1e8, rel=1)


@pytest.mark.parametrize("size", [{"chains": 0}, {"draws": 7}, {"warm_up": -1}])
def test_too_small_a_run_is_refused(size):
    with refused("range", 8):
        gibbs(NAMES, A, Y, rng=np.random.default_rng(1), **size)


@pytest.mark.parametrize("level", [0.0, 1.0, 95.0])
def test_a_level_is_a_share(level):
    found = gibbs(NAMES, A, Y, rng=np.random.default_rng(1), draws=8)
    with refused("range", level):
        found.interval(level)
