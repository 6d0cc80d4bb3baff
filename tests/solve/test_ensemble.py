"""emcee behind its wrapper: a Gaussian's moments, a closed-form time, the seed, and what is said when it is missing."""

from __future__ import annotations

import sys

import emcee
import numpy as np
import pytest
from oracle.draws import draws
from oracle.refusals import refused
from scipy import stats

from elastocal.solve.nonlinear_sampling import Ensemble, ensemble

NAMES = ("a", "b")
CENTRE, SD, CORRELATION = np.array([5.0, -2e6]), np.array([1e-7, 1e5]), 0.9
PRECISION = np.linalg.inv(np.array([[1, CORRELATION], [CORRELATION, 1]]))

STEPS = draws(10, 25) * 320


def gaussian(x):
    u = (x - CENTRE) / SD
    return -0.5 * np.sum(u @ PRECISION * u, axis=1)


def run(seed=1, density=gaussian, **options):
    settings = {"walkers": 20, "steps": 3000, "warm_up": 200} | options
    return ensemble(NAMES, density, CENTRE + SD, SD, rng=np.random.default_rng(seed), **settings)


@pytest.fixture(scope="module")
def long():
    return run(steps=STEPS)


def test_a_correlated_gaussian(long):
    assert long.converged
    assert long.draws.shape == (20, STEPS, 2)
    np.testing.assert_allclose((long.mean - CENTRE) / SD, 0, atol=4 / np.sqrt(long.effective.min()))
    near = np.sqrt(8000 / STEPS)
    np.testing.assert_allclose(long.sd, SD, rtol=0.05 * near)
    assert np.corrcoef(long.flat.T)[0, 1] == pytest.approx(CORRELATION, abs=0.015 * near)
    np.testing.assert_allclose((long.interval() - CENTRE) / SD, np.outer([-1.96, 1.96], [1, 1]), atol=0.12 * near)
    assert 0.5 < long.accepted < 0.9


def test_the_effective_number_predicts_the_scatter_of_means(long):
    """Blocks of 320 steps, about ten times tau each, scatter as if each held its share of the effective number."""
    chain = np.swapaxes((long.draws - CENTRE) / SD, 0, 1)
    np.testing.assert_allclose(long.time, emcee.autocorr.integrated_time(chain, tol=0), rtol=1e-6)
    count = STEPS // 320
    blocks = long.draws.reshape(20, count, 320, 2).mean(axis=(0, 2))
    ratio = blocks.var(axis=0, ddof=1) / (SD**2 / (long.effective / count))
    low, high = stats.chi2.ppf([1e-3, 1 - 1e-4], count - 1) / (count - 1)
    assert np.all((ratio > low) & (ratio < high))


def test_too_few_steps_are_said():
    assert not run(steps=100).converged
    x = np.zeros((4, 500, 1))
    one = np.ones(1)
    assert Ensemble(("a",), x, 10.0 * one, one, 0.5).converged
    assert not Ensemble(("a",), x, 10.1 * one, one, 0.5).converged
    assert not Ensemble(("a",), x, np.nan * one, one, 0.5).converged


def test_a_seed_gives_the_same_bits_whatever_the_global_state():
    np.random.seed(1)  # noqa: NPY002
    one = run(steps=50)
    np.random.seed(2)  # noqa: NPY002
    two, other = run(steps=50), run(2, steps=50)
    np.testing.assert_array_equal(one.draws, two.draws)
    assert not np.array_equal(one.draws[:, -1], other.draws[:, -1])


def test_impossible_places_are_never_visited():
    found = run(density=lambda x: np.where(x[:, 0] > CENTRE[0] - 3 * SD[0], gaussian(x), -np.inf), steps=500)
    assert found.flat[:, 0].min() > CENTRE[0] - 3 * SD[0]


def test_the_number_of_walkers_by_default():
    assert run(walkers=None, steps=10, warm_up=0).draws.shape[0] == 16


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"walkers": 3}, ("too-few", (3, 2, 4))),
        ({"steps": 1}, ("few-steps",)),
        ({"warm_up": -1}, ("few-steps",)),
        ({"density": lambda x: np.zeros(3)}, ("number", 20)),
        ({"density": lambda x: np.full(len(x), np.nan)}, ("number", 20)),
        ({"density": lambda x: np.full(len(x), -np.inf)}, ("zero-density",)),
    ],
)
def test_bad_input_is_refused(options, words):
    with refused(*words):
        run(**options)


@pytest.mark.parametrize(
    ("start", "spread", "words"),
    [
        ([1.0], [1.0, 1.0], ("shape", 2)),
        ([1.0, 1.0], [1.0, 0.0], ("start",)),
        ([1.0, np.nan], [1.0, 1.0], ("start",)),
        ([1.0, 1.0], [1.0, np.inf], ("start",)),
    ],
)
def test_bad_starts_are_refused(start, spread, words):
    with refused(*words):
        ensemble(NAMES, gaussian, start, spread, rng=np.random.default_rng(1))


def test_without_emcee_the_way_to_get_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "emcee", None)
    with refused("extra-missing", "mcmc"):
        run()
