"""Effective draws per second of the Gibbs sampler against emcee: 36 linear parameters and an unknown noise."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import Outcome, Row
from elastocal.solve.linear_sampling import GibbsPosterior, gibbs

PARAMETERS, READINGS = 36, 405
WALKERS, STEPS, KEPT = 8 * (PARAMETERS + 1), 35_000, 20
NEEDED = 50.0


def measure() -> Outcome:
    """emcee runs once, because 50 of its autocorrelation times take half a minute; gibbs runs before and after it."""
    rng = np.random.default_rng(20)
    a = rng.normal(size=(READINGS, PARAMETERS)) @ rng.normal(size=(PARAMETERS, PARAMETERS))
    y = a @ rng.normal(size=PARAMETERS) + 2 * rng.normal(size=READINGS)
    names = [f"p{i}" for i in range(PARAMETERS)]

    def run() -> GibbsPosterior:
        return gibbs(names, a, y, rng=np.random.default_rng(1))

    ours, before = _best(run, 5)
    sampler, theirs = _best(_emcee(a, y), 1)
    ours, after = _best(run, 5)
    few = float(min(ours.effective.min(), ours.scale_effective.min()))
    tau = KEPT * float(sampler.get_autocorr_time(tol=0).max())
    many = WALKERS * STEPS / tau
    mine, other = min(before, after) / few, theirs / many
    rows = (
        Row("elastocal gibbs, per effective draw", mine * 1e6, 1.0, None),
        Row("emcee, vectorised, per effective draw", other * 1e6, other / mine, NEEDED),
    )
    facts = (
        f"gibbs: {1 / mine:.0f} effective draws per second, {few:.0f} of {ours.flat.shape[0]} draws; "
        f"{_by_their_time(ours):.0f} if counted by emcee's autocorrelation time; largest R-hat {ours.rhat.max():.4f}",
        f"emcee: {1 / other:.0f} effective draws per second, {many:.0f} of {WALKERS * STEPS} draws; "
        f"{WALKERS} walkers, {STEPS / tau:.0f} autocorrelation times of {tau:.0f} steps",
        f"mean standard deviation, emcee over gibbs: {_agreement(sampler, a, ours):.3f}",
    )
    work = (
        f"posterior of {PARAMETERS} parameters and the noise from {READINGS} readings, lowest effective number of all"
    )
    return Outcome(work, rows, facts)


def _best(run: Callable[[], Any], rounds: int) -> tuple[Any, float]:
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        result = run()
        best = min(best, time.perf_counter() - start)
    return result, best


def _emcee(a: np.ndarray, y: np.ndarray) -> Callable[[], Any]:
    """Its best case: 36 squares per density instead of 405 rows, no warm-up counted, started in the posterior."""
    import emcee

    q, _ = np.linalg.qr(a)
    rest = float(np.sum((y - q @ (q.T @ y)) ** 2))
    rng = np.random.default_rng(2)
    scale = np.sqrt(rest / rng.chisquare(READINGS - PARAMETERS, (WALKERS, 1)))
    first = np.column_stack([scale * rng.standard_normal((WALKERS, PARAMETERS)), np.log(scale)])

    def density(x: np.ndarray) -> np.ndarray:
        z, log = x[:, :-1], x[:, -1]
        return -READINGS * log - 0.5 * np.exp(-2 * log) * (rest + np.einsum("ij,ij->i", z, z))

    def run() -> Any:
        sampler = emcee.EnsembleSampler(WALKERS, PARAMETERS + 1, density, vectorize=True)
        sampler.random_state = np.random.MT19937(3).state
        sampler.run_mcmc(first, STEPS // KEPT, thin_by=KEPT)
        return sampler

    return run


def _by_their_time(ours: GibbsPosterior) -> float:
    from emcee.autocorr import integrated_time

    together = np.concatenate([ours.draws, ours.scales], axis=2)
    return float(together[:, :, 0].size / integrated_time(np.swapaxes(together, 0, 1), tol=0).max())


def _agreement(sampler: Any, a: np.ndarray, ours: GibbsPosterior) -> float:
    z = sampler.get_chain(flat=True)[:, :-1]
    return float(np.mean(np.std(np.linalg.solve(np.linalg.qr(a).R, z.T), axis=1) / ours.sd))
