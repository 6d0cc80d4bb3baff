"""Deletion residuals in closed form against fits that really leave the readings out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from dense import dense, random_problem
from oracle.draws import draws
from scipy.stats import f as f_law
from scipy.stats import kstest

from elastocal.solve.blocks import Blocks
from elastocal.solve.deletion import Deletion, deletion
from elastocal.solve.evidence import posterior

CASES = {
    "all read": {"missing": 0.0},
    "numbers not read": {"missing": 0.3},
    "blocks not read": {"missing": 0.75, "blocks": 9},
    "power": {"power": 0.5},
    "white noise": {"common": 0},
    "more unknowns than readings": {"sizes": (20, 15, 30), "blocks": 4},
}
cases = pytest.mark.parametrize("case", CASES)


def _plain(found: Deletion) -> Deletion:
    """At scales that were not fitted."""
    return replace(found, spent=0.0)


def made(case: str) -> tuple[Blocks, np.ndarray]:
    problem = random_problem(4, **CASES[case])
    return problem, problem.start


@cases
def test_a_block_predicted_from_the_others(case: str) -> None:
    problem, at = made(case)
    whole, closed = dense(problem, at), deletion(posterior(problem, at))
    chi2, size = closed.block_chi2()
    for b, used in enumerate(problem.used):
        if not used.any():
            assert size[b] == 0
            assert chi2[b] == 0.0
            continue
        off, spread = whole.left_out(whole.blocks == b)
        assert closed.blocks[b, used] == pytest.approx(off, rel=1e-7, abs=1e-9)
        assert closed.covariance[b][np.ix_(used, used)] == pytest.approx(spread, rel=1e-7, abs=1e-9)
        assert chi2[b] == pytest.approx(off @ np.linalg.solve(spread, off), rel=1e-7)
        assert size[b] == used.sum()
    assert np.all(np.isnan(closed.blocks[~problem.used]))


@cases
def test_scales_that_were_fitted_took_the_freedom_of_the_parameters(case: str) -> None:
    """F has as many degrees of freedom less as unknowns are determined: tr S^-1 J H^-1 J^T."""
    problem, at = made(case)
    whole, closed = dense(problem, at), deletion(posterior(problem, at))
    spent = np.trace(np.linalg.solve(whole.noise, whole.j @ whole.posterior()[1] @ whole.j.T))
    chi2, size = closed.block_chi2()
    mine = size > 0
    left = len(whole.y) - size[mine]
    ratio = chi2[mine] / size[mine] / ((closed.total - chi2[mine]) / left)
    expected = f_law.sf(ratio, size[mine], np.maximum(left - spent, 1))
    assert closed.exceedance(chi2, size)[mine] == pytest.approx(expected, rel=1e-6)
    assert spent > 1


@cases
def test_a_point_predicted_from_all_other_numbers(case: str) -> None:
    problem, at = made(case)
    whole, closed = dense(problem, at), deletion(posterior(problem, at))
    chi2, size = closed.point_chi2()
    for b in range(len(problem.used)):
        for part in np.unique(problem.parts):
            out = (whole.blocks == b) & (whole.parts == part)
            assert size[b, part] == out.sum()
            if out.any():
                off, spread = whole.left_out(out)
                assert chi2[b, part] == pytest.approx(off @ np.linalg.solve(spread, off), rel=1e-7)


@cases
def test_a_number_predicted_from_all_others(case: str) -> None:
    problem, at = made(case)
    whole, closed = dense(problem, at), deletion(posterior(problem, at))
    chi2, off = closed.number_chi2(), closed.number_residuals()
    for k, (b, r) in enumerate(np.argwhere(problem.used)):
        residual, spread = whole.left_out(np.arange(len(whole.y)) == k)
        assert off[b, r] == pytest.approx(residual[0], rel=1e-7, abs=1e-9)
        assert chi2[b, r] == pytest.approx(residual[0] ** 2 / spread[0, 0], rel=1e-7)
    assert np.all(np.isnan(off[~problem.used]))
    assert np.all(np.isnan(chi2[~problem.used]))


def test_any_set_of_numbers_of_a_block() -> None:
    problem, at = made("all read")
    whole, closed = dense(problem, at), deletion(posterior(problem, at))
    rows = np.array([0, 2, 5])
    off, spread = whole.left_out((whole.blocks == 3) & np.isin(np.arange(len(whole.y)) % 6, rows))
    assert closed.chi2(3, rows) == pytest.approx(off @ np.linalg.solve(spread, off), rel=1e-7)


@cases
def test_chi2_of_all_readings(case: str) -> None:
    problem, at = made(case)
    whole = dense(problem, at)
    off = whole.y - whole.j @ whole.prior_mean
    expected = off @ np.linalg.solve(whole.covariance, off)
    assert deletion(posterior(problem, at)).total == pytest.approx(expected, rel=1e-7)


def test_the_external_f_against_its_own_definition() -> None:
    """chi2 of the others is that of a fit without the set, where nothing of the set is left."""
    problem, at = made("numbers not read")
    closed = deletion(posterior(problem, at))
    chi2, size = closed.block_chi2()
    b = 2
    out = np.zeros_like(problem.used)
    out[b] = True
    rest = deletion(posterior(problem.without(out), at))
    assert rest.total == pytest.approx(closed.total - chi2[b], rel=1e-8)
    ratio = chi2[b] / size[b] / (rest.total / rest.freedom)
    expected = f_law.sf(ratio, size[b], rest.freedom)
    assert _plain(closed).exceedance(chi2, size)[b] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("level", ["number", "point", "block"])
@pytest.mark.parametrize("factor", [1.0, 7.0])
def test_good_readings_have_uniform_probabilities(level: str, factor: float) -> None:
    """Drawn from the model, whatever the common size of all scales: probabilities are uniform."""
    problem = random_problem(2, blocks=6, missing=0.1, mean=False)
    at = problem.start
    whole = dense(problem, at)
    root = np.linalg.cholesky(whole.covariance)
    rng = np.random.default_rng(8)
    probabilities = []
    for _ in range(draws(100, 3000)):
        readings = np.full(problem.used.shape, np.nan)
        readings[problem.used] = factor * (root @ rng.normal(size=len(whole.y)))
        closed = deletion(posterior(Blocks(readings, *(getattr(problem, k) for k in FIELDS)), at))
        chi2, size = {
            "number": (closed.number_chi2(), problem.used.astype(np.int64)),
            "point": closed.point_chi2(),
            "block": closed.block_chi2(),
        }[level]
        # one unit of every draw: units of one draw are not independent
        unit = tuple(rng.choice(np.argwhere(size > 0)))
        probabilities.append(_plain(closed).exceedance(chi2, size)[unit])
    assert kstest(probabilities, "uniform").pvalue > 1e-3


FIELDS = ("jacobian", "used", "noise", "groups", "power", "parts")


def test_a_planted_error_is_the_least_probable_unit() -> None:
    problem = random_problem(11, blocks=12, missing=0.0, sizes=(3, 2))
    at = problem.start
    rng = np.random.default_rng(1)
    whole = dense(problem, at)
    problem.readings[:] = (
        whole.j @ whole.prior_mean + np.linalg.cholesky(whole.covariance) @ rng.normal(size=72)
    ).reshape(12, 6)
    problem.readings[4, 2] += 20.0
    closed = deletion(posterior(problem, at))
    p = _plain(closed).exceedance(closed.number_chi2(), np.ones((12, 6), dtype=np.int64))
    assert np.unravel_index(np.argmin(p), p.shape) == (4, 2)
    assert p[4, 2] < 1e-6
